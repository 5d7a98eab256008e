//! A safe with a secret code.

use super::touched::{TouchedTargets, covered};
use super::{catalog, failed, fingerprint};
use crate::{
    ActionId, Catalog, Equivalence, Error, FailureKind, Fingerprint, Outcome, Random, System,
    TargetId,
};

/// A safe that should never open, but does once the keys of its code were pressed in order,
/// whatever else is pressed in between. So the shortest failing test is the code, and everything
/// else in a test is noise. The touched targets tell how much of the code was pressed.
///
/// ```
/// use testwright_core::{ActionId, Outcome, System, toys::Safe};
///
/// let mut safe = Safe::new(9, &[3, 1]);
/// assert_eq!(safe.actions().text(ActionId(3)), "press(3)");
/// assert_eq!(safe.step(ActionId(3)), Outcome::Passed);
/// assert_eq!(safe.step(ActionId(7)), Outcome::Passed);
/// assert!(matches!(safe.step(ActionId(1)), Outcome::Failed(_)));
/// ```
#[derive(Clone, Debug)]
pub struct Safe {
    actions: Catalog,
    code: Vec<u64>,
    pressed: usize,
    touched: TouchedTargets,
}

impl Safe {
    /// Returns how many keys of the code were pressed.
    pub fn pressed(&self) -> usize {
        self.pressed
    }

    /// Creates a safe with keys from 0 up to `last_key`, and this code.
    pub fn new(last_key: u32, code: &[u64]) -> Safe {
        Safe {
            actions: catalog(&[], &[&format!("press(<[0..{last_key}]>)")]),
            code: code.to_vec(),
            pressed: 0,
            touched: TouchedTargets::default(),
        }
    }
}

impl System for Safe {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.pressed = 0;
        Ok(())
    }

    fn is_enabled(&mut self, _action: ActionId) -> bool {
        true
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        Some(ActionId(random.below(self.actions.len())))
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        if self.code.get(self.pressed) == Some(&action.0) {
            self.pressed += 1;
            self.touched.touch(TargetId(self.pressed as u32));
            if self.pressed == self.code.len() {
                return failed(FailureKind::UncaughtException, "the safe is open");
            }
        }
        Outcome::Passed
    }

    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}

impl Fingerprint for Safe {
    fn fingerprint(&mut self, _equivalence: Equivalence) -> Result<u128, Error> {
        Ok(fingerprint([self.pressed as u64]))
    }
}

covered!(Safe);
