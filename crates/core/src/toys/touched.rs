use crate::{Coverage, TargetId};

/// What was touched of a toy: all that [`Covered`](crate::Covered) asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    pub(super) all: Coverage,
    pub(super) current: Coverage,
    pub(super) new: Vec<TargetId>,
}

impl Touched {
    pub(super) fn touch(&mut self, target: TargetId) {
        self.current.insert(target);
        if self.all.insert(target) {
            self.new.push(target);
        }
    }
}

/// Implements [`Covered`](crate::Covered) for a toy that has a field `touched`.
macro_rules! covered {
    ($toy:ty) => {
        impl crate::Covered for $toy {
            fn all_touched(&self) -> crate::Coverage {
                self.touched.all.clone()
            }

            fn take_new(&mut self) -> Vec<crate::TargetId> {
                std::mem::take(&mut self.touched.new)
            }

            fn begin_anew(&mut self) -> Result<(), crate::Error> {
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
