//! Adds tests to files that people edit.
//!
//! Every byte outside of the insertions stays as it was: comments, blank lines, tabs, line ends, a
//! byte order mark, a missing last newline. A test that was edited by hand is never touched, a
//! deleted one does not come back, and a file that is not valid Python is left alone.
//!
//! This relies on a marker in each written test, a comment such as `# tw:1f0c9a2e-77b1d0c4`: the id
//! of the test, and a digest of its text.

mod diff;
mod edits;
mod existing;
mod ledger;
mod location;
mod marker;
mod transaction;

use std::collections::BTreeSet;

pub use diff::unified_diff;
pub use ledger::Ledger;
pub use location::{TestLocation, find_test_file};
pub use transaction::{FileChange, Transaction, WriteError};

use crate::suite::{TestClass, TestImport, UnitTest, UnitTestSuite, import_lines};
use edits::TextEdits;
pub use existing::MarkedTest;
use existing::{ExistingFile, ExistingTest};
pub use marker::marker_ids;

/// The treatment of tests that exist already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewritePolicy {
    /// They are left alone.
    Keep,
    /// They are rewritten, unless they were edited.
    Rewrite,
}

/// The result of adding tests to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedFile {
    /// The new content of the file.
    pub bytes: Vec<u8>,
    /// The ranges of new bytes, in order.
    pub inserted: Vec<std::ops::Range<usize>>,
    /// The ids of the tests that were added.
    pub added: Vec<String>,
    /// The tests that were not added, with the reason.
    pub skipped: Vec<(String, SkipReason)>,
}

/// The reason why a test was not added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It exists.
    Present,
    /// It exists and was edited.
    Edited,
    /// It was deleted.
    Deleted,
    /// Another test has its name.
    NameTaken,
    /// Its class has its body on the line of its name, so there is no room for methods.
    NoRoom,
}

/// The reason why a file cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeError {
    /// The file is not Python, or not UTF-8.
    #[allow(missing_docs, reason = "the line and the reason")]
    NotPython { line: usize, message: String },
    /// A name that the tests need has another meaning in the file.
    #[allow(missing_docs, reason = "the name and what it means there")]
    NameClash { name: String, meaning: String },
}

/// Adds a suite to a file; `bytes` is its content, or `None` for a new file.
///
/// `written` are the ids of all tests ever written to the file. A test among them that is not in
/// the file was deleted.
///
/// # Errors
/// If the file cannot be changed safely.
pub fn merge(
    bytes: Option<&[u8]>,
    suite: &UnitTestSuite,
    written: &BTreeSet<String>,
    force: RewritePolicy,
) -> Result<MergedFile, MergeError> {
    match bytes {
        Some(bytes) => {
            let merged = merge_into(bytes, suite, written, force)?;
            let is_plain = merged.inserted.iter().all(|range| {
                let text = merged.bytes.get(range.clone());
                text.is_none_or(<[u8]>::is_ascii)
            });
            // Only ASCII is safe in a file with another encoding.
            if !is_plain && std::str::from_utf8(bytes).is_err() {
                let message = "the tests have letters that this file's encoding may lack";
                return Err(MergeError::NotPython {
                    line: 1,
                    message: message.to_owned(),
                });
            }
            Ok(merged)
        }
        None => Ok(new_file(suite, written)),
    }
}

/// Finds the tests in a file that [`merge`] wrote, even if they were moved or renamed.
///
/// # Errors
/// If the file is not Python.
pub fn find_marked_tests(bytes: &[u8]) -> Result<Vec<MarkedTest>, MergeError> {
    Ok(ExistingFile::read(bytes)?.marked_tests())
}

/// Renders a suite as a new file, without the tests that were deleted.
fn new_file(suite: &UnitTestSuite, written: &BTreeSet<String>) -> MergedFile {
    let indentation = Indentation::default();
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
                .map(|test| (test.id.clone(), SkipReason::Deleted)),
        );
        if !wanted.is_empty() {
            imports.extend(wanted.iter().flat_map(|test| test.imports.iter().cloned()));
            added.extend(wanted.iter().map(|test| test.id.clone()));
            classes.push(class_lines(class, &wanted, &indentation));
        }
    }
    if classes.is_empty() {
        return MergedFile {
            bytes: Vec::new(),
            inserted: Vec::new(),
            added,
            skipped: left_alone,
        };
    }
    imports.extend(suite.imports.iter().cloned());
    let mut lines = import_lines(&imports);
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
    MergedFile {
        inserted: std::iter::once(0..bytes.len()).collect(),
        bytes,
        added,
        skipped: left_alone,
    }
}

