//! Running written tests to see which of them are true each time.
//!
//! Tests run through the user's own Python, in fresh processes, in a folder that is made for it. An audit hook keeps them from
//! changing anything outside of that folder, from the network and from starting processes (`validate/guard.py`).

pub(crate) mod process;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::write::{HELPERS_MODULE, HELPERS_TEXT, Style};

/// The text of the runner.
const RUNNER: &str = include_str!("validate/runner.py");

/// The text of what keeps tests from doing harm, and the name by which runners import it.
const GUARD: &str = include_str!("validate/guard.py");
const GUARD_FILE: &str = "testwright_guard.py";

/// One test may take so long; a unit test that takes longer is none.
const SECONDS: u64 = 10;

/// A file with tests in it, before it is in the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    /// `test_shop.py`
    pub name: String,
    /// What it says.
    pub text: String,
}

/// How a round of tests differs from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Each test in a process of its own.
    pub is_alone: bool,
    /// In another order than that of the file.
    pub shuffle: Option<u32>,
    /// What `PYTHONHASHSEED` is.
    pub hash_seed: u32,
    /// The time zone.
    pub zone: &'static str,
    /// With nothing but an exception in the body of the unit under test: tests that pass now check nothing.
    pub is_empty: bool,
}

impl Round {
    /// What each test has to pass.
    pub const ALL: [Round; 3] = [
        Round {
            is_alone: true,
            shuffle: None,
            hash_seed: 0,
            zone: "UTC",
            is_empty: false,
        },
        Round {
            is_alone: false,
            shuffle: None,
            hash_seed: 1,
            zone: "Pacific/Kiritimati",
            is_empty: false,
        },
        Round {
            is_alone: false,
            shuffle: Some(7),
            hash_seed: 4711,
            zone: "America/St_Johns",
            is_empty: false,
        },
    ];

    /// Which tests check nothing.
    pub const EMPTY: Round = Round {
        is_alone: true,
        shuffle: None,
        hash_seed: 0,
        zone: "UTC",
        is_empty: true,
    };
}

/// What became of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Passed,
    /// It failed, with this message.
    Failed(String),
    /// It passed and left this changed.
    Leaked(String),
    /// It was skipped.
    Skipped,
}

impl Verdict {
    /// Which of two verdicts counts for both.
    fn badness(&self) -> u8 {
        match self {
            Verdict::Passed => 0,
            Verdict::Skipped => 1,
            Verdict::Leaked(_) => 2,
            Verdict::Failed(_) => 3,
        }
    }
}

/// Tests by `file::Class::function`, with the module and the qualified name of the unit that each is about.
pub type Units = BTreeMap<String, (String, String)>;

/// Something that runs tests.
pub trait Run {
    /// What became of the tests in these files; those of which nothing is said did not end.
    ///
    /// # Errors
    /// If they could not be run at all.
    fn run(
        &self,
        files: &[TestFile],
        units: &Units,
        round: Round,
    ) -> Result<BTreeMap<String, Verdict>, Error>;
}

/// Why tests could not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

/// Runs tests by the user's Python.
#[derive(Clone, Debug)]
pub struct Python {
    /// The interpreter.
    pub executable: PathBuf,
    /// How the tests are written.
    pub style: Style,
    /// Where modules are looked for.
    pub path: Vec<PathBuf>,
    /// The modules that tests must leave as they were.
    pub modules: Vec<String>,
}

#[derive(Serialize)]
struct Orders<'a> {
    style: &'a str,
    inside: &'a Path,
    folder: &'a Path,
    temporary: &'a Path,
    settings: &'a Path,
    start: &'a Path,
    files: Vec<PathBuf>,
    modules: &'a [String],
    units: &'a Units,
    alone: bool,
    empty: bool,
    shuffle: Option<u32>,
    seconds: u64,
}

#[derive(Deserialize)]
struct Told {
    test: String,
    outcome: String,
    message: String,
}

impl Run for Python {
    fn run(
        &self,
        files: &[TestFile],
        units: &Units,
        round: Round,
    ) -> Result<BTreeMap<String, Verdict>, Error> {
        let inside = Inside::new()?;
        let tests = inside.place("tests");
        fs::create_dir(&tests).map_err(cannot)?;
        let helpers = tests.join(format!("{HELPERS_MODULE}.py"));
        fs::write(helpers, HELPERS_TEXT).map_err(cannot)?;
        let mut paths = Vec::new();
        for file in files {
            let path = tests.join(&file.name);
            fs::write(&path, &file.text).map_err(cannot)?;
            paths.push(path);
        }
        self.run_in(&inside, &tests, paths, units, round)
    }
}

