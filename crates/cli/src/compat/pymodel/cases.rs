//! `trun`: commands from a list. `tdiff`: what a command prints, compared with what it once printed.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use testwright_core::Error;

use super::super::{Calling, Ended, Tool};
use super::{ended, help};
use crate::Trouble;
use crate::console::Console;

/// The tools that commands may name, beside those that the machine has.
const TOOLS: [&str; 6] = ["pma", "pmt", "pmg", "pmv", "trun", "tdiff"];

/// Kinds of pictures that commands may have drawn by Graphviz.
const PICTURES: [&str; 3] = ["svg", "ps", "pdf"];

/// Run all commands of a list
#[derive(clap::Parser)]
#[command(name = "trun")]
pub(in crate::compat) struct CaseRunner {
    /// A module with a list `cases`: of each what it is about, and its command
    #[arg(value_name = "MODULE", num_args = 0..=1)]
    module: Option<String>,
}

impl Tool for CaseRunner {
    fn run(self, console: &mut Console<'_>, _calling: &Calling) -> Result<Ended, Trouble> {
        let Some(module) = &self.module else {
            return Ok(help::<CaseRunner>(console));
        };
        let cases =
            match testwright_python::attach(|python| testwright_python::cases(python, module)) {
                Ok(cases) => cases,
                Err(trouble) => return ended(console, &trouble),
            };
        let tools = Tools::new()?;
        // Where nobody watches, what it says itself comes last: so it is in all outputs that were ever kept.
        let is_watched = io::stdout().is_terminal();
        let mut own = Vec::new();
        for (title, command) in &cases {
            own.push(title.as_str());
            if is_watched {
                console.say(title);
            }
            console.flush();
            tools.shell(command).status().map_err(cannot_start)?;
            own.push("");
            if is_watched {
                console.say("");
            }
        }
        if !is_watched {
            own.iter().for_each(|line| console.say(line));
        }
        Ok(Ended::Well)
    }
}

/// Compare what a command prints with what it once printed, blanks aside
#[derive(clap::Parser)]
#[command(name = "tdiff")]
pub(in crate::compat) struct Comparer {
    /// The command and its argument: what it prints is written to ARGUMENT.log, and compared with ARGUMENT.ref
    #[arg(value_names = ["COMMAND", "ARGUMENT"], num_args = 0..=2)]
    words: Vec<String>,
}

impl Tool for Comparer {
    fn run(self, console: &mut Console<'_>, _calling: &Calling) -> Result<Ended, Trouble> {
        let [command, argument] = self.words.as_slice() else {
            return Ok(help::<Comparer>(console));
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
        let unwritten =
            |error: io::Error| Error::new(format!("cannot write `{}`: {error}", log.display()));
        let printed = File::create(&log).map_err(unwritten)?;
        let also = printed.try_clone().map_err(unwritten)?;
        console.flush();
        let tools = Tools::new()?;
        let mut ran = tools.shell(&format!("{command} {argument}"));
        ran.stdout(printed).stderr(also);
        ran.status().map_err(cannot_start)?;
        let mut compared = Command::new("diff");
        compared.arg("-b").arg(&log).arg(&expected);
        if compared.status().map_err(cannot_start)?.success() {
            Ok(Ended::Well)
        } else {
            Err(Trouble::Told)
        }
    }
}

fn cannot_start(error: io::Error) -> Error {
    Error::new(format!("cannot start a command: {error}"))
}

/// A folder in which our tools have their old names.
struct Tools {
    folder: TempDir,
}

impl Tools {
    fn new() -> Result<Tools, Error> {
        let python = testwright_python::attach(testwright_python::executable)
            .ok_or_else(|| Error::new("there is no Python program to run commands with"))?;
        let written = || -> io::Result<Tools> {
            let folder = tempfile::tempdir()?;
            let python = quoted(&python);
            for tool in TOOLS {
                let line = format!("exec {python} -m testwright compat {tool} \"$@\"");
                program(&folder.path().join(tool), &line)?;
            }
            for kind in PICTURES {
                let line = format!("exec dot -v -T{kind} -o \"$1.{kind}\" \"$1.dot\"");
                program(&folder.path().join(format!("dot{kind}")), &line)?;
            }
            Ok(Tools { folder })
        };
        written().map_err(|error| Error::new(format!("cannot write a folder of programs: {error}")))
    }

    /// A command as it would be typed where these tools are.
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

fn program(file: &Path, line: &str) -> io::Result<()> {
    fs::write(file, format!("#!/bin/sh\n{line}\n"))?;
    fs::set_permissions(file, Permissions::from_mode(0o755))
}

/// A path as a word of the shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
