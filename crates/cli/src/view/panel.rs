//! The panel: what is shown, where, and what is left out first if there is not room for all.

use super::line::Line;
use super::{FailureLine, FailureState, Standing, rate, tests, time, whole, workers};
use crate::console::Look;
use crate::{columns, quantity};

/// A panel of more lines would push away what was said before.
const MOST_LINES: usize = 10;
/// From this width on, the picture of coverage stands beside the workers.
const WIDE: usize = 120;
/// So many lines make a picture rather than a scribble.
const PICTURE_LINES: usize = 4;
/// Where values begin.
const VALUES: usize = 11;
/// Room for the time at the right edge, so that what stands before it does not move.
const TIME: usize = 12;

/// The panel for a room of this size, in lines that fit into it. `colour` makes it nicer, not clearer.
pub(crate) fn lines(
    standing: &Standing<'_>,
    width: usize,
    height: usize,
    colour: bool,
) -> Vec<String> {
    let panel = Panel {
        standing,
        width,
        colour,
    };
    if height < 2 {
        let words = super::line(standing);
        let line = columns::cut(&words, width).into_owned();
        return Vec::from_iter((height > 0).then_some(line));
    }
    let share = panel.share(height.min(MOST_LINES));
    let lines = panel.lines(&share);
    lines.into_iter().map(Line::finish).collect()
}

struct Panel<'s> {
    standing: &'s Standing<'s>,
    width: usize,
    colour: bool,
}

/// Which lines there are.
#[derive(Default)]
struct Share {
    tests: bool,
    coverage: bool,
    failures: bool,
    /// How many failures have a line of their own.
    listed: usize,
    workers: bool,
    /// Lines below the summary of workers, and of coverage if that is beside it.
    below: usize,
    notice: bool,
}

