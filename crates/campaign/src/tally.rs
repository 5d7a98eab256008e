//! How far a process has come, in numbers that outlive it.

use std::io;
use std::sync::atomic::Ordering;

use crate::shared::Words;

/// Three numbers that one process writes and its parent reads. Writing them is writing to memory, so that it can be done
/// all the time.
#[derive(Debug)]
pub struct Tally(Words);

/// How often something was written.
const BEATS: u64 = 0;
/// Where the numbers begin.
const NUMBERS: u64 = 1;

impl Tally {
    /// Nothing counted yet. Copies of this process share it.
    pub fn new() -> io::Result<Tally> {
        let (words, _file) = Words::in_memory(4)?;
        Ok(Tally(words))
    }

    /// It has come so far.
    pub fn count(&self, numbers: [usize; 3]) {
        for (place, number) in (NUMBERS..).zip(numbers) {
            self.0.ring(place).store(number as u64, Ordering::Relaxed);
        }
        self.0.ring(BEATS).fetch_add(1, Ordering::Release);
    }

    /// It is at something else now, of which nothing is counted.
    pub fn clear(&self) {
        self.0.ring(BEATS).store(0, Ordering::Release);
    }

    /// Changes whenever something is counted; nothing if nothing is.
    pub fn beats(&self) -> Option<u64> {
        Some(self.0.ring(BEATS).load(Ordering::Acquire)).filter(|beats| *beats > 0)
    }

    /// The numbers that were counted last.
    pub fn numbers(&self) -> Option<[u64; 3]> {
        self.beats()?;
        Some([0, 1, 2].map(|place| self.0.ring(NUMBERS + place).load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_numbers_count() {
        let tally = Tally::new().unwrap();
        assert_eq!((tally.beats(), tally.numbers()), (None, None));
        tally.count([1, 2, 3]);
        tally.count([4, 5, 6]);
        assert_eq!((tally.beats(), tally.numbers()), (Some(2), Some([4, 5, 6])));
        tally.clear();
        assert_eq!((tally.beats(), tally.numbers()), (None, None));
    }
}
