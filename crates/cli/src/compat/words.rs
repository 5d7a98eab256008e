//! What TSTL's tools say, as scripts read it.

use std::time::Duration;

use testwright_core::{ActionId, Catalog, Event, Failure, FailureKind, Step, System, Test};
use testwright_python::{PythonSystem, SlotValue};

use crate::console::Console;

/// Where the number of a step ends.
const WIDTH: usize = 80;

/// A step with its number, counted from 0.
pub(super) fn step(text: &str, index: usize) -> String {
    let number = format!("# STEP {index}");
    let width = WIDTH.saturating_sub(number.len());
    format!("{text:width$} {number}")
}

/// The text of a step.
pub(super) fn step_text(catalog: &Catalog, step: &Step) -> String {
    match step {
        Step::Act(action) => catalog.text(*action),
        Step::Restart => String::from("<<RESTART>>"),
    }
}

/// Says the steps of a test.
pub(super) fn say_test(console: &mut Console<'_>, catalog: &Catalog, test: &Test) {
    for (index, one) in test.steps.iter().enumerate() {
        console.say(step(&step_text(catalog, one), index));
    }
}

/// Says how a test fails: the exception, and where it was raised.
pub(super) fn say_error(console: &mut Console<'_>, tuple: &str, failure: &Failure) {
    console.say(format_args!("ERROR: {tuple}"));
    say_traceback(console, failure);
}

pub(super) fn say_traceback(console: &mut Console<'_>, failure: &Failure) {
    console.say("TRACEBACK:");
    say_details(console, failure);
}

/// The lines of the traceback, and what failed where the exception does not tell.
pub(super) fn say_details(console: &mut Console<'_>, failure: &Failure) {
    if failure.kind != FailureKind::UncaughtException {
        console.say(format_args!("  {}", failure.message));
    }
    for line in failure.details.lines() {
        console.say(line);
    }
}

/// Whether it was no step that failed but what was checked after it.
pub(super) fn is_of_check(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Property | FailureKind::PoolType)
}

/// Seconds, as Python prints them.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{:?}", duration.as_secs_f64())
}

/// Hours, minutes and seconds: `0:01:05.250000`.
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

/// Says all about a step: the values that it uses, what became of them, and what it raised.
pub(super) struct Narration {
    before: Vec<SlotValue>,
    hide_opaque: bool,
}

impl Narration {
    pub(super) fn new(hide_opaque: bool) -> Narration {
        Narration {
            before: Vec::new(),
            hide_opaque,
        }
    }

    fn shown(&self, system: &PythonSystem<'_>, action: ActionId) -> Vec<SlotValue> {
        let mut values = system.values(action);
        values.retain(|value| !(self.hide_opaque && value.opaque));
        values
    }

    /// Before the step.
    pub(super) fn begin(
        &mut self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        action: ActionId,
    ) {
        console.say(format_args!("ACTION: {} ", system.actions().text(action)));
        self.before = self.shown(system, action);
        for value in &self.before {
            console.say(described(value));
        }
        // What the system prints in the step comes after that.
        console.flush();
    }

    /// After the step.
    pub(super) fn end(
        &mut self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        event: &Event,
    ) {
        let (Event::Passed(action) | Event::Expected(action, _) | Event::Failed(action, _)) = event
        else {
            return;
        };
        system.flush();
        if let Event::Expected(_, raised) = event {
            let raised = exception(raised);
            console.say(format_args!("RAISED EXPECTED EXCEPTION: {raised}"));
        }
        let failure = match event {
            Event::Failed(_, failure) => Some(failure).filter(|failure| !is_of_check(failure)),
            _ => None,
        };
        if let Some(failure) = failure {
            let raised = exception(&failure.message);
            console.say(format_args!("RAISED EXCEPTION: {raised}"));
        }
        if let Some(reference) = system.reference_text(*action) {
            console.say(format_args!("REFERENCE ACTION: {reference} "));
        }
        for value in self.shown(system, *action) {
            if !self.before.contains(&value) {
                console.say(format_args!("=> {}", described(&value)));
            }
        }
        if failure.is_none() {
            console.say("=".repeat(50));
        }
    }
}

fn described(value: &SlotValue) -> String {
    let SlotValue {
        name,
        text,
        type_name,
        ..
    } = value;
    format!("{name} = {text} : <class '{type_name}'>")
}

/// `<class 'KeyError'> 3` for `KeyError: 3`; other complaints as they are.
fn exception(message: &str) -> String {
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
            step("int0 = 2", 0),
            "int0 = 2                                                                 # STEP 0"
        );
        assert_eq!(clock(Duration::from_millis(3_725_250)), "1:02:05.250000");
        assert_eq!(exception("KeyError: 3"), "<class 'KeyError'> 3");
        assert_eq!(
            exception("after `f()`, `x` is false"),
            "after `f()`, `x` is false"
        );
    }
}
