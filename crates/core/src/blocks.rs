//! A list that grows without moving what it holds.

/// How many elements a block has.
const BLOCK: usize = 1 << 12;

/// A list in blocks. A `Vec` of a hundred million states doubles when it is full: for a moment it takes three times
/// what it needs, and afterwards half of it may be empty. Here at most one block is.
#[derive(Clone, Debug)]
pub(crate) struct Blocks<T> {
    blocks: Vec<Vec<T>>,
    length: usize,
}

impl<T: Copy> Blocks<T> {
    pub(crate) fn new() -> Blocks<T> {
        Blocks {
            blocks: Vec::new(),
            length: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn push(&mut self, element: T) {
        if self.length.is_multiple_of(BLOCK) && self.length / BLOCK == self.blocks.len() {
            // The first block grows as any list does, so that small explorations stay small.
            let capacity = if self.length == 0 { 4 } else { BLOCK };
            self.blocks.push(Vec::with_capacity(capacity));
        }
        self.blocks[self.length / BLOCK].push(element);
        self.length += 1;
    }

    pub(crate) fn pop(&mut self) {
        if self.length > 0 {
            self.length -= 1;
            self.blocks[self.length / BLOCK].pop();
        }
    }

    pub(crate) fn get(&self, index: usize) -> T {
        self.blocks[index / BLOCK][index % BLOCK]
    }

    pub(crate) fn set(&mut self, index: usize, element: T) {
        self.blocks[index / BLOCK][index % BLOCK] = element;
    }

    /// What it takes in memory, empty places included.
    pub(crate) fn bytes(&self) -> usize {
        // Asked before each step if memory is limited, so only the last block is looked at.
        let full = self.blocks.len().saturating_sub(1) * BLOCK;
        let elements = full + self.blocks.last().map_or(0, Vec::capacity);
        elements * size_of::<T>() + self.blocks.capacity() * size_of::<Vec<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_list() {
        let mut blocks = Blocks::new();
        for number in 0..3 * BLOCK {
            blocks.push(number);
        }
        blocks.set(BLOCK, 7);
        assert_eq!(blocks.get(BLOCK), 7);
        assert_eq!(blocks.get(3 * BLOCK - 1), 3 * BLOCK - 1);
        for _ in 0..BLOCK + 1 {
            blocks.pop();
        }
        assert_eq!(blocks.len(), 2 * BLOCK - 1);
        blocks.push(5);
        blocks.push(6);
        assert_eq!((blocks.get(2 * BLOCK - 1), blocks.get(2 * BLOCK)), (5, 6));
        assert!(blocks.bytes() < 3 * BLOCK * size_of::<usize>() + 1_000);
    }
}
