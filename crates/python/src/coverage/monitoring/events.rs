//! What is done about each event.

use std::cell::Cell;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCode};

use super::{Monitor, State};
use crate::coverage::code_memory::CodeMemory;
use crate::coverage::dialect::Dialect;
use crate::coverage::flow::{Arc, Thrown};
use crate::coverage::unit::{LineMeaning, Seen};

thread_local! {
    /// The exception that was last seen in this thread.
    static LAST_THROWN: Cell<Option<LastThrown>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct LastThrown {
    /// The code object it was seen in.
    unit: usize,
    thrown: Option<Thrown>,
    /// Whether it was thrown again, and is yet to come to a handler or to leave.
    is_on_its_way: bool,
}

impl State {
    /// Makes use of what the last line that began has made possible.
    fn quicken_begun(&mut self, dialect: &Dialect) {
        if let Some((memory, number, line)) = self.begun.take() {
            self.shortcuts[number].join_at(line, dialect, &memory);
        }
    }

    /// What is known of the exception that this thread last saw in this code object.
    fn thrown_in(number: usize) -> Option<Thrown> {
        let last = LAST_THROWN.get().filter(|last| last.unit == number);
        last.and_then(|last| last.thrown)
    }

    /// An exception comes to a handler of this code object, at an offset, or leaves it. `None` if nothing new follows.
    fn arrives(
        &mut self,
        number: usize,
        handler: Option<u32>,
        python: Python<'_>,
    ) -> Option<Thrown> {
        LAST_THROWN.with(|last_thrown| {
            let last = last_thrown.get().filter(|last| last.unit == number);
            let mut is_known = false;
            let thrown = match last {
                Some(last) if last.is_on_its_way => last.thrown,
                _ => {
                    // The frame is there already, in the traceback, so asking it is cheap.
                    let offset = offset_of_frame(python)?;
                    let way = (number as u32, offset as u32, handler);
                    if let Some(thrown) = self.known_ways.get(&way) {
                        is_known = true;
                        Some(*thrown)
                    } else if let Some(thrown) = self.units[number].thrown(offset) {
                        self.known_ways.insert(way, thrown);
                        Some(thrown)
                    } else {
                        let before = last.and_then(|last| last.thrown);
                        self.units[number].thrown_again(offset, before)
                    }
                }
            };
            last_thrown.set(Some(LastThrown {
                unit: number,
                thrown,
                is_on_its_way: false,
            }));
            thrown.filter(|_| !is_known)
        })
    }

    fn reach_arc(&mut self, number: usize, arc: Arc) {
        let target = self.record.target(self.units[number].file, arc);
        self.record.reach(target);
    }
}

/// Whether to tell of an event again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    Yes,
    Never,
}

/// What the interpreter calls, with the code object, and with the line or offset of the event.
impl Monitor {
    fn start(&self, code: &Bound<'_, PyAny>, _offset: usize) -> Again {
        let Ok(code) = code.cast::<PyCode>() else {
            return Again::Never;
        };
        let is_known = {
            let mut state = self.state();
            state.quicken_begun(&self.dialect);
            state.unit(code).is_some()
        };
        // An exception here would come out of the code under test. A copy that cannot be observed is not worth that, nor
        // is code that stays slow.
        let _observed = if is_known {
            Ok(())
        } else {
            self.observe_copy(code)
        };
        let _quickened = self.quicken(code);
        Again::Never
    }

    fn line(&self, code: &Bound<'_, PyAny>, line: usize) -> Again {
        let mut state = self.state();
        state.quicken_begun(&self.dialect);
        let (Some(number), Ok(code)) = (state.unit(code), code.cast::<PyCode>()) else {
            return Again::Never;
        };
        if state.shortcuts[number].has_pairs_at(line as u32) {
            state.begun = Some((CodeMemory::inside(code), number, line as u32));
        }
        let unit = &state.units[number];
        let target = match unit.line(line as u32) {
            LineMeaning::Sure(target) => target,
            LineMeaning::Depends => {
                offset_of_frame(code.py()).and_then(|offset| unit.line_at(offset))
            }
        };
        let Some(target) = target else {
            return Again::Never;
        };
        state.record.reach(target);
        if state.units[number].has_begun(target) {
            state.finished.push(code.clone().into_any().unbind());
            drop(state);
            let quiet = self.local_events & !self.line_event;
            if self.listen_to(code, quiet).is_ok() {
                let memory = CodeMemory::inside(code);
                self.state().shortcuts[number].join(&self.dialect, &memory);
                // The event is gone with all others of its kind.
                return Again::Yes;
            }
        }
        Again::Never
    }

