//! Assertions about generators: step by step, or all of their items at once.

use super::super::build::BuildError;
use super::super::code::PythonCode;
use super::super::plan::{ActualValue, Assertion, ComparisonKind, Exercise, StepCheck};
use super::Verifier;
use crate::recording::{GeneratorStep, StepAction, StepOutcome};
use crate::value::{ImportPath, NodeId, Value};

/// The maximum number of steps that are checked.
const MAX_STEPS: usize = 8;

/// The maximum number of items that are written as a list.
const MAX_ITEMS: usize = 30;

impl Verifier<'_, '_> {
    /// Plans the use of a generator: as a list if it ran to its end, otherwise step by step.
    pub(super) fn plan_generator(&mut self, code: PythonCode) -> Result<Exercise, BuildError> {
        let call = self.builder.call;
        let steps = &call.steps;
        if steps.is_empty() {
            return Err(BuildError("a generator that was never used".to_owned()));
        }
        let yielded: Option<Vec<NodeId>> = all_yielded(steps);
        let returns_nothing = steps.last().is_some_and(|step| {
            matches!(step.outcome, StepOutcome::Returned(value)
                if *call.values.value(value) == Value::None)
        });
        if let (Some(yielded), true) = (yielded, returns_nothing) {
            let items = self.expected_values(&yielded)?;
            let comparison = self.comparison_for_all(&yielded);
            let comparison = self.with_helper(comparison);
            let check = Assertion::new(ActualValue::Result, comparison, PythonCode::list(items));
            self.checks.push(check);
            return Ok(Exercise::Value(PythonCode::call("list", vec![code])));
        }
        let mut checks = Vec::new();
        for step in steps.iter().take(MAX_STEPS) {
            checks.push(self.plan_step(step)?);
        }
        Ok(Exercise::Steps(code, checks))
    }

    /// Checks the items of a generator that the call has returned. Returns `None` if they are
    /// unknown or cannot be built.
    pub(super) fn check_generator_items(&mut self, function: &ImportPath) -> Option<()> {
        let made = self.builder.index.generators(self.builder.call, function);
        let [inner] = made.as_slice() else {
            return None;
        };
        let given = inner.steps.iter().map_while(|step| match step.outcome {
            StepOutcome::Yielded(value) if step.action == StepAction::Next => Some(value),
            _ => None,
        });
        let nodes: Vec<NodeId> = given.collect();
        let is_whole = all_yielded(&inner.steps).is_some();
        let count = if is_whole {
            nodes.len()
        } else {
            nodes.len().min(MAX_STEPS)
        };
        if count > MAX_ITEMS || (count == 0 && !is_whole) {
            return None;
        }
        let items = nodes.iter().take(count);
        let items = items.map(|node| self.builder.expected_value_of_call(inner, *node));
        let items = PythonCode::list(items.collect::<Result<_, BuildError>>().ok()?);
        let actual = if is_whole {
            ActualValue::AroundResult("list(".to_owned(), ")".to_owned())
        } else {
            let itertools = self.builder.scope.module("itertools").one_line();
            let before = format!("list({itertools}.islice(");
            ActualValue::AroundResult(before, format!(", {count}))"))
        };
        self.checks
            .push(Assertion::new(actual, ComparisonKind::Equal, items));
        Some(())
    }

    /// Plans one step of a generator.
    fn plan_step(&mut self, step: &GeneratorStep) -> Result<StepCheck, BuildError> {
        let resumed = match &step.action {
            StepAction::Next => PythonCode::text("next(generator)"),
            StepAction::Send(value) => {
                let value = self.builder.expected_value(*value)?;
                PythonCode::call("generator.send", vec![value])
            }
            StepAction::Throw(error) => {
                let error = self.builder.expected_value(*error)?;
                PythonCode::call("generator.throw", vec![error])
            }
            StepAction::Close => {
                return Ok(StepCheck::Unchecked(PythonCode::text("generator.close()")));
            }
        };
        Ok(match step.outcome {
            StepOutcome::Yielded(value) => {
                let expected = self.builder.expected_value(value)?;
                let comparison = self.choose_comparison(value);
                StepCheck::Yields(resumed, self.with_helper(comparison), expected)
            }
            StepOutcome::Returned(value) => {
                let is_none = *self.builder.call.values.value(value) == Value::None;
                let expected = if is_none {
                    None
                } else {
                    Some(self.builder.expected_value(value)?)
                };
                StepCheck::Returns(resumed, expected)
            }
            StepOutcome::Raised(error) => {
                let Value::Exception(found) = self.builder.call.values.value(error) else {
                    return Err(BuildError("an exception that is not known".to_owned()));
                };
                let class = self.builder.reference_code(&found.class)?;
                StepCheck::Raises(resumed, class)
            }
        })
    }

    /// Plans the use of an asynchronous generator, which must have run to its end.
    pub(super) fn plan_async_generator(
        &mut self,
        code: PythonCode,
    ) -> Result<Exercise, BuildError> {
        let Some(yielded) = all_yielded(&self.builder.call.steps) else {
            return Err(BuildError(
                "an asynchronous generator that was not used up".to_owned(),
            ));
        };
        let items = self.expected_values(&yielded)?;
        self.builder.scope.module("asyncio");
        Ok(Exercise::AsyncItems(code, PythonCode::list(items)))
    }
}

/// Returns all items of a generator that ran from beginning to end by `next` alone.
fn all_yielded(steps: &[GeneratorStep]) -> Option<Vec<NodeId>> {
    let (last, rest) = steps.split_last()?;
    let is_next = |step: &GeneratorStep| step.action == StepAction::Next;
    if !steps.iter().all(is_next) || !matches!(last.outcome, StepOutcome::Returned(_)) {
        return None;
    }
    rest.iter()
        .map(|step| match step.outcome {
            StepOutcome::Yielded(value) => Some(value),
            _ => None,
        })
        .collect()
}
