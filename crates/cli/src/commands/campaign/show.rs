//! `testwright campaign show`: all about one campaign.

use std::time::Duration;

use testwright_campaign::store::{
    CampaignEnding, CampaignProgress, CampaignRecord, CampaignState, FailureStatus, Store,
    StoredFailure,
};
use testwright_core::FailureKind;
use testwright_report::make_visible;

use super::{StoreArgument, find_campaign, format_date, json};
use crate::commands::run::parse_at_least_one;
use crate::console::{Console, TextStyle};
use crate::{CommandError, duration, quantity, report};

/// Maximum number of steps of a test and of lines of details that are printed; the rest is in the
/// exported files.
const MAX_LINES: usize = 40;

/// Show a campaign: its progress, its coverage, and its failures with their tests
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright campaign show          the latest campaign
  testwright campaign show 3
  testwright campaign show --json | jq '.failures[].message'

Exit status: 0 done, 2 could not do what was asked."
)]
pub(super) struct CampaignShowCommand {
    /// Number of the campaign [default: the latest]
    #[arg(value_name = "N", value_parser = parse_at_least_one::<u32>)]
    number: Option<u32>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgument,
}

impl CampaignShowCommand {
    /// Runs the command.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), CommandError> {
        let store = self.store.open()?;
        let record = match &store {
            Some(store) => find_campaign(store, self.number)?,
            None => None,
        };
        match (&store, &record) {
            (Some(store), Some(record)) if self.json => {
                console.out(json::campaign(store, record)?);
            }
            (Some(store), Some(record)) => print(console, store, record)?,
            _ if self.json => console.out("null"),
            _ => self.store.print_empty(console)?,
        }
        Ok(())
    }
}

/// Prints all about a campaign.
fn print(
    console: &mut Console<'_>,
    store: &Store,
    record: &CampaignRecord,
) -> Result<(), CommandError> {
    let (settings, progress) = (&record.settings, &record.progress);
    let title = console.paint(TextStyle::Bold, format_args!("Campaign {}", record.id));
    let harness = make_visible(&settings.harness);
    console.out(format_args!(
        "{title} of {harness}: {}",
        record.state.name()
    ));
    let mut line = |name: &str, text: String| console.out(format_args!("  {name:<9} {text}"));
    if let CampaignState::Ended(CampaignEnding::Failed(reason), _) = &record.state {
        line("because", make_visible(reason).into_owned());
    }
    let text: Vec<_> = settings
        .command_line
        .iter()
        .map(|word| make_visible(word))
        .collect();
    line("command", format!("testwright {}", text.join(" ")));
    line("seed", settings.seed.to_string());
    line("workers", settings.jobs.to_string());
    line(
        "versions",
        format!(
            "Testwright {}, Python {}",
            make_visible(&settings.version),
            make_visible(&settings.python)
        ),
    );
    line("begun", format!("{} UTC", format_date(settings.started)));
    match &record.state {
        CampaignState::Ended(_, at) => line("ended", format!("{} UTC", format_date(*at))),
        CampaignState::Running | CampaignState::BrokenOff => {
            line("last seen", format!("{} UTC", format_date(progress.at)));
        }
    }
    if record.resumed > 0 {
        line("resumed", quantity::format_count(record.resumed, "time"));
    }
    let time = Duration::try_from_secs_f64(progress.seconds).unwrap_or(Duration::MAX);
    line("searched", duration::show(time));
    line(
        "made",
        format!(
            "{}, {}, {}",
            quantity::format_count(progress.tests, "test"),
            quantity::format_count(progress.steps, "step"),
            quantity::format_count(progress.deadlocks, "deadlock")
        ),
    );
    line("reached", quantity::format_count(progress.covered, "place"));
    let curve = store.progress_curve(record.id)?;
    if curve.len() > 1 {
        console.out("");
        console.out("Places reached over time:");
        console.out("");
        for line in draw_curve(&curve) {
            console.out(line);
        }
    }
    for failure in store.failures_of_campaign(record.id)? {
        console.out("");
        print_failure(console, &failure);
    }
    Ok(())
}

