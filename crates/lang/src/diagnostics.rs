//! What is wrong with a harness, for the person who wrote it.

use std::collections::{BTreeMap, BTreeSet};
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
    /// Whether it is about code in the host language. Then the harness can be expanded, but not run.
    pub fn is_about_host(&self) -> bool {
        matches!(self.name, "host-syntax" | "python-2")
    }

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

/// Sorts by place and leaves out what was said before, or follows from something else that is said.
pub(crate) fn in_order(mut diagnostics: Vec<Diagnostic>, file: &str) -> Vec<Diagnostic> {
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
    drop_what_joining_broke(&mut diagnostics);
    drop_before_stray_end(&mut diagnostics);
    drop_pools_that_got_lost(&mut diagnostics, file);
    once_each(&mut diagnostics, "unknown-pool", ", but named");
    once_each(&mut diagnostics, "bad-placeholder", "written like this");
    not_too_many(&mut diagnostics, "python-2");
    diagnostics
}

/// Where a line was joined by mistake, what it says as part of the line before it is beside the point.
fn drop_what_joining_broke(diagnostics: &mut Vec<Diagnostic>) {
    let places = places_of(diagnostics, &["joined-keyword-line"]);
    if places.is_empty() {
        return;
    }
    drop_because(diagnostics, |diagnostic| {
        let around = |place: &&Range<usize>| place.contains(&diagnostic.range.start);
        places.iter().find(around)
    });
}

/// Where raw code ends that never started, what looks like a line of raw code is one.
fn drop_before_stray_end(diagnostics: &mut Vec<Diagnostic>) {
    let stray = diagnostics
        .iter()
        .rfind(|diagnostic| diagnostic.name == "stray-block-end")
        .map_or(0, |diagnostic| diagnostic.range.start);
    diagnostics
        .retain(|diagnostic| diagnostic.name != "missing-at" || diagnostic.range.start >= stray);
}

/// What is lost where one of these is found may be the declaration of a pool.
pub(crate) const LOST: [&str; 6] = [
    "swallowed-by-comment",
    "joined-keyword-line",
    "text-behind-header",
    "text-behind-marker",
    "bad-pool",
    "bad-pool-name",
];

/// A pool that is declared in a place where it cannot be seen is not unknown: that place is what must be changed.
fn drop_pools_that_got_lost(diagnostics: &mut Vec<Diagnostic>, file: &str) {
    let places = places_of(diagnostics, &LOST);
    let mut lost: BTreeMap<String, &Range<usize>> = BTreeMap::new();
    for place in &places {
        let text = file.get(place.clone()).unwrap_or_default();
        for (at, opener) in text.match_indices(['<', '%']) {
            let closer = if opener == "<" { '>' } else { '%' };
            let inner = &text[at + 1..text.floor_char_boundary(at + LONGEST_NAME)];
            if let Some(end) = inner.find(closer) {
                lost.entry(format!("<{}>", &inner[..end])).or_insert(place);
            }
        }
    }
    if lost.is_empty() {
        return;
    }
    drop_because(diagnostics, |diagnostic| {
        let name = match diagnostic.name {
            "unknown-pool" => diagnostic.message.split('`').nth(1),
            "bad-placeholder" => file.get(diagnostic.range.clone()),
            _ => None,
        };
        lost.get(name?).copied()
    });
}

/// Longer names are not looked for among what was lost.
const LONGEST_NAME: usize = 100;

/// Where diagnostics with these names are.
fn places_of(diagnostics: &[Diagnostic], names: &[&str]) -> Vec<Range<usize>> {
    let of_interest = |diagnostic: &&Diagnostic| names.contains(&diagnostic.name);
    let found = diagnostics.iter().filter(of_interest);
    // Nobody makes more such mistakes, and the others are compared with each of them.
    found.take(100).map(|found| found.range.clone()).collect()
}

/// Leaves out what follows from a problem at the place that `cause` gives. If it was an error, the cause is one.
fn drop_because<'p>(
    diagnostics: &mut Vec<Diagnostic>,
    cause: impl Fn(&Diagnostic) -> Option<&'p Range<usize>>,
) {
    let mut guilty = BTreeSet::new();
    let key = |range: &Range<usize>| (range.start, range.end);
    diagnostics.retain(|diagnostic| {
        let Some(place) = cause(diagnostic) else {
            return true;
        };
        if LOST.contains(&diagnostic.name) && diagnostic.range == *place {
            return true;
        }
        if diagnostic.severity == Severity::Error {
            guilty.insert(key(place));
        }
        false
    });
    for diagnostic in diagnostics {
        if LOST.contains(&diagnostic.name) && guilty.contains(&key(&diagnostic.range)) {
            diagnostic.severity = Severity::Error;
        }
    }
}

/// Keeps the first of those with the same message, and says how many there are.
fn once_each(diagnostics: &mut Vec<Diagnostic>, name: &str, words: &str) {
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
                .push_str(&format!("{words} {places} times"));
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
