//! `trun`: runs the commands of a list. `tdiff`: compares the output of a command with an earlier
//! output.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use testwright_core::{Error, describe_os_error};

use super::super::{Invocation, Tool, ToolOutcome};
use super::{outcome_of_error, print_help};
use crate::CommandError;
use crate::console::Console;

/// The tools that commands may name, beside the programs of the machine.
const TOOLS: [&str; 6] = ["pma", "pmt", "pmg", "pmv", "trun", "tdiff"];

/// The kinds of pictures that Graphviz draws for commands.
const PICTURES: [&str; 3] = ["svg", "ps", "pdf"];

/// Run all commands of a list
#[derive(clap::Parser)]
#[command(name = "trun")]
pub(in crate::compat) struct CaseRunner {
    /// A module with a list `cases` of pairs: a description and a command
    #[arg(value_name = "MODULE", num_args = 0..=1)]
    module: Option<String>,
}

impl Tool for CaseRunner {
    fn run(
        self,
        console: &mut Console<'_>,
        _calling: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        let Some(module) = &self.module else {
            return Ok(print_help::<CaseRunner>(console));
        };
        let cases =
            match testwright_python::attach(|python| testwright_python::load_cases(python, module))
            {
                Ok(cases) => cases,
                Err(error) => return outcome_of_error(console, &error),
            };
        let tools = ToolFolder::new()?;
        // Without a terminal, the titles come last, as in all outputs that users have kept.
        let is_terminal = io::stdout().is_terminal();
        let mut own = Vec::new();
        for (title, command) in &cases {
            own.push(title.as_str());
            if is_terminal {
                console.out(title);
            }
            console.flush();
            tools.shell(command).status().map_err(cannot_start)?;
            own.push("");
            if is_terminal {
                console.out("");
            }
        }
        if !is_terminal {
            own.iter().for_each(|line| console.out(line));
        }
        Ok(ToolOutcome::Passed)
    }
}

/// Compare the output of a command with an earlier output, ignoring blanks
#[derive(clap::Parser)]
#[command(name = "tdiff")]
pub(in crate::compat) struct Comparer {
    /// The command and its argument: its output is written to ARGUMENT.log, and compared with ARGUMENT.ref
    #[arg(value_names = ["COMMAND", "ARGUMENT"], num_args = 0..=2)]
    words: Vec<String>,
}

impl Tool for Comparer {
    fn run(
        self,
        console: &mut Console<'_>,
        _calling: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        let [command, argument] = self.words.as_slice() else {
            return Ok(print_help::<Comparer>(console));
        };
        let [log, expected] =
            ["log", "ref"].map(|ending| PathBuf::from(format!("{argument}.{ending}")));
        if !expected.is_file() {
            let message = format!("there is no `{}` to compare with", expected.display());
            let help = format!(
                "keep what you have read: `{command} {argument} > {} 2>&1`",
                expected.display()
            );
            return Err(Error::new(message).with_help(help).into());
        }
        let unwritten = |error: io::Error| {
            Error::new(format!(
                "cannot write `{}`: {}",
                log.display(),
                describe_os_error(&error)
            ))
        };
        let printed = File::create(&log).map_err(unwritten)?;
        let also = printed.try_clone().map_err(unwritten)?;
        console.flush();
        let tools = ToolFolder::new()?;
        let mut ran = tools.shell(&format!("{command} {argument}"));
        ran.stdout(printed).stderr(also);
        ran.status().map_err(cannot_start)?;
        let mut compared = Command::new("diff");
        compared.arg("-b").arg(&log).arg(&expected);
        if compared.status().map_err(cannot_start)?.success() {
            Ok(ToolOutcome::Passed)
        } else {
            Err(CommandError::Reported)
        }
    }
}

/// Returns the error for a command that cannot be started.
fn cannot_start(error: io::Error) -> Error {
    Error::new(format!(
        "cannot start a command: {}",
        describe_os_error(&error)
    ))
}

/// A folder with programs that have the names of PyModel's tools.
struct ToolFolder {
    folder: TempDir,
}

impl ToolFolder {
    /// Writes the programs to a temporary folder.
    fn new() -> Result<ToolFolder, Error> {
        let python = testwright_python::attach(testwright_python::executable)
            .ok_or_else(|| Error::new("there is no Python program to run commands with"))?;
        let written = || -> io::Result<ToolFolder> {
            let folder = tempfile::tempdir()?;
            let python = shell_quoted(&python);
            for tool in TOOLS {
                let line = format!("exec {python} -m testwright compat {tool} \"$@\"");
                write_program(&folder.path().join(tool), &line)?;
            }
            for kind in PICTURES {
                let line = format!("exec dot -v -T{kind} -o \"$1.{kind}\" \"$1.dot\"");
                write_program(&folder.path().join(format!("dot{kind}")), &line)?;
            }
            Ok(ToolFolder { folder })
        };
        written().map_err(|error| {
            Error::new(format!(
                "cannot write a folder of programs: {}",
                describe_os_error(&error)
            ))
        })
    }

    /// Returns a shell command whose `PATH` begins with this folder.
    fn shell(&self, line: &str) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut path: Vec<PathBuf> = std::env::split_paths(&path).collect();
        path.insert(0, self.folder.path().to_owned());
        let path: OsString = std::env::join_paths(path).unwrap_or_default();
        let mut command = Command::new("sh");
        command.arg("-c").arg(line).env("PATH", path);
        command.stdin(Stdio::null());
        command
    }
}

/// Writes an executable shell script of one line.
fn write_program(file: &Path, line: &str) -> io::Result<()> {
    fs::write(file, format!("#!/bin/sh\n{line}\n"))?;
    fs::set_permissions(file, Permissions::from_mode(0o755))
}

/// Quotes a path for a shell.
fn shell_quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
