//! The set of visited states, as fingerprints.

use crate::chunked_vec::ChunkedVec;
use crate::fingerprint_set::FingerprintSet;

/// The visited states, numbered in the order of discovery.
#[derive(Clone, Debug)]
pub(super) struct VisitedStates {
    states: FingerprintSet,
    /// The best known paths, for searches that may find a shorter path to a state later.
    best_paths: Option<BestPaths>,
}

/// The best known path to each state.
#[derive(Clone, Debug)]
struct BestPaths {
    /// The depth, shifted left by one bit. The lowest bit is set if the state's actions were taken.
    depths: ChunkedVec<u32>,
    /// The visit that reached the state first.
    visits: ChunkedVec<u32>,
}

impl VisitedStates {
    /// Creates an empty set. `with_paths` makes it remember the depth of each state.
    pub(super) fn new(with_paths: bool) -> VisitedStates {
        VisitedStates {
            states: FingerprintSet::default(),
            best_paths: with_paths.then(|| BestPaths {
                depths: ChunkedVec::new(),
                visits: ChunkedVec::new(),
            }),
        }
    }

    /// Returns the number of states.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns the memory used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let best_paths = self.best_paths.as_ref();
        self.states.bytes()
            + best_paths.map_or(0, |best_paths| {
                best_paths.depths.bytes() + best_paths.visits.bytes()
            })
    }

    /// Finds the number of a fingerprint.
    pub(super) fn find(&self, fingerprint: u128) -> Option<u32> {
        self.states.find(fingerprint)
    }

    /// Adds a new fingerprint and returns its number; `None` if no more can be numbered.
    pub(super) fn add(&mut self, fingerprint: u128, depth: u32, visit: u32) -> Option<u32> {
        let number = self.states.add(fingerprint)?;
        if let Some(best_paths) = &mut self.best_paths {
            best_paths.depths.push(depth << 1);
            best_paths.visits.push(visit);
        }
        Some(number)
    }

    /// Returns the depth of a state, and whether its actions were taken; `None` if depths are not
    /// remembered.
    pub(super) fn depth(&self, number: u32) -> Option<(u32, bool)> {
        let depth = self.best_paths.as_ref()?.depths.get(number as usize);
        Some((depth >> 1, depth & 1 == 1))
    }

    /// Updates the depth of a state and whether its actions were taken.
    pub(super) fn set_depth(&mut self, number: u32, depth: u32, expanded: bool) {
        if let Some(best_paths) = &mut self.best_paths {
            best_paths
                .depths
                .set(number as usize, depth << 1 | u32::from(expanded));
        }
    }

    /// Returns the visit that reached a state first.
    pub(super) fn visit(&self, number: u32) -> u32 {
        match &self.best_paths {
            Some(best_paths) => best_paths.visits.get(number as usize),
            None => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_kept_on_request() {
        let mut visited = VisitedStates::new(true);
        visited.add(7, 0, 0);
        visited.add(9, 5, 3);
        assert_eq!((visited.depth(1), visited.visit(1)), (Some((5, false)), 3));
        visited.set_depth(1, 2, true);
        assert_eq!((visited.depth(1), visited.visit(1)), (Some((2, true)), 3));
        assert_eq!(VisitedStates::new(false).depth(0), None);
    }
}
