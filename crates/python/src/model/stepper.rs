//! Steppers: modules that execute steps on the implementation under test.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyModule, PyString, PyTuple};
use testwright_core::Error;
use testwright_core::product::{Interner, ModelError, NameId, StepLabel, ValueId};
use testwright_model::{Implementation, StepMismatch};

use super::model_values::raised;
use super::modules::{self, add_to_pymodel, import};
use super::{ModelHandles, Models};
use crate::failures::{self, LineRecorder, RaisedException};
use crate::unawaited::{self, UnawaitedCoroutine};
use crate::{exit_handlers, interrupt};

/// A module that executes the steps of a model on an implementation.
pub struct Stepper<'py> {
    python: Python<'py>,
    handles: ModelHandles<'py>,
    name: String,
    /// The function that executes a step.
    act: Bound<'py, PyAny>,
    reset: Option<Bound<'py, PyAny>>,
    /// The function that waits for an observation.
    wait: Option<Bound<'py, PyAny>>,
    /// The module `observation_queue`.
    observations: Bound<'py, PyModule>,
    /// True if the module `observation_queue` was set to asynchronous before this stepper was
    /// imported.
    was_asynchronous: bool,
    limits: Option<StepperLimits>,
    /// The actions that are known to hang.
    hanging: HashSet<NameId>,
    /// The steps since the last reset.
    trail: Vec<(NameId, ValueId)>,
    /// Steps whose last one is confirmed to hang.
    confirmed_hangs: HashSet<Vec<(NameId, ValueId)>>,
    /// The longest time of a step that ended.
    slowest: Duration,
    /// True to print tracebacks of exceptions as they occur, as Python does.
    shows_tracebacks: bool,
    /// The traceback of the last exception.
    traceback: Option<String>,
    /// The recorder of the lines that the implementation executes, while it records.
    recorder: Option<LineRecorder<'py>>,
    /// The way to start the service again, unless PyModel's rules apply.
    restart: Option<StepperRestart>,
}

/// The time limits of a stepper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepperLimits {
    /// The time that a step should not take.
    pub step: Duration,
    /// The time after which a step is interrupted, which is a hang.
    pub hang: Duration,
    /// The time to wait for an observation.
    pub observation: Duration,
}

impl StepperLimits {
    /// Returns limits that are all the same.
    pub fn all(limit: Duration) -> StepperLimits {
        StepperLimits {
            step: limit,
            hang: limit,
            observation: limit,
        }
    }
}

/// The least time after which an action that hung before is interrupted.
const MIN_HANG_TIME: Duration = Duration::from_millis(500);

/// Everything that is needed to import a stepper again, after the service that it drives has ended.
struct StepperRestart {
    /// The folder of the module.
    folder: PathBuf,
    /// The modules that the stepper brought along, itself included.
    modules: Vec<String>,
}

/// The number of waits without an observation after which none is expected any more.
const MAX_WAITS: usize = 3;

/// The names of the function that executes a step; later ones take precedence.
const ACT: [&str; 3] = ["TestAction", "testaction", "test_action"];
/// The names of the function that prepares for another run; later ones take precedence.
const RESET: [&str; 2] = ["Reset", "reset"];
/// The names of the function that is called at the end; later ones take precedence.
const TEARDOWN: [&str; 2] = ["Teardown", "teardown"];

/// The module in which steppers queue their observations.
const QUEUE: &str = "observation_queue";

/// Imports steppers, including while the product of the models is borrowed elsewhere.
#[derive(Clone)]
pub struct StepperFactory<'py> {
    python: Python<'py>,
    handles: ModelHandles<'py>,
}

impl<'py> Models<'py> {
    /// Imports a stepper that is treated as PyModel treats it. `timeout` limits each step, and each
    /// wait for an observation.
    pub fn plain_stepper(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Stepper<'py>, ModelError> {
        let limits = timeout.map(StepperLimits::all);
        self.stepper_factory().import(name, limits)
    }

    /// Imports a stepper. Its `Teardown` and exit handlers run at the end.
    pub fn stepper(
        &self,
        name: &str,
        limits: Option<StepperLimits>,
    ) -> Result<Stepper<'py>, ModelError> {
        self.stepper_factory().import_managed(name, limits)
    }

    /// Returns a factory for steppers that are needed later.
    pub fn stepper_factory(&self) -> StepperFactory<'py> {
        StepperFactory {
            python: self.python,
            handles: self.handles.clone(),
        }
    }
}

