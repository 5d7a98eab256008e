//! Runs that are made beforehand, to cover what a model can do.

use testwright_core::Error;
use testwright_core::product::Product;
use testwright_model::{
    Cover, CoverPlan, Goal, Graph, Limits, Playlist, Target, cover, explore, pairs, step_text,
};
use testwright_python::Models;

use crate::console::Console;
use crate::{Trouble, models, quantity};

/// More pairs of transitions than these make a suite that nobody wants to play, and take gigabytes to make.
const MOST_PAIRS: u64 = 2_000_000;

/// How many of the things that no run can cover are named.
const NAMED: usize = 3;

/// What the runs of a strategy of `--strategy` cover, if they are made beforehand.
pub(super) fn goal(strategy: &str) -> Option<Goal> {
    Some(match strategy {
        "actions" => Goal::Actions,
        "labels" => Goal::Labels,
        "states" => Goal::States,
        "transitions" => Goal::Transitions,
        "pairs" => Goal::Pairs,
        "shortest" => Goal::Shortest,
        _ => return None,
    })
}

/// Makes runs that cover what they shall, looking at so many transitions, and says what they cover and what not.
pub(super) fn playlist(
    console: &mut Console<'_>,
    models: &mut Models<'_>,
    goal: Goal,
    most: usize,
) -> Result<Playlist, Trouble> {
    let limits = Limits {
        transitions: Some(most),
        ..Limits::default()
    };
    let explored = explore(&mut models.product, &limits, &mut |_| {
        !testwright_python::asked_to_stop()
    });
    if let Some(trouble) = &explored.trouble {
        return Err(models::tell(console, trouble));
    }
    let graph = &explored.graph;
    if !graph.is_complete() {
        let message = "the model has more transitions than were looked at";
        console.warning(message, Some("`--max N` sets how many"));
    }
    let count = pairs(graph);
    if goal == Goal::Pairs && count > MOST_PAIRS {
        let message = format!(
            "{} pairs of transitions are too many to cover",
            quantity::grouped(count)
        );
        let help = "look at fewer transitions with `--max N`, leave actions out with `--exclude NAME`, \
                    or cover `transitions`";
        return Err(Error::new(message).with_help(help).into());
    }
    let mut suite = cover(graph, &CoverPlan::new(goal));
    if suite.runs.is_empty() {
        // Nothing leads to a state in which a run may end.
        suite = cover(
            graph,
            &CoverPlan {
                end_accepting: false,
                ..CoverPlan::new(goal)
            },
        );
    }
    tell(console, &models.product, graph, goal, &suite);
    let labels = |run: &Vec<u32>| {
        let transitions = run.iter().map(|one| &graph.transitions[*one as usize]);
        transitions
            .map(|one| graph.labels[one.label as usize])
            .collect()
    };
    Ok(Playlist::new(suite.runs.iter().map(labels).collect()))
}

/// Says how much the runs cover, and what they have to leave out.
fn tell(
    console: &mut Console<'_>,
    product: &Product<'_>,
    graph: &Graph,
    goal: Goal,
    suite: &Cover,
) {
    let runs = suite.runs.len() as u64;
    let steps: usize = suite.runs.iter().map(Vec::len).sum();
    console.say(format_args!(
        "{} with {} {} {} of {}",
        quantity::of(runs, "run"),
        quantity::of(steps as u64, "step"),
        if runs == 1 { "covers" } else { "cover" },
        quantity::grouped(suite.covered as u64),
        quantity::of(suite.all as u64, noun(goal)),
    ));
    if suite.unreachable.is_empty() {
        return;
    }
    let lost = suite.unreachable.len();
    let named = suite.unreachable.iter().take(NAMED);
    let named: Vec<String> = named
        .map(|lost| text(product, graph, lost.target))
        .collect();
    let more = match lost - named.len() {
        0 => String::new(),
        more => format!(", and {} more", quantity::grouped(more as u64)),
    };
    console.say(format_args!(
        "left out, since no state follows in which a run may end: {}{more}",
        named.join(", ")
    ));
}

/// What is covered.
fn noun(goal: Goal) -> &'static str {
    match goal {
        Goal::Actions => "action",
        Goal::Labels => "label",
        Goal::States | Goal::Shortest => "state",
        Goal::Transitions | Goal::Random { .. } => "transition",
        Goal::Pairs => "pair",
    }
}

/// Something to cover, for people.
fn text(product: &Product<'_>, graph: &Graph, target: Target) -> String {
    let words = product.words();
    let label = |label: u32| step_text(words, graph.labels[label as usize]);
    let taken = |number: u32| label(graph.transitions[number as usize].label);
    match target {
        Target::Action(name) => words.name_text(name).to_owned(),
        Target::Label(number) => label(number),
        Target::State(state) => graph.text(product, state),
        Target::Transition(number) => taken(number),
        Target::Pair(first, second) => format!("{} and {}", taken(first), taken(second)),
    }
}
