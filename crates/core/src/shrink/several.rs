//! Several reductions of one test, and which of its steps no reduction can do without.
//!
//! A random test of a hundred steps may fail for more than one reason, or for one reason in several ways. A reduction
//! shows one. To find others, some of the steps it needs are taken away from the original test: if that still achieves
//! the goal, it does so in another way, and is reduced in its turn.

use super::shrinker::{Shrinker, Shrunk};
use super::trials::{ReduceError, Stop};
use crate::{Step, System, TemplateId, Test};

/// How to look for several reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeveralOptions {
    /// How often to begin anew with the steps of all reductions found so far.
    pub rounds: usize,
    /// How many combinations of steps to take away, at most, in all.
    pub limit: usize,
    /// Take away all actions of the same templates first: that leads further away.
    pub templates: bool,
}

impl Default for SeveralOptions {
    fn default() -> SeveralOptions {
        SeveralOptions {
            rounds: 1,
            limit: 200,
            templates: true,
        }
    }
}

/// What the original test can do without, and what it cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Essentials {
    /// Steps of the reduced test, by index, without which the original achieves the goal all the same; and what that
    /// reduces to.
    pub dispensable: Vec<(Vec<usize>, Shrunk)>,
    /// Steps of the reduced test, by index, without which (all at once) it does not.
    pub essential: Vec<Vec<usize>>,
    /// All sets of steps were tried. False if it was stopped early.
    pub complete: bool,
}

/// How many combinations are looked at for each that is tried.
const PASSED_OVER: usize = 1_000;

impl<S: System + ?Sized> Shrinker<'_, S> {
    /// Different reductions of one test, by the comb-block method. The first is what [`reduce`](Shrinker::reduce) gives.
    ///
    /// Combinations of steps that occur in the reductions so far are taken away from the original, small ones first: only
    /// those that hit every known reduction, since the others are known to leave one, and none that contains a
    /// combination known to be needed.
    pub fn reduce_several(
        &mut self,
        test: &Test,
        options: &SeveralOptions,
    ) -> Result<Vec<Shrunk>, ReduceError> {
        let mut found = vec![self.reduce(test)?];
        let mut impossible: Vec<Vec<Step>> = Vec::new();
        let mut left = options.limit;
        for _ in 0..options.rounds {
            let known = found.len();
            let steps = steps_of(test, &found);
            let mut looked_at = 0;
            'sizes: for size in 1..=steps.len() {
                for places in Combinations::new(steps.len(), size) {
                    looked_at += 1;
                    if left == 0 || looked_at > options.limit * PASSED_OVER {
                        break 'sizes;
                    }
                    let away: Vec<Step> = places.iter().map(|place| steps[*place]).collect();
                    let is_hit = |shrunk: &Shrunk| {
                        shrunk
                            .kept
                            .iter()
                            .any(|index| away.contains(&test.steps[*index]))
                    };
                    let is_impossible =
                        |set: &Vec<Step>| set.iter().all(|step| away.contains(step));
                    if !found.iter().all(is_hit) || impossible.iter().any(is_impossible) {
                        continue;
                    }
                    left -= 1;
                    match self.take_away(test, &away, options.templates) {
                        Ok(None) => impossible.push(away),
                        Ok(Some(shrunk)) => {
                            if found.iter().all(|other| other.test != shrunk.test) {
                                found.push(shrunk);
                            }
                        }
                        Err(Stop::Asked) => return Ok(found),
                        Err(Stop::For(error)) => return Err(error),
                    }
                }
            }
            if found.len() == known {
                break;
            }
        }
        Ok(found)
    }

    /// Which steps of a reduced test are needed in the original, and which can be made up for by others. Sets of steps
    /// are taken away, large ones first; those within a set that can go are passed over. At most `limit` sets are tried.
    pub fn essentials(
        &mut self,
        original: &Test,
        reduced: &Shrunk,
        limit: usize,
    ) -> Result<Essentials, ReduceError> {
        let mut essentials = Essentials::default();
        let mut left = limit;
        for size in (1..=reduced.kept.len()).rev() {
            for places in Combinations::new(reduced.kept.len(), size) {
                let is_within = |(set, _): &(Vec<usize>, Shrunk)| {
                    places.iter().all(|place| set.contains(place))
                };
                if essentials.dispensable.iter().any(is_within) {
                    continue;
                }
                if left == 0 {
                    return Ok(essentials);
                }
                left -= 1;
                let away: Vec<Step> = places
                    .iter()
                    .map(|place| original.steps[reduced.kept[*place]])
                    .collect();
                match self.take_away(original, &away, false) {
                    Ok(None) => essentials.essential.push(places),
                    Ok(Some(shrunk)) => essentials.dispensable.push((places, shrunk)),
                    Err(Stop::Asked) => return Ok(essentials),
                    Err(Stop::For(error)) => return Err(error),
                }
            }
        }
        essentials.complete = true;
        Ok(essentials)
    }

    /// What a test reduces to without some of its steps, or without anything like them, if it still achieves the goal.
    fn take_away(
        &mut self,
        test: &Test,
        away: &[Step],
        templates: bool,
    ) -> Result<Option<Shrunk>, Stop> {
        let template = |step: &Step| -> Option<TemplateId> {
            match step {
                Step::Act(action) => Some(self.trials.system.actions().template_of(*action)),
                Step::Restart => None,
            }
        };
        let unwanted: Vec<Option<TemplateId>> = away.iter().map(template).collect();
        let all = 0..test.len();
        let without_templates: Vec<usize> = if templates {
            all.clone()
                .filter(|index| !unwanted.contains(&template(&test.steps[*index])))
                .collect()
        } else {
            Vec::new()
        };
        let without_steps: Vec<usize> = all
            .filter(|index| !away.contains(&test.steps[*index]))
            .collect();
        let rests = [templates.then_some(without_templates), Some(without_steps)];
        for rest in rests.into_iter().flatten() {
            let steps: Vec<Step> = rest.iter().map(|index| test.steps[*index]).collect();
            if self.trials.attempt(&steps)?.is_none() {
                continue;
            }
            let mut shrunk = self.reduce(&Test::of_steps(steps)).map_err(Stop::For)?;
            for index in &mut shrunk.kept {
                *index = rest[*index];
            }
            return Ok(Some(shrunk));
        }
        Ok(None)
    }
}

