//! What comes from outside the program and goes there.
//!
//! The interpreter tells nobody what functions written in C return, so the documented functions are replaced, for as
//! long as the program is watched, by a [`Stand`] that calls the original and takes note. It is written in Rust: it
//! leaves no frame in tracebacks. Which functions, and what is noted of each, is in `table`; files and the environment
//! are looked at before and after (`outside`); secrets are masked before anything is kept (`secrets`). What happens
//! past all of them is at least noticed (`alarms`).

mod alarms;
mod generators;
mod install;
mod keyboard;
mod outside;
mod plain_call;
mod secrets;
mod table;

use std::cell::Cell;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use testwright_capture::{Answer, Event, External, Source};

pub(super) use alarms::listen;
pub(super) use generators::{Told, told, watch as watch_generators};
pub(super) use install::{install, notice_streams, remove};
pub(super) use outside::Outside;
pub(super) use secrets::masked;
use table::What;

use super::Recorder;
use super::calls::{self, Active};
use super::snapshot::Moment;
use super::with;
use crate::sight::Pointer;

thread_local! {
    /// How many of the replaced functions this thread is inside of: only the outermost is noted.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// More than this is not noted in one call.
const MOST_EVENTS: usize = 1_000;

/// Stands where a function was, which it calls.
#[pyclass(frozen, module = "testwright", name = "function")]
pub(super) struct Stand {
    original: Py<PyAny>,
    what: What,
    /// The documented name, `time.time`.
    name: String,
    /// Whether it is found in a class, and gets an instance as its first argument.
    is_method: bool,
    /// For a method of a single stream, a weak reference to it: the stream must not live longer because of this.
    stream: Option<Py<PyAny>>,
}

/// What was there before a stand took its place.
pub(super) fn original<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let stand = object.cast_exact::<Stand>().ok()?;
    Some(stand.get().original.bind(object.py()).clone())
}

#[pymethods]
impl Stand {
    /// Functions in classes become methods; those of modules do not.
    fn __get__<'py>(
        stand: Bound<'py, Stand>,
        instance: Option<Bound<'py, PyAny>>,
        class: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = class;
        let Some(instance) = instance.filter(|_| stand.get().is_method) else {
            return Ok(stand.into_any());
        };
        let method = stand.py().import("types")?.getattr("MethodType")?;
        method.call1((stand, instance))
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

    /// Copied or pickled, it is what an importer finds under the name.
    fn __reduce__<'py>(&self, python: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let (module, path) = self.name.split_once('.').unwrap_or((&self.name, ""));
        let find = python.import("pkgutil")?.getattr("resolve_name")?;
        Ok((find, (format!("{module}:{path}"),)))
    }
}

/// Has stands called without anything of ours that could not be undone.
pub(super) fn prepare(python: Python<'_>) {
    plain_call::set_call::<Stand>(python, call);
    generators::prepare(python);
}

unsafe extern "C-unwind" fn call(stand: Pointer, arguments: Pointer, keywords: Pointer) -> Pointer {
    // SAFETY: the interpreter calls this with a stand, a tuple, and a dictionary or null, which live as long as the call.
    // Between the two moments nothing is on the stack but numbers.
    unsafe {
        let (original, is_noted) = begin(stand, arguments);
        if original.is_null() {
            return original;
        }
        let answer = plain_call::plain_call(original, arguments, keywords);
        if is_noted {
            end(stand, arguments, keywords, answer);
        }
        answer
    }
}

