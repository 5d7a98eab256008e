//! Actions for what was called: one for each way in which it was.

use std::collections::BTreeMap;

use super::super::action::{Action, Argument, What, Wrap};
use super::super::calls::{Shape, Shaped};
use super::super::{danger, guard};
use super::{Drafter, Named, Target};
use crate::inspect::Role;
use crate::recording::{Call, Outcome, StepOutcome};
use crate::value::{Reference, Value};

/// How many ways to call something become actions.
const MOST_SHAPES: usize = 16;

impl<'a> Drafter<'a> {
    pub(super) fn draft_calls(&mut self, target: &Target<'a>, calls: &[&'a Call]) {
        let at = target.at;
        let danger = calls
            .iter()
            .find_map(|call| danger::seen(call))
            .or_else(|| self.texts.own(at.module, at.definition));
        let (shapes, unsayable) = self.shapes(target, calls);
        self.add_hints(target);
        if let (true, Some(reason)) = (shapes.is_empty(), &unsayable) {
            let reason = format!("needs what cannot be written here: {reason}");
            self.comment_out(target, &danger.unwrap_or(reason));
            return;
        }
        let others = match target.callee {
            Named::Of(class) => self
                .calls
                .on(self.classes.get(class).map(|class| &class.reference)),
            _ => Vec::new(),
        };
        // Only if it gives nothing else, however it is called.
        let result = self.result(target, calls);
        let is_only = shapes.len() == 1;
        let total = self.calls.count(&at.key());
        let mut shapes: Vec<(Shape, Vec<&'a Call>)> = shapes.into_iter().collect();
        // Ways that were seen often come first, then short ones.
        shapes
            .sort_by_key(|(shape, calls)| (std::cmp::Reverse(calls.len()), shape.arguments.len()));
        shapes.truncate(MOST_SHAPES);
        shapes.sort_by_key(|(shape, _)| shape.arguments.len());
        for (shape, calls) in shapes {
            let times = if is_only {
                total.max(calls.len() as u64)
            } else {
                calls.len() as u64
            };
            let guard = match (&target.callee, at.function.role) {
                (Named::Of(_), Role::Method) => guard::observed(&calls, &others),
                _ => None,
            };
            let (exceptions, raised) = self.exceptions(&calls);
            let mut note = format!("seen {}", times_word(times));
            for (name, times) in raised {
                let name = name.rsplit('.').next().unwrap_or(&name);
                note.push_str(&format!(", raised {name} {}", times_word(times)));
            }
            if guard.is_some() {
                note.push_str("; the guard was observed, not proved");
            }
            let wrap = self.wrap(at, &calls);
            let result = result.filter(|_| wrap == Wrap::Nothing);
            let arguments = shape.arguments.into_iter();
            self.actions.push(Action {
                callee: target
                    .callee
                    .clone()
                    .into_callee(Some(at.function.role), &at.definition.name),
                arguments: arguments
                    .map(|(keyword, what)| Argument {
                        keyword,
                        what,
                        field: None,
                    })
                    .collect(),
                wrap,
                result,
                exceptions,
                guard,
                note,
                left_out: danger.clone().map(|danger| format!("it {danger}")),
                section: target.section,
                order: target.order,
                calls,
            });
        }
    }

    /// The ways in which something was called, with the calls; and why some calls cannot be written.
    fn shapes(
        &mut self,
        target: &Target<'a>,
        calls: &[&'a Call],
    ) -> (BTreeMap<Shape, Vec<&'a Call>>, Option<String>) {
        let key = target.at.key();
        let mut shapes: BTreeMap<Shape, Vec<&'a Call>> = BTreeMap::new();
        let mut unsayable = None;
        for call in calls {
            let classes = &self.classes;
            let class_of =
                |class: &Reference| classes.iter().position(|known| known.reference == *class);
            match self
                .calls
                .shaped(call, target.skipped, &mut self.scope, class_of)
            {
                Ok(Shaped { arguments }) => {
                    let mut shape = Shape::default();
                    for argument in arguments {
                        let what = match argument.sample {
                            Some(sample) => {
                                let wish = self.wishes.of(&key, argument.parameter);
                                self.wishes.seen(wish, sample);
                                What::Wish(wish)
                            }
                            None => argument.what,
                        };
                        shape
                            .arguments
                            .push((argument.keyword.map(str::to_owned), what));
                    }
                    shapes.entry(shape).or_default().push(call);
                }
                Err(reason) => unsayable = Some(reason.0),
            }
        }
        (shapes, unsayable)
    }

    /// To values that were seen, those are added that hints and defaults speak of.
    fn add_hints(&mut self, target: &Target<'a>) {
        let at = target.at;
        for parameter in &at.function.signature.parameters {
            if let Some(wish) = self.wishes.known(&at.key(), &parameter.name)
                && let Some(hinted) = self.hint(at.module, parameter)
            {
                self.wishes.hinted(wish, &hinted);
            }
        }
    }

    /// The exceptions of some calls as a harness names them, and how often each was raised.
    fn exceptions(&mut self, calls: &[&Call]) -> (Vec<String>, Vec<(String, u64)>) {
        let mut raised: Vec<(String, u64)> = Vec::new();
        for call in calls {
            let in_steps = call.steps.iter().filter_map(|step| match step.outcome {
                StepOutcome::Raised(node) => Some(node),
                _ => None,
            });
            let at_end = match call.outcome {
                Outcome::Raised { exception, .. } => Some(exception),
                _ => None,
            };
            // Who closes a generator raises something in it, and nobody notices.
            if let Some(node) = in_steps.chain(at_end).next()
                && let Value::Exception(exception) = call.values.value(node)
                && exception.class.name() != "GeneratorExit"
            {
                let name = if exception.is_importable {
                    self.scope.reference(&exception.class).flat()
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
        let reads_files = calls.iter().any(|call| danger::reads_files(call));
        if reads_files && !names.iter().any(|name| name == "OSError") {
            names.push("OSError".to_owned());
        }
        (names, raised)
    }

    /// The class whose pool takes the results of some calls: all of them are new objects of it, or `None`.
    fn result(&self, target: &Target<'a>, calls: &[&Call]) -> Option<usize> {
        if let Named::New(class, _) = target.callee {
            return Some(class);
        }
        let mut found = None;
        for call in calls {
            let Outcome::Returned(result) = call.outcome else {
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
                .position(|known| self.calls.is(class, &known.reference))?;
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

/// `once`, `twice`, `12 times`.
fn times_word(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{times} times"),
    }
}
