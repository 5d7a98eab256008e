//! Work in a copy of this process, so that somebody is left to tell if the code under test ends it.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use testwright_campaign::{Doing, Log, Tally, how_it_ended};
use testwright_core::{Catalog, Error, Failure};

use crate::console::Console;
use crate::{ExitStatus, Trouble};

/// What the note says when the work is done, and the exit status is our own.
const OVER: &str = "over";

/// What the copy is at, where both can see it: words, or numbers where words would take too long.
pub(crate) struct Note {
    words: File,
    tally: Tally,
}

impl Note {
    fn new() -> io::Result<Note> {
        Ok(Note {
            words: tempfile::tempfile()?,
            tally: Tally::new()?,
        })
    }

    /// From now on it is at this.
    pub(crate) fn write(&self, words: &str) {
        self.tally.clear();
        let mut file = &self.words;
        let _a_crash_says_less_then = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(words.as_bytes()));
    }

    /// From now on it is at this, too. What was noted before is not written again, however much that is.
    pub(crate) fn add(&self, words: &str) {
        let _a_crash_says_less_then = (&self.words).write_all(words.as_bytes());
    }

    /// From now on it has come so far.
    pub(crate) fn count(&self, numbers: [usize; 3]) {
        self.tally.count(numbers);
    }

    /// From now on it is at work of ours, which may take its time.
    pub(crate) fn rest(&self) {
        self.add("\n");
    }

    /// Whether it is at work of ours: a line that has nothing in it is the last.
    fn rests(&self) -> bool {
        let mut end = [0; 2];
        let length = self.words.metadata().map_or(0, |facts| facts.len());
        length >= 2 && self.words.read_exact_at(&mut end, length - 2).is_ok() && end == *b"\n\n"
    }

    /// What changes whenever something is noted; nothing while nothing is.
    fn sign(&self) -> Option<Sign> {
        if let Some(beats) = self.tally.beats() {
            return Some(Sign::Beat(beats));
        }
        let facts = self.words.metadata().ok()?;
        let noted = (facts.len(), facts.modified().ok()?);
        Some(Sign::Words(noted)).filter(|_| noted.0 > 0)
    }

    fn read(mut self) -> String {
        if let Some(numbers) = self.tally.numbers() {
            return numbers.map(|number| number.to_string()).join(" ");
        }
        let mut words = String::new();
        let _a_crash_says_less_then = self
            .words
            .rewind()
            .and_then(|()| self.words.read_to_string(&mut words));
        words
    }
}

/// Tells that a copy did not come back: where it was by its note, and how it ended.
pub(crate) fn tell_crash(
    console: &mut Console<'_>,
    note: &str,
    failure: &Failure,
) -> Result<ExitStatus, Trouble> {
    let place = if note.is_empty() {
        "while the harness was loaded"
    } else {
        note
    };
    console.say(format_args!("{place}: {}", failure.message));
    for line in failure.details.lines() {
        console.say(format_args!("    {line}"));
    }
    Ok(ExitStatus::FailureFound)
}

/// How a copy is watched.
#[derive(Clone, Copy, Default)]
pub(crate) struct Vigil<'a> {
    /// How long it may take for a step, if there is a limit to that.
    pub(crate) patience: Option<Duration>,
    /// Where its steps are written down, if not in the note, and what they are called.
    pub(crate) log: Option<(&'a Log, &'a Catalog)>,
}

/// For a copy that notes every step.
impl From<Option<Duration>> for Vigil<'_> {
    fn from(patience: Option<Duration>) -> Self {
        Vigil {
            patience,
            log: None,
        }
    }
}

