//! Which classes are in, and what they need to be of use.

use std::collections::BTreeSet;

use super::super::ClassTable;
use super::super::class_draw::drawn;
use super::SwarmOptions;
use crate::{ClassId, Classes, PoolId, Random, TemplateSet};

/// How likely each class is to be in.
#[derive(Clone, Debug, PartialEq)]
pub enum Inclusion {
    /// All with the same probability; essential classes always.
    Same(f64),
    /// Each with its own; those that are not in the table with the other one, essential ones always.
    Table(ClassTable, f64),
}

impl Default for Inclusion {
    fn default() -> Inclusion {
        Inclusion::Same(0.5)
    }
}

impl Inclusion {
    fn probability(&self, classes: &Classes, class: ClassId) -> f64 {
        let (own, other) = match self {
            Inclusion::Same(probability) => (None, *probability),
            Inclusion::Table(table, other) => (table.get(class), *other),
        };
        match own {
            Some(own) => own,
            None if classes.is_essential(class) => 1.0,
            None => other,
        }
    }
}

/// The classes that a test may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    included: Vec<bool>,
    classes: Vec<ClassId>,
    templates: TemplateSet,
}

impl Configuration {
    /// A configuration of these classes.
    pub fn of(classes: &Classes, included: impl IntoIterator<Item = ClassId>) -> Configuration {
        let mut configuration = Configuration {
            included: vec![false; classes.len()],
            ..Configuration::default()
        };
        for class in included {
            configuration.include(class);
        }
        configuration.finish(classes)
    }

    /// A random one: each class by its probability, one at least; then, until nothing changes any more, what is in
    /// gets what it needs and somebody who needs it.
    pub fn draw(classes: &Classes, options: &SwarmOptions, random: &mut Random) -> Configuration {
        let chances: Vec<f64> = classes
            .iter()
            .map(|class| options.inclusion.probability(classes, class))
            .collect();
        let drawn_in = |class: &ClassId| random.chance(chances[class.0]);
        let included: Vec<ClassId> = classes.iter().filter(drawn_in).collect();
        let mut configuration = Configuration::of(classes, included);
        if configuration.classes.is_empty() {
            // What a table forbids stays out here, too, if there is anything else.
            let one = drawn(&chances, random);
            let one = one.or_else(|| {
                random
                    .choose(&(0..classes.len()).collect::<Vec<_>>())
                    .copied()
            });
            one.into_iter()
                .for_each(|one| configuration.include(ClassId(one)));
        }
        if options.dependencies {
            configuration.complete(classes, options.force_parent, random);
        }
        configuration.finish(classes)
    }

    /// The classes that are in, in order.
    pub fn classes(&self) -> &[ClassId] {
        &self.classes
    }

    /// Their templates.
    pub fn templates(&self) -> &TemplateSet {
        &self.templates
    }

    /// Whether a class is in.
    pub fn contains(&self, class: ClassId) -> bool {
        self.included.get(class.0) == Some(&true)
    }

    /// How likely each class is to be drawn if none is left out: those that are in share the probability `high`, the
    /// others the rest. Where there is nobody on one side, the other side has it all.
    pub fn weights(&self, classes: &Classes, high: f64) -> Vec<f64> {
        let count = self.classes.len() as f64;
        let others = classes.len() as f64 - count;
        let high = match (count > 0.0, others > 0.0) {
            (false, _) => 0.0,
            (true, false) => 1.0,
            (true, true) => high,
        };
        let weight = |class| {
            if self.contains(class) {
                high / count
            } else {
                (1.0 - high) / others
            }
        };
        classes.iter().map(weight).collect()
    }

    fn include(&mut self, class: ClassId) {
        if !std::mem::replace(&mut self.included[class.0], true) {
            self.classes.push(class);
        }
    }

    fn finish(mut self, classes: &Classes) -> Configuration {
        self.classes.sort_unstable();
        let templates = self
            .classes
            .iter()
            .flat_map(|class| classes.templates(*class));
        self.templates = templates.copied().collect();
        self
    }

    fn complete(&mut self, classes: &Classes, force_parent: bool, random: &mut Random) {
        let mut served = Served::default();
        self.classes
            .iter()
            .for_each(|class| served.add(classes, *class));
        // Only those that came in can lack something new; each comes in once, so there is an end.
        let mut place = 0;
        while let Some(class) = self.classes.get(place).copied() {
            place += 1;
            let wants_use = force_parent || classes.needs(class).is_empty();
            if wants_use && !served.use_any(classes.makes(class)) {
                let user = random.choose(&classes.dependents(class)).copied();
                self.bring_in(user, classes, &mut served);
            }
            for pool in classes.needs(class) {
                if !served.made.contains(pool) {
                    let maker = random.choose(classes.makers(*pool)).copied();
                    self.bring_in(maker, classes, &mut served);
                }
            }
        }
    }

