//! Loads harnesses, the systems they describe, and the tests saved for them, and prints what is
//! wrong with them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use testwright_core::saved::{self, ReadProblem};
use testwright_core::{Error, Test};
use testwright_core::{describe_os_error, generate::TextProblem};
use testwright_lang::{Diagnostic, Harness, Severity};
use testwright_python::{HarnessProblem, Interpreter, LoadError, Options, PythonSystem};

use crate::CommandError;
use crate::console::Console;
use crate::files::TextFile;
use crate::quantity;
use crate::render::count_text;
use crate::target::Target;

/// Prints all problems of a text, and their number.
pub(crate) fn print_problems(console: &mut Console<'_>, file: &TextFile, problems: &[Diagnostic]) {
    print_each(console, file, problems);
    if !problems.is_empty() {
        console.err(format_args!("{} in {}", count_text(problems), file.name));
    }
}

/// Prints problems, each followed by an empty line.
fn print_each(console: &mut Console<'_>, file: &TextFile, problems: &[Diagnostic]) {
    let renderer = console.renderer();
    for problem in problems {
        console.err(renderer.diagnostic(file, problem));
        console.err("");
    }
}

/// Returns true if a problem prevents the use of the text.
pub(crate) fn has_errors(problems: &[Diagnostic]) -> bool {
    problems
        .iter()
        .any(|problem| problem.severity == Severity::Error)
}

/// Prints problems and returns the error that ends the command.
fn print_and_fail(
    console: &mut Console<'_>,
    file: &TextFile,
    problems: &[Diagnostic],
) -> CommandError {
    print_problems(console, file, problems);
    CommandError::Reported
}

/// Reads a harness. Problems are printed; errors among them end the command.
pub(crate) fn harness(
    console: &mut Console<'_>,
    path: &Path,
) -> Result<(TextFile, Harness), CommandError> {
    let file = TextFile::read(path)?;
    let (harness, problems) = testwright_lang::parse(&file.text);
    if has_errors(&problems) {
        return Err(print_and_fail(console, &file, &problems));
    }
    print_problems(console, &file, &problems);
    Ok((file, harness))
}

/// Reads a harness that need not run: errors in its host code are printed, but do not end the
/// command. Returns true with the harness if there are none.
pub(crate) fn harness_to_inspect(
    console: &mut Console<'_>,
    path: &Path,
) -> Result<(Harness, bool), CommandError> {
    let file = TextFile::read(path)?;
    let (harness, problems) = testwright_lang::parse(&file.text);
    print_problems(console, &file, &problems);
    let is_sound = !has_errors(&problems);
    let (_, fatal): (Vec<_>, Vec<_>) = problems.into_iter().partition(Diagnostic::is_about_host);
    if has_errors(&fatal) {
        return Err(CommandError::Reported);
    }
    Ok((harness, is_sound))
}

/// Prints the problems of a file of numbers for lines of the harness, and fails if there are any.
pub(crate) fn reject_problems(
    console: &mut Console<'_>,
    file: &TextFile,
    problems: &[TextProblem],
) -> Result<(), CommandError> {
    for problem in problems {
        let message = format!("{}, line {}: {}", file.name, problem.line, problem.message);
        console.error(&Error::new(message));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(CommandError::Reported)
    }
}

/// Loads a system and passes it to `work`. Prints at the end the problems of the harness that came
/// up while it ran.
pub(crate) fn with_system<R>(
    console: &mut Console<'_>,
    file: &TextFile,
    harness: Harness,
    options: &Options,
    work: impl FnOnce(&mut Console<'_>, &mut PythonSystem<'_>) -> Result<R, CommandError>,
) -> Result<R, CommandError> {
    testwright_python::attach(|interpreter| {
        let mut system = system(console, interpreter, file, harness, options)?;
        let result = work(console, &mut system);
        let problems = system.problems();
        let (mistakes, problems): (Vec<_>, Vec<_>) =
            problems.into_iter().partition(|problem| problem.is_mistake);
        print_runtime_problems(console, file, &problems);
        match mistakes.first() {
            Some(mistake) if result.is_ok() => Err(mistake.to_error().into()),
            _ => result,
        }
    })
}

/// Loads a system, or prints the reason why that is not possible.
pub(crate) fn system<'py>(
    console: &mut Console<'_>,
    interpreter: Interpreter<'py>,
    file: &TextFile,
    harness: Harness,
    options: &Options,
) -> Result<PythonSystem<'py>, CommandError> {
    match PythonSystem::load(interpreter, &file.path, &file.text, harness, options) {
        Ok(system) => Ok(system),
        // Ctrl-C makes the loading fail, whatever the error says.
        Err(_) if testwright_python::is_interrupted() => Err(CommandError::Interrupted),
        Err(LoadError::Diagnostics(problems)) => Err(print_and_fail(console, file, &problems)),
        Err(LoadError::Failed(error)) => Err(error.into()),
    }
}

/// Prints the problems of the harness that came up while it ran.
pub(crate) fn print_runtime_problems(
    console: &mut Console<'_>,
    file: &TextFile,
    problems: &[HarnessProblem],
) {
    print_unlocated_problems(console, problems);
    let located = problems.iter().filter(|problem| problem.line > 0);
    let problems: Vec<Diagnostic> = located
        .map(|problem| runtime_warning(&file.text, problem))
        .collect();
    print_problems(console, file, &problems);
}

/// Prints the problems that belong to no particular line.
pub(crate) fn print_unlocated_problems(console: &mut Console<'_>, problems: &[HarnessProblem]) {
    for problem in problems.iter().filter(|problem| problem.line == 0) {
        let times = quantity::format_count(problem.times, "time");
        console.warning(&format!("{} ({times})", problem.message), None);
    }
}

