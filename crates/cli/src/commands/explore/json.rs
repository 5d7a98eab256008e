//! The result of `testwright explore` for scripts.
//!
//! Field names are the keys of the JSON output: scripts rely on them, so they must not change.

use serde::Serialize;
use testwright_core::explore::temporal::{FormulaVerdict, RunEnding};
use testwright_core::explore::{Backtracking, ExploreProgress};
use testwright_core::verdict::{ReachedLimit, Verdict, VerdictExtent};
use testwright_core::{Catalog, System, Test};
use testwright_python::PythonSystem;

use super::findings::{SavedFailure, SavedFindings};
use super::queries::Queries;
use super::verdict::{GoalAnswer, goal_answer};
use super::{EarlyStop, ExplorationOutcome, ExploreCommand};
use crate::report;
use crate::verdict_text::VerdictJson;

/// Result of an exploration.
#[derive(Default, Serialize)]
pub(super) struct ExplorationReport {
    states: u64,
    transitions: u64,
    steps: u64,
    /// Length of the longest test.
    depth: usize,
    seconds: f64,
    actions: u64,
    /// Number of templates of the harness.
    templates: usize,
    /// `copy` or `replay`.
    going_back: &'static str,
    /// Reason for the way of going back.
    going_back_because: String,
    /// The evidence of the result.
    #[serde(flatten)]
    verdict: VerdictJson,
    /// Length up to which all tests are covered; `null` if all are.
    all_tests_up_to: Option<usize>,
    /// Reason why the exploration ended early.
    stopped: Option<&'static str>,
    /// Number of states in which no action is enabled.
    deadlocks: u64,
    /// Steps to such a state.
    #[serde(skip_serializing_if = "Option::is_none")]
    deadlock: Option<Vec<String>>,
    failures: Vec<ExplorationFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<GoalReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<FormulaReport>,
    /// True if Ctrl-C ended the exploration.
    interrupted: bool,
}

/// A failing test.
#[derive(Clone, Serialize)]
pub(super) struct ExplorationFailure {
    /// Name of the kind of failure.
    kind: &'static str,
    message: String,
    /// Number of steps.
    steps: usize,
    /// Steps, as in the file.
    test: Vec<String>,
    /// Path of the saved test.
    file: String,
    /// True if the test failed in the same way from the start.
    reproduced: bool,
}

/// The goal, and the test that reaches it.
#[derive(Serialize)]
struct GoalReport {
    expression: String,
    /// `found`, `absent` (proven) or `not-found`.
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

/// The formula, and the run that violates it.
#[derive(Serialize)]
struct FormulaReport {
    text: String,
    /// `holds`, `violated` or `nothing-found`.
    answer: &'static str,
    /// Steps at the beginning of the violating run.
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<Vec<String>>,
    /// Steps that are repeated forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    lap: Option<Vec<String>>,
    /// `lap`, `deadlock` or `anything`.
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<&'static str>,
}

impl ExplorationReport {
    /// Builds the report of an exploration that ended by itself.
    pub(super) fn new(
        explore: &ExploreCommand,
        queries: &Queries<'_>,
        outcome: &ExplorationOutcome,
        saved: &SavedFindings,
        system: &PythonSystem<'_>,
    ) -> ExplorationReport {
        let catalog = system.actions();
        let labels = |test: &Test| report::step_labels(catalog, test);
        let failures = saved.failures.iter();
        ExplorationReport {
            states: outcome.states,
            transitions: outcome.transitions,
            steps: outcome.steps,
            depth: outcome.depth,
            seconds: (outcome.time.as_secs_f64() * 1000.0).round() / 1000.0,
            actions: catalog.len(),
            templates: catalog.templates().len(),
            going_back: match outcome.backtracking.method {
                Backtracking::BySnapshot => "copy",
                Backtracking::ByReplay => "replay",
            },
            going_back_because: outcome.backtracking.reason.clone(),
            verdict: VerdictJson::from(&outcome.verdict),
            all_tests_up_to: outcome.covered_length(),
            stopped: stop_reason(outcome),
            deadlocks: outcome.deadlocked,
            deadlock: outcome.deadlock.as_ref().map(labels),
            failures: failures
                .map(|failure| ExplorationFailure::new(failure, catalog))
                .collect(),
            goal: goal_report(explore, queries, outcome, saved, catalog),
            formula: formula_report(explore, outcome, catalog),
            interrupted: outcome.stop == Some(EarlyStop::Interrupted),
        }
    }

