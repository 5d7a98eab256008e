//! Models that are Python modules: model programs, machines and lists of runs, as Python developers have always
//! written them.
//!
//! [`Models::load`] imports modules by name and makes a [`Product`] of them. What kind of model a module is, it shows
//! by what it defines (`modules`); machines and lists of runs are read once and need Python no more (`scenarios`), a
//! model program stays alive in its module (`declared`, `program`, `actions`, `states`). `values` keeps states and tells them apart.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use testwright_core::Error;
use testwright_core::product::{NameId, Place, Product, Trouble, ValueId, Words};
use testwright_model::parallel::Passing;
use testwright_model::{Filter, Suite};

use crate::failures::Raised;
use crate::guidance::Text;
use crate::{Interpreter, Process, interrupt};

mod actions;
mod asking;
mod cases;
mod choosers;
mod declared;
mod lint;
mod machines;
mod misread;
mod modules;
mod pieces;
mod program;
mod scenarios;
mod speech;
mod spoken;
mod states;
mod stepper;
mod strategies;
mod text;
mod values;

pub use asking::Asker;
pub use cases::cases;
pub use choosers::PythonChooser;
pub use lint::Lint;
pub use machines::Machine;
use speech::Speech;
use states::States;
pub use stepper::{Stepper, Steppers};

/// Modules that were made a product.
pub struct Models<'py> {
    /// What they do together.
    pub product: Product<'py>,
    /// What is odd about them, but not in the way.
    pub remarks: Vec<String>,
    python: Python<'py>,
    handles: Handles<'py>,
    /// The docstrings of actions that have one.
    documented: Vec<(NameId, String)>,
}

/// What places and values of the product are in Python.
#[derive(Clone)]
struct Handles<'py> {
    speech: Rc<RefCell<Speech<'py>>>,
    /// By model.
    states: Rc<Vec<StatesOf<'py>>>,
}

/// The states of a model, as Python has them.
enum StatesOf<'py> {
    Program {
        states: Rc<RefCell<States<'py>>>,
        module: Bound<'py, PyDict>,
    },
    Fsm(Vec<Bound<'py, PyAny>>),
    Suite,
}

impl<'py> Models<'py> {
    /// Imports modules, in order, and composes those that are models.
    ///
    /// A name is that of a module in the current folder, or on Python's path, or the path of a file. In a process of the
    /// tool's, Ctrl-C is noticed from now on.
    pub fn load(
        interpreter: Interpreter<'py>,
        names: &[String],
        filter: &Filter,
        process: Process,
    ) -> Result<Models<'py>, Trouble> {
        modules::load(interpreter.0, names, filter, process)
    }

    /// Adds a list of runs that is in no module.
    pub fn add_suite(&mut self, suite: Suite) {
        self.product.add(Box::new(suite));
        if let Some(states) = Rc::get_mut(&mut self.handles.states) {
            states.push(StatesOf::Suite);
        }
    }

    /// What lines of a harness the actions stand for.
    pub(crate) fn texts_of_actions(&self) -> Vec<(NameId, Text)> {
        let text = |name: &NameId| {
            let documented = self.documented.iter().find(|(known, _)| known == name);
            match documented {
                Some((_, text)) => Text::Part(text.clone()),
                None => Text::Word(self.product.words().name_text(*name).to_owned()),
            }
        };
        let vocabulary = self.product.vocabulary().iter();
        vocabulary.map(|name| (*name, text(name))).collect()
    }
}

impl<'py> Models<'py> {
    /// Makes values understood by copies of the process. To be called before it is copied.
    pub fn passing(&self) -> ValuePassing<'py> {
        self.handles.speech.borrow_mut().values.share();
        ValuePassing(Rc::clone(&self.handles.speech))
    }

    /// A number that becomes another one when the code of a model draws random numbers.
    pub fn chance(&self) -> Option<isize> {
        let random = self.python.import("random").ok()?;
        random.call_method0("getstate").ok()?.hash().ok()
    }
}

/// Passes values between copies of the process.
pub struct ValuePassing<'py>(Rc<RefCell<Speech<'py>>>);

impl Passing for ValuePassing<'_> {
    fn export(&mut self, value: ValueId) -> Option<Vec<u8>> {
        self.0.borrow_mut().export(value)
    }

    fn import(&mut self, words: &mut Words, value: &[u8]) -> Option<ValueId> {
        self.0.borrow_mut().import(words, value)
    }
}

impl Models<'_> {
    /// The files of all modules that Python has imported by now.
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

/// Whether the person at the keyboard has pressed Ctrl-C, where no code under test would notice.
pub fn asked_to_stop() -> bool {
    interrupt::interrupted() || Python::attach(|python| python.check_signals().is_err())
}

/// Lets out what Python code has printed, before somebody else prints to the same place.
pub fn flush() {
    Python::attach(|python| {
        for stream in ["stdout", "stderr"] {
            // Code under test may have put anything there; it is its own loss then.
            let found = python
                .import("sys")
                .and_then(|system| system.getattr(stream));
            let _ = found.and_then(|stream| stream.call_method0("flush"));
        }
    });
}

/// Lets the process run in another folder from now on. What modules were told to look for relative to the current one is
/// found there still.
pub fn move_to(interpreter: Interpreter<'_>, folder: &Path) -> Result<(), Error> {
    let python = interpreter.0;
    let go = || -> PyResult<()> {
        let os = python.import("os")?;
        let absolute = os.getattr("path")?.getattr("abspath")?;
        let path = python.import("sys")?.getattr("path")?;
        for place in 0..path.len()? {
            let entry = path.get_item(place)?;
            if entry.is_instance_of::<PyString>() {
                path.set_item(place, absolute.call1((entry,))?)?;
            }
        }
        os.call_method1("chdir", (folder,))?;
        Ok(())
    };
    go().map_err(|error| {
        let raised = Raised::new(python, &error);
        let (folder, raised) = (folder.display(), raised.summary());
        Error::new(format!("cannot run in `{folder}`: {raised}"))
    })
}

impl<'py> Handles<'py> {
    /// A state of the product: the state of each model, by name.
    fn state(&self, product: &Product<'_>, places: &[Place]) -> PyResult<Bound<'py, PyDict>> {
        let speech = self.speech.borrow();
        let python = speech.values.python();
        let all = PyDict::new(python);
        let models = product.models().iter().zip(self.states.iter());
        for ((model, states), place) in models.zip(places) {
            let state = match states {
                StatesOf::Program { states, .. } => {
                    states.borrow().values(&speech.values, *place)?.into_any()
                }
                StatesOf::Fsm(states) => states[place.0 as usize].clone(),
                StatesOf::Suite => {
                    let text = model.text(*place);
                    let read = python.import("ast")?.getattr("literal_eval")?;
                    read.call1((text,))?
                }
            };
            all.set_item(model.name(), state)?;
        }
        Ok(all)
    }
}
