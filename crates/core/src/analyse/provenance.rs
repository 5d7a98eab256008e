//! Provenance: which earlier tests a test is made of.

use std::iter;
use std::ops::Range;

use crate::{Catalog, Step, Test};

/// Steps in a row that a test has in common with a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Where they begin in the test.
    pub at: usize,
    /// How many they are.
    pub length: usize,
    /// Which seed they come from.
    pub seed: usize,
    /// Where they begin in the seed.
    pub index: usize,
}

/// Covers a test by runs of steps that occur, in a row, in seeds: the longest run first, then the longest of what is left,
/// and so on; of equally long ones the first in the test, then the first seed. In order of the test. Steps that occur in no
/// seed are in none of them.
///
/// With `by_class`, actions count as equal if they come from the same template, whatever their slots and values.
///
/// ```
/// use testwright_core::analyse::provenance::{Origin, provenance};
/// use testwright_core::{ActionId, Test, toys};
///
/// let catalog = toys::catalog(&[], &["f(<[0..9]>)"]);
/// let test = |keys: &[u64]| Test::of(keys.iter().copied().map(ActionId));
/// let seeds = [test(&[1, 2, 3, 4]), test(&[4, 5, 6, 1])];
/// let origins = provenance(&catalog, &test(&[5, 6, 9, 2, 3, 4]), &seeds, false);
/// let origin = |at, length, seed, index| Origin { at, length, seed, index };
/// assert_eq!(origins, [origin(0, 2, 1, 1), origin(3, 3, 0, 1)]);
/// ```
pub fn provenance(catalog: &Catalog, test: &Test, seeds: &[Test], by_class: bool) -> Vec<Origin> {
    let key = |step: &Step| match step {
        Step::Act(action) if by_class => Some(catalog.template_of(*action).0 as u64),
        Step::Act(action) => Some(action.0),
        Step::Restart => None,
    };
    let keys = |test: &Test| test.steps.iter().map(key).collect::<Vec<_>>();
    let wanted = keys(test);
    let seeds: Vec<Vec<Option<u64>>> = seeds.iter().map(keys).collect();
    let mut origins = Vec::new();
    // Parts of the test that are not covered yet.
    let mut open: Vec<Range<usize>> = iter::once(0..wanted.len()).collect();
    while !open.is_empty() {
        let longest = open
            .iter()
            .map(|part| longest(&wanted[part.clone()], &seeds));
        let best = longest
            .enumerate()
            .filter_map(|(place, origin)| Some((place, origin?)));
        let best = best.max_by_key(|(place, origin)| (origin.length, std::cmp::Reverse(*place)));
        let Some((place, mut origin)) = best else {
            break;
        };
        let part = open.remove(place);
        origin.at += part.start;
        let end = origin.at + origin.length;
        let rests = [part.start..origin.at, end..part.end];
        open.splice(
            place..place,
            rests.into_iter().filter(|rest| !rest.is_empty()),
        );
        origins.push(origin);
    }
    origins.sort_by_key(|origin| origin.at);
    origins
}

/// The longest run of steps that also occurs in a seed.
fn longest(part: &[Option<u64>], seeds: &[Vec<Option<u64>>]) -> Option<Origin> {
    let mut best: Option<Origin> = None;
    for (seed, steps) in seeds.iter().enumerate() {
        // By place in the seed: how many steps up to there equal those up to the current one of the part.
        let mut lengths = vec![0; steps.len() + 1];
        for (end, key) in part.iter().enumerate() {
            for index in (0..steps.len()).rev() {
                let length = if steps[index] == *key {
                    lengths[index] + 1
                } else {
                    0
                };
                lengths[index + 1] = length;
                let at = end + 1 - length;
                let is_better = best.is_none_or(|best| {
                    length > best.length || (length == best.length && at < best.at)
                });
                if length > 0 && is_better {
                    best = Some(Origin {
                        at,
                        length,
                        seed,
                        index: index + 1 - length,
                    });
                }
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ActionId, toys};

    #[test]
    fn the_longest_run_comes_first() {
        let catalog = toys::catalog(&[], &["f(<[0..9]>)", "g(<[0..9]>)"]);
        let test = |keys: &[u64]| Test::of(keys.iter().copied().map(ActionId));
        // From the left, 1 2 3 would come first and cut off the longer 2 3 4 5.
        let seeds = [test(&[1, 2, 3]), test(&[0, 2, 3, 4, 5])];
        let origins = provenance(&catalog, &test(&[1, 2, 3, 4, 5, 8]), &seeds, false);
        let short: Vec<_> = origins
            .iter()
            .map(|origin| (origin.at, origin.length, origin.seed))
            .collect();
        assert_eq!(short, [(0, 1, 0), (1, 4, 1)]);
        let by_class = provenance(&catalog, &test(&[7, 12, 7]), &[test(&[3, 19])], true);
        let short: Vec<_> = by_class
            .iter()
            .map(|origin| (origin.at, origin.length))
            .collect();
        assert_eq!(short, [(0, 2), (2, 1)]);
        assert_eq!(provenance(&catalog, &test(&[1]), &[], false), []);
    }
}
