//! What is said if somebody presses Ctrl-C and the system under test does not let go of the process.
//!
//! The thread that runs the search is stuck then, so another one speaks: it shares the little that is worth
//! saying. All that was found is in files already.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use testwright_core::Catalog;
use testwright_core::generate::Progress;

use super::json::{FailureReport, Report};
use crate::{ExitStatus, duration, quantity};

/// The state of a run, for the thread that may have to report it.
#[derive(Clone)]
pub(super) struct LastWords(Arc<Mutex<State>>);

struct State {
    report: Report,
    progress: Progress,
    started: Instant,
    seed: u64,
    json: bool,
}

impl LastWords {
    /// Prepares to speak.
    pub(super) fn prepare(seed: u64, catalog: &Catalog, started: Instant, json: bool) -> LastWords {
        let state = State {
            report: Report::new(seed, catalog),
            progress: Progress::default(),
            started,
            seed,
            json,
        };
        let words = LastWords(Arc::new(Mutex::new(state)));
        let speaker = words.clone();
        testwright_python::when_stuck(move |out, err| speaker.with(|state| state.speak(out, err)));
        words
    }

    pub(super) fn progress(&self, progress: &Progress) {
        self.with(|state| state.progress = *progress);
    }

    pub(super) fn found(&self, failure: FailureReport) {
        self.with(|state| state.report.failures.push(failure));
    }

    /// What became of the last failure that was found.
    pub(super) fn reduced(&self, failure: FailureReport) {
        self.with(|state| {
            state.report.failures.pop();
            state.report.failures.push(failure);
        });
    }

    fn with<R>(&self, work: impl FnOnce(&mut State) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn speak(&mut self, out: &mut dyn Write, err: &mut dyn Write) -> i32 {
        let time = self.started.elapsed();
        let found = self.report.failures.len() as u64;
        // Nobody is left who could do anything about a broken pipe.
        let _ = writeln!(
            err,
            "The system under test does not react to Ctrl-C (test {} of seed {}), so the process is ended.",
            self.progress.tests + 1,
            self.seed,
        );
        let _ = if self.json {
            self.report.update(&self.progress, time, true);
            writeln!(out, "{}", self.report.to_json())
        } else {
            let found = match found {
                0 => "no failure found".to_owned(),
                number => format!("{} found", quantity::of(number, "failure")),
            };
            writeln!(
                out,
                "Interrupted after {}, {} in {} (seed {}): {found}",
                quantity::of(self.progress.tests, "test"),
                quantity::of(self.progress.steps, "step"),
                duration::show(time),
                self.seed,
            )
        };
        let status = if found == 0 {
            ExitStatus::NothingFound
        } else {
            ExitStatus::FailureFound
        };
        status.code().into()
    }
}
