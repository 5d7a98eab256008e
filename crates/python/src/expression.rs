//! Expressions that a person asks about the states of a harness: is this what I look for, how far is it?
//!
//! They are not part of the harness, so what is wrong with one is told as a diagnostic of its own text. They see what
//! harness code sees, and each slot by the name that tests give it, such as `jug0`, or `jug_REF0` for its reference.

use std::ops::Range;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashMap;
use testwright_core::{Error, PoolId};
use testwright_lang::{Diagnostic, Severity};
use testwright_source::{TokenKind, check_expression, names, tokens};

use crate::failures;
use crate::interrupt;
use crate::system::PythonSystem;

/// An expression over slots and harness names, compiled once.
pub struct Expression<'py> {
    text: String,
    /// Takes the values of the slots that the expression names.
    function: Bound<'py, PyAny>,
    places: Vec<usize>,
    names_one_of_many: bool,
}

/// Where a slot is, and whether its pool has others.
#[derive(Clone, Copy)]
struct Slot {
    place: usize,
    is_one_of_many: bool,
}

impl<'py> PythonSystem<'py> {
    /// Compiles an expression, or tells all that is wrong with it. Nothing is evaluated.
    pub fn expression(&self, text: &str) -> Result<Expression<'py>, Vec<Diagnostic>> {
        let problems = check_expression(text);
        if !problems.is_empty() {
            let tell = |problem: testwright_source::Problem| {
                diagnostic("host-syntax", problem.range, problem.message)
            };
            return Err(problems.into_iter().map(tell).collect());
        }
        let slots = self.slots_by_name();
        let mut problems = Vec::new();
        let mut parameters = Vec::new();
        let mut used = Vec::new();
        // In brackets, since an expression may go over several lines.
        let reads = names(&format!("(\n{text}\n)")).unwrap_or_default().reads;
        for name in reads {
            let normal = self.normalised(&name);
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
        Ok(Expression {
            text: text.trim().to_owned(),
            function,
            places: used.iter().map(|slot| slot.place).collect(),
            names_one_of_many: used.iter().any(|slot| slot.is_one_of_many),
        })
    }

    fn slots_by_name(&self) -> FxHashMap<String, Slot> {
        let mut slots = FxHashMap::default();
        for (number, declared) in self.context.harness.pools.iter().enumerate() {
            let id = PoolId(number);
            let pool = self.context.harness.catalog.pool(id);
            for index in 0..declared.size {
                let place = self.context.layout.place(id, index);
                let is_one_of_many = declared.size > 1;
                let slot = |place| Slot {
                    place,
                    is_one_of_many,
                };
                slots.insert(self.normalised(&pool.slot_name(index)), slot(place));
                if declared.reference {
                    let twin = place + self.context.layout.twin_distance(id);
                    slots.insert(self.normalised(&pool.twin_name(index)), slot(twin));
                }
            }
        }
        slots
    }

    /// A name as Python spells it: letters that look alike are one.
    fn normalised(&self, name: &str) -> String {
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

    /// Whether harness code knows a name.
    fn is_known(&self, name: &str) -> bool {
        let in_builtins = || {
            let builtins = self.context.python.import("builtins");
            builtins.and_then(|module| module.hasattr(name))
        };
        self.context.namespace.contains(name).unwrap_or(false) || in_builtins().unwrap_or(false)
    }

    fn unknown_name(&self, text: &str, name: &str) -> Diagnostic {
        let mut words = tokens(text).into_iter();
        let token =
            words.find(|token| token.kind == TokenKind::Name && &text[token.range.clone()] == name);
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

impl<'py> Expression<'py> {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it names a slot of a pool that has others, so that renaming slots may change its value.
    pub fn tells_slots_apart(&self) -> bool {
        self.names_one_of_many
    }

    /// Whether it is true now. If it raises while a slot that it names is empty, it is not.
    pub fn is_true(&self, system: &PythonSystem<'py>) -> Result<bool, Error> {
        let value = self.evaluate(system, |value| value.is_truthy())?;
        Ok(value.unwrap_or(false))
    }

    /// Its value now, as a number. If it raises while a slot that it names is empty, there is none.
    pub fn number(&self, system: &PythonSystem<'py>) -> Result<Option<f64>, Error> {
        self.evaluate(system, |value| value.extract::<f64>())
    }

    fn evaluate<R>(
        &self,
        system: &PythonSystem<'py>,
        read: impl Fn(&Bound<'py, PyAny>) -> PyResult<R>,
    ) -> Result<Option<R>, Error> {
        let python = system.context.python;
        let attempt = || {
            let slots = self.places.iter();
            let slots = slots.map(|place| system.context.slots.get_item(*place));
            let arguments = PyTuple::new(python, slots.collect::<PyResult<Vec<_>>>()?)?;
            read(&self.function.call1(arguments)?)
        };
        let mut result = attempt();
        if let Err(error) = &result
            && interrupt::is_interrupt(python, error)
        {
            // The wish to stop is noted; whoever asked gets an answer and finds out then.
            result = attempt();
        }
        interrupt::sign_of_life();
        let error = match result {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error,
        };
        let is_filled = |place: &usize| crate::call::is_filled(&system.context.slots, *place);
        let all_filled = self.places.iter().all(is_filled);
        if !all_filled && error.is_instance_of::<PyException>(python) {
            return Ok(None);
        }
        let raised = failures::summary(python, &error);
        let help =
            "it must have a value in every state in which the slots that it names are filled";
        Err(Error::new(format!("`{}` raised {raised}", self.text)).with_help(help))
    }
}

/// Whether calling a function only makes a generator or a coroutine.
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

/// Something wrong with a text that a person typed.
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
