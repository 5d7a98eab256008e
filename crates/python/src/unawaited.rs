//! Coroutines that die without being awaited: nothing of them has run, so nothing was tested.

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use testwright_core::Error;

use crate::ProcessOwner;
use crate::context::HarnessContext;
use crate::load::mistakes;
use crate::system::HarnessProblem;

pyo3::create_exception!(
    testwright,
    UnawaitedCoroutine,
    PyRuntimeError,
    "Code of a model or of a stepper drops a coroutine."
);

/// The way out, for coroutines that a model or a stepper makes.
pub(crate) const AWAIT_IN_FUNCTION: &str =
    "run a coroutine to its end in an ordinary function: `asyncio.run(…)`";

/// The coroutines that Python has reported since the harness was loaded.
pub(crate) struct UnawaitedCoroutines<'py> {
    /// Those that a line of the harness or the code under test drops: (line, message) and the
    /// number of times.
    mistakes: Bound<'py, PyDict>,
    /// Those that may have been kept on purpose.
    others: Bound<'py, PyDict>,
    /// The object that Python tells of them.
    watcher: Bound<'py, PyAny>,
}

impl<'py> UnawaitedCoroutines<'py> {
    /// Starts to watch.
    pub(crate) fn watch(
        context: &HarnessContext<'py>,
        process: ProcessOwner,
    ) -> PyResult<UnawaitedCoroutines<'py>> {
        let script = mistakes::script(context.python)?;
        let lines = mistakes::line_texts(&context.harness);
        // A caller's own coroutines are not under test.
        let passes_on = process == ProcessOwner::Caller;
        let arguments = (&context.path, &context.harness.raw.text, lines, passes_on);
        let watcher = script.getattr("UnawaitedCoroutines")?.call1(arguments)?;
        Ok(UnawaitedCoroutines {
            mistakes: watcher.getattr("mistakes")?.cast_into()?,
            others: watcher.getattr("others")?.cast_into()?,
            watcher,
        })
    }

    /// Returns the first mistake as an error: a line of the harness that drops a coroutine.
    #[inline]
    pub(crate) fn mistake(&self) -> Option<Error> {
        if self.mistakes.is_empty() {
            return None;
        }
        let problems = self.problems().into_iter();
        let first = problems.min_by_key(|problem| (!problem.is_mistake, problem.line))?;
        Some(first.to_error())
    }

    /// Records the coroutines that are left in slots, when there are no further tests.
    pub(crate) fn note_kept(&self, slots: &Bound<'py, PyList>) {
        // If the code under test has broken what this needs, nothing is recorded.
        let _ = self.watcher.call_method1("note_kept", (slots,));
    }

    /// Returns everything that was found.
    pub(crate) fn problems(&self) -> Vec<HarnessProblem> {
        let read = |found: &Bound<'py, PyDict>, is_mistake| -> Vec<HarnessProblem> {
            let problem = |(place, times): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
                let (line, message) = place.extract().ok()?;
                Some(HarnessProblem {
                    line,
                    message,
                    times: times.extract().ok()?,
                    is_mistake,
                })
            };
            found.iter().filter_map(problem).collect()
        };
        let mut problems = read(&self.mistakes, true);
        problems.extend(read(&self.others, false));
        problems
    }

    /// Records that the value of a condition in a line is a coroutine, if it is one: whatever it
    /// would say, it counts as true.
    #[cold]
    pub(crate) fn note_condition(&self, line: usize, value: &Bound<'py, PyAny>) {
        if is_suspended_call(value) {
            let message = format!(
                "this condition is {}, which counts as true; nothing of it ran",
                describe(value)
            );
            // A dictionary takes every key of plain values.
            let _ = self.mistakes.set_item((line, message), 1);
        }
    }
}

/// The coroutines that models and steppers drop, noted from loading to dropping.
pub(crate) struct ModelCoroutines<'py> {
    /// The object that Python tells of them.
    watcher: Bound<'py, PyAny>,
    /// Those that were dropped: (0, message) and the number of times.
    mistakes: Bound<'py, PyDict>,
}

impl<'py> ModelCoroutines<'py> {
    /// Starts to watch.
    pub(crate) fn watch(python: Python<'py>) -> PyResult<ModelCoroutines<'py>> {
        let class = mistakes::script(python)?.getattr("UnawaitedCoroutines")?;
        let watcher = class.call0()?;
        Ok(ModelCoroutines {
            mistakes: watcher.getattr("mistakes")?.cast_into()?,
            watcher,
        })
    }

    /// Fails if a coroutine was dropped since the start.
    #[inline]
    pub(crate) fn check(&self) -> PyResult<()> {
        if self.mistakes.is_empty() {
            return Ok(());
        }
        let first = self.mistakes.keys().get_item(0)?.get_item(1)?;
        Err(UnawaitedCoroutine::new_err(first.extract::<String>()?))
    }

    /// Fails if a coroutine was dropped since the start, or if a function returned one.
    #[inline]
    pub(crate) fn check_result(&self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if is_suspended_call(value) {
            let message = format!(
                "{} was never awaited, so nothing of it ran",
                describe(value)
            );
            return Err(UnawaitedCoroutine::new_err(message));
        }
        self.check()
    }
}

impl Drop for ModelCoroutines<'_> {
    fn drop(&mut self) {
        // If it fails, Python's own warning stays replaced.
        let _ = self.watcher.call_method0("end");
    }
}

/// Returns true for a coroutine or an asynchronous generator: what a call returned instead of
/// running.
#[inline]
fn is_suspended_call(value: &Bound<'_, PyAny>) -> bool {
    let class = value.get_type_ptr();
    class == &raw mut ffi::PyCoro_Type || class == &raw mut ffi::PyAsyncGen_Type
}

/// Describes a coroutine that is not awaited, with the place of its function.
fn describe(value: &Bound<'_, PyAny>) -> String {
    let name = value.getattr("__qualname__");
    let name = name.map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let code = value
        .getattr("cr_code")
        .or_else(|_| value.getattr("ag_code"));
    let place = code.map_or_else(|_| String::new(), |code| place(&code));
    format!("the coroutine `{name}`{place}")
}

/// Returns the place of code: ` of account.py:7`.
fn place(code: &Bound<'_, PyAny>) -> String {
    let read = || -> PyResult<(String, usize)> {
        let file = code.getattr("co_filename")?.extract::<String>()?;
        Ok((file, code.getattr("co_firstlineno")?.extract()?))
    };
    let text = |(file, line): (String, usize)| {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(&file);
        format!(" of {name}:{line}")
    };
    read().map_or_else(|_| String::new(), text)
}

/// Returns the error for a function of a model or a stepper that is a coroutine function. `role`
/// says what the function is.
pub(crate) fn coroutine_function(function: &Bound<'_, PyAny>, role: &str) -> Option<Error> {
    const COROUTINE: u32 = 0x80;
    const ASYNC_GENERATOR: u32 = 0x200;
    let code = function.getattr("__code__").ok()?;
    let flags: u32 = code.getattr("co_flags").ok()?.extract().ok()?;
    if flags & (COROUTINE | ASYNC_GENERATOR) == 0 {
        return None;
    }
    let place = place(&code);
    let message =
        format!("{role}{place} is `async def`, and nothing awaits it: none of its code would run");
    Some(Error::new(message).with_help(AWAIT_IN_FUNCTION))
}
