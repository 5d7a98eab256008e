//! Runs written tests, to find those that pass every time.
//!
//! Tests run in the user's own Python, in fresh processes, in a temporary folder. An audit hook
//! keeps them from changing anything outside of that folder, from using the network and from
//! starting processes (`validate/guard.py`).

pub(crate) mod process;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::write::{HELPERS_MODULE, HELPERS_TEXT, TestFramework};

/// The source of the runner.
const RUNNER: &str = include_str!("validate/runner.py");

/// The source of the audit hook.
const GUARD: &str = include_str!("validate/guard.py");
/// The file name by which runners import the audit hook.
const GUARD_FILE: &str = "testwright_guard.py";

/// The time limit of one test, in seconds; a test that takes longer is not a unit test.
const MAX_SECONDS: u64 = 10;

/// A file with tests, before it is in the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateFile {
    /// Its name: `test_shop.py`.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// The conditions under which tests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidationRound {
    /// True if each test runs in a process of its own.
    pub is_isolated: bool,
    /// The seed for another order than that of the file.
    pub shuffle: Option<u32>,
    /// The value of `PYTHONHASHSEED`.
    pub hash_seed: u32,
    /// The time zone.
    pub time_zone: &'static str,
    /// True if the unit under test has a body that raises. Tests that pass then check nothing.
    pub is_empty: bool,
}

impl ValidationRound {
    /// The rounds that each test has to pass.
    pub const ALL: [ValidationRound; 3] = [
        ValidationRound {
            is_isolated: true,
            shuffle: None,
            hash_seed: 0,
            time_zone: "UTC",
            is_empty: false,
        },
        ValidationRound {
            is_isolated: false,
            shuffle: None,
            hash_seed: 1,
            time_zone: "Pacific/Kiritimati",
            is_empty: false,
        },
        ValidationRound {
            is_isolated: false,
            shuffle: Some(7),
            hash_seed: 4711,
            time_zone: "America/St_Johns",
            is_empty: false,
        },
    ];

    /// The round that finds tests that check nothing.
    pub const EMPTY: ValidationRound = ValidationRound {
        is_isolated: true,
        shuffle: None,
        hash_seed: 0,
        time_zone: "UTC",
        is_empty: true,
    };
}

/// The result of running a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestVerdict {
    /// It passed.
    Passed,
    /// It failed, with this message.
    Failed(String),
    /// It passed, and left this variable or setting changed.
    Leaked(String),
    /// It was skipped.
    Skipped,
}

impl TestVerdict {
    /// Ranks verdicts. Of several verdicts on one test, the worst counts.
    fn severity(&self) -> u8 {
        match self {
            TestVerdict::Passed => 0,
            TestVerdict::Skipped => 1,
            TestVerdict::Leaked(_) => 2,
            TestVerdict::Failed(_) => 3,
        }
    }
}

/// The units under test, as module and qualified name, by `file::Class::function` of their tests.
pub type TestedUnits = BTreeMap<String, (String, String)>;

/// A runner of tests.
pub trait TestRunner {
    /// Runs the tests in these files. Tests that are missing in the result did not end.
    ///
    /// # Errors
    /// If they could not be run at all.
    fn run(
        &self,
        files: &[CandidateFile],
        units: &TestedUnits,
        round: ValidationRound,
    ) -> Result<BTreeMap<String, TestVerdict>, Error>;
}

/// The reason why tests could not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

/// A runner that uses the user's Python.
#[derive(Clone, Debug)]
pub struct PythonRunner {
    /// The interpreter.
    pub executable: PathBuf,
    /// The test framework.
    pub style: TestFramework,
    /// The module search path.
    pub path: Vec<PathBuf>,
    /// The modules that tests must leave unchanged.
    pub modules: Vec<String>,
}

/// The options of the runner script, as it reads them from `options.json`.
#[derive(Serialize)]
struct RunnerOptions<'a> {
    style: &'a str,
    inside: &'a Path,
    folder: &'a Path,
    temporary: &'a Path,
    settings: &'a Path,
    start: &'a Path,
    files: Vec<PathBuf>,
    modules: &'a [String],
    units: &'a TestedUnits,
    alone: bool,
    empty: bool,
    shuffle: Option<u32>,
    seconds: u64,
}

/// A line of the runner script's report.
#[derive(Deserialize)]
struct ReportLine {
    test: String,
    outcome: String,
    message: String,
}

impl TestRunner for PythonRunner {
    fn run(
        &self,
        files: &[CandidateFile],
        units: &TestedUnits,
        round: ValidationRound,
    ) -> Result<BTreeMap<String, TestVerdict>, Error> {
        let inside = SandboxFolder::new()?;
        let tests = inside.path_to("tests");
        fs::create_dir(&tests).map_err(prepare_error)?;
        let helpers = tests.join(format!("{HELPERS_MODULE}.py"));
        fs::write(helpers, HELPERS_TEXT).map_err(prepare_error)?;
        let mut paths = Vec::new();
        for file in files {
            let path = tests.join(&file.name);
            fs::write(&path, &file.text).map_err(prepare_error)?;
            paths.push(path);
        }
        self.run_in(&inside, &tests, paths, units, round)
    }
}

