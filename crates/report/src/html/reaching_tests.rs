//! The tests that reach each line, encoded so that a page stays small.
//!
//! Lines that run together are reached by the same tests. So each set of tests is written once, and
//! lines refer to it by number. A set is cut after [`MAX_LISTED`] tests, since a list of thousands
//! is of no use.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::escape::Escaped;
use crate::coverage::{CoverageReport, FileCoverage};

/// Maximum number of tests of a set that are listed by name.
const MAX_LISTED: usize = 200;

/// Tests that reach the lines and branches of a file.
pub(super) struct ReachingTests {
    /// For each first line of a statement, the indices of its tests, in order and without
    /// repetition.
    lines: BTreeMap<u32, Vec<usize>>,
    /// For each first line and destination, the indices of its tests.
    branches: BTreeMap<(u32, i32), Vec<usize>>,
}

impl ReachingTests {
    /// Collects the tests of a file.
    pub(super) fn new(file: &FileCoverage) -> ReachingTests {
        let mut reached = ReachingTests {
            lines: BTreeMap::new(),
            branches: BTreeMap::new(),
        };
        let mut by_test: Vec<_> = file.by_test.iter().collect();
        by_test.sort_by_key(|(test, _)| *test);
        let add = |tests: &mut Vec<usize>, test| {
            if tests.last() != Some(&test) {
                tests.push(test);
            }
        };
        for (test, arcs) in by_test {
            for arc in arcs {
                for line in file.touched(*arc) {
                    add(reached.lines.entry(line).or_default(), *test);
                }
                let (from, to) = file.normalise_arc(*arc);
                if let Ok(from) = u32::try_from(from)
                    && (file.branches.get(&from))
                        .is_some_and(|destinations| destinations.contains(&to))
                {
                    add(reached.branches.entry((from, to)).or_default(), *test);
                }
            }
        }
        reached
    }

    /// Returns the tests that reach a statement. With `Attribution::First`, the first of them
    /// reached it first.
    pub(super) fn tests_of_line(&self, line: u32) -> &[usize] {
        self.lines.get(&line).map_or(&[], Vec::as_slice)
    }

    /// Returns the tests that took a branch.
    pub(super) fn tests_of_branch(&self, line: u32, destination: i32) -> &[usize] {
        self.branches
            .get(&(line, destination))
            .map_or(&[], Vec::as_slice)
    }
}

/// Sets and tests that a page has mentioned so far.
#[derive(Default)]
pub(super) struct TestSets {
    /// Number of each set.
    sets: BTreeMap<Vec<usize>, usize>,
    /// Text of each set, in the order of their numbers.
    texts: Vec<String>,
    /// Number of each test on this page.
    tests: BTreeMap<usize, usize>,
    /// Tests in the order of their numbers.
    order: Vec<usize>,
}

impl TestSets {
    /// Returns the number by which the page's script finds a set, and adds the set if it is new.
    pub(super) fn set_number(&mut self, set: &[usize]) -> usize {
        if let Some(number) = self.sets.get(set) {
            return *number;
        }
        let mut text = String::new();
        for test in set.iter().take(MAX_LISTED) {
            let next = self.order.len();
            let number = *self.tests.entry(*test).or_insert(next);
            if number == next {
                self.order.push(*test);
            }
            let _ = write!(text, "{number} ");
        }
        if set.len() > MAX_LISTED {
            let _ = write!(text, "+{}", set.len() - MAX_LISTED);
        }
        self.texts.push(text.trim_end().to_owned());
        let number = self.sets.len();
        self.sets.insert(set.to_owned(), number);
        number
    }

    /// Renders the data for the script: the names of the tests, and the sets as lists of numbers.
    pub(super) fn markup(&self, report: &CoverageReport) -> String {
        let mut text = String::from("<ol id=\"tests\" hidden>\n");
        for test in &self.order {
            let _ = writeln!(text, "<li>{}</li>", Escaped(&report.test_name(*test)));
        }
        text.push_str("</ol>\n<script type=\"text/plain\" id=\"sets\">");
        text.push_str(&self.texts.join("\n"));
        text.push_str("</script>\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys;

    #[test]
    fn tests_by_line_and_by_branch() {
        let reached = ReachingTests::new(&toys::cart());
        assert_eq!(reached.tests_of_line(4), [0]);
        assert_eq!(reached.tests_of_line(6), [1, 2]);
        assert_eq!(reached.tests_of_line(7), []);
        assert_eq!(reached.tests_of_branch(6, 9), [1, 2]);
        assert_eq!(reached.tests_of_branch(6, 7), []);
    }

    #[test]
    fn a_set_is_written_once_and_not_too_long() {
        let mut mentioned = TestSets::default();
        let many: Vec<usize> = (7..1007).collect();
        assert_eq!(mentioned.set_number(&[8, 7]), 0);
        assert_eq!(mentioned.set_number(&many), 1);
        assert_eq!(mentioned.set_number(&[8, 7]), 0);
        assert_eq!(mentioned.texts[0], "0 1");
        assert!(mentioned.texts[1].starts_with("1 0 2 3 "));
        assert!(mentioned.texts[1].ends_with(" 199 +800"));
        assert_eq!(mentioned.order.len(), MAX_LISTED);
    }
}
