//! `testwright campaign`: shows, exports and prunes earlier campaigns.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use testwright_campaign::store::{CampaignId, CampaignRecord, Store};
use testwright_core::Error;
use testwright_report::Timestamp;

use crate::console::Console;
use crate::project::ProjectFolder;
use crate::{CommandError, ExitStatus};

mod export;
mod json;
mod list;
mod prune;
mod show;

/// Show, export and delete earlier campaigns
///
/// The campaigns of a project are kept in one file, `.testwright/store.db`, in the current folder or in the
/// nearest folder above that has one: their progress, their coverage, their failures, and the status of each
/// failure. The file is an SQLite database. Nothing in it is ever run, so a file from someone else is safe.
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
  testwright campaign prune --keep 20    delete all but the last twenty

Exit status: 0 done, 2 could not do what was asked."
)]
pub(crate) struct CampaignCommand {
    #[command(subcommand)]
    subcommand: CampaignSubcommand,
}

/// The subcommands of `testwright campaign`.
#[derive(clap::Subcommand)]
enum CampaignSubcommand {
    List(list::CampaignListCommand),
    Show(show::CampaignShowCommand),
    Export(export::CampaignExportCommand),
    Prune(prune::CampaignPruneCommand),
}

impl CampaignCommand {
    /// Runs the subcommand.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        match self.subcommand {
            CampaignSubcommand::List(list) => list.run(console)?,
            CampaignSubcommand::Show(show) => show.run(console)?,
            CampaignSubcommand::Export(export) => export.run(console)?,
            CampaignSubcommand::Prune(prune) => prune.run(console)?,
        }
        Ok(ExitStatus::NothingFound)
    }
}

/// The `--store` option.
#[derive(clap::Args)]
struct StoreArgument {
    /// File with the campaigns [default: .testwright/store.db, here or in a folder above]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

impl StoreArgument {
    /// Opens the store. Returns `None` if there is none yet; fails if `--store` names a missing
    /// file.
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

    /// Returns the path of the store.
    fn path(&self) -> Result<PathBuf, Error> {
        match &self.store {
            Some(path) => Ok(path.clone()),
            None => Ok(ProjectFolder::find()?.store().to_owned()),
        }
    }

    /// Prints that there are no campaigns yet.
    fn print_empty(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let path = self.path()?;
        console.out(format_args!("No campaigns yet in `{}`.", path.display()));
        Ok(())
    }
}

/// Returns the name of a harness in the store.
fn stored_name(harness: &Path) -> Result<String, Error> {
    ProjectFolder::find()?.harness_name(harness)
}

/// Returns the campaign of the given number, or the latest one; `None` if there is none at all.
fn find_campaign(store: &Store, number: Option<u32>) -> Result<Option<CampaignRecord>, Error> {
    match number {
        Some(number) => store.campaign(CampaignId::from_number(number)).map(Some),
        None => Ok(store.campaigns()?.pop()),
    }
}

/// Converts a time to seconds since 1970; 0 for earlier times.
fn unix_seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Formats a time for people, in universal time.
fn format_date(time: SystemTime) -> String {
    Timestamp(unix_seconds(time)).date_and_time()
}
