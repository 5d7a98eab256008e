//! What is tested, behind a module that knows how to make it do a step.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyModule, PyString, PyTuple};
use testwright_core::Error;
use testwright_core::product::{Label, NameId, Trouble, ValueId, Words};
use testwright_model::Implementation;

use super::modules::{self, import, put_into_ancestor};
use super::speech::raised;
use super::{Handles, Models};
use crate::failures::Raised;
use crate::interrupt;

/// A module that makes an implementation do what the model does.
pub struct Stepper<'py> {
    python: Python<'py>,
    handles: Handles<'py>,
    name: String,
    act: Bound<'py, PyAny>,
    reset: Option<Bound<'py, PyAny>>,
    wait: Option<Bound<'py, PyAny>>,
    observations: Bound<'py, PyModule>,
    /// Whether somebody had said before this stepper was imported that there is something to wait for.
    others_wait: bool,
    patience: Option<Duration>,
    /// Show where exceptions were raised as they come up, as Python does.
    shows_tracebacks: bool,
    traceback: Option<String>,
}

/// How often a stepper is asked to wait before it is believed that there is nothing to wait for.
const WAITS: usize = 3;

/// What a module calls the function that does a step; a later name counts more.
const ACT: [&str; 3] = ["TestAction", "testaction", "test_action"];
const RESET: [&str; 2] = ["Reset", "reset"];

/// Where steppers put what they observe.
const QUEUE: &str = "observation_queue";

/// Knows how to import steppers, also when the product of the models is lent away.
#[derive(Clone)]
pub struct Steppers<'py> {
    python: Python<'py>,
    handles: Handles<'py>,
}

impl<'py> Models<'py> {
    /// Imports a stepper. `patience` is how long it may take for a step, and to wait for something to observe.
    pub fn stepper(&self, name: &str, patience: Option<Duration>) -> Result<Stepper<'py>, Trouble> {
        self.steppers().import(name, patience)
    }

    /// For who wants a stepper later.
    pub fn steppers(&self) -> Steppers<'py> {
        Steppers {
            python: self.python,
            handles: self.handles.clone(),
        }
    }
}

impl<'py> Steppers<'py> {
    /// Imports a stepper. `patience` is how long it may take for a step, and to wait for something to observe.
    pub fn import(&self, name: &str, patience: Option<Duration>) -> Result<Stepper<'py>, Trouble> {
        let python = self.python;
        let trouble = |error: PyErr| raised(python, &error);
        let observations = observations(python).map_err(trouble)?;
        let others_wait = is_asynchronous(&observations);
        let (folder, name) = modules::place(name);
        let module = import(python, &folder, &name)?;
        let last = |names: &[&str]| -> Option<Bound<'py, PyAny>> {
            names
                .iter()
                .rev()
                .find_map(|name| module.getattr(*name).ok())
        };
        let act = last(&ACT).ok_or_else(|| {
            let message = format!("the stepper `{name}` has no `TestAction`");
            let help = "define `def TestAction(name, arguments, expected_result)`: nothing returned means that all is well, \
                        a text says what is wrong";
            Trouble::Unusable(Error::new(message).with_help(help))
        })?;
        Ok(Stepper {
            python,
            handles: self.handles.clone(),
            act,
            reset: last(&RESET),
            wait: last(&["wait"]),
            name,
            observations,
            others_wait,
            patience,
            shows_tracebacks: false,
            traceback: None,
        })
    }
}

/// The module that steppers import to tell what they observe. It has to be there before they are.
pub(super) fn observations(python: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let system = python.import("sys")?;
    let modules = system
        .getattr("modules")?
        .cast_into::<PyDict>()
        .map_err(PyErr::from)?;
    // A stepper that was imported before, for other runs, has this one. It will not import another.
    if let Some(module) = modules.get_item(QUEUE)?
        && module.hasattr("queue")?
        && module.hasattr("asynch")?
    {
        module.getattr("queue")?.call_method0("clear")?;
        return module.cast_into::<PyModule>().map_err(PyErr::from);
    }
    let module = PyModule::new(python, QUEUE)?;
    module.setattr(
        "queue",
        python.import("collections")?.getattr("deque")?.call0()?,
    )?;
    module.setattr("asynch", false)?;
    modules.set_item(QUEUE, &module)?;
    put_into_ancestor(python, QUEUE, &module)?;
    Ok(module)
}

/// Whether a stepper has said that there may be something to wait for.
fn is_asynchronous(observations: &Bound<'_, PyModule>) -> bool {
    let flag = observations.getattr("asynch");
    flag.and_then(|flag| flag.is_truthy()).unwrap_or(false)
}

