//! Coverage on the command line: what to measure, which reports to write, which test reached what.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use testwright_core::replay::Watcher;
use testwright_core::{ActionId, Covered, Error, TargetId};
use testwright_python::{Arc, Collector, Measured, MeasuredFile};
use testwright_report::{
    Attribution, CoverageReport, FileCoverage, Timestamp, cobertura, data_file, html, lcov, table,
};
use testwright_source::shape::{self, Shape};

use crate::Trouble;
use crate::console::Console;
use crate::files::{Destination, Place};
use crate::source::Source;

/// What to measure and what to do with it; the same for every command that measures.
#[derive(Args)]
#[command(next_help_heading = "Coverage")]
pub(crate) struct CoverageArguments {
    /// Measure which lines and branches of the modules under test are reached, and show a table
    #[arg(long)]
    coverage: bool,

    /// Measure, and report as table, html, lcov, cobertura, or data for coverage.py; repeatable
    #[arg(long, value_name = "TYPE[:PATH]")]
    coverage_report: Vec<ReportWish>,

    /// Measure the Python code in the harness, too
    #[arg(long)]
    coverage_harness: bool,
}

impl CoverageArguments {
    /// What is to be measured.
    pub(crate) fn measured(&self) -> Measured {
        match (self.is_wanted(), self.coverage_harness) {
            (false, _) => Measured::Nothing,
            (true, false) => Measured::Modules,
            (true, true) => Measured::ModulesAndHarness,
        }
    }

    /// The same, for what it is to be measured of.
    pub(crate) fn measured_for(&self, source: &Source) -> Result<Measured, Error> {
        if self.is_wanted() && source.is_models() {
            let error = Error::new("lines and branches are measured for harnesses, not for models")
                .with_help("for models, states and transitions count: `testwright explore MODEL` tells how many there are");
            return Err(error);
        }
        Ok(self.measured())
    }

    /// Whether somebody wants to see what is measured.
    pub(crate) fn is_wanted(&self) -> bool {
        self.coverage || self.coverage_harness || !self.coverage_report.is_empty()
    }

    /// Whether the same reports are to be written.
    pub(crate) fn has_same_reports(&self, other: &CoverageArguments) -> bool {
        self.coverage_report == other.coverage_report
    }

    /// From now on the reports that somebody else wants.
    pub(crate) fn take_reports(&mut self, other: &CoverageArguments) {
        self.coverage_report.clone_from(&other.coverage_report);
    }

    /// Makes sure that the reports can be written, before any work is done.
    pub(crate) fn prepare(&self) -> Result<Reports, Error> {
        Reports::prepare(&self.coverage_report)
    }
}

/// A report that somebody asked for: `html:DIR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportWish {
    kind: ReportKind,
    path: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportKind {
    Table,
    Html,
    Lcov,
    Cobertura,
    Data,
}

impl FromStr for ReportWish {
    type Err = String;

    fn from_str(text: &str) -> Result<ReportWish, String> {
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
            path => Ok(ReportWish {
                kind,
                path: PathBuf::from(path.unwrap_or(usual)),
            }),
        }
    }
}

/// The reports to write, with whole paths, because the system under test may change the current folder.
pub(crate) struct Reports {
    table: bool,
    places: Vec<(ReportKind, Place)>,
    root: PathBuf,
}

impl Reports {
    pub(crate) fn prepare(wishes: &[ReportWish]) -> Result<Reports, Error> {
        let mut places = Vec::new();
        for wish in wishes.iter().filter(|wish| wish.kind != ReportKind::Table) {
            let place = match wish.kind {
                ReportKind::Html => folder(&wish.path)?,
                _ => match Destination::prepare(&wish.path, &[])? {
                    Destination::File(place) => place,
                    Destination::StandardOutput => {
                        let message = "a coverage report cannot be written to standard output";
                        return Err(Error::new(message));
                    }
                },
            };
            places.push((wish.kind, place));
        }
        Ok(Reports {
            table: places.is_empty() || wishes.iter().any(|wish| wish.kind == ReportKind::Table),
            places,
            root: std::env::current_dir().unwrap_or_default(),
        })
    }

