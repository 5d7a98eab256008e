//! Coverage for scripts: sets of statements and branches.
//!
//! A statement is `(file, line)`, a branch `(file, (from, to))`: every step from line to line,
//! entries and exits of functions included, as TSTL and coverage.py count them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PySet;
use testwright_core::{Error, TargetId, describe_os_error};
use testwright_python::{Arc, Collector};
use testwright_report::{html, table};

use super::{Sut, to_py_error};

/// The coverage that is remembered from step to step.
pub(super) struct Measurement {
    /// The targets first touched in the last step.
    new: Vec<TargetId>,
    /// The targets first touched in this test.
    new_in_test: Vec<TargetId>,
    /// The lines that were ever touched.
    lines: BTreeSet<(usize, i32)>,
    /// The lines first touched in the last step.
    new_lines: BTreeSet<(usize, i32)>,
    /// The lines first touched in this test.
    new_lines_in_test: BTreeSet<(usize, i32)>,
}

impl Measurement {
    /// Starts after the imports.
    pub(super) fn new(collector: &Collector<'_>) -> Measurement {
        let mut measurement = Measurement {
            new: Vec::new(),
            new_in_test: Vec::new(),
            lines: BTreeSet::new(),
            new_lines: BTreeSet::new(),
            new_lines_in_test: BTreeSet::new(),
        };
        // The coverage of imports belongs to no test.
        measurement.record(collector, false);
        measurement
    }

    /// Records the targets that are new since the last call, in a step or in the check after
    /// it.
    pub(super) fn record(&mut self, collector: &Collector<'_>, in_check: bool) {
        if !in_check {
            self.new.clear();
            self.new_lines.clear();
        }
        for target in collector.take_new() {
            self.new.push(target);
            self.new_in_test.push(target);
            let (file, arc) = collector.file_and_arc(target);
            for line in lines_of(arc) {
                if self.lines.insert((file, line)) {
                    self.new_lines.insert((file, line));
                    self.new_lines_in_test.insert((file, line));
                }
            }
        }
    }

    /// Forgets everything that was ever touched.
    fn forget_all(&mut self) {
        self.new.clear();
        self.new_in_test.clear();
        self.lines.clear();
        self.new_lines.clear();
        self.new_lines_in_test.clear();
    }

    /// Begins a new test.
    pub(super) fn start_test(&mut self, collector: &Collector<'_>) -> Result<(), Error> {
        // The coverage of a reset belongs to no test, either.
        self.record(collector, false);
        self.new.clear();
        self.new_in_test.clear();
        self.new_lines.clear();
        self.new_lines_in_test.clear();
        collector.reset_current()
    }
}

/// Returns the lines at the ends of an arc.
fn lines_of(arc: Arc) -> impl Iterator<Item = i32> {
    [arc.0, arc.1].into_iter().filter(|line| *line > 0)
}

/// A file and a line.
type Statement = (String, i32);
/// A file and the two lines of an arc.
type Branch = (String, (i32, i32));

/// Returns the names of the measured files.
fn file_names(collector: &Collector<'_>) -> Vec<String> {
    let files = collector.files();
    files
        .iter()
        .map(|file| file.path.to_string_lossy().into_owned())
        .collect()
}

/// Names branches.
fn branches(collector: &Collector<'_>, targets: impl Iterator<Item = TargetId>) -> Vec<Branch> {
    let names = file_names(collector);
    targets
        .map(|target| {
            let (file, arc) = collector.file_and_arc(target);
            (names[file].clone(), arc)
        })
        .collect()
}

/// Names the statements at the ends of branches.
fn statements(
    collector: &Collector<'_>,
    targets: impl Iterator<Item = TargetId>,
) -> Vec<Statement> {
    let names = file_names(collector);
    let mut lines = BTreeSet::new();
    for target in targets {
        let (file, arc) = collector.file_and_arc(target);
        lines.extend(lines_of(arc).map(|line| (file, line)));
    }
    name_statements(&names, &lines)
}

/// Names lines.
fn name_statements(names: &[String], lines: &BTreeSet<(usize, i32)>) -> Vec<Statement> {
    lines
        .iter()
        .map(|(file, line)| (names[*file].clone(), *line))
        .collect()
}

impl Sut {
    /// Returns true if coverage is measured.
    pub(super) fn measures(&self) -> bool {
        self.measurement.is_some()
    }

    /// Returns true if the last step touched anything for the first time.
    pub(super) fn touched_anything_new(slf: &Bound<'_, Sut>) -> PyResult<bool> {
        Sut::with_measurement(slf, |_, measurement| !measurement.new.is_empty())
    }

    /// Calls `query` with the collector and the measurement, or returns an error if there are none.
    fn with_measurement<'py, R>(
        slf: &Bound<'py, Sut>,
        query: impl FnOnce(&Collector<'py>, &mut Measurement) -> R,
    ) -> PyResult<R> {
        let mut sut = Sut::borrow_mut(slf)?;
        let Sut {
            system,
            measurement,
            ..
        } = &mut *sut;
        let answer = system.with(slf.py(), |system| {
            let collector = system.coverage()?;
            Some(query(collector, measurement.as_mut()?))
        });
        answer.ok_or_else(|| {
            PyRuntimeError::new_err(
                "coverage is not measured; load the harness with `coverage=True`",
            )
        })
    }
}

