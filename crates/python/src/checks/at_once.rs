//! All properties in one function.
//!
//! A call from here into the interpreter takes as long as a small property does. So properties are not called one by
//! one: a function is written that has all of them, for every combination of slots and alternatives, one after the
//! other, and it is called once per step.

use pyo3::intern;
use pyo3::prelude::*;

use crate::call;
use crate::context::Context;
use crate::functions;

use super::Property;

/// All properties in one function.
pub(super) struct AtOnce<'py> {
    /// From the slots to `None`, or to the number of the first instance that is false.
    function: Bound<'py, PyAny>,
    slots: [Bound<'py, PyAny>; 1],
    instances: Vec<Instance>,
}

/// A property for one combination of slots and alternatives.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    /// The number of the property.
    pub(super) property: usize,
    pub(super) values: Vec<u64>,
}

/// What the function found.
pub(super) enum Finding {
    /// Every property holds.
    AllHold,
    /// This is the first that does not, because it is false or because it raised.
    Broken(Instance, Option<PyErr>),
    /// Something was raised in nobody's name: the stack is too deep for one more call, for example.
    Unknown,
}

/// Above that many, skipping those whose slots are empty would take longer than calling the others.
const MOST_INSTANCES: usize = 128;

impl<'py> AtOnce<'py> {
    /// `None` if the properties have to be called one by one.
    pub(super) fn new(context: &Context<'py>, properties: &[Property<'py>]) -> Option<AtOnce<'py>> {
        let mut instances = Vec::new();
        let mut statements = Vec::new();
        let mut lines = Vec::new();
        for (number, property) in properties.iter().enumerate() {
            for instance in property.condition.instances(context, MOST_INSTANCES)? {
                statements.push(functions::instance(instances.len(), &instance));
                lines.push(property.condition.line.line);
                instances.push(Instance {
                    property: number,
                    values: instance.values,
                });
            }
        }
        if instances.is_empty() || instances.len() > MOST_INSTANCES {
            return None;
        }
        let arguments = (statements, lines, &context.path, &context.namespace);
        let function = context.support.call_method1("make_checks", arguments);
        Some(AtOnce {
            // Whatever is wrong with the text shows better when the properties are compiled one by one.
            function: function.ok()?,
            slots: [context.slots.clone().into_any()],
            instances,
        })
    }

    #[inline]
    pub(super) fn check(&self) -> Finding {
        match call::call(&self.function, &self.slots) {
            Ok(result) if result.is_none() => Finding::AllHold,
            result => self.finding(result),
        }
    }

    #[cold]
    fn finding(&self, result: PyResult<Bound<'py, PyAny>>) -> Finding {
        let (number, error) = match result {
            Ok(number) => (number.extract().ok(), None),
            Err(error) => (
                instance_that_raised(self.function.py(), &error),
                Some(error),
            ),
        };
        match number.and_then(|number: usize| self.instances.get(number)) {
            Some(instance) => Finding::Broken(instance.clone(), error),
            None => Finding::Unknown,
        }
    }
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
