//! Making a failing test simpler in processes of its own, whatever it does to them.
//!
//! A test that fails in the ordinary way is made simpler by a worker, at full speed. If the test kills the worker, or
//! some shorter one does, then the work is done from here, step by step, with a new worker after each crash.
//!
//! Each worker begins with a system that has seen no test. So a test that fails only because of what earlier tests left
//! behind does not fail here; then those are put in front of it, as few as will do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use testwright_campaign::{
    Log, Loss, ForkServer, Overseen, Overseer, Patience, Processes, Remote, SentFailure, WHOLE_TEST,
    oversee,
};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{ReduceError, ReduceOptions, Shrunk};
use testwright_core::{Catalog, Error, Failure, FailureKind, Step, Test, saved};

use super::actions::{Actions, Glossary};
use super::start::{NoNursery, Starter};
use super::{Report, Task};
use crate::files::Place;
use crate::reducing::{self, Aim};

/// Reduces one test after the other.
pub(crate) struct Reducer<'a> {
    pub(crate) starter: &'a Starter,
    pub(crate) actions: &'a Actions,
    pub(crate) options: ReduceOptions,
    pub(crate) patience: Patience,
    /// Somebody wants it to end.
    pub(crate) stop: &'a AtomicBool,
    nursery: Option<ForkServer>,
}

/// What is known of a failing test in the end.
pub(crate) enum Settled {
    /// It fails in a process of its own, and so does a simpler one.
    Reduced {
        test: Test,
        failure: Failure,
        /// How it went, in one sentence.
        story: String,
    },
    /// It does not fail again.
    Flaky {
        /// What it does instead.
        instead: Option<Failure>,
    },
}

/// What a saved test does now.
pub(crate) enum Replayed {
    Passes,
    Fails {
        test: Test,
        failure: Failure,
    },
    /// The harness does not know its steps any more.
    Unknown,
}

/// What became of an attempt.
enum Attempt {
    Simpler {
        test: Test,
        failure: Failure,
        runs: u64,
        complete: bool,
    },
    NotReproduced(Option<Failure>),
}

/// What became of a worker that was to do one thing.
enum Said {
    Report(Report),
    /// With the test that it was at.
    Lost(Box<Loss>, Test),
    /// It never came to anything.
    Nothing,
}

