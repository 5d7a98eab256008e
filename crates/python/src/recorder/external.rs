//! Interactions of the program with the outside: clock, randomness, files, network and more.
//!
//! The interpreter does not report the results of functions written in C. So, during a recording,
//! the documented functions are replaced by a [`FunctionWrapper`], which calls the original and
//! records the result. Being written in Rust, it leaves no frame in tracebacks. `table` lists the
//! functions and what is recorded of each. Files and environment variables are read before the
//! first use and at the end of a call (`used_resources`). Secrets are masked before anything is
//! stored (`secrets`). Interactions that bypass all of this are at least noticed (`audit_hook`).

mod audit_hook;
mod generators;
mod install;
mod plain_call;
mod secrets;
mod stdin_lines;
mod table;
mod used_resources;

use std::cell::Cell;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use testwright_capture::{ExternalEvent, ExternalReply, ExternalSource, Interaction};

pub(super) use audit_hook::install_audit_hook;
pub(super) use generators::{GeneratorInput, take_input, watch as watch_generators};
pub(super) use install::{install, uninstall, watch_streams};
pub(super) use secrets::mask;
use table::ObservedEffect;
pub(super) use used_resources::UsedResources;

use super::CallRecorder;
use super::calls::{self, ActiveCall};
use super::object_reader::ValueGraphBuilder;
use super::with_recorder;
use crate::reachability::Pointer;

thread_local! {
    /// The number of wrapped functions that this thread is inside of. Only the outermost is
    /// recorded.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The maximum number of interactions recorded per call.
const MAX_EVENTS: usize = 1_000;

/// A callable that replaces a function, calls it and records the result.
#[pyclass(frozen, module = "testwright", name = "function")]
pub(super) struct FunctionWrapper {
    original: Py<PyAny>,
    /// The part of a call that is recorded.
    effect: ObservedEffect,
    /// The documented name, such as `time.time`.
    name: String,
    /// True if it is an attribute of a class, and gets an instance as its first argument.
    is_method: bool,
    /// A weak reference to the stream, for a method of a single stream: the wrapper must not keep
    /// the stream alive.
    stream: Option<Py<PyAny>>,
}

/// Returns the function that a wrapper replaces, if the object is a wrapper.
pub(super) fn wrapped_original<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let wrapper = object.cast_exact::<FunctionWrapper>().ok()?;
    Some(wrapper.get().original.bind(object.py()).clone())
}

#[pymethods]
impl FunctionWrapper {
    /// Binds functions in classes to instances. Functions in modules stay unbound.
    fn __get__<'py>(
        wrapper: Bound<'py, FunctionWrapper>,
        instance: Option<Bound<'py, PyAny>>,
        class: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = class;
        let Some(instance) = instance.filter(|_| wrapper.get().is_method) else {
            return Ok(wrapper.into_any());
        };
        let method = wrapper.py().import("types")?.getattr("MethodType")?;
        method.call1((wrapper, instance))
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

    /// Copies and pickles as the import path of the function.
    fn __reduce__<'py>(&self, python: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let (module, path) = self.name.split_once('.').unwrap_or((&self.name, ""));
        let find = python.import("pkgutil")?.getattr("resolve_name")?;
        Ok((find, (format!("{module}:{path}"),)))
    }
}

/// Makes the interpreter call wrappers through functions that can be unwound; see `plain_call`.
pub(super) fn install_call_slots(python: Python<'_>) {
    plain_call::set_call::<FunctionWrapper>(python, call);
    generators::install_call_slots(python);
}

/// Calls a wrapper: the original function between two recording steps.
unsafe extern "C-unwind" fn call(
    wrapper: Pointer,
    arguments: Pointer,
    keywords: Pointer,
) -> Pointer {
    // SAFETY: the interpreter calls this with a wrapper, a tuple, and a dictionary or null, which
    // live as long as the call. During the original call only plain values are on the stack.
    unsafe {
        let (original, is_noted) = begin_call(wrapper, arguments);
        if original.is_null() {
            return original;
        }
        let answer = plain_call::plain_call(original, arguments, keywords);
        if is_noted {
            end_call(wrapper, arguments, keywords, answer);
        }
        answer
    }
}