impl<'py> StepperFactory<'py> {
    /// Imports a stepper.
    fn import(
        &self,
        name: &str,
        limits: Option<StepperLimits>,
    ) -> Result<Stepper<'py>, ModelError> {
        let python = self.python;
        let to_model_error = |error: PyErr| raised(python, &error);
        let observations = observations(python).map_err(to_model_error)?;
        let was_asynchronous = is_asynchronous(&observations);
        let (folder, name) = modules::split_module_path(name);
        let functions = StepperFunctions::import(python, &folder, &name)?;
        Ok(Stepper {
            python,
            handles: self.handles.clone(),
            act: functions.act,
            reset: functions.reset,
            wait: functions.wait,
            name,
            observations,
            was_asynchronous,
            limits,
            hanging: HashSet::new(),
            trail: Vec::new(),
            confirmed_hangs: HashSet::new(),
            slowest: Duration::ZERO,
            shows_tracebacks: false,
            traceback: None,
            recorder: None,
            restart: None,
        })
    }

    /// Imports a stepper whose `Teardown` and exit handlers run at the end, and which is imported
    /// again if the service that it drives ends before.
    pub fn import_managed(
        &self,
        name: &str,
        limits: Option<StepperLimits>,
    ) -> Result<Stepper<'py>, ModelError> {
        let python = self.python;
        let to_model_error = |error: PyErr| raised(python, &error);
        let (folder, _) = modules::split_module_path(name);
        let before = module_names(python).map_err(to_model_error)?;
        // Also if the import fails: its first lines may have started a server.
        exit_handlers::expect();
        let mut stepper = self.import(name, limits)?;
        stepper.register_teardown().map_err(to_model_error)?;
        let after = module_names(python).map_err(to_model_error)?;
        let own = after.into_iter().filter(|name| !before.contains(name));
        let own = own.filter(|name| is_in_folder(python, name, &folder));
        stepper.restart = Some(StepperRestart {
            modules: own.chain([stepper.name.clone()]).collect(),
            folder,
        });
        Ok(stepper)
    }
}

/// The functions of a stepper's module.
struct StepperFunctions<'py> {
    act: Bound<'py, PyAny>,
    reset: Option<Bound<'py, PyAny>>,
    wait: Option<Bound<'py, PyAny>>,
}

impl<'py> StepperFunctions<'py> {
    /// Imports the module, unless that was done before.
    fn import(
        python: Python<'py>,
        folder: &Path,
        name: &str,
    ) -> Result<StepperFunctions<'py>, ModelError> {
        let module = import(python, folder, name)?;
        let functions = ACT.iter().chain(&RESET).chain(&TEARDOWN).chain(&["wait"]);
        for function in functions {
            let found = last_defined(&module, &[function]);
            let role = format!("`{function}` of the stepper `{name}`");
            if let Some(error) =
                found.and_then(|found| unawaited::coroutine_function(&found, &role))
            {
                return Err(error.into());
            }
        }
        let act = last_defined(&module, &ACT).ok_or_else(|| {
            let message = format!("the stepper `{name}` has no `TestAction`");
            let help = "define `def TestAction(name, arguments, expected_result)`: nothing returned means that all is well, \
                        a text says what is wrong";
            ModelError::Unusable(Error::new(message).with_help(help))
        })?;
        Ok(StepperFunctions {
            act,
            reset: last_defined(&module, &RESET),
            wait: last_defined(&module, &["wait"]),
        })
    }
}

/// Returns what a module defines under the last of several names.
fn last_defined<'py>(module: &Bound<'py, PyModule>, names: &[&str]) -> Option<Bound<'py, PyAny>> {
    let mut names = names.iter().rev();
    names.find_map(|name| module.getattr(*name).ok())
}

/// Returns the names of all imported modules.
fn module_names(python: Python<'_>) -> PyResult<HashSet<String>> {
    let modules = python.import("sys")?.getattr("modules")?;
    let names = modules.call_method0("copy")?;
    names.try_iter()?.map(|name| name?.extract()).collect()
}

/// Returns true if a module comes from this folder.
fn is_in_folder(python: Python<'_>, module: &str, folder: &Path) -> bool {
    let modules = python
        .import("sys")
        .and_then(|system| system.getattr("modules"));
    let file = modules.and_then(|modules| modules.get_item(module)?.getattr("__file__"));
    let file: Option<PathBuf> = file.and_then(|file| file.extract()).ok();
    let folder = fs::canonicalize(if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    });
    let parent = file.and_then(|file| fs::canonicalize(file).ok()?.parent().map(Path::to_owned));
    parent.is_some_and(|parent| folder.is_ok_and(|folder| parent == folder))
}

