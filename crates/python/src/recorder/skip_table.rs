//! Calls that are skipped and counted within a few instructions.
//!
//! Nearly all events of a program concern code outside the project, or units that were examined
//! often enough. The recorder marks such code as skipped, forever or for a number of calls. Events
//! are checked here first: the table has no lock and uses no Python objects. Skipped calls are
//! counted, so call counts stay exact.
//!
//! A code object is identified by its address; the recorder keeps skipped code objects alive. All
//! accesses happen with the interpreter's lock held, so reading and writing back is safe without
//! further synchronization.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The size of the table, a power of two.
const ENTRY_COUNT: usize = 1 << 15;
/// The maximum number of entries to probe for a code object.
const MAX_PROBES: usize = 8;
/// The number of remaining skips that stands for "forever, uncounted".
const ALWAYS: u32 = u32::MAX;
/// The start offset of code that is no generator or coroutine: its frames never resume.
#[cfg(not(Py_3_12))]
const ANY_START: u32 = u32::MAX;

/// An entry of the table: a code object, and the number of its calls to skip.
struct SkipEntry {
    /// The address of the code object.
    code: AtomicUsize,
    /// The entry is valid if this equals [`GENERATION`].
    generation: AtomicU32,
    /// The number of calls still to skip.
    remaining: AtomicU32,
    /// The number of calls to skip when the entry was set.
    allowed: AtomicU32,
    /// The instruction offset of frames that start, as opposed to frames that resume.
    #[cfg(not(Py_3_12))]
    start: AtomicU32,
}

/// The hash table, with linear probing.
static TABLE: [SkipEntry; ENTRY_COUNT] = [const {
    SkipEntry {
        code: AtomicUsize::new(0),
        generation: AtomicU32::new(0),
        remaining: AtomicU32::new(0),
        allowed: AtomicU32::new(0),
        #[cfg(not(Py_3_12))]
        start: AtomicU32::new(ANY_START),
    }
}; ENTRY_COUNT];

/// The current generation. Incrementing it invalidates all entries: a forked child must not inherit
/// counts from its parent, nor a capture from the one before.
static GENERATION: AtomicU32 = AtomicU32::new(1);

/// Returns the entries that may hold a code object.
fn probe_sequence(code: usize) -> impl Iterator<Item = &'static SkipEntry> {
    // Objects are aligned to 16 bytes.
    let first = (code >> 4) ^ (code >> 19);
    (0..MAX_PROBES).map(move |step| &TABLE[(first + step) & (ENTRY_COUNT - 1)])
}

/// Returns the valid entry of a code object.
#[inline]
fn find(code: usize) -> Option<&'static SkipEntry> {
    let generation = GENERATION.load(Ordering::Relaxed);
    probe_sequence(code).find(|entry| {
        entry.code.load(Ordering::Relaxed) == code
            && entry.generation.load(Ordering::Relaxed) == generation
    })
}

/// Returns the entry of a code object, claiming a free one if needed. `None` if all candidates are
/// taken.
fn find_or_insert(code: usize) -> Option<&'static SkipEntry> {
    if let Some(entry) = find(code) {
        return Some(entry);
    }
    let generation = GENERATION.load(Ordering::Relaxed);
    let entry = probe_sequence(code)
        .find(|entry| entry.generation.load(Ordering::Relaxed) != generation)?;
    entry.code.store(code, Ordering::Relaxed);
    entry.generation.store(generation, Ordering::Relaxed);
    entry.remaining.store(0, Ordering::Relaxed);
    entry.allowed.store(0, Ordering::Relaxed);
    #[cfg(not(Py_3_12))]
    entry.start.store(ANY_START, Ordering::Relaxed);
    Some(entry)
}

/// Returns true if a call that starts is to be skipped, and counts it.
#[cfg(Py_3_12)]
#[inline]
pub(super) fn should_skip(code: usize) -> bool {
    let is_skipped = find(code).is_some_and(|entry| entry.use_skip(true));
    if is_skipped {
        super::calls::count_unrecorded(code);
    }
    is_skipped
}

