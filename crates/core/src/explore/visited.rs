//! The states that were visited, as fingerprints.

use super::blocks::Blocks;

/// Marks a place of the table that is free.
const FREE: u32 = u32::MAX;

/// A set of fingerprints that numbers them in the order in which they came.
///
/// The fingerprints lie one after the other, 16 bytes each. A hash table of their numbers, 4 bytes each and between
/// about half and six sevenths full, finds them. Together that is between 21 and 23 bytes for each state, where a
/// hash map from fingerprint to number would take up to 72.
#[derive(Clone, Debug)]
pub(super) struct Visited {
    fingerprints: Blocks<u128>,
    table: Vec<u32>,
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
            fingerprints: Blocks::new(),
            table: vec![FREE; 16],
            ways: ways.then(|| Ways {
                depths: Blocks::new(),
                visits: Blocks::new(),
            }),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.fingerprints.len()
    }

    pub(super) fn bytes(&self) -> usize {
        let ways = self.ways.as_ref();
        self.fingerprints.bytes()
            + self.table.capacity() * size_of::<u32>()
            + ways.map_or(0, |ways| ways.depths.bytes() + ways.visits.bytes())
    }

    /// The number of a fingerprint.
    pub(super) fn find(&self, fingerprint: u128) -> Option<u32> {
        let mut place = self.home(fingerprint);
        loop {
            match self.table[place] {
                FREE => return None,
                number if self.fingerprints.get(number as usize) == fingerprint => {
                    return Some(number);
                }
                _ => place = self.after(place),
            }
        }
    }

    /// Adds a fingerprint that is not there; `None` if no more can be numbered.
    pub(super) fn add(&mut self, fingerprint: u128, depth: u32, visit: u32) -> Option<u32> {
        let number = u32::try_from(self.len())
            .ok()
            .filter(|number| *number != FREE)?;
        if (self.len() + 1) * 7 > self.table.len() * 6 {
            self.grow();
        }
        self.fingerprints.push(fingerprint);
        if let Some(ways) = &mut self.ways {
            ways.depths.push(depth << 1);
            ways.visits.push(visit);
        }
        self.place(number);
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

    /// Half as large again: doubling would leave too much of the table free.
    fn grow(&mut self) {
        let size = self.table.len() + self.table.len() / 2;
        // The old table goes first, for the new one can be made without it.
        self.table = Vec::new();
        self.table = vec![FREE; size];
        for number in 0..self.len() {
            self.place(number as u32);
        }
    }

    fn place(&mut self, number: u32) {
        let mut place = self.home(self.fingerprints.get(number as usize));
        while self.table[place] != FREE {
            place = self.after(place);
        }
        self.table[place] = number;
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 == self.table.len() {
            0
        } else {
            place + 1
        }
    }

    /// Where a fingerprint should be. Its bits are mixed first, since nothing says that a system makes good ones.
    fn home(&self, fingerprint: u128) -> usize {
        let folded = (fingerprint as u64) ^ ((fingerprint >> 64) as u64).rotate_left(29);
        let mixed = (folded ^ folded >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((u128::from(mixed) * self.table.len() as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn fingerprints_are_found_by_their_numbers() {
        let mut visited = Visited::new(false);
        for number in 0..1000u32 {
            // Poor fingerprints: small numbers, and small numbers far to the left.
            let fingerprint = u128::from(number / 2 + 1) << (64 * (number % 2)) | 1 << 40;
            assert_eq!(visited.find(fingerprint), None);
            assert_eq!(visited.add(fingerprint, 0, 0), Some(number));
        }
        for number in 0..1000u32 {
            let fingerprint = u128::from(number / 2 + 1) << (64 * (number % 2)) | 1 << 40;
            assert_eq!(visited.find(fingerprint), Some(number));
        }
    }

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

    #[test]
    fn a_state_takes_at_most_twenty_four_bytes() {
        let mut random = Random::new(1);
        let mut visited = Visited::new(false);
        let mut most: f64 = 0.0;
        for count in 1..=300_000 {
            let fingerprint = u128::from(random.below(u64::MAX)) << 64 | count;
            visited.add(fingerprint, 0, 0);
            // Where there are few, the block that is not full counts for more.
            if count >= 100_000 {
                most = most.max(visited.bytes() as f64 / count as f64);
            }
        }
        assert!(most < 24.5, "{most} bytes");
    }
}
