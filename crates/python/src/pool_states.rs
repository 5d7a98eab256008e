//! The states of slots (empty, fresh or used): the half of a harness's state that lives in Rust.
//!
//! A slot is *filled* if its value is not `None`. A filled slot is *used* or fresh. It may be
//! *defined* (stand left of `:=`) if it is used or not filled. These sets decide which actions are
//! enabled, without a call into the interpreter.

use testwright_core::{PoolId, SlotRole};

use crate::shapes::{SlotAxis, TemplateShape};
use crate::slot_set::SlotSet;

/// A set of slots that an axis draws from; weights depend on the sizes of these sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SlotSource {
    /// All filled slots of a pool.
    Filled(PoolId),
    /// All slots of a pool that may be defined.
    Definable(PoolId),
}

/// The states of all slots of all pools.
#[derive(Clone, Debug)]
pub(crate) struct PoolStates {
    /// One entry per pool.
    pools: Vec<PoolState>,
    /// Every slot may be defined at any time.
    relaxed: bool,
}

/// The states of the slots of one pool. The sets are adjacent in memory because a step uses all of
/// them.
#[derive(Clone, Debug)]
struct PoolState {
    /// Slots with a value.
    filled: SlotSet,
    /// Slots used since they were filled.
    used: SlotSet,
    /// Slots that may be defined; follows from the other two.
    definable: SlotSet,
}

impl PoolState {
    /// Marks every slot as empty and used.
    fn reset(&mut self) {
        self.filled.set_all(false);
        self.used.set_all(true);
        self.definable.set_all(true);
    }

    /// Records whether a slot is filled, and whether it is used if that is given.
    #[inline]
    fn update(&mut self, slot: u32, used: Option<bool>, filled: bool, relaxed: bool) {
        let mut is_new = self.filled.set(slot, filled);
        if let Some(used) = used {
            is_new |= self.used.set(slot, used);
        }
        if is_new {
            self.update_definable(slot, relaxed);
        }
    }

    /// Recomputes whether a slot may be defined.
    #[inline]
    fn update_definable(&mut self, slot: u32, relaxed: bool) {
        let definable = relaxed || self.used.contains(slot) || !self.filled.contains(slot);
        self.definable.set(slot, definable);
    }
}

impl PoolStates {
    /// Creates the states for pools of these sizes, as after a reset.
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

    /// Marks every slot as empty and used.
    pub(crate) fn reset(&mut self) {
        self.pools.iter_mut().for_each(PoolState::reset);
    }

    /// Returns the set that an axis in this role draws from; `None` if every slot will do.
    #[inline]
    pub(crate) fn source(pool: PoolId, role: SlotRole) -> Option<SlotSource> {
        match role {
            SlotRole::Use | SlotRole::SilentUse => Some(SlotSource::Filled(pool)),
            SlotRole::Definition => Some(SlotSource::Definable(pool)),
            SlotRole::Mention => None,
        }
    }

    /// Returns the set of a source.
    #[inline]
    pub(crate) fn set(&self, source: SlotSource) -> &SlotSet {
        match source {
            SlotSource::Filled(pool) => &self.pools[pool.0].filled,
            SlotSource::Definable(pool) => &self.pools[pool.0].definable,
        }
    }

    /// Returns for each pool the number of filled slots and of slots that may be defined.
    #[inline]
    pub(crate) fn sizes(&self) -> impl Iterator<Item = [u32; 2]> {
        let sizes = |pool: &PoolState| [pool.filled.count(), pool.definable.count()];
        self.pools.iter().map(sizes)
    }

    /// Returns true if a slot holds a value.
    #[inline]
    pub(crate) fn is_filled(&self, pool: PoolId, slot: u32) -> bool {
        self.pools[pool.0].filled.contains(slot)
    }

    /// Returns true if a slot was used since it was filled.
    pub(crate) fn is_used(&self, pool: PoolId, slot: u32) -> bool {
        self.pools[pool.0].used.contains(slot)
    }

    /// Allows or forbids defining slots with unused values.
    pub(crate) fn set_relaxed(&mut self, relaxed: bool) {
        self.relaxed = relaxed;
        for pool in &mut self.pools {
            for slot in 0..pool.definable.size() {
                pool.update_definable(slot, relaxed);
            }
        }
    }

    /// Returns true if the slots chosen on these axes allow the action.
    pub(crate) fn allows(&self, slots: &[SlotAxis], values: &[u64]) -> bool {
        slots.iter().all(|slot| {
            PoolStates::source(slot.pool, slot.role)
                .is_none_or(|source| self.set(source).contains(values[slot.axis] as u32))
        })
    }

    /// Records whether a slot's value is anything but `None`.
    #[inline]
    pub(crate) fn set_filled(&mut self, pool: PoolId, slot: u32, filled: bool) {
        self.pools[pool.0].update(slot, None, filled, self.relaxed);
    }

    /// Records the effects of an action: the slots it used, then those it defined, and which of
    /// them are filled now.
    #[inline]
    pub(crate) fn record_action(
        &mut self,
        shape: &TemplateShape,
        values: &[u64],
        is_filled: impl Fn(PoolId, u32) -> bool,
    ) {
        for (index, axis) in shape.slots.iter().enumerate() {
            let slot = values[axis.axis] as u32;
            // Only the slot's first use in the line counts, so that `f(~<x>, <x>)` stays silent.
            let used_before = |earlier: &SlotAxis| {
                earlier.pool == axis.pool
                    && values[earlier.axis] as u32 == slot
                    && earlier.role.is_use()
            };
            let used = match axis.role {
                SlotRole::Definition => Some(false),
                SlotRole::Use
                    if !(shape.may_repeat && shape.slots[..index].iter().any(used_before)) =>
                {
                    Some(true)
                }
                _ => None,
            };
            let filled = is_filled(axis.pool, slot);
            self.pools[axis.pool.0].update(slot, used, filled, self.relaxed);
        }
    }
}
