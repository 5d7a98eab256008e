//! Running tests with mutants.
//!
//! First all tests run without one ([`measure`]): they have to pass, and it is noted which lines each of them reaches. Then each
//! mutant meets those tests that reach its lines, the fastest first, until one of them notices ([`run`]). It meets them in a
//! copy of a process that is warm already, so that a mutant costs hardly more than its tests; `run/runner.py` tells how a
//! mutant gets into a program without changing a file. A copy that hangs or crashes has noticed as well.

mod measured;
mod server;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

pub use measured::{Measured, Test, measure};

use super::Mutant;
use crate::validate::Error;
use crate::write::Style;
use measured::Way;
use server::{Answer, Request, Server};

/// How tests are run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The interpreter.
    pub python: PathBuf,
    /// Who runs the tests.
    pub style: Style,
    /// The folder of the project; names of tests are relative to it.
    pub root: PathBuf,
    /// Where modules are looked for.
    pub path: Vec<PathBuf>,
    /// The files with the tests.
    pub tests: Vec<PathBuf>,
    /// The tests to run, as `file::Class::function`; all that are in the files if nothing is said.
    pub wanted: Option<Vec<String>>,
    /// The folder to run in; one of its own if nothing is said.
    pub start: Option<PathBuf>,
}

/// A file of the program, and its mutants.
#[derive(Clone, Debug)]
pub struct File {
    /// Where it is, without links and detours.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
    /// What it could say.
    pub mutants: Vec<Mutant>,
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A test failed, or could not be run at all.
    Noticed {
        /// Which test.
        by: Option<String>,
        /// What it said.
        message: String,
    },
    /// The tests did not come to an end.
    Hung,
    /// The tests ended the process.
    Crashed(String),
    /// All tests passed.
    Survived,
    /// No test came to it.
    NotReached,
}

impl Verdict {
    /// Whether the tests tell it from the program as it is.
    #[must_use]
    pub fn is_noticed(&self) -> bool {
        matches!(
            self,
            Verdict::Noticed { .. } | Verdict::Hung | Verdict::Crashed(_)
        )
    }
}

/// One mutant of several files: the number of its file and its own.
pub type MutantId = (usize, usize);

/// How long tests may take beyond ten times what they take without a mutant. Processor time decides where there is a limit for
/// it, because a busy machine does not make it longer.
const PATIENCE: f64 = 15.0;
const PROCESSOR_PATIENCE: f64 = 1.0;

/// Tries mutants, with several processes at once. `told` hears of each as soon as it is known. When `is_stopped` becomes true,
/// what is known is all there is.
///
/// # Errors
/// If tests cannot be run any more.
pub fn run(
    setting: &Setting,
    files: &[File],
    measured: &Measured,
    chosen: &[MutantId],
    jobs: usize,
    is_stopped: &AtomicBool,
    mut told: impl FnMut(MutantId, &Verdict),
) -> Result<Vec<(MutantId, Verdict)>, Error> {
    let next = AtomicUsize::new(0);
    let (sender, verdicts) = mpsc::channel();
    let mut known = Vec::new();
    let mut trouble = None;
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, chosen.len().max(1)) {
            let sender = sender.clone();
            let next = &next;
            scope.spawn(move || {
                let mut work = Work {
                    setting,
                    files,
                    measured,
                    is_stopped,
                    swap: None,
                    load: None,
                };
                while let Some(id) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = work.verdict(*id);
                    let is_over = verdict.is_err();
                    // Nobody listens any more only if the work is over.
                    if sender.send((*id, verdict)).is_err() || is_over {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (id, verdict) in verdicts {
            match verdict {
                Ok(Some(verdict)) => {
                    told(id, &verdict);
                    known.push((id, verdict));
                }
                Ok(None) => {}
                Err(error) => {
                    trouble.get_or_insert(error);
                    next.store(chosen.len(), Ordering::Relaxed);
                }
            }
        }
    });
    known.sort_by_key(|(id, _)| *id);
    trouble.map_or(Ok(known), Err)
}

/// What one thread has.
struct Work<'a> {
    setting: &'a Setting,
    files: &'a [File],
    measured: &'a Measured,
    is_stopped: &'a AtomicBool,
    swap: Option<Server>,
    load: Option<Server>,
}

impl Work<'_> {
    /// What becomes of a mutant; nothing if the work is stopped.
    fn verdict(&mut self, (file, number): MutantId) -> Result<Option<Verdict>, Error> {
        let found = self.files.get(file);
        let Some((file, mutant)) = found.and_then(|found| Some((file, found.mutants.get(number)?)))
        else {
            return Ok(None);
        };
        let tests = self.measured.reaching(file, mutant);
        if tests.is_empty() {
            return Ok(Some(Verdict::NotReached));
        }
        let mut way = self.measured.way(file, mutant);
        loop {
            if self.is_stopped.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let answer = self.ask(way, file, mutant, &tests)?;
            let verdict = match answer {
                Answer::Stopped => return Ok(None),
                // Only the modules as a whole can tell, or nobody can.
                Answer::NotHere if way == Way::Swap => {
                    way = Way::Load;
                    continue;
                }
                Answer::NotHere => Verdict::NotReached,
                Answer::Survived => Verdict::Survived,
                Answer::Noticed { by, message } => Verdict::Noticed { by, message },
                Answer::Hung => Verdict::Hung,
                Answer::Crashed(how) => Verdict::Crashed(how),
            };
            return Ok(Some(verdict));
        }
    }

    fn ask(
        &mut self,
        way: Way,
        file: usize,
        mutant: &Mutant,
        tests: &[usize],
    ) -> Result<Answer, Error> {
        let tests: Vec<&Test> = tests
            .iter()
            .filter_map(|number| self.measured.tests.get(*number))
            .collect();
        let collecting = match way {
            Way::Measure | Way::Swap => 0.0,
            Way::Load => self.measured.collecting,
        };
        let usual = tests.iter().map(|test| test.seconds).sum::<f64>() + collecting;
        let Some(path) = self.files.get(file).map(|file| &file.path) else {
            return Ok(Answer::NotHere);
        };
        let request = Request {
            file: path,
            start: mutant.range.start,
            end: mutant.range.end,
            replacement: &mutant.replacement,
            tests: tests.iter().map(|test| test.name.as_str()).collect(),
            files: self.measured.files_of(self.setting, &tests),
            seconds: PATIENCE + 10.0 * usual,
            processor: (PROCESSOR_PATIENCE + 10.0 * usual).ceil() as u64,
        };
        let place = match way {
            Way::Measure | Way::Swap => &mut self.swap,
            Way::Load => &mut self.load,
        };
        let server = match place {
            Some(server) => server,
            None => place.insert(Server::start(
                self.setting,
                self.files,
                way,
                &self.measured.outside,
            )?),
        };
        // The process keeps the time itself, unless it cannot.
        let late =
            Duration::from_secs_f64(request.seconds + 10.0 + 10.0 * self.measured.collecting);
        let (answer, goes_on) = server.ask(&request, late, self.is_stopped)?;
        if !goes_on {
            *place = None;
        }
        Ok(answer)
    }
}
