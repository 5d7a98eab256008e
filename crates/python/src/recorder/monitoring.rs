//! Events by `sys.monitoring`, which CPython has since 3.12.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCode};

use super::calls::{self, Left, Standing, Wish};
use super::frame::Frame;
use super::{passing, with};
use crate::call;

/// 0 to 2 and 5 belong to debuggers, coverage.py, profilers and optimisers; our own coverage prefers 4.
const TOOLS: [u8; 2] = [3, 4];

/// Where an event is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// In all code, and switched off at the places that are not the project's. Those about exceptions cannot be.
    Everywhere,
    /// In units as long as their calls are looked at.
    InUnits,
    /// The same, and in modules.
    InUnitsAndModules,
}

const EVENTS: [(&str, ffi::PyCFunctionFast, Where); 7] = [
    ("PY_START", on_start, Where::Everywhere),
    ("PY_THROW", on_resume, Where::Everywhere),
    ("PY_UNWIND", on_unwind, Where::Everywhere),
    ("PY_RETURN", on_return, Where::InUnitsAndModules),
    ("PY_RESUME", on_resume, Where::InUnits),
    ("PY_YIELD", on_yield, Where::InUnits),
    ("LINE", on_line, Where::InUnits),
];

/// The events of units, and those of modules, as the interpreter numbers them.
static OF_UNITS: AtomicU32 = AtomicU32::new(0);
static OF_MODULES: AtomicU32 = AtomicU32::new(0);

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
        let (mut of_units, mut of_modules) = (0, 0);
        for (name, function, place) in EVENTS {
            let event: u32 = events.getattr(name)?.extract()?;
            let callback = call::around(&disable, function)?;
            monitoring.call_method1("register_callback", (tool, event, callback))?;
            match place {
                Where::Everywhere => all |= event,
                Where::InUnits => of_units |= event,
                Where::InUnitsAndModules => {
                    of_units |= event;
                    of_modules |= event;
                }
            }
        }
        OF_UNITS.store(of_units, Ordering::Relaxed);
        OF_MODULES.store(of_modules, Ordering::Relaxed);
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
        for (name, ..) in EVENTS {
            let event = events.getattr(name)?;
            monitoring.call_method1("register_callback", (tool, event, python.None()))?;
        }
        // What was switched off for us must be told again to the next who takes the place.
        monitoring.call_method0("restart_events")?;
        monitoring.call_method1("free_tool_id", (tool,)).map(|_| ())
    }

    /// Asks for these events of a code object, and no others.
    fn ask(code: &Bound<'_, PyCode>, events: u32) -> PyResult<()> {
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

    /// Asks for what is wanted of a unit. If that fails, less is recorded, and nobody else is concerned.
    fn grant(code: &Bound<'_, PyCode>, wish: Option<Wish>) {
        let of_units = OF_UNITS.load(Ordering::Relaxed);
        let _ = match wish {
            Some(Wish::Everything) => Listener::ask(code, of_units),
            // Only what is asked for anew is told everywhere.
            Some(Wish::EverythingAgain) => {
                Listener::ask(code, 0).and_then(|()| Listener::ask(code, of_units))
            }
            Some(Wish::Beginnings) => Listener::ask(code, 0),
            None => Ok(()),
        };
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
                    answer(disable, arguments, count, $handle)
                }
            }
        )*
    };
}

// Most events are about nothing new, and are let go before anything else is done.
callbacks! {
    on_start start unless |code| passing::passes(code),
    on_resume resume unless |_| false,
    on_return leave unless |code| calls::innermost_code() == code && !calls::ends_innermost(code),
    on_yield wait unless |code| !calls::is_of_innermost(code),
    on_unwind unwind unless |code| !calls::ends_innermost(code),
    on_line line unless |code| !calls::is_of_innermost(code),
}

fn start(code: &Bound<'_, PyCode>, _: &[Bound<'_, PyAny>]) -> Again {
    let python = code.py();
    let entered = with(python, |recorder| {
        let standing = recorder.enter(code, || Frame::current(python));
        let is_recorded = matches!(standing, Ok(Standing::Recorded));
        let wish = is_recorded.then(|| recorder.wish(code.as_ptr() as usize));
        (standing, wish.flatten())
    });
    let Some((Ok(standing), wish)) = entered else {
        return Again::Yes;
    };
    Listener::grant(code, wish);
    match standing {
        Standing::Foreign => return Again::Never,
        Standing::Module => {
            let _ = Listener::ask(code, OF_MODULES.load(Ordering::Relaxed));
        }
        Standing::Passed | Standing::Recorded => {}
    }
    Again::Yes
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

/// Does something with the frame of a call that is being recorded, or of a module.
fn with_frame(
    code: &Bound<'_, PyCode>,
    work: impl FnOnce(&mut super::Recorder, &Frame<'_>) -> PyResult<()>,
) -> Again {
    let python = code.py();
    let address = code.as_ptr() as usize;
    let wish = with(python, |recorder| {
        let concerns = calls::innermost_code() == address || recorder.is_module(address);
        let frame = Frame::current(python).filter(|_| concerns)?;
        let done = work(recorder, &frame);
        recorder.note_trouble(done);
        recorder.wish(address)
    });
    Listener::grant(code, wish.flatten());
    Again::Yes
}

fn leave(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> Again {
    with_frame(code, |recorder, frame| match arguments.get(1) {
        Some(value) => recorder.leave(frame, Left::With(value)),
        None => Ok(()),
    })
}

fn wait(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> Again {
    with_frame(code, |recorder, frame| match arguments.get(1) {
        Some(value) => recorder.wait(frame, value),
        None => Ok(()),
    })
}

fn unwind(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> Again {
    with_frame(code, |recorder, frame| match arguments.get(1) {
        Some(exception) => recorder.leave(frame, Left::By(exception)),
        None => Ok(()),
    })
}

fn line(code: &Bound<'_, PyCode>, arguments: &[Bound<'_, PyAny>]) -> Again {
    let Some(line) = arguments.first().and_then(|line| line.extract().ok()) else {
        return Again::Yes;
    };
    let again = with(code.py(), |recorder| recorder.reach_line(line));
    match again {
        Some(false) => Again::Never,
        Some(true) | None => Again::Yes,
    }
}
