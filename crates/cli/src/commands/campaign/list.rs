//! `testwright campaign list`: a line for each campaign.

use std::path::PathBuf;

use testwright_campaign::store::CampaignRecord;
use testwright_report::make_visible;

use super::{StoreArgument, format_date, json, stored_name};
use crate::console::{Console, TextStyle};
use crate::{CommandError, quantity};

/// List all campaigns, the oldest first
///
/// Times are in universal time. `broken off` is a campaign whose process was killed.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright campaign list                        all campaigns of the project
  testwright campaign list --harness stack.tstl   those of one harness
  testwright campaign list --json | jq '.campaigns[-1].seed'

Exit status: 0 done, 2 could not do what was asked."
)]
pub(super) struct CampaignListCommand {
    /// List only campaigns of this harness
    #[arg(long, value_name = "FILE")]
    harness: Option<PathBuf>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgument,
}

impl CampaignListCommand {
    /// Runs the command.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), CommandError> {
        let mut records = match self.store.open()? {
            Some(store) => store.campaigns()?,
            None => Vec::new(),
        };
        if let Some(harness) = &self.harness {
            let name = stored_name(harness)?;
            records.retain(|record| record.settings.harness == name);
        }
        if self.json {
            console.out(json::list(&records));
        } else if records.is_empty() {
            match &self.harness {
                Some(harness) => {
                    console.out(format_args!("No campaigns yet of `{}`.", harness.display()))
                }
                None => self.store.print_empty(console)?,
            }
        } else {
            print_table(console, &records);
        }
        Ok(())
    }
}

/// Titles of the columns.
const TITLES: [&str; 9] = [
    "number", "begun", "harness", "seed", "tests", "steps", "reached", "failures", "state",
];

/// True for columns of numbers, which are aligned to the right.
const IS_NUMBER: [bool; 9] = [true, false, false, true, true, true, true, true, false];

/// Prints the campaigns as a table.
fn print_table(console: &mut Console<'_>, records: &[CampaignRecord]) {
    let rows: Vec<[String; 9]> = records.iter().map(cells).collect();
    let length = |text: &str| text.chars().count();
    let widths: [usize; 9] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| length(&row[column]));
        cells.chain([length(TITLES[column])]).max().unwrap_or(0)
    });
    let line = |cells: [&str; 9]| {
        let padded = (0..9).map(|column| {
            let (cell, width) = (cells[column], widths[column]);
            if IS_NUMBER[column] {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let titles = console.paint(TextStyle::Bold, line(TITLES));
    console.out(titles);
    for row in &rows {
        console.out(line(row.each_ref().map(String::as_str)));
    }
}

/// Returns the cells of a row.
fn cells(record: &CampaignRecord) -> [String; 9] {
    [
        record.id.to_string(),
        format_date(record.settings.started),
        make_visible(&record.settings.harness).into_owned(),
        record.settings.seed.to_string(),
        quantity::grouped(record.progress.tests),
        quantity::grouped(record.progress.steps),
        quantity::grouped(record.progress.covered),
        quantity::grouped(record.failures),
        record.state.name().to_owned(),
    ]
}
