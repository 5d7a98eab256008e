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
    drop_because(diagnostics, &places, |place, diagnostic| {
        place.contains(&diagnostic.range.start)
    });
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
    if places.is_empty() {
        return;
    }
    drop_because(diagnostics, &places, |place, diagnostic| {
        let name = match diagnostic.name {
            "unknown-pool" => diagnostic.message.split('`').nth(1),
            "bad-placeholder" => file.get(diagnostic.range.clone()),
            _ => None,
        };
        let (Some(name), Some(lost)) = (name, file.get(place.clone())) else {
            return false;
        };
        let old_notation = name.replace(['<', '>'], "%");
        lost.contains(name) || lost.contains(&old_notation)
    });
}

/// Where diagnostics with these names are.
fn places_of(diagnostics: &[Diagnostic], names: &[&str]) -> Vec<Range<usize>> {
    let of_interest = |diagnostic: &&Diagnostic| names.contains(&diagnostic.name);
    let found = diagnostics.iter().filter(of_interest);
    // The others are compared with each of them; nobody makes more such mistakes.
    found.take(100).map(|found| found.range.clone()).collect()
}

/// Leaves out what `follows` from a problem at one of the places. If that was an error, the problem is one.
fn drop_because(
    diagnostics: &mut Vec<Diagnostic>,
    places: &[Range<usize>],
    follows: impl Fn(&Range<usize>, &Diagnostic) -> bool,
) {
    let mut guilty = Vec::new();
    diagnostics.retain(|diagnostic| {
        let is_cause = LOST.contains(&diagnostic.name) && places.contains(&diagnostic.range);
        let cause = places.iter().find(|place| follows(place, diagnostic));
        let Some(cause) = cause.filter(|_| !is_cause) else {
            return true;
        };
        if diagnostic.severity == Severity::Error {
            guilty.push(cause.clone());
        }
        false
    });
    for diagnostic in diagnostics {
        if LOST.contains(&diagnostic.name) && guilty.contains(&diagnostic.range) {
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
