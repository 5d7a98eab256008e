//! Replays runs of models for pytest files that were written for failing runs.

use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
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
/// of the failure, if there is one.
pub(crate) fn replay<'py>(
    python: Python<'py>,
    models: &[String],
    stepper: &str,
    steps: &[(String, Bound<'py, PyTuple>)],
    settings: &ModelReplay,
) -> PyResult<Option<String>> {
    let mut models = Models::load(
        python.into(),
        models,
        &Filter::default(),
        ProcessOwner::Caller,
    )
    .map_err(to_py_error)?;
    let limit = Duration::try_from_secs_f64(settings.timeout).ok();
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
            return Ok(Some(failure.message));
        }
        if let Some((name, arguments)) = replayed.skipped_step {
            let interner = models.product.interner();
            let (name, arguments) = (
                interner.name_text(name),
                interner.value_text(arguments).plain(),
            );
            return Ok(Some(format!("{name}{arguments} is not possible here")));
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
