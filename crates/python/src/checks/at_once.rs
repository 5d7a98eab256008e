//! All properties in one function.
//!
//! A call from here into the interpreter takes as long as a small property does. So properties are not called one by
//! one: a function is written that has all of them, for every combination of slots and alternatives, one after the
//! other, and it is called once per step.
//!
//! That function asks of each slot whether it is filled, time and again. Which slots are filled seldom changes and is
//! known here, so where the same ones often are, there is a function for these alone, which has nothing to ask.

mod for_filled;

use pyo3::intern;
use pyo3::prelude::*;

use crate::call::{self, Attempt};
use crate::context::Context;
use crate::functions;
use crate::line_code::InstanceCode;

use super::Property;
use for_filled::ForFilled;

/// All properties in one function.
pub(super) struct AtOnce<'py> {
    /// From the slots to `None`, or to the number of the first instance that is false.
    function: Bound<'py, PyAny>,
    slots: [Bound<'py, PyAny>; 1],
    instances: Vec<Instance>,
    for_filled: ForFilled<'py>,
}

/// A property for one combination of slots and alternatives.
struct Instance {
    /// The number of the property.
    property: usize,
    code: InstanceCode,
    /// The line of the harness.
    line: usize,
}

/// What the function found if not every property holds.
pub(super) enum Finding {
    /// This is the first that does not, because it is false or because it raised: its number, and for which values.
    Broken(usize, Vec<u64>, Option<PyErr>),
    /// Something was raised in nobody's name: the stack is too deep for one more call, for example.
    Unknown,
}

/// Above that many, skipping those whose slots are empty would take longer than calling the others.
const MOST_INSTANCES: usize = 128;

impl<'py> AtOnce<'py> {
    /// `None` if the properties have to be called one by one.
    pub(super) fn new(context: &Context<'py>, properties: &[Property<'py>]) -> Option<AtOnce<'py>> {
        let mut instances = Vec::new();
        for (property, of) in properties.iter().enumerate() {
            let line = of.condition.line.line;
            let codes = of.condition.instances(context, MOST_INSTANCES)?;
            instances.extend(codes.into_iter().map(|code| Instance {
                property,
                code,
                line,
            }));
        }
        if instances.is_empty() || instances.len() > MOST_INSTANCES {
            return None;
        }
        let all = instances.iter().enumerate();
        let statements = all.map(|(number, it)| functions::instance(number, &it.code, false));
        let lines = instances.iter().map(|instance| instance.line);
        // Whatever is wrong with the text shows better when the properties are compiled one by one.
        let (function, places) = make_checks(context, statements, lines, None).ok()?;
        Some(AtOnce {
            function,
            slots: [context.slots.clone().into_any()],
            instances,
            for_filled: ForFilled::new(places),
        })
    }

    /// `None` if every property holds; what else it means tells [`AtOnce::finding`].
    #[inline]
    pub(super) fn check(&mut self, context: &Context<'py>) -> Attempt<'py> {
        let result = self.for_filled.check(context, &self.instances);
        result.unwrap_or_else(|| call::attempt(&self.function, &self.slots))
    }

    /// What was found, by the answer of a check.
    pub(super) fn finding(&self, answer: Attempt<'py>) -> Finding {
        let (number, error) = match answer {
            Ok(number) => (number.extract().ok(), None),
            Err(error) => (
                instance_that_raised(self.function.py(), &error),
                Some(*error),
            ),
        };
        match number.and_then(|number: usize| self.instances.get(number)) {
            Some(instance) => {
                Finding::Broken(instance.property, instance.code.values.clone(), error)
            }
            None => Finding::Unknown,
        }
    }
}

/// The function of some statements, each with its line, and the places of the slots that it reads. It is handed the list of
/// all slots, or the values at some places.
fn make_checks<'py>(
    context: &Context<'py>,
    statements: impl Iterator<Item = String>,
    lines: impl Iterator<Item = usize>,
    places: Option<&[usize]>,
) -> PyResult<(Bound<'py, PyAny>, Vec<usize>)> {
    let statements: Vec<String> = statements.collect();
    let lines: Vec<usize> = lines.collect();
    let arguments = (statements, lines, &context.path, &context.namespace, places);
    let made = context.support.call_method1("make_checks", arguments)?;
    made.extract()
}

/// The function keeps the number of the instance it is at in a variable.
fn instance_that_raised(python: Python<'_>, error: &PyErr) -> Option<usize> {
    let frame = error
        .traceback(python)?
        .getattr(intern!(python, "tb_frame"))
        .ok()?;
    let variables = frame.getattr(intern!(python, "f_locals")).ok()?;
    variables.get_item("_tw_at").ok()?.extract().ok()
}
