//! Evaluation of frames without any events.
//!
//! While there is a profiler, the interpreter does not use its fast instructions, and checks every
//! call of a C function. But the function that evaluates frames can be replaced, and reporting can
//! be switched for each evaluation. So reporting is off for skipped code (`skip_table`), and on for
//! everything else, for example when skipped code calls back.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::ffi;

use super::super::{calls, skip_table};
use super::thread_state::ThreadState;
use super::{IS_LISTENING, OTHER_TRACER, on_event, on_trace, set_tracing};

/// The start of `_PyInterpreterFrame` since 3.11, and of `PyFrameObject` before.
#[repr(C)]
struct EvaluatedFrame {
    _words: [usize; 4],
    code: usize,
    #[cfg(Py_3_11)]
    _others: [usize; 2],
    /// The last instruction that was run.
    #[cfg(Py_3_11)]
    instruction: *const u8,
}

/// The type of the evaluation function. It may unwind: an interpreter that exits unwinds the calls
/// of threads that still run, including ours (`plain_call`).
type EvalFunction = unsafe extern "C-unwind" fn(
    *mut ffi::PyThreadState,
    *mut EvaluatedFrame,
    c_int,
) -> *mut ffi::PyObject;

unsafe extern "C" {
    fn _PyInterpreterState_GetEvalFrameFunc(
        interpreter: *mut ffi::PyInterpreterState,
    ) -> Option<EvalFunction>;
    fn _PyInterpreterState_SetEvalFrameFunc(
        interpreter: *mut ffi::PyInterpreterState,
        function: Option<EvalFunction>,
    );
}

/// The evaluation function that we have replaced: the interpreter's own, or another tool's.
static ORIGINAL: AtomicUsize = AtomicUsize::new(0);
/// The opcode at which a generator is created and not yet started.
#[cfg(Py_3_11)]
pub(super) static RETURN_GENERATOR: std::sync::atomic::AtomicU8 =
    std::sync::atomic::AtomicU8::new(0);

/// The recursion depth above which frames are evaluated by the interpreter alone. Since 3.11 Python
/// calls need no space on the C stack, except when we evaluate their frames. Only programs that
/// recurse unusually deeply exceed this.
#[cfg(Py_3_11)]
const MAX_DEPTH: c_int = 1_000;

/// Replaces the evaluation function, if the layout of the thread state is known.
pub(super) fn install() {
    if !ThreadState::is_located() || !ThreadState::has_switch() {
        return;
    }
    // SAFETY: the lock is held; the function has the right type.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        let Some(original) = _PyInterpreterState_GetEvalFrameFunc(interpreter) else {
            return;
        };
        if original as usize != evaluate as *const () as usize {
            ORIGINAL.store(original as usize, Ordering::Relaxed);
            _PyInterpreterState_SetEvalFrameFunc(interpreter, Some(evaluate));
        }
    }
}

/// Restores the original evaluation function, unless another tool has installed its own.
pub(super) fn uninstall() {
    // SAFETY: the lock is held; the function is the original one.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        let is_ours = _PyInterpreterState_GetEvalFrameFunc(interpreter)
            .is_some_and(|function| function as usize == evaluate as *const () as usize);
        if is_ours {
            _PyInterpreterState_SetEvalFrameFunc(interpreter, Some(original_function()));
        }
    }
}

/// Returns the replaced evaluation function.
///
/// # Safety
///
/// There must be a replaced function.
unsafe fn original_function() -> EvalFunction {
    // SAFETY: this is read only after `install` has written it.
    unsafe { std::mem::transmute(ORIGINAL.load(Ordering::Relaxed)) }
}

/// Evaluates a frame, with reporting switched off if its code is skipped.
///
/// # Safety
///
/// Must be called as the interpreter calls it: with the lock held, the state of this thread, and a
/// frame.
unsafe extern "C-unwind" fn evaluate(
    thread: *mut ffi::PyThreadState,
    frame: *mut EvaluatedFrame,
    is_thrown: c_int,
) -> *mut ffi::PyObject {
    let ours = on_event as *const () as usize;
    // SAFETY: guaranteed by the interpreter. Nothing here needs cleanup when the call is unwound.
    unsafe {
        let state = ThreadState::from_pointer(thread);
        let original = original_function();
        let mut profiling = state.profiling();
        if profiling == 0 && IS_LISTENING.load(Ordering::Relaxed) {
            // Either a thread that does not listen yet, or one whose own profiler has finished.
            state.set_profiling(ours);
            profiling = ours;
        }
        if profiling != ours {
            return original(thread, frame, is_thrown);
        }
        let caller_reports = state.is_reporting();
        let answer = if is_deep(state) {
            uninstall();
            state.set_reporting(true);
            let answer = original(thread, frame, is_thrown);
            if IS_LISTENING.load(Ordering::Relaxed) {
                install();
            }
            answer
        } else if has_no_other_tracer(state)
            && skip_table::should_skip((*frame).code, |start| is_starting(frame, start))
        {
            let is_traced = state.tracing() != 0;
            if is_traced {
                set_tracing(false);
            }
            state.set_reporting(false);
            let answer = original(thread, frame, is_thrown);
            if is_traced {
                set_tracing(IS_LISTENING.load(Ordering::Relaxed) && calls::innermost_frame() != 0);
            }
            answer
        } else {
            state.set_reporting(true);
            original(thread, frame, is_thrown)
        };
        // Each caller gets its own setting back, unless another tool has started to trace
        // meanwhile.
        if state.profiling() == ours {
            state.set_reporting(caller_reports || !has_no_other_tracer(state));
        }
        answer
    }
}

/// Returns true if calls are nested too deeply for our own evaluation.
#[cfg(Py_3_11)]
fn is_deep(state: ThreadState) -> bool {
    state.depth() > MAX_DEPTH
}

#[cfg(not(Py_3_11))]
fn is_deep(_: ThreadState) -> bool {
    false
}

/// Returns true if no other tool traces this thread.
fn has_no_other_tracer(state: ThreadState) -> bool {
    let tracing = state.tracing();
    tracing == 0 || tracing == on_trace as *const () as usize && OTHER_TRACER.get() == 0
}

/// Returns true if a frame of a generator or coroutine starts, as opposed to resumes. `start` is
/// its start offset.
///
/// # Safety
///
/// It must be a frame that is alive.
unsafe fn is_starting(frame: *mut EvaluatedFrame, start: u32) -> bool {
    #[cfg(not(Py_3_11))]
    // SAFETY: guaranteed by the caller.
    return unsafe { super::offset(frame.cast()) } == start;
    #[cfg(Py_3_11)]
    {
        let _ = start;
        // SAFETY: guaranteed by the caller. Before the first instruction the pointer leads to
        // another part of the code object.
        let operation = unsafe { *(*frame).instruction };
        operation == RETURN_GENERATOR.load(Ordering::Relaxed)
    }
}
