//! Import of modules, and detection of the kind of model in each.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pyo3::exceptions::{PyAttributeError, PyModuleNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PyModule, PySet, PyString, PyTuple};
use testwright_core::product::{Interner, Model, ModelError, NameId, Product, StepLabel, ValueId};
use testwright_core::{Error, describe_os_error, spelling};
use testwright_model::Filter;

use super::action_names::{self, ModuleActions, ModuleRole};
use super::actions;
use super::model_values::{ModelValues, raised};
use super::packing::StateEquality;
use super::scenarios;
use super::stepper::observations;
use super::{ModelHandles, ModelStates, Models};
use crate::{ProcessOwner, forking, interrupt};

/// The kind of a module.
#[derive(Clone, Copy, PartialEq)]
enum ModuleKind {
    /// A state machine.
    Fsm,
    /// A test suite.
    Suite,
    /// A module that changes others; importing it is all.
    Configuration,
    /// A model program.
    Program,
}

/// The names under which a test suite may be defined; later ones take precedence.
pub(crate) const SUITE_NAMES: [&str; 3] = ["testSuite", "testsuite", "test_suite"];

/// Modules of the standard library that are used later. They are imported before the user's folder
/// comes first on the path, because the user may have modules with the same names.
const PRELOADED_MODULES: [&str; 9] = [
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

/// The start of the docstring of a module that only changes others.
const CONFIGURATION_DOCSTRING_START: &str = "PYMODEL CONFIG";

/// Imports modules and composes the models among them; see [`Models::load`].
pub(crate) fn load<'py>(
    python: Python<'py>,
    names: &[String],
    filter: &Filter,
    process: ProcessOwner,
) -> Result<Models<'py>, ModelError> {
    let to_model_error = |error: PyErr| raised(python, &error);
    for library in PRELOADED_MODULES {
        python.import(library).map_err(to_model_error)?;
    }
    match process {
        ProcessOwner::Tool => install_interrupt_handler(python).map_err(to_model_error)?,
        // Workers have no keyboard, and processes forked by models belong to the models.
        ProcessOwner::Worker => forking::detect_all_forks(),
        ProcessOwner::Caller => {}
    }
    if let Some(first) = names.first() {
        // A model can be its own stepper. The modules it imports as such may be in the user's
        // folder.
        first_on_path(python, &split_module_path(first).0).map_err(to_model_error)?;
        observations(python).map_err(to_model_error)?;
    }
    let found = import_all(python, names)?;
    let equality = if filter.follows_pymodel {
        StateEquality::Python
    } else {
        StateEquality::Exact
    };
    let (values, mut interner) = ModelValues::new(python, equality).map_err(to_model_error)?;
    let values = Rc::new(RefCell::new(values));
    let mut warnings = Vec::new();
    let mut models: Vec<Box<dyn Model + 'py>> = Vec::new();
    let mut states = Vec::new();
    let mut documented = Vec::new();
    let mut scenario_steps: Vec<(String, StepLabel)> = Vec::new();
    let mut without_parameters: Vec<(String, NameId)> = Vec::new();
    // Read only after all imports, because one module may have changed another.
    let mut modules = Vec::new();
    let mut unfiltered = Vec::new();
    for (name, module, kind) in found {
        let mut reader = ModuleReader {
            name: &name,
            module: &module,
            interner: &mut interner,
            values: &values,
            filter,
            warnings: &mut warnings,
            action_names: Vec::new(),
        };
        let role = match kind {
            ModuleKind::Fsm => {
                let (fsm, objects) = scenarios::read_fsm(&mut reader)?;
                scenario_steps.extend(fsm.edges().iter().map(|edge| (name.clone(), edge.label)));
                models.push(Box::new(fsm));
                states.push(ModelStates::Fsm(objects));
                ModuleRole::Machine
            }
            ModuleKind::Suite => {
                let suite = scenarios::read_suite(&mut reader)?;
                let steps = suite.runs().iter().flatten();
                scenario_steps.extend(steps.map(|label| (name.clone(), *label)));
                models.push(Box::new(suite));
                states.push(ModelStates::Suite);
                ModuleRole::Suite
            }
            ModuleKind::Program => {
                let program = reader.program()?;
                without_parameters
                    .extend(program.without_parameters().map(|one| (name.clone(), one)));
                states.push(ModelStates::Program {
                    states: program.states(),
                    module: module.dict(),
                });
                models.push(Box::new(program));
                ModuleRole::Program
            }
            ModuleKind::Configuration => continue,
        };
        unfiltered.push(ModuleActions {
            role,
            names: reader.action_names,
            module: name.clone(),
        });
        modules.push(module.clone());
    }
    if !filter.follows_pymodel {
        action_names::check(&unfiltered, filter, &mut warnings)?;
    }
    warn_about_arguments(
        &interner,
        &scenario_steps,
        &without_parameters,
        &mut warnings,
    );
    for (model, module) in models.iter().zip(&modules) {
        for name in model.vocabulary() {
            let function = module.getattr(interner.name_text(*name));
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
    let programs = modules
        .iter()
        .zip(&states)
        .filter_map(|(module, states)| match states {
            ModelStates::Program { states, .. } => {
                Some((module.dict(), states.borrow().variables.clone()))
            }
            ModelStates::Fsm(_) | ModelStates::Suite => None,
        });
    let programs = programs.collect();
    values
        .borrow_mut()
        .watch(programs)
        .map_err(to_model_error)?;
    let mut product = Product::new(interner, models);
    let mut left_out: Vec<String> = Vec::new();
    for name in unfiltered.iter().flat_map(|module| &module.names) {
        if !filter.includes(name) && !left_out.contains(name) {
            left_out.push(name.clone());
        }
    }
    product.set_left_out(left_out);
    Ok(Models {
        product,
        warnings,
        python,
        handles: ModelHandles {
            values,
            states: Rc::new(states),
        },
        documented,
    })
}

/// Warns if a scenario gives arguments to an action that takes none in a model, so that the step
/// never happens. PyModel ignores the arguments.
fn warn_about_arguments(
    interner: &Interner,
    scenario_steps: &[(String, StepLabel)],
    without_parameters: &[(String, NameId)],
    warnings: &mut Vec<String>,
) {
    for (program, name) in without_parameters {
        let has_arguments = |(_, label): &&(String, StepLabel)| {
            label.name == *name && label.arguments != ValueId::EMPTY
        };
        if let Some((scenario, label)) = scenario_steps.iter().find(has_arguments) {
            warnings.push(format!(
                "`{scenario}` means `{}{}`, and `{}` of the module `{program}` takes no arguments; so it never happens",
                interner.name_text(*name),
                interner.value_text(label.arguments).plain(),
                interner.name_text(*name),
            ));
        }
    }
}

/// Turns Ctrl-C into an exception in the code of models, and into a request to stop. Only the main
/// thread can install the handler.
fn install_interrupt_handler(python: Python<'_>) -> PyResult<()> {
    interrupt::reset(ProcessOwner::Tool);
    install_handler(python, "SIGINT")
}

/// Turns a signal into an exception in the code of models, and into a request to stop.
pub(super) fn install_handler(python: Python<'_>, name: &str) -> PyResult<()> {
    let signal = python.import("signal")?;
    let handler = interrupt::handler(python)?;
    match signal.call_method1("signal", (signal.getattr(name)?, handler)) {
        Err(error) if !error.is_instance_of::<PyValueError>(python) => Err(error),
        _ => Ok(()),
    }
}

/// Imports modules in order, each once.
fn import_all<'py>(
    python: Python<'py>,
    names: &[String],
) -> Result<Vec<(String, Bound<'py, PyModule>, ModuleKind)>, ModelError> {
    let mut found: Vec<(String, Bound<'py, PyModule>, ModuleKind)> = Vec::new();
    for name in names {
        let (folder, name) = split_module_path(name);
        if found.iter().any(|(other, ..)| *other == name) {
            continue;
        }
        let module = import(python, &folder, &name)?;
        let kind = module_kind(&module).map_err(|error| raised(python, &error))?;
        found.push((name, module, kind));
    }
    Ok(found)
}

/// Splits the name or path that the user gives into a folder and a module name.
pub(crate) fn split_module_path(name: &str) -> (PathBuf, String) {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|ending| ending == "py");
    let folder = path.parent().unwrap_or(Path::new(""));
    let module = if is_file {
        path.file_stem()
    } else {
        path.file_name()
    };
    let module = module.unwrap_or_default().to_string_lossy();
    let plain = || (folder.to_owned(), module.clone().into_owned());
    in_package(folder, &module).unwrap_or_else(plain)
}

