//! Random draws without replacement: every rank below a bound once, in random order, without
//! listing them.

use rustc_hash::FxHashMap;
use testwright_core::Random;

/// The ranks not drawn yet: a virtual array, shuffled as it is drawn from (Fisher-Yates), that stores
/// only the ranks that have moved.
#[derive(Default)]
pub(crate) struct RankDraw {
    /// The number of ranks not drawn yet.
    remaining: u64,
    /// Ranks that are not at their original position, by position.
    moved: FxHashMap<u64, u64>,
    /// The position of the last rank drawn. It is removed only if another rank is needed, since
    /// mostly the first is accepted.
    last: Option<u64>,
}

impl RankDraw {
    /// Starts over with all ranks below `bound`.
    pub(crate) fn start(&mut self, bound: u64) {
        self.remaining = bound;
        self.last = None;
        if !self.moved.is_empty() {
            self.moved.clear();
        }
    }

    /// Returns the next rank, or `None` if all were drawn.
    pub(crate) fn next(&mut self, random: &mut Random) -> Option<u64> {
        if let Some(position) = self.last.take() {
            self.remove_rank(position);
        }
        if self.remaining == 0 {
            return None;
        }
        let position = random.below(self.remaining);
        self.last = Some(position);
        Some(self.rank_at(position))
    }

    /// Returns the rank at a position.
    fn rank_at(&self, position: u64) -> u64 {
        if self.moved.is_empty() {
            position
        } else {
            self.moved.get(&position).copied().unwrap_or(position)
        }
    }

    /// Removes the rank at a position, by moving the last rank there.
    fn remove_rank(&mut self, position: u64) {
        self.remaining -= 1;
        let last = self.moved.remove(&self.remaining).unwrap_or(self.remaining);
        if position != self.remaining {
            self.moved.insert(position, last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RankDraw;
    use testwright_core::Random;

    #[test]
    fn every_rank_comes_exactly_once() {
        let mut draw = RankDraw::default();
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
        let mut draw = RankDraw::default();
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
