//! The equivalent tests of a generalization.

use super::Generalization;
use crate::{ActionId, Step, Test};

impl Generalization {
    /// Returns tests that achieve the goal as well, at most `limit`. Each differs from the test in
    /// one respect, and all of them were tried. A search that finds one of these among its failures
    /// has found the same bug again.
    ///
    /// Of a range that was not tried completely only the ends are included.
    pub fn equivalents(&self, limit: usize) -> Vec<Test> {
        let mut all = Vec::new();
        for (index, variations) in self.steps.iter().enumerate() {
            for range in &variations.replacements {
                for action in tried_actions(range, limit) {
                    let mut steps = self.test.steps.clone();
                    steps[index] = Step::Act(action);
                    all.push(Test::from_steps(steps));
                }
            }
            for range in &variations.fresh {
                for action in tried_actions(range, limit) {
                    let mut steps = self.test.steps.clone();
                    steps.insert(index, Step::Act(action));
                    all.push(Test::from_steps(steps));
                }
            }
            for other in variations.swaps.iter().filter(|other| **other > index) {
                let mut steps = self.test.steps.clone();
                steps.swap(index, *other);
                all.push(Test::from_steps(steps));
            }
            if all.len() >= limit {
                break;
            }
        }
        all.truncate(limit);
        all
    }
}

/// Returns the members of a range that are known to have been tried.
fn tried_actions(range: &super::StepAlternatives, limit: usize) -> Vec<ActionId> {
    if range.is_exact() {
        return range.iter().take(limit).collect();
    }
    vec![range.first, range.last()]
}
