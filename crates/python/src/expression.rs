//! Expressions over the states of a harness, given by the user: a goal to reach, a distance to
//! minimize.
//!
//! They are not part of the harness, so errors are diagnostics of their own text. They see the
//! names that harness code sees, and each slot by its display name, such as `jug0`, or `jug_REF0`
//! for its reference.

use std::ops::Range;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashMap;
use testwright_core::{Error, PoolId};
use testwright_lang::{Diagnostic, Severity};
use testwright_source::{TokenKind, check_expression, names, tokenize};

use crate::failures;
use crate::interrupt;
use crate::system::PythonSystem;

/// A compiled expression over slots and harness names.
pub struct StateExpression<'py> {
    /// The source text.
    text: String,
    /// Takes the values of the slots that the expression names.
    function: Bound<'py, PyAny>,
    /// The positions of these slots.
    positions: Vec<usize>,
    /// The expression names a slot of a pool that has several.
    distinguishes_slots: bool,
}

/// The position of a slot, and whether its pool has others.
#[derive(Clone, Copy)]
struct NamedSlot {
    position: usize,
    has_siblings: bool,
}

impl<'py> PythonSystem<'py> {
    /// Compiles an expression, or returns all errors in it. Nothing is evaluated.
    pub fn expression(&self, text: &str) -> Result<StateExpression<'py>, Vec<Diagnostic>> {
        let problems = check_expression(text);
        if !problems.is_empty() {
            let to_diagnostic = |problem: testwright_source::SyntaxProblem| {
                diagnostic("host-syntax", problem.range, problem.message)
            };
            return Err(problems.into_iter().map(to_diagnostic).collect());
        }
        let slots = self.slots_by_name();
        let mut problems = Vec::new();
        let mut parameters = Vec::new();
        let mut used = Vec::new();
        // In brackets, since an expression may span several lines.
        let reads = names(&format!("(\n{text}\n)")).unwrap_or_default().reads;
        for name in reads {
            let normal = self.normalize_name(&name);
            match slots.get(&normal) {
                Some(slot) if !parameters.contains(&normal) => {
                    parameters.push(normal);
                    used.push(*slot);
                }
                Some(_) => {}
                None if self.is_known(&normal) => {}
                None => problems.push(self.unknown_name(text, &name)),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let code = format!(
            "def expression({}):\n return (\n{text}\n)\n",
            parameters.join(", ")
        );
        let arguments = (code, 1, "<expression>", &self.context.namespace);
        let made = self
            .context
            .support
            .call_method1("make_function", arguments);
        let whole = 0..text.len();
        let function = made.map_err(|error| {
            let message = failures::summary(self.context.python, &error);
            vec![diagnostic("host-syntax", whole.clone(), message)]
        })?;
        if is_suspended(&function) {
            let message = "`yield` and `await` have no place in an expression about a state";
            return Err(vec![diagnostic("host-syntax", whole, message)]);
        }
        Ok(StateExpression {
            text: text.trim().to_owned(),
            function,
            positions: used.iter().map(|slot| slot.position).collect(),
            distinguishes_slots: used.iter().any(|slot| slot.has_siblings),
        })
    }

    /// Returns all slots by display name, reference twins included.
    fn slots_by_name(&self) -> FxHashMap<String, NamedSlot> {
        let mut slots = FxHashMap::default();
        for (number, declared) in self.context.harness.pools.iter().enumerate() {
            let id = PoolId(number);
            let pool = self.context.harness.catalog.pool(id);
            for index in 0..declared.size {
                let position = self.context.layout.position(id, index);
                let is_one_of_many = declared.size > 1;
                let slot = |position| NamedSlot {
                    position,
                    has_siblings: is_one_of_many,
                };
                slots.insert(self.normalize_name(&pool.slot_name(index)), slot(position));
                if declared.reference {
                    let twin = position + self.context.layout.twin_distance(id);
                    slots.insert(self.normalize_name(&pool.twin_name(index)), slot(twin));
                }
            }
        }
        slots
    }

    /// Returns a name as Python normalizes it (NFKC): letters that look alike are one.
    fn normalize_name(&self, name: &str) -> String {
        if name.is_ascii() {
            return name.to_owned();
        }
        let normal = self
            .context
            .python
            .import("unicodedata")
            .and_then(|module| module.call_method1("normalize", ("NFKC", name)))
            .and_then(|normal| normal.extract::<String>());
        normal.unwrap_or_else(|_| name.to_owned())
    }

    /// Returns true if harness code can use a name.
    fn is_known(&self, name: &str) -> bool {
        let in_builtins = || {
            let builtins = self.context.python.import("builtins");
            builtins.and_then(|module| module.hasattr(name))
        };
        self.context.namespace.contains(name).unwrap_or(false) || in_builtins().unwrap_or(false)
    }

    /// Returns the diagnostic for a name that is neither a slot nor known to the harness.
    fn unknown_name(&self, text: &str, name: &str) -> Diagnostic {
        let mut name_tokens = tokenize(text).into_iter();
        let token = name_tokens
            .find(|token| token.kind == TokenKind::Name && &text[token.range.clone()] == name);
        let range = token.map_or(0..text.len(), |token| token.range);
        let message = format!("there is neither a slot nor a name `{name}` in the harness");
        let mut slots = Vec::new();
        for (number, declared) in self.context.harness.pools.iter().enumerate() {
            let pool = self.context.harness.catalog.pool(PoolId(number));
            let all = match declared.size {
                0 => continue,
                1 => format!("`{}`", pool.slot_name(0)),
                2 => format!("`{}` and `{}`", pool.slot_name(0), pool.slot_name(1)),
                size => format!("`{}` to `{}`", pool.slot_name(0), pool.slot_name(size - 1)),
            };
            slots.push(all);
        }
        let help = if slots.is_empty() {
            "the harness has no slots".to_owned()
        } else {
            format!("its slots are {}", slots.join(", "))
        };
        Diagnostic {
            help: Some(help),
            ..diagnostic("unknown-name", range, message)
        }
    }
}

impl<'py> StateExpression<'py> {
    /// Returns the source text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if the expression names a slot of a pool that has others, so that renaming
    /// slots may change its value.
    pub fn distinguishes_slots(&self) -> bool {
        self.distinguishes_slots
    }

