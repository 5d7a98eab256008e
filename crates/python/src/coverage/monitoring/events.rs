//! Handlers of the monitoring events.

use std::cell::Cell;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCode};

use super::{Monitor, MonitorState};
use crate::coverage::code_memory::CodeMemory;
use crate::coverage::dialect::Dialect;
use crate::coverage::flow::{Arc, ExceptionOrigin};
use crate::coverage::observed_code::{LineMeaning, TargetEffect};

thread_local! {
    /// The exception last seen in this thread.
    static LAST_EXCEPTION: Cell<Option<LastException>> = const { Cell::new(None) };
}

/// An exception seen in a code object.
#[derive(Clone, Copy)]
struct LastException {
    /// The number of the code object.
    unit: usize,
    /// Its origin, if known.
    origin: Option<ExceptionOrigin>,
    /// True if it was reraised, and has not arrived at a handler or left yet.
    is_propagating: bool,
}

impl MonitorState {
    /// Quickens the instructions of the line that started last.
    fn quicken_started_line(&mut self, dialect: &Dialect) {
        if let Some((memory, number, line)) = self.started_line.take() {
            self.shortcuts[number].join_at(line, dialect, &memory);
        }
    }

    /// Returns the origin of the exception that this thread last saw in a code object.
    fn last_origin_in(number: usize) -> Option<ExceptionOrigin> {
        let last = LAST_EXCEPTION.get().filter(|last| last.unit == number);
        last.and_then(|last| last.origin)
    }

    /// Returns the origin of an exception that arrives at a handler, given by its offset, or
    /// leaves. `None` if the path is known already.
    fn locate_exception(
        &mut self,
        number: usize,
        handler: Option<u32>,
        python: Python<'_>,
    ) -> Option<ExceptionOrigin> {
        LAST_EXCEPTION.with(|last_exception| {
            let last = last_exception.get().filter(|last| last.unit == number);
            let mut is_known = false;
            let origin = match last {
                Some(last) if last.is_propagating => last.origin,
                _ => {
                    // The frame exists already, in the traceback, so reading it is cheap.
                    let offset = frame_offset(python)?;
                    let path = (number as u32, offset as u32, handler);
                    if let Some(origin) = self.known_exception_paths.get(&path) {
                        is_known = true;
                        Some(*origin)
                    } else if let Some(origin) = self.units[number].exception_origin(offset) {
                        self.known_exception_paths.insert(path, origin);
                        Some(origin)
                    } else {
                        let before = last.and_then(|last| last.origin);
                        self.units[number].reraise_origin(offset, before)
                    }
                }
            };
            last_exception.set(Some(LastException {
                unit: number,
                origin,
                is_propagating: false,
            }));
            origin.filter(|_| !is_known)
        })
    }

    /// Records that an arc was reached.
    fn reach_arc(&mut self, number: usize, arc: Arc) {
        let target = self.record.target(self.units[number].file, arc);
        self.record.reach(target);
    }
}

/// The answer to an event: whether to report it at this location again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MonitorAnswer {
    /// Report the event again.
    Keep,
    /// Do not report the event at this location any more.
    Disable,
}

/// Handlers of events, called with the code object, and the line or offset of the event.
impl Monitor {
    /// Handles the start of a function: observes copies, and quickens the code.
    fn start(&self, code: &Bound<'_, PyAny>, _offset: usize) -> MonitorAnswer {
        let Ok(code) = code.cast::<PyCode>() else {
            return MonitorAnswer::Disable;
        };
        let is_known = {
            let mut state = self.state();
            state.quicken_started_line(&self.dialect);
            state.unit(code).is_some()
        };
        // An error here would surface in the code under test. It is ignored: the copy stays
        // unobserved, or the code slow.
        let _observed = if is_known {
            Ok(())
        } else {
            self.observe_copy(code)
        };
        let _quickened = self.quicken(code);
        MonitorAnswer::Disable
    }

    /// Handles the start of a line.
    fn line(&self, code: &Bound<'_, PyAny>, line: usize) -> MonitorAnswer {
        let mut state = self.state();
        state.quicken_started_line(&self.dialect);
        let (Some(number), Ok(code)) = (state.unit(code), code.cast::<PyCode>()) else {
            return MonitorAnswer::Disable;
        };
        if state.shortcuts[number].has_pairs_at(line as u32) {
            state.started_line = Some((CodeMemory::locate_inside_code(code), number, line as u32));
        }
        let unit = &state.units[number];
        let target = match unit.line(line as u32) {
            LineMeaning::Unique(target) => target,
            LineMeaning::Ambiguous => {
                frame_offset(code.py()).and_then(|offset| unit.line_at(offset))
            }
        };
        let Some(target) = target else {
            return MonitorAnswer::Disable;
        };
        state.record.reach(target);
        if state.units[number].mark_reached(target) {
            state.finished.push(code.clone().into_any().unbind());
            drop(state);
            let quiet = self.local_events & !self.line_event;
            if self.set_local_events(code, quiet).is_ok() {
                let memory = CodeMemory::locate_inside_code(code);
                self.state().shortcuts[number].join(&self.dialect, &memory);
                // The event was withdrawn together with all line events of the code object.
                return MonitorAnswer::Keep;
            }
        }
        MonitorAnswer::Disable
    }

