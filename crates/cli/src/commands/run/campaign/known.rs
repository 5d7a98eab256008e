//! Failures of earlier campaigns, which are tried first: is this one fixed, does that one come back?

use testwright_campaign::store::{KnownFailure, Status};
use testwright_core::{Error, Failure, Test};

use super::super::memory::signature;
use super::Campaign;
use crate::events::{self, KnownState};
use crate::workers::reduce::{Reducer, Replayed};

impl Campaign<'_, '_> {
    /// Runs the failing tests of earlier campaigns, before anything else.
    pub(super) fn try_known(&mut self, reducer: &mut Reducer<'_>) {
        let known = self.memory.known(self.console);
        if known.iter().all(|known| known.reduced.is_none()) {
            return;
        }
        if let Err(why) = reducer.prepare() {
            self.not_loaded(why);
            return;
        }
        self.begin();
        for known in known {
            match fate(reducer, &known) {
                Ok(Fate::StillFails { test, failure }) => {
                    self.met_again(&known, test, failure, reducer, Status::Open);
                }
                Ok(Fate::Returned { test, failure }) => {
                    self.met_again(&known, test, failure, reducer, Status::Returned);
                }
                Ok(Fate::Fixed) => {
                    self.memory.fixed(self.console, &known);
                    self.desk.say_fixed(self.console, &known);
                    self.tell(&events::Known {
                        number: known.id.number() as usize,
                        state: KnownState::Fixed,
                    });
                }
                Ok(Fate::Unchanged) => {}
                // Somebody wants to stop, or the search will have the same trouble.
                Err(_) => return,
            }
        }
        if !self.findings.is_empty() && !self.run.keep_going {
            self.stop();
        }
    }

    /// A failure of an earlier campaign is there still, or again.
    fn met_again(
        &mut self,
        known: &KnownFailure,
        test: Test,
        failure: Failure,
        reducer: &mut Reducer<'_>,
        status: Status,
    ) {
        let number = self.findings.len() + 1;
        self.memory.met_again(self.console, number, known, status);
        self.tell(&events::Known {
            number: known.id.number() as usize,
            state: match status {
                Status::Returned => KnownState::Returned,
                Status::Open | Status::Fixed => KnownState::StillFails,
            },
        });
        let (file, title) = self.desk.pytest_names(number);
        let pytest = reducer.write(&test, &failure, title, &file);
        let finding = self.desk.meet_again(
            self.console,
            (number, known, status),
            (test, failure),
            pytest,
        );
        self.push(finding);
    }
}

/// What has become of a failure.
enum Fate {
    /// It fails as it did.
    StillFails { test: Test, failure: Failure },
    /// It was fixed, and fails again.
    Returned { test: Test, failure: Failure },
    /// It does not fail any more.
    Fixed,
    /// Nothing new, or nothing that could be found out.
    Unchanged,
}

/// Runs the reduced test of a failure. One that was never reduced, because it did not fail again, proves nothing.
fn fate(reducer: &mut Reducer<'_>, known: &KnownFailure) -> Result<Fate, Error> {
    let Some(text) = &known.reduced else {
        return Ok(Fate::Unchanged);
    };
    let was_fixed = known.status == Status::Fixed;
    Ok(match reducer.replay(text)? {
        Replayed::Fails { test, failure } if is_same(known, &failure) => {
            if was_fixed {
                Fate::Returned { test, failure }
            } else {
                Fate::StillFails { test, failure }
            }
        }
        // That it fails in another way is for the search to find.
        Replayed::Passes | Replayed::Fails { .. } if !was_fixed => Fate::Fixed,
        Replayed::Passes | Replayed::Fails { .. } | Replayed::Unknown => Fate::Unchanged,
    })
}

/// Whether a failure is the one that is known.
fn is_same(known: &KnownFailure, failure: &Failure) -> bool {
    known.found.signature == signature(failure)
}
