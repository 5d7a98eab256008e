//! Tests of command lines: their output and their exit status. None of them needs an interpreter.

use std::ffi::OsString;

use testwright_cli::{ExitStatus, Terminal, run};

/// The result of a command.
struct CommandResult {
    status: ExitStatus,
    out: String,
    err: String,
}

/// Runs `testwright` with these arguments.
fn testwright(line: &str) -> CommandResult {
    let arguments = line.split_whitespace().map(OsString::from).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run(arguments, &mut out, &mut err, Terminal::plain());
    CommandResult {
        status,
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
    }
}

/// Asserts that a command line is refused with a message that contains these words.
fn assert_refused(line: &str, words: &str) {
    let result = testwright(line);
    assert_eq!(result.status, ExitStatus::Error, "{line}");
    assert_eq!(result.out, "", "{line}");
    assert!(result.err.contains(words), "{line}\n{}", result.err);
}

#[test]
fn exit_statuses_are_a_promise() {
    let codes = [
        ExitStatus::NothingFound,
        ExitStatus::FailureFound,
        ExitStatus::Error,
    ]
    .map(ExitStatus::code);
    assert_eq!(codes, [0, 1, 2]);
}

#[test]
fn help_and_version_are_results() {
    for line in [
        "--help",
        "-h",
        "check --help",
        "expand --help",
        "run --help",
        "replay --help",
        "reduce --help",
        "quick --help",
        "triage --help",
        "localize --help",
        "markov --help",
        "standalone --help",
        "compat --help",
        "compat tstl_rt --help",
        "help",
        "help run",
        "help model test",
        "help compat tstl_rt",
        "--version",
    ] {
        let result = testwright(line);
        assert_eq!(result.status, ExitStatus::NothingFound, "{line}");
        assert_eq!(result.err, "", "{line}");
        assert!(!result.out.contains('\x1b'), "{line}: colours in a file");
    }
    assert_eq!(
        testwright("--version").out,
        format!("testwright {}\n", testwright_cli::VERSION)
    );
}

#[test]
fn help_of_a_command_is_its_own_help() {
    for command in ["", "run", "model", "model test", "campaign list", "capture"] {
        assert_eq!(
            testwright(&format!("help {command}")).out,
            testwright(&format!("{command} --help")).out,
        );
    }
    assert_refused("help fly", "there is no command `fly`");
}

#[test]
fn help_lists_the_commands_in_groups() {
    let help = testwright("--help").out;
    let titles = help
        .lines()
        .filter(|line| line.ends_with(':') && !line.starts_with(' '));
    assert_eq!(
        titles.collect::<Vec<_>>(),
        [
            "Test:",
            "Explore and model:",
            "Capture:",
            "Read:",
            "TSTL and PyModel:",
            "Options:",
            "Start with:",
        ]
    );
    assert!(
        help.contains("\n  run         Search for failures"),
        "{help}"
    );
    assert!(!help.contains("worker"), "{help}");
}

#[test]
fn unknown_commands_are_answered_with_the_probable_one() {
    for (line, words) in [
        ("stack.tstl", "did you mean `testwright run stack.tstl`?"),
        (
            "failure-1.test -v",
            "did you mean `testwright replay failure-1.test`?",
        ),
        (
            "rnu a.tstl --seed 1",
            "did you mean `testwright run a.tstl --seed 1`?",
        ),
        (
            "model tset Stack",
            "did you mean `testwright model test Stack`?",
        ),
        (
            "model Stack",
            "the commands of `testwright model` are `check`, `lint`, `test`",
        ),
        ("fly", "`testwright help` lists the commands"),
        ("run a.tstl --sed 1", "a similar argument exists: '--seed'"),
    ] {
        assert_refused(line, words);
    }
}

#[test]
fn every_command_has_examples() {
    for command in [
        "check",
        "expand",
        "run",
        "replay",
        "reduce",
        "standalone",
        "campaign",
        "campaign list",
        "campaign show",
        "campaign export",
        "campaign prune",
        "compat",
    ] {
        let help = testwright(&format!("{command} --help")).out;
        assert!(
            help.contains(&format!("Examples:\n  testwright {command} ")),
            "{help}"
        );
    }
}

#[test]
fn help_fits_the_page() {
    let list = testwright("--help").out;
    let names = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    let nested = ["model check", "model lint", "model test"];
    let nested = nested.into_iter().chain(["campaign list", "campaign show"]);
    let nested = nested.chain(["campaign export", "campaign prune", ""]);
    for command in names
        .filter(|name| name.chars().all(char::is_alphabetic))
        .chain(nested)
    {
        // The tools of the ancestors have help of their own.
        if command == "compat" || command == "testwright" {
            continue;
        }
        let help = testwright(&format!("{command} --help")).out;
        assert!(!help.is_empty(), "{command}");
        for line in help.lines() {
            assert!(line.chars().count() <= 110, "{command}: {line}");
        }
    }
}

#[test]
fn wrong_arguments_are_refused() {
    assert_refused("", "Usage: testwright <COMMAND>");
    assert_refused("rum a.tstl", "did you mean `testwright run a.tstl`?");
    assert_refused("run", "<HARNESS|MODEL>");
    assert_refused("run a.tstl --time soon", "write a duration such as 30s, 2m");
    assert_refused("run a.tstl --time 0", "must be more than zero");
    assert_refused("run a.tstl --time -1s", "must be more than zero");
    for option in ["--tests 0", "--tests -1", "--length 0", "--length -3"] {
        let line = format!("run a.tstl {option}");
        assert_refused(&line, "must be a whole number from 1");
    }
    for seed in ["-1", "1.5", "x", "18446744073709551616"] {
        let line = format!("run a.tstl --seed {seed}");
        assert_refused(&line, "the seed is a whole number from 0");
    }
    assert_refused("run a.tstl --json --show-output", "cannot be used with");
    assert_refused("expand a.tstl --count --actions", "cannot be used with");
    assert_refused("replay", "<TEST>...");
    assert_refused(
        "standalone a.test --harness a.tstl --style doctest",
        "[possible values: pytest, unittest, script]",
    );
}

#[test]
fn missing_files_are_all_named() {
    let result = testwright("check no-such-1.tstl no-such-2.tstl");
    assert_eq!(result.status, ExitStatus::Error);
    assert_eq!(
        result.err,
        "error: there is no file `no-such-1.tstl`\nerror: there is no file `no-such-2.tstl`\n"
    );
    for command in ["expand x.tstl", "run x.tstl"] {
        assert_refused(command, "error: there is no file `x.tstl`\n");
    }
    assert_refused(
        "replay a.test --harness x.tstl",
        "error: there is no file `a.test`\n",
    );
}

#[test]
fn failed_writes_to_standard_output_are_errors_except_for_closed_pipes() {
    struct Broken(std::io::ErrorKind);
    impl std::io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for (kind, status, words) in [
        (std::io::ErrorKind::BrokenPipe, ExitStatus::NothingFound, ""),
        (
            std::io::ErrorKind::StorageFull,
            ExitStatus::Error,
            "cannot write to standard output",
        ),
    ] {
        let mut err = Vec::new();
        let got = run(
            vec!["--help".into()],
            &mut Broken(kind),
            &mut err,
            Terminal::plain(),
        );
        assert_eq!(got, status);
        assert!(String::from_utf8(err).unwrap().contains(words));
    }
}