/// What to call, a reference of the caller's; null with an exception if there is nothing. And whether to take note.
///
/// # Safety
/// As [`call`] is called.
unsafe fn begin(stand: Pointer, arguments: Pointer) -> (Pointer, bool) {
    let begun = plain_call::aside(|python| -> PyResult<(Pointer, bool)> {
        // SAFETY: as the caller promises.
        let (stand, arguments) = unsafe {
            (
                Bound::from_borrowed_ptr(python, stand),
                Bound::from_borrowed_ptr(python, arguments),
            )
        };
        let stand = stand.cast::<Stand>()?.get();
        let original = stand.found(python)?.into_ptr();
        // What is logged is noted also where the way to it is of no interest.
        let is_hidden = DEPTH.get() > 0 && stand.what != What::Logged;
        if is_hidden || !is_inside_call(python) {
            return Ok((original, false));
        }
        if let Ok(arguments) = arguments.cast::<PyTuple>() {
            with(python, |recorder| {
                recorder.outside_begins(stand.what, arguments)
            });
        }
        DEPTH.set(DEPTH.get() + 1);
        Ok((original, true))
    });
    match begun {
        Some(Ok(begun)) => begun,
        Some(Err(error)) => {
            plain_call::aside(|python| error.restore(python));
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

/// Takes note of an answer. If it is null, the exception that is set is the answer, and is set again.
///
/// # Safety
/// As [`call`] is called; the answer is alive or null.
unsafe fn end(stand: Pointer, arguments: Pointer, keywords: Pointer, answer: Pointer) {
    DEPTH.set(DEPTH.get() - 1);
    plain_call::aside(|python| {
        // SAFETY: as the caller promises.
        let (stand, arguments, keywords, answer) = unsafe {
            (
                Bound::from_borrowed_ptr(python, stand),
                Bound::from_borrowed_ptr(python, arguments),
                Bound::from_borrowed_ptr_or_opt(python, keywords),
                Bound::from_borrowed_ptr_or_opt(python, answer),
            )
        };
        let answer = answer.ok_or_else(|| PyErr::fetch(python));
        if let (Ok(stand), Ok(arguments)) = (stand.cast::<Stand>(), arguments.cast::<PyTuple>()) {
            let keywords = keywords.as_ref().and_then(|all| all.cast::<PyDict>().ok());
            with(python, |recorder| {
                recorder.outside_answers(stand.get(), arguments, keywords, &answer)
            });
        }
        if let Err(error) = answer {
            error.restore(python);
        }
    });
}

impl Stand {
    /// The function to call.
    fn found<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
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

/// Whether a call is being recorded in this thread.
fn is_inside_call(python: Python<'_>) -> bool {
    with(python, |recorder| recorder.has_active()).unwrap_or(false)
}

/// What kind of event, for telling calls apart.
pub(super) fn shape(event: &Event) -> String {
    match &event.external {
        External::Input { function, text, .. } => format!("{function} {}", text.is_some()),
        External::Output { is_error, .. } => format!("output {is_error}"),
        External::File { before, after, .. } => format!(
            "file {:?} {:?}",
            std::mem::discriminant(before),
            std::mem::discriminant(after)
        ),
        External::Environment {
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
        External::WorkingFolder { before, after } => format!("folder {}", before == after),
        External::Permissions { .. } => "permissions".to_owned(),
        External::Logged { level, .. } => format!("logged {level}"),
        External::Called {
            function, answer, ..
        } => {
            format!("{function} {}", matches!(answer, Answer::Raised(_)))
        }
    }
}

impl Recorder {
    /// A line came from the keyboard, past all functions that are replaced.
    fn note_line(&mut self, line: &str) {
        let at = self.tick();
        let Some(thread) = self.threads.get_mut(&calls::thread()) else {
            return;
        };
        let innermost = thread.stack.len().saturating_sub(1);
        for (depth, active) in thread.stack.iter_mut().enumerate() {
            let external = External::Input {
                function: "sys.stdin.readline".to_owned(),
                prompt: None,
                text: Some(masked(line).into_owned()),
            };
            if active.call.events.len() < MOST_EVENTS {
                let is_nested = depth < innermost;
                note(
                    active,
                    Event {
                        at,
                        is_nested,
                        external,
                    },
                );
            }
        }
    }

    fn has_active(&self) -> bool {
        let thread = self.threads.get(&calls::thread());
        thread.is_some_and(|thread| !thread.stack.is_empty())
    }

    /// Files and variables are looked at before a function changes them.
    fn outside_begins(&mut self, what: What, arguments: &Bound<'_, PyTuple>) {
        let Some(thread) = self.threads.get_mut(&calls::thread()) else {
            return;
        };
        for active in &mut thread.stack {
            match what {
                What::File(paths) => active.outside.look_at_files(paths, arguments),
                What::Environment => active.outside.look_at_variable(arguments),
                What::WorkingFolder => active.outside.look_at_working_folder(),
                _ => {}
            }
        }
    }

    fn outside_answers<'py>(
        &mut self,
        stand: &Stand,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
        answer: &PyResult<Bound<'py, PyAny>>,
    ) {
        let at = self.tick();
        let Some(thread) = self.threads.get_mut(&calls::thread()) else {
            return;
        };
        let innermost = thread.stack.len().saturating_sub(1);
        for (depth, active) in thread.stack.iter_mut().enumerate() {
            if active.call.events.len() >= MOST_EVENTS {
                continue;
            }
            let is_nested = depth < innermost;
            let external = match stand.what {
                What::File(_) | What::Environment | What::WorkingFolder | What::Unspoken => {
                    continue;
                }
                What::Temporary => {
                    if let Ok(made) = answer {
                        active.outside.pass_over(made);
                    }
                    continue;
                }
                What::Logged => logged(arguments),
                What::Output { is_error } => output(is_error, arguments),
                What::Input => Some(input(&stand.name, arguments, answer)),
                What::Called(source) => {
                    let Active { call, window, .. } = active;
                    let mut moment = Moment::new(&mut self.eyes, &mut call.values, window);
                    // Sockets and processes are told apart; the class behind a clock is of no interest.
                    let is_partner = matches!(source, Source::Network | Source::Process);
                    let skipped = usize::from(stand.is_method && !is_partner);
                    let noted = arguments.iter().skip(skipped);
                    let noted = noted.map(|argument| moment.of(&argument)).collect();
                    let named = keywords.into_iter().flat_map(|all| all.iter());
                    let keywords = named.map(|(name, value)| (name.to_string(), moment.of(&value)));
                    let mut keywords: Vec<_> = keywords.collect();
                    if stand.name.starts_with("subprocess.Popen.")
                        && let Some(code) = return_code(arguments)
                    {
                        keywords.push(("returncode".to_owned(), moment.of(&code)));
                    }
                    let answer = match answer {
                        // What it shuffled is the answer of a function that returns nothing.
                        Ok(value) if stand.name == "random.shuffle" => {
                            let items = arguments.get_item(0).unwrap_or_else(|_| value.clone());
                            Answer::Returned(again(&mut moment, &items))
                        }
                        Ok(count) if stand.name == "socket.socket.recv_into" => {
                            let data = received(arguments, count);
                            Answer::Returned(moment.of(data.as_ref().unwrap_or(count)))
                        }
                        Ok(value) => Answer::Returned(moment.of(value)),
                        Err(error) => {
                            let exception = error.value(arguments.py());
                            Answer::Raised(moment.of(exception.as_any()))
                        }
                    };
                    Some(External::Called {
                        source,
                        function: stand.name.clone(),
                        arguments: noted,
                        keywords,
                        answer,
                    })
                }
            };
            let Some(external) = external else {
                continue;
            };
            note(
                active,
                Event {
                    at,
                    is_nested,
                    external,
                },
            );
        }
    }
}

/// What a process came to, as far as it is known by now.
fn return_code<'py>(arguments: &Bound<'py, PyTuple>) -> Option<Bound<'py, PyAny>> {
    let process = arguments.get_item(0).ok()?;
    let state = process.getattr("__dict__").ok()?;
    let code = state.cast::<PyDict>().ok()?.get_item("returncode").ok()??;
    (!code.is_none()).then_some(code)
}

/// The bytes that a socket has put into a buffer.
fn received<'py>(
    arguments: &Bound<'py, PyTuple>,
    count: &Bound<'py, PyAny>,
) -> Option<Bound<'py, PyAny>> {
    let count: usize = count.extract().ok()?;
    let buffer = arguments.get_item(1).ok()?;
    let bytes: Vec<u8> = match buffer.cast::<pyo3::types::PyByteArray>() {
        Ok(bytes) => bytes.to_vec(),
        // A view answers this itself.
        Err(_) => buffer.call_method0("tobytes").ok()?.extract().ok()?,
    };
    let bytes = bytes.get(..count)?;
    Some(pyo3::types::PyBytes::new(arguments.py(), bytes).into_any())
}

