//! Actions that do nothing but put a literal into a slot: `<int> := <[1..20]>`.
//!
//! Most steps of most harnesses are of that kind, and all that is to be done is to store an object in a list. Calling a
//! function for it would take ten times as long, so nobody does.

use pyo3::prelude::*;
use testwright_core::{Axis, PoolId};
use testwright_lang::harness::{Action, Part};

use crate::call::{self, Operands};
use crate::context::Context;
use crate::plan::{Argument, Plan};

/// What is put where.
#[derive(Clone, Copy)]
pub(crate) struct Assignment {
    pool: PoolId,
    /// The axis on which the slot is chosen.
    slot: usize,
    value: Argument,
}

impl Assignment {
    /// `None` if the statement, or what belongs to it, is anything else.
    pub(crate) fn of(action: &Action) -> Option<Assignment> {
        let stands_alone =
            action.post.is_none() && action.pre_values.is_empty() && action.expect.is_none();
        let [
            Part::Slot {
                axis: slot,
                twin: false,
                in_string: false,
            },
            Part::Text(between),
            Part::Choice {
                axis: value,
                is_operand: true,
            },
        ] = action.statement.parts.as_slice()
        else {
            return None;
        };
        let Axis::Slot { pool, .. } = action.axes[*slot] else {
            return None;
        };
        (stands_alone && between.trim() == "=").then_some(Assignment {
            pool,
            slot: *slot,
            value: Argument::new(&action.axes, *value)?,
        })
    }

    #[inline]
    pub(crate) fn run<'py>(
        self,
        context: &Context<'py>,
        plan: &Plan,
        values: &[u64],
        operands: &mut Operands<'py>,
    ) -> PyResult<()> {
        let value = call::argument(context, plan, self.value, values, operands)?;
        let place = context.layout.place(self.pool, values[self.slot] as u32);
        context.slots.set_item(place, value)
    }
}
