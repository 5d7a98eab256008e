//! `testwright explain`: a model, a machine or a harness in plain English.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use testwright_core::Error;
use testwright_readable::block::{Document, NORMAL};
use testwright_readable::drift::drifted_blocks;
use testwright_readable::explain::{Limits, Options, difference};
use testwright_readable::render::{self, render};

use crate::console::Console;
use crate::explanation::{explain_file, split_name, vocabulary};
use crate::files::{TextFile, UserPath};
use crate::quantity::parse_from_zero;
use crate::{CommandError, ExitStatus};

/// Explain models, machines and harnesses in plain English
///
/// Reads model programs, scenario machines, Hypothesis state machines and harnesses. Explains what the state
/// is, which actions are possible and when, what they change, and what must always be true. No code is
/// imported or run.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright explain plates.py
  testwright explain machines.py::Bank --format md
  testwright explain tree.tstl --names words.idioms
  testwright explain plates.py --diff old/plates.py   what has changed, as requirements
  testwright explain plates.py --out docs             write docs/plates.explanation.md
  testwright explain plates.py --check docs           is it still true? exit status 1 if not

Exit status: 0 done, 1 `--check` found a text that no longer matches, 2 could not do what was asked."
)]
pub(crate) struct ExplainCommand {
    /// Models and harnesses; `FILE::NAME` is one machine of several
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,

    /// Format of the text [default: text, or md for files]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<FormatName>,

    /// File with words for names, and idioms; repeatable, the first one wins
    #[arg(long, value_name = "FILE")]
    names: Vec<PathBuf>,

    /// Explain more: what stays unchanged, and where it is defined; twice: with all code
    #[arg(long, short, action = clap::ArgAction::Count, conflicts_with = "brief")]
    verbose: u8,

    /// Explain less: only when actions are possible, and what they change
    #[arg(long)]
    brief: bool,

    /// Maximum number of outcomes that are explained for an action
    #[arg(long, value_name = "N", default_value_t = Limits::default().outcomes, allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    max_outcomes: usize,

    #[command(flatten)]
    alternative: AlternativeOutput,
}

/// Options that replace the explanation on standard output; at most one may be given.
#[derive(clap::Args)]
#[group(multiple = false)]
struct AlternativeOutput {
    /// Show only the changes since this older version
    #[arg(long, value_name = "OLD")]
    diff: Option<String>,

    /// List code that has no words of its own, as idioms to fill in
    #[arg(long)]
    unmatched: bool,

    /// Folder to write each explanation to, as NAME.explanation.md
    #[arg(long, alias = "write", value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Folder with explanations to compare with; exit status 1 if they differ
    #[arg(long, value_name = "FOLDER")]
    check: Option<PathBuf>,
}

/// Values of `--format`.
#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    /// plain text
    Text,
    /// Markdown
    Md,
    /// a page for the browser
    Html,
}

impl ExplainCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let vocabulary = vocabulary(console, &self.names)?;
        let options = Options {
            vocabulary,
            limits: Limits {
                outcomes: self.max_outcomes.max(1),
                ..Limits::default()
            },
            machine: None,
        };
        if let (Some(old), [new]) = (&self.alternative.diff, self.files.as_slice()) {
            return self.print_difference(console, old, new, &options);
        }
        if self.alternative.diff.is_some() {
            let help = "name one file, and its older version with `--diff OLD`";
            return Err(Error::new("only two versions can be compared")
                .with_help(help)
                .into());
        }
        let mut status = ExitStatus::NothingFound;
        for (number, argument) in self.files.iter().enumerate() {
            let (path, document, unmatched) = self.document(console, argument, &options)?;
            if self.alternative.unmatched {
                console.out(unmatched.trim_end());
            } else if let Some(folder) = &self.alternative.out {
                let file = UserPath::new(&folder.join(self.written_name(&path)))?;
                file.write(&render(&document, self.written_format()))?;
                console.out(format_args!("{}: written", file.shown().display()));
            } else if let Some(folder) = &self.alternative.check {
                let found = self.check(console, &path, &document, folder)?;
                status = status.max(found);
            } else {
                if number > 0 {
                    console.out("");
                }
                let format = self.format.unwrap_or(FormatName::Text).to_format();
                console.out(render(&document, format).trim_end());
            }
        }
        Ok(status)
    }

    /// Returns the level of detail: 0 for brief, up to 3.
    fn verbosity(&self) -> u8 {
        if self.brief {
            0
        } else {
            (NORMAL + self.verbose).min(3)
        }
    }

    /// Explains the model that an argument names. Returns its path, the explanation, and idioms for
    /// what has no words of its own.
    fn document(
        &self,
        console: &mut Console<'_>,
        argument: &str,
        options: &Options,
    ) -> Result<(PathBuf, Document, String), CommandError> {
        let (path, machine) = split_name(argument);
        let options = Options {
            machine,
            ..options.clone()
        };
        let explanation = explain_file(console, &path, &options)?;
        let document = explanation.document.at_verbosity(self.verbosity());
        Ok((path, document, explanation.unmatched()))
    }

    /// Prints what has changed between two versions.
    fn print_difference(
        &self,
        console: &mut Console<'_>,
        old: &str,
        new: &str,
        options: &Options,
    ) -> Result<ExitStatus, CommandError> {
        let (_, old, _) = self.document(console, old, options)?;
        let (_, new, _) = self.document(console, new, options)?;
        let changes = difference(&old, &new);
        if changes.sections.is_empty() {
            console.out("Nothing has changed.");
        } else {
            let format = self.format.unwrap_or(FormatName::Text).to_format();
            console.out(render(&changes, format).trim_end());
        }
        Ok(ExitStatus::NothingFound)
    }

    /// Returns the format of files.
    fn written_format(&self) -> render::DocumentFormat {
        self.format.unwrap_or(FormatName::Md).to_format()
    }

    /// Returns the name of the file for an explanation.
    fn written_name(&self, path: &Path) -> String {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        format!("{stem}.explanation.{}", self.written_format().ending())
    }

    /// Compares an explanation with the file that was written earlier.
    fn check(
        &self,
        console: &mut Console<'_>,
        path: &Path,
        document: &Document,
        folder: &Path,
    ) -> Result<ExitStatus, CommandError> {
        let written = folder.join(self.written_name(path));
        if !written.exists() {
            let name = written.display();
            console.out(format_args!("{name}: not written yet"));
            return Ok(ExitStatus::FailureFound);
        }
        let file = TextFile::read(&written)?;
        let format = self.written_format();
        let drifted = drifted_blocks(&file.text, &render(document, format), format);
        for block in &drifted {
            let name = &file.name;
            console.out(format_args!(
                "{name}: {block}: the text no longer matches the model"
            ));
        }
        if drifted.is_empty() {
            console.out(format_args!("{}: as the model says", file.name));
            return Ok(ExitStatus::NothingFound);
        }
        Ok(ExitStatus::FailureFound)
    }
}

impl FormatName {
    /// Converts to the format of the renderer.
    fn to_format(self) -> render::DocumentFormat {
        match self {
            FormatName::Text => render::DocumentFormat::Text,
            FormatName::Md => render::DocumentFormat::Markdown,
            FormatName::Html => render::DocumentFormat::Html,
        }
    }
}
