//! The dimensions in which the actions of a template differ, shared by all templates that agree in
//! them.
//!
//! A harness with ten thousand lines has few kinds of lines. The data that a step needs about a
//! template is kept here in a compact form: with that many templates, fetching it from all over the
//! memory would take longer than the step.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use testwright_core::{Axis, Catalog, PoolId, SlotRole, TemplateId};

use crate::pool_states::{PoolStates, SlotSource};

/// The shapes of all templates.
pub(crate) struct TemplateShapes {
    /// The distinct shapes.
    shapes: Vec<TemplateShape>,
    /// The index of each template's shape.
    by_template: Vec<u32>,
}

/// The variable parts of a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TemplateShape {
    /// The axes, slowest first, each with its size.
    pub(crate) axes: Vec<(Dimension, u64)>,
    /// The axes that choose a slot: first uses, then definitions.
    pub(crate) slots: Vec<SlotAxis>,
    /// Two axes may use the same slot.
    pub(crate) may_repeat: bool,
}

/// The kind of an axis for drawing a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dimension {
    /// A slot from this set.
    Drawn(SlotSource),
    /// Any slot or alternative.
    Free,
    /// Equal copies of one action.
    Repeat,
}

/// An axis that chooses a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SlotAxis {
    /// The number of the axis.
    pub(crate) axis: usize,
    /// The pool of the slot.
    pub(crate) pool: PoolId,
    /// The role of the slot in the line.
    pub(crate) role: SlotRole,
}

impl TemplateShapes {
    /// Computes the shapes of all templates.
    pub(crate) fn new(catalog: &Catalog) -> TemplateShapes {
        let mut known: FxHashMap<TemplateShape, u32> = FxHashMap::default();
        let mut shapes = Vec::new();
        let mut by_template = Vec::new();
        for template in (0..catalog.templates().len()).map(TemplateId) {
            let shape = TemplateShape::new(catalog, template);
            let index = *known.entry(shape).or_insert_with_key(|shape| {
                shapes.push(shape.clone());
                shapes.len() as u32 - 1
            });
            by_template.push(index);
        }
        TemplateShapes {
            shapes,
            by_template,
        }
    }

    /// Returns the shape of a template.
    #[inline]
    pub(crate) fn shape(&self, template: TemplateId) -> &TemplateShape {
        &self.shapes[self.by_template[template.0] as usize]
    }
}

impl TemplateShape {
    /// Computes the shape of a template.
    fn new(catalog: &Catalog, template: TemplateId) -> TemplateShape {
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
        slots.sort_by_key(|slot| slot.role == SlotRole::Definition);
        let uses = || slots.iter().filter(|slot| slot.role.is_use());
        let pools: BTreeSet<PoolId> = uses().map(|slot| slot.pool).collect();
        TemplateShape {
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
