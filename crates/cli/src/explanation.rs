//! Explains files and failures, and prints what is wrong with the files.

mod explainer;

use std::path::{Path, PathBuf};

use testwright_core::Error;
use testwright_lang::{Diagnostic, Severity};
use testwright_readable::counterexample::RenderedCounterexample;
use testwright_readable::explain::{Explanation, Options, Unreadable, explain};
use testwright_readable::gherkin::{self, FeaturePage};
use testwright_readable::idiom::{IdiomError, Vocabulary};
use testwright_source::SyntaxProblem;

use crate::CommandError;
use crate::console::Console;
use crate::files::TextFile;
use crate::load::print_problems;

pub(crate) use explainer::{HarnessExplainer, TestExplainer};

/// A failing test in English, and as a diagram.
pub(crate) struct ExplainedTest {
    /// The scenario, in Gherkin.
    pub(crate) feature: String,
    /// The diagram, in Mermaid.
    pub(crate) diagram: String,
    /// Both on a page that needs no other files.
    pub(crate) page: String,
}

impl ExplainedTest {
    /// Renders a counterexample; `None` if not every Gherkin parser would read it.
    pub(crate) fn new(found: &RenderedCounterexample) -> Option<ExplainedTest> {
        Some(ExplainedTest {
            feature: gherkin::write(&found.rendered.feature).ok()?,
            diagram: found.diagram.write(),
            page: FeaturePage {
                feature: &found.rendered.feature,
                remarks: &[],
                diagram: Some(&found.diagram),
                source: "",
            }
            .html(),
        })
    }

    /// Prints the scenario below the failure.
    pub(crate) fn print(&self, console: &mut Console<'_>) {
        console.out("");
        for line in self.feature.lines() {
            console.out(format_args!("  {line}").to_string().trim_end());
        }
    }
}

/// Returns the class of the exception in a message, without its module.
pub(crate) fn error_class(message: &str) -> Option<String> {
    let behind = message.rsplit("` raised ").next().unwrap_or_default();
    let class = behind.split([':', ' ']).next().unwrap_or_default();
    let name = class.rsplit('.').next().filter(|name| !name.is_empty());
    name.map(str::to_owned)
}

/// Splits `FILE::NAME`; the name may be missing.
pub(crate) fn split_name(argument: &str) -> (PathBuf, Option<String>) {
    match argument.rsplit_once("::") {
        Some((file, name)) if !file.is_empty() && !name.is_empty() => {
            (PathBuf::from(file), Some(name.to_owned()))
        }
        _ => (PathBuf::from(argument), None),
    }
}

/// Reads files with names and idioms; the first one takes precedence.
pub(crate) fn vocabulary(
    console: &mut Console<'_>,
    paths: &[PathBuf],
) -> Result<Vocabulary, CommandError> {
    let mut vocabulary = Vocabulary::default();
    for path in paths {
        let file = TextFile::read(path)?;
        if let Err(errors) = vocabulary.add(&file.text) {
            let problems: Vec<Diagnostic> = errors
                .iter()
                .map(|error| idiom_problem(&file.text, error))
                .collect();
            print_problems(console, &file, &problems);
            return Err(CommandError::Reported);
        }
    }
    Ok(vocabulary)
}

/// Converts an error in a file of idioms to a diagnostic.
fn idiom_problem(text: &str, error: &IdiomError) -> Diagnostic {
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

/// Prints the syntax errors of a Python file, and returns the error that ends the command.
pub(crate) fn print_syntax_errors(
    console: &mut Console<'_>,
    file: &TextFile,
    problems: Vec<SyntaxProblem>,
) -> CommandError {
    let diagnostics: Vec<Diagnostic> = problems
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
    print_problems(console, file, &diagnostics);
    CommandError::Reported
}

/// Explains the content of a file.
pub(crate) fn explain_file(
    console: &mut Console<'_>,
    path: &Path,
    options: &Options,
) -> Result<Explanation, CommandError> {
    let file = TextFile::read(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let refuse = |message: String, help: &str| Err(Error::new(message).with_help(help).into());
    match explain(&name, &file.text, options) {
        Ok(explanation) => Ok(explanation),
        Err(Unreadable::Python(problems)) => Err(print_syntax_errors(console, &file, problems)),
        Err(Unreadable::Harness(problems)) => {
            print_problems(console, &file, &problems);
            Err(CommandError::Reported)
        }
        Err(Unreadable::NoModel) => refuse(
            format!("`{}` has neither a model nor a machine", file.name),
            "a model program has `actions`, a scenario machine `graph`, a Hypothesis machine a class with rules; \
             a harness is a `.tstl` file. `testwright feature` writes properties in English",
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