    /// Handles a jump or a return.
    fn leave(&self, code: &Bound<'_, PyAny>, offset: usize) -> MonitorAnswer {
        let mut state = self.state();
        state.quicken_started_line(&self.dialect);
        let Some(number) = state.unit(code) else {
            return MonitorAnswer::Disable;
        };
        let mut answer = MonitorAnswer::Disable;
        let MonitorState { record, units, .. } = &mut *state;
        let unit = &units[number];
        for effect in unit.effects_at(offset) {
            match *effect {
                TargetEffect::Target(target) => record.reach(target),
                TargetEffect::Remember(origin) => {
                    answer = MonitorAnswer::Keep;
                    LAST_EXCEPTION.set(Some(LastException {
                        unit: number,
                        origin: Some(origin),
                        is_propagating: false,
                    }));
                }
                TargetEffect::FromRemembered(line) => {
                    answer = MonitorAnswer::Keep;
                    if let Some(origin) = MonitorState::last_origin_in(number) {
                        let target = record.target(unit.file, (origin.last_line, line));
                        record.reach(target);
                    }
                }
            }
        }
        answer
    }

    /// Handles an exception that is reraised.
    fn reraise(&self, code: &Bound<'_, PyAny>, offset: usize) -> MonitorAnswer {
        let state = self.state();
        if let Some(number) = state.unit(code) {
            LAST_EXCEPTION.set(Some(LastException {
                unit: number,
                origin: state.units[number]
                    .reraise_origin(offset, MonitorState::last_origin_in(number)),
                is_propagating: true,
            }));
        }
        MonitorAnswer::Keep
    }

    /// Handles an exception that arrives at a handler.
    fn handle(&self, code: &Bound<'_, PyAny>, offset: usize) -> MonitorAnswer {
        let mut state = self.state();
        if let Some(number) = state.unit(code)
            && let Some(origin) = state.locate_exception(number, Some(offset as u32), code.py())
            && let Some(arc) = state.units[number].arc_when_handled(origin, offset)
        {
            state.reach_arc(number, arc);
        }
        MonitorAnswer::Keep
    }

    /// Handles an exception that leaves a function.
    fn unwind(&self, code: &Bound<'_, PyAny>, _offset: usize) -> MonitorAnswer {
        let mut state = self.state();
        if let Some(number) = state.unit(code)
            && let Some(origin) = state.locate_exception(number, None, code.py())
            && let Some(arc) = state.units[number].arc_when_unwound(origin)
        {
            state.reach_arc(number, arc);
        }
        MonitorAnswer::Keep
    }
}

/// Defines the callbacks of events, each with its handler.
macro_rules! callbacks {
    ($($event:literal $function:ident $method:ident,)*) => {
        $(
            /// Called by the interpreter with the monitor, and the code object, a number and more
            /// as arguments.
            unsafe extern "C" fn $function(
                monitor: *mut ffi::PyObject,
                arguments: *mut *mut ffi::PyObject,
                _count: ffi::Py_ssize_t,
            ) -> *mut ffi::PyObject {
                // SAFETY: the interpreter calls this with the lock held, with the object that the
                // function was made with, and with at least the two arguments that every event has.
                unsafe { handle_event(monitor, arguments, Monitor::$method) }
            }
        )*

        pub(super) fn callbacks() -> Vec<(&'static str, ffi::PyCFunctionFast)> {
            vec![$(($event, $function as ffi::PyCFunctionFast),)*]
        }
    };
}

callbacks! {
    "LINE" on_line line,
    "JUMP" on_jump leave,
    "PY_RETURN" on_return leave,
    "PY_START" on_start start,
    "RERAISE" on_reraise reraise,
    "EXCEPTION_HANDLED" on_handled handle,
    "PY_UNWIND" on_unwind unwind,
}

/// Handles an event without creating Python objects, because exceptions may be frequent.
///
/// # Safety
///
/// The lock is held, `monitor` is a [`Monitor`], and there are at least two arguments.
unsafe fn handle_event(
    monitor: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    method: impl Fn(&Monitor, &Bound<'_, PyAny>, usize) -> MonitorAnswer,
) -> *mut ffi::PyObject {
    // SAFETY: the caller guarantees the lock, the types and the number of arguments, which the
    // interpreter keeps alive during the call.
    unsafe {
        let python = Python::assume_attached();
        let monitor = Borrowed::from_ptr(python, monitor);
        let monitor = monitor.cast_unchecked::<Monitor>().get();
        let code = Borrowed::from_ptr(python, *arguments);
        // A function that fails before its first instruction reports a negative offset, which
        // stands for nothing.
        let number = ffi::PyLong_AsSsize_t(*arguments.add(1));
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let work = std::panic::AssertUnwindSafe(|| method(monitor, &code, number));
        // No panic may cross into C. The event is lost.
        match std::panic::catch_unwind(work) {
            Ok(MonitorAnswer::Disable) => monitor.disable.clone_ref(python).into_ptr(),
            Ok(MonitorAnswer::Keep) | Err(_) => python.None().into_ptr(),
        }
    }
}

/// Returns the byte offset of the current instruction of the innermost Python frame.
fn frame_offset(_python: Python<'_>) -> Option<usize> {
    // SAFETY: the lock is held. The frame is a borrowed reference, or null outside of Python code;
    // it is used before any other code can run.
    let offset = unsafe {
        let frame = ffi::PyEval_GetFrame();
        if frame.is_null() {
            return None;
        }
        ffi::PyFrame_GetLasti(frame)
    };
    usize::try_from(offset).ok()
}
