//! A buffer with an overflow.

use super::touched::{TouchedTargets, covered};
use super::{catalog, failed};
use crate::{ActionId, Catalog, Error, FailureKind, Outcome, Random, System, TargetId};

/// A buffer that overflows when too much is put in. Items are taken out and flushed as often as put
/// in, so it hardly ever fills up, unless a test leaves out taking and flushing.
#[derive(Clone, Debug)]
pub struct Buffer {
    actions: Catalog,
    capacity: usize,
    filled: usize,
    touched: TouchedTargets,
}

impl Buffer {
    /// The target that is touched when more than four items are in.
    pub const DEEP: TargetId = TargetId(4);

    /// Creates a buffer with this capacity.
    pub fn new(capacity: usize) -> Buffer {
        Buffer {
            actions: catalog(&[], &["put()", "take()", "flush()", "look()"]),
            capacity,
            filled: 0,
            touched: TouchedTargets::default(),
        }
    }

    /// Returns the number of items in the buffer.
    pub fn filled(&self) -> usize {
        self.filled
    }
}

impl System for Buffer {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.filled = 0;
        Ok(())
    }

    fn is_enabled(&mut self, _action: ActionId) -> bool {
        true
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        Some(ActionId(random.below(self.actions.len())))
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        self.touched.touch(TargetId(action.0 as u32));
        match action.0 {
            0 if self.filled == self.capacity => {
                return failed(
                    FailureKind::UncaughtException,
                    "Overflow: the buffer is full",
                );
            }
            0 => self.filled += 1,
            1 => self.filled = self.filled.saturating_sub(1),
            2 => self.filled = 0,
            _ => {}
        }
        if self.filled > 4 {
            self.touched.touch(Buffer::DEEP);
        }
        Outcome::Passed
    }

    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}

covered!(Buffer);
