//! `testwright campaign show`: all about one campaign.

use std::time::Duration;

use testwright_campaign::store::{
    CampaignEnding, CampaignRecord, CampaignState, KnownFailure, Standing, Status, Store,
};
use testwright_core::FailureKind;
use testwright_report::visible;

use super::{StoreArgument, chosen, date, json};
use crate::commands::run::at_least_one;
use crate::console::{Console, Look};
use crate::{Trouble, duration, quantity, report};

/// How many steps of a test and lines of details are shown; the rest is in the exported files.
const MOST_LINES: usize = 40;

/// Show a campaign: how far it came, how coverage grew, and its failures with their tests
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright campaign show          the latest campaign
  testwright campaign show 3
  testwright campaign show --json | jq '.failures[].message'"
)]
pub(super) struct Show {
    /// The number of the campaign [default: the latest]
    #[arg(value_name = "N", value_parser = at_least_one::<u32>)]
    number: Option<u32>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgument,
}

impl Show {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), Trouble> {
        let store = self.store.open()?;
        let record = match &store {
            Some(store) => chosen(store, self.number)?,
            None => None,
        };
        match (&store, &record) {
            (Some(store), Some(record)) if self.json => {
                console.say(json::of_campaign(store, record)?);
            }
            (Some(store), Some(record)) => say(console, store, record)?,
            _ if self.json => console.say("null"),
            _ => self.store.say_empty(console)?,
        }
        Ok(())
    }
}

fn say(console: &mut Console<'_>, store: &Store, record: &CampaignRecord) -> Result<(), Trouble> {
    let (begun, standing) = (&record.begun, &record.standing);
    let title = console.paint(Look::Strong, format_args!("Campaign {}", record.id));
    let harness = visible(&begun.harness);
    console.say(format_args!(
        "{title} of {harness}: {}",
        record.state.name()
    ));
    let mut line = |name: &str, words: String| console.say(format_args!("  {name:<9} {words}"));
    if let CampaignState::Ended(CampaignEnding::Failed(trouble), _) = &record.state {
        line("because", visible(trouble).into_owned());
    }
    let words: Vec<_> = begun.words.iter().map(|word| visible(word)).collect();
    line("command", format!("testwright {}", words.join(" ")));
    line("seed", begun.seed.to_string());
    line("workers", begun.jobs.to_string());
    line(
        "versions",
        format!(
            "Testwright {}, Python {}",
            visible(&begun.version),
            visible(&begun.python)
        ),
    );
    line("begun", format!("{} UTC", date(begun.started)));
    match &record.state {
        CampaignState::Ended(_, at) => line("ended", format!("{} UTC", date(*at))),
        CampaignState::Running | CampaignState::BrokenOff => {
            line("last seen", format!("{} UTC", date(standing.at)));
        }
    }
    if record.resumed > 0 {
        line("resumed", quantity::of(record.resumed, "time"));
    }
    let time = Duration::try_from_secs_f64(standing.seconds).unwrap_or(Duration::MAX);
    line("searched", duration::show(time));
    line(
        "made",
        format!(
            "{}, {}, {}",
            quantity::of(standing.tests, "test"),
            quantity::of(standing.steps, "step"),
            quantity::of(standing.deadlocks, "deadlock")
        ),
    );
    line("reached", quantity::of(standing.covered, "place"));
    let curve = store.curve(record.id)?;
    if curve.len() > 1 {
        console.say("");
        console.say("Places reached over time:");
        console.say("");
        for line in drawing(&curve) {
            console.say(line);
        }
    }
    for failure in store.failures_of(record.id)? {
        console.say("");
        say_failure(console, &failure);
    }
    Ok(())
}

