//! Properties of every exploration of every system, tested on random ones.

use crate::machine;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use machine::{Machine, machine_of};
use proptest::prelude::*;
use testwright_core::explore::{
    Backtracking, Exploration, ExploreOptions, ExploreProgress, ExploreWatcher, ExploredExtent,
    Explorer, FailurePolicy, SearchOrder, StateId, StateTransition, WhenFull,
};
use testwright_core::laws::{check_fingerprint_laws, check_snapshot_laws};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::toys::{self, Counters};
use testwright_core::{Equivalence, Test};

const ORDERS: [SearchOrder; 4] = [
    SearchOrder::BreadthFirst,
    SearchOrder::DepthFirst,
    SearchOrder::IterativeDeepening,
    SearchOrder::BestFirst,
];

/// Generates a random graph. Some states fail, each in its own way, some are goals, some are dead
/// ends.
fn any_graph(states: usize) -> impl Strategy<Value = Machine> {
    let actions = toys::catalog(&[], &["go(<[0..2]>)"]);
    let wrong = prop::bool::weighted(0.1).prop_map(|wrong| wrong.then_some(0));
    machine_of(actions, states, 2, wrong).prop_map(|mut machine| {
        for (index, wrong) in (0..).zip(&mut machine.wrong) {
            *wrong = wrong.map(|_| index);
        }
        machine
    })
}
impl Machine {
    /// Computes, without any of our code, the states reachable within this many steps, and their
    /// distances.
    fn reachable(&self, limit: usize) -> BTreeMap<usize, usize> {
        let mut depths = BTreeMap::from([(0, 0)]);
        let mut queue = VecDeque::from([0]);
        while let Some(state) = queue.pop_front() {
            let depth = depths[&state];
            for next in self.next[state].iter().flatten() {
                if depth < limit && self.wrong[*next].is_none() && !depths.contains_key(next) {
                    depths.insert(*next, depth + 1);
                    queue.push_back(*next);
                }
            }
        }
        depths
    }

    /// Counts the tests of up to this many steps; nothing follows a failure.
    fn tests(&self, state: usize, limit: usize) -> u64 {
        if limit == 0 {
            return 0;
        }
        let tests = |next: &usize| {
            if self.wrong[*next].is_some() {
                1
            } else {
                1 + self.tests(*next, limit - 1)
            }
        };
        self.next[state].iter().flatten().map(tests).sum()
    }
}

/// A watcher that records everything, and prefers states with high numbers.
#[derive(Default)]
struct Notes {
    states: Vec<usize>,
    transitions: Vec<StateTransition>,
    finished: BTreeSet<StateId>,
    /// All states of all rounds.
    ever: BTreeSet<usize>,
    budget: Option<u64>,
}

impl ExploreWatcher<Machine> for Notes {
    fn proceed(&mut self, progress: &ExploreProgress) -> bool {
        self.budget.is_none_or(|budget| progress.steps < budget)
    }
    fn is_goal(&mut self, machine: &mut Machine) -> bool {
        machine.state % 3 == 2
    }
    fn distance(&mut self, machine: &mut Machine) -> i64 {
        -(machine.state as i64)
    }
    fn on_start(&mut self) {
        *self = Notes {
            budget: self.budget,
            ever: std::mem::take(&mut self.ever),
            ..Notes::default()
        };
    }
    fn on_state(&mut self, machine: &mut Machine, state: StateId, _depth: usize) {
        assert_eq!(state.0, self.states.len() as u64);
        self.states.push(machine.state);
        self.ever.insert(machine.state);
    }
    fn on_transition(&mut self, machine: &mut Machine, transition: &StateTransition) {
        if let Some(to) = transition.to {
            assert_eq!(self.states[to.0 as usize], machine.state);
        }
        self.transitions.push(*transition);
    }
    fn on_state_finished(&mut self, state: StateId, _actions: usize) {
        assert!(self.finished.insert(state), "finished twice");
    }
}

fn explore(machine: &mut Machine, plan: &ExploreOptions, notes: &mut Notes) -> Exploration {
    let mut explorer = Explorer::new(machine).with_snapshots().with_fingerprints();
    explorer.explore(plan, notes).unwrap()
}

