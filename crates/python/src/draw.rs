//! Drawing without putting back: every rank below a bound once, in random order, without listing them.

use rustc_hash::FxHashMap;
use testwright_core::Random;

/// The ranks not drawn yet, as the shuffle of a virtual deck of which only moved cards are remembered.
///
/// The first draw that is accepted is uniform among all that would be accepted: the deck is a uniform
/// permutation, and among the acceptable ranks each is equally likely to come first in it.
#[derive(Default)]
pub(crate) struct Draw {
    left: u64,
    moved: FxHashMap<u64, u64>,
    /// Where the last card lay. It is taken out only when another one is wanted: mostly the first is good.
    last: Option<u64>,
}

impl Draw {
    /// A fresh deck of `bound` ranks.
    pub(crate) fn start(&mut self, bound: u64) {
        self.left = bound;
        self.last = None;
        if !self.moved.is_empty() {
            self.moved.clear();
        }
    }

    /// The next rank, or `None` when all were drawn.
    pub(crate) fn next(&mut self, random: &mut Random) -> Option<u64> {
        if let Some(place) = self.last.take() {
            self.take_out(place);
        }
        if self.left == 0 {
            return None;
        }
        let place = random.below(self.left);
        self.last = Some(place);
        Some(self.card(place))
    }

    fn card(&self, place: u64) -> u64 {
        if self.moved.is_empty() {
            place
        } else {
            self.moved.get(&place).copied().unwrap_or(place)
        }
    }

    /// Puts the last card of the deck into a place, so that the deck has one card less.
    fn take_out(&mut self, place: u64) {
        self.left -= 1;
        let last = self.moved.remove(&self.left).unwrap_or(self.left);
        if place != self.left {
            self.moved.insert(place, last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Draw;
    use testwright_core::Random;

    #[test]
    fn every_rank_comes_exactly_once() {
        let mut draw = Draw::default();
        let mut random = Random::new(5);
        for bound in [0, 1, 2, 17, 100] {
            draw.start(bound);
            let mut drawn: Vec<u64> = std::iter::from_fn(|| draw.next(&mut random)).collect();
            drawn.sort_unstable();
            assert_eq!(drawn, (0..bound).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_acceptable_rank_is_uniform_among_the_acceptable() {
        let mut draw = Draw::default();
        let mut random = Random::new(11);
        let mut counts = [0u32; 12];
        for _ in 0..40_000 {
            draw.start(12);
            let accepted = std::iter::from_fn(|| draw.next(&mut random))
                .find(|rank| [1, 4, 5, 11].contains(rank));
            counts[accepted.unwrap_or(0) as usize] += 1;
        }
        assert!(
            [1, 4, 5, 11]
                .iter()
                .all(|rank| (9_600..10_400).contains(&counts[*rank])),
            "{counts:?}"
        );
    }
}
