//! Installation of function wrappers, and their removal.

use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use testwright_capture::ExternalSource;

use super::super::{names, with_recorder};
use super::table::{CLOCK_METHODS, FUNCTIONS, ObservedEffect};
use super::{FunctionWrapper, secrets};

/// Replacements to undo, the last first.
static REPLACEMENTS: Mutex<Vec<Replacement>> = Mutex::new(Vec::new());

/// A replacement, with the information to undo it.
pub(super) enum Replacement {
    /// An attribute: its owner, its name, and its previous value if it had one.
    Attribute(Py<PyAny>, String, Option<Py<PyAny>>),
    /// An attribute of a stream, given by a weak reference, and its name.
    StreamAttribute(Py<PyAny>, String),
    /// An entry in the namespace of a type written in C, with its previous value.
    TypeEntry(Py<PyType>, String, Py<PyAny>),
    /// A name in a module that had imported the function, with its previous value.
    ModuleName(Py<PyDict>, Py<PyString>, Py<PyAny>),
}

/// Notes a replacement to undo later.
pub(super) fn record_replacement(replacement: Replacement) {
    REPLACEMENTS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(replacement);
}

/// Replaces all functions of the table by wrappers.
pub(in crate::recorder) fn install(python: Python<'_>) -> PyResult<()> {
    super::install_call_slots(python);
    learn_secrets(python);
    let mut wrappers = Vec::new();
    for (module, effect, functions) in FUNCTIONS {
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
            if original.cast_exact::<FunctionWrapper>().is_ok() {
                continue;
            }
            let is_method = path.contains('.');
            let previous = match holder.cast::<PyType>() {
                Ok(class) => names::class_namespace(class).and_then(|own| names::entry(&own, name)),
                Err(_) => Some(original.clone()),
            };
            let wrapper = FunctionWrapper {
                original: original.clone().unbind(),
                effect,
                name: format!("{module}.{path}"),
                is_method,
                stream: None,
            };
            let wrapper = Bound::new(python, wrapper)?;
            holder.setattr(name, &wrapper)?;
            record_replacement(Replacement::Attribute(
                holder.unbind(),
                name.to_owned(),
                previous.map(Bound::unbind),
            ));
            if !is_method {
                wrappers.push((original, wrapper.into_any()));
            }
        }
    }
    // `io.open` is the same function as `builtins.open`.
    let (builtins, io) = (python.import("builtins")?, python.import("io")?);
    let previous = io.getattr("open")?;
    io.setattr("open", builtins.getattr("open")?)?;
    record_replacement(Replacement::Attribute(
        io.into_any().unbind(),
        "open".to_owned(),
        Some(previous.unbind()),
    ));
    replace_clock_methods(python)?;
    replace_imported(python, &wrappers);
    Ok(())
}

/// Undoes all replacements.
pub(in crate::recorder) fn uninstall(python: Python<'_>) -> PyResult<()> {
    super::stdin_lines::unwatch_lines();
    super::generators::unwatch();
    let all = std::mem::take(&mut *REPLACEMENTS.lock().unwrap_or_else(PoisonError::into_inner));
    for one in all.into_iter().rev() {
        match one {
            Replacement::Attribute(holder, name, Some(previous)) => {
                holder.bind(python).setattr(name, previous)?;
            }
            Replacement::StreamAttribute(reference, name) => {
                let stream = reference.bind(python).call0()?;
                if !stream.is_none() {
                    let _ = stream.delattr(name);
                }
            }
            Replacement::Attribute(holder, name, None) => {
                let _ = holder.bind(python).delattr(name);
            }
            Replacement::TypeEntry(class, name, previous) => {
                set_in_type(class.bind(python), &name, previous.bind(python))?;
            }
            Replacement::ModuleName(namespace, name, previous) => {
                namespace.bind(python).set_item(name, previous)?;
            }
        }
    }
    Ok(())
}

/// Registers the values of environment variables whose names mark them as secrets.
fn learn_secrets(python: Python<'_>) {
    let environment = python.import("os").and_then(|os| os.getattr("environ"));
    let all = environment.and_then(|all| all.call_method0("copy"));
    let all = all.ok().and_then(|all| all.cast_into::<PyDict>().ok());
    for (name, value) in all.iter().flat_map(|all| all.iter()) {
        if secrets::is_secret(&name.to_string()) {
            secrets::add_known(&value.to_string());
        }
    }
}