/// Splits the path of a file that belongs to a package, which relative imports such as `from .
/// import prices` show. Other files may import neighbors by their plain names, so they are not
/// treated as part of a package.
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

/// Puts a folder first on Python's module path.
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

/// Makes a module importable as part of the package `pymodel`, as in newer versions of PyModel.
pub(crate) fn add_to_pymodel<'py>(
    python: Python<'py>,
    name: &str,
    module: &Bound<'py, PyModule>,
) -> PyResult<()> {
    let modules = python.import("sys")?.getattr("modules")?;
    // If PyModel is installed, models may import more of it.
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

/// Imports a module from a folder, or from elsewhere on Python's path.
pub(crate) fn import<'py>(
    python: Python<'py>,
    folder: &Path,
    name: &str,
) -> Result<Bound<'py, PyModule>, ModelError> {
    let work = || -> PyResult<Bound<'py, PyModule>> {
        let system = python.import("sys")?;
        // An exploration writes a module that is imported again within the same second. Python
        // would use the compiled form of the older one.
        system.setattr("dont_write_bytecode", true)?;
        python
            .import("importlib")?
            .call_method0("invalidate_caches")?;
        first_on_path(python, folder)?;
        python.import(PyString::new(python, name))
    };
    let module = work().map_err(|error| {
        if let Some(unreadable) = unreadable(folder, name) {
            return ModelError::Unusable(unreadable);
        }
        let is_same = error.is_instance_of::<PyModuleNotFoundError>(python)
            && error
                .value(python)
                .getattr("name")
                .and_then(|missing| missing.extract::<String>())
                .is_ok_and(|missing| is_module_or_parent(&missing, name));
        if !is_same {
            return raised(python, &error);
        }
        let message =
            format!("there is no module `{name}` in the current folder or on Python's path");
        let help = "models are named like modules, without `.py`, or by the path of their file";
        let meant = spelling::closest(name, module_stems(folder));
        let meant = meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
        ModelError::Unusable(Error::new(message).with_help(meant + help))
    })?;
    check_identity(folder, name, &module)?;
    Ok(module)
}

