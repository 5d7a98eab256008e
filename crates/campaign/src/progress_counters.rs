//! Progress of a process in numbers that outlive it.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::shared_words::SharedWords;

/// Three counters in shared memory that one process writes and its parent reads. Writing is so
/// cheap that it can be done at every step.
#[derive(Debug)]
pub struct ProgressCounters(SharedWords);

/// Index of the number of updates; 0 means that nothing is counted.
const HEARTBEAT: u64 = 0;
/// Index of the first counter.
const FIRST_COUNT: u64 = 1;
/// Index of the checksum of the counters: code under test may overwrite them.
const CHECKSUM: u64 = 4;

impl ProgressCounters {
    /// Creates counters that count nothing yet. Forks of this process share them.
    pub fn new() -> io::Result<ProgressCounters> {
        let (words, _file) = SharedWords::in_memory(8)?;
        Ok(ProgressCounters(words))
    }

    /// Sets all three counters.
    pub fn set(&self, numbers: [usize; 3]) {
        for (index, number) in (FIRST_COUNT..).zip(numbers) {
            self.0.ring(index).store(number as u64, Ordering::Relaxed);
        }
        let checksum = checksum(numbers.map(|number| number as u64));
        self.0.ring(CHECKSUM).store(checksum, Ordering::Relaxed);
        self.0.ring(HEARTBEAT).fetch_add(1, Ordering::Release);
    }

    /// Returns the number of updates as a counter that other code can increment in their place.
    pub fn shared_heartbeat(&'static self) -> &'static AtomicU64 {
        self.0.ring(HEARTBEAT)
    }

    /// Clears the counters: the process now does something that is not counted.
    pub fn clear(&self) {
        self.0.ring(HEARTBEAT).store(0, Ordering::Release);
    }

    /// Returns a number that changes with every update, or `None` if nothing is counted.
    pub fn heartbeat(&self) -> Option<u64> {
        Some(self.0.ring(HEARTBEAT).load(Ordering::Acquire)).filter(|heartbeat| *heartbeat > 0)
    }

    /// Returns the counters as last set, or `None` if nothing is counted or if they were overwritten.
    pub fn counts(&self) -> Option<[u64; 3]> {
        self.heartbeat()?;
        let read = |index| self.0.ring(index).load(Ordering::Relaxed);
        let numbers = [0, 1, 2].map(|index| read(FIRST_COUNT + index));
        Some(numbers).filter(|numbers| read(CHECKSUM) == checksum(*numbers))
    }
}

/// Returns a number that other counters hardly have, too.
fn checksum(numbers: [u64; 3]) -> u64 {
    numbers.iter().fold(1, |sum, number| {
        (sum ^ number)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(23)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_numbers_count() {
        let tally = ProgressCounters::new().unwrap();
        assert_eq!((tally.heartbeat(), tally.counts()), (None, None));
        tally.set([1, 2, 3]);
        tally.set([4, 5, 6]);
        assert_eq!(
            (tally.heartbeat(), tally.counts()),
            (Some(2), Some([4, 5, 6]))
        );
        tally.clear();
        assert_eq!((tally.heartbeat(), tally.counts()), (None, None));
    }
}