#[pymethods]
impl Sut {
    /// True if coverage is measured.
    ///
    ///     >>> sut.measures_coverage
    ///     True
    ///     >>> testwright.load("stack.tstl", coverage=False).measures_coverage
    ///     False
    #[getter]
    fn measures_coverage(&self) -> bool {
        self.measures()
    }

    /// Measures again after `stop_coverage`.
    ///
    ///     >>> sut.stop_coverage()
    ///     >>> sut.start_coverage()
    ///     >>> sut.replay(test[:1])
    ///     True
    ///     >>> len(sut.curr_statements())
    ///     1
    fn start_coverage(slf: &Bound<'_, Sut>) -> PyResult<()> {
        let started = Sut::with_measurement(slf, |collector, _| collector.resume())?;
        started.map_err(|error| to_py_error(&error))
    }

    /// Stops the measurement: code touched from now on does not count.
    ///
    ///     >>> sut.stop_coverage()
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> sut.curr_statements()
    ///     set()
    fn stop_coverage(slf: &Bound<'_, Sut>) -> PyResult<()> {
        Sut::with_measurement(slf, |collector, _| collector.pause())
    }

    /// Forgets the code touched by the current test and its last step.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> sut.clean_cov()
    ///     >>> sut.curr_statements()
    ///     set()
    fn clean_cov(slf: &Bound<'_, Sut>) -> PyResult<()> {
        let cleaned = Sut::with_measurement(slf, |collector, measurement| {
            measurement.start_test(collector)
        })?;
        cleaned.map_err(|error| to_py_error(&error))
    }

    /// Forgets all that was ever touched.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> sut.reset_cov()
    ///     >>> sut.all_statements()
    ///     set()
    fn reset_cov(slf: &Bound<'_, Sut>) -> PyResult<()> {
        let reset = Sut::with_measurement(slf, |collector, measurement| {
            measurement.forget_all();
            collector.forget_all()
        })?;
        reset.map_err(|error| to_py_error(&error))
    }

    /// For scripts that silence warnings of coverage.py; here there are none.
    fn silence_coverage(&self) {}

    /// Every branch that was ever touched.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> before = sut.all_branches()
    ///     >>> sut.replay(test[:5])
    ///     True
    ///     >>> before < sut.all_branches()
    ///     True
    fn all_branches<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PySet>> {
        let found = Sut::with_measurement(slf, |collector, _| {
            branches(collector, collector.all().iter())
        })?;
        PySet::new(slf.py(), found)
    }

    /// Every statement that was ever touched.
    ///
    ///     >>> sut.replay(test[:1])
    ///     True
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> sorted(line for file, line in sut.all_statements())
    ///     [1, 2, 3, 5, 6, 8, 11, 14, 17, 18, 20, 23]
    fn all_statements<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PySet>> {
        let found = Sut::with_measurement(slf, |collector, _| {
            statements(collector, collector.all().iter())
        })?;
        PySet::new(slf.py(), found)
    }

    /// The branches that the current test touched.
    ///
    ///     >>> sut.replay(test[:1])
    ///     True
    ///     >>> sorted(branch for file, branch in sut.curr_branches())
    ///     [(-2, 3), (3, -2)]
    pub(crate) fn curr_branches<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PySet>> {
        let found = Sut::with_measurement(slf, |collector, _| {
            branches(collector, collector.current().iter())
        })?;
        PySet::new(slf.py(), found)
    }

    /// The statements that the current test touched.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> sorted(line for file, line in sut.curr_statements())
    ///     [3, 6, 18]
    pub(crate) fn curr_statements<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PySet>> {
        let found = Sut::with_measurement(slf, |collector, _| {
            statements(collector, collector.current().iter())
        })?;
        PySet::new(slf.py(), found)
    }

    /// The branches that the last step, with the check after it, was the first ever to touch.
    ///
    ///     >>> sut.replay(test[:1])
    ///     True
    ///     >>> sorted(branch for file, branch in sut.new_branches())
    ///     [(-2, 3), (3, -2)]
    ///     >>> sut.replay(test[:1])
    ///     True
    ///     >>> sut.new_branches()
    ///     set()
    pub(crate) fn new_branches<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PySet>> {
        let found = Sut::with_measurement(slf, |collector, measurement| {
            branches(collector, measurement.new.iter().copied())
        })?;
        PySet::new(slf.py(), found)
    }

    /// The statements that the last step, with the check after it, was the first ever to touch.
    ///
    ///     >>> sut.replay(test[:1])
    ///     True
    ///     >>> sorted(line for file, line in sut.new_statements())
    ///     [3]
    ///     >>> sut.replay(test[:1])
    ///     True
    ///     >>> sut.new_statements()
    ///     set()
    pub(crate) fn new_statements<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PySet>> {
        let found = Sut::with_measurement(slf, |collector, measurement| {
            name_statements(&file_names(collector), &measurement.new_lines)
        })?;
        PySet::new(slf.py(), found)
    }

