//! `testwright model check`: scenarios that a model should allow, or should not.

use std::time::Duration;

use testwright_core::Error;
use testwright_core::product::{ModelError, ModelState, Product};
use testwright_core::verdict::{Caveat, ReachedLimit, Verdict, VerdictExtent};
use testwright_model::{GraphLimits, ProductGraph, conform, explore_from, step_text};
use testwright_python::Models;

use super::ModelArguments;
use crate::commands::STEP_TIMEOUT;
use crate::console::{Console, TextStyle};
use crate::guard::{ProgressNote, run_guarded};
use crate::quantity::parse_from_zero;
use crate::verdict_text::{self, Claim};
use crate::{CommandError, ExitStatus, duration, models, quantity};

/// Check that a model allows some scenarios, and forbids others
///
/// A scenario is a machine or a list of runs. It is composed with the model, and is allowed if both can reach
/// an accepting state together. Each run of a list is checked separately. If a scenario gets stuck, the steps
/// to that state are shown, and the reason why no further step is possible.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright model check Stack --scenarios PushPop TwoUsers
  testwright model check Stack --scenarios PushPop --forbidden PopFirst

Exit status: 0 nothing wrong was found, 1 the model is not as it should be, 2 could not do what was asked, or
a scenario was not decided: within `--max`, or because of what the model leaves open."
)]
pub(super) struct ModelCheckCommand {
    #[command(flatten)]
    model: ModelArguments,

    /// Scenarios that the model should allow
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    scenarios: Vec<String>,

    /// Scenarios that the model should not allow
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    forbidden: Vec<String>,

    /// Maximum number of transitions to look at for each scenario
    #[arg(long, value_name = "N", default_value_t = 100_000, allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    max: usize,

    /// Time limit of a model in a state; a model that takes longer counts as a hang
    #[arg(long, value_name = "DURATION", default_value = STEP_TIMEOUT, value_parser = duration::parse)]
    step_timeout: Duration,
}

/// Result of running a scenario together with the model.
struct ScenarioResult {
    /// True if the limit was reached.
    is_bounded: bool,
    /// True if everything was explored, and no caveat matters.
    is_complete: bool,
    /// Caveats of what was explored.
    caveats: Vec<Caveat>,
    /// Obstacle that keeps the run from an end that both accept; `None` if such an end is reached.
    obstacle: Option<Obstacle>,
}

/// A result compared with what is expected of the model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScenarioOutcome {
    Right,
    Wrong,
    /// The limit was reached before the scenario came to its end.
    Undecided,
}

impl ScenarioResult {
    /// Returns true if more exploration would give the same result.
    fn is_certain(&self) -> bool {
        self.is_complete || self.obstacle.is_none()
    }

    /// Compares the result with what is expected.
    fn outcome(&self, expected: bool) -> ScenarioOutcome {
        if self.obstacle.is_none() == expected {
            ScenarioOutcome::Right
        } else if self.is_certain() {
            ScenarioOutcome::Wrong
        } else {
            ScenarioOutcome::Undecided
        }
    }
}

/// A state from which a scenario does not come to its end.
struct Obstacle {
    /// True if nothing is possible in that state.
    is_stuck: bool,
    /// Steps that lead there.
    steps: Vec<String>,
    /// Reasons why the state is not accepted, and why actions are not possible in it.
    reasons: Vec<String>,
}

