//! What comes from outside the program and goes there.
//!
//! The interpreter tells nobody what functions written in C return, so the documented functions are replaced, for as
//! long as the program is watched, by a [`Stand`] that calls the original and takes note. It is written in Rust: it
//! leaves no frame in tracebacks. Which functions, and what is noted of each, is in `table`; files and the environment
//! are looked at before and after (`outside`); secrets are masked before anything is kept (`secrets`). What happens
//! past all of them is at least noticed (`alarms`).

mod alarms;
mod install;
mod outside;
mod secrets;
mod table;

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use testwright_capture::{Answer, Event, External};

pub(super) use alarms::listen;
pub(super) use install::{install, notice_streams, remove};
pub(super) use outside::Outside;
pub(super) use secrets::masked;
use table::What;

use super::Recorder;
use super::calls::{self, Active};
use super::snapshot::Moment;
use super::with;

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
    #[pyo3(signature = (*arguments, **keywords))]
    fn __call__<'py>(
        &self,
        python: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let stream = self
            .stream
            .as_ref()
            .map(|stream| stream.bind(python).call0())
            .transpose()?;
        let original = match stream {
            Some(stream) => self
                .original
                .bind(python)
                .call_method1("__get__", (stream,))?,
            None => self.original.bind(python).clone(),
        };
        if DEPTH.get() > 0 || !is_inside_call(python) {
            return original.call(arguments, keywords);
        }
        with(python, |recorder| {
            recorder.outside_begins(self.what, arguments)
        });
        DEPTH.set(DEPTH.get() + 1);
        let answer = original.call(arguments, keywords);
        DEPTH.set(DEPTH.get() - 1);
        with(python, |recorder| {
            recorder.outside_answers(self, arguments, keywords, &answer)
        });
        answer
    }

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
        External::Called {
            function, answer, ..
        } => {
            format!("{function} {}", matches!(answer, Answer::Raised(_)))
        }
    }
}

impl Recorder {
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
                What::File(_) | What::Environment => continue,
                What::Output { is_error } => output(is_error, arguments),
                What::Input => Some(input(&stand.name, arguments, answer)),
                What::Called(source) => {
                    let Active { call, window, .. } = active;
                    let mut moment = Moment::new(&mut self.eyes, &mut call.values, window);
                    let noted = arguments.iter().skip(usize::from(stand.is_method));
                    let noted = noted.map(|argument| moment.of(&argument)).collect();
                    let named = keywords.into_iter().flat_map(|all| all.iter());
                    let keywords = named.map(|(name, value)| (name.to_string(), moment.of(&value)));
                    let keywords = keywords.collect();
                    let answer = match answer {
                        // What it shuffled is the answer of a function that returns nothing.
                        Ok(value) if stand.name == "random.shuffle" => {
                            let items = arguments.get_item(0).unwrap_or_else(|_| value.clone());
                            Answer::Returned(again(&mut moment, &items))
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
        // `input` takes the end of the line away.
        Some(if is_input { format!("{text}\n") } else { text })
    });
    External::Input {
        function: name.to_owned(),
        prompt,
        text: text
            .filter(|text| !text.is_empty())
            .map(|text| masked(&text).into_owned()),
    }
}
