//! A system that breaks the laws.

use super::{catalog, failed};
use crate::{ActionId, Catalog, Error, FailureKind, Outcome, System};

/// A clock that breaks at its third tick, its ninth, its 27th and so on, whatever was reset in
/// between. It breaks the laws of [`System`] on purpose: a test that fails once passes the next
/// time.
#[derive(Clone, Debug)]
pub struct Flaky {
    actions: Catalog,
    ticks: u64,
    /// The tick at which it breaks next.
    breaks_at: u64,
}

impl Default for Flaky {
    fn default() -> Flaky {
        Flaky {
            actions: catalog(&[], &["tick()"]),
            ticks: 0,
            breaks_at: 3,
        }
    }
}

impl System for Flaky {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn reset(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn is_enabled(&mut self, _action: ActionId) -> bool {
        true
    }

    fn step(&mut self, _action: ActionId) -> Outcome {
        self.ticks += 1;
        if self.ticks == self.breaks_at {
            self.breaks_at = self.breaks_at.saturating_mul(3);
            return failed(FailureKind::UncaughtException, "Clock: broken");
        }
        Outcome::Passed
    }

    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}
