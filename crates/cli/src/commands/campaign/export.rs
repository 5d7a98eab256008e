//! `testwright campaign export`: the tests of a campaign as files, or all of it as JSON.

use std::path::PathBuf;

use testwright_campaign::store::{CampaignRecord, Store};
use testwright_report::make_visible;

use super::{StoreArgument, find_campaign, json};
use crate::commands::run::parse_at_least_one;
use crate::console::Console;
use crate::files::OutputFolder;
use crate::{CommandError, quantity};

/// Write the failing tests of a campaign as files
///
///   failure-1.test        the reduced test of the first failure, or the whole one if it was not reduced
///   failure-1.full.test   that test as it was found
///
/// Such files of an earlier call are replaced. The names of the files never come from the store.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright campaign export               the latest campaign, to testwright-out/campaign-N
  testwright campaign export 3 --out kept
  testwright campaign export 3 --corpus    also the tests that were kept for its harness
  testwright campaign export 3 --json      all that is known about it, for scripts

Exit status: 0 done, 2 could not do what was asked."
)]
pub(super) struct CampaignExportCommand {
    /// Number of the campaign [default: the latest]
    #[arg(value_name = "N", value_parser = parse_at_least_one::<u32>)]
    number: Option<u32>,

    /// Folder to write the tests to [default: testwright-out/campaign-N]
    #[arg(long, value_name = "FOLDER", conflicts_with = "json")]
    out: Option<PathBuf>,

    /// Also write the tests that were kept for the harness: corpus/test-1.test and so on
    #[arg(long, conflicts_with = "json")]
    corpus: bool,

    /// Print the whole campaign as one JSON object, with its coverage and kept tests, and write no files
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgument,
}

impl CampaignExportCommand {
    /// Runs the command.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), CommandError> {
        let store = self.store.open()?;
        let record = match &store {
            Some(store) => find_campaign(store, self.number)?,
            None => None,
        };
        match (&store, &record) {
            (Some(store), Some(record)) if self.json => {
                console.out(json::full_campaign(store, record)?);
            }
            (Some(store), Some(record)) => self.write(console, store, record)?,
            _ if self.json => console.out("null"),
            _ => self.store.print_empty(console)?,
        }
        Ok(())
    }

    /// Writes the failing tests as files and, with `--corpus`, the corpus of the harness.
    fn write(
        &self,
        console: &mut Console<'_>,
        store: &Store,
        record: &CampaignRecord,
    ) -> Result<(), CommandError> {
        let default = || PathBuf::from("testwright-out").join(format!("campaign-{}", record.id));
        let path = self.out.clone().unwrap_or_else(default);
        let mut folder = OutputFolder::for_failures(&path)?;
        let failures = store.failures_of_campaign(record.id)?;
        for (number, failure) in (1..).zip(&failures) {
            let name = format!("failure-{number}.test");
            let full = &failure.found.full;
            folder.write(&name, failure.reduced.as_ref().unwrap_or(full))?;
            if failure.reduced.is_some() {
                folder.write(&format!("failure-{number}.full.test"), full)?;
            }
            console.out(format_args!(
                "{}: {}, {}",
                folder.file(&name).shown().display(),
                failure.status.name(),
                make_visible(&failure.found.message)
            ));
        }
        if failures.is_empty() {
            console.out(format_args!(
                "Campaign {} has no failures to export.",
                record.id
            ));
        }
        if self.corpus {
            let tests = store.corpus(&record.settings.harness, usize::MAX)?;
            let path = path.join("corpus");
            let mut folder = OutputFolder::for_corpus(&path)?;
            for (number, test) in (1..).zip(&tests) {
                folder.write(&format!("test-{number}.test"), &test.text)?;
            }
            let tests = quantity::format_count(tests.len() as u64, "kept test");
            console.out(format_args!("{}: {tests}", path.display()));
        }
        Ok(())
    }
}
