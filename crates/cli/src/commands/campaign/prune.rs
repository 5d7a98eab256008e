//! `testwright campaign prune`: deletes old campaigns.

use std::time::{Duration, SystemTime};

use testwright_campaign::store::{PruneOptions, PruneResult};
use testwright_core::Error;

use super::StoreArgument;
use crate::console::Console;
use crate::quantity::parse_from_zero;
use crate::{CommandError, duration, quantity, size};

/// Delete old campaigns and their coverage, and make the store smaller
///
/// With both `--keep` and `--older-than`, a campaign stays if one of them keeps it. A running campaign always
/// stays. Failures stay when their campaigns are deleted, so that they are recognized when they come back.
/// Tests that were kept for a harness stay as long as a campaign of the harness does.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright campaign prune --keep 20
  testwright campaign prune --older-than 30d --dry-run
  testwright campaign prune --fixed                   forget failures that are fixed
  testwright campaign prune --keep 0 --fixed --open   forget everything

Exit status: 0 done, 2 could not do what was asked."
)]
pub(super) struct CampaignPruneCommand {
    /// Delete all campaigns but the last N
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    keep: Option<usize>,

    /// Delete campaigns that began longer ago: 30d, 12h
    #[arg(long, value_name = "AGE", value_parser = duration::parse)]
    older_than: Option<Duration>,

    /// Also delete failures that are fixed; a failure that comes back is then new
    #[arg(long)]
    fixed: bool,

    /// Also delete failures that are not fixed, if no campaign is left that found them
    #[arg(long)]
    open: bool,

    /// Only show what would be deleted
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    store: StoreArgument,
}

impl CampaignPruneCommand {
    /// Runs the command.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), CommandError> {
        let options = self.options()?;
        let Some(mut store) = self.store.open()? else {
            self.store.print_empty(console)?;
            return Ok(());
        };
        let pruned = store.prune(&options)?;
        print(console, &pruned, self.dry_run);
        if let Some(error) = &pruned.compact_error {
            let message = format!("the store could not be made smaller: {}", error.message);
            console.warning(&message, error.help.as_deref());
        }
        Ok(())
    }

    /// Converts the arguments. Fails if none of them says what to delete.
    fn options(&self) -> Result<PruneOptions, Error> {
        let has_criterion =
            self.keep.is_some() || self.older_than.is_some() || self.fixed || self.open;
        if !has_criterion {
            let error = Error::new("say what to delete");
            return Err(
                error.with_help("for instance `--keep 20`, `--older-than 30d` or `--fixed`")
            );
        }
        let before = match self.older_than {
            // An age that the clock cannot represent deletes nothing.
            Some(age) => {
                let before = SystemTime::now().checked_sub(age);
                Some(before.unwrap_or(SystemTime::UNIX_EPOCH))
            }
            None => None,
        };
        Ok(PruneOptions {
            keep: self.keep,
            before,
            fixed: self.fixed,
            open: self.open,
            dry_run: self.dry_run,
        })
    }
}

/// Prints what was deleted, and the size of the store.
fn print(console: &mut Console<'_>, pruned: &PruneResult, dry_run: bool) {
    let deleted = if dry_run { "Would delete" } else { "Deleted" };
    let numbers = |numbers: Vec<String>| format!(" ({})", numbers.join(", "));
    let mut parts = Vec::new();
    if !pruned.campaigns.is_empty() {
        let names = numbers(pruned.campaigns.iter().map(ToString::to_string).collect());
        let amount = quantity::format_count(pruned.campaigns.len() as u64, "campaign");
        parts.push(format!("{amount}{names}"));
    }
    if !pruned.failures.is_empty() {
        let names = numbers(pruned.failures.iter().map(ToString::to_string).collect());
        let amount = quantity::format_count(pruned.failures.len() as u64, "failure");
        parts.push(format!("{amount}{names}"));
    }
    if pruned.tests > 0 {
        parts.push(quantity::format_count(pruned.tests, "kept test"));
    }
    if parts.is_empty() {
        console.out("There is nothing to delete.");
    } else {
        console.out(format_args!("{deleted} {}.", parts.join(", ")));
    }
    if !dry_run {
        let (before, after) = (pruned.size_before as usize, pruned.size_after as usize);
        console.out(format_args!(
            "The store takes {} now; it took {}.",
            size::show(after),
            size::show(before)
        ));
    }
}
