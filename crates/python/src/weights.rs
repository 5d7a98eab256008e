//! The number of actions of each template that the slots allow, kept up to date as slots change.
//!
//! A template's weight is the product of the sizes of the sets its axes draw from, and templates
//! that draw from the same sets are weighed as one group. When a set changes size, only the groups
//! that draw from it are weighed again, and a tree of partial sums finds the template of the k-th
//! allowed action. So a choice costs the logarithm of the number of *kinds* of lines, whatever the
//! number of lines or of concrete actions.

use rustc_hash::FxHashMap;
use testwright_core::{ActionId, Axis, Catalog, PoolId, TemplateId};

use crate::pool_states::{PoolStates, SlotSource};
use crate::shapes::{Dimension, TemplateShapes};

/// Weights of all templates, or of some.
pub(crate) struct Weights {
    /// The groups of templates with equal weights.
    groups: Vec<TemplateGroup>,
    /// The group of each template; an index that does not exist for templates that are left out.
    group_by_template: Vec<u32>,
    /// Partial sums of the groups' total weights.
    sums: PartialSums,
    /// The total weight.
    total: u64,
    /// For each pool the number of filled and of definable slots at the last update.
    pool_sizes: Vec<[u32; 2]>,
    /// For each pool the groups that draw from its filled slots, and from those that may be
    /// defined.
    groups_by_pool: Vec<[Vec<usize>; 2]>,
}

/// Templates whose weight has the same factors. Harnesses with thousands of lines have few kinds of
/// lines, so the change of a slot costs as much as there are kinds.
struct TemplateGroup {
    /// The factors of the weight.
    factors: Factors,
    /// The templates, in ascending order.
    templates: Vec<TemplateId>,
    /// The weight of each of the templates.
    weight: u64,
}

/// The factors of a template's weight.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Factors {
    /// The product of choices, repetitions and slots without condition.
    constant: u64,
    /// The sets whose sizes are the other factors.
    sources: Vec<SlotSource>,
}

impl Weights {
    /// Weighs all templates of a catalog.
    pub(crate) fn new(catalog: &Catalog, states: &PoolStates) -> Weights {
        Weights::from_groups(groups(catalog, states), catalog, states)
    }

    /// Returns the weights of some templates, as if there were no others.
    pub(crate) fn restricted_to(
        &self,
        catalog: &Catalog,
        states: &PoolStates,
        is_in: impl Fn(TemplateId) -> bool,
    ) -> Weights {
        let mut groups: Vec<TemplateGroup> = Vec::new();
        for group in &self.groups {
            let templates = group.templates.iter().copied();
            let templates: Vec<TemplateId> = templates.filter(|one| is_in(*one)).collect();
            if !templates.is_empty() {
                groups.push(TemplateGroup {
                    factors: group.factors.clone(),
                    weight: group.weight_in(states),
                    templates,
                });
            }
        }
        groups.sort_by_key(|group| group.templates[0]);
        Weights::from_groups(groups, catalog, states)
    }

    /// Builds the tables for these groups.
    fn from_groups(groups: Vec<TemplateGroup>, catalog: &Catalog, states: &PoolStates) -> Weights {
        let mut group_by_template = vec![u32::MAX; catalog.templates().len()];
        for (number, group) in groups.iter().enumerate() {
            for template in &group.templates {
                group_by_template[template.0] = number as u32;
            }
        }
        let users_of = |source| {
            let numbers = 0..groups.len();
            let users = numbers.filter(|number| groups[*number].factors.sources.contains(&source));
            users.collect()
        };
        let pools = (0..catalog.pools().len()).map(PoolId);
        let groups_by_pool = pools
            .map(|pool| [SlotSource::Filled(pool), SlotSource::Definable(pool)].map(users_of))
            .collect();
        let weights: Vec<u64> = groups.iter().map(TemplateGroup::total).collect();
        Weights {
            sums: PartialSums::new(&weights),
            total: weights.iter().sum(),
            groups,
            group_by_template,
            pool_sizes: states.sizes().collect(),
            groups_by_pool,
        }
    }

