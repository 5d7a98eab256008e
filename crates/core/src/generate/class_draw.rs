//! Weighted drawing of a class, then of an enabled action of it.

mod groups;

use std::sync::Arc;

use groups::ClassGroups;

use crate::{ActionClasses, ActionId, ClassId, Random, System, TemplateSet};

/// The largest number of classes that are tried one by one.
const MAX_UNGROUPED: usize = 64;

/// Draws classes by weight.
#[derive(Clone, Debug)]
pub(super) struct ClassDraw {
    /// The templates of each class.
    templates: Vec<TemplateSet>,
    weights: Vec<f64>,
    /// The remaining weights of the current draw.
    remaining_weights: Vec<f64>,
    /// Groups of classes, for harnesses with many of them. Computed when first needed.
    groups: Option<ClassGroups>,
}

impl ClassDraw {
    /// Creates a draw in which no class has any weight.
    pub(super) fn new(classes: &Arc<ActionClasses>) -> ClassDraw {
        let templates = |class| classes.templates(class).iter().copied().collect();
        ClassDraw {
            templates: classes.iter().map(templates).collect(),
            weights: Vec::new(),
            remaining_weights: Vec::new(),
            groups: None,
        }
    }

    /// Sets the weights, one per class. Takes time proportional to the number of classes.
    pub(super) fn set_weights(&mut self, weights: impl IntoIterator<Item = f64>) {
        self.weights.clear();
        self.weights.extend(weights);
        if let Some(groups) = &mut self.groups {
            groups.set_weights(&self.weights);
        }
    }

    /// Picks an enabled action of a class uniformly.
    pub(super) fn pick_from_class<S: System + ?Sized>(
        &self,
        system: &mut S,
        class: ClassId,
        random: &mut Random,
    ) -> Option<ActionId> {
        system.pick_among(&self.templates[class.0], random)
    }

    /// Draws a class by weight and picks an enabled action of it. A class without enabled actions
    /// leaves the draw, and the others share its weight equally. Classes without weight come last,
    /// when nothing else is enabled.
    pub(super) fn pick<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        random: &mut Random,
    ) -> Option<ActionId> {
        let picked = if self.templates.len() <= MAX_UNGROUPED {
            self.pick_ungrouped(system, random)
        } else {
            let groups = self.groups.get_or_insert_with(|| {
                let mut groups = ClassGroups::new(system, &self.templates);
                groups.set_weights(&self.weights);
                groups
            });
            groups.pick(system, &self.templates, random)
        };
        picked.or_else(|| system.pick(random))
    }

    /// Draws among few classes, trying them one by one.
    fn pick_ungrouped<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        random: &mut Random,
    ) -> Option<ActionId> {
        self.remaining_weights.clone_from(&self.weights);
        loop {
            let class = draw_index(&self.remaining_weights, random)?;
            let picked = system.pick_among(&self.templates[class], random);
            if picked.is_some() {
                return picked;
            }
            let weight = std::mem::take(&mut self.remaining_weights[class]);
            let others = self
                .remaining_weights
                .iter()
                .filter(|weight| **weight > 0.0)
                .count();
            for other in self
                .remaining_weights
                .iter_mut()
                .filter(|weight| **weight > 0.0)
            {
                *other += weight / others as f64;
            }
        }
    }
}

/// Draws an index by weight; `None` if all weights are zero.
pub(super) fn draw_index(weights: &[f64], random: &mut Random) -> Option<usize> {
    let total: f64 = weights.iter().sum();
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    let mut rest = random.unit_float() * total;
    let mut last = None;
    for (index, weight) in weights.iter().enumerate() {
        if *weight > 0.0 {
            last = Some(index);
            if rest < *weight {
                break;
            }
            rest -= weight;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::Crossing;

    #[test]
    fn places_are_drawn_by_weight() {
        let mut random = Random::new(1);
        let mut counts = [0u32; 4];
        for _ in 0..40_000 {
            counts[draw_index(&[1.0, 0.0, 2.0, 1.0], &mut random).unwrap()] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!(counts[2].abs_diff(20_000) < 500 && counts[0].abs_diff(10_000) < 400);
        assert_eq!(draw_index(&[0.0, 0.0], &mut random), None);
        assert_eq!(draw_index(&[], &mut random), None);
    }

    #[test]
    fn a_class_that_has_nothing_enabled_leaves_the_draw_and_the_others_share_equally() {
        let mut crossing = Crossing::default();
        let classes = Arc::new(ActionClasses::new(crossing.actions()));
        let mut draw = ClassDraw::new(&classes);
        let mut random = Random::new(3);
        draw.set_weights([0.4, 0.1, 0.5, 0.0]);
        // `red -> go()` is not enabled: when it is drawn, there is a second draw, from 0.65 and 0.35.
        let mut switched = 0;
        for _ in 0..10_000 {
            let picked = draw.pick(&mut crossing, &mut random);
            switched += u32::from(picked == Some(Crossing::SWITCH));
            assert!([Some(Crossing::SWITCH), Some(Crossing::GO_AT_GREEN)].contains(&picked));
        }
        assert!(switched.abs_diff(7_250) < 250, "{switched}");
        draw.set_weights([0.0, 0.0, 1.0, 0.0]);
        let picked = draw.pick(&mut crossing, &mut random);
        assert!(picked.is_some_and(|action| action != Crossing::GO_AT_RED));
    }
}
