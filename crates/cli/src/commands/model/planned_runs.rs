//! Runs that are planned beforehand, to cover the actions, states or transitions of a model.

use testwright_core::Error;
use testwright_core::product::Product;
use testwright_model::{
    CoverGoal, CoverPlan, CoverTarget, CoveringSuite, GraphLimits, Playlist, ProductGraph,
    compute_suite, count_pairs, explore, step_text,
};
use testwright_python::Models;

use crate::console::Console;
use crate::{CommandError, models, quantity};

/// Maximum number of pairs of transitions to cover. A larger suite would take too long to play, and
/// gigabytes to make.
const MAX_PAIRS: u64 = 2_000_000;

/// Maximum number of uncovered targets that are named.
const MAX_NAMED: usize = 3;

/// Returns the coverage goal of a strategy; `None` if its runs are not made beforehand.
pub(super) fn goal(strategy: &str) -> Option<CoverGoal> {
    Some(match strategy {
        "actions" => CoverGoal::Actions,
        "labels" => CoverGoal::Labels,
        "states" => CoverGoal::States,
        "transitions" => CoverGoal::Transitions,
        "pairs" => CoverGoal::Pairs,
        "shortest" => CoverGoal::Shortest,
        _ => return None,
    })
}

/// Plans runs that reach the goal, exploring at most `max_transitions` transitions. Prints what
/// they cover.
pub(super) fn playlist(
    console: &mut Console<'_>,
    models: &mut Models<'_>,
    goal: CoverGoal,
    max_transitions: usize,
) -> Result<Playlist, CommandError> {
    let limits = GraphLimits {
        transitions: Some(max_transitions),
        ..GraphLimits::default()
    };
    let explored = explore(&mut models.product, &limits, &mut |_| {
        !testwright_python::is_stop_requested()
    });
    if let Some(error) = &explored.error {
        return Err(models::model_error(console, error));
    }
    let graph = &explored.graph;
    if !graph.is_complete() {
        let message = "the model has more transitions than were looked at";
        console.warning(message, Some("`--max N` sets how many"));
    }
    let count = count_pairs(graph);
    if goal == CoverGoal::Pairs && count > MAX_PAIRS {
        let message = format!(
            "{} pairs of transitions are too many to cover",
            quantity::grouped(count)
        );
        let help = "look at fewer transitions with `--max N`, leave actions out with `--exclude NAME`, \
                    or cover `transitions`";
        return Err(Error::new(message).with_help(help).into());
    }
    let mut suite = compute_suite(graph, &CoverPlan::new(goal));
    if suite.runs.is_empty() {
        // Nothing leads to a state in which a run may end.
        suite = compute_suite(
            graph,
            &CoverPlan {
                end_accepting: false,
                ..CoverPlan::new(goal)
            },
        );
    }
    print_coverage(console, &models.product, graph, goal, &suite);
    let labels = |run: &Vec<u32>| {
        let transitions = run
            .iter()
            .map(|transition| &graph.transitions[*transition as usize]);
        transitions
            .map(|transition| graph.labels[transition.label as usize])
            .collect()
    };
    Ok(Playlist::new(suite.runs.iter().map(labels).collect()))
}

/// Prints how much the runs cover, and what they leave out.
fn print_coverage(
    console: &mut Console<'_>,
    product: &Product<'_>,
    graph: &ProductGraph,
    goal: CoverGoal,
    suite: &CoveringSuite,
) {
    let runs = suite.runs.len() as u64;
    let steps: usize = suite.runs.iter().map(Vec::len).sum();
    console.out(format_args!(
        "{} with {} {} {} of {}",
        quantity::format_count(runs, "run"),
        quantity::format_count(steps as u64, "step"),
        if runs == 1 { "covers" } else { "cover" },
        quantity::grouped(suite.covered as u64),
        quantity::format_count(suite.total as u64, goal_noun(goal)),
    ));
    if suite.unreachable.is_empty() {
        return;
    }
    let left_out = suite.unreachable.len();
    let named = suite.unreachable.iter().take(MAX_NAMED);
    let named: Vec<String> = named
        .map(|left_out| target_text(product, graph, left_out.target))
        .collect();
    let more = match left_out - named.len() {
        0 => String::new(),
        more => format!(", and {} more", quantity::grouped(more as u64)),
    };
    console.out(format_args!(
        "left out, since no state follows in which a run may end: {}{more}",
        named.join(", ")
    ));
}

/// Returns the noun for the targets of a goal.
fn goal_noun(goal: CoverGoal) -> &'static str {
    match goal {
        CoverGoal::Actions => "action",
        CoverGoal::Labels => "label",
        CoverGoal::States | CoverGoal::Shortest => "state",
        CoverGoal::Transitions | CoverGoal::Random { .. } => "transition",
        CoverGoal::Pairs => "pair",
    }
}

/// Describes a target.
fn target_text(product: &Product<'_>, graph: &ProductGraph, target: CoverTarget) -> String {
    let interner = product.interner();
    let label = |label: u32| step_text(interner, graph.labels[label as usize]);
    let transition_text = |number: u32| label(graph.transitions[number as usize].label);
    match target {
        CoverTarget::Action(name) => interner.name_text(name).to_owned(),
        CoverTarget::Label(number) => label(number),
        CoverTarget::State(state) => graph.text(product, state),
        CoverTarget::Transition(number) => transition_text(number),
        CoverTarget::Pair(first, second) => {
            format!("{} and {}", transition_text(first), transition_text(second))
        }
    }
}
