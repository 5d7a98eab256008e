//! Explorations of the toys, whose state spaces are known.

use super::*;
use crate::replay::{ReplayOptions, replay};
use crate::toys::{Counters, Crossing, Jugs, Safe, Stack};
use crate::{Catalog, Outcome};

const ORDERS: [SearchOrder; 4] = [
    SearchOrder::BreadthFirst,
    SearchOrder::DepthFirst,
    SearchOrder::IterativeDeepening,
    SearchOrder::BestFirst,
];

const UNCHECKED: ExploreOptions = ExploreOptions {
    order: SearchOrder::BreadthFirst,
    matching: Some(Equivalence::Equal),
    depth: None,
    check: false,
    failures: FailurePolicy::First,
    stop_at_goal: false,
    max_tests: 1_000,
    max_states: None,
    max_bytes: None,
    when_full: WhenFull::Stop,
    backtracking: None,
    max_snapshots: 10_000,
};

fn four_litres() -> StateGoal<impl FnMut(&mut Jugs) -> bool> {
    StateGoal(|jugs: &mut Jugs| jugs.litres()[1] == 4)
}

#[test]
fn two_jugs_have_sixteen_states_in_any_order() {
    for order in ORDERS {
        let mut jugs = Jugs::default();
        let mut explorer = Explorer::new(&mut jugs)
            .with_snapshots()
            .with_fingerprints();
        let plan = ExploreOptions { order, ..UNCHECKED };
        let exploration = explorer.explore(&plan, &mut ()).unwrap();
        assert_eq!(exploration.states, 16, "{order:?}");
        assert!(exploration.is_complete());
        // In 10 of them the small jug is not full, in 12 the big one; 10 and 12 are not empty; 7
        // allow pouring, in each direction.
        assert_eq!(exploration.transitions, 58, "{order:?}");
        assert_eq!(exploration.backtracking.method, Backtracking::BySnapshot);
        assert!(exploration.deadlocks.is_empty() && exploration.failures.is_empty());
    }
}

#[test]
fn the_shortest_solution_has_six_steps() {
    for order in [SearchOrder::BreadthFirst, SearchOrder::IterativeDeepening] {
        let mut jugs = Jugs::default();
        let mut explorer = Explorer::new(&mut jugs)
            .with_snapshots()
            .with_fingerprints();
        let plan = ExploreOptions {
            order,
            stop_at_goal: true,
            ..UNCHECKED
        };
        let exploration = explorer.explore(&plan, &mut four_litres()).unwrap();
        assert_eq!(exploration.goals[0].len(), 6);
        let length = 5;
        let reason = StopReason::GoalFound;
        assert_eq!(
            exploration.extent,
            ExploredExtent::Partial { reason, length }
        );
        // As a failure it is found, too.
        let plan = ExploreOptions {
            order,
            ..ExploreOptions::default()
        };
        let exploration = explorer.explore(&plan, &mut ()).unwrap();
        let (test, failure) = &exploration.failures[0];
        assert_eq!(test.len(), 6);
        let trace = replay(&mut jugs, test, &ReplayOptions::default(), &mut ()).unwrap();
        assert_eq!(trace.failure(), Some(failure));
    }
}