/// Returns the names of the modules in a folder.
fn module_stems(folder: &Path) -> Vec<String> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let stem = |file: fs::DirEntry| {
        let name = file.file_name().into_string().ok()?;
        Some(name.strip_suffix(".py")?.to_owned())
    };
    files.filter_map(stem).collect()
}

/// Returns the error for a module whose file exists and cannot be opened. The traceback of the
/// import would show only the code that imports.
fn unreadable(folder: &Path, name: &str) -> Option<Error> {
    let path = format!("{}.py", name.replace('.', "/"));
    let error = fs::File::open(folder.join(&path)).err()?;
    let reason = describe_os_error(&error);
    let is_missing = error.kind() == std::io::ErrorKind::NotFound;
    (!is_missing).then(|| Error::new(format!("cannot read `{path}`: {reason}")))
}

/// Returns true if a module has this name, or is a parent package of it.
fn is_module_or_parent(module: &str, name: &str) -> bool {
    let inside = name.strip_prefix(module);
    inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('.'))
}

/// Rejects a module that comes from another file than the name suggests: a module of Python itself,
/// or one imported earlier.
fn check_identity(folder: &Path, name: &str, module: &Bound<'_, PyModule>) -> Result<(), Error> {
    let file = folder.join(format!("{}.py", name.replace('.', "/")));
    let found: Option<PathBuf> = module.filename().ok().and_then(|path| path.extract().ok());
    let (Ok(expected), true) = (fs::canonicalize(&file), file.is_file()) else {
        return Ok(());
    };
    let is_same = |found: &PathBuf| fs::canonicalize(found).is_ok_and(|found| found == expected);
    if found.as_ref().is_some_and(is_same) {
        return Ok(());
    }
    let library = module.py().import("sys");
    let library = library.and_then(|system| system.getattr("stdlib_module_names"));
    let is_library = library.and_then(|names| names.contains(name));
    let message = match found {
        Some(found) if !is_library.unwrap_or(PRELOADED_MODULES.contains(&name)) => format!(
            "`{name}` is already the name of another module, `{}`",
            found.display()
        ),
        _ => format!("`{name}` is the name of a module of Python itself"),
    };
    let help = format!("`{}` needs another name to be a model", file.display());
    Err(Error::new(message).with_help(help))
}

