//! What is wrong with a harness, for the person who wrote it.

use std::collections::BTreeMap;
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

impl Diagnostic {
    pub(crate) fn error(
        name: &'static str,
        range: Range<usize>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            name,
            message: message.into(),
            range,
            label: String::new(),
            related: None,
            help: None,
        }
    }

    pub(crate) fn warning(
        name: &'static str,
        range: Range<usize>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(name, range, message)
        }
    }

    pub(crate) fn with_label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn with_related(
        mut self,
        range: Range<usize>,
        words: impl Into<String>,
    ) -> Diagnostic {
        self.related = Some((range, words.into()));
        self
    }
}

/// Sorts by place and leaves out what was said before: the same trouble found in each alternative of a line.
pub(crate) fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by(|one, other| {
        let key = |diagnostic: &Diagnostic| (diagnostic.range.start, diagnostic.range.end);
        key(one)
            .cmp(&key(other))
            .then(other.severity.cmp(&one.severity))
            .then(one.name.cmp(other.name))
            .then_with(|| one.message.cmp(&other.message))
    });
    diagnostics
        .dedup_by(|later, earlier| later.name == earlier.name && later.range == earlier.range);
    without_consequences(&mut diagnostics);
    once_each(&mut diagnostics, "unknown-pool");
    not_too_many(&mut diagnostics, "python-2");
    diagnostics
}

/// Where a line was joined by mistake, what it says as part of the line before it is beside the point.
fn without_consequences(diagnostics: &mut Vec<Diagnostic>) {
    let joined: Vec<Range<usize>> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.name == "joined-keyword-line")
        .map(|diagnostic| diagnostic.range.clone())
        .collect();
    diagnostics.retain(|diagnostic| {
        let inside = |range: &Range<usize>| range.contains(&diagnostic.range.start);
        diagnostic.name != "extra-words" || !joined.iter().any(inside)
    });
}

/// Keeps the first of those with the same message.
fn once_each(diagnostics: &mut Vec<Diagnostic>, name: &str) {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for diagnostic in diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.name == name)
    {
        *places.entry(diagnostic.message.clone()).or_default() += 1;
    }
    diagnostics.retain_mut(|diagnostic| {
        if diagnostic.name != name {
            return true;
        }
        let Some(places) = places.remove(&diagnostic.message) else {
            return false;
        };
        if places > 1 {
            diagnostic
                .label
                .push_str(&format!(", but named {places} times"));
        }
        true
    });
}

/// Keeps the first few of a kind and says how many more there are: a file in an old language has them on every line.
fn not_too_many(diagnostics: &mut Vec<Diagnostic>, name: &str) {
    const MOST: usize = 10;
    let all = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.name == name)
        .count();
    let Some(more) = all.checked_sub(MOST).filter(|more| *more > 0) else {
        return;
    };
    let mut seen = 0;
    diagnostics.retain_mut(|diagnostic| {
        if diagnostic.name != name {
            return true;
        }
        seen += 1;
        if seen == MOST {
            diagnostic
                .message
                .push_str(&format!(" (and {more} more like this)"));
        }
        seen <= MOST
    });
}
