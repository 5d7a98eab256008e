//! A list that grows without moving its elements.

/// The number of elements per chunk.
const CHUNK: usize = 1 << 12;

/// A list stored in chunks of equal size. A full `Vec` of a hundred million states doubles: during
/// the copy it takes three times what it needs, and afterwards half of it may be empty. Here at
/// most one chunk is partly empty.
#[derive(Clone, Debug)]
pub(crate) struct ChunkedVec<T> {
    chunks: Vec<Vec<T>>,
    length: usize,
}

impl<T: Copy> ChunkedVec<T> {
    /// Creates an empty list.
    pub(crate) fn new() -> ChunkedVec<T> {
        ChunkedVec {
            chunks: Vec::new(),
            length: 0,
        }
    }

    /// Returns the number of elements.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Appends an element.
    pub(crate) fn push(&mut self, element: T) {
        if self.length.is_multiple_of(CHUNK) && self.length / CHUNK == self.chunks.len() {
            // The first chunk grows like any list, so that small explorations stay small.
            let capacity = if self.length == 0 { 4 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(capacity));
        }
        self.chunks[self.length / CHUNK].push(element);
        self.length += 1;
    }

    /// Removes the last element, if there is one.
    pub(crate) fn pop(&mut self) {
        if self.length > 0 {
            self.length -= 1;
            self.chunks[self.length / CHUNK].pop();
        }
    }

    /// Returns the element at an index.
    pub(crate) fn get(&self, index: usize) -> T {
        self.chunks[index / CHUNK][index % CHUNK]
    }

    /// Replaces the element at an index.
    pub(crate) fn set(&mut self, index: usize, element: T) {
        self.chunks[index / CHUNK][index % CHUNK] = element;
    }

    /// Returns the memory used, in bytes, unused capacity included.
    pub(crate) fn bytes(&self) -> usize {
        // Called before each step if memory is limited, so only the last chunk is inspected.
        let full = self.chunks.len().saturating_sub(1) * CHUNK;
        let elements = full + self.chunks.last().map_or(0, Vec::capacity);
        elements * size_of::<T>() + self.chunks.capacity() * size_of::<Vec<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunked_vectors_behave_like_lists() {
        let mut chunks = ChunkedVec::new();
        for number in 0..3 * CHUNK {
            chunks.push(number);
        }
        chunks.set(CHUNK, 7);
        assert_eq!(chunks.get(CHUNK), 7);
        assert_eq!(chunks.get(3 * CHUNK - 1), 3 * CHUNK - 1);
        for _ in 0..CHUNK + 1 {
            chunks.pop();
        }
        assert_eq!(chunks.len(), 2 * CHUNK - 1);
        chunks.push(5);
        chunks.push(6);
        assert_eq!((chunks.get(2 * CHUNK - 1), chunks.get(2 * CHUNK)), (5, 6));
        assert!(chunks.bytes() < 3 * CHUNK * size_of::<usize>() + 1_000);
    }
}
