//! Descriptions of a system's current state and of its failures, for users.

use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;
use testwright_core::message::in_one_line;
use testwright_core::{ActionId, Error, Failure, FailureKind, Outcome};

use crate::actions::{ConcreteTexts, describe_exception};
use crate::failures::{self, RaisedException, short_repr};
use crate::interrupt;
use crate::system::PythonSystem;

/// The value of a slot, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotValue {
    /// `avl0`, or `avl_REF0` for the reference's slot.
    pub name: String,
    /// Its `repr`, or a note that it has none.
    pub text: String,
    /// The name of its type.
    pub type_name: String,
    /// The harness declares that the value is not worth showing.
    pub opaque: bool,
}

impl PythonSystem<'_> {
    /// Returns the current values of the slots that an action names, reference twins included.
    pub fn values(&self, action: ActionId) -> Vec<SlotValue> {
        let mut values: Vec<SlotValue> = Vec::new();
        for (pool, slot, _) in self.context.harness.catalog.slots(action) {
            let declared = self.context.harness.pool(pool);
            let names = self.context.harness.catalog.pool(pool);
            let position = self.context.layout.position(pool, slot);
            values.extend(self.slot_value(names.slot_name(slot), position, declared.opaque));
            if declared.reference {
                let twin = position + self.context.layout.twin_distance(pool);
                values.extend(self.slot_value(
                    names.twin_name(slot),
                    twin,
                    declared.opaque || declared.opaque_twin,
                ));
            }
        }
        let mut seen = Vec::new();
        values.retain(|value| {
            let first = !seen.contains(&value.name);
            seen.push(value.name.clone());
            first
        });
        values
    }

    /// Returns the value of one slot for display.
    fn slot_value(&self, name: String, position: usize, opaque: bool) -> Option<SlotValue> {
        let value = self.context.slots.get_item(position).ok()?;
        let type_name = value
            .get_type()
            .name()
            .map_or_else(|_| String::new(), |name| name.to_string());
        Some(SlotValue {
            name,
            text: short_repr(&value),
            type_name,
            opaque,
        })
    }

    /// Returns the reference's version of an action in display form, if there is one.
    pub fn reference_text(&self, action: ActionId) -> Option<String> {
        let reference = self.concrete_texts(action).ok()?.reference;
        reference.map(|text| self.context.with_display_names(&text))
    }

    /// Returns a text in which slots such as `self.p_avl[0]` are replaced by their display names.
    pub fn with_display_names(&self, text: &str) -> String {
        self.context.with_display_names(text)
    }

    /// Returns the statement of an action and that of its reference as TSTL writes them in saved
    /// tests.
    pub fn tstl_texts(&self, action: ActionId) -> Result<(String, Option<String>), Error> {
        self.concrete_texts(action).map(|texts| texts.tstl_texts())
    }

    /// Returns the last failure as a tuple of type, value and traceback, as `sys.exc_info()` has it
    /// and TSTL prints it. `message` is used if the system itself raised nothing.
    pub fn exception_tuple(&self, message: &str) -> String {
        let python = self.context.python;
        let error = self
            .last_error(message)
            .unwrap_or_else(|| PyAssertionError::new_err(message.to_owned()));
        let traceback = error
            .traceback(python)
            .map_or_else(|| String::from("None"), |traceback| short_repr(&traceback));
        format!(
            "({}, {}, {traceback})",
            short_repr(&error.get_type(python)),
            short_repr(error.value(python))
        )
    }

    /// Returns the source texts of an action.
    pub(crate) fn concrete_texts(&self, action: ActionId) -> Result<ConcreteTexts, Error> {
        self.actions
            .concrete_texts(&self.context, &self.rules, action)
            .map_err(|error| {
                Error::new(describe_exception(
                    self.context.python,
                    "translating the action",
                    &error,
                ))
            })
    }

    /// Converts an exception of a step to an outcome.
    pub(crate) fn outcome_of_error(&self, action: ActionId, line: usize, error: &PyErr) -> Outcome {
        let python = self.context.python;
        if interrupt::is_interrupt(python, error) {
            return Outcome::Interrupted;
        }
        let is = |name: &str| {
            self.context
                .support
                .getattr(name)
                .is_ok_and(|class| error.value(python).is_instance(&class).unwrap_or(false))
        };
        let attribute = |name: &str| {
            error
                .value(python)
                .getattr(name)
                .map_or_else(|_| String::from("?"), |value| short_repr(&value))
        };
        let text = self.context.harness.catalog.text(action);
        let reference = self.reference_text(action).unwrap_or_else(|| text.clone());
        let raised = RaisedException::new(python, error);
        let failure = |kind, message, details| Failure {
            kind,
            message,
            signature: format!("line {line}"),
            details,
        };
        Outcome::Failed(Box::new(if is("PostConditionFailed") {
            let note = match in_one_line(&raised.message) {
                message if message.is_empty() => message,
                message => format!(": {message}"),
            };
            let condition = self.post_text(action);
            failure(
                FailureKind::PostCondition,
                format!("after `{text}`, `{condition}` is false{note}"),
                String::new(),
            )
        } else if is("ReferenceMismatch") {
            let (result, expected) = (attribute("result"), attribute("reference"));
            // Long values are shown below each other.
            let has_lines = result.contains('\n') || expected.contains('\n');
            let details = if has_lines || result.len() + expected.len() > 80 {
                format!(
                    "`{text}` gave\n  {result}\nthe reference `{reference}` gave\n  {expected}\n"
                )
            } else {
                String::new()
            };
            let message = format!(
                "`{text}` gave {}, the reference `{reference}` gave {}",
                value_text(&result),
                value_text(&expected)
            );
            failure(FailureKind::ReferenceMismatch, message, details)
        } else if is("ExceptionMismatch") {
            let (own, expected) = (
                raised_text(&attribute("raised")),
                raised_text(&attribute("reference_raised")),
            );
            let message = format!("`{text}` {own}, the reference `{reference}` {expected}");
            failure(FailureKind::ExceptionMismatch, message, String::new())
        } else {
            let mut failure = failures::uncaught_failure(python, error);
            if raised.message.is_empty() {
                // A bare assertion has no message, so name the action.
                failure.message = format!("{} in `{text}`", failure.message);
            }
            failure
        }))
    }

    /// Returns the post-condition of an action in display form; empty if there is none.
    pub fn post_text(&self, action: ActionId) -> String {
        let (template, values) = self.context.harness.catalog.values(action);
        let line = &self.context.harness.actions[template.0];
        let shown = |fragment| self.context.display_text(fragment, &line.axes, &values);
        let mut text = line
            .post
            .as_ref()
            .map(shown)
            .or_else(|| {
                line.expect
                    .as_ref()
                    .map(|expect| format!("{}_check", expect.name))
            })
            .unwrap_or_default();
        for (number, value) in line.pre_values.iter().enumerate().rev() {
            text = text.replace(&format!("pre{number}"), &format!("pre<({})>", shown(value)));
        }
        text
    }
}

/// Returns the `repr` of a value in one line that is not empty.
fn value_text(shown: &str) -> String {
    match in_one_line(shown) {
        line if line.is_empty() => "a value without text".to_owned(),
        line => line,
    }
}

/// Describes an exception given as `repr`: `raised KeyError(3)`, `raised nothing`.
fn raised_text(shown: &str) -> String {
    match shown {
        "None" => String::from("raised nothing"),
        exception => format!("raised {}", value_text(exception)),
    }
}
