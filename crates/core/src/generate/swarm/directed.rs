//! Directed swarms: the lines that help to touch a target, and the lines that prevent it.
//!
//! A swarm of tests is an experiment: each test included some lines and not others, and touched a
//! target or did not. A line that was included clearly more often in tests that touched the target
//! than overall is a *trigger* of it, one that was included clearly less often a *suppressor*.
//! "Clearly" is decided by Wilson's confidence interval (1927), which works for few tests, too. A
//! swarm that includes the triggers and excludes the suppressors touches the target, and its
//! surroundings, far more often (Groce and others, *Help, help, I'm being suppressed!*, 2013).

use std::collections::{BTreeMap, BTreeSet};

use super::super::ClassTable;
use super::Swarm;
use crate::generate::{GeneratedTest, Novelty, Strategy, TestStart};
use crate::{ActionClasses, ActionId, ClassId, Error, Random, Step, System, TargetId};

/// The configuration and the coverage of one test of a swarm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwarmObservation<T> {
    /// The included classes.
    pub classes: BTreeSet<ClassId>,
    /// The touched targets.
    pub targets: BTreeSet<T>,
}

/// The effect of a class on touching a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClassEffect {
    /// The class helps.
    Trigger,
    /// The class prevents it.
    Suppressor,
    /// No effect can be shown.
    Neither,
}

/// The treatment of classes that are neither trigger nor suppressor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NeutralClasses {
    /// Include them at random, as in any swarm.
    #[default]
    Random,
    /// Exclude them.
    Exclude,
    /// Include them.
    Include,
}

/// Computes the effect of each class on a target, in class order.
pub fn class_effects<T: Ord>(
    classes: &ActionClasses,
    observations: &[SwarmObservation<T>],
    target: &T,
    confidence: f64,
) -> Vec<ClassEffect> {
    let rates = Rates::new(classes, observations);
    rates.effects(observations, target, normal_quantile(confidence))
}

/// Returns the inclusion probabilities for a swarm that exploits these effects.
pub fn inclusion_table(effects: &[ClassEffect], others: NeutralClasses) -> ClassTable {
    let probability = |effect: &ClassEffect| match (effect, others) {
        (ClassEffect::Trigger, _) | (ClassEffect::Neither, NeutralClasses::Include) => 1.0,
        (ClassEffect::Suppressor, _) | (ClassEffect::Neither, NeutralClasses::Exclude) => 0.0,
        (ClassEffect::Neither, NeutralClasses::Random) => 0.5,
    };
    let numbered = effects.iter().enumerate();
    numbered
        .map(|(class, effect)| (ClassId(class), probability(effect)))
        .collect()
}

/// Targets with the same triggers and suppressors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetGroup<T> {
    /// The targets, in order.
    pub targets: Vec<T>,
    /// The number of tests that touched the rarest of them.
    pub hits: usize,
    /// The effect of each class on them.
    pub effects: Vec<ClassEffect>,
}

/// Options that select the targets to group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupOptions {
    /// The required confidence in an effect.
    pub confidence: f64,
    /// Include only targets that less than this part of the tests touched.
    pub cutoff: f64,
    /// Include only targets that at least this many tests touched.
    pub min_hits: usize,
}

impl Default for GroupOptions {
    fn default() -> GroupOptions {
        GroupOptions {
            confidence: 0.95,
            cutoff: 1.0,
            min_hits: 0,
        }
    }
}

