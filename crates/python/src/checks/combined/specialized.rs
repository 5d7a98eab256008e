//! Check functions specialized to the set of slots that are filled.

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::{PropertyInstance, make_checks};
use crate::call::{self, CallResult};
use crate::context::HarnessContext;
use crate::functions;

/// Check functions for frequent sets of filled slots.
pub(super) struct SpecializedChecks<'py> {
    /// The positions of the slots that properties read; empty if there are too many.
    positions: Vec<usize>,
    sets: FxHashMap<u64, FilledSet<'py>>,
    /// The mask of the last check and its function. Usually the next check has the same.
    latest: (u64, Option<Bound<'py, PyAny>>),
}

/// A set of filled slots and its function.
#[derive(Default)]
struct FilledSet<'py> {
    /// The number of lookups so far.
    times: u32,
    /// The function, once the set is frequent enough.
    function: Option<Bound<'py, PyAny>>,
}

/// The number of lookups before a function is compiled. Compiling takes as long as some hundred
/// checks gain.
const COMPILE_THRESHOLD: u32 = 300;

/// The maximum number of sets. For a system with more of them, specializing does not pay.
const MAX_SETS: usize = 64;

impl<'py> SpecializedChecks<'py> {
    /// Creates an empty table for slots at these positions.
    pub(super) fn new(mut positions: Vec<usize>) -> SpecializedChecks<'py> {
        if positions.len() > call::MAX_SLOTS {
            positions.clear();
        }
        SpecializedChecks {
            positions,
            sets: FxHashMap::default(),
            latest: (0, None),
        }
    }

    /// Calls the function for the slots that are filled now, if there is one.
    #[inline]
    pub(super) fn check(
        &mut self,
        context: &HarnessContext<'py>,
        instances: &[PropertyInstance],
    ) -> Option<CallResult<'py>> {
        if self.positions.is_empty() {
            return None;
        }
        let filled = call::filled_mask(&context.slots, &self.positions)?;
        if self.latest.1.is_none() || self.latest.0 != filled {
            self.latest = (filled, self.look_up(context, instances, filled));
        }
        let function = self.latest.1.as_ref()?;
        call::call_with_slots(function, &context.slots, &self.positions)
    }

    /// Counts a set and returns its function, compiled when the set becomes frequent.
    #[cold]
    fn look_up(
        &mut self,
        context: &HarnessContext<'py>,
        instances: &[PropertyInstance],
        filled: u64,
    ) -> Option<Bound<'py, PyAny>> {
        if self.sets.len() >= MAX_SETS && !self.sets.contains_key(&filled) {
            return None;
        }
        let known = self.sets.entry(filled).or_default();
        known.times = known.times.saturating_add(1);
        if known.times == COMPILE_THRESHOLD {
            known.function = specialize(context, instances, &self.positions, filled);
        }
        known.function.clone()
    }
}

/// Compiles the function for a set of filled slots. `None` if that fails, which does no harm.
#[cold]
fn specialize<'py>(
    context: &HarnessContext<'py>,
    instances: &[PropertyInstance],
    positions: &[usize],
    filled: u64,
) -> Option<Bound<'py, PyAny>> {
    let is_filled = |position: &usize| {
        let number = positions.binary_search(position);
        number.is_ok_and(|number| filled & (1 << number) != 0)
    };
    let numbered = instances.iter().enumerate();
    let wanted: Vec<(usize, &PropertyInstance)> = numbered
        .filter(|(_, instance)| instance.code.filled.iter().all(is_filled))
        .collect();
    let statements = wanted
        .iter()
        .map(|(number, instance)| functions::instance(*number, &instance.code, true));
    let lines = wanted.iter().map(|(_, instance)| instance.line);
    let (function, _) = make_checks(context, statements, lines, Some(positions)).ok()?;
    Some(function)
}
