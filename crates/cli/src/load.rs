//! From paths to things: a harness, the system it describes, the tests saved for it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use testwright_core::generate::TextProblem;
use testwright_core::saved::{self, ReadProblem};
use testwright_core::{Error, Test};
use testwright_lang::{Diagnostic, Harness, Severity};
use testwright_python::{Interpreter, LoadError, Options, Problem, PythonSystem};

use crate::Trouble;
use crate::console::Console;
use crate::files::TextFile;
use crate::quantity;
use crate::render::tally;
use crate::subject::Subject;

/// Shows problems with a text, all of them, and what they add up to.
pub(crate) fn tell_problems(console: &mut Console<'_>, file: &TextFile, problems: &[Diagnostic]) {
    tell_each(console, file, problems);
    if !problems.is_empty() {
        console.tell(format_args!("{} in {}", tally(problems), file.name));
    }
}

fn tell_each(console: &mut Console<'_>, file: &TextFile, problems: &[Diagnostic]) {
    let renderer = console.renderer();
    for problem in problems {
        console.tell(renderer.diagnostic(file, problem));
        console.tell("");
    }
}

/// Whether something is in the way of using the text.
pub(crate) fn has_errors(problems: &[Diagnostic]) -> bool {
    problems
        .iter()
        .any(|problem| problem.severity == Severity::Error)
}

fn tell_and_stop(console: &mut Console<'_>, file: &TextFile, problems: &[Diagnostic]) -> Trouble {
    tell_problems(console, file, problems);
    Trouble::Told
}

/// Reads a harness without errors.
pub(crate) fn harness(
    console: &mut Console<'_>,
    path: &Path,
) -> Result<(TextFile, Harness), Trouble> {
    let file = TextFile::read(path)?;
    let (harness, problems) = testwright_lang::parse(&file.text);
    if has_errors(&problems) {
        return Err(tell_and_stop(console, &file, &problems));
    }
    tell_problems(console, &file, &problems);
    Ok((file, harness))
}

/// Reads a harness that need not run: what is wrong with its host code is told, but not in the way.
pub(crate) fn harness_to_look_at(
    console: &mut Console<'_>,
    path: &Path,
) -> Result<Harness, Trouble> {
    let file = TextFile::read(path)?;
    let (harness, problems) = testwright_lang::parse(&file.text);
    tell_problems(console, &file, &problems);
    let (_, in_the_way): (Vec<_>, Vec<_>) =
        problems.into_iter().partition(Diagnostic::is_about_host);
    if has_errors(&in_the_way) {
        return Err(Trouble::Told);
    }
    Ok(harness)
}

/// Tells what is wrong with a file of numbers for lines of the harness; nothing if it can be used.
pub(crate) fn refuse_problems(
    console: &mut Console<'_>,
    file: &TextFile,
    problems: &[TextProblem],
) -> Result<(), Trouble> {
    for problem in problems {
        let message = format!("{}, line {}: {}", file.name, problem.line, problem.message);
        console.error(&Error::new(message));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Trouble::Told)
    }
}

/// Brings a harness to life, hands it to `work`, and tells at the end what was wrong with the harness itself.
pub(crate) fn with_system<R>(
    console: &mut Console<'_>,
    file: &TextFile,
    harness: Harness,
    options: &Options,
    work: impl FnOnce(&mut Console<'_>, &mut PythonSystem<'_>) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    testwright_python::attach(|interpreter| {
        let mut system = system(console, interpreter, file, harness, options)?;
        let result = work(console, &mut system);
        tell_afterwards(console, file, &system.problems());
        result
    })
}

