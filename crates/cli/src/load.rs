//! From paths to things: a harness, the system it describes, the tests saved for it.

use std::ops::Range;
use std::path::Path;

use testwright_core::saved::{self, ReadProblem};
use testwright_core::{Error, System, Test};
use testwright_lang::{Diagnostic, Harness, Severity};
use testwright_python::{LoadError, Options, Problem, PythonSystem};

use crate::Trouble;
use crate::console::Console;
use crate::files::TextFile;
use crate::quantity;
use crate::render::tally;

/// Shows problems with a text, all of them, and what they add up to.
pub(crate) fn tell_problems(console: &mut Console<'_>, file: &TextFile, problems: &[Diagnostic]) {
    let renderer = console.renderer();
    for problem in problems {
        console.tell(renderer.diagnostic(file, problem));
        console.tell("");
    }
    if !problems.is_empty() {
        console.tell(format_args!("{} in {}", tally(problems), file.name));
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

/// Brings a harness to life, hands it to `work`, and tells at the end what was wrong with the harness itself.
pub(crate) fn with_system<R>(
    console: &mut Console<'_>,
    path: &Path,
    options: &Options,
    work: impl FnOnce(&mut Console<'_>, &mut PythonSystem<'_>) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    let (file, harness) = harness(console, path)?;
    testwright_python::attach(|interpreter| {
        let loaded = PythonSystem::load(interpreter, path, &file.text, harness, options);
        let mut system = match loaded {
            Ok(system) => system,
            Err(LoadError::Diagnostics(problems)) => {
                return Err(tell_and_stop(console, &file, &problems));
            }
            Err(LoadError::Failed(error)) => return Err(error.into()),
        };
        let result = work(console, &mut system);
        tell_afterwards(console, &file, &system.problems());
        result
    })
}

/// Tells what was wrong with the harness itself while it ran.
fn tell_afterwards(console: &mut Console<'_>, file: &TextFile, problems: &[Problem]) {
    let (without_place, with_place): (Vec<_>, Vec<_>) =
        problems.iter().partition(|problem| problem.line == 0);
    for problem in without_place {
        let times = quantity::of(problem.times, "time");
        console.warning(&format!("{} ({times})", problem.message), None);
    }
    let problems: Vec<Diagnostic> = with_place
        .into_iter()
        .map(|problem| while_running(&file.text, problem))
        .collect();
    tell_problems(console, file, &problems);
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

/// Reads saved tests; every step of every test that the harness does not know is told.
pub(crate) fn tests(
    console: &mut Console<'_>,
    system: &mut PythonSystem<'_>,
    paths: &[impl AsRef<Path>],
) -> Result<Vec<(TextFile, Test)>, Trouble> {
    let mut tests = Vec::new();
    let mut trouble = None;
    for path in paths {
        match test(console, system, path.as_ref()) {
            Ok(test) => tests.push(test),
            Err(Trouble::Error(error)) => {
                console.error(&error);
                trouble = Some(Trouble::Told);
            }
            Err(told) => trouble = Some(told),
        }
    }
    match trouble {
        Some(trouble) => Err(trouble),
        None => Ok(tests),
    }
}

/// Brings a harness to life and hands it to `work` together with a saved test.
pub(crate) fn with_test<R>(
    console: &mut Console<'_>,
    harness: &Path,
    test: &Path,
    options: &Options,
    work: impl FnOnce(&mut Console<'_>, &mut PythonSystem<'_>, Test) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    with_system(console, harness, options, |console, system| {
        let (_, test) = self::test(console, system, test)?;
        work(console, system, test)
    })
}

/// Reads a saved test.
fn test(
    console: &mut Console<'_>,
    system: &mut PythonSystem<'_>,
    path: &Path,
) -> Result<(TextFile, Test), Trouble> {
    let file = TextFile::read(path)?;
    let saved = saved::read(system.actions(), &file.text).map_err(|problems| {
        let problems: Vec<Diagnostic> = problems
            .into_iter()
            .map(|problem| unknown_step(&file.text, problem))
            .collect();
        tell_and_stop(console, &file, &problems)
    })?;
    let test = saved.resolve(system)?;
    if test.is_empty() {
        let message = format!("the test `{}` has no steps", file.name);
        return Err(Error::new(message).into());
    }
    Ok((file, test))
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
