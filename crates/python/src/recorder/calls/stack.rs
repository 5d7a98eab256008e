//! The calls being recorded, by thread.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Instant;

use pyo3::prelude::*;
use testwright_capture::{Call, CallId, StepAction, UnitKind, VariableState};

use super::super::external::UsedResources;
use super::super::identity::HeldObjects;
use super::super::variables::ReachableVariables;

thread_local! {
    /// The addresses of the frame and the code object of the innermost recorded call of this
    /// thread, or zeros. Every event reads them, so they are not behind a lock.
    static INNERMOST: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// The number of unrecorded calls of the same function above the innermost recorded one.
    /// Generators and coroutines are not counted: their calls do not end in the order in which they
    /// start.
    #[cfg(Py_3_12)]
    static UNRECORDED_ABOVE: Cell<u32> = const { Cell::new(0) };
    /// True if the innermost recorded call is of a plain function, so that calls above it are
    /// counted.
    #[cfg(Py_3_12)]
    static COUNTS_UNRECORDED: Cell<bool> = const { Cell::new(false) };
}

/// Returns the address of the frame of the innermost recorded call of this thread, or 0.
#[cfg(not(Py_3_12))]
pub(in crate::recorder) fn innermost_frame() -> usize {
    INNERMOST.get().0
}

/// Returns the address of the code of the innermost recorded call of this thread, or 0.
#[cfg(Py_3_12)]
pub(in crate::recorder) fn innermost_code() -> usize {
    INNERMOST.get().1
}

/// Counts the start of an unrecorded call, so that its events are not taken for those of the
/// innermost recorded call.
#[cfg(Py_3_12)]
pub(in crate::recorder) fn count_unrecorded(code: usize) {
    if innermost_code() == code && COUNTS_UNRECORDED.get() {
        UNRECORDED_ABOVE.set(UNRECORDED_ABOVE.get() + 1);
    }
}

/// Returns true if an event of this code belongs to the innermost recorded call, as far as can be
/// decided without its frame.
#[cfg(Py_3_12)]
pub(in crate::recorder) fn is_innermost(code: usize) -> bool {
    innermost_code() == code && UNRECORDED_ABOVE.get() == 0
}

/// Counts the end of a call. Returns true if it may be the innermost recorded one.
#[cfg(Py_3_12)]
pub(in crate::recorder) fn ends_innermost(code: usize) -> bool {
    if innermost_code() != code {
        return false;
    }
    let unrecorded_above = UNRECORDED_ABOVE.get();
    UNRECORDED_ABOVE.set(unrecorded_above.saturating_sub(1));
    unrecorded_above == 0
}

/// Clears the innermost call of this thread.
pub(in crate::recorder) fn forget_innermost() {
    INNERMOST.set((0, 0));
    #[cfg(Py_3_12)]
    UNRECORDED_ABOVE.set(0);
}

/// The recorded calls of one thread of the program.
#[derive(Default)]
pub(in crate::recorder) struct ThreadCalls {
    /// The number of the thread in the recording.
    pub(super) number: u32,
    /// Recorded calls, the innermost last.
    pub(in crate::recorder) stack: Vec<ActiveCall>,
}

impl ThreadCalls {
    /// Adds a call on top of the stack.
    pub(super) fn push(&mut self, active: ActiveCall) {
        #[cfg(Py_3_12)]
        if let Some(top) = self.stack.last_mut() {
            top.unrecorded_above = UNRECORDED_ABOVE.get();
        }
        self.stack.push(active);
        self.publish_innermost();
    }

    /// Removes the innermost call if it belongs to this frame.
    pub(super) fn pop(&mut self, frame: usize) -> Option<ActiveCall> {
        let active = self.stack.pop_if(|top| top.frame == frame)?;
        self.publish_innermost();
        Some(active)
    }

    /// Copies the top of the stack to the thread-local variables. Must run on this thread.
    fn publish_innermost(&self) {
        let top = self.stack.last();
        INNERMOST.set(top.map_or((0, 0), |top| (top.frame, top.code)));
        #[cfg(Py_3_12)]
        {
            UNRECORDED_ABOVE.set(top.map_or(0, |top| top.unrecorded_above));
            COUNTS_UNRECORDED.set(top.is_some_and(|top| top.kind == UnitKind::Function));
        }
    }

    /// Takes the Python objects held by all calls, to be dropped later.
    pub(in crate::recorder) fn into_objects(self) -> impl Iterator<Item = Py<PyAny>> {
        self.stack.into_iter().flat_map(ActiveCall::into_objects)
    }
}

/// A call that is being recorded.
pub(in crate::recorder) struct ActiveCall {
    /// The address of its code object.
    pub(super) code: usize,
    /// The address of its frame.
    pub(in crate::recorder) frame: usize,
    pub(super) kind: UnitKind,
    pub(in crate::recorder) call: Call,
    /// Objects kept alive so that their identities stay valid.
    pub(in crate::recorder) held: HeldObjects,
    /// The values of the parameters at entry, to be read again at the end.
    pub(super) arguments: Vec<Py<PyAny>>,
    /// Variables outside the arguments within its reach.
    pub(super) reachable: ReachableVariables,
    /// Objects of modules found among its values, as they were at entry.
    pub(super) importables: Vec<VariableState>,
    /// The lines reached so far.
    pub(in crate::recorder) lines: BTreeSet<u32>,
    /// The number of line events so far.
    #[cfg(Py_3_12)]
    pub(super) line_events: u32,
    /// The number of unrecorded calls of the same function above it, saved while other recorded
    /// calls are above it.
    #[cfg(Py_3_12)]
    pub(super) unrecorded_above: u32,
    /// The approximate memory use of its values at entry.
    pub(super) memory_size: usize,
    /// True if it, or a call below it, reached a line for the first time. Private functions are
    /// tested through their callers, so the callers are kept as well.
    pub(super) reaches_new_line: bool,
    pub(super) started: Instant,
    /// The exception last seen in the frame.
    #[cfg(not(Py_3_12))]
    pub(in crate::recorder) exception: Option<Py<PyAny>>,
    /// The files and environment variables that it used.
    pub(in crate::recorder) used_resources: UsedResources,
    /// The last request to a generator: next, send, throw or close.
    pub(super) action: StepAction,
}

impl ActiveCall {
    /// Returns the id of the call in the recording.
    pub(in crate::recorder) fn id(&self) -> CallId {
        self.call.id
    }

    /// Takes the Python objects that the call holds, to be dropped later.
    pub(in crate::recorder) fn into_objects(self) -> Vec<Py<PyAny>> {
        let mut objects = self.arguments;
        objects.extend(self.reachable.into_objects());
        objects
    }
}

/// Returns the operating system's id of this thread.
pub(in crate::recorder) fn thread_id() -> usize {
    // SAFETY: only queries the operating system.
    unsafe { pyo3::ffi::PyThread_get_thread_ident() as usize }
}
