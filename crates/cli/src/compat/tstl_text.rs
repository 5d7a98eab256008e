//! The lines that TSTL's tools print, as scripts read them.

use std::time::Duration;

use testwright_core::{ActionId, Catalog, Failure, FailureKind, Step, System, Test, TraceEvent};
use testwright_python::{PythonSystem, SlotValue};

use crate::console::Console;

/// The column where the number of a step ends.
const STEP_WIDTH: usize = 80;

/// Renders a step with its number, counted from 0.
pub(super) fn numbered_step(text: &str, index: usize) -> String {
    let number = format!("# STEP {index}");
    let width = STEP_WIDTH.saturating_sub(number.len());
    format!("{text:width$} {number}")
}

/// Renders a step.
pub(super) fn step_text(catalog: &Catalog, step: &Step) -> String {
    match step {
        Step::Act(action) => catalog.text(*action),
        Step::Restart => String::from("<<RESTART>>"),
    }
}

/// Prints the steps of a test.
pub(super) fn print_test(console: &mut Console<'_>, catalog: &Catalog, test: &Test) {
    for (index, one) in test.steps.iter().enumerate() {
        console.out(numbered_step(&step_text(catalog, one), index));
    }
}

/// Prints the exception of a failure and its traceback.
pub(super) fn print_error(console: &mut Console<'_>, tuple: &str, failure: &Failure) {
    console.out(format_args!("ERROR: {tuple}"));
    print_traceback(console, failure);
}

/// Prints the traceback of a failure under a heading.
pub(super) fn print_traceback(console: &mut Console<'_>, failure: &Failure) {
    console.out("TRACEBACK:");
    print_details(console, failure);
}

/// Prints the lines of the traceback, and the message unless the exception says the same.
pub(super) fn print_details(console: &mut Console<'_>, failure: &Failure) {
    if failure.kind != FailureKind::UncaughtException {
        console.out(format_args!("  {}", failure.message));
    }
    for line in failure.details.lines() {
        console.out(line);
    }
}

/// Returns true if the step itself passed and a check after it failed.
pub(super) fn is_check_failure(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Property | FailureKind::PoolType)
}

/// Renders seconds as Python prints them.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{:?}", duration.as_secs_f64())
}

/// Renders hours, minutes and seconds: `0:01:05.250000`.
pub(super) fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    format!(
        "{}:{:02}:{:02}.{:06}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        duration.subsec_micros()
    )
}

/// Prints everything about a step: the values that it uses, their changes, and the exception.
pub(super) struct StepPrinter {
    /// The values before the step.
    before: Vec<SlotValue>,
    /// Leave out values of opaque pools.
    hide_opaque: bool,
}

impl StepPrinter {
    /// Creates a printer.
    pub(super) fn new(hide_opaque: bool) -> StepPrinter {
        StepPrinter {
            before: Vec::new(),
            hide_opaque,
        }
    }

    /// Returns the values that an action uses and that are shown.
    fn visible_values(&self, system: &PythonSystem<'_>, action: ActionId) -> Vec<SlotValue> {
        let mut values = system.values(action);
        values.retain(|value| !(self.hide_opaque && value.opaque));
        values
    }

    /// Prints an action and its values before the step.
    pub(super) fn begin(
        &mut self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        action: ActionId,
    ) {
        console.out(format_args!("ACTION: {} ", system.actions().text(action)));
        self.before = self.visible_values(system, action);
        for value in &self.before {
            console.out(describe_value(value));
        }
        // The output of the system must come after that.
        console.flush();
    }

    /// Prints the result of the step and the changed values.
    pub(super) fn end(
        &mut self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        event: &TraceEvent,
    ) {
        let (TraceEvent::Passed(action)
        | TraceEvent::Expected(action, _)
        | TraceEvent::Failed(action, _)) = event
        else {
            return;
        };
        system.flush();
        if let TraceEvent::Expected(_, raised) = event {
            let raised = exception_text(raised);
            console.out(format_args!("RAISED EXPECTED EXCEPTION: {raised}"));
        }
        let failure = match event {
            TraceEvent::Failed(_, failure) => {
                Some(failure).filter(|failure| !is_check_failure(failure))
            }
            _ => None,
        };
        if let Some(failure) = failure {
            let raised = exception_text(&failure.message);
            console.out(format_args!("RAISED EXCEPTION: {raised}"));
        }
        if let Some(reference) = system.reference_text(*action) {
            console.out(format_args!("REFERENCE ACTION: {reference} "));
        }
        for value in self.visible_values(system, *action) {
            if !self.before.contains(&value) {
                console.out(format_args!("=> {}", describe_value(&value)));
            }
        }
        if failure.is_none() {
            console.out("=".repeat(50));
        }
    }
}

/// Renders a value with its type.
fn describe_value(value: &SlotValue) -> String {
    let SlotValue {
        name,
        text,
        type_name,
        ..
    } = value;
    format!("{name} = {text} : <class '{type_name}'>")
}

/// Renders `<class 'KeyError'> 3` for `KeyError: 3`; other messages stay as they are.
fn exception_text(message: &str) -> String {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || "._".contains(letter))
    };
    match message.split_once(": ") {
        Some((name, rest)) if is_name(name) => format!("<class '{name}'> {rest}"),
        None if is_name(message) => format!("<class '{message}'>"),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_where_scripts_expect_them() {
        assert_eq!(
            numbered_step("int0 = 2", 0),
            "int0 = 2                                                                 # STEP 0"
        );
        assert_eq!(clock(Duration::from_millis(3_725_250)), "1:02:05.250000");
        assert_eq!(exception_text("KeyError: 3"), "<class 'KeyError'> 3");
        assert_eq!(
            exception_text("after `f()`, `x` is false"),
            "after `f()`, `x` is false"
        );
    }
}