/// What is logged, told from the record if no code of the program has to run for that.
fn logged(arguments: &Bound<'_, PyTuple>) -> Option<External> {
    let record = arguments.get_item(1).ok()?;
    let state = record
        .getattr("__dict__")
        .ok()?
        .cast_into::<PyDict>()
        .ok()?;
    let entry = |name: &str| state.get_item(name).ok().flatten();
    let text = entry("msg")?;
    let given = entry("args")?;
    let is_plain = |value: &Bound<'_, PyAny>| {
        value.is_exact_instance_of::<pyo3::types::PyString>()
            || value.is_exact_instance_of::<pyo3::types::PyInt>()
            || value.is_exact_instance_of::<pyo3::types::PyFloat>()
            || value.is_exact_instance_of::<pyo3::types::PyBool>()
            || value.is_none()
    };
    let has_arguments = match given.cast::<PyTuple>() {
        Ok(given) => !given.is_empty(),
        Err(_) => !given.is_none(),
    };
    let are_plain = match given.cast::<PyTuple>() {
        Ok(given) => given.iter().all(|one| is_plain(&one)),
        Err(_) => given.is_none(),
    };
    let message = match text.cast_exact::<pyo3::types::PyString>() {
        Ok(text) if !has_arguments => Some(text.to_string_lossy().into_owned()),
        Ok(text) if are_plain => text
            .rem(&given)
            .ok()
            .and_then(|message| message.extract::<String>().ok()),
        _ => None,
    };
    Some(External::Logged {
        logger: entry("name")?.extract().ok()?,
        level: entry("levelno")?.extract().ok()?,
        message: message.map(|message| masked(&message).into_owned()),
    })
}