    /// Updates the weights after changes of slots.
    #[inline]
    pub(crate) fn update(&mut self, states: &PoolStates) {
        for (pool, sizes) in states.sizes().enumerate() {
            if sizes != self.pool_sizes[pool] {
                let before = std::mem::replace(&mut self.pool_sizes[pool], sizes);
                for which in 0..sizes.len() {
                    if sizes[which] != before[which] {
                        self.update_groups(pool, which);
                    }
                }
            }
        }
    }

    /// Weighs the groups again that draw from one of a pool's sets.
    fn update_groups(&mut self, pool: usize, which: usize) {
        for number in &self.groups_by_pool[pool][which] {
            let group = &mut self.groups[*number];
            let before = group.total();
            group.weight = group.factors.weight(&self.pool_sizes);
            let difference = group.total().wrapping_sub(before);
            self.sums.add(*number, difference);
            self.total = self.total.wrapping_add(difference);
        }
    }

    /// Returns the number of actions that the slots allow now.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of a template's group. The slots allow actions of all its templates or of
    /// none.
    pub(crate) fn group_of(&self, template: TemplateId) -> u32 {
        self.group_by_template[template.0]
    }

    /// Returns the number of a template's actions that the slots allow now.
    pub(crate) fn template_weight(&self, template: TemplateId) -> u64 {
        let group = self.groups.get(self.group_by_template[template.0] as usize);
        group.map_or(0, |group| group.weight)
    }

    /// Returns the template of the allowed action with this rank, which must be below `total`, and
    /// its rank in the template.
    #[inline]
    pub(crate) fn find(&self, rank: u64) -> (TemplateId, u64) {
        let (number, rest) = self.sums.find(rank);
        let group = &self.groups[number];
        // Divisions dominate the cost here, so those with a known result are left out.
        match group.templates.as_slice() {
            [only] => (*only, rest),
            templates => {
                let (number, rest) = div_rem(rest, group.weight);
                (templates[number as usize], rest)
            }
        }
    }
}

/// Returns the allowed action with this rank among those of a template, and stores its values in
/// `values`.
#[inline]
pub(crate) fn action_at_rank(
    template: TemplateId,
    rank: u64,
    (catalog, shapes, states): (&Catalog, &TemplateShapes, &PoolStates),
    values: &mut Vec<u64>,
) -> ActionId {
    let mut rest = rank;
    let axes = &shapes.shape(template).axes;
    values.clear();
    values.resize(axes.len(), 0);
    let mut index = 0;
    let mut stride = 1;
    for (number, (axis, size)) in axes.iter().enumerate().rev() {
        let set = match axis {
            Dimension::Drawn(source) => Some(states.set(*source)),
            Dimension::Free | Dimension::Repeat => None,
        };
        let mut chosen = rest;
        if number > 0 {
            let allowed = set.map_or(*size, |set| set.count().into());
            (rest, chosen) = div_rem(rest, allowed);
        }
        let value = match (set, axis) {
            (Some(set), _) => set.member(chosen as u32).into(),
            // Equal copies are one action, drawn more often.
            (None, Dimension::Repeat) => 0,
            (None, _) => chosen,
        };
        values[number] = value;
        index += value * stride;
        stride *= size;
    }
    ActionId(catalog.first(template).0 + index)
}

/// Returns quotient and remainder. Small numbers are divided in half the time with 32-bit
/// arithmetic.
#[inline]
fn div_rem(number: u64, by: u64) -> (u64, u64) {
    match (u32::try_from(number), u32::try_from(by)) {
        (Ok(number), Ok(by)) => ((number / by).into(), (number % by).into()),
        _ => (number / by, number % by),
    }
}

/// Groups the templates by the factors of their weights, in order of first occurrence.
fn groups(catalog: &Catalog, states: &PoolStates) -> Vec<TemplateGroup> {
    let mut groups: Vec<TemplateGroup> = Vec::new();
    let mut known: FxHashMap<Factors, usize> = FxHashMap::default();
    for template in (0..catalog.templates().len()).map(TemplateId) {
        let index = *known.entry(factors(catalog, template)).or_insert_with(|| {
            let mut group = TemplateGroup {
                factors: factors(catalog, template),
                templates: Vec::new(),
                weight: 0,
            };
            group.weight = group.weight_in(states);
            groups.push(group);
            groups.len() - 1
        });
        groups[index].templates.push(template);
    }
    groups
}

