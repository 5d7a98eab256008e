//! A throttle for reading the clock: often enough, but not at every step of a system that makes a
//! million a second.

use std::time::{Duration, Instant};

/// Decides at which calls the clock is read.
pub(crate) struct Throttle {
    /// The number of calls until the next reading.
    stride: u32,
    /// The number of calls since the last reading.
    calls: u32,
    /// The time of the last reading.
    last_read: Instant,
}

impl Throttle {
    /// The time between two readings to aim for.
    const INTERVAL: Duration = Duration::from_millis(1);
    /// The maximum number of calls without a reading.
    const MAX_STRIDE: u32 = 1024;

    /// Creates a throttle that reads the clock at the first call.
    pub(crate) fn new() -> Throttle {
        Throttle {
            stride: 1,
            calls: 0,
            last_read: Instant::now(),
        }
    }

    /// Returns the time about once a millisecond, and `None` otherwise. Slow calls all get the
    /// time.
    pub(crate) fn poll(&mut self) -> Option<Instant> {
        self.calls += 1;
        if self.calls < self.stride {
            return None;
        }
        let now = Instant::now();
        self.stride = if now - self.last_read < Throttle::INTERVAL {
            (self.stride * 2).min(Throttle::MAX_STRIDE)
        } else {
            (self.stride / 8).max(1)
        };
        self.calls = 0;
        self.last_read = now;
        Some(now)
    }
}
