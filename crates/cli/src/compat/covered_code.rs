//! Coverage as TSTL counts it: branches are all arcs from line to line, and statements are the
//! lines at their ends.
//!
//! Code that runs while modules are loaded and slots are initialized does not count, unless the
//! harness was compiled so.

use std::collections::BTreeSet;

use testwright_core::{Coverage, Error, TargetId};
use testwright_python::{Arc, Collector};
use testwright_report::{CoverageReport, html, table};

use crate::console::Console;
use crate::coverage::{now, report_targets};
use crate::files::UserPath;

/// The code that was covered so far.
#[derive(Default)]
pub(super) struct CoveredCode {
    /// The covered arcs.
    branches: Coverage,
    /// The lines at their ends.
    statements: BTreeSet<SourceLine>,
}

/// A line of a file, by the file's number.
pub(super) type SourceLine = (usize, i32);

/// Code that was covered for the first time.
#[derive(Clone, Debug, Default)]
pub(super) struct NewlyCovered {
    pub(super) branches: Vec<TargetId>,
    pub(super) statements: Vec<SourceLine>,
}

impl NewlyCovered {
    /// Returns true if nothing is new.
    pub(super) fn is_empty(&self) -> bool {
        self.branches.is_empty() && self.statements.is_empty()
    }

    /// Adds more new code.
    pub(super) fn add(&mut self, more: NewlyCovered) {
        self.branches.extend(more.branches);
        self.statements.extend(more.statements);
    }
}

impl CoveredCode {
    /// Adds covered targets, and returns the new part.
    pub(super) fn add(
        &mut self,
        collector: &Collector<'_>,
        targets: impl IntoIterator<Item = TargetId>,
    ) -> NewlyCovered {
        let mut new = NewlyCovered::default();
        for target in targets {
            if !self.branches.insert(target) {
                continue;
            }
            new.branches.push(target);
            let (file, arc) = collector.file_and_arc(target);
            for line in end_lines(arc) {
                if self.statements.insert((file, line)) {
                    new.statements.push((file, line));
                }
            }
        }
        new
    }

    /// Returns the number of covered branches.
    pub(super) fn branches(&self) -> usize {
        self.branches.len()
    }

    /// Returns the number of covered statements.
    pub(super) fn statements(&self) -> usize {
        self.statements.len()
    }

    /// Makes a report.
    fn report(&self, collector: &Collector<'_>) -> CoverageReport {
        report_targets(collector, self.branches.iter().collect())
    }

    /// Writes a table, and returns the percentage of covered statements and branches.
    pub(super) fn write_table(
        &self,
        collector: &Collector<'_>,
        path: &UserPath,
    ) -> Result<f64, Error> {
        let report = self.report(collector);
        let options = table::TableOptions {
            width: 120,
            unicode: true,
            colour: false,
        };
        path.write(&table::table(&report, &options))?;
        Ok(if report.files.is_empty() {
            0.0
        } else {
            report.counts().percentage()
        })
    }

    /// Writes HTML pages to a folder.
    pub(super) fn write_pages(
        &self,
        collector: &Collector<'_>,
        folder: &UserPath,
    ) -> Result<(), Error> {
        html::write(&self.report(collector), folder.absolute(), now())
            .map(drop)
            .map_err(|error| Error::new(error.to_string()))
    }

    /// Prints all covered code, file by file.
    pub(super) fn print_all(&self, console: &mut Console<'_>, collector: &Collector<'_>) {
        console.out("TSTL INTERNAL COVERAGE REPORT:");
        for (number, file) in collector.files().iter().enumerate() {
            let name = file.path.display();
            let of_file = |target: &TargetId| collector.file_and_arc(*target).0 == number;
            let arcs: BTreeSet<Arc> = self
                .branches
                .iter()
                .filter(of_file)
                .map(|target| collector.file_and_arc(target).1)
                .collect();
            let lines = self.statements.iter().filter(|(of, _)| *of == number);
            let lines: Vec<i32> = lines.map(|(_, line)| *line).collect();
            let arcs: Vec<Arc> = arcs.into_iter().collect();
            console.out(format_args!("{name} ARCS: {} {arcs:?}", arcs.len()));
            console.out(format_args!("{name} LINES: {} {lines:?}", lines.len()));
        }
        console.out(format_args!("TOTAL BRANCHES COVERED: {}", self.branches()));
        console.out(format_args!(
            "TOTAL STATEMENTS COVERED: {}",
            self.statements()
        ));
    }
}

/// Returns the lines at the ends of an arc.
fn end_lines(arc: Arc) -> impl Iterator<Item = i32> {
    [arc.0, arc.1].into_iter().filter(|line| *line > 0)
}

/// Returns the lines at the ends of branches.
pub(super) fn statement_lines(
    collector: &Collector<'_>,
    targets: impl IntoIterator<Item = TargetId>,
) -> BTreeSet<SourceLine> {
    let mut lines = BTreeSet::new();
    for target in targets {
        let (file, arc) = collector.file_and_arc(target);
        lines.extend(end_lines(arc).map(|line| (file, line)));
    }
    lines
}

/// The names of code locations, as Python prints them and as users type them.
pub(super) struct CodeNames(Vec<String>);

impl CodeNames {
    /// Reads the names of the measured files.
    pub(super) fn new(collector: &Collector<'_>) -> CodeNames {
        let files = collector.files();
        CodeNames(
            files
                .iter()
                .map(|file| file.path.display().to_string())
                .collect(),
        )
    }

    /// Returns the name of a file.
    fn file(&self, number: usize) -> &str {
        self.0.get(number).map_or("?", String::as_str)
    }

    /// Renders `('avl.py', (3, 4))`.
    pub(super) fn branch(&self, collector: &Collector<'_>, target: TargetId) -> String {
        let (file, (from, to)) = collector.file_and_arc(target);
        format!("('{}', ({from}, {to}))", self.file(file))
    }

    /// Renders `('avl.py', 3)`.
    pub(super) fn statement(&self, (file, line): SourceLine) -> String {
        format!("('{}', {line})", self.file(file))
    }

    /// Renders `avl.py:3-4`.
    pub(super) fn typed_branch(&self, collector: &Collector<'_>, target: TargetId) -> String {
        let (file, (from, to)) = collector.file_and_arc(target);
        format!("{}:{from}-{to}", self.file(file))
    }

    /// Renders `avl.py:3`.
    pub(super) fn typed_statement(&self, (file, line): SourceLine) -> String {
        format!("{}:{line}", self.file(file))
    }
}
