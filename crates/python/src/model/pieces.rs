//! Many short pieces of bytes, one after the other.

/// Pieces of bytes that are numbered as they come.
///
/// A million states are a million pieces. Each takes four bytes besides what is in it: where it ends is counted from
/// where its group begins.
#[derive(Default)]
pub(crate) struct Pieces {
    bytes: Vec<u8>,
    /// By group: where it begins.
    groups: Vec<u64>,
    /// By piece: where it ends in its group.
    ends: Vec<u32>,
}

/// How many pieces are a group.
const GROUP: usize = 64;

impl Pieces {
    /// Adds a piece; false if that is not possible, since the pieces of its group are too long together.
    pub(crate) fn push(&mut self, piece: &[u8]) -> bool {
        let length = self.bytes.len() as u64;
        let begins = if self.ends.len().is_multiple_of(GROUP) {
            length
        } else {
            self.groups.last().copied().unwrap_or(length)
        };
        let Ok(end) = u32::try_from(length - begins + piece.len() as u64) else {
            return false;
        };
        if self.ends.len().is_multiple_of(GROUP) {
            self.groups.push(begins);
        }
        self.bytes.extend_from_slice(piece);
        self.ends.push(end);
        true
    }

    /// A piece that was added.
    pub(crate) fn get(&self, number: usize) -> &[u8] {
        let group = self.groups[number / GROUP] as usize;
        let start = match number % GROUP {
            0 => 0,
            _ => self.ends[number - 1] as usize,
        };
        &self.bytes[group + start..group + self.ends[number] as usize]
    }

    /// What they take in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.capacity()
            + self.groups.capacity() * size_of::<u64>()
            + self.ends.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_by_their_numbers() {
        let mut pieces = Pieces::default();
        let piece = |number: usize| vec![number as u8; number * 7 % 50];
        for number in 0..1000 {
            assert!(pieces.push(&piece(number)));
        }
        for number in 0..1000 {
            assert_eq!(pieces.get(number), piece(number), "{number}");
        }
    }
}
