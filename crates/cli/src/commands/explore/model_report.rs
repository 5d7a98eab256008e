//! The report on an exploration of models, for people and for scripts.

use std::time::Duration;

use testwright_core::Error;
use testwright_core::product::ModelError;
use testwright_core::verdict::{ReachedLimit, Verdict};
use testwright_model::{ExploredGraph, ProductGraph, step_text};
use testwright_python::Models;

use super::formula_result::FormulaResult;
use super::unused_parts::UnusedParts;
use crate::console::{Console, TextStyle};
use crate::verdict_text::{self, Claim, VerdictJson};
use crate::{ExitStatus, duration, quantity, size};

/// Maximum number of states of a kind that are printed.
const MAX_SHOWN: usize = 3;

/// Findings about the states of an explored product.
pub(super) struct ModelReport {
    /// States from which no accepting state can be reached.
    dead: Vec<u32>,
    /// States from which no accepting state was found, though there may be a way that was not seen.
    perhaps_dead: Vec<u32>,
    /// Memory for each state.
    bytes: usize,
    /// Time that the exploration took.
    time: Duration,
    /// Number of states in which an invariant is false.
    unsafe_states: usize,
    /// Evidence for what is said about all states.
    verdict: Verdict,
    /// Actions and guards without an effect.
    unused: UnusedParts,
}

impl ModelReport {
    /// Collects the findings. `verdict` says how much was explored, and what that does not cover.
    pub(super) fn new(
        models: &Models<'_>,
        explored: &ExploredGraph,
        time: Duration,
        verdict: Verdict,
    ) -> ModelReport {
        let graph = &explored.graph;
        let held: usize = models
            .product
            .models()
            .iter()
            .map(|model| model.bytes())
            .sum();
        let dead = graph.dead_states();
        let (dead, perhaps_dead) = if verdict.is_doubtful() {
            (Vec::new(), dead)
        } else {
            (dead, Vec::new())
        };
        ModelReport {
            unused: UnusedParts::collect(models, explored),
            dead,
            perhaps_dead,
            bytes: (graph.bytes() + held) / graph.states().max(1),
            time,
            unsafe_states: graph.unsafe_states.len(),
            verdict,
        }
    }

    /// Returns the exit status: unsafe or dead states are failures. If nothing could be done, it is
    /// an error, which is reported.
    pub(super) fn status(&self, console: &mut Console<'_>) -> ExitStatus {
        if self.unsafe_states + self.dead.len() > 0 {
            ExitStatus::FailureFound
        } else if self.verdict.limits().contains(&ReachedLimit::NoFirstAction) {
            let message = "no action can be taken at the start, so nothing was explored";
            let help = "at least one action must be enabled in the initial state";
            console.error(&Error::new(message).with_help(help));
            ExitStatus::Error
        } else {
            ExitStatus::NothingFound
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
        let whole = Claim::WholeGraph.text(&self.verdict);
        let advice: String = self.verdict.limits().iter().map(limit_advice).collect();
        let waiting = match graph.frontier.len() as u64 {
            0 => String::new(),
            states => format!("; {} not followed", quantity::format_count(states, "state")),
        };
        console.out(verdict_text::with_limits(&whole, &self.verdict) + &advice + &waiting);
        verdict_text::print_caveats(console, &self.verdict);
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
        self.unused.print(console, graph.is_complete());
        let claim = Claim::NoUnsafeState;
        self.print_states(
            console,
            models,
            graph,
            &graph.unsafe_states,
            (claim, "unsafe"),
        );
        let (states, found) = if self.perhaps_dead.is_empty() {
            let found = "dead: no accepting state can be reached from there";
            (&self.dead, found)
        } else {
            let found = "from which no accepting state was found";
            (&self.perhaps_dead, found)
        };
        self.print_states(console, models, graph, states, (Claim::NoDeadState, found));
    }

    /// Prints the states of a kind with a path to the first of them, or what follows from there
    /// being none.
    fn print_states(
        &self,
        console: &mut Console<'_>,
        models: &Models<'_>,
        graph: &ProductGraph,
        states: &[u32],
        (none, some): (Claim, &str),
    ) {
        let Some(first) = states.first() else {
            let text = console.paint(TextStyle::Success, none.text(&self.verdict));
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
        let verdict = VerdictJson::from(&self.verdict);
        let product = &models.product;
        let observed = product.vocabulary().iter();
        let observed = observed.filter(|name| product.is_observable(**name));
        let observed: Vec<&str> = observed
            .map(|name| product.interner().name_text(*name))
            .collect();
        let mut report = serde_json::json!({
            "states": graph.states(),
            "transitions": graph.transitions.len(),
            "accepting": graph.accepting.len(),
            "finished": graph.finished.len(),
            "dead_ends": graph.dead_ends,
            "frontier": graph.frontier.len(),
            "unsafe": some(&graph.unsafe_states),
            "dead": some(&self.dead),
            "perhaps_dead": some(&self.perhaps_dead),
            "formula": formula.map(FormulaResult::verdict_name),
            "violation": formula.and_then(FormulaResult::violation),
            "seconds": self.time.as_secs_f64(),
            "bytes_per_state": self.bytes,
            "observed": observed,
            "never_possible": self.unused.actions,
            "idle_guards": self.unused.guards,
        });
        if let (Some(report), Ok(serde_json::Value::Object(verdict))) =
            (report.as_object_mut(), serde_json::to_value(verdict))
        {
            report.extend(verdict);
        }
        report.to_string()
    }
}

/// Names the option that raises a limit, or goes on behind it.
fn limit_advice(limit: &ReachedLimit) -> String {
    match limit {
        ReachedLimit::Failure | ReachedLimit::Violation => " (`--keep-going` goes on)".to_owned(),
        ReachedLimit::Memory => " (`--memory SIZE` raises it)".to_owned(),
        ReachedLimit::States(_) => " (`--most-states N` raises it)".to_owned(),
        ReachedLimit::Transitions(_) => " (`--max N` raises it)".to_owned(),
        ReachedLimit::Time => " (`--time DURATION` raises it)".to_owned(),
        _ => String::new(),
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
        let is_observed = models.product.is_observable(label.name);
        let mark = if is_observed { "  (observed)" } else { "" };
        console.out(format_args!(
            "    {}{mark}",
            step_text(models.product.interner(), label)
        ));
    }
}
