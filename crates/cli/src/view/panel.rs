//! The panel: its lines, their positions, and the order in which lines are left out if there is not
//! room for all.

use super::line::PanelLine;
use super::{
    CampaignStatus, FailureLine, FailureProgress, rate, tests, time, whole_seconds, workers,
};
use crate::console::TextStyle;
use crate::{columns, quantity};

/// The maximum height. More lines would push earlier output off the screen.
const MAX_LINES: usize = 10;
/// The width from which the picture of coverage stands beside the workers.
const WIDE: usize = 120;
/// The number of lines that the picture has at most beside few workers.
const PICTURE_LINES: usize = 4;
/// The column at which values begin.
const VALUE_COLUMN: usize = 11;
/// The columns reserved for the time at the right edge, so that the bar before it does not move.
const TIME_WIDTH: usize = 12;

/// Renders the panel in lines that fit into a width and a height. `colour` makes it nicer, not
/// clearer.
pub(crate) fn lines(
    status: &CampaignStatus<'_>,
    width: usize,
    height: usize,
    colour: bool,
) -> Vec<String> {
    let panel = Panel {
        status,
        width,
        colour,
    };
    if height < 2 {
        let words = super::line(status);
        let line = columns::truncate(&words, width).into_owned();
        return Vec::from_iter((height > 0).then_some(line));
    }
    let layout = panel.layout(height.min(MAX_LINES));
    let lines = panel.lines(&layout);
    lines.into_iter().map(PanelLine::finish).collect()
}

/// A panel that is being drawn.
struct Panel<'s> {
    status: &'s CampaignStatus<'s>,
    width: usize,
    colour: bool,
}

/// The lines that fit, by their content.
#[derive(Default)]
struct PanelLayout {
    tests: bool,
    coverage: bool,
    failures: bool,
    /// The number of failures with a line of their own.
    listed: usize,
    workers: bool,
    /// The number of lines below the summary of workers, and of coverage if that stands beside it.
    below: usize,
    notice: bool,
}

