//! Invariants: properties, and the types that pools declare.

mod at_once;
mod changed;

use pyo3::prelude::*;
use testwright_core::{Failure, FailureKind, Outcome, PoolId};
use testwright_lang::harness::Line;

use crate::call::{self, Attempt};
use crate::context::Context;
use crate::failures::{Raised, shown};
use crate::functions;
use crate::interrupt;
use crate::line_code::{Kind, LineCode};
use crate::options::ChecksWhen;
use crate::pool_states::PoolStates;

use at_once::{AtOnce, Finding};
use changed::Changed;

/// Everything that must hold after every step.
pub(crate) struct Checks<'py> {
    properties: Vec<Property<'py>>,
    types: Vec<PoolType<'py>>,
    /// Checks all properties, if that can be done by one call.
    at_once: Option<AtOnce<'py>>,
    /// What is known of properties that held, if only those are to be checked that may not hold any more.
    changed: Option<Changed<'py>>,
    /// Why what changes cannot be known in this interpreter.
    why_never: Option<String>,
}

/// An invariant that does not hold.
#[derive(Clone, Debug)]
pub(crate) enum Violation {
    /// The property with this number, for these values.
    Property(usize, Vec<u64>),
    /// The type of the value in this slot.
    Type(PoolId, u32),
}

/// What comes of an invariant that does not hold.
pub(crate) struct Broken {
    pub(crate) outcome: Outcome,
    pub(crate) violation: Violation,
}

struct Property<'py> {
    condition: LineCode<'py>,
    /// `property: condition, message`.
    message: Option<LineCode<'py>>,
}

/// A pool that declares the type of its values.
struct PoolType<'py> {
    pool: PoolId,
    /// From a value to whether it has exactly the type.
    function: Bound<'py, PyAny>,
}

impl<'py> Checks<'py> {
    pub(crate) fn new(context: &Context<'py>, when: ChecksWhen) -> PyResult<Checks<'py>> {
        let harness = &context.harness;
        let mut properties = Vec::new();
        for property in &harness.properties {
            let globally = harness.exceptions.iter().map(|exception| &exception.text);
            let excuses = globally.chain(&property.expected).cloned().collect();
            let message = property.message.as_ref().map(|message| {
                let line = Line {
                    code: message.clone(),
                    ..property.line.clone()
                };
                LineCode::new(context, &line, Kind::Expression(Vec::new()))
            });
            let condition = LineCode::new(context, &property.line, Kind::Expression(excuses));
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
        let (changed, why_never) = match when {
            ChecksWhen::All => (None, None),
            ChecksWhen::Changed => match Changed::new(context) {
                Ok(changed) => (Some(changed), None),
                Err(error) => (None, Some(error.value(context.python).to_string())),
            },
        };
        Ok(Checks {
            at_once: AtOnce::new(context, &properties),
            properties,
            types,
            changed,
            why_never,
        })
    }

    /// The code of all lines, for checking that it compiles.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &LineCode<'py>> {
        self.properties
            .iter()
            .flat_map(|property| std::iter::once(&property.condition).chain(&property.message))
    }

    /// Checks everything, types first, up to the first violation.
    #[inline]
    pub(crate) fn check(
        &mut self,
        context: &Context<'py>,
        states: &PoolStates,
    ) -> Result<(), Box<Broken>> {
        let mut violations = self.types.iter();
        if let Some(broken) = violations.find_map(|declared| declared.violation(context)) {
            return Err(Box::new(broken));
        }
        if let Some(changed) = &mut self.changed
            && changed.start(context, &mut self.properties)
        {
            return self.check_changed(context, states);
        }
        let answer = self.at_once.as_mut().map(|all| all.check(context));
        match answer {
            Some(Ok(result)) if result.is_none() => Ok(()),
            answer => self.look_closer(context, states, answer),
        }
    }

    /// Finds out what is wrong after not all properties were found to hold by one call.
    #[cold]
    fn look_closer(
        &mut self,
        context: &Context<'py>,
        states: &PoolStates,
        answer: Option<Attempt<'py>>,
    ) -> Result<(), Box<Broken>> {
        let found = self.at_once.as_ref().zip(answer);
        match found.map(|(all, answer)| all.finding(answer)) {
            Some(Finding::Broken(number, values, error)) => Err(Box::new(Broken {
                outcome: self.properties[number].violated(context, &values, error),
                violation: Violation::Property(number, values),
            })),
            Some(Finding::Unknown) | None => self.check_properties(context, states, |_, _| true),
        }
    }

    /// Checks those properties that are wanted, by number and number of the combination.
    fn check_properties(
        &mut self,
        context: &Context<'py>,
        states: &PoolStates,
        mut is_wanted: impl FnMut(usize, usize) -> bool,
    ) -> Result<(), Box<Broken>> {
        for (number, property) in self.properties.iter_mut().enumerate() {
            let is_wanted = |combination| is_wanted(number, combination);
            let (outcome, values) = property.check(context, states, is_wanted);
            if outcome != Outcome::Passed {
                let violation = Violation::Property(number, values);
                return Err(Box::new(Broken { outcome, violation }));
            }
        }
        Ok(())
    }

    /// Checks what may have changed since it held.
    fn check_changed(
        &mut self,
        context: &Context<'py>,
        states: &PoolStates,
    ) -> Result<(), Box<Broken>> {
        let Some(mut changed) = self.changed.take() else {
            return Ok(());
        };
        let mut result = self.check_properties(context, states, |property, combination| {
            changed.is_wanted(property, combination)
        });
        // A property that changes what others see is against the rules, but not to be missed.
        if result.is_ok() && changed.finish(context) {
            result = self.check_properties(context, states, |property, combination| {
                changed.is_wanted_after_all(property, combination)
            });
            changed.forget();
        } else if result.is_err() {
            changed.forget();
        }
        self.changed = Some(changed);
        result
    }

    /// Why all properties are checked after every step although only some were to be.
    pub(crate) fn why_all(&self) -> Option<&str> {
        let why = self.changed.as_ref().and_then(Changed::why_all);
        why.or(self.why_never.as_deref())
    }
}

impl<'py> Property<'py> {
    /// What it comes to, and the values it is false for.
    fn check(
        &mut self,
        context: &Context<'py>,
        states: &PoolStates,
        is_wanted: impl FnMut(usize) -> bool,
    ) -> (Outcome, Vec<u64>) {
        let mut violation = None;
        self.condition
            .for_each_wanted(context, Some(states), is_wanted, |_, values, result| {
                if result.as_ref().is_ok_and(call::is_true) {
                    return true;
                }
                let answer = result.and_then(|value| value.is_truthy());
                if !matches!(answer, Ok(true)) {
                    violation = Some((values.to_vec(), answer.err()));
                }
                violation.is_none()
            });
        match violation {
            Some((values, error)) => (self.violated(context, &values, error), values),
            None => (Outcome::Passed, Vec::new()),
        }
    }