    /// Writes them all, and shows the table if it is wanted: `show` gets its lines.
    pub(crate) fn write(
        &self,
        console: &mut Console<'_>,
        report: &CoverageReport,
        show: impl Fn(&mut Console<'_>, &str),
    ) -> Result<(), Trouble> {
        if report.files.is_empty() {
            let message = "no module was measured, so there is no coverage to report";
            let help = "name files, folders or modules to measure (`source:` lines in the harness, or `--source`)";
            console.warning(message, Some(help));
            return Ok(());
        }
        if self.table {
            let options = table::Options {
                width: console.table_width(),
                unicode: true,
                colour: console.colour_out(),
            };
            show(console, table::table(report, &options).trim_end());
        }
        for (kind, place) in &self.places {
            self.write_one(*kind, place, report)?;
            console.tell(format_args!(
                "coverage written to {}",
                place.shown().display()
            ));
        }
        Ok(())
    }

    fn write_one(
        &self,
        kind: ReportKind,
        place: &Place,
        report: &CoverageReport,
    ) -> Result<(), Error> {
        let path = place.absolute();
        match kind {
            ReportKind::Table => Ok(()),
            ReportKind::Lcov => place.write(&lcov::lcov(report)),
            ReportKind::Cobertura => place.write(&cobertura::cobertura(report, now())),
            ReportKind::Data => data_file::write(report, path, now()).map_err(unwritten),
            ReportKind::Html => html::write(report, path, now())
                .map(drop)
                .map_err(unwritten),
        }
    }
}

/// A folder to write to, which need not be there yet.
fn folder(path: &Path) -> Result<Place, Error> {
    let place = Place::new(path)?;
    if place.absolute().exists() && !place.absolute().is_dir() {
        let message = format!(
            "cannot write to the folder `{}`: it is a file",
            path.display()
        );
        return Err(Error::new(message));
    }
    Ok(place)
}

fn unwritten(error: testwright_report::Error) -> Error {
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    Error::new(match cause {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    })
}

/// The time, for reports that say when they were written.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp(since.map_or(0, |since| since.as_secs()))
}

/// Which test reached what.
pub(crate) struct Reached {
    tests: Vec<String>,
    by_test: Vec<Vec<TargetId>>,
    attribution: Attribution,
}

impl Reached {
    pub(crate) fn new(attribution: Attribution) -> Reached {
        Reached {
            tests: Vec::new(),
            by_test: Vec::new(),
            attribution,
        }
    }

    /// Begins with what loading the harness reached, which no test reaches again.
    pub(crate) fn since_loading(
        attribution: Attribution,
        collector: Option<&Collector<'_>>,
    ) -> Reached {
        let mut reached = Reached::new(attribution);
        if let Some(collector) = collector {
            reached.note(|| "loading the harness".to_owned(), collector.take_new());
        }
        reached
    }

    /// Notes what a test reached. Tests that reached nothing are not kept.
    pub(crate) fn note(&mut self, name: impl FnOnce() -> String, targets: Vec<TargetId>) {
        if !targets.is_empty() {
            self.tests.push(name());
            self.by_test.push(targets);
        }
    }

    /// Notes what was reached after the last test was noted as reached by it.
    pub(crate) fn add_to_last(&mut self, targets: Vec<TargetId>) {
        if let Some(last) = self.by_test.last_mut() {
            last.extend(targets);
        }
    }

    /// All that is to be reported.
    pub(crate) fn into_report(
        self,
        collector: &Collector<'_>,
        reports: &Reports,
    ) -> CoverageReport {
        let measured = collector.files();
        let mut arcs: Vec<BTreeMap<usize, BTreeSet<_>>> = vec![BTreeMap::new(); measured.len()];
        for (test, targets) in self.by_test.iter().enumerate() {
            for target in targets {
                let (file, arc) = collector.meaning(*target);
                arcs[file].entry(test).or_default().insert(arc);
            }
        }
        let files = measured.iter().zip(arcs).map(|(file, arcs)| FileCoverage {
            by_test: arcs.into_iter().collect(),
            ..shape(file)
        });
        CoverageReport {
            files: files.collect(),
            tests: self.tests,
            attribution: self.attribution,
            root: reports.root.clone(),
        }
    }
}

/// What several processes have reached, together.
#[derive(Default)]
pub(crate) struct Merged {
    files: BTreeMap<PathBuf, BTreeSet<u32>>,
    tests: Vec<String>,
    /// For each file, the test that reached an arc first.
    reached: BTreeMap<PathBuf, BTreeMap<Arc, usize>>,
    size: u64,
}