/// Replaces functions that modules of the project have imported by name before.
fn replace_imported(python: Python<'_>, wrappers: &[(Bound<'_, PyAny>, Bound<'_, PyAny>)]) {
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
            with_recorder(python, |recorder| {
                recorder.scope_cache.contains(&file, &namespace)
            })
            .unwrap_or(false)
        });
        if !is_ours {
            continue;
        }
        let entries: Vec<_> = namespace.iter().collect();
        for (name, value) in entries {
            let wrapper = wrappers.iter().find(|(original, _)| original.is(&value));
            let (Some((_, wrapper)), Ok(name)) = (wrapper, name.cast_into::<PyString>()) else {
                continue;
            };
            if namespace.set_item(&name, wrapper).is_ok() {
                let namespace = namespace.clone().unbind();
                record_replacement(Replacement::ModuleName(
                    namespace,
                    name.unbind(),
                    value.unbind(),
                ));
            }
        }
    }
}

/// Watches the current standard input, output and error, unless they are the same as last time.
pub(in crate::recorder) fn watch_streams(python: Python<'_>, known: &mut [usize; 3]) {
    const STREAMS: [(&CStr, &[&str], ObservedEffect); 3] = [
        (
            c"stdin",
            &["read", "readline", "readlines"],
            ObservedEffect::Input,
        ),
        (
            c"stdout",
            &["write"],
            ObservedEffect::Output { is_error: false },
        ),
        (
            c"stderr",
            &["write"],
            ObservedEffect::Output { is_error: true },
        ),
    ];
    for ((name, methods, effect), known) in STREAMS.into_iter().zip(known) {
        // SAFETY: a borrowed reference, or null.
        let stream =
            unsafe { Bound::from_borrowed_ptr_or_opt(python, ffi::PySys_GetObject(name.as_ptr())) };
        let address = stream.as_ref().map_or(0, |stream| stream.as_ptr() as usize);
        if let Some(stream) = stream.filter(|_| *known != address) {
            *known = address;
            if effect == ObservedEffect::Input {
                super::stdin_lines::watch_lines(&stream);
            }
            watch_methods(&stream, &name.to_string_lossy(), methods, effect);
        }
    }
}

/// Wraps methods of a stream by setting attributes of the instance, which take precedence over its
/// class. Streams with custom attribute access are left alone.
fn watch_methods(stream: &Bound<'_, PyAny>, name: &str, methods: &[&str], effect: ObservedEffect) {
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
        let original = names::method_resolution_order(&class)
            .iter()
            .find_map(|base| names::entry(&names::class_namespace(base)?, method));
        let is_watched = stream
            .getattr(*method)
            .is_ok_and(|one| one.cast_exact::<FunctionWrapper>().is_ok());
        let Some(original) = original.filter(|_| !is_watched) else {
            continue;
        };
        let wrapper = FunctionWrapper {
            original: original.unbind(),
            effect,
            name: format!("sys.{name}.{method}"),
            is_method: false,
            stream: Some(reference.clone().unbind()),
        };
        let set = Bound::new(python, wrapper).and_then(|wrapper| stream.setattr(*method, wrapper));
        if set.is_ok() {
            record_replacement(Replacement::StreamAttribute(
                reference.clone().unbind(),
                (*method).to_owned(),
            ));
        }
    }
}

/// Replaces `datetime.datetime.now` and similar methods. Attributes of types written in C cannot be
/// set, but entries of their namespace can.
fn replace_clock_methods(python: Python<'_>) -> PyResult<()> {
    let module = python.import("datetime")?;
    for (class_name, name) in CLOCK_METHODS {
        let class = module.getattr(class_name)?.cast_into::<PyType>()?;
        let Some(previous) =
            names::class_namespace(&class).and_then(|own| names::entry(&own, name))
        else {
            continue;
        };
        let wrapper = FunctionWrapper {
            original: Bound::new(
                python,
                NativeClassMethod {
                    descriptor: previous.clone().unbind(),
                },
            )?
            .into_any()
            .unbind(),
            effect: ObservedEffect::Called(ExternalSource::Clock),
            name: format!("datetime.{class_name}.{name}"),
            is_method: true,
            stream: None,
        };
        let wrapper = Bound::new(python, wrapper)?;
        let method = python
            .import("builtins")?
            .getattr("classmethod")?
            .call1((wrapper,))?;
        set_in_type(&class, name, &method)?;
        record_replacement(Replacement::TypeEntry(
            class.unbind(),
            name.to_owned(),
            previous.unbind(),
        ));
    }
    Ok(())
}

/// A class method of a type written in C, as a function of the class.
#[pyclass(frozen, module = "testwright", name = "method")]
struct NativeClassMethod {
    descriptor: Py<PyAny>,
}

#[pymethods]
impl NativeClassMethod {
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

/// Sets an entry in the namespace of any type.
pub(super) fn set_in_type(
    class: &Bound<'_, PyType>,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    if let Some(namespace) = names::class_namespace(class) {
        namespace.set_item(name, value)?;
        // SAFETY: makes the interpreter drop its cached attributes of the class.
        unsafe { ffi::PyType_Modified(class.as_type_ptr()) };
    }
    Ok(())
}
