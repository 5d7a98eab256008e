//! Coroutines that die without being awaited: nothing of them has run, so nothing was tested.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use testwright_core::Error;

use crate::context::HarnessContext;
use crate::load::mistakes;
use crate::system::HarnessProblem;

/// The coroutines that Python has reported since the harness was loaded.
pub(crate) struct UnawaitedCoroutines<'py> {
    /// Those that a line of the harness drops: (line, message) and the number of times.
    mistakes: Bound<'py, PyDict>,
    /// Those of the code under test, and those that a line may have kept on purpose.
    others: Bound<'py, PyDict>,
}

impl<'py> UnawaitedCoroutines<'py> {
    /// Starts to watch.
    pub(crate) fn watch(context: &HarnessContext<'py>) -> PyResult<UnawaitedCoroutines<'py>> {
        let script = mistakes::script(context.python)?;
        let texts = mistakes::all_texts(&context.harness);
        let knows_awaiting = script.call_method1("knows_awaiting", (texts,))?;
        let class = script.getattr("UnawaitedCoroutines")?;
        let watcher = class.call1((&context.path, knows_awaiting))?;
        Ok(UnawaitedCoroutines {
            mistakes: watcher.getattr("mistakes")?.cast_into()?,
            others: watcher.getattr("others")?.cast_into()?,
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
}