impl<'a> Reducer<'a> {
    pub(crate) fn new(
        starter: &'a Starter,
        actions: &'a Actions,
        options: ReduceOptions,
        patience: Patience,
        stop: &'a AtomicBool,
    ) -> Reducer<'a> {
        Reducer {
            starter,
            actions,
            options,
            patience,
            stop,
            nursery: None,
        }
    }

    /// Another one that does the same, beside this one.
    pub(crate) fn another(&self) -> Reducer<'a> {
        Reducer::new(
            self.starter,
            self.actions,
            self.options,
            self.patience,
            self.stop,
        )
    }

    /// Makes a test simpler. `history` is all that the worker did that found it, up to this failure.
    pub(crate) fn settle(
        &mut self,
        test: &Test,
        failure: &Failure,
        history: Option<&Test>,
    ) -> Result<Settled, Error> {
        let started = Instant::now();
        let mut instead = None;
        let with_others = history.map(|history| longer_and_longer(history, test.len()));
        let candidates = std::iter::once(test.clone()).chain(with_others.into_iter().flatten());
        for (number, candidate) in candidates.enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::new("interrupted"));
            }
            // What many others have left behind takes as long as they took.
            if number > 0 && (candidate.len() > Reducer::MANY || started.elapsed() > Reducer::LONG)
            {
                break;
            }
            // Most that are killed from outside have nothing to do with what they did, which shows at full speed. Who is
            // done soon is tried step by step at once: that a crash does not come again says little on a busy machine.
            let takes_long = failure.kind == FailureKind::Crash && candidate.len() > Reducer::SOON;
            let attempt = if number > 0 || takes_long {
                match self.replay_test(&candidate)? {
                    Replayed::Fails { failure: other, .. } if !other.is_same_as(failure) => {
                        Attempt::NotReproduced(Some(other))
                    }
                    Replayed::Passes => Attempt::NotReproduced(None),
                    Replayed::Fails { .. } | Replayed::Unknown => {
                        self.attempt(&candidate, failure)?
                    }
                }
            } else {
                self.attempt(&candidate, failure)?
            };
            match attempt {
                Attempt::NotReproduced(other) if number == 0 => instead = other,
                Attempt::NotReproduced(_) => {}
                Attempt::Simpler {
                    test: simpler,
                    failure,
                    runs,
                    complete,
                } => {
                    let time = started.elapsed();
                    let mut story = reducing::story(&candidate, &simpler, runs, time, complete);
                    if number > 0 {
                        story = format!(
                            "It fails only after other tests: a reset does not undo all that they did.\n{story}"
                        );
                    }
                    return Ok(Settled::Reduced {
                        test: simpler,
                        failure,
                        story,
                    });
                }
            }
        }
        Ok(Settled::Flaky { instead })
    }

    /// How long to look for what earlier tests have to do with a failure, and in how many steps.
    const LONG: Duration = Duration::from_secs(20);
    const MANY: usize = 100_000;

    /// So many steps are tried one by one in no time.
    const SOON: usize = 1_000;

    /// Makes a test simpler in one process for all attempts. If the result does not fail in a new process, one attempt
    /// has influenced the other, and each gets a process of its own.
    fn attempt(&mut self, test: &Test, failure: &Failure) -> Result<Attempt, Error> {
        let attempt = if is_fatal(failure.kind) {
            self.attempt_from_here(test, failure, false)?
        } else {
            self.attempt_in_worker(test, failure)?
        };
        let is_in_a_hurry = self.stop.load(Ordering::Relaxed);
        match &attempt {
            Attempt::Simpler { test: short, .. }
                if !is_in_a_hurry && !self.fails(short, failure)? =>
            {
                self.attempt_from_here(test, failure, true)
            }
            _ => Ok(attempt),
        }
    }

    /// Whether a test fails in the same way in a new process.
    fn fails(&mut self, test: &Test, failure: &Failure) -> Result<bool, Error> {
        Ok(match self.replay_test(test)? {
            Replayed::Fails { failure: other, .. } => other.is_same_as(failure),
            Replayed::Passes | Replayed::Unknown => false,
        })
    }

    /// What a test does in a new process.
    fn replay_test(&mut self, test: &Test) -> Result<Replayed, Error> {
        let text = saved::write(&self.actions.catalog(), test, &[]);
        self.replay(&text)
    }

    fn attempt_in_worker(&mut self, test: &Test, failure: &Failure) -> Result<Attempt, Error> {
        let task = Task::Simplify {
            test: self.actions.sent(test),
            failure: failure.into(),
        };
        match self.ask(&task, self.stop)? {
            Said::Report(Report::Simplified {
                test,
                failure: sent,
                runs,
                complete,
            }) => Ok(Attempt::Simpler {
                test: self.actions.received(test),
                failure: sent.into_failure().unwrap_or_else(|| failure.clone()),
                runs,
                complete,
            }),
            Said::Report(Report::NotReproduced(other)) => {
                let other = other.and_then(SentFailure::into_failure);
                Ok(Attempt::NotReproduced(other))
            }
            // A process may be spoiled by the tests that were tried in it.
            Said::Report(Report::Impossible(_)) => self.attempt_from_here(test, failure, true),
            // Some shorter test is worse than this one.
            Said::Report(_) | Said::Lost(..) | Said::Nothing => {
                self.attempt_from_here(test, failure, false)
            }
        }
    }

    /// The same, without trust in any worker; with a new one for each attempt, if so wished.
    fn attempt_from_here(
        &mut self,
        test: &Test,
        failure: &Failure,
        is_fresh: bool,
    ) -> Result<Attempt, Error> {
        let hangs = failure.kind == FailureKind::Hang;
        // A test that takes too long as a whole needs all of its time.
        let is_step = failure.signature != WHOLE_TEST;
        // Who waits five seconds for each of a hundred steps that do not come back waits long.
        let hasty = Patience {
            step: (self.patience.step / 10)
                .max(Reducer::HASTE)
                .min(self.patience.step),
            ..self.patience
        };
        let patience = if hangs && is_step {
            hasty
        } else {
            self.patience
        };
        let aim = if hangs { Aim::Short } else { Aim::Simple };
        let (short, found, runs, complete) =
            match self.shrink(test, failure, aim, (patience, is_fresh))? {
                Attempt::Simpler {
                    test,
                    failure,
                    runs,
                    complete,
                } => (test, failure, runs, complete),
                other => return Ok(other),
            };
        if hangs && patience != self.patience {
            // What takes longer than haste allows need not take for ever.
            let mut remote = self.remote(self.patience);
            let options = ReplayOptions {
                check: self.options.check,
            };
            let confirmed = replay(&mut remote, &short, &options, &mut ())?;
            drop(remote);
            return match confirmed.failure() {
                Some(confirmed) if confirmed.is_same_as(failure) => Ok(Attempt::Simpler {
                    test: short,
                    failure: confirmed.clone(),
                    runs: runs + 1,
                    complete,
                }),
                _ => self.shrink(test, failure, aim, (self.patience, is_fresh)),
            };
        }
        Ok(Attempt::Simpler {
            test: short,
            failure: found,
            runs,
            complete,
        })
    }

    /// A step that takes longer does not come back.
    const HASTE: Duration = Duration::from_millis(500);

    fn shrink(
        &mut self,
        test: &Test,
        failure: &Failure,
        aim: Aim,
        (patience, is_fresh): (Patience, bool),
    ) -> Result<Attempt, Error> {
        let stop = self.stop;
        let mut proceed = || !stop.load(Ordering::Relaxed);
        let options = self.options;
        let mut remote = self.remote(patience);
        if is_fresh {
            remote = remote.with_fresh_processes();
        }
        match reducing::shrink(&mut remote, test, failure, &options, aim, &mut proceed) {
            Ok((
                Shrunk {
                    test,
                    failure: found,
                    complete,
                    ..
                },
                effort,
            )) => Ok(Attempt::Simpler {
                test,
                failure: found.unwrap_or_else(|| failure.clone()),
                runs: effort.runs,
                complete,
            }),
            Err(ReduceError::NotReproduced(other)) => Ok(Attempt::NotReproduced(other)),
            Err(ReduceError::Error(error)) => Err(error),
        }
    }

    /// The system in processes that may die.
    fn remote(
        &self,
        patience: Patience,
    ) -> Remote<Processes<impl FnMut() -> Result<ForkServer, Error> + use<'a>, Task>> {
        let (starter, stop) = (self.starter, self.stop);
        let start = move || start(starter, stop);
        Remote::new(
            self.actions.catalog().clone(),
            Processes::new(start, Task::Serve),
            patience,
        )
    }

    /// Loads the harness, if that is still to be done.
    pub(crate) fn prepare(&mut self) -> Result<(), NoNursery> {
        if self.nursery.is_none() {
            let stop = self.stop;
            let mut wait = || !stop.load(Ordering::Relaxed);
            self.nursery = Some(self.starter.start(&mut wait)?);
        }
        Ok(())
    }

    /// What a saved test does now.
    pub(crate) fn replay(&mut self, text: &str) -> Result<Replayed, Error> {
        let task = Task::Replay {
            text: text.to_owned(),
        };
        Ok(match self.ask(&task, self.stop)? {
            Said::Report(Report::Replayed { failure: None, .. }) => Replayed::Passes,
            Said::Report(Report::Replayed {
                test,
                failure: Some(failure),
            }) => Replayed::Fails {
                test: self.actions.received(test),
                failure: failure
                    .into_failure()
                    .ok_or_else(|| Error::new("there is no such kind of failure"))?,
            },
            Said::Lost(loss, test) => Replayed::Fails {
                failure: failure_of(&loss, &test, &self.actions.catalog()),
                test,
            },
            Said::Report(_) | Said::Nothing => Replayed::Unknown,
        })
    }

    /// The test as a file for pytest, or why there is none; nothing if there never is.
    pub(crate) fn write(
        &mut self,
        test: &Test,
        failure: &Failure,
        title: String,
        file: &Place,
    ) -> Option<Result<String, Error>> {
        let task = Task::Write {
            test: self.actions.sent(test),
            fatal: is_fatal(failure.kind).then(|| failure.into()),
            title,
            file: file.absolute().to_owned(),
        };
        // It is one test, and worth the moment even to who is in a hurry.
        Some(match self.ask(&task, &AtomicBool::new(false)) {
            Ok(Said::Report(Report::Written(text))) => Ok(text),
            Ok(Said::Report(Report::NotWritten)) => return None,
            Ok(Said::Report(Report::Impossible(error))) => Err(error.into()),
            Ok(_) => Err(Error::new(
                "the process that was to write it came to its end",
            )),
            Err(error) => Err(error),
        })
    }

    /// Lets a new worker do one thing, unless somebody wants to stop.
    fn ask(&mut self, task: &Task, stop: &AtomicBool) -> Result<Said, Error> {
        // The nursery may be gone: the last worker may have killed it.
        for _ in 0..2 {
            let mut nursery = match self.nursery.take() {
                Some(nursery) => nursery,
                None => start(self.starter, stop)?,
            };
            let mut listener = Listener {
                glossary: Glossary::new(self.actions),
                stop,
                said: None,
                asked_to_stop: None,
            };
            let overseen = oversee(&mut nursery, task, &self.patience, &mut listener);
            let said = match overseen {
                Ok(Overseen::Over) => listener.said.map_or(Said::Nothing, Said::Report),
                Ok(Overseen::Dismissed) => return Err(Error::new("interrupted")),
                Ok(Overseen::Lost(loss)) => {
                    let test = listener.glossary.test(&loss.current);
                    Said::Lost(loss, test)
                }
                Err(_) => continue,
            };
            self.nursery = Some(nursery);
            return Ok(said);
        }
        Ok(Said::Nothing)
    }
}

