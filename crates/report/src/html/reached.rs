//! Which tests reach a line, written down so that a page stays small.
//!
//! Lines that run together are reached by the same tests, so each set of tests is written once and lines refer to
//! it by number. Nobody reads a list of thousands, so a set is cut after [`MOST_LISTED`].

use std::collections::BTreeMap;
use std::fmt::Write;

use super::escape::Escaped;
use crate::coverage::{CoverageReport, FileCoverage};

/// How many tests of a set are listed by name.
const MOST_LISTED: usize = 200;

/// The tests that reach lines and branches of a file.
pub(super) struct Reached {
    /// By first line; indices of tests, in order and without repetition.
    lines: BTreeMap<u32, Vec<usize>>,
    /// By first line and destination.
    ways: BTreeMap<(u32, i32), Vec<usize>>,
}

impl Reached {
    pub(super) fn new(file: &FileCoverage) -> Reached {
        let mut reached = Reached {
            lines: BTreeMap::new(),
            ways: BTreeMap::new(),
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
                let (from, to) = file.meaning(*arc);
                if let Ok(from) = u32::try_from(from)
                    && (file.branches.get(&from)).is_some_and(|ways| ways.contains(&to))
                {
                    add(reached.ways.entry((from, to)).or_default(), *test);
                }
            }
        }
        reached
    }

    /// The tests that reach a statement. With `Attribution::First`, the first is the one that did so first.
    pub(super) fn line(&self, line: u32) -> &[usize] {
        self.lines.get(&line).map_or(&[], Vec::as_slice)
    }

    /// The tests that took a branch.
    pub(super) fn way(&self, line: u32, way: i32) -> &[usize] {
        self.ways.get(&(line, way)).map_or(&[], Vec::as_slice)
    }
}

/// The sets and tests that a page has mentioned so far.
#[derive(Default)]
pub(super) struct Mentioned {
    sets: BTreeMap<Vec<usize>, usize>,
    /// The text of each set, in the order of their numbers.
    texts: Vec<String>,
    /// The number of a test on this page.
    tests: BTreeMap<usize, usize>,
    /// The tests in the order of their numbers.
    order: Vec<usize>,
}

impl Mentioned {
    /// The number by which the page's script finds this set.
    pub(super) fn number(&mut self, set: &[usize]) -> usize {
        if let Some(number) = self.sets.get(set) {
            return *number;
        }
        let mut text = String::new();
        for test in set.iter().take(MOST_LISTED) {
            let next = self.order.len();
            let number = *self.tests.entry(*test).or_insert(next);
            if number == next {
                self.order.push(*test);
            }
            let _ = write!(text, "{number} ");
        }
        if set.len() > MOST_LISTED {
            let _ = write!(text, "+{}", set.len() - MOST_LISTED);
        }
        self.texts.push(text.trim_end().to_owned());
        let number = self.sets.len();
        self.sets.insert(set.to_owned(), number);
        number
    }

    /// What the script needs, as markup: the names of the tests and the sets, which are numbers only.
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
        let reached = Reached::new(&toys::cart());
        assert_eq!(reached.line(4), [0]);
        assert_eq!(reached.line(6), [1, 2]);
        assert_eq!(reached.line(7), []);
        assert_eq!(reached.way(6, 9), [1, 2]);
        assert_eq!(reached.way(6, 7), []);
    }

    #[test]
    fn a_set_is_written_once_and_not_too_long() {
        let mut mentioned = Mentioned::default();
        let many: Vec<usize> = (7..1007).collect();
        assert_eq!(mentioned.number(&[8, 7]), 0);
        assert_eq!(mentioned.number(&many), 1);
        assert_eq!(mentioned.number(&[8, 7]), 0);
        assert_eq!(mentioned.texts[0], "0 1");
        assert!(mentioned.texts[1].starts_with("1 0 2 3 "));
        assert!(mentioned.texts[1].ends_with(" 199 +800"));
        assert_eq!(mentioned.order.len(), MOST_LISTED);
    }
}
