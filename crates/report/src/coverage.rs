//! The data that all coverage reports are made from, and the results that follow from it.
//!
//! Everything is counted as coverage.py does when it measures branches. So the numbers here equal
//! those of `coverage report` on the [data file](crate::data_file).

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Sum;
use std::ops::Add;
use std::path::PathBuf;

use crate::visible::make_visible;

/// A jump from one line to another, as coverage.py counts: a negative number is the entry or the
/// exit of the code object whose first line it is (of a module: -1; of a function defined in line
/// 7: -7).
pub type Arc = (i32, i32);

/// Coverage of a set of files by a set of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageReport {
    /// Files, in any order. Reports sort them by name.
    pub files: Vec<FileCoverage>,
    /// Names of the tests, in the order in which they ran.
    pub tests: Vec<String>,
    /// Meaning of [`FileCoverage::by_test`].
    pub attribution: Attribution,
    /// Folder that file names are shown relative to.
    pub root: PathBuf,
}

/// Precision of the information on which test reached what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// The first test that reached each arc.
    First,
    /// All tests that reached each arc.
    Every,
}

/// Code that can run in one file, and code that did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// Absolute path.
    pub path: PathBuf,
    /// Source text, or `None` if it cannot be read.
    pub text: Option<String>,
    /// First lines of the statements that can run.
    pub statements: BTreeSet<u32>,
    /// Lines excluded on request (`# pragma: no cover`).
    pub excluded: BTreeSet<u32>,
    /// First line of the statement of each physical line, only where the two differ.
    pub first_lines: BTreeMap<u32, u32>,
    /// Destinations of each line that can be left in more than one way. All of them are first
    /// lines.
    pub branches: BTreeMap<u32, BTreeSet<i32>>,
    /// Lines of [`branches`](FileCoverage::branches) that count as fully taken
    /// (`# pragma: no branch`).
    pub waived: BTreeSet<u32>,
    /// Real destinations of executed arcs where the interpreter takes a detour that is not visible
    /// in the source. It leaves a `with` block by the line of the `with`. So (3, 1) means (3, 4)
    /// there, if the statement after the block is in line 4. Other arcs are not listed.
    pub detours: BTreeMap<Arc, Arc>,
    /// For each test, by its index in [`CoverageReport::tests`], the arcs that it executed: in
    /// physical lines, as the interpreter reports them. See [`Attribution`].
    pub by_test: Vec<(usize, BTreeSet<Arc>)>,
}

/// Results for one file: the lines and branches that ran, and those that did not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFindings {
    /// Statements that ran.
    pub executed: BTreeSet<u32>,
    /// Statements that did not run.
    pub missing: BTreeSet<u32>,
    /// Branches that were taken, from line to destination.
    pub executed_branches: BTreeSet<(u32, i32)>,
    /// Branches that were not taken.
    pub missing_branches: BTreeSet<(u32, i32)>,
    /// Lines that ran, but did not take every branch.
    pub partial: BTreeSet<u32>,
    /// Lines excluded on request.
    pub excluded: BTreeSet<u32>,
}

/// Numbers of statements, branches and lines, covered and missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoverageSummary {
    /// Statements that can run.
    pub statements: usize,
    /// Statements that did not run.
    pub missed_statements: usize,
    /// Branches: destinations of lines that have more than one.
    pub branches: usize,
    /// Branches that were not taken.
    pub missed_branches: usize,
    /// Lines that ran, but did not take every branch.
    pub partial_lines: usize,
    /// Lines excluded on request.
    pub excluded: usize,
}

impl CoverageReport {
    /// Returns the name of a file for people: relative to the root if possible, with `/` between
    /// folders, on one line and without terminal control characters.
    pub fn name(&self, file: &FileCoverage) -> String {
        make_visible(&self.relative_path(file)).into_owned()
    }

