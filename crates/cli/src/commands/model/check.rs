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
    /// An end that both accept was reached.
    allowed: bool,
    /// Everything was looked at.
    whole: bool,
    /// The longest way that gets stuck.
    stuck: Vec<String>,
    /// Why nothing is possible there.
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
                    let title = match models.product.has_suite() {
                        true => format!("{scenario}, run {run}"),
                        false => scenario.clone(),
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
        let allowed = !graph.accepting.is_empty();
        let (stuck, why) = match allowed {
            true => (Vec::new(), Vec::new()),
            false => stuck(product, &graph)?,
        };
        Ok(Some(Seen {
            allowed,
            whole: graph.is_complete(),
            stuck,
            why,
        }))
    }
}

/// The longest way to a state in which nothing is possible, and why.
fn stuck(
    product: &mut Product<'_>,
    graph: &Graph,
) -> Result<(Vec<String>, Vec<String>), ModelTrouble> {
    let ends = graph.dead_ends.iter().chain(&graph.finished);
    let ways = graph.ways();
    let longest = ends.map(|state| (ways.to(*state), *state));
    let Some((way, state)) = longest.max_by_key(|(way, _)| way.len()) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let steps = way.iter().map(|transition| {
        let label = graph.labels[graph.transitions[*transition as usize].label as usize];
        step_text(product.words(), label)
    });
    let steps = steps.collect();
    let places: Vec<Place> = graph.state(state).to_vec();
    let blocked = product.explain(&places)?;
    let mut why = conform::not_accepting(product, &places);
    why.extend(conform::explain_all(product, &blocked));
    Ok((steps, why))
}

/// Says what became of a scenario; whether it is as it should be.
fn say(console: &mut Console<'_>, title: &str, expected: bool, seen: &Seen) -> bool {
    let is_right = seen.allowed == expected;
    let mark = match is_right {
        true => console.paint(Look::Good, "ok    "),
        false => console.paint(Look::Bad, "WRONG "),
    };
    let what = match (seen.allowed, seen.whole) {
        (true, _) => "allowed",
        (false, true) => "not allowed",
        (false, false) => "not allowed, as far as was looked",
    };
    console.say(format_args!("{mark} {title}: {what}"));
    if !is_right && !seen.allowed {
        match seen.stuck.is_empty() {
            true => console.say("       stuck at once"),
            false => console.say("       stuck after"),
        }
        for step in &seen.stuck {
            console.say(format_args!("         {step}"));
        }
        for why in &seen.why {
            console.say(format_args!("       {why}"));
        }
    }
    is_right
}
