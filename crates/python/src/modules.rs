//! Modules under test, reset to their state right after import.
//!
//! Executing a module again creates new functions and classes, which the interpreter runs slowly
//! until it has specialized them. That costs far more than a test of a hundred quick steps. So
//! modules are executed again only if that could make a difference: if a module does more than
//! define names (`only_definitions` reads its text), or if anything that it defined has changed
//! since ([`ModuleSnapshot`]).

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::module_snapshot::ModuleSnapshot;

/// A module that a reset restores.
pub(crate) struct ResettableModule<'py> {
    /// The name, such as `package.module`.
    name: String,
    /// The module's `__dict__`.
    namespace: Bound<'py, PyDict>,
    /// The names it defines, if definitions are all it contains.
    defined: Option<Vec<String>>,
}

/// A module as `project_modules.py` finds it: its name, its namespace, and its text if that can be
/// read.
type FoundModule<'py> = (String, Bound<'py, PyDict>, Option<String>);

/// A name in a namespace, bound to what another name in another namespace refers to.
type NameAlias<'py> = (
    Bound<'py, PyDict>,
    Bound<'py, PyString>,
    Bound<'py, PyDict>,
    Bound<'py, PyString>,
);

/// All that `project_modules.py` finds: modules, names to bind again, statements to run again, and
/// the names that these bind.
type FoundProject<'py> = (
    Vec<FoundModule<'py>>,
    Vec<NameAlias<'py>>,
    Vec<(Bound<'py, PyAny>, Bound<'py, PyDict>)>,
    Vec<String>,
);

/// An exception raised by executing a module again.
pub(crate) struct ModuleRunError {
    /// The name of the module.
    pub(crate) module: String,
    /// The exception.
    pub(crate) error: PyErr,
}

/// All modules that a reset restores, in the order in which they were imported.
pub(crate) struct ResettableModules<'py> {
    /// The modules.
    modules: Vec<ResettableModule<'py>>,
    /// The names that the harness has for what these modules define.
    aliases: Vec<NameAlias<'py>>,
    /// The statements of the harness that use what these modules define, each with its namespace.
    dependents: Vec<(Bound<'py, PyAny>, Bound<'py, PyDict>)>,
    /// The names that these statements bind.
    dependent_names: Vec<String>,
    /// The object that finds the modules; `None` if there are none to find.
    finder: Option<Bound<'py, PyAny>>,
    /// The modules that are loaded, `sys.modules`.
    loaded: Bound<'py, PyDict>,
    /// The number of loaded modules when `finder` was last asked.
    loaded_count: usize,
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
    /// Prepares the modules that a finder finds, and those that it will find when more modules are
    /// loaded; nothing is executed yet.
    pub(crate) fn new(
        python: Python<'py>,
        finder: Option<Bound<'py, PyAny>>,
    ) -> PyResult<ResettableModules<'py>> {
        let mut modules = ResettableModules {
            modules: Vec::new(),
            aliases: Vec::new(),
            dependents: Vec::new(),
            dependent_names: Vec::new(),
            finder,
            loaded: python.import("sys")?.getattr("modules")?.cast_into()?,
            loaded_count: 0,
            execute: python.import("builtins")?.getattr("exec")?,
            snapshot: None,
            credit: MAX_CREDIT,
        };
        modules.find_new()?;
        Ok(modules)
    }

    /// Asks for more modules if any have been loaded since the last call.
    fn find_new(&mut self) -> PyResult<()> {
        if self.loaded.len() == self.loaded_count {
            return Ok(());
        }
        self.loaded_count = self.loaded.len();
        let Some(finder) = &self.finder else {
            return Ok(());
        };
        let found = finder.call_method1("find", (self.modules.len(),))?;
        let found: Option<FoundProject<'py>> = found.extract()?;
        let Some((modules, aliases, dependents, dependent_names)) = found else {
            return Ok(());
        };
        let module = |(name, namespace, text): FoundModule<'py>| ResettableModule {
            name,
            namespace,
            defined: text.and_then(|text| testwright_source::only_definitions(&text)),
        };
        self.modules = modules.into_iter().map(module).collect();
        (self.aliases, self.dependents) = (aliases, dependents);
        self.dependent_names = dependent_names;
        self.snapshot = None;
        self.credit = MAX_CREDIT;
        Ok(())
    }

    /// Returns the names of the modules, in the order in which they were imported.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.modules
            .iter()
            .map(|module| module.name.as_str())
            .collect()
    }

    /// Returns the names in the harness that are bound again after the modules are executed.
    pub(crate) fn dependent_names(&self) -> &[String] {
        &self.dependent_names
    }

    /// Returns the names of all modules that are loaded.
    pub(crate) fn loaded_names(&self) -> Bound<'py, PyList> {
        self.loaded.keys()
    }

    /// Makes the next reset execute the modules again, whatever they are like then.
    pub(crate) fn forget(&mut self) {
        self.snapshot = None;
    }

    /// Restores the state right after execution.
    ///
    /// Either all modules are executed or none: a module may hold objects that it imported from
    /// another.
    ///
    /// Returns true if they were executed.
    pub(crate) fn reset(&mut self) -> Result<bool, ModuleRunError> {
        // The system may have broken what finding needs; then the known modules are restored.
        let _ = self.find_new();
        if let Some(snapshot) = &self.snapshot {
            if snapshot.is_unchanged(self.execute.py()) {
                self.credit = (self.credit + 1).min(MAX_CREDIT);
                return Ok(false);
            }
            self.credit = self.credit.saturating_sub(2);
        }
        self.snapshot = None;
        self.import_again()?;
        for (namespace, name, source, source_name) in &self.aliases {
            if let Ok(Some(value)) = source.get_item(source_name) {
                // Assigning to a text key of a dictionary does not fail.
                let _ = namespace.set_item(name, value);
            }
        }
        for dependent in &self.dependents {
            // What cannot be done twice keeps its first result.
            let _ = self.execute.call1(dependent);
        }
        if self.credit > 0 {
            self.snapshot = self.take_snapshot();
            if self.snapshot.is_none() {
                self.credit = 0;
            }
        }
        Ok(!self.modules.is_empty())
    }

    /// Executes the modules in the order in which Python imports them.
    fn import_again(&self) -> Result<(), ModuleRunError> {
        let finder = self.finder.iter().filter(|_| !self.modules.is_empty());
        for finder in finder {
            finder.call_method0("import_again").map_err(|error| {
                let name = finder.getattr("failed").and_then(|name| name.extract());
                ModuleRunError {
                    module: name.unwrap_or_default(),
                    error,
                }
            })?;
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
