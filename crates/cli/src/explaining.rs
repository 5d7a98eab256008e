//! From files and failures to explanations, with what is wrong with files told like any other problem.

mod failing;

use std::path::{Path, PathBuf};

use testwright_core::Error;
use testwright_lang::{Diagnostic, Severity};
use testwright_readable::counterexample::Counterexample;
use testwright_readable::explain::{Explanation, Options, Unreadable, explain};
use testwright_readable::gherkin::{self, Page};
use testwright_readable::idiom::{IdiomError, Vocabulary};
use testwright_source::Problem;

use crate::Trouble;
use crate::console::Console;
use crate::files::TextFile;
use crate::load::tell_problems;

pub(crate) use failing::{Explaining, HarnessExplaining};

/// A failing test in English, and as a diagram.
pub(crate) struct Explained {
    pub(crate) feature: String,
    pub(crate) diagram: String,
    /// Both on a page that needs nothing else.
    pub(crate) page: String,
}

impl Explained {
    /// The text of both; nothing if not every parser would read it.
    pub(crate) fn new(found: &Counterexample) -> Option<Explained> {
        Some(Explained {
            feature: gherkin::write(&found.told.feature).ok()?,
            diagram: found.diagram.write(),
            page: Page {
                feature: &found.told.feature,
                remarks: &[],
                diagram: Some(&found.diagram),
                source: "",
            }
            .html(),
        })
    }

    /// Shows the scenario below what was said of the failure.
    pub(crate) fn say(&self, console: &mut Console<'_>) {
        console.say("");
        for line in self.feature.lines() {
            console.say(format_args!("  {line}").to_string().trim_end());
        }
    }
}

/// The class of the exception that a message tells of, without its module.
pub(crate) fn error_class(message: &str) -> Option<String> {
    let behind = message.rsplit("` raised ").next().unwrap_or_default();
    let class = behind.split([':', ' ']).next().unwrap_or_default();
    let name = class.rsplit('.').next().filter(|name| !name.is_empty());
    name.map(str::to_owned)
}

/// `FILE` or `FILE::NAME`.
pub(crate) fn parted(argument: &str) -> (PathBuf, Option<String>) {
    match argument.rsplit_once("::") {
        Some((file, name)) if !file.is_empty() && !name.is_empty() => {
            (PathBuf::from(file), Some(name.to_owned()))
        }
        _ => (PathBuf::from(argument), None),
    }
}

/// Reads files with names and idioms; the first one is consulted first.
pub(crate) fn vocabulary(
    console: &mut Console<'_>,
    paths: &[PathBuf],
) -> Result<Vocabulary, Trouble> {
    let mut vocabulary = Vocabulary::default();
    for path in paths {
        let file = TextFile::read(path)?;
        if let Err(errors) = vocabulary.add(&file.text) {
            let problems: Vec<Diagnostic> = errors
                .iter()
                .map(|error| idiom(&file.text, error))
                .collect();
            tell_problems(console, &file, &problems);
            return Err(Trouble::Told);
        }
    }
    Ok(vocabulary)
}

fn idiom(text: &str, error: &IdiomError) -> Diagnostic {
    let before = text
        .split_inclusive('\n')
        .take(error.line.saturating_sub(1));
    let start = before.map(str::len).sum::<usize>();
    let line = text.get(start..).unwrap_or_default();
    let line = line.lines().next().unwrap_or_default();
    let column = line.char_indices().nth(error.column.saturating_sub(1));
    let at = start + column.map_or(line.len(), |(at, _)| at);
    Diagnostic {
        severity: Severity::Error,
        name: "bad-idiom",
        message: error.message.clone(),
        range: at..(start + line.trim_end().len()).max(at),
        label: String::new(),
        related: None,
        help: error.help.clone(),
    }
}

/// Tells why a file is not Python.
pub(crate) fn not_python(
    console: &mut Console<'_>,
    file: &TextFile,
    problems: Vec<Problem>,
) -> Trouble {
    let told: Vec<Diagnostic> = problems
        .into_iter()
        .map(|problem| Diagnostic {
            severity: Severity::Error,
            name: "python-syntax",
            message: problem.message,
            range: problem.range,
            label: String::new(),
            related: None,
            help: None,
        })
        .collect();
    tell_problems(console, file, &told);
    Trouble::Told
}

/// Explains what a file has.
pub(crate) fn explained(
    console: &mut Console<'_>,
    path: &Path,
    options: &Options,
) -> Result<Explanation, Trouble> {
    let file = TextFile::read(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let refuse = |message: String, help: &str| Err(Error::new(message).with_help(help).into());
    match explain(&name, &file.text, options) {
        Ok(explanation) => Ok(explanation),
        Err(Unreadable::Python(problems)) => Err(not_python(console, &file, problems)),
        Err(Unreadable::Harness(problems)) => {
            tell_problems(console, &file, &problems);
            Err(Trouble::Told)
        }
        Err(Unreadable::NoModel) => refuse(
            format!("`{}` has neither a model nor a machine", file.name),
            "a model program has `actions`, a scenario machine `graph`, a Hypothesis machine a class with rules; \
             a harness is a `.tstl` file. Properties are told by `testwright feature`",
        ),
        Err(Unreadable::NoMachine(there)) => {
            let wanted = options.machine.as_deref().unwrap_or_default();
            let help = match there.as_slice() {
                [] => "leave out `::` and the name".to_owned(),
                names => format!("there is `{}`", names.join("`, `")),
            };
            refuse(format!("`{}` has no machine `{wanted}`", file.name), &help)
        }
    }
}
