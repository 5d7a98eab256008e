//! A system written in Rust: implement [`System`] for your own type, and everything in
//! `testwright-core` works on it. No harness, no Python.
//!
//! The system is a ring buffer beside a `VecDeque` that does the same; different results are
//! failures. Run it with
//!
//! ```text
//! cargo run -p testwright-core --example ring_buffer
//! ```

use std::collections::VecDeque;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use testwright_core::explore::{ExploreOptions, Explorer};
use testwright_core::generate::{
    Auto, FailingTest, NothingNew, SearchOptions, SearchWatcher, search_with,
};
use testwright_core::shrink::{
    GeneralizeOptions, NormalizeOptions, ReduceOptions, SameFailure, Shrinker,
};
use testwright_core::{
    ActionClasses, ActionId, Axis, Catalog, ChoiceValues, Equivalence, Error, Failure, FailureKind,
    Fingerprint, Outcome, Snapshot, Step, System, Template, TemplatePiece,
};

/// The code under test: a ring buffer with a bug.
#[derive(Clone, Debug)]
struct Ring {
    items: [u8; 3],
    first: usize,
    size: usize,
}

impl Ring {
    fn push(&mut self, item: u8) -> bool {
        if self.size == self.items.len() {
            return false;
        }
        // The bug: it should be `% self.items.len()`.
        let index = (self.first + self.size) % 4;
        self.items[index.min(2)] = item;
        self.size += 1;
        true
    }

    fn pop(&mut self) -> Option<u8> {
        if self.size == 0 {
            return None;
        }
        let item = self.items[self.first];
        self.first = (self.first + 1) % self.items.len();
        self.size -= 1;
        Some(item)
    }
}

/// The ring and its reference, as a system.
struct RingAndQueue {
    actions: Catalog,
    ring: Ring,
    queue: VecDeque<u8>,
}

const EMPTY: Ring = Ring {
    items: [0; 3],
    first: 0,
    size: 0,
};

/// The number of different values to push.
const VALUES: u64 = 3;

impl RingAndQueue {
    fn new() -> RingAndQueue {
        // Two kinds of actions: `push(0)` to `push(2)`, and `pop()`.
        let text = |text: &str| TemplatePiece::Text(text.to_owned());
        let push = Template {
            class: String::from("push(<[0..2]>)"),
            line: 1,
            pieces: vec![text("push("), TemplatePiece::Hole(0), text(")")],
            axes: vec![Axis::Choice(ChoiceValues::Integers {
                first: 0,
                last: VALUES as i64 - 1,
            })],
        };
        let pop = Template {
            class: String::from("pop()"),
            line: 2,
            pieces: vec![text("pop()")],
            axes: Vec::new(),
        };
        RingAndQueue {
            actions: Catalog::new(Vec::new(), vec![push, pop]).expect("there are four actions"),
            ring: EMPTY,
            queue: VecDeque::new(),
        }
    }
}

impl System for RingAndQueue {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.ring = EMPTY;
        self.queue.clear();
        Ok(())
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        match action.0 {
            0..VALUES => self.queue.len() < 3,
            _ => !self.queue.is_empty(),
        }
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        if action.0 < VALUES {
            self.ring.push(action.0 as u8);
            self.queue.push_back(action.0 as u8);
            return Outcome::Passed;
        }
        let (found, expected) = (self.ring.pop(), self.queue.pop_front());
        if found == expected {
            return Outcome::Passed;
        }
        Outcome::Failed(Box::new(Failure {
            kind: FailureKind::ReferenceMismatch,
            message: format!("pop() gave {found:?}, the reference {expected:?}"),
            // The identity of the failure, which stays the same while a test is reduced.
            signature: String::from("pop"),
            details: String::new(),
        }))
    }

    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}

/// Lets an exploration return to states by snapshots instead of replay.
impl Snapshot for RingAndQueue {
    type State = (Ring, VecDeque<u8>);

    fn snapshot(&mut self) -> Result<Self::State, Error> {
        Ok((self.ring.clone(), self.queue.clone()))
    }

    fn restore(&mut self, state: &Self::State) -> Result<(), Error> {
        (self.ring, self.queue) = state.clone();
        Ok(())
    }
}

/// Lets an exploration recognize states.
impl Fingerprint for RingAndQueue {
    fn fingerprint(&mut self, _equivalence: Equivalence) -> Result<u128, Error> {
        let ring = self.ring.items.iter().copied();
        let sizes = [self.ring.first as u8, self.ring.size as u8, 255];
        let all = ring.chain(sizes).chain(self.queue.iter().copied());
        Ok(all.fold(1, |key, byte| key << 8 | u128::from(byte)))
    }
}

/// Keeps the first failure.
struct First(Option<FailingTest>);

impl SearchWatcher<RingAndQueue> for First {
    fn failure_found(&mut self, _system: &mut RingAndQueue, found: FailingTest) -> ControlFlow<()> {
        self.0 = Some(found);
        ControlFlow::Break(())
    }
}

/// Searches for a failure, shrinks it, generalizes it, and explores all states.
fn run_example() -> Result<String, Box<dyn std::error::Error>> {
    let mut out = String::new();
    let mut system = RingAndQueue::new();
    let catalog = system.actions.clone();
    let show = |step: Step| match step {
        Step::Act(action) => catalog.text(action),
        Step::Restart => String::from("<<RESTART>>"),
    };

    let classes = Arc::new(ActionClasses::new(&catalog));
    let search = SearchOptions {
        seed: 1,
        tests: Some(100),
        length: 50,
        check: true,
    };
    let mut first = First(None);
    let mut strategy = Auto::new(&classes, NothingNew);
    search_with(&mut system, &mut strategy, &search, &mut first)?;
    let found = first.0.ok_or("no failure was found")?;
    writeln!(out, "found: {}", found.failure.message)?;

    let mut goal = SameFailure(found.failure);
    let options = ReduceOptions::default();
    let mut proceed = || true;
    let mut shrinker = Shrinker::new(&mut system, &mut goal, &options, &mut proceed);
    let reduced = shrinker.reduce(&found.test)?;
    let normal = shrinker.normalize(&reduced.test, &NormalizeOptions::default())?;
    let general = shrinker.generalize(&normal.test, &GeneralizeOptions::default())?;
    drop(shrinker);
    write!(out, "\n{}", general.render(&show))?;

    let mut explorer = Explorer::new(&mut system)
        .with_snapshots()
        .with_fingerprints();
    let explored = explorer.explore(&ExploreOptions::default(), &mut ())?;
    let (shortest, failure) = explored.failures.first().ok_or("no state fails")?;
    writeln!(
        out,
        "\nbreadth first: {} after {} steps, and nothing shorter fails",
        failure.message,
        shortest.len()
    )?;
    Ok(out)
}

#[expect(
    clippy::print_stdout,
    reason = "this is a program, not a part of the library"
)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    print!("{}", run_example()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use testwright_core::laws;

    #[test]
    fn it_prints_what_is_promised() {
        assert_eq!(run_example().unwrap(), include_str!("expected.txt"));
    }

    #[test]
    fn it_keeps_the_laws_of_a_system() {
        laws::check_laws(&mut RingAndQueue::new(), 1, 200).unwrap();
    }
}
