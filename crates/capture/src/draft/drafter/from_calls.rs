//! Actions for definitions with recorded calls: one for each form of call.

use std::collections::BTreeMap;

use super::super::action::{ActionArgument, ArgumentSource, DraftAction, ResultUse};
use super::super::calls::{CallShape, ShapedCall};
use super::super::{guard, side_effects};
use super::{ApiTarget, CalleeName, Drafter};
use crate::inspect::FunctionRole;
use crate::recording::{Call, CallOutcome, StepOutcome};
use crate::value::{ImportPath, Value};

/// The maximum number of forms that become actions.
const MAX_SHAPES: usize = 16;

impl<'a> Drafter<'a> {
    /// Drafts the actions for recorded calls.
    pub(super) fn draft_calls(&mut self, target: &ApiTarget<'a>, calls: &[&'a Call]) {
        let at = target.function;
        let effect = calls
            .iter()
            .find_map(|call| side_effects::recorded_effect(call))
            .or_else(|| self.texts.own_effect(at.module, at.definition));
        let (shapes, failure) = self.group_by_shape(target, calls);
        self.add_hints(target);
        if let (true, Some(reason)) = (shapes.is_empty(), &failure) {
            let reason = format!("needs what cannot be written here: {reason}");
            self.add_commented_out(target, &effect.unwrap_or(reason));
            return;
        }
        let others = match target.callee {
            CalleeName::Member(class) => self
                .calls
                .calls_on(self.classes.get(class).map(|class| &class.reference)),
            _ => Vec::new(),
        };
        // The result goes to a pool only if all forms return objects of the class.
        let result = self.result_class(target, calls);
        let is_only = shapes.len() == 1;
        let total = self.calls.count(&at.key());
        let mut shapes: Vec<(CallShape, Vec<&'a Call>)> = shapes.into_iter().collect();
        // Frequent forms come first, then short ones.
        shapes
            .sort_by_key(|(shape, calls)| (std::cmp::Reverse(calls.len()), shape.arguments.len()));
        shapes.truncate(MAX_SHAPES);
        shapes.sort_by_key(|(shape, _)| shape.arguments.len());
        for (shape, calls) in shapes {
            let times = if is_only {
                total.max(calls.len() as u64)
            } else {
                calls.len() as u64
            };
            let guard = match (&target.callee, at.function.role) {
                (CalleeName::Member(_), FunctionRole::Method) => {
                    guard::infer_guard(&calls, &others)
                }
                _ => None,
            };
            let (exceptions, raised) = self.raised_exceptions(&calls);
            let mut note = format!("seen {}", times_word(times));
            for (name, times) in raised {
                let name = name.rsplit('.').next().unwrap_or(&name);
                note.push_str(&format!(", raised {name} {}", times_word(times)));
            }
            if guard.is_some() {
                note.push_str("; the guard was observed, not proved");
            }
            let result_use = self.result_use(at, &calls);
            let result = result.filter(|_| result_use == ResultUse::Unchanged);
            let arguments = shape.arguments.into_iter();
            self.actions.push(DraftAction {
                callee: target
                    .callee
                    .clone()
                    .into_callee(Some(at.function.role), &at.definition.name),
                arguments: arguments
                    .map(|(keyword, source)| ActionArgument {
                        keyword,
                        source,
                        field: None,
                    })
                    .collect(),
                result_use,
                result,
                exceptions,
                guard,
                note,
                comment_reason: effect.clone().map(|effect| format!("it {effect}")),
                section: target.section,
                position: target.position,
                calls,
            });
        }
    }

    /// Groups calls by form, and returns a reason why some cannot be written.
    fn group_by_shape(
        &mut self,
        target: &ApiTarget<'a>,
        calls: &[&'a Call],
    ) -> (BTreeMap<CallShape, Vec<&'a Call>>, Option<String>) {
        let key = target.function.key();
        let mut shapes: BTreeMap<CallShape, Vec<&'a Call>> = BTreeMap::new();
        let mut failure = None;
        for call in calls {
            let classes = &self.classes;
            let class_of =
                |class: &ImportPath| classes.iter().position(|known| known.reference == *class);
            match self
                .calls
                .shape_call(call, target.skipped, &mut self.scope, class_of)
            {
                Ok(ShapedCall { arguments }) => {
                    let mut shape = CallShape::default();
                    for argument in arguments {
                        let source = match argument.sample {
                            Some(sample) => {
                                let request = self.requests.find_or_add(&key, argument.parameter);
                                self.requests.add_recorded(request, sample);
                                ArgumentSource::Request(request)
                            }
                            None => argument.source,
                        };
                        shape
                            .arguments
                            .push((argument.keyword.map(str::to_owned), source));
                    }
                    shapes.entry(shape).or_default().push(call);
                }
                Err(reason) => failure = Some(reason.0),
            }
        }
        (shapes, failure)
    }

    /// Adds the values of type hints and defaults to the recorded ones.
    fn add_hints(&mut self, target: &ApiTarget<'a>) {
        let at = target.function;
        for parameter in &at.function.signature.parameters {
            if let Some(request) = self.requests.find(&at.key(), &parameter.name)
                && let Some(hinted) = self.hinted_values(at.module, parameter)
            {
                self.requests.add_hinted(request, &hinted);
            }
        }
    }

    /// Returns the exceptions of some calls by their names in the harness, and how often each was
    /// raised.
    fn raised_exceptions(&mut self, calls: &[&Call]) -> (Vec<String>, Vec<(String, u64)>) {
        let mut raised: Vec<(String, u64)> = Vec::new();
        for call in calls {
            let in_steps = call.steps.iter().filter_map(|step| match step.outcome {
                StepOutcome::Raised(node) => Some(node),
                _ => None,
            });
            let at_end = match call.outcome {
                CallOutcome::Raised { exception, .. } => Some(exception),
                _ => None,
            };
            // Closing a generator raises an exception in it, which has no effect outside.
            if let Some(node) = in_steps.chain(at_end).next()
                && let Value::Exception(exception) = call.values.value(node)
                && exception.class.name() != "GeneratorExit"
            {
                let name = if exception.is_importable {
                    self.scope.reference(&exception.class).one_line()
                } else {
                    "Exception".to_owned()
                };
                match raised.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, times)) => *times += 1,
                    None => raised.push((name, 1)),
                }
            }
        }
        let mut names: Vec<String> = raised.iter().map(|(name, _)| name.clone()).collect();
        let reads_files = calls.iter().any(|call| side_effects::reads_files(call));
        if reads_files && !names.iter().any(|name| name == "OSError") {
            names.push("OSError".to_owned());
        }
        (names, raised)
    }

    /// Returns the class whose pool takes the results of some calls: all results are new objects of
    /// it, or `None`.
    fn result_class(&self, target: &ApiTarget<'a>, calls: &[&Call]) -> Option<usize> {
        if let CalleeName::Constructor(class, _) = target.callee {
            return Some(class);
        }
        let mut found = None;
        for call in calls {
            let CallOutcome::Returned(result) = call.outcome else {
                continue;
            };
            let class = match call.values.value(result) {
                Value::None => continue,
                Value::Object(object) => &object.class,
                _ => return None,
            };
            let class = self
                .classes
                .iter()
                .position(|known| self.calls.is_same_class(class, &known.reference))?;
            let object = call.values.object(result);
            let is_given = call
                .arguments
                .iter()
                .any(|argument| call.values.object(argument.before) == object);
            if is_given || found.is_some_and(|found| found != class) {
                return None;
            }
            found = Some(class);
        }
        found
    }
}

/// Renders a number of times: `once`, `twice`, `12 times`.
fn times_word(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{times} times"),
    }
}
