//! A log of a worker's steps that outlives the worker. Each step is logged before it is taken.
//!
//! A log is a file that worker and supervisor have both mapped into memory. Logging is a write to
//! memory: there is no system call that takes time or that code under test could disturb. When the
//! worker is gone, by whatever signal, the supervisor reads the current test and its last step.
//!
//! The log is a ring buffer. It holds the steps of the current test and, as far as there is room,
//! of all tests before it since the worker was started. Where a reset does not undo everything, a
//! test may fail only because of those.
//!
//! Code under test can write anywhere in the worker's memory, so neither side believes what it
//! reads there. The request to stop is in memory that the worker cannot write to. The worker keeps
//! every number of the header in memory of its own, too, and compares before each step and each
//! test: if a number was overwritten, it ends the process. The supervisor
//! believes only numbers that can be true: none gets smaller, and a step takes some time.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Instant;

use testwright_core::{ActionId, Step, Test};

use crate::shared_words::{Role, SharedWords};

/// Name and version, so that another file is not mistaken for a log.
const MAGIC: u64 = u64::from_le_bytes(*b"twlog\0\0\x03");

// Indices of the header words. `STEPS` counts steps and resets, `RESETS` only resets.
const MAGIC_INDEX: usize = 0;
const STEPS: usize = 1;
const TEST_BEGAN: usize = 2;
const TESTS: usize = 3;
/// The current activity in the lowest bits, and above them the number of changes of activity. They
/// share one word because it is written three times per step.
const ACTIVITY_WORD: usize = 4;
const RESETS: usize = 5;
/// Not zero once the worker has seen that the header was overwritten.
const OVERWRITTEN: usize = 6;

/// The difference between two turns: one more change of activity.
const ACTIVITY_INCREMENT: u64 = 8;

/// The entry for a restart. No action has this number.
const RESTART: u64 = u64::MAX;

/// The exit status of a worker whose log was overwritten by the code under test.
pub(crate) const OVERWRITTEN_LOG: i32 = 79;

/// The number of steps that a worker may take at once, as far as its supervisor can tell: clocks of
/// several processors differ a little.
const STEPS_AT_ONCE: u64 = 1 << 16;

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
    /// Importing the modules of the system.
    Loading,
}

impl Activity {
    /// Returns true if it may import modules, which takes longer than a step does.
    pub(crate) fn runs_modules(self) -> bool {
        matches!(self, Activity::Loading | Activity::Resetting)
    }
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
    /// The number of steps and resets that the worker has written. It keeps this and the following
    /// numbers here as well, to notice if code under test overwrites them.
    written: Cell<u64>,
    /// The last word of its activity.
    activity_word: Cell<u64>,
    /// The number of resets that it has written.
    resets: Cell<u64>,
    /// The number of entries before the current test.
    test_began: Cell<u64>,
    /// The number of finished tests.
    tests: Cell<u64>,
    /// The last numbers that the supervisor has read and believed.
    believed: Cell<BelievedNumbers>,
}

/// Numbers of a log that can be true.
#[derive(Clone, Copy, Debug)]
struct BelievedNumbers {
    /// The number of steps and resets.
    entries: u64,
    /// The number of resets.
    resets: u64,
    /// The number of finished tests.
    tests: u64,
    /// The time at which they were read.
    at: Instant,
}

