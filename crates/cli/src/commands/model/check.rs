//! `testwright model check`: does a model allow what it should, and nothing that it should not?

use std::time::Duration;

use testwright_core::Error;
use testwright_core::product::{Place, Product, Trouble as ModelTrouble};
use testwright_model::{Graph, Limits, conform, explore_from, step_text};
use testwright_python::Models;

use super::ModelArguments;
use crate::commands::STEP_TIMEOUT;
use crate::console::{Console, Look};
use crate::guard::{Note, guarded};
use crate::{ExitStatus, Trouble, duration, models, quantity};

/// Check a model by scenarios that it should allow, or should not
///
/// A scenario is a machine or a list of runs. Composed with the model, it is allowed if the two together can come to an
/// end that both accept; of a list of runs, each is checked for itself. Where one gets stuck, the way there is shown,
/// and why nothing is possible.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright model check Stack --scenarios PushPop TwoUsers
  testwright model check Stack --scenarios PushPop --forbidden PopFirst

Exit status: 0 the model is as it should be, 1 it is not, 2 could not do what was asked."
)]
pub(super) struct Check {
    #[command(flatten)]
    model: ModelArguments,

    /// Scenarios that the model should allow
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    scenarios: Vec<String>,

    /// Scenarios that the model should not allow
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    forbidden: Vec<String>,

    /// How many transitions to look at in each
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    max: usize,

    /// How long a model may take in a state before it counts as a hang
    #[arg(long, value_name = "DURATION", default_value = STEP_TIMEOUT, value_parser = duration::parse)]
    step_timeout: Duration,
}

/// What became of a run of a scenario together with the model.
struct Seen {
    /// Everything was looked at.
    whole: bool,
    /// Why no end was reached that both accept, if none was.
    obstacle: Option<Obstacle>,
}

/// What keeps a run from its end.
struct Obstacle {
    /// Nothing is possible any more.
    is_stuck: bool,
    /// The way there.
    steps: Vec<String>,
    /// Who does not accept that state, and does not let what happen there.
    why: Vec<String>,
}

impl Check {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        if self.scenarios.is_empty() && self.forbidden.is_empty() {
            let error = Error::new("there are no scenarios to check the model by")
                .with_help("name some with `--scenarios` or `--forbidden`");
            return Err(error.into());
        }
        // The code of a model may end its process, or not come back.
        guarded(
            console,
            Some(self.step_timeout),
            models::tell_end,
            |console, note| self.check_all(console, note),
        )
    }

    fn check_all(&self, console: &mut Console<'_>, note: &Note) -> Result<ExitStatus, Trouble> {
        let scenarios = self.scenarios.iter().map(|name| (name, true));
        let forbidden = self.forbidden.iter().map(|name| (name, false));
        let [mut checked, mut wrong] = [0, 0];
        for (scenario, expected) in scenarios.chain(forbidden) {
            let mut names = self.model.models.clone();
            names.push(scenario.clone());
            let filter = self.model.filter();
            models::with_models(console, &names, &filter, |console, models| {
                for run in 0.. {
                    let seen = self.see(models, run, scenario, note);
                    let Some(seen) = seen.map_err(|trouble| models::tell(console, &trouble))?
                    else {
                        break;
                    };
                    checked += 1;
                    let title = if models.product.has_suite() {
                        format!("{scenario}, run {run}")
                    } else {
                        scenario.clone()
                    };
                    wrong += u64::from(!say(console, &title, expected, &seen));
                    // The next run may end this process.
                    console.flush();
                    if !models.product.has_suite() {
                        break;
                    }
                }
                Ok(())
            })?;
        }
        let words = match wrong {
            0 => console.paint(Look::Good, "all as they should be"),
            wrong => console.paint(Look::Bad, format!("{wrong} not as they should be")),
        };
        console.say(format_args!(
            "{}, {words}",
            quantity::of(checked, "scenario")
        ));
        Ok(match wrong {
            0 => ExitStatus::NothingFound,
            _ => ExitStatus::FailureFound,
        })
    }

    /// What becomes of a run; nothing if there is no such run.
    fn see(
        &self,
        models: &mut Models<'_>,
        run: usize,
        scenario: &str,
        note: &Note,
    ) -> Result<Option<Seen>, ModelTrouble> {
        let product = &mut models.product;
        let Some(start) = product.begin(run)? else {
            return Ok(None);
        };
        let limits = Limits {
            transitions: Some(self.max),
            ..Limits::default()
        };
        let explored = explore_from(product, &start, &limits, &mut |progress| {
            let expanded = progress.states - progress.waiting;
            note.write(&format!(
                "state {expanded} of the model with {scenario}, run {run}\n"
            ));
            !testwright_python::asked_to_stop()
        });
        note.rest();
        if let Some(trouble) = explored.trouble {
            return Err(trouble);
        }
        if explored.stopped {
            return Err(ModelTrouble::Interrupted);
        }
        let graph = explored.graph;
        let obstacle = if graph.accepting.is_empty() {
            Some(obstacle(product, &graph)?)
        } else {
            None
        };
        Ok(Some(Seen {
            whole: graph.is_complete(),
            obstacle,
        }))
    }
}

/// What keeps a scenario from its end: the longest way to a state in which nothing is possible, or, if something is
/// possible everywhere, to the state that is farthest away.
fn obstacle(product: &mut Product<'_>, graph: &Graph) -> Result<Obstacle, ModelTrouble> {
    let ends = graph.dead_ends.iter().chain(&graph.finished);
    let ways = graph.ways();
    let longest = ends.map(|state| (ways.to(*state), *state));
    let longest = longest.max_by_key(|(way, _)| way.len());
    let is_stuck = longest.is_some();
    // States are numbered as they are met.
    let last = graph.states().saturating_sub(1) as u32;
    let (way, state) = longest.unwrap_or_else(|| (ways.to(last), last));
    let steps = way.iter().map(|transition| {
        let label = graph.labels[graph.transitions[*transition as usize].label as usize];
        step_text(product.words(), label)
    });
    let steps = steps.collect();
    let places: Vec<Place> = graph.state(state).to_vec();
    let blocked = product.explain(&places)?;
    let mut why = conform::not_accepting(product, &places);
    why.extend(conform::explain_all(product, &blocked));
    Ok(Obstacle {
        is_stuck,
        steps,
        why,
    })
}

/// Says what became of a scenario; whether it is as it should be.
fn say(console: &mut Console<'_>, title: &str, expected: bool, seen: &Seen) -> bool {
    let is_allowed = seen.obstacle.is_none();
    let is_right = is_allowed == expected;
    let mark = if is_right {
        console.paint(Look::Good, "ok    ")
    } else {
        console.paint(Look::Bad, "WRONG ")
    };
    let what = match (is_allowed, seen.whole) {
        (true, _) => "allowed",
        (false, true) => "not allowed",
        (false, false) => "not allowed, as far as was looked",
    };
    console.say(format_args!("{mark} {title}: {what}"));
    if let Some(obstacle) = seen.obstacle.as_ref().filter(|_| !is_right) {
        console.say(match (obstacle.is_stuck, obstacle.steps.is_empty()) {
            (true, true) => "       stuck at once",
            (true, false) => "       stuck after",
            (false, true) => "       goes round, and never comes to its end",
            (false, false) => "       goes round, and never comes to its end, not even after",
        });
        for step in &obstacle.steps {
            console.say(format_args!("         {step}"));
        }
        for why in &obstacle.why {
            console.say(format_args!("       {why}"));
        }
    }
    is_right
}
