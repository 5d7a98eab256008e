//! The path to each state: its predecessor and the action between them.

use crate::chunked_vec::ChunkedVec;
use crate::{ActionId, Catalog, Test};

/// The number of a path to a state. States and visits have the same numbers, unless a shorter path
/// to a state is found later.
pub(super) type Visit = u32;

/// The visit of the initial state.
pub(super) const START: Visit = 0;

/// By visit: the predecessor and the action, 8 bytes, from which the test that leads there is
/// rebuilt.
///
/// A link never changes. A shorter path to a visited state gets a visit of its own: where states
/// are only equivalent, not equal, changing the old link would break the paths that lead through
/// it.
#[derive(Clone, Debug)]
pub(super) struct Links {
    parents: ChunkedVec<u32>,
    actions: ChunkedVec<u32>,
    /// The upper half of the action ids; `None` if all ids are below four billion.
    upper: Option<ChunkedVec<u16>>,
}

impl Links {
    /// Creates the links of an exploration that starts now.
    pub(super) fn new(catalog: &Catalog) -> Links {
        let large = catalog.end() > u64::from(u32::MAX);
        let mut links = Links {
            parents: ChunkedVec::new(),
            actions: ChunkedVec::new(),
            upper: large.then(ChunkedVec::new),
        };
        links.push(START, ActionId(0));
        links
    }

    /// Returns the number of visits.
    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Returns the memory used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let upper = self.upper.as_ref().map_or(0, ChunkedVec::bytes);
        self.parents.bytes() + self.actions.bytes() + upper
    }

    /// Adds a visit. There must be room for it.
    pub(super) fn push(&mut self, parent: Visit, action: ActionId) -> Visit {
        let visit = self.len() as Visit;
        self.parents.push(parent);
        self.actions.push(action.0 as u32);
        if let Some(upper) = &mut self.upper {
            // A catalog has at most 2^48 actions.
            upper.push((action.0 >> 32) as u16);
        }
        visit
    }

    /// Removes a visit if it is the last. Returns true if it was removed.
    pub(super) fn pop(&mut self, visit: Visit) -> bool {
        let last = visit != START && visit as usize + 1 == self.len();
        if last {
            self.parents.pop();
            self.actions.pop();
            if let Some(upper) = &mut self.upper {
                upper.pop();
            }
        }
        last
    }

    /// Returns the predecessor of a visit and the action between them.
    pub(super) fn parent(&self, visit: Visit) -> (Visit, ActionId) {
        let index = visit as usize;
        let upper = self.upper.as_ref().map_or(0, |upper| upper.get(index));
        let action = u64::from(self.actions.get(index)) | u64::from(upper) << 32;
        (self.parents.get(index), ActionId(action))
    }

    /// Returns the actions that lead to a visit.
    pub(super) fn path(&self, visit: Visit) -> Vec<ActionId> {
        let mut path = Vec::new();
        let mut at = visit;
        while at != START {
            let (parent, action) = self.parent(at);
            path.push(action);
            at = parent;
        }
        path.reverse();
        path
    }

    /// Returns the test that leads to a visit and continues with these actions.
    pub(super) fn test_to(&self, visit: Visit, more: &[ActionId]) -> Test {
        Test::from_actions(self.path(visit).into_iter().chain(more.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys;

    #[test]
    fn paths_are_made_again() {
        for line in ["f(<[1..9]>)", "f(<[1..9999999999]>)"] {
            let catalog = toys::catalog(&[], &[line]);
            let last = ActionId(catalog.len() - 1);
            let mut links = Links::new(&catalog);
            let one = links.push(START, last);
            let two = links.push(one, ActionId(3));
            let other = links.push(one, ActionId(5));
            assert_eq!(links.path(two), [last, ActionId(3)]);
            assert_eq!(
                links.test_to(other, &[ActionId(1)]),
                Test::from_actions([last, ActionId(5), ActionId(1)])
            );
            assert!(!links.pop(two) && !links.pop(START));
            assert!(links.pop(other) && links.pop(two));
            assert_eq!(links.len(), 2);
        }
    }
}
