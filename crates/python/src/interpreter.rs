//! Holding the interpreter.

use pyo3::Python;

/// Proof that this thread holds the interpreter.
#[derive(Clone, Copy)]
pub struct Interpreter<'py>(pub(crate) Python<'py>);

impl<'py> From<Python<'py>> for Interpreter<'py> {
    fn from(python: Python<'py>) -> Interpreter<'py> {
        Interpreter(python)
    }
}

/// Holds the interpreter (starting one where there is none, as in Rust tests) while `work` runs.
pub fn attach<R>(work: impl FnOnce(Interpreter<'_>) -> R) -> R {
    Python::initialize();
    Python::attach(|python| work(Interpreter(python)))
}
