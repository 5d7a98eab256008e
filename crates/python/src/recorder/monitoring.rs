//! Events through `sys.monitoring`, which CPython has since 3.12.
//!
//! Starts of functions are reported everywhere, and switched off for code outside the project. All
//! other events are requested for single units, only while their calls are examined.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCode};

use super::calls::{self, EntryStatus, EventRequest, FrameExit};
use super::frame::PythonFrame;
use super::{skip_table, with_recorder};
use crate::call;

/// The tool ids to try. By convention 0 to 2 and 5 belong to debuggers, coverage.py, profilers and
/// optimizers; our own coverage prefers 4.
const TOOLS: [u8; 2] = [3, 4];

/// The code in which an event is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EventScope {
    /// All code. Switched off at locations outside the project, except for events about exceptions,
    /// which cannot be switched off.
    Everywhere,
    /// Units, while their calls are examined.
    Units,
    /// Units while their calls are examined, and modules.
    UnitsAndModules,
}

/// The events to request, each with its callback and scope.
const EVENTS: [(&str, ffi::PyCFunctionFast, EventScope); 7] = [
    ("PY_START", on_start, EventScope::Everywhere),
    ("PY_THROW", on_resume, EventScope::Everywhere),
    ("PY_UNWIND", on_unwind, EventScope::Everywhere),
    ("PY_RETURN", on_return, EventScope::UnitsAndModules),
    ("PY_RESUME", on_resume, EventScope::Units),
    ("PY_YIELD", on_yield, EventScope::Units),
    ("LINE", on_line, EventScope::Units),
];

/// The events requested for units, as a bit set of the interpreter's numbers.
static UNIT_EVENTS: AtomicU32 = AtomicU32::new(0);
/// The events requested for modules, as a bit set of the interpreter's numbers.
static MODULE_EVENTS: AtomicU32 = AtomicU32::new(0);

/// The id of our tool while the listener is active.
static TOOL: Mutex<Option<u8>> = Mutex::new(None);

/// Requests events from the interpreter.
pub(super) struct MonitoringListener;

impl MonitoringListener {
    /// Claims a tool id, registers the callbacks, and requests the global events.
    pub(super) fn start(python: Python<'_>) -> PyResult<()> {
        let monitoring = python.import("sys")?.getattr("monitoring")?;
        let free = |tool: &u8| {
            monitoring
                .call_method1("use_tool_id", (*tool, "testwright"))
                .is_ok()
        };
        let Some(tool) = TOOLS.into_iter().find(free) else {
            let message = "other tools occupy all places for monitoring tools in this process";
            return Err(PyRuntimeError::new_err(message));
        };
        let events = monitoring.getattr("events")?;
        let disable = monitoring.getattr("DISABLE")?;
        let mut all = 0u32;
        let (mut unit_events, mut module_events) = (0, 0);
        for (name, function, scope) in EVENTS {
            let event: u32 = events.getattr(name)?.extract()?;
            let callback = call::wrap_c_function(&disable, function)?;
            monitoring.call_method1("register_callback", (tool, event, callback))?;
            match scope {
                EventScope::Everywhere => all |= event,
                EventScope::Units => unit_events |= event,
                EventScope::UnitsAndModules => {
                    unit_events |= event;
                    module_events |= event;
                }
            }
        }
        UNIT_EVENTS.store(unit_events, Ordering::Relaxed);
        MODULE_EVENTS.store(module_events, Ordering::Relaxed);
        *TOOL
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = Some(tool);
        monitoring
            .call_method1("set_events", (tool, all))
            .map(|_| ())
    }

