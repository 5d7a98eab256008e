//! Directed swarm: which lines help to touch something, and which are in its way.
//!
//! A swarm of tests is an experiment: each test had some lines and not others, and touched a target or did not. A line
//! that was in clearly more often in tests that touched the target than it was on the whole is a *trigger* of it, one
//! that was in clearly less often a *suppressor*. "Clearly" is told by the confidence interval of Wilson (1927), which
//! is good for few tests, too. A swarm with the triggers in and the suppressors out then touches the target, and what
//! is around it, far more often (Groce and others, *Help, help, I'm being suppressed!*, 2013).

use std::collections::{BTreeMap, BTreeSet};

use super::super::ClassTable;
use super::Swarm;
use crate::generate::{Made, Novelty, Start, Strategy};
use crate::{ActionId, ClassId, Classes, Error, Random, Step, System, TargetId};

/// What one test of a swarm had in, and what it touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation<T> {
    /// The classes that were in.
    pub classes: BTreeSet<ClassId>,
    /// What was touched.
    pub targets: BTreeSet<T>,
}

/// What a class does for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It helps.
    Trigger,
    /// It is in the way.
    Suppressor,
    /// As far as anybody can tell, nothing.
    Neither,
}

/// What becomes of classes that are neither trigger nor suppressor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// They are in by chance, as in any swarm.
    #[default]
    Half,
    /// They are out.
    Out,
    /// They are in.
    In,
}

/// What each class does for a target, in the order of the classes.
pub fn effects<T: Ord>(
    classes: &Classes,
    observations: &[Observation<T>],
    target: &T,
    confidence: f64,
) -> Vec<Effect> {
    let rates = Rates::new(classes, observations);
    rates.effects(observations, target, normal_quantile(confidence))
}

/// The probabilities for a swarm that is to bring out these effects.
pub fn table(effects: &[Effect], others: Others) -> ClassTable {
    let probability = |effect: &Effect| match (effect, others) {
        (Effect::Trigger, _) | (Effect::Neither, Others::In) => 1.0,
        (Effect::Suppressor, _) | (Effect::Neither, Others::Out) => 0.0,
        (Effect::Neither, Others::Half) => 0.5,
    };
    let numbered = effects.iter().enumerate();
    numbered
        .map(|(class, effect)| (ClassId(class), probability(effect)))
        .collect()
}

/// Targets that the same classes help, and the same are in the way of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group<T> {
    /// The targets, in order.
    pub targets: Vec<T>,
    /// How many tests touched the rarest of them.
    pub hits: usize,
    /// What each class does for them.
    pub effects: Vec<Effect>,
}

/// For which targets to make groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupOptions {
    /// How sure to be of an effect.
    pub confidence: f64,
    /// Only targets that less than this part of the tests touched.
    pub cutoff: f64,
    /// Only targets that at least so many tests touched.
    pub least_hits: usize,
}

impl Default for GroupOptions {
    fn default() -> GroupOptions {
        GroupOptions {
            confidence: 0.95,
            cutoff: 1.0,
            least_hits: 0,
        }
    }
}

/// All targets, grouped by what has an effect on them, the rarest first. Those on which nothing has are left out.
pub fn groups<T: Ord + Clone>(
    classes: &Classes,
    observations: &[Observation<T>],
    options: &GroupOptions,
) -> Vec<Group<T>> {
    let rates = Rates::new(classes, observations);
    let quantile = normal_quantile(options.confidence);
    let mut hits: BTreeMap<&T, usize> = BTreeMap::new();
    for target in observations.iter().flat_map(|one| &one.targets) {
        *hits.entry(target).or_default() += 1;
    }
    let most = options.cutoff * observations.len() as f64;
    let mut groups: BTreeMap<Vec<Effect>, Group<T>> = BTreeMap::new();
    for (target, hits) in hits {
        if hits < options.least_hits || hits as f64 >= most {
            continue;
        }
        let effects = rates.effects(observations, target, quantile);
        if effects.iter().all(|effect| *effect == Effect::Neither) {
            continue;
        }
        let group = groups.entry(effects.clone()).or_insert_with(|| Group {
            targets: Vec::new(),
            hits,
            effects,
        });
        group.targets.push(target.clone());
        group.hits = group.hits.min(hits);
    }
    let mut groups: Vec<Group<T>> = groups.into_values().collect();
    groups.sort_by(|one, next| (one.hits, &one.targets).cmp(&(next.hits, &next.targets)));
    groups
}

