//! Whether a test that is longer than usual gets ever slower.

use std::time::{Duration, Instant};

use testwright_core::generate::Progress;

/// How fast a test goes.
///
/// Some strategies make tests that are longer than what was asked for. Where each step that doubles something makes all
/// others take twice as long, such a test would never come to its end, and eat all memory before. So the steps beyond
/// the usual length must not be much slower than those before. A system that is fast enough is never timed out, so that
/// the same seed makes the same tests.
pub(crate) struct Pace {
    began: Instant,
    /// How many steps the search had taken before this test.
    steps: u64,
    /// How long the usual number of steps took.
    usual: Option<Duration>,
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
            began: Instant::now(),
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
        let elapsed = self.began.elapsed();
        let usual = *self.usual.get_or_insert(elapsed);
        let further = (taken - length) as f64 / length as f64;
        elapsed > SHORT + usual + usual.mul_f64(further) * SLOWER
    }
}
