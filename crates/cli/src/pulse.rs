//! Looking at the clock often enough, but not at every step of a system that makes a million a second.

use std::time::{Duration, Instant};

/// Decides at which calls it is worth looking at the clock.
pub(crate) struct Pulse {
    /// After how many calls to look next.
    stride: u32,
    calls: u32,
    looked: Instant,
}

impl Pulse {
    const OFTEN: Duration = Duration::from_millis(1);
    const LONGEST_STRIDE: u32 = 1024;

    pub(crate) fn new() -> Pulse {
        Pulse {
            stride: 1,
            calls: 0,
            looked: Instant::now(),
        }
    }

    /// The time, about once a millisecond; `None` when it is too early to look. Slow calls are all looked at.
    pub(crate) fn beat(&mut self) -> Option<Instant> {
        self.calls += 1;
        if self.calls < self.stride {
            return None;
        }
        let now = Instant::now();
        self.stride = if now - self.looked < Pulse::OFTEN {
            (self.stride * 2).min(Pulse::LONGEST_STRIDE)
        } else {
            (self.stride / 8).max(1)
        };
        self.calls = 0;
        self.looked = now;
        Some(now)
    }
}
