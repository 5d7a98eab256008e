//! Answers to near misses: a word that is not a command, and a file of a kind that the command does
//! not take.
//!
//! [`GROUPS`](super::GROUPS) says which kinds each command takes. They are checked here, before the
//! command runs, so that no command has to do it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use testwright_capture::store::EXTENSION as RECORDING_ENDING;
use testwright_core::Error;
use testwright_readable::explain::{Options, Unreadable, explain};

use super::CommandRow;
use crate::console::ErrorFinder;
use crate::explanation::split_name;
use crate::files::TextFile;
use crate::report::shell_word;
use crate::source::is_model;
use testwright_core::spelling;

/// A kind of file, recognized by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Harness,
    Test,
    /// A Python file, or a package.
    Python,
    /// A Python file that is read as a model. Only commands have this kind.
    Model,
    Feature,
    Log,
    Recording,
    Folder,
}

impl FileKind {
    /// Returns the kind of a file that exists. A file with an unknown ending, or with none, may be
    /// of any kind.
    fn of_file(path: &Path) -> Option<FileKind> {
        match path.extension() {
            _ if path.is_dir() && is_model(path) => Some(FileKind::Python),
            _ if path.is_dir() => Some(FileKind::Folder),
            Some(_) if path.is_file() => FileKind::of_ending(path),
            _ => None,
        }
    }

    /// Returns the kind of files with this ending.
    fn of_ending(path: &Path) -> Option<FileKind> {
        match path.extension()?.to_str()? {
            "tstl" => Some(FileKind::Harness),
            "test" => Some(FileKind::Test),
            "py" => Some(FileKind::Python),
            "feature" => Some(FileKind::Feature),
            "jsonl" => Some(FileKind::Log),
            RECORDING_ENDING => Some(FileKind::Recording),
            _ => None,
        }
    }

    /// Returns the noun with its article.
    fn noun(self) -> &'static str {
        match self {
            FileKind::Harness => "a harness",
            FileKind::Test => "a saved test",
            FileKind::Python => "Python code",
            FileKind::Model => "a model",
            FileKind::Feature => "a feature",
            FileKind::Log => "a log",
            FileKind::Recording => "a recording",
            FileKind::Folder => "a folder, not a file",
        }
    }

    /// Returns true if a command takes files of this kind.
    fn is_taken_by(self, row: &CommandRow) -> bool {
        row.kinds.is_empty()
            || row.kinds.contains(&self)
            || self == FileKind::Python && row.kinds.contains(&FileKind::Model)
    }
}

/// An argument that may be a file.
struct FileArgument {
    /// The command, or the command with the option that the file belongs to.
    taker: String,
    /// The command, as a row of the table.
    row: &'static CommandRow,
    /// True if the file is a program to run.
    is_program: bool,
    path: PathBuf,
}

impl FileArgument {
    /// Returns the arguments of the chosen command that may be files.
    fn all(root: &clap::Command, matches: &ArgMatches) -> Vec<FileArgument> {
        let (mut command, mut matches, mut typed) = (root, matches, String::from("testwright"));
        let mut row = None;
        while let Some((name, inner)) = matches.subcommand() {
            let Some(nested) = command.find_subcommand(name) else {
                return Vec::new();
            };
            row = row.or_else(|| CommandRow::find(name));
            typed = format!("{typed} {name}");
            (command, matches) = (nested, inner);
        }
        let Some(row) = row else {
            return Vec::new();
        };
        let mut files = Vec::new();
        for argument in command.get_arguments() {
            let (taker, row) = match (argument.is_positional(), argument.get_long()) {
                (true, _) => (typed.clone(), row),
                (_, Some("harness")) => (format!("{typed} --harness"), CommandRow::any_system()),
                (_, Some("from")) => (format!("{typed} --from"), CommandRow::tests()),
                _ => continue,
            };
            let is_program = argument.is_trailing_var_arg_set();
            let values = matches.get_raw(argument.get_id().as_str());
            // The words after a program are arguments of the program.
            let limit = if is_program { 1 } else { usize::MAX };
            files.extend(
                values
                    .into_iter()
                    .flatten()
                    .take(limit)
                    .map(|value| FileArgument {
                        taker: taker.clone(),
                        row,
                        is_program,
                        path: split_name(&value.to_string_lossy()).0,
                    }),
            );
        }
        files
    }

