//! The bounds of a reduction: its deadline, and its cancellation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The reason why a reduction was not begun, or not finished.
pub(crate) const TIME_IS_UP: &str = "the time is up (`--time` allows more)";

/// The bounds of a reduction; none by default.
#[derive(Clone, Default)]
pub(super) struct ReductionBounds<'a> {
    /// The time at which it ends, once that is known.
    pub(super) deadline: Option<&'a OnceLock<Instant>>,
    /// The time by which it may be exceeded.
    pub(super) grace: Duration,
    /// Set when its result is not needed any more.
    pub(super) is_cancelled: Arc<AtomicBool>,
}

impl ReductionBounds<'_> {
    /// The time that the check of a result may take beyond the end.
    pub(super) const CHECK: Duration = Duration::from_secs(1);

    /// Returns bounds that end later.
    pub(super) fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Returns true if the reduction has to end.
    pub(super) fn is_over(&self) -> bool {
        let deadline = self.deadline.and_then(OnceLock::get);
        deadline.is_some_and(|deadline| Instant::now() >= *deadline + self.grace)
            || self.is_cancelled.load(Ordering::Relaxed)
    }
}
