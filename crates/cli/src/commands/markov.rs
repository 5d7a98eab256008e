//! `testwright markov`: what follows what in given tests.

use std::path::{Path, PathBuf};

use testwright_core::generate::MarkovModel;
use testwright_core::{Classes, Error};
use testwright_python::Output;

use super::SystemArguments;
use crate::belonging::HarnessArgument;
use crate::console::Console;
use crate::files::Destination;
use crate::load::{self, Suite};
use crate::{ExitStatus, Trouble, quantity};

/// Learn from tests which lines of the harness follow which
///
/// For each run of N lines that occurs in the tests, the model has the lines that came next and how often.
/// A folder stands for all `.test` files in it and below; tests that the harness does not understand any
/// more are told and left out.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright markov kept -o stack.markov
  testwright markov kept --order 1        show what follows each line

Exit status: 0 the model is written, 2 could not do what was asked."
)]
pub(crate) struct Markov {
    /// Tests, and folders with tests
    #[arg(required = true, value_name = "TEST|FOLDER")]
    tests: Vec<PathBuf>,

    #[command(flatten)]
    harness: HarnessArgument,

    /// How many steps back a line may depend on
    #[arg(
        long,
        value_name = "N",
        default_value = "2",
        allow_negative_numbers = true,
        value_parser = order
    )]
    order: u16,

    /// Where to write the model, `-` for standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    #[command(flatten)]
    system: SystemArguments,
}

impl Markov {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let files = load::test_files(&self.tests)?;
        let source = self.harness.of(&self.tests)?;
        let own = source.files();
        let destination = {
            let tests = files.iter().map(|file| (&*file.path, "one of the tests"));
            let mut to_keep: Vec<(&Path, &str)> = tests.collect();
            to_keep.extend(own.iter().map(|file| (&**file, "the harness")));
            Destination::prepare(&self.output, &to_keep)?
        };
        let options = self.system.options_for(&source, Output::Drop)?;
        let ready = source.read(console)?;
        ready.with_subject(console, &options, &self.system, |console, system| {
            let suite = Suite::read(console, system, files)?;
            let tests = suite.tests.iter().map(|(_, test)| test);
            let catalog = system.actions();
            let classes = Classes::new(catalog);
            let model = MarkovModel::learn(catalog, &classes, self.order.into(), tests.clone());
            if model.runs() == 0 {
                let message = format!("no test is longer than {}", self.steps());
                let help = "a smaller `--order` needs less";
                return Err(Error::new(message).with_help(help).into());
            }
            let text = model.write(&classes);
            let story = format!(
                "Learned from {}, {}: what follows {} of {}",
                quantity::of(tests.len() as u64, "test"),
                quantity::of(tests.map(|test| test.len() as u64).sum(), "step"),
                quantity::of(model.runs() as u64, "run"),
                self.steps(),
            );
            match destination.file() {
                Some(place) => {
                    place.write(&text)?;
                    console.say(story);
                    console.say(format_args!("Written to {}", place.shown().display()));
                }
                None => {
                    console.tell(story);
                    console.say(text.trim_end());
                }
            }
            Ok(ExitStatus::NothingFound)
        })
    }

    fn steps(&self) -> String {
        quantity::of(self.order.into(), "step")
    }
}

fn order(text: &str) -> Result<u16, String> {
    text.parse()
        .map_err(|_| format!("must be a whole number from 0 to {}", u16::MAX))
}