impl Python {
    /// Runs test files where they are; names of tests are relative to `root`.
    ///
    /// # Errors
    /// If they could not be run at all.
    pub fn run_in_place(
        &self,
        root: &Path,
        files: Vec<PathBuf>,
    ) -> Result<BTreeMap<String, Verdict>, Error> {
        let round = Round {
            is_alone: false,
            is_empty: false,
            ..Round::EMPTY
        };
        self.run_in(&Inside::new()?, root, files, &Units::new(), round)
    }

    fn run_in(
        &self,
        inside: &Inside,
        root: &Path,
        files: Vec<PathBuf>,
        units: &Units,
        round: Round,
    ) -> Result<BTreeMap<String, Verdict>, Error> {
        let place = |name: &str| inside.place(name);
        let most = SECONDS * (2 + u64::try_from(units.len()).unwrap_or(0) / 4) + 50;
        let orders = Orders {
            style: match self.style {
                Style::Pytest => "pytest",
                Style::Unittest => "unittest",
            },
            inside: &inside.path,
            folder: root,
            temporary: &place("temporary"),
            settings: &place("pytest.ini"),
            start: &place("start"),
            files,
            modules: &self.modules,
            units,
            alone: round.is_alone,
            empty: round.is_empty,
            shuffle: round.shuffle,
            seconds: SECONDS,
        };
        let text = serde_json::to_string(&orders).map_err(|error| Error(error.to_string()))?;
        fs::write(place("orders.json"), text).map_err(cannot)?;
        fs::write(place("runner.py"), RUNNER).map_err(cannot)?;
        let ended = process::run(self, &inside.path, round, most)?;
        let report = fs::read_to_string(place("report")).unwrap_or_default();
        let verdicts = verdicts(&report);
        if verdicts.is_empty() {
            return Err(Error(ended));
        }
        Ok(verdicts)
    }
}

/// A folder that tests cannot leave. It is gone when this is.
pub(crate) struct Inside {
    pub(crate) path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Inside {
    pub(crate) fn new() -> Result<Inside, Error> {
        let folder = tempfile::Builder::new()
            .prefix("testwright-")
            .tempdir()
            .map_err(cannot)?;
        let path = fs::canonicalize(folder.path()).map_err(cannot)?;
        for name in ["start", "home", "scratch"] {
            fs::create_dir(path.join(name)).map_err(cannot)?;
        }
        fs::write(path.join(GUARD_FILE), GUARD).map_err(cannot)?;
        // Settings of the user's own are not those of other people.
        fs::write(path.join("pytest.ini"), "[pytest]\n").map_err(cannot)?;
        Ok(Inside {
            path,
            _folder: folder,
        })
    }

    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

pub(crate) fn cannot(error: std::io::Error) -> Error {
    Error(format!("cannot prepare the tests: {error}"))
}

/// What the report of a runner says. A test that was started and not finished did not end, or ended the process.
fn verdicts(report: &str) -> BTreeMap<String, Verdict> {
    // The worst that was told so far, and whether something was started since.
    let mut told_of: BTreeMap<String, (Option<Verdict>, bool)> = BTreeMap::new();
    for line in report.lines() {
        // The last line may be cut off.
        let Ok(told) = serde_json::from_str::<Told>(line) else {
            continue;
        };
        let verdict = match told.outcome.as_str() {
            "started" => {
                told_of.entry(told.test).or_default().1 = true;
                continue;
            }
            "passed" => Verdict::Passed,
            "skipped" => Verdict::Skipped,
            "leaked" => Verdict::Leaked(told.message),
            _ => Verdict::Failed(told.message),
        };
        // A test with a table is told of once for each row.
        let (worst, is_open) = told_of.entry(told.test).or_default();
        *is_open = false;
        let is_worse = worst
            .as_ref()
            .is_none_or(|worst| verdict.badness() > worst.badness());
        if is_worse {
            *worst = Some(verdict);
        }
    }
    let verdict = |(worst, is_open): (Option<Verdict>, bool)| {
        let unfinished = || Verdict::Failed("it does not end".to_owned());
        worst.filter(|_| !is_open).unwrap_or_else(unfinished)
    };
    let told_of = told_of.into_iter();
    told_of.map(|(test, told)| (test, verdict(told))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_may_end_in_the_middle() {
        let report = "{\"test\": \"a\", \"outcome\": \"started\", \"message\": \"\"}\n{\"test\": \"a\", \"outcome\": \"passed\", \"message\": \"\"}\n{\"test\": \"b\", \"outcome\": \"started\", \"message\": \"\"}\n{\"test\": \"b\", \"outc";
        let verdicts = verdicts(report);
        assert_eq!(verdicts.get("a"), Some(&Verdict::Passed));
        assert!(matches!(verdicts.get("b"), Some(Verdict::Failed(_))));
    }
}
