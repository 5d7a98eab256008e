//! Frames of which nothing is to be told.
//!
//! As long as there is a profiler, the interpreter does without its fast instructions, and stops at each call of a
//! function that is not Python's. But it has its frames evaluated by a function that can be replaced, and whether it
//! tells of events can be switched for each evaluation. So the switch is off for code that passes (`passing`), and on
//! again for anything else, as when such code calls back.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::ffi;

use super::super::{calls, passing};
use super::thread_state::ThreadState;
use super::{ALSO, IS_ON, on_event, on_trace, trace};

/// `_PyInterpreterFrame` since 3.11, and `PyFrameObject` before.
#[repr(C)]
struct Evaluated {
    _words: [usize; 4],
    code: usize,
    #[cfg(Py_3_11)]
    _others: [usize; 2],
    /// The last instruction that was run.
    #[cfg(Py_3_11)]
    instruction: *const u8,
}

/// An interpreter that ends undoes the calls of threads that still run, ours among them (`plain_call`).
type Evaluation = unsafe extern "C-unwind" fn(
    *mut ffi::PyThreadState,
    *mut Evaluated,
    c_int,
) -> *mut ffi::PyObject;

unsafe extern "C" {
    fn _PyInterpreterState_GetEvalFrameFunc(
        interpreter: *mut ffi::PyInterpreterState,
    ) -> Option<Evaluation>;
    fn _PyInterpreterState_SetEvalFrameFunc(
        interpreter: *mut ffi::PyInterpreterState,
        function: Option<Evaluation>,
    );
}

/// The function that we have replaced: the interpreter's own, or another tool's.
static REPLACED: AtomicUsize = AtomicUsize::new(0);
/// The operation that a generator stands at when it has been made, and has not begun.
#[cfg(Py_3_11)]
pub(super) static RETURN_GENERATOR: std::sync::atomic::AtomicU8 =
    std::sync::atomic::AtomicU8::new(0);

/// Since 3.11 functions call each other without taking room on the stack of C, but not if their frames are evaluated by
/// us. So we do that only until there are so many; more are only in programs that expect to get deeper than usual.
#[cfg(Py_3_11)]
const DEEP: c_int = 1_000;

/// Has frames evaluated by us, if it is known what is where in the state of a thread.
pub(super) fn begin() {
    if !ThreadState::is_known() || !ThreadState::has_switch() {
        return;
    }
    // SAFETY: the lock is held; the function is of the right kind.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        let Some(replaced) = _PyInterpreterState_GetEvalFrameFunc(interpreter) else {
            return;
        };
        if replaced as usize != evaluate as *const () as usize {
            REPLACED.store(replaced as usize, Ordering::Relaxed);
            _PyInterpreterState_SetEvalFrameFunc(interpreter, Some(evaluate));
        }
    }
}

/// Puts the function back that evaluated frames before, unless another tool has put in its own.
pub(super) fn end() {
    // SAFETY: the lock is held; the function is the one that was there.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        let is_ours = _PyInterpreterState_GetEvalFrameFunc(interpreter)
            .is_some_and(|function| function as usize == evaluate as *const () as usize);
        if is_ours {
            _PyInterpreterState_SetEvalFrameFunc(interpreter, Some(replaced()));
        }
    }
}

/// # Safety
/// We must have replaced a function.
unsafe fn replaced() -> Evaluation {
    // SAFETY: this is only read once it was written, by `begin`.
    unsafe { std::mem::transmute(REPLACED.load(Ordering::Relaxed)) }
}

/// # Safety
/// As the interpreter calls it: with the lock held, the state of this thread, and a frame.
unsafe extern "C-unwind" fn evaluate(
    thread: *mut ffi::PyThreadState,
    frame: *mut Evaluated,
    is_thrown: c_int,
) -> *mut ffi::PyObject {
    let ours = on_event as *const () as usize;
    // SAFETY: as the interpreter promises. Nothing of ours has to be tidied up when the call is undone.
    unsafe {
        let state = ThreadState::from_pointer(thread);
        let replaced = replaced();
        let mut profiling = state.profiling();
        if profiling == 0 && IS_ON.load(Ordering::Relaxed) {
            // A thread that nobody told to listen, or a profiler of the program that has done its work.
            state.set_profiling(ours);
            profiling = ours;
        }
        if profiling != ours {
            return replaced(thread, frame, is_thrown);
        }
        let told_caller = state.tells();
        let answer = if is_deep(state) {
            end();
            state.set_tells(true);
            let answer = replaced(thread, frame, is_thrown);
            if IS_ON.load(Ordering::Relaxed) {
                begin();
            }
            answer
        } else if is_alone(state) && passing::passes((*frame).code, |start| begins(frame, start)) {
            let is_traced = state.tracing() != 0;
            if is_traced {
                trace(false);
            }
            state.set_tells(false);
            let answer = replaced(thread, frame, is_thrown);
            if is_traced {
                trace(IS_ON.load(Ordering::Relaxed) && calls::innermost_frame() != 0);
            }
            answer
        } else {
            state.set_tells(true);
            replaced(thread, frame, is_thrown)
        };
        // Each caller gets back what it had, unless another tool has begun to trace meanwhile.
        if state.profiling() == ours {
            state.set_tells(told_caller || !is_alone(state));
        }
        answer
    }
}

#[cfg(Py_3_11)]
fn is_deep(state: ThreadState) -> bool {
    state.depth() > DEEP
}

#[cfg(not(Py_3_11))]
fn is_deep(_: ThreadState) -> bool {
    false
}

/// Whether nobody but us is to be told of what this thread does.
fn is_alone(state: ThreadState) -> bool {
    let tracing = state.tracing();
    tracing == 0 || tracing == on_trace as *const () as usize && ALSO.get() == 0
}

/// Whether a frame of a generator or coroutine begins; otherwise it goes on. `start` is where it stands then when it
/// tells of itself.
///
/// # Safety
/// It must be a frame that is alive.
unsafe fn begins(frame: *mut Evaluated, start: u32) -> bool {
    #[cfg(not(Py_3_11))]
    // SAFETY: as the caller promises.
    return unsafe { super::offset(frame.cast()) } == start;
    #[cfg(Py_3_11)]
    {
        let _ = start;
        // SAFETY: as the caller promises. Before the first instruction is another part of the code object.
        let operation = unsafe { *(*frame).instruction };
        operation == RETURN_GENERATOR.load(Ordering::Relaxed)
    }
}
