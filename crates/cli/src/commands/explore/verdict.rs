//! The result of an exploration, in sentences that claim no more than its [`Verdict`] supports.

use testwright_core::Fingerprint;
use testwright_core::explore::temporal::FormulaVerdict;
use testwright_core::explore::{Exploration, ExploredExtent};
use testwright_core::verdict::{Caveat, ReachedLimit, Verdict, VerdictExtent};
use testwright_python::PythonSystem;

use super::findings::SavedFindings;
use super::queries::Queries;
use super::{EarlyStop, ExplorationOutcome, ExploreCommand};
use crate::console::{Console, TextStyle};
use crate::verdict_text::{self, Claim};
use crate::{duration, quantity};

/// Formats a number of steps: `1 step`, `4 steps`.
pub(super) fn steps_text(number: usize) -> String {
    quantity::format_count(number as u64, "step")
}

/// Prints the result: size, deadlocks, goal, formula and failures.
pub(super) fn print(
    console: &mut Console<'_>,
    explore: &ExploreCommand,
    queries: &Queries<'_>,
    outcome: &ExplorationOutcome,
    saved: &SavedFindings,
) {
    console.out("");
    let alike = if explore.symmetry {
        " (whatever the names of slots)"
    } else {
        ""
    };
    console.out(format_args!(
        "Explored {}{alike}, {}, {} deep, in {}",
        quantity::format_count(outcome.states, "state"),
        quantity::format_count(outcome.transitions, "transition"),
        steps_text(outcome.depth),
        duration::show(outcome.time),
    ));
    print_deadlocks(console, outcome);
    if let Some(goal) = &queries.goal {
        let (style, text) = goal_text(explore, queries, outcome);
        let text = console.paint(style, text);
        console.out(format_args!("Goal `{}`: {text}", goal.text()));
    }
    if let Some(answer) = &outcome.answer {
        let (style, text) = formula_text(outcome, answer);
        let text = console.paint(style, text);
        console.out(format_args!("Formula: {text}"));
    }
    print_failures(console, explore, outcome, saved);
    verdict_text::print_caveats(console, &outcome.verdict);
    console.flush();
}

/// Returns the verdict on an exploration: its limits by the names that the user gave them, and what
/// it does not cover.
pub(super) fn judge(
    explore: &ExploreCommand,
    found: &Exploration,
    (stop, answer): (Option<EarlyStop>, Option<&FormulaVerdict>),
    system: &PythonSystem<'_>,
) -> Verdict {
    let mut verdict = found.verdict();
    let states_limit = explore.most_states.filter(|max| found.states >= *max);
    match &mut verdict.extent {
        // The watcher stopped it.
        VerdictExtent::Interrupted => {
            verdict = Verdict {
                extent: stopped_extent(stop, answer),
                ..verdict
            }
        }
        VerdictExtent::Bounded { by } => {
            for limit in by {
                if let (ReachedLimit::Memory, Some(max)) = (&limit, states_limit) {
                    *limit = ReachedLimit::States(max);
                }
            }
        }
        VerdictExtent::Complete => {}
    }
    if found.transitions == 0 && found.extent == ExploredExtent::Everything {
        verdict.add_limit(ReachedLimit::NoFirstAction);
    }
    verdict.add_caveats(system.caveats());
    let properties = system.harness().properties.len() as u64;
    if explore.system.no_check && properties > 0 {
        verdict.add_caveats([Caveat::UncheckedProperties { properties }]);
    }
    verdict
}

/// Returns the extent of an exploration that was stopped from outside.
pub(super) fn stopped_extent(
    stop: Option<EarlyStop>,
    answer: Option<&FormulaVerdict>,
) -> VerdictExtent {
    let limit = match (stop, answer) {
        (Some(EarlyStop::Interrupted), _) => return VerdictExtent::Interrupted,
        (Some(EarlyStop::TimeIsUp), _) => ReachedLimit::Time,
        (None, Some(FormulaVerdict::Violated(_))) => ReachedLimit::Violation,
        (None, _) => ReachedLimit::Error,
    };
    VerdictExtent::Bounded { by: vec![limit] }
}

/// Prints the number of failures, and the part of the system that was searched for them.
fn print_failures(
    console: &mut Console<'_>,
    explore: &ExploreCommand,
    outcome: &ExplorationOutcome,
    saved: &SavedFindings,
) {
    let number = saved.failures.len() as u64;
    let verdict = &outcome.verdict;
    let found = match number {
        0 => console.paint(TextStyle::Success, Claim::NoFailure.text(verdict)),
        number => console.paint(
            TextStyle::Failure,
            quantity::format_count(number, "failure"),
        ),
    };
    let transitions = match outcome.failing {
        times if times > number => format!(" (in {})", quantity::format_count(times, "transition")),
        _ => String::new(),
    };
    let scope = if explore.plan().matching.is_some() {
        Claim::States(outcome.states)
    } else {
        Claim::Tests(outcome.transitions)
    };
    let text = format!(
        "{}{}: {found}{transitions}",
        scope.text(verdict),
        without_text(explore)
    );
    console.out(verdict_text::with_limits(&text, verdict) + &covered_text(outcome));
}

