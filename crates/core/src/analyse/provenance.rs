//! Provenance: the earlier tests that a test is made of.

use std::iter;
use std::ops::Range;

use crate::{Catalog, Step, Test};

/// Consecutive steps that a test has in common with a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedFragment {
    /// The index of the first step in the test.
    pub at: usize,
    /// The number of steps.
    pub length: usize,
    /// The index of the seed.
    pub seed: usize,
    /// The index of the first step in the seed.
    pub index: usize,
}

/// Covers a test with runs of consecutive steps that occur in seeds, and returns them in test
/// order. The longest run is taken first, then the longest in the rest, and so on; of equally long
/// runs the first in the test wins, then the first seed. Steps that occur in no seed are not
/// covered.
///
/// With `by_class`, actions are equal if they come from the same template, whatever their slots and
/// values.
///
/// ```
/// use testwright_core::analyse::provenance::{SeedFragment, find_provenance};
/// use testwright_core::{ActionId, Test, toys};
///
/// let catalog = toys::catalog(&[], &["f(<[0..9]>)"]);
/// let test = |keys: &[u64]| Test::from_actions(keys.iter().copied().map(ActionId));
/// let seeds = [test(&[1, 2, 3, 4]), test(&[4, 5, 6, 1])];
/// let origins = find_provenance(&catalog, &test(&[5, 6, 9, 2, 3, 4]), &seeds, false);
/// let origin = |at, length, seed, index| SeedFragment { at, length, seed, index };
/// assert_eq!(origins, [origin(0, 2, 1, 1), origin(3, 3, 0, 1)]);
/// ```
pub fn find_provenance(
    catalog: &Catalog,
    test: &Test,
    seeds: &[Test],
    by_class: bool,
) -> Vec<SeedFragment> {
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
        let fragments = open
            .iter()
            .map(|part| longest_fragment(&wanted[part.clone()], &seeds));
        let best = fragments
            .enumerate()
            .filter_map(|(position, origin)| Some((position, origin?)));
        let best =
            best.max_by_key(|(position, origin)| (origin.length, std::cmp::Reverse(*position)));
        let Some((position, mut origin)) = best else {
            break;
        };
        let part = open.remove(position);
        origin.at += part.start;
        let end = origin.at + origin.length;
        let rests = [part.start..origin.at, end..part.end];
        open.splice(
            position..position,
            rests.into_iter().filter(|rest| !rest.is_empty()),
        );
        origins.push(origin);
    }
    origins.sort_by_key(|origin| origin.at);
    origins
}

/// Finds the longest run of steps that also occurs in a seed.
fn longest_fragment(part: &[Option<u64>], seeds: &[Vec<Option<u64>>]) -> Option<SeedFragment> {
    let mut best: Option<SeedFragment> = None;
    for (seed, steps) in seeds.iter().enumerate() {
        // By index in the seed: the length of the common run that ends there and at the current
        // step of the part.
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
                    best = Some(SeedFragment {
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
        let test = |keys: &[u64]| Test::from_actions(keys.iter().copied().map(ActionId));
        // From the left, 1 2 3 would come first and cut off the longer 2 3 4 5.
        let seeds = [test(&[1, 2, 3]), test(&[0, 2, 3, 4, 5])];
        let origins = find_provenance(&catalog, &test(&[1, 2, 3, 4, 5, 8]), &seeds, false);
        let short: Vec<_> = origins
            .iter()
            .map(|origin| (origin.at, origin.length, origin.seed))
            .collect();
        assert_eq!(short, [(0, 1, 0), (1, 4, 1)]);
        let by_class = find_provenance(&catalog, &test(&[7, 12, 7]), &[test(&[3, 19])], true);
        let short: Vec<_> = by_class
            .iter()
            .map(|origin| (origin.at, origin.length))
            .collect();
        assert_eq!(short, [(0, 2), (2, 1)]);
        assert_eq!(find_provenance(&catalog, &test(&[1]), &[], false), []);
    }
}