/// Detects the kind of a module by its definitions.
fn module_kind(module: &Bound<'_, PyModule>) -> PyResult<ModuleKind> {
    let has = |name: &str| module.hasattr(name);
    if has("graph")? {
        return Ok(ModuleKind::Fsm);
    }
    for name in SUITE_NAMES {
        if has(name)? {
            return Ok(ModuleKind::Suite);
        }
    }
    let documentation = module.getattr("__doc__")?;
    let documentation: String = documentation.extract().unwrap_or_default();
    let heading = documentation.trim().to_uppercase();
    Ok(if heading.starts_with(CONFIGURATION_DOCSTRING_START) {
        ModuleKind::Configuration
    } else {
        ModuleKind::Program
    })
}

/// Reads the definitions of one module.
pub(crate) struct ModuleReader<'r, 'py> {
    pub(crate) name: &'r str,
    pub(crate) module: &'r Bound<'py, PyModule>,
    pub(crate) interner: &'r mut Interner,
    pub(crate) values: &'r Rc<RefCell<ModelValues<'py>>>,
    pub(crate) filter: &'r Filter,
    pub(crate) warnings: &'r mut Vec<String>,
    /// The names of the module's actions, before any of them is left out.
    pub(crate) action_names: Vec<String>,
}

impl<'py> ModuleReader<'_, 'py> {
    /// Returns the interpreter.
    pub(crate) fn python(&self) -> Python<'py> {
        self.module.py()
    }

    /// Converts an exception from the code of the module to an error.
    pub(crate) fn raised(&self, error: PyErr) -> ModelError {
        raised(self.python(), &error)
    }

    /// Returns an attribute that the module must define.
    pub(crate) fn required(
        &self,
        attribute: &str,
        meaning: &str,
    ) -> Result<Bound<'py, PyAny>, ModelError> {
        self.module.getattr(attribute).map_err(|error| {
            if !error.is_instance_of::<PyAttributeError>(self.python()) {
                return self.raised(error);
            }
            let message = format!("the module `{}` has no `{attribute}`", self.name);
            ModelError::Unusable(Error::new(message).with_help(format!("it should be {meaning}")))
        })
    }

    /// Returns an attribute that the module may define.
    pub(crate) fn optional(&self, attribute: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.module.hasattr(attribute)? {
            self.module.getattr(attribute).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Returns the error for an attribute of the wrong type.
    pub(crate) fn malformed(&self, subject: &str, meaning: &str) -> ModelError {
        let message = format!(
            "{subject} of the module `{}` cannot be read as it is",
            self.name
        );
        ModelError::Unusable(Error::new(message).with_help(format!("it should be {meaning}")))
    }

    /// Returns the functions listed under a name. Those of a set are sorted by their position in
    /// the file.
    pub(crate) fn functions(
        &self,
        attribute: &str,
    ) -> Result<Option<Vec<Bound<'py, PyAny>>>, ModelError> {
        let listed = self.optional(attribute);
        let Some(listed) = listed.map_err(|error| self.raised(error))? else {
            return Ok(None);
        };
        if listed.is_callable() {
            // `actions = (Push)`, with a forgotten comma.
            return Ok(Some(vec![listed]));
        }
        let functions: PyResult<Vec<Bound<'py, PyAny>>> =
            listed.try_iter().and_then(|items| items.collect());
        let is_function =
            |one: &Bound<'py, PyAny>| one.is_callable() && actions::function_name(one).is_ok();
        let mut functions = functions
            .ok()
            .filter(|functions| functions.iter().all(is_function))
            .ok_or_else(|| self.malformed(&format!("`{attribute}`"), "a sequence of functions"))?;
        if listed.is_instance_of::<PySet>() || listed.is_instance_of::<PyFrozenSet>() {
            let line = |function: &Bound<'py, PyAny>| {
                let code = function.getattr("__code__");
                let line = code.and_then(|code| code.getattr("co_firstlineno")?.extract::<u32>());
                (
                    line.unwrap_or(u32::MAX),
                    actions::function_name(function).unwrap_or_default(),
                )
            };
            functions.sort_by_cached_key(line);
        }
        Ok(Some(functions))
    }

    /// Notes the actions of a scenario, before any of them is left out.
    pub(crate) fn note_actions(&mut self, vocabulary: &[NameId]) {
        let texts = vocabulary.iter().map(|name| self.interner.name_text(*name));
        self.action_names = texts.map(str::to_owned).collect();
    }

    /// Returns the ids of the names of functions.
    pub(crate) fn names(&mut self, functions: &[Bound<'py, PyAny>]) -> PyResult<Vec<NameId>> {
        let mut names = Vec::new();
        for function in functions {
            names.push(
                self.interner
                    .intern_name(&actions::function_name(function)?),
            );
        }
        Ok(names)
    }
}
