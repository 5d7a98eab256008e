//! What a model program declares: its state, its actions, when they may happen and with which arguments.

use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use testwright_core::product::Trouble;

use super::actions::{self, Action, Guard};
use super::modules::Reader;
use super::program::{Parts, Predicates, Program};
use super::states::States;

type Object<'py> = Bound<'py, PyAny>;

impl<'py> Reader<'_, 'py> {
    pub(crate) fn program(&mut self) -> Result<Program<'py>, Trouble> {
        self.required("state", "the names of the variables that make up the state")?;
        self.required("actions", "the functions that change the state")?;
        let given = self.give_defaults();
        given.map_err(|error| self.trouble(error))?;
        let predicates = Predicates {
            accepting: self.predicate(&["Accepting", "accepting"])?,
            filter: self.predicate(&["StateFilter", "statefilter", "state_filter"])?,
            invariant: self.predicate(&["StateInvariant", "stateinvariant", "state_invariant"])?,
        };
        let parts = Parts {
            name: self.name.to_owned(),
            module: self.module.dict(),
            states: States::new(self.variables()?),
            actions: self.actions()?,
            predicates,
            reset: self.latest(&["Reset", "reset"])?,
        };
        Ok(Program::new(parts, Rc::clone(self.speech)))
    }

    /// What a module leaves out is given to it, as its own code may count on that.
    fn give_defaults(&mut self) -> PyResult<()> {
        let python = self.python();
        for name in ["enablers", "domains", "combinations"] {
            if !self.module.hasattr(name)? {
                self.remark_singular(name)?;
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

    /// Remarks that `domain` is there instead of `domains`, which nobody would miss otherwise.
    fn remark_singular(&mut self, name: &str) -> PyResult<()> {
        let singular = name.trim_end_matches('s');
        let found = self.optional(singular)?;
        if found.is_some_and(|found| found.is_instance_of::<PyDict>()) {
            self.remarks.push(format!(
                "the module `{}` has `{singular}`, which means nothing; it is `{name}` that counts",
                self.name
            ));
        }
        Ok(())
    }

    /// The names of the variables that make up the state.
    fn variables(&self) -> Result<Vec<Bound<'py, PyString>>, Trouble> {
        let meaning = "the names of the variables that make up the state, as texts";
        let odd = || self.odd("`state`", meaning);
        let state = self.required("state", meaning)?;
        // `state = ('stack')`, where a comma was forgotten.
        let listed = match state.cast::<PyString>() {
            Ok(only) => vec![only.clone()],
            Err(_) => {
                let names: PyResult<Vec<Object<'py>>> =
                    state.try_iter().and_then(|names| names.collect());
                let names = names.map_err(|_| odd())?;
                let text = |name: Object<'py>| name.cast_into::<PyString>().map_err(|_| odd());
                names.into_iter().map(text).collect::<Result<_, _>>()?
            }
        };
        for variable in &listed {
            let name = variable.to_string_lossy();
            self.required(&name, "a variable, since `state` names it")?;
        }
        Ok(listed)
    }

    /// A question about the state. It can be asked by its first spelling from now on, whether or not the module has it.
    fn predicate(&mut self, spellings: &[&str]) -> Result<Option<Object<'py>>, Trouble> {
        let latest = self.latest(spellings)?;
        let spelling = spellings.first().copied().unwrap_or_default();
        let python = self.python();
        let asked = match &latest {
            Some(latest) => Ok(latest.clone()),
            None => python.eval(c"lambda: True", None, None),
        };
        let given = asked.and_then(|asked| self.module.setattr(spelling, asked));
        given.map_err(|error| self.trouble(error))?;
        Ok(latest)
    }

    /// What is defined under the last of several spellings. If two of them differ, somebody should know.
    fn latest(&mut self, spellings: &[&str]) -> Result<Option<Object<'py>>, Trouble> {
        let mut latest: Option<(&str, Object<'py>)> = None;
        for spelling in spellings {
            let found = self.optional(spelling);
            let Some(found) = found.map_err(|error| self.trouble(error))? else {
                continue;
            };
            if !found.is_callable() {
                return Err(self.odd(&format!("`{spelling}`"), "a function without parameters"));
            }
            if let Some((other, earlier)) = &latest
                && !earlier.is(&found)
            {
                self.remarks.push(format!(
                    "the module `{}` has both `{other}` and `{spelling}`; `{spelling}` counts",
                    self.name
                ));
            }
            latest = Some((spelling, found));
        }
        Ok(latest.map(|(_, found)| found))
    }

    fn actions(&mut self) -> Result<Vec<Action<'py>>, Trouble> {
        let listed = self.functions("actions")?.unwrap_or_default();
        let cleanup = self.functions("cleanup")?.unwrap_or_default();
        let observable = self.functions("observables")?.unwrap_or_default();
        let [enablers, domains, combinations] =
            ["enablers", "domains", "combinations"].map(|name| self.dictionary(name));
        let (enablers, domains, combinations) = (enablers?, domains?, combinations?);
        let is_in = |function: &Object<'py>, all: &[Object<'py>]| {
            all.iter().position(|one| one.is(function))
        };
        // Those that are chosen in the order of the list, then those that are observed in theirs.
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
            let text = actions::own_name(&function).map_err(|error| self.trouble(error))?;
            if !self.filter.keeps(&text) {
                continue;
            }
            let parameters = actions::Parameters::of(&function);
            let parameters = parameters.map_err(|error| self.trouble(error))?;
            let arguments = actions::arguments(
                self.name,
                &function,
                (&text, parameters.names()),
                &domains,
                &combinations,
            );
            actions.push(Action {
                name: self.words.name(&text),
                guards: self.guards(&function, &text, &enablers)?,
                arguments: arguments.map_err(|error| self.trouble(error))?,
                needs: parameters.needed,
                takes: parameters.most(),
                is_observable: is_in(&function, &observable).is_some(),
                is_listed: is_in(&function, &listed).is_some(),
                cleanup: is_in(&function, &cleanup),
                text,
                function,
            });
        }
        Ok(actions)
    }

    fn dictionary(&self, name: &str) -> Result<Bound<'py, PyDict>, Trouble> {
        let meaning = "a dictionary whose keys are actions";
        let found = self.required(name, meaning)?;
        let found = found.cast_into::<PyDict>();
        found.map_err(|_| self.odd(&format!("`{name}`"), meaning))
    }

    fn guards(
        &self,
        function: &Object<'py>,
        action: &str,
        enablers: &Bound<'py, PyDict>,
    ) -> Result<Vec<Guard<'py>>, Trouble> {
        let guards = enablers.get_item(function);
        let Some(guards) = guards.map_err(|error| self.trouble(error))? else {
            return Ok(Vec::new());
        };
        let odd = || {
            let what = format!("what `enablers` has for `{action}`");
            self.odd(&what, "a sequence of functions")
        };
        let guards: Vec<Object<'py>> = if guards.is_callable() {
            vec![guards]
        } else {
            let guards: PyResult<_> = guards.try_iter().and_then(|guards| guards.collect());
            guards.map_err(|_| odd())?
        };
        let guard = |function: Object<'py>| {
            if !function.is_callable() {
                return Err(odd());
            }
            let parameters = actions::Parameters::of(&function);
            let parameters = parameters.map_err(|error| self.trouble(error))?;
            Ok(Guard {
                name: actions::own_name(&function).unwrap_or_else(|_| "a guard".to_owned()),
                parameters: parameters.positional.len(),
                function,
            })
        };
        guards.into_iter().map(guard).collect()
    }
}
