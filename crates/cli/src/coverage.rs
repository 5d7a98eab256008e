//! Coverage on the command line: its options, its reports, and the record of the code that each
//! test reached.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use testwright_core::replay::ReplayWatcher;
use testwright_core::{ActionId, Covered, Error, TargetId, describe_os_error};
use testwright_python::{Arc, Collector, MeasuredCode, MeasuredFile};
use testwright_report::{
    Attribution, CoverageReport, FileCoverage, Timestamp, cobertura, data_file, html, lcov, table,
};
use testwright_source::coverable::{self, CoverableCode};

use crate::CommandError;
use crate::console::Console;
use crate::files::{Destination, UserPath};
use crate::source::SystemSource;

/// The options of every command that measures coverage.
#[derive(Args)]
#[command(next_help_heading = "Coverage")]
pub(crate) struct CoverageArguments {
    /// Measure which lines and branches of the modules under test are reached, and show a table
    #[arg(long)]
    coverage: bool,

    /// Measure, and report as table, html, lcov, cobertura, or data for coverage.py; repeatable
    #[arg(long, value_name = "TYPE[:PATH]")]
    coverage_report: Vec<ReportRequest>,

    /// Measure the Python code in the harness, too
    #[arg(long)]
    coverage_harness: bool,
}

impl CoverageArguments {
    /// Returns the code that is to be measured.
    pub(crate) fn measured(&self) -> MeasuredCode {
        match (self.is_requested(), self.coverage_harness) {
            (false, _) => MeasuredCode::Nothing,
            (true, false) => MeasuredCode::Modules,
            (true, true) => MeasuredCode::ModulesAndHarness,
        }
    }

    /// Returns the code that is to be measured of a source. Models have none.
    pub(crate) fn measured_for(&self, source: &SystemSource) -> Result<MeasuredCode, Error> {
        if self.is_requested() && source.is_models() {
            let error = Error::new("lines and branches are measured for harnesses, not for models")
                .with_help("for models, states and transitions count: `testwright explore MODEL` tells how many there are");
            return Err(error);
        }
        Ok(self.measured())
    }

    /// Returns true if the user requested coverage.
    pub(crate) fn is_requested(&self) -> bool {
        self.coverage || self.coverage_harness || !self.coverage_report.is_empty()
    }

    /// Returns true if the requested reports are the same.
    pub(crate) fn has_same_reports(&self, other: &CoverageArguments) -> bool {
        self.coverage_report == other.coverage_report
    }

    /// Replaces the requested reports by those of other arguments.
    pub(crate) fn replace_reports(&mut self, other: &CoverageArguments) {
        self.coverage_report.clone_from(&other.coverage_report);
    }

    /// Checks, before any work is done, that the reports can be written.
    pub(crate) fn prepare(&self) -> Result<CoverageOutputs, Error> {
        CoverageOutputs::prepare(&self.coverage_report)
    }
}

/// A report that the user requested, such as `html:FOLDER`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportRequest {
    /// The format.
    kind: ReportKind,
    /// The file, or the folder for HTML.
    path: PathBuf,
}

/// The format of a coverage report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportKind {
    Table,
    Html,
    Lcov,
    Cobertura,
    Data,
}

impl FromStr for ReportRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<ReportRequest, String> {
        let (name, path) = match text.split_once(':') {
            Some((name, path)) => (name, Some(path)),
            None => (text, None),
        };
        let (kind, usual) = match name {
            "table" | "term" => (ReportKind::Table, ""),
            "html" => (ReportKind::Html, "htmlcov"),
            "lcov" => (ReportKind::Lcov, "coverage.lcov"),
            "cobertura" | "xml" => (ReportKind::Cobertura, "coverage.xml"),
            "data" => (ReportKind::Data, ".coverage"),
            _ => return Err("the types are table, html, lcov, cobertura and data".to_owned()),
        };
        match path {
            Some("") => Err("there is no path after the colon".to_owned()),
            Some(_) if kind == ReportKind::Table => Err("a table has no path".to_owned()),
            path => Ok(ReportRequest {
                kind,
                path: PathBuf::from(path.unwrap_or(usual)),
            }),
        }
    }
}

