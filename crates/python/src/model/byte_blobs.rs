//! Compact storage of many short byte strings.

/// Byte strings, numbered in the order of insertion.
///
/// A million states are a million byte strings. Each takes four bytes in addition to its content:
/// its end is stored relative to the start of its group.
#[derive(Default)]
pub(crate) struct ByteBlobs {
    /// The contents, one after the other.
    bytes: Vec<u8>,
    /// The start of each group.
    groups: Vec<u64>,
    /// The end of each byte string, relative to its group.
    ends: Vec<u32>,
}

/// The number of byte strings per group.
const GROUP_SIZE: usize = 64;

impl ByteBlobs {
    /// Adds a byte string. Returns false if its group would become too long.
    pub(crate) fn push(&mut self, blob: &[u8]) -> bool {
        let length = self.bytes.len() as u64;
        let group_start = if self.ends.len().is_multiple_of(GROUP_SIZE) {
            length
        } else {
            self.groups.last().copied().unwrap_or(length)
        };
        let Ok(end) = u32::try_from(length - group_start + blob.len() as u64) else {
            return false;
        };
        if self.ends.len().is_multiple_of(GROUP_SIZE) {
            self.groups.push(group_start);
        }
        self.bytes.extend_from_slice(blob);
        self.ends.push(end);
        true
    }

    /// Returns a byte string by number.
    pub(crate) fn get(&self, number: usize) -> &[u8] {
        let group = self.groups[number / GROUP_SIZE] as usize;
        let start = match number % GROUP_SIZE {
            0 => 0,
            _ => self.ends[number - 1] as usize,
        };
        &self.bytes[group + start..group + self.ends[number] as usize]
    }

    /// Returns the memory use.
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
        let mut blobs = ByteBlobs::default();
        let blob = |number: usize| vec![number as u8; number * 7 % 50];
        for number in 0..1000 {
            assert!(blobs.push(&blob(number)));
        }
        for number in 0..1000 {
            assert_eq!(blobs.get(number), blob(number), "{number}");
        }
    }
}
