//! Invariants: properties, and the types that pools declare.

use pyo3::prelude::*;
use testwright_core::{Failure, FailureKind, Outcome, PoolId};
use testwright_lang::harness::Line;

use crate::call;
use crate::context::Context;
use crate::failures::{self, Raised, shown};
use crate::functions;
use crate::line_code::{Kind, LineCode};
use crate::pool_states::PoolStates;

/// Everything that must hold after every step.
pub(crate) struct Checks<'py> {
    properties: Vec<Property<'py>>,
    types: Vec<PoolType<'py>>,
}

/// An invariant that does not hold.
#[derive(Clone, Debug)]
pub(crate) enum Violation {
    /// The property with this number, for these values.
    Property(usize, Vec<u64>),
    /// The type of the value in this slot.
    Type(PoolId, u32),
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
    pub(crate) fn new(context: &Context<'py>) -> PyResult<Checks<'py>> {
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
        Ok(Checks { properties, types })
    }

    /// The code of all lines, for checking that it compiles.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &LineCode<'py>> {
        self.properties
            .iter()
            .flat_map(|property| std::iter::once(&property.condition).chain(&property.message))
    }

    /// Checks everything, types first, up to the first violation.
    pub(crate) fn check(
        &mut self,
        context: &Context<'py>,
        states: &PoolStates,
    ) -> (Outcome, Option<Violation>) {
        if let Some((failure, violation)) = self
            .types
            .iter()
            .find_map(|declared| declared.violation(context))
        {
            return (Outcome::Failed(Box::new(failure)), Some(violation));
        }
        for (number, property) in self.properties.iter_mut().enumerate() {
            let (outcome, values) = property.check(context, states);
            if outcome != Outcome::Passed {
                return (outcome, Some(Violation::Property(number, values)));
            }
        }
        (Outcome::Passed, None)
    }
}

impl<'py> Property<'py> {
    /// What it comes to, and the values it is false for.
    fn check(&mut self, context: &Context<'py>, states: &PoolStates) -> (Outcome, Vec<u64>) {
        let mut violation = None;
        self.condition
            .for_each(context, Some(states), |line, values, result| {
                if result.as_ref().is_ok_and(call::is_true) {
                    return true;
                }
                let answer = result.and_then(|value| value.is_truthy());
                if !matches!(answer, Ok(true)) {
                    let text = context.shown(&line.code, &line.axes, values);
                    violation = Some((
                        answer.err(),
                        values.to_vec(),
                        text.trim().to_owned(),
                        line.line,
                    ));
                }
                violation.is_none()
            });
        let Some((error, values, text, line)) = violation else {
            return (Outcome::Passed, Vec::new());
        };
        let mut signature = format!("property in line {line}");
        let mut details = String::new();
        let message = match error {
            Some(error) if failures::is_interrupt(context.python, &error) => {
                return (Outcome::Interrupted, values);
            }
            Some(error) => {
                let raised = Raised::new(context.python, &error);
                signature = format!("{signature} raised {}", raised.type_name);
                details.clone_from(&raised.traceback);
                format!("`{text}` raised {}", raised.summary())
            }
            None => format!("`{text}` is false{}", self.words(context, &values)),
        };
        let failure = Failure {
            kind: FailureKind::Property,
            message,
            signature,
            details,
        };
        (Outcome::Failed(Box::new(failure)), values)
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
    fn violation(&self, context: &Context<'_>) -> Option<(Failure, Violation)> {
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
            return Some((failure, Violation::Type(self.pool, slot)));
        }
        None
    }
}