impl StepLog {
    /// Creates an empty log in a file that is open for reading and writing. It holds at least
    /// `capacity` steps.
    pub fn create(file: &File, capacity: usize) -> io::Result<StepLog> {
        file.set_len(0)?;
        file.set_len(SharedWords::file_size(capacity))?;
        let words = SharedWords::map_file(file, Role::Creator)?;
        Ok(StepLog::empty(words.ok_or(io::ErrorKind::UnexpectedEof)?))
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
        let words = SharedWords::map_file(file, Role::Opener)?;
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
            resets: Cell::new(0),
            test_began: Cell::new(0),
            tests: Cell::new(0),
            believed: Cell::new(BelievedNumbers {
                entries: 0,
                resets: 0,
                tests: 0,
                at: Instant::now(),
            }),
        }
    }

    /// Records a step before it is taken.
    #[inline]
    pub fn record_step(&self, action: ActionId) {
        if !self.is_counting_right() {
            self.end_overwritten();
        }
        self.push(action.0);
        self.set_activity(Activity::Stepping);
    }

    /// Records a reset before it happens.
    pub fn record_reset(&self) {
        self.verify();
        // The number of steps is that of all entries without the resets, so it may be too small for
        // a moment, but never too large.
        let resets = self.resets.get().wrapping_add(1);
        self.resets.set(resets);
        let shared = self.words.header::<RESETS>();
        shared.store(resets, Ordering::Release);
        self.push(RESTART);
        self.set_activity(Activity::Resetting);
    }

    /// Records a change of activity. Setting the same activity again counts as progress, too.
    #[inline]
    pub fn set_activity(&self, doing: Activity) {
        let turn = self.activity_word.get() & !(ACTIVITY_INCREMENT - 1);
        let word = turn.wrapping_add(ACTIVITY_INCREMENT) | doing as u64;
        self.activity_word.set(word);
        self.words
            .header::<ACTIVITY_WORD>()
            .store(word, Ordering::Release);
    }

    /// Records the end of the current test. Later steps belong to the next one.
    pub fn finish_test(&self) {
        self.verify();
        self.test_began.set(self.written.get());
        let first = self.words.header::<TEST_BEGAN>();
        first.store(self.test_began.get(), Ordering::Release);
        self.tests.set(self.tests.get().wrapping_add(1));
        let tests = self.words.header::<TESTS>();
        tests.store(self.tests.get(), Ordering::Release);
        self.set_activity(Activity::OwnWork);
    }

    /// Returns true if the words that change with each step are as the worker has written them.
    #[inline]
    fn is_counting_right(&self) -> bool {
        self.words.header::<STEPS>().load(Ordering::Relaxed) == self.written.get()
            && self.words.header::<ACTIVITY_WORD>().load(Ordering::Relaxed)
                == self.activity_word.get()
    }

    /// Ends the process if the header is not as the worker has written it.
    pub(crate) fn verify(&self) {
        if !self.is_intact() {
            self.end_overwritten();
        }
    }

    /// Returns true if the header is as the worker has written it.
    fn is_intact(&self) -> bool {
        self.is_counting_right()
            && self.words.header::<MAGIC_INDEX>().load(Ordering::Relaxed) == MAGIC
            && self.words.header::<RESETS>().load(Ordering::Relaxed) == self.resets.get()
            && self.words.header::<TEST_BEGAN>().load(Ordering::Relaxed) == self.test_began.get()
            && self.words.header::<TESTS>().load(Ordering::Relaxed) == self.tests.get()
            && self.words.header::<OVERWRITTEN>().load(Ordering::Relaxed) == 0
    }

    /// Ends the process, since code under test has overwritten the header. Before that, writes the
    /// header again, so that the supervisor can read the current test.
    #[cold]
    fn end_overwritten(&self) -> ! {
        self.repair();
        std::process::exit(OVERWRITTEN_LOG);
    }

    /// Writes the header again, with a mark that it was overwritten.
    fn repair(&self) {
        let words = &self.words;
        words
            .header::<MAGIC_INDEX>()
            .store(MAGIC, Ordering::Relaxed);
        words
            .header::<STEPS>()
            .store(self.written.get(), Ordering::Relaxed);
        words
            .header::<RESETS>()
            .store(self.resets.get(), Ordering::Relaxed);
        words
            .header::<TEST_BEGAN>()
            .store(self.test_began.get(), Ordering::Relaxed);
        words
            .header::<TESTS>()
            .store(self.tests.get(), Ordering::Relaxed);
        words
            .header::<ACTIVITY_WORD>()
            .store(self.activity_word.get(), Ordering::Relaxed);
        words.header::<OVERWRITTEN>().store(1, Ordering::Release);
    }

    /// Returns true if the worker has seen that its header was overwritten.
    pub fn is_overwritten(&self) -> bool {
        self.words.header::<OVERWRITTEN>().load(Ordering::Acquire) != 0
    }

    /// Returns a number that changes with every change of activity. A worker whose number stays the
    /// same for too long hangs.
    pub fn heartbeat(&self) -> u64 {
        self.words.header::<ACTIVITY_WORD>().load(Ordering::Acquire)
    }

    /// Asks the worker to stop.
    pub fn request_stop(&self) {
        self.words.control().store(1, Ordering::Release);
    }

    /// Returns true if the supervisor has asked the worker to stop.
    #[inline]
    pub fn is_stop_requested(&self) -> bool {
        self.words.control().load(Ordering::Relaxed) != 0
    }

    /// Returns the number of finished tests.
    pub fn tests(&self) -> u64 {
        self.read_numbers().tests
    }

    /// Returns the number of steps taken in all tests, including the one under way.
    pub fn steps(&self) -> u64 {
        let numbers = self.read_numbers();
        numbers.entries - numbers.resets
    }

    /// Returns the numbers of the header, or those read before if these cannot be true.
    fn read_numbers(&self) -> BelievedNumbers {
        if let Some(numbers) = self.read_possible_numbers() {
            self.believed.set(numbers);
        }
        self.believed.get()
    }

    /// Returns the numbers of the header, unless they cannot be true.
    fn read_possible_numbers(&self) -> Option<BelievedNumbers> {
        let last = self.believed.get();
        let tests = self.words.header::<TESTS>().load(Ordering::Acquire);
        let resets = self.words.header::<RESETS>().load(Ordering::Acquire);
        let entries = self.words.header::<STEPS>().load(Ordering::Acquire);
        let at = Instant::now();
        let elapsed = u64::try_from(at.duration_since(last.at).as_nanos()).unwrap_or(u64::MAX);
        // Each entry takes more than a nanosecond.
        let max_entries = last
            .entries
            .saturating_add(elapsed)
            .saturating_add(STEPS_AT_ONCE);
        let is_possible = (last.entries..=max_entries).contains(&entries)
            && (last.resets..=entries).contains(&resets)
            && (last.tests..=entries).contains(&tests)
            && entries - resets >= last.entries - last.resets;
        // A worker that has seen the damage has written the numbers again.
        let is_repaired = self.is_overwritten() && resets <= entries && tests <= entries;
        (is_possible || is_repaired).then_some(BelievedNumbers {
            entries,
            resets,
            tests,
            at,
        })
    }

    /// Returns true if the numbers of a worker that has ended cannot be true, so that its last steps
    /// may be missing.
    pub(crate) fn is_damaged(&self) -> bool {
        self.read_possible_numbers().is_none()
            || self.words.header::<MAGIC_INDEX>().load(Ordering::Relaxed) != MAGIC
    }

    /// Returns the worker's current activity.
    pub fn activity(&self) -> Activity {
        match self.words.header::<ACTIVITY_WORD>().load(Ordering::Acquire) % ACTIVITY_INCREMENT {
            1 => Activity::Resetting,
            2 => Activity::Choosing,
            3 => Activity::Stepping,
            4 => Activity::Checking,
            5 => Activity::Loading,
            _ => Activity::OwnWork,
        }
    }

    /// Returns the action of the last entry, or `None` if that was a reset.
    pub fn last_action(&self) -> Option<ActionId> {
        let entries = self.read_numbers().entries;
        let word = self
            .words
            .ring(entries.checked_sub(1)?)
            .load(Ordering::Relaxed);
        (word != RESTART).then_some(ActionId(word))
    }

    /// Returns the current test.
    pub fn current_test(&self) -> LoggedTest {
        let first = self.words.header::<TEST_BEGAN>().load(Ordering::Acquire);
        let (steps, is_cut) = self.steps_since(first);
        LoggedTest {
            number: self.tests(),
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
        let end = self.read_numbers().entries;
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
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::shared_words::CONTROL_BYTES;

    fn act(action: u64) -> Step {
        Step::Act(ActionId(action))
    }

    /// Returns two handles of one log, as worker and supervisor have them.
    fn pair(capacity: usize) -> (StepLog, StepLog) {
        let file = tempfile::tempfile().unwrap();
        let supervisor = StepLog::create(&file, capacity).unwrap();
        (StepLog::open(&file).unwrap(), supervisor)
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
        assert!(worker.is_stop_requested() && supervisor.is_stop_requested());
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

    /// Returns each word of the header, with its name.
    fn header(log: &StepLog) -> [(&'static str, &AtomicU64); 6] {
        [
            ("magic", log.words.header::<MAGIC_INDEX>()),
            ("steps", log.words.header::<STEPS>()),
            ("test began", log.words.header::<TEST_BEGAN>()),
            ("tests", log.words.header::<TESTS>()),
            ("activity", log.words.header::<ACTIVITY_WORD>()),
            ("resets", log.words.header::<RESETS>()),
        ]
    }

    #[test]
    fn overwritten_words_are_noticed_and_not_believed() {
        for pattern in [0, 2, 0xAAAA_AAAA_AAAA_AAAA, u64::MAX] {
            for index in 0..6 {
                let (worker, supervisor) = pair(100);
                for test in 0..3 {
                    worker.record_reset();
                    worker.record_step(ActionId(test));
                    worker.finish_test();
                }
                worker.record_reset();
                worker.record_step(ActionId(7));
                assert_eq!((supervisor.tests(), supervisor.steps()), (3, 4));
                let (name, word) = header(&worker)[index];
                let right = word.swap(pattern, Ordering::Relaxed);
                assert!(!worker.is_intact(), "{name} is {pattern}, was {right}");
                let (tests, steps) = (supervisor.tests(), supervisor.steps());
                assert!(tests <= 3 && steps <= 4, "{name}: {tests}, {steps}");
                worker.repair();
                assert!(supervisor.is_overwritten());
                assert_eq!(supervisor.current_test().test.steps, [act(7)]);
                assert_eq!((supervisor.tests(), supervisor.steps()), (3, 4));
            }
        }
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
        let after_magic = CONTROL_BYTES as u64 + 8;
        file.seek(io::SeekFrom::Start(after_magic)).unwrap();
        file.write_all(&vec![u8::MAX; (bytes - after_magic) as usize])
            .unwrap();
        let supervisor = StepLog::open(&file).unwrap();
        assert_eq!(supervisor.activity(), Activity::OwnWork);
        assert!(supervisor.current_test().test.len() <= 16);
        assert!(supervisor.history().test.len() <= 16);
    }
}
