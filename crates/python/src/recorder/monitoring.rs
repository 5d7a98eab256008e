//! Events by `sys.monitoring`, which CPython has since 3.12.

use std::sync::Mutex;

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCode};

use super::calls::{Left, Standing};
use super::frame::Frame;
use super::with;
use crate::call;

/// 0 to 2 and 5 belong to debuggers, coverage.py, profilers and optimisers; our own coverage prefers 4.
const TOOLS: [u8; 2] = [3, 4];

/// The events of all code. Those that can be switched off at a place are, where code is not the project's.
const EVENTS: [(&str, ffi::PyCFunctionFast); 7] = [
    ("PY_START", on_start),
    ("PY_RESUME", on_resume),
    ("PY_THROW", on_resume),
    ("PY_RETURN", on_return),
    ("PY_YIELD", on_yield),
    ("PY_UNWIND", on_unwind),
    ("LINE", on_line),
];

/// Which tool we are, while we listen.
static TOOL: Mutex<Option<u8>> = Mutex::new(None);

/// What asks the interpreter for events.
pub(super) struct Listener;

impl Listener {
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
        for (name, function) in EVENTS {
            let event: u32 = events.getattr(name)?.extract()?;
            let callback = call::around(&disable, function)?;
            monitoring.call_method1("register_callback", (tool, event, callback))?;
            // Lines are asked for code by code.
            if name != "LINE" {
                all |= event;
            }
        }
        *TOOL
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = Some(tool);
        monitoring
            .call_method1("set_events", (tool, all))
            .map(|_| ())
    }

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
        for (name, _) in EVENTS {
            let event = events.getattr(name)?;
            monitoring.call_method1("register_callback", (tool, event, python.None()))?;
        }
        // What was switched off for us must be told again to the next who takes the place.
        monitoring.call_method0("restart_events")?;
        monitoring.call_method1("free_tool_id", (tool,)).map(|_| ())
    }

    /// Asks for the lines of a code object, or no longer.
    fn lines(code: &Bound<'_, PyCode>, wanted: bool) -> PyResult<()> {
        let Some(tool) = *TOOL
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
        else {
            return Ok(());
        };
        let monitoring = code.py().import("sys")?.getattr("monitoring")?;
        let line: u32 = monitoring.getattr("events")?.getattr("LINE")?.extract()?;
        let events = if wanted { line } else { 0 };
        monitoring
            .call_method1("set_local_events", (tool, code, events))
            .map(|_| ())
    }
}

/// Whether to tell of an event at this place again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    Yes,
    Never,
}

/// # Safety
/// As the interpreter calls it: with the lock held, the object that the callback was made with, and the arguments of
/// the event.
unsafe fn answer(
    disable: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    handle: impl FnOnce(&Bound<'_, PyCode>, &[Bound<'_, PyAny>]) -> Again,
) -> *mut ffi::PyObject {
    // No panic may cross into C, and nothing that goes wrong here may come out of the program.
    let work = std::panic::AssertUnwindSafe(|| {
        // The lock is held already; but objects that are let go die at once only where this library knows it, too.
        Python::attach(|python| {
            // SAFETY: as the caller promises; the arguments live as long as the call.
            let argument = |place: isize| unsafe {
                Bound::from_borrowed_ptr(python, *arguments.offset(place))
            };
            let all: Vec<_> = (1..count).map(argument).collect();
            argument(0)
                .cast::<PyCode>()
                .map_or(Again::Never, |code| handle(code, &all))
        })
    });
    // SAFETY: both objects are alive; the answer is a new reference.
    unsafe {
        match std::panic::catch_unwind(work) {
            Ok(Again::Never) => ffi::Py_NewRef(disable),
            Ok(Again::Yes) | Err(_) => ffi::Py_NewRef(ffi::Py_None()),
        }
    }
}

macro_rules! callbacks {
    ($($name:ident $handle:ident,)*) => {
        $(
            unsafe extern "C" fn $name(
                disable: *mut ffi::PyObject,
                arguments: *mut *mut ffi::PyObject,
                count: ffi::Py_ssize_t,
            ) -> *mut ffi::PyObject {
                // SAFETY: the interpreter calls this.
                unsafe { answer(disable, arguments, count, $handle) }
            }
        )*
    };
}

callbacks! {
    on_start start,
    on_resume resume,
    on_return leave,
    on_yield wait,
    on_unwind unwind,
    on_line line,
}

fn start(code: &Bound<'_, PyCode>, _: &[Bound<'_, PyAny>]) -> Again {
    let python = code.py();
    let entered = with(python, |recorder| {
        let standing = recorder.enter(code, || Frame::current(python));
        (standing, recorder.wants_lines(code.as_ptr() as usize))
    });
    let Some((Ok(standing), wants)) = entered else {
        return Again::Yes;
    };
    if let Some(wanted) = wants {
        let _ = Listener::lines(code, wanted);
    }
    match standing {
        Standing::Foreign => Again::Never,
        Standing::Module | Standing::Passed | Standing::Recorded => Again::Yes,
    }
}

fn resume(code: &Bound<'_, PyCode>, _: &[Bound<'_, PyAny>]) -> Again {
    let python = code.py();
    with(python, |recorder| {
        if recorder.has_waiting()
            && recorder.is_unit(code.as_ptr() as usize)
            && let Some(frame) = Frame::current(python)
        {
            recorder.go_on(python, frame.address());
        }
    });
    Again::Yes
}

/// Does something with the frame of a call that is being recorded, if this is one.
fn with_innermost(
    code: &Bound<'_, PyCode>,
    work: impl FnOnce(&mut super::Recorder, &Frame<'_>),
) -> Again {
    let python = code.py();
    let address = code.as_ptr() as usize;
    let again = with(python, |recorder| {
        if !recorder.is_known(address) {
            return Again::Never;
        }
        let concerns = recorder.is_innermost(address) || recorder.is_module(address);
        if concerns && let Some(frame) = Frame::current(python) {
            work(recorder, &frame);
        }
        Again::Yes
    });
    again.unwrap_or(Again::Yes)
}

fn leave(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> Again {
    with_innermost(code, |recorder, frame| {
        if let Some(value) = arguments.get(1) {
            let left = recorder.leave(frame, Left::With(value));
            recorder.note_trouble(left);
        }
    })
}

fn wait(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> Again {
    with_innermost(code, |recorder, frame| {
        if let Some(value) = arguments.get(1) {
            recorder.wait(frame, value);
        }
    })
}

fn unwind(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> Again {
    with_innermost(code, |recorder, frame| {
        if let Some(exception) = arguments.get(1) {
            let left = recorder.leave(frame, Left::By(exception));
            recorder.note_trouble(left);
        }
    });
    // Events about exceptions cannot be switched off.
    Again::Yes
}

fn line(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> Again {
    let line = arguments.first().and_then(|line| line.extract().ok());
    with(code.py(), |recorder| {
        if let Some(line) = line {
            recorder.reach_line(code.as_ptr() as usize, line);
        }
    });
    Again::Yes
}
