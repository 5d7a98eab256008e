//! Variations of the order of steps: swaps and blocks.

use super::super::trials::ShrinkStop;
use super::{ReorderableSteps, VariationSearch};
use crate::{Random, Step, System};

/// The number of orders tried if there are too many to try all.
const SOME_ORDERS: usize = 8;

impl<S: System + ?Sized> VariationSearch<'_, '_, S> {
    /// Tries to swap each pair of steps.
    pub(super) fn swap(&mut self) -> Result<(), ShrinkStop> {
        for one in 0..self.movable_len() {
            for other in one + 1..self.movable_len() {
                let mut steps = self.steps.clone();
                steps.swap(one, other);
                // Swapping equal steps changes nothing.
                if steps != self.steps && self.holds(&steps)? {
                    self.found.steps[one].swaps.push(other);
                    self.found.steps[other].swaps.push(one);
                }
            }
        }
        for variations in &mut self.found.steps {
            variations.swaps.sort_unstable();
        }
        Ok(())
    }

    /// Returns the number of steps that may be moved.
    fn movable_len(&self) -> usize {
        let kept = usize::from(self.trials.keep_last);
        self.steps.len().saturating_sub(kept)
    }

    /// Finds blocks of consecutive steps that can be in any order, from the left, the longest
    /// first.
    pub(super) fn find_blocks(&mut self) -> Result<(), ShrinkStop> {
        let mut first = 0;
        while first < self.movable_len() {
            let mut last = first;
            while last + 1 < self.movable_len()
                && (first..=last).all(|earlier| self.are_exchangeable(earlier, last + 1))
            {
                last += 1;
            }
            let mut next = first + 1;
            while last > first {
                if let Some(exact) = self.is_any_order_good(first, last)? {
                    self.found
                        .blocks
                        .push(ReorderableSteps { first, last, exact });
                    next = last + 1;
                    break;
                }
                last -= 1;
            }
            first = next;
        }
        Ok(())
    }

    /// Returns true if two steps are equal or can be swapped.
    fn are_exchangeable(&self, one: usize, other: usize) -> bool {
        self.steps[one] == self.steps[other] || self.found.steps[one].swaps.contains(&other)
    }

    /// Tests whether steps can be in any order. Returns whether all orders were tried, or `None` if
    /// some order does not work. If each pair can be swapped, a rotation of three may still not
    /// work.
    fn is_any_order_good(&mut self, first: usize, last: usize) -> Result<Option<bool>, ShrinkStop> {
        let size = last - first + 1;
        // Equal steps have no other order.
        if (first..last).all(|index| self.steps[index] == self.steps[last]) {
            return Ok(None);
        }
        let exact = (1..=size)
            .try_fold(1usize, |product, factor| product.checked_mul(factor))
            .is_some_and(|orders| orders <= self.options.speed.max_orders());
        let orders = if exact {
            all_orders(size)
        } else {
            some_orders(size)
        };
        for order in orders {
            let mut steps: Vec<Step> = self.steps.clone();
            for (index, from) in order.iter().enumerate() {
                steps[first + index] = self.steps[first + from];
            }
            if steps != self.steps && !self.holds(&steps)? {
                return Ok(None);
            }
        }
        Ok(Some(exact))
    }
}

/// Returns all permutations of this many indices.
fn all_orders(size: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..size {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            (0..size)
                .filter(|next| !order.contains(next))
                .map(|next| [order.as_slice(), &[next]].concat())
                .collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}

/// Returns the reversal, a rotation, and some random permutations: always the same ones.
fn some_orders(size: usize) -> Vec<Vec<usize>> {
    let forwards: Vec<usize> = (0..size).collect();
    let mut orders = vec![forwards.iter().rev().copied().collect()];
    let mut rotated = forwards.clone();
    rotated.rotate_left(1);
    orders.push(rotated);
    let mut random = Random::new(size as u64);
    while orders.len() < SOME_ORDERS {
        let mut order = forwards.clone();
        for index in (1..size).rev() {
            order.swap(index, random.below(index as u64 + 1) as usize);
        }
        orders.push(order);
    }
    orders
}