    /// Withdraws all requests and frees the tool id. Without effect if not started.
    pub(super) fn stop(python: Python<'_>) -> PyResult<()> {
        let tool = TOOL
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        let Some(tool) = tool else {
            return Ok(());
        };
        let monitoring = python.import("sys")?.getattr("monitoring")?;
        monitoring.call_method1("set_events", (tool, 0))?;
        let events = monitoring.getattr("events")?;
        for (name, ..) in EVENTS {
            let event = events.getattr(name)?;
            monitoring.call_method1("register_callback", (tool, event, python.None()))?;
        }
        // Locations switched off for us must be reported again to the next tool with this id.
        monitoring.call_method0("restart_events")?;
        monitoring.call_method1("free_tool_id", (tool,)).map(|_| ())
    }

    /// Requests exactly these events for a code object.
    fn set_local_events(code: &Bound<'_, PyCode>, events: u32) -> PyResult<()> {
        let Some(tool) = *TOOL
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
        else {
            return Ok(());
        };
        let monitoring = code.py().import("sys")?.getattr("monitoring")?;
        monitoring
            .call_method1("set_local_events", (tool, code, events))
            .map(|_| ())
    }

    /// Applies a change of events for a unit. If that fails, less is recorded, and the program is
    /// not affected.
    fn apply_request(code: &Bound<'_, PyCode>, request: Option<EventRequest>) {
        let unit_events = UNIT_EVENTS.load(Ordering::Relaxed);
        let _ = match request {
            Some(EventRequest::All) => MonitoringListener::set_local_events(code, unit_events),
            // Only events that are newly requested are reported at all locations again.
            Some(EventRequest::RestartAll) => MonitoringListener::set_local_events(code, 0)
                .and_then(|()| MonitoringListener::set_local_events(code, unit_events)),
            Some(EventRequest::StartsOnly) => MonitoringListener::set_local_events(code, 0),
            None => Ok(()),
        };
    }
}

/// The answer to an event: whether to report it at this location again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EventAnswer {
    /// Report the event again.
    Keep,
    /// Do not report the event at this location any more.
    Disable,
}

/// Calls the handler of an event, and returns its answer to the interpreter.
///
/// # Safety
///
/// Must be called as the interpreter calls it: with the lock held, the object that the callback was
/// made with, and the arguments of the event.
unsafe fn handle_event(
    disable: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    handle: impl FnOnce(&Bound<'_, PyCode>, &[Bound<'_, PyAny>]) -> EventAnswer,
) -> *mut ffi::PyObject {
    // No panic may cross into C, and no error here may surface in the program.
    let work = std::panic::AssertUnwindSafe(|| {
        // The lock is held already, but pyo3 drops objects at once only if it knows that.
        Python::attach(|python| {
            // SAFETY: guaranteed by the caller; the arguments live as long as the call.
            let argument = |index: isize| unsafe {
                Bound::from_borrowed_ptr(python, *arguments.offset(index))
            };
            let all: Vec<_> = (1..count).map(argument).collect();
            argument(0)
                .cast::<PyCode>()
                .map_or(EventAnswer::Disable, |code| handle(code, &all))
        })
    });
    // SAFETY: both objects are alive; the result is a new reference.
    unsafe {
        match std::panic::catch_unwind(work) {
            Ok(EventAnswer::Disable) => ffi::Py_NewRef(disable),
            Ok(EventAnswer::Keep) | Err(_) => ffi::Py_NewRef(ffi::Py_None()),
        }
    }
}

macro_rules! callbacks {
    ($($name:ident $handle:ident unless $is_idle:expr,)*) => {
        $(
            unsafe extern "C" fn $name(
                disable: *mut ffi::PyObject,
                arguments: *mut *mut ffi::PyObject,
                count: ffi::Py_ssize_t,
            ) -> *mut ffi::PyObject {
                // SAFETY: the interpreter calls this; the first argument is the code object.
                unsafe {
                    let is_idle: fn(usize) -> bool = $is_idle;
                    if is_idle(*arguments as usize) {
                        return ffi::Py_NewRef(ffi::Py_None());
                    }
                    handle_event(disable, arguments, count, $handle)
                }
            }
        )*
    };
}

