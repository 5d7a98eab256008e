//! The parts of a state that help to find the step that led to a failure.

use pyo3::prelude::*;
use testwright_core::{
    ActionId, Axis, Equivalence, Examination, Fingerprint, Outcome, PoolId, SlotRole, System,
    TemplateId,
};

use crate::system::PythonSystem;

/// The maximum number of actions of one template that are tried as observers.
const MAX_TRIED: u64 = 64;

/// The maximum number of observers of one template.
const MAX_OBSERVERS: usize = 4;

impl PythonSystem<'_> {
    /// Examines the current state.
    pub(crate) fn examination(&mut self) -> Examination {
        Examination {
            observers: self.observers(),
            state: self.fingerprint(Equivalence::Equal).ok(),
            agrees_with_reference: self.agrees_with_reference().unwrap_or(None),
            violations: self.checks.violations(&self.context, &self.states),
        }
    }

    /// Returns enabled actions whose result is checked, a few of each line.
    fn observers(&mut self) -> Vec<ActionId> {
        let mut observers = Vec::new();
        for number in 0..self.actions().templates().len() {
            let template = TemplateId(number);
            if !self.is_observer(template) {
                continue;
            }
            let first = self.actions().first(template).0;
            let end = first + self.actions().count(template).min(MAX_TRIED);
            let enabled = (first..end)
                .map(ActionId)
                .filter(|action| self.is_enabled(*action));
            observers.extend(enabled.take(MAX_OBSERVERS).collect::<Vec<_>>());
        }
        observers
    }

    /// Returns true if the result of a line is checked and not stored in a slot.
    fn is_observer(&self, template: TemplateId) -> bool {
        let catalog = &self.context.harness.catalog;
        let defines = |axis: &Axis| {
            matches!(
                axis,
                Axis::Slot {
                    role: SlotRole::Definition,
                    ..
                }
            )
        };
        if catalog.templates()[template.0].axes.iter().any(defines) || catalog.count(template) == 0
        {
            return false;
        }
        let line = &self.context.harness.actions[template.0];
        line.post.is_some()
            || line.expect.is_some()
            || self
                .concrete_texts(catalog.first(template))
                .is_ok_and(|texts| texts.compared)
    }

    /// Returns whether all slots hold the same data as their twins; `None` if there is nothing to
    /// compare.
    fn agrees_with_reference(&self) -> PyResult<Option<bool>> {
        let mut pairs = Vec::new();
        for (number, declared) in self.context.harness.pools.iter().enumerate() {
            let pool = PoolId(number);
            let distance = self.context.layout.twin_distance(pool);
            for slot in (0..declared.size).filter(|_| declared.reference) {
                let position = self.context.layout.position(pool, slot);
                let value = self.context.slots.get_item(position)?;
                let twin = self.context.slots.get_item(position + distance)?;
                if !(value.is_none() && twin.is_none()) {
                    pairs.push((value, twin));
                }
            }
        }
        if pairs.is_empty() {
            return Ok(None);
        }
        self.context
            .support
            .call_method1("hold_same_data", (pairs,))?
            .extract()
            .map(Some)
    }

    /// Takes a step while the lines that it executes are recorded. Code of the harness and of the
    /// standard library does not count.
    pub(crate) fn traced_step(&mut self, action: ActionId, lines: &mut Vec<String>) -> Outcome {
        let recorder = self
            .context
            .support
            .getattr("LineRecorder")
            .and_then(|class| class.call1((&self.context.path,)));
        let Ok(recorder) = recorder else {
            return self.step(action);
        };
        let recording = recorder.call_method0("start");
        let outcome = self.step(action);
        let executed = recording.and_then(|_| recorder.call_method0("stop"));
        lines.extend(
            executed
                .and_then(|executed| executed.extract::<Vec<String>>())
                .unwrap_or_default(),
        );
        outcome
    }
}
