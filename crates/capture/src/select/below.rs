//! What happens below a call, in functions that get no tests of their own.
//!
//! Private functions are tested through those who call them, and so are calls that no test could be made of. So a call of
//! a public function is worth a test also for the lines of such functions that only it leads to.

use std::collections::{BTreeMap, BTreeSet};

use crate::recording::{Call, CallId, Recording, UnitId};

/// A line of a function that has no tests of its own.
pub(crate) type BelowLine = (UnitId, u32);

/// The calls that others made, as far as they lead through functions without tests of their own.
pub(crate) struct Below<'a> {
    /// Such calls, by the execution and the number of who made them.
    made: BTreeMap<(u32, CallId), Vec<&'a Call>>,
    /// What tests reach already.
    reached: BTreeSet<BelowLine>,
}

impl<'a> Below<'a> {
    /// What lies below the calls of a recording, where some calls may have tests of their own.
    pub(crate) fn new(
        recording: &'a Recording,
        may_be_tested: impl Fn(&Call) -> bool,
    ) -> Below<'a> {
        let mut made: BTreeMap<(u32, CallId), Vec<&Call>> = BTreeMap::new();
        for call in recording.calls.iter().filter(|call| !may_be_tested(call)) {
            if let Some(caller) = call.caller {
                made.entry((call.execution, caller)).or_default().push(call);
            }
        }
        let reached = BTreeSet::new();
        Below { made, reached }
    }

    /// The lines below a call that nothing reaches yet.
    pub(super) fn open_lines(&self, call: &Call) -> BTreeSet<BelowLine> {
        let lines = self.lines(call);
        lines.difference(&self.reached).copied().collect()
    }

    /// From now on a test reaches this call and what lies below it.
    pub(crate) fn note(&mut self, call: &Call) {
        let lines = self.lines(call);
        self.reached.extend(lines);
        let own = call.lines.iter().map(|line| (call.unit, *line));
        self.reached.extend(own);
    }

    fn lines(&self, call: &Call) -> BTreeSet<BelowLine> {
        let mut lines = BTreeSet::new();
        let mut pending = vec![call];
        while let Some(call) = pending.pop() {
            let made = self.made.get(&(call.execution, call.id));
            for inner in made.into_iter().flatten() {
                // A call is made once, so this ends, unless a recording was tampered with.
                if inner.id > call.id {
                    lines.extend(inner.lines.iter().map(|line| (inner.unit, *line)));
                    pending.push(inner);
                }
            }
        }
        lines
    }
}