impl Merged {
    /// Adds what a test reached, and files with the lines that have code. Tells what nobody had reached before.
    pub(crate) fn add(
        &mut self,
        test: String,
        files: Vec<(PathBuf, Vec<u32>)>,
        places: Vec<(PathBuf, Arc)>,
    ) -> Vec<(PathBuf, Arc)> {
        for (path, lines) in files {
            self.files.entry(path).or_default().extend(lines);
        }
        let number = self.tests.len();
        let reached = &mut self.reached;
        let new: Vec<_> = places
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

    /// How much was reached.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// All that is to be reported.
    pub(crate) fn into_report(self, reports: &Reports) -> CoverageReport {
        let mut reached = self.reached;
        let files = self.files.into_iter().map(|(path, lines)| {
            let mut by_test: BTreeMap<usize, BTreeSet<Arc>> = BTreeMap::new();
            for (arc, test) in reached.remove(&path).unwrap_or_default() {
                by_test.entry(test).or_default().insert(arc);
            }
            FileCoverage {
                by_test: by_test.into_iter().collect(),
                ..shape(&MeasuredFile { path, lines })
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

/// All that was ever reached, by no test in particular.
pub fn coverage_report(collector: &Collector<'_>) -> CoverageReport {
    report_of(collector, collector.all().iter().collect())
}

/// A report of these targets, reached by no test in particular.
pub(crate) fn report_of(collector: &Collector<'_>, targets: Vec<TargetId>) -> CoverageReport {
    let mut reached = Reached::new(Attribution::First);
    reached.note(|| String::from("all tests"), targets);
    let reports = Reports {
        table: false,
        places: Vec::new(),
        root: std::env::current_dir().unwrap_or_default(),
    };
    reached.into_report(collector, &reports)
}

/// Measures from the first step on. What runs before, when modules are loaded again, says nothing about a test.
#[derive(Default)]
pub(crate) struct FromFirstStep {
    pub(crate) begun: bool,
    pub(crate) trouble: Option<Error>,
}

impl<S: Covered + ?Sized> Watcher<S> for FromFirstStep {
    fn proceed(&mut self) -> bool {
        self.trouble.is_none() && !testwright_python::interrupted()
    }

    fn before(&mut self, system: &mut S, _: ActionId) {
        if !self.begun {
            self.begun = true;
            self.trouble = system.begin_anew().err();
        }
    }
}

/// Where targets are in the code under test, for people.
pub(crate) struct Places {
    files: Vec<(String, Vec<String>)>,
}

/// Where a target is: a way from one line to another.
pub(crate) struct PlaceInCode<'a> {
    /// Its file, relative to the folder that the command was called in if it is below.
    pub(crate) file: &'a str,
    /// The line that it leads from; none for the way into a function.
    pub(crate) from: Option<u32>,
    /// The line that it leads to; none for the way out of a function.
    pub(crate) to: Option<u32>,
    /// The text of the line that it leads to, or else of the line that it leads from.
    pub(crate) source: &'a str,
}

impl Places {
    /// Looks at the files that are measured. Names are relative to `root`.
    pub(crate) fn new(collector: &Collector<'_>, root: &Path) -> Places {
        let file = |file: MeasuredFile| {
            let name = file.path.strip_prefix(root).unwrap_or(&file.path);
            let text = std::fs::read(&file.path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let lines = text.lines().map(|line| line.trim().to_owned());
            (name.display().to_string(), lines.collect())
        };
        Places {
            files: collector.files().into_iter().map(file).collect(),
        }
    }

    /// Where a target is.
    pub(crate) fn of(&self, collector: &Collector<'_>, target: TargetId) -> PlaceInCode<'_> {
        let (file, (from, to)) = collector.meaning(target);
        let (name, lines) = &self.files[file];
        let line = |number: i32| u32::try_from(number).ok().filter(|number| *number > 0);
        let (from, to) = (line(from), line(to));
        let shown = to.or(from).map_or(0, |line| line as usize);
        PlaceInCode {
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

/// `stack.py:9 -> 10`, `stack.py:14 -> exit`, or `stack.py:14` where a function begins.
impl fmt::Display for PlaceInCode<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (Some(from), Some(to)) => write!(out, "{}:{from} -> {to}", self.file),
            (Some(from), None) => write!(out, "{}:{from} -> exit", self.file),
            (None, Some(to)) => write!(out, "{}:{to}", self.file),
            (None, None) => out.write_str(self.file),
        }
    }
}

/// What can run in a file.
fn shape(file: &MeasuredFile) -> FileCoverage {
    let text = std::fs::read(&file.path).ok();
    let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let shape = text
        .as_ref()
        .and_then(|text| shape::shape(text, &file.lines).ok());
    // A harness is no Python file: all that is known is which lines have code.
    let shape = shape.unwrap_or_else(|| Shape {
        statements: file.lines.clone(),
        ..Shape::default()
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
