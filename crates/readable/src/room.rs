//! Room on the stack for what is nested deeply.
//!
//! Trees of statements are walked by recursion, and `elif` is an `if` inside of an `else`: a table of a thousand cases that
//! Python takes for granted is a thousand levels deep. Threads of tests, and those of other programs that use this
//! library, have little room, so the deep work is done on a thread that has enough for all that the parser accepts.

use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// What a thread may use; pages that are not touched cost nothing.
const STACK: usize = 1 << 30;

/// Does some work with much room on the stack.
pub(crate) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // A thread that cannot be started must not take the work with it.
    let work = Mutex::new(Some(work));
    let take = || {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.map(|work| work())
    };
    let done = std::thread::scope(|scope| {
        match Builder::new().stack_size(STACK).spawn_scoped(scope, take) {
            Ok(thread) => match thread.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(_) => take(),
        }
    });
    match done {
        Some(done) => done,
        None => unreachable!("the work is taken once"),
    }
}

#[cfg(test)]
mod tests {
    use super::with_room;

    fn depth(left: usize) -> usize {
        // So much that nobody keeps it in registers.
        let here = std::hint::black_box([left; 64]);
        match left {
            0 => 0,
            _ => depth(left - 1) + usize::from(here[0] > 0),
        }
    }

    #[test]
    fn deep_work_has_room() {
        assert_eq!(with_room(|| depth(100_000)), 100_000);
    }
}
