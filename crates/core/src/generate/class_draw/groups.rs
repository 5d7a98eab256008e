//! Weighted drawing of one of very many classes.
//!
//! A harness may have thousands of lines that fall into few groups: `<word> := 'a'` and `<word> :=
//! 'b'` are enabled in the same states. So a group is drawn first, then a class of it, and where
//! one class of a group is not enabled, no other one is tried. A draw takes time proportional to
//! the number of groups, not of classes.

use rustc_hash::FxHashMap;

use super::draw_index;
use crate::{ActionId, Random, System, TemplateSet};

/// The maximum number of disabled classes tried before a draw gives up.
const MAX_MISSES: usize = 64;

/// The classes, in groups.
#[derive(Clone, Debug)]
pub(super) struct ClassGroups {
    /// By class: the number of its group.
    class_groups: Vec<usize>,
    groups: Vec<ClassGroup>,
    /// The remaining weights of the current draw, by group.
    remaining_weights: Vec<f64>,
}

/// The classes with a weight that have enabled actions in the same states.
#[derive(Clone, Debug, Default)]
struct ClassGroup {
    classes: Vec<usize>,
    /// Running sums of the weights.
    sums: Vec<f64>,
}

impl ClassGroups {
    /// Groups the classes with these templates. A class about which nothing is known gets a group
    /// of its own.
    pub(super) fn new<S: System + ?Sized>(system: &S, templates: &[TemplateSet]) -> ClassGroups {
        let mut numbers: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
        let mut count = 0;
        let mut next = || {
            count += 1;
            count - 1
        };
        let mut group_of = |templates: &TemplateSet| {
            let keys = templates
                .iter()
                .map(|template| system.enabling_group(template));
            match keys.collect::<Option<Vec<u64>>>() {
                Some(mut group_keys) => {
                    group_keys.sort_unstable();
                    group_keys.dedup();
                    *numbers.entry(group_keys).or_insert_with(&mut next)
                }
                None => next(),
            }
        };
        let class_groups = templates.iter().map(&mut group_of).collect();
        ClassGroups {
            class_groups,
            groups: vec![ClassGroup::default(); count],
            remaining_weights: Vec::new(),
        }
    }

    /// Sets the weights of the classes.
    pub(super) fn set_weights(&mut self, weights: &[f64]) {
        for group in &mut self.groups {
            group.classes.clear();
            group.sums.clear();
        }
        for (class, weight) in weights.iter().enumerate() {
            if *weight > 0.0 {
                let group = &mut self.groups[self.class_groups[class]];
                group.sums.push(group.weight() + weight);
                group.classes.push(class);
            }
        }
    }

    /// Picks an enabled action of a class drawn by weight; `None` if no tried class has one.
    pub(super) fn pick<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        templates: &[TemplateSet],
        random: &mut Random,
    ) -> Option<ActionId> {
        self.remaining_weights.clear();
        self.remaining_weights
            .extend(self.groups.iter().map(ClassGroup::weight));
        let mut classes: usize = self.groups.iter().map(|group| group.classes.len()).sum();
        // The weight that each class inherited from the groups that left the draw.
        let mut share = 0.0;
        for _ in 0..MAX_MISSES {
            let number = draw_index(&self.remaining_weights, random)?;
            let class = self.groups[number].draw(share, random)?;
            let picked = system.pick_among(&templates[class], random);
            if picked.is_some() {
                return picked;
            }
            let weight = std::mem::take(&mut self.remaining_weights[number]);
            classes -= self.groups[number].classes.len();
            let more = weight / classes as f64;
            share += more;
            for (left, group) in self.remaining_weights.iter_mut().zip(&self.groups) {
                if *left > 0.0 {
                    *left += more * group.classes.len() as f64;
                }
            }
        }
        None
    }
}

impl ClassGroup {
    /// Returns the total weight of the group.
    fn weight(&self) -> f64 {
        self.sums.last().copied().unwrap_or(0.0)
    }

