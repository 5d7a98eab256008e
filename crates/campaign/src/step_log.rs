//! A log of a worker's steps that outlives the worker. Each step is logged before it is taken.
//!
//! A log is a file that worker and supervisor have both mapped into memory. Logging is a write to
//! memory: there is no system call that takes time or that code under test could disturb. When the
//! worker is gone, by whatever signal, the supervisor reads the current test and its last step.
//!
//! The log is a ring buffer. It holds the steps of the current test and, as far as there is room,
//! of all tests before it since the worker was started. Where a reset does not undo everything, a
//! test may fail only because of those.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;

use testwright_core::{ActionId, Step, Test};

use crate::shared_words::SharedWords;

/// Name and version, so that another file is not mistaken for a log.
const MAGIC: u64 = u64::from_le_bytes(*b"twlog\0\0\x02");

// Indices of the header words. `STEPS` counts steps and resets, `RESETS` only resets.
const MAGIC_INDEX: usize = 0;
const STEPS: usize = 1;
const TEST_BEGAN: usize = 2;
const TESTS: usize = 3;
/// The current activity in the lowest bits, and above them the number of changes of activity. They
/// share one word because it is written three times per step.
const ACTIVITY_WORD: usize = 4;
const RESETS: usize = 5;
const STOP: usize = 6;

/// The difference between two turns: one more change of activity.
const ACTIVITY_INCREMENT: u64 = 8;

/// The entry for a restart. No action has this number.
const RESTART: u64 = u64::MAX;

/// The current activity of a worker. Its kind decides which time limit applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Internal work that runs no code under test.
    OwnWork,
    /// Resetting the system.
    Resetting,
    /// Finding enabled actions, which evaluates guards.
    Choosing,
    /// Taking the last step in the log.
    Stepping,
    /// Checking invariants after that step.
    Checking,
}

/// A test read back from a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedTest {
    /// The number of the test in its worker, from 0.
    pub number: u64,
    /// The steps, including the one under way.
    pub test: Test,
    /// The test was longer than the log, so its beginning is missing.
    pub is_cut: bool,
}

/// A log of steps, written by the worker and read by the supervisor.
#[derive(Debug)]
pub struct StepLog {
    /// The mapped memory.
    words: SharedWords,
    /// The number of steps and resets written. The writer keeps this and the turn here as well,
    /// since that is faster than reading back from shared memory.
    written: Cell<u64>,
    /// The last turn without the activity bits.
    activity_word: Cell<u64>,
}

impl StepLog {
    /// Creates an empty log in a file that is open for reading and writing. It holds at least
    /// `capacity` steps.
    pub fn create(file: &File, capacity: usize) -> io::Result<StepLog> {
        file.set_len(0)?;
        file.set_len(SharedWords::file_size(capacity))?;
        let words = SharedWords::map_file(file)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(StepLog::empty(words))
    }

    /// Marks the words as a log.
    fn empty(words: SharedWords) -> StepLog {
        words
            .header::<MAGIC_INDEX>()
            .store(MAGIC, Ordering::Release);
        StepLog::from_start(words)
    }

    /// Creates an empty log in anonymous memory. The file can be passed to the worker.
    pub fn in_memory(capacity: usize) -> io::Result<(StepLog, File)> {
        let (words, file) = SharedWords::in_memory(capacity)?;
        Ok((StepLog::empty(words), file))
    }

