//! Functions with special names in raw code that are called at certain times.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A time at which raw code may be called.
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

/// The function name of each hook, in the order of the enum.
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
    /// The function of each hook, if defined.
    functions: [Option<Bound<'py, PyAny>>; 7],
    /// The argument of the functions.
    object: Bound<'py, PyAny>,
}

impl<'py> Hooks<'py> {
    /// Looks the functions up in the namespace of the harness.
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

    /// Returns the object that hooks receive.
    pub(crate) fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// Returns true if the harness defines a hook.
    #[inline]
    pub(crate) fn has(&self, hook: Hook) -> bool {
        self.functions[hook as usize].is_some()
    }

    /// Returns true if the harness defines any hook.
    pub(crate) fn has_any(&self) -> bool {
        self.functions.iter().any(Option::is_some)
    }

    /// Calls the hook if it is defined. An exception is returned for the caller to report; it does
    /// not end the test.
    pub(crate) fn call(&self, hook: Hook) -> PyResult<()> {
        match &self.functions[hook as usize] {
            Some(function) => function.call1((&self.object,)).map(|_| ()),
            None => Ok(()),
        }
    }
}
