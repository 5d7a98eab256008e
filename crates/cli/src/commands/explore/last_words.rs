//! What is said if somebody presses Ctrl-C and the system under test does not let go of the process.
//!
//! The thread that explores is stuck then, so another one speaks. Failing tests are in files already.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use testwright_core::Catalog;
use testwright_core::explore::Progress;

use super::json::{FailureReport, Report};
use crate::{ExitStatus, quantity};

/// How far an exploration has come, for the thread that may have to report it.
#[derive(Clone)]
pub(super) struct LastWords(Arc<Mutex<State>>);

struct State {
    progress: Progress,
    failures: Vec<FailureReport>,
    /// How many actions and templates the harness has.
    size: (u64, usize),
    json: bool,
}

impl LastWords {
    /// Prepares to speak.
    pub(super) fn prepare(catalog: &Catalog, json: bool) -> LastWords {
        let words = LastWords(Arc::new(Mutex::new(State {
            progress: Progress::default(),
            failures: Vec::new(),
            size: (catalog.len(), catalog.templates().len()),
            json,
        })));
        let speaker = words.clone();
        testwright_python::when_stuck(move |out, err| speaker.with(|state| state.speak(out, err)));
        words
    }

    pub(super) fn note(&self, progress: &Progress) {
        self.with(|state| state.progress = *progress);
    }

    pub(super) fn note_failure(&self, failure: FailureReport) {
        self.with(|state| state.failures.push(failure));
    }

    /// What is known, for scripts.
    pub(super) fn report(&self) -> Report {
        self.with(|state| state.report())
    }

    fn with<R>(&self, work: impl FnOnce(&mut State) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn report(&self) -> Report {
        Report::ended(&self.progress, self.size, self.failures.clone())
    }

    fn speak(&mut self, out: &mut dyn Write, err: &mut dyn Write) -> i32 {
        let (status, found) = match self.failures.len() as u64 {
            0 => (ExitStatus::NothingFound, "no failure so far".to_owned()),
            number => (ExitStatus::FailureFound, quantity::of(number, "failure")),
        };
        // Nobody is left who could do anything about a broken pipe.
        let _ = writeln!(
            err,
            "The system under test does not react to Ctrl-C, so the process is ended."
        );
        let _ = if self.json {
            writeln!(out, "{}", self.report().to_json())
        } else {
            let states = quantity::of(self.progress.states, "state");
            writeln!(out, "Interrupted at {states}: {found}")
        };
        status.code().into()
    }
}