/// Replays a test, checks that every step is taken, and returns the final state.
fn leads_to(machine: &mut Machine, test: &Test, fails: bool) -> usize {
    let trace = replay(machine, test, &ReplayOptions::default(), &mut ()).unwrap();
    assert_eq!(trace.events.len(), test.len());
    assert_eq!(trace.failure().is_some(), fails);
    machine.state
}

fn any_plan() -> impl Strategy<Value = ExploreOptions> {
    let order = prop::sample::select(ORDERS.to_vec());
    let backtracking = prop::sample::select(vec![
        None,
        Some(Backtracking::BySnapshot),
        Some(Backtracking::ByReplay),
    ]);
    (order, backtracking, 0usize..4, prop::option::of(0usize..9)).prop_map(
        |(order, backtracking, max_snapshots, depth)| ExploreOptions {
            order,
            backtracking,
            max_snapshots,
            depth,
            failures: FailurePolicy::All,
            ..ExploreOptions::default()
        },
    )
}

proptest! {
    #[test]
    fn machines_keep_the_laws(mut machine in any_graph(8), seed in 0u64..100) {
        prop_assert_eq!(check_fingerprint_laws(&mut machine, seed, 60), Ok(()));
        prop_assert_eq!(check_snapshot_laws(&mut machine, seed, 60), Ok(()));
    }

    /// All orders, ways of backtracking and limits agree with a search that has none of them.
    #[test]
    fn explorers_reach_what_can_be_reached(mut machine in any_graph(9), plan in any_plan()) {
        let limit = plan.depth.unwrap_or(usize::MAX);
        let reachable = machine.reachable(limit);
        let mut notes = Notes::default();
        let exploration = explore(&mut machine, &plan, &mut notes);
        let states: BTreeSet<usize> = notes.states.iter().copied().collect();
        prop_assert_eq!(states.len(), notes.states.len(), "each state is new once");
        prop_assert_eq!(&states, &reachable.keys().copied().collect());
        prop_assert_eq!(exploration.states, states.len() as u64);

        // Each transition once, and all those that start within the limit.
        let expanded = || reachable.iter().filter(|(_, depth)| **depth < limit);
        let edges: usize = expanded().map(|(state, _)| machine.next[*state].iter().flatten().count()).sum();
        prop_assert_eq!(notes.transitions.len(), edges);
        prop_assert_eq!(exploration.transitions, edges as u64);
        let complete = reachable.iter().all(|(state, depth)| {
            *depth < limit || machine.next[*state].iter().all(Option::is_none)
        });
        let reach = if complete { ExploredExtent::Everything } else { ExploredExtent::Length(limit) };
        prop_assert_eq!(exploration.extent.clone(), reach);

        // Failures, deadlocks and goals, with tests that lead there.
        let failing = notes.transitions.iter().filter(|transition| transition.to.is_none()).count();
        prop_assert_eq!(exploration.failures.len(), failing);
        for (test, failure) in &exploration.failures {
            let state = leads_to(&mut machine, test, true);
            prop_assert_eq!(&failure.message, &format!("state {state} is wrong"));
        }
        let dead = |state: &usize| machine.next[*state].iter().all(Option::is_none);
        let deadlocks = reachable.keys().filter(|state| dead(state)).count();
        prop_assert_eq!(exploration.deadlocks.len(), deadlocks);
        prop_assert_eq!(exploration.goals.len(), reachable.keys().filter(|state| *state % 3 == 2).count());
        for test in exploration.goals.iter().chain(&exploration.deadlocks) {
            let state = leads_to(&mut machine, test, false);
            prop_assert!(test.len() <= limit);
            if matches!(plan.order, SearchOrder::BreadthFirst) {
                prop_assert_eq!(test.len(), reachable[&state]);
            }
        }
        for (number, state) in notes.states.iter().enumerate() {
            if let Some(test) = exploration.test_to(StateId(number as u64)) {
                prop_assert_eq!(leads_to(&mut machine, &test, false), *state);
            } else {
                prop_assert!(false, "no test");
            }
        }
    }

    #[test]
    fn first_goals_and_failures_are_shortest(mut machine in any_graph(9), deepen in any::<bool>()) {
        let order = if deepen { SearchOrder::IterativeDeepening } else { SearchOrder::BreadthFirst };
        let plan = ExploreOptions { order, failures: FailurePolicy::Distinct, ..ExploreOptions::default() };
        let all = explore(&mut machine, &plan, &mut Notes::default());
        let plan = ExploreOptions { order, ..ExploreOptions::default() };
        let first = explore(&mut machine, &plan, &mut Notes::default());
        let shortest = all.failures.iter().map(|(test, _)| test.len()).min();
        prop_assert_eq!(first.failures.first().map(|(test, _)| test.len()), shortest);
        let plan = ExploreOptions { order, stop_at_goal: true, failures: FailurePolicy::All, ..ExploreOptions::default() };
        let first = explore(&mut machine, &plan, &mut Notes::default());
        let reachable = machine.reachable(usize::MAX);
        let nearest = reachable.iter().filter(|(state, _)| *state % 3 == 2).map(|(_, depth)| *depth).min();
        prop_assert_eq!(first.goals.first().map(Test::len), nearest);
        prop_assert_eq!(first.is_complete(), nearest.is_none());
    }

    #[test]
    fn small_scopes_are_counted(mut machine in any_graph(6), length in 0usize..6, order in 0usize..4) {
        let plan = ExploreOptions {
            order: ORDERS[order],
            failures: FailurePolicy::All,
            max_tests: 100_000,
            ..ExploreOptions::small_scope(length)
        };
        let exploration = explore(&mut machine, &plan, &mut Notes::default());
        prop_assert_eq!(exploration.tests(), Some(machine.tests(0, length)));
        let ended_early = matches!(exploration.extent, ExploredExtent::Partial { .. });
        prop_assert!(!ended_early);
    }

    /// Memory and budget end an exploration early, and it has covered everything that it then
    /// claims.
    #[test]
    fn claims_match_what_was_seen(
        mut machine in any_graph(9),
        plan in any_plan(),
        max_states in prop::option::of(1usize..9),
        forget in any::<bool>(),
        budget in prop::option::of(0u64..60),
    ) {
        let when_full = if forget { WhenFull::Forget } else { WhenFull::Stop };
        let plan = ExploreOptions { max_states, when_full, ..plan };
        let mut notes = Notes { budget, ..Notes::default() };
        let exploration = explore(&mut machine, &plan, &mut notes);
        let length = match exploration.extent {
            ExploredExtent::Everything => usize::MAX,
            ExploredExtent::Length(length) => length,
            ExploredExtent::Partial { length, .. } => length,
        };
        for (state, depth) in machine.reachable(length) {
            prop_assert!(notes.ever.contains(&state), "state {state} at {depth} is missing: {exploration:?}");
        }
        for (test, _) in &exploration.failures {
            leads_to(&mut machine, test, true);
        }
    }

    #[test]
    fn renaming_changes_no_verdict(limit in 0u64..12, depth in 1usize..5, order in 0usize..4) {
        let mut verdicts = Vec::new();
        for matching in [Equivalence::Equal, Equivalence::UpToRenaming] {
            let mut counters = Counters::new(limit);
            let plan = ExploreOptions {
                order: ORDERS[order],
                matching: Some(matching),
                depth: Some(depth.min(4)),
                failures: FailurePolicy::Distinct,
                ..ExploreOptions::default()
            };
            let mut explorer = Explorer::new(&mut counters).with_snapshots().with_fingerprints();
            let exploration = explorer.explore(&plan, &mut ()).unwrap();
            for (test, failure) in &exploration.failures {
                let trace = replay(&mut counters, test, &ReplayOptions::default(), &mut ()).unwrap();
                prop_assert!(trace.failure().unwrap().is_same_as(failure));
            }
            verdicts.push((exploration.failures.len(), exploration.extent.clone(), exploration.states));
        }
        prop_assert_eq!(verdicts[0].0, verdicts[1].0);
        prop_assert_eq!(&verdicts[0].1, &verdicts[1].1);
        prop_assert!(verdicts[0].2 > verdicts[1].2);
    }
}