impl Vigil<'_> {
    /// What changes with every step; nothing while no step is under way.
    fn sign(&self, note: &Note) -> Option<Sign> {
        match self.log {
            Some((log, _)) => {
                Some(Sign::Beat(log.beats())).filter(|_| log.doing() != Doing::OwnWork)
            }
            // Without a step it is not a test that takes so long.
            None => note.sign(),
        }
    }

    /// The last step, in words that tell it from others.
    fn last_step(&self, note: &str) -> String {
        match self.log {
            Some((log, catalog)) => log
                .last()
                .map_or_else(|| "reset".to_owned(), |action| catalog.origin(action)),
            None => {
                let mut lines = note.lines().rev();
                let last = lines.find(|line| !line.is_empty());
                last.unwrap_or_default().to_owned()
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Beat(u64),
    /// How many there are, and when the last came.
    Words((u64, SystemTime)),
}

/// Watches a copy, and ends it when it stays at one step for too long.
struct Watch<'a> {
    vigil: Vigil<'a>,
    seen: Option<Sign>,
    since: Instant,
    /// What the copy was asked to end with.
    asked: Option<i32>,
    /// Somebody wants it to end.
    is_wished: bool,
    /// Since when it is to end without more ado, and not when it has told what it found.
    is_to_end: Option<Instant>,
}

impl Watch<'_> {
    /// How long a copy that was asked to tell where it is may take for that.
    const LAST_WORDS: Duration = Duration::from_secs(1);
    /// How long one that is to end may take to put everything in order.
    const GRACE: Duration = Duration::from_secs(3);

    fn new(vigil: Vigil<'_>) -> Watch<'_> {
        Watch {
            vigil,
            seen: None,
            since: Instant::now(),
            asked: None,
            is_wished: false,
            is_to_end: None,
        }
    }

    /// Somebody sent this signal; so it is passed on.
    fn wish(&mut self, signal: i32) -> i32 {
        self.is_wished = true;
        if signal == signal_hook::consts::SIGTERM {
            self.is_to_end.get_or_insert_with(Instant::now);
        }
        signal
    }

    /// The signal that the copy is due.
    fn signal(&mut self, note: &Note) -> Option<i32> {
        if self
            .is_to_end
            .is_some_and(|since| since.elapsed() >= Self::GRACE)
        {
            return Some(signal_hook::consts::SIGKILL);
        }
        let patience = match self.asked {
            None => self.vigil.patience?,
            Some(_) => Self::LAST_WORDS,
        };
        let sign = self.vigil.sign(note);
        if sign != self.seen || sign.is_none() {
            (self.seen, self.since) = (sign, Instant::now());
        }
        if self.since.elapsed() < patience {
            return None;
        }
        self.since = Instant::now();
        if self.asked.is_none() && note.rests() {
            return None;
        }
        // The first makes it tell where it is. Nothing can ignore the second.
        self.asked = Some(match self.asked {
            None => signal_hook::consts::SIGABRT,
            Some(_) => signal_hook::consts::SIGKILL,
        });
        self.asked
    }
}

/// Does some work in a copy of this process. If the copy does not come back, `crashed` is told what it was at and how it
/// ended. With patience, it must begin a step every so often.
pub(crate) fn guarded<'v>(
    console: &mut Console<'_>,
    vigil: impl Into<Vigil<'v>>,
    crashed: impl FnOnce(&mut Console<'_>, &str, &Failure) -> Result<ExitStatus, Trouble>,
    work: impl FnOnce(&mut Console<'_>, &Note) -> Result<ExitStatus, Trouble>,
) -> Result<ExitStatus, Trouble> {
    let vigil = vigil.into();
    let failed = |error: io::Error| Error::new(format!("cannot make a file: {error}"));
    let note = Note::new().map_err(failed)?;
    let last_words = tempfile::tempfile().map_err(failed)?;
    console.flush();
    // Who asks this one to end means the copy.
    let signals = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];
    let came = signals.map(|signal| (signal, Arc::new(AtomicBool::new(false))));
    let handlers = came
        .clone()
        .map(|(signal, has_come)| signal_hook::flag::register(signal, has_come));
    let copied = testwright_python::attach(|interpreter| {
        let copied = testwright_python::fork(interpreter)?;
        if copied.is_none() {
            let _no_stack = testwright_python::tell_of_crashes(interpreter, &last_words);
        }
        Ok::<_, Error>(copied)
    });
    let Some(copy) = copied? else {
        let status = work(console, &note).unwrap_or_else(|trouble| {
            trouble.tell(console);
            ExitStatus::CouldNot
        });
        console.flush();
        note.write(OVER);
        testwright_python::leave(status.code().into());
    };
    let mut watch = Watch::new(vigil);
    let ended = testwright_campaign::wait_for(copy, || {
        let asked = came
            .iter()
            .find(|(_, has_come)| has_come.swap(false, Ordering::Relaxed));
        match asked {
            Some((signal, _)) => Some(watch.wish(*signal)),
            None => watch.signal(&note),
        }
    });
    for handler in handlers.into_iter().flatten() {
        signal_hook::low_level::unregister(handler);
    }
    let status = ended.map_err(|error| Error::new(format!("the process is lost: {error}")))?;
    let words = note.read();
    match status.code() {
        // Who is asked to end while code under test is stuck may not come to write that it is over.
        Some(code) if words == OVER || watch.is_wished => {
            Ok(ExitStatus::OfProgram(u8::try_from(code).unwrap_or(2)))
        }
        None if watch.is_wished => Err(Trouble::Interrupted),
        _ => {
            let mut ending = how_it_ended(status, last_words);
            ending.hangs = watch.asked.is_some();
            let last = vigil.last_step(&words);
            let failure = ending.failure(&last, vigil.patience.unwrap_or_default());
            crashed(console, &words, &failure)
        }
    }
}
