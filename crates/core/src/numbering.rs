//! A set of fingerprints that numbers them.

use crate::blocks::Blocks;

/// Marks a place of the table that is free.
const FREE: u32 = u32::MAX;

/// A set of fingerprints that numbers them in the order in which they came.
///
/// The fingerprints lie one after the other, 16 bytes each. A hash table of their numbers, between two thirds and nine
/// tenths full, finds them. Together that is between 21 and 24 bytes for each, where a hash map from fingerprint to
/// number would take up to 72.
///
/// A fingerprint is far away in memory, and most that are looked for are new. So beside each number there is a byte of
/// the hash: whoever goes along the table looks up hardly any fingerprint but the one that is meant.
#[derive(Clone, Debug)]
pub struct Numbering {
    fingerprints: Blocks<u128>,
    table: Vec<Slot>,
}

/// A place of the table. Its parts are bytes, so that it takes five and not eight.
#[derive(Clone, Copy, Debug)]
struct Slot {
    number: [u8; 4],
    mark: u8,
}

impl Slot {
    const EMPTY: Slot = Slot {
        number: FREE.to_le_bytes(),
        mark: 0,
    };

    fn number(self) -> u32 {
        u32::from_le_bytes(self.number)
    }
}

impl Default for Numbering {
    fn default() -> Numbering {
        Numbering {
            fingerprints: Blocks::new(),
            table: vec![Slot::EMPTY; 16],
        }
    }
}

impl Numbering {
    /// How many fingerprints there are.
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it takes in memory.
    pub fn bytes(&self) -> usize {
        self.fingerprints.bytes() + self.table.capacity() * size_of::<Slot>()
    }

    /// The number of a fingerprint.
    pub fn find(&self, fingerprint: u128) -> Option<u32> {
        let (mut place, mark) = self.home(fingerprint);
        loop {
            let slot = self.table[place];
            let number = slot.number();
            if number == FREE {
                return None;
            }
            if slot.mark == mark && self.fingerprints.get(number as usize) == fingerprint {
                return Some(number);
            }
            place = self.after(place);
        }
    }

    /// The fingerprint with a number that was given.
    pub fn get(&self, number: u32) -> u128 {
        self.fingerprints.get(number as usize)
    }

    /// Adds a fingerprint that is not there; `None` if no more can be numbered.
    pub fn add(&mut self, fingerprint: u128) -> Option<u32> {
        let number = u32::try_from(self.len())
            .ok()
            .filter(|number| *number != FREE)?;
        if (self.len() + 1) * 10 > self.table.len() * 9 {
            self.grow();
        }
        self.fingerprints.push(fingerprint);
        self.place(number);
        Some(number)
    }

    /// A third larger: doubling would leave too much of the table free.
    fn grow(&mut self) {
        let size = self.table.len() + self.table.len() / 3;
        // The old table goes first, for the new one can be made without it.
        self.table = Vec::new();
        self.table = vec![Slot::EMPTY; size];
        for number in 0..self.len() {
            self.place(number as u32);
        }
    }

    fn place(&mut self, number: u32) {
        let (mut place, mark) = self.home(self.fingerprints.get(number as usize));
        while self.table[place].number() != FREE {
            place = self.after(place);
        }
        self.table[place] = Slot {
            number: number.to_le_bytes(),
            mark,
        };
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 == self.table.len() {
            0
        } else {
            place + 1
        }
    }

    /// Where a fingerprint should be, and the mark that it has there. Its bits are mixed first, since nothing says that a
    /// system makes good ones.
    fn home(&self, fingerprint: u128) -> (usize, u8) {
        let folded = (fingerprint as u64) ^ ((fingerprint >> 64) as u64).rotate_left(29);
        let mixed = (folded ^ folded >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let place = (u128::from(mixed) * self.table.len() as u128) >> 64;
        // The highest bits have chosen the place.
        (place as usize, mixed as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn fingerprints_are_found_by_their_numbers() {
        let mut numbering = Numbering::default();
        for number in 0..1000u32 {
            // Poor fingerprints: small numbers, and small numbers far to the left.
            let fingerprint = u128::from(number / 2 + 1) << (64 * (number % 2)) | 1 << 40;
            assert_eq!(numbering.find(fingerprint), None);
            assert_eq!(numbering.add(fingerprint), Some(number));
        }
        for number in 0..1000u32 {
            let fingerprint = u128::from(number / 2 + 1) << (64 * (number % 2)) | 1 << 40;
            assert_eq!(numbering.find(fingerprint), Some(number));
        }
    }

    #[test]
    fn a_state_takes_at_most_twenty_four_bytes() {
        let mut random = Random::new(1);
        let mut numbering = Numbering::default();
        let mut most: f64 = 0.0;
        for count in 1..=300_000 {
            let fingerprint = u128::from(random.below(u64::MAX)) << 64 | count;
            numbering.add(fingerprint);
            // Where there are few, the block that is not full counts for more.
            if count >= 100_000 {
                most = most.max(numbering.bytes() as f64 / count as f64);
            }
        }
        assert!(most < 24.5, "{most} bytes");
    }
}
