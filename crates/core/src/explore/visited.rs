//! The states that were visited, as fingerprints.

use crate::blocks::Blocks;
use crate::numbering::Numbering;

/// The states that were visited, numbered in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Visited {
    states: Numbering,
    /// For searches that may find a shorter way to a state later; otherwise nothing.
    ways: Option<Ways>,
}

/// How each state was reached best so far.
#[derive(Clone, Debug)]
struct Ways {
    /// The depth, and in the lowest bit whether the state's actions were taken.
    depths: Blocks<u32>,
    /// The visit that reached the state first.
    visits: Blocks<u32>,
}

impl Visited {
    /// An empty set. With `ways` it also remembers how deep each state is.
    pub(super) fn new(ways: bool) -> Visited {
        Visited {
            states: Numbering::default(),
            ways: ways.then(|| Ways {
                depths: Blocks::new(),
                visits: Blocks::new(),
            }),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn bytes(&self) -> usize {
        let ways = self.ways.as_ref();
        self.states.bytes() + ways.map_or(0, |ways| ways.depths.bytes() + ways.visits.bytes())
    }

    /// The number of a fingerprint.
    pub(super) fn find(&self, fingerprint: u128) -> Option<u32> {
        self.states.find(fingerprint)
    }

    /// Adds a fingerprint that is not there; `None` if no more can be numbered.
    pub(super) fn add(&mut self, fingerprint: u128, depth: u32, visit: u32) -> Option<u32> {
        let number = self.states.add(fingerprint)?;
        if let Some(ways) = &mut self.ways {
            ways.depths.push(depth << 1);
            ways.visits.push(visit);
        }
        Some(number)
    }

    /// The depth in which a state was reached, and whether its actions were taken; `None` if that is not kept.
    pub(super) fn depth(&self, number: u32) -> Option<(u32, bool)> {
        let depth = self.ways.as_ref()?.depths.get(number as usize);
        Some((depth >> 1, depth & 1 == 1))
    }

    pub(super) fn set_depth(&mut self, number: u32, depth: u32, expanded: bool) {
        if let Some(ways) = &mut self.ways {
            ways.depths
                .set(number as usize, depth << 1 | u32::from(expanded));
        }
    }

    /// The visit that reached a state first.
    pub(super) fn visit(&self, number: u32) -> u32 {
        match &self.ways {
            Some(ways) => ways.visits.get(number as usize),
            None => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_kept_on_request() {
        let mut visited = Visited::new(true);
        visited.add(7, 0, 0);
        visited.add(9, 5, 3);
        assert_eq!((visited.depth(1), visited.visit(1)), (Some((5, false)), 3));
        visited.set_depth(1, 2, true);
        assert_eq!((visited.depth(1), visited.visit(1)), (Some((2, true)), 3));
        assert_eq!(Visited::new(false).depth(0), None);
    }
}
