//! A pedestrian crossing with a traffic light.

use super::{catalog, failed, fingerprint};
use crate::{ActionId, Catalog, Equivalence, Error, FailureKind, Fingerprint, Outcome, System};

/// A street with a traffic light. Going at green and going at red are two lines of the harness with
/// different guards and the same text; waiting is three times as likely as anything else. Going at
/// red fails the second time.
#[derive(Clone, Debug)]
pub struct Crossing {
    actions: Catalog,
    green: bool,
    violations: u32,
}

impl Crossing {
    /// Changes the light.
    pub const SWITCH: ActionId = ActionId(0);
    /// `go()`, enabled at green.
    pub const GO_AT_GREEN: ActionId = ActionId(1);
    /// `go()`, enabled at red.
    pub const GO_AT_RED: ActionId = ActionId(2);
    /// The first of three equal copies of `wait()`.
    pub const WAIT: ActionId = ActionId(3);
}

impl Default for Crossing {
    fn default() -> Crossing {
        let lines = ["switch()", "green -> go()", "red -> go()", "*3 wait()"];
        Crossing {
            actions: catalog(&[], &lines),
            green: true,
            violations: 0,
        }
    }
}

impl System for Crossing {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.green = true;
        self.violations = 0;
        Ok(())
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        match action {
            Crossing::GO_AT_GREEN => self.green,
            Crossing::GO_AT_RED => !self.green,
            _ => true,
        }
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        match action {
            Crossing::SWITCH => self.green = !self.green,
            Crossing::GO_AT_RED => {
                self.violations += 1;
                if self.violations == 2 {
                    return failed(FailureKind::UncaughtException, "Crash: there was a car");
                }
            }
            _ => {}
        }
        Outcome::Passed
    }

    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}

impl Crossing {
    /// Returns true if the light is green.
    pub fn is_green(&self) -> bool {
        self.green
    }
}

impl Fingerprint for Crossing {
    fn fingerprint(&mut self, _equivalence: Equivalence) -> Result<u128, Error> {
        Ok(fingerprint([
            u64::from(self.green),
            u64::from(self.violations),
        ]))
    }
}
