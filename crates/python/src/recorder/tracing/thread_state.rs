//! What the interpreter keeps about tracing for each thread.
//!
//! Asking the interpreter to change it would be slow, and would be announced to audit hooks of the program. But the
//! versions before 3.12 do not change any more, and in all of them the state of a thread has the functions of profiling
//! and tracing, then the objects that these are called with; so it is enough to find our own function in it.

use std::ffi::c_int;
#[cfg(not(Py_3_11))]
use std::sync::atomic::AtomicI32;
#[cfg(Py_3_11)]
use std::sync::atomic::AtomicU8;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;

/// Which word of a thread's state is its profiling function; 0 if that is not known.
static PROFILING_WORD: AtomicUsize = AtomicUsize::new(0);

/// Whether the interpreter tells of events at all: of a thread in 3.9, and of a frame since then.
#[cfg(not(Py_3_11))]
type Switch = c_int;
#[cfg(Py_3_11)]
type Switch = u8;

/// What the interpreter writes there if it does.
#[cfg(not(Py_3_11))]
static TELLS: AtomicI32 = AtomicI32::new(0);
#[cfg(Py_3_11)]
static TELLS: AtomicU8 = AtomicU8::new(0);

/// The state of a thread, once it is known what is where in it.
#[derive(Clone, Copy)]
pub(super) struct ThreadState(*mut usize);

impl ThreadState {
    /// Finds out what is where. `profiling` is the profiling function of this thread, `traced` the object of tracing, or
    /// `None`.
    pub(super) fn explore(profiling: usize, traced: &Bound<'_, PyAny>) {
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
        let is_right = |place: &usize| {
            let tracing = words[*place + 1];
            words[*place + 2] == 0 && words[*place + 3] == traced && (tracing == 0) == (traced == 0)
        };
        let word = found.filter(|place| (4..28).contains(place));
        let word = word.filter(is_right).unwrap_or(0);
        PROFILING_WORD.store(word, Ordering::Relaxed);
        if word != 0 {
            // SAFETY: it is known now what is where.
            let switch = unsafe { *ThreadState(state).switch() };
            TELLS.store(switch, Ordering::Relaxed);
        }
    }

    /// That of the thread that runs, if it is known what is where.
    pub(super) fn current() -> Option<ThreadState> {
        // SAFETY: the lock is held.
        Self::is_known().then(|| ThreadState(unsafe { ffi::PyThreadState_Get() }.cast()))
    }

    /// # Safety
    /// It must be the thread that runs, and known what is where.
    pub(super) unsafe fn from_pointer(thread: *mut ffi::PyThreadState) -> ThreadState {
        ThreadState(thread.cast())
    }

    pub(super) fn is_known() -> bool {
        PROFILING_WORD.load(Ordering::Relaxed) != 0
    }

    /// Whether the switch was found, too: it was on when we had just been made a profiler.
    pub(super) fn has_switch() -> bool {
        TELLS.load(Ordering::Relaxed) != 0
    }

    fn word(self, after_profiling: usize) -> *mut usize {
        // SAFETY: the word was found in the state of another thread of the same interpreter.
        unsafe { (self.0).add(PROFILING_WORD.load(Ordering::Relaxed) + after_profiling) }
    }

    pub(super) fn profiling(self) -> usize {
        // SAFETY: as was found out; the lock is held.
        unsafe { *self.word(0) }
    }

    pub(super) fn set_profiling(self, function: usize) {
        // SAFETY: as was found out; the lock is held.
        unsafe { *self.word(0) = function }
    }

    pub(super) fn tracing(self) -> usize {
        // SAFETY: as was found out; the lock is held.
        unsafe { *self.word(1) }
    }

    pub(super) fn set_tracing(self, function: usize) {
        // SAFETY: as was found out; the lock is held.
        unsafe { *self.word(1) = function }
    }

    /// The object that the tracing function is called with.
    pub(super) fn traced(self) -> *mut ffi::PyObject {
        // SAFETY: as was found out; the lock is held.
        unsafe { *self.word(3).cast() }
    }

    /// Where the switch is: in the word before the profiling function in 3.9, and since then where that word points to.
    fn switch(self) -> *mut Switch {
        // SAFETY: there is a word before.
        let before = unsafe { self.word(0).sub(1) };
        #[cfg(not(Py_3_10))]
        return before.cast();
        #[cfg(Py_3_10)]
        // SAFETY: the pointer is never null, and to something that begins with the switch.
        return unsafe { *before.cast::<*mut Switch>() };
    }

    /// Whether events are told of the frame that runs.
    pub(super) fn tells(self) -> bool {
        // SAFETY: as was found out; the lock is held.
        unsafe { *self.switch() != 0 }
    }

    /// Has events told of the frame that runs, or not. Frames that begin take it over from their caller.
    pub(super) fn set_tells(self, tells: bool) {
        let value = if tells {
            TELLS.load(Ordering::Relaxed)
        } else {
            0
        };
        // SAFETY: as was found out; the lock is held. The value is one that the interpreter itself writes there.
        unsafe { *self.switch() = value }
    }

    /// How many functions are running in each other.
    #[cfg(Py_3_11)]
    pub(super) fn depth(self) -> c_int {
        // SAFETY: three words before the pointer to the switch are how many more there may be, and how many in all.
        unsafe {
            let numbers = self.word(0).sub(4).cast::<c_int>();
            *numbers.add(1) - *numbers
        }
    }
}
