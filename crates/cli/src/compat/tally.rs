//! Coverage as TSTL counts it: branches are all ways from line to line, statements the lines at their ends.
//!
//! What runs while modules are loaded and slots initialised does not count, unless the harness was compiled so.

use std::collections::BTreeSet;

use testwright_core::{Coverage, Error, TargetId};
use testwright_python::{Arc, Collector};
use testwright_report::{CoverageReport, html, table};

use crate::console::Console;
use crate::coverage::{now, report_of};
use crate::files::Place;

/// All that was covered so far.
#[derive(Default)]
pub(super) struct Tally {
    branches: Coverage,
    statements: BTreeSet<Line>,
}

/// A line of a file, by the file's number.
pub(super) type Line = (usize, i32);

/// What was covered for the first time.
#[derive(Clone, Debug, Default)]
pub(super) struct New {
    pub(super) branches: Vec<TargetId>,
    pub(super) statements: Vec<Line>,
}

impl New {
    pub(super) fn is_empty(&self) -> bool {
        self.branches.is_empty() && self.statements.is_empty()
    }

    pub(super) fn add(&mut self, more: New) {
        self.branches.extend(more.branches);
        self.statements.extend(more.statements);
    }
}

impl Tally {
    /// Adds what was covered; what of it is new.
    pub(super) fn add(
        &mut self,
        collector: &Collector<'_>,
        targets: impl IntoIterator<Item = TargetId>,
    ) -> New {
        let mut new = New::default();
        for target in targets {
            if !self.branches.insert(target) {
                continue;
            }
            new.branches.push(target);
            let (file, arc) = collector.meaning(target);
            for line in ends(arc) {
                if self.statements.insert((file, line)) {
                    new.statements.push((file, line));
                }
            }
        }
        new
    }

    pub(super) fn branches(&self) -> usize {
        self.branches.len()
    }

    pub(super) fn statements(&self) -> usize {
        self.statements.len()
    }

    fn report(&self, collector: &Collector<'_>) -> CoverageReport {
        report_of(collector, self.branches.iter().collect())
    }

    /// Writes a table; the percentage of statements and branches.
    pub(super) fn write_table(
        &self,
        collector: &Collector<'_>,
        place: &Place,
    ) -> Result<f64, Error> {
        let report = self.report(collector);
        let options = table::Options {
            width: 120,
            unicode: true,
            colour: false,
        };
        place.write(&table::table(&report, &options))?;
        Ok(if report.files.is_empty() {
            0.0
        } else {
            report.counts().percentage()
        })
    }

    /// Writes pages to a folder.
    pub(super) fn write_pages(
        &self,
        collector: &Collector<'_>,
        folder: &Place,
    ) -> Result<(), Error> {
        html::write(&self.report(collector), folder.absolute(), now())
            .map(drop)
            .map_err(|error| Error::new(error.to_string()))
    }

    /// Says all that was covered, file by file.
    pub(super) fn say_all(&self, console: &mut Console<'_>, collector: &Collector<'_>) {
        console.say("TSTL INTERNAL COVERAGE REPORT:");
        for (number, file) in collector.files().iter().enumerate() {
            let name = file.path.display();
            let of_file = |target: &TargetId| collector.meaning(*target).0 == number;
            let arcs: BTreeSet<Arc> = self
                .branches
                .iter()
                .filter(of_file)
                .map(|target| collector.meaning(target).1)
                .collect();
            let lines = self.statements.iter().filter(|(of, _)| *of == number);
            let lines: Vec<i32> = lines.map(|(_, line)| *line).collect();
            let arcs: Vec<Arc> = arcs.into_iter().collect();
            console.say(format_args!("{name} ARCS: {} {arcs:?}", arcs.len()));
            console.say(format_args!("{name} LINES: {} {lines:?}", lines.len()));
        }
        console.say(format_args!("TOTAL BRANCHES COVERED: {}", self.branches()));
        console.say(format_args!(
            "TOTAL STATEMENTS COVERED: {}",
            self.statements()
        ));
    }
}

/// The lines that a branch leads from and to.
fn ends(arc: Arc) -> impl Iterator<Item = i32> {
    [arc.0, arc.1].into_iter().filter(|line| *line > 0)
}

/// The lines that branches lead from and to.
pub(super) fn statements_of(
    collector: &Collector<'_>,
    targets: impl IntoIterator<Item = TargetId>,
) -> BTreeSet<Line> {
    let mut lines = BTreeSet::new();
    for target in targets {
        let (file, arc) = collector.meaning(target);
        lines.extend(ends(arc).map(|line| (file, line)));
    }
    lines
}

/// The names of places in the code, as Python shows them and as they are typed.
pub(super) struct Names(Vec<String>);

impl Names {
    pub(super) fn new(collector: &Collector<'_>) -> Names {
        let files = collector.files();
        Names(
            files
                .iter()
                .map(|file| file.path.display().to_string())
                .collect(),
        )
    }

    fn file(&self, number: usize) -> &str {
        self.0.get(number).map_or("?", String::as_str)
    }

    /// `('avl.py', (3, 4))`
    pub(super) fn branch(&self, collector: &Collector<'_>, target: TargetId) -> String {
        let (file, (from, to)) = collector.meaning(target);
        format!("('{}', ({from}, {to}))", self.file(file))
    }

    /// `('avl.py', 3)`
    pub(super) fn statement(&self, (file, line): Line) -> String {
        format!("('{}', {line})", self.file(file))
    }

    /// `avl.py:3-4`
    pub(super) fn typed_branch(&self, collector: &Collector<'_>, target: TargetId) -> String {
        let (file, (from, to)) = collector.meaning(target);
        format!("{}:{from}-{to}", self.file(file))
    }

    /// `avl.py:3`
    pub(super) fn typed_statement(&self, (file, line): Line) -> String {
        format!("{}:{line}", self.file(file))
    }
}
