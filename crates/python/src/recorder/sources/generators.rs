//! What generators are told: `send`, `throw` and `close`.
//!
//! The interpreter says that a generator goes on, but not with what. So the methods of the type itself are replaced once
//! the first generator is watched, and what they are called with is there when the generator is seen to go on.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::super::names;
use super::install::{Replaced, replaced, set_in_type};

/// What a generator is told.
pub(in crate::recorder) enum Told {
    Sent(Py<PyAny>),
    Thrown(Py<PyAny>),
    Closed,
}

thread_local! {
    /// The frame of the generator that is being told something by this thread, and what.
    static TELLING: RefCell<Option<(usize, Told)>> = const { RefCell::new(None) };
}

static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// What the generator with this frame is told, if it is told anything.
pub(in crate::recorder) fn told(frame: usize) -> Option<Told> {
    TELLING.with_borrow_mut(|telling| {
        let (_, told) = telling.take_if(|(of, _)| *of == frame)?;
        Some(told)
    })
}

/// Replaces the methods, unless they are already.
pub(in crate::recorder) fn watch(python: Python<'_>) {
    if IS_WATCHED.swap(true, Ordering::Relaxed) {
        return;
    }
    // Whatever goes wrong, generators are only told apart less well.
    let _ = replace(python);
}

/// The methods were put back.
pub(super) fn forget() {
    IS_WATCHED.store(false, Ordering::Relaxed);
}

fn replace(python: Python<'_>) -> PyResult<()> {
    let class = python.import("types")?.getattr("GeneratorType")?;
    let class = class.cast_into::<PyType>()?;
    for name in ["send", "throw", "close"] {
        let Some(had) = names::namespace(&class).and_then(|own| names::entry(&own, name)) else {
            continue;
        };
        let method = Method {
            original: had.clone().unbind(),
            name,
        };
        set_in_type(&class, name, Bound::new(python, method)?.as_any())?;
        let class = class.clone().unbind();
        replaced(Replaced::OfType(class, name.to_owned(), had.unbind()));
    }
    Ok(())
}

/// A method of generators, found in their type.
#[pyclass(frozen, module = "testwright", name = "method")]
struct Method {
    original: Py<PyAny>,
    name: &'static str,
}

#[pymethods]
impl Method {
    fn __get__<'py>(
        method: Bound<'py, Method>,
        instance: Option<Bound<'py, PyAny>>,
        class: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let python = method.py();
        let own = method.get();
        let Some(instance) = instance else {
            let class = class.unwrap_or_else(|| python.None().into_bound(python));
            let original = own.original.bind(python);
            return original.call_method1("__get__", (python.None(), class));
        };
        let original = own.original.bind(python);
        let bound = BoundMethod {
            original: original.call_method1("__get__", (&instance,))?.unbind(),
            generator: instance.unbind(),
            name: own.name,
        };
        Ok(Bound::new(python, bound)?.into_any())
    }

    #[pyo3(signature = (generator, *arguments))]
    fn __call__<'py>(
        &self,
        generator: &Bound<'py, PyAny>,
        arguments: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let python = generator.py();
        let bound = self
            .original
            .bind(python)
            .call_method1("__get__", (generator,))?;
        tell(self.name, generator, &bound, arguments, None)
    }

    fn __getattr__<'py>(
        &self,
        python: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.original
            .bind(python)
            .getattr(name.cast::<pyo3::types::PyString>()?)
    }
}

/// The same for one generator.
#[pyclass(frozen, module = "testwright", name = "builtin_function_or_method")]
struct BoundMethod {
    original: Py<PyAny>,
    generator: Py<PyAny>,
    name: &'static str,
}

#[pymethods]
impl BoundMethod {
    #[pyo3(signature = (*arguments, **keywords))]
    fn __call__<'py>(
        &self,
        python: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (generator, original) = (self.generator.bind(python), self.original.bind(python));
        tell(self.name, generator, original, arguments, keywords)
    }

    fn __getattr__<'py>(
        &self,
        python: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.original
            .bind(python)
            .getattr(name.cast::<pyo3::types::PyString>()?)
    }

    fn __repr__(&self, python: Python<'_>) -> PyResult<String> {
        Ok(self.original.bind(python).repr()?.to_string())
    }
}

fn tell<'py>(
    name: &str,
    generator: &Bound<'py, PyAny>,
    original: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let first = arguments.get_item(0).ok().map(Bound::unbind);
    let said = match (name, first) {
        ("send", Some(value)) => Some(Told::Sent(value)),
        ("throw", Some(error)) => Some(Told::Thrown(error)),
        ("close", _) => Some(Told::Closed),
        _ => None,
    };
    // A generator that has ended has none.
    let frame = generator.getattr("gi_frame").ok();
    let frame = frame.filter(|frame| !frame.is_none());
    let frame = frame.map(|frame| frame.as_ptr() as usize);
    let before = TELLING.take();
    TELLING.set(frame.zip(said));
    let answer = original.call(arguments, keywords);
    TELLING.set(before);
    answer
}
