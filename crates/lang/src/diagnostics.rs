//! What is wrong with a harness, for the person who wrote it.

use std::ops::Range;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Suspicious, but it means something.
    Warning,
    /// The harness cannot be used.
    Error,
}

/// Something wrong with the text: what, where, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// A kebab-case name, such as `unknown-pool`.
    pub name: &'static str,
    /// One sentence without full stop.
    pub message: String,
    /// The place: a byte range of the file.
    pub range: Range<usize>,
    /// A few words written at that place.
    pub label: String,
    /// Another place that matters, with words for it.
    pub related: Option<(Range<usize>, String)>,
    /// What to do.
    pub help: Option<String>,
}