pub(crate) fn start(starter: &Starter, stop: &AtomicBool) -> Result<ForkServer, Error> {
    let mut wait = || !stop.load(Ordering::Relaxed);
    starter.start(&mut wait).map_err(|why| match why {
        NoNursery::Error(error) => error,
        NoNursery::Told(words) => {
            Error::new(format!("the system cannot be loaded any more:\n{words}"))
        }
        NoNursery::Abandoned => Error::new("interrupted"),
    })
}

/// Whether a failure is the end of the process.
pub(crate) fn is_fatal(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Crash | FailureKind::Hang)
}

/// The last tests of a history: two of them, then four, and so on up to all.
fn longer_and_longer(history: &Test, last: usize) -> Vec<Test> {
    let steps = &history.steps;
    let end = steps.len().saturating_sub(last);
    let mut begins: Vec<usize> = (0..end)
        .filter(|index| *index == 0 || steps[index - 1] == Step::Restart)
        .collect();
    begins.reverse();
    let mut chosen = Vec::new();
    let mut number = 1;
    while let Some(begin) = begins.get(number - 1) {
        chosen.push(*begin);
        number *= 2;
    }
    chosen.extend(begins.last().filter(|first| chosen.last() != Some(first)));
    let test = |begin: usize| Test::of_steps(steps[begin..].to_vec());
    chosen.into_iter().map(test).collect()
}

