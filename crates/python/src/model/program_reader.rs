//! Reading of model programs: state variables, actions, guards and arguments.

use std::cell::Cell;
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use testwright_core::product::ModelError;

use super::actions::{self, ActionGuard, ModelAction};
use super::modules::ModuleReader;
use super::program::{ModelProgram, ProgramParts, StatePredicates};
use super::states::ProgramStates;
use crate::unawaited;

/// A Python object.
type Object<'py> = Bound<'py, PyAny>;

impl<'py> ModuleReader<'_, 'py> {
    /// Reads the module as a model program.
    pub(crate) fn program(&mut self) -> Result<ModelProgram<'py>, ModelError> {
        self.required("state", "the names of the variables that make up the state")?;
        self.required("actions", "the functions that change the state")?;
        let result = self.set_defaults();
        result.map_err(|error| self.raised(error))?;
        let predicates = StatePredicates {
            accepting: self.predicate(&["Accepting", "accepting"])?,
            filter: self.predicate(&["StateFilter", "statefilter", "state_filter"])?,
            invariant: self.predicate(&["StateInvariant", "stateinvariant", "state_invariant"])?,
        };
        let parts = ProgramParts {
            name: self.name.to_owned(),
            module: self.module.dict(),
            states: ProgramStates::new(self.variables()?),
            actions: self.actions()?,
            predicates,
            reset: self.last_spelling(&["Reset", "reset"])?,
        };
        Ok(ModelProgram::new(parts, Rc::clone(self.values)))
    }

    /// Defines the optional attributes that a module lacks, because its own code may rely on them.
    fn set_defaults(&mut self) -> PyResult<()> {
        let python = self.python();
        for name in ["enablers", "domains", "combinations"] {
            if !self.module.hasattr(name)? {
                self.warn_about_singular(name)?;
                self.module.setattr(name, PyDict::new(python))?;
            }
        }
        for name in ["cleanup", "observables"] {
            if !self.module.hasattr(name)? {
                self.module.setattr(name, PyTuple::empty(python))?;
            }
        }
        Ok(())
    }

    /// Warns if there is `domain` instead of `domains`, which would go unnoticed otherwise.
    fn warn_about_singular(&mut self, name: &str) -> PyResult<()> {
        let singular = name.trim_end_matches('s');
        let found = self.optional(singular)?;
        if found.is_some_and(|found| found.is_instance_of::<PyDict>()) {
            self.warnings.push(format!(
                "the module `{}` has `{singular}`, which is ignored; the name is `{name}`",
                self.name
            ));
        }
        Ok(())
    }

    /// Returns the names of the state variables.
    fn variables(&self) -> Result<Vec<Bound<'py, PyString>>, ModelError> {
        let meaning = "the names of the variables that make up the state, as texts";
        let malformed = || self.malformed("`state`", meaning);
        let state = self.required("state", meaning)?;
        // `state = ('stack')`, with a forgotten comma.
        let listed = match state.cast::<PyString>() {
            Ok(only) => vec![only.clone()],
            Err(_) => {
                let names: PyResult<Vec<Object<'py>>> =
                    state.try_iter().and_then(|names| names.collect());
                let names = names.map_err(|_| malformed())?;
                let text =
                    |name: Object<'py>| name.cast_into::<PyString>().map_err(|_| malformed());
                names.into_iter().map(text).collect::<Result<_, _>>()?
            }
        };
        for variable in &listed {
            let name = variable.to_string_lossy();
            self.required(&name, "a variable, since `state` names it")?;
        }
        Ok(listed)
    }

    /// Returns a predicate on the state. Afterwards the module has it under its first spelling,
    /// with `lambda: True` as the default.
    fn predicate(&mut self, spellings: &[&str]) -> Result<Option<Object<'py>>, ModelError> {
        let last_spelling = self.last_spelling(spellings)?;
        let spelling = spellings.first().copied().unwrap_or_default();
        let python = self.python();
        let function_or_true = match &last_spelling {
            Some(last_spelling) => Ok(last_spelling.clone()),
            None => python.eval(c"lambda: True", None, None),
        };
        let result = function_or_true
            .and_then(|function_or_true| self.module.setattr(spelling, function_or_true));
        result.map_err(|error| self.raised(error))?;
        Ok(last_spelling)
    }

    /// Returns the function defined under the last of several spellings. Warns if two of them
    /// differ.
    fn last_spelling(&mut self, spellings: &[&str]) -> Result<Option<Object<'py>>, ModelError> {
        let mut last_spelling: Option<(&str, Object<'py>)> = None;
        for spelling in spellings {
            let found = self.optional(spelling);
            let Some(found) = found.map_err(|error| self.raised(error))? else {
                continue;
            };
            if !found.is_callable() {
                return Err(
                    self.malformed(&format!("`{spelling}`"), "a function without parameters")
                );
            }
            self.reject_coroutine(&found, &format!("`{spelling}`"))?;
            if let Some((other, earlier)) = &last_spelling
                && !earlier.is(&found)
            {
                self.warnings.push(format!(
                    "the module `{}` has both `{other}` and `{spelling}`; `{spelling}` counts",
                    self.name
                ));
            }
            last_spelling = Some((spelling, found));
        }
        Ok(last_spelling.map(|(_, found)| found))
    }

    /// Reads all actions.
    fn actions(&mut self) -> Result<Vec<ModelAction<'py>>, ModelError> {
        let listed = self.functions("actions")?.unwrap_or_default();
        let cleanup = self.functions("cleanup")?.unwrap_or_default();
        let observable = self.functions("observables")?.unwrap_or_default();
        let [enablers, domains, combinations] =
            ["enablers", "domains", "combinations"].map(|name| self.dictionary(name));
        let (enablers, domains, combinations) = (enablers?, domains?, combinations?);
        let is_in = |function: &Object<'py>, all: &[Object<'py>]| {
            all.iter().position(|one| one.is(function))
        };
        // Controllable actions in the order of the list, then observable ones in theirs.
        let mut all: Vec<Object<'py>> = Vec::new();
        let chosen = listed.iter().chain(&cleanup);
        let chosen = chosen.filter(|function| is_in(function, &observable).is_none());
        let observed = observable.iter();
        let observed = observed.filter(|function| {
            is_in(function, &listed).is_some() || is_in(function, &cleanup).is_some()
        });
        for function in chosen.chain(observed) {
            if is_in(function, &all).is_none() {
                all.push(function.clone());
            }
        }
        let mut actions = Vec::new();
        for function in all {
            let text = actions::function_name(&function).map_err(|error| self.raised(error))?;
            self.reject_coroutine(&function, &format!("the action `{text}`"))?;
            self.action_names.push(text.clone());
            if !self.filter.includes(&text) {
                continue;
            }
            let parameters = actions::FunctionParameters::read(&function);
            let parameters = parameters.map_err(|error| self.raised(error))?;
            let arguments = actions::arguments(
                self.name,
                &function,
                (&text, parameters.names()),
                &domains,
                &combinations,
            );
            actions.push(ModelAction {
                name: self.interner.intern_name(&text),
                guards: self.guards(&function, &text, &enablers)?,
                arguments: arguments.map_err(|error| self.raised(error))?,
                min_arguments: parameters.required,
                max_arguments: parameters.max_count(),
                is_observable: is_in(&function, &observable).is_some(),
                is_listed: is_in(&function, &listed).is_some(),
                cleanup: is_in(&function, &cleanup),
                text,
                function,
            });
        }
        Ok(actions)
    }

    /// Fails for a coroutine function. `role` says what the function is.
    fn reject_coroutine(&self, function: &Object<'py>, role: &str) -> Result<(), ModelError> {
        match unawaited::coroutine_function(function, role) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Returns an attribute that must be a dictionary.
    fn dictionary(&self, name: &str) -> Result<Bound<'py, PyDict>, ModelError> {
        let meaning = "a dictionary whose keys are actions";
        let found = self.required(name, meaning)?;
        let found = found.cast_into::<PyDict>();
        found.map_err(|_| self.malformed(&format!("`{name}`"), meaning))
    }

    /// Reads the guards of an action.
    fn guards(
        &self,
        function: &Object<'py>,
        action: &str,
        enablers: &Bound<'py, PyDict>,
    ) -> Result<Vec<ActionGuard<'py>>, ModelError> {
        let guards = enablers.get_item(function);
        let Some(guards) = guards.map_err(|error| self.raised(error))? else {
            return Ok(Vec::new());
        };
        let malformed = || {
            let subject = format!("what `enablers` has for `{action}`");
            self.malformed(&subject, "a sequence of functions")
        };
        let guards: Vec<Object<'py>> = if guards.is_callable() {
            vec![guards]
        } else {
            let guards: PyResult<_> = guards.try_iter().and_then(|guards| guards.collect());
            guards.map_err(|_| malformed())?
        };
        let guard = |function: Object<'py>| {
            if !function.is_callable() {
                return Err(malformed());
            }
            let parameters = actions::FunctionParameters::read(&function);
            let parameters = parameters.map_err(|error| self.raised(error))?;
            let name = actions::function_name(&function).unwrap_or_else(|_| "a guard".to_owned());
            self.reject_coroutine(&function, &format!("the guard `{name}` of `{action}`"))?;
            Ok(ActionGuard {
                // All lambdas have the same name.
                name: match name.as_str() {
                    "<lambda>" => format!("<lambda> of {action}"),
                    _ => name,
                },
                parameters: parameters.positional.len(),
                answers: Cell::default(),
                function,
            })
        };
        guards.into_iter().map(guard).collect()
    }
}
