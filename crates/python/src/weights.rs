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
                    weight: group.factors.weight(states),
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
                self.weigh_again(pool, sizes, states);
            }
        }
    }

    /// Takes notice of the changes of a pool's slots.
    fn weigh_again(&mut self, pool: usize, sizes: [u32; 2], states: &PoolStates) {
        let before = std::mem::replace(&mut self.sizes[pool], sizes);
        let changed = (0..sizes.len()).filter(|which| sizes[*which] != before[*which]);
        for number in changed.flat_map(|which| &self.users[pool][which]) {
            let group = &mut self.groups[*number];
            let before = group.total();
            group.weight = group.factors.weight(states);
            let difference = group.total().wrapping_sub(before);
            if difference != 0 {
                self.sums.add(*number, difference);
                self.total = self.total.wrapping_add(difference);
            }
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
        let source = match axis {
            Dimension::Slot(pool, role) => PoolStates::source(*pool, *role),
            _ => None,
        };
        let allowed = source.map_or(*size, |source| states.set(source).count().into());
        let chosen = match place {
            0 => rest,
            _ => {
                let (quotient, remainder) = divided(rest, allowed);
                rest = quotient;
                remainder
            }
        };
        let value = match (axis, source) {
            (_, Some(source)) => states.set(source).member(chosen as u32).into(),
            // Equal copies are one action, drawn more often.
            (Dimension::Repeat, None) => 0,
            (_, None) => chosen,
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
            let factors = factors(catalog, template);
            let weight = factors.weight(states);
            groups.push(Group {
                factors,
                templates: Vec::new(),
                weight,
            });
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
    fn total(&self) -> u64 {
        self.weight * self.templates.len() as u64
    }
}

impl Factors {
    fn weight(&self, states: &PoolStates) -> u64 {
        self.sources.iter().fold(self.constant, |product, source| {
            product * u64::from(states.set(*source).count())
        })
    }
}

/// Partial sums in a tree (Fenwick 1994): changing one weight and finding a rank both cost a logarithm.
struct PartialSums {
    tree: Vec<u64>,
}

impl PartialSums {
    fn new(weights: &[u64]) -> PartialSums {
        let mut sums = PartialSums {
            tree: vec![0; weights.len() + 1],
        };
        for (place, weight) in weights.iter().enumerate() {
            sums.add(place, *weight);
        }
        sums
    }

    /// Adds a difference modulo 2⁶⁴, so that it may also be negative.
    fn add(&mut self, place: usize, difference: u64) {
        let mut node = place + 1;
        while node < self.tree.len() {
            self.tree[node] = self.tree[node].wrapping_add(difference);
            node += node & node.wrapping_neg();
        }
    }

    /// The place whose weight covers `rank`, and how far into it.
    fn find(&self, rank: u64) -> (usize, u64) {
        let mut place = 0;
        let mut rest = rank;
        let mut step = (self.tree.len() - 1)
            .checked_ilog2()
            .map_or(0, |log| 1 << log);
        while step > 0 {
            if place + step < self.tree.len() && self.tree[place + step] <= rest {
                place += step;
                rest -= self.tree[place];
            }
            step /= 2;
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
}
