//! Putting stands in the place of functions, and taking them away again.

use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use testwright_capture::Source;

use super::super::{names, with};
use super::table::{CLOCK_METHODS, FUNCTIONS, What};
use super::{Stand, secrets};

/// What is to be put back, the last first.
static REPLACED: Mutex<Vec<Replaced>> = Mutex::new(Vec::new());

pub(super) enum Replaced {
    /// An attribute: on what, its name, what was there.
    Attribute(Py<PyAny>, String, Option<Py<PyAny>>),
    /// An attribute of a stream, by a weak reference to that.
    OfStream(Py<PyAny>, String),
    /// An entry in the namespace of a type written in C.
    OfType(Py<PyType>, String, Py<PyAny>),
    /// A name in a module that had imported the function.
    Imported(Py<PyDict>, Py<PyString>, Py<PyAny>),
}

pub(super) fn replaced(what: Replaced) {
    REPLACED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(what);
}

/// Puts stands everywhere.
pub(in crate::recorder) fn install(python: Python<'_>) -> PyResult<()> {
    super::prepare(python);
    learn_secrets(python);
    let mut stands = Vec::new();
    for (module, what, functions) in FUNCTIONS {
        let Ok(imported) = python.import(module) else {
            continue;
        };
        for path in functions {
            let (holder, name) = match path.split_once('.') {
                Some((class, name)) => (imported.getattr(class).ok(), name),
                None => (Some(imported.clone().into_any()), *path),
            };
            let found = holder.and_then(|holder| Some((holder.getattr(name).ok()?, holder)));
            let Some((original, holder)) = found else {
                continue;
            };
            if original.cast_exact::<Stand>().is_ok() {
                continue;
            }
            let is_method = path.contains('.');
            let had = match holder.cast::<PyType>() {
                Ok(class) => names::namespace(class).and_then(|own| names::entry(&own, name)),
                Err(_) => Some(original.clone()),
            };
            let stand = Stand {
                original: original.clone().unbind(),
                what,
                name: format!("{module}.{path}"),
                is_method,
                stream: None,
            };
            let stand = Bound::new(python, stand)?;
            holder.setattr(name, &stand)?;
            replaced(Replaced::Attribute(
                holder.unbind(),
                name.to_owned(),
                had.map(Bound::unbind),
            ));
            if !is_method {
                stands.push((original, stand.into_any()));
            }
        }
    }
    // `io.open` is the same function under another name.
    let (builtins, io) = (python.import("builtins")?, python.import("io")?);
    let had = io.getattr("open")?;
    io.setattr("open", builtins.getattr("open")?)?;
    replaced(Replaced::Attribute(
        io.into_any().unbind(),
        "open".to_owned(),
        Some(had.unbind()),
    ));
    replace_clock_methods(python)?;
    replace_imported(python, &stands);
    Ok(())
}

/// Puts everything back.
pub(in crate::recorder) fn remove(python: Python<'_>) -> PyResult<()> {
    super::keyboard::forget_lines();
    super::generators::forget();
    let all = std::mem::take(&mut *REPLACED.lock().unwrap_or_else(PoisonError::into_inner));
    for one in all.into_iter().rev() {
        match one {
            Replaced::Attribute(holder, name, Some(had)) => {
                holder.bind(python).setattr(name, had)?;
            }
            Replaced::OfStream(reference, name) => {
                let stream = reference.bind(python).call0()?;
                if !stream.is_none() {
                    let _ = stream.delattr(name);
                }
            }
            Replaced::Attribute(holder, name, None) => {
                let _ = holder.bind(python).delattr(name);
            }
            Replaced::OfType(class, name, had) => {
                set_in_type(class.bind(python), &name, had.bind(python))?;
            }
            Replaced::Imported(namespace, name, had) => {
                namespace.bind(python).set_item(name, had)?;
            }
        }
    }
    Ok(())
}

/// Values of variables whose names say that they are secrets.
fn learn_secrets(python: Python<'_>) {
    let environment = python.import("os").and_then(|os| os.getattr("environ"));
    let all = environment.and_then(|all| all.call_method0("copy"));
    let all = all.ok().and_then(|all| all.cast_into::<PyDict>().ok());
    for (name, value) in all.iter().flat_map(|all| all.iter()) {
        if secrets::is_secret(&name.to_string()) {
            secrets::learn(&value.to_string());
        }
    }
}

/// Names in modules of the project that were bound to a function before.
fn replace_imported(python: Python<'_>, stands: &[(Bound<'_, PyAny>, Bound<'_, PyAny>)]) {
    let modules = python
        .import("sys")
        .and_then(|system| system.getattr("modules"));
    let modules = modules
        .ok()
        .and_then(|modules| modules.cast_into::<PyDict>().ok());
    let modules: Vec<_> = modules
        .iter()
        .flat_map(|modules| modules.values())
        .collect();
    for module in modules {
        let Some(namespace) = names::module_namespace(&module) else {
            continue;
        };
        let file = names::entry(&namespace, "__file__");
        let is_ours = file.is_some_and(|file| {
            with(python, |recorder| recorder.scoped.has(&file, &namespace)).unwrap_or(false)
        });
        if !is_ours {
            continue;
        }
        let entries: Vec<_> = namespace.iter().collect();
        for (name, value) in entries {
            let stand = stands.iter().find(|(original, _)| original.is(&value));
            let (Some((_, stand)), Ok(name)) = (stand, name.cast_into::<PyString>()) else {
                continue;
            };
            if namespace.set_item(&name, stand).is_ok() {
                let namespace = namespace.clone().unbind();
                replaced(Replaced::Imported(namespace, name.unbind(), value.unbind()));
            }
        }
    }
}

