//! Models for pytest files that were written for runs that fail.

use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use testwright_core::product::Trouble;
use testwright_model::{Filter, Implementation, Walk};
use testwright_python::{Models, Process};

/// Plays steps through models while a stepper makes an implementation do the same; what went wrong, if anything.
pub(crate) fn replay<'py>(
    python: Python<'py>,
    models: &[String],
    stepper: &str,
    steps: &[(String, Bound<'py, PyTuple>)],
    timeout: f64,
) -> PyResult<Option<String>> {
    let mut models = Models::load(
        python.into(),
        models,
        &Filter::default(),
        Process::OfTheCaller,
    )
    .map_err(raise)?;
    let patience = Duration::try_from_secs_f64(timeout).ok();
    let mut stepper = models.stepper(stepper, patience).map_err(raise)?;
    let steps = models.steps_of(steps).map_err(raise)?;
    let can_reset = stepper.can_reset();
    let implementation: &mut dyn Implementation = &mut stepper;
    let mut walk = Walk::new(&mut models.product, Some(implementation)).map_err(raise)?;
    if can_reset {
        walk.has_begun();
    }
    let failure = walk.play(&steps);
    let failure = failure.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(failure.map(|failure| failure.message))
}

fn raise(trouble: Trouble) -> PyErr {
    let traceback = match &trouble {
        Trouble::Raised { traceback, .. } => format!("\n{traceback}"),
        _ => String::new(),
    };
    PyRuntimeError::new_err(format!("{trouble}{traceback}"))
}