/// Returns the warning for a problem that came up while the harness ran.
fn runtime_warning(text: &str, problem: &HarnessProblem) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        name: "while-running",
        message: problem.message.clone(),
        range: line_range(text, problem.line),
        label: quantity::format_count(problem.times, "time"),
        related: None,
        help: None,
    }
}

/// Loads a system and a saved test and passes both to `work`. Prints every step that the harness
/// does not know.
///
/// The files are read before the system is loaded, because that may change or delete the current
/// folder.
pub(crate) fn with_test<R>(
    console: &mut Console<'_>,
    harness: &Path,
    test: &Path,
    options: &Options,
    work: impl FnOnce(&mut Console<'_>, &mut PythonSystem<'_>, Test) -> Result<R, CommandError>,
) -> Result<R, CommandError> {
    let (file, harness) = self::harness(console, harness)?;
    let saved = TextFile::read(test)?;
    with_system(console, &file, harness, options, |console, system| {
        let (_, test) = self::test(console, system, saved)?;
        work(console, system, test)
    })
}

/// Reads test files. A folder stands for the `.test` files in it and below.
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

/// Finds the `.test` files in a folder and below, sorted by name.
fn tests_below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error| {
        let message = format!(
            "cannot read the folder `{}`: {}",
            folder.display(),
            describe_os_error(&error)
        );
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
pub(crate) struct SavedSuite {
    /// The tests that can be used, with the names of their files.
    pub(crate) tests: Vec<(String, Test)>,
    /// The names of the other files. Their problems were printed.
    pub(crate) broken: Vec<String>,
}

impl SavedSuite {
    /// Makes tests of files. A test that the harness does not understand any more is skipped, but
    /// at least one must be left.
    pub(crate) fn read(
        console: &mut Console<'_>,
        system: &mut (impl Target + ?Sized),
        files: Vec<TextFile>,
    ) -> Result<SavedSuite, CommandError> {
        let mut suite = SavedSuite::default();
        for file in files {
            let name = file.name.clone();
            // One unknown step of each is enough to see what has changed in the harness.
            match read_test(console, system, file, 1) {
                Ok((_, test)) => suite.tests.push((name, test)),
                Err(_) if testwright_python::is_interrupted() => {
                    return Err(CommandError::Interrupted);
                }
                Err(error) => {
                    if let CommandError::Error(cause) = &error {
                        console.error(cause);
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

/// Calls `work` for all items, and fails only at the end if it failed for some. Errors are printed
/// at once.
pub(crate) fn try_each<T, R>(
    console: &mut Console<'_>,
    items: impl IntoIterator<Item = T>,
    mut work: impl FnMut(&mut Console<'_>, T) -> Result<R, CommandError>,
) -> Result<Vec<R>, CommandError> {
    let mut results = Vec::new();
    let mut error = None;
    for item in items {
        match work(console, item) {
            Ok(result) => results.push(result),
            Err(CommandError::Error(cause)) => {
                console.error(&cause);
                error = Some(CommandError::Reported);
            }
            Err(reported) => error = Some(reported),
        }
    }
    match error {
        Some(error) => Err(error),
        None => Ok(results),
    }
}

/// Reads a saved test that has at least one step.
pub(crate) fn test(
    console: &mut Console<'_>,
    system: &mut (impl Target + ?Sized),
    file: TextFile,
) -> Result<(TextFile, Test), CommandError> {
    read_test(console, system, file, saved::MAX_SUGGESTIONS)
}

/// Reads a saved test that has at least one step, and prints at most `max_shown` of the steps that
/// the harness does not know.
fn read_test(
    console: &mut Console<'_>,
    system: &mut (impl Target + ?Sized),
    file: TextFile,
    max_shown: usize,
) -> Result<(TextFile, Test), CommandError> {
    let test = possibly_empty_test(console, system, &file, max_shown)?;
    if test.is_empty() {
        let message = format!("the test `{}` has no steps", file.name);
        return Err(Error::new(message).into());
    }
    Ok((file, test))
}

/// Reads a saved test that may be empty, and prints at most `max_shown` of the steps that the
/// harness does not know.
pub(crate) fn possibly_empty_test(
    console: &mut Console<'_>,
    system: &mut (impl Target + ?Sized),
    file: &TextFile,
    max_shown: usize,
) -> Result<Test, CommandError> {
    system.register_actions(file);
    let saved = saved::read(system.actions(), &file.text)
        .map_err(|problems| print_unknown_steps(console, file, problems, max_shown))?;
    Ok(saved.resolve(system)?)
}

/// Prints the first steps that the harness does not know, and the number of the others.
fn print_unknown_steps(
    console: &mut Console<'_>,
    file: &TextFile,
    problems: Vec<ReadProblem>,
    max_shown: usize,
) -> CommandError {
    let number = problems.len();
    let shown: Vec<Diagnostic> = problems
        .into_iter()
        .take(max_shown)
        .map(|problem| unknown_step(&file.text, problem))
        .collect();
    print_each(console, file, &shown);
    if number > shown.len() {
        let more = quantity::format_count((number - shown.len()) as u64, "more step");
        console.err(format_args!("and {more} that the harness does not know"));
    }
    let errors = quantity::format_count(number as u64, "error");
    console.err(format_args!("{errors} in {}", file.name));
    CommandError::Reported
}

/// Returns the error for a step that the harness does not know.
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

/// Returns the range of a line, without the blanks around its text.
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
