//! Direct access to the tracing fields of the interpreter's thread state.
//!
//! The official functions are slow, and raise audit events in the program. The versions before 3.12
//! no longer change, and in all of them the thread state holds the profiling and the tracing
//! function, followed by their argument objects. So finding our own profiling function locates all
//! four.

use std::ffi::c_int;
#[cfg(not(Py_3_11))]
use std::sync::atomic::AtomicI32;
#[cfg(Py_3_11)]
use std::sync::atomic::AtomicU8;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;

/// The index of the profiling function in the words of a thread state; 0 if unknown.
static PROFILING_WORD: AtomicUsize = AtomicUsize::new(0);

/// The type of the switch that enables reporting: of a thread in 3.9, and of a frame since.
#[cfg(not(Py_3_11))]
type Switch = c_int;
#[cfg(Py_3_11)]
type Switch = u8;

/// The value of the switch while reporting is enabled.
#[cfg(not(Py_3_11))]
static SWITCH_ON: AtomicI32 = AtomicI32::new(0);
#[cfg(Py_3_11)]
static SWITCH_ON: AtomicU8 = AtomicU8::new(0);

/// A thread state with known layout.
#[derive(Clone, Copy)]
pub(super) struct ThreadState(*mut usize);

impl ThreadState {
    /// Locates the fields. `profiling` is the profiling function of this thread, `traced` the
    /// argument of its tracing function, or `None`.
    pub(super) fn locate(profiling: usize, traced: &Bound<'_, PyAny>) {
        let traced = if traced.is_none() {
            0
        } else {
            traced.as_ptr() as usize
        };
        // SAFETY: the lock is held.
        let state = unsafe { ffi::PyThreadState_Get() }.cast::<usize>();
        // SAFETY: the state has more words than this on all versions before 3.12, and only words are read.
        let words = unsafe { std::slice::from_raw_parts(state.cast_const(), 32) };
        let found = words.iter().position(|word| *word == profiling);
        let is_right = |index: &usize| {
            let tracing = words[*index + 1];
            words[*index + 2] == 0 && words[*index + 3] == traced && (tracing == 0) == (traced == 0)
        };
        let word = found.filter(|index| (4..28).contains(index));
        let word = word.filter(is_right).unwrap_or(0);
        PROFILING_WORD.store(word, Ordering::Relaxed);
        if word != 0 {
            // SAFETY: the layout is known now.
            let switch = unsafe { *ThreadState(state).switch() };
            SWITCH_ON.store(switch, Ordering::Relaxed);
        }
    }

    /// Returns the state of this thread, if the layout is known.
    pub(super) fn current() -> Option<ThreadState> {
        // SAFETY: the lock is held.
        Self::is_located().then(|| ThreadState(unsafe { ffi::PyThreadState_Get() }.cast()))
    }

    /// Wraps a thread state.
    ///
    /// # Safety
    ///
    /// It must belong to this thread, and the layout must be known.
    pub(super) unsafe fn from_pointer(thread: *mut ffi::PyThreadState) -> ThreadState {
        ThreadState(thread.cast())
    }

    /// Returns true if the layout is known.
    pub(super) fn is_located() -> bool {
        PROFILING_WORD.load(Ordering::Relaxed) != 0
    }

    /// Returns true if the switch was found as well. It was on right after our profiling function
    /// was set.
    pub(super) fn has_switch() -> bool {
        SWITCH_ON.load(Ordering::Relaxed) != 0
    }

    /// Returns a pointer to a word, counted from the profiling function.
    fn word(self, after_profiling: usize) -> *mut usize {
        // SAFETY: the word was found in the state of another thread of the same interpreter.
        unsafe { (self.0).add(PROFILING_WORD.load(Ordering::Relaxed) + after_profiling) }
    }

    /// Returns the address of the profiling function, or 0.
    pub(super) fn profiling(self) -> usize {
        // SAFETY: the layout is known; the lock is held.
        unsafe { *self.word(0) }
    }

    /// Sets the profiling function.
    pub(super) fn set_profiling(self, function: usize) {
        // SAFETY: the layout is known; the lock is held.
        unsafe { *self.word(0) = function }
    }

    /// Returns the address of the tracing function, or 0.
    pub(super) fn tracing(self) -> usize {
        // SAFETY: the layout is known; the lock is held.
        unsafe { *self.word(1) }
    }

    /// Sets the tracing function.
    pub(super) fn set_tracing(self, function: usize) {
        // SAFETY: the layout is known; the lock is held.
        unsafe { *self.word(1) = function }
    }

    /// Returns the argument object of the tracing function.
    pub(super) fn traced(self) -> *mut ffi::PyObject {
        // SAFETY: the layout is known; the lock is held.
        unsafe { *self.word(3).cast() }
    }

    /// Returns a pointer to the switch: the word before the profiling function in 3.9, and its
    /// target since.
    fn switch(self) -> *mut Switch {
        // SAFETY: there is a word before.
        let before = unsafe { self.word(0).sub(1) };
        #[cfg(not(Py_3_10))]
        return before.cast();
        #[cfg(Py_3_10)]
        // SAFETY: the pointer is never null, and the structure it leads to starts with the switch.
        return unsafe { *before.cast::<*mut Switch>() };
    }

    /// Returns true if reporting is enabled for the current frame.
    pub(super) fn is_reporting(self) -> bool {
        // SAFETY: the layout is known; the lock is held.
        unsafe { *self.switch() != 0 }
    }

    /// Enables or disables reporting for the current frame. New frames inherit the setting from
    /// their caller.
    pub(super) fn set_reporting(self, is_reporting: bool) {
        let value = if is_reporting {
            SWITCH_ON.load(Ordering::Relaxed)
        } else {
            0
        };
        // SAFETY: the layout is known; the lock is held. The interpreter itself writes these
        // values.
        unsafe { *self.switch() = value }
    }

    /// Returns the current recursion depth.
    #[cfg(Py_3_11)]
    pub(super) fn depth(self) -> c_int {
        // SAFETY: three words before the pointer to the switch are the remaining and the maximum
        // depth.
        unsafe {
            let numbers = self.word(0).sub(4).cast::<c_int>();
            *numbers.add(1) - *numbers
        }
    }
}
