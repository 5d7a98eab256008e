//! Laws that hold for every suite, checked on random graphs.

use proptest::prelude::*;
use testwright_core::Random;

use super::sample::{covered_by, graph, min_cost, random_graph, strongly_connected};
use super::{
    CoverGoal, CoverPlan, CoverTarget, CoveringSuite, RUN_COST, UnreachableReason,
    UnreachableTarget, compute_suite,
};
use crate::ProductGraph;

const GOALS: [CoverGoal; 7] = [
    CoverGoal::Actions,
    CoverGoal::Labels,
    CoverGoal::States,
    CoverGoal::Transitions,
    CoverGoal::Pairs,
    CoverGoal::Shortest,
    CoverGoal::Random { runs: 4, steps: 6 },
];

/// Generates a random plan for a graph.
fn random_plan(random: &mut Random, graph: &ProductGraph, goal: CoverGoal) -> CoverPlan {
    let transitions = graph.transitions.len();
    let mut numbers = |bound: u64| (0..transitions).map(|_| random.below(bound)).collect();
    let costs = Some(numbers(5));
    let weights = Some(numbers(3));
    CoverPlan {
        costs: costs.filter(|_| random.chance(0.5)),
        weights: weights.filter(|_| random.chance(0.5)),
        max_steps: Some(random.below(8) as usize).filter(|_| random.chance(0.5)),
        end_accepting: random.chance(0.5),
        seed: random.below(100),
        ..CoverPlan::new(goal)
    }
}

/// Checks everything that a suite promises for any graph.
fn check(graph: &ProductGraph, plan: &CoverPlan, suite: &CoveringSuite) {
    for run in &suite.runs {
        let first = run.first().map(|first| graph.transitions[*first as usize]);
        assert!(first.is_none_or(|first| graph.starts.contains(&first.from)));
        for pair in run.windows(2) {
            let [before, after] = [pair[0], pair[1]].map(|step| graph.transitions[step as usize]);
            assert_eq!(before.to, after.from, "a run is a path");
        }
        if plan.end_accepting {
            let end = run.last().map(|last| graph.transitions[*last as usize].to);
            let ends = end.map_or(graph.starts.clone(), |end| vec![end]);
            assert!(ends.iter().any(|end| graph.accepting.contains(end)));
        }
    }
    let covered = covered_by(graph, plan.goal, &suite.runs);
    let empty = suite.runs.iter().filter(|run| run.is_empty()).count();
    match plan.goal {
        CoverGoal::States | CoverGoal::Shortest => assert_eq!(covered.len() + empty, suite.covered),
        // Transitions without neighbors are targets, too.
        CoverGoal::Pairs => {
            let single = suite.runs.iter().filter(|run| run.len() == 1).count();
            assert!((covered.len()..=covered.len() + single).contains(&suite.covered));
        }
        _ => assert_eq!(covered.len(), suite.covered),
    }
    if matches!(plan.goal, CoverGoal::Random { .. }) {
        assert!(suite.covered + suite.unreachable.len() <= suite.total);
    } else {
        assert_eq!(suite.covered + suite.unreachable.len(), suite.total);
    }
    let steps = suite.runs.iter().flatten();
    let steps: u64 = steps.map(|step| plan.transition_cost(*step as usize)).sum();
    assert_eq!(suite.cost, steps + suite.runs.len() as u64 * RUN_COST);
    assert_eq!(compute_suite(graph, plan), *suite, "the same again");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn suites_keep_their_promises(seed in any::<u64>(), states in 1u32..8, goal in 0..GOALS.len()) {
        let mut random = Random::new(seed);
        let graph = random_graph(&mut random, states, 20);
        let plan = random_plan(&mut random, &graph, GOALS[goal]);
        check(&graph, &plan, &compute_suite(&graph, &plan));
    }

    #[test]
    fn a_stronger_goal_covers_what_a_weaker_one_does(seed in any::<u64>(), states in 1u32..8) {
        let mut random = Random::new(seed);
        let graph = strongly_connected(&mut random, states, 8);
        let plan = random_plan(&mut random, &graph, CoverGoal::Pairs);
        let implied = [
            (CoverGoal::Pairs, CoverGoal::Transitions),
            (CoverGoal::Transitions, CoverGoal::Labels),
            (CoverGoal::Labels, CoverGoal::Actions),
            (CoverGoal::Transitions, CoverGoal::States),
        ];
        for (strong, weak) in implied {
            let plan = CoverPlan { goal: strong, ..plan.clone() };
            let suite = compute_suite(&graph, &plan);
            prop_assert_eq!(suite.covered, suite.total);
            let all = compute_suite(&graph, &CoverPlan { goal: weak, ..plan }).total;
            prop_assert_eq!(covered_by(&graph, weak, &suite.runs).len(), all);
        }
    }

    #[test]
    fn runs_are_too_long_only_where_they_must_be(seed in any::<u64>(), goal in 0..5usize) {
        let mut random = Random::new(seed);
        let graph = random_graph(&mut random, 6, 16);
        let plan = CoverPlan { costs: None, ..random_plan(&mut random, &graph, GOALS[goal]) };
        let Some(max_steps) = plan.max_steps else { return Ok(()) };
        let suite = compute_suite(&graph, &plan);
        for run in suite.runs.iter().filter(|run| run.len() > max_steps) {
            let own = covered_by(&graph, plan.goal, std::slice::from_ref(run));
            let is_far = |target: &u32| shortest_run(&graph, &plan, *target) > max_steps;
            // Alone, a transition is no pair.
            prop_assert!(own.iter().any(is_far) || own.is_empty(), "{:?}", suite.runs);
        }
    }
}

