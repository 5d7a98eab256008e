//! Modules under test, put back to how they are right after they were run.
//!
//! Running a module again makes new functions and classes, and the interpreter then has to get to know them: it
//! looks up attributes slowly until it has seen them a few times. That costs far more than a test of a hundred
//! quick steps. So a module is run again only if that could make a difference: if it does more than define names
//! (`only_definitions` reads its text), or if anything that it defined has changed since ([`Imprint`]).

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::imprint::Imprint;

/// A module that a reset puts back.
pub(crate) struct Module<'py> {
    namespace: Bound<'py, PyDict>,
    code: Bound<'py, PyAny>,
    /// The names it defines, if that is all it does.
    defined: Option<Vec<String>>,
}

/// A module as `support.py` finds it: its namespace, its code, and its text if that can be read.
pub(crate) type FoundModule<'py> = (Bound<'py, PyDict>, Bound<'py, PyAny>, Option<String>);

/// A module that could not be run again.
pub(crate) struct CannotRun {
    pub(crate) module: String,
    pub(crate) error: PyErr,
}

/// All modules that a reset puts back, in order.
pub(crate) struct Modules<'py> {
    modules: Vec<Module<'py>>,
    /// The interpreter's own `exec`.
    execute: Bound<'py, PyAny>,
    /// What the modules looked like when they were last run; `None` if they are to be run again anyway.
    imprint: Option<Imprint>,
    /// Goes up with each look that found nothing changed. Looking is given up when there is none left: a system
    /// that changes its modules in every test would pay for looks that never help.
    patience: u32,
}

const MOST_PATIENCE: u32 = 16;

impl<'py> Modules<'py> {
    /// Nothing is run yet.
    pub(crate) fn new(
        python: Python<'py>,
        modules: Vec<FoundModule<'py>>,
    ) -> PyResult<Modules<'py>> {
        let module = |(namespace, code, text): FoundModule<'py>| Module {
            namespace,
            code,
            defined: text.and_then(|text| testwright_source::only_definitions(&text)),
        };
        Ok(Modules {
            modules: modules.into_iter().map(module).collect(),
            execute: python.import("builtins")?.getattr("exec")?,
            imprint: None,
            patience: MOST_PATIENCE,
        })
    }

    /// Whether this is the namespace of one of the modules.
    pub(crate) fn contain(&self, namespace: &Bound<'py, PyAny>) -> bool {
        self.modules
            .iter()
            .any(|module| module.namespace.is(namespace))
    }

    /// Brings all modules into the state they are in right after they were run.
    ///
    /// Either all are run or none: a module may hold what it imported from another.
    pub(crate) fn reset(&mut self) -> Result<(), CannotRun> {
        if let Some(imprint) = &self.imprint {
            if imprint.is_unchanged(self.execute.py()) {
                self.patience = (self.patience + 1).min(MOST_PATIENCE);
                return Ok(());
            }
            self.patience = self.patience.saturating_sub(2);
        }
        self.imprint = None;
        for module in &self.modules {
            module.run(&self.execute)?;
        }
        if self.patience > 0 {
            self.imprint = self.new_imprint();
            if self.imprint.is_none() {
                self.patience = 0;
            }
        }
        Ok(())
    }

    fn new_imprint(&self) -> Option<Imprint> {
        let mut namespaces = Vec::new();
        for module in &self.modules {
            namespaces.push((&module.namespace, module.defined.as_deref()?));
        }
        Imprint::new(&namespaces)
    }
}

impl Module<'_> {
    fn run(&self, execute: &Bound<'_, PyAny>) -> Result<(), CannotRun> {
        let ran = execute.call1((&self.code, &self.namespace));
        ran.map(|_| ()).map_err(|error| {
            let name = self.namespace.get_item("__name__").ok().flatten();
            CannotRun {
                module: name.map(|name| name.to_string()).unwrap_or_default(),
                error,
            }
        })
    }
}
