//! The positions of slots in the one flat Python list that holds them all.

use testwright_core::PoolId;
use testwright_lang::Harness;

/// The positions of all slots. The reference twin of a slot stands a fixed distance behind it.
#[derive(Clone, Debug)]
pub(crate) struct SlotLayout {
    /// The first position of each pool.
    starts: Vec<usize>,
    /// The number of slots of each pool, without twins.
    sizes: Vec<u32>,
    /// The length of the list.
    total: usize,
}

impl SlotLayout {
    /// Lays out the pools one after the other, each followed by its twins.
    pub(crate) fn new(harness: &Harness) -> SlotLayout {
        let mut total = 0;
        let mut starts = Vec::new();
        for pool in &harness.pools {
            starts.push(total);
            total += pool.size as usize * if pool.reference { 2 } else { 1 };
        }
        SlotLayout {
            starts,
            sizes: harness.pools.iter().map(|pool| pool.size).collect(),
            total,
        }
    }

    /// Returns the number of slots, twins included.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// Returns the position of a slot.
    #[inline]
    pub(crate) fn position(&self, pool: PoolId, slot: u32) -> usize {
        self.starts[pool.0] + slot as usize
    }

    /// Returns the distance from a slot to its twin.
    pub(crate) fn twin_distance(&self, pool: PoolId) -> usize {
        self.sizes[pool.0] as usize
    }
}
