//! `testwright campaign list`: a line for each campaign.

use std::path::PathBuf;

use testwright_campaign::store::CampaignRecord;
use testwright_report::visible;

use super::{StoreArgument, date, json, name_of};
use crate::console::{Console, Look};
use crate::{Trouble, quantity};

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
  testwright campaign list --json | jq '.campaigns[-1].seed'"
)]
pub(super) struct List {
    /// Only campaigns of this harness
    #[arg(long, value_name = "FILE")]
    harness: Option<PathBuf>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgument,
}

impl List {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), Trouble> {
        let mut records = match self.store.open()? {
            Some(store) => store.campaigns()?,
            None => Vec::new(),
        };
        if let Some(harness) = &self.harness {
            let name = name_of(harness)?;
            records.retain(|record| record.begun.harness == name);
        }
        if self.json {
            console.say(json::of_list(&records));
        } else if records.is_empty() {
            match &self.harness {
                Some(harness) => {
                    console.say(format_args!("No campaigns yet of `{}`.", harness.display()))
                }
                None => self.store.say_empty(console)?,
            }
        } else {
            say_table(console, &records);
        }
        Ok(())
    }
}

const TITLES: [&str; 9] = [
    "number", "begun", "harness", "seed", "tests", "steps", "reached", "failures", "state",
];

/// Numbers end below each other, words begin there.
const IS_NUMBER: [bool; 9] = [true, false, false, true, true, true, true, true, false];

fn say_table(console: &mut Console<'_>, records: &[CampaignRecord]) {
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
    let titles = console.paint(Look::Strong, line(TITLES));
    console.say(titles);
    for row in &rows {
        console.say(line(row.each_ref().map(String::as_str)));
    }
}

fn cells(record: &CampaignRecord) -> [String; 9] {
    [
        record.id.to_string(),
        date(record.begun.started),
        visible(&record.begun.harness).into_owned(),
        record.begun.seed.to_string(),
        quantity::grouped(record.standing.tests),
        quantity::grouped(record.standing.steps),
        quantity::grouped(record.standing.covered),
        quantity::grouped(record.failures),
        record.state.name().to_owned(),
    ]
}