    fn leave(&self, code: &Bound<'_, PyAny>, offset: usize) -> Again {
        let mut state = self.state();
        state.quicken_begun(&self.dialect);
        let Some(number) = state.unit(code) else {
            return Again::Never;
        };
        let mut again = Again::Never;
        let State { record, units, .. } = &mut *state;
        let unit = &units[number];
        for seen in unit.left_at(offset) {
            match *seen {
                Seen::Target(target) => record.reach(target),
                Seen::Remember(thrown) => {
                    again = Again::Yes;
                    LAST_THROWN.set(Some(LastThrown {
                        unit: number,
                        thrown: Some(thrown),
                        is_on_its_way: false,
                    }));
                }
                Seen::FromRemembered(line) => {
                    again = Again::Yes;
                    if let Some(thrown) = State::thrown_in(number) {
                        let target = record.target(unit.file, (thrown.last_line, line));
                        record.reach(target);
                    }
                }
            }
        }
        again
    }

    fn raise_again(&self, code: &Bound<'_, PyAny>, offset: usize) -> Again {
        let state = self.state();
        if let Some(number) = state.unit(code) {
            LAST_THROWN.set(Some(LastThrown {
                unit: number,
                thrown: state.units[number].thrown_again(offset, State::thrown_in(number)),
                is_on_its_way: true,
            }));
        }
        Again::Yes
    }

    fn handle(&self, code: &Bound<'_, PyAny>, offset: usize) -> Again {
        let mut state = self.state();
        if let Some(number) = state.unit(code)
            && let Some(thrown) = state.arrives(number, Some(offset as u32), code.py())
            && let Some(arc) = state.units[number].handled(thrown, offset)
        {
            state.reach_arc(number, arc);
        }
        Again::Yes
    }

    fn unwind(&self, code: &Bound<'_, PyAny>, _offset: usize) -> Again {
        let mut state = self.state();
        if let Some(number) = state.unit(code)
            && let Some(thrown) = state.arrives(number, None, code.py())
            && let Some(arc) = state.units[number].unwound(thrown)
        {
            state.reach_arc(number, arc);
        }
        Again::Yes
    }
}

/// The events we ask for, with what is to be done about each.
macro_rules! callbacks {
    ($($event:literal $function:ident $method:ident,)*) => {
        $(
            /// What the interpreter calls: `monitor` is ours, arguments are the code object, a number, and more.
            unsafe extern "C" fn $function(
                monitor: *mut ffi::PyObject,
                arguments: *mut *mut ffi::PyObject,
                _count: ffi::Py_ssize_t,
            ) -> *mut ffi::PyObject {
                // SAFETY: the interpreter calls this with the lock held, with the object that the function was made
                // with, and with at least the two arguments that every event has.
                unsafe { answer(monitor, arguments, Monitor::$method) }
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
    "RERAISE" on_reraise raise_again,
    "EXCEPTION_HANDLED" on_handled handle,
    "PY_UNWIND" on_unwind unwind,
}

/// Answers an event without making any Python object, for exceptions may be many.
///
/// # Safety
/// The lock is held, `monitor` is a [`Monitor`], and there are at least two arguments.
unsafe fn answer(
    monitor: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    method: impl Fn(&Monitor, &Bound<'_, PyAny>, usize) -> Again,
) -> *mut ffi::PyObject {
    // SAFETY: the caller vouches for the lock, the types and the number of arguments, which the interpreter keeps
    // alive during the call.
    unsafe {
        let python = Python::assume_attached();
        let monitor = Borrowed::from_ptr(python, monitor);
        let monitor = monitor.cast_unchecked::<Monitor>().get();
        let code = Borrowed::from_ptr(python, *arguments);
        // A function that fails before its first instruction is left at a place before it, of which nothing is known.
        let number = ffi::PyLong_AsSsize_t(*arguments.add(1));
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let work = std::panic::AssertUnwindSafe(|| method(monitor, &code, number));
        // No panic may cross into C. There is nobody here to tell; the place stays unseen.
        match std::panic::catch_unwind(work) {
            Ok(Again::Never) => monitor.disable.clone_ref(python).into_ptr(),
            Ok(Again::Yes) | Err(_) => python.None().into_ptr(),
        }
    }
}

/// Where the innermost Python frame is, in bytes.
fn offset_of_frame(_python: Python<'_>) -> Option<usize> {
    // SAFETY: the lock is held. The frame is a borrowed reference, or null outside of Python code; it is used
    // before anything else can run.
    let offset = unsafe {
        let frame = ffi::PyEval_GetFrame();
        if frame.is_null() {
            return None;
        }
        ffi::PyFrame_GetLasti(frame)
    };
    usize::try_from(offset).ok()
}
