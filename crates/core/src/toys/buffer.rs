use super::touched::{Touched, covered};
use super::{catalog, failed};
use crate::{ActionId, Catalog, Error, FailureKind, Outcome, Random, System, TargetId};

/// A buffer that overflows when too much is put in. Things are taken out and flushed as often as put in, so that it
/// hardly ever fills, unless a test does without taking and flushing.
#[derive(Clone, Debug)]
pub struct Buffer {
    actions: Catalog,
    capacity: usize,
    filled: usize,
    touched: Touched,
}

impl Buffer {
    /// Touched when more than four things are in.
    pub const DEEP: TargetId = TargetId(4);

    /// A buffer that holds so many things.
    pub fn new(capacity: usize) -> Buffer {
        Buffer {
            actions: catalog(&[], &["put()", "take()", "flush()", "look()"]),
            capacity,
            filled: 0,
            touched: Touched::default(),
        }
    }

    /// How many things are in.
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