/// Prepares a call. Returns the function to call, as an owned reference, and whether to record the
/// result. The function is null, with an exception set, if there is none.
///
/// # Safety
///
/// Must be called with the arguments of [`call`].
unsafe fn begin_call(wrapper: Pointer, arguments: Pointer) -> (Pointer, bool) {
    let prepared = plain_call::run_guarded(|python| -> PyResult<(Pointer, bool)> {
        // SAFETY: guaranteed by the caller.
        let (wrapper, arguments) = unsafe {
            (
                Bound::from_borrowed_ptr(python, wrapper),
                Bound::from_borrowed_ptr(python, arguments),
            )
        };
        let wrapper = wrapper.cast::<FunctionWrapper>()?.get();
        let original = wrapper.resolve_original(python)?.into_ptr();
        // Log records are recorded even inside other wrapped functions.
        let is_hidden = DEPTH.get() > 0 && wrapper.effect != ObservedEffect::Logged;
        if is_hidden || !is_inside_call(python) {
            return Ok((original, false));
        }
        if let Ok(arguments) = arguments.cast::<PyTuple>() {
            with_recorder(python, |recorder| {
                recorder.before_external_call(wrapper.effect, arguments)
            });
        }
        DEPTH.set(DEPTH.get() + 1);
        Ok((original, true))
    });
    match prepared {
        Some(Ok(prepared)) => prepared,
        Some(Err(error)) => {
            plain_call::run_guarded(|python| error.restore(python));
            (std::ptr::null_mut(), false)
        }
        None => {
            // SAFETY: the lock is held.
            unsafe {
                ffi::PyErr_SetString(
                    ffi::PyExc_SystemError,
                    c"Testwright failed to pass a call on".as_ptr(),
                );
            }
            (std::ptr::null_mut(), false)
        }
    }
}

/// Records the result of a call. A null `answer` stands for the exception that is set, which is
/// restored afterwards.
///
/// # Safety
///
/// Must be called with the arguments of [`call`]; the answer is alive or null.
unsafe fn end_call(wrapper: Pointer, arguments: Pointer, keywords: Pointer, answer: Pointer) {
    DEPTH.set(DEPTH.get() - 1);
    plain_call::run_guarded(|python| {
        // SAFETY: guaranteed by the caller.
        let (wrapper, arguments, keywords, answer) = unsafe {
            (
                Bound::from_borrowed_ptr(python, wrapper),
                Bound::from_borrowed_ptr(python, arguments),
                Bound::from_borrowed_ptr_or_opt(python, keywords),
                Bound::from_borrowed_ptr_or_opt(python, answer),
            )
        };
        let answer = answer.ok_or_else(|| PyErr::fetch(python));
        if let (Ok(wrapper), Ok(arguments)) = (
            wrapper.cast::<FunctionWrapper>(),
            arguments.cast::<PyTuple>(),
        ) {
            let keywords = keywords.as_ref().and_then(|all| all.cast::<PyDict>().ok());
            with_recorder(python, |recorder| {
                recorder.after_external_call(wrapper.get(), arguments, keywords, &answer)
            });
        }
        if let Err(error) = answer {
            error.restore(python);
        }
    });
}

impl FunctionWrapper {
    /// Returns the function to call.
    fn resolve_original<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let original = self.original.bind(python);
        match &self.stream {
            Some(stream) => {
                let stream = stream.bind(python).call0()?;
                original.call_method1("__get__", (stream,))
            }
            None => Ok(original.clone()),
        }
    }
}

