//! What is said if somebody presses Ctrl-C and the system under test does not let go of the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use testwright_core::explore::Progress;

use crate::{ExitStatus, quantity};

/// How far an exploration has come, for the thread that may have to report it.
#[derive(Clone, Default)]
pub(super) struct LastWords(Arc<Known>);

#[derive(Default)]
struct Known {
    states: AtomicU64,
    failures: AtomicU64,
}

impl LastWords {
    /// Prepares to speak.
    pub(super) fn prepare() -> LastWords {
        let words = LastWords::default();
        let LastWords(known) = words.clone();
        testwright_python::when_stuck(move |_, err| {
            let states = known.states.load(Ordering::Relaxed);
            let failures = known.failures.load(Ordering::Relaxed);
            // Nobody is left who could do anything about a broken pipe.
            let _ = writeln!(
                err,
                "The system under test does not react to Ctrl-C, so the process is ended, after {} and with {}.",
                quantity::of(states, "state"),
                quantity::of(failures, "failure"),
            );
            let status = match failures {
                0 => ExitStatus::CouldNot,
                _ => ExitStatus::FailureFound,
            };
            status.code().into()
        });
        words
    }

    pub(super) fn note(&self, progress: &Progress) {
        self.0.states.store(progress.states, Ordering::Relaxed);
    }

    pub(super) fn note_failure(&self) {
        self.0.failures.fetch_add(1, Ordering::Relaxed);
    }
}
