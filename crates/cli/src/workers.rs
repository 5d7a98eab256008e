//! Processes that run the code under test, so that the command itself does not have to.
//!
//! The command starts [nurseries](testwright_campaign::Nursery) with `testwright worker` and the words that it was
//! called with itself, so that both understand them alike ([`start`]). A nursery loads the harness and bears workers
//! ([`inside`]), and each worker does one [`Task`]: it searches ([`search`]), makes a failing test simpler, or serves
//! its system step by step to a supervisor that expects it to die ([`reduce`]).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use testwright_campaign::{Limits, SentError, SentFailure, SentName, SentTest};

use crate::files::TextFile;

pub(crate) mod actions;
pub(crate) mod inside;
pub(crate) mod reduce;
mod search;
pub(crate) mod start;

pub(crate) use inside::Worker;

/// What a nursery is told when it is started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// The harness; nothing if there are models, which are imported by their names.
    harness: Option<HarnessFile>,
    /// The folder to run in; the current one if there is none.
    folder: Option<PathBuf>,
    limits: Limits,
    width: usize,
    colour: bool,
}

/// A harness file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct HarnessFile {
    /// The whole path.
    path: PathBuf,
    /// The path as it is shown.
    name: String,
    /// What it says. It may change while the campaign runs; the campaign does not.
    text: String,
}

impl HarnessFile {
    fn file(&self) -> TextFile {
        TextFile {
            path: self.path.clone(),
            name: self.name.clone(),
            text: self.text.clone(),
        }
    }
}

/// What a nursery that has loaded models tells of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Greeting {
    /// The names of their actions.
    pub(crate) classes: Vec<String>,
    /// What is to be told to people.
    pub(crate) told: String,
}

/// Why a harness cannot be loaded.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Refusal {
    /// It has been told already, in these words.
    Told(String),
    Error(SentError),
}

/// What a worker is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Do with the system what it is asked to.
    Serve,
    Search(SearchTask),
    /// Make a failing test simpler.
    Simplify {
        test: SentTest,
        failure: SentFailure,
    },
    /// Run a saved test.
    Replay {
        text: String,
    },
    /// Write a test as a file for pytest.
    Write {
        test: SentTest,
        /// What the last step leads to, if nobody survives it.
        fatal: Option<SentFailure>,
        title: String,
        file: PathBuf,
    },
}

/// What to search for failures with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SearchTask {
    /// Same seed, same tests.
    pub(crate) seed: u64,
    pub(crate) tests: Option<u64>,
    pub(crate) steps: Option<u64>,
    /// Every test is wanted, not only those that are worth a look.
    pub(crate) keep: bool,
    /// Others search, too.
    pub(crate) has_company: bool,
    /// Tests to begin with.
    pub(crate) corpus: Vec<SentTest>,
}

/// What a worker tells.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// What an action is called that is about to be taken for the first time.
    Met(SentName),
    /// What was reached for the first time.
    Reached(Reached),
    /// A test that came to its end.
    Made {
        number: u64,
        test: SentTest,
        failure: Option<SentFailure>,
        /// It reached something new.
        is_new: bool,
    },
    /// A test that failed. The answer is a [`NextStep`].
    Found {
        number: u64,
        test: SentTest,
        failure: SentFailure,
    },
    /// The answer is a list of tests of others.
    WhatIsNew,
    /// The search has come to its end.
    Searched {
        deadlocks: u64,
        /// There is nothing to do in this system, so another worker need not try.
        is_idle: bool,
        problems: Vec<SentProblem>,
        trouble: Option<SentError>,
    },
    /// A simpler test.
    Simplified {
        test: SentTest,
        failure: SentFailure,
        runs: u64,
        /// Nothing stopped it early.
        complete: bool,
    },
    /// The test does not fail in the same way here; how instead, if at all.
    NotReproduced(Option<SentFailure>),
    /// The test, and how it fails, if it does.
    Replayed {
        test: SentTest,
        failure: Option<SentFailure>,
    },
    Written(String),
    /// There are no such files for this kind of system.
    NotWritten,
    /// What was asked for cannot be done.
    Impossible(SentError),
}

/// What a test reached.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reached {
    /// A name for the test.
    pub(crate) test: String,
    /// Files that were not mentioned before, with the lines that have code. Others refer to them by number.
    pub(crate) files: Vec<(PathBuf, Vec<u32>)>,
    /// The number of a file, and a way from one line of it to another.
    pub(crate) arcs: Vec<(usize, i32, i32)>,
}

/// Something wrong with the harness itself, noticed while it ran.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SentProblem {
    pub(crate) line: usize,
    pub(crate) message: String,
    pub(crate) times: u64,
}

/// What a worker that has found a failure is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NextStep {
    GoOn,
    Stop,
}
