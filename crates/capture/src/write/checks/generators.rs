//! Generators: step by step, or all that they give.

use super::super::build::Missing;
use super::super::code::Code;
use super::super::plan::{Actual, Check, Exercise, How, StepCheck};
use super::Verifier;
use crate::recording::{Step, StepAction, StepOutcome};
use crate::value::{NodeId, Reference, Value};

/// More steps of a generator than this are not followed.
const STEPS: usize = 8;

/// Longer lists of what a generator gives are not written.
const MOST_GIVEN: usize = 30;

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
            let how = self.helped(how);
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

    /// What a generator gives that the call has made and handed out; nothing if that is not known or cannot be said.
    pub(super) fn given_by_generator(&mut self, function: &Reference) -> Option<()> {
        let made = self
            .builder
            .evidence
            .generators(self.builder.call, function);
        let [inner] = made.as_slice() else {
            return None;
        };
        let given = inner.steps.iter().map_while(|step| match step.outcome {
            StepOutcome::Yielded(value) if step.action == StepAction::Next => Some(value),
            _ => None,
        });
        let nodes: Vec<NodeId> = given.collect();
        let is_whole = all_yielded(&inner.steps).is_some();
        let told = if is_whole {
            nodes.len()
        } else {
            nodes.len().min(STEPS)
        };
        if told > MOST_GIVEN || (told == 0 && !is_whole) {
            return None;
        }
        let items = nodes.iter().take(told);
        let items = items.map(|node| self.builder.expected_of(inner, *node));
        let items = Code::list(items.collect::<Result<_, Missing>>().ok()?);
        let actual = if is_whole {
            Actual::OfResult("list(".to_owned(), ")".to_owned())
        } else {
            let itertools = self.builder.scope.module("itertools").flat();
            let before = format!("list({itertools}.islice(");
            Actual::OfResult(before, format!(", {told}))"))
        };
        self.checks.push(Check::new(actual, How::Equal, items));
        Some(())
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
                let how = self.how(value);
                StepCheck::Gives(resumed, self.helped(how), expected)
            }
            StepOutcome::Returned(value) => {
                let is_none = *self.builder.call.values.value(value) == Value::None;
                let expected = if is_none {
                    None
                } else {
                    Some(self.builder.expected(value)?)
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
