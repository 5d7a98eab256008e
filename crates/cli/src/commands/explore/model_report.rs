//! What an exploration of models came to: for people, and for scripts.

use std::time::Duration;

use testwright_core::product::Trouble as ModelTrouble;
use testwright_model::{Exploration, Graph, step_text};
use testwright_python::Models;

use super::judged::Judged;
use crate::console::{Console, Look};
use crate::{ExitStatus, duration, quantity, size};

/// How many states of a kind are shown.
const MOST_SHOWN: usize = 3;

/// What is known of the states.
pub(super) struct Report {
    dead: Vec<u32>,
    bytes: usize,
    time: Duration,
    unsafe_states: usize,
    is_whole: bool,
    /// Whether random numbers were drawn. Then nobody knows what is missing.
    drew: bool,
}

impl Report {
    pub(super) fn new(
        models: &Models<'_>,
        explored: &Exploration,
        time: Duration,
        drew: bool,
    ) -> Report {
        let graph = &explored.graph;
        let held: usize = models
            .product
            .models()
            .iter()
            .map(|model| model.bytes())
            .sum();
        Report {
            dead: graph.dead(),
            bytes: (graph.bytes() + held) / graph.states().max(1),
            time,
            unsafe_states: graph.not_safe.len(),
            is_whole: graph.is_complete() && !drew,
            drew,
        }
    }

    pub(super) fn status(&self) -> ExitStatus {
        match self.unsafe_states + self.dead.len() {
            0 => ExitStatus::NothingFound,
            _ => ExitStatus::FailureFound,
        }
    }

    pub(super) fn say(
        &self,
        console: &mut Console<'_>,
        models: &Models<'_>,
        explored: &Exploration,
    ) {
        let graph = &explored.graph;
        console.say(format_args!(
            "Explored {}, {}, in {} ({} a state)",
            quantity::of(graph.states() as u64, "state"),
            quantity::of(graph.transitions.len() as u64, "transition"),
            duration::show(self.time),
            size::show(self.bytes),
        ));
        if graph.is_complete() {
            console.say(if self.drew {
                "There may be more: a model draws random numbers, so another exploration can find others"
            } else {
                "These are all that can be reached"
            });
        } else {
            let why = match &explored.trouble {
                Some(ModelTrouble::Interrupted) => "it was stopped",
                Some(_) => "a model could not go on",
                None if explored.stopped => "it was stopped",
                None => "the limit was reached",
            };
            let waiting = quantity::of(graph.frontier.len() as u64, "state");
            console.say(format_args!(
                "Not all: {why}, and {waiting} could lead further"
            ));
        }
        if let (Some(state), true) = (graph.frontier.first(), could_not_go_on(explored)) {
            console.say(format_args!(
                "  in state {state}: {}",
                graph.text(&models.product, *state)
            ));
            say_way(console, models, graph, *state);
        }
        console.say(format_args!(
            "{} accepting, {} finished, {}",
            quantity::grouped(graph.accepting.len() as u64),
            quantity::grouped(graph.finished.len() as u64),
            quantity::of(graph.dead_ends.len() as u64, "dead end"),
        ));
        let is_whole = self.is_whole;
        self.say_states(
            console,
            models,
            graph,
            &graph.not_safe,
            &if is_whole {
                ["every state is safe", "unsafe"]
            } else {
                ["every state met so far is safe", "unsafe"]
            },
        );
        self.say_states(
            console,
            models,
            graph,
            &self.dead,
            &if is_whole {
                [
                    "from every state an accepting state can be reached",
                    "dead: no accepting state can be reached from there",
                ]
            } else {
                [
                    "from every state met so far, an accepting state may still be reached",
                    "dead: no accepting state can be reached from there",
                ]
            },
        );
    }

    /// Says of some states how to get there, or that there are none.
    fn say_states(
        &self,
        console: &mut Console<'_>,
        models: &Models<'_>,
        graph: &Graph,
        states: &[u32],
        [none, some]: &[&str; 2],
    ) {
        let Some(first) = states.first() else {
            let words = console.paint(Look::Good, none);
            return console.say(words);
        };
        let number = quantity::of(states.len() as u64, "state");
        let words = console.paint(Look::Bad, format!("{number} {some}"));
        console.say(words);
        for state in states.iter().take(MOST_SHOWN) {
            console.say(format_args!(
                "  state {state}: {}",
                graph.text(&models.product, *state)
            ));
        }
        if states.len() > MOST_SHOWN {
            console.say(format_args!("  and {} more", states.len() - MOST_SHOWN));
        }
        say_way(console, models, graph, *first);
    }

    /// The same for scripts. The names in here are a promise.
    pub(super) fn json(
        &self,
        models: &Models<'_>,
        explored: &Exploration,
        judged: Option<&Judged>,
    ) -> String {
        let graph = &explored.graph;
        let ways = graph.ways();
        let state = |number: u32| {
            let way: Vec<String> = ways
                .to(number)
                .iter()
                .map(|one| graph.labels[graph.transitions[*one as usize].label as usize])
                .map(|label| step_text(models.product.words(), label))
                .collect();
            serde_json::json!({
                "state": number,
                "text": graph.text(&models.product, number),
                "way": way,
            })
        };
        let some = |states: &[u32]| -> Vec<serde_json::Value> {
            states
                .iter()
                .take(100)
                .map(|number| state(*number))
                .collect()
        };
        serde_json::json!({
            "states": graph.states(),
            "transitions": graph.transitions.len(),
            "accepting": graph.accepting.len(),
            "finished": graph.finished.len(),
            "dead_ends": graph.dead_ends,
            "complete": self.is_whole,
            "frontier": graph.frontier.len(),
            "unsafe": some(&graph.not_safe),
            "dead": some(&self.dead),
            "formula": judged.map(Judged::answer),
            "violation": judged.and_then(Judged::violation),
            "seconds": self.time.as_secs_f64(),
            "bytes_per_state": self.bytes,
        })
        .to_string()
    }
}

/// Whether the code of a model ended it.
fn could_not_go_on(explored: &Exploration) -> bool {
    !matches!(explored.trouble, None | Some(ModelTrouble::Interrupted))
}

/// Says how to get to a state.
fn say_way(console: &mut Console<'_>, models: &Models<'_>, graph: &Graph, state: u32) {
    let way = graph.way_to(state);
    if way.is_empty() {
        console.say(format_args!("  runs begin in state {state}"))
    } else {
        console.say(format_args!("  a shortest way to state {state}:"))
    }
    for transition in way {
        let label = graph.labels[graph.transitions[transition as usize].label as usize];
        console.say(format_args!(
            "    {}",
            step_text(models.product.words(), label)
        ));
    }
}
