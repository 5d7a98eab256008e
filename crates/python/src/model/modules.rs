//! Importing modules, and seeing what kind of model each is.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pyo3::exceptions::{PyAttributeError, PyModuleNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PyModule, PySet, PyString, PyTuple};
use testwright_core::Error;
use testwright_core::product::{Label, Model, NameId, Product, Trouble, ValueId, Words};
use testwright_model::Filter;

use super::actions;
use super::scenarios;
use super::speech::{Speech, raised};
use super::stepper::observations;
use super::{Handles, Models, StatesOf};
use crate::{Process, forked, interrupt};

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

/// What is used of Python's library later. It has to be there before the user's folder comes first on the path, for the
/// user may have modules of the same names.
const LIBRARY: [&str; 9] = [
    "ast",
    "builtins",
    "collections",
    "copy",
    "enum",
    "importlib",
    "inspect",
    "random",
    "signal",
];

/// What a line of documentation begins with that says that a module just changes others.
const CONFIGURATION: &str = "PYMODEL CONFIG";

pub(crate) fn load<'py>(
    python: Python<'py>,
    names: &[String],
    filter: &Filter,
    process: Process,
) -> Result<Models<'py>, Trouble> {
    let trouble = |error: PyErr| raised(python, &error);
    for library in LIBRARY {
        python.import(library).map_err(trouble)?;
    }
    match process {
        Process::OfTheTool => notice_interrupts(python).map_err(trouble)?,
        // Nobody is at the keyboard, and what models fork is theirs.
        Process::OfAWorker => forked::recognise_all(),
        Process::OfTheCaller => {}
    }
    if let Some(first) = names.first() {
        // A model can be its own stepper. What it asks for then may also be in the user's folder.
        first_on_path(python, &place(first).0).map_err(trouble)?;
        observations(python).map_err(trouble)?;
    }
    let found = import_all(python, names)?;
    let (speech, mut words) = Speech::new(python).map_err(trouble)?;
    let speech = Rc::new(RefCell::new(speech));
    let mut remarks = Vec::new();
    let mut models: Vec<Box<dyn Model + 'py>> = Vec::new();
    let mut states = Vec::new();
    let mut documented = Vec::new();
    let mut meant: Vec<(String, Label)> = Vec::new();
    let mut without: Vec<(String, NameId)> = Vec::new();
    // Only now, for one of them may have changed another.
    let mut modules = Vec::new();
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
                meant.extend(fsm.edges().iter().map(|edge| (name.clone(), edge.label)));
                models.push(Box::new(fsm));
                states.push(StatesOf::Fsm(objects));
            }
            Kind::Suite => {
                let suite = scenarios::suite(&mut reader)?;
                let steps = suite.runs().iter().flatten();
                meant.extend(steps.map(|label| (name.clone(), *label)));
                models.push(Box::new(suite));
                states.push(StatesOf::Suite);
            }
            Kind::Program => {
                let program = reader.program()?;
                without.extend(program.without_parameters().map(|one| (name.clone(), one)));
                states.push(StatesOf::Program {
                    states: program.states(),
                    module: module.dict(),
                });
                models.push(Box::new(program));
            }
            Kind::Configuration => continue,
        }
        modules.push(module.clone());
    }
    remark_arguments_in_vain(&words, &meant, &without, &mut remarks);
    for (model, module) in models.iter().zip(&modules) {
        for name in model.vocabulary() {
            let function = module.getattr(words.name_text(*name));
            let text =
                function.and_then(|function| function.getattr("__doc__")?.extract::<String>());
            if let Ok(text) = text {
                documented.push((*name, text.trim().to_owned()));
            }
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
        documented,
    })
}

