//! Where each slot stands in the one flat Python list that holds them all.

use testwright_core::PoolId;
use testwright_lang::Harness;

/// Places of slots; the reference twin of a slot stands a fixed distance behind it.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    starts: Vec<usize>,
    sizes: Vec<u32>,
    total: usize,
}

impl Layout {
    pub(crate) fn new(harness: &Harness) -> Layout {
        let mut total = 0;
        let mut starts = Vec::new();
        for pool in &harness.pools {
            starts.push(total);
            total += pool.size as usize * if pool.reference { 2 } else { 1 };
        }
        Layout {
            starts,
            sizes: harness.pools.iter().map(|pool| pool.size).collect(),
            total,
        }
    }

    /// The number of slots, twins included.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    #[inline]
    pub(crate) fn place(&self, pool: PoolId, slot: u32) -> usize {
        self.starts[pool.0] + slot as usize
    }

    /// How far behind a slot its twin stands.
    pub(crate) fn twin_distance(&self, pool: PoolId) -> usize {
        self.sizes[pool.0] as usize
    }
}