/// The reports to write, with absolute paths, because the system under test may change the current
/// folder.
pub(crate) struct CoverageOutputs {
    /// True if a table is printed.
    table: bool,
    /// The formats with their files or folders.
    outputs: Vec<(ReportKind, UserPath)>,
    /// The folder that paths in reports are relative to.
    root: PathBuf,
}

impl CoverageOutputs {
    /// Checks, before any work is done, that the requested reports can be written.
    pub(crate) fn prepare(requests: &[ReportRequest]) -> Result<CoverageOutputs, Error> {
        let mut outputs = Vec::new();
        for request in requests
            .iter()
            .filter(|request| request.kind != ReportKind::Table)
        {
            let output = match request.kind {
                ReportKind::Html => folder(&request.path)?,
                _ => match Destination::prepare(&request.path, &[])? {
                    Destination::File(output) => output,
                    Destination::StandardOutput => {
                        let message = "a coverage report cannot be written to standard output";
                        return Err(Error::new(message));
                    }
                },
            };
            outputs.push((request.kind, output));
        }
        Ok(CoverageOutputs {
            table: outputs.is_empty()
                || requests
                    .iter()
                    .any(|request| request.kind == ReportKind::Table),
            outputs,
            root: std::env::current_dir().unwrap_or_default(),
        })
    }

    /// Writes all reports. If a table was requested, `show` gets its text.
    pub(crate) fn write(
        &self,
        console: &mut Console<'_>,
        report: &CoverageReport,
        show: impl Fn(&mut Console<'_>, &str),
    ) -> Result<(), CommandError> {
        if report.files.is_empty() {
            let message = "no module was measured, so there is no coverage to report";
            let help = "name files, folders or modules to measure (`source:` lines in the harness, or `--source`)";
            console.warning(message, Some(help));
            return Ok(());
        }
        if self.table {
            let options = table::TableOptions {
                width: console.table_width(),
                unicode: true,
                colour: console.colour_out(),
            };
            show(console, table::table(report, &options).trim_end());
        }
        for (kind, output) in &self.outputs {
            self.write_one(*kind, output, report)?;
            console.err(format_args!(
                "coverage written to {}",
                output.shown().display()
            ));
        }
        Ok(())
    }

    /// Writes one report.
    fn write_one(
        &self,
        kind: ReportKind,
        output: &UserPath,
        report: &CoverageReport,
    ) -> Result<(), Error> {
        let path = output.absolute();
        match kind {
            ReportKind::Table => Ok(()),
            ReportKind::Lcov => output.write(&lcov::lcov(report)),
            ReportKind::Cobertura => output.write(&cobertura::cobertura(report, now())),
            ReportKind::Data => data_file::write(report, path, now()).map_err(report_error),
            ReportKind::Html => html::write(report, path, now())
                .map(drop)
                .map_err(report_error),
        }
    }
}

/// Checks that a path can be a folder to write to; it need not exist yet.
fn folder(path: &Path) -> Result<UserPath, Error> {
    let output = UserPath::new(path)?;
    if output.absolute().exists() && !output.absolute().is_dir() {
        let message = format!(
            "cannot write to the folder `{}`: it is a file",
            path.display()
        );
        return Err(Error::new(message));
    }
    Ok(output)
}

/// Converts an error of a report writer, with its cause.
fn report_error(error: testwright_report::Error) -> Error {
    Error::new(match std::error::Error::source(&error) {
        Some(cause) => format!("{error}: {}", describe_os_error(&cause)),
        None => error.to_string(),
    })
}

/// Returns the current time, for reports that contain the time when they were written.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp(since.map_or(0, |since| since.as_secs()))
}

/// The code that each test reached.
pub(crate) struct TestCoverage {
    /// The names of the tests.
    tests: Vec<String>,
    /// The targets that each test reached.
    by_test: Vec<Vec<TargetId>>,
    /// The tests that a target is attributed to: the first, or all.
    attribution: Attribution,
}

impl TestCoverage {
    /// Creates an empty record.
    pub(crate) fn new(attribution: Attribution) -> TestCoverage {
        TestCoverage {
            tests: Vec::new(),
            by_test: Vec::new(),
            attribution,
        }
    }

