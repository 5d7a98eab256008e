//! Whether a test that is longer than usual gets ever slower.

use std::time::{Duration, Instant};

use testwright_core::generate::Progress;

/// How fast a test goes.
///
/// Some strategies make tests that are longer than what was asked for. Where each step that doubles something makes all
/// others take twice as long, such a test would never come to its end, and eat all memory before. So the steps beyond
/// the usual length must not be much slower than those before. A system that is fast enough is never timed out, so that
/// the same seed makes the same tests; nor is one that has to wait for the processor, since that time does not count.
pub(crate) struct Pace {
    began: Moment,
    /// How many steps the search had taken before this test.
    steps: u64,
    /// When the usual number of steps had been taken.
    usual: Option<Moment>,
}

/// A time by the clock on the wall, and by the work of this process.
#[derive(Clone, Copy)]
struct Moment {
    wall: Instant,
    work: Duration,
}

impl Moment {
    fn now() -> Moment {
        Moment {
            wall: Instant::now(),
            work: work(),
        }
    }
}

/// How long this process has been at work.
fn work() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// How many times slower the further steps may be on average.
const SLOWER: u32 = 4;

/// Below that nobody minds.
const SHORT: Duration = Duration::from_millis(50);

/// After how many steps to look at the clock again.
const STRIDE: u64 = 4;

impl Pace {
    /// A test begins.
    pub(crate) fn begin(progress: &Progress) -> Pace {
        Pace {
            began: Moment::now(),
            steps: progress.steps,
            usual: None,
        }
    }

    /// Whether the test is longer than usual, and has become too slow.
    pub(crate) fn is_too_slow(&mut self, progress: &Progress, length: u64) -> bool {
        let taken = progress.steps - self.steps;
        if taken < length || !(taken - length).is_multiple_of(STRIDE) {
            return false;
        }
        let usual = *self.usual.get_or_insert_with(Moment::now);
        let further = (taken - length) as f64 / length as f64 * f64::from(SLOWER);
        let is_too_long = |usual: Duration, since: Duration| since > SHORT + usual.mul_f64(further);
        // The clock on the wall is the one that is read fast.
        is_too_long(
            usual.wall.saturating_duration_since(self.began.wall),
            usual.wall.elapsed(),
        ) && is_too_long(
            usual.work.saturating_sub(self.began.work),
            work().saturating_sub(usual.work),
        )
    }
}