/// Groups all targets by the effects on them, the rarest first. Targets without any effect are left
/// out.
pub fn group_targets<T: Ord + Clone>(
    classes: &ActionClasses,
    observations: &[SwarmObservation<T>],
    options: &GroupOptions,
) -> Vec<TargetGroup<T>> {
    let rates = Rates::new(classes, observations);
    let quantile = normal_quantile(options.confidence);
    let mut hits: BTreeMap<&T, usize> = BTreeMap::new();
    for target in observations.iter().flat_map(|one| &one.targets) {
        *hits.entry(target).or_default() += 1;
    }
    let max_hits = options.cutoff * observations.len() as f64;
    let mut groups: BTreeMap<Vec<ClassEffect>, TargetGroup<T>> = BTreeMap::new();
    for (target, hits) in hits {
        if hits < options.min_hits || hits as f64 >= max_hits {
            continue;
        }
        let effects = rates.effects(observations, target, quantile);
        if effects.iter().all(|effect| *effect == ClassEffect::Neither) {
            continue;
        }
        let group = groups
            .entry(effects.clone())
            .or_insert_with(|| TargetGroup {
                targets: Vec::new(),
                hits,
                effects,
            });
        group.targets.push(target.clone());
        group.hits = group.hits.min(hits);
    }
    let mut groups: Vec<TargetGroup<T>> = groups.into_values().collect();
    groups.sort_by(|one, next| (one.hits, &one.targets).cmp(&(next.hits, &next.targets)));
    groups
}

/// The number of tests that included each class.
struct Rates {
    tests: usize,
    counts: Vec<usize>,
}

impl Rates {
    /// Counts the classes of all observations.
    fn new<T>(classes: &ActionClasses, observations: &[SwarmObservation<T>]) -> Rates {
        Rates {
            tests: observations.len(),
            counts: count_inclusions(classes.len(), observations.iter()),
        }
    }

    /// Computes the effect of each class on a target.
    fn effects<T: Ord>(
        &self,
        observations: &[SwarmObservation<T>],
        target: &T,
        quantile: f64,
    ) -> Vec<ClassEffect> {
        let hitting = || {
            observations
                .iter()
                .filter(|one| one.targets.contains(target))
        };
        let tests = hitting().count();
        let with = count_inclusions(self.counts.len(), hitting());
        let effect = |(with, overall): (&usize, &usize)| {
            // A class that is always included, or never, shows no effect.
            if tests == 0 || *overall == 0 || *overall == self.tests {
                return ClassEffect::Neither;
            }
            let rate = *overall as f64 / self.tests as f64;
            let (low, high) = wilson_interval(*with, tests, quantile);
            if rate < low {
                ClassEffect::Trigger
            } else if rate > high {
                ClassEffect::Suppressor
            } else {
                ClassEffect::Neither
            }
        };
        with.iter().zip(&self.counts).map(effect).collect()
    }
}

/// Counts how often each class is included.
fn count_inclusions<'a, T: 'a>(
    classes: usize,
    observations: impl Iterator<Item = &'a SwarmObservation<T>>,
) -> Vec<usize> {
    let mut counts = vec![0; classes];
    for class in observations.flat_map(|one| &one.classes) {
        if let Some(count) = counts.get_mut(class.0) {
            *count += 1;
        }
    }
    counts
}

/// Returns Wilson's confidence interval of the probability of an event that happened `hits` times
/// out of `of`.
fn wilson_interval(hits: usize, total: usize, quantile: f64) -> (f64, f64) {
    let number = total as f64;
    let rate = hits as f64 / number;
    let square = quantile * quantile;
    let centre = rate + square / (2.0 * number);
    let spread = quantile * ((rate * (1.0 - rate) + square / (4.0 * number)) / number).sqrt();
    let scale = 1.0 + square / number;
    ((centre - spread) / scale, (centre + spread) / scale)
}