    /// The branches that the current test was the first ever to touch.
    ///
    ///     >>> sut.replay(test[:2])
    ///     True
    ///     >>> sut.new_branches()
    ///     set()
    ///     >>> sorted(branch for file, branch in sut.new_curr_branches())
    ///     [(-2, 3), (3, -2)]
    fn new_curr_branches<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PySet>> {
        let found = Sut::with_measurement(slf, |collector, measurement| {
            branches(collector, measurement.new_in_test.iter().copied())
        })?;
        PySet::new(slf.py(), found)
    }

    /// The statements that the current test was the first ever to touch.
    ///
    ///     >>> sut.replay(test[:2])
    ///     True
    ///     >>> sut.new_statements()
    ///     set()
    ///     >>> sorted(line for file, line in sut.new_curr_statements())
    ///     [3]
    fn new_curr_statements<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PySet>> {
        let found = Sut::with_measurement(slf, |collector, measurement| {
            name_statements(&file_names(collector), &measurement.new_lines_in_test)
        })?;
        PySet::new(slf.py(), found)
    }

    /// Writes a table of the coverage to a file. Returns the percentage of lines and branches.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> percentage = sut.report("coverage.txt")
    ///     >>> print(Path("coverage.txt").read_text(encoding="utf-8"), end="")
    ///     Name      Statements  Missed  Branches  Missed  Cover  Missing
    ///     ────────────────────────────────────────────────────────────────────────
    ///     stack.py          17       5         0       0    71%  9, 12, 15, 21, 24
    fn report(slf: &Bound<'_, Sut>, filename: PathBuf) -> PyResult<f64> {
        let report = Sut::with_measurement(slf, |collector, _| {
            testwright_cli::coverage_report(collector)
        })?;
        let options = table::TableOptions {
            width: 120,
            unicode: true,
            colour: false,
        };
        std::fs::write(&filename, table::table(&report, &options)).map_err(|error| {
            PyOSError::new_err(format!(
                "cannot write `{}`: {}",
                filename.display(),
                describe_os_error(&error)
            ))
        })?;
        Ok(report.counts().percentage())
    }

    /// Writes pages of the measured files, with the coverage in color, to a folder. Returns the percentage of lines and
    /// branches.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> percentage = sut.html_report("pages")
    ///     >>> Path("pages", "index.html").exists()
    ///     True
    fn html_report(slf: &Bound<'_, Sut>, folder: PathBuf) -> PyResult<f64> {
        let report = Sut::with_measurement(slf, |collector, _| {
            testwright_cli::coverage_report(collector)
        })?;
        html::write(&report, &folder, testwright_cli::now())
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(report.counts().percentage())
    }

    /// Prints all arcs and lines that were covered, file by file.
    ///
    ///     >>> sut.reset_cov()
    ///     >>> sut.replay(test[:1])
    ///     True
    ///     >>> sut.internal_report()
    ///     TSTL INTERNAL COVERAGE REPORT:
    ///     .../stack.py ARCS: 2 [(-2, 3), (3, -2)]
    ///     .../stack.py LINES: 1 [3]
    ///     TOTAL BRANCHES COVERED: 2
    ///     TOTAL STATEMENTS COVERED: 1
    fn internal_report(slf: &Bound<'_, Sut>) -> PyResult<()> {
        let arcs = Sut::with_measurement(slf, |collector, _| {
            let mut arcs = vec![BTreeSet::new(); collector.files().len()];
            for target in collector.all().iter() {
                let (file, arc) = collector.file_and_arc(target);
                arcs[file].insert(arc);
            }
            let names = file_names(collector).into_iter();
            names.zip(arcs).collect::<Vec<_>>()
        })?;
        let mut words = String::from("TSTL INTERNAL COVERAGE REPORT:\n");
        let (mut all_arcs, mut all_lines) = (0, 0);
        for (name, arcs) in arcs {
            let lines: BTreeSet<i32> = arcs.iter().copied().flat_map(lines_of).collect();
            let arcs: Vec<_> = arcs.into_iter().collect();
            let lines: Vec<_> = lines.into_iter().collect();
            words += &format!("{name} ARCS: {} {arcs:?}\n", arcs.len());
            words += &format!("{name} LINES: {} {lines:?}\n", lines.len());
            all_arcs += arcs.len();
            all_lines += lines.len();
        }
        words +=
            &format!("TOTAL BRANCHES COVERED: {all_arcs}\nTOTAL STATEMENTS COVERED: {all_lines}");
        let print = slf.py().import("builtins")?.getattr("print")?;
        print.call1((words,)).map(drop)
    }

    /// The files whose coverage is measured.
    ///
    ///     >>> [Path(file).name for file in sut.module_locations()]
    ///     ['stack.py']
    fn module_locations<'py>(slf: &Bound<'py, Sut>) -> PyResult<Vec<String>> {
        Sut::with_measurement(slf, |collector, _| file_names(collector))
    }
}
