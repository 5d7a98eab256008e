//! A compact set of fingerprints that numbers its members.

use crate::chunked_vec::ChunkedVec;

/// The number that marks a free table entry.
const FREE: u32 = u32::MAX;

/// A set of fingerprints that numbers them in order of insertion.
///
/// The fingerprints are stored one after the other, 16 bytes each. A hash table of their numbers,
/// between two thirds and nine tenths full, finds them. Together that is between 21 and 24 bytes
/// per fingerprint, where a hash map from fingerprint to number would take up to 72.
///
/// Reading a fingerprint is a cache miss, and most lookups are for new ones. So each number has a
/// byte of the hash beside it: a search through the table reads hardly any fingerprint but the
/// right one.
#[derive(Clone, Debug)]
pub struct FingerprintSet {
    fingerprints: ChunkedVec<u128>,
    table: Vec<TableEntry>,
}

/// An entry of the hash table. It consists of bytes, so that it takes five and not eight of them.
#[derive(Clone, Copy, Debug)]
struct TableEntry {
    number: [u8; 4],
    tag: u8,
}

impl TableEntry {
    const EMPTY: TableEntry = TableEntry {
        number: FREE.to_le_bytes(),
        tag: 0,
    };

    fn number(self) -> u32 {
        u32::from_le_bytes(self.number)
    }
}

impl Default for FingerprintSet {
    fn default() -> FingerprintSet {
        FingerprintSet {
            fingerprints: ChunkedVec::new(),
            table: vec![TableEntry::EMPTY; 16],
        }
    }
}

impl FingerprintSet {
    /// Returns the number of fingerprints.
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory used, in bytes.
    pub fn bytes(&self) -> usize {
        self.fingerprints.bytes() + self.table.capacity() * size_of::<TableEntry>()
    }

    /// Finds the number of a fingerprint.
    pub fn find(&self, fingerprint: u128) -> Option<u32> {
        let (mut index, tag) = self.preferred_index(fingerprint);
        loop {
            let entry = self.table[index];
            let number = entry.number();
            if number == FREE {
                return None;
            }
            if entry.tag == tag && self.fingerprints.get(number as usize) == fingerprint {
                return Some(number);
            }
            index = self.next_index(index);
        }
    }

    /// Returns the fingerprint with this number.
    pub fn get(&self, number: u32) -> u128 {
        self.fingerprints.get(number as usize)
    }

    /// Adds a new fingerprint and returns its number; `None` if no more can be numbered.
    pub fn add(&mut self, fingerprint: u128) -> Option<u32> {
        let number = u32::try_from(self.len())
            .ok()
            .filter(|number| *number != FREE)?;
        if (self.len() + 1) * 10 > self.table.len() * 9 {
            self.grow();
        }
        self.fingerprints.push(fingerprint);
        self.insert_number(number);
        Some(number)
    }

    /// Enlarges the table by a third. Doubling would leave too much of it free.
    fn grow(&mut self) {
        let size = self.table.len() + self.table.len() / 3;
        // Free the old table first; the new one is built without it.
        self.table = Vec::new();
        self.table = vec![TableEntry::EMPTY; size];
        for number in 0..self.len() {
            self.insert_number(number as u32);
        }
    }

    /// Enters the number of a fingerprint into the table.
    fn insert_number(&mut self, number: u32) {
        let (mut index, tag) = self.preferred_index(self.fingerprints.get(number as usize));
        while self.table[index].number() != FREE {
            index = self.next_index(index);
        }
        self.table[index] = TableEntry {
            number: number.to_le_bytes(),
            tag,
        };
    }

    /// Returns the next index, wrapping around.
    fn next_index(&self, index: usize) -> usize {
        if index + 1 == self.table.len() {
            0
        } else {
            index + 1
        }
    }

    /// Returns the preferred index of a fingerprint, and its tag. The bits are mixed first, since a
    /// system may produce poor fingerprints.
    fn preferred_index(&self, fingerprint: u128) -> (usize, u8) {
        let folded = (fingerprint as u64) ^ ((fingerprint >> 64) as u64).rotate_left(29);
        let mixed = (folded ^ folded >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let index = (u128::from(mixed) * self.table.len() as u128) >> 64;
        // The highest bits determine the index, so the tag uses the lowest.
        (index as usize, mixed as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn fingerprints_are_found_by_their_numbers() {
        let mut numbering = FingerprintSet::default();
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
        let mut numbering = FingerprintSet::default();
        let mut max_bytes: f64 = 0.0;
        for count in 1..=300_000 {
            let fingerprint = u128::from(random.below(u64::MAX)) << 64 | count;
            numbering.add(fingerprint);
            // With few fingerprints, the chunk that is not full counts for more.
            if count >= 100_000 {
                max_bytes = max_bytes.max(numbering.bytes() as f64 / count as f64);
            }
        }
        assert!(max_bytes < 24.5, "{max_bytes} bytes");
    }
}