/// Returns the number of steps of the shortest run that covers a target, by trying all runs in the
/// order of length.
fn shortest_run(graph: &ProductGraph, plan: &CoverPlan, target: u32) -> usize {
    let is_end = |state: u32| !plan.end_accepting || graph.accepting.contains(&state);
    // States, last steps, and whether the target is covered.
    let mut known: Vec<(u32, Option<u32>, bool)> = Vec::new();
    for start in &graph.starts {
        known.push((
            *start,
            None,
            plan.goal == CoverGoal::States && *start == target,
        ));
    }
    let mut from = 0;
    for length in 0.. {
        let until = known.len();
        assert!(from < until, "there is no such run");
        for index in from..until {
            let (state, before, is_covered) = known[index];
            if is_covered && is_end(state) {
                return length;
            }
            for (number, transition) in (0..).zip(&graph.transitions) {
                if transition.from != state {
                    continue;
                }
                let step = before.map_or(vec![number], |before| vec![before, number]);
                let here = covered_by(graph, plan.goal, &[step]).contains(&target);
                let next = (transition.to, Some(number), is_covered || here);
                if !known.contains(&next) {
                    known.push(next);
                }
            }
        }
        from = until;
    }
    unreachable!("lengths do not end")
}

/// Compares the cost with that of an exhaustive search on many small graphs. Returns the sums of
/// costs: ours, then the minimum.
fn compare(goal: CoverGoal, states: u32, transitions: u64) -> (u64, u64) {
    let (mut ours, mut least) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let graph = random_graph(&mut random, states, transitions);
        let plan = CoverPlan {
            max_steps: None,
            ..random_plan(&mut random, &graph, goal)
        };
        let suite = compute_suite(&graph, &plan);
        check(&graph, &plan, &suite);
        // Runs without steps, and those of a transition without neighbors, have no choice.
        let drop_redundant = if goal == CoverGoal::Pairs { 2 } else { 1 };
        let (runs, short): (Vec<_>, Vec<_>) = suite
            .runs
            .into_iter()
            .partition(|run| run.len() >= drop_redundant);
        let steps = short.iter().flatten();
        let steps: u64 = steps.map(|step| plan.transition_cost(*step as usize)).sum();
        let cost = suite.cost - steps - short.len() as u64 * RUN_COST;
        if covered_by(&graph, goal, &runs).len() > 12 {
            continue;
        }
        let best = min_cost(&graph, &plan, &runs);
        assert!(
            cost >= best,
            "seed {seed}: nothing costs less than the least"
        );
        assert!(
            cost == best || !suite.is_optimal,
            "seed {seed}: {graph:?} {plan:?} {runs:?}"
        );
        ours += cost;
        least += best;
    }
    (ours, least)
}

#[test]
fn tours_of_transitions_cost_the_least() {
    let (ours, least) = compare(CoverGoal::Transitions, 3, 6);
    assert_eq!(ours, least);
    let (ours, least) = compare(CoverGoal::Transitions, 5, 8);
    assert_eq!(ours, least);
}

#[test]
fn tours_of_pairs_cost_the_least() {
    let (ours, least) = compare(CoverGoal::Pairs, 4, 6);
    assert_eq!(ours, least);
}