/// Prints a failure: its history, its test and its details.
fn print_failure(console: &mut Console<'_>, failure: &StoredFailure) {
    let style = match failure.status {
        FailureStatus::Fixed => TextStyle::Success,
        FailureStatus::Open | FailureStatus::Returned => TextStyle::Failure,
    };
    let title = console.paint(style, format_args!("Failure {}", failure.id));
    console.out(format_args!(
        "{title}: {}, seen {}, last {} UTC",
        failure.status.name(),
        quantity::format_count(failure.times, "time"),
        format_date(failure.last_seen)
    ));
    if let Some(bug) = failure.same_bug_as {
        console.out(format_args!(
            "  the same bug as failure {bug}, seen in another way"
        ));
    }
    for change in &failure.changes {
        let (name, date) = (change.status.name(), format_date(change.at));
        console.out(format_args!(
            "  {name:<9} {date} UTC, campaign {}",
            change.campaign
        ));
    }
    console.out("");
    let text = failure.reduced.as_deref().unwrap_or(&failure.found.full);
    let steps: Vec<&str> = steps(text).collect();
    let width = steps.len().min(MAX_LINES).to_string().len();
    for (index, step) in steps.iter().take(MAX_LINES).enumerate() {
        let number = console.paint(TextStyle::Dim, format_args!("{:>width$}", index + 1));
        console.out(format_args!("  {number}  {}", make_visible(step)));
    }
    print_rest(console, steps.len(), "more step", width);
    let kind = match FailureKind::from_name(&failure.found.kind) {
        Some(kind) => report::kind_text(kind).into(),
        None => make_visible(&failure.found.kind),
    };
    let message = make_visible(&failure.found.message);
    let message = console.paint(style, format_args!("{kind}: {message}"));
    console.out(format_args!("{:indent$}{message}", "", indent = width + 4));
    let details: Vec<&str> = failure.found.details.lines().collect();
    for line in details.iter().take(MAX_LINES) {
        let line = console.paint(TextStyle::Dim, make_visible(line));
        console.out(format_args!("{:indent$}{line}", "", indent = width + 4));
    }
    print_rest(console, details.len(), "more line", width);
}

/// Prints how many lines were left out, if any.
fn print_rest(console: &mut Console<'_>, number: usize, noun: &str, width: usize) {
    if number > MAX_LINES {
        let rest = quantity::format_count((number - MAX_LINES) as u64, noun);
        console.out(format_args!("{:indent$}… {rest}", "", indent = width + 4));
    }
}

/// Returns the steps of a saved test, without its header.
fn steps(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

/// Width of the curve in columns.
const WIDTH: usize = 60;
/// Height of the curve in lines.
const HEIGHT: usize = 5;
/// Blocks that fill from zero to eight eighths of a line.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the growth of coverage with blocks. Each column shows the places reached by then.
fn draw_curve(curve: &[CampaignProgress]) -> Vec<String> {
    let max = curve.iter().map(|progress| progress.covered).max();
    let max = max.unwrap_or(0).max(1);
    let end = curve.last().map_or(0.0, |progress| progress.seconds);
    // In eighths of a line.
    let heights: Vec<usize> = (1..=WIDTH)
        .map(|column| {
            let until = end * column as f64 / WIDTH as f64;
            let reached = curve
                .iter()
                .take_while(|progress| progress.seconds <= until);
            let reached = reached.map(|progress| progress.covered).max().unwrap_or(0);
            let eighths = u128::from(reached) * (HEIGHT * 8) as u128 / u128::from(max);
            eighths as usize
        })
        .collect();
    let label = quantity::grouped(max);
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

    fn progress(seconds: f64, covered: u64) -> CampaignProgress {
        CampaignProgress {
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
        let drawn = draw_curve(&[progress(0.0, 0), progress(30.0, 600), progress(60.0, 1200)]);
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
            vec![progress(0.0, 0), progress(0.0, 0)],
            vec![progress(f64::MAX, u64::MAX), progress(1.0, 1)],
        ] {
            assert_eq!(draw_curve(&standings).len(), HEIGHT + 1);
        }
    }
}
