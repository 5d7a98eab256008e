//! Actions that only store a literal in a slot: `<int> := <[1..20]>`.
//!
//! Most steps of most harnesses are of this kind. They only store an object in a list, and calling
//! a function for that would take ten times as long.

use pyo3::prelude::*;
use testwright_core::{Axis, PoolId};
use testwright_lang::harness::{ActionTemplate, CodePart};

use crate::call::{self, Operands};
use crate::context::HarnessContext;
use crate::plan::{FillPlan, FunctionArgument};

/// A literal and the slot to store it in.
#[derive(Clone, Copy)]
pub(crate) struct LiteralAssignment {
    /// The pool of the slot.
    pool: PoolId,
    /// The axis that chooses the slot.
    slot: usize,
    /// The axis and kind of the literal.
    value: FunctionArgument,
}

impl LiteralAssignment {
    /// Returns the assignment that an action consists of, or `None` if the action does anything
    /// else.
    pub(crate) fn from_action(action: &ActionTemplate) -> Option<LiteralAssignment> {
        let has_no_checks =
            action.post.is_none() && action.pre_values.is_empty() && action.expect.is_none();
        let [
            CodePart::Slot {
                axis: slot,
                twin: false,
                in_string: false,
            },
            CodePart::Text(operator),
            CodePart::Choice {
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
        (has_no_checks && operator.trim() == "=").then_some(LiteralAssignment {
            pool,
            slot: *slot,
            value: FunctionArgument::new(&action.axes, *value)?,
        })
    }

    /// Stores the value in the slot that `values` choose.
    #[inline]
    pub(crate) fn run<'py>(
        self,
        context: &HarnessContext<'py>,
        plan: &FillPlan,
        values: &[u64],
        operands: &mut Operands<'py>,
    ) -> PyResult<()> {
        let value = call::argument(context, plan, self.value, values, operands)?;
        let position = context.layout.position(self.pool, values[self.slot] as u32);
        context.slots.set_item(position, value)
    }
}
