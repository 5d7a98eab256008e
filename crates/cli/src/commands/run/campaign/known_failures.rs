//! Failures of earlier campaigns, which are replayed first: some are fixed, some still fail, and
//! fixed ones may have come back.

use testwright_campaign::store::{FailureStatus, StoredFailure};
use testwright_core::{Error, Failure, Test};

use super::super::failures::known_bugs;
use super::super::store_writer::is_known_failure;
use super::Campaign;
use crate::events::{self, KnownFailureState};
use crate::workers::reduce::{ReplayResult, WorkerReducer};

impl Campaign<'_, '_> {
    /// Replays the failing tests of earlier campaigns before the search begins.
    pub(super) fn replay_known(&mut self, reducer: &mut WorkerReducer<'_>) {
        let known = self.store.known_failures(self.console);
        if known.iter().all(|known| known.reduced.is_none()) {
            return;
        }
        if let Err(why) = reducer.prepare() {
            self.handle_load_error(why);
            return;
        }
        self.start();
        for known in known {
            match check_known(reducer, &known) {
                Ok(KnownStatus::StillFails { test, failure }) => {
                    self.report_known(&known, test, failure, reducer, FailureStatus::Open);
                }
                Ok(KnownStatus::Returned { test, failure }) => {
                    self.report_known(&known, test, failure, reducer, FailureStatus::Returned);
                }
                Ok(KnownStatus::Fixed) => {
                    self.store.mark_fixed(self.console, &known);
                    self.writer.print_fixed(self.console, &known);
                    self.emit(&events::KnownFailureEvent {
                        number: known.id.number() as usize,
                        state: KnownFailureState::Fixed,
                    });
                }
                Ok(KnownStatus::Unchanged) => {}
                // Either the user interrupts, or the search will run into the same error and report it.
                Err(_) => return,
            }
        }
        if !self.findings.is_empty() && !self.run.keep_going {
            self.stop();
        }
    }

    /// Stores and prints a known failure that still fails, or fails again.
    fn report_known(
        &mut self,
        known: &StoredFailure,
        test: Test,
        failure: Failure,
        reducer: &mut WorkerReducer<'_>,
        status: FailureStatus,
    ) {
        let number = self.findings.len() + 1;
        self.store.mark_seen(self.console, number, known, status);
        self.emit(&events::KnownFailureEvent {
            number: known.id.number() as usize,
            state: match status {
                FailureStatus::Returned => KnownFailureState::Returned,
                FailureStatus::Open | FailureStatus::Fixed => KnownFailureState::StillFails,
            },
        });
        let (file, title) = self.writer.pytest_target(number);
        let pytest = reducer.render_unit_test(&test, &failure, title, &file);
        let identity = reducer.identify(&test, &failure);
        let known_bugs = known_bugs(&self.findings);
        let finding = self.writer.report_known(
            self.console,
            (number, known, status),
            (test, failure),
            pytest,
            (identity, &known_bugs),
        );
        self.add_failure(finding);
    }
}

/// Status of a known failure after its test was replayed.
enum KnownStatus {
    /// It still fails in the same way.
    StillFails { test: Test, failure: Failure },
    /// It was fixed, and fails again.
    Returned { test: Test, failure: Failure },
    /// It was open, and does not fail any more.
    Fixed,
    /// It is as it was before, or nothing could be found out.
    Unchanged,
}

/// Replays the reduced test of a known failure.
///
/// A failure that was never reduced, because it did not fail again, stays unchanged.
fn check_known(
    reducer: &mut WorkerReducer<'_>,
    known: &StoredFailure,
) -> Result<KnownStatus, Error> {
    let Some(text) = &known.reduced else {
        return Ok(KnownStatus::Unchanged);
    };
    let was_fixed = known.status == FailureStatus::Fixed;
    Ok(match reducer.replay(text)? {
        ReplayResult::Fails { test, failure } if is_known_failure(known, &failure) => {
            if was_fixed {
                KnownStatus::Returned { test, failure }
            } else {
                KnownStatus::StillFails { test, failure }
            }
        }
        // A different failure is left for the search to find.
        ReplayResult::Passes | ReplayResult::Fails { .. } if !was_fixed => KnownStatus::Fixed,
        ReplayResult::Passes | ReplayResult::Fails { .. } | ReplayResult::Unknown => {
            KnownStatus::Unchanged
        }
    })
}