/// Returns the factors of a template's weight.
fn factors(catalog: &Catalog, template: TemplateId) -> Factors {
    let mut factors = Factors {
        constant: 1,
        sources: Vec::new(),
    };
    if catalog.count(template) == 0 {
        factors.constant = 0;
        return factors;
    }
    for (axis, size) in catalog.templates()[template.0]
        .axes
        .iter()
        .zip(catalog.sizes(template))
    {
        let source = match axis {
            Axis::Slot { pool, role } => PoolStates::source(*pool, *role),
            _ => None,
        };
        match source {
            Some(source) => factors.sources.push(source),
            None => factors.constant *= size,
        }
    }
    factors
}

impl TemplateGroup {
    /// Returns the weight of each template in these states.
    fn weight_in(&self, states: &PoolStates) -> u64 {
        let sizes: Vec<[u32; 2]> = states.sizes().collect();
        self.factors.weight(&sizes)
    }

    /// Returns the weight of all templates of the group.
    fn total(&self) -> u64 {
        self.weight * self.templates.len() as u64
    }
}

impl Factors {
    /// Returns the weight if the sets of pools have these sizes.
    #[inline]
    fn weight(&self, sizes: &[[u32; 2]]) -> u64 {
        let factor = |source: &SlotSource| match source {
            SlotSource::Filled(pool) => sizes[pool.0][0],
            SlotSource::Definable(pool) => sizes[pool.0][1],
        };
        let factors = self.sources.iter().map(factor);
        factors.fold(self.constant, |product, factor| product * u64::from(factor))
    }
}

/// The number of sums that are added up to one of the next level.
const CHILDREN: usize = 16;

/// Partial sums in a wide, flat tree. Changing one weight and finding a rank both cost a logarithm.
/// Most harnesses have few weights and so one level, which fits into one or two cache lines.
struct PartialSums {
    /// The weights, then the sums of up to sixteen neighbors each, then sums of those. The last
    /// level has at most sixteen.
    levels: Vec<Box<[u64]>>,
}

impl PartialSums {
    /// Builds the tree.
    fn new(weights: &[u64]) -> PartialSums {
        let mut levels: Vec<Box<[u64]>> = vec![weights.into()];
        while let Some(last) = levels.last()
            && last.len() > CHILDREN
        {
            let sums = last.chunks(CHILDREN).map(|some| some.iter().sum());
            levels.push(sums.collect());
        }
        PartialSums { levels }
    }

    /// Adds a difference modulo 2⁶⁴, so that it may also be negative.
    #[inline]
    fn add(&mut self, index: usize, difference: u64) {
        let mut index = index;
        for level in &mut self.levels {
            level[index] = level[index].wrapping_add(difference);
            index /= CHILDREN;
        }
    }

    /// Returns the index whose weight covers `rank`, and the offset into it.
    #[inline]
    fn find(&self, rank: u64) -> (usize, u64) {
        let mut index = 0;
        let mut rest = rank;
        for level in self.levels.iter().rev() {
            index *= CHILDREN;
            while rest >= level[index] {
                rest -= level[index];
                index += 1;
            }
        }
        (index, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::PartialSums;

    #[test]
    fn ranks_are_found_by_weight() {
        let mut sums = PartialSums::new(&[2, 0, 3, 1]);
        let found = |sums: &PartialSums| (0..6).map(|rank| sums.find(rank)).collect::<Vec<_>>();
        assert_eq!(
            found(&sums),
            [(0, 0), (0, 1), (2, 0), (2, 1), (2, 2), (3, 0)]
        );
        sums.add(1, 4);
        sums.add(0, 2u64.wrapping_neg());
        assert_eq!(
            found(&sums),
            [(1, 0), (1, 1), (1, 2), (1, 3), (2, 0), (2, 1)]
        );
    }

    #[test]
    fn ranks_are_found_among_many_weights() {
        let weights: Vec<u64> = (0..1000).map(|index| index % 3).collect();
        let mut sums = PartialSums::new(&weights);
        sums.add(998, 5);
        let covered = (0..1000).flat_map(|index| {
            let weight = index as u64 % 3 + if index == 998 { 5 } else { 0 };
            (0..weight).map(move |rest| (index, rest))
        });
        for (rank, expected) in covered.enumerate() {
            assert_eq!(sums.find(rank as u64), expected);
        }
    }
}