impl PythonRunner {
    /// Runs test files where they are. The names of tests are relative to `root`.
    ///
    /// # Errors
    /// If they could not be run at all.
    pub fn run_in_place(
        &self,
        root: &Path,
        files: Vec<PathBuf>,
    ) -> Result<BTreeMap<String, TestVerdict>, Error> {
        let round = ValidationRound {
            is_isolated: false,
            is_empty: false,
            ..ValidationRound::EMPTY
        };
        self.run_in(
            &SandboxFolder::new()?,
            root,
            files,
            &TestedUnits::new(),
            round,
        )
    }

    /// Runs test files by the runner script, and reads its report.
    fn run_in(
        &self,
        inside: &SandboxFolder,
        root: &Path,
        files: Vec<PathBuf>,
        units: &TestedUnits,
        round: ValidationRound,
    ) -> Result<BTreeMap<String, TestVerdict>, Error> {
        let path_to = |name: &str| inside.path_to(name);
        let seconds = MAX_SECONDS * (2 + u64::try_from(units.len()).unwrap_or(0) / 4) + 50;
        let options = RunnerOptions {
            style: match self.style {
                TestFramework::Pytest => "pytest",
                TestFramework::Unittest => "unittest",
            },
            inside: &inside.path,
            folder: root,
            temporary: &path_to("temporary"),
            settings: &path_to("pytest.ini"),
            start: &path_to("start"),
            files,
            modules: &self.modules,
            units,
            alone: round.is_isolated,
            empty: round.is_empty,
            shuffle: round.shuffle,
            seconds: MAX_SECONDS,
        };
        let text = serde_json::to_string(&options).map_err(|error| Error(error.to_string()))?;
        fs::write(path_to("options.json"), text).map_err(prepare_error)?;
        fs::write(path_to("runner.py"), RUNNER).map_err(prepare_error)?;
        let ended = process::run(self, &inside.path, round, seconds)?;
        let report = fs::read_to_string(path_to("report")).unwrap_or_default();
        let verdicts = parse_report(&report);
        if verdicts.is_empty() {
            return Err(Error(ended));
        }
        Ok(verdicts)
    }
}

/// A temporary folder that tests cannot write outside of. It is deleted on drop.
pub(crate) struct SandboxFolder {
    /// Its path, without symbolic links.
    pub(crate) path: PathBuf,
    /// The folder's owner.
    _folder: tempfile::TempDir,
}

impl SandboxFolder {
    /// Creates the folder, with the files that runners need.
    pub(crate) fn new() -> Result<SandboxFolder, Error> {
        let folder = tempfile::Builder::new()
            .prefix("testwright-")
            .tempdir()
            .map_err(prepare_error)?;
        let path = fs::canonicalize(folder.path()).map_err(prepare_error)?;
        for name in ["start", "home", "scratch"] {
            fs::create_dir(path.join(name)).map_err(prepare_error)?;
        }
        fs::write(path.join(GUARD_FILE), GUARD).map_err(prepare_error)?;
        // Only with settings of its own, pytest ignores those of the user.
        fs::write(path.join("pytest.ini"), "[pytest]\n").map_err(prepare_error)?;
        Ok(SandboxFolder {
            path,
            _folder: folder,
        })
    }

    /// Returns the path of a file in the folder.
    pub(crate) fn path_to(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// Creates the error for a file that cannot be prepared.
pub(crate) fn prepare_error(error: std::io::Error) -> Error {
    Error(format!("cannot prepare the tests: {error}"))
}

/// Parses the report of a runner. A test that was started and not finished did not end, or ended
/// the process.
fn parse_report(report: &str) -> BTreeMap<String, TestVerdict> {
    // The worst verdict so far, and whether the test was started again since.
    let mut reported: BTreeMap<String, (Option<TestVerdict>, bool)> = BTreeMap::new();
    for line in report.lines() {
        // The last line may be incomplete.
        let Ok(line) = serde_json::from_str::<ReportLine>(line) else {
            continue;
        };
        let verdict = match line.outcome.as_str() {
            "started" => {
                reported.entry(line.test).or_default().1 = true;
                continue;
            }
            "passed" => TestVerdict::Passed,
            "skipped" => TestVerdict::Skipped,
            "leaked" => TestVerdict::Leaked(line.message),
            _ => TestVerdict::Failed(line.message),
        };
        // A test with a table is reported once for each row.
        let (worst, is_open) = reported.entry(line.test).or_default();
        *is_open = false;
        let is_worse = worst
            .as_ref()
            .is_none_or(|worst| verdict.severity() > worst.severity());
        if is_worse {
            *worst = Some(verdict);
        }
    }
    let verdict = |(worst, is_open): (Option<TestVerdict>, bool)| {
        let unfinished = || TestVerdict::Failed("it does not end".to_owned());
        worst.filter(|_| !is_open).unwrap_or_else(unfinished)
    };
    let reported = reported.into_iter();
    reported.map(|(test, line)| (test, verdict(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_may_end_in_the_middle() {
        let report = "{\"test\": \"a\", \"outcome\": \"started\", \"message\": \"\"}\n{\"test\": \"a\", \"outcome\": \"passed\", \"message\": \"\"}\n{\"test\": \"b\", \"outcome\": \"started\", \"message\": \"\"}\n{\"test\": \"b\", \"outc";
        let verdicts = parse_report(report);
        assert_eq!(verdicts.get("a"), Some(&TestVerdict::Passed));
        assert!(matches!(verdicts.get("b"), Some(TestVerdict::Failed(_))));
    }
}