    /// Returns the path relative to the root if possible, otherwise the whole path, with `/`
    /// between folders.
    pub(crate) fn relative_path(&self, file: &FileCoverage) -> String {
        let path = file.path.strip_prefix(&self.root).unwrap_or(&file.path);
        let text = path.to_string_lossy().into_owned();
        match std::path::MAIN_SEPARATOR {
            '/' => text,
            separator => text.replace(separator, "/"),
        }
    }

    /// Returns the files with their names, sorted by name.
    pub(crate) fn sorted_files(&self) -> Vec<(String, &FileCoverage)> {
        let mut files: Vec<_> = (self.files.iter())
            .map(|file| (self.name(file), file))
            .collect();
        files.sort_by(|one, other| (&one.0, &one.1.path).cmp(&(&other.0, &other.1.path)));
        files
    }

    /// Returns the name of a test for people. A test that is not listed is named by its number.
    pub(crate) fn test_name(&self, index: usize) -> String {
        match self.tests.get(index) {
            Some(name) if name.trim().is_empty() => "(no name)".to_owned(),
            Some(name) => make_visible(name).into_owned(),
            None => format!("test {}", index + 1),
        }
    }

    /// Returns the sum over all files.
    pub fn counts(&self) -> CoverageSummary {
        (self.files.iter())
            .map(|file| file.findings().counts())
            .sum()
    }
}

impl FileCoverage {
    /// Returns the first line of the statement that a line belongs to. Works for entries and exits
    /// too, which are negative.
    pub fn first_line(&self, line: i32) -> i32 {
        match self.first_lines.get(&line.unsigned_abs()) {
            Some(first) => i32::try_from(*first).unwrap_or(i32::MAX) * line.signum(),
            None => line,
        }
    }

    /// Returns an executed arc as a reader sees it: in first lines, and without detours.
    pub(crate) fn normalise_arc(&self, arc: Arc) -> Arc {
        let direct = |arc: Arc| self.detours.get(&arc).copied().unwrap_or(arc);
        let (from, to) = direct(arc);
        direct((self.first_line(from), self.first_line(to)))
    }

    /// Iterates over the statements that an executed arc touches.
    pub(crate) fn touched(&self, arc: Arc) -> impl Iterator<Item = u32> {
        [arc.0, arc.1]
            .into_iter()
            .filter_map(|line| u32::try_from(self.first_line(line)).ok())
            .filter(|line| self.statements.contains(line))
    }

    /// Iterates over the lines with more than one destination. Leaves out excluded lines, as lines
    /// and as destinations.
    pub(crate) fn counted_branches(&self) -> impl Iterator<Item = (u32, Vec<i32>)> {
        let is_excluded = |line: i32| u32::try_from(line).is_ok_and(|l| self.excluded.contains(&l));
        (self.branches.iter())
            .filter(|(line, _)| !self.excluded.contains(line))
            .map(move |(line, destinations)| {
                let destinations = destinations
                    .iter()
                    .copied()
                    .filter(|destination| !is_excluded(*destination));
                (*line, destinations.collect::<Vec<i32>>())
            })
            .filter(|(_, destinations)| destinations.len() > 1)
    }

    /// Computes which statements and branches ran.
    pub fn findings(&self) -> FileFindings {
        // Thousands of tests may have run the same arcs, so these are merged first.
        let mut arcs: Vec<Arc> = (self.by_test.iter())
            .flat_map(|(_, arcs)| arcs.iter().copied())
            .collect();
        arcs.sort_unstable();
        arcs.dedup();
        let executed: BTreeSet<u32> = (arcs.iter()).flat_map(|arc| self.touched(*arc)).collect();
        let taken: BTreeSet<Arc> = arcs.iter().map(|arc| self.normalise_arc(*arc)).collect();
        let (executed_branches, missing_branches): (BTreeSet<_>, BTreeSet<_>) = self
            .counted_branches()
            .flat_map(|(line, destinations)| {
                destinations
                    .into_iter()
                    .map(move |destination| (line, destination))
            })
            .partition(|(line, destination)| {
                let is_taken = |line| taken.contains(&(line, *destination));
                self.waived.contains(line) || i32::try_from(*line).is_ok_and(is_taken)
            });
        FileFindings {
            missing: self.statements.difference(&executed).copied().collect(),
            partial: (missing_branches.iter().map(|(line, _)| *line))
                .filter(|line| executed.contains(line))
                .collect(),
            executed,
            executed_branches,
            missing_branches,
            excluded: self.excluded.clone(),
        }
    }
}