/// Leaves out one kind of action.
struct Without(&'static str);

impl ExploreWatcher<Jugs> for Without {
    fn is_allowed(&mut self, jugs: &mut Jugs, action: ActionId) -> bool {
        !jugs.actions().text(action).starts_with(self.0)
    }
    fn is_goal(&mut self, jugs: &mut Jugs) -> bool {
        jugs.litres()[1] == 4
    }
}

#[test]
fn unreachable_goals_are_proved_unreachable() {
    let mut jugs = Jugs::default();
    let mut explorer = Explorer::new(&mut jugs)
        .with_snapshots()
        .with_fingerprints();
    // With nothing poured, a jug is full or empty.
    let exploration = explorer.explore(&UNCHECKED, &mut Without("pour")).unwrap();
    assert_eq!((exploration.states, exploration.is_complete()), (4, true));
    assert!(exploration.goals.is_empty());
    let exploration = explorer.explore(&UNCHECKED, &mut Without("none")).unwrap();
    // With the small jug empty, and with it full.
    assert_eq!((exploration.goals.len(), exploration.goal_count), (2, 2));
    let few = ExploreOptions {
        max_tests: 1,
        ..UNCHECKED
    };
    let exploration = explorer.explore(&few, &mut Without("none")).unwrap();
    assert_eq!((exploration.goals.len(), exploration.goal_count), (1, 2));
    let first = ExploreOptions {
        stop_at_goal: true,
        ..UNCHECKED
    };
    let mut at_once = StateGoal(|jugs: &mut Jugs| jugs.litres() == [0, 0]);
    let exploration = explorer.explore(&first, &mut at_once).unwrap();
    assert!(exploration.goals[0].is_empty() && exploration.steps == 0);
}

#[test]
fn best_first_follows_the_distance() {
    struct Towards;
    impl ExploreWatcher<Safe> for Towards {
        fn distance(&mut self, safe: &mut Safe) -> i64 {
            -(safe.pressed() as i64)
        }
    }
    let code: Vec<u64> = (0..20).map(|key| key * 7 % 10).collect();
    let mut safe = Safe::new(9, &code);
    let plan = ExploreOptions {
        order: SearchOrder::BestFirst,
        matching: None,
        ..ExploreOptions::default()
    };
    let exploration = Explorer::new(&mut safe)
        .explore(&plan, &mut Towards)
        .unwrap();
    assert_eq!(exploration.failures[0].0.len(), 20);
    assert!(exploration.states < 250, "{}", exploration.states);
    assert_eq!(exploration.backtracking.method, Backtracking::ByReplay);
    assert_eq!(
        exploration.backtracking.reason,
        "the system cannot copy its state"
    );
}

#[test]
fn the_small_scope_is_counted() {
    // Three keys: 3 + 9 + 27 + 81 tests of up to four steps.
    let mut safe = Safe::new(2, &[9]);
    let exploration = Explorer::new(&mut safe)
        .explore(&ExploreOptions::small_scope(4), &mut ())
        .unwrap();
    assert_eq!(exploration.tests(), Some(120));
    assert_eq!(exploration.extent, ExploredExtent::Length(4));
    assert_eq!(
        exploration.extent.to_string(),
        "every test of up to 4 steps"
    );
    assert_eq!((exploration.depth, exploration.failure_count), (4, 0));
    assert!(exploration.bytes < 2_000);
    // The code is found within the scope, and nothing shorter.
    let mut safe = Safe::new(2, &[0, 2, 1]);
    let mut explorer = Explorer::new(&mut safe);
    let shorter = explorer
        .explore(&ExploreOptions::small_scope(2), &mut ())
        .unwrap();
    assert!(shorter.failures.is_empty());
    let plan = ExploreOptions {
        failures: FailurePolicy::All,
        ..ExploreOptions::small_scope(4)
    };
    let exploration = explorer.explore(&plan, &mut ()).unwrap();
    // Of length three one, and of length four those with one wrong key in between.
    assert_eq!(exploration.failures.len(), 1 + 3 * 2);
    assert_eq!(
        exploration.tests(),
        Some(120 - 3),
        "nothing follows a failure"
    );
    let plan = ExploreOptions {
        failures: FailurePolicy::Distinct,
        ..ExploreOptions::small_scope(4)
    };
    let exploration = explorer.explore(&plan, &mut ()).unwrap();
    assert_eq!(
        (exploration.failures.len(), exploration.failure_count),
        (1, 7)
    );
}

#[test]
fn copies_are_bounded_and_the_rest_is_replayed() {
    let mut steps = Vec::new();
    for max_snapshots in [0, 1, 5, 1_000] {
        for order in ORDERS {
            let mut counters = Counters::new(4);
            let mut explorer = Explorer::new(&mut counters)
                .with_snapshots()
                .with_fingerprints();
            let plan = ExploreOptions {
                order,
                depth: Some(3),
                max_snapshots,
                ..UNCHECKED
            };
            let exploration = explorer.explore(&plan, &mut ()).unwrap();
            assert_eq!(exploration.extent, ExploredExtent::Length(3));
            steps.push((exploration.states, exploration.steps));
        }
    }
    assert!(steps.iter().all(|(states, _)| *states == steps[0].0));
    let all = |range: std::ops::Range<usize>| -> u64 {
        steps[range].iter().map(|(_, steps)| *steps).sum()
    };
    assert!(
        all(0..4) > all(4..8) && all(4..8) > all(12..16),
        "{steps:?}"
    );
}

#[test]
fn renaming_leaves_fewer_states() {
    let mut counts = Vec::new();
    for matching in [Equivalence::Equal, Equivalence::UpToRenaming] {
        for limit in [4, 100] {
            let mut counters = Counters::new(limit);
            let mut explorer = Explorer::new(&mut counters)
                .with_snapshots()
                .with_fingerprints();
            let plan = ExploreOptions {
                matching: Some(matching),
                depth: Some(4),
                ..ExploreOptions::default()
            };
            let exploration = explorer.explore(&plan, &mut ()).unwrap();
            counts.push(exploration.states);
            // One counter, one integer, one addition: five is above four.
            let lengths: Vec<usize> = exploration
                .failures
                .iter()
                .map(|(test, _)| test.len())
                .collect();
            assert_eq!(lengths, if limit == 4 { vec![3] } else { vec![] });
        }
    }
    assert!(counts[3] * 3 < counts[1], "{counts:?}");
}

#[test]
fn a_state_takes_thirty_two_bytes_with_the_way_to_it() {
    let mut counters = Counters::new(9);
    let mut explorer = Explorer::new(&mut counters)
        .with_snapshots()
        .with_fingerprints();
    let plan = ExploreOptions {
        max_states: Some(40_000),
        ..UNCHECKED
    };
    let exploration = explorer.explore(&plan, &mut ()).unwrap();
    let each = exploration.bytes as f64 / exploration.states as f64;
    assert!(each < 33.0, "{each} bytes");
}

#[test]
fn memory_is_bounded_and_claims_match_what_was_seen() {
    let mut jugs = Jugs::default();
    let mut explorer = Explorer::new(&mut jugs)
        .with_snapshots()
        .with_fingerprints();
    let reason = StopReason::MemoryFull;
    for order in ORDERS {
        let plan = ExploreOptions {
            order,
            max_states: Some(7),
            ..UNCHECKED
        };
        let exploration = explorer.explore(&plan, &mut ()).unwrap();
        assert_eq!(exploration.states, 7);
        assert!(
            matches!(exploration.extent, ExploredExtent::Partial { reason: why, .. } if why == reason)
        );
        let plan = ExploreOptions {
            when_full: WhenFull::Forget,
            depth: Some(30),
            ..plan
        };
        if plan.order == SearchOrder::BreadthFirst || plan.order == SearchOrder::BestFirst {
            let exploration = explorer.explore(&plan, &mut ()).unwrap();
            assert!(exploration.forgot_states && exploration.states > 7);
            assert!(matches!(exploration.extent, ExploredExtent::Partial { .. }));
        }
        let plan = ExploreOptions {
            max_states: None,
            max_bytes: Some(600),
            when_full: WhenFull::Stop,
            ..plan
        };
        let exploration = explorer.explore(&plan, &mut ()).unwrap();
        assert!(!exploration.is_complete(), "{order:?}");
    }
    // A stack that forgets still covers all, visiting some states more than once.
    for order in [SearchOrder::DepthFirst, SearchOrder::IterativeDeepening] {
        let plan = ExploreOptions {
            order,
            max_states: Some(4),
            when_full: WhenFull::Forget,
            depth: Some(6),
            ..UNCHECKED
        };
        let exploration = explorer.explore(&plan, &mut four_litres()).unwrap();
        assert_eq!(exploration.extent, ExploredExtent::Length(6));
        assert!(exploration.forgot_states && exploration.states > 16);
        assert!(!exploration.goals.is_empty());
    }
}

#[test]
fn a_shorter_way_that_is_found_later_counts() {
    // Depth first finds the long path to everything first.
    for depth in 0..12 {
        let mut reached = Vec::new();
        for order in ORDERS {
            let mut jugs = Jugs::default();
            let mut explorer = Explorer::new(&mut jugs).with_fingerprints();
            let plan = ExploreOptions {
                order,
                depth: Some(depth),
                ..UNCHECKED
            };
            let exploration = explorer.explore(&plan, &mut ()).unwrap();
            reached.push((
                exploration.states,
                exploration.transitions,
                exploration.extent.clone(),
            ));
            for state in 0..exploration.states {
                let test = exploration.test_to(StateId(state)).unwrap();
                assert!(test.len() <= depth);
            }
        }
        assert!(
            reached.iter().all(|other| *other == reached[0]),
            "{reached:?}"
        );
    }
}

#[test]
fn a_watcher_sees_the_graph() {
    #[derive(Default)]
    struct Graph {
        states: Vec<[u32; 2]>,
        transitions: Vec<StateTransition>,
        finished: usize,
    }
    impl ExploreWatcher<Jugs> for Graph {
        fn on_state(&mut self, jugs: &mut Jugs, state: StateId, _depth: usize) {
            assert_eq!(state.0, self.states.len() as u64);
            self.states.push(jugs.litres());
        }
        fn on_transition(&mut self, jugs: &mut Jugs, transition: &StateTransition) {
            let to = transition.to.unwrap();
            assert_eq!(self.states[to.0 as usize], jugs.litres());
            self.transitions.push(*transition);
        }
        fn on_state_finished(&mut self, _state: StateId, actions: usize) {
            self.finished += actions;
        }
    }
    for order in [
        SearchOrder::BreadthFirst,
        SearchOrder::DepthFirst,
        SearchOrder::BestFirst,
    ] {
        let mut jugs = Jugs::default();
        let mut graph = Graph::default();
        let mut explorer = Explorer::new(&mut jugs).with_fingerprints();
        let plan = ExploreOptions { order, ..UNCHECKED };
        let exploration = explorer.explore(&plan, &mut graph).unwrap();
        assert_eq!(graph.states.len(), 16);
        assert_eq!(graph.transitions.len() as u64, exploration.transitions);
        assert_eq!(graph.finished, graph.transitions.len());
        for (state, litres) in graph.states.iter().enumerate() {
            let test = exploration.test_to(StateId(state as u64)).unwrap();
            let options = ReplayOptions { check: false };
            replay(&mut jugs, &test, &options, &mut ()).unwrap();
            assert_eq!(jugs.litres(), *litres);
        }
        assert_eq!(exploration.test_to(StateId(16)), None);
    }
}

#[test]
fn a_budget_ends_it() {
    struct Budget(u64);
    impl ExploreWatcher<Stack> for Budget {
        fn proceed(&mut self, progress: &ExploreProgress) -> bool {
            progress.steps < self.0
        }
    }
    for order in ORDERS {
        let mut stack = Stack::default();
        let mut explorer = Explorer::new(&mut stack)
            .with_snapshots()
            .with_fingerprints();
        let plan = ExploreOptions {
            order,
            failures: FailurePolicy::All,
            ..ExploreOptions::default()
        };
        let exploration = explorer.explore(&plan, &mut Budget(500)).unwrap();
        assert_eq!(exploration.steps, 500);
        let reason = StopReason::Stopped;
        assert!(
            matches!(exploration.extent, ExploredExtent::Partial { reason: why, .. } if why == reason)
        );
    }
}

#[test]
fn equal_copies_of_an_action_are_taken_once() {
    let mut crossing = Crossing::default();
    let mut explorer = Explorer::new(&mut crossing).with_fingerprints();
    let exploration = explorer
        .explore(&ExploreOptions::default(), &mut ())
        .unwrap();
    // Switch, go, go.
    assert_eq!(exploration.failures[0].0.len(), 3);
    let plan = ExploreOptions {
        failures: FailurePolicy::All,
        ..ExploreOptions::default()
    };
    let exploration = explorer.explore(&plan, &mut ()).unwrap();
    // Green or red, no crime or one; switch, go and wait in each.
    assert_eq!((exploration.states, exploration.transitions), (4, 12));
    assert_eq!(exploration.failure_count, 1);
}

#[test]
fn systems_that_cannot_be_explored_are_errors() {
    let mut jugs = Jugs::default();
    let error = Explorer::new(&mut jugs)
        .explore(&ExploreOptions::default(), &mut ())
        .unwrap_err();
    assert_eq!(error.message, "the system cannot tell its states apart");
    let plan = ExploreOptions {
        backtracking: Some(Backtracking::ByReplay),
        order: SearchOrder::BreadthFirst,
        ..ExploreOptions::small_scope(20)
    };
    let mut forking = Odd {
        actions: crate::toys::catalog(&[], &["go(<[0..5]>)"]),
        ..odd(true, false)
    };
    let error = Explorer::new(&mut forking)
        .explore(&plan, &mut ())
        .unwrap_err();
    assert_eq!(
        error.message,
        "`go(1)` is not enabled when the same actions are taken a second time"
    );
}

/// A walk of three steps whose copies may be bad, and whose reset may be, too.
struct Odd {
    actions: Catalog,
    at: u64,
    copies: bool,
    resets: bool,
}

fn odd(copies: bool, resets: bool) -> Odd {
    Odd {
        actions: crate::toys::catalog(&[], &["go(<[0..2]>)"]),
        at: 0,
        copies,
        resets,
    }
}

impl System for Odd {
    fn actions(&self) -> &Catalog {
        &self.actions
    }
    fn reset(&mut self) -> Result<(), Error> {
        self.at = if self.resets { 0 } else { self.at + 1 };
        Ok(())
    }
    fn is_enabled(&mut self, action: ActionId) -> bool {
        action.0 % 3 == self.at % 3 && self.at < 30
    }
    fn step(&mut self, _action: ActionId) -> Outcome {
        self.at += 1;
        Outcome::Passed
    }
    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}

impl Snapshot for Odd {
    type State = u64;
    fn snapshot(&mut self) -> Result<u64, Error> {
        Ok(self.at)
    }
    fn restore(&mut self, state: &u64) -> Result<(), Error> {
        self.at = *state + u64::from(!self.copies);
        Ok(())
    }
}

#[test]
fn a_probe_finds_out_how_to_go_back() {
    let probe = |copies, resets| {
        let mut odd = odd(copies, resets);
        let choice = Explorer::new(&mut odd).with_snapshots().probe();
        choice.map(|choice| (choice.method, choice.reason))
    };
    assert_eq!(probe(true, true).unwrap().0, Backtracking::BySnapshot);
    let (by, why) = probe(false, true).unwrap();
    assert_eq!(by, Backtracking::ByReplay);
    assert_eq!(why, "after restoring a copy, the state is different");
    let (by, why) = probe(true, false).unwrap();
    assert_eq!(by, Backtracking::BySnapshot);
    assert!(why.starts_with("after a reset"), "{why}");
    let error = probe(false, false).unwrap_err();
    assert!(error.message.starts_with("neither"), "{error}");
}

#[test]
fn deadlocks_are_found_and_are_no_failures() {
    let mut odd = odd(true, true);
    for plan in [
        ExploreOptions::small_scope(40),
        ExploreOptions::small_scope(30),
    ] {
        let exploration = Explorer::new(&mut odd).explore(&plan, &mut ()).unwrap();
        assert_eq!(exploration.deadlocks.len(), 1);
        assert_eq!(exploration.deadlocks[0].len(), 30);
        assert!(exploration.is_complete());
    }
}

#[test]
fn failures_are_reported_at_once() {
    struct Listener(Vec<(usize, Failure)>);
    impl ExploreWatcher<Jugs> for Listener {
        fn on_failure(&mut self, _system: &mut Jugs, test: &Test, failure: &Failure) {
            self.0.push((test.len(), failure.clone()));
        }
    }
    let mut jugs = Jugs::default();
    for order in [SearchOrder::BreadthFirst, SearchOrder::IterativeDeepening] {
        let plan = ExploreOptions {
            order,
            failures: FailurePolicy::Distinct,
            ..ExploreOptions::default()
        };
        let mut listener = Listener(Vec::new());
        let mut explorer = Explorer::new(&mut jugs).with_fingerprints();
        let found = explorer.explore(&plan, &mut listener).unwrap().failures;
        let kept = found
            .into_iter()
            .map(|(test, failure)| (test.len(), failure));
        assert_eq!(listener.0, kept.collect::<Vec<_>>());
    }
}

/// Counts its steps where its fingerprint does not see it, and fails at the third.
struct HiddenCounter {
    catalog: Catalog,
    steps: u32,
    /// The count survives a reset, so that nothing happens a second time.
    survives: bool,
}

impl System for HiddenCounter {
    fn actions(&self) -> &Catalog {
        &self.catalog
    }
    fn reset(&mut self) -> Result<(), Error> {
        if !self.survives {
            self.steps = 0;
        }
        Ok(())
    }
    fn is_enabled(&mut self, _action: ActionId) -> bool {
        true
    }
    fn step(&mut self, _action: ActionId) -> Outcome {
        self.steps += 1;
        if self.steps != 3 {
            return Outcome::Passed;
        }
        Outcome::Failed(Box::new(Failure {
            kind: crate::FailureKind::Property,
            message: "three".to_owned(),
            signature: "three".to_owned(),
            details: String::new(),
        }))
    }
    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}

impl Fingerprint for HiddenCounter {
    fn fingerprint(&mut self, _equivalence: Equivalence) -> Result<u128, Error> {
        Ok(7)
    }
}

#[test]
fn states_that_behave_differently_are_taken_apart() {
    let mut hidden = HiddenCounter {
        catalog: crate::toys::catalog(&[], &["tick()"]),
        steps: 0,
        survives: false,
    };
    let mut explorer = Explorer::new(&mut hidden).with_fingerprints();
    let exploration = explorer
        .explore(&ExploreOptions::default(), &mut ())
        .unwrap();
    assert_eq!(exploration.failures[0].0.len(), 3);
    assert!(matches!(
        exploration.caveats[..],
        [Caveat::StatesDiffer { .. }]
    ));
}

#[test]
fn a_failure_that_the_watcher_does_not_confirm_is_a_caveat() {
    struct Doubter;
    impl ExploreWatcher<Jugs> for Doubter {
        fn is_confirmed(&mut self, _system: &mut Jugs, _test: &Test, _failure: &Failure) -> bool {
            false
        }
    }
    let mut jugs = Jugs::default();
    let mut explorer = Explorer::new(&mut jugs).with_fingerprints();
    let found = explorer.explore(&ExploreOptions::default(), &mut Doubter);
    let found = found.unwrap();
    assert!(found.failures.is_empty() && found.failure_count == 0);
    assert!(matches!(found.caveats[..], [Caveat::Unconfirmed { .. }]));
}

#[test]
fn a_failure_that_does_not_happen_again_is_a_caveat() {
    let mut hidden = HiddenCounter {
        catalog: crate::toys::catalog(&[], &["tick()"]),
        steps: 2,
        survives: true,
    };
    let mut explorer = Explorer::new(&mut hidden).with_fingerprints();
    let exploration = explorer
        .explore(&ExploreOptions::default(), &mut ())
        .unwrap();
    assert!(exploration.failures.is_empty());
    let failure = "three".to_owned();
    assert_eq!(exploration.caveats, [Caveat::Unconfirmed { failure }]);
}
