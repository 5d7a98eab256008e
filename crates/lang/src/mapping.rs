//! Text assembled from pieces, with the origin of each piece.

use std::ops::Range;

/// Text that differs from its source, with a map back to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct MappedText {
    /// The text.
    pub(crate) text: String,
    /// Origins of the pieces, in order.
    pieces: Vec<Mapping>,
}

/// Origin of a piece of text.
#[derive(Clone, Debug)]
struct Mapping {
    /// Start in the text.
    start: usize,
    /// Range in the source.
    source: Range<usize>,
    /// True if the piece stands in the source letter by letter.
    exact: bool,
}

impl MappedText {
    /// Appends text that stands in the source at `start`.
    pub(crate) fn push(&mut self, text: &str, start: usize) {
        self.push_piece(text, start..start + text.len(), true);
    }

    /// Appends text that replaces a range of the source.
    pub(crate) fn push_replacement(&mut self, text: &str, source: Range<usize>) {
        self.push_piece(text, source, false);
    }

    /// Appends a piece.
    fn push_piece(&mut self, text: &str, source: Range<usize>, exact: bool) {
        self.pieces.push(Mapping {
            start: self.text.len(),
            source,
            exact,
        });
        self.text.push_str(text);
    }

    /// Converts a range of the text to a range of the source.
    pub(crate) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.boundary(range.start, false);
        if range.end <= range.start {
            return start..start;
        }
        start..self.boundary(range.end - 1, true).max(start)
    }

    /// Returns the start in the source of the character at `at`, or its end.
    fn boundary(&self, at: usize, end: bool) -> usize {
        let behind = self.pieces.partition_point(|piece| piece.start <= at);
        let Some(piece) = self.pieces.get(behind.wrapping_sub(1)) else {
            return self.pieces.first().map_or(0, |piece| piece.source.start);
        };
        let inside = at - piece.start;
        let past = at >= self.text.len();
        match (piece.exact, end) {
            (_, false) if past => piece.source.end,
            (true, false) => piece.source.start + inside,
            (true, true) => piece.source.start + inside + 1,
            (false, false) => piece.source.start,
            (false, true) => piece.source.end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_way_back() {
        let mut mapped = MappedText::default();
        mapped.push("ab", 10);
        mapped.push_replacement("xyz", 20..21);
        mapped.push("c", 30);
        assert_eq!(mapped.text, "abxyzc");
        assert_eq!(mapped.source(&(1..2)), 11..12);
        assert_eq!(mapped.source(&(3..4)), 20..21);
        assert_eq!(mapped.source(&(0..6)), 10..31);
        assert_eq!(mapped.source(&(6..6)), 31..31);
        assert_eq!(MappedText::default().source(&(0..0)), 0..0);
    }
}
