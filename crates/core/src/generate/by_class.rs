//! Choice of a class by probability, then of one of its actions.
//!
//! A uniform choice among *actions* mostly takes those of lines that stand for many: `<int> :=
//! <[1..1000]>` has a thousand actions for each slot, `<tree>.clear()` one. Equal probabilities for
//! all lines are often better, and knowledge of the system may suggest still better ones.

use std::sync::Arc;

use super::class_draw::ClassDraw;
use super::{ClassTable, Strategy};
use crate::{ActionClasses, ActionId, Error, Random, Step, System};

/// Draws a class by probability, then one of its enabled actions.
#[derive(Clone, Debug)]
pub struct ByClass {
    draw: ClassDraw,
}

impl ByClass {
    /// Uses these probabilities, which need not add up to 1. A class without a probability is taken
    /// only when nothing else is enabled.
    pub fn new(classes: &Arc<ActionClasses>, probabilities: &ClassTable) -> ByClass {
        let weight = |class| probabilities.get(class).unwrap_or(0.0);
        let mut draw = ClassDraw::new(classes);
        draw.set_weights(classes.iter().map(weight));
        ByClass { draw }
    }

    /// Gives all classes the same probability.
    pub fn equal(classes: &Arc<ActionClasses>) -> ByClass {
        ByClass::new(classes, &ClassTable::equal(classes))
    }
}

impl<S: System + ?Sized> Strategy<S> for ByClass {
    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        self.draw.pick(system, random)
    }
}

/// Prefers classes that were rarely taken so far, in proportion to the distance from the most
/// frequent one.
///
/// It counts over all tests of a search, so it [depends on earlier results](Strategy::depends_on_results).
#[derive(Clone, Debug)]
pub struct Profile {
    classes: Arc<ActionClasses>,
    draw: ClassDraw,
    counts: Vec<u64>,
    /// The number of steps until the weights are recomputed.
    steps_left: usize,
}

impl Profile {
    /// Creates the strategy with all counts at zero.
    pub fn new(classes: &Arc<ActionClasses>) -> Profile {
        Profile {
            draw: ClassDraw::new(classes),
            classes: Arc::clone(classes),
            counts: vec![0; classes.len()],
            steps_left: 0,
        }
    }

    /// Returns how often each class was taken, in class order.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl<S: System + ?Sized> Strategy<S> for Profile {
    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        // Among thousands of classes a step changes next to nothing, so the weights are recomputed
        // rarely.
        const CLASSES_PER_STEP: usize = 64;
        if self.steps_left == 0 {
            let highest = self.counts.iter().max().copied().unwrap_or(0);
            let weights = self.counts.iter().map(|count| (highest + 1 - count) as f64);
            self.draw.set_weights(weights);
            self.steps_left = self.counts.len().div_ceil(CLASSES_PER_STEP);
        }
        self.steps_left -= 1;
        self.draw.pick(system, random)
    }

    fn after_step(&mut self, system: &mut S, steps: &[Step]) -> Result<(), Error> {
        if let Some(Step::Act(action)) = steps.last() {
            let class = self.classes.class_of_action(system.actions(), *action);
            self.counts[class.0] += 1;
        }
        Ok(())
    }

    fn depends_on_results(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, generate_tests};
    use super::*;
    use crate::ClassId;
    use crate::toys::{Counters, Crossing};

    fn shares<T: Strategy<Counters>>(strategy: &mut T) -> Vec<f64> {
        let mut counters = Counters::new(u64::MAX);
        let classes = ActionClasses::new(counters.actions());
        let generated = generate_tests(&mut counters, strategy, &SEARCH, 50);
        let mut counts = vec![0.0; classes.len()];
        let mut total = 0.0;
        for step in generated.iter().flat_map(|test| &test.steps) {
            let Step::Act(action) = step else { continue };
            counts[classes.class_of_action(counters.actions(), *action).0] += 1.0;
            total += 1.0;
        }
        counts.iter().map(|count| count / total).collect()
    }

    #[test]
    fn classes_are_taken_as_often_as_they_should() {
        let classes = Arc::new(ActionClasses::new(Counters::new(1).actions()));
        let table: ClassTable = [(ClassId(0), 0.1), (ClassId(1), 0.1), (ClassId(3), 1.8)]
            .into_iter()
            .collect();
        let shares = shares(&mut ByClass::new(&classes, &table));
        assert!(shares[3] > 0.8 && shares[2] == 0.0, "{shares:?}");
    }

    #[test]
    fn a_profile_makes_up_for_what_is_rare() {
        let classes = Arc::new(ActionClasses::new(Crossing::default().actions()));
        let mut profile = Profile::new(&classes);
        generate_tests(&mut Crossing::default(), &mut profile, &SEARCH, 50);
        let (low, high) = (profile.counts().iter().min(), profile.counts().iter().max());
        assert!(high.unwrap() - low.unwrap() < 10, "{:?}", profile.counts());
    }
}
