//! Unit tests that are run before they are kept.
//!
//! A test can be written in several forms: with the one check that fails, or with all checks after
//! each step. The first form that fails like the test it was made from is the one to keep. Each is
//! run once, in a fresh process, by the interpreter of the system under test.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use testwright_core::{Error, Failure, FailureKind, Test};
use testwright_python::{ExceptionIdentity, StandaloneEnd, StandaloneFile, StandaloneStyle};

use crate::subprocess::{self, ProcessEnd};

/// The program that runs a file and reports how it failed.
const RUNNER: &str = include_str!("unit_test/runner.py");

/// The time that a file may take, beside that of a step that does not end.
const MAX_TIME: Duration = Duration::from_secs(30);

/// The least time that a written file gives a step beyond its limit.
const MIN_MORE_TIME: Duration = Duration::from_secs(3);

/// A failing test that is to be written as a unit test.
pub(crate) struct UnitTestRequest<'a> {
    pub(crate) test: &'a Test,
    pub(crate) failure: &'a Failure,
    /// True if properties are checked after each step.
    pub(crate) check: bool,
    /// The time limit of a file for steps that may not end.
    pub(crate) limit: Duration,
    /// Part of the function's name, such as `failure_1`.
    pub(crate) title: &'a str,
    /// The path where the file will be saved.
    pub(crate) file: &'a Path,
}

/// A unit test that has not been run yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnitTestDraft {
    /// The forms of the file, the best one first.
    pub(crate) forms: Vec<UnitTestForm>,
    /// The interpreter, and the folder in which to run it; `None` if there is no interpreter.
    pub(crate) process_context: Option<(PathBuf, PathBuf)>,
    /// The time limit that the file sets for its own steps.
    pub(crate) limit: Option<Duration>,
}

/// A form of a unit test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum UnitTestForm {
    /// The steps of a harness.
    Steps(StandaloneFile),
    /// A file that replays models, and fails with a message.
    Replay(String),
}

impl UnitTestForm {
    /// Returns the text of the file.
    pub(crate) fn text(&self) -> &str {
        match self {
            UnitTestForm::Steps(StandaloneFile { text, .. }) | UnitTestForm::Replay(text) => text,
        }
    }
}

/// The first exception that a file raises, as the runner reports it.
#[derive(Debug, Deserialize)]
struct ReportedException {
    /// The name of its class.
    exception: String,
    /// Its message.
    text: String,
    /// The name of the file and the line where it was raised.
    location: String,
    /// The lines of the file itself in the traceback.
    lines: Vec<usize>,
    /// The identity of the failure of models that were replayed.
    signature: Option<String>,
    /// The file itself raised it, and not the code that it calls.
    is_own: bool,
}

/// The way in which a file ended.
enum FileEnd {
    Passed,
    Raised(ReportedException),
    Crashed,
    TimedOut,
}

/// Returns the time limit that a file sets for steps which may not end.
pub(crate) fn limit_in_file(step_limit: Duration) -> Duration {
    (step_limit * 2).max(step_limit + MIN_MORE_TIME)
}

impl UnitTestDraft {
    /// Returns the first form that fails like the test, or passes if the test does. `file` is the
    /// path where it will be saved.
    ///
    /// # Errors
    /// Says how the file behaves if no form does.
    pub(crate) fn confirmed(
        self,
        style: StandaloneStyle,
        failure: Option<&Failure>,
        file: &Path,
    ) -> Result<String, Error> {
        let Some((program, folder)) = &self.process_context else {
            // There is nothing to try it with.
            let first = self.forms.first().map(|form| form.text().to_owned());
            return first.ok_or_else(no_form);
        };
        let mut reason = None;
        let max_time = MAX_TIME + self.limit.unwrap_or_default();
        let run = |text: &str| run(text, style, file, (program, folder, max_time));
        for form in &self.forms {
            let mut difference = difference(&run(form.text())?, form, failure, max_time);
            if let UnitTestForm::Steps(StandaloneFile { end, .. }) = form
                && let (None, StandaloneEnd::Fatal(before)) = (&difference, end)
                && !matches!(run(before)?, FileEnd::Passed)
            {
                difference = Some("fails before its last step".to_owned());
            }
            match difference {
                None => return Ok(form.text().to_owned()),
                Some(difference) => reason = reason.or(Some(difference)),
            }
        }
        Err(reason.map_or_else(no_form, |reason| {
            let help = "the saved test is complete; the file would need something that only the harness does";
            Error::new(format!("run by itself, it {reason}")).with_help(help)
        }))
    }
}

/// Returns the error for a draft without any text.
fn no_form() -> Error {
    Error::new("it could not be written")
}

