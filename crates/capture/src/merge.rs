//! Putting tests into files that people edit.
//!
//! Every byte outside of what is inserted stays as it was: comments, blank lines, tabs, line ends, a byte order mark, a missing
//! last newline. A test that somebody changed is never touched, one that somebody deleted does not come back, and a file that is
//! not Python is left alone.
//!
//! What makes that possible is the marker in each written test, a comment such as `# tw:1f0c9a2e-77b1d0c4`: which interaction it
//! comes from, and a digest of what was written.

mod diff;
mod edits;
mod existing;
mod ledger;
mod marker;
mod place;
mod transaction;

use std::collections::BTreeSet;

pub use diff::unified;
pub use ledger::Ledger;
pub use place::{Place, place};
pub use transaction::{Change, Transaction, WriteError};

use crate::suite::{Import, Suite, TestClass, UnitTest, head};
use edits::Edits;
pub use existing::Marked;
use existing::{Existing, Found};
pub use marker::written_ids;

/// What to do about tests that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Leave them alone.
    Keep,
    /// Write them again, unless somebody changed them.
    Rewrite,
}

/// A file with tests put into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Which bytes of it are new, in order.
    pub inserted: Vec<std::ops::Range<usize>>,
    /// The ids of the tests that were put into it.
    pub added: Vec<String>,
    /// The tests that were not, and why.
    pub left_alone: Vec<(String, LeftAlone)>,
}

/// Why a test was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftAlone {
    /// It is there already.
    Present,
    /// It is there, and somebody changed it.
    Edited,
    /// Somebody deleted it.
    Deleted,
    /// There is another test of that name.
    NameTaken,
    /// Its class has its body on the line of its name.
    NoRoom,
}

/// Why a file was left alone as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is not Python, or not UTF-8.
    #[allow(missing_docs, reason = "the place and the reason")]
    NotPython { line: usize, message: String },
    /// A name that the tests need means something else there.
    #[allow(missing_docs, reason = "the name and what it means there")]
    NameClash { name: String, meaning: String },
}

/// Puts a suite into a file; `bytes` are what the file has now, if it exists.
///
/// `written` are the ids of all tests ever written to it: what is among them and not in the file was deleted by somebody.
///
/// # Errors
/// If the file cannot be changed safely.
pub fn merge(
    bytes: Option<&[u8]>,
    suite: &Suite,
    written: &BTreeSet<String>,
    force: Force,
) -> Result<Merged, Refusal> {
    match bytes {
        Some(bytes) => {
            let merged = merge_into(bytes, suite, written, force)?;
            let is_plain = merged.inserted.iter().all(|range| {
                let text = merged.bytes.get(range.clone());
                text.is_none_or(<[u8]>::is_ascii)
            });
            // Only letters that all encodings write alike may go into a file in another one than ours.
            if !is_plain && std::str::from_utf8(bytes).is_err() {
                let message = "the tests have letters that this file's encoding may lack";
                return Err(Refusal::NotPython {
                    line: 1,
                    message: message.to_owned(),
                });
            }
            Ok(merged)
        }
        None => Ok(new_file(suite, written)),
    }
}

/// The tests in a file that were written by [`merge`], wherever somebody has moved them since.
///
/// # Errors
/// If the file is not Python.
pub fn marked(bytes: &[u8]) -> Result<Vec<Marked>, Refusal> {
    Ok(Existing::read(bytes)?.marked())
}

/// A suite without the tests that somebody deleted, as a file of its own.
fn new_file(suite: &Suite, written: &BTreeSet<String>) -> Merged {
    let layout = Layout::default();
    let mut left_alone = Vec::new();
    let mut added = Vec::new();
    let mut classes: Vec<Vec<String>> = Vec::new();
    let mut imports = Vec::new();
    for class in &suite.classes {
        let (deleted, wanted): (Vec<&UnitTest>, Vec<&UnitTest>) = class
            .tests
            .iter()
            .partition(|test| written.contains(&test.id));
        left_alone.extend(
            deleted
                .iter()
                .map(|test| (test.id.clone(), LeftAlone::Deleted)),
        );
        if !wanted.is_empty() {
            imports.extend(wanted.iter().flat_map(|test| test.imports.iter().cloned()));
            added.extend(wanted.iter().map(|test| test.id.clone()));
            classes.push(class_lines(class, &wanted, &layout));
        }
    }
    if classes.is_empty() {
        return Merged {
            bytes: Vec::new(),
            inserted: Vec::new(),
            added,
            left_alone,
        };
    }
    imports.extend(suite.imports.iter().cloned());
    let mut lines = head(&imports);
    for class in classes {
        lines.extend([String::new(), String::new()]);
        lines.extend(class);
    }
    if suite.main_guard {
        lines.extend(
            [
                "",
                "",
                "if __name__ == \"__main__\":",
                "    unittest.main()",
            ]
            .map(str::to_owned),
        );
    }
    let bytes = (lines.join("\n") + "\n").into_bytes();
    Merged {
        inserted: std::iter::once(0..bytes.len()).collect(),
        bytes,
        added,
        left_alone,
    }
}

