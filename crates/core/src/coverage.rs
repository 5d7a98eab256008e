//! Coverage as a set of touched targets.

/// Something that a test can touch: a branch of the code under test, for example. Ids are dense,
/// and stable as long as the system that assigned them lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u32);

/// A set of targets.
///
/// ```
/// use testwright_core::{Coverage, TargetId};
///
/// let mut all = Coverage::default();
/// assert!(all.insert(TargetId(7)));
/// assert!(!all.insert(TargetId(7)), "known already");
/// let both: Coverage = [TargetId(7), TargetId(200)].into_iter().collect();
/// assert_eq!(both.difference(&all).iter().collect::<Vec<_>>(), [TargetId(200)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    words: Vec<u64>,
    size: usize,
}

impl Coverage {
    /// Inserts a target. Returns true if it was not in the set.
    pub fn insert(&mut self, target: TargetId) -> bool {
        let (word, bit) = word_and_bit(target);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.size += usize::from(is_new);
        is_new
    }

    /// Returns true if a target is in the set.
    pub fn contains(&self, target: TargetId) -> bool {
        let (word, bit) = word_and_bit(target);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Returns the number of targets.
    pub fn len(&self) -> usize {
        self.size
    }

    /// Returns true if nothing was touched.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Removes all targets and keeps the memory.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.size = 0;
    }

    /// Adds all targets of another set.
    pub fn merge(&mut self, other: &Coverage) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
        self.update_size();
    }

    /// Returns the targets that another set does not have.
    pub fn difference(&self, other: &Coverage) -> Coverage {
        let mut rest = self.clone();
        for (word, other) in rest.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
        rest.update_size();
        rest
    }

    /// Returns the targets, in order.
    pub fn iter(&self) -> impl Iterator<Item = TargetId> + '_ {
        self.words.iter().enumerate().flat_map(|(number, word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 != 0)
                .map(move |bit| TargetId(number as u32 * 64 + bit))
        })
    }

    /// Recomputes the size.
    fn update_size(&mut self) {
        self.size = self
            .words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum();
    }
}

/// Sets are equal if they contain the same targets, whatever their capacity.
impl PartialEq for Coverage {
    fn eq(&self, other: &Coverage) -> bool {
        self.size == other.size && self.iter().eq(other.iter())
    }
}

impl Eq for Coverage {}

impl FromIterator<TargetId> for Coverage {
    fn from_iter<I: IntoIterator<Item = TargetId>>(targets: I) -> Coverage {
        let mut coverage = Coverage::default();
        for target in targets {
            coverage.insert(target);
        }
        coverage
    }
}

/// Returns the word of a target and its bit in that word.
fn word_and_bit(target: TargetId) -> (usize, u64) {
    (target.0 as usize / 64, 1 << (target.0 % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn coverage_behaves_like_a_set(left in prop::collection::vec(0u32..300, 0..40), right in prop::collection::vec(0u32..300, 0..40)) {
            let coverage = |ids: &[u32]| ids.iter().copied().map(TargetId).collect::<Coverage>();
            let set = |ids: &[u32]| ids.iter().copied().collect::<BTreeSet<u32>>();
            let plain = |coverage: &Coverage| coverage.iter().map(|target| target.0).collect::<BTreeSet<u32>>();
            let (a, b) = (coverage(&left), coverage(&right));
            let (x, y) = (set(&left), set(&right));
            prop_assert_eq!(plain(&a), x.clone());
            prop_assert_eq!(a.len(), x.len());
            prop_assert_eq!(plain(&a.difference(&b)), &x - &y);
            let mut both = a.clone();
            both.merge(&b);
            prop_assert_eq!(plain(&both), &x | &y);
            prop_assert_eq!(both.len(), (&x | &y).len());
            prop_assert_eq!(a == b, x == y);
            both.clear();
            prop_assert!(both.is_empty());
        }
    }
}
