//! `testwright campaign export`: a campaign as files or as JSON.

use std::path::PathBuf;

use testwright_campaign::store::{CampaignRecord, Store};
use testwright_report::visible;

use super::{StoreArgument, chosen, json};
use crate::commands::run::at_least_one;
use crate::console::Console;
use crate::files::OutputFolder;
use crate::{Trouble, quantity};

/// Write the failing tests of a campaign as files
///
///   failure-1.test        the reduced test of the first failure, or the whole one if it was not reduced
///   failure-1.full.test   that test as it was found
///
/// Such files of an earlier call are replaced. The names are always these, whatever the store says.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright campaign export               the latest campaign, to testwright-out/campaign-N
  testwright campaign export 3 --out kept
  testwright campaign export 3 --corpus    also the tests that were kept for its harness
  testwright campaign export 3 --json      all that is known about it, for scripts"
)]
pub(super) struct Export {
    /// The number of the campaign [default: the latest]
    #[arg(value_name = "N", value_parser = at_least_one::<u32>)]
    number: Option<u32>,

    /// Where to write the tests [default: testwright-out/campaign-N]
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    out: Option<PathBuf>,

    /// Also write the tests that were kept for the harness: corpus/test-1.test and so on
    #[arg(long, conflicts_with = "json")]
    corpus: bool,

    /// Write no files but print the whole campaign, with its places and kept tests, as one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgument,
}

impl Export {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), Trouble> {
        let store = self.store.open()?;
        let record = match &store {
            Some(store) => chosen(store, self.number)?,
            None => None,
        };
        match (&store, &record) {
            (Some(store), Some(record)) if self.json => {
                console.say(json::of_whole_campaign(store, record)?);
            }
            (Some(store), Some(record)) => self.write(console, store, record)?,
            _ if self.json => console.say("null"),
            _ => self.store.say_empty(console)?,
        }
        Ok(())
    }

    fn write(
        &self,
        console: &mut Console<'_>,
        store: &Store,
        record: &CampaignRecord,
    ) -> Result<(), Trouble> {
        let usual = || PathBuf::from("testwright-out").join(format!("campaign-{}", record.id));
        let path = self.out.clone().unwrap_or_else(usual);
        let mut folder = OutputFolder::of_findings(&path)?;
        let failures = store.failures_of(record.id)?;
        for (number, failure) in (1..).zip(&failures) {
            let name = format!("failure-{number}.test");
            let full = &failure.found.full;
            folder.write(&name, failure.reduced.as_ref().unwrap_or(full))?;
            if failure.reduced.is_some() {
                folder.write(&format!("failure-{number}.full.test"), full)?;
            }
            console.say(format_args!(
                "{}: {}, {}",
                folder.file(&name).shown().display(),
                failure.status.name(),
                visible(&failure.found.message)
            ));
        }
        if failures.is_empty() {
            console.say(format_args!("Campaign {} found no failures.", record.id));
        }
        if self.corpus {
            let tests = store.corpus(&record.begun.harness, usize::MAX)?;
            let path = path.join("corpus");
            let mut folder = OutputFolder::of_corpus(&path)?;
            for (number, test) in (1..).zip(&tests) {
                folder.write(&format!("test-{number}.test"), &test.text)?;
            }
            let tests = quantity::of(tests.len() as u64, "kept test");
            console.say(format_args!("{}: {tests}", path.display()));
        }
        Ok(())
    }
}