/// Remarks that a scenario has arguments for an action that takes none in a model, so that it never comes about. With
/// the ancestor of this tool it was as if it did.
fn remark_arguments_in_vain(
    words: &Words,
    meant: &[(String, Label)],
    without: &[(String, NameId)],
    remarks: &mut Vec<String>,
) {
    for (program, name) in without {
        let is_in_vain = |(_, label): &&(String, Label)| {
            label.name == *name && label.arguments != ValueId::EMPTY
        };
        if let Some((scenario, label)) = meant.iter().find(is_in_vain) {
            remarks.push(format!(
                "`{scenario}` means `{}{}`, and `{}` of the module `{program}` takes no arguments; so it never happens",
                words.name_text(*name),
                words.value_text(label.arguments).plain(),
                words.name_text(*name),
            ));
        }
    }
}

/// Makes Ctrl-C an exception in whatever a model does, and a wish to stop. Only the main thread can be interrupted so.
fn notice_interrupts(python: Python<'_>) -> PyResult<()> {
    interrupt::forget(Process::OfTheTool);
    let signal = python.import("signal")?;
    let handler = interrupt::handler(python)?;
    match signal.call_method1("signal", (signal.getattr("SIGINT")?, handler)) {
        Err(error) if !error.is_instance_of::<PyValueError>(python) => Err(error),
        _ => Ok(()),
    }
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
        let module = import(python, &folder, &name)?;
        let kind = kind(&module).map_err(|error| raised(python, &error))?;
        found.push((name, module, kind));
    }
    Ok(found)
}

/// The folder and the module that a person means by a name or by the path of a file.
pub(crate) fn place(name: &str) -> (PathBuf, String) {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|ending| ending == "py");
    let folder = path.parent().unwrap_or(Path::new(""));
    let module = if is_file {
        path.file_stem()
    } else {
        path.file_name()
    };
    let module = module.unwrap_or_default().to_string_lossy();
    let simply = || (folder.to_owned(), module.clone().into_owned());
    in_package(folder, &module).unwrap_or_else(simply)
}

/// The same for a file that is a part of a package, and says so by importing from where it is: `from . import prices`.
/// Others are not looked at so, for they may name what lies beside them just by its name.
fn in_package(folder: &Path, module: &str) -> Option<(PathBuf, String)> {
    let text = fs::read_to_string(folder.join(format!("{module}.py"))).ok()?;
    let imports = testwright_source::imports(&text).ok()?;
    let levels = imports.iter().map(|import| import.level).max()?;
    if levels == 0 {
        return None;
    }
    let mut folder = fs::canonicalize(if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    })
    .ok()?;
    let mut name = module.to_owned();
    let mut level = 0;
    while level < levels || folder.join("__init__.py").is_file() {
        name = format!("{}.{name}", folder.file_name()?.to_str()?);
        folder = folder.parent()?.to_owned();
        level += 1;
    }
    Some((folder, name))
}

/// Makes Python look for modules in a folder first.
pub(crate) fn first_on_path(python: Python<'_>, folder: &Path) -> PyResult<()> {
    let path = python.import("sys")?.getattr("path")?;
    let folder = python
        .import("os")?
        .getattr("path")?
        .call_method1("abspath", (folder,))?;
    let is_first = path.len()? > 0 && path.get_item(0)?.eq(&folder)?;
    if !is_first {
        path.call_method1("insert", (0, folder))?;
    }
    Ok(())
}

