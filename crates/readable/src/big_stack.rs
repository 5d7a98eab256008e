//! A large stack for work that recurses deeply.
//!
//! Trees of statements are walked by recursion, and `elif` is an `if` inside an `else`. A table of
//! a thousand cases, which Python accepts, is a thousand levels deep. Test threads, and threads of
//! programs that use this library, have small stacks. Deep work therefore runs on a thread of its
//! own, with room for everything that the parser accepts.

use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// The stack size of the thread. Pages that are not touched cost nothing.
const STACK: usize = 1 << 30;

/// Runs `work` on a thread with a large stack and returns its result. If no thread can be started,
/// the work runs on the current one. A panic of the work is passed on.
pub(crate) fn with_big_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // The closure stays here until it runs, because a thread that cannot be started would drop it.
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
    use super::with_big_stack;

    fn depth(left: usize) -> usize {
        // So much that the compiler cannot keep it in registers.
        let here = std::hint::black_box([left; 64]);
        match left {
            0 => 0,
            _ => depth(left - 1) + usize::from(here[0] > 0),
        }
    }

    #[test]
    fn deep_work_has_room() {
        assert_eq!(with_big_stack(|| depth(100_000)), 100_000);
    }
}