/// Returns true if a call is being recorded in this thread.
fn is_inside_call(python: Python<'_>) -> bool {
    with_recorder(python, |recorder| recorder.has_active_call()).unwrap_or(false)
}

/// Summarizes an interaction for the comparison of calls.
pub(super) fn event_summary(event: &ExternalEvent) -> String {
    match &event.external {
        Interaction::Input { function, text, .. } => format!("{function} {}", text.is_some()),
        Interaction::Output { is_error, .. } => format!("output {is_error}"),
        Interaction::File { before, after, .. } => format!(
            "file {:?} {:?}",
            std::mem::discriminant(before),
            std::mem::discriminant(after)
        ),
        Interaction::Environment {
            name,
            before,
            after,
        } => {
            format!(
                "environment {name} {} {}",
                before.is_some(),
                after.is_some()
            )
        }
        Interaction::WorkingFolder { before, after } => format!("folder {}", before == after),
        Interaction::Permissions { .. } => "permissions".to_owned(),
        Interaction::Logged { level, .. } => format!("logged {level}"),
        Interaction::Called {
            function, answer, ..
        } => {
            format!("{function} {}", matches!(answer, ExternalReply::Raised(_)))
        }
    }
}

impl CallRecorder {
    /// Records a line read from standard input by iteration, which bypasses the wrapped functions.
    fn record_input_line(&mut self, line: &str) {
        let at = self.tick();
        let Some(thread) = self.threads.get_mut(&calls::thread_id()) else {
            return;
        };
        let innermost = thread.stack.len().saturating_sub(1);
        for (depth, active) in thread.stack.iter_mut().enumerate() {
            let external = Interaction::Input {
                function: "sys.stdin.readline".to_owned(),
                prompt: None,
                text: Some(mask(line).into_owned()),
            };
            if active.call.events.len() < MAX_EVENTS {
                let is_nested = depth < innermost;
                push_event(
                    active,
                    ExternalEvent {
                        at,
                        is_nested,
                        external,
                    },
                );
            }
        }
    }

    /// Returns true if a call is being recorded in this thread.
    fn has_active_call(&self) -> bool {
        let thread = self.threads.get(&calls::thread_id());
        thread.is_some_and(|thread| !thread.stack.is_empty())
    }

    /// Reads files and environment variables before a function uses or changes them.
    fn before_external_call(&mut self, effect: ObservedEffect, arguments: &Bound<'_, PyTuple>) {
        let Some(thread) = self.threads.get_mut(&calls::thread_id()) else {
            return;
        };
        for active in &mut thread.stack {
            match effect {
                ObservedEffect::File(paths) => active.used_resources.record_files(paths, arguments),
                ObservedEffect::Environment => active.used_resources.record_variable(arguments),
                ObservedEffect::WorkingFolder => active.used_resources.record_working_folder(),
                _ => {}
            }
        }
    }

