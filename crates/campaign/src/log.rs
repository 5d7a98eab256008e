//! What a worker does, written down before it does it, where it outlives the worker.
//!
//! A log is a file that worker and supervisor have both mapped into their memory. Writing to it is writing to memory:
//! there is no call of the system that the code under test could disturb or that would take time. When the worker is
//! gone, by whatever signal, the supervisor reads which test it was at, and how far.
//!
//! The log is a ring. It holds the steps of the current test and, as far as there is room, of all tests before it since
//! the worker was started: where a reset does not undo everything, a test may fail only because of those.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;

use testwright_core::{ActionId, Step, Test};

use crate::shared::Words;

/// A name and a version, so that another file is not taken for a log.
const MAGIC: u64 = u64::from_le_bytes(*b"twlog\0\0\x02");

// The words of the header.
const IS_LOG: usize = 0;
const STEPS: usize = 1;
const TEST_BEGAN: usize = 2;
const TESTS: usize = 3;
/// What the worker is at, in the lowest bits, and above them how often it has turned to something else: one word, since
/// it is written three times for each step.
const TURN: usize = 4;
const RESETS: usize = 5;
const STOP: usize = 6;

/// What is added to a turn for the next one.
const NEXT_TURN: u64 = 8;

/// A restart among the steps. No action has this number.
const RESTART: u64 = u64::MAX;

/// What a worker is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    /// Its own work, which runs no code under test.
    OwnWork,
    /// Resetting the system.
    Resetting,
    /// Asking what is enabled, which calls guards.
    Choosing,
    /// The last step that is written down.
    Stepping,
    /// Checking invariants after that step.
    Checking,
}

/// What a log has of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Which test of the worker it is, counted from 0.
    pub number: u64,
    /// Its steps, with the one that the worker was at.
    pub test: Test,
    /// The test was longer than the log, so its beginning is missing.
    pub is_cut: bool,
}

/// A log, as the worker writes and the supervisor reads it.
#[derive(Debug)]
pub struct Log {
    words: Words,
    /// How many steps and resets the worker has written. Like the turn it is kept here, too, by who writes: that is
    /// faster than reading what was just written to memory.
    written: Cell<u64>,
    /// The last turn, without what the worker is at.
    turn: Cell<u64>,
}