/// A list as it is now, though it was looked at before in the same moment.
fn again(moment: &mut Moment<'_>, items: &Bound<'_, PyAny>) -> testwright_capture::NodeId {
    let copy = items
        .cast::<pyo3::types::PyList>()
        .map(|items| items.iter().collect::<Vec<_>>());
    let copy = copy
        .ok()
        .and_then(|copy| pyo3::types::PyList::new(items.py(), copy).ok());
    match copy {
        Some(copy) => moment.of(copy.as_any()),
        None => moment.of(items),
    }
}

/// Adds an event; texts to the same stream are one text.
fn note(active: &mut Active, event: Event) {
    if let External::Output { is_error, text } = &event.external
        && let Some(last) = active.call.events.last_mut()
        && last.is_nested == event.is_nested
        && let External::Output {
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

fn output(is_error: bool, arguments: &Bound<'_, PyTuple>) -> Option<External> {
    let text = arguments.get_item(0).ok()?;
    let text = text.cast::<pyo3::types::PyString>().ok()?;
    let text = masked(&text.to_string_lossy()).into_owned();
    (!text.is_empty()).then_some(External::Output { is_error, text })
}

fn input(
    name: &str,
    arguments: &Bound<'_, PyTuple>,
    answer: &PyResult<Bound<'_, PyAny>>,
) -> External {
    let is_input = name == "builtins.input";
    let prompt = arguments.get_item(0).ok().filter(|_| is_input);
    let prompt =
        prompt.and_then(|prompt| Some(prompt.cast::<pyo3::types::PyString>().ok()?.to_string()));
    let text = answer.as_ref().ok().and_then(|text| {
        let text = text.cast::<pyo3::types::PyString>().ok()?.to_string();
        // A password is nobody's business, but how long it is may matter. `input` and `getpass` take the end of the
        // line away.
        Some(match name {
            "getpass.getpass" => format!("{}\n", "*".repeat(text.chars().count())),
            _ if is_input => format!("{text}\n"),
            _ => text,
        })
    });
    External::Input {
        function: name.to_owned(),
        prompt,
        text: text
            .filter(|text| !text.is_empty())
            .map(|text| masked(&text).into_owned()),
    }
}
