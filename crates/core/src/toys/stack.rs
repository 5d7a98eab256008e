//! A stack compared with a reference.

use super::touched::{TouchedTargets, covered};
use super::{catalog, failed, fingerprint};
use crate::{
    ActionId, Catalog, Equivalence, Error, FailureKind, Fingerprint, Outcome, Snapshot, System,
    TargetId,
};

/// A stack that loses its lowest element when a fourth is pushed, next to a correct one. Popping
/// from an empty stack raises an expected exception.
#[derive(Clone, Debug)]
pub struct Stack {
    actions: Catalog,
    elements: Vec<u64>,
    reference: Vec<u64>,
    touched: TouchedTargets,
}

/// The number of elements the buggy stack can hold.
const CAPACITY: usize = 3;
/// The number of push actions, which come first.
const PUSHES: u64 = 3;

impl Default for Stack {
    fn default() -> Stack {
        Stack {
            actions: catalog(&[], &["push(<[1..3]>)", "pop()", "clear()"]),
            elements: Vec::new(),
            reference: Vec::new(),
            touched: TouchedTargets::default(),
        }
    }
}

impl System for Stack {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.elements.clear();
        self.reference.clear();
        Ok(())
    }

    fn is_enabled(&mut self, _action: ActionId) -> bool {
        true
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        let is_empty = u32::from(self.elements.is_empty());
        self.touched.touch(TargetId(2 * action.0 as u32 + is_empty));
        match action.0 {
            element @ 0..PUSHES => {
                if self.elements.len() == CAPACITY {
                    self.elements.remove(0);
                }
                self.elements.push(element);
                self.reference.push(element);
            }
            PUSHES => match (self.elements.pop(), self.reference.pop()) {
                (None, None) => {
                    return Outcome::Expected;
                }
                (found, wanted) if found != wanted => {
                    return failed(
                        FailureKind::ReferenceMismatch,
                        "pop() returned something else",
                    );
                }
                _ => {}
            },
            _ => {
                self.elements.clear();
                self.reference.clear();
            }
        }
        Outcome::Passed
    }

    fn expected_exception(&mut self) -> String {
        "IndexError: pop from an empty stack".to_owned()
    }

    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}

impl Snapshot for Stack {
    type State = (Vec<u64>, Vec<u64>);

    fn snapshot(&mut self) -> Result<Self::State, Error> {
        Ok((self.elements.clone(), self.reference.clone()))
    }

    fn restore(&mut self, state: &Self::State) -> Result<(), Error> {
        (self.elements, self.reference) = state.clone();
        Ok(())
    }
}

impl Fingerprint for Stack {
    fn fingerprint(&mut self, _equivalence: Equivalence) -> Result<u128, Error> {
        // The number of elements comes first, so that the beginning of the reference is
        // unambiguous.
        let numbers = [self.elements.len() as u64].into_iter();
        let numbers = numbers.chain(self.elements.iter().copied());
        Ok(fingerprint(numbers.chain(self.reference.iter().copied())))
    }
}

covered!(Stack);
