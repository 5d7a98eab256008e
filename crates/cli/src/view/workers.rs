//! The workers' part of the panel.

use super::line::Line;
use super::{Doing, Standing, WorkerLine, crashes, whole};
use crate::console::Look;
use crate::quantity;

/// The columns of a worker where several stand beside each other.
const CELL: usize = 38;
/// Between them.
const GAP: usize = 2;

impl Doing<'_> {
    /// How much it is worth to be seen where there is not room for all: the less usual, the more.
    fn rank(self) -> usize {
        match self {
            Doing::SlowStep { .. } => 0,
            Doing::Restarting => 1,
            Doing::Loading => 2,
            Doing::Reducing(_) => 3,
            Doing::Testing => 4,
        }
    }

    /// What so many workers do, in one word.
    fn word(rank: usize) -> &'static str {
        match rank {
            0 => "in a slow step",
            1 => "restarting",
            2 => "loading",
            3 => "reducing",
            _ => "testing",
        }
    }
}

/// `4: 3 testing, 1 in a slow step, 2 crashes`, or `4 testing` if all do the same.
pub(super) fn summary(standing: &Standing<'_>) -> Vec<String> {
    let workers = standing.workers;
    let mut items: Vec<String> = (0..5)
        .rev()
        .filter_map(|rank| {
            let number = (workers.iter())
                .filter(|worker| worker.doing.rank() == rank)
                .count();
            (number > 0)
                .then(|| format!("{} {}", quantity::grouped(number as u64), Doing::word(rank)))
        })
        .collect();
    if let [first, _, ..] = &mut items[..] {
        *first = format!("{}: {first}", quantity::grouped(workers.len() as u64));
    }
    items.extend(crashes(standing));
    items
}

/// How many rows it takes to show all workers.
pub(super) fn rows(workers: &[WorkerLine<'_>], room: usize) -> usize {
    workers.len().div_ceil(beside(room))
}

/// How many workers stand beside each other.
fn beside(room: usize) -> usize {
    ((room + GAP) / (CELL + GAP)).max(1)
}

/// The workers in so many rows. Each has as much room as there is; if there is not room for all, those that do the
/// usual are left out.
pub(super) fn lines(
    workers: &[WorkerLine<'_>],
    rows: usize,
    room: usize,
    colour: bool,
) -> Vec<Line> {
    let mut shown: Vec<&WorkerLine<'_>> = workers.iter().collect();
    if shown.len() > rows * beside(room) {
        shown.sort_by_key(|worker| worker.doing.rank());
        shown.truncate(rows * beside(room));
        shown.sort_by_key(|worker| worker.number);
    }
    let beside = shown.len().div_ceil(rows.max(1)).max(1);
    let cell = ((room + GAP) / beside).saturating_sub(GAP);
    let digits = shown.iter().map(|worker| worker.number.to_string().len());
    let digits = digits.max().unwrap_or(0);
    (shown.chunks(beside))
        .map(|workers| {
            let mut line = Line::new(room, colour);
            for (index, worker) in workers.iter().enumerate() {
                line.go_to(index * (cell + GAP));
                line.join(self::cell(worker, digits, cell, colour));
            }
            line
        })
        .collect()
}

/// `2  testing        15,300 steps/s  1 crash`.
fn cell(worker: &WorkerLine<'_>, digits: usize, room: usize, colour: bool) -> Line {
    let mut line = Line::new(room, colour);
    line.paint(Look::Quiet, &format!(" {:>digits$}  ", worker.number));
    match worker.doing {
        Doing::SlowStep { lasts, text } => {
            line.paint(Look::Wary, &format!("slow step for {}: ", whole(lasts)));
            line.add(text);
            return line;
        }
        Doing::Restarting => line.paint(Look::Wary, "restarting"),
        Doing::Loading => line.add("loading"),
        Doing::Reducing(failure) => line.add(&format!("reducing #{failure}")),
        Doing::Testing => line.add("testing"),
    }
    if matches!(worker.doing, Doing::Testing | Doing::Reducing(_)) {
        let rate = format!("{}/s", quantity::grouped(worker.steps_per_second as u64));
        line.go_to(digits + 16);
        line.paint_if_fits(Look::Quiet, &format!("{rate:>10}"));
    }
    if worker.crashes > 0 {
        let crashes = quantity::of(worker.crashes, "crash");
        line.go_to(digits + 26);
        line.paint_if_fits(Look::Wary, &format!("  {crashes}"));
    }
    line
}
