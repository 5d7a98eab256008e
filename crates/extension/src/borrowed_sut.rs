//! A system that algorithms of the core use while functions of the caller use it, too.

use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use testwright_core::{ActionId, Catalog, Error, Outcome, Random, System, TemplateId, TemplateSet};

use crate::sut::Sut;

/// A [`System`] that borrows the Python object only for the duration of each call.
pub(crate) struct BorrowedSut<'a, 'py> {
    /// The Python object.
    sut: &'a Bound<'py, Sut>,
    /// A copy of the catalog, which needs no borrowing.
    catalog: Arc<Catalog>,
}

impl<'a, 'py> BorrowedSut<'a, 'py> {
    /// Takes a reference to the catalog.
    pub(crate) fn new(sut: &'a Bound<'py, Sut>) -> PyResult<BorrowedSut<'a, 'py>> {
        let catalog = Arc::clone(&Sut::borrow(sut)?.catalog);
        Ok(BorrowedSut { sut, catalog })
    }
}

impl System for BorrowedSut<'_, '_> {
    fn actions(&self) -> &Catalog {
        &self.catalog
    }

    fn reset(&mut self) -> Result<(), Error> {
        Sut::restart(self.sut).map_err(|error| Error::new(error.to_string()))
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        Sut::is_enabled(self.sut, action).unwrap_or(false)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        let picked = Sut::with(self.sut, |system| system.pick(random));
        picked.ok().flatten()
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        let picked = Sut::with(self.sut, |system| system.pick_among(templates, random));
        picked.ok().flatten()
    }

    fn enabling_group(&self, template: TemplateId) -> Option<u64> {
        let alike = Sut::with(self.sut, |system| system.enabling_group(template));
        alike.ok().flatten()
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        let outcome = Sut::with(self.sut, |system| system.step(action));
        outcome.unwrap_or(Outcome::Interrupted)
    }

    fn expected_exception(&mut self) -> String {
        Sut::with(self.sut, |system| system.expected_exception()).unwrap_or_default()
    }

    fn check(&mut self) -> Outcome {
        let outcome = Sut::with(self.sut, |system| system.check());
        outcome.unwrap_or(Outcome::Interrupted)
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        Sut::with(self.sut, |system| system.enabled()).unwrap_or_default()
    }
}

/// The exception that a function of the caller raised while the core was at work.
#[derive(Default)]
pub(crate) struct CallerException(pub(crate) Option<PyErr>);

impl CallerException {
    /// Keeps an exception, and returns an error that ends the work.
    pub(crate) fn store_exception(&mut self, error: PyErr) -> Error {
        let message = error.to_string();
        self.0 = Some(error);
        Error::new(message)
    }

    /// Returns the exception, or else this error as one.
    pub(crate) fn into_py_error(self, error: &dyn std::fmt::Display) -> PyErr {
        self.0
            .unwrap_or_else(|| PyRuntimeError::new_err(error.to_string()))
    }
}