/// Returns true if a frame that starts or resumes is to be skipped. `begins` decides from the start
/// offset whether the frame starts; only starts are counted.
#[cfg(not(Py_3_12))]
#[inline]
pub(super) fn should_skip(code: usize, begins: impl FnOnce(u32) -> bool) -> bool {
    let Some(entry) = find(code) else {
        return false;
    };
    let start = entry.start.load(Ordering::Relaxed);
    let remaining = entry.remaining.load(Ordering::Relaxed);
    entry.use_skip(remaining == ALWAYS || start == ANY_START || begins(start))
}

impl SkipEntry {
    /// Uses up one skip if there is any left.
    #[inline]
    fn use_skip(&self, is_counted: bool) -> bool {
        match self.remaining.load(Ordering::Relaxed) {
            0 => return false,
            ALWAYS => {}
            remaining if is_counted => self.remaining.store(remaining - 1, Ordering::Relaxed),
            _ => {}
        }
        true
    }
}

/// Skips all calls of a code object from now on, without counting them.
pub(super) fn skip_always(code: usize) {
    if let Some(entry) = find_or_insert(code) {
        entry.remaining.store(ALWAYS, Ordering::Relaxed);
    }
}

/// Skips the next calls of a code object.
pub(super) fn skip_next(code: usize, calls: u32) {
    if let Some(entry) = find_or_insert(code) {
        entry.remaining.store(calls, Ordering::Relaxed);
        entry.allowed.store(calls, Ordering::Relaxed);
    }
}

/// Returns the number of calls skipped since [`skip_next`].
pub(super) fn skipped_count(code: usize) -> u64 {
    find(code).map_or(0, |entry| {
        let allowed = entry.allowed.load(Ordering::Relaxed);
        u64::from(allowed - entry.remaining.load(Ordering::Relaxed).min(allowed))
    })
}

/// Sets the start offset of the frames of a generator or coroutine.
#[cfg(not(Py_3_12))]
pub(super) fn set_start(code: usize, offset: u32) {
    if let Some(entry) = find_or_insert(code) {
        entry.start.store(offset, Ordering::Relaxed);
    }
}

/// Returns the start offset of the frames of a generator or coroutine, if known.
#[cfg(not(Py_3_12))]
pub(super) fn start_offset(code: usize) -> Option<u32> {
    let start = find(code)?.start.load(Ordering::Relaxed);
    (start != ANY_START).then_some(start)
}

/// Forgets all skips and counts.
pub(super) fn clear() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Clears the table in forked children.
pub(super) fn clear_after_fork() {
    extern "C" fn in_child() {
        clear();
    }
    static ONCE: Once = Once::new();
    // SAFETY: the function has the right type, and only increments a number.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(Py_3_12)]
    fn skips_now(code: usize) -> bool {
        should_skip(code)
    }

    #[cfg(not(Py_3_12))]
    fn skips_now(code: usize) -> bool {
        should_skip(code, |_| true)
    }

    #[test]
    fn allowed_skips_pass_and_are_counted() {
        let code = 0x7000_0000;
        assert!(!skips_now(code));
        skip_next(code, 2);
        assert!(skips_now(code));
        assert_eq!(skipped_count(code), 1);
        assert!(skips_now(code) && !skips_now(code));
        assert_eq!(skipped_count(code), 2);
        // Another object with the same first entry.
        let other = code + (ENTRY_COUNT << 4);
        assert!(!skips_now(other));
        skip_always(other);
        assert!(skips_now(other) && skips_now(other) && !skips_now(code));
        assert_eq!(skipped_count(other), 0);
        clear();
        assert!(!skips_now(other));
        assert_eq!(skipped_count(code), 0);
    }

    #[test]
    fn code_without_a_place_never_passes() {
        let first = 0x6000_0000;
        let alike = (0..=MAX_PROBES).map(|number| first + number * (ENTRY_COUNT << 4));
        for code in alike.clone() {
            // The higher bits take part in the hash, so not all of these meet at one entry. None
            // may be lost or confused.
            skip_next(code, 5);
        }
        for code in alike {
            let before = skipped_count(code);
            if skips_now(code) {
                assert_eq!(skipped_count(code), before + 1);
            }
        }
    }
}