impl ModelCheckCommand {
    /// Runs the command.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        if self.scenarios.is_empty() && self.forbidden.is_empty() {
            let error = Error::new("no scenarios were given")
                .with_help("name some with `--scenarios` or `--forbidden`");
            return Err(error.into());
        }
        // The code of a model may end its process, or hang.
        run_guarded(
            console,
            Some(self.step_timeout),
            models::report_crash,
            |console, note| self.check_all(console, note),
        )
    }

    /// Checks all scenarios, and prints a summary.
    fn check_all(
        &self,
        console: &mut Console<'_>,
        note: &ProgressNote,
    ) -> Result<ExitStatus, CommandError> {
        let scenarios = self.scenarios.iter().map(|name| (name, true));
        let forbidden = self.forbidden.iter().map(|name| (name, false));
        let [mut checked, mut wrong, mut undecided] = [0, 0, 0];
        let mut verdict = Verdict::new(VerdictExtent::Complete);
        for (scenario, expected) in scenarios.chain(forbidden) {
            let mut names = self.model.models.clone();
            names.push(scenario.clone());
            let filter = self.model.filter();
            note.write("");
            models::with_models(console, &names, &filter, |console, models| {
                models.product.try_observables();
                for run in 0.. {
                    let result = self.explore_run(models, run, scenario, note);
                    let Some(result) =
                        result.map_err(|error| models::model_error(console, &error))?
                    else {
                        break;
                    };
                    checked += 1;
                    let title = if models.product.has_suite() {
                        format!("{scenario}, run {run}")
                    } else {
                        scenario.clone()
                    };
                    let outcome = result.outcome(expected);
                    wrong += u64::from(outcome == ScenarioOutcome::Wrong);
                    undecided += u64::from(outcome == ScenarioOutcome::Undecided);
                    verdict.add_caveats(result.caveats.iter().cloned());
                    if result.is_bounded && !result.is_certain() {
                        verdict.add_limit(ReachedLimit::Transitions(self.max as u64));
                    }
                    print_result(console, &title, outcome, &result);
                    // The next run may end this process.
                    console.flush();
                    if !models.product.has_suite() {
                        break;
                    }
                }
                Ok(())
            })?;
        }
        let summary = match (wrong, undecided) {
            (0, 0) => console.paint(TextStyle::Success, Claim::ScenariosRight.text(&verdict)),
            (0, undecided) => format!("{undecided} not decided"),
            (wrong, _) => {
                console.paint(TextStyle::Failure, format!("{wrong} not as they should be"))
            }
        };
        let text = format!("{}, {summary}", quantity::format_count(checked, "scenario"));
        console.out(verdict_text::with_limits(&text, &verdict));
        verdict_text::print_caveats(console, &verdict);
        Ok(match (wrong, undecided) {
            (0, 0) if checked > 0 => ExitStatus::NothingFound,
            (0, _) => ExitStatus::Error,
            (_, _) => ExitStatus::FailureFound,
        })
    }

    /// Explores a run of a scenario together with the model; `None` if there is no such run.
    fn explore_run(
        &self,
        models: &mut Models<'_>,
        run: usize,
        scenario: &str,
        note: &ProgressNote,
    ) -> Result<Option<ScenarioResult>, ModelError> {
        let product = &mut models.product;
        let Some(start) = product.initial_state(run)? else {
            return Ok(None);
        };
        let limits = GraphLimits {
            transitions: Some(self.max),
            ..GraphLimits::default()
        };
        let explored = explore_from(product, &start, &limits, &mut |progress| {
            let state = progress.expanded();
            note.write(&format!(
                "state {state} of the model with {scenario}, run {run}\n"
            ));
            !testwright_python::is_stop_requested()
        });
        if let Some(error) = explored.error {
            return Err(error);
        }
        if explored.stopped {
            return Err(ModelError::Interrupted);
        }
        let graph = explored.graph;
        let obstacle = if graph.accepting.is_empty() {
            Some(find_obstacle(product, &graph)?)
        } else {
            None
        };
        let caveats = product.caveats();
        Ok(Some(ScenarioResult {
            is_bounded: !graph.is_complete(),
            is_complete: graph.is_complete() && !caveats.iter().any(Caveat::matters),
            obstacle,
            caveats,
        }))
    }
}

/// Finds the obstacle of a scenario: the state in which nothing is possible with the longest path
/// to it.
///
/// If something is possible in every state, takes the state that is farthest away.
fn find_obstacle(product: &mut Product<'_>, graph: &ProductGraph) -> Result<Obstacle, ModelError> {
    let ends = graph.dead_ends.iter().chain(&graph.finished);
    let paths = graph.shortest_paths();
    let longest = ends.map(|state| (paths.path_to(*state), *state));
    let longest = longest.max_by_key(|(path, _)| path.len());
    let is_stuck = longest.is_some();
    // States are numbered as they are met.
    let last = graph.states().saturating_sub(1) as u32;
    let (path, state) = longest.unwrap_or_else(|| (paths.path_to(last), last));
    let steps = path.iter().map(|transition| {
        let label = graph.labels[graph.transitions[*transition as usize].label as usize];
        step_text(product.interner(), label)
    });
    let steps = steps.collect();
    let states: Vec<ModelState> = graph.state(state).to_vec();
    let blocked = product.explain(&states)?;
    let mut reasons = conform::explain_not_accepting(product, &states);
    reasons.extend(conform::explain_all(product, &blocked));
    Ok(Obstacle {
        is_stuck,
        steps,
        reasons,
    })
}

/// Prints the result of a scenario.
fn print_result(
    console: &mut Console<'_>,
    title: &str,
    outcome: ScenarioOutcome,
    result: &ScenarioResult,
) {
    let mark = match outcome {
        ScenarioOutcome::Right => console.paint(TextStyle::Success, "ok    "),
        ScenarioOutcome::Wrong => console.paint(TextStyle::Failure, "WRONG "),
        ScenarioOutcome::Undecided => "?     ".to_owned(),
    };
    let verdict = match (&result.obstacle, result.is_complete) {
        (None, _) => "allowed",
        (Some(_), true) => "not allowed",
        (Some(_), false) => "not allowed, as far as it was explored",
    };
    console.out(format_args!("{mark} {title}: {verdict}"));
    if let Some(obstacle) = result
        .obstacle
        .as_ref()
        .filter(|_| outcome != ScenarioOutcome::Right)
    {
        console.out(match (obstacle.is_stuck, obstacle.steps.is_empty()) {
            (true, true) => "       stuck at once",
            (true, false) => "       stuck after",
            (false, true) => "       loops, and never reaches its end",
            (false, false) => "       loops, and never reaches its end, not even after",
        });
        for step in &obstacle.steps {
            console.out(format_args!("         {step}"));
        }
        for reason in &obstacle.reasons {
            console.out(format_args!("       {reason}"));
        }
    }
}