/// Checks that the cost is near the minimum. The bounds keep changes from making it worse
/// unnoticed.
#[test]
fn going_to_the_nearest_costs_little_more_than_the_least() {
    for (goal, percent) in [
        (CoverGoal::Actions, 109),
        (CoverGoal::Labels, 110),
        (CoverGoal::States, 105),
    ] {
        let (ours, least) = compare(goal, 5, 10);
        assert!(
            ours * 100 <= least * percent,
            "{goal:?}: {ours} and {least}"
        );
    }
}

fn plan(goal: CoverGoal) -> CoverPlan {
    CoverPlan::new(goal)
}

#[test]
fn nothing_is_covered_by_nothing() {
    for goal in GOALS {
        let suite = compute_suite(&graph(0, &[], &[], &[]), &plan(goal));
        assert_eq!((suite.runs.len(), suite.covered, suite.total), (0, 0, 0));
        let without_start = graph(2, &[], &[0, 1], &[(0, 0, 0, 1)]);
        let suite = compute_suite(&without_start, &plan(goal));
        assert_eq!((suite.runs.len(), suite.covered), (0, 0));
        assert_eq!(suite.unreachable.len(), suite.total);
    }
}

#[test]
fn starts_in_which_nothing_is_possible_take_runs_without_steps() {
    let lonely = graph(3, &[0, 1, 2, 1], &[0, 1, 2], &[(0, 0, 0, 0)]);
    for goal in [CoverGoal::States, CoverGoal::Shortest] {
        let suite = compute_suite(&lonely, &plan(goal));
        assert_eq!((suite.covered, suite.total), (3, 3), "{:?}", suite.runs);
    }
}

#[test]
fn transitions_that_lead_to_no_accepting_state_are_reported() {
    // 0 → 1 → 2 (accepting), 1 → 3 → 3, and 4 → 2, which no run reaches.
    let edges = [
        (0, 0, 0, 1),
        (1, 1, 0, 2),
        (1, 2, 0, 3),
        (3, 2, 0, 3),
        (4, 1, 0, 2),
    ];
    let graph = graph(5, &[0], &[2], &edges);
    let suite = compute_suite(&graph, &plan(CoverGoal::Transitions));
    assert_eq!(suite.runs, [[0, 1]]);
    let unreachable_target = |target, reason| UnreachableTarget { target, reason };
    let transition = CoverTarget::Transition;
    assert_eq!(
        suite.unreachable,
        [
            unreachable_target(transition(2), UnreachableReason::NoEnd),
            unreachable_target(transition(3), UnreachableReason::NoEnd),
            unreachable_target(transition(4), UnreachableReason::NoPath)
        ]
    );
    let suite = compute_suite(&graph, &plan(CoverGoal::Actions));
    let action = CoverTarget::Action(testwright_core::product::NameId(2));
    assert_eq!(
        suite.unreachable,
        [unreachable_target(action, UnreachableReason::NoEnd)]
    );
    let suite = compute_suite(&graph, &plan(CoverGoal::States));
    assert_eq!(
        suite.unreachable,
        [
            unreachable_target(CoverTarget::State(3), UnreachableReason::NoEnd),
            unreachable_target(CoverTarget::State(4), UnreachableReason::NoPath)
        ]
    );
    let suite = compute_suite(&graph, &plan(CoverGoal::Pairs));
    let pair = CoverTarget::Pair;
    assert_eq!(
        suite.unreachable,
        [
            unreachable_target(pair(0, 2), UnreachableReason::NoEnd),
            unreachable_target(pair(2, 3), UnreachableReason::NoEnd),
            unreachable_target(pair(3, 3), UnreachableReason::NoEnd)
        ]
    );
    let anywhere = CoverPlan {
        end_accepting: false,
        ..plan(CoverGoal::Transitions)
    };
    let suite = compute_suite(&graph, &anywhere);
    assert_eq!((suite.covered, suite.unreachable.len()), (4, 1));
}

#[test]
fn without_accepting_states_everything_is_lost_unless_runs_may_end_anywhere() {
    let graph = graph(2, &[0], &[], &[(0, 0, 0, 1), (1, 0, 0, 0)]);
    for goal in GOALS {
        let suite = compute_suite(&graph, &plan(goal));
        assert_eq!((suite.runs.len(), suite.covered), (0, 0));
        assert!(
            suite
                .unreachable
                .iter()
                .all(|unreachable_target| unreachable_target.reason == UnreachableReason::NoEnd)
        );
    }
    let anywhere = CoverPlan {
        end_accepting: false,
        ..plan(CoverGoal::Pairs)
    };
    assert_eq!(compute_suite(&graph, &anywhere).covered, 2);
}

