//! Importing modules, and seeing what kind of model each is.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use pyo3::exceptions::{PyAttributeError, PyModuleNotFoundError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PySet, PyString};
use testwright_core::Error;
use testwright_core::product::{Model, NameId, Product, Trouble, Words};
use testwright_model::Filter;

use super::actions::{self, Action, Guard};
use super::program::{Parts, Predicates, Program};
use super::scenarios;
use super::speech::{Speech, raised};
use super::states::States;
use super::{Handles, Models, StatesOf};

/// What a module is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Fsm,
    Suite,
    /// It changes other modules, and to import it was all the work.
    Configuration,
    Program,
}

/// The names under which a list of runs may be found; a later one counts more.
pub(crate) const SUITE_NAMES: [&str; 3] = ["testSuite", "testsuite", "test_suite"];

/// What a line of documentation begins with that says that a module just changes others.
const CONFIGURATION: &str = "PYMODEL CONFIG";

pub(crate) fn load<'py>(
    python: Python<'py>,
    names: &[String],
    filter: &Filter,
) -> Result<Models<'py>, Trouble> {
    let trouble = |error: PyErr| raised(python, &error);
    let found = import_all(python, names)?;
    let (speech, mut words) = Speech::new(python).map_err(trouble)?;
    let speech = Rc::new(RefCell::new(speech));
    let mut remarks = Vec::new();
    let mut models: Vec<Box<dyn Model + 'py>> = Vec::new();
    let mut states = Vec::new();
    // Only now, for one of them may have changed another.
    for (name, module, kind) in found {
        let mut reader = Reader {
            name: &name,
            module: &module,
            words: &mut words,
            speech: &speech,
            filter,
            remarks: &mut remarks,
        };
        match kind {
            Kind::Fsm => {
                let (fsm, objects) = scenarios::fsm(&mut reader)?;
                models.push(Box::new(fsm));
                states.push(StatesOf::Fsm(objects));
            }
            Kind::Suite => {
                models.push(Box::new(scenarios::suite(&mut reader)?));
                states.push(StatesOf::Suite);
            }
            Kind::Program => {
                let program = reader.program()?;
                states.push(StatesOf::Program {
                    states: program.states(),
                    module: module.dict(),
                });
                models.push(Box::new(program));
            }
            Kind::Configuration => {}
        }
    }
    if models.is_empty() {
        let error = Error::new("there is no model to work with")
            .with_help("modules that only configure others were named; name a model, too");
        return Err(error.into());
    }
    Ok(Models {
        product: Product::new(words, models),
        remarks,
        python,
        handles: Handles {
            speech,
            states: Rc::new(states),
        },
    })
}

/// Imports modules in order; one that is named twice counts once.
fn import_all<'py>(
    python: Python<'py>,
    names: &[String],
) -> Result<Vec<(String, Bound<'py, PyModule>, Kind)>, Trouble> {
    let mut found: Vec<(String, Bound<'py, PyModule>, Kind)> = Vec::new();
    for name in names {
        let (folder, name) = place(name);
        if found.iter().any(|(other, ..)| *other == name) {
            continue;
        }
        let module = import(python, folder, &name)?;
        let kind = kind(&module).map_err(|error| raised(python, &error))?;
        found.push((name, module, kind));
    }
    Ok(found)
}

/// The folder and the module that a person means by a name or by the path of a file.
pub(crate) fn place(name: &str) -> (&Path, String) {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|ending| ending == "py");
    let folder = path.parent().unwrap_or(Path::new(""));
    let module = match is_file {
        true => path.file_stem(),
        false => path.file_name(),
    };
    let module = module.unwrap_or_default().to_string_lossy();
    (folder, module.into_owned())
}