/// Brings a harness to life, or tells what is in the way.
pub(crate) fn system<'py>(
    console: &mut Console<'_>,
    interpreter: Interpreter<'py>,
    file: &TextFile,
    harness: Harness,
    options: &Options,
) -> Result<PythonSystem<'py>, Trouble> {
    match PythonSystem::load(interpreter, &file.path, &file.text, harness, options) {
        Ok(system) => Ok(system),
        // Whatever is said to have failed then, it is what Ctrl-C broke off.
        Err(_) if testwright_python::interrupted() => Err(Trouble::Interrupted),
        Err(LoadError::Diagnostics(problems)) => Err(tell_and_stop(console, file, &problems)),
        Err(LoadError::Failed(error)) => Err(error.into()),
    }
}

/// Tells what was wrong with the harness itself while it ran.
pub(crate) fn tell_afterwards(console: &mut Console<'_>, file: &TextFile, problems: &[Problem]) {
    tell_without_place(console, problems);
    let with_place = problems.iter().filter(|problem| problem.line > 0);
    let problems: Vec<Diagnostic> = with_place
        .map(|problem| while_running(&file.text, problem))
        .collect();
    tell_problems(console, file, &problems);
}

/// Tells of what happened in no particular line.
pub(crate) fn tell_without_place(console: &mut Console<'_>, problems: &[Problem]) {
    for problem in problems.iter().filter(|problem| problem.line == 0) {
        let times = quantity::of(problem.times, "time");
        console.warning(&format!("{} ({times})", problem.message), None);
    }
}

fn while_running(text: &str, problem: &Problem) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        name: "while-running",
        message: problem.message.clone(),
        range: line_range(text, problem.line),
        label: quantity::of(problem.times, "time"),
        related: None,
        help: None,
    }
}

/// Brings a harness to life and hands it to `work` together with a saved test. Every step of it that the harness does
/// not know is told.
///
/// The files are read before the system is loaded, for that may change or delete the current folder.
pub(crate) fn with_test<R>(
    console: &mut Console<'_>,
    harness: &Path,
    test: &Path,
    options: &Options,
    work: impl FnOnce(&mut Console<'_>, &mut PythonSystem<'_>, Test) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    let (file, harness) = self::harness(console, harness)?;
    let saved = TextFile::read(test)?;
    with_system(console, &file, harness, options, |console, system| {
        let (_, test) = self::test(console, system, saved)?;
        work(console, system, test)
    })
}

/// Reads all tests that are meant: a folder stands for the `.test` files in it and below.
pub(crate) fn test_files(paths: &[PathBuf]) -> Result<Vec<TextFile>, Error> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(tests_below(path)?);
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        let error = Error::new("there are no tests to replay")
            .with_help("name a folder that has `.test` files in it");
        return Err(error);
    }
    files.iter().map(|path| TextFile::read(path)).collect()
}