/// Lets a module be imported as a part of the ancestor's package, too: so the younger of the ancestors has it.
pub(crate) fn put_into_ancestor<'py>(
    python: Python<'py>,
    name: &str,
    module: &Bound<'py, PyModule>,
) -> PyResult<()> {
    let modules = python.import("sys")?.getattr("modules")?;
    // Who has the ancestor installed may import more of it.
    let parent = match python.import("pymodel") {
        Ok(parent) => parent,
        Err(_) => {
            let parent = PyModule::new(python, "pymodel")?;
            parent.setattr("__path__", PyTuple::empty(python))?;
            modules.set_item("pymodel", &parent)?;
            parent
        }
    };
    modules.set_item(format!("pymodel.{name}"), module)?;
    parent.setattr(name, module)
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
        first_on_path(python, folder)?;
        python.import(PyString::new(python, name))
    };
    let module = work().map_err(|error| {
        let is_it = error.is_instance_of::<PyModuleNotFoundError>(python)
            && error
                .value(python)
                .getattr("name")
                .and_then(|missing| missing.extract::<String>())
                .is_ok_and(|missing| is_or_holds(&missing, name));
        if !is_it {
            return raised(python, &error);
        }
        let message =
            format!("there is no module `{name}` in the current folder or on Python's path");
        let help = "models are named like modules, without `.py`, or by the path of their file";
        Trouble::Unusable(Error::new(message).with_help(help))
    })?;
    no_other(folder, name, &module)?;
    Ok(module)
}

/// Whether a module is the one of this name, or a package that it is in.
fn is_or_holds(module: &str, name: &str) -> bool {
    let inside = name.strip_prefix(module);
    inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('.'))
}

/// Refuses a module that is not the file that is meant by its name. Python has modules of its own, and keeps those that
/// it has.
fn no_other(folder: &Path, name: &str, module: &Bound<'_, PyModule>) -> Result<(), Error> {
    let file = folder.join(format!("{}.py", name.replace('.', "/")));
    let found: Option<PathBuf> = module.filename().ok().and_then(|path| path.extract().ok());
    let (Ok(meant), true) = (fs::canonicalize(&file), file.is_file()) else {
        return Ok(());
    };
    let is_it = |found: &PathBuf| fs::canonicalize(found).is_ok_and(|found| found == meant);
    if found.as_ref().is_some_and(is_it) {
        return Ok(());
    }
    let library = module.py().import("sys");
    let library = library.and_then(|system| system.getattr("stdlib_module_names"));
    let is_library = library.and_then(|names| names.contains(name));
    let message = match found {
        Some(found) if !is_library.unwrap_or(LIBRARY.contains(&name)) => format!(
            "`{name}` is already the name of another module, `{}`",
            found.display()
        ),
        _ => format!("`{name}` is the name of a module of Python itself"),
    };
    let help = format!("`{}` needs another name to be a model", file.display());
    Err(Error::new(message).with_help(help))
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
    Ok(if says.starts_with(CONFIGURATION) {
        Kind::Configuration
    } else {
        Kind::Program
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
        if self.module.hasattr(attribute)? {
            self.module.getattr(attribute).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Something that the module defines is of another kind than it should be.
    pub(crate) fn odd(&self, what: &str, meaning: &str) -> Trouble {
        let message = format!(
            "{what} of the module `{}` cannot be read as it is",
            self.name
        );
        Trouble::Unusable(Error::new(message).with_help(format!("it should be {meaning}")))
    }

    /// The actions that a module lists under a name. Those of a set are put in the order in which they are written.
    pub(crate) fn functions(
        &self,
        attribute: &str,
    ) -> Result<Option<Vec<Bound<'py, PyAny>>>, Trouble> {
        let listed = self.optional(attribute);
        let Some(listed) = listed.map_err(|error| self.trouble(error))? else {
            return Ok(None);
        };
        if listed.is_callable() {
            // `actions = (Push)`, where a comma was forgotten.
            return Ok(Some(vec![listed]));
        }
        let functions: PyResult<Vec<Bound<'py, PyAny>>> =
            listed.try_iter().and_then(|items| items.collect());
        let is_function =
            |one: &Bound<'py, PyAny>| one.is_callable() && actions::own_name(one).is_ok();
        let mut functions = functions
            .ok()
            .filter(|functions| functions.iter().all(is_function))
            .ok_or_else(|| self.odd(&format!("`{attribute}`"), "a sequence of functions"))?;
        if listed.is_instance_of::<PySet>() || listed.is_instance_of::<PyFrozenSet>() {
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
}
