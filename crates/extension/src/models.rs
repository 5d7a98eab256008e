//! Models for pytest files that were written for runs that fail.

use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use testwright_core::product::Trouble;
use testwright_model::{Filter, Script, make_ready};
use testwright_python::{Models, Process};

/// Plays steps through models while a stepper makes an implementation do the same; what went wrong, if anything.
pub(crate) fn replay<'py>(
    python: Python<'py>,
    models: &[String],
    stepper: &str,
    steps: &[(String, Bound<'py, PyTuple>)],
    timeout: f64,
    run: usize,
    tries: usize,
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
    let script = Script {
        run,
        steps: models.steps_of(steps).map_err(raise)?,
        check: true,
    };
    for attempt in 0..tries {
        // Another test may have used it. One that cannot be made ready can be used just once.
        if attempt > 0 || stepper.can_reset() {
            make_ready(&mut stepper).map_err(raise)?;
        }
        let played = script
            .play(&mut models.product, &mut stepper)
            .map_err(raise)?;
        if let Some(failure) = played.failure {
            return Ok(Some(failure.message));
        }
        if let Some((name, arguments)) = played.left_out {
            let words = models.product.words();
            let (name, arguments) = (words.name_text(name), words.value_text(arguments).plain());
            return Ok(Some(format!("{name}{arguments} is not possible here")));
        }
    }
    Ok(None)
}

fn raise(trouble: Trouble) -> PyErr {
    let traceback = match &trouble {
        Trouble::Raised { traceback, .. } | Trouble::InStepper { traceback, .. } => {
            format!("\n{traceback}")
        }
        _ => String::new(),
    };
    PyRuntimeError::new_err(format!("{trouble}{traceback}"))
}