/// How often each class was in, over all tests.
struct Rates {
    tests: usize,
    counts: Vec<usize>,
}

impl Rates {
    fn new<T>(classes: &Classes, observations: &[Observation<T>]) -> Rates {
        Rates {
            tests: observations.len(),
            counts: counts(classes.len(), observations.iter()),
        }
    }

    fn effects<T: Ord>(
        &self,
        observations: &[Observation<T>],
        target: &T,
        quantile: f64,
    ) -> Vec<Effect> {
        let hitting = || {
            observations
                .iter()
                .filter(|one| one.targets.contains(target))
        };
        let tests = hitting().count();
        let with = counts(self.counts.len(), hitting());
        let effect = |(with, overall): (&usize, &usize)| {
            // What is always in, or never, says nothing.
            if tests == 0 || *overall == 0 || *overall == self.tests {
                return Effect::Neither;
            }
            let rate = *overall as f64 / self.tests as f64;
            let (low, high) = wilson_interval(*with, tests, quantile);
            if rate < low {
                Effect::Trigger
            } else if rate > high {
                Effect::Suppressor
            } else {
                Effect::Neither
            }
        };
        with.iter().zip(&self.counts).map(effect).collect()
    }
}

fn counts<'a, T: 'a>(
    classes: usize,
    observations: impl Iterator<Item = &'a Observation<T>>,
) -> Vec<usize> {
    let mut counts = vec![0; classes];
    for class in observations.flat_map(|one| &one.classes) {
        if let Some(count) = counts.get_mut(class.0) {
            *count += 1;
        }
    }
    counts
}

/// Between what bounds the probability lies of something that happened `hits` times out of `of`.
fn wilson_interval(hits: usize, of: usize, quantile: f64) -> (f64, f64) {
    let number = of as f64;
    let rate = hits as f64 / number;
    let square = quantile * quantile;
    let centre = rate + square / (2.0 * number);
    let spread = quantile * ((rate * (1.0 - rate) + square / (4.0 * number)) / number).sqrt();
    let scale = 1.0 + square / number;
    ((centre - spread) / scale, (centre + spread) / scale)
}

