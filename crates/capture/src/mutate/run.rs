//! Runs tests with mutants.
//!
//! First, [`measure`] runs all tests without mutants. They have to pass, and the lines that each
//! test reaches are recorded. Then, [`run`] runs each mutant against the tests that reach its
//! lines, the fastest first, until one of them fails. Each mutant runs in a fork of a warm process,
//! so it costs hardly more than its tests; `run/runner.py` explains how a mutant gets into the
//! program without changing a file. A fork that hangs or crashes counts as a failed test.

mod measurements;
mod server;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

pub use measurements::{MeasuredTest, TestMeasurements, measure};

use super::Mutant;
use crate::validate::Error;
use crate::write::TestFramework;
use measurements::InjectionMode;
use server::{MutantReply, MutantRequest, MutantServer};

/// The tests and the environment in which they run.
#[derive(Clone, Debug)]
pub struct MutationSetup {
    /// The interpreter.
    pub python: PathBuf,
    /// The test framework.
    pub style: TestFramework,
    /// The folder of the project; names of tests are relative to it.
    pub root: PathBuf,
    /// The module search path.
    pub path: Vec<PathBuf>,
    /// The test files.
    pub tests: Vec<PathBuf>,
    /// The tests to run, as `file::Class::function`; all tests of the files if `None`.
    pub selected_tests: Option<Vec<String>>,
    /// The folder to run in; a temporary one if `None`.
    pub start: Option<PathBuf>,
}

/// A source file with its mutants.
#[derive(Clone, Debug)]
pub struct MutatedFile {
    /// Its path, without symbolic links.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
    /// Its mutants.
    pub mutants: Vec<Mutant>,
}

/// The result of testing a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantVerdict {
    /// A test failed, or could not be run at all.
    Noticed {
        /// The test.
        by: Option<String>,
        /// Its message.
        message: String,
    },
    /// The tests did not end in time.
    Hung,
    /// The tests crashed the process.
    Crashed(String),
    /// All tests passed.
    Survived,
    /// No test reaches it.
    NotReached,
}

impl MutantVerdict {
    /// Returns true if the tests notice the mutant.
    #[must_use]
    pub fn is_noticed(&self) -> bool {
        matches!(
            self,
            MutantVerdict::Noticed { .. } | MutantVerdict::Hung | MutantVerdict::Crashed(_)
        )
    }
}

/// A mutant: the index of its file, and its index there.
pub type MutantId = (usize, usize);

/// The seconds that tests may take beyond ten times their duration without a mutant.
const EXTRA_SECONDS: f64 = 15.0;
/// The limit of processor time in the same way. It does not depend on the load of the machine.
const EXTRA_PROCESSOR_SECONDS: f64 = 1.0;

/// Tests mutants in several processes at once. `report` is called with each result. When
/// `is_stopped` becomes true, the results so far are returned.
///
/// # Errors
/// If tests can no longer be run.
pub fn run(
    setting: &MutationSetup,
    files: &[MutatedFile],
    measured: &TestMeasurements,
    chosen: &[MutantId],
    jobs: usize,
    is_stopped: &AtomicBool,
    mut report: impl FnMut(MutantId, &MutantVerdict),
) -> Result<Vec<(MutantId, MutantVerdict)>, Error> {
    let next = AtomicUsize::new(0);
    let (sender, verdicts) = mpsc::channel();
    let mut known = Vec::new();
    let mut error_found = None;
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, chosen.len().max(1)) {
            let sender = sender.clone();
            let next = &next;
            scope.spawn(move || {
                let mut work = MutantWorker {
                    setting,
                    files,
                    measured,
                    is_stopped,
                    swap_server: None,
                    load_server: None,
                };
                while let Some(id) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = work.verdict(*id);
                    let is_over = verdict.is_err();
                    // The receiver is gone only if the run has ended.
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
                    report(id, &verdict);
                    known.push((id, verdict));
                }
                Ok(None) => {}
                Err(error) => {
                    error_found.get_or_insert(error);
                    next.store(chosen.len(), Ordering::Relaxed);
                }
            }
        }
    });
    known.sort_by_key(|(id, _)| *id);
    error_found.map_or(Ok(known), Err)
}

