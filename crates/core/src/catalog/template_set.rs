//! A set of templates.

use crate::TemplateId;

/// A subset of the templates of a catalog.
///
/// ```
/// use testwright_core::{TemplateId, TemplateSet};
///
/// let mut set = TemplateSet::default();
/// assert!(set.insert(TemplateId(70)));
/// assert!(set.contains(TemplateId(70)) && !set.contains(TemplateId(6)));
/// assert!(set.remove(TemplateId(70)) && set.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct TemplateSet {
    words: Vec<u64>,
    count: usize,
}

impl TemplateSet {
    /// Inserts a template. Returns true if it was not in the set.
    pub fn insert(&mut self, template: TemplateId) -> bool {
        let (word, bit) = word_and_bit(template);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.count += usize::from(is_new);
        is_new
    }

    /// Removes a template. Returns true if it was in the set.
    pub fn remove(&mut self, template: TemplateId) -> bool {
        let was_in = self.contains(template);
        if was_in {
            let (word, bit) = word_and_bit(template);
            self.words[word] &= !bit;
            self.count -= 1;
        }
        was_in
    }

    /// Returns true if a template is in the set.
    #[inline]
    pub fn contains(&self, template: TemplateId) -> bool {
        let (word, bit) = word_and_bit(template);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Returns the templates that are in both sets.
    pub fn intersection(&self, other: &TemplateSet) -> TemplateSet {
        let words = self.words.iter().zip(&other.words);
        let words: Vec<u64> = words.map(|(one, other)| one & other).collect();
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        TemplateSet { words, count }
    }

    /// Returns the number of templates.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the templates, in order.
    pub fn iter(&self) -> impl Iterator<Item = TemplateId> + '_ {
        self.words.iter().enumerate().flat_map(|(number, word)| {
            // Each round removes the lowest bit, so that a few templates among thousands are found
            // fast.
            let rests =
                std::iter::successors(Some(*word), |rest| Some(rest & rest.wrapping_sub(1)));
            rests
                .take_while(|rest| *rest != 0)
                .map(move |rest| TemplateId(number * 64 + rest.trailing_zeros() as usize))
        })
    }
}

/// Sets are equal if they contain the same templates, whatever their capacity.
impl PartialEq for TemplateSet {
    fn eq(&self, other: &TemplateSet) -> bool {
        // With equal counts and an equal common part, the rest of the longer one is empty.
        self.count == other.count
            && self
                .words
                .iter()
                .zip(&other.words)
                .all(|(one, two)| one == two)
    }
}

impl Eq for TemplateSet {}

impl FromIterator<TemplateId> for TemplateSet {
    fn from_iter<I: IntoIterator<Item = TemplateId>>(templates: I) -> TemplateSet {
        let mut set = TemplateSet::default();
        for template in templates {
            set.insert(template);
        }
        set
    }
}

/// Returns the word of a template and its bit in that word.
fn word_and_bit(template: TemplateId) -> (usize, u64) {
    (template.0 / 64, 1 << (template.0 % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn template_sets_behave_like_sets(left in prop::collection::vec(0usize..300, 0..40), right in prop::collection::vec(0usize..300, 0..40)) {
            let set = |ids: &[usize]| ids.iter().copied().map(TemplateId).collect::<TemplateSet>();
            let plain = |ids: &[usize]| ids.iter().copied().collect::<BTreeSet<usize>>();
            let (mut a, b) = (set(&left), set(&right));
            let (mut x, y) = (plain(&left), plain(&right));
            prop_assert_eq!(a == b, x == y);
            for id in right {
                prop_assert_eq!(a.remove(TemplateId(id)), x.remove(&id));
            }
            prop_assert!(a.iter().map(|template| template.0).eq(x.iter().copied()));
            prop_assert_eq!(a.len(), x.len());
            prop_assert_eq!(a == b, x == y);
        }
    }
}
