//! Models written as Python modules, in the format of PyModel: model programs, finite state
//! machines and test suites.
//!
//! [`Models::load`] imports modules by name and composes them to a [`Product`]. The definitions in
//! a module determine its kind (`modules`). State machines and suites are read once and do not need
//! Python any more (`scenarios`). A model program keeps its state in its module (`program_reader`,
//! `program`, `actions`, `states`). `packing` stores states and tells them apart; `undeclared` notices what
//! is changed besides.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use testwright_core::Error;
use testwright_core::product::{Interner, ModelError, ModelState, NameId, Product, ValueId};
use testwright_model::parallel::ValueCodec;
use testwright_model::{Filter, RunSuite};

use crate::failures::RaisedException;
use crate::scenario_guide::LineMatcher;
use crate::{Interpreter, ProcessOwner, interrupt};

mod action_names;
mod actions;
mod byte_blobs;
mod cases;
mod choosers;
mod external_steps;
mod fsm_drawing;
mod lint;
mod model_values;
mod modules;
mod packing;
mod program;
mod program_reader;
mod python2_errors;
mod scenarios;
mod state_evaluator;
mod states;
mod stepper;
mod strategies;
mod undeclared;
mod unknown_argument;
mod value_text;

pub use cases::load_cases;
pub use choosers::PythonChooser;
pub use external_steps::ActionParameter;
pub use fsm_drawing::FsmDrawing;
pub use lint::StateLint;
use model_values::ModelValues;
pub use state_evaluator::StateEvaluator;
use states::ProgramStates;
pub use stepper::{Stepper, StepperFactory, StepperLimits};

/// Python modules, composed to a product.
pub struct Models<'py> {
    /// The composition of all models.
    pub product: Product<'py>,
    /// Peculiarities that do not prevent their use, each as a sentence.
    pub warnings: Vec<String>,
    python: Python<'py>,
    handles: ModelHandles<'py>,
    /// The docstrings of actions, if present.
    documented: Vec<(NameId, String)>,
}

/// The Python objects behind states and values of the product.
#[derive(Clone)]
struct ModelHandles<'py> {
    /// Arguments and results of steps.
    values: Rc<RefCell<ModelValues<'py>>>,
    /// The states of each model.
    states: Rc<Vec<ModelStates<'py>>>,
}

/// The states of a model, as Python objects.
enum ModelStates<'py> {
    /// A model program: its known states, and the namespace of its module.
    Program {
        states: Rc<RefCell<ProgramStates<'py>>>,
        module: Bound<'py, PyDict>,
    },
    /// A state machine: its states, by number.
    Fsm(Vec<Bound<'py, PyAny>>),
    /// A test suite, whose states are positions in its runs.
    Suite,
}

impl<'py> Models<'py> {
    /// Imports modules in order, and composes those that are models.
    ///
    /// A name is that of a module in the current folder or on Python's path, or the path of a file.
    /// In a process of the tool, Ctrl-C is handled from now on.
    pub fn load(
        interpreter: Interpreter<'py>,
        names: &[String],
        filter: &Filter,
        process: ProcessOwner,
    ) -> Result<Models<'py>, ModelError> {
        modules::load(interpreter.0, names, filter, process)
    }

    /// Adds a test suite that is not in a module.
    pub fn add_suite(&mut self, suite: RunSuite) {
        self.product.add(Box::new(suite));
        if let Some(states) = Rc::get_mut(&mut self.handles.states) {
            states.push(ModelStates::Suite);
        }
    }

    /// Makes SIGTERM a request to stop, like Ctrl-C.
    pub fn stop_on_termination(&self) -> Result<(), Error> {
        modules::install_handler(self.python, "SIGTERM")
            .map_err(|error| Error::new(error.to_string()))
    }

    /// Returns the harness lines that each action stands for: by its docstring, or else by its
    /// name.
    pub(crate) fn action_texts(&self) -> Vec<(NameId, LineMatcher)> {
        let text = |name: &NameId| {
            let documented = self.documented.iter().find(|(known, _)| known == name);
            match documented {
                Some((_, text)) => LineMatcher::Part(text.clone()),
                None => LineMatcher::Word(self.product.interner().name_text(*name).to_owned()),
            }
        };
        let vocabulary = self.product.vocabulary().iter();
        vocabulary.map(|name| (*name, text(name))).collect()
    }
}

