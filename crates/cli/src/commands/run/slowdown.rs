//! Protection against long tests that get slower with every step.

use std::time::{Duration, Instant};

use testwright_core::generate::SearchProgress;

/// Speed of the current test, compared before and after the usual length.
///
/// Some strategies make tests that are longer than the requested length. If steps get slower and
/// slower, for example because each one doubles a data structure, such a test would never end and
/// use up all memory. So the steps beyond the usual length must not be much slower than those
/// before.
///
/// A fast system is never cut off, so the same seed makes the same tests. Neither is one that waits
/// for the processor, since only time on the processor counts.
pub(crate) struct SlowdownGuard {
    started: ClockReading,
    /// Number of steps of the search before this test.
    steps: u64,
    /// Time at which the usual length was reached.
    at_length: Option<ClockReading>,
}

/// A point in time: on the wall clock, and in processor time of this process.
#[derive(Clone, Copy)]
struct ClockReading {
    wall: Instant,
    cpu: Duration,
}

impl ClockReading {
    /// Reads both clocks.
    fn now() -> ClockReading {
        ClockReading {
            wall: Instant::now(),
            cpu: cpu_time(),
        }
    }
}

/// Returns the processor time of this process.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Factor by which further steps may be slower on average.
const MAX_SLOWDOWN: u32 = 4;

/// Time that further steps may always take.
const TOLERANCE: Duration = Duration::from_millis(50);

/// Number of steps between two checks of the clock.
const CHECK_INTERVAL: u64 = 4;

impl SlowdownGuard {
    /// Starts to watch a test.
    pub(crate) fn start(progress: &SearchProgress) -> SlowdownGuard {
        SlowdownGuard {
            started: ClockReading::now(),
            steps: progress.steps,
            at_length: None,
        }
    }

    /// Returns true if the test is longer than usual and has become too slow.
    pub(crate) fn is_too_slow(&mut self, progress: &SearchProgress, length: u64) -> bool {
        let taken = progress.steps - self.steps;
        if taken < length || !(taken - length).is_multiple_of(CHECK_INTERVAL) {
            return false;
        }
        let at_length = *self.at_length.get_or_insert_with(ClockReading::now);
        let further = (taken - length) as f64 / length as f64 * f64::from(MAX_SLOWDOWN);
        let is_too_long =
            |at_length: Duration, since: Duration| since > TOLERANCE + at_length.mul_f64(further);
        // The wall clock is checked first, because reading it is faster.
        is_too_long(
            at_length.wall.saturating_duration_since(self.started.wall),
            at_length.wall.elapsed(),
        ) && is_too_long(
            at_length.cpu.saturating_sub(self.started.cpu),
            cpu_time().saturating_sub(at_length.cpu),
        )
    }
}
