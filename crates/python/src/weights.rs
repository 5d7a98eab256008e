//! How many actions of each template are allowed by the slots, kept up to date as slots change.
//!
//! A template's weight is the product of the sizes of the sets its axes draw from. When a set changes size,
//! only the templates that draw from it are weighed again, and a tree of partial sums finds the template of
//! the k-th allowed action. So a choice costs the logarithm of the number of *lines*, whatever the number of
//! concrete actions.

use testwright_core::{ActionId, Axis, Catalog, PoolId, TemplateId};

use crate::pool_states::{PoolStates, Source};

/// Weights of all templates.
pub(crate) struct Weights {
    templates: Vec<Factors>,
    current: Vec<u64>,
    sums: PartialSums,
    total: u64,
    watched: Vec<Watched>,
}

/// What a template's weight is made of.
struct Factors {
    /// Choices, repetitions and slots without condition.
    constant: u64,
    sources: Vec<Source>,
}

/// A source, its size when it was last looked at, and the templates that draw from it.
struct Watched {
    source: Source,
    size: u32,
    templates: Vec<usize>,
}

impl Weights {
    pub(crate) fn new(catalog: &Catalog, states: &PoolStates) -> Weights {
        let templates: Vec<Factors> = (0..catalog.templates().len())
            .map(|number| factors(catalog, TemplateId(number)))
            .collect();
        let mut watched: Vec<Watched> = Vec::new();
        for pool in (0..catalog.pools().len()).map(PoolId) {
            for source in [Source::Filled(pool), Source::Definable(pool)] {
                let users = (0..templates.len())
                    .filter(|number| templates[*number].sources.contains(&source));
                watched.push(Watched {
                    source,
                    size: states.set(source).count(),
                    templates: users.collect(),
                });
            }
        }
        let current: Vec<u64> = templates
            .iter()
            .map(|template| template.weight(states))
            .collect();
        let sums = PartialSums::new(&current);
        let total = current.iter().sum();
        Weights {
            templates,
            current,
            sums,
            total,
            watched,
        }
    }

    /// Takes notice of all changes of slots since the last call.
    pub(crate) fn update(&mut self, states: &PoolStates) {
        for watched in &mut self.watched {
            let size = states.set(watched.source).count();
            if size == watched.size {
                continue;
            }
            watched.size = size;
            for number in &watched.templates {
                let weight = self.templates[*number].weight(states);
                let before = std::mem::replace(&mut self.current[*number], weight);
                if weight != before {
                    self.sums.add(*number, weight.wrapping_sub(before));
                    self.total = self.total.wrapping_add(weight).wrapping_sub(before);
                }
            }
        }
    }

    /// The number of actions that the slots allow now.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The allowed action with this rank; `rank` must be below `total`.
    pub(crate) fn action(
        &self,
        catalog: &Catalog,
        states: &PoolStates,
        rank: u64,
        values: &mut Vec<u64>,
    ) -> ActionId {
        let (number, mut rest) = self.sums.find(rank);
        let template = TemplateId(number);
        let axes = &catalog.templates()[number].axes;
        values.clear();
        values.resize(axes.len(), 0);
        for (place, axis) in axes.iter().enumerate().rev() {
            let source = match axis {
                Axis::Slot { pool, role } => PoolStates::source(*pool, *role),
                _ => None,
            };
            let size = source.map_or(catalog.sizes(template)[place], |source| {
                states.set(source).count().into()
            });
            let chosen = rest % size;
            rest /= size;
            values[place] = match (axis, source) {
                (_, Some(source)) => states.set(source).member(chosen as u32).into(),
                // Equal copies are one action, drawn more often.
                (Axis::Repeat(_), None) => 0,
                (_, None) => chosen,
            };
        }
        catalog.action(template, values)
    }
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