impl Panel<'_> {
    fn is_wide(&self) -> bool {
        self.width >= WIDE && self.standing.covered.is_some()
    }

    /// Divides the lines: the most important first, then the longer lists in turn.
    fn share(&self, height: usize) -> Share {
        let standing = self.standing;
        let mut left = height - 1;
        let mut take = |wanted: bool| {
            let is_taken = wanted && left > 0;
            left -= usize::from(is_taken);
            is_taken
        };
        let mut share = Share {
            notice: take(standing.notice.is_some()),
            failures: take(true),
            tests: take(true),
            ..Share::default()
        };
        // Where it is wide, it shares the line of the workers.
        share.coverage = take(standing.covered.is_some());
        share.listed += usize::from(take(!standing.failures.is_empty()));
        share.workers =
            !standing.workers.is_empty() && (self.is_wide() && share.coverage || take(true));
        let below = if self.is_wide() {
            let rows = workers::rows(standing.workers, self.right());
            rows.max(PICTURE_LINES)
        } else {
            workers::rows(standing.workers, self.width)
        };
        let is_open = share.workers || self.is_wide() && share.coverage;
        loop {
            let more_below = take(is_open && share.below < below);
            let more_listed = take(share.listed < standing.failures.len());
            share.below += usize::from(more_below);
            share.listed += usize::from(more_listed);
            if !more_below && !more_listed {
                return share;
            }
        }
    }

    fn lines(&self, share: &Share) -> Vec<Line> {
        let mut lines = vec![self.head()];
        if share.tests {
            lines.push(self.tests());
        }
        if share.coverage && !self.is_wide() {
            lines.push(self.coverage());
        }
        if share.failures {
            lines.push(self.failures());
            lines.extend(self.listed(share.listed));
        }
        if self.is_wide() && share.coverage {
            lines.extend(self.side_by_side(share));
        } else if share.workers {
            lines.push(self.workers(self.width));
            let workers = self.standing.workers;
            lines.extend(workers::lines(
                workers,
                share.below,
                self.width,
                self.colour,
            ));
        }
        if let Some(notice) = self.standing.notice.filter(|_| share.notice) {
            let mut line = self.line();
            line.paint(Look::Wary, notice);
            lines.push(line);
        }
        lines
    }

    fn line(&self) -> Line {
        Line::new(self.width, self.colour)
    }

    fn labelled(&self, label: &str, room: usize) -> Line {
        let mut line = Line::new(room, self.colour);
        line.paint(Look::Quiet, label);
        line.go_to(VALUES);
        line
    }

    /// `stack.tstl  seed 42  ━━━━━━━━━━╸─────────────  1m 12s left`.
    fn head(&self) -> Line {
        let standing = self.standing;
        let mut line = self.line();
        let name = columns::harmless(standing.harness);
        let time = time(standing);
        let end = columns::width(&time).max(TIME) + 2;
        let room = self.width.saturating_sub(end).min((self.width / 2).max(20));
        line.paint(Look::Strong, &columns::cut(&name, room));
        let seed = format!("  seed {}", standing.seed);
        if line.left() >= columns::width(&seed) + end {
            line.paint(Look::Quiet, &seed);
        }
        let bar = line.left().saturating_sub(end + 2);
        if let Some(done) = self.done().filter(|_| bar >= 8) {
            line.add("  ");
            let halves = (done * (bar * 2) as f64) as usize;
            let full = "━".repeat(halves / 2);
            let half = if halves % 2 == 1 { "╸" } else { "" };
            let rest = "─".repeat(bar - halves.div_ceil(2));
            line.paint(Look::Accent, &format!("{full}{half}"));
            line.paint(Look::Quiet, &rest);
        }
        line.go_to(self.width.saturating_sub(columns::width(&time)));
        line.add(&time);
        line
    }

    /// How much of the campaign is done, if it has an end.
    fn done(&self) -> Option<f64> {
        let standing = self.standing;
        let of_time = standing
            .time
            .map(|time| standing.elapsed.as_secs_f64() / time.as_secs_f64().max(0.001));
        let of_tests = standing
            .tests_wanted
            .map(|all| standing.tests as f64 / all.max(1) as f64);
        let done = of_time.into_iter().chain(of_tests).reduce(f64::max)?;
        Some(done.clamp(0.0, 1.0))
    }

    fn tests(&self) -> Line {
        let standing = self.standing;
        let mut line = self.labelled("testing", self.width);
        let tests = tests(standing);
        let rate = rate(standing.steps_per_second);
        let steps = quantity::of(standing.steps, "step");
        let elapsed = whole(standing.elapsed);
        let forms = [
            vec![tests.clone(), format!("{steps} in {elapsed}"), rate.clone()],
            vec![tests.clone(), steps, rate.clone()],
            vec![tests, rate],
        ];
        let room = line.left();
        let fits = |form: &&Vec<String>| columns::width(&form.join(", ")) <= room;
        let form = forms.iter().find(fits).unwrap_or(&forms[2]);
        line.add_list(form);
        line
    }

    /// `coverage   1,234 branches  ▁▂▃▄▅▆▇▇▇███████  new 3s ago`.
    fn coverage(&self) -> Line {
        const NEWS: usize = 15;
        let mut line = self.labelled("coverage", self.width);
        line.add(&self.branches());
        let news = self.news().unwrap_or_default();
        let picture = line.left().saturating_sub(NEWS + 4);
        if picture >= 8 {
            line.add("  ");
            let end = self.width - NEWS - 2;
            let elapsed = self.standing.elapsed;
            for text in self.standing.curve.draw(elapsed, picture, 1) {
                line.paint(Look::Accent, &text);
            }
            line.go_to(end);
        }
        line.paint_if_fits(Look::Quiet, &format!("  {news}"));
        line
    }

    fn branches(&self) -> String {
        quantity::of(self.standing.covered.unwrap_or(0), self.standing.unit)
    }

    /// When something new was reached.
    fn news(&self) -> Option<String> {
        let since = self.standing.since_new?;
        Some(match since.as_secs() {
            0 => "new just now".to_owned(),
            _ => format!("new {} ago", whole(since)),
        })
    }

    fn failures(&self) -> Line {
        let failures = self.standing.failures;
        let mut line = self.labelled("failures", self.width);
        if failures.is_empty() {
            line.add("none so far");
            return line;
        }
        let times = (failures.iter()).fold(0u64, |sum, failure| sum.saturating_add(failure.times));
        let different = if failures.len() > 1 { " different" } else { "" };
        line.paint(Look::Bad, &quantity::grouped(failures.len() as u64));
        line.add(&format!("{different}, in {}", quantity::of(times, "test")));
        line
    }

    /// The latest failures, the newest first.
    fn listed(&self, number: usize) -> Vec<Line> {
        let latest: Vec<&FailureLine<'_>> =
            self.standing.failures.iter().rev().take(number).collect();
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
                    Look::Bad,
                    &format!(" {:>number$}", format!("#{}", failure.number)),
                );
                line.add(&format!("  {:>times$}", self::times(failure)));
                line.add(&format!("  {:<11}  ", state(failure)));
                if self.width >= WIDE {
                    let column = self.width - line.left() + kind + 2;
                    line.paint(Look::Quiet, failure.kind);
                    line.go_to(column);
                }
                line.add(failure.message);
                line
            })
            .collect()
    }

    fn workers(&self, room: usize) -> Line {
        let mut line = self.labelled("workers", room);
        line.add_list(&workers::summary(self.standing));
        line
    }

    /// Where the workers begin if they stand beside the picture.
    fn middle(&self) -> usize {
        self.width / 2 + 2
    }

    /// The columns that they have there.
    fn right(&self) -> usize {
        self.width - self.middle()
    }

    /// Coverage with its picture at the left, workers at the right.
    fn side_by_side(&self, share: &Share) -> Vec<Line> {
        let (left, mut right) = (self.middle() - 4, Vec::new());
        if share.workers {
            let (workers, room) = (self.standing.workers, self.right());
            right.push(self.workers(room));
            right.extend(workers::lines(workers, share.below, room, self.colour));
        }
        let mut heading = self.labelled("coverage", left);
        heading.add_list(&Vec::from_iter(
            [Some(self.branches()), self.news()].into_iter().flatten(),
        ));
        let mut lines = vec![heading];
        lines.extend(self.picture(left, share.below));
        let mut right = right.into_iter();
        lines
            .into_iter()
            .map(|left| {
                let mut line = self.line();
                line.join(left);
                if let Some(right) = right.next() {
                    line.go_to(self.middle());
                    line.join(right);
                }
                line
            })
            .collect()
    }

    /// Coverage over time, with the numbers at its top and bottom.
    fn picture(&self, room: usize, height: usize) -> Vec<Line> {
        let curve = self.standing.curve;
        let (bottom, top) = match curve.range() {
            Some((bottom, top)) => (Some(bottom), Some(top).filter(|_| top > bottom)),
            None => (None, None),
        };
        let picture = curve.draw(self.standing.elapsed, room - VALUES, height);
        let lines = picture.into_iter().enumerate().map(|(index, text)| {
            let mut line = Line::new(room, self.colour);
            let number = match index {
                _ if index + 1 == height => bottom,
                0 => top,
                _ => None,
            };
            let number = number.map(quantity::grouped).unwrap_or_default();
            line.paint(Look::Quiet, &format!("{number:>9} "));
            line.go_to(VALUES);
            line.paint(Look::Accent, &text);
            line
        });
        lines.collect()
    }
}

/// `12×`.
fn times(failure: &FailureLine<'_>) -> String {
    format!("{}×", quantity::grouped(failure.times))
}

fn state(failure: &FailureLine<'_>) -> String {
    match failure.state {
        FailureState::Found => "found".to_owned(),
        FailureState::Reducing => "reducing".to_owned(),
        FailureState::Reduced(steps) => quantity::of(steps as u64, "step"),
    }
}
