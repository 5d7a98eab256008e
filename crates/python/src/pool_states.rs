//! Which slots are empty, fresh or used: the half of a harness's state that lives in Rust.
//!
//! A slot is *filled* if its value is not `None`. A filled slot is *used* or fresh. It may be *defined*
//! (stand left of `:=`) if it is used or not filled. These sets decide which actions are enabled, so nobody
//! has to ask the interpreter.

use testwright_core::{PoolId, Role};

use crate::shapes::{Shape, SlotAxis};
use crate::slot_set::SlotSet;

/// One of the sets an axis may draw its slot from; weights depend on their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// All filled slots of a pool.
    Filled(PoolId),
    /// All slots of a pool that may be defined.
    Definable(PoolId),
}

/// The states of all slots of all pools.
#[derive(Clone, Debug)]
pub(crate) struct PoolStates {
    pools: Vec<PoolState>,
    /// Every slot may be defined at any time.
    relaxed: bool,
}

/// The states of the slots of one pool, side by side because a step that looks at one of them looks at all.
#[derive(Clone, Debug)]
struct PoolState {
    filled: SlotSet,
    used: SlotSet,
    definable: SlotSet,
}

impl PoolState {
    /// Every slot empty and used.
    fn reset(&mut self) {
        self.filled.set_all(false);
        self.used.set_all(true);
        self.definable.set_all(true);
    }

    /// Records whether a slot is filled, and whether it is used if that is known.
    #[inline]
    fn note(&mut self, slot: u32, used: Option<bool>, filled: bool, relaxed: bool) {
        let mut is_new = self.filled.set(slot, filled);
        if let Some(used) = used {
            is_new |= self.used.set(slot, used);
        }
        if is_new {
            self.update_definable(slot, relaxed);
        }
    }

    #[inline]
    fn update_definable(&mut self, slot: u32, relaxed: bool) {
        let definable = relaxed || self.used.contains(slot) || !self.filled.contains(slot);
        self.definable.set(slot, definable);
    }
}

impl PoolStates {
    /// For pools of these sizes, as after a reset.
    pub(crate) fn new(sizes: &[u32]) -> PoolStates {
        let pools = sizes.iter().map(|size| PoolState {
            filled: SlotSet::empty(*size),
            used: SlotSet::empty(*size),
            definable: SlotSet::empty(*size),
        });
        let mut states = PoolStates {
            pools: pools.collect(),
            relaxed: false,
        };
        states.reset();
        states
    }

    /// Every slot empty and used.
    pub(crate) fn reset(&mut self) {
        self.pools.iter_mut().for_each(PoolState::reset);
    }

    /// The slots an axis in this role may draw from; `None` if every slot will do.
    #[inline]
    pub(crate) fn source(pool: PoolId, role: Role) -> Option<Source> {
        match role {
            Role::Use | Role::SilentUse => Some(Source::Filled(pool)),
            Role::Definition => Some(Source::Definable(pool)),
            Role::Mention => None,
        }
    }

    /// The set behind a source.
    #[inline]
    pub(crate) fn set(&self, source: Source) -> &SlotSet {
        match source {
            Source::Filled(pool) => &self.pools[pool.0].filled,
            Source::Definable(pool) => &self.pools[pool.0].definable,
        }
    }

    /// How many slots of each pool are filled, and how many may be defined.
    #[inline]
    pub(crate) fn sizes(&self) -> impl Iterator<Item = [u32; 2]> {
        let sizes = |pool: &PoolState| [pool.filled.count(), pool.definable.count()];
        self.pools.iter().map(sizes)
    }

    #[inline]
    pub(crate) fn is_filled(&self, pool: PoolId, slot: u32) -> bool {
        self.pools[pool.0].filled.contains(slot)
    }

    /// Whether a slot was used since it was filled.
    pub(crate) fn is_used(&self, pool: PoolId, slot: u32) -> bool {
        self.pools[pool.0].used.contains(slot)
    }

    /// Lets every slot be defined at any time, or no longer.
    pub(crate) fn relax(&mut self, relaxed: bool) {
        self.relaxed = relaxed;
        for pool in &mut self.pools {
            for slot in 0..pool.definable.size() {
                pool.update_definable(slot, relaxed);
            }
        }
    }

    /// Whether the slots chosen on these axes allow the action.
    pub(crate) fn allow(&self, slots: &[SlotAxis], values: &[u64]) -> bool {
        slots.iter().all(|slot| {
            PoolStates::source(slot.pool, slot.role)
                .is_none_or(|source| self.set(source).contains(values[slot.axis] as u32))
        })
    }

    /// Records that a slot's value is, or is not, `None`.
    #[inline]
    pub(crate) fn set_filled(&mut self, pool: PoolId, slot: u32, filled: bool) {
        self.pools[pool.0].note(slot, None, filled, self.relaxed);
    }

    /// The effects of an action: what it used, then what it defined, and which of these slots are filled now.
    #[inline]
    pub(crate) fn took(
        &mut self,
        shape: &Shape,
        values: &[u64],
        is_filled: impl Fn(PoolId, u32) -> bool,
    ) {
        for (place, axis) in shape.slots.iter().enumerate() {
            let slot = values[axis.axis] as u32;
            // Only the slot's first use in the line decides, so that `f(~<x>, <x>)` stays silent.
            let used_before = |earlier: &SlotAxis| {
                earlier.pool == axis.pool
                    && values[earlier.axis] as u32 == slot
                    && earlier.role.is_use()
            };
            let used = match axis.role {
                Role::Definition => Some(false),
                Role::Use
                    if !(shape.may_repeat && shape.slots[..place].iter().any(used_before)) =>
                {
                    Some(true)
                }
                _ => None,
            };
            let filled = is_filled(axis.pool, slot);
            self.pools[axis.pool.0].note(slot, used, filled, self.relaxed);
        }
    }
}