/// Waits for the one thing that a worker has to say.
struct Listener<'a> {
    glossary: Glossary<'a>,
    stop: &'a AtomicBool,
    said: Option<Report>,
    asked_to_stop: Option<Instant>,
}

impl Listener<'_> {
    /// How long a worker may take to notice that it is to stop.
    const GRACE: Duration = Duration::from_millis(500);
}

impl Overseer<Report> for Listener<'_> {
    type Answer = ();

    fn hear(&mut self, report: Report, _log: &Log) {
        match report {
            Report::Met(name) => self.glossary.hear(&name),
            report => self.said = Some(report),
        }
    }

    fn answer(&mut self, report: Report, log: &Log) {
        self.hear(report, log);
    }

    fn look(&mut self, log: &Log) -> bool {
        if !self.stop.load(Ordering::Relaxed) {
            return true;
        }
        log.ask_to_stop();
        let asked = self.asked_to_stop.get_or_insert_with(Instant::now);
        asked.elapsed() < Listener::GRACE
    }
}

/// What a loss of a worker is as a failure of the test that it was at.
pub(crate) fn failure_of(loss: &Loss, test: &Test, catalog: &Catalog) -> Failure {
    let last = test.steps.iter().rev().find_map(|step| match step {
        Step::Act(action) => Some(*action),
        Step::Restart => None,
    });
    let place = last.map_or_else(|| "reset".to_owned(), |action| catalog.origin(action));
    loss.ending.failure(&place, loss.waited)
}

#[cfg(test)]
mod tests {
    use testwright_core::ActionId;

    use super::*;

    #[test]
    fn a_history_is_tried_from_its_end() {
        let act = |action| Step::Act(ActionId(action));
        let mut steps = Vec::new();
        for number in 0..5 {
            steps.extend([act(number), act(number), Step::Restart]);
        }
        steps.extend([act(9), act(8)]);
        let tests = longer_and_longer(&Test::of_steps(steps.clone()), 2);
        let lengths: Vec<usize> = tests.iter().map(Test::len).collect();
        assert_eq!(lengths, [5, 8, 14, 17]);
        assert_eq!(tests[3].steps, steps);
        assert!(longer_and_longer(&Test::of_steps(vec![act(1)]), 1).is_empty());
    }
}
