//! `testwright campaign`: what earlier campaigns found and reached.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use testwright_campaign::store::{CampaignId, CampaignRecord, Store};
use testwright_core::Error;
use testwright_report::Timestamp;

use crate::console::Console;
use crate::project::Project;
use crate::{ExitStatus, Trouble};

mod export;
mod json;
mod list;
mod prune;
mod show;

/// Look at earlier campaigns, take their tests out, and drop old ones
///
/// A project's campaigns are kept in one file, `.testwright/store.db`, in the nearest folder at or above
/// the current one that has it: how far each came, what it reached, what it found, and what became of
/// that. The file is an SQLite database. It may come from somebody else: nothing in it is ever run.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  testwright campaign list               all campaigns, a line for each
  testwright campaign show               the latest one, with its failures
  testwright campaign export 3           the failing tests of campaign 3 as files
  testwright campaign prune --keep 20    drop all but the last twenty"
)]
pub(crate) struct Campaign {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    List(list::List),
    Show(show::Show),
    Export(export::Export),
    Prune(prune::Prune),
}

impl Campaign {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        match self.what {
            What::List(list) => list.run(console)?,
            What::Show(show) => show.run(console)?,
            What::Export(export) => export.run(console)?,
            What::Prune(prune) => prune.run(console)?,
        }
        Ok(ExitStatus::NothingFound)
    }
}

/// Which store is meant.
#[derive(clap::Args)]
struct StoreArgument {
    /// Another store [default: .testwright/store.db, here or in the nearest folder above]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

impl StoreArgument {
    /// Opens the store, if there is something in it.
    fn open(&self) -> Result<Option<Store>, Error> {
        let path = self.path()?;
        let store = Store::open_existing(&path)?;
        if store.is_none() && self.store.is_some() && !path.exists() {
            let message = format!("there is no file `{}`", path.display());
            let help = "leave `--store` out for the store of the project that you are in";
            return Err(Error::new(message).with_help(help));
        }
        Ok(store)
    }

    fn path(&self) -> Result<PathBuf, Error> {
        match &self.store {
            Some(path) => Ok(path.clone()),
            None => Ok(Project::here()?.store().to_owned()),
        }
    }

    /// Says that there is nothing yet.
    fn say_empty(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let path = self.path()?;
        console.say(format_args!("No campaigns yet in `{}`.", path.display()));
        Ok(())
    }
}

/// What a harness is called in the store.
fn name_of(harness: &Path) -> Result<String, Error> {
    Project::here()?.name_of(harness)
}

/// The campaign of that number, or the latest one; `None` if there is none at all.
fn chosen(store: &Store, number: Option<u32>) -> Result<Option<CampaignRecord>, Error> {
    match number {
        Some(number) => store.campaign(CampaignId::of(number)).map(Some),
        None => Ok(store.campaigns()?.pop()),
    }
}

/// A time in seconds, as reports have it.
fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A time as people read it, in universal time.
fn date(time: SystemTime) -> String {
    Timestamp(seconds(time)).date_and_time()
}
