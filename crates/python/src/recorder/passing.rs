//! Calls that pass without a look, counted in a few instructions.
//!
//! Nearly all events of a program are about code that is not the project's, or about units of which enough is known
//! for now. The recorder lets such code pass, for ever or for a number of calls, and asks here first: the table has no
//! lock and needs no object of Python. What it lets pass it counts, so that the numbers of calls stay exact.
//!
//! A code object is known by its address; the recorder keeps those alive that it lets pass. All of this happens with
//! the interpreter's lock held, so values are read and written back without being changed in between.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

const PLACES: usize = 1 << 15;
/// How many places a code object may be at, so that two of them can have the same first one.
const TRIES: usize = 8;
/// So many calls may pass that nobody counts them.
const FOR_EVER: u32 = u32::MAX;
/// The instruction at which a function that is no generator begins: its frames never go on.
#[cfg(not(Py_3_12))]
const ANYWHERE: u32 = u32::MAX;

struct Place {
    code: AtomicUsize,
    /// Valid if this is the present one.
    season: AtomicU32,
    /// How many calls may still pass, and how many might in the beginning.
    left: AtomicU32,
    allowed: AtomicU32,
    /// The instruction at which frames of it stand when they begin.
    #[cfg(not(Py_3_12))]
    start: AtomicU32,
}

static TABLE: [Place; PLACES] = [const {
    Place {
        code: AtomicUsize::new(0),
        season: AtomicU32::new(0),
        left: AtomicU32::new(0),
        allowed: AtomicU32::new(0),
        #[cfg(not(Py_3_12))]
        start: AtomicU32::new(ANYWHERE),
    }
}; PLACES];

/// Everything that was allowed in another season is void: a copy of the process has nothing of what its parent
/// counted, and the next capture nothing of the last one.
static SEASON: AtomicU32 = AtomicU32::new(1);

fn places(code: usize) -> impl Iterator<Item = &'static Place> {
    // Objects are at multiples of sixteen.
    let first = (code >> 4) ^ (code >> 19);
    (0..TRIES).map(move |step| &TABLE[(first + step) & (PLACES - 1)])
}

#[inline]
fn find(code: usize) -> Option<&'static Place> {
    let season = SEASON.load(Ordering::Relaxed);
    places(code).find(|place| {
        place.code.load(Ordering::Relaxed) == code && place.season.load(Ordering::Relaxed) == season
    })
}

fn claim(code: usize) -> Option<&'static Place> {
    if let Some(place) = find(code) {
        return Some(place);
    }
    let season = SEASON.load(Ordering::Relaxed);
    let place = places(code).find(|place| place.season.load(Ordering::Relaxed) != season)?;
    place.code.store(code, Ordering::Relaxed);
    place.season.store(season, Ordering::Relaxed);
    place.left.store(0, Ordering::Relaxed);
    place.allowed.store(0, Ordering::Relaxed);
    #[cfg(not(Py_3_12))]
    place.start.store(ANYWHERE, Ordering::Relaxed);
    Some(place)
}

/// A call of a code object begins: whether it passes. It is counted if it does.
#[cfg(Py_3_12)]
#[inline]
pub(super) fn passes(code: usize) -> bool {
    let passes = find(code).is_some_and(|place| place.lets_pass(true));
    if passes {
        super::calls::begins_above(code);
    }
    passes
}

/// A frame of a code object begins or goes on, which `begins` tells from the instruction where frames begin: whether it
/// passes. Only beginnings are counted.
#[cfg(not(Py_3_12))]
#[inline]
pub(super) fn passes(code: usize, begins: impl FnOnce(u32) -> bool) -> bool {
    let Some(place) = find(code) else {
        return false;
    };
    let start = place.start.load(Ordering::Relaxed);
    let left = place.left.load(Ordering::Relaxed);
    place.lets_pass(left == FOR_EVER || start == ANYWHERE || begins(start))
}

impl Place {
    #[inline]
    fn lets_pass(&self, is_counted: bool) -> bool {
        match self.left.load(Ordering::Relaxed) {
            0 => return false,
            FOR_EVER => {}
            left if is_counted => self.left.store(left - 1, Ordering::Relaxed),
            _ => {}
        }
        true
    }
}

/// From now on calls of this code object pass without being counted.
pub(super) fn allow_for_ever(code: usize) {
    if let Some(place) = claim(code) {
        place.left.store(FOR_EVER, Ordering::Relaxed);
    }
}

/// The next calls of this code object pass.
pub(super) fn allow(code: usize, calls: u32) {
    if let Some(place) = claim(code) {
        place.left.store(calls, Ordering::Relaxed);
        place.allowed.store(calls, Ordering::Relaxed);
    }
}

/// How many calls have passed since they were allowed to.
pub(super) fn passed(code: usize) -> u64 {
    find(code).map_or(0, |place| {
        let allowed = place.allowed.load(Ordering::Relaxed);
        u64::from(allowed - place.left.load(Ordering::Relaxed).min(allowed))
    })
}

/// The frames of a generator or coroutine begin at this instruction.
#[cfg(not(Py_3_12))]
pub(super) fn note_start(code: usize, offset: u32) {
    if let Some(place) = claim(code) {
        place.start.store(offset, Ordering::Relaxed);
    }
}

/// Where the frames of a generator or coroutine begin, if that is known.
#[cfg(not(Py_3_12))]
pub(super) fn start(code: usize) -> Option<u32> {
    let start = find(code)?.start.load(Ordering::Relaxed);
    (start != ANYWHERE).then_some(start)
}

/// Nothing passes any more until it is allowed again.
pub(super) fn forget() {
    SEASON.fetch_add(1, Ordering::Relaxed);
}

/// Has copies of this process forget what was allowed.
pub(super) fn forget_in_copies() {
    extern "C" fn in_copy() {
        forget();
    }
    static ONCE: Once = Once::new();
    // SAFETY: the function is of the right kind, and does nothing but add to a number.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_copy));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(Py_3_12)]
    fn passes_now(code: usize) -> bool {
        passes(code)
    }

    #[cfg(not(Py_3_12))]
    fn passes_now(code: usize) -> bool {
        passes(code, |_| true)
    }

    #[test]
    fn what_is_allowed_passes_and_is_counted() {
        let code = 0x7000_0000;
        assert!(!passes_now(code));
        allow(code, 2);
        assert!(passes_now(code));
        assert_eq!(passed(code), 1);
        assert!(passes_now(code) && !passes_now(code));
        assert_eq!(passed(code), 2);
        // Another object whose first place is the same.
        let other = code + (PLACES << 4);
        assert!(!passes_now(other));
        allow_for_ever(other);
        assert!(passes_now(other) && passes_now(other) && !passes_now(code));
        assert_eq!(passed(other), 0);
        forget();
        assert!(!passes_now(other));
        assert_eq!(passed(code), 0);
    }

    #[test]
    fn code_without_a_place_never_passes() {
        let first = 0x6000_0000;
        let alike = (0..=TRIES).map(|number| first + number * (PLACES << 4));
        for code in alike.clone() {
            // The higher bits take part, so not all of them meet at one place; none may be lost or mixed up.
            allow(code, 5);
        }
        for code in alike {
            let before = passed(code);
            if passes_now(code) {
                assert_eq!(passed(code), before + 1);
            }
        }
    }
}
