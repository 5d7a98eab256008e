//! Several reductions of one test, and the steps that every reduction needs.
//!
//! A random test of a hundred steps may fail for more than one reason, or for one reason in several
//! ways. A reduction shows one. To find others, some of the steps it needs are removed from the
//! original test: if the rest still achieves the goal, it does so in another way, and is reduced in
//! its turn.

use super::shrinker::{Shrinker, Shrunk};
use super::trials::{ReduceError, ShrinkStop};
use crate::{Step, System, TemplateId, Test};

/// Options for finding several reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeveralOptions {
    /// The number of rounds. Each starts with the steps of all reductions found so far.
    pub rounds: usize,
    /// The maximum number of combinations of steps to remove, in all.
    pub max_combinations: usize,
    /// Remove all actions of the same templates first: that leads to more different reductions.
    pub remove_whole_templates: bool,
}

impl Default for SeveralOptions {
    fn default() -> SeveralOptions {
        SeveralOptions {
            rounds: 1,
            max_combinations: 200,
            remove_whole_templates: true,
        }
    }
}

/// The steps that the original test needs, and those it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Essentials {
    /// Sets of steps of the reduced test, by index, without which the original still achieves the
    /// goal; and what the rest reduces to.
    pub dispensable: Vec<(Vec<usize>, Shrunk)>,
    /// Sets of steps of the reduced test, by index, without which (all at once) the original does
    /// not achieve the goal.
    pub essential: Vec<Vec<usize>>,
    /// True if all sets of steps were tried. False if it was stopped early.
    pub complete: bool,
}

/// The maximum number of combinations considered for each one that is tried.
const MAX_SKIPPED: usize = 1_000;

impl<S: System + ?Sized> Shrinker<'_, S> {
    /// Finds different reductions of one test, by the comb-block method. The first is the result of
    /// [`reduce`](Shrinker::reduce).
    ///
    /// Combinations of steps that occur in the reductions so far are removed from the original,
    /// small ones first. Only combinations that break every known reduction are tried, since others
    /// are known to leave one, and none that contains a combination known to be needed.
    pub fn reduce_several(
        &mut self,
        test: &Test,
        options: &SeveralOptions,
    ) -> Result<Vec<Shrunk>, ReduceError> {
        let mut found = vec![self.reduce(test)?];
        let mut impossible: Vec<Vec<Step>> = Vec::new();
        let mut left = options.max_combinations;
        for _ in 0..options.rounds {
            let known = found.len();
            let steps = needed_steps(test, &found);
            let mut considered = 0;
            'sizes: for size in 1..=steps.len() {
                for indices in Combinations::new(steps.len(), size) {
                    considered += 1;
                    if left == 0 || considered > options.max_combinations * MAX_SKIPPED {
                        break 'sizes;
                    }
                    let removed: Vec<Step> = indices.iter().map(|index| steps[*index]).collect();
                    let is_hit = |shrunk: &Shrunk| {
                        shrunk
                            .kept
                            .iter()
                            .any(|index| removed.contains(&test.steps[*index]))
                    };
                    let is_impossible =
                        |set: &Vec<Step>| set.iter().all(|step| removed.contains(step));
                    if !found.iter().all(is_hit) || impossible.iter().any(is_impossible) {
                        continue;
                    }
                    left -= 1;
                    match self.reduce_without(test, &removed, options.remove_whole_templates) {
                        Ok(None) => impossible.push(removed),
                        Ok(Some(shrunk)) => {
                            if found.iter().all(|other| other.test != shrunk.test) {
                                found.push(shrunk);
                            }
                        }
                        Err(ShrinkStop::Requested) => return Ok(found),
                        Err(ShrinkStop::Failed(error)) => return Err(error),
                    }
                }
            }
            if found.len() == known {
                break;
            }
        }
        Ok(found)
    }

    /// Finds out which steps of a reduced test are needed in the original, and which can be
    /// replaced by others. Sets of steps are removed, large ones first; subsets of a set that can
    /// be removed are skipped. At most `limit` sets are tried.
    pub fn essentials(
        &mut self,
        original: &Test,
        reduced: &Shrunk,
        limit: usize,
    ) -> Result<Essentials, ReduceError> {
        let mut essentials = Essentials::default();
        let mut left = limit;
        for size in (1..=reduced.kept.len()).rev() {
            for indices in Combinations::new(reduced.kept.len(), size) {
                let is_within = |(set, _): &(Vec<usize>, Shrunk)| {
                    indices.iter().all(|index| set.contains(index))
                };
                if essentials.dispensable.iter().any(is_within) {
                    continue;
                }
                if left == 0 {
                    return Ok(essentials);
                }
                left -= 1;
                let removed: Vec<Step> = indices
                    .iter()
                    .map(|index| original.steps[reduced.kept[*index]])
                    .collect();
                match self.reduce_without(original, &removed, false) {
                    Ok(None) => essentials.essential.push(indices),
                    Ok(Some(shrunk)) => essentials.dispensable.push((indices, shrunk)),
                    Err(ShrinkStop::Requested) => return Ok(essentials),
                    Err(ShrinkStop::Failed(error)) => return Err(error),
                }
            }
        }
        essentials.complete = true;
        Ok(essentials)
    }

    /// Reduces a test without some of its steps, or without all steps of their templates, if the
    /// rest still achieves the goal.
    fn reduce_without(
        &mut self,
        test: &Test,
        removed: &[Step],
        templates: bool,
    ) -> Result<Option<Shrunk>, ShrinkStop> {
        let template = |step: &Step| -> Option<TemplateId> {
            match step {
                Step::Act(action) => Some(self.trials.system.actions().template_of(*action)),
                Step::Restart => None,
            }
        };
        let unwanted: Vec<Option<TemplateId>> = removed.iter().map(template).collect();
        let all = 0..test.len();
        let without_templates: Vec<usize> = if templates {
            all.clone()
                .filter(|index| !unwanted.contains(&template(&test.steps[*index])))
                .collect()
        } else {
            Vec::new()
        };
        let without_steps: Vec<usize> = all
            .filter(|index| !removed.contains(&test.steps[*index]))
            .collect();
        let rests = [templates.then_some(without_templates), Some(without_steps)];
        for rest in rests.into_iter().flatten() {
            let steps: Vec<Step> = rest.iter().map(|index| test.steps[*index]).collect();
            if self.trials.attempt(&steps)?.is_none() {
                continue;
            }
            let mut shrunk = self
                .reduce(&Test::from_steps(steps))
                .map_err(ShrinkStop::Failed)?;
            for index in &mut shrunk.kept {
                *index = rest[*index];
            }
            return Ok(Some(shrunk));
        }
        Ok(None)
    }
}

