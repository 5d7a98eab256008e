//! The workers' part of the panel.

use super::line::PanelLine;
use super::{CampaignStatus, WorkerActivity, WorkerLine, crashes, whole_seconds};
use crate::console::TextStyle;
use crate::quantity;

/// The minimum width of a worker's cell where several stand side by side.
const MIN_CELL_WIDTH: usize = 38;
/// The gap between two cells.
const CELL_GAP: usize = 2;

impl WorkerActivity<'_> {
    /// Returns the priority for the choice of workers where there is not room for all: the less usual
    /// the activity, the lower the number.
    fn display_priority(self) -> usize {
        match self {
            WorkerActivity::SlowStep { .. } => 0,
            WorkerActivity::Restarting => 1,
            WorkerActivity::Loading => 2,
            WorkerActivity::Reducing(_) => 3,
            WorkerActivity::Testing => 4,
        }
    }

    /// Returns the words for the activity of a priority.
    fn activity_text(priority: usize) -> &'static str {
        match priority {
            0 => "in a slow step",
            1 => "restarting",
            2 => "loading",
            3 => "reducing",
            _ => "testing",
        }
    }
}

/// Renders `4: 3 testing, 1 in a slow step, 2 crashes`, or `4 testing` if all do the same, as a
/// list of items.
pub(super) fn summary(status: &CampaignStatus<'_>) -> Vec<String> {
    let workers = status.workers;
    let mut items: Vec<String> = (0..5)
        .rev()
        .filter_map(|priority| {
            let number = (workers.iter())
                .filter(|worker| worker.activity.display_priority() == priority)
                .count();
            (number > 0).then(|| {
                format!(
                    "{} {}",
                    quantity::grouped(number as u64),
                    WorkerActivity::activity_text(priority)
                )
            })
        })
        .collect();
    if let [first, _, ..] = &mut items[..] {
        *first = format!("{}: {first}", quantity::grouped(workers.len() as u64));
    }
    items.extend(crashes(status));
    items
}

/// Returns the number of rows that show all workers.
pub(super) fn rows_needed(workers: &[WorkerLine<'_>], width: usize) -> usize {
    workers.len().div_ceil(cells_per_row(width))
}

/// Returns the number of workers that fit side by side.
fn cells_per_row(width: usize) -> usize {
    ((width + CELL_GAP) / (MIN_CELL_WIDTH + CELL_GAP)).max(1)
}

/// Renders the workers in a number of rows, which are divided evenly. If there is not room for all,
/// those that run tests as usual are left out.
pub(super) fn render_rows(
    workers: &[WorkerLine<'_>],
    rows: usize,
    width: usize,
    colour: bool,
) -> Vec<PanelLine> {
    let mut shown: Vec<&WorkerLine<'_>> = workers.iter().collect();
    if shown.len() > rows * cells_per_row(width) {
        shown.sort_by_key(|worker| worker.activity.display_priority());
        shown.truncate(rows * cells_per_row(width));
        shown.sort_by_key(|worker| worker.number);
    }
    let cells = shown.len().div_ceil(rows.max(1)).max(1);
    let cell = ((width + CELL_GAP) / cells).saturating_sub(CELL_GAP);
    let digits = shown.iter().map(|worker| worker.number.to_string().len());
    let digits = digits.max().unwrap_or(0);
    (shown.chunks(cells))
        .map(|workers| {
            let mut line = PanelLine::new(width, colour);
            for (index, worker) in workers.iter().enumerate() {
                line.pad_to(index * (cell + CELL_GAP));
                line.append(self::cell(worker, digits, cell, colour));
            }
            line
        })
        .collect()
}

/// Renders `2  testing        15,300/s  1 crash`.
fn cell(worker: &WorkerLine<'_>, digits: usize, width: usize, colour: bool) -> PanelLine {
    let mut line = PanelLine::new(width, colour);
    line.paint(TextStyle::Dim, &format!(" {:>digits$}  ", worker.number));
    match worker.activity {
        WorkerActivity::SlowStep {
            elapsed: lasts,
            text,
        } => {
            line.paint(
                TextStyle::Warning,
                &format!("slow step for {}: ", whole_seconds(lasts)),
            );
            line.add(text);
            return line;
        }
        WorkerActivity::Restarting => line.paint(TextStyle::Warning, "restarting"),
        WorkerActivity::Loading => line.add("loading"),
        WorkerActivity::Reducing(failure) => line.add(&format!("reducing #{failure}")),
        WorkerActivity::Testing => line.add("testing"),
    }
    if matches!(
        worker.activity,
        WorkerActivity::Testing | WorkerActivity::Reducing(_)
    ) {
        let rate = format!("{}/s", quantity::grouped(worker.steps_per_second as u64));
        line.pad_to(digits + 16);
        line.paint_if_fits(TextStyle::Dim, &format!("{rate:>10}"));
    }
    if worker.crashes > 0 {
        let crashes = quantity::format_count(worker.crashes, "crash");
        line.pad_to(digits + 26);
        line.paint_if_fits(TextStyle::Warning, &format!("  {crashes}"));
    }
    line
}