/// Returns the module to which steppers report observations. It has to exist before they are
/// imported.
pub(super) fn observations(python: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let system = python.import("sys")?;
    let modules = system
        .getattr("modules")?
        .cast_into::<PyDict>()
        .map_err(PyErr::from)?;
    // A stepper that was imported for earlier runs holds this module, and will not import another.
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
    add_to_pymodel(python, QUEUE, &module)?;
    Ok(module)
}

/// Returns true if a stepper has announced observations that come later.
fn is_asynchronous(observations: &Bound<'_, PyModule>) -> bool {
    let flag = observations.getattr("asynch");
    flag.and_then(|flag| flag.is_truthy()).unwrap_or(false)
}

impl<'py> Stepper<'py> {
    /// Registers the function that the stepper has for its end as an exit handler. It runs before
    /// those that the module registered while it was imported.
    fn register_teardown(&self) -> PyResult<()> {
        let modules = self.python.import("sys")?.getattr("modules")?;
        let module = modules
            .get_item(&self.name)?
            .cast_into::<PyModule>()
            .map_err(PyErr::from)?;
        let Some(teardown) = last_defined(&module, &TEARDOWN) else {
            return Ok(());
        };
        let handlers = self.python.import("atexit")?;
        // It may be registered already, for earlier runs.
        handlers.call_method1("unregister", (&teardown,))?;
        handlers.call_method1("register", (teardown,))?;
        Ok(())
    }

    /// Imports the stepper again, since the service that it drives seems to have ended. Returns
    /// false if that is not possible.
    fn start_again(&mut self) -> Result<bool, ModelError> {
        let Some(restart) = &self.restart else {
            return Ok(false);
        };
        if !exit_handlers::run(self.python) {
            return Ok(false);
        }
        let forget = || -> PyResult<()> {
            let loaded = self.python.import("sys")?.getattr("modules")?;
            for name in &restart.modules {
                loaded.call_method1("pop", (name, self.python.None()))?;
            }
            Ok(())
        };
        forget().map_err(|error| self.stepper_error(&error))?;
        let functions = StepperFunctions::import(self.python, &restart.folder, &self.name)?;
        self.act = functions.act;
        self.reset = functions.reset;
        self.wait = functions.wait;
        self.register_teardown()
            .map_err(|error| self.stepper_error(&error))?;
        Ok(true)
    }

