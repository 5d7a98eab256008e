//! `testwright markov`: learn which lines of a harness follow which.

use std::path::{Path, PathBuf};

use testwright_core::generate::MarkovModel;
use testwright_core::{ActionClasses, Error};
use testwright_python::OutputMode;

use crate::console::Console;
use crate::files::Destination;
use crate::load::{self, SavedSuite};
use crate::test_source::TestSetup;
use crate::{CommandError, ExitStatus, quantity};

/// Learn which lines of the harness follow which in saved tests
///
/// For each sequence of N lines in the tests, the model has the lines that came next, and how often.
/// A folder stands for all `.test` files in it and below. Tests that no longer fit the harness are reported
/// and left out.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright markov kept --out stack.markov
  testwright markov kept --order 1             show what follows each line

Exit status: 0 the model is written, 2 could not do what was asked."
)]
pub(crate) struct MarkovCommand {
    /// Saved tests, and folders with tests
    #[arg(required = true, value_name = "TEST|FOLDER")]
    tests: Vec<PathBuf>,

    /// Number of earlier steps that a line may depend on
    #[arg(
        long,
        value_name = "N",
        default_value = "2",
        allow_negative_numbers = true,
        value_parser = parse_order
    )]
    order: u16,

    /// File to write the model to, `-` for standard output
    #[arg(
        long,
        alias = "output",
        short_alias = 'o',
        value_name = "FILE",
        default_value = "-"
    )]
    out: PathBuf,

    #[command(flatten)]
    setup: TestSetup,
}

impl MarkovCommand {
    /// Runs the command.
    pub(crate) fn run(mut self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let files = load::test_files(&self.tests)?;
        let source = self.setup.restore(&self.tests)?;
        let own = source.files();
        let destination = {
            let tests = files.iter().map(|file| (&*file.path, "one of the tests"));
            let mut to_keep: Vec<(&Path, &str)> = tests.collect();
            to_keep.extend(own.iter().map(|file| (&**file, "the harness")));
            Destination::prepare(&self.out, &to_keep)?
        };
        let options = self.setup.options(&source, OutputMode::Drop)?;
        let ready = source.read(console)?;
        ready.with_target(console, &options, &self.setup.system, |console, system| {
            let suite = SavedSuite::read(console, system, files)?;
            let tests = suite.tests.iter().map(|(_, test)| test);
            let catalog = system.actions();
            let classes = ActionClasses::new(catalog);
            let model = MarkovModel::learn(catalog, &classes, self.order.into(), tests.clone());
            if model.run_count() == 0 {
                let message = format!("no test is longer than {}", self.order_text());
                let help = "a smaller `--order` needs less";
                return Err(Error::new(message).with_help(help).into());
            }
            let text = model.write(&classes);
            let summary = format!(
                "Learned from {}, {}: what follows {} of {}",
                quantity::format_count(tests.len() as u64, "test"),
                quantity::format_count(tests.map(|test| test.len() as u64).sum(), "step"),
                quantity::format_count(model.run_count() as u64, "run"),
                self.order_text(),
            );
            match destination.file() {
                Some(file) => {
                    file.write(&text)?;
                    console.out(summary);
                    console.out(format_args!("Written to {}", file.shown().display()));
                }
                None => {
                    console.err(summary);
                    console.out(text.trim_end());
                }
            }
            Ok(ExitStatus::NothingFound)
        })
    }

    /// Formats the order: `2 steps`.
    fn order_text(&self) -> String {
        quantity::format_count(self.order.into(), "step")
    }
}

/// Parses the value of `--order`.
fn parse_order(text: &str) -> Result<u16, String> {
    text.parse()
        .map_err(|_| format!("must be a whole number from 0 to {}", u16::MAX))
}
