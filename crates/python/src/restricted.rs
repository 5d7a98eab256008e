//! Weights of a subset of templates, for strategies that exclude the others for a test or for a
//! step.

use testwright_core::{Catalog, TemplateId, TemplateSet};

use crate::pool_states::PoolStates;
use crate::weights::Weights;

/// The maximum number of templates that are weighed one by one. Choosing by class requests other
/// templates at each step, mostly a single one; swarm testing requests the same many during a whole
/// test.
const MAX_FEW: usize = 16;

/// The maximum number of cached sets of many templates. A scenario switches between some of them,
/// step by step.
const MAX_CACHED: usize = 64;

/// The weights of the selected templates.
#[derive(Default)]
pub(crate) struct RestrictedWeights {
    /// The selected templates with their weights, if they are few.
    few: Vec<(TemplateId, u64)>,
    /// Cached sets of many templates, the most recent last.
    many: Vec<(TemplateSet, Weights)>,
    /// The current selection is in `few`.
    uses_few: bool,
}

impl RestrictedWeights {
    /// Selects templates and returns the number of their actions that the slots allow now. `all`
    /// must be up to date.
    ///
    /// The cost is proportional to the number of templates if they are many and not cached.
    pub(crate) fn select(
        &mut self,
        set: &TemplateSet,
        all: &Weights,
        catalog: &Catalog,
        states: &PoolStates,
    ) -> u64 {
        self.uses_few = set.len() <= MAX_FEW;
        if self.uses_few {
            self.few.clear();
            let known = |template: &TemplateId| template.0 < catalog.templates().len();
            let weighed = |template| (template, all.template_weight(template));
            self.few.extend(set.iter().filter(known).map(weighed));
            return self.few.iter().map(|(_, weight)| weight).sum();
        }
        match self.many.iter().rposition(|(known, _)| known == set) {
            Some(index) => {
                self.many[index..].rotate_left(1);
                if let Some((_, weights)) = self.many.last_mut() {
                    weights.update(states);
                }
            }
            None => {
                if self.many.len() == MAX_CACHED {
                    self.many.remove(0);
                }
                let weights = all.restricted_to(catalog, states, |template| set.contains(template));
                self.many.push((set.clone(), weights));
            }
        }
        self.many.last().map_or(0, |(_, weights)| weights.total())
    }

    /// Finds a rank like [`Weights::find`], among the selected templates.
    pub(crate) fn find(&self, rank: u64) -> (TemplateId, u64) {
        if let (false, Some((_, weights))) = (self.uses_few, self.many.last()) {
            return weights.find(rank);
        }
        let mut rest = rank;
        for (template, weight) in &self.few {
            if rest < *weight {
                return (*template, rest);
            }
            rest -= weight;
        }
        unreachable!("a rank is below the total")
    }
}

#[cfg(test)]
mod tests {
    use testwright_core::{
        Axis, Catalog, ChoiceValues, PoolId, SlotPool, SlotRole, Template, TemplateId,
    };

    use super::*;

    /// Returns a catalog of lines that use a slot or define one, alternately, with a choice each.
    fn catalog(lines: usize) -> Catalog {
        let line = |number: usize| Template {
            class: format!("line {number}"),
            line: number + 1,
            pieces: Vec::new(),
            axes: vec![
                Axis::Slot {
                    pool: PoolId(0),
                    role: [SlotRole::Use, SlotRole::Definition][number % 2],
                },
                Axis::Choice(ChoiceValues::Integers { first: 0, last: 9 }),
            ],
        };
        let pool = SlotPool {
            name: "x".to_string(),
            size: 3,
        };
        Catalog::new(vec![pool], (0..lines).map(line).collect()).unwrap_or_default()
    }

    #[test]
    fn sets_that_come_back_are_weighed_as_if_they_were_new() {
        let catalog = catalog(3 * MAX_CACHED);
        let mut states = PoolStates::new(&[3]);
        let all = Weights::new(&catalog, &states);
        let mut restricted = RestrictedWeights::default();
        // More sets than are cached, with slots filled and emptied between two selections.
        let sets: Vec<TemplateSet> = (0..MAX_CACHED + 5)
            .map(|from| {
                let mut set = TemplateSet::default();
                (from..from + 2 * MAX_FEW).for_each(|index| {
                    set.insert(TemplateId(index));
                });
                set
            })
            .collect();
        for round in 0..5 * sets.len() {
            states.set_filled(PoolId(0), (round % 3) as u32, round % 2 == 0);
            let set = &sets[(round * round) % sets.len()];
            let total = restricted.select(set, &all, &catalog, &states);
            let fresh = all.restricted_to(&catalog, &states, |template| set.contains(template));
            assert_eq!(total, fresh.total());
            let ranks = 0..total;
            assert!(
                ranks
                    .clone()
                    .all(|rank| restricted.find(rank) == fresh.find(rank))
            );
            assert!(restricted.many.len() <= MAX_CACHED);
        }
    }
}