/// Names the actions that the user left out.
fn without_text(explore: &ExploreCommand) -> String {
    match &explore.without {
        Some(pattern) => format!(" without `{pattern}`"),
        None => String::new(),
    }
}

/// Returns the length up to which tests are covered although the exploration ended early.
fn covered_text(outcome: &ExplorationOutcome) -> String {
    match outcome.covered_length() {
        Some(length @ 1..) if matches!(outcome.reach, ExploredExtent::Partial { .. }) => {
            format!(", with tests of up to {} covered", steps_text(length))
        }
        _ => String::new(),
    }
}

impl ExplorationOutcome {
    /// Returns the length up to which every test is covered; `None` if every test is. Nothing is
    /// covered for certain if there are doubts.
    pub(super) fn covered_length(&self) -> Option<usize> {
        match self.reach {
            _ if self.verdict.is_doubtful() => Some(0),
            ExploredExtent::Everything => None,
            ExploredExtent::Length(length) | ExploredExtent::Partial { length, .. } => Some(length),
        }
    }

    /// Returns true if no action can be taken at the start, so that nothing was explored.
    pub(super) fn is_empty(&self) -> bool {
        self.verdict.limits().contains(&ReachedLimit::NoFirstAction)
    }
}

/// Verdict on the goal.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum GoalAnswer {
    /// A test leads there.
    Found,
    /// Proven: no test leads there.
    Absent,
    /// Not found within the limits.
    NotFound,
}

/// Returns the verdict on the goal.
///
/// With `--symmetry`, only one of several equivalent slots was examined, which proves nothing about
/// an expression that names another one.
pub(super) fn goal_answer(
    explore: &ExploreCommand,
    queries: &Queries<'_>,
    outcome: &ExplorationOutcome,
) -> GoalAnswer {
    let is_ambiguous = explore.symmetry
        && queries
            .goal
            .as_ref()
            .is_some_and(|goal| goal.distinguishes_slots());
    match &outcome.goal {
        Some(_) => GoalAnswer::Found,
        None if outcome.verdict.is_proof() && !is_ambiguous => GoalAnswer::Absent,
        None => GoalAnswer::NotFound,
    }
}

/// Describes the verdict on the goal.
fn goal_text(
    explore: &ExploreCommand,
    queries: &Queries<'_>,
    outcome: &ExplorationOutcome,
) -> (TextStyle, String) {
    let verdict = &outcome.verdict;
    match goal_answer(explore, queries, outcome) {
        GoalAnswer::Found => {
            let length = outcome.goal.as_ref().map_or(0, |test| test.len());
            (
                TextStyle::Success,
                format!("found, {} away", steps_text(length)),
            )
        }
        GoalAnswer::NotFound if verdict.is_proof() => (
            TextStyle::Bold,
            "not found, but with `--symmetry` an expression that names slots may be missed"
                .to_owned(),
        ),
        GoalAnswer::Absent | GoalAnswer::NotFound => {
            let text = Claim::NoGoal.text(verdict) + &without_text(explore);
            (
                TextStyle::Bold,
                verdict_text::with_limits(&text, verdict) + &covered_text(outcome),
            )
        }
    }
}

/// Describes the verdict on the formula.
fn formula_text(outcome: &ExplorationOutcome, answer: &FormulaVerdict) -> (TextStyle, String) {
    let verdict = &outcome.verdict;
    match answer {
        FormulaVerdict::Holds | FormulaVerdict::NothingFound(_) => {
            let style = if verdict.is_proof() {
                TextStyle::Success
            } else {
                TextStyle::Bold
            };
            let text = Claim::FormulaHolds.text(verdict);
            (style, verdict_text::with_limits(&text, verdict))
        }
        FormulaVerdict::Violated(run) => {
            let remark = if run.confirmed {
                ""
            } else {
                ", as far as is known: there was no time to run it again"
            };
            (TextStyle::Failure, format!("violated{remark}"))
        }
    }
}

/// Prints the states in which no action is enabled. They are mostly a mistake in the harness, or
/// the end of a game.
fn print_deadlocks(console: &mut Console<'_>, outcome: &ExplorationOutcome) {
    if outcome.deadlocked > 0 && !outcome.is_empty() {
        let after = outcome.deadlock.as_ref().map_or(0, |test| test.len());
        let text = match outcome.deadlocked {
            1 => format!(
                "In one state no action is enabled, after {}",
                steps_text(after)
            ),
            number => format!(
                "In {} no action is enabled, in one of them after {}",
                quantity::format_count(number, "state"),
                steps_text(after)
            ),
        };
        console.out(text);
    }
}