/// Runs a file in a fresh process, under another name in its folder.
fn run(
    text: &str,
    style: StandaloneStyle,
    file: &Path,
    (program, folder, max_time): (&Path, &Path, Duration),
) -> Result<FileEnd, Error> {
    let failed = |error: std::io::Error| Error::new(format!("it cannot be tried: {error}"));
    let beside = file.parent().unwrap_or(Path::new("."));
    // The system under test may have deleted it.
    fs::create_dir_all(beside).map_err(failed)?;
    let trial = tempfile::Builder::new()
        .prefix("testwright_trial_")
        .suffix(".py")
        .tempfile_in(beside)
        .map_err(failed)?;
    fs::write(trial.path(), text).map_err(failed)?;
    let trial = fs::canonicalize(trial.path()).map(|path| (path, trial));
    let (trial, _deleted_at_the_end) = trial.map_err(failed)?;
    let own = tempfile::tempdir().map_err(failed)?;
    let (runner, report) = (own.path().join("runner.py"), own.path().join("report"));
    fs::write(&runner, RUNNER).map_err(failed)?;
    let style = match style {
        StandaloneStyle::Pytest => "pytest",
        StandaloneStyle::Unittest => "unittest",
        StandaloneStyle::Script => "script",
    };
    let arguments: [&OsStr; 4] = [
        runner.as_os_str(),
        trial.as_os_str(),
        style.as_ref(),
        report.as_os_str(),
    ];
    let end = subprocess::run_python(program, folder, &arguments, max_time)
        .ok_or_else(|| Error::new("it cannot be tried"))?;
    let reported = fs::read_to_string(&report).unwrap_or_default();
    let reported = serde_json::from_str::<ReportedException>(&reported);
    Ok(match (end, reported) {
        (ProcessEnd::TimedOut, _) => FileEnd::TimedOut,
        (_, Ok(reported)) => FileEnd::Raised(reported),
        (ProcessEnd::Status(0), Err(_)) => FileEnd::Passed,
        (ProcessEnd::Status(_) | ProcessEnd::Crashed, Err(_)) => FileEnd::Crashed,
    })
}

/// Returns how the end of a file differs from that of its test; `None` if it does not.
fn difference(
    end: &FileEnd,
    form: &UnitTestForm,
    failure: Option<&Failure>,
    max_time: Duration,
) -> Option<String> {
    let raised = match (end, failure) {
        (FileEnd::Passed, None) => return None,
        (FileEnd::Passed, Some(_)) => return Some("passes".to_owned()),
        (FileEnd::TimedOut, _) => {
            return Some(format!("does not end within {}s", max_time.as_secs()));
        }
        (FileEnd::Crashed, _) => return Some("ends the process".to_owned()),
        (FileEnd::Raised(raised), _) => raised,
    };
    let place = match (&form, failure) {
        (UnitTestForm::Steps(file), Some(failure)) => raised.difference(&file.end, failure)?,
        (UnitTestForm::Replay(_), Some(failure)) if raised.is_of_models(failure) => return None,
        _ => "",
    };
    let exception = &raised.exception;
    Some(match raised.text.lines().next() {
        Some(text) => format!("raises {exception}{place}: {text}"),
        None => format!("raises {exception}{place}"),
    })
}

impl ReportedException {
    /// Returns the place where the exception was raised, if that differs from what a test does; empty
    /// if something else differs; `None` if it shows the failure of the test.
    fn difference(&self, end: &StandaloneEnd, failure: &Failure) -> Option<&'static str> {
        let is_assertion = self.exception == "AssertionError";
        let (lines, is_alike) = match end {
            StandaloneEnd::Passes => return Some(""),
            StandaloneEnd::Fatal(_) => return (!self.shows_fatal(failure)).then_some(""),
            StandaloneEnd::CheckFails(lines) => (lines, is_assertion && self.is_own),
            StandaloneEnd::Raises(raised, lines) => {
                let location = raised.location.as_ref();
                let identity =
                    ExceptionIdentity::new(&self.exception, &self.text, location.cloned());
                let is_elsewhere = location.is_some_and(|location| *location != self.location);
                if identity == *raised && is_elsewhere {
                    return Some(" at another place");
                }
                (lines, identity == *raised)
            }
            // `pytest.raises` says `DID NOT RAISE`.
            StandaloneEnd::RaisesNothing(lines) => {
                let says_so = self.text.to_lowercase().contains("not raise");
                (
                    lines,
                    says_so && (is_assertion || self.exception == "Failed"),
                )
            }
        };
        let is_in_lines = self.lines.iter().any(|line| lines.contains(line));
        match (is_alike, is_in_lines) {
            (true, true) => None,
            (_, false) => Some(" in another step"),
            (false, true) => Some(""),
        }
    }

    /// Returns true if it is this failure of models, maybe with other values.
    fn is_of_models(&self, failure: &Failure) -> bool {
        self.exception == "AssertionError" && self.signature.as_ref() == Some(&failure.signature)
    }

    /// Returns true if a file has noticed that its steps ended their process like this failure.
    fn shows_fatal(&self, failure: &Failure) -> bool {
        match failure.kind {
            FailureKind::Hang => self.exception == "TimeoutExpired",
            _ => {
                self.exception == "AssertionError"
                    && self.is_own
                    && has_status_of(&self.text, &failure.message)
            }
        }
    }
}

