//! Edits of a text by byte ranges.

use std::ops::Range;

/// Insertions and replacements that do not overlap.
#[derive(Debug, Default)]
pub(super) struct TextEdits {
    /// The ranges and their new texts.
    edits: Vec<(Range<usize>, String)>,
}

impl TextEdits {
    /// Adds an insertion.
    pub(super) fn insert(&mut self, position: usize, text: String) {
        self.edits.push((position..position, text));
    }

    /// Adds a replacement.
    pub(super) fn replace(&mut self, range: Range<usize>, text: String) {
        self.edits.push((range, text));
    }

    /// Applies the edits. Returns the new bytes and the ranges of new text. Positions are relative
    /// to the end of the first `skipped` bytes.
    pub(super) fn apply(mut self, bytes: &[u8], skipped: usize) -> (Vec<u8>, Vec<Range<usize>>) {
        // The sort is stable: insertions at one position keep their order.
        self.edits
            .sort_by_key(|(range, _)| (range.start, range.end));
        let mut changed = Vec::with_capacity(bytes.len());
        let mut inserted = Vec::new();
        let mut copied = 0;
        for (range, text) in self.edits {
            let (start, end) = (range.start + skipped, range.end + skipped);
            changed.extend_from_slice(bytes.get(copied..start).unwrap_or_default());
            let begin = changed.len();
            changed.extend_from_slice(text.as_bytes());
            inserted.push(begin..changed.len());
            copied = end;
        }
        changed.extend_from_slice(bytes.get(copied..).unwrap_or_default());
        (changed, inserted)
    }
}
