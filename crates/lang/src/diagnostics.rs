//! Problems in a harness, for its author.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The text is suspicious, but it has a meaning.
    Warning,
    /// The harness cannot be used.
    Error,
}

/// A problem in the text: a message, its place, and help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity of the problem.
    pub severity: Severity,
    /// Kebab-case name, such as `unknown-pool`.
    pub name: &'static str,
    /// One sentence without full stop.
    pub message: String,
    /// Byte range of the file.
    pub range: Range<usize>,
    /// A few words for that place.
    pub label: String,
    /// Another place that matters, with a few words for it.
    pub related: Option<(Range<usize>, String)>,
    /// Advice on what to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Returns true if it is about code in the host language. The harness can still be expanded
    /// then, but not run.
    pub fn is_about_host(&self) -> bool {
        matches!(self.name, "host-syntax" | "python-2")
    }

    /// Creates an error without label and help.
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

    /// Creates a warning without label and help.
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

    /// Sets the label.
    pub(crate) fn with_label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Sets the help.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Sets the related place with its label.
    pub(crate) fn with_related(
        mut self,
        range: Range<usize>,
        words: impl Into<String>,
    ) -> Diagnostic {
        self.related = Some((range, words.into()));
        self
    }
}

/// Sorts diagnostics by place, and removes duplicates and those that follow from another one.
pub(crate) fn sort_and_prune(mut diagnostics: Vec<Diagnostic>, file: &str) -> Vec<Diagnostic> {
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
    drop_in_joined_lines(&mut diagnostics);
    drop_before_stray_end(&mut diagnostics);
    drop_pools_in_ignored_text(&mut diagnostics, file);
    keep_first_of_each(&mut diagnostics, "unknown-pool", ", but named");
    keep_first_of_each(&mut diagnostics, "bad-placeholder", "written like this");
    limit_count(&mut diagnostics, "python-2");
    diagnostics
}

/// Removes diagnostics about a line that was joined to the one before by mistake: they say nothing
/// about the line itself.
fn drop_in_joined_lines(diagnostics: &mut Vec<Diagnostic>) {
    let ranges = ranges_of_named(diagnostics, &["joined-keyword-line"]);
    if ranges.is_empty() {
        return;
    }
    drop_consequences(diagnostics, |diagnostic| {
        let around = |location: &&Range<usize>| location.contains(&diagnostic.range.start);
        ranges.iter().find(around)
    });
}

/// Removes diagnostics about lines that are raw code, if a raw block ends that never started.
fn drop_before_stray_end(diagnostics: &mut Vec<Diagnostic>) {
    let stray = diagnostics
        .iter()
        .rfind(|diagnostic| diagnostic.name == "stray-block-end")
        .map_or(0, |diagnostic| diagnostic.range.start);
    diagnostics
        .retain(|diagnostic| diagnostic.name != "missing-at" || diagnostic.range.start >= stray);
}

/// Diagnostics whose text is ignored. That text may contain the declaration of a pool.
pub(crate) const IGNORED_TEXT: [&str; 6] = [
    "swallowed-by-comment",
    "joined-keyword-line",
    "text-behind-header",
    "text-behind-marker",
    "bad-pool",
    "bad-pool-name",
];

/// Removes diagnostics about unknown pools that are declared in ignored text: that text is what
/// must be changed.
fn drop_pools_in_ignored_text(diagnostics: &mut Vec<Diagnostic>, file: &str) {
    let ranges = ranges_of_named(diagnostics, &IGNORED_TEXT);
    let mut ignored: BTreeMap<String, &Range<usize>> = BTreeMap::new();
    for location in &ranges {
        let text = file.get(location.clone()).unwrap_or_default();
        for (at, opener) in text.match_indices(['<', '%']) {
            let closer = if opener == "<" { '>' } else { '%' };
            let inner = &text[at + 1..text.floor_char_boundary(at + MAX_NAME)];
            if let Some(end) = inner.find(closer) {
                ignored
                    .entry(format!("<{}>", &inner[..end]))
                    .or_insert(location);
            }
        }
    }
    if ignored.is_empty() {
        return;
    }
    drop_consequences(diagnostics, |diagnostic| {
        let name = match diagnostic.name {
            "unknown-pool" => diagnostic.message.split('`').nth(1),
            "bad-placeholder" => file.get(diagnostic.range.clone()),
            _ => None,
        };
        ignored.get(name?).copied()
    });
}

/// Maximum length of a pool name to look for in ignored text.
const MAX_NAME: usize = 100;

/// Returns the ranges of the diagnostics with these names.
fn ranges_of_named(diagnostics: &[Diagnostic], names: &[&str]) -> Vec<Range<usize>> {
    let of_interest = |diagnostic: &&Diagnostic| names.contains(&diagnostic.name);
    let found = diagnostics.iter().filter(of_interest);
    // More such mistakes are unlikely, and every other diagnostic is compared with each of them.
    found.take(100).map(|found| found.range.clone()).collect()
}

/// Removes the diagnostics that follow from a problem at the range that `cause` returns. If one of
/// them was an error, the cause becomes one.
fn drop_consequences<'p>(
    diagnostics: &mut Vec<Diagnostic>,
    cause: impl Fn(&Diagnostic) -> Option<&'p Range<usize>>,
) {
    let mut guilty = BTreeSet::new();
    let key = |range: &Range<usize>| (range.start, range.end);
    diagnostics.retain(|diagnostic| {
        let Some(location) = cause(diagnostic) else {
            return true;
        };
        if IGNORED_TEXT.contains(&diagnostic.name) && diagnostic.range == *location {
            return true;
        }
        if diagnostic.severity == Severity::Error {
            guilty.insert(key(location));
        }
        false
    });
    for diagnostic in diagnostics {
        if IGNORED_TEXT.contains(&diagnostic.name) && guilty.contains(&key(&diagnostic.range)) {
            diagnostic.severity = Severity::Error;
        }
    }
}

/// Keeps the first diagnostic of each message, and adds how many there are.
fn keep_first_of_each(diagnostics: &mut Vec<Diagnostic>, name: &str, words: &str) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for diagnostic in diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.name == name)
    {
        *counts.entry(diagnostic.message.clone()).or_default() += 1;
    }
    diagnostics.retain_mut(|diagnostic| {
        if diagnostic.name != name {
            return true;
        }
        let Some(count) = counts.remove(&diagnostic.message) else {
            return false;
        };
        if count > 1 {
            diagnostic.label.push_str(&format!("{words} {count} times"));
        }
        true
    });
}

/// Keeps the first few diagnostics of a name, and adds how many more there are: a file in an old
/// version of the language has them on every line.
fn limit_count(diagnostics: &mut Vec<Diagnostic>, name: &str) {
    const MAX: usize = 10;
    let all = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.name == name)
        .count();
    let Some(more) = all.checked_sub(MAX).filter(|more| *more > 0) else {
        return;
    };
    let mut seen = 0;
    diagnostics.retain_mut(|diagnostic| {
        if diagnostic.name != name {
            return true;
        }
        seen += 1;
        if seen == MAX {
            diagnostic
                .message
                .push_str(&format!(" (and {more} more like this)"));
        }
        seen <= MAX
    });
}
