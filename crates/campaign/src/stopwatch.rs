//! Measurement of the time that a process could have used.
//!
//! On a busy machine a process may wait for a processor much longer than it runs. A step that gets
//! a tenth of a processor does not hang because it takes ten times as long. So the time a process
//! waits for a processor does not count against it, where the operating system reports it.

use std::time::{Duration, Instant};

/// A stopwatch that counts the time that a process has had since the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    /// The start by the clock.
    started: Instant,
    /// The process's total wait for a processor at the start.
    cpu_wait: Duration,
}

impl Stopwatch {
    /// At least one part in this many of the elapsed time counts. So every limit is reached
    /// eventually, however busy the machine is.
    const MIN_SHARE: u32 = 10;

    /// Starts now, for a process with this total wait for a processor so far.
    pub(crate) fn start(cpu_wait: Duration) -> Stopwatch {
        Stopwatch {
            started: Instant::now(),
            cpu_wait,
        }
    }

    /// Returns true if the process has had more time than the limit. `cpu_wait` returns its total
    /// wait for a processor and is called only if the answer depends on it.
    pub(crate) fn has_exceeded(
        &self,
        limit: Duration,
        cpu_wait: impl FnOnce() -> Duration,
    ) -> bool {
        let elapsed = self.started.elapsed();
        elapsed > limit && charged_time(elapsed, cpu_wait().saturating_sub(self.cpu_wait)) > limit
    }

    /// Returns the time that the process has had, given its total wait for a processor.
    pub(crate) fn charged(&self, cpu_wait: Duration) -> Duration {
        let cpu_wait = cpu_wait.saturating_sub(self.cpu_wait);
        self.started.elapsed().saturating_sub(cpu_wait)
    }

    /// Returns the rest of a limit, given the process's total wait for a processor.
    pub(crate) fn remaining(&self, limit: Duration, cpu_wait: Duration) -> Duration {
        let cpu_wait = cpu_wait.saturating_sub(self.cpu_wait);
        limit.saturating_sub(charged_time(self.started.elapsed(), cpu_wait))
    }
}

/// Returns the part of the elapsed time that counts: without the wait, but at least the minimum
/// share.
fn charged_time(elapsed: Duration, cpu_wait: Duration) -> Duration {
    let minimum = elapsed / Stopwatch::MIN_SHARE;
    elapsed.saturating_sub(cpu_wait).max(minimum)
}

/// Returns the total time that a process has waited for a processor, or zero if the operating
/// system does not report it.
pub(crate) fn cpu_wait(process: i32) -> Duration {
    // The file has three numbers for the first thread: time running, time ready but waiting, number
    // of time slices. Code under test runs in that thread, unless it starts others.
    read_cpu_wait(&format!("/proc/{process}/schedstat"))
}

/// Returns the total time that this thread has waited for a processor, or zero.
pub(crate) fn own_cpu_wait() -> Duration {
    read_cpu_wait("/proc/thread-self/schedstat")
}

/// Reads the time that a thread has waited for a processor from its statistics.
fn read_cpu_wait(file: &str) -> Duration {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let waited = text.split_whitespace().nth(1);
    let waited = waited.and_then(|nanoseconds| nanoseconds.parse().ok());
    Duration::from_nanos(waited.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_processor_does_not_count() {
        let second = Duration::from_secs(1);
        assert_eq!(charged_time(5 * second, Duration::ZERO), 5 * second);
        assert_eq!(charged_time(5 * second, 4 * second), second);
    }

    #[test]
    fn every_limit_is_reached_eventually() {
        let second = Duration::from_secs(1);
        assert_eq!(charged_time(50 * second, 60 * second), 5 * second);
        let before = Instant::now().checked_sub(50 * second).unwrap();
        let watch = Stopwatch {
            started: before,
            cpu_wait: 100 * second,
        };
        assert!(!watch.has_exceeded(6 * second, || 160 * second));
        assert!(watch.has_exceeded(4 * second, || 160 * second));
        assert!(watch.has_exceeded(40 * second, || 100 * second));
        assert_eq!(watch.remaining(second, 160 * second), Duration::ZERO);
        assert!(watch.remaining(60 * second, 160 * second) > 54 * second);
    }

    #[test]
    fn an_unknown_process_has_never_waited() {
        assert_eq!(cpu_wait(-1), Duration::ZERO);
    }
}
