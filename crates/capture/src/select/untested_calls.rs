//! Calls of functions that get no tests of their own.
//!
//! Private functions are tested through their callers, and so are calls that cannot be tested
//! directly. So a call of a public function is worth a test also for the lines of such functions
//! that only it reaches.

use std::collections::{BTreeMap, BTreeSet};

use crate::recording::{Call, CallId, Recording, UnitId};

/// A line of a function without tests of its own.
pub(crate) type UntestedLine = (UnitId, u32);

/// The recorded calls without tests of their own, by caller.
pub(crate) struct UntestedCalls<'a> {
    /// The calls, by the execution and the number of their caller.
    calls_by_caller: BTreeMap<(u32, CallId), Vec<&'a Call>>,
    /// The lines that tests reach already.
    reached_lines: BTreeSet<UntestedLine>,
}

impl<'a> UntestedCalls<'a> {
    /// Indexes the calls of a recording for which `may_be_tested` is false.
    pub(crate) fn new(
        recording: &'a Recording,
        may_be_tested: impl Fn(&Call) -> bool,
    ) -> UntestedCalls<'a> {
        let mut calls_by_caller: BTreeMap<(u32, CallId), Vec<&Call>> = BTreeMap::new();
        for call in recording.calls.iter().filter(|call| !may_be_tested(call)) {
            if let Some(caller) = call.caller {
                calls_by_caller
                    .entry((call.execution, caller))
                    .or_default()
                    .push(call);
            }
        }
        let reached_lines = BTreeSet::new();
        UntestedCalls {
            calls_by_caller,
            reached_lines,
        }
    }

    /// Returns the lines below a call that no test reaches yet.
    pub(super) fn unreached_lines(&self, call: &Call) -> BTreeSet<UntestedLine> {
        let lines = self.lines(call);
        lines.difference(&self.reached_lines).copied().collect()
    }

    /// Marks a call, and everything below it, as reached by a test.
    pub(crate) fn mark_reached(&mut self, call: &Call) {
        let lines = self.lines(call);
        self.reached_lines.extend(lines);
        let own = call.lines.iter().map(|line| (call.unit, *line));
        self.reached_lines.extend(own);
    }

    /// Returns the lines below a call.
    fn lines(&self, call: &Call) -> BTreeSet<UntestedLine> {
        let mut lines = BTreeSet::new();
        let mut pending = vec![call];
        while let Some(call) = pending.pop() {
            let made = self.calls_by_caller.get(&(call.execution, call.id));
            for inner in made.into_iter().flatten() {
                // A callee has a higher number than its caller, so this ends, unless the recording
                // is corrupt.
                if inner.id > call.id {
                    lines.extend(inner.lines.iter().map(|line| (inner.unit, *line)));
                    pending.push(inner);
                }
            }
        }
        lines
    }
}