/// Returns the distinct steps of the original that some reduction needs, in order.
fn needed_steps(test: &Test, found: &[Shrunk]) -> Vec<Step> {
    let mut indices: Vec<usize> = found
        .iter()
        .flat_map(|shrunk| shrunk.kept.iter().copied())
        .collect();
    indices.sort_unstable();
    let mut steps = Vec::new();
    for index in indices {
        if !steps.contains(&test.steps[index]) {
            steps.push(test.steps[index]);
        }
    }
    steps
}

/// All combinations of `size` of the first `count` numbers, in order.
pub(super) struct Combinations {
    count: usize,
    next: Option<Vec<usize>>,
}

impl Combinations {
    /// Starts with the first combination.
    pub(super) fn new(count: usize, size: usize) -> Combinations {
        let next = (size <= count).then(|| (0..size).collect());
        Combinations { count, next }
    }
}

impl Iterator for Combinations {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let now = self.next.take()?;
        let size = now.len();
        let movable = (0..size)
            .rev()
            .find(|index| now[*index] < self.count - size + index);
        if let Some(index) = movable {
            let mut next = now.clone();
            let start = now[index] + 1;
            for (later, number) in (index..size).zip(start..) {
                next[later] = number;
            }
            self.next = Some(next);
        }
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ActionId;
    use crate::shrink::{PredicateGoal, ReduceOptions};
    use crate::toys::Safe;

    #[test]
    fn combinations_come_in_order() {
        let all: Vec<Vec<usize>> = Combinations::new(4, 2).collect();
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(Combinations::new(2, 3).count(), 0);
        assert_eq!(Combinations::new(3, 0).count(), 1);
    }

    fn contains(test: &Test, keys: &[u64]) -> bool {
        keys.iter()
            .all(|key| test.steps.contains(&Step::Act(ActionId(*key))))
    }

    #[test]
    fn two_reasons_are_both_found() {
        let mut safe = Safe::new(9, &[0]);
        // Either 1 and 2, or 3 and 4, or 1 and 4.
        let mut goal = PredicateGoal(|_: &mut Safe, test: &Test| {
            Ok(contains(test, &[1, 2]) || contains(test, &[3, 4]) || contains(test, &[1, 4]))
        });
        let mut proceed = || true;
        let mut shrinker = Shrinker::new(
            &mut safe,
            &mut goal,
            &ReduceOptions::default(),
            &mut proceed,
        );
        let test = Test::from_actions([7, 1, 5, 3, 2, 7, 4, 8].map(ActionId));
        let options = SeveralOptions {
            remove_whole_templates: false,
            ..SeveralOptions::default()
        };
        let found = shrinker.reduce_several(&test, &options).unwrap();
        let mut tests: Vec<Vec<usize>> = found.iter().map(|shrunk| shrunk.kept.clone()).collect();
        tests.sort();
        // 1 and 4 shares a step with each other pair, so it is found only by removing 2 and 3.
        assert!(tests.contains(&vec![3, 6]), "{tests:?}");
        assert!(tests.len() >= 2, "{tests:?}");

        let first = &found[0];
        let essentials = shrinker.essentials(&test, first, 100).unwrap();
        assert!(essentials.complete);
        assert!(!essentials.dispensable.is_empty());
        for (indices, shrunk) in &essentials.dispensable {
            for index in indices {
                assert!(!shrunk.test.steps.contains(&test.steps[first.kept[*index]]));
            }
        }
    }
}