    fn bring_in(&mut self, class: Option<ClassId>, classes: &Classes, served: &mut Served) {
        if let Some(class) = class {
            self.include(class);
            served.add(classes, class);
        }
    }
}

/// The pools of which those that are in make and use values.
#[derive(Default)]
struct Served {
    made: BTreeSet<PoolId>,
    used: BTreeSet<PoolId>,
}

impl Served {
    fn add(&mut self, classes: &Classes, class: ClassId) {
        self.made.extend(classes.makes(class));
        self.used.extend(classes.needs(class));
    }

    fn use_any(&self, pools: &[PoolId]) -> bool {
        pools.iter().any(|pool| self.used.contains(pool))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::toys::catalog;

    fn classes() -> Classes {
        let lines = [
            "<int> := <[1..3]>",
            "<list> := []",
            "<list> := [<int>]",
            "<list>.append(<int>)",
            "<list>.sort()",
            "stop() #ESSENTIAL",
            "<set> := set(<list>)",
            "<set>.add(<int>)",
        ];
        Classes::new(&catalog(&[("int", 2), ("list", 2), ("set", 1)], &lines))
    }

    #[test]
    fn those_that_are_in_share_the_high_probability() {
        let classes = classes();
        let weights = |included: &[usize]| {
            let included = included.iter().copied().map(ClassId);
            Configuration::of(&classes, included).weights(&classes, 0.9)
        };
        let some = weights(&[0, 2]);
        assert!((some[0] - 0.45).abs() < 1e-9 && (some[1] - 0.1 / 6.0).abs() < 1e-9);
        for all_alike in [weights(&[]), weights(&[0, 1, 2, 3, 4, 5, 6, 7])] {
            assert!(all_alike.iter().all(|weight| (weight - 0.125).abs() < 1e-9));
        }
    }

    proptest! {
        #[test]
        fn what_is_in_is_of_use(seed in 0u64..10_000, chance in 0.0f64..1.0) {
            let classes = classes();
            let options = SwarmOptions { inclusion: Inclusion::Same(chance), ..SwarmOptions::default() };
            let configuration = Configuration::draw(&classes, &options, &mut Random::new(seed));
            let contains_any = |list: &[ClassId]| list.iter().any(|class| configuration.contains(*class));
            prop_assert!(configuration.contains(ClassId(5)), "essential");
            prop_assert!(configuration.classes().is_sorted());
            for class in configuration.classes() {
                for needed in classes.dependencies(*class) {
                    prop_assert!(contains_any(needed));
                }
                let users = classes.dependents(*class);
                prop_assert!(users.is_empty() || contains_any(&users));
                for template in classes.templates(*class) {
                    prop_assert!(configuration.templates().contains(*template));
                }
            }
            prop_assert_eq!(configuration.templates().len(), configuration.classes().len());
        }

        #[test]
        fn without_a_use_being_forced_only_makers_that_need_nothing_get_one(seed in 0u64..2_000) {
            let classes = classes();
            let options = SwarmOptions {
                inclusion: Inclusion::Table([(ClassId(6), 1.0)].into_iter().collect(), 0.0),
                force_parent: false,
                ..SwarmOptions::default()
            };
            let configuration = Configuration::draw(&classes, &options, &mut Random::new(seed));
            // A set needs a list; nobody has to use the set.
            prop_assert!(configuration.contains(ClassId(6)));
            prop_assert!(!configuration.contains(ClassId(7)));
            prop_assert!(configuration.contains(ClassId(1)) || configuration.contains(ClassId(2)));
            prop_assert!(!configuration.contains(ClassId(2)) || configuration.contains(ClassId(0)));
        }
    }

    #[test]
    fn nothing_is_added_where_nobody_asked_for_it() {
        let classes = classes();
        let options = SwarmOptions {
            inclusion: Inclusion::Table(
                classes
                    .iter()
                    .map(|class| (class, f64::from(class.0 == 3)))
                    .collect(),
                0.0,
            ),
            dependencies: false,
            ..SwarmOptions::default()
        };
        let configuration = Configuration::draw(&classes, &options, &mut Random::new(1));
        assert_eq!(configuration.classes(), [ClassId(3)]);
    }

    #[test]
    fn there_is_always_one() {
        let classes = Classes::new(&catalog(&[], &["go()", "stop()"]));
        let options = SwarmOptions {
            inclusion: Inclusion::Same(0.0),
            ..SwarmOptions::default()
        };
        let mut seen = [0; 2];
        for seed in 0..200 {
            let configuration = Configuration::draw(&classes, &options, &mut Random::new(seed));
            assert_eq!(configuration.classes().len(), 1);
            seen[configuration.classes()[0].0] += 1;
        }
        assert!(seen.iter().all(|count| *count > 60));
    }
}
