//! What an exploration came to, in sentences that claim no more than was seen.

use testwright_core::explore::temporal::Answer;
use testwright_core::explore::{Reach, Reason};

use super::findings::Kept;
use super::questions::Questions;
use super::{Explore, Outcome, Stop};
use crate::console::{Console, Look};
use crate::{duration, quantity, size};

/// `1 step`, `4 steps`.
pub(super) fn steps(number: usize) -> String {
    quantity::of(number as u64, "step")
}

/// Says what was explored, and what is known now.
pub(super) fn say(
    console: &mut Console<'_>,
    explore: &Explore,
    questions: &Questions<'_>,
    outcome: &Outcome,
    kept: &Kept,
) {
    console.say("");
    let alike = if explore.symmetry {
        " (whatever the names of slots)"
    } else {
        ""
    };
    console.say(format_args!(
        "Explored {}{alike}, {}, {} deep, in {}",
        quantity::of(outcome.states, "state"),
        quantity::of(outcome.transitions, "transition"),
        steps(outcome.depth),
        duration::show(outcome.time),
    ));
    say_deadlocks(console, explore, outcome);
    if let Some(goal) = &questions.goal {
        let (look, words) = goal_words(explore, questions, outcome);
        let words = console.paint(look, words);
        console.say(format_args!("Goal `{}`: {words}", goal.text()));
    }
    if let Some(answer) = &outcome.answer {
        let (look, words) = formula_words(explore, outcome, answer);
        let words = console.paint(look, words);
        console.say(format_args!("Formula: {words}"));
    }
    say_failures(console, explore, outcome, kept);
    console.flush();
}

fn say_failures(console: &mut Console<'_>, explore: &Explore, outcome: &Outcome, kept: &Kept) {
    let number = kept.failures.len() as u64;
    let found = match number {
        0 if is_whole(&outcome.reach) => console.paint(Look::Good, "no failure"),
        0 => console.paint(Look::Good, "no failure so far"),
        number => console.paint(Look::Bad, quantity::of(number, "failure")),
    };
    let also = match outcome.failing {
        times if times > number => format!(" (in {})", quantity::of(times, "transition")),
        _ => String::new(),
    };
    console.say(format_args!("{}: {found}{also}", scope(explore, outcome)));
}

/// Whether all was seen that was to be seen.
fn is_whole(reach: &Reach) -> bool {
    !matches!(reach, Reach::Partial { .. })
}

/// What was looked at: `All 16 states`, `All tests up to 4 steps (1,234)`, `Stopped at 100,000 states`.
fn scope(explore: &Explore, outcome: &Outcome) -> String {
    let is_matched = explore.plan().matching.is_some();
    match &outcome.reach {
        Reach::Everything if is_matched => match outcome.states {
            1 => "The only state".to_owned(),
            number => format!("All {}", quantity::of(number, "state")),
        },
        Reach::Everything => format!(
            "All {}; there are no longer ones",
            quantity::of(outcome.transitions, "test")
        ),
        Reach::Length(length) if is_matched => format!(
            "All tests up to {} ({})",
            steps(*length),
            quantity::of(outcome.states, "state")
        ),
        Reach::Length(length) => format!(
            "All tests up to {} ({})",
            steps(*length),
            quantity::grouped(outcome.transitions)
        ),
        Reach::Partial { because, length } => {
            let end = ending(explore, outcome, *because);
            match length {
                0 => end,
                length => format!("{end}, with all tests up to {} covered", steps(*length)),
            }
        }
    }
}