    /// Records the result of a wrapped function in all calls being recorded in this thread.
    fn after_external_call<'py>(
        &mut self,
        wrapper: &FunctionWrapper,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
        answer: &PyResult<Bound<'py, PyAny>>,
    ) {
        let at = self.tick();
        let Some(thread) = self.threads.get_mut(&calls::thread_id()) else {
            return;
        };
        let innermost = thread.stack.len().saturating_sub(1);
        for (depth, active) in thread.stack.iter_mut().enumerate() {
            if active.call.events.len() >= MAX_EVENTS {
                continue;
            }
            let is_nested = depth < innermost;
            let external = match wrapper.effect {
                ObservedEffect::File(_)
                | ObservedEffect::Environment
                | ObservedEffect::WorkingFolder
                | ObservedEffect::Ignored => {
                    continue;
                }
                ObservedEffect::Temporary => {
                    if let Ok(made) = answer {
                        active.used_resources.ignore_temporary(made);
                    }
                    continue;
                }
                ObservedEffect::Logged => log_event(arguments),
                ObservedEffect::Output { is_error } => output_event(is_error, arguments),
                ObservedEffect::Input => Some(input_event(&wrapper.name, arguments, answer)),
                ObservedEffect::Called(source) => {
                    let ActiveCall { call, held, .. } = active;
                    let mut builder =
                        ValueGraphBuilder::new(&mut self.reader, &mut call.values, held);
                    // Sockets and processes are identified by their instance; the class behind a
                    // clock does not matter.
                    let is_partner =
                        matches!(source, ExternalSource::Network | ExternalSource::Process);
                    let skipped = usize::from(wrapper.is_method && !is_partner);
                    let noted = arguments.iter().skip(skipped);
                    let noted = noted.map(|argument| builder.add(&argument)).collect();
                    let named = keywords.into_iter().flat_map(|all| all.iter());
                    let keywords =
                        named.map(|(name, value)| (name.to_string(), builder.add(&value)));
                    let mut keywords: Vec<_> = keywords.collect();
                    if wrapper.name.starts_with("subprocess.Popen.")
                        && let Some(code) = return_code(arguments)
                    {
                        keywords.push(("returncode".to_owned(), builder.add(&code)));
                    }
                    let answer = match answer {
                        // The shuffled list is the result of a function that returns nothing.
                        Ok(value) if wrapper.name == "random.shuffle" => {
                            let items = arguments.get_item(0).unwrap_or_else(|_| value.clone());
                            ExternalReply::Returned(add_current_list(&mut builder, &items))
                        }
                        Ok(count) if wrapper.name == "socket.socket.recv_into" => {
                            let data = received(arguments, count);
                            ExternalReply::Returned(builder.add(data.as_ref().unwrap_or(count)))
                        }
                        Ok(value) => ExternalReply::Returned(builder.add(value)),
                        Err(error) => {
                            let exception = error.value(arguments.py());
                            ExternalReply::Raised(builder.add(exception.as_any()))
                        }
                    };
                    Some(Interaction::Called {
                        source,
                        function: wrapper.name.clone(),
                        arguments: noted,
                        keywords,
                        answer,
                    })
                }
            };
            let Some(external) = external else {
                continue;
            };
            push_event(
                active,
                ExternalEvent {
                    at,
                    is_nested,
                    external,
                },
            );
        }
    }
}

/// Returns the exit status of a process, if it is known already.
fn return_code<'py>(arguments: &Bound<'py, PyTuple>) -> Option<Bound<'py, PyAny>> {
    let process = arguments.get_item(0).ok()?;
    let state = process.getattr("__dict__").ok()?;
    let code = state.cast::<PyDict>().ok()?.get_item("returncode").ok()??;
    (!code.is_none()).then_some(code)
}

/// Returns the bytes that a socket has received into a buffer.
fn received<'py>(
    arguments: &Bound<'py, PyTuple>,
    count: &Bound<'py, PyAny>,
) -> Option<Bound<'py, PyAny>> {
    let count: usize = count.extract().ok()?;
    let buffer = arguments.get_item(1).ok()?;
    let bytes: Vec<u8> = match buffer.cast::<pyo3::types::PyByteArray>() {
        Ok(bytes) => bytes.to_vec(),
        // Memory views run no code of the program for this.
        Err(_) => buffer.call_method0("tobytes").ok()?.extract().ok()?,
    };
    let bytes = bytes.get(..count)?;
    Some(pyo3::types::PyBytes::new(arguments.py(), bytes).into_any())
}