    /// Returns the error for a file of a kind that the command does not take, or for a program that
    /// does not exist.
    fn problem(&self) -> Option<Error> {
        let (taker, path) = (&self.taker, &self.path);
        if self.is_program && FileKind::of_ending(path) == Some(FileKind::Python) && !path.exists()
        {
            return TextFile::read(path).err();
        }
        if let Some(model) = self.misplaced_model() {
            return Some(model);
        }
        let kind = FileKind::of_file(path)?;
        if kind.is_taken_by(self.row) {
            return None;
        }
        let (name, noun) = (path.display(), kind.noun());
        let message = format!("`{taker}` takes {}; `{name}` is {noun}", self.row.takes);
        let help = match self.neighbour(kind) {
            Some(neighbour) => did_you_mean(taker, &neighbour, &[]),
            None => advice(self.row.name, path, kind),
        };
        Some(Error::new(message).with_help(help))
    }

    /// Returns the error for a model, by its file or its name, if the command takes no Python code.
    fn misplaced_model(&self) -> Option<Error> {
        let takes_python = FileKind::Python.is_taken_by(self.row);
        let has_harness = self.path.with_extension("tstl").is_file();
        if takes_python || has_harness || !is_model(&self.path) {
            return None;
        }
        let file = self.path.with_extension("py");
        if !shows_model(&file) {
            return None;
        }
        let name = self.path.display();
        let message = format!(
            "`{}` takes {}; `{name}` is a model",
            self.taker, self.row.takes
        );
        let word = shell_word(&self.path);
        Some(Error::new(message).with_help(format!(
            "for a model: `testwright model lint {word}` looks for mistakes, `testwright explore {word}` \
             visits its states, and `testwright run {word}` tests with it"
        )))
    }

    /// Finds a file that the command takes: one of the same name, or in a folder any.
    fn neighbour(&self, kind: FileKind) -> Option<PathBuf> {
        let endings = [(FileKind::Harness, "tstl"), (FileKind::Test, "test")];
        let mut endings = endings
            .iter()
            .filter(|(kind, _)| self.row.kinds.contains(kind));
        endings.find_map(|(_, ending)| match kind {
            FileKind::Folder => first_file(&self.path, ending),
            _ => Some(self.path.with_extension(ending)).filter(|other| other.is_file()),
        })
    }

    /// Returns the advice for a name that was taken for a model: the module has none that can be
    /// seen in its text, or does not exist beside a harness of its name.
    fn model_advice(&self) -> Option<Error> {
        if !self.row.kinds.contains(&FileKind::Model) || !is_model(&self.path) {
            return None;
        }
        let path = self.path.with_extension("py");
        let name = path.file_name()?.to_string_lossy();
        let text = TextFile::read(&path).ok().map(|file| file.text);
        let read = text.map(|text| explain(&name, &text, &Options::default()));
        let has_harness = path.with_extension("tstl").is_file();
        let is_file_name = self.path.extension().is_some();
        match read {
            None if has_harness => {}
            Some(Err(Unreadable::NoModel)) if has_harness || is_file_name => {}
            _ => return None,
        }
        let message = format!("there is no model in `{}`", self.path.display());
        let help = advice(self.row.name, &path, FileKind::Python);
        Some(Error::new(message).with_help(help))
    }
}

/// Returns true if a file is read as a model: it has actions, or states and transitions, or runs.
fn shows_model(file: &Path) -> bool {
    let Ok(file) = TextFile::read(file) else {
        return false;
    };
    // A state machine of Hypothesis can be explained, too, but it is no model.
    !file.text.contains("RuleBasedStateMachine")
        && explain(&file.name, &file.text, &Options::default()).is_ok()
}

/// Returns the errors for files of kinds that the chosen command does not take.
pub(crate) fn wrong_files(root: &clap::Command, matches: &ArgMatches) -> Vec<Error> {
    let files = FileArgument::all(root, matches);
    let problems: Vec<Error> = files.iter().filter_map(FileArgument::problem).collect();
    if problems.is_empty() {
        Vec::from_iter(only_logs(&files))
    } else {
        problems
    }
}

