//! How many actions of each template are allowed by the slots, kept up to date as slots change.
//!
//! A template's weight is the product of the sizes of the sets its axes draw from, and templates that draw from
//! the same sets are weighed as one. When a set changes size, only what draws from it is weighed again, and a
//! tree of partial sums finds the template of the k-th allowed action. So a choice costs the logarithm of the
//! number of *kinds* of lines, whatever the number of lines or of concrete actions.

use rustc_hash::FxHashMap;
use testwright_core::{ActionId, Axis, Catalog, PoolId, TemplateId};

use crate::pool_states::{PoolStates, Source};
use crate::shapes::{Dimension, Shapes};

/// Weights of all templates, or of some.
pub(crate) struct Weights {
    groups: Vec<Group>,
    /// For each template its group; for those that are left out, one that does not exist.
    of_templates: Vec<u32>,
    sums: PartialSums,
    total: u64,
    /// For each pool how many slots were filled and how many could be defined, when that was last looked at.
    sizes: Vec<[u32; 2]>,
    /// For each pool the groups that draw from its filled slots, and from those that may be defined.
    users: Vec<[Vec<usize>; 2]>,
}

/// Templates whose weight is made of the same factors. Harnesses with thousands of lines have few kinds of
/// lines, so a change of a slot costs as much as there are kinds.
struct Group {
    factors: Factors,
    templates: Vec<TemplateId>,
    /// The weight of each of the templates.
    weight: u64,
}

/// What a template's weight is made of.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Factors {
    /// Choices, repetitions and slots without condition.
    constant: u64,
    sources: Vec<Source>,
}

impl Weights {
    pub(crate) fn new(catalog: &Catalog, states: &PoolStates) -> Weights {
        Weights::of_groups(groups(catalog, states), catalog, states)
    }

    /// The weights of some templates, as if there were no others.
    pub(crate) fn among(
        &self,
        catalog: &Catalog,
        states: &PoolStates,
        is_in: impl Fn(TemplateId) -> bool,
    ) -> Weights {
        let mut groups: Vec<Group> = Vec::new();
        for group in &self.groups {
            let templates = group.templates.iter().copied();
            let templates: Vec<TemplateId> = templates.filter(|one| is_in(*one)).collect();
            if !templates.is_empty() {
                groups.push(Group {
                    factors: group.factors.clone(),
                    weight: group.weight_in(states),
                    templates,
                });
            }
        }
        groups.sort_by_key(|group| group.templates[0]);
        Weights::of_groups(groups, catalog, states)
    }

    fn of_groups(groups: Vec<Group>, catalog: &Catalog, states: &PoolStates) -> Weights {
        let mut of_templates = vec![u32::MAX; catalog.templates().len()];
        for (number, group) in groups.iter().enumerate() {
            for template in &group.templates {
                of_templates[template.0] = number as u32;
            }
        }
        let users_of = |source| {
            let numbers = 0..groups.len();
            let users = numbers.filter(|number| groups[*number].factors.sources.contains(&source));
            users.collect()
        };
        let pools = (0..catalog.pools().len()).map(PoolId);
        let users = pools
            .map(|pool| [Source::Filled(pool), Source::Definable(pool)].map(users_of))
            .collect();
        let weights: Vec<u64> = groups.iter().map(Group::total).collect();
        Weights {
            sums: PartialSums::new(&weights),
            total: weights.iter().sum(),
            groups,
            of_templates,
            sizes: states.sizes().collect(),
            users,
        }
    }

    /// Takes notice of all changes of slots since the last call.
    #[inline]
    pub(crate) fn update(&mut self, states: &PoolStates) {
        for (pool, sizes) in states.sizes().enumerate() {
            if sizes != self.sizes[pool] {
                let before = std::mem::replace(&mut self.sizes[pool], sizes);
                for which in 0..sizes.len() {
                    if sizes[which] != before[which] {
                        self.weigh_users(pool, which);
                    }
                }
            }
        }
    }

    /// Weighs again what draws from one of a pool's sets.
    fn weigh_users(&mut self, pool: usize, which: usize) {
        for number in &self.users[pool][which] {
            let group = &mut self.groups[*number];
            let before = group.total();
            group.weight = group.factors.weight(&self.sizes);
            let difference = group.total().wrapping_sub(before);
            self.sums.add(*number, difference);
            self.total = self.total.wrapping_add(difference);
        }
    }

    /// The number of actions that the slots allow now.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The number of a template's group: the slots allow some of all its templates or of none.
    pub(crate) fn group_of(&self, template: TemplateId) -> u32 {
        self.of_templates[template.0]
    }

    /// The number of actions of a template that the slots allow now.
    pub(crate) fn of(&self, template: TemplateId) -> u64 {
        let group = self.groups.get(self.of_templates[template.0] as usize);
        group.map_or(0, |group| group.weight)
    }

