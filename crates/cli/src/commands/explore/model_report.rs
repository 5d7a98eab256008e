//! The report on an exploration of models, for people and for scripts.

use std::time::Duration;

use testwright_core::product::ModelError;
use testwright_model::{ExploredGraph, ProductGraph, step_text};
use testwright_python::Models;

use super::formula_result::FormulaResult;
use crate::console::{Console, TextStyle};
use crate::{ExitStatus, duration, quantity, size};

/// Maximum number of states of a kind that are printed.
const MAX_SHOWN: usize = 3;

/// Findings about the states of an explored product.
pub(super) struct ModelReport {
    /// States from which no accepting state can be reached.
    dead: Vec<u32>,
    /// Memory for each state.
    bytes: usize,
    /// Time that the exploration took.
    time: Duration,
    /// Number of states in which an invariant is false.
    unsafe_states: usize,
    /// True if all reachable states are known for certain.
    is_complete: bool,
    /// True if a model drew random numbers, so that another exploration may find other states.
    is_random: bool,
}

impl ModelReport {
    /// Collects the findings.
    pub(super) fn new(
        models: &Models<'_>,
        explored: &ExploredGraph,
        time: Duration,
        is_random: bool,
    ) -> ModelReport {
        let graph = &explored.graph;
        let held: usize = models
            .product
            .models()
            .iter()
            .map(|model| model.bytes())
            .sum();
        ModelReport {
            dead: graph.dead_states(),
            bytes: (graph.bytes() + held) / graph.states().max(1),
            time,
            unsafe_states: graph.unsafe_states.len(),
            is_complete: graph.is_complete() && !is_random,
            is_random,
        }
    }

    /// Returns the exit status: unsafe or dead states are failures.
    pub(super) fn status(&self) -> ExitStatus {
        match self.unsafe_states + self.dead.len() {
            0 => ExitStatus::NothingFound,
            _ => ExitStatus::FailureFound,
        }
    }

    /// Prints the report.
    pub(super) fn print(
        &self,
        console: &mut Console<'_>,
        models: &Models<'_>,
        explored: &ExploredGraph,
    ) {
        let graph = &explored.graph;
        console.out(format_args!(
            "Explored {}, {}, in {} ({} a state)",
            quantity::format_count(graph.states() as u64, "state"),
            quantity::format_count(graph.transitions.len() as u64, "transition"),
            duration::show(self.time),
            size::show(self.bytes),
        ));
        if graph.is_complete() {
            console.out(if self.is_random {
                "There may be more: a model draws random numbers, so another exploration can find others"
            } else {
                "These are all that can be reached"
            });
        } else {
            let why = match &explored.error {
                Some(ModelError::Interrupted) => "it was stopped",
                Some(_) => "a model could not go on",
                None if explored.stopped => "it was stopped",
                None => "the limit was reached",
            };
            let waiting = quantity::format_count(graph.frontier.len() as u64, "state");
            console.out(format_args!(
                "Not all: {why}, and {waiting} could lead further"
            ));
        }
        if let (Some(state), true) = (graph.frontier.first(), is_model_error(explored)) {
            console.out(format_args!(
                "  in state {state}: {}",
                graph.text(&models.product, *state)
            ));
            print_path(console, models, graph, *state);
        }
        console.out(format_args!(
            "{} accepting, {} finished, {}",
            quantity::grouped(graph.accepting.len() as u64),
            quantity::grouped(graph.finished.len() as u64),
            quantity::format_count(graph.dead_ends.len() as u64, "dead end"),
        ));
        let is_complete = self.is_complete;
        self.print_states(
            console,
            models,
            graph,
            &graph.unsafe_states,
            &if is_complete {
                ["every state is safe", "unsafe"]
            } else {
                ["every state met so far is safe", "unsafe"]
            },
        );
        self.print_states(
            console,
            models,
            graph,
            &self.dead,
            &if is_complete {
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

    /// Prints the states of a kind with a path to the first of them, or `none` if there are none.
    fn print_states(
        &self,
        console: &mut Console<'_>,
        models: &Models<'_>,
        graph: &ProductGraph,
        states: &[u32],
        [none, some]: &[&str; 2],
    ) {
        let Some(first) = states.first() else {
            let text = console.paint(TextStyle::Success, none);
            return console.out(text);
        };
        let number = quantity::format_count(states.len() as u64, "state");
        let text = console.paint(TextStyle::Failure, format!("{number} {some}"));
        console.out(text);
        for state in states.iter().take(MAX_SHOWN) {
            console.out(format_args!(
                "  state {state}: {}",
                graph.text(&models.product, *state)
            ));
        }
        if states.len() > MAX_SHOWN {
            console.out(format_args!("  and {} more", states.len() - MAX_SHOWN));
        }
        print_path(console, models, graph, *first);
    }

    /// Returns the report for scripts. Its keys must not change.
    pub(super) fn json(
        &self,
        models: &Models<'_>,
        explored: &ExploredGraph,
        formula: Option<&FormulaResult>,
    ) -> String {
        let graph = &explored.graph;
        let paths = graph.shortest_paths();
        let state = |number: u32| {
            let path: Vec<String> = paths
                .path_to(number)
                .iter()
                .map(|transition| {
                    graph.labels[graph.transitions[*transition as usize].label as usize]
                })
                .map(|label| step_text(models.product.interner(), label))
                .collect();
            serde_json::json!({
                "state": number,
                "text": graph.text(&models.product, number),
                "way": path,
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
            "complete": self.is_complete,
            "frontier": graph.frontier.len(),
            "unsafe": some(&graph.unsafe_states),
            "dead": some(&self.dead),
            "formula": formula.map(FormulaResult::verdict_name),
            "violation": formula.and_then(FormulaResult::violation),
            "seconds": self.time.as_secs_f64(),
            "bytes_per_state": self.bytes,
        })
        .to_string()
    }
}

/// Returns true if an error of a model ended the exploration.
fn is_model_error(explored: &ExploredGraph) -> bool {
    !matches!(explored.error, None | Some(ModelError::Interrupted))
}

/// Prints a shortest path to a state.
fn print_path(console: &mut Console<'_>, models: &Models<'_>, graph: &ProductGraph, state: u32) {
    let path = graph.shortest_path_to(state);
    if path.is_empty() {
        console.out(format_args!("  runs begin in state {state}"))
    } else {
        console.out(format_args!("  a shortest way to state {state}:"))
    }
    for transition in path {
        let label = graph.labels[graph.transitions[transition as usize].label as usize];
        console.out(format_args!(
            "    {}",
            step_text(models.product.interner(), label)
        ));
    }
}