/// The different steps of the original that some reduction needs, in order.
fn steps_of(test: &Test, found: &[Shrunk]) -> Vec<Step> {
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

/// All ways to take `size` of the first `count` numbers, in order.
pub(super) struct Combinations {
    count: usize,
    next: Option<Vec<usize>>,
}

impl Combinations {
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
            .find(|place| now[*place] < self.count - size + place);
        if let Some(place) = movable {
            let mut next = now.clone();
            let start = now[place] + 1;
            for (later, number) in (place..size).zip(start..) {
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
    use crate::shrink::{Holds, ReduceOptions};
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
        let mut goal = Holds(|_: &mut Safe, test: &Test| {
            Ok(contains(test, &[1, 2]) || contains(test, &[3, 4]) || contains(test, &[1, 4]))
        });
        let mut proceed = || true;
        let mut shrinker = Shrinker::new(
            &mut safe,
            &mut goal,
            &ReduceOptions::default(),
            &mut proceed,
        );
        let test = Test::of([7, 1, 5, 3, 2, 7, 4, 8].map(ActionId));
        let options = SeveralOptions {
            templates: false,
            ..SeveralOptions::default()
        };
        let found = shrinker.reduce_several(&test, &options).unwrap();
        let mut tests: Vec<Vec<usize>> = found.iter().map(|shrunk| shrunk.kept.clone()).collect();
        tests.sort();
        // 1 and 4 has a step of each other one, so that no way round leads to it but taking away 2 and 3.
        assert!(tests.contains(&vec![3, 6]), "{tests:?}");
        assert!(tests.len() >= 2, "{tests:?}");

        let first = &found[0];
        let essentials = shrinker.essentials(&test, first, 100).unwrap();
        assert!(essentials.complete);
        assert!(!essentials.dispensable.is_empty());
        for (places, shrunk) in &essentials.dispensable {
            for place in places {
                assert!(!shrunk.test.steps.contains(&test.steps[first.kept[*place]]));
            }
        }
    }
}