    /// Builds the report of an exploration that was ended by force. `size` is the number of actions
    /// and of templates.
    pub(super) fn ended(
        progress: &ExploreProgress,
        size: (u64, usize),
        failures: Vec<ExplorationFailure>,
    ) -> ExplorationReport {
        let (actions, templates) = size;
        ExplorationReport {
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
            verdict: VerdictJson::from(&Verdict::new(VerdictExtent::Interrupted)),
            ..ExplorationReport::default()
        }
    }

    /// Formats the report as one JSON object.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}

/// Returns the reason why the exploration ended early.
fn stop_reason(outcome: &ExplorationOutcome) -> Option<&'static str> {
    if outcome.verdict.extent == VerdictExtent::Interrupted {
        return Some("interrupted");
    }
    let mut limits = outcome.verdict.limits().iter();
    let is_whole = |limit: &&ReachedLimit| {
        use ReachedLimit::{AfterFailure, Depth, NoFirstAction};
        matches!(limit, Depth(_) | AfterFailure | NoFirstAction)
    };
    limits
        .find(|limit| !is_whole(limit))
        .map(|limit| limit.name())
}

impl ExplorationFailure {
    /// Converts a saved failure.
    pub(super) fn new(found: &SavedFailure, catalog: &Catalog) -> ExplorationFailure {
        ExplorationFailure {
            kind: found.failure.kind.name(),
            message: found.failure.message.clone(),
            steps: found.saved.test.len(),
            test: report::step_labels(catalog, &found.saved.test),
            file: found.saved.file.display().to_string(),
            reproduced: found.saved.is_reproduced,
        }
    }
}

/// Builds the report on the goal, if there is one.
fn goal_report(
    explore: &ExploreCommand,
    queries: &Queries<'_>,
    outcome: &ExplorationOutcome,
    saved: &SavedFindings,
    catalog: &Catalog,
) -> Option<GoalReport> {
    let goal = queries.goal.as_ref()?;
    let found = saved.goal.as_ref();
    Some(GoalReport {
        expression: goal.text().to_owned(),
        answer: match goal_answer(explore, queries, outcome) {
            GoalAnswer::Found => "found",
            GoalAnswer::Absent => "absent",
            GoalAnswer::NotFound => "not-found",
        },
        steps: found.map(|saved| saved.test.len()),
        test: found.map(|saved| report::step_labels(catalog, &saved.test)),
        file: found.map(|saved| saved.file.display().to_string()),
        reproduced: found.map(|saved| saved.is_reproduced),
    })
}

/// Builds the report on the formula, if there is one.
fn formula_report(
    explore: &ExploreCommand,
    outcome: &ExplorationOutcome,
    catalog: &Catalog,
) -> Option<FormulaReport> {
    let answer = outcome.answer.as_ref()?;
    let run = match answer {
        FormulaVerdict::Violated(run) => Some(run),
        FormulaVerdict::Holds | FormulaVerdict::NothingFound(_) => None,
    };
    Some(FormulaReport {
        text: explore.formula.clone().unwrap_or_default(),
        answer: match answer {
            FormulaVerdict::Violated(_) => "violated",
            _ if outcome.verdict.is_proof() => "holds",
            FormulaVerdict::Holds | FormulaVerdict::NothingFound(_) => "nothing-found",
        },
        prefix: run.map(|run| report::step_labels(catalog, &run.prefix)),
        lap: run.map(|run| report::step_labels(catalog, &run.cycle)),
        then: run.map(|run| match run.ending {
            RunEnding::Cycle => "lap",
            RunEnding::Deadlock => "deadlock",
            RunEnding::AnyContinuation => "anything",
        }),
    })
}