/// The state of one worker thread.
struct MutantWorker<'a> {
    /// The tests and their environment.
    setting: &'a MutationSetup,
    /// The source files.
    files: &'a [MutatedFile],
    /// The measurements without mutants.
    measured: &'a TestMeasurements,
    /// True when the run is to be stopped.
    is_stopped: &'a AtomicBool,
    /// The process that exchanges functions, if it is running.
    swap_server: Option<MutantServer>,
    /// The process that loads changed modules, if it is running.
    load_server: Option<MutantServer>,
}

impl MutantWorker<'_> {
    /// Tests a mutant; `None` if the run is stopped.
    fn verdict(&mut self, (file, number): MutantId) -> Result<Option<MutantVerdict>, Error> {
        let found = self.files.get(file);
        let Some((file, mutant)) = found.and_then(|found| Some((file, found.mutants.get(number)?)))
        else {
            return Ok(None);
        };
        let tests = self.measured.tests_reaching(file, mutant);
        if tests.is_empty() {
            return Ok(Some(MutantVerdict::NotReached));
        }
        let mut mode = self.measured.injection_mode(file, mutant);
        loop {
            if self.is_stopped.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let reply = self.request(mode, file, mutant, &tests)?;
            let verdict = match reply {
                MutantReply::Stopped => return Ok(None),
                // The function does not exist in the process, so the whole module has to be loaded.
                MutantReply::NotInjected if mode == InjectionMode::Swap => {
                    mode = InjectionMode::Load;
                    continue;
                }
                MutantReply::NotInjected => MutantVerdict::NotReached,
                MutantReply::Survived => MutantVerdict::Survived,
                MutantReply::Noticed { by, message } => MutantVerdict::Noticed { by, message },
                MutantReply::Hung => MutantVerdict::Hung,
                MutantReply::Crashed(how) => MutantVerdict::Crashed(how),
            };
            return Ok(Some(verdict));
        }
    }

    /// Sends a mutant to the process for an injection mode, and starts the process if necessary.
    fn request(
        &mut self,
        mode: InjectionMode,
        file: usize,
        mutant: &Mutant,
        tests: &[usize],
    ) -> Result<MutantReply, Error> {
        let tests: Vec<&MeasuredTest> = tests
            .iter()
            .filter_map(|number| self.measured.tests.get(*number))
            .collect();
        let collecting = match mode {
            InjectionMode::Measure | InjectionMode::Swap => 0.0,
            InjectionMode::Load => self.measured.collection_seconds,
        };
        let usual = tests.iter().map(|test| test.seconds).sum::<f64>() + collecting;
        let Some(path) = self.files.get(file).map(|file| &file.path) else {
            return Ok(MutantReply::NotInjected);
        };
        let request = MutantRequest {
            file: path,
            start: mutant.range.start,
            end: mutant.range.end,
            replacement: &mutant.replacement,
            tests: tests.iter().map(|test| test.name.as_str()).collect(),
            files: self.measured.files_of_tests(self.setting, &tests),
            seconds: EXTRA_SECONDS + 10.0 * usual,
            processor: (EXTRA_PROCESSOR_SECONDS + 10.0 * usual).ceil() as u64,
        };
        let server_slot = match mode {
            InjectionMode::Measure | InjectionMode::Swap => &mut self.swap_server,
            InjectionMode::Load => &mut self.load_server,
        };
        let server = match server_slot {
            Some(server) => server,
            None => server_slot.insert(MutantServer::start(
                self.setting,
                self.files,
                mode,
                &self.measured.external_modules,
            )?),
        };
        // The process enforces the time limit itself, unless it hangs.
        let late = Duration::from_secs_f64(
            request.seconds + 10.0 + 10.0 * self.measured.collection_seconds,
        );
        let (reply, is_reusable) = server.request(&request, late, self.is_stopped)?;
        if !is_reusable {
            *server_slot = None;
        }
        Ok(reply)
    }
}
