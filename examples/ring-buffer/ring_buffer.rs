//! A system written in Rust: implement [`System`] for a type of your own, and everything in `testwright-core` works on
//! it. No harness, no Python.
//!
//! The system is a ring buffer beside a `VecDeque` that does the same; results that differ are failures. Run it with
//!
//! ```text
//! cargo run -p testwright-core --example ring_buffer
//! ```

use std::collections::VecDeque;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use testwright_core::explore::{Explorer, Plan};
use testwright_core::generate::{Auto, Found, NothingNew, Search, SearchWatcher, search_with};
use testwright_core::shrink::{
    GeneralizeOptions, NormalizeOptions, ReduceOptions, SameFailure, Shrinker,
};
use testwright_core::{
    ActionId, Axis, Catalog, Choice, Classes, Error, Failure, FailureKind, Fingerprint, Likeness,
    Outcome, Piece, Snapshot, Step, System, Template,
};

/// What is tested.
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
        let place = (self.first + self.size) % 4;
        self.items[place.min(2)] = item;
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

/// How many different values are pushed.
const VALUES: u64 = 3;

impl RingAndQueue {
    fn new() -> RingAndQueue {
        // Two kinds of actions: `push(0)` to `push(2)`, and `pop()`.
        let text = |text: &str| Piece::Text(text.to_owned());
        let push = Template {
            class: String::from("push(<[0..2]>)"),
            line: 1,
            pieces: vec![text("push("), Piece::Hole(0), text(")")],
            axes: vec![Axis::Choice(Choice::Integers {
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
            // What stays the same while a test is reduced.
            signature: String::from("pop"),
            details: String::new(),
        }))
    }

    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}

/// With this, exploring goes back by copies instead of by replay.
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

/// With this, exploring knows a state when it sees it again.
impl Fingerprint for RingAndQueue {
    fn fingerprint(&mut self, _likeness: Likeness) -> Result<u128, Error> {
        let ring = self.ring.items.iter().copied();
        let sizes = [self.ring.first as u8, self.ring.size as u8, 255];
        let all = ring.chain(sizes).chain(self.queue.iter().copied());
        Ok(all.fold(1, |key, byte| key << 8 | u128::from(byte)))
    }
}

/// Keeps the first failure.
struct First(Option<Found>);

impl SearchWatcher<RingAndQueue> for First {
    fn found(&mut self, _system: &mut RingAndQueue, found: Found) -> ControlFlow<()> {
        self.0 = Some(found);
        ControlFlow::Break(())
    }
}

/// Searches, makes what is found simple, tells what else it could be, and looks at every state.
fn story() -> Result<String, Box<dyn std::error::Error>> {
    let mut out = String::new();
    let mut system = RingAndQueue::new();
    let catalog = system.actions.clone();
    let show = |step: Step| match step {
        Step::Act(action) => catalog.text(action),
        Step::Restart => String::from("<<RESTART>>"),
    };

    let classes = Arc::new(Classes::new(&catalog));
    let plan = Search {
        seed: 1,
        tests: Some(100),
        length: 50,
        check: true,
    };
    let mut first = First(None);
    let mut strategy = Auto::new(&classes, NothingNew);
    search_with(&mut system, &mut strategy, &plan, &mut first)?;
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
    write!(out, "\n{}", general.show(&show))?;

    let mut explorer = Explorer::of(&mut system).with_copies().with_fingerprints();
    let explored = explorer.explore(&Plan::default(), &mut ())?;
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
    print!("{}", story()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use testwright_core::laws;

    #[test]
    fn it_prints_what_is_promised() {
        assert_eq!(story().unwrap(), include_str!("expected.txt"));
    }

    #[test]
    fn it_keeps_the_laws_of_a_system() {
        laws::check_laws(&mut RingAndQueue::new(), 1, 200).unwrap();
    }
}
