//! Processes that run the code under test, so that a crash does not end the command itself.
//!
//! The command starts [fork servers](testwright_campaign::ForkServer) with `testwright worker` and
//! its own arguments, so that both processes interpret them alike ([`start`]). A fork server loads
//! the harness and forks workers ([`process`]). Each worker does one [`WorkerTask`]: it searches
//! ([`search`]), simplifies a failing test, or serves its system step by step to a supervisor that
//! expects it to die ([`reduce`]).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use testwright_campaign::{ResourceLimits, SentError, SentFailure, SentName, SentTest};
use testwright_core::analyse::culprit::Culprit;

use crate::files::TextFile;
use crate::unit_test::UnitTestDraft;

pub(crate) mod actions;
pub(crate) mod process;
pub(crate) mod reduce;
mod search;
pub(crate) mod start;

pub(crate) use process::WorkerCommand;

/// The data that a fork server is started with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorkerSetup {
    /// The harness; `None` for models, which are imported by their names.
    harness: Option<HarnessFile>,
    /// The folder to run in; `None` for the current one.
    folder: Option<PathBuf>,
    limits: ResourceLimits,
    /// The width of the terminal, for messages.
    width: usize,
    /// True if the terminal understands colors.
    colour: bool,
}

/// A harness file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct HarnessFile {
    /// The absolute path.
    path: PathBuf,
    /// The path as it is shown to the user.
    name: String,
    /// The content. The file may change during the campaign; the campaign keeps using this text.
    text: String,
}

impl HarnessFile {
    /// Returns the file for error messages.
    fn file(&self) -> TextFile {
        TextFile {
            path: self.path.clone(),
            name: self.name.clone(),
            text: self.text.clone(),
        }
    }
}

/// The report of a fork server that has loaded the system.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LoadReport {
    /// The names of the models' actions.
    pub(crate) classes: Vec<String>,
    /// The messages for the user, such as warnings.
    pub(crate) messages: String,
}

/// The reason why a system cannot be loaded.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum LoadRefusal {
    /// The messages that were printed, ready to be shown.
    Reported(String),
    /// An error that is still to be printed.
    Error(SentError),
}

/// The task of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum WorkerTask {
    /// Serve the system: perform the steps that the supervisor requests.
    Serve,
    /// Search for failures.
    Search(SearchTask),
    /// Simplify a failing test.
    Simplify {
        test: SentTest,
        failure: SentFailure,
        /// The step that is to blame, which stays the same.
        culprit: Option<SentCulprit>,
    },
    /// Find the identity of the bug that a failing test shows.
    Identify {
        test: SentTest,
        failure: SentFailure,
    },
    /// Run a saved test.
    Replay { text: String },
    /// Write a test as a file for pytest.
    WriteUnitTest {
        test: SentTest,
        failure: SentFailure,
        title: String,
        file: PathBuf,
        /// The time limit of a file for steps that may not end.
        limit: Duration,
    },
}

/// The settings of a search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SearchTask {
    /// The seed of random numbers: the same seed makes the same tests.
    pub(crate) seed: u64,
    /// The maximum number of tests, if there is one.
    pub(crate) tests: Option<u64>,
    /// The maximum number of steps, if there is one.
    pub(crate) steps: Option<u64>,
    /// True if every test is reported, not only tests that fail or reach something new.
    pub(crate) report_all: bool,
    /// True if other workers search, too.
    pub(crate) has_other_workers: bool,
    /// The tests to begin with.
    pub(crate) corpus: Vec<SentTest>,
}

/// A message from a worker to its supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WorkerReport {
    /// The name of an action that is about to be taken for the first time.
    ActionNamed(SentName),
    /// Code that was reached for the first time.
    CoverageReached(ReachedCode),
    /// A step of each line of the harness from which no test had taken an action before.
    LinesTaken(SentTest),
    /// A test that ended.
    TestFinished {
        number: u64,
        test: SentTest,
        failure: Option<SentFailure>,
        /// True if it reached something new.
        is_new: bool,
    },
    /// A test that failed. The supervisor answers with a [`NextStep`].
    FailureFound {
        number: u64,
        test: SentTest,
        failure: SentFailure,
        /// The step that is to blame, if it was looked for and found.
        culprit: Option<Box<SentCulprit>>,
    },
    /// A request for the new tests of other workers. The supervisor answers with a list of tests.
    TestsRequested,
    /// The end of the search.
    SearchEnded {
        deadlocks: u64,
        /// True if the system has no possible action, so that another worker need not try.
        is_idle: bool,
        problems: Vec<SentProblem>,
        error: Option<SentError>,
        /// The error is a mistake of the harness, which a fresh process would not change.
        is_mistake: bool,
    },
    /// A simpler test that fails in the same way.
    Simplified {
        test: SentTest,
        failure: SentFailure,
        runs: u64,
        /// True if nothing stopped the reduction early.
        complete: bool,
    },
    /// The test does not fail in the same way here. Contains its other failure, if it fails at all.
    NotReproduced(Option<SentFailure>),
    /// The step that is to blame for a failure, if there is one.
    Identified(Option<SentCulprit>),
    /// The result of a replay: the test, and its failure if it fails.
    Replayed {
        test: SentTest,
        failure: Option<SentFailure>,
    },
    /// The text of a unit test.
    UnitTest(UnitTestDraft),
    /// This kind of system has no unit tests.
    NoUnitTest,
    /// The task cannot be done.
    Impossible(SentError),
}

/// A [`Culprit`], in a form that can be sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SentCulprit {
    position: usize,
    text: String,
    shape: String,
    lines: BTreeSet<String>,
    evidence: BTreeSet<String>,
    spoiled: BTreeSet<String>,
    is_earlier: bool,
}

impl From<Culprit> for SentCulprit {
    fn from(culprit: Culprit) -> SentCulprit {
        SentCulprit {
            position: culprit.position,
            text: culprit.text,
            shape: culprit.shape,
            lines: culprit.lines,
            evidence: culprit.evidence,
            spoiled: culprit.spoiled,
            is_earlier: culprit.is_earlier,
        }
    }
}

impl From<SentCulprit> for Culprit {
    fn from(sent: SentCulprit) -> Culprit {
        Culprit {
            position: sent.position,
            text: sent.text,
            shape: sent.shape,
            lines: sent.lines,
            evidence: sent.evidence,
            spoiled: sent.spoiled,
            is_earlier: sent.is_earlier,
        }
    }
}

/// The code that a test reached for the first time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReachedCode {
    /// The name of the test.
    pub(crate) test: String,
    /// The files that were not mentioned before, with the lines that have code. Arcs refer to files
    /// by number.
    pub(crate) files: Vec<(PathBuf, Vec<u32>)>,
    /// The number of a file, and the two lines of an arc in it.
    pub(crate) arcs: Vec<(usize, i32, i32)>,
}

/// A problem of the harness that came up while it ran.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SentProblem {
    /// The line of the harness; 0 for none.
    pub(crate) line: usize,
    /// The message for people.
    pub(crate) message: String,
    /// The number of times that it came up.
    pub(crate) times: u64,
}

/// The supervisor's answer to a worker that has found a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NextStep {
    /// Continue the search.
    Continue,
    /// End the search.
    Stop,
}
