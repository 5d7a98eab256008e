//! Coverage for toys.

use crate::{Coverage, TargetId};

/// The touched targets of a toy: everything that [`Covered`](crate::Covered) requires.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchedTargets {
    pub(super) all_touched: Coverage,
    pub(super) current: Coverage,
    pub(super) new: Vec<TargetId>,
}

impl TouchedTargets {
    /// Records a target.
    pub(super) fn touch(&mut self, target: TargetId) {
        self.current.insert(target);
        if self.all_touched.insert(target) {
            self.new.push(target);
        }
    }
}

/// Implements [`Covered`](crate::Covered) for a toy that has a field `touched`.
macro_rules! covered {
    ($toy:ty) => {
        impl crate::Covered for $toy {
            fn all_touched(&self) -> crate::Coverage {
                self.touched.all_touched.clone()
            }

            fn take_new(&mut self) -> Vec<crate::TargetId> {
                std::mem::take(&mut self.touched.new)
            }

            fn reset_touched(&mut self) -> Result<(), crate::Error> {
                self.touched.current.clear();
                Ok(())
            }

            fn touched(&self) -> crate::Coverage {
                self.touched.current.clone()
            }
        }
    };
}

pub(super) use covered;