/// Adds a suite to an existing file.
fn merge_into(
    bytes: &[u8],
    suite: &UnitTestSuite,
    written: &BTreeSet<String>,
    force: RewritePolicy,
) -> Result<MergedFile, MergeError> {
    let existing = ExistingFile::read(bytes)?;
    let mut edits = TextEdits::default();
    let mut added = Vec::new();
    let mut left_alone = Vec::new();
    let mut imports: Vec<TestImport> = Vec::new();
    let mut new_classes: Vec<Vec<String>> = Vec::new();
    for class in &suite.classes {
        let insertion = existing.method_insertion(&class.name);
        let mut wanted: Vec<&UnitTest> = Vec::new();
        for test in &class.tests {
            let verdict = match existing.find_test(test, &class.name) {
                ExistingTest::Untouched(range) if force == RewritePolicy::Rewrite => {
                    let lines = existing.indented_like(&range, &test.lines);
                    edits.replace(
                        range,
                        existing.join_lines(&marker::add_marker(&test.id, &lines)),
                    );
                    added.push(test.id.clone());
                    imports.extend(test.imports.iter().cloned());
                    continue;
                }
                ExistingTest::Untouched(_) => SkipReason::Present,
                ExistingTest::Edited => SkipReason::Edited,
                ExistingTest::NameTaken => SkipReason::NameTaken,
                ExistingTest::Absent if written.contains(&test.id) => SkipReason::Deleted,
                ExistingTest::Absent
                    if insertion
                        .as_ref()
                        .is_some_and(|insertion| insertion.is_none()) =>
                {
                    SkipReason::NoRoom
                }
                ExistingTest::Absent => {
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
        match insertion.flatten() {
            Some((end, indent)) => {
                let indentation = Indentation { indent };
                let mut lines = Vec::new();
                for test in wanted {
                    lines.push(String::new());
                    lines.extend(test_lines(test, &indentation));
                }
                edits.insert(end, existing.insertion_text(end, &lines));
            }
            None => new_classes.push(class_lines(class, &wanted, &existing.indentation())),
        }
    }
    if !added.is_empty() {
        imports.extend(suite.imports.iter().cloned());
    }
    let missing = existing.missing_imports(&imports)?;
    if !missing.is_empty() {
        let (end, text) = existing.import_insertion(&missing);
        edits.insert(end, text);
    }
    if !new_classes.is_empty() {
        let (end, text) = existing.class_insertion(&new_classes);
        edits.insert(end, text);
    }
    let (bytes, inserted) = edits.apply(bytes, existing.mark_length());
    Ok(MergedFile {
        bytes,
        inserted,
        added,
        skipped: left_alone,
    })
}

/// The indentation of a file.
struct Indentation {
    /// The text of one level.
    indent: String,
}

impl Default for Indentation {
    fn default() -> Indentation {
        Indentation {
            indent: "    ".to_owned(),
        }
    }
}

impl Indentation {
    /// Converts the indentation of a line, and adds one level.
    fn indent(&self, line: &str) -> String {
        if line.is_empty() {
            return String::new();
        }
        format!("{}{}", self.indent, self.convert(line))
    }

    /// Converts a line that is indented by four blanks per level.
    fn convert(&self, line: &str) -> String {
        let text = line.trim_start_matches(' ');
        let blanks = line.len() - text.len();
        let odd = " ".repeat(blanks % 4);
        format!("{}{odd}{text}", self.indent.repeat(blanks / 4))
    }
}

/// Renders a class with some of its tests.
fn class_lines(class: &TestClass, tests: &[&UnitTest], indentation: &Indentation) -> Vec<String> {
    let base = match &class.base {
        Some(base) => format!("({base})"),
        None => String::new(),
    };
    let mut lines = vec![format!("class {}{base}:", class.name)];
    for (index, test) in tests.iter().enumerate() {
        if index > 0 {
            lines.push(String::new());
        }
        lines.extend(test_lines(test, indentation));
    }
    lines
}

/// Renders a test inside of a class, with its marker.
fn test_lines(test: &UnitTest, indentation: &Indentation) -> Vec<String> {
    let lines: Vec<String> = test
        .lines
        .iter()
        .map(|line| indentation.indent(line))
        .collect();
    marker::add_marker(&test.id, &lines)
}

#[cfg(test)]
mod tests;