fn say_failure(console: &mut Console<'_>, failure: &KnownFailure) {
    let look = match failure.status {
        Status::Fixed => Look::Good,
        Status::Open | Status::Returned => Look::Bad,
    };
    let title = console.paint(look, format_args!("Failure {}", failure.id));
    console.say(format_args!(
        "{title}: {}, seen {}, last {} UTC",
        failure.status.name(),
        quantity::of(failure.times, "time"),
        date(failure.seen)
    ));
    for change in &failure.changes {
        let (name, date) = (change.status.name(), date(change.at));
        console.say(format_args!(
            "  {name:<9} {date} UTC, campaign {}",
            change.campaign
        ));
    }
    console.say("");
    let text = failure.reduced.as_deref().unwrap_or(&failure.found.full);
    let steps: Vec<&str> = steps(text).collect();
    let width = steps.len().min(MOST_LINES).to_string().len();
    for (index, step) in steps.iter().take(MOST_LINES).enumerate() {
        let number = console.paint(Look::Quiet, format_args!("{:>width$}", index + 1));
        console.say(format_args!("  {number}  {}", visible(step)));
    }
    say_rest(console, steps.len(), "more step", width);
    let kind = match FailureKind::of_name(&failure.found.kind) {
        Some(kind) => report::in_words(kind).into(),
        None => visible(&failure.found.kind),
    };
    let message = visible(&failure.found.message);
    let message = console.paint(look, format_args!("{kind}: {message}"));
    console.say(format_args!("{:indent$}{message}", "", indent = width + 4));
    let details: Vec<&str> = failure.found.details.lines().collect();
    for line in details.iter().take(MOST_LINES) {
        let line = console.paint(Look::Quiet, visible(line));
        console.say(format_args!("{:indent$}{line}", "", indent = width + 4));
    }
    say_rest(console, details.len(), "more line", width);
}

fn say_rest(console: &mut Console<'_>, number: usize, what: &str, width: usize) {
    if number > MOST_LINES {
        let rest = quantity::of((number - MOST_LINES) as u64, what);
        console.say(format_args!("{:indent$}… {rest}", "", indent = width + 4));
    }
}

/// The lines of a saved test that are steps.
fn steps(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

const WIDTH: usize = 60;
const HEIGHT: usize = 5;
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How the number of places grew, drawn with blocks: each column is what was reached by then.
fn drawing(curve: &[Standing]) -> Vec<String> {
    let most = curve.iter().map(|standing| standing.covered).max();
    let most = most.unwrap_or(0).max(1);
    let end = curve.last().map_or(0.0, |standing| standing.seconds);
    // In eighths of a line.
    let heights: Vec<usize> = (1..=WIDTH)
        .map(|column| {
            let until = end * column as f64 / WIDTH as f64;
            let reached = curve
                .iter()
                .take_while(|standing| standing.seconds <= until);
            let reached = reached.map(|standing| standing.covered).max().unwrap_or(0);
            let eighths = u128::from(reached) * (HEIGHT * 8) as u128 / u128::from(most);
            eighths as usize
        })
        .collect();
    let label = quantity::grouped(most);
    let indent = label.chars().count();
    let mut lines: Vec<String> = (0..HEIGHT)
        .map(|line| {
            let label = if line == 0 { label.as_str() } else { "" };
            let floor = (HEIGHT - 1 - line) * 8;
            let blocks: String = heights
                .iter()
                .map(|height| BLOCKS[height.saturating_sub(floor).min(8)])
                .collect();
            format!("  {label:>indent$} │{blocks}")
                .trim_end()
                .to_owned()
        })
        .collect();
    let time = Duration::try_from_secs_f64(end).unwrap_or(Duration::MAX);
    let axis = "─".repeat(WIDTH);
    lines.push(format!("  {:>indent$} └{axis} {}", 0, duration::show(time)));
    lines
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn standing(seconds: f64, covered: u64) -> Standing {
        Standing {
            at: SystemTime::UNIX_EPOCH,
            seconds,
            tests: 0,
            steps: 0,
            deadlocks: 0,
            covered,
            streams: 0,
        }
    }

    #[test]
    fn a_curve_goes_up_to_the_right() {
        let drawn = drawing(&[standing(0.0, 0), standing(30.0, 600), standing(60.0, 1200)]);
        let columns = |line: &str| line.chars().filter(|letter| *letter == '█').count();
        assert_eq!(drawn.len(), HEIGHT + 1);
        assert!(drawn[0].starts_with("  1,200 │"), "{}", drawn[0]);
        assert_eq!(
            drawn.iter().map(|line| columns(line)).collect::<Vec<_>>(),
            [1, 1, 1, 31, 31, 0]
        );
        assert!(drawn[HEIGHT].ends_with("─ 1m 00s"), "{}", drawn[HEIGHT]);
    }

    #[test]
    fn no_number_is_too_strange_to_be_drawn() {
        for standings in [
            vec![],
            vec![standing(0.0, 0), standing(0.0, 0)],
            vec![standing(f64::MAX, u64::MAX), standing(1.0, 1)],
        ] {
            assert_eq!(drawing(&standings).len(), HEIGHT + 1);
        }
    }
}
