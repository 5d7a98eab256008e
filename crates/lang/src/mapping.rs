//! A text that was put together from pieces, and where each piece comes from.

use std::ops::Range;

/// Text that differs from its source, with the way back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mapped {
    pub(crate) text: String,
    pieces: Vec<Mapping>,
}

#[derive(Clone, Debug)]
struct Mapping {
    start: usize,
    source: Range<usize>,
    /// The piece stands in the source letter by letter.
    exact: bool,
}

impl Mapped {
    /// Adds text that stands in the source at `start`.
    pub(crate) fn push(&mut self, text: &str, start: usize) {
        self.piece(text, start..start + text.len(), true);
    }

    /// Adds text in place of something else in the source.
    pub(crate) fn push_instead(&mut self, text: &str, source: Range<usize>) {
        self.piece(text, source, false);
    }

    fn piece(&mut self, text: &str, source: Range<usize>, exact: bool) {
        self.pieces.push(Mapping {
            start: self.text.len(),
            source,
            exact,
        });
        self.text.push_str(text);
    }

    /// The source of a range of the text.
    pub(crate) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.boundary(range.start, false);
        if range.end <= range.start {
            return start..start;
        }
        start..self.boundary(range.end - 1, true).max(start)
    }

    /// Where the character at `at` starts in the source, or ends.
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
        let mut mapped = Mapped::default();
        mapped.push("ab", 10);
        mapped.push_instead("xyz", 20..21);
        mapped.push("c", 30);
        assert_eq!(mapped.text, "abxyzc");
        assert_eq!(mapped.source(&(1..2)), 11..12);
        assert_eq!(mapped.source(&(3..4)), 20..21);
        assert_eq!(mapped.source(&(0..6)), 10..31);
        assert_eq!(mapped.source(&(6..6)), 31..31);
        assert_eq!(Mapped::default().source(&(0..0)), 0..0);
    }
}
