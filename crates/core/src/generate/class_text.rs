//! Classes in text files: writing them on one line and finding them again.

use std::collections::BTreeMap;
use std::fmt;

use crate::{ActionClasses, ClassId};

/// A line of a text file that cannot be understood. The rest of the file is still usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextProblem {
    /// The line number, from 1.
    pub line: usize,
    /// The message: a lower-case phrase without a full stop.
    pub message: String,
}

impl fmt::Display for TextProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.message)
    }
}

/// Returns the text of a class without line breaks, which would break the file.
pub(super) fn one_line(class: &str) -> String {
    class.trim_end().replace(['\n', '\r'], " ")
}

/// An index of classes by text. Blanks matter only if that is needed to distinguish two classes.
pub(super) struct ClassIndex {
    exact: BTreeMap<String, ClassId>,
    loose: BTreeMap<String, ClassId>,
}

impl ClassIndex {
    /// Indexes the classes.
    pub(super) fn new(classes: &ActionClasses) -> ClassIndex {
        let by = |key: fn(&str) -> String| {
            let mut keyed = BTreeMap::new();
            for class in classes.iter() {
                // Of equal texts the first class counts.
                keyed.entry(key(classes.text(class))).or_insert(class);
            }
            keyed
        };
        ClassIndex {
            exact: by(|text| one_line(text).trim().to_owned()),
            loose: by(collapse_blanks),
        }
    }

    /// Finds the class of a text, or returns a message that there is none.
    pub(super) fn find(&self, text: &str) -> Result<ClassId, String> {
        let exact = self.exact.get(one_line(text).trim());
        let found = exact.or_else(|| self.loose.get(&collapse_blanks(text)));
        found
            .copied()
            .ok_or_else(|| format!("the harness has no line `{}`", one_line(text).trim()))
    }
}

/// Replaces each run of blanks by one blank.
fn collapse_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