impl Log {
    /// An empty log in a file, which must be open for reading and writing. It holds at least this many steps.
    pub fn create(file: &File, capacity: usize) -> io::Result<Log> {
        file.set_len(0)?;
        file.set_len(Words::bytes(capacity))?;
        let words = Words::of(file)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Log::empty(words))
    }

    fn empty(words: Words) -> Log {
        words.header::<IS_LOG>().store(MAGIC, Ordering::Release);
        Log::at_its_beginning(words)
    }

    /// An empty log in memory that has no name.
    pub fn in_memory(capacity: usize) -> io::Result<(Log, File)> {
        let (words, file) = Words::in_memory(capacity)?;
        Ok((Log::empty(words), file))
    }

    /// The log in a file that somebody else has created. Only one may write to it, from its beginning.
    pub fn open(file: &File) -> io::Result<Log> {
        let words = Words::of(file)?;
        words
            .filter(|words| words.header::<IS_LOG>().load(Ordering::Acquire) == MAGIC)
            .map(Log::at_its_beginning)
            .ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the file is not a log of a worker",
                )
            })
    }

    fn at_its_beginning(words: Words) -> Log {
        Log {
            words,
            written: Cell::new(0),
            turn: Cell::new(0),
        }
    }

    /// A step is about to be taken.
    #[inline]
    pub fn step(&self, action: ActionId) {
        self.push(action.0);
        self.does(Doing::Stepping);
    }

    /// The system is about to be reset.
    pub fn reset(&self) {
        self.push(RESTART);
        let resets = self.words.header::<RESETS>();
        let before = resets.load(Ordering::Relaxed);
        resets.store(before.wrapping_add(1), Ordering::Release);
        self.does(Doing::Resetting);
    }

    /// The worker turns to something else.
    #[inline]
    pub fn does(&self, doing: Doing) {
        let turn = self.turn.get().wrapping_add(NEXT_TURN);
        self.turn.set(turn);
        let word = turn | doing as u64;
        self.words.header::<TURN>().store(word, Ordering::Release);
    }

    /// The current test has come to its end, and whatever follows belongs to the next.
    pub fn finish_test(&self) {
        let began = self.words.header::<TEST_BEGAN>();
        began.store(self.written.get(), Ordering::Release);
        let tests = self.words.header::<TESTS>();
        let before = tests.load(Ordering::Relaxed);
        tests.store(before.wrapping_add(1), Ordering::Release);
        self.does(Doing::OwnWork);
    }

    /// Changes whenever the worker turns to something else. One that stays the same for long hangs.
    pub fn beats(&self) -> u64 {
        self.words.header::<TURN>().load(Ordering::Acquire)
    }

    /// Asks the worker to come to an end.
    pub fn ask_to_stop(&self) {
        self.words.header::<STOP>().store(1, Ordering::Release);
    }

    /// Whether the worker was asked to come to an end.
    #[inline]
    pub fn is_to_stop(&self) -> bool {
        self.words.header::<STOP>().load(Ordering::Relaxed) != 0
    }

    /// How many tests have come to their end.
    pub fn tests(&self) -> u64 {
        self.words.header::<TESTS>().load(Ordering::Acquire)
    }

    /// How many steps were taken in all, with the one that is under way.
    pub fn steps(&self) -> u64 {
        let resets = self.words.header::<RESETS>().load(Ordering::Acquire);
        let all = self.words.header::<STEPS>().load(Ordering::Acquire);
        all.saturating_sub(resets)
    }

    /// What the worker is at.
    pub fn doing(&self) -> Doing {
        match self.words.header::<TURN>().load(Ordering::Acquire) % NEXT_TURN {
            1 => Doing::Resetting,
            2 => Doing::Choosing,
            3 => Doing::Stepping,
            4 => Doing::Checking,
            _ => Doing::OwnWork,
        }
    }

    /// The action of the last step, if that was not a reset.
    pub fn last(&self) -> Option<ActionId> {
        let steps = self.words.header::<STEPS>().load(Ordering::Acquire);
        let word = self
            .words
            .ring(steps.checked_sub(1)?)
            .load(Ordering::Relaxed);
        (word != RESTART).then_some(ActionId(word))
    }

    /// The test that the worker is at.
    pub fn current(&self) -> Recorded {
        let began = self.words.header::<TEST_BEGAN>().load(Ordering::Acquire);
        let (steps, is_cut) = self.since(began);
        Recorded {
            number: self.words.header::<TESTS>().load(Ordering::Acquire),
            test: Test::of_steps(steps),
            is_cut,
        }
    }

    /// All that the worker has done since it was started, as one test with restarts.
    pub fn history(&self) -> Recorded {
        let (steps, is_cut) = self.since(0);
        Recorded {
            number: 0,
            test: Test::of_steps(steps),
            is_cut,
        }
    }

    #[inline]
    fn push(&self, word: u64) {
        let written = self.written.get();
        self.words.ring(written).store(word, Ordering::Relaxed);
        let written = written.wrapping_add(1);
        self.written.set(written);
        // Nobody sees the number without the step.
        self.words
            .header::<STEPS>()
            .store(written, Ordering::Release);
    }

    /// The steps from one on, without the reset that every test begins with; and whether some are gone.
    fn since(&self, began: u64) -> (Vec<Step>, bool) {
        let end = self.words.header::<STEPS>().load(Ordering::Acquire);
        let oldest = end.saturating_sub(self.words.ring_len() as u64);
        // Code under test can write anywhere, here too.
        let began = began.min(end);
        let words =
            (began.max(oldest)..end).map(|step| self.words.ring(step).load(Ordering::Relaxed));
        let steps = words.map(|word| match word {
            RESTART => Step::Restart,
            action => Step::Act(ActionId(action)),
        });
        let is_cut = began < oldest;
        let mut steps: Vec<Step> = steps.collect();
        if !is_cut && steps.first() == Some(&Step::Restart) {
            steps.remove(0);
        }
        (steps, is_cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(action: u64) -> Step {
        Step::Act(ActionId(action))
    }

    /// The same log, as two processes would see it.
    fn pair(capacity: usize) -> (Log, Log) {
        let file = tempfile::tempfile().unwrap();
        let writer = Log::create(&file, capacity).unwrap();
        (writer, Log::open(&file).unwrap())
    }

    #[test]
    fn the_reader_sees_what_the_worker_is_at() {
        let (worker, supervisor) = pair(100);
        assert_eq!(supervisor.current(), Recorded::default());
        worker.reset();
        assert_eq!(supervisor.doing(), Doing::Resetting);
        worker.does(Doing::Choosing);
        let beats = supervisor.beats();
        worker.does(Doing::Choosing);
        assert_ne!(supervisor.beats(), beats, "the same again is progress");
        assert_eq!(supervisor.doing(), Doing::Choosing);
        let beats = supervisor.beats();
        worker.step(ActionId(7));
        assert_ne!(supervisor.beats(), beats);
        assert_eq!(supervisor.doing(), Doing::Stepping);
        worker.step(ActionId(1 << 47));
        assert_eq!(
            supervisor.current().test.steps,
            [act(7), act(1 << 47)],
            "the step is there before it is taken"
        );
        worker.finish_test();
        assert_eq!(supervisor.doing(), Doing::OwnWork);
        worker.reset();
        worker.step(ActionId(3));
        worker.reset();
        worker.step(ActionId(4));
        assert_eq!((supervisor.tests(), supervisor.steps()), (1, 4));
        assert!(!worker.is_to_stop());
        supervisor.ask_to_stop();
        assert!(worker.is_to_stop());
        let current = supervisor.current();
        assert_eq!(current.test.steps, [act(3), Step::Restart, act(4)]);
        assert_eq!((current.number, current.is_cut), (1, false));
        let before = [act(7), act(1 << 47), Step::Restart];
        assert_eq!(supervisor.history().test.steps[..3], before);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn nobody_can_take_the_memory_away() {
        let (log, file) = Log::in_memory(100).unwrap();
        assert!(file.set_len(0).is_err());
        log.reset();
        log.step(ActionId(5));
        assert_eq!(Log::open(&file).unwrap().last(), Some(ActionId(5)));
    }

    #[test]
    fn a_ring_keeps_the_latest() {
        let (worker, supervisor) = pair(4);
        worker.reset();
        for step in 0..3 {
            worker.step(ActionId(step));
        }
        assert_eq!(supervisor.current().test.steps, [act(0), act(1), act(2)]);
        worker.finish_test();
        worker.reset();
        worker.step(ActionId(9));
        assert!(!supervisor.current().is_cut);
        let history = supervisor.history();
        assert_eq!(history.test.steps, [act(1), act(2), Step::Restart, act(9)]);
        assert!(history.is_cut);
        for step in 0..9 {
            worker.step(ActionId(step));
        }
        let current = supervisor.current();
        assert_eq!(current.test.steps, [act(5), act(6), act(7), act(8)]);
        assert!(current.is_cut);
    }

    #[test]
    fn what_is_no_log_is_refused_and_what_was_overwritten_is_survived() {
        use std::io::{Seek, Write};
        let mut file = tempfile::tempfile().unwrap();
        assert!(Log::open(&file).is_err(), "empty");
        file.write_all(&[b'x'; 1000]).unwrap();
        assert!(Log::open(&file).is_err());
        Log::create(&file, 10).unwrap();
        let bytes = file.metadata().unwrap().len();
        file.seek(io::SeekFrom::Start(8)).unwrap();
        file.write_all(&vec![u8::MAX; bytes as usize - 8]).unwrap();
        let supervisor = Log::open(&file).unwrap();
        assert_eq!(supervisor.doing(), Doing::OwnWork);
        assert!(supervisor.current().test.len() <= 16);
        assert!(supervisor.history().test.len() <= 16);
    }
}