    /// What it means that it is false for these values, or raises.
    fn violated(
        &mut self,
        context: &Context<'py>,
        values: &[u64],
        error: Option<PyErr>,
    ) -> Outcome {
        let line = &self.condition.line;
        let text = context.shown(&line.code, &line.axes, values);
        let text = text.trim();
        let mut signature = format!("property in line {}", line.line);
        let mut details = String::new();
        let message = match error {
            Some(error) if interrupt::is_interrupt(context.python, &error) => {
                return Outcome::Interrupted;
            }
            Some(error) => {
                let raised = Raised::new(context.python, &error);
                signature = format!("{signature} raised {}", raised.type_name);
                details.clone_from(&raised.traceback);
                format!("`{text}` raised {}", raised.summary())
            }
            None => format!("`{text}` is false{}", self.words(context, values)),
        };
        Outcome::Failed(Box::new(Failure {
            kind: FailureKind::Property,
            message,
            signature,
            details,
        }))
    }

    /// What the harness has to say about a violation.
    fn words(&mut self, context: &Context<'py>, values: &[u64]) -> String {
        let message = self
            .message
            .as_mut()
            .map(|message| message.call(context, values));
        match message {
            Some(Ok(message)) => format!(
                ": {}",
                message
                    .str()
                    .map_or_else(|_| shown(&message), |text| text.to_string())
            ),
            _ => String::new(),
        }
    }
}

impl PoolType<'_> {
    /// The first slot whose value does not have the type.
    fn violation(&self, context: &Context<'_>) -> Option<Broken> {
        let pool = context.harness.pool(self.pool);
        for slot in 0..pool.size {
            let value = context
                .slots
                .get_item(context.layout.place(self.pool, slot))
                .ok()?;
            let right = || {
                self.function
                    .call1((&value,))
                    .and_then(|right| right.is_truthy())
                    .unwrap_or(false)
            };
            if value.is_none() || right() {
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
                    shown(&value)
                ),
                signature: format!("pool {}", pool.name),
                details: String::new(),
            };
            return Some(Broken {
                outcome: Outcome::Failed(Box::new(failure)),
                violation: Violation::Type(self.pool, slot),
            });
        }
        None
    }
}
