//! The result of an exploration, in sentences that claim no more than was checked.

use testwright_core::explore::temporal::FormulaVerdict;
use testwright_core::explore::{ExploredExtent, StopReason};

use super::findings::SavedFindings;
use super::queries::Queries;
use super::{EarlyStop, ExplorationOutcome, ExploreCommand};
use crate::console::{Console, TextStyle};
use crate::{duration, quantity, size};

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
    print_deadlocks(console, explore, outcome);
    if let Some(goal) = &queries.goal {
        let (style, text) = goal_text(explore, queries, outcome);
        let text = console.paint(style, text);
        console.out(format_args!("Goal `{}`: {text}", goal.text()));
    }
    if let Some(answer) = &outcome.answer {
        let (style, text) = formula_text(explore, outcome, answer);
        let text = console.paint(style, text);
        console.out(format_args!("Formula: {text}"));
    }
    print_failures(console, explore, outcome, saved);
    console.flush();
}

/// Prints the number of failures, and the part of the system that was searched for them.
fn print_failures(
    console: &mut Console<'_>,
    explore: &ExploreCommand,
    outcome: &ExplorationOutcome,
    saved: &SavedFindings,
) {
    let number = saved.failures.len() as u64;
    let found = match number {
        0 if is_complete(&outcome.reach) => console.paint(TextStyle::Success, "no failure"),
        0 => console.paint(TextStyle::Success, "no failure so far"),
        number => console.paint(
            TextStyle::Failure,
            quantity::format_count(number, "failure"),
        ),
    };
    let transitions = match outcome.failing {
        times if times > number => format!(" (in {})", quantity::format_count(times, "transition")),
        _ => String::new(),
    };
    console.out(format_args!(
        "{}: {found}{transitions}",
        describe_scope(explore, outcome)
    ));
}

/// Returns true if the exploration covered everything within its limits.
fn is_complete(reach: &ExploredExtent) -> bool {
    !matches!(reach, ExploredExtent::Partial { .. })
}

/// Describes what was covered: `All 16 states`, `All tests up to 4 steps (1,234)`, `Stopped at
/// 100,000 states`.
fn describe_scope(explore: &ExploreCommand, outcome: &ExplorationOutcome) -> String {
    let is_matched = explore.plan().matching.is_some();
    match &outcome.reach {
        ExploredExtent::Everything if is_matched => match outcome.states {
            1 => "The only state".to_owned(),
            number => format!("All {}", quantity::format_count(number, "state")),
        },
        ExploredExtent::Everything => format!(
            "All {}; there are no longer ones",
            quantity::format_count(outcome.transitions, "test")
        ),
        ExploredExtent::Length(length) if is_matched => format!(
            "All tests up to {} ({})",
            steps_text(*length),
            quantity::format_count(outcome.states, "state")
        ),
        ExploredExtent::Length(length) => format!(
            "All tests up to {} ({})",
            steps_text(*length),
            quantity::grouped(outcome.transitions)
        ),
        ExploredExtent::Partial {
            reason: because,
            length,
        } => {
            let end = describe_stop(explore, outcome, *because);
            match length {
                0 => end,
                length => format!(
                    "{end}, with all tests up to {} covered",
                    steps_text(*length)
                ),
            }
        }
    }
}