impl<'py> Stepper<'py> {
    /// The same, and it shows where its exceptions were raised as they come up.
    pub fn showing_tracebacks(mut self) -> Stepper<'py> {
        self.shows_tracebacks = true;
        self
    }

    /// Where the last exception of the stepper was raised.
    pub fn traceback(&self) -> Option<&str> {
        self.traceback.as_deref()
    }

    /// Whether it can begin another run.
    pub fn can_reset(&self) -> bool {
        self.reset.is_some()
    }

    /// Calls a function that may take too long.
    fn patiently(
        &self,
        call: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(patience) = self.patience else {
            return call();
        };
        let python = self.python;
        let signal = python.import("signal")?;
        let alarm = signal.getattr("SIGALRM")?;
        let bases = PyTuple::new(python, [python.get_type::<PyException>()])?;
        let members = PyDict::new(python);
        members.set_item("__module__", "builtins")?;
        let builtins = python.import("builtins")?;
        let too_long = builtins.getattr("type")?;
        let too_long = too_long.call1(("TimeoutException", bases, members))?;
        // PyModel's has no text.
        let text = if self.shows_tracebacks {
            String::new()
        } else {
            format!(
                "the step took longer than {} seconds",
                patience.as_secs_f64()
            )
        };
        let too_long = too_long.unbind();
        let raise =
            move |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| -> PyResult<()> {
                let python = arguments.py();
                let text = Some(text.as_str()).filter(|text| !text.is_empty());
                let text = PyTuple::new(python, text)?;
                Err(PyErr::from_value(too_long.bind(python).call1(text)?))
            };
        let handler = PyCFunction::new_closure(python, None, None, raise)?;
        let before = signal.call_method1("signal", (&alarm, handler))?;
        let timer = signal.getattr("ITIMER_REAL")?;
        signal.call_method1("setitimer", (&timer, patience.as_secs_f64()))?;
        let result = call();
        // In any case: an alarm that goes off later would strike anything.
        signal.call_method1("setitimer", (&timer, 0))?;
        signal.call_method1("signal", (&alarm, before))?;
        result
    }

    /// What an exception of the stepper says.
    fn failure(&mut self, error: &PyErr) -> Result<String, Trouble> {
        if interrupt::interrupted() {
            return Err(Trouble::Interrupted);
        }
        self.traceback = Some(Raised::new(self.python, error).traceback);
        if self.shows_tracebacks {
            // Shown, not printed: what Python calls printing ends the program if somebody has called `sys.exit`.
            error.display(self.python);
        }
        let class = error.get_type(self.python);
        let class = class
            .name()
            .map_or_else(|_| "exception".to_owned(), |name| name.to_string());
        let text = error.value(self.python).str();
        let text = text.map_or_else(
            |_| String::new(),
            |text| text.to_string_lossy().into_owned(),
        );
        Ok(format!("stepper raised exception: {class}, {text}"))
    }

    /// Trouble that the stepper has, and not the model.
    fn trouble(&self, error: &PyErr) -> Trouble {
        match raised(self.python, error) {
            Trouble::Raised { what, traceback } => Trouble::InStepper {
                stepper: self.name.clone(),
                what,
                traceback,
            },
            other => other,
        }
    }

    /// Lets the stepper wait until there is something to observe, or its time is over; whether there is.
    ///
    /// It may come back too early, woken by what was observed long ago, and then waits again. If it still comes back
    /// with nothing, it knows that nothing will come.
    fn wait_for_something(&self, wait: &Bound<'py, PyAny>) -> PyResult<bool> {
        let began = Instant::now();
        for _ in 0..WAITS {
            let left = match self.patience {
                None => None,
                Some(patience) => match patience.saturating_sub(began.elapsed()) {
                    Duration::ZERO => break,
                    left => Some(left.as_secs_f64()),
                },
            };
            wait.call1((left,))?;
            if self.queue()?.is_truthy()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn queue(&self) -> PyResult<Bound<'py, PyAny>> {
        self.observations.getattr("queue")
    }
}

impl Implementation for Stepper<'_> {
    fn act(&mut self, words: &Words, label: Label) -> Result<Option<String>, Trouble> {
        let name = PyString::new(self.python, words.name_text(label.name));
        let speech = self.handles.speech.borrow();
        let arguments = speech.object(label.arguments);
        let expected = speech.object(label.result);
        drop(speech);
        let answer = match self.patiently(|| self.act.call1((name, arguments, expected))) {
            Ok(answer) => answer,
            Err(error) => return self.failure(&error).map(Some),
        };
        if answer.is_none() {
            return Ok(None);
        }
        if let Ok(text) = answer.cast::<PyString>() {
            let text = text.to_string_lossy().into_owned();
            return Ok(Some(text).filter(|text| !text.is_empty()));
        }
        let shown = answer
            .str()
            .map_or_else(|_| String::new(), |text| text.to_string());
        Ok(Some(format!("stepper returned unhandled result: {shown}")))
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        let Some(reset) = &self.reset else {
            let message = format!("the stepper `{}` has no `Reset`", self.name);
            let help = "it is needed when there is more than one run";
            return Err(Error::new(message).with_help(help).into());
        };
        reset.call0().map_err(|error| self.trouble(&error))?;
        Ok(())
    }

    fn observed(&mut self, words: &mut Words) -> Result<Option<(NameId, ValueId)>, Trouble> {
        let mut work = || -> PyResult<Option<(NameId, ValueId)>> {
            let queue = self.queue()?;
            if !queue.is_truthy()? {
                return Ok(None);
            }
            let observation = queue.call_method0("popleft")?;
            let (name, arguments): (String, Bound<'_, PyAny>) = observation.extract()?;
            let arguments = arguments.unbind().into_bound(self.python);
            let mut speech = self.handles.speech.borrow_mut();
            Ok(Some((words.name(&name), speech.value(words, &arguments)?)))
        };
        work().map_err(|error| self.trouble(&error))
    }

    fn is_asynchronous(&self) -> bool {
        is_asynchronous(&self.observations) && !(self.others_wait && self.wait.is_none())
    }

    fn wait(&mut self) -> Result<Option<bool>, Trouble> {
        if !self.is_asynchronous() {
            return Ok(None);
        }
        let Some(wait) = &self.wait else {
            let message = format!(
                "the stepper `{}` is asynchronous and has no `wait`",
                self.name
            );
            let help =
                "define `def wait(seconds)`, which returns when there is something to observe";
            return Err(Error::new(message).with_help(help).into());
        };
        let came = self.wait_for_something(wait);
        came.map(Some).map_err(|error| self.trouble(&error))
    }

    fn forget(&mut self) -> Result<usize, Trouble> {
        let work = || -> PyResult<usize> {
            let queue = self.queue()?;
            let left = queue.len()?;
            queue.call_method0("clear")?;
            Ok(left)
        };
        work().map_err(|error| raised(self.python, &error))
    }
}
