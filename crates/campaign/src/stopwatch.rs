//! How much time a process had.
//!
//! On a busy machine a process may wait for a processor much longer than it runs. A step that is given a tenth of a
//! processor does not hang because it takes ten times as long. So what others took from a process does not count
//! against it, where the system tells how much that was.

use std::time::{Duration, Instant};

/// Measures the time that a process has had since this was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    since: Instant,
    /// How long it had waited for a processor then, in all its life.
    starved: Duration,
}

impl Stopwatch {
    /// What is counted of the time of a clock, at least: however busy the machine is, patience comes to an end.
    const LEAST_PART: u32 = 10;

    /// Begins now, for a process that has waited for a processor for so long.
    pub(crate) fn start(starved: Duration) -> Stopwatch {
        Stopwatch {
            since: Instant::now(),
            starved,
        }
    }

    /// Whether the process has had more than that, if it waited for a processor for so long in all its life. That is
    /// only asked for if it matters.
    pub(crate) fn is_past(&self, limit: Duration, starved: impl FnOnce() -> Duration) -> bool {
        let elapsed = self.since.elapsed();
        elapsed > limit && fair_part(elapsed, starved().saturating_sub(self.starved)) > limit
    }

    /// What is left of a limit, if the process has waited for a processor for so long in all its life.
    pub(crate) fn left_of(&self, limit: Duration, starved: Duration) -> Duration {
        let starved = starved.saturating_sub(self.starved);
        limit.saturating_sub(fair_part(self.since.elapsed(), starved))
    }
}

fn fair_part(elapsed: Duration, starved: Duration) -> Duration {
    let least = elapsed / Stopwatch::LEAST_PART;
    elapsed.saturating_sub(starved).max(least)
}

/// How long a process has waited for a processor in all its life, as far as the system tells.
pub(crate) fn starved(process: i32) -> Duration {
    // The time that its first thread ran, the time that it was ready and could not, how often it ran. Code under test
    // runs in that thread, but for what it starts.
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap_or_default();
    let waited = text.split_whitespace().nth(1);
    let waited = waited.and_then(|nanoseconds| nanoseconds.parse().ok());
    Duration::from_nanos(waited.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_took_does_not_count() {
        let second = Duration::from_secs(1);
        assert_eq!(fair_part(5 * second, Duration::ZERO), 5 * second);
        assert_eq!(fair_part(5 * second, 4 * second), second);
    }

    #[test]
    fn patience_comes_to_an_end() {
        let second = Duration::from_secs(1);
        assert_eq!(fair_part(50 * second, 60 * second), 5 * second);
        let before = Instant::now().checked_sub(50 * second).unwrap();
        let watch = Stopwatch {
            since: before,
            starved: 100 * second,
        };
        assert!(!watch.is_past(6 * second, || 160 * second));
        assert!(watch.is_past(4 * second, || 160 * second));
        assert!(watch.is_past(40 * second, || 100 * second));
        assert_eq!(watch.left_of(second, 160 * second), Duration::ZERO);
        assert!(watch.left_of(60 * second, 160 * second) > 54 * second);
    }

    #[test]
    fn who_does_not_tell_has_never_waited() {
        assert_eq!(starved(-1), Duration::ZERO);
    }
}
