//! Any enabled action, all of them equally likely.
//!
//! Hard to beat for what it costs: nothing is remembered, and test number n can be made again by itself.

use super::Strategy;
use crate::{ActionId, Random, System};

/// Takes any enabled action, all of them equally likely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uniform;

impl<S: System + ?Sized> Strategy<S> for Uniform {
    #[inline]
    fn next(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        system.pick(random)
    }
}
