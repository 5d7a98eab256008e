//! In what the actions of a template differ, shared by all templates that are alike in that.
//!
//! A harness with ten thousand lines has few kinds of lines. What a step needs to know about a template is kept here,
//! close together: with that many templates, fetching it from all over the memory would take longer than the step.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use testwright_core::{Axis, Catalog, PoolId, Role, TemplateId};

use crate::pool_states::{PoolStates, Source};

/// The shapes of all templates.
pub(crate) struct Shapes {
    shapes: Vec<Shape>,
    /// For each template the place of its shape.
    of_templates: Vec<u32>,
}

/// What may vary in a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// The axes, the slowest first, each with its size.
    pub(crate) axes: Vec<(Dimension, u64)>,
    /// The axes on which a slot is chosen: those on which one is used, then those on which one is defined.
    pub(crate) slots: Vec<SlotAxis>,
    /// The same slot may be used on two axes.
    pub(crate) may_repeat: bool,
}

/// An axis, as far as drawing from it is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dimension {
    /// One of the slots that are in some state.
    Drawn(Source),
    /// Any slot, or any alternative.
    Free,
    /// Equal copies.
    Repeat,
}

/// An axis on which a slot is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SlotAxis {
    pub(crate) axis: usize,
    pub(crate) pool: PoolId,
    pub(crate) role: Role,
}

impl Shapes {
    pub(crate) fn new(catalog: &Catalog) -> Shapes {
        let mut known: FxHashMap<Shape, u32> = FxHashMap::default();
        let mut shapes = Vec::new();
        let mut of_templates = Vec::new();
        for template in (0..catalog.templates().len()).map(TemplateId) {
            let shape = Shape::new(catalog, template);
            let place = *known.entry(shape).or_insert_with_key(|shape| {
                shapes.push(shape.clone());
                shapes.len() as u32 - 1
            });
            of_templates.push(place);
        }
        Shapes {
            shapes,
            of_templates,
        }
    }

    #[inline]
    pub(crate) fn of(&self, template: TemplateId) -> &Shape {
        &self.shapes[self.of_templates[template.0] as usize]
    }
}

impl Shape {
    fn new(catalog: &Catalog, template: TemplateId) -> Shape {
        let axes = &catalog.templates()[template.0].axes;
        let dimension = |axis: &Axis| match axis {
            Axis::Slot { pool, role } => {
                PoolStates::source(*pool, *role).map_or(Dimension::Free, Dimension::Drawn)
            }
            Axis::Choice(_) => Dimension::Free,
            Axis::Repeat(_) => Dimension::Repeat,
        };
        let slot = |(axis, dimension): (usize, &Axis)| match dimension {
            Axis::Slot { pool, role } => Some(SlotAxis {
                axis,
                pool: *pool,
                role: *role,
            }),
            _ => None,
        };
        let mut slots: Vec<SlotAxis> = axes.iter().enumerate().filter_map(slot).collect();
        slots.sort_by_key(|slot| slot.role == Role::Definition);
        let uses = || slots.iter().filter(|slot| slot.role.is_use());
        let pools: BTreeSet<PoolId> = uses().map(|slot| slot.pool).collect();
        Shape {
            may_repeat: pools.len() < uses().count(),
            slots,
            axes: axes
                .iter()
                .map(dimension)
                .zip(catalog.sizes(template).iter().copied())
                .collect(),
        }
    }
}
