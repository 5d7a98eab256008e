//! Weights of some templates: for strategies that do without the others, for a test or for a step.

use testwright_core::{Catalog, TemplateId, TemplateSet};

use crate::pool_states::PoolStates;
use crate::weights::Weights;

/// Up to how many templates are weighed one by one. Choosing by class asks for other ones at each step, mostly for a
/// single one; swarm testing asks for the same many ones all through a test.
const FEW: usize = 16;

/// The weights of the templates that were last asked for.
#[derive(Default)]
pub(crate) struct Restricted {
    few: Vec<(TemplateId, u64)>,
    many: Option<(TemplateSet, Weights)>,
    is_few: bool,
}

impl Restricted {
    /// Turns to these templates, and says how many of their actions the slots allow now. `all` must be up to date.
    ///
    /// Costs as much as there are templates if they are many and others than last time.
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
        match &mut self.many {
            Some((known, weights)) if known == set => {
                weights.update(states);
                weights.total()
            }
            many => {
                let weights = Weights::among(catalog, states, |template| set.contains(template));
                let total = weights.total();
                *many = Some((set.clone(), weights));
                total
            }
        }
    }

    /// As [`Weights::find`], among the templates turned to.
    pub(crate) fn find(&self, rank: u64) -> (TemplateId, u64) {
        if let (false, Some((_, weights))) = (self.is_few, &self.many) {
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
