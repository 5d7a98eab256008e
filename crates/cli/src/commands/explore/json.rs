//! The result of an exploration for scripts. The names in here are a promise.

use serde::Serialize;
use testwright_core::explore::temporal::{Answer, Ending};
use testwright_core::explore::{GoingBack, Progress, Reach, Reason};
use testwright_core::{Catalog, System, Test};
use testwright_python::PythonSystem;

use super::findings::{Kept, KeptFailure};
use super::questions::Questions;
use super::verdict::{GoalAnswer, goal_answer};
use super::{Explore, Outcome, Stop};
use crate::report;

/// What an exploration came to.
#[derive(Default, Serialize)]
pub(super) struct Report {
    states: u64,
    transitions: u64,
    steps: u64,
    depth: usize,
    seconds: f64,
    actions: u64,
    templates: usize,
    going_back: &'static str,
    going_back_because: String,
    /// Every state, or every test without matching, was visited.
    complete: bool,
    /// All tests up to this length are covered; nothing if all are.
    all_tests_up_to: Option<usize>,
    /// Why it ended early.
    stopped: Option<&'static str>,
    deadlocks: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadlock: Option<Vec<String>>,
    failures: Vec<FailureReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<GoalReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<FormulaReport>,
    interrupted: bool,
}

#[derive(Clone, Serialize)]
pub(super) struct FailureReport {
    kind: &'static str,
    message: String,
    steps: usize,
    test: Vec<String>,
    file: String,
    reproduced: bool,
}

#[derive(Serialize)]
struct GoalReport {
    expression: String,
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reproduced: Option<bool>,
}

#[derive(Serialize)]
struct FormulaReport {
    text: String,
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lap: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<&'static str>,
}

impl Report {
    pub(super) fn new(
        explore: &Explore,
        questions: &Questions<'_>,
        outcome: &Outcome,
        kept: &Kept,
        system: &PythonSystem<'_>,
    ) -> Report {
        let catalog = system.actions();
        let labels = |test: &Test| report::step_labels(catalog, test);
        let failures = kept.failures.iter();
        Report {
            states: outcome.states,
            transitions: outcome.transitions,
            steps: outcome.steps,
            depth: outcome.depth,
            seconds: (outcome.time.as_secs_f64() * 1000.0).round() / 1000.0,
            actions: catalog.len(),
            templates: catalog.templates().len(),
            going_back: match outcome.going_back.by {
                GoingBack::ByCopy => "copy",
                GoingBack::ByReplay => "replay",
            },
            going_back_because: outcome.going_back.why.clone(),
            complete: outcome.reach == Reach::Everything,
            all_tests_up_to: match outcome.reach {
                Reach::Everything => None,
                Reach::Length(length) | Reach::Partial { length, .. } => Some(length),
            },
            stopped: stopped(explore, outcome),
            deadlocks: outcome.deadlocked,
            deadlock: outcome.deadlock.as_ref().map(labels),
            failures: failures
                .map(|failure| FailureReport::new(failure, catalog))
                .collect(),
            goal: goal_report(explore, questions, outcome, kept, catalog),
            formula: formula_report(explore, outcome, catalog),
            interrupted: outcome.stop == Some(Stop::Interrupted),
        }
    }

    /// An exploration that was ended by force.
    pub(super) fn ended(
        progress: &Progress,
        size: (u64, usize),
        failures: Vec<FailureReport>,
    ) -> Report {
        let (actions, templates) = size;
        Report {
            states: progress.states,
            transitions: progress.transitions,
            steps: progress.steps,
            depth: progress.depth,
            actions,
            templates,
            all_tests_up_to: Some(0),
            stopped: Some("interrupted"),
            failures,
            interrupted: true,
            ..Report::default()
        }
    }

    /// One JSON object.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}

fn stopped(explore: &Explore, outcome: &Outcome) -> Option<&'static str> {
    let Reach::Partial { because, .. } = outcome.reach else {
        return None;
    };
    let is_violated = matches!(outcome.answer, Some(Answer::Violated(_)));
    Some(match (because, outcome.stop) {
        (Reason::Interrupted, _) | (_, Some(Stop::Interrupted)) => "interrupted",
        (_, Some(Stop::TimeIsUp)) => "time",
        (Reason::FailureFound, _) => "failure",
        (Reason::GoalFound, _) => "goal",
        (Reason::MemoryFull, _)
            if explore
                .most_states
                .is_some_and(|most| outcome.states >= most) =>
        {
            "states"
        }
        (Reason::MemoryFull, _) => "memory",
        (Reason::Stopped, None) if is_violated => "violation",
        (Reason::Stopped, None) => "error",
    })
}

impl FailureReport {
    pub(super) fn new(found: &KeptFailure, catalog: &Catalog) -> FailureReport {
        FailureReport {
            kind: found.failure.kind.name(),
            message: found.failure.message.clone(),
            steps: found.kept.test.len(),
            test: report::step_labels(catalog, &found.kept.test),
            file: found.kept.file.display().to_string(),
            reproduced: found.kept.reproduced,
        }
    }
}

fn goal_report(
    explore: &Explore,
    questions: &Questions<'_>,
    outcome: &Outcome,
    kept: &Kept,
    catalog: &Catalog,
) -> Option<GoalReport> {
    let goal = questions.goal.as_ref()?;
    let found = kept.goal.as_ref();
    Some(GoalReport {
        expression: goal.text().to_owned(),
        answer: match goal_answer(explore, questions, outcome) {
            GoalAnswer::Found => "found",
            GoalAnswer::Absent => "absent",
            GoalAnswer::NotFound => "not-found",
        },
        steps: found.map(|kept| kept.test.len()),
        test: found.map(|kept| report::step_labels(catalog, &kept.test)),
        file: found.map(|kept| kept.file.display().to_string()),
        reproduced: found.map(|kept| kept.reproduced),
    })
}

fn formula_report(
    explore: &Explore,
    outcome: &Outcome,
    catalog: &Catalog,
) -> Option<FormulaReport> {
    let answer = outcome.answer.as_ref()?;
    let run = match answer {
        Answer::Violated(run) => Some(run),
        Answer::Holds | Answer::NothingFound(_) => None,
    };
    Some(FormulaReport {
        text: explore.formula.clone().unwrap_or_default(),
        answer: match answer {
            Answer::Holds => "holds",
            Answer::NothingFound(_) => "nothing-found",
            Answer::Violated(_) => "violated",
        },
        prefix: run.map(|run| report::step_labels(catalog, &run.prefix)),
        lap: run.map(|run| report::step_labels(catalog, &run.lap)),
        then: run.map(|run| match run.ending {
            Ending::Lap => "lap",
            Ending::Deadlock => "deadlock",
            Ending::Anything => "anything",
        }),
    })
}