/// Imports a module from a folder, or from wherever Python finds it.
pub(crate) fn import<'py>(
    python: Python<'py>,
    folder: &Path,
    name: &str,
) -> Result<Bound<'py, PyModule>, Trouble> {
    let work = || -> PyResult<Bound<'py, PyModule>> {
        let system = python.import("sys")?;
        // A model that is explored is written as a module and imported again within the same second. Python would take
        // what it had compiled of the older one.
        system.setattr("dont_write_bytecode", true)?;
        python
            .import("importlib")?
            .call_method0("invalidate_caches")?;
        let path = system.getattr("path")?;
        let folder = python
            .import("os")?
            .getattr("path")?
            .call_method1("abspath", (folder,))?;
        if !path.get_item(0)?.eq(&folder)? {
            path.call_method1("insert", (0, folder))?;
        }
        python.import(PyString::new(python, name))
    };
    work().map_err(|error| {
        let is_it = error.is_instance_of::<PyModuleNotFoundError>(python)
            && error
                .value(python)
                .getattr("name")
                .is_ok_and(|missing| missing.eq(name).unwrap_or(false));
        if !is_it {
            return raised(python, &error);
        }
        let message =
            format!("there is no module `{name}` in the current folder or on Python's path");
        let help = "models are named like modules, without `.py`, or by the path of their file";
        Trouble::Unusable(Error::new(message).with_help(help))
    })
}

fn kind(module: &Bound<'_, PyModule>) -> PyResult<Kind> {
    let has = |name: &str| module.hasattr(name);
    if has("graph")? {
        return Ok(Kind::Fsm);
    }
    for name in SUITE_NAMES {
        if has(name)? {
            return Ok(Kind::Suite);
        }
    }
    let documentation = module.getattr("__doc__")?;
    let documentation: String = documentation.extract().unwrap_or_default();
    let says = documentation.trim().to_uppercase();
    Ok(match says.starts_with(CONFIGURATION) {
        true => Kind::Configuration,
        false => Kind::Program,
    })
}

/// Reads one module.
pub(crate) struct Reader<'r, 'py> {
    pub(crate) name: &'r str,
    pub(crate) module: &'r Bound<'py, PyModule>,
    pub(crate) words: &'r mut Words,
    pub(crate) speech: &'r Rc<RefCell<Speech<'py>>>,
    pub(crate) filter: &'r Filter,
    pub(crate) remarks: &'r mut Vec<String>,
}

