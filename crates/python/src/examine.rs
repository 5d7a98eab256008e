//! The parts of a state that help to find the step that led to a failure.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use testwright_core::{
    ActionId, Axis, Equivalence, Examination, Fingerprint, Outcome, PoolId, SlotComparison,
    SlotRole, System, TemplateId,
};

use crate::failures::LineRecorder;
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
            slots: self.compared_slots().unwrap_or_default(),
            constants: self.constant_pools(),
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

    /// Compares all slots that hold something with their twins.
    fn compared_slots(&self) -> PyResult<Vec<SlotComparison>> {
        let mut compared = Vec::new();
        for (number, declared) in self.context.harness.pools.iter().enumerate() {
            let pool = PoolId(number);
            let distance = self.context.layout.twin_distance(pool);
            for slot in (0..declared.size).filter(|_| declared.reference) {
                let position = self.context.layout.position(pool, slot);
                let value = self.context.slots.get_item(position)?;
                let twin = self.context.slots.get_item(position + distance)?;
                if value.is_none() && twin.is_none() {
                    continue;
                }
                let support = &self.context.support;
                let found = support.call_method1("compare_with_twin", (value, twin))?;
                let (differences, is_comparable) = found.extract()?;
                compared.push(SlotComparison {
                    pool,
                    slot,
                    differences,
                    is_comparable,
                });
            }
        }
        Ok(compared)
    }

    /// Returns the pools that are only filled with constants.
    fn constant_pools(&self) -> Vec<PoolId> {
        let mut definitions: BTreeMap<PoolId, Vec<String>> = BTreeMap::new();
        let catalog = &self.context.harness.catalog;
        for (number, template) in catalog.templates().iter().enumerate() {
            for axis in &template.axes {
                if let Axis::Slot {
                    pool,
                    role: SlotRole::Definition,
                } = axis
                {
                    let template = TemplateId(number);
                    let texts = (catalog.count(template) > 0)
                        .then(|| self.concrete_texts(catalog.first(template)).ok())
                        .flatten();
                    let statement = texts.map_or_else(String::new, |texts| texts.statement);
                    definitions.entry(*pool).or_default().push(statement);
                }
            }
        }
        let support = &self.context.support;
        let is_constant = |statements: &Vec<String>| {
            let answer = support.call_method1("are_constants", (statements.clone(),));
            answer
                .and_then(|answer| answer.is_truthy())
                .unwrap_or(false)
        };
        definitions.retain(|_, statements| is_constant(statements));
        definitions.into_keys().collect()
    }

    /// Takes a step while the lines that it executes are recorded. Code of the harness and of the
    /// standard library does not count.
    pub(crate) fn traced_step(&mut self, action: ActionId, lines: &mut Vec<String>) -> Outcome {
        let path = &self.context.path;
        let Ok(recorder) = LineRecorder::start(self.context.python, path, false) else {
            return self.step(action);
        };
        let outcome = self.step(action);
        lines.extend(recorder.stop());
        outcome
    }
}