// Most events bring nothing new. The condition after `unless` drops them before any other work.
callbacks! {
    on_start start unless |code| skip_table::should_skip(code),
    on_resume resume unless |_| false,
    on_return leave unless |code| calls::innermost_code() == code && !calls::ends_innermost(code),
    on_yield suspend unless |code| !calls::is_innermost(code),
    on_unwind unwind unless |code| !calls::ends_innermost(code),
    on_line line unless |code| !calls::is_innermost(code),
}

/// Handles the start of a function.
fn start(code: &Bound<'_, PyCode>, _: &[Bound<'_, PyAny>]) -> EventAnswer {
    let python = code.py();
    let entered = with_recorder(python, |recorder| {
        let status = recorder.enter(code, || PythonFrame::current(python));
        let is_recorded = matches!(status, Ok(EntryStatus::Recorded));
        let request = is_recorded.then(|| recorder.event_request(code.as_ptr() as usize));
        (status, request.flatten())
    });
    let Some((Ok(status), request)) = entered else {
        return EventAnswer::Keep;
    };
    MonitoringListener::apply_request(code, request);
    match status {
        EntryStatus::Foreign => return EventAnswer::Disable,
        EntryStatus::Module => {
            let _ =
                MonitoringListener::set_local_events(code, MODULE_EVENTS.load(Ordering::Relaxed));
        }
        EntryStatus::Skipped | EntryStatus::Recorded => {}
    }
    EventAnswer::Keep
}

/// Handles the resumption of a generator or coroutine, including by `throw`.
fn resume(code: &Bound<'_, PyCode>, _: &[Bound<'_, PyAny>]) -> EventAnswer {
    let python = code.py();
    with_recorder(python, |recorder| {
        if recorder.has_suspended()
            && recorder.is_unit(code.as_ptr() as usize)
            && let Some(frame) = PythonFrame::current(python)
        {
            recorder.resume(python, frame.address());
        }
    });
    EventAnswer::Keep
}

/// Runs `work` with the current frame, if it is the innermost recorded call or a module.
fn with_frame(
    code: &Bound<'_, PyCode>,
    work: impl FnOnce(&mut super::CallRecorder, &PythonFrame<'_>) -> PyResult<()>,
) -> EventAnswer {
    let python = code.py();
    let address = code.as_ptr() as usize;
    let request = with_recorder(python, |recorder| {
        let is_relevant = calls::innermost_code() == address || recorder.is_module(address);
        let frame = PythonFrame::current(python).filter(|_| is_relevant)?;
        let done = work(recorder, &frame);
        recorder.report_error(done);
        recorder.event_request(address)
    });
    MonitoringListener::apply_request(code, request.flatten());
    EventAnswer::Keep
}

/// Handles a `return`.
fn leave(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> EventAnswer {
    with_frame(code, |recorder, frame| match arguments.get(1) {
        Some(value) => recorder.leave(frame, FrameExit::Returned(value)),
        None => Ok(()),
    })
}

/// Handles a `yield` or a suspending `await`.
fn suspend(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> EventAnswer {
    with_frame(code, |recorder, frame| match arguments.get(1) {
        Some(value) => recorder.suspend(frame, value),
        None => Ok(()),
    })
}

/// Handles an exception that leaves a function.
fn unwind(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> EventAnswer {
    with_frame(code, |recorder, frame| match arguments.get(1) {
        Some(exception) => recorder.leave(frame, FrameExit::Raised(exception)),
        None => Ok(()),
    })
}

/// Handles a line reached in the innermost recorded call.
fn line(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> EventAnswer {
    let Some(line) = arguments.first().and_then(|line| line.extract().ok()) else {
        return EventAnswer::Keep;
    };
    let keeps_reporting = with_recorder(code.py(), |recorder| recorder.record_line(line));
    match keeps_reporting {
        Some(false) => EventAnswer::Disable,
        Some(true) | None => EventAnswer::Keep,
    }
}