/// Watches standard input, output and error as the program has them now, unless they are those of last time.
pub(in crate::recorder) fn notice_streams(python: Python<'_>, known: &mut [usize; 3]) {
    const STREAMS: [(&CStr, &[&str], What); 3] = [
        (c"stdin", &["read", "readline", "readlines"], What::Input),
        (c"stdout", &["write"], What::Output { is_error: false }),
        (c"stderr", &["write"], What::Output { is_error: true }),
    ];
    for ((name, methods, what), known) in STREAMS.into_iter().zip(known) {
        // SAFETY: a borrowed reference, or null.
        let stream =
            unsafe { Bound::from_borrowed_ptr_or_opt(python, ffi::PySys_GetObject(name.as_ptr())) };
        let address = stream.as_ref().map_or(0, |stream| stream.as_ptr() as usize);
        if let Some(stream) = stream.filter(|_| *known != address) {
            *known = address;
            if what == What::Input {
                super::keyboard::watch_lines(&stream);
            }
            watch_methods(&stream, &name.to_string_lossy(), methods, what);
        }
    }
}

/// Streams let their instances have attributes, which come before methods. Those whose class has its own idea of
/// attributes are left alone.
fn watch_methods(stream: &Bound<'_, PyAny>, name: &str, methods: &[&str], what: What) {
    let python = stream.py();
    let class = stream.get_type();
    // SAFETY: the class of an object that is alive.
    let is_plain = unsafe {
        let class = &*class.as_type_ptr();
        let is = |one: usize, other: usize| one == other;
        is(
            class.tp_setattro.map_or(0, |set| set as usize),
            ffi::PyObject_GenericSetAttr as *const () as usize,
        ) && is(
            class.tp_getattro.map_or(0, |get| get as usize),
            ffi::PyObject_GenericGetAttr as *const () as usize,
        )
    };
    let reference = python
        .import("weakref")
        .and_then(|module| module.getattr("ref")?.call1((stream,)));
    let (true, Ok(reference)) = (is_plain, reference) else {
        return;
    };
    for method in methods {
        let original = names::bases(&class)
            .iter()
            .find_map(|base| names::entry(&names::namespace(base)?, method));
        let is_watched = stream
            .getattr(*method)
            .is_ok_and(|one| one.cast_exact::<Stand>().is_ok());
        let Some(original) = original.filter(|_| !is_watched) else {
            continue;
        };
        let stand = Stand {
            original: original.unbind(),
            what,
            name: format!("sys.{name}.{method}"),
            is_method: false,
            stream: Some(reference.clone().unbind()),
        };
        let set = Bound::new(python, stand).and_then(|stand| stream.setattr(*method, stand));
        if set.is_ok() {
            replaced(Replaced::OfStream(
                reference.clone().unbind(),
                (*method).to_owned(),
            ));
        }
    }
}

/// `datetime.datetime.now` and its like: nobody may set attributes of types written in C, but their namespace is a
/// dictionary like any other.
fn replace_clock_methods(python: Python<'_>) -> PyResult<()> {
    let module = python.import("datetime")?;
    for (class_name, name) in CLOCK_METHODS {
        let class = module.getattr(class_name)?.cast_into::<PyType>()?;
        let Some(had) = names::namespace(&class).and_then(|own| names::entry(&own, name)) else {
            continue;
        };
        let stand = Stand {
            original: Bound::new(
                python,
                ClassMethod {
                    descriptor: had.clone().unbind(),
                },
            )?
            .into_any()
            .unbind(),
            what: What::Called(Source::Clock),
            name: format!("datetime.{class_name}.{name}"),
            is_method: true,
            stream: None,
        };
        let stand = Bound::new(python, stand)?;
        let method = python
            .import("builtins")?
            .getattr("classmethod")?
            .call1((stand,))?;
        set_in_type(&class, name, &method)?;
        replaced(Replaced::OfType(
            class.unbind(),
            name.to_owned(),
            had.unbind(),
        ));
    }
    Ok(())
}

/// A class method of a type written in C, as a function of the class.
#[pyclass(frozen, module = "testwright", name = "method")]
struct ClassMethod {
    descriptor: Py<PyAny>,
}

#[pymethods]
impl ClassMethod {
    #[pyo3(signature = (class, *arguments, **keywords))]
    fn __call__<'py>(
        &self,
        class: &Bound<'py, PyAny>,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let python = class.py();
        let bound = self
            .descriptor
            .bind(python)
            .call_method1("__get__", (python.None(), class))?;
        bound.call(arguments, keywords)
    }
}

/// Sets an entry in the namespace of a type, whatever type it is.
pub(super) fn set_in_type(
    class: &Bound<'_, PyType>,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    if let Some(namespace) = names::namespace(class) {
        namespace.set_item(name, value)?;
        // SAFETY: tells the interpreter to forget what it knew about the attributes of the class.
        unsafe { ffi::PyType_Modified(class.as_type_ptr()) };
    }
    Ok(())
}
