//! Swarm configurations: the included classes and their closure.

use std::collections::BTreeSet;

use super::super::ClassTable;
use super::super::class_draw::draw_index;
use super::SwarmOptions;
use crate::{ActionClasses, ClassId, PoolId, Random, TemplateSet};

/// The probability of each class to be included.
#[derive(Clone, Debug, PartialEq)]
pub enum Inclusion {
    /// One probability for all classes; essential classes are always included.
    Same(f64),
    /// A probability per class. Classes that are not in the table have the other one; essential
    /// ones are always included.
    Table(ClassTable, f64),
}

impl Default for Inclusion {
    fn default() -> Inclusion {
        Inclusion::Same(0.5)
    }
}

impl Inclusion {
    /// Returns the probability that a class is included.
    fn probability(&self, classes: &ActionClasses, class: ClassId) -> f64 {
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
    /// Creates a configuration of these classes.
    pub fn from_classes(
        classes: &ActionClasses,
        included: impl IntoIterator<Item = ClassId>,
    ) -> Configuration {
        let mut configuration = Configuration {
            included: vec![false; classes.len()],
            ..Configuration::default()
        };
        for class in included {
            configuration.include(class);
        }
        configuration.sort_and_collect(classes)
    }

    /// Draws a configuration: each class by its probability, at least one. Then classes are added,
    /// until nothing changes any more, so that each included class has what it needs and a class
    /// that uses what it makes.
    pub fn draw(
        classes: &ActionClasses,
        options: &SwarmOptions,
        random: &mut Random,
    ) -> Configuration {
        let chances: Vec<f64> = classes
            .iter()
            .map(|class| options.inclusion.probability(classes, class))
            .collect();
        let is_drawn = |class: &ClassId| random.chance(chances[class.0]);
        let included: Vec<ClassId> = classes.iter().filter(is_drawn).collect();
        let mut configuration = Configuration::from_classes(classes, included);
        if configuration.classes.is_empty() {
            // Classes with probability zero stay excluded here, too, if there are others.
            let one = draw_index(&chances, random);
            let one = one.or_else(|| {
                random
                    .choose(&(0..classes.len()).collect::<Vec<_>>())
                    .copied()
            });
            one.into_iter()
                .for_each(|one| configuration.include(ClassId(one)));
        }
        if options.include_dependencies {
            configuration.add_dependencies(classes, options.force_parent, random);
        }
        configuration.sort_and_collect(classes)
    }

    /// Returns the included classes, in order.
    pub fn classes(&self) -> &[ClassId] {
        &self.classes
    }

    /// Returns the templates of the included classes.
    pub fn templates(&self) -> &TemplateSet {
        &self.templates
    }

    /// Returns true if a class is included.
    pub fn contains(&self, class: ClassId) -> bool {
        self.included.get(class.0) == Some(&true)
    }

    /// Returns the weights of all classes if none is excluded: included ones share the probability
    /// `high`, the others the rest. If one side is empty, the other gets everything.
    pub fn weights(&self, classes: &ActionClasses, high: f64) -> Vec<f64> {
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

    /// Includes a class.
    fn include(&mut self, class: ClassId) {
        if !std::mem::replace(&mut self.included[class.0], true) {
            self.classes.push(class);
        }
    }

    /// Sorts the classes and collects their templates.
    fn sort_and_collect(mut self, classes: &ActionClasses) -> Configuration {
        self.classes.sort_unstable();
        let templates = self
            .classes
            .iter()
            .flat_map(|class| classes.templates(*class));
        self.templates = templates.copied().collect();
        self
    }

    /// Adds classes until each included class has what it needs and a class that uses what it
    /// makes.
    fn add_dependencies(
        &mut self,
        classes: &ActionClasses,
        force_parent: bool,
        random: &mut Random,
    ) {
        let mut pool_use = PoolUse::default();
        self.classes
            .iter()
            .for_each(|class| pool_use.add(classes, *class));
        // Only newly included classes can lack something; each is included once, so the loop ends.
        let mut next = 0;
        while let Some(class) = self.classes.get(next).copied() {
            next += 1;
            let wants_use = force_parent || classes.needed_pools(class).is_empty();
            if wants_use && !pool_use.uses_any(classes.made_pools(class)) {
                let user = random.choose(&classes.dependents(class)).copied();
                self.include_and_record(user, classes, &mut pool_use);
            }
            for pool in classes.needed_pools(class) {
                if !pool_use.made_pools.contains(pool) {
                    let maker = random.choose(classes.makers_of_pool(*pool)).copied();
                    self.include_and_record(maker, classes, &mut pool_use);
                }
            }
        }
    }

    /// Includes a class and records its pools.
    fn include_and_record(
        &mut self,
        class: Option<ClassId>,
        classes: &ActionClasses,
        pool_use: &mut PoolUse,
    ) {
        if let Some(class) = class {
            self.include(class);
            pool_use.add(classes, class);
        }
    }
}

/// The pools whose values included classes make and use.
#[derive(Default)]
struct PoolUse {
    made_pools: BTreeSet<PoolId>,
    used_pools: BTreeSet<PoolId>,
}

impl PoolUse {
    /// Adds the pools of a class.
    fn add(&mut self, classes: &ActionClasses, class: ClassId) {
        self.made_pools.extend(classes.made_pools(class));
        self.used_pools.extend(classes.needed_pools(class));
    }

    /// Returns true if a value of any of these pools is used.
    fn uses_any(&self, pools: &[PoolId]) -> bool {
        pools.iter().any(|pool| self.used_pools.contains(pool))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::toys::catalog;

    fn classes() -> ActionClasses {
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
        ActionClasses::new(&catalog(&[("int", 2), ("list", 2), ("set", 1)], &lines))
    }

    #[test]
    fn those_that_are_in_share_the_high_probability() {
        let classes = classes();
        let weights = |included: &[usize]| {
            let included = included.iter().copied().map(ClassId);
            Configuration::from_classes(&classes, included).weights(&classes, 0.9)
        };
        let some = weights(&[0, 2]);
        assert!((some[0] - 0.45).abs() < 1e-9 && (some[1] - 0.1 / 6.0).abs() < 1e-9);
        for all_alike in [weights(&[]), weights(&[0, 1, 2, 3, 4, 5, 6, 7])] {
            assert!(all_alike.iter().all(|weight| (weight - 0.125).abs() < 1e-9));
        }
    }

    proptest! {
        #[test]
        fn included_classes_have_their_dependencies(seed in 0u64..10_000, chance in 0.0f64..1.0) {
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
            // A set needs a list; the set itself need not be used.
            prop_assert!(configuration.contains(ClassId(6)));
            prop_assert!(!configuration.contains(ClassId(7)));
            prop_assert!(configuration.contains(ClassId(1)) || configuration.contains(ClassId(2)));
            prop_assert!(!configuration.contains(ClassId(2)) || configuration.contains(ClassId(0)));
        }
    }

    #[test]
    fn nothing_is_added_without_dependencies() {
        let classes = classes();
        let options = SwarmOptions {
            inclusion: Inclusion::Table(
                classes
                    .iter()
                    .map(|class| (class, f64::from(class.0 == 3)))
                    .collect(),
                0.0,
            ),
            include_dependencies: false,
            ..SwarmOptions::default()
        };
        let configuration = Configuration::draw(&classes, &options, &mut Random::new(1));
        assert_eq!(configuration.classes(), [ClassId(3)]);
    }

    #[test]
    fn a_configuration_is_never_empty() {
        let classes = ActionClasses::new(&catalog(&[], &["go()", "stop()"]));
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
