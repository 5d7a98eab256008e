//! Invariants of a harness: its properties, and the types that its pools declare.
//!
//! Properties are checked in the cheapest way available: only those whose values changed
//! (`change_tracker`), all in one call (`combined`), or one by one.

mod change_tracker;
mod combined;

use pyo3::prelude::*;
use testwright_core::message::in_one_line;
use testwright_core::{Failure, FailureKind, Outcome, PoolId};
use testwright_lang::harness::CodeLine;

use crate::call::{self, CallResult};
use crate::context::HarnessContext;
use crate::failures::{ExceptionIdentity, RaisedException, short_repr};
use crate::functions;
use crate::interrupt;
use crate::line_code::{LineCode, LineKind};
use crate::options::CheckMode;
use crate::pool_states::PoolStates;

use change_tracker::ChangeTracker;
use combined::{CheckResult, CombinedChecks};

/// All invariants, checked after every step.
pub(crate) struct Checks<'py> {
    /// The `property:` lines.
    properties: Vec<Property<'py>>,
    /// The pools with a declared type.
    types: Vec<PoolType<'py>>,
    /// One function for all properties, if they can be combined.
    combined: Option<CombinedChecks<'py>>,
    /// Tracks which properties may have changed, if only those are to be checked.
    tracker: Option<ChangeTracker<'py>>,
    /// The reason why changes cannot be tracked in this interpreter.
    tracking_error: Option<String>,
}

/// An invariant that does not hold.
#[derive(Clone, Debug)]
pub(crate) enum Violation {
    /// The property with this number is false for these values, or raises an exception.
    Property(usize, Vec<u64>, Option<Box<ExceptionIdentity>>),
    /// The value in this slot has another type than its pool declares.
    Type(PoolId, u32),
}

/// The outcome of a check, and the exception that the property raised.
type ViolationOutcome = (Outcome, Option<Box<ExceptionIdentity>>);

/// A violated invariant and the outcome to report.
pub(crate) struct BrokenInvariant {
    pub(crate) outcome: Outcome,
    pub(crate) violation: Violation,
}

/// A `property:` line.
struct Property<'py> {
    /// The condition that must hold.
    condition: LineCode<'py>,
    /// The message after the comma in `property: condition, message`.
    message: Option<LineCode<'py>>,
}

/// A pool that declares the type of its values.
struct PoolType<'py> {
    pool: PoolId,
    /// A function that returns whether a value has exactly the type.
    function: Bound<'py, PyAny>,
}

impl<'py> Checks<'py> {
    /// Prepares all invariants of a harness.
    pub(crate) fn new(context: &HarnessContext<'py>, when: CheckMode) -> PyResult<Checks<'py>> {
        let harness = &context.harness;
        let mut properties = Vec::new();
        for property in &harness.properties {
            let globally = harness.exceptions.iter().map(|exception| &exception.text);
            let allowed_exceptions = globally.chain(&property.expected).cloned().collect();
            let message = property.message.as_ref().map(|message| {
                let line = CodeLine {
                    code: message.clone(),
                    ..property.line.clone()
                };
                LineCode::new(context, &line, LineKind::Expression(Vec::new()))
            });
            let condition = LineCode::new(
                context,
                &property.line,
                LineKind::Expression(allowed_exceptions),
            );
            properties.push(Property { condition, message });
        }
        let mut types = Vec::new();
        for (number, pool) in harness.pools.iter().enumerate() {
            if let Some(type_name) = &pool.type_name {
                let code = format!("type(value) == ({type_name})");
                let text = functions::expression("has_type", pool.line, "value", &code, &[]);
                types.push(PoolType {
                    pool: PoolId(number),
                    function: context.function(&text)?,
                });
            }
        }
        let (tracker, tracking_error) = match when {
            CheckMode::All => (None, None),
            CheckMode::Changed => match ChangeTracker::new(context) {
                Ok(tracker) => (Some(tracker), None),
                Err(error) => (None, Some(error.value(context.python).to_string())),
            },
        };
        Ok(Checks {
            combined: CombinedChecks::new(context, &properties),
            properties,
            types,
            tracker,
            tracking_error,
        })
    }

    /// Returns the code of all lines, to check that it compiles.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &LineCode<'py>> {
        self.properties
            .iter()
            .flat_map(|property| std::iter::once(&property.condition).chain(&property.message))
    }