/// The `.test` files in a folder and below, in order of their names.
fn tests_below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error| {
        let message = format!("cannot read the folder `{}`: {error}", folder.display());
        Error::new(message)
    };
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    let mut tests = Vec::new();
    for path in entries {
        if path.is_dir() {
            tests.extend(tests_below(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "test") {
            tests.push(path);
        }
    }
    Ok(tests)
}

/// Saved tests, as far as the harness knows their steps.
#[derive(Default)]
pub(crate) struct Suite {
    /// Those that can be used, with the names of their files.
    pub(crate) tests: Vec<(String, Test)>,
    /// The names of the others. What is wrong with them has been told.
    pub(crate) broken: Vec<String>,
}

impl Suite {
    /// Makes tests of files. A test that the harness does not understand any more keeps no other from being used, but
    /// there must be one to use.
    pub(crate) fn read(
        console: &mut Console<'_>,
        system: &mut (impl Subject + ?Sized),
        files: Vec<TextFile>,
    ) -> Result<Suite, Trouble> {
        let mut suite = Suite::default();
        for file in files {
            let name = file.name.clone();
            // One step of each is enough to see what has changed in the harness.
            match test_or_explain(console, system, file, 1) {
                Ok((_, test)) => suite.tests.push((name, test)),
                Err(_) if testwright_python::interrupted() => return Err(Trouble::Interrupted),
                Err(trouble) => {
                    if let Trouble::Error(error) = &trouble {
                        console.error(error);
                    }
                    suite.broken.push(name);
                }
            }
        }
        if suite.tests.is_empty() {
            let error = Error::new("the harness does not understand any of the tests")
                .with_help("is it the harness that they were made from?");
            return Err(error.into());
        }
        Ok(suite)
    }
}

/// Does something with all items, and stops only afterwards if there was trouble with some.
pub(crate) fn all<T, R>(
    console: &mut Console<'_>,
    items: impl IntoIterator<Item = T>,
    mut work: impl FnMut(&mut Console<'_>, T) -> Result<R, Trouble>,
) -> Result<Vec<R>, Trouble> {
    let mut results = Vec::new();
    let mut trouble = None;
    for item in items {
        match work(console, item) {
            Ok(result) => results.push(result),
            Err(Trouble::Error(error)) => {
                console.error(&error);
                trouble = Some(Trouble::Told);
            }
            Err(told) => trouble = Some(told),
        }
    }
    match trouble {
        Some(trouble) => Err(trouble),
        None => Ok(results),
    }
}

/// Reads a saved test.
pub(crate) fn test(
    console: &mut Console<'_>,
    system: &mut (impl Subject + ?Sized),
    file: TextFile,
) -> Result<(TextFile, Test), Trouble> {
    test_or_explain(console, system, file, saved::MOST_EXPLAINED)
}

/// Reads a saved test, and shows at most so many of the steps that the harness does not know.
fn test_or_explain(
    console: &mut Console<'_>,
    system: &mut (impl Subject + ?Sized),
    file: TextFile,
    most: usize,
) -> Result<(TextFile, Test), Trouble> {
    let test = test_of_any_length(console, system, &file, most)?;
    if test.is_empty() {
        let message = format!("the test `{}` has no steps", file.name);
        return Err(Error::new(message).into());
    }
    Ok((file, test))
}

/// The same for a test that may be empty.
pub(crate) fn test_of_any_length(
    console: &mut Console<'_>,
    system: &mut (impl Subject + ?Sized),
    file: &TextFile,
    most: usize,
) -> Result<Test, Trouble> {
    system.meet(file);
    let saved = saved::read(system.actions(), &file.text)
        .map_err(|problems| tell_unknown_steps(console, file, problems, most))?;
    Ok(saved.resolve(system)?)
}

/// Shows the first steps that the harness does not know; more of them would help nobody.
fn tell_unknown_steps(
    console: &mut Console<'_>,
    file: &TextFile,
    problems: Vec<ReadProblem>,
    most: usize,
) -> Trouble {
    let number = problems.len();
    let shown: Vec<Diagnostic> = problems
        .into_iter()
        .take(most)
        .map(|problem| unknown_step(&file.text, problem))
        .collect();
    tell_each(console, file, &shown);
    if number > shown.len() {
        let more = quantity::of((number - shown.len()) as u64, "more step");
        console.tell(format_args!("and {more} that the harness does not know"));
    }
    let errors = quantity::of(number as u64, "error");
    console.tell(format_args!("{errors} in {}", file.name));
    Trouble::Told
}

fn unknown_step(text: &str, problem: ReadProblem) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        name: "unknown-step",
        message: problem.message,
        range: line_range(text, problem.line),
        label: String::new(),
        related: None,
        help: problem.help,
    }
}

/// Where the words of a line are, blanks around them left out.
fn line_range(text: &str, number: usize) -> Range<usize> {
    let Some(line) = text.split('\n').nth(number.saturating_sub(1)) else {
        return text.len()..text.len();
    };
    let start = text
        .split('\n')
        .take(number.saturating_sub(1))
        .map(|line| line.len() + 1)
        .sum::<usize>();
    let indent = line.len() - line.trim_start().len();
    start + indent..start + indent + line.trim().len()
}