/// How many standard deviations to both sides contain this part of a normal distribution: 1.96 for 0.95.
///
/// Found by halving an interval, with the distribution as a series: exact enough, and short.
fn normal_quantile(confidence: f64) -> f64 {
    let (mut low, mut high) = (0.0, 6.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if within(middle) < confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The part of a normal distribution that is within so many standard deviations.
fn within(deviations: f64) -> f64 {
    let mut term = deviations;
    let mut sum = term;
    for number in 1..200 {
        term *= deviations * deviations / f64::from(2 * number + 1);
        sum += term;
    }
    2.0 * sum * (-deviations * deviations / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// A swarm that remembers what each test had in and what it touched.
///
/// One configuration per test is remembered, so it is meant for those that do not switch within.
#[derive(Clone, Debug)]
pub struct ObservedSwarm<N> {
    swarm: Swarm,
    novelty: N,
    new: Vec<TargetId>,
    observations: Vec<Observation<TargetId>>,
}

impl<N> ObservedSwarm<N> {
    /// Remembers what a swarm touches.
    pub fn new(swarm: Swarm, novelty: N) -> ObservedSwarm<N> {
        ObservedSwarm {
            swarm,
            novelty,
            new: Vec::new(),
            observations: Vec::new(),
        }
    }

    /// What was seen so far, one for each test that came to its end.
    pub fn observations(&self) -> &[Observation<TargetId>] {
        &self.observations
    }
}

impl<S: System + ?Sized, N: Novelty<S>> Strategy<S> for ObservedSwarm<N> {
    fn begin(
        &mut self,
        system: &mut S,
        start: &mut Start,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.new = self.novelty.take_new(system)?;
        self.novelty.begin_anew(system)?;
        self.swarm.begin(system, start, random)
    }

    fn next(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        self.swarm.next(system, random)
    }

    fn after(&mut self, system: &mut S, _steps: &[Step]) -> Result<(), Error> {
        self.new.extend(self.novelty.take_new(system)?);
        Ok(())
    }

    fn end(&mut self, system: &mut S, _made: &Made<'_>) -> Result<(), Error> {
        self.observations.push(Observation {
            classes: self
                .swarm
                .configuration()
                .classes()
                .iter()
                .copied()
                .collect(),
            targets: self.novelty.touched(system).iter().collect(),
        });
        Ok(())
    }

    fn new_targets(&self) -> &[TargetId] {
        &self.new
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Inclusion, SwarmOptions};
    use super::*;
    use crate::generate::NewCoverage;
    use crate::generate::Search;
    use crate::generate::testing::{SEARCH, median_of_seeds, steps_to_failure, tests_of};
    use crate::toys::Buffer;

    #[test]
    fn intervals_are_those_of_the_textbook() {
        assert!((normal_quantile(0.95) - 1.959_964).abs() < 1e-6);
        assert!((normal_quantile(0.99) - 2.575_829).abs() < 1e-6);
        let (low, high) = wilson_interval(5, 10, normal_quantile(0.95));
        assert!((low - 0.2366).abs() < 1e-4 && (high - 0.7634).abs() < 1e-4);
        let (low, _) = wilson_interval(10, 10, normal_quantile(0.95));
        assert!((low - 0.7225).abs() < 1e-4);
    }

    fn observed() -> (Arc<Classes>, Vec<Observation<TargetId>>) {
        let mut buffer = Buffer::new(usize::MAX);
        let classes = Arc::new(Classes::new(buffer.actions()));
        let options = SwarmOptions {
            // Two lines of four are too often all that is in.
            inclusion: Inclusion::Same(0.6),
            ..SwarmOptions::default()
        };
        let mut swarm = ObservedSwarm::new(Swarm::new(&classes, options), NewCoverage);
        tests_of(&mut buffer, &mut swarm, &SEARCH, 300);
        assert!(!Strategy::<Buffer>::learns(&swarm));
        (classes, swarm.observations().to_vec())
    }

    #[test]
    fn what_helps_and_what_is_in_the_way_is_found_out() {
        let (classes, observations) = observed();
        let effects = effects(&classes, &observations, &Buffer::DEEP, 0.95);
        assert_eq!(
            effects,
            [
                Effect::Trigger,
                Effect::Suppressor,
                Effect::Suppressor,
                Effect::Neither
            ]
        );
        let table = table(&effects, Others::Half);
        assert_eq!(
            table.iter().map(|(_, number)| number).collect::<Vec<_>>(),
            [1.0, 0.0, 0.0, 0.5]
        );
        let steps = |inclusion: Inclusion| {
            median_of_seeds(|seed| {
                let options = SwarmOptions {
                    inclusion: inclusion.clone(),
                    ..SwarmOptions::default()
                };
                let mut swarm = Swarm::new(&classes, options);
                let plan = Search { seed, ..SEARCH };
                steps_to_failure(&mut Buffer::new(30), &mut swarm, &plan, 100_000)
            })
        };
        let (directed, plain) = (
            steps(Inclusion::Table(table, 0.5)),
            steps(Inclusion::default()),
        );
        assert!(directed * 3 < plain, "{directed} {plain}");
    }

    #[test]
    fn targets_with_the_same_causes_are_grouped_the_rarest_first() {
        let (classes, observations) = observed();
        let groups = groups(&classes, &observations, &GroupOptions::default());
        assert!(
            groups
                .iter()
                .any(|group| group.targets.contains(&Buffer::DEEP))
        );
        assert!(groups.is_sorted_by_key(|group| group.hits));
        let none = GroupOptions {
            cutoff: 0.0,
            ..GroupOptions::default()
        };
        assert_eq!(super::groups(&classes, &observations, &none), []);
    }

    #[test]
    fn a_class_that_is_always_in_has_no_effect() {
        let (classes, mut observations) = observed();
        for observation in &mut observations {
            observation.classes.insert(ClassId(0));
        }
        let effects = effects(&classes, &observations, &Buffer::DEEP, 0.95);
        assert_eq!(effects[0], Effect::Neither);
        let nowhere = super::effects(&classes, &observations, &TargetId(99), 0.95);
        assert_eq!(nowhere, [Effect::Neither; 4]);
    }
}