    /// Checks everything, types first, up to the first violation.
    #[inline]
    pub(crate) fn check(
        &mut self,
        context: &HarnessContext<'py>,
        states: &PoolStates,
    ) -> Result<(), Box<BrokenInvariant>> {
        let mut violations = self.types.iter();
        if let Some(broken) = violations.find_map(|declared| declared.violation(context)) {
            return Err(Box::new(broken));
        }
        if let Some(tracker) = &mut self.tracker
            && tracker.start(context, &mut self.properties)
        {
            return self.check_changed(context, states);
        }
        let answer = self.combined.as_mut().map(|all| all.check(context));
        match answer {
            Some(Ok(result)) if result.is_none() => Ok(()),
            answer => self.find_violation(context, states, answer),
        }
    }

    /// Finds the violated property after the combined check did not pass.
    #[cold]
    fn find_violation(
        &mut self,
        context: &HarnessContext<'py>,
        states: &PoolStates,
        answer: Option<CallResult<'py>>,
    ) -> Result<(), Box<BrokenInvariant>> {
        let found = self.combined.as_ref().zip(answer);
        match found.map(|(all, answer)| all.interpret(answer)) {
            Some(CheckResult::BrokenInvariant(number, values, error)) => {
                let property = &mut self.properties[number];
                let (outcome, raised) = property.violation_outcome(context, &values, error);
                let violation = Violation::Property(number, values, raised);
                Err(Box::new(BrokenInvariant { outcome, violation }))
            }
            Some(CheckResult::Unknown) | None => {
                self.check_properties(context, states, |_, _| true)
            }
        }
    }

    /// Checks the properties for which `is_wanted` returns true, given the number of a property and
    /// of a combination.
    fn check_properties(
        &mut self,
        context: &HarnessContext<'py>,
        states: &PoolStates,
        mut is_wanted: impl FnMut(usize, usize) -> bool,
    ) -> Result<(), Box<BrokenInvariant>> {
        for (number, property) in self.properties.iter_mut().enumerate() {
            let is_wanted = |combination| is_wanted(number, combination);
            let ((outcome, raised), values) = property.check(context, states, is_wanted);
            if outcome != Outcome::Passed {
                let violation = Violation::Property(number, values, raised);
                return Err(Box::new(BrokenInvariant { outcome, violation }));
            }
        }
        Ok(())
    }

    /// Checks the properties that may have changed since they held.
    fn check_changed(
        &mut self,
        context: &HarnessContext<'py>,
        states: &PoolStates,
    ) -> Result<(), Box<BrokenInvariant>> {
        let Some(mut tracker) = self.tracker.take() else {
            return Ok(());
        };
        let mut result = self.check_properties(context, states, |property, combination| {
            tracker.needs_check(property, combination)
        });
        // Properties must not change what others see, but if one does, it must not go unnoticed.
        if result.is_ok() && tracker.finish(context) {
            result = self.check_properties(context, states, |property, combination| {
                tracker.was_skipped(property, combination)
            });
            tracker.invalidate();
        } else if result.is_err() {
            tracker.invalidate();
        }
        self.tracker = Some(tracker);
        result
    }

    /// Returns the signatures of all invariants that do not hold.
    pub(crate) fn violations(
        &mut self,
        context: &HarnessContext<'py>,
        states: &PoolStates,
    ) -> Vec<String> {
        let types = self.types.iter();
        let of_types = types.filter_map(|declared| Some(declared.violation(context)?.outcome));
        let mut outcomes: Vec<Outcome> = of_types.collect();
        for property in &mut self.properties {
            outcomes.push(property.check(context, states, |_| true).0.0);
        }
        let signature = |outcome| match outcome {
            Outcome::Failed(failure) => Some(failure.signature),
            _ => None,
        };
        outcomes.into_iter().filter_map(signature).collect()
    }