/// Why it ended early, and where.
fn ending(explore: &Explore, outcome: &Outcome, because: Reason) -> String {
    let states = quantity::of(outcome.states, "state");
    let stopped = match (because, outcome.stop) {
        (Reason::Interrupted, _) | (Reason::Stopped, Some(Stop::Interrupted)) => "Interrupted at",
        (Reason::FailureFound, _) => "Stopped at the first failure, after",
        (Reason::GoalFound, _) => "Stopped at the goal, after",
        (Reason::MemoryFull, _) => {
            let most = explore
                .most_states
                .is_some_and(|most| outcome.states >= most);
            match explore.memory {
                Some(bytes) if !most => {
                    return format!("Stopped with {} full, at {states}", size::show(bytes));
                }
                _ => "Stopped at",
            }
        }
        (Reason::Stopped, Some(Stop::TimeIsUp)) => {
            return format!(
                "Stopped after {}, at {states}",
                duration::show(outcome.time)
            );
        }
        (Reason::Stopped, None) if matches!(outcome.answer, Some(Answer::Violated(_))) => {
            "Stopped at the violation, after"
        }
        (Reason::Stopped, None) => "Stopped at",
    };
    format!("{stopped} {states}")
}

/// What is known of a goal.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum GoalAnswer {
    Found,
    /// Proven: no test leads there.
    Absent,
    /// Not within the limits.
    NotFound,
}

/// What is known of the goal. Of slots whose names do not count, only one was looked at, which proves nothing about
/// an expression that names another.
pub(super) fn goal_answer(
    explore: &Explore,
    questions: &Questions<'_>,
    outcome: &Outcome,
) -> GoalAnswer {
    let is_blurred = explore.symmetry
        && questions
            .goal
            .as_ref()
            .is_some_and(|goal| goal.tells_slots_apart());
    match (&outcome.goal, &outcome.reach) {
        (Some(_), _) => GoalAnswer::Found,
        (None, Reach::Everything) if !is_blurred => GoalAnswer::Absent,
        (None, _) => GoalAnswer::NotFound,
    }
}

fn goal_words(explore: &Explore, questions: &Questions<'_>, outcome: &Outcome) -> (Look, String) {
    let (look, mut words) = match goal_answer(explore, questions, outcome) {
        GoalAnswer::Found => {
            let length = outcome.goal.as_ref().map_or(0, |test| test.len());
            return (Look::Good, format!("found, {} away", steps(length)));
        }
        GoalAnswer::Absent => {
            let without = match &explore.without {
                Some(pattern) => format!(" without `{pattern}`"),
                None => String::new(),
            };
            (
                Look::Strong,
                format!("proven absent, no test leads there{without}"),
            )
        }
        GoalAnswer::NotFound => {
            let words = match &outcome.reach {
                Reach::Everything => {
                    "not found, but with `--symmetry` an expression that names slots may be missed"
                        .to_owned()
                }
                Reach::Length(length)
                | Reach::Partial {
                    length: length @ 1..,
                    ..
                } => format!(
                    "not found, and no test up to {} leads there",
                    steps(*length)
                ),
                Reach::Partial { .. } => "not found so far".to_owned(),
            };
            (Look::Strong, words)
        }
    };
    if outcome.failing > 0 {
        words.push_str("; what would follow a failing step was not looked at");
    }
    (look, words)
}

fn formula_words(explore: &Explore, outcome: &Outcome, answer: &Answer) -> (Look, String) {
    match answer {
        Answer::Holds if outcome.failing > 0 => (
            Look::Good,
            "holds on every run on which no step fails".to_owned(),
        ),
        Answer::Holds => (Look::Good, "holds on every run".to_owned()),
        Answer::NothingFound(_) => (
            Look::Strong,
            format!(
                "nothing found against it, but not all was looked at ({})",
                lower(&scope(explore, outcome))
            ),
        ),
        Answer::Violated(run) => {
            let again = if run.confirmed {
                ""
            } else {
                ", as far as is known: there was no time to run it again"
            };
            (Look::Bad, format!("violated{again}"))
        }
    }
}

fn lower(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// States in which nothing can be done are mostly a mistake in the harness, or the end of a game.
fn say_deadlocks(console: &mut Console<'_>, explore: &Explore, outcome: &Outcome) {
    if outcome.transitions == 0 && is_whole(&outcome.reach) {
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
        let words = match outcome.deadlocked {
            1 => format!("In one state no action is enabled, after {}", steps(after)),
            number => format!(
                "In {} no action is enabled, in one of them after {}",
                quantity::of(number, "state"),
                steps(after)
            ),
        };
        console.say(words);
    }
}