#[test]
fn costs_decide_which_way_is_taken_again() {
    // Two paths from 0 to 1, and three back that must all be taken: one path must be taken again.
    let edges = [
        (0, 0, 0, 1),
        (0, 1, 0, 1),
        (1, 2, 0, 0),
        (1, 3, 0, 0),
        (1, 4, 0, 0),
    ];
    let graph = graph(2, &[0], &[0], &edges);
    let with = |costs: Vec<u64>| {
        let plan = CoverPlan {
            costs: Some(costs),
            ..plan(CoverGoal::Transitions)
        };
        let suite = compute_suite(&graph, &plan);
        let taken = suite.runs.concat();
        let times = |number: u32| taken.iter().filter(|taken| **taken == number).count();
        (times(0), times(1), suite.cost)
    };
    assert_eq!(with(vec![5, 1, 1, 1, 1]), (1, 2, 11));
    assert_eq!(with(vec![1, 5, 1, 1, 1]), (2, 1, 11));
    assert_eq!(with(vec![u64::MAX; 5]).2, u64::MAX);
}

#[test]
fn shortest_ways_are_shortest() {
    for seed in 0..100 {
        let graph = random_graph(&mut Random::new(seed), 7, 15);
        let plan = CoverPlan {
            end_accepting: false,
            ..plan(CoverGoal::Shortest)
        };
        let suite = compute_suite(&graph, &plan);
        let mut sorted = suite.runs.clone();
        sorted.sort();
        let begins = |pair: &[Vec<u32>]| !pair[0].is_empty() && pair[1].starts_with(&pair[0]);
        assert!(!sorted.windows(2).any(begins), "no way begins another one");
        for run in &suite.runs {
            for (index, step) in run.iter().enumerate() {
                let to = graph.transitions[*step as usize].to;
                let reach = CoverPlan {
                    goal: CoverGoal::States,
                    ..plan.clone()
                };
                assert_eq!(shortest_run(&graph, &reach, to), index + 1);
            }
        }
    }
}

/// Checks by a chi-squared test that each transition is taken about as often as its weight says.
/// One seed in a thousand exceeds the bound.
#[test]
fn chance_respects_weights() {
    let edges = [(0, 0, 0, 0), (0, 1, 0, 0), (0, 2, 0, 0), (0, 3, 0, 0)];
    let graph = graph(1, &[0], &[0], &edges);
    let weights = [1, 2, 0, 7];
    let plan = CoverPlan {
        weights: Some(weights.to_vec()),
        seed: 4,
        ..plan(CoverGoal::Random {
            runs: 20,
            steps: 500,
        })
    };
    let suite = compute_suite(&graph, &plan);
    let taken = suite.runs.concat();
    assert_eq!(taken.len(), 10_000);
    let mut deviation = 0.0;
    for (number, weight) in (0..).zip(weights) {
        let times = taken.iter().filter(|taken| **taken == number).count() as f64;
        let expected = 1000.0 * weight as f64;
        if weight == 0 {
            assert_eq!(times, 0.0);
        } else {
            deviation += (times - expected).powi(2) / expected;
        }
    }
    assert!(deviation < 13.8, "{deviation}");
    let unreachable_target = UnreachableTarget {
        target: CoverTarget::Transition(2),
        reason: UnreachableReason::NoPath,
    };
    assert_eq!(suite.unreachable, [unreachable_target]);
    let heavy = CoverPlan {
        weights: Some(vec![u64::MAX; 4]),
        ..plan
    };
    assert_eq!(compute_suite(&graph, &heavy).covered, 4);
}

#[test]
fn chance_begins_everywhere_and_comes_to_an_end() {
    let edges = [(0, 0, 0, 1), (1, 0, 0, 0), (2, 0, 0, 1), (1, 1, 0, 3)];
    let graph = graph(4, &[0, 2], &[3], &edges);
    let plan = plan(CoverGoal::Random { runs: 6, steps: 4 });
    let suite = compute_suite(&graph, &plan);
    let first = |run: &Vec<u32>| graph.transitions[run[0] as usize].from;
    let begins: Vec<u32> = suite.runs.iter().map(first).collect();
    assert_eq!(begins, [0, 2, 0, 2, 0, 2]);
    let other = CoverPlan { seed: 1, ..plan };
    assert_ne!(compute_suite(&graph, &other).runs, suite.runs);
}
