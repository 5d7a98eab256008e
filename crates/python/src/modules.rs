//! Modules under test, reset to their state right after import.
//!
//! Executing a module again creates new functions and classes, which the interpreter runs slowly
//! until it has specialised them. That costs far more than a test of a hundred quick steps. So
//! modules are executed again only if that could make a difference: if a module does more than
//! define names (`only_definitions` reads its text), or if anything that it defined has changed
//! since ([`ModuleSnapshot`]).

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::module_snapshot::ModuleSnapshot;

/// A module that a reset restores.
pub(crate) struct ResettableModule<'py> {
    /// The module's `__dict__`.
    namespace: Bound<'py, PyDict>,
    /// The compiled module.
    code: Bound<'py, PyAny>,
    /// The names it defines, if definitions are all it contains.
    defined: Option<Vec<String>>,
}

/// A module as `support.py` finds it: its namespace, its code, and its text if that can be read.
pub(crate) type FoundModule<'py> = (Bound<'py, PyDict>, Bound<'py, PyAny>, Option<String>);

/// An exception raised by executing a module again.
pub(crate) struct ModuleRunError {
    /// The name of the module.
    pub(crate) module: String,
    /// The exception.
    pub(crate) error: PyErr,
}

/// All modules that a reset restores, in order of execution.
pub(crate) struct ResettableModules<'py> {
    /// The modules.
    modules: Vec<ResettableModule<'py>>,
    /// The built-in function `exec`.
    execute: Bound<'py, PyAny>,
    /// The state after the last execution; `None` if they have to be executed again anyway.
    snapshot: Option<ModuleSnapshot>,
    /// Credit for comparisons: it grows with each one that found no change and shrinks with each
    /// that did. At zero, comparing stops, since a system that changes its modules in every test
    /// gains nothing from it.
    credit: u32,
}

/// The maximum credit, and its initial value.
const MAX_CREDIT: u32 = 16;

impl<'py> ResettableModules<'py> {
    /// Prepares modules; nothing is executed yet.
    pub(crate) fn new(
        python: Python<'py>,
        modules: Vec<FoundModule<'py>>,
    ) -> PyResult<ResettableModules<'py>> {
        let module = |(namespace, code, text): FoundModule<'py>| ResettableModule {
            namespace,
            code,
            defined: text.and_then(|text| testwright_source::only_definitions(&text)),
        };
        Ok(ResettableModules {
            modules: modules.into_iter().map(module).collect(),
            execute: python.import("builtins")?.getattr("exec")?,
            snapshot: None,
            credit: MAX_CREDIT,
        })
    }

    /// Returns true if this is the namespace of one of the modules.
    pub(crate) fn contains(&self, namespace: &Bound<'py, PyAny>) -> bool {
        self.modules
            .iter()
            .any(|module| module.namespace.is(namespace))
    }

    /// Restores the state right after execution.
    ///
    /// Either all modules are executed or none: a module may hold objects that it imported from
    /// another.
    pub(crate) fn reset(&mut self) -> Result<(), ModuleRunError> {
        if let Some(snapshot) = &self.snapshot {
            if snapshot.is_unchanged(self.execute.py()) {
                self.credit = (self.credit + 1).min(MAX_CREDIT);
                return Ok(());
            }
            self.credit = self.credit.saturating_sub(2);
        }
        self.snapshot = None;
        for module in &self.modules {
            module.run(&self.execute)?;
        }
        if self.credit > 0 {
            self.snapshot = self.take_snapshot();
            if self.snapshot.is_none() {
                self.credit = 0;
            }
        }
        Ok(())
    }

    /// Takes a snapshot of all modules, if all of them contain only definitions.
    fn take_snapshot(&self) -> Option<ModuleSnapshot> {
        let mut namespaces = Vec::new();
        for module in &self.modules {
            namespaces.push((&module.namespace, module.defined.as_deref()?));
        }
        ModuleSnapshot::new(&namespaces)
    }
}

impl ResettableModule<'_> {
    /// Executes the module in its namespace.
    fn run(&self, execute: &Bound<'_, PyAny>) -> Result<(), ModuleRunError> {
        let ran = execute.call1((&self.code, &self.namespace));
        ran.map(|_| ()).map_err(|error| {
            let name = self.namespace.get_item("__name__").ok().flatten();
            ModuleRunError {
                module: name.map(|name| name.to_string()).unwrap_or_default(),
                error,
            }
        })
    }
}