/// Returns true if the text of an assertion names the status or the signal that the message of a
/// crash names, if it names one.
fn has_status_of(text: &str, message: &str) -> bool {
    let mut words = message.split(|letter: char| !letter.is_ascii_alphanumeric());
    let number = words.find_map(|word| {
        let signal = |number: &i32| signal_hook::low_level::signal_name(*number) == Some(word);
        let signal = (1..32).find(signal).map(|signal| -signal);
        signal.or_else(|| word.parse().ok())
    });
    number.is_none_or(|number| {
        let status = format!("with status {number}");
        text.lines().any(|line| line.ends_with(&status))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_known_by_its_signal() {
        let died = "the steps ended early, with status -6\nassert -6 == 42";
        let traceback = "the steps ended early, with status 1\nassert 1 == 42";
        let message = "the process was killed by SIGABRT (the process aborted itself)";
        assert!(has_status_of(died, message));
        assert!(!has_status_of(traceback, message));
        assert!(!has_status_of(died, "the process was killed by SIGSEGV"));
        assert!(has_status_of(traceback, "the process exited with status 1"));
        assert!(!has_status_of(died, "the process exited with status 6"));
    }

    /// Returns true if an exception shows a failure of this kind that ends like this.
    fn shows(kind: FailureKind, end: &StandaloneEnd, raised: &ReportedException) -> bool {
        let failure = Failure {
            kind,
            message: "the process was killed by SIGABRT".to_owned(),
            signature: String::new(),
            details: String::new(),
        };
        raised.difference(end, &failure).is_none()
    }

    fn raised(exception: &str, text: &str, line: usize) -> ReportedException {
        ReportedException {
            exception: exception.to_owned(),
            text: text.to_owned(),
            location: "system.py:3".to_owned(),
            lines: vec![90, line],
            signature: Some("after Pop".to_owned()),
            is_own: true,
        }
    }

    #[test]
    fn a_file_that_ends_otherwise_does_not_show_a_crash_or_hang() {
        let died = raised("AssertionError", "the steps ended early, with status -6", 9);
        let late = raised("TimeoutExpired", "timed out after 10 seconds", 9);
        let fatal = StandaloneEnd::Fatal(String::new());
        assert!(shows(FailureKind::Crash, &fatal, &died));
        assert!(!shows(FailureKind::Crash, &fatal, &late));
        assert!(shows(FailureKind::Hang, &fatal, &late));
        assert!(!shows(FailureKind::Hang, &fatal, &died));
    }

    #[test]
    fn a_file_that_fails_for_another_reason_does_not_show_the_failure() {
        let of = |message, location: &str| {
            ExceptionIdentity::new("ValueError", message, Some(location.to_owned()))
        };
        let end = StandaloneEnd::Raises(of("no 3 in {'a', 'b'}", "system.py:3"), 7..9);
        let shows_it = |raised| shows(FailureKind::UncaughtException, &end, &raised);
        assert!(shows_it(raised("ValueError", "no 4 in {'b', 'a'}", 8)));
        assert!(
            !shows_it(raised("ValueError", "no 4 in {'b', 'a'}", 9)),
            "another step"
        );
        assert!(
            !shows_it(raised("ValueError", "no 4 in {'b', 'c'}", 8)),
            "another message"
        );
        assert!(
            !shows_it(raised("KeyError", "no 4 in {'b', 'a'}", 8)),
            "another class"
        );
        let mut elsewhere = raised("ValueError", "no 3 in {'a', 'b'}", 8);
        elsewhere.location = "system.py:4".to_owned();
        assert!(!shows_it(elsewhere), "another line of the system");

        let end = StandaloneEnd::CheckFails(8..9);
        let shows_it = |raised| shows(FailureKind::Property, &end, &raised);
        assert!(shows_it(raised("AssertionError", "", 8)));
        assert!(
            !shows_it(raised("AssertionError", "", 7)),
            "another assertion"
        );
        assert!(!shows_it(raised("ValueError", "", 8)), "another class");
        let mut foreign = raised("AssertionError", "", 8);
        foreign.is_own = false;
        assert!(!shows_it(foreign), "an assertion of the system");

        let end = StandaloneEnd::RaisesNothing(7..9);
        let shows_it = |raised| shows(FailureKind::ExceptionMismatch, &end, &raised);
        assert!(shows_it(raised(
            "Failed",
            "DID NOT RAISE <class 'KeyError'>",
            7
        )));
        assert!(!shows_it(raised("NameError", "name 'x' is not defined", 7)));
    }

    #[test]
    fn a_replay_shows_a_failure_by_its_identity() {
        let is_same = |exception, signature: &str| {
            let failure = Failure {
                kind: FailureKind::ModelMismatch,
                message: "after Pop(): 3 instead of 4".to_owned(),
                signature: signature.to_owned(),
                details: String::new(),
            };
            raised(exception, "after Pop(): 5 instead of 4", 1).is_of_models(&failure)
        };
        assert!(is_same("AssertionError", "after Pop"));
        assert!(!is_same("AssertionError", "after Push"));
        assert!(!is_same("RuntimeError", "after Pop"));
    }
}
