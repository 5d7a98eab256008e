//! Functions with special names in raw code, called at certain moments.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A moment at which raw code may want to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Before anything else.
    BeforeAll,
    /// In a reset, after `finally:` code.
    BeforeRestart,
    /// At the end of a reset.
    AfterRestart,
    /// Before every action.
    BeforeEach,
    /// After every action, even a failing one, before the reference runs.
    AfterEach,
    /// Before a test is reduced.
    BeforeReduce,
    /// After a test was reduced.
    AfterReduce,
}

const NAMES: [(Hook, &str); 7] = [
    (Hook::BeforeAll, "test_before_all"),
    (Hook::BeforeRestart, "test_before_restart"),
    (Hook::AfterRestart, "test_after_restart"),
    (Hook::BeforeEach, "test_before_each"),
    (Hook::AfterEach, "test_after_each"),
    (Hook::BeforeReduce, "test_before_reduce"),
    (Hook::AfterReduce, "test_after_reduce"),
];

/// The hooks a harness defines.
pub(crate) struct Hooks<'py> {
    functions: [Option<Bound<'py, PyAny>>; 7],
    object: Bound<'py, PyAny>,
}

impl<'py> Hooks<'py> {
    pub(crate) fn new(namespace: &Bound<'py, PyDict>, object: Bound<'py, PyAny>) -> Hooks<'py> {
        let functions = NAMES.map(|(_, name)| {
            namespace
                .get_item(name)
                .ok()
                .flatten()
                .filter(|found| found.is_callable())
        });
        Hooks { functions, object }
    }

    /// What hooks are given.
    pub(crate) fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    #[inline]
    pub(crate) fn has(&self, hook: Hook) -> bool {
        self.functions[hook as usize].is_some()
    }

    pub(crate) fn any(&self) -> bool {
        self.functions.iter().any(Option::is_some)
    }

    /// Calls the hook if there is one; an exception is returned for the caller to mention, never to stop at.
    pub(crate) fn call(&self, hook: Hook) -> PyResult<()> {
        match &self.functions[hook as usize] {
            Some(function) => function.call1((&self.object,)).map(|_| ()),
            None => Ok(()),
        }
    }
}