impl FileFindings {
    /// Counts the results.
    pub fn counts(&self) -> CoverageSummary {
        CoverageSummary {
            statements: self.executed.len() + self.missing.len(),
            missed_statements: self.missing.len(),
            branches: self.executed_branches.len() + self.missing_branches.len(),
            missed_branches: self.missing_branches.len(),
            partial_lines: self.partial.len(),
            excluded: self.excluded.len(),
        }
    }
}

impl CoverageSummary {
    /// Returns the number of executed statements and branches, and the number of all.
    pub fn covered(&self) -> (usize, usize) {
        let all = self.statements + self.branches;
        (all - self.missed_statements - self.missed_branches, all)
    }

    /// Returns the covered share from 0 to 100. It is 100 if there is nothing to cover.
    pub fn percentage(&self) -> f64 {
        match self.covered() {
            (_, 0) => 100.0,
            (covered, all) => 100.0 * covered as f64 / all as f64,
        }
    }

    /// Renders the percentage with so many decimals, without a sign. It is 100 only if nothing is
    /// missing, and 0 only if nothing ran, however close the number is.
    pub fn percentage_text(&self, decimals: usize) -> String {
        let exact = self.percentage();
        let smallest = 0.1_f64.powi(decimals as i32);
        let shown = if exact > 0.0 && exact < smallest {
            smallest
        } else if exact < 100.0 && exact > 100.0 - smallest {
            100.0 - smallest
        } else {
            exact
        };
        format!("{shown:.decimals$}")
    }
}

impl Add for CoverageSummary {
    type Output = CoverageSummary;

    fn add(self, other: CoverageSummary) -> CoverageSummary {
        CoverageSummary {
            statements: self.statements + other.statements,
            missed_statements: self.missed_statements + other.missed_statements,
            branches: self.branches + other.branches,
            missed_branches: self.missed_branches + other.missed_branches,
            partial_lines: self.partial_lines + other.partial_lines,
            excluded: self.excluded + other.excluded,
        }
    }
}