    /// Draws a class by its weight plus an equal share for each.
    fn draw(&self, share: f64, random: &mut Random) -> Option<usize> {
        let shares = share * self.classes.len() as f64;
        let point = random.unit_float() * (self.weight() + shares);
        if point >= self.weight() {
            return random.choose(&self.classes).copied();
        }
        let number = self.sums.partition_point(|sum| *sum <= point);
        self.classes.get(number).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, Error, Outcome, Template, TemplateId};

    /// A hundred lines. The first ten are never enabled; of the others, those with odd numbers are
    /// never enabled together with those with even ones.
    struct HundredLines {
        catalog: Catalog,
        is_odd: bool,
        calls: usize,
    }

    impl HundredLines {
        fn new() -> HundredLines {
            let line = |number: usize| Template {
                class: format!("line {number}"),
                line: number + 1,
                pieces: Vec::new(),
                axes: Vec::new(),
            };
            HundredLines {
                catalog: Catalog::new(Vec::new(), (0..100).map(line).collect()).unwrap(),
                is_odd: false,
                calls: 0,
            }
        }

        fn group(template: TemplateId) -> u64 {
            match template.0 {
                0..10 => 2,
                number => number as u64 % 2,
            }
        }

        fn templates(&self) -> Vec<TemplateSet> {
            let all = (0..100).map(TemplateId);
            all.map(|template| [template].into_iter().collect())
                .collect()
        }
    }

    impl System for HundredLines {
        fn actions(&self) -> &Catalog {
            &self.catalog
        }

        fn reset(&mut self) -> Result<(), Error> {
            Ok(())
        }

        fn is_enabled(&mut self, action: ActionId) -> bool {
            HundredLines::group(self.catalog.template_of(action)) == u64::from(self.is_odd)
        }

        fn pick_among(&mut self, templates: &TemplateSet, _: &mut Random) -> Option<ActionId> {
            self.calls += 1;
            let template = templates.iter().next()?;
            let action = self.catalog.first(template);
            self.is_enabled(action).then_some(action)
        }

        fn enabling_group(&self, template: TemplateId) -> Option<u64> {
            Some(HundredLines::group(template))
        }

        fn step(&mut self, _: ActionId) -> Outcome {
            Outcome::Passed
        }

        fn check(&mut self) -> Outcome {
            Outcome::Passed
        }
    }

    #[test]
    fn a_kind_is_tried_once_and_every_class_of_the_right_one_is_equally_likely() {
        let mut lines = HundredLines::new();
        let templates = lines.templates();
        let mut groups = ClassGroups::new(&lines, &templates);
        groups.set_weights(&[1.0; 100]);
        let mut random = Random::new(4);
        let mut counts = [0u32; 100];
        for round in 0..45_000 {
            lines.is_odd = round % 2 == 1;
            lines.calls = 0;
            let picked = groups.pick(&mut lines, &templates, &mut random).unwrap();
            assert!(lines.calls <= 3);
            counts[picked.0 as usize] += 1;
        }
        assert!(counts[..10].iter().all(|count| *count == 0));
        let are_even = counts[10..].iter().all(|count| count.abs_diff(500) < 120);
        assert!(are_even, "{counts:?}");
    }

    #[test]
    fn weights_count_within_a_kind_and_what_is_left_over_is_shared_equally() {
        let mut lines = HundredLines::new();
        let templates = lines.templates();
        let mut groups = ClassGroups::new(&lines, &templates);
        // Half of the weight is where nothing can be taken; line 98 has no weight at all.
        let mut weights = [0.0; 100];
        weights[0] = 4.0;
        weights[10] = 3.0;
        weights[12] = 1.0;
        groups.set_weights(&weights);
        let mut random = Random::new(5);
        let mut counts = [0u32; 100];
        for _ in 0..40_000 {
            let picked = groups.pick(&mut lines, &templates, &mut random).unwrap();
            counts[picked.0 as usize] += 1;
        }
        // Drawn at once, or after the first one had left: 3/8 + 1/2 * 5/8.
        assert!(counts[10].abs_diff(27_500) < 500, "{counts:?}");
        assert_eq!(counts[10] + counts[12], 40_000);
        lines.is_odd = true;
        assert_eq!(groups.pick(&mut lines, &templates, &mut random), None);
    }
}
