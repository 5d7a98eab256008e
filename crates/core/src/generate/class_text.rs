//! Classes in text files: how they are written on one line and found again.

use std::collections::BTreeMap;
use std::fmt;

use crate::{ClassId, Classes};

/// A place in a text file that cannot be understood. It costs no more than that place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextProblem {
    /// The line number, from 1.
    pub line: usize,
    /// What is wrong: a lower-case phrase without full stop.
    pub message: String,
}

impl fmt::Display for TextProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.message)
    }
}

/// The text of a class without line breaks, which would break the file.
pub(super) fn one_line(class: &str) -> String {
    class.trim_end().replace(['\n', '\r'], " ")
}

/// Finds classes by their text. Blanks are counted only if that is needed to tell two apart.
pub(super) struct ClassIndex {
    exact: BTreeMap<String, ClassId>,
    loose: BTreeMap<String, ClassId>,
}

impl ClassIndex {
    pub(super) fn new(classes: &Classes) -> ClassIndex {
        let by = |key: fn(&str) -> String| {
            let mut keyed = BTreeMap::new();
            for class in classes.iter() {
                // The first of equal ones counts.
                keyed.entry(key(classes.text(class))).or_insert(class);
            }
            keyed
        };
        ClassIndex {
            exact: by(|text| one_line(text).trim().to_owned()),
            loose: by(loosened),
        }
    }

    /// The class that a text means, or why there is none.
    pub(super) fn find(&self, text: &str) -> Result<ClassId, String> {
        let exact = self.exact.get(one_line(text).trim());
        let found = exact.or_else(|| self.loose.get(&loosened(text)));
        found
            .copied()
            .ok_or_else(|| format!("the harness has no line `{}`", one_line(text).trim()))
    }
}

fn loosened(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