impl<'py> Models<'py> {
    /// Returns a codec that passes values between this process and its forked children. To be
    /// called before the fork.
    pub fn value_codec(&self) -> PythonValueCodec<'py> {
        self.handles.values.borrow_mut().packer.share_atoms();
        PythonValueCodec(Rc::clone(&self.handles.values))
    }

    /// Returns a hash of the state of Python's random numbers, which changes when the code of a
    /// model draws one.
    pub fn random_state_hash(&self) -> Option<isize> {
        let random = self.python.import("random").ok()?;
        random.call_method0("getstate").ok()?.hash().ok()
    }
}

/// Passes values between a process and its forked children.
pub struct PythonValueCodec<'py>(Rc<RefCell<ModelValues<'py>>>);

impl ValueCodec for PythonValueCodec<'_> {
    fn export(&mut self, value: ValueId) -> Option<Vec<u8>> {
        self.0.borrow_mut().export(value)
    }

    fn import(&mut self, interner: &mut Interner, value: &[u8]) -> Option<ValueId> {
        self.0.borrow_mut().import(interner, value)
    }
}

impl Models<'_> {
    /// Returns the files of all modules that Python has imported so far.
    pub fn imported_files(&self) -> Vec<PathBuf> {
        let modules = self.python.import("sys");
        let modules = modules.and_then(|system| system.getattr("modules")?.call_method0("values"));
        let modules = modules.and_then(|modules| modules.try_iter());
        let Ok(modules) = modules else {
            return Vec::new();
        };
        let file = |module: PyResult<Bound<'_, PyAny>>| module?.getattr("__file__")?.extract();
        modules.filter_map(|module| file(module).ok()).collect()
    }
}

/// Returns true if the user has pressed Ctrl-C, including while no code under test runs that would
/// notice.
pub fn is_stop_requested() -> bool {
    interrupt::is_interrupted() || Python::attach(|python| python.check_signals().is_err())
}

/// Flushes Python's standard output and error, so that output of the tool comes after it.
pub fn flush() {
    Python::attach(|python| {
        for stream in ["stdout", "stderr"] {
            // Code under test may have replaced the streams by anything; errors are ignored.
            let found = python
                .import("sys")
                .and_then(|system| system.getattr(stream));
            let _ = found.and_then(|stream| stream.call_method0("flush"));
        }
    });
}

/// Changes the current folder of the process. Relative entries of Python's module path keep
/// referring to the previous one.
pub fn change_folder(interpreter: Interpreter<'_>, folder: &Path) -> Result<(), Error> {
    let python = interpreter.0;
    let change = || -> PyResult<()> {
        let os = python.import("os")?;
        let absolute = os.getattr("path")?.getattr("abspath")?;
        let path = python.import("sys")?.getattr("path")?;
        for index in 0..path.len()? {
            let entry = path.get_item(index)?;
            if entry.is_instance_of::<PyString>() {
                path.set_item(index, absolute.call1((entry,))?)?;
            }
        }
        os.call_method1("chdir", (folder,))?;
        Ok(())
    };
    change().map_err(|error| {
        let raised = RaisedException::new(python, &error);
        let (folder, raised) = (folder.display(), raised.summary());
        Error::new(format!("cannot run in `{folder}`: {raised}"))
    })
}

impl<'py> ModelHandles<'py> {
    /// Returns a state of the product as a dictionary: the state of each model, by name.
    fn state(&self, product: &Product<'_>, ids: &[ModelState]) -> PyResult<Bound<'py, PyDict>> {
        let values = self.values.borrow();
        let python = values.packer.python();
        let all = PyDict::new(python);
        let models = product.models().iter().zip(self.states.iter());
        for ((model, states), id) in models.zip(ids) {
            let state = match states {
                ModelStates::Program { states, .. } => {
                    states.borrow().values(&values.packer, *id)?.into_any()
                }
                ModelStates::Fsm(states) => states[id.0 as usize].clone(),
                ModelStates::Suite => {
                    let text = model.text(*id);
                    let read = python.import("ast")?.getattr("literal_eval")?;
                    read.call1((text,))?
                }
            };
            all.set_item(model.name(), state)?;
        }
        Ok(all)
    }
}