/// Returns the error for logs without a model. Logs are only taken beside models.
fn only_logs(files: &[FileArgument]) -> Option<Error> {
    let first = files.first()?;
    let is_log = |file: &FileArgument| FileKind::of_file(&file.path) == Some(FileKind::Log);
    let takes_models = first.row.kinds.contains(&FileKind::Model);
    if !takes_models || !files.iter().all(is_log) {
        return None;
    }
    let (taker, path) = (&first.taker, &first.path);
    let message = format!(
        "`{taker}` takes {}; `{}` is a log",
        first.row.takes,
        path.display()
    );
    Some(Error::new(message).with_help(advice(first.row.name, path, FileKind::Log)))
}

/// Returns a function that finds better errors for a command that could not do its work: names that
/// are not models.
pub(crate) fn wrong_models(root: &clap::Command, matches: &ArgMatches) -> ErrorFinder {
    let files = FileArgument::all(root, matches);
    Box::new(move || {
        let advice = files.iter().filter_map(FileArgument::model_advice);
        advice.collect()
    })
}

/// Returns the error for words that contain an unknown command, with the one that was probably
/// meant.
pub(crate) fn unknown_command(root: &clap::Command, words: &[OsString]) -> Error {
    let (mut command, mut typed, mut rest) = (root, root.get_name().to_owned(), words);
    while let [word, more @ ..] = rest
        && let Some(nested) = command.find_subcommand(word)
    {
        typed = format!("{typed} {}", nested.get_name());
        (command, rest) = (nested, more);
    }
    let Some((word, more)) = rest.split_first() else {
        return Error::new("there is no command").with_help("`testwright help` lists the commands");
    };
    let (path, text) = (Path::new(word), word.to_string_lossy());
    let visible = command
        .get_subcommands()
        .filter(|nested| !nested.is_hide_set());
    let names: Vec<String> = visible.map(|nested| nested.get_name().to_owned()).collect();
    let help = if let Some(meant) = spelling::closest(&text, names.clone()) {
        did_you_mean(&typed, Path::new(&meant), more)
    } else if typed != "testwright" {
        format!("the commands of `{typed}` are `{}`", names.join("`, `"))
    } else if let Some(kind) = FileKind::of_file(path).or_else(|| FileKind::of_ending(path)) {
        advice(root.get_name(), path, kind)
    } else {
        "`testwright help` lists the commands".to_owned()
    };
    Error::new(format!("there is no command `{text}`")).with_help(help)
}

/// Returns what can be done with a file of this kind instead.
fn advice(command: &str, path: &Path, kind: FileKind) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let word = shell_word(path);
    match kind {
        FileKind::Harness if command == "feature" => format!(
            "`testwright explain {word}` explains it, and `testwright run {word} --explain` writes \
             failing tests as features"
        ),
        FileKind::Harness => did_you_mean("testwright run", path, &[]),
        FileKind::Test if command == "explain" => did_you_mean("testwright feature", path, &[]),
        FileKind::Test => did_you_mean("testwright replay", path, &[]),
        FileKind::Python if name.starts_with("test_") => format!("run it with `pytest {word}`"),
        FileKind::Python | FileKind::Model => match path.with_extension("tstl") {
            harness if harness.is_file() => {
                let takes_harness = CommandRow::find(command)
                    .is_some_and(|row| row.kinds.contains(&FileKind::Harness));
                let command = if takes_harness { command } else { "run" };
                did_you_mean(&format!("testwright {command}"), &harness, &[])
            }
            _ => format!("draft a harness that tests it with `testwright harness {word}`"),
        },
        FileKind::Feature => format!(
            "`testwright measure {word}` measures how readable it is; behave and pytest-bdd run it"
        ),
        FileKind::Log => format!("compare it with a model: `testwright conform MODEL {word}`"),
        FileKind::Recording => "`testwright show` shows what was recorded, and `testwright \
                                generate` writes tests from it"
            .to_owned(),
        FileKind::Folder => match first_file(path, "tstl") {
            Some(harness) => did_you_mean("testwright run", &harness, &[]),
            None => "name a file in this folder".to_owned(),
        },
    }
}

/// Formats a suggestion: a command with a file or a nested command, and further words.
fn did_you_mean(command: &str, word: &Path, more: &[OsString]) -> String {
    let words = std::iter::once(word).chain(more.iter().map(Path::new));
    let words: Vec<String> = words.map(shell_word).collect();
    format!("did you mean `{command} {}`?", words.join(" "))
}

/// Returns the first file with this ending in a folder.
fn first_file(folder: &Path, ending: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let has_ending = |path: &PathBuf| path.extension().is_some_and(|own| own == ending);
    paths.filter(has_ending).min()
}