/// Reads a log record. The message is left out if formatting it would run code of the program.
fn log_event(arguments: &Bound<'_, PyTuple>) -> Option<Interaction> {
    let record = arguments.get_item(1).ok()?;
    let state = record
        .getattr("__dict__")
        .ok()?
        .cast_into::<PyDict>()
        .ok()?;
    let entry = |name: &str| state.get_item(name).ok().flatten();
    let text = entry("msg")?;
    let log_arguments = entry("args")?;
    let is_plain = |value: &Bound<'_, PyAny>| {
        value.is_exact_instance_of::<pyo3::types::PyString>()
            || value.is_exact_instance_of::<pyo3::types::PyInt>()
            || value.is_exact_instance_of::<pyo3::types::PyFloat>()
            || value.is_exact_instance_of::<pyo3::types::PyBool>()
            || value.is_none()
    };
    let has_arguments = match log_arguments.cast::<PyTuple>() {
        Ok(log_arguments) => !log_arguments.is_empty(),
        Err(_) => !log_arguments.is_none(),
    };
    let are_plain = match log_arguments.cast::<PyTuple>() {
        Ok(log_arguments) => log_arguments.iter().all(|one| is_plain(&one)),
        Err(_) => log_arguments.is_none(),
    };
    let message = match text.cast_exact::<pyo3::types::PyString>() {
        Ok(text) if !has_arguments => Some(text.to_string_lossy().into_owned()),
        Ok(text) if are_plain => text
            .rem(&log_arguments)
            .ok()
            .and_then(|message| message.extract::<String>().ok()),
        _ => None,
    };
    Some(Interaction::Logged {
        logger: entry("name")?.extract().ok()?,
        level: entry("levelno")?.extract().ok()?,
        message: message.map(|message| mask(&message).into_owned()),
    })
}

/// Adds a list with its current items, although its earlier state is in the graph already.
fn add_current_list(
    builder: &mut ValueGraphBuilder<'_>,
    items: &Bound<'_, PyAny>,
) -> testwright_capture::NodeId {
    let copy = items
        .cast::<pyo3::types::PyList>()
        .map(|items| items.iter().collect::<Vec<_>>());
    let copy = copy
        .ok()
        .and_then(|copy| pyo3::types::PyList::new(items.py(), copy).ok());
    match copy {
        Some(copy) => builder.add(copy.as_any()),
        None => builder.add(items),
    }
}

/// Adds an interaction to a call. Successive output to the same stream is merged.
fn push_event(active: &mut ActiveCall, event: ExternalEvent) {
    if let Interaction::Output { is_error, text } = &event.external
        && let Some(last) = active.call.events.last_mut()
        && last.is_nested == event.is_nested
        && let Interaction::Output {
            is_error: known,
            text: before,
        } = &mut last.external
        && known == is_error
    {
        before.push_str(text);
        return;
    }
    active.call.events.push(event);
}

/// Returns printed text as an interaction.
fn output_event(is_error: bool, arguments: &Bound<'_, PyTuple>) -> Option<Interaction> {
    let text = arguments.get_item(0).ok()?;
    let text = text.cast::<pyo3::types::PyString>().ok()?;
    let text = mask(&text.to_string_lossy()).into_owned();
    (!text.is_empty()).then_some(Interaction::Output { is_error, text })
}

/// Returns text read from standard input as an interaction.
fn input_event(
    name: &str,
    arguments: &Bound<'_, PyTuple>,
    answer: &PyResult<Bound<'_, PyAny>>,
) -> Interaction {
    let is_input = name == "builtins.input";
    let prompt = arguments.get_item(0).ok().filter(|_| is_input);
    let prompt =
        prompt.and_then(|prompt| Some(prompt.cast::<pyo3::types::PyString>().ok()?.to_string()));
    let text = answer.as_ref().ok().and_then(|text| {
        let text = text.cast::<pyo3::types::PyString>().ok()?.to_string();
        // Passwords are masked, but their length may matter. `input` and `getpass` remove the end
        // of the line.
        Some(match name {
            "getpass.getpass" => format!("{}\n", "*".repeat(text.chars().count())),
            _ if is_input => format!("{text}\n"),
            _ => text,
        })
    });
    Interaction::Input {
        function: name.to_owned(),
        prompt,
        text: text
            .filter(|text| !text.is_empty())
            .map(|text| mask(&text).into_owned()),
    }
}
