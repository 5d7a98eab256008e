//! Drawing one of very many classes.
//!
//! A harness may have thousands of lines, and few kinds of them: `<word> := 'a'` and `<word> := 'b'` can be taken in the
//! same states. So a kind is drawn first, then a class of it, and where one of a kind cannot be taken, none is tried
//! again. A draw costs as much as there are kinds, not classes.

use rustc_hash::FxHashMap;

use super::drawn;
use crate::{ActionId, Random, System, TemplateSet};

/// After so many classes that cannot be taken it costs too much to go on looking for one that can.
const MOST_REFUSALS: usize = 64;

/// The classes by kind.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    /// The number of each class's kind.
    of_classes: Vec<usize>,
    kinds: Vec<Kind>,
    /// The weights of the draw that is going on, by kind.
    left: Vec<f64>,
}

/// Classes that have enabled actions in the same states, as far as they have any weight.
#[derive(Clone, Debug, Default)]
struct Kind {
    classes: Vec<usize>,
    /// The weight of each of them, with that of all before it.
    sums: Vec<f64>,
}

impl Kinds {
    /// The kinds of the classes with these templates. A class about which nothing is known is of a kind of its own.
    pub(super) fn new<S: System + ?Sized>(system: &S, templates: &[TemplateSet]) -> Kinds {
        let mut numbers: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
        let mut count = 0;
        let mut next = || {
            count += 1;
            count - 1
        };
        let mut kind_of = |templates: &TemplateSet| {
            let alike = templates.iter().map(|template| system.alike(template));
            match alike.collect::<Option<Vec<u64>>>() {
                Some(mut alike) => {
                    alike.sort_unstable();
                    alike.dedup();
                    *numbers.entry(alike).or_insert_with(&mut next)
                }
                None => next(),
            }
        };
        let of_classes = templates.iter().map(&mut kind_of).collect();
        Kinds {
            of_classes,
            kinds: vec![Kind::default(); count],
            left: Vec::new(),
        }
    }

    /// Takes notice of other weights.
    pub(super) fn weigh(&mut self, weights: &[f64]) {
        for kind in &mut self.kinds {
            kind.classes.clear();
            kind.sums.clear();
        }
        for (class, weight) in weights.iter().enumerate() {
            if *weight > 0.0 {
                let kind = &mut self.kinds[self.of_classes[class]];
                kind.sums.push(kind.weight() + weight);
                kind.classes.push(class);
            }
        }
    }

    /// An enabled action of a class that is drawn by weight; `None` if none of those that were tried has any.
    pub(super) fn pick<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        templates: &[TemplateSet],
        random: &mut Random,
    ) -> Option<ActionId> {
        self.left.clear();
        self.left.extend(self.kinds.iter().map(Kind::weight));
        let mut classes: usize = self.kinds.iter().map(|kind| kind.classes.len()).sum();
        // What each class has got from those that left the draw.
        let mut share = 0.0;
        for _ in 0..MOST_REFUSALS {
            let number = drawn(&self.left, random)?;
            let class = self.kinds[number].draw(share, random)?;
            let picked = system.pick_among(&templates[class], random);
            if picked.is_some() {
                return picked;
            }
            let weight = std::mem::take(&mut self.left[number]);
            classes -= self.kinds[number].classes.len();
            let more = weight / classes as f64;
            share += more;
            for (left, kind) in self.left.iter_mut().zip(&self.kinds) {
                if *left > 0.0 {
                    *left += more * kind.classes.len() as f64;
                }
            }
        }
        None
    }
}

impl Kind {
    fn weight(&self) -> f64 {
        self.sums.last().copied().unwrap_or(0.0)
    }

    /// A class, by its weight and an equal share for each.
    fn draw(&self, share: f64, random: &mut Random) -> Option<usize> {
        let shares = share * self.classes.len() as f64;
        let place = random.unit() * (self.weight() + shares);
        if place >= self.weight() {
            return random.choose(&self.classes).copied();
        }
        let number = self.sums.partition_point(|sum| *sum <= place);
        self.classes.get(number).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, Error, Outcome, Template, TemplateId};

    /// A hundred lines: the first ten can never be taken, and of the others those with odd numbers never together with
    /// those with even ones.
    struct Lines {
        catalog: Catalog,
        is_odd: bool,
        asked: usize,
    }

    impl Lines {
        fn new() -> Lines {
            let line = |number: usize| Template {
                class: format!("line {number}"),
                line: number + 1,
                pieces: Vec::new(),
                axes: Vec::new(),
            };
            Lines {
                catalog: Catalog::new(Vec::new(), (0..100).map(line).collect()).unwrap(),
                is_odd: false,
                asked: 0,
            }
        }

        fn kind(template: TemplateId) -> u64 {
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

    impl System for Lines {
        fn actions(&self) -> &Catalog {
            &self.catalog
        }

        fn reset(&mut self) -> Result<(), Error> {
            Ok(())
        }

        fn is_enabled(&mut self, action: ActionId) -> bool {
            Lines::kind(self.catalog.template_of(action)) == u64::from(self.is_odd)
        }

        fn pick_among(&mut self, templates: &TemplateSet, _: &mut Random) -> Option<ActionId> {
            self.asked += 1;
            let template = templates.iter().next()?;
            let action = self.catalog.first(template);
            self.is_enabled(action).then_some(action)
        }

        fn alike(&self, template: TemplateId) -> Option<u64> {
            Some(Lines::kind(template))
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
        let mut lines = Lines::new();
        let templates = lines.templates();
        let mut kinds = Kinds::new(&lines, &templates);
        kinds.weigh(&[1.0; 100]);
        let mut random = Random::new(4);
        let mut counts = [0u32; 100];
        for round in 0..45_000 {
            lines.is_odd = round % 2 == 1;
            lines.asked = 0;
            let picked = kinds.pick(&mut lines, &templates, &mut random).unwrap();
            assert!(lines.asked <= 3);
            counts[picked.0 as usize] += 1;
        }
        assert!(counts[..10].iter().all(|count| *count == 0));
        let are_even = counts[10..].iter().all(|count| count.abs_diff(500) < 120);
        assert!(are_even, "{counts:?}");
    }

    #[test]
    fn weights_count_within_a_kind_and_what_is_left_over_is_shared_equally() {
        let mut lines = Lines::new();
        let templates = lines.templates();
        let mut kinds = Kinds::new(&lines, &templates);
        // Half of the weight is where nothing can be taken; line 98 has no weight at all.
        let mut weights = [0.0; 100];
        weights[0] = 4.0;
        weights[10] = 3.0;
        weights[12] = 1.0;
        kinds.weigh(&weights);
        let mut random = Random::new(5);
        let mut counts = [0u32; 100];
        for _ in 0..40_000 {
            let picked = kinds.pick(&mut lines, &templates, &mut random).unwrap();
            counts[picked.0 as usize] += 1;
        }
        // Drawn at once, or after the first one had left: 3/8 + 1/2 * 5/8.
        assert!(counts[10].abs_diff(27_500) < 500, "{counts:?}");
        assert_eq!(counts[10] + counts[12], 40_000);
        lines.is_odd = true;
        assert_eq!(kinds.pick(&mut lines, &templates, &mut random), None);
    }
}