/// Returns how many standard deviations to both sides contain this part of a normal distribution:
/// 1.96 for 0.95.
///
/// Bisection, with the distribution as a series, is exact enough and short.
fn normal_quantile(confidence: f64) -> f64 {
    let (mut low, mut high) = (0.0, 6.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if normal_share_within(middle) < confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns the part of a normal distribution within this many standard deviations.
fn normal_share_within(deviations: f64) -> f64 {
    let mut term = deviations;
    let mut sum = term;
    for number in 1..200 {
        term *= deviations * deviations / f64::from(2 * number + 1);
        sum += term;
    }
    2.0 * sum * (-deviations * deviations / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// A swarm that records the configuration and coverage of each test.
///
/// Only one configuration per test is recorded, so it is meant for swarms that do not switch within
/// a test.
#[derive(Clone, Debug)]
pub struct ObservedSwarm<N> {
    swarm: Swarm,
    novelty: N,
    new: Vec<TargetId>,
    observations: Vec<SwarmObservation<TargetId>>,
}

impl<N> ObservedSwarm<N> {
    /// Wraps a swarm.
    pub fn new(swarm: Swarm, novelty: N) -> ObservedSwarm<N> {
        ObservedSwarm {
            swarm,
            novelty,
            new: Vec::new(),
            observations: Vec::new(),
        }
    }

    /// Returns the observations so far, one per completed test.
    pub fn observations(&self) -> &[SwarmObservation<TargetId>] {
        &self.observations
    }
}

impl<S: System + ?Sized, N: Novelty<S>> Strategy<S> for ObservedSwarm<N> {
    fn begin_test(
        &mut self,
        system: &mut S,
        start: &mut TestStart,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.new = self.novelty.take_new(system)?;
        self.novelty.reset_touched(system)?;
        self.swarm.begin_test(system, start, random)
    }

    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        self.swarm.next_action(system, random)
    }

    fn after_step(&mut self, system: &mut S, _steps: &[Step]) -> Result<(), Error> {
        self.new.extend(self.novelty.take_new(system)?);
        Ok(())
    }

    fn end_test(&mut self, system: &mut S, _generated: &GeneratedTest<'_>) -> Result<(), Error> {
        self.observations.push(SwarmObservation {
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
    use crate::generate::SearchOptions;
    use crate::generate::testing::{SEARCH, generate_tests, median_of_seeds, steps_to_failure};
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

    fn observed() -> (Arc<ActionClasses>, Vec<SwarmObservation<TargetId>>) {
        let mut buffer = Buffer::new(usize::MAX);
        let classes = Arc::new(ActionClasses::new(buffer.actions()));
        let options = SwarmOptions {
            // With a lower probability, tests with only two of the four lines are too frequent.
            inclusion: Inclusion::Same(0.6),
            ..SwarmOptions::default()
        };
        let mut swarm = ObservedSwarm::new(Swarm::new(&classes, options), NewCoverage);
        generate_tests(&mut buffer, &mut swarm, &SEARCH, 300);
        assert!(!Strategy::<Buffer>::depends_on_results(&swarm));
        (classes, swarm.observations().to_vec())
    }

    #[test]
    fn triggers_and_suppressors_are_found() {
        let (classes, observations) = observed();
        let effects = class_effects(&classes, &observations, &Buffer::DEEP, 0.95);
        assert_eq!(
            effects,
            [
                ClassEffect::Trigger,
                ClassEffect::Suppressor,
                ClassEffect::Suppressor,
                ClassEffect::Neither
            ]
        );
        let table = inclusion_table(&effects, NeutralClasses::Random);
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
                let search = SearchOptions { seed, ..SEARCH };
                steps_to_failure(&mut Buffer::new(30), &mut swarm, &search, 100_000)
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
        let groups = group_targets(&classes, &observations, &GroupOptions::default());
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
        assert_eq!(super::group_targets(&classes, &observations, &none), []);
    }

    #[test]
    fn a_class_that_is_always_in_has_no_effect() {
        let (classes, mut observations) = observed();
        for observation in &mut observations {
            observation.classes.insert(ClassId(0));
        }
        let effects = class_effects(&classes, &observations, &Buffer::DEEP, 0.95);
        assert_eq!(effects[0], ClassEffect::Neither);
        let nowhere = super::class_effects(&classes, &observations, &TargetId(99), 0.95);
        assert_eq!(nowhere, [ClassEffect::Neither; 4]);
    }
}
