//! Functions that check all properties for the slots that happen to be filled.

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::{Instance, make_checks};
use crate::call::{self, Attempt};
use crate::context::Context;
use crate::functions;

/// For each set of filled slots that came up often enough, a function that takes it for granted.
pub(super) struct ForFilled<'py> {
    /// Where the slots are that properties read; empty if there are too many.
    places: Vec<usize>,
    known: FxHashMap<u64, Known<'py>>,
    /// The set of the last check, and its function. Mostly it is that of this one.
    latest: (u64, Option<Bound<'py, PyAny>>),
}

/// What is known of a set of filled slots.
#[derive(Default)]
struct Known<'py> {
    times: u32,
    function: Option<Bound<'py, PyAny>>,
}

/// Compiling a function takes as long as some hundred checks gain by it.
const OFTEN: u32 = 300;

/// A system that goes on filling slots in new ways has other worries.
const MOST_FUNCTIONS: usize = 64;

impl<'py> ForFilled<'py> {
    pub(super) fn new(mut places: Vec<usize>) -> ForFilled<'py> {
        if places.len() > call::MOST_SLOTS {
            places.clear();
        }
        ForFilled {
            places,
            known: FxHashMap::default(),
            latest: (0, None),
        }
    }

    /// Calls the function for the slots that are filled now, if there is one.
    #[inline]
    pub(super) fn check(
        &mut self,
        context: &Context<'py>,
        instances: &[Instance],
    ) -> Option<Attempt<'py>> {
        if self.places.is_empty() {
            return None;
        }
        let filled = call::which_are_filled(&context.slots, &self.places)?;
        if self.latest.1.is_none() || self.latest.0 != filled {
            self.latest = (filled, self.look_up(context, instances, filled));
        }
        let function = self.latest.1.as_ref()?;
        call::call_with_slots(function, &context.slots, &self.places)
    }

    #[cold]
    fn look_up(
        &mut self,
        context: &Context<'py>,
        instances: &[Instance],
        filled: u64,
    ) -> Option<Bound<'py, PyAny>> {
        if self.known.len() >= MOST_FUNCTIONS && !self.known.contains_key(&filled) {
            return None;
        }
        let known = self.known.entry(filled).or_default();
        known.times = known.times.saturating_add(1);
        if known.times == OFTEN {
            known.function = make_for(context, instances, &self.places, filled);
        }
        known.function.clone()
    }
}

/// `None` if it cannot be made, which does no harm.
#[cold]
fn make_for<'py>(
    context: &Context<'py>,
    instances: &[Instance],
    places: &[usize],
    filled: u64,
) -> Option<Bound<'py, PyAny>> {
    let is_filled = |place: &usize| {
        let number = places.binary_search(place);
        number.is_ok_and(|number| filled & (1 << number) != 0)
    };
    let numbered = instances.iter().enumerate();
    let wanted: Vec<(usize, &Instance)> = numbered
        .filter(|(_, instance)| instance.code.filled.iter().all(is_filled))
        .collect();
    let statements = wanted
        .iter()
        .map(|(number, instance)| functions::instance(*number, &instance.code, true));
    let lines = wanted.iter().map(|(_, instance)| instance.line);
    let (function, _) = make_checks(context, statements, lines, Some(places)).ok()?;
    Some(function)
}
