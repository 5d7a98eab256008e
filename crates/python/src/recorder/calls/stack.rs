//! The calls that are being recorded, by thread.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Instant;

use pyo3::prelude::*;
use testwright_capture::{Call, CallId, PlaceState, StepAction, UnitKind};

use super::super::identity::Window;
use super::super::places::Reach;
use super::super::sources::Outside;

thread_local! {
    /// The frame and the code object of the innermost call that is being recorded in this thread. They are asked for with
    /// each event, so they are here, and not behind a lock.
    static INNERMOST: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// How many calls of the same function run above it that are not recorded. Generators and coroutines are not
    /// counted: their calls do not end in the order in which they begin.
    #[cfg(Py_3_12)]
    static ABOVE: Cell<u32> = const { Cell::new(0) };
    #[cfg(Py_3_12)]
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

#[cfg(not(Py_3_12))]
pub(in crate::recorder) fn innermost_frame() -> usize {
    INNERMOST.get().0
}

#[cfg(Py_3_12)]
pub(in crate::recorder) fn innermost_code() -> usize {
    INNERMOST.get().1
}

/// A call that is not recorded begins: its events are to be told from those of the innermost recorded one.
#[cfg(Py_3_12)]
pub(in crate::recorder) fn begins_above(code: usize) {
    if innermost_code() == code && IS_COUNTED.get() {
        ABOVE.set(ABOVE.get() + 1);
    }
}

/// Whether an event of this code is about the innermost recorded call, as far as can be told without its frame.
#[cfg(Py_3_12)]
pub(in crate::recorder) fn is_of_innermost(code: usize) -> bool {
    innermost_code() == code && ABOVE.get() == 0
}

/// A call ends: whether it may be the innermost recorded one.
#[cfg(Py_3_12)]
pub(in crate::recorder) fn ends_innermost(code: usize) -> bool {
    if innermost_code() != code {
        return false;
    }
    let above = ABOVE.get();
    ABOVE.set(above.saturating_sub(1));
    above == 0
}

/// Nothing is being recorded in this thread.
pub(in crate::recorder) fn forget_innermost() {
    INNERMOST.set((0, 0));
    #[cfg(Py_3_12)]
    ABOVE.set(0);
}

/// A thread of the program.
#[derive(Default)]
pub(in crate::recorder) struct Thread {
    pub(super) number: u32,
    pub(in crate::recorder) stack: Vec<Active>,
}

impl Thread {
    pub(super) fn push(&mut self, active: Active) {
        #[cfg(Py_3_12)]
        if let Some(top) = self.stack.last_mut() {
            top.above = ABOVE.get();
        }
        self.stack.push(active);
        self.show_innermost();
    }

    /// Takes the innermost call off, if it is that of this frame.
    pub(super) fn pop(&mut self, frame: usize) -> Option<Active> {
        let active = self.stack.pop_if(|top| top.frame == frame)?;
        self.show_innermost();
        Some(active)
    }

    /// This must be the thread that runs.
    fn show_innermost(&self) {
        let top = self.stack.last();
        INNERMOST.set(top.map_or((0, 0), |top| (top.frame, top.code)));
        #[cfg(Py_3_12)]
        {
            ABOVE.set(top.map_or(0, |top| top.above));
            IS_COUNTED.set(top.is_some_and(|top| top.kind == UnitKind::Function));
        }
    }

    pub(in crate::recorder) fn into_objects(self) -> impl Iterator<Item = Py<PyAny>> {
        self.stack.into_iter().flat_map(Active::into_objects)
    }
}

/// A call that is being recorded.
pub(in crate::recorder) struct Active {
    pub(super) code: usize,
    pub(in crate::recorder) frame: usize,
    pub(super) kind: UnitKind,
    pub(in crate::recorder) call: Call,
    pub(in crate::recorder) window: Window,
    /// What the parameters were bound to, to be looked at again at the end.
    pub(super) arguments: Vec<Py<PyAny>>,
    pub(super) reach: Reach,
    /// Objects of modules that it met, as they were when it began.
    pub(super) met: Vec<PlaceState>,
    pub(in crate::recorder) lines: BTreeSet<u32>,
    /// How often a line was reached.
    #[cfg(Py_3_12)]
    pub(super) steps_taken: u32,
    /// How many calls of the same function run above it that are not recorded, while others above it are.
    #[cfg(Py_3_12)]
    pub(super) above: u32,
    /// What its values took in memory when it began, about.
    pub(super) weight: usize,
    /// Whether a line was reached for the first time ever, in this call or below it. Private functions are tested through
    /// those who call them, so these have to be kept, too.
    pub(super) leads_to_new_line: bool,
    pub(super) started: Instant,
    /// An exception that was last seen on its way through the frame.
    #[cfg(not(Py_3_12))]
    pub(in crate::recorder) exception: Option<Py<PyAny>>,
    pub(in crate::recorder) outside: Outside,
    /// What a generator was last told.
    pub(super) action: StepAction,
}

impl Active {
    pub(in crate::recorder) fn id(&self) -> CallId {
        self.call.id
    }

    pub(in crate::recorder) fn into_objects(self) -> Vec<Py<PyAny>> {
        let mut objects = self.arguments;
        objects.extend(self.reach.into_objects());
        objects
    }
}

/// Which thread this is.
pub(in crate::recorder) fn thread() -> usize {
    // SAFETY: asks the operating system who we are.
    unsafe { pyo3::ffi::PyThread_get_thread_ident() as usize }
}
