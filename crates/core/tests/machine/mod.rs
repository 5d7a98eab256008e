//! Random systems, and random tests that fail on them.

#![allow(dead_code, reason = "not every file of tests needs all of it")]

use std::ops::ControlFlow;

use proptest::prelude::*;
use testwright_core::generate::{FailingTest, SearchOptions, SearchWatcher, regenerate, search};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{
    ActionId, Catalog, Equivalence, Error, Failure, FailureKind, Fingerprint, Outcome, Snapshot,
    System, Test, toys,
};

/// A random automaton that ignores the meaning of its actions. Some states fail, in one way or
/// another.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) actions: Catalog,
    /// By state and action: the next state; `None` if the action is not enabled.
    pub(crate) next: Vec<Vec<Option<usize>>>,
    /// By state: the way in which it fails.
    pub(crate) wrong: Vec<Option<u8>>,
    /// By state: the truth of two predicates.
    pub(crate) labels: Vec<[bool; 2]>,
    pub(crate) state: usize,
}

/// Generates a machine with pools.
pub(crate) fn any_machine() -> impl Strategy<Value = Machine> {
    let lines = ["<x> := <[0..1]>", "f(<x>)", "g(<x>, <y>)"];
    let actions = toys::catalog(&[("x", 3), ("y", 2)], &lines);
    let wrong = prop_oneof![3 => Just(None), 1 => (0u8..2).prop_map(Some)];
    machine_of(actions, 7, 3, wrong)
}

/// Generates a machine with this many states. For each disabled action, `enabled` actions are
/// enabled.
pub(crate) fn machine_of(
    actions: Catalog,
    states: usize,
    enabled: u32,
    wrong: impl Strategy<Value = Option<u8>>,
) -> impl Strategy<Value = Machine> {
    let next = prop_oneof![1 => Just(None), enabled => (0..states).prop_map(Some)];
    let table = prop::collection::vec(prop::collection::vec(next, actions.len() as usize), states);
    let wrong = prop::collection::vec(wrong, states);
    let labels = prop::collection::vec(any::<[bool; 2]>(), states);
    (table, wrong, labels).prop_map(move |(next, wrong, labels)| Machine {
        actions: actions.clone(),
        next,
        wrong,
        labels,
        state: 0,
    })
}

impl System for Machine {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.state = 0;
        Ok(())
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.next[self.state][action.0 as usize].is_some()
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        self.state =
            self.next[self.state][action.0 as usize].expect("only enabled actions are taken");
        Outcome::Passed
    }

    fn check(&mut self) -> Outcome {
        match self.wrong[self.state] {
            None => Outcome::Passed,
            Some(wrong) => Outcome::Failed(Box::new(Failure {
                kind: FailureKind::Property,
                message: format!("state {} is wrong", self.state),
                signature: format!("wrong {wrong}"),
                details: String::new(),
            })),
        }
    }
}

impl Snapshot for Machine {
    type State = usize;

    fn snapshot(&mut self) -> Result<usize, Error> {
        Ok(self.state)
    }

    fn restore(&mut self, state: &usize) -> Result<(), Error> {
        self.state = *state;
        Ok(())
    }
}

impl Fingerprint for Machine {
    fn fingerprint(&mut self, _likeness: Equivalence) -> Result<u128, Error> {
        Ok(self.state as u128)
    }
}

struct Keep(Vec<FailingTest>);

impl<S: ?Sized> SearchWatcher<S> for Keep {
    fn failure_found(&mut self, _system: &mut S, found: FailingTest) -> ControlFlow<()> {
        self.0.push(found);
        ControlFlow::Continue(())
    }
}

/// Returns the failing tests of a short random search.
pub(crate) fn failures(system: &mut impl System, seed: u64, length: usize) -> Vec<FailingTest> {
    let plan = SearchOptions {
        seed,
        tests: Some(4),
        length,
        check: true,
    };
    let mut keep = Keep(Vec::new());
    search(system, &plan, &mut keep).unwrap();
    for found in &keep.0 {
        assert_eq!(regenerate(system, &plan, found.number).unwrap(), found.test);
    }
    keep.0
}

/// Returns the length of the run if a test fails in this way.
pub(crate) fn fails_as(system: &mut impl System, test: &Test, failure: &Failure) -> Option<usize> {
    let trace = replay(system, test, &ReplayOptions::default(), &mut ()).unwrap();
    let same = trace
        .failure()
        .is_some_and(|other| other.is_same_as(failure));
    same.then_some(trace.events.len())
}