    /// Returns the reason why all properties are checked although only changed ones were requested.
    pub(crate) fn reason_for_all(&self) -> Option<&str> {
        let why = self
            .tracker
            .as_ref()
            .and_then(ChangeTracker::reason_for_all);
        why.or(self.tracking_error.as_deref())
    }
}

impl<'py> Property<'py> {
    /// Checks the property and returns the outcome, the exception that it raises, and the values
    /// it is false for.
    fn check(
        &mut self,
        context: &HarnessContext<'py>,
        states: &PoolStates,
        is_wanted: impl FnMut(usize) -> bool,
    ) -> (ViolationOutcome, Vec<u64>) {
        let mut violation = None;
        self.condition
            .for_each_where(context, Some(states), is_wanted, |line, values, result| {
                if result.as_ref().is_ok_and(call::is_true) {
                    return true;
                }
                let answer = result.and_then(|value| context.is_truthy(line.line, &value));
                if !matches!(answer, Ok(true)) {
                    violation = Some((values.to_vec(), answer.err()));
                }
                violation.is_none()
            });
        match violation {
            Some((values, error)) => (self.violation_outcome(context, &values, error), values),
            None => ((Outcome::Passed, None), Vec::new()),
        }
    }

    /// Returns the outcome for values where the property is false or raises.
    fn violation_outcome(
        &mut self,
        context: &HarnessContext<'py>,
        values: &[u64],
        error: Option<PyErr>,
    ) -> ViolationOutcome {
        let line = &self.condition.line;
        let text = context.display_text(&line.code, &line.axes, values);
        let text = text.trim();
        let mut signature = format!("property in line {}", line.line);
        let mut details = String::new();
        let mut identity = None;
        let message = match error {
            Some(error) if interrupt::is_interrupt(context.python, &error) => {
                return (Outcome::Interrupted, None);
            }
            Some(error) => {
                let raised = RaisedException::new(context.python, &error);
                signature = format!("{signature} raised {}", raised.type_name);
                details.clone_from(&raised.traceback);
                identity = Some(Box::new(raised.identity()));
                format!("`{text}` raised {}", raised.summary())
            }
            None => format!("`{text}` is false{}", self.message_text(context, values)),
        };
        let failure = Failure {
            kind: FailureKind::Property,
            message,
            signature,
            details,
        };
        (Outcome::Failed(Box::new(failure)), identity)
    }

    /// Returns the harness's own message about a violation, with a leading colon.
    fn message_text(&mut self, context: &HarnessContext<'py>, values: &[u64]) -> String {
        let message = self
            .message
            .as_mut()
            .map(|message| message.call(context, values));
        let Some(Ok(message)) = message else {
            return String::new();
        };
        let text = message.str();
        let text = text.map_or_else(|_| short_repr(&message), |text| text.to_string());
        match in_one_line(&text) {
            line if line.is_empty() => line,
            line => format!(": {line}"),
        }
    }
}

impl PoolType<'_> {
    /// Returns the first slot whose value has another type.
    fn violation(&self, context: &HarnessContext<'_>) -> Option<BrokenInvariant> {
        let pool = context.harness.pool(self.pool);
        for slot in 0..pool.size {
            let value = context
                .slots
                .get_item(context.layout.position(self.pool, slot))
                .ok()?;
            let has_type = || {
                self.function
                    .call1((&value,))
                    .and_then(|has_type| has_type.is_truthy())
                    .unwrap_or(false)
            };
            if value.is_none() || has_type() {
                continue;
            }
            let name = context.harness.catalog.pool(self.pool).slot_name(slot);
            let wanted = pool.type_name.as_deref().unwrap_or_default();
            let found = value
                .get_type()
                .name()
                .map_or_else(|_| String::from("?"), |name| name.to_string());
            let failure = Failure {
                kind: FailureKind::PoolType,
                message: format!(
                    "`{name}` holds {}, a value of type {found}, but its pool is declared `: {wanted}`",
                    short_repr(&value)
                ),
                signature: format!("pool {}", pool.name),
                details: String::new(),
            };
            return Some(BrokenInvariant {
                outcome: Outcome::Failed(Box::new(failure)),
                violation: Violation::Type(self.pool, slot),
            });
        }
        None
    }
}
