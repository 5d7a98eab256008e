//! Which steps can trade places, and which can be in any order.

use super::super::trials::Stop;
use super::{Block, Generalizer};
use crate::{Random, Step, System};

/// Of how many orders a block is tried in if there are too many for all.
const SOME_ORDERS: usize = 8;

impl<S: System + ?Sized> Generalizer<'_, '_, S> {
    /// Exchanges each two steps.
    pub(super) fn swap(&mut self) -> Result<(), Stop> {
        for one in 0..self.movable() {
            for other in one + 1..self.movable() {
                let mut steps = self.steps.clone();
                steps.swap(one, other);
                // Exchanging equal steps is not worth mentioning.
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

    fn movable(&self) -> usize {
        let kept = usize::from(self.trials.keep_last);
        self.steps.len().saturating_sub(kept)
    }

    /// Finds steps in a row that can be in any order, from the left, the longest first.
    pub(super) fn find_blocks(&mut self) -> Result<(), Stop> {
        let mut first = 0;
        while first < self.movable() {
            let mut last = first;
            while last + 1 < self.movable()
                && (first..=last).all(|earlier| self.are_exchangeable(earlier, last + 1))
            {
                last += 1;
            }
            let mut next = first + 1;
            while last > first {
                if let Some(exact) = self.is_any_order_good(first, last)? {
                    self.found.blocks.push(Block { first, last, exact });
                    next = last + 1;
                    break;
                }
                last -= 1;
            }
            first = next;
        }
        Ok(())
    }

    fn are_exchangeable(&self, one: usize, other: usize) -> bool {
        self.steps[one] == self.steps[other] || self.found.steps[one].swaps.contains(&other)
    }

    /// Whether steps can be in any order, and if so, whether all orders were tried. That each two can be exchanged does
    /// not mean that all three can be turned round.
    fn is_any_order_good(&mut self, first: usize, last: usize) -> Result<Option<bool>, Stop> {
        let size = last - first + 1;
        // Equal steps only: there is no other order.
        if (first..last).all(|place| self.steps[place] == self.steps[last]) {
            return Ok(None);
        }
        let exact = (1..=size)
            .try_fold(1usize, |product, factor| product.checked_mul(factor))
            .is_some_and(|orders| orders <= self.options.speed.orders());
        let orders = if exact {
            all_orders(size)
        } else {
            some_orders(size)
        };
        for order in orders {
            let mut steps: Vec<Step> = self.steps.clone();
            for (place, from) in order.iter().enumerate() {
                steps[first + place] = self.steps[first + from];
            }
            if steps != self.steps && !self.holds(&steps)? {
                return Ok(None);
            }
        }
        Ok(Some(exact))
    }
}

/// All orders of so many things.
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

/// Backwards, turned by one, and some at random: always the same ones.
fn some_orders(size: usize) -> Vec<Vec<usize>> {
    let forwards: Vec<usize> = (0..size).collect();
    let mut orders = vec![forwards.iter().rev().copied().collect()];
    let mut turned = forwards.clone();
    turned.rotate_left(1);
    orders.push(turned);
    let mut random = Random::new(size as u64);
    while orders.len() < SOME_ORDERS {
        let mut order = forwards.clone();
        for place in (1..size).rev() {
            order.swap(place, random.below(place as u64 + 1) as usize);
        }
        orders.push(order);
    }
    orders
}