    /// Prints tracebacks of exceptions as they occur.
    pub fn with_tracebacks(mut self) -> Stepper<'py> {
        self.shows_tracebacks = true;
        self
    }

    /// Returns the traceback of the last exception of the stepper.
    pub fn traceback(&self) -> Option<&str> {
        self.traceback.as_deref()
    }

    /// Returns true if the stepper can start another run.
    pub fn can_reset(&self) -> bool {
        self.reset.is_some()
    }

    /// Calls a function with a time limit. Returns true with the result if the limit was exceeded.
    fn with_timeout(
        &self,
        timeout: Duration,
        call: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<(PyResult<Bound<'py, PyAny>>, bool)> {
        let python = self.python;
        let signal = python.import("signal")?;
        let alarm = signal.getattr("SIGALRM")?;
        let bases = PyTuple::new(python, [python.get_type::<PyException>()])?;
        let members = PyDict::new(python);
        members.set_item("__module__", "builtins")?;
        let builtins = python.import("builtins")?;
        let too_long = builtins.getattr("type")?;
        let too_long = too_long.call1(("TimeoutException", bases, members))?;
        // PyModel's exception has no text.
        let text = if self.shows_tracebacks {
            String::new()
        } else {
            format!(
                "the step took longer than {} seconds",
                timeout.as_secs_f64()
            )
        };
        let too_long = too_long.unbind();
        let is_exceeded = Arc::new(AtomicBool::new(false));
        let exceeded = is_exceeded.clone();
        let raise =
            move |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| -> PyResult<()> {
                exceeded.store(true, Ordering::Relaxed);
                let python = arguments.py();
                let text = Some(text.as_str()).filter(|text| !text.is_empty());
                let text = PyTuple::new(python, text)?;
                Err(PyErr::from_value(too_long.bind(python).call1(text)?))
            };
        let handler = PyCFunction::new_closure(python, None, None, raise)?;
        let before = signal.call_method1("signal", (&alarm, handler))?;
        let timer = signal.getattr("ITIMER_REAL")?;
        signal.call_method1("setitimer", (&timer, timeout.as_secs_f64()))?;
        let result = call();
        // The alarm is canceled in any case, because it could strike any other code.
        signal.call_method1("setitimer", (&timer, 0))?;
        signal.call_method1("signal", (&alarm, before))?;
        Ok((result, is_exceeded.load(Ordering::Relaxed)))
    }

    /// Performs a step on the implementation. Returns the mismatch instead of the result if the step
    /// exceeds its time limit, unless PyModel's rules apply.
    fn call_act(
        &mut self,
        action: NameId,
        arguments: impl pyo3::call::PyCallArgs<'py>,
    ) -> PyResult<Result<Bound<'py, PyAny>, StepMismatch>> {
        let Some(limits) = self.limits else {
            return self.act.call1(arguments).map(Ok);
        };
        let is_known = self.hanging.contains(&action);
        let limit = if is_known {
            MIN_HANG_TIME.max(100 * self.slowest).min(limits.step)
        } else {
            limits.hang
        };
        let started = Instant::now();
        let (result, is_exceeded) = self.with_timeout(limit, || self.act.call1(arguments))?;
        if !is_exceeded || self.restart.is_none() {
            self.slowest = self.slowest.max(started.elapsed());
            return result.map(Ok);
        }
        // Whatever the stepper makes of the interruption, it came because the step did not end.
        self.hanging.insert(action);
        let traceback = result
            .err()
            .map(|error| RaisedException::new(self.python, &error).traceback);
        self.traceback = traceback;
        let is_confirmed = !is_known || self.confirmed_hangs.contains(&self.trail);
        let text = if !is_confirmed {
            format!("did not end within {limit:?}, unconfirmed")
        } else {
            self.confirmed_hangs.insert(self.trail.clone());
            format!("no end after {:?}", limits.step)
        };
        Ok(Err(StepMismatch {
            text,
            exception: None,
            reason: None,
            is_hang: true,
        }))
    }

    /// Returns the failure message for an exception of the stepper.
    fn failure(&mut self, error: &PyErr) -> Result<StepMismatch, ModelError> {
        if interrupt::is_interrupted() {
            return Err(ModelError::Interrupted);
        }
        let raised = RaisedException::new(self.python, error);
        let reason = raised.signature();
        self.traceback = Some(raised.traceback);
        if self.shows_tracebacks {
            // `display` is used because `print` would exit the process after a `SystemExit`.
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
        let separator = if text.is_empty() && self.restart.is_some() {
            ""
        } else {
            // PyModel writes it in any case.
            ", "
        };
        Ok(StepMismatch {
            text: format!("stepper raised exception: {class}{separator}{text}"),
            // A step that takes too long is stopped anywhere.
            reason: Some(reason).filter(|_| class != "TimeoutException"),
            exception: Some(class),
            is_hang: false,
        })
    }

    /// Converts an exception of the stepper, as opposed to the model, to an error.
    fn stepper_error(&self, error: &PyErr) -> ModelError {
        match raised(self.python, error) {
            ModelError::Raised {
                exception: what,
                traceback,
            } => ModelError::InStepper {
                stepper: self.name.clone(),
                exception: what,
                traceback,
            },
            other => other,
        }
    }

    /// Lets the stepper wait for an observation, up to the timeout. Returns true if there is one.
    ///
    /// It may return too early, because of an earlier observation, and then waits again. After
    /// [`MAX_WAITS`] returns without an observation, none is expected.
    fn wait_for_observation(&self, wait: &Bound<'py, PyAny>) -> PyResult<bool> {
        let start = Instant::now();
        for _ in 0..MAX_WAITS {
            let left = match self.limits {
                None => None,
                Some(limits) => match limits.observation.saturating_sub(start.elapsed()) {
                    Duration::ZERO => break,
                    left => Some(left.as_secs_f64()),
                },
            };
            interrupt::mark_progress();
            self.awaited(wait.call1((left,))?)?;
            interrupt::mark_progress();
            if self.queue()?.is_truthy()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the mismatch for a text that the stepper returned.
    fn returned(&self, text: String) -> StepMismatch {
        StepMismatch {
            reason: failures::written_words(&self.act, &text),
            text,
            exception: None,
            is_hang: false,
        }
    }

    /// Returns what a function of the stepper returned, unless it is a coroutine or the function
    /// dropped one.
    fn awaited(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let values = self.handles.values.borrow();
        values.coroutines.check_result(&value)?;
        Ok(value)
    }

    /// Returns the queue of observations.
    fn queue(&self) -> PyResult<Bound<'py, PyAny>> {
        self.observations.getattr("queue")
    }
}

impl Implementation for Stepper<'_> {
    fn act(
        &mut self,
        interner: &Interner,
        label: StepLabel,
    ) -> Result<Option<StepMismatch>, ModelError> {
        interrupt::mark_progress();
        self.trail.push((label.name, label.arguments));
        let name = PyString::new(self.python, interner.name_text(label.name));
        let values = self.handles.values.borrow();
        let arguments = values.object(label.arguments);
        let expected = values.object(label.result);
        drop(values);
        let answer = match self.call_act(label.name, (name, arguments, expected)) {
            Ok(Ok(answer)) => self.awaited(answer),
            Ok(Err(_)) if interrupt::is_interrupted() => return Err(ModelError::Interrupted),
            Ok(Err(hang)) => return Ok(Some(hang)),
            Err(error) => Err(error),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) if error.is_instance_of::<UnawaitedCoroutine>(self.python) => {
                return Err(self.stepper_error(&error));
            }
            Err(error) => return self.failure(&error).map(Some),
        };
        if answer.is_none() {
            return Ok(None);
        }
        if let Ok(text) = answer.cast::<PyString>() {
            let text = text.to_string_lossy().into_owned();
            let text = Some(text).filter(|text| !text.is_empty());
            return Ok(text.map(|text| self.returned(text)));
        }
        let shown = answer
            .str()
            .map_or_else(|_| String::new(), |text| text.to_string());
        Ok(Some(self.returned(format!(
            "stepper returned unhandled result: {shown}"
        ))))
    }

    fn record_lines(&mut self, record: bool) -> Vec<String> {
        if let Some(recorder) = self.recorder.take() {
            return recorder.stop();
        }
        if record {
            let code = self.act.getattr("__code__");
            let path = code.and_then(|code| code.getattr("co_filename"));
            let start = |path| LineRecorder::start(self.python, path, true);
            self.recorder = path.and_then(start).ok();
        }
        Vec::new()
    }

    fn can_reset(&self) -> bool {
        self.reset.is_some()
    }

    fn use_full_limits(&mut self) {
        self.hanging.clear();
    }

    fn reset(&mut self) -> Result<(), ModelError> {
        let Some(reset) = &self.reset else {
            let message = format!("the stepper `{}` has no `Reset`", self.name);
            let help = "it is needed when there is more than one run";
            return Err(Error::new(message).with_help(help).into());
        };
        interrupt::mark_progress();
        self.trail.clear();
        let Err(error) = reset.call0().and_then(|value| self.awaited(value)) else {
            return Ok(());
        };
        if error.is_instance_of::<UnawaitedCoroutine>(self.python) {
            return Err(self.stepper_error(&error));
        }
        let error = self.stepper_error(&error);
        if matches!(error, ModelError::Interrupted) || !self.start_again()? {
            return Err(error);
        }
        match &self.reset {
            Some(reset) => {
                let is_reset = reset.call0().and_then(|value| self.awaited(value));
                is_reset.map_err(|error| self.stepper_error(&error))?;
                Ok(())
            }
            None => Err(error),
        }
    }

    fn next_observation(
        &mut self,
        interner: &mut Interner,
    ) -> Result<Option<(NameId, ValueId)>, ModelError> {
        let mut work = || -> PyResult<Option<(NameId, ValueId)>> {
            let queue = self.queue()?;
            if !queue.is_truthy()? {
                return Ok(None);
            }
            let observation = queue.call_method0("popleft")?;
            let (name, arguments): (String, Bound<'_, PyAny>) = observation.extract()?;
            let arguments = arguments.unbind().into_bound(self.python);
            let mut values = self.handles.values.borrow_mut();
            Ok(Some((
                interner.intern_name(&name),
                values.value(interner, &arguments)?,
            )))
        };
        work().map_err(|error| self.stepper_error(&error))
    }

    fn is_asynchronous(&self) -> bool {
        is_asynchronous(&self.observations) && !(self.was_asynchronous && self.wait.is_none())
    }

    fn wait(&mut self) -> Result<Option<bool>, ModelError> {
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
        let has_observation = self.wait_for_observation(wait);
        has_observation
            .map(Some)
            .map_err(|error| self.stepper_error(&error))
    }

    fn discard_observations(&mut self) -> Result<usize, ModelError> {
        let work = || -> PyResult<usize> {
            let queue = self.queue()?;
            let left = queue.len()?;
            queue.call_method0("clear")?;
            Ok(left)
        };
        work().map_err(|error| raised(self.python, &error))
    }
}
