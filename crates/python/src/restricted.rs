//! Weights of some templates: for strategies that do without the others, for a test or for a step.

use testwright_core::{Catalog, TemplateId, TemplateSet};

use crate::pool_states::PoolStates;
use crate::weights::Weights;

/// Up to how many templates are weighed one by one. Choosing by class asks for other ones at each step, mostly for a
/// single one; swarm testing asks for the same many ones all through a test.
const FEW: usize = 16;

/// How many sets of many templates are remembered. A scenario goes to and fro between some, step by step.
const KEPT: usize = 64;

/// The weights of the templates that were asked for.
#[derive(Default)]
pub(crate) struct Restricted {
    few: Vec<(TemplateId, u64)>,
    /// Those that were asked for last come last.
    many: Vec<(TemplateSet, Weights)>,
    is_few: bool,
}

impl Restricted {
    /// Turns to these templates, and says how many of their actions the slots allow now. `all` must be up to date.
    ///
    /// Costs as much as there are templates if they are many, and were not asked for in a while.
    pub(crate) fn turn_to(
        &mut self,
        set: &TemplateSet,
        all: &Weights,
        catalog: &Catalog,
        states: &PoolStates,
    ) -> u64 {
        self.is_few = set.len() <= FEW;
        if self.is_few {
            self.few.clear();
            let known = |template: &TemplateId| template.0 < catalog.templates().len();
            let weighed = |template| (template, all.of(template));
            self.few.extend(set.iter().filter(known).map(weighed));
            return self.few.iter().map(|(_, weight)| weight).sum();
        }
        match self.many.iter().rposition(|(known, _)| known == set) {
            Some(place) => {
                self.many[place..].rotate_left(1);
                if let Some((_, weights)) = self.many.last_mut() {
                    weights.update(states);
                }
            }
            None => {
                if self.many.len() == KEPT {
                    self.many.remove(0);
                }
                let weights = all.among(catalog, states, |template| set.contains(template));
                self.many.push((set.clone(), weights));
            }
        }
        self.many.last().map_or(0, |(_, weights)| weights.total())
    }

    /// As [`Weights::find`], among the templates turned to.
    pub(crate) fn find(&self, rank: u64) -> (TemplateId, u64) {
        if let (false, Some((_, weights))) = (self.is_few, self.many.last()) {
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
    use testwright_core::{Axis, Catalog, Choice, Pool, PoolId, Role, Template, TemplateId};

    use super::*;

    /// Lines that use a slot or define one, by turns, with a choice each.
    fn catalog(lines: usize) -> Catalog {
        let line = |number: usize| Template {
            class: format!("line {number}"),
            line: number + 1,
            pieces: Vec::new(),
            axes: vec![
                Axis::Slot {
                    pool: PoolId(0),
                    role: [Role::Use, Role::Definition][number % 2],
                },
                Axis::Choice(Choice::Integers { first: 0, last: 9 }),
            ],
        };
        let pool = Pool {
            name: "x".to_string(),
            size: 3,
        };
        Catalog::new(vec![pool], (0..lines).map(line).collect()).unwrap_or_default()
    }

    #[test]
    fn sets_that_come_back_are_weighed_as_if_they_were_new() {
        let catalog = catalog(3 * KEPT);
        let mut states = PoolStates::new(&[3]);
        let all = Weights::new(&catalog, &states);
        let mut restricted = Restricted::default();
        // More sets than are remembered, and slots that are filled and emptied between one turn and the next.
        let sets: Vec<TemplateSet> = (0..KEPT + 5)
            .map(|from| {
                let mut set = TemplateSet::default();
                (from..from + 2 * FEW).for_each(|place| {
                    set.insert(TemplateId(place));
                });
                set
            })
            .collect();
        for turn in 0..5 * sets.len() {
            states.set_filled(PoolId(0), (turn % 3) as u32, turn % 2 == 0);
            let set = &sets[(turn * turn) % sets.len()];
            let total = restricted.turn_to(set, &all, &catalog, &states);
            let fresh = all.among(&catalog, &states, |template| set.contains(template));
            assert_eq!(total, fresh.total());
            let ranks = 0..total;
            assert!(
                ranks
                    .clone()
                    .all(|rank| restricted.find(rank) == fresh.find(rank))
            );
            assert!(restricted.many.len() <= KEPT);
        }
    }
}