    /// Begins with the targets that loading the harness reached; no test reaches them again.
    pub(crate) fn with_loading(
        attribution: Attribution,
        collector: Option<&Collector<'_>>,
    ) -> TestCoverage {
        let mut reached = TestCoverage::new(attribution);
        if let Some(collector) = collector {
            reached.add_test(|| "loading the harness".to_owned(), collector.take_new());
        }
        reached
    }

    /// Records the targets that a test reached. Tests that reached nothing are not kept.
    pub(crate) fn add_test(&mut self, name: impl FnOnce() -> String, targets: Vec<TargetId>) {
        if !targets.is_empty() {
            self.tests.push(name());
            self.by_test.push(targets);
        }
    }

    /// Adds targets to those of the last test.
    pub(crate) fn add_to_last(&mut self, targets: Vec<TargetId>) {
        if let Some(last) = self.by_test.last_mut() {
            last.extend(targets);
        }
    }

    /// Makes the report.
    pub(crate) fn into_report(
        self,
        collector: &Collector<'_>,
        reports: &CoverageOutputs,
    ) -> CoverageReport {
        let measured = collector.files();
        let mut arcs: Vec<BTreeMap<usize, BTreeSet<_>>> = vec![BTreeMap::new(); measured.len()];
        for (test, targets) in self.by_test.iter().enumerate() {
            for target in targets {
                let (file, arc) = collector.file_and_arc(*target);
                arcs[file].entry(test).or_default().insert(arc);
            }
        }
        let files = measured.iter().zip(arcs).map(|(file, arcs)| FileCoverage {
            by_test: arcs.into_iter().collect(),
            ..file_coverage(file)
        });
        CoverageReport {
            files: files.collect(),
            tests: self.tests,
            attribution: self.attribution,
            root: reports.root.clone(),
        }
    }
}

/// The code that several processes reached together.
#[derive(Default)]
pub(crate) struct MergedCoverage {
    /// The measured files, with the lines that have code.
    files: BTreeMap<PathBuf, BTreeSet<u32>>,
    /// The names of the tests that reached something new.
    tests: Vec<String>,
    /// For each file, the test that reached an arc first.
    reached: BTreeMap<PathBuf, BTreeMap<Arc, usize>>,
    /// The number of reached arcs.
    size: u64,
}

impl MergedCoverage {
    /// Adds the arcs that a test reached, and files with the lines that have code. Returns the arcs
    /// that no test had reached before.
    pub(crate) fn add(
        &mut self,
        test: String,
        files: Vec<(PathBuf, Vec<u32>)>,
        arcs_of_test: Vec<(PathBuf, Arc)>,
    ) -> Vec<(PathBuf, Arc)> {
        for (path, lines) in files {
            self.files.entry(path).or_default().extend(lines);
        }
        let number = self.tests.len();
        let reached = &mut self.reached;
        let new: Vec<_> = arcs_of_test
            .into_iter()
            .filter(|(path, arc)| match reached.get_mut(path) {
                Some(arcs) if arcs.contains_key(arc) => false,
                Some(arcs) => arcs.insert(*arc, number).is_none(),
                None => {
                    reached.insert(path.clone(), BTreeMap::from([(*arc, number)]));
                    true
                }
            })
            .collect();
        if !new.is_empty() {
            self.tests.push(test);
            self.size += new.len() as u64;
        }
        new
    }

    /// Returns the number of reached arcs.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Makes the report.
    pub(crate) fn into_report(self, reports: &CoverageOutputs) -> CoverageReport {
        let mut reached = self.reached;
        let files = self.files.into_iter().map(|(path, lines)| {
            let mut by_test: BTreeMap<usize, BTreeSet<Arc>> = BTreeMap::new();
            for (arc, test) in reached.remove(&path).unwrap_or_default() {
                by_test.entry(test).or_default().insert(arc);
            }
            FileCoverage {
                by_test: by_test.into_iter().collect(),
                ..file_coverage(&MeasuredFile { path, lines })
            }
        });
        CoverageReport {
            files: files.collect(),
            tests: self.tests,
            attribution: Attribution::First,
            root: reports.root.clone(),
        }
    }
}

/// Makes a report of all targets that were ever reached, without the names of tests.
pub fn coverage_report(collector: &Collector<'_>) -> CoverageReport {
    report_targets(collector, collector.all().iter().collect())
}