fn merge_into(
    bytes: &[u8],
    suite: &Suite,
    written: &BTreeSet<String>,
    force: Force,
) -> Result<Merged, Refusal> {
    let existing = Existing::read(bytes)?;
    let mut edits = Edits::default();
    let mut added = Vec::new();
    let mut left_alone = Vec::new();
    let mut imports: Vec<Import> = Vec::new();
    let mut new_classes: Vec<Vec<String>> = Vec::new();
    for class in &suite.classes {
        let place = existing.class(&class.name);
        let mut wanted: Vec<&UnitTest> = Vec::new();
        for test in &class.tests {
            let verdict = match existing.test(test, &class.name) {
                Found::Untouched(range) if force == Force::Rewrite => {
                    let lines = existing.indented_like(&range, &test.lines);
                    edits.replace(range, existing.joined(&marker::marked(&test.id, &lines)));
                    added.push(test.id.clone());
                    imports.extend(test.imports.iter().cloned());
                    continue;
                }
                Found::Untouched(_) => LeftAlone::Present,
                Found::Edited => LeftAlone::Edited,
                Found::OtherOfThatName => LeftAlone::NameTaken,
                Found::Absent if written.contains(&test.id) => LeftAlone::Deleted,
                Found::Absent if place.as_ref().is_some_and(|place| place.is_none()) => {
                    LeftAlone::NoRoom
                }
                Found::Absent => {
                    wanted.push(test);
                    continue;
                }
            };
            left_alone.push((test.id.clone(), verdict));
        }
        if wanted.is_empty() {
            continue;
        }
        imports.extend(wanted.iter().flat_map(|test| test.imports.iter().cloned()));
        added.extend(wanted.iter().map(|test| test.id.clone()));
        match place.flatten() {
            Some((end, indent)) => {
                let layout = Layout { indent };
                let mut lines = Vec::new();
                for test in wanted {
                    lines.push(String::new());
                    lines.extend(test_lines(test, &layout));
                }
                edits.insert(end, existing.below(end, &lines));
            }
            None => new_classes.push(class_lines(class, &wanted, &existing.layout())),
        }
    }
    if !added.is_empty() {
        imports.extend(suite.imports.iter().cloned());
    }
    let missing = existing.missing(&imports)?;
    if !missing.is_empty() {
        let (end, text) = existing.below_imports(&missing);
        edits.insert(end, text);
    }
    if !new_classes.is_empty() {
        let (end, text) = existing.before_guard(&new_classes);
        edits.insert(end, text);
    }
    let (bytes, inserted) = edits.apply(bytes, existing.mark_length());
    Ok(Merged {
        bytes,
        inserted,
        added,
        left_alone,
    })
}

/// How a file is indented.
struct Layout {
    indent: String,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            indent: "    ".to_owned(),
        }
    }
}

impl Layout {
    /// A line that is indented by blanks, with this indentation instead and one level deeper.
    fn deeper(&self, line: &str) -> String {
        if line.is_empty() {
            return String::new();
        }
        format!("{}{}", self.indent, self.converted(line))
    }

    fn converted(&self, line: &str) -> String {
        let text = line.trim_start_matches(' ');
        let blanks = line.len() - text.len();
        let odd = " ".repeat(blanks % 4);
        format!("{}{odd}{text}", self.indent.repeat(blanks / 4))
    }
}

fn class_lines(class: &TestClass, tests: &[&UnitTest], layout: &Layout) -> Vec<String> {
    let base = match &class.base {
        Some(base) => format!("({base})"),
        None => String::new(),
    };
    let mut lines = vec![format!("class {}{base}:", class.name)];
    for (index, test) in tests.iter().enumerate() {
        if index > 0 {
            lines.push(String::new());
        }
        lines.extend(test_lines(test, layout));
    }
    lines
}

fn test_lines(test: &UnitTest, layout: &Layout) -> Vec<String> {
    let lines: Vec<String> = test.lines.iter().map(|line| layout.deeper(line)).collect();
    marker::marked(&test.id, &lines)
}

#[cfg(test)]
mod tests;
