//! How each state was reached: the one before it, and the action in between.

use crate::blocks::Blocks;
use crate::{ActionId, Catalog, Test};

/// One way to a state. States and visits have the same numbers, unless a shorter way to a state is found later.
pub(super) type Visit = u32;

/// The visit of the initial state.
pub(super) const START: Visit = 0;

/// For each visit the one before and the action: 8 bytes, from which the test that leads there is made again.
///
/// A link never changes. A shorter way to a state that was visited is a visit of its own, for those who came through
/// the old one would otherwise be led astray where states are only alike, not equal.
#[derive(Clone, Debug)]
pub(super) struct Links {
    parents: Blocks<u32>,
    actions: Blocks<u32>,
    /// The upper half of the actions' ids; stays empty if all are below four billion.
    upper: Option<Blocks<u16>>,
}

impl Links {
    /// The links of an exploration that is at its start.
    pub(super) fn new(catalog: &Catalog) -> Links {
        let large = catalog.end() > u64::from(u32::MAX);
        let mut links = Links {
            parents: Blocks::new(),
            actions: Blocks::new(),
            upper: large.then(Blocks::new),
        };
        links.push(START, ActionId(0));
        links
    }

    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn bytes(&self) -> usize {
        let upper = self.upper.as_ref().map_or(0, Blocks::bytes);
        self.parents.bytes() + self.actions.bytes() + upper
    }

    /// A new visit; there must be room for it.
    pub(super) fn push(&mut self, parent: Visit, action: ActionId) -> Visit {
        let visit = self.len() as Visit;
        self.parents.push(parent);
        self.actions.push(action.0 as u32);
        if let Some(upper) = &mut self.upper {
            // A catalogue has at most 2^48 actions.
            upper.push((action.0 >> 32) as u16);
        }
        visit
    }

    /// Forgets a visit, if it is the last.
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

    /// The visit before, and the action in between.
    pub(super) fn before(&self, visit: Visit) -> (Visit, ActionId) {
        let index = visit as usize;
        let upper = self.upper.as_ref().map_or(0, |upper| upper.get(index));
        let action = u64::from(self.actions.get(index)) | u64::from(upper) << 32;
        (self.parents.get(index), ActionId(action))
    }

    /// The actions that lead to a visit.
    pub(super) fn path(&self, visit: Visit) -> Vec<ActionId> {
        let mut path = Vec::new();
        let mut at = visit;
        while at != START {
            let (parent, action) = self.before(at);
            path.push(action);
            at = parent;
        }
        path.reverse();
        path
    }

    /// The test that leads to a visit and goes on with these actions.
    pub(super) fn test(&self, visit: Visit, more: &[ActionId]) -> Test {
        Test::of(self.path(visit).into_iter().chain(more.iter().copied()))
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
                links.test(other, &[ActionId(1)]),
                Test::of([last, ActionId(5), ActionId(1)])
            );
            assert!(!links.pop(two) && !links.pop(START));
            assert!(links.pop(other) && links.pop(two));
            assert_eq!(links.len(), 2);
        }
    }
}