/// Makes a report of these targets, without the names of tests.
pub(crate) fn report_targets(collector: &Collector<'_>, targets: Vec<TargetId>) -> CoverageReport {
    let mut reached = TestCoverage::new(Attribution::First);
    reached.add_test(|| String::from("all tests"), targets);
    let reports = CoverageOutputs {
        table: false,
        outputs: Vec::new(),
        root: std::env::current_dir().unwrap_or_default(),
    };
    reached.into_report(collector, &reports)
}

/// Measures a test from its first step on. Code that runs before, when modules are loaded again,
/// says nothing about the test.
#[derive(Default)]
pub(crate) struct FirstStepWatcher {
    /// True after the first step.
    pub(crate) has_begun: bool,
    /// The error of the system, if the measurement could not begin.
    pub(crate) error: Option<Error>,
}

impl<S: Covered + ?Sized> ReplayWatcher<S> for FirstStepWatcher {
    fn proceed(&mut self) -> bool {
        self.error.is_none() && !testwright_python::is_interrupted()
    }

    fn before_step(&mut self, system: &mut S, _: ActionId) {
        if !self.has_begun {
            self.has_begun = true;
            self.error = system.reset_touched().err();
        }
    }
}

/// The locations of targets in the code under test, for people.
pub(crate) struct TargetLocations {
    /// The names of the measured files, with their lines.
    files: Vec<(String, Vec<String>)>,
}

/// The location of a target: an arc from one line to another.
pub(crate) struct CodeLocation<'a> {
    /// The file, relative to the folder that the command was called in if it is below.
    pub(crate) file: &'a str,
    /// The line where the arc starts; `None` for the entry of a function.
    pub(crate) from: Option<u32>,
    /// The line where the arc ends; `None` for the exit of a function.
    pub(crate) to: Option<u32>,
    /// The text of the line where the arc ends, or else of the line where it starts.
    pub(crate) source: &'a str,
}

impl TargetLocations {
    /// Reads the measured files. Names are relative to `root`.
    pub(crate) fn new(collector: &Collector<'_>, root: &Path) -> TargetLocations {
        let file = |file: MeasuredFile| {
            let name = file.path.strip_prefix(root).unwrap_or(&file.path);
            let text = std::fs::read(&file.path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let lines = text.lines().map(|line| line.trim().to_owned());
            (name.display().to_string(), lines.collect())
        };
        TargetLocations {
            files: collector.files().into_iter().map(file).collect(),
        }
    }

    /// Returns the location of a target.
    pub(crate) fn location(&self, collector: &Collector<'_>, target: TargetId) -> CodeLocation<'_> {
        let (file, (from, to)) = collector.file_and_arc(target);
        let (name, lines) = &self.files[file];
        let line = |number: i32| u32::try_from(number).ok().filter(|number| *number > 0);
        let (from, to) = (line(from), line(to));
        let shown = to.or(from).map_or(0, |line| line as usize);
        CodeLocation {
            file: name,
            from,
            to,
            source: shown
                .checked_sub(1)
                .and_then(|index| lines.get(index))
                .map_or("", String::as_str),
        }
    }
}

/// Renders `stack.py:9 -> 10`, `stack.py:14 -> exit`, or `stack.py:14` where a function begins.
impl fmt::Display for CodeLocation<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (Some(from), Some(to)) => write!(out, "{}:{from} -> {to}", self.file),
            (Some(from), None) => write!(out, "{}:{from} -> exit", self.file),
            (None, Some(to)) => write!(out, "{}:{to}", self.file),
            (None, None) => out.write_str(self.file),
        }
    }
}

/// Finds the statements and branches of a file; no test has reached them yet.
fn file_coverage(file: &MeasuredFile) -> FileCoverage {
    let text = std::fs::read(&file.path).ok();
    let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let shape = text
        .as_ref()
        .and_then(|text| coverable::coverable_code(text, &file.lines).ok());
    // A harness is no Python file: only the lines that have code are known.
    let shape = shape.unwrap_or_else(|| CoverableCode {
        statements: file.lines.clone(),
        ..CoverableCode::default()
    });
    FileCoverage {
        path: file.path.clone(),
        text,
        statements: shape.statements,
        excluded: shape.excluded,
        first_lines: shape.first_lines,
        branches: shape.branches,
        waived: shape.waived,
        detours: shape.detours,
        by_test: Vec::new(),
    }
}
