//! Changes to a text by ranges of its bytes.

use std::ops::Range;

/// Insertions and replacements that do not overlap.
#[derive(Debug, Default)]
pub(super) struct Edits {
    edits: Vec<(Range<usize>, String)>,
}

impl Edits {
    pub(super) fn insert(&mut self, place: usize, text: String) {
        self.edits.push((place..place, text));
    }

    pub(super) fn replace(&mut self, range: Range<usize>, text: String) {
        self.edits.push((range, text));
    }

    /// The changed bytes, and which of them are new. Places count from behind the first `skipped` bytes.
    pub(super) fn apply(mut self, bytes: &[u8], skipped: usize) -> (Vec<u8>, Vec<Range<usize>>) {
        // Stable: what is inserted at one place comes in the order in which it was asked for.
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