    /// Opens a log that another process has created. Only one process may write to it, from its
    /// beginning.
    pub fn open(file: &File) -> io::Result<StepLog> {
        let words = SharedWords::map_file(file)?;
        words
            .filter(|words| words.header::<MAGIC_INDEX>().load(Ordering::Acquire) == MAGIC)
            .map(StepLog::from_start)
            .ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the file is not a log of a worker",
                )
            })
    }

    /// Returns a log whose next entry is the first.
    fn from_start(words: SharedWords) -> StepLog {
        StepLog {
            words,
            written: Cell::new(0),
            activity_word: Cell::new(0),
        }
    }

    /// Records a step before it is taken.
    #[inline]
    pub fn record_step(&self, action: ActionId) {
        self.push(action.0);
        self.set_activity(Activity::Stepping);
    }

    /// Records a reset before it happens.
    pub fn record_reset(&self) {
        self.push(RESTART);
        let resets = self.words.header::<RESETS>();
        let before = resets.load(Ordering::Relaxed);
        resets.store(before.wrapping_add(1), Ordering::Release);
        self.set_activity(Activity::Resetting);
    }

    /// Records a change of activity. Setting the same activity again counts as progress, too.
    #[inline]
    pub fn set_activity(&self, doing: Activity) {
        let turn = self.activity_word.get().wrapping_add(ACTIVITY_INCREMENT);
        self.activity_word.set(turn);
        let word = turn | doing as u64;
        self.words
            .header::<ACTIVITY_WORD>()
            .store(word, Ordering::Release);
    }

    /// Records the end of the current test. Later steps belong to the next one.
    pub fn finish_test(&self) {
        let first = self.words.header::<TEST_BEGAN>();
        first.store(self.written.get(), Ordering::Release);
        let tests = self.words.header::<TESTS>();
        let before = tests.load(Ordering::Relaxed);
        tests.store(before.wrapping_add(1), Ordering::Release);
        self.set_activity(Activity::OwnWork);
    }

    /// Returns a number that changes with every change of activity. A worker whose number stays the
    /// same for too long hangs.
    pub fn heartbeat(&self) -> u64 {
        self.words.header::<ACTIVITY_WORD>().load(Ordering::Acquire)
    }

    /// Asks the worker to stop.
    pub fn request_stop(&self) {
        self.words.header::<STOP>().store(1, Ordering::Release);
    }

    /// Returns true if the supervisor has asked the worker to stop.
    #[inline]
    pub fn is_stop_requested(&self) -> bool {
        self.words.header::<STOP>().load(Ordering::Relaxed) != 0
    }

    /// Returns the number of finished tests.
    pub fn tests(&self) -> u64 {
        self.words.header::<TESTS>().load(Ordering::Acquire)
    }

    /// Returns the number of steps taken in all tests, including the one under way.
    pub fn steps(&self) -> u64 {
        let resets = self.words.header::<RESETS>().load(Ordering::Acquire);
        let all = self.words.header::<STEPS>().load(Ordering::Acquire);
        all.saturating_sub(resets)
    }

    /// Returns the worker's current activity.
    pub fn activity(&self) -> Activity {
        match self.words.header::<ACTIVITY_WORD>().load(Ordering::Acquire) % ACTIVITY_INCREMENT {
            1 => Activity::Resetting,
            2 => Activity::Choosing,
            3 => Activity::Stepping,
            4 => Activity::Checking,
            _ => Activity::OwnWork,
        }
    }

    /// Returns the action of the last entry, or `None` if that was a reset.
    pub fn last_action(&self) -> Option<ActionId> {
        let steps = self.words.header::<STEPS>().load(Ordering::Acquire);
        let word = self
            .words
            .ring(steps.checked_sub(1)?)
            .load(Ordering::Relaxed);
        (word != RESTART).then_some(ActionId(word))
    }

    /// Returns the current test.
    pub fn current_test(&self) -> LoggedTest {
        let first = self.words.header::<TEST_BEGAN>().load(Ordering::Acquire);
        let (steps, is_cut) = self.steps_since(first);
        LoggedTest {
            number: self.words.header::<TESTS>().load(Ordering::Acquire),
            test: Test::from_steps(steps),
            is_cut,
        }
    }

    /// Returns all steps since the worker was started, as one test with restarts.
    pub fn history(&self) -> LoggedTest {
        let (steps, is_cut) = self.steps_since(0);
        LoggedTest {
            number: 0,
            test: Test::from_steps(steps),
            is_cut,
        }
    }

    /// Appends an entry and then publishes the new length.
    #[inline]
    fn push(&self, word: u64) {
        let written = self.written.get();
        self.words.ring(written).store(word, Ordering::Relaxed);
        let written = written.wrapping_add(1);
        self.written.set(written);
        // The entry is visible to other processes before the new length is.
        self.words
            .header::<STEPS>()
            .store(written, Ordering::Release);
    }

    /// Returns the steps from an entry on, and whether some of them are overwritten already. The
    /// reset that every test begins with is left out.
    fn steps_since(&self, first: u64) -> (Vec<Step>, bool) {
        let end = self.words.header::<STEPS>().load(Ordering::Acquire);
        let oldest = end.saturating_sub(self.words.ring_len() as u64);
        // Code under test can write anywhere, including here.
        let first = first.min(end);
        let words =
            (first.max(oldest)..end).map(|step| self.words.ring(step).load(Ordering::Relaxed));
        let steps = words.map(|word| match word {
            RESTART => Step::Restart,
            action => Step::Act(ActionId(action)),
        });
        let is_cut = first < oldest;
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

    /// Returns two handles of one log, as worker and supervisor have them.
    fn pair(capacity: usize) -> (StepLog, StepLog) {
        let file = tempfile::tempfile().unwrap();
        let writer = StepLog::create(&file, capacity).unwrap();
        (writer, StepLog::open(&file).unwrap())
    }

    #[test]
    fn the_supervisor_sees_the_current_activity() {
        let (worker, supervisor) = pair(100);
        assert_eq!(supervisor.current_test(), LoggedTest::default());
        worker.record_reset();
        assert_eq!(supervisor.activity(), Activity::Resetting);
        worker.set_activity(Activity::Choosing);
        let heartbeat = supervisor.heartbeat();
        worker.set_activity(Activity::Choosing);
        assert_ne!(
            supervisor.heartbeat(),
            heartbeat,
            "the same again is progress"
        );
        assert_eq!(supervisor.activity(), Activity::Choosing);
        let heartbeat = supervisor.heartbeat();
        worker.record_step(ActionId(7));
        assert_ne!(supervisor.heartbeat(), heartbeat);
        assert_eq!(supervisor.activity(), Activity::Stepping);
        worker.record_step(ActionId(1 << 47));
        assert_eq!(
            supervisor.current_test().test.steps,
            [act(7), act(1 << 47)],
            "the step is there before it is taken"
        );
        worker.finish_test();
        assert_eq!(supervisor.activity(), Activity::OwnWork);
        worker.record_reset();
        worker.record_step(ActionId(3));
        worker.record_reset();
        worker.record_step(ActionId(4));
        assert_eq!((supervisor.tests(), supervisor.steps()), (1, 4));
        assert!(!worker.is_stop_requested());
        supervisor.request_stop();
        assert!(worker.is_stop_requested());
        let current = supervisor.current_test();
        assert_eq!(current.test.steps, [act(3), Step::Restart, act(4)]);
        assert_eq!((current.number, current.is_cut), (1, false));
        let before = [act(7), act(1 << 47), Step::Restart];
        assert_eq!(supervisor.history().test.steps[..3], before);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_memory_cannot_be_made_shorter() {
        let (log, file) = StepLog::in_memory(100).unwrap();
        assert!(file.set_len(0).is_err());
        log.record_reset();
        log.record_step(ActionId(5));
        assert_eq!(
            StepLog::open(&file).unwrap().last_action(),
            Some(ActionId(5))
        );
    }

    #[test]
    fn a_ring_keeps_the_latest() {
        let (worker, supervisor) = pair(4);
        worker.record_reset();
        for step in 0..3 {
            worker.record_step(ActionId(step));
        }
        assert_eq!(
            supervisor.current_test().test.steps,
            [act(0), act(1), act(2)]
        );
        worker.finish_test();
        worker.record_reset();
        worker.record_step(ActionId(9));
        assert!(!supervisor.current_test().is_cut);
        let history = supervisor.history();
        assert_eq!(history.test.steps, [act(1), act(2), Step::Restart, act(9)]);
        assert!(history.is_cut);
        for step in 0..9 {
            worker.record_step(ActionId(step));
        }
        let current = supervisor.current_test();
        assert_eq!(current.test.steps, [act(5), act(6), act(7), act(8)]);
        assert!(current.is_cut);
    }

    #[test]
    fn invalid_logs_are_refused_and_overwritten_ones_are_survived() {
        use std::io::{Seek, Write};
        let mut file = tempfile::tempfile().unwrap();
        assert!(StepLog::open(&file).is_err(), "empty");
        file.write_all(&[b'x'; 1000]).unwrap();
        assert!(StepLog::open(&file).is_err());
        StepLog::create(&file, 10).unwrap();
        let bytes = file.metadata().unwrap().len();
        file.seek(io::SeekFrom::Start(8)).unwrap();
        file.write_all(&vec![u8::MAX; bytes as usize - 8]).unwrap();
        let supervisor = StepLog::open(&file).unwrap();
        assert_eq!(supervisor.activity(), Activity::OwnWork);
        assert!(supervisor.current_test().test.len() <= 16);
        assert!(supervisor.history().test.len() <= 16);
    }
}