impl Panel<'_> {
    /// Returns true if coverage and workers stand side by side.
    fn is_wide(&self) -> bool {
        self.width >= WIDE && self.status.covered.is_some()
    }

    /// Distributes the lines: the most important first, then the longer lists in turn.
    fn layout(&self, height: usize) -> PanelLayout {
        let status = self.status;
        let mut left = height - 1;
        let mut take = |wanted: bool| {
            let is_taken = wanted && left > 0;
            left -= usize::from(is_taken);
            is_taken
        };
        let mut layout = PanelLayout {
            notice: take(status.notice.is_some()),
            failures: take(true),
            tests: take(true),
            ..PanelLayout::default()
        };
        // In a wide panel, workers share the line of coverage.
        layout.coverage = take(status.covered.is_some());
        layout.listed += usize::from(take(!status.failures.is_empty()));
        layout.workers =
            !status.workers.is_empty() && (self.is_wide() && layout.coverage || take(true));
        let below = if self.is_wide() {
            let rows = workers::rows_needed(status.workers, self.right_width());
            rows.max(PICTURE_LINES)
        } else {
            workers::rows_needed(status.workers, self.width)
        };
        let is_open = layout.workers || self.is_wide() && layout.coverage;
        loop {
            let more_below = take(is_open && layout.below < below);
            let more_listed = take(layout.listed < status.failures.len());
            layout.below += usize::from(more_below);
            layout.listed += usize::from(more_listed);
            if !more_below && !more_listed {
                return layout;
            }
        }
    }

    /// Renders the lines of a layout.
    fn lines(&self, layout: &PanelLayout) -> Vec<PanelLine> {
        let mut lines = vec![self.header()];
        if layout.tests {
            lines.push(self.tests());
        }
        if layout.coverage && !self.is_wide() {
            lines.push(self.coverage());
        }
        if layout.failures {
            lines.push(self.failures());
            lines.extend(self.failure_lines(layout.listed));
        }
        if self.is_wide() && layout.coverage {
            lines.extend(self.side_by_side(layout));
        } else if layout.workers {
            lines.push(self.workers(self.width));
            let workers = self.status.workers;
            lines.extend(workers::render_rows(
                workers,
                layout.below,
                self.width,
                self.colour,
            ));
        }
        if let Some(notice) = self.status.notice.filter(|_| layout.notice) {
            let mut line = self.line();
            line.paint(TextStyle::Warning, notice);
            lines.push(line);
        }
        lines
    }

    /// Creates an empty line of full width.
    fn line(&self) -> PanelLine {
        PanelLine::new(self.width, self.colour)
    }

    /// Creates a line with a label; values follow in their column.
    fn labelled(&self, label: &str, room: usize) -> PanelLine {
        let mut line = PanelLine::new(room, self.colour);
        line.paint(TextStyle::Dim, label);
        line.pad_to(VALUE_COLUMN);
        line
    }

    /// Renders `stack.tstl  seed 42  ━━━━━━━━━━╸─────────────  1m 12s left`.
    fn header(&self) -> PanelLine {
        let status = self.status;
        let mut line = self.line();
        let name = columns::escape_control(status.harness);
        let time = time(status);
        let end = columns::width(&time).max(TIME_WIDTH) + 2;
        let room = self.width.saturating_sub(end).min((self.width / 2).max(20));
        line.paint(TextStyle::Bold, &columns::truncate(&name, room));
        let seed = format!("  seed {}", status.seed);
        if line.columns_left() >= columns::width(&seed) + end {
            line.paint(TextStyle::Dim, &seed);
        }
        let bar = line.columns_left().saturating_sub(end + 2);
        if let Some(done) = self.fraction_done().filter(|_| bar >= 8) {
            line.add("  ");
            let halves = (done * (bar * 2) as f64) as usize;
            let full = "━".repeat(halves / 2);
            let half = if halves % 2 == 1 { "╸" } else { "" };
            let rest = "─".repeat(bar - halves.div_ceil(2));
            line.paint(TextStyle::Accent, &format!("{full}{half}"));
            line.paint(TextStyle::Dim, &rest);
        }
        line.pad_to(self.width.saturating_sub(columns::width(&time)));
        line.add(&time);
        line
    }

    /// Returns the fraction of the campaign that is done, if it has an end.
    fn fraction_done(&self) -> Option<f64> {
        let status = self.status;
        let of_time = status
            .time
            .map(|time| status.elapsed.as_secs_f64() / time.as_secs_f64().max(0.001));
        let of_tests = status
            .tests_wanted
            .map(|all| status.tests as f64 / all.max(1) as f64);
        let done = of_time.into_iter().chain(of_tests).reduce(f64::max)?;
        Some(done.clamp(0.0, 1.0))
    }

    /// Renders the numbers of tests and steps, in the longest form that fits.
    fn tests(&self) -> PanelLine {
        let status = self.status;
        let mut line = self.labelled("testing", self.width);
        let tests = tests(status);
        let rate = rate(status.steps_per_second);
        let steps = quantity::format_count(status.steps, "step");
        let elapsed = whole_seconds(status.elapsed);
        let forms = [
            vec![tests.clone(), format!("{steps} in {elapsed}"), rate.clone()],
            vec![tests.clone(), steps, rate.clone()],
            vec![tests, rate],
        ];
        let room = line.columns_left();
        let fits = |form: &&Vec<String>| columns::width(&form.join(", ")) <= room;
        let form = forms.iter().find(fits).unwrap_or(&forms[2]);
        line.add_list(form);
        line
    }

    /// Renders `coverage   1,234 branches  ▁▂▃▄▅▆▇▇▇███████  new 3s ago`.
    fn coverage(&self) -> PanelLine {
        const SINCE_NEW_WIDTH: usize = 15;
        let mut line = self.labelled("coverage", self.width);
        line.add(&self.branches());
        let news = self.time_since_new().unwrap_or_default();
        let picture = line.columns_left().saturating_sub(SINCE_NEW_WIDTH + 4);
        if picture >= 8 {
            line.add("  ");
            let end = self.width - SINCE_NEW_WIDTH - 2;
            let elapsed = self.status.elapsed;
            for text in self.status.curve.draw(elapsed, picture, 1) {
                line.paint(TextStyle::Accent, &text);
            }
            line.pad_to(end);
        }
        line.paint_if_fits(TextStyle::Dim, &format!("  {news}"));
        line
    }

    /// Renders the number of branches.
    fn branches(&self) -> String {
        quantity::format_count(self.status.covered.unwrap_or(0), self.status.unit)
    }

    /// Renders the time since something new was reached: `new 3s ago`.
    fn time_since_new(&self) -> Option<String> {
        let since = self.status.since_new?;
        Some(match since.as_secs() {
            0 => "new just now".to_owned(),
            _ => format!("new {} ago", whole_seconds(since)),
        })
    }

    /// Renders the numbers of distinct failures and of failing tests.
    fn failures(&self) -> PanelLine {
        let failures = self.status.failures;
        let mut line = self.labelled("failures", self.width);
        if failures.is_empty() {
            line.add("none so far");
            return line;
        }
        let times = (failures.iter()).fold(0u64, |sum, failure| sum.saturating_add(failure.times));
        let different = if failures.len() > 1 { " different" } else { "" };
        line.paint(
            TextStyle::Failure,
            &quantity::grouped(failures.len() as u64),
        );
        line.add(&format!(
            "{different}, in {}",
            quantity::format_count(times, "test")
        ));
        line
    }

    /// Renders the latest failures, the newest first.
    fn failure_lines(&self, number: usize) -> Vec<PanelLine> {
        let latest: Vec<&FailureLine<'_>> =
            self.status.failures.iter().rev().take(number).collect();
        let widest = |measure: fn(&FailureLine<'_>) -> usize| {
            latest
                .iter()
                .map(|failure| measure(failure))
                .max()
                .unwrap_or(0)
        };
        let number = widest(|failure| failure.number.to_string().len()) + 1;
        let times = widest(|failure| times(failure).chars().count());
        let kind = widest(|failure| columns::width(failure.kind));
        latest
            .iter()
            .map(|failure| {
                let mut line = self.line();
                line.paint(
                    TextStyle::Failure,
                    &format!(" {:>number$}", format!("#{}", failure.number)),
                );
                line.add(&format!("  {:>times$}", self::times(failure)));
                line.add(&format!("  {:<11}  ", state(failure)));
                if self.width >= WIDE {
                    let column = self.width - line.columns_left() + kind + 2;
                    line.paint(TextStyle::Dim, failure.kind);
                    line.pad_to(column);
                }
                line.add(failure.message);
                line
            })
            .collect()
    }

    /// Renders the summary of the workers.
    fn workers(&self, room: usize) -> PanelLine {
        let mut line = self.labelled("workers", room);
        line.add_list(&workers::summary(self.status));
        line
    }

    /// Returns the column where the workers begin in a wide panel.
    fn right_start(&self) -> usize {
        self.width / 2 + 2
    }

    /// Returns the columns that the workers have in a wide panel.
    fn right_width(&self) -> usize {
        self.width - self.right_start()
    }

    /// Renders coverage with its picture at the left and workers at the right.
    fn side_by_side(&self, layout: &PanelLayout) -> Vec<PanelLine> {
        let (left, mut right) = (self.right_start() - 4, Vec::new());
        if layout.workers {
            let (workers, room) = (self.status.workers, self.right_width());
            right.push(self.workers(room));
            right.extend(workers::render_rows(
                workers,
                layout.below,
                room,
                self.colour,
            ));
        }
        let mut heading = self.labelled("coverage", left);
        heading.add_list(&Vec::from_iter(
            [Some(self.branches()), self.time_since_new()]
                .into_iter()
                .flatten(),
        ));
        let mut lines = vec![heading];
        lines.extend(self.picture(left, layout.below));
        let mut right = right.into_iter();
        lines
            .into_iter()
            .map(|left| {
                let mut line = self.line();
                line.append(left);
                if let Some(right) = right.next() {
                    line.pad_to(self.right_start());
                    line.append(right);
                }
                line
            })
            .collect()
    }

    /// Renders the curve of coverage, with the numbers at its top and bottom.
    fn picture(&self, room: usize, height: usize) -> Vec<PanelLine> {
        let curve = self.status.curve;
        let (bottom, top) = match curve.range() {
            Some((bottom, top)) => (Some(bottom), Some(top).filter(|_| top > bottom)),
            None => (None, None),
        };
        let picture = curve.draw(self.status.elapsed, room - VALUE_COLUMN, height);
        let lines = picture.into_iter().enumerate().map(|(index, text)| {
            let mut line = PanelLine::new(room, self.colour);
            let number = match index {
                _ if index + 1 == height => bottom,
                0 => top,
                _ => None,
            };
            let number = number.map(quantity::grouped).unwrap_or_default();
            line.paint(TextStyle::Dim, &format!("{number:>9} "));
            line.pad_to(VALUE_COLUMN);
            line.paint(TextStyle::Accent, &text);
            line
        });
        lines.collect()
    }
}

/// Renders `12×`.
fn times(failure: &FailureLine<'_>) -> String {
    format!("{}×", quantity::grouped(failure.times))
}

/// Renders the progress of a failure's reduction.
fn state(failure: &FailureLine<'_>) -> String {
    match failure.state {
        FailureProgress::Found => "found".to_owned(),
        FailureProgress::Reducing => "reducing".to_owned(),
        FailureProgress::Reduced(steps) => quantity::format_count(steps as u64, "step"),
    }
}