/// Describes why and where the exploration ended early.
fn describe_stop(
    explore: &ExploreCommand,
    outcome: &ExplorationOutcome,
    because: StopReason,
) -> String {
    let states = quantity::format_count(outcome.states, "state");
    let stopped = match (because, outcome.stop) {
        (StopReason::Interrupted, _) | (StopReason::Stopped, Some(EarlyStop::Interrupted)) => {
            "Interrupted at"
        }
        (StopReason::FailureFound, _) => "Stopped at the first failure, after",
        (StopReason::GoalFound, _) => "Stopped at the goal, after",
        (StopReason::MemoryFull, _) => {
            let is_state_limit = explore.most_states.is_some_and(|max| outcome.states >= max);
            match explore.memory {
                Some(bytes) if !is_state_limit => {
                    return format!("Stopped with {} full, at {states}", size::show(bytes));
                }
                _ => "Stopped at",
            }
        }
        (StopReason::Stopped, Some(EarlyStop::TimeIsUp)) => {
            return format!(
                "Stopped after {}, at {states}",
                duration::show(outcome.time)
            );
        }
        (StopReason::Stopped, None)
            if matches!(outcome.answer, Some(FormulaVerdict::Violated(_))) =>
        {
            "Stopped at the violation, after"
        }
        (StopReason::Stopped, None) => "Stopped at",
    };
    format!("{stopped} {states}")
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
    match (&outcome.goal, &outcome.reach) {
        (Some(_), _) => GoalAnswer::Found,
        (None, ExploredExtent::Everything) if !is_ambiguous => GoalAnswer::Absent,
        (None, _) => GoalAnswer::NotFound,
    }
}

/// Describes the verdict on the goal.
fn goal_text(
    explore: &ExploreCommand,
    queries: &Queries<'_>,
    outcome: &ExplorationOutcome,
) -> (TextStyle, String) {
    let (style, mut text) = match goal_answer(explore, queries, outcome) {
        GoalAnswer::Found => {
            let length = outcome.goal.as_ref().map_or(0, |test| test.len());
            return (
                TextStyle::Success,
                format!("found, {} away", steps_text(length)),
            );
        }
        GoalAnswer::Absent => {
            let without = match &explore.without {
                Some(pattern) => format!(" without `{pattern}`"),
                None => String::new(),
            };
            (
                TextStyle::Bold,
                format!("proven absent, no test leads there{without}"),
            )
        }
        GoalAnswer::NotFound => {
            let text = match &outcome.reach {
                ExploredExtent::Everything => {
                    "not found, but with `--symmetry` an expression that names slots may be missed"
                        .to_owned()
                }
                ExploredExtent::Length(length)
                | ExploredExtent::Partial {
                    length: length @ 1..,
                    ..
                } => format!(
                    "not found, and no test up to {} leads there",
                    steps_text(*length)
                ),
                ExploredExtent::Partial { .. } => "not found so far".to_owned(),
            };
            (TextStyle::Bold, text)
        }
    };
    if outcome.failing > 0 {
        text.push_str("; what would follow a failing step was not explored");
    }
    (style, text)
}

/// Describes the verdict on the formula.
fn formula_text(
    explore: &ExploreCommand,
    outcome: &ExplorationOutcome,
    answer: &FormulaVerdict,
) -> (TextStyle, String) {
    match answer {
        FormulaVerdict::Holds if outcome.failing > 0 => (
            TextStyle::Success,
            "holds on every run on which no step fails".to_owned(),
        ),
        FormulaVerdict::Holds => (TextStyle::Success, "holds on every run".to_owned()),
        FormulaVerdict::NothingFound(_) => (
            TextStyle::Bold,
            format!(
                "nothing found against it, but not all was looked at ({})",
                lowercase_first(&describe_scope(explore, outcome))
            ),
        ),
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

/// Returns the text with its first letter in lower case.
fn lowercase_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// Prints the states in which no action is enabled. They are mostly a mistake in the harness, or
/// the end of a game.
fn print_deadlocks(
    console: &mut Console<'_>,
    explore: &ExploreCommand,
    outcome: &ExplorationOutcome,
) {
    if outcome.transitions == 0 && is_complete(&outcome.reach) {
        let help = match explore.without {
            Some(_) => "`--without` leaves out all that could be done there",
            None => "at least one action must need no pool value and have no guard that is false",
        };
        console.warning(
            "no action can be taken at the start, so nothing was explored",
            Some(help),
        );
    } else if outcome.deadlocked > 0 {
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