    /// Returns true if the expression is true now. An exception while a named slot is empty counts
    /// as false.
    pub fn is_true(&self, system: &PythonSystem<'py>) -> Result<bool, Error> {
        let value = self.evaluate(system, |value| value.is_truthy())?;
        Ok(value.unwrap_or(false))
    }

    /// Returns the current value as a number, or `None` if evaluation raises while a named slot is
    /// empty.
    pub fn number(&self, system: &PythonSystem<'py>) -> Result<Option<f64>, Error> {
        self.evaluate(system, |value| value.extract::<f64>())
    }

    /// Evaluates the expression and converts its value with `read`.
    fn evaluate<R>(
        &self,
        system: &PythonSystem<'py>,
        read: impl Fn(&Bound<'py, PyAny>) -> PyResult<R>,
    ) -> Result<Option<R>, Error> {
        let python = system.context.python;
        let attempt = || {
            let slots = self.positions.iter();
            let slots = slots.map(|position| system.context.slots.get_item(*position));
            let arguments = PyTuple::new(python, slots.collect::<PyResult<Vec<_>>>()?)?;
            read(&self.function.call1(arguments)?)
        };
        let mut result = attempt();
        if let Err(error) = &result
            && interrupt::is_interrupt(python, error)
        {
            // The interrupt is noted. The caller still gets an answer and sees the interrupt
            // afterwards.
            result = attempt();
        }
        interrupt::mark_progress();
        let error = match result {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error,
        };
        let is_filled = |position: &usize| crate::call::is_filled(&system.context.slots, *position);
        let all_filled = self.positions.iter().all(is_filled);
        if !all_filled && error.is_instance_of::<PyException>(python) {
            return Ok(None);
        }
        let raised = failures::summary(python, &error);
        let help =
            "it must have a value in every state in which the slots that it names are filled";
        Err(Error::new(format!("`{}` raised {raised}", self.text)).with_help(help))
    }
}

/// Returns true if calling the function only creates a generator or a coroutine.
fn is_suspended(function: &Bound<'_, PyAny>) -> bool {
    const GENERATOR: u32 = 0x20;
    const COROUTINE: u32 = 0x80;
    const ASYNC_GENERATOR: u32 = 0x200;
    let flags = function
        .getattr("__code__")
        .and_then(|code| code.getattr("co_flags"))
        .and_then(|flags| flags.extract::<u32>());
    flags.is_ok_and(|flags| flags & (GENERATOR | COROUTINE | ASYNC_GENERATOR) != 0)
}

/// Returns an error diagnostic for a text given by the user.
pub(crate) fn diagnostic(
    name: &'static str,
    range: Range<usize>,
    message: impl Into<String>,
) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        name,
        message: message.into(),
        range,
        label: String::new(),
        related: None,
        help: None,
    }
}