    /// The template of the allowed action with this rank, which must be below `total`, and its rank in the template.
    #[inline]
    pub(crate) fn find(&self, rank: u64) -> (TemplateId, u64) {
        let (number, rest) = self.sums.find(rank);
        let group = &self.groups[number];
        // Divisions are what takes time here, so those with a known result are left out.
        match group.templates.as_slice() {
            [only] => (*only, rest),
            templates => {
                let (number, rest) = divided(rest, group.weight);
                (templates[number as usize], rest)
            }
        }
    }
}

/// The allowed action of a template with this rank among those of the template; its values are left in `values`.
#[inline]
pub(crate) fn action_of(
    template: TemplateId,
    rank: u64,
    (catalog, shapes, states): (&Catalog, &Shapes, &PoolStates),
    values: &mut Vec<u64>,
) -> ActionId {
    let mut rest = rank;
    let axes = &shapes.of(template).axes;
    values.clear();
    values.resize(axes.len(), 0);
    let mut index = 0;
    let mut stride = 1;
    for (place, (axis, size)) in axes.iter().enumerate().rev() {
        let set = match axis {
            Dimension::Drawn(source) => Some(states.set(*source)),
            Dimension::Free | Dimension::Repeat => None,
        };
        let mut chosen = rest;
        if place > 0 {
            let allowed = set.map_or(*size, |set| set.count().into());
            (rest, chosen) = divided(rest, allowed);
        }
        let value = match (set, axis) {
            (Some(set), _) => set.member(chosen as u32).into(),
            // Equal copies are one action, drawn more often.
            (None, Dimension::Repeat) => 0,
            (None, _) => chosen,
        };
        values[place] = value;
        index += value * stride;
        stride *= size;
    }
    ActionId(catalog.first(template).0 + index)
}

/// Quotient and remainder. Small numbers are divided in half the time if the processor is told that they are small.
#[inline]
fn divided(number: u64, by: u64) -> (u64, u64) {
    match (u32::try_from(number), u32::try_from(by)) {
        (Ok(number), Ok(by)) => ((number / by).into(), (number % by).into()),
        _ => (number / by, number % by),
    }
}

/// The templates by what their weights are made of, in order of first occurrence.
fn groups(catalog: &Catalog, states: &PoolStates) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: FxHashMap<Factors, usize> = FxHashMap::default();
    for template in (0..catalog.templates().len()).map(TemplateId) {
        let place = *known.entry(factors(catalog, template)).or_insert_with(|| {
            let mut group = Group {
                factors: factors(catalog, template),
                templates: Vec::new(),
                weight: 0,
            };
            group.weight = group.weight_in(states);
            groups.push(group);
            groups.len() - 1
        });
        groups[place].templates.push(template);
    }
    groups
}

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

impl Group {
    fn weight_in(&self, states: &PoolStates) -> u64 {
        let sizes: Vec<[u32; 2]> = states.sizes().collect();
        self.factors.weight(&sizes)
    }

    fn total(&self) -> u64 {
        self.weight * self.templates.len() as u64
    }
}

impl Factors {
    /// The weight where the sets of pools have these sizes.
    #[inline]
    fn weight(&self, sizes: &[[u32; 2]]) -> u64 {
        let factor = |source: &Source| match source {
            Source::Filled(pool) => sizes[pool.0][0],
            Source::Definable(pool) => sizes[pool.0][1],
        };
        let factors = self.sources.iter().map(factor);
        factors.fold(self.constant, |product, factor| product * u64::from(factor))
    }
}

/// How many sums are added up to one of the next level.
const CHILDREN: usize = 16;

/// Partial sums in a wide, flat tree: changing one weight and finding a rank both cost a logarithm, and for the few
/// weights that most harnesses have there is one level, which lies in one or two cache lines.
struct PartialSums {
    /// The weights, then the sums of up to sixteen neighbours each, then sums of those. The last level has no more than
    /// sixteen.
    levels: Vec<Box<[u64]>>,
}

impl PartialSums {
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
    fn add(&mut self, place: usize, difference: u64) {
        let mut place = place;
        for level in &mut self.levels {
            level[place] = level[place].wrapping_add(difference);
            place /= CHILDREN;
        }
    }

    /// The place whose weight covers `rank`, and how far into it.
    #[inline]
    fn find(&self, rank: u64) -> (usize, u64) {
        let mut place = 0;
        let mut rest = rank;
        for level in self.levels.iter().rev() {
            place *= CHILDREN;
            while rest >= level[place] {
                rest -= level[place];
                place += 1;
            }
        }
        (place, rest)
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
        let weights: Vec<u64> = (0..1000).map(|place| place % 3).collect();
        let mut sums = PartialSums::new(&weights);
        sums.add(998, 5);
        let covered = (0..1000).flat_map(|place| {
            let weight = place as u64 % 3 + if place == 998 { 5 } else { 0 };
            (0..weight).map(move |rest| (place, rest))
        });
        for (rank, expected) in covered.enumerate() {
            assert_eq!(sums.find(rank as u64), expected);
        }
    }
}
