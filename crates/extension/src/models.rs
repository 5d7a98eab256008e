//! Replays runs of models for pytest files that were written for failing runs.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use testwright_campaign::{CollectedProcesses, LeftoverProcesses, ProcessMark};
use testwright_core::product::ModelError;
use testwright_model::{Filter, RecordedRun, prepare_run};
use testwright_python::{Models, ProcessOwner, StepperLimits};

/// The settings of a replay, as a pytest file gives them.
pub(crate) struct ModelReplay {
    /// The time limit of the stepper, in seconds.
    pub(crate) timeout: f64,
    /// The number of the run, if one of the models is a suite.
    pub(crate) run: usize,
    /// The number of times that the run is played.
    pub(crate) tries: usize,
    /// True if a state in which an invariant does not hold is a failure.
    pub(crate) check: bool,
}

/// Replays steps on models while a stepper makes an implementation do the same. Returns the message
/// of the failure, if there is one, and its identity.
pub(crate) fn replay<'py>(
    python: Python<'py>,
    models: &[String],
    stepper: &str,
    steps: &[(String, Bound<'py, PyTuple>)],
    settings: &ModelReplay,
) -> PyResult<Option<(String, String)>> {
    let started = StartedProcesses::watch(python)?;
    let problem = replay_watched(python, models, stepper, steps, settings);
    started.collect(python)?;
    problem
}

/// The processes that steppers started while runs were replayed. They may be needed by the next replay,
/// so they are killed when this process ends, after the exit handlers of the steppers.
static STARTED: Mutex<Vec<(ProcessMark, CollectedProcesses)>> = Mutex::new(Vec::new());

/// The processes that are started during a replay.
struct StartedProcesses<'py> {
    mark: ProcessMark,
    leftovers: LeftoverProcesses,
    /// The mark that processes had before.
    former: Bound<'py, PyAny>,
}

impl<'py> StartedProcesses<'py> {
    /// Marks all processes that are started from now on.
    fn watch(python: Python<'py>) -> PyResult<StartedProcesses<'py>> {
        let all = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
        if all.is_empty() {
            // Exit handlers run in reverse order, so this one is the last.
            let end = wrap_pyfunction!(kill_started_processes, python)?;
            python.import("atexit")?.call_method1("register", (end,))?;
        }
        drop(all);
        let mark = ProcessMark::new();
        let environment = python.import("os")?.getattr("environ")?;
        let [name, value] = mark.variable();
        let former = environment.call_method1("get", (name,))?;
        environment.set_item(name, value)?;
        Ok(StartedProcesses {
            mark,
            leftovers: LeftoverProcesses::watch(),
            former,
        })
    }

    /// Keeps the processes that were started, to be killed later.
    fn collect(self, python: Python<'py>) -> PyResult<()> {
        let environment = python.import("os")?.getattr("environ")?;
        let [name, _] = self.mark.variable();
        if self.former.is_none() {
            environment.call_method1("pop", (name, python.None()))?;
        } else {
            environment.set_item(name, self.former)?;
        }
        let mut all = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((self.mark, self.leftovers.collect()));
        Ok(())
    }
}

/// Kills the processes that steppers have left.
#[pyfunction]
fn kill_started_processes() {
    let mut all = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    for (mark, children) in all.drain(..) {
        children.kill();
        mark.kill_all();
    }
}

/// Replays steps as [`replay`] does.
fn replay_watched<'py>(
    python: Python<'py>,
    models: &[String],
    stepper: &str,
    steps: &[(String, Bound<'py, PyTuple>)],
    settings: &ModelReplay,
) -> PyResult<Option<(String, String)>> {
    let mut models = Models::load(
        python.into(),
        models,
        &Filter::default(),
        ProcessOwner::Caller,
    )
    .map_err(to_py_error)?;
    let limit = Duration::try_from_secs_f64(settings.timeout).ok();
    // A reduced run of a suite has fewer steps.
    models.product.allow_gaps();
    let mut stepper = models
        .stepper(stepper, limit.map(StepperLimits::all))
        .map_err(to_py_error)?;
    let recorded_run = RecordedRun {
        run: settings.run,
        steps: models.intern_steps(steps).map_err(to_py_error)?,
        check_invariants: settings.check,
    };
    for attempt in 0..settings.tries {
        // Another test may have used the stepper. One without a reset can be used just once.
        if attempt > 0 || stepper.can_reset() {
            prepare_run(&mut stepper).map_err(to_py_error)?;
        }
        let replayed = recorded_run
            .replay(&mut models.product, &mut stepper)
            .map_err(to_py_error)?;
        if let Some(failure) = replayed.failure {
            return Ok(Some((failure.message, failure.signature)));
        }
        if let Some((name, arguments)) = replayed.skipped_step {
            let interner = models.product.interner();
            let (name, arguments) = (
                interner.name_text(name),
                interner.value_text(arguments).plain(),
            );
            let message = format!("{name}{arguments} is not possible here");
            return Ok(Some((message, String::new())));
        }
    }
    Ok(None)
}

/// Converts an error of models to an exception, with the model's traceback.
fn to_py_error(error: ModelError) -> PyErr {
    let traceback = match &error {
        ModelError::Raised { traceback, .. } | ModelError::InStepper { traceback, .. } => {
            format!("\n{traceback}")
        }
        _ => String::new(),
    };
    PyRuntimeError::new_err(format!("{error}{traceback}"))
}