impl Sum for CoverageSummary {
    fn sum<I: Iterator<Item = CoverageSummary>>(counts: I) -> CoverageSummary {
        counts.fold(CoverageSummary::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys;

    #[test]
    fn executed_and_missing_lines_and_branches_are_found() {
        let findings = toys::cart().findings();
        assert_eq!(findings.executed, BTreeSet::from([1, 4, 6, 9, 11, 12]));
        assert_eq!(findings.missing, BTreeSet::from([7, 13]));
        assert_eq!(
            findings.executed_branches,
            BTreeSet::from([(6, 9), (11, 12)])
        );
        assert_eq!(
            findings.missing_branches,
            BTreeSet::from([(6, 7), (11, -4), (12, 11), (12, 13)])
        );
        assert_eq!(findings.partial, BTreeSet::from([6, 11, 12]));
        let counts = findings.counts();
        assert_eq!(counts.covered(), (8, 14));
        assert_eq!(counts.percentage_text(0), "57");
        assert_eq!(counts.percentage_text(2), "57.14");
    }

    #[test]
    fn a_statement_of_several_lines_is_one() {
        let file = FileCoverage {
            statements: BTreeSet::from([1, 5]),
            first_lines: BTreeMap::from([(2, 1), (3, 1)]),
            branches: BTreeMap::from([(1, BTreeSet::from([-1, 5]))]),
            by_test: vec![(0, BTreeSet::from([(-1, 2), (2, 3), (3, -2)]))],
            ..FileCoverage::default()
        };
        let findings = file.findings();
        assert_eq!(findings.executed, BTreeSet::from([1]));
        assert_eq!(findings.executed_branches, BTreeSet::from([(1, -1)]));
    }

    #[test]
    fn branches_to_lines_that_are_left_out_do_not_count() {
        let file = FileCoverage {
            statements: BTreeSet::from([1, 4]),
            excluded: BTreeSet::from([2, 7]),
            branches: BTreeMap::from([
                (1, BTreeSet::from([2, 4])),
                (4, BTreeSet::from([2, 5, -1])),
                (7, BTreeSet::from([8, 9])),
            ]),
            ..FileCoverage::default()
        };
        assert_eq!(
            file.findings().missing_branches,
            BTreeSet::from([(4, 5), (4, -1)])
        );
    }

    #[test]
    fn leaving_a_with_block_is_not_going_back_to_it() {
        // with a:
        //     if b:
        //         c
        // d
        let file = FileCoverage {
            statements: BTreeSet::from([1, 2, 3, 4]),
            branches: BTreeMap::from([(2, BTreeSet::from([3, 4]))]),
            detours: BTreeMap::from([((2, 1), (2, 4)), ((3, 1), (3, 4))]),
            by_test: vec![(
                0,
                BTreeSet::from([(-1, 1), (1, 2), (2, 1), (1, 4), (4, -1)]),
            )],
            ..FileCoverage::default()
        };
        let findings = file.findings();
        assert_eq!(findings.executed_branches, BTreeSet::from([(2, 4)]));
        assert_eq!(findings.missing_branches, BTreeSet::from([(2, 3)]));
    }

    #[test]
    fn waived_branches_count_as_taken() {
        let mut file = toys::cart();
        file.waived = BTreeSet::from([11]);
        let findings = file.findings();
        assert!(findings.executed_branches.contains(&(11, -4)));
        assert!(!findings.partial.contains(&11));
    }

    #[test]
    fn only_all_is_100_and_only_nothing_is_0() {
        let text = |missed, of, decimals| {
            let counts = CoverageSummary {
                statements: of,
                missed_statements: missed,
                ..CoverageSummary::default()
            };
            counts.percentage_text(decimals)
        };
        assert_eq!(text(0, 0, 0), "100");
        assert_eq!(text(0, 7, 0), "100");
        assert_eq!(text(7, 7, 0), "0");
        assert_eq!(text(1, 1000, 0), "99");
        assert_eq!(text(1, 1000, 1), "99.9");
        assert_eq!(text(1, 100_000, 1), "99.9");
        assert_eq!(text(999, 1000, 0), "1");
        assert_eq!(text(99_999, 100_000, 2), "0.01");
        assert_eq!(text(7, 8, 0), "12", "half to even, as Python rounds");
        assert_eq!(text(1, 3, 0), "67");
    }

    #[test]
    fn names_are_relative_to_the_root_and_harmless() {
        let report = toys::report();
        let name = |path: &str| {
            report.name(&FileCoverage {
                path: path.into(),
                ..FileCoverage::default()
            })
        };
        assert_eq!(name("/project/shop/cart.py"), "shop/cart.py");
        assert_eq!(name("/projects/a.py"), "/projects/a.py");
        assert_eq!(name("/project/a\n\u{1b}[31m.py"), "a\\n\\u{1b}[31m.py");
    }

    #[test]
    fn line_numbers_that_make_no_sense_do_no_harm() {
        let file = FileCoverage {
            statements: BTreeSet::from([1, u32::MAX]),
            first_lines: BTreeMap::from([(5, u32::MAX)]),
            branches: BTreeMap::from([(u32::MAX, BTreeSet::from([i32::MIN, i32::MAX, 0]))]),
            by_test: vec![(99, BTreeSet::from([(i32::MIN, i32::MAX), (0, 0), (5, -5)]))],
            ..FileCoverage::default()
        };
        let counts = file.findings().counts();
        assert_eq!((counts.statements, counts.branches), (2, 3));
    }
}
