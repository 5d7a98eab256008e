//! Generators: step by step, or all that they give.

use super::super::build::Missing;
use super::super::code::Code;
use super::super::plan::{Actual, Check, Exercise, StepCheck};
use super::Verifier;
use crate::recording::{Step, StepAction, StepOutcome};
use crate::value::{NodeId, Value};

/// More steps of a generator than this are not followed.
const STEPS: usize = 8;

impl Verifier<'_, '_> {
    pub(super) fn generator(&mut self, code: Code) -> Result<Exercise, Missing> {
        let call = self.builder.call;
        let steps = &call.steps;
        if steps.is_empty() {
            return Err(Missing("a generator that was never used".to_owned()));
        }
        let yielded: Option<Vec<NodeId>> = all_yielded(steps);
        let returns_nothing = steps.last().is_some_and(|step| {
            matches!(step.outcome, StepOutcome::Returned(value)
                if *call.values.value(value) == Value::None)
        });
        if let (Some(yielded), true) = (yielded, returns_nothing) {
            let items = self.items(&yielded)?;
            let how = self.how_all(&yielded);
            let check = Check::new(Actual::Result, how, Code::list(items));
            self.checks.push(check);
            return Ok(Exercise::Value(Code::call("list", vec![code])));
        }
        let mut checks = Vec::new();
        for step in steps.iter().take(STEPS) {
            checks.push(self.step(step)?);
        }
        Ok(Exercise::Steps(code, checks))
    }

    fn step(&mut self, step: &Step) -> Result<StepCheck, Missing> {
        let resumed = match &step.action {
            StepAction::Next => Code::text("next(generator)"),
            StepAction::Send(value) => {
                let value = self.builder.expected(*value)?;
                Code::call("generator.send", vec![value])
            }
            StepAction::Throw(error) => {
                let error = self.builder.expected(*error)?;
                Code::call("generator.throw", vec![error])
            }
            StepAction::Close => return Ok(StepCheck::Runs(Code::text("generator.close()"))),
        };
        Ok(match step.outcome {
            StepOutcome::Yielded(value) => {
                let expected = self.builder.expected(value)?;
                StepCheck::Gives(resumed, self.how(value), expected)
            }
            StepOutcome::Returned(value) => {
                let is_none = *self.builder.call.values.value(value) == Value::None;
                let expected = match is_none {
                    true => None,
                    false => Some(self.builder.expected(value)?),
                };
                StepCheck::Ends(resumed, expected)
            }
            StepOutcome::Raised(error) => {
                let Value::Exception(found) = self.builder.call.values.value(error) else {
                    return Err(Missing("an exception that is not known".to_owned()));
                };
                let class = self.builder.reference(&found.class)?;
                StepCheck::Raises(resumed, class)
            }
        })
    }

    pub(super) fn async_generator(&mut self, code: Code) -> Result<Exercise, Missing> {
        let Some(yielded) = all_yielded(&self.builder.call.steps) else {
            return Err(Missing(
                "an asynchronous generator that was not used up".to_owned(),
            ));
        };
        let items = self.items(&yielded)?;
        self.builder.scope.module("asyncio");
        Ok(Exercise::Collected(code, Code::list(items)))
    }
}

/// What a generator gave from its beginning to its end, if it was only asked for the next value.
fn all_yielded(steps: &[Step]) -> Option<Vec<NodeId>> {
    let (last, rest) = steps.split_last()?;
    let is_next = |step: &Step| step.action == StepAction::Next;
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