impl<'py> Reader<'_, 'py> {
    pub(crate) fn python(&self) -> Python<'py> {
        self.module.py()
    }

    pub(crate) fn trouble(&self, error: PyErr) -> Trouble {
        raised(self.python(), &error)
    }

    /// Something that the module should define.
    pub(crate) fn required(
        &self,
        attribute: &str,
        meaning: &str,
    ) -> Result<Bound<'py, PyAny>, Trouble> {
        self.module.getattr(attribute).map_err(|error| {
            if !error.is_instance_of::<PyAttributeError>(self.python()) {
                return self.trouble(error);
            }
            let message = format!("the module `{}` has no `{attribute}`", self.name);
            Trouble::Unusable(Error::new(message).with_help(format!("it should be {meaning}")))
        })
    }

    /// Something that the module may define.
    pub(crate) fn optional(&self, attribute: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.module.hasattr(attribute)? {
            true => self.module.getattr(attribute).map(Some),
            false => Ok(None),
        }
    }

    /// The actions that a module lists under a name. Those of a set are put in the order in which they are written.
    pub(crate) fn functions(&self, attribute: &str) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let Some(listed) = self.optional(attribute)? else {
            return Ok(None);
        };
        if listed.is_callable() {
            // `actions = (Push)`, where a comma was forgotten.
            return Ok(Some(vec![listed]));
        }
        let mut functions: Vec<Bound<'py, PyAny>> = listed.try_iter()?.collect::<PyResult<_>>()?;
        if listed.is_instance_of::<PySet>() {
            let line = |function: &Bound<'py, PyAny>| {
                let code = function.getattr("__code__");
                let line = code.and_then(|code| code.getattr("co_firstlineno")?.extract::<u32>());
                (
                    line.unwrap_or(u32::MAX),
                    actions::own_name(function).unwrap_or_default(),
                )
            };
            functions.sort_by_cached_key(line);
        }
        Ok(Some(functions))
    }

    /// The names of functions.
    pub(crate) fn names(&mut self, functions: &[Bound<'py, PyAny>]) -> PyResult<Vec<NameId>> {
        let mut names = Vec::new();
        for function in functions {
            names.push(self.words.name(&actions::own_name(function)?));
        }
        Ok(names)
    }

    fn program(&mut self) -> Result<Program<'py>, Trouble> {
        self.required("state", "the names of the variables that make up the state")?;
        self.required("actions", "the functions that change the state")?;
        let parts = self.parts().map_err(|error| self.trouble(error))?;
        Ok(Program::new(parts, Rc::clone(self.speech)))
    }

    /// What a model program defines. What it leaves out is given to it, as its own code may count on that.
    fn parts(&mut self) -> PyResult<Parts<'py>> {
        let python = self.python();
        for (name, given) in [
            ("enablers", PyDict::new(python).into_any()),
            ("domains", PyDict::new(python).into_any()),
            ("combinations", PyDict::new(python).into_any()),
            ("cleanup", pyo3::types::PyTuple::empty(python).into_any()),
            (
                "observables",
                pyo3::types::PyTuple::empty(python).into_any(),
            ),
        ] {
            if !self.module.hasattr(name)? {
                self.module.setattr(name, given)?;
            }
        }
        let mut variables = Vec::new();
        for variable in self.module.getattr("state")?.try_iter()? {
            variables.push(variable?.cast_into::<PyString>().map_err(PyErr::from)?);
        }
        let predicates = Predicates {
            accepting: self.latest(&["Accepting", "accepting"])?,
            filter: self.latest(&["StateFilter", "statefilter", "state_filter"])?,
            invariant: self.latest(&["StateInvariant", "stateinvariant", "state_invariant"])?,
        };
        let reset = self.latest(&["Reset", "reset"])?;
        Ok(Parts {
            name: self.name.to_owned(),
            module: self.module.dict(),
            states: States::new(variables),
            actions: self.actions()?,
            predicates,
            reset,
        })
    }

    /// What is defined under the last of several spellings. If two of them differ, somebody should know.
    fn latest(&mut self, spellings: &[&str]) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut latest: Option<(&str, Bound<'py, PyAny>)> = None;
        for spelling in spellings {
            let Some(found) = self.optional(spelling)? else {
                continue;
            };
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

    fn actions(&mut self) -> PyResult<Vec<Action<'py>>> {
        let listed = self.functions("actions")?.unwrap_or_default();
        let cleanup = self.functions("cleanup")?.unwrap_or_default();
        let observable = self.functions("observables")?.unwrap_or_default();
        let is_in = |function: &Bound<'py, PyAny>, all: &[Bound<'py, PyAny>]| {
            all.iter().position(|one| one.is(function))
        };
        // Those that are chosen in the order of the list, then those that are observed in theirs.
        let mut all: Vec<Bound<'py, PyAny>> = Vec::new();
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
            let text = actions::own_name(&function)?;
            if !self.filter.keeps(&text) {
                continue;
            }
            let (parameters, needs) = actions::parameters(&function)?;
            let dictionary = |name: &str| -> PyResult<Bound<'py, PyDict>> {
                let found = self.module.getattr(name)?;
                found.cast_into::<PyDict>().map_err(PyErr::from)
            };
            let arguments = actions::arguments(
                self.name,
                &function,
                (&text, &parameters),
                &dictionary("domains")?,
                &dictionary("combinations")?,
            )?;
            actions.push(Action {
                name: self.words.name(&text),
                guards: self.guards(&function, &dictionary("enablers")?)?,
                arguments,
                needs,
                is_observable: is_in(&function, &observable).is_some(),
                is_listed: is_in(&function, &listed).is_some(),
                cleanup: is_in(&function, &cleanup),
                text,
                function,
            });
        }
        Ok(actions)
    }

    fn guards(
        &self,
        function: &Bound<'py, PyAny>,
        enablers: &Bound<'py, PyDict>,
    ) -> PyResult<Vec<Guard<'py>>> {
        let Some(guards) = enablers.get_item(function)? else {
            return Ok(Vec::new());
        };
        let guards: Vec<Bound<'py, PyAny>> = match guards.is_callable() {
            true => vec![guards],
            false => guards.try_iter()?.collect::<PyResult<_>>()?,
        };
        let guard = |function: Bound<'py, PyAny>| {
            let (parameters, _) = actions::parameters(&function)?;
            Ok(Guard {
                name: actions::own_name(&function).unwrap_or_else(|_| "a guard".to_owned()),
                parameters: parameters.len(),
                function,
            })
        };
        guards.into_iter().map(guard).collect()
    }
}
