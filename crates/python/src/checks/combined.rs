//! One function that checks all properties.
//!
//! A call into the interpreter takes as long as a small property. So a function is generated that
//! contains all properties, for every combination of slots and alternatives, and it is called once
//! per step.
//!
//! That function tests each slot for emptiness again and again. The set of filled slots seldom
//! changes and is known here, so frequent sets get a specialized function without these tests.

mod specialized;

use pyo3::intern;
use pyo3::prelude::*;

use crate::call::{self, CallResult};
use crate::context::HarnessContext;
use crate::functions;
use crate::line_code::InstanceCode;

use super::Property;
use specialized::SpecializedChecks;

/// The function that checks all properties.
pub(super) struct CombinedChecks<'py> {
    /// Takes the slots. Returns `None`, or the number of the first instance that is false.
    function: Bound<'py, PyAny>,
    /// The argument of the function: the list of slots.
    slots: [Bound<'py, PyAny>; 1],
    /// The checked instances, by number.
    instances: Vec<PropertyInstance>,
    /// Specialized functions for frequent sets of filled slots.
    specialized: SpecializedChecks<'py>,
}

/// A property for one combination of slots and alternatives.
struct PropertyInstance {
    /// The number of the property.
    property: usize,
    /// Its code with everything filled in.
    code: InstanceCode,
    /// The line of the harness.
    line: usize,
}

/// The result of a check in which not every property held.
pub(super) enum CheckResult {
    /// The first violated property: its number, its values, and the exception if it raised.
    BrokenInvariant(usize, Vec<u64>, Option<PyErr>),
    /// An exception that belongs to no property, for example because the stack is too deep for one
    /// more call.
    Unknown,
}

/// The maximum number of instances. With more, skipping those with empty slots would take longer
/// than separate calls.
const MAX_INSTANCES: usize = 128;

impl<'py> CombinedChecks<'py> {
    /// Generates the function, or returns `None` if the properties have to be called one by one.
    pub(super) fn new(
        context: &HarnessContext<'py>,
        properties: &[Property<'py>],
    ) -> Option<CombinedChecks<'py>> {
        let mut instances = Vec::new();
        for (property, of) in properties.iter().enumerate() {
            let line = of.condition.line.line;
            let codes = of.condition.instances(context, MAX_INSTANCES)?;
            instances.extend(codes.into_iter().map(|code| PropertyInstance {
                property,
                code,
                line,
            }));
        }
        if instances.is_empty() || instances.len() > MAX_INSTANCES {
            return None;
        }
        let all = instances.iter().enumerate();
        let statements = all.map(|(number, it)| functions::instance(number, &it.code, false));
        let lines = instances.iter().map(|instance| instance.line);
        // Errors in the code are reported better when the properties are compiled one by one.
        let (function, positions) = make_checks(context, statements, lines, None).ok()?;
        Some(CombinedChecks {
            function,
            slots: [context.slots.clone().into_any()],
            instances,
            specialized: SpecializedChecks::new(positions),
        })
    }

    /// Checks all properties. The result is Python's `None` if all hold;
    /// [`CombinedChecks::interpret`] interprets any other.
    #[inline]
    pub(super) fn check(&mut self, context: &HarnessContext<'py>) -> CallResult<'py> {
        let result = self.specialized.check(context, &self.instances);
        result.unwrap_or_else(|| call::try_call(&self.function, &self.slots))
    }

    /// Interprets the result of a check that is not `None`.
    pub(super) fn interpret(&self, answer: CallResult<'py>) -> CheckResult {
        let (number, error) = match answer {
            Ok(number) => (number.extract().ok(), None),
            Err(error) => (
                instance_that_raised(self.function.py(), &error),
                Some(*error),
            ),
        };
        match number.and_then(|number: usize| self.instances.get(number)) {
            Some(instance) => {
                CheckResult::BrokenInvariant(instance.property, instance.code.values.clone(), error)
            }
            None => CheckResult::Unknown,
        }
    }
}

/// Compiles statements, each with its line, into one function. Also returns the positions of the
/// slots that it reads. The function takes the list of all slots, or the values at `positions` if
/// given.
fn make_checks<'py>(
    context: &HarnessContext<'py>,
    statements: impl Iterator<Item = String>,
    lines: impl Iterator<Item = usize>,
    positions: Option<&[usize]>,
) -> PyResult<(Bound<'py, PyAny>, Vec<usize>)> {
    let statements: Vec<String> = statements.collect();
    let lines: Vec<usize> = lines.collect();
    let arguments = (
        statements,
        lines,
        &context.path,
        &context.namespace,
        positions,
    );
    let made = context.support.call_method1("make_checks", arguments)?;
    made.extract()
}

/// Returns the number of the instance that raised, which the function keeps in a local variable.
fn instance_that_raised(python: Python<'_>, error: &PyErr) -> Option<usize> {
    let frame = error
        .traceback(python)?
        .getattr(intern!(python, "tb_frame"))
        .ok()?;
    let variables = frame.getattr(intern!(python, "f_locals")).ok()?;
    variables.get_item("_tw_at").ok()?.extract().ok()
}
