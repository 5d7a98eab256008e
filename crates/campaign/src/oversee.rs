//! Looking after a worker until its work is done, or it is lost.

use std::io::{self, Read};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::stopwatch::Stopwatch;
use crate::voice::Saying;
use crate::wire::{receive, send};
use crate::{Connection, Doing, Ending, Log, ForkServer, Patience, Process, Recorded};

/// Who wants to know what a worker has to say.
pub trait Overseer<R> {
    /// What a worker that waits is told.
    type Answer: Serialize;

    /// The worker tells something.
    fn hear(&mut self, report: R, log: &Log);

    /// The worker tells something, and waits for an answer.
    fn answer(&mut self, report: R, log: &Log) -> Self::Answer;

    /// Called several times a second. `false` ends the worker at once.
    fn look(&mut self, log: &Log) -> bool;
}

/// A worker that came to its end before its work was done.
#[derive(Clone, Debug)]
pub struct Loss {
    /// How it ended.
    pub ending: Ending,
    /// How long was waited, if it did not end by itself.
    pub waited: Duration,
    /// What it was at.
    pub doing: Doing,
    /// The test that it was at.
    pub current: Recorded,
    /// All that it had done.
    pub history: Recorded,
}

/// What became of a worker.
#[derive(Debug)]
pub enum Overseen {
    /// It did what it was told to do.
    Over,
    /// The overseer did not want it any more.
    Dismissed,
    /// It came to another end.
    Lost(Box<Loss>),
}

/// Between two looks.
const GLANCE: Duration = Duration::from_millis(20);

/// Lets a new worker do a task, and stays with it to the end.
pub fn oversee<R: DeserializeOwned, O: Overseer<R>>(
    nursery: &mut ForkServer,
    task: &impl Serialize,
    patience: &Patience,
    overseer: &mut O,
) -> io::Result<Overseen> {
    let mut process = nursery.bear(task)?;
    let mut watch = Watch::new(&process);
    let end = loop {
        if !overseer.look(process.log()) {
            break End::Dismissed;
        }
        match listen(&mut process) {
            // A child of it may hold the connection open.
            Heard::Nothing if process.is_dead() => break End::Gone,
            Heard::Nothing => {}
            Heard::Saying(Saying::Tells(report)) => overseer.hear(report, process.log()),
            Heard::Saying(Saying::Asks(report)) => {
                let answer = overseer.answer(report, process.log());
                if send(process.connection(), &answer).is_err() {
                    break End::Gone;
                }
                watch = Watch::new(&process);
            }
            Heard::Saying(Saying::Over) => break End::Over,
            Heard::Silence => break End::Gone,
        }
        if let Some((waited, of_test)) = watch.hangs(&process, patience) {
            break End::Hangs(waited, of_test);
        }
    };
    let (hangs, waited, of_test) = match end {
        End::Hangs(waited, of_test) => (true, waited, of_test),
        _ => (false, Duration::ZERO, false),
    };
    if let End::Dismissed = end {
        process.kill();
    }
    let ending = Ending {
        of_test,
        ..process.end(nursery, hangs)
    };
    // What it did last.
    overseer.look(process.log());
    Ok(match end {
        End::Over => Overseen::Over,
        End::Dismissed => Overseen::Dismissed,
        End::Gone | End::Hangs(..) => Overseen::Lost(Box::new(Loss {
            ending,
            waited,
            doing: process.log().doing(),
            current: process.log().current(),
            history: process.log().history(),
        })),
    })
}

enum End {
    Over,
    Dismissed,
    Gone,
    /// For so long, the last step or the whole test.
    Hangs(Duration, bool),
}

enum Heard<R> {
    Nothing,
    Saying(Saying<R>),
    /// The connection is closed, or somebody writes nonsense into it.
    Silence,
}

/// Waits a moment for the worker to say something.
fn listen<R: DeserializeOwned>(process: &mut Process) -> Heard<R> {
    let connection = process.connection();
    // The first byte may take its time. The rest was sent together with it, unless the worker dies in between.
    let mut first = [0];
    let came = connection
        .set_patience(GLANCE)
        .and_then(|()| connection.read(&mut first));
    match came {
        Ok(0) => return Heard::Silence,
        Ok(_) => {}
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::TimedOut
                | io::ErrorKind::WouldBlock
                | io::ErrorKind::Interrupted => Heard::Nothing,
                _ => Heard::Silence,
            };
        }
    }
    let rest = connection
        .set_patience(Duration::from_secs(10))
        .and_then(|()| receive(&mut first.as_slice().chain(connection)));
    rest.map_or(Heard::Silence, Heard::Saying)
}

/// Notices that a worker does not get on.
struct Watch {
    beats: u64,
    since: Stopwatch,
    tests: u64,
    test_since: Stopwatch,
}

impl Watch {
    fn new(process: &Process) -> Watch {
        let now = Stopwatch::start(process.starved());
        Watch {
            beats: process.log().beats(),
            since: now,
            tests: process.log().tests(),
            test_since: now,
        }
    }

    /// How long it has taken, if that is too long, and whether that is the whole test.
    fn hangs(&mut self, process: &Process, patience: &Patience) -> Option<(Duration, bool)> {
        let log = process.log();
        let (beats, tests, doing) = (log.beats(), log.tests(), log.doing());
        let gets_on = beats != self.beats;
        let is_between_tests = tests != self.tests || doing == Doing::OwnWork;
        if gets_on || is_between_tests {
            let now = Stopwatch::start(process.starved());
            if gets_on {
                (self.beats, self.since) = (beats, now);
            }
            if is_between_tests {
                (self.tests, self.test_since) = (tests, now);
            }
        }
        let limit = match doing {
            // Our own work ends, unless somebody has stopped the process.
            Doing::OwnWork | Doing::Resetting => patience.reset,
            Doing::Choosing | Doing::Stepping | Doing::Checking => patience.step,
        };
        let starved = || process.starved();
        if self.since.is_past(limit, starved) {
            return Some((limit, false));
        }
        let test_limit = patience.test;
        let test_limit = test_limit.filter(|limit| self.test_since.is_past(*limit, starved));
        test_limit.map(|limit| (limit, true))
    }
}
