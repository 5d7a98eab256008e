//! Lines of a harness, with their code as Python.

use testwright_core::{Axis, SlotRole};
use testwright_lang::harness::{ActionTemplate, CodeLine, Fragment, Harness};
use testwright_source::tree::{Expression, Statement, StatementKind};

use super::fragment::{Code, Holes, alternatives};
use crate::block::LineRange;

/// An action whose holes are names in its Python code.
pub(super) struct HarnessStep<'h> {
    pub(super) axes: &'h [Axis],
    pub(super) holes: Holes,
    pub(super) guard: Option<Code<Expression>>,
    pub(super) body: Code<Vec<Statement>>,
    pub(super) post: Option<Code<Expression>>,
    /// Exceptions that do not count as failures, as they are written.
    pub(super) expected: Vec<String>,
    pub(super) line: usize,
    pub(super) last_line: usize,
}

/// Returns an action once for each alternative of its choices between pieces of code.
pub(super) fn steps<'h>(harness: &'h Harness, action: &'h ActionTemplate) -> Vec<HarnessStep<'h>> {
    let fragments: Vec<&Fragment> = [&action.statement]
        .into_iter()
        .chain(action.guard.as_ref())
        .chain(action.post.as_ref())
        .chain(&action.pre_values)
        .collect();
    let all = alternatives(harness, &action.axes, &fragments);
    let step = |holes: Holes| {
        let pre = &action.pre_values;
        HarnessStep {
            guard: action
                .guard
                .as_ref()
                .map(|guard| holes.expression(guard, pre)),
            body: holes.statements(&action.statement, pre),
            post: action.post.as_ref().map(|post| holes.expression(post, pre)),
            axes: &action.axes,
            holes,
            expected: action
                .expected
                .iter()
                .chain(&action.warnings)
                .cloned()
                .collect(),
            line: action.line,
            last_line: action.line,
        }
    };
    all.into_iter().map(step).collect()
}

/// Returns a line that is not an action: the statements of `init:`, or the expression of
/// `property:`.
pub(super) fn line<'h>(harness: &'h Harness, line: &'h CodeLine) -> HarnessStep<'h> {
    let mut all = alternatives(harness, &line.axes, &[&line.code]);
    let holes = all.pop().unwrap_or_default();
    HarnessStep {
        guard: Some(holes.expression(&line.code, &[])),
        body: holes.statements(&line.code, &[]),
        post: None,
        axes: &line.axes,
        holes,
        expected: vec![],
        line: line.line,
        last_line: line.line,
    }
}

pub(super) fn lines<'h>(harness: &'h Harness, all: &'h [CodeLine]) -> Vec<HarnessStep<'h>> {
    all.iter().map(|one| line(harness, one)).collect()
}

impl HarnessStep<'_> {
    /// Returns the axis that the action fills, and its value.
    pub(super) fn defines(&self) -> Option<(usize, &Expression)> {
        let [statement] = self.body.code.as_ref()?.as_slice() else {
            return None;
        };
        let StatementKind::Assign { targets, value } = &statement.kind else {
            return None;
        };
        let [target] = targets.as_slice() else {
            return None;
        };
        let axis = Holes::axis_of(target.as_name()?)?;
        let is_slot = matches!(self.axes.get(axis), Some(Axis::Slot { .. }));
        is_slot.then_some((axis, value))
    }

    /// Returns true if the slot of an axis gets its first value, or replaces one that was used
    /// (`:=`).
    pub(super) fn is_new(&self, axis: usize) -> bool {
        matches!(
            self.axes.get(axis),
            Some(Axis::Slot {
                role: SlotRole::Definition,
                ..
            })
        )
    }

    /// Returns the axes whose slots must hold a value, in order.
    pub(super) fn used(&self) -> Vec<usize> {
        let is_used = |axis: &Axis| {
            matches!(
                axis,
                Axis::Slot {
                    role: SlotRole::Use | SlotRole::SilentUse,
                    ..
                }
            )
        };
        let all = self.axes.iter().enumerate();
        all.filter(|(_, axis)| is_used(axis))
            .map(|(at, _)| at)
            .collect()
    }

    pub(super) fn lines(&self) -> LineRange {
        self.line..=self.last_line.max(self.line)
    }
}
