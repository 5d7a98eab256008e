//! The process of a fork server, and of the workers that it forks.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use testwright_campaign::{
    Activity, CheckedConnection, LOST_CONNECTION, LoggedSystem, ReportSender, SentFailure,
    SentTest, StepLog, WorkerContext, WorkerSpawner, connect, serve,
};
use testwright_core::analyse::culprit::{Culprit, identify};
use testwright_core::shrink::ReduceError;
use testwright_core::{Error, Step, saved};
use testwright_core::{
    describe_os_error,
    replay::{ReplayOptions, replay},
};
use testwright_python::{Hook, Interpreter, Options, ProcessOwner, PythonSystem};

use super::reduce::is_fatal;
use super::search::{self, SharedSender};
use super::{LoadRefusal, LoadReport, SentCulprit, WorkerReport, WorkerSetup, WorkerTask};
use crate::commands::{RunCommand, SelectedStrategy};
use crate::console::Console;
use crate::models::{ModelSystem, StepNotes};
use crate::reduction::{self, ReductionGoal};
use crate::source::with_model_system;
use crate::target::Target;
use crate::unit_test::UnitTestRequest;
use crate::{CommandError, ExitStatus, Terminal, load, panics};

/// Runs workers for a supervisor (internal; not for direct use)
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct WorkerCommand {
    #[command(flatten)]
    run: RunCommand,
}

impl WorkerCommand {
    /// Connects to the supervisor that started this process, and serves it until it closes the
    /// connection.
    pub(crate) fn run(self) -> Result<ExitStatus, CommandError> {
        let connected = connect::<WorkerSetup>().map_err(|_| {
            Error::new("this command is for Testwright's own use")
                .with_help("`testwright run` starts workers by itself")
        });
        let (spawner, crash_output, setup) = connected?;
        testwright_python::attach(|interpreter| {
            testwright_python::enable_crash_reports(interpreter, &crash_output)?;
            self.load_and_serve(interpreter, spawner, &setup)
        })?;
        Ok(ExitStatus::NothingFound)
    }

    /// Loads the harness or the models and forks workers. Returns only if they cannot be loaded.
    fn load_and_serve(
        &self,
        interpreter: Interpreter<'_>,
        spawner: WorkerSpawner,
        setup: &WorkerSetup,
    ) -> Result<(), Error> {
        setup.limits.apply();
        let (mut discarded, mut err) = (io::sink(), SharedBuffer::default());
        let messages = err.clone();
        let terminal = Terminal {
            width: setup.width,
            colour_err: setup.colour,
            ..Terminal::plain()
        };
        let mut console = Console::new(&mut discarded, &mut err, terminal);
        let options = Options {
            process: ProcessOwner::Worker,
            ..self.run.options()
        };
        let spawner = Cell::new(Some(spawner));
        let refused = match &setup.harness {
            Some(harness) => {
                let file = harness.file();
                // The process that started this one has printed the problems of the text.
                let (harness, _) = testwright_lang::parse(&file.text);
                let loaded = load::system(&mut console, interpreter, &file, harness, &options);
                loaded.and_then(|mut system| {
                    let load_report = |_: &PythonSystem<'_>| LoadReport::default();
                    self.serve_workers(
                        &mut console,
                        interpreter,
                        &mut system,
                        &spawner,
                        setup,
                        load_report,
                    )
                })
            }
            None => {
                let names = self.run.model_names()?;
                let work = |console: &mut Console<'_>, system: &mut ModelSystem<'_, '_, '_>| {
                    let load_report = |system: &ModelSystem<'_, '_, '_>| LoadReport {
                        classes: system.class_names(),
                        messages: messages.text(),
                    };
                    self.serve_workers(console, interpreter, system, &spawner, setup, load_report)
                };
                with_model_system(&mut console, &names, &options, StepNotes::Off, work)
            }
        };
        let Err(error) = refused;
        drop(console);
        let refusal = match error {
            CommandError::Error(error) if messages.text().is_empty() => {
                LoadRefusal::Error(error.into())
            }
            // A traceback was printed that belongs to the error.
            CommandError::Error(error) => {
                LoadRefusal::Reported(render_with_error(&messages, &error, setup))
            }
            CommandError::Reported | CommandError::Interrupted => {
                LoadRefusal::Reported(messages.text())
            }
        };
        if let Some(mut spawner) = spawner.take() {
            spawner
                .report_loaded(Err::<LoadReport, _>(refusal))
                .map_err(connection_lost)?;
        }
        Ok(())
    }

    /// Forks workers. Returns only if that cannot begin.
    fn serve_workers<S: Target>(
        &self,
        console: &mut Console<'_>,
        interpreter: Interpreter<'_>,
        system: &mut S,
        spawner_cell: &Cell<Option<WorkerSpawner>>,
        setup: &WorkerSetup,
        load_report: impl FnOnce(&S) -> LoadReport,
    ) -> Result<Infallible, CommandError> {
        // Each worker creates a strategy of its own; this one only makes the problems of its
        // options appear once.
        let _strategy: SelectedStrategy<S> = self.run.build_strategy(console, system)?;
        let Some(mut spawner) = spawner_cell.take() else {
            return Err(CommandError::Interrupted);
        };
        if let Some(folder) = &setup.folder {
            let moved = system.move_to(folder).and_then(|()| {
                let kept = spawner.manage_folder(folder);
                kept.map_err(|error| {
                    Error::new(format!(
                        "cannot keep the folder: {}",
                        describe_os_error(&error)
                    ))
                })
            });
            if let Err(error) = moved {
                spawner_cell.set(Some(spawner));
                return Err(error.into());
            }
        }
        spawner
            .report_loaded(Ok::<_, ()>(load_report(system)))
            .map_err(connection_lost)?;
        let mut fork = || {
            testwright_python::fork(interpreter).map_err(|error| io::Error::other(error.message))
        };
        let context = spawner.spawn_workers(&mut fork).map_err(connection_lost)?;
        testwright_python::exit_now(match context {
            Some(context) => self.run_worker(interpreter, system, context),
            // The system need not be cleaned up.
            None => 0,
        });
    }

    /// Runs a worker, and returns the exit status of its process.
    fn run_worker<S: Target>(
        &self,
        interpreter: Interpreter<'_>,
        system: &mut S,
        context: WorkerContext<WorkerTask>,
    ) -> i32 {
        let WorkerContext {
            task,
            connection,
            log,
            crash_output,
        } = context;
        // Without it, crashes are reported without their position.
        let _no_stack = testwright_python::enable_crash_reports(interpreter, &crash_output);
        let worked = panics::catch(AssertUnwindSafe(|| {
            self.work(system, &log, connection, task)
        }));
        system.flush();
        let status = match worked {
            Ok(Ok(())) => 0,
            Ok(Err(_)) => LOST_CONNECTION,
            Err(error) => {
                // The supervisor reads this file after a crash.
                let _no_reader = writeln!(&crash_output, "{}", error.message);
                1
            }
        };
        testwright_python::run_exit_handlers(status);
        status
    }

    /// Does the task of a worker.
    fn work<S: Target>(
        &self,
        system: &mut S,
        log: &StepLog,
        connection: UnixStream,
        task: WorkerTask,
    ) -> io::Result<()> {
        let mut connection = CheckedConnection::new(connection);
        log.set_activity(Activity::Loading);
        let started = system.start();
        log.set_activity(Activity::OwnWork);
        if let WorkerTask::Serve = task {
            return match started {
                Ok(()) => serve(&mut LoggedSystem::new(system, log), &mut connection),
                // The supervisor sees that the connection is closed.
                Err(_) => Ok(()),
            };
        }
        if let Err(error) = started {
            let mut sender = ReportSender::new(connection);
            sender.report(&match task {
                WorkerTask::Search(_) => WorkerReport::SearchEnded {
                    deadlocks: 0,
                    is_idle: false,
                    problems: Vec::new(),
                    error: Some(error.into()),
                    is_mistake: false,
                },
                _ => WorkerReport::Impossible(error.into()),
            })?;
            return sender.finish();
        }
        let sender: SharedSender = Rc::new(RefCell::new(ReportSender::new(connection)));
        let name_sender = sender.clone();
        system.announce_names(Some(Box::new(move |name| {
            // A supervisor that does not listen any more ends this process soon.
            let _supervisor_gone = name_sender
                .borrow_mut()
                .report(&WorkerReport::ActionNamed(name));
        })));
        let report = match task {
            WorkerTask::Serve => None,
            WorkerTask::Search(task) => {
                search::search(&self.run, system, log, &sender, task);
                None
            }
            WorkerTask::Simplify {
                test,
                failure,
                culprit,
            } => Some(simplify(&self.run, system, log, test, (failure, culprit))),
            WorkerTask::Identify { test, failure } => {
                Some(find_culprit(&self.run, system, log, test, failure))
            }
            WorkerTask::Replay { text } => Some(replay_saved(&self.run, system, log, &text)),
            WorkerTask::WriteUnitTest {
                test,
                failure,
                title,
                file,
                limit,
            } => {
                let test = test.for_system(system);
                let failure = failure.into_failure();
                if failure
                    .as_ref()
                    .is_some_and(|failure| is_fatal(failure.kind))
                {
                    // Models find the actions of a test by running it, and it may hang.
                    log.set_activity(Activity::Stepping);
                }
                let written = failure.and_then(|failure| {
                    system.unit_test(&UnitTestRequest {
                        test: &test,
                        failure: &failure,
                        check: self.run.reduce_options().check,
                        limit,
                        title: &title,
                        file: &file,
                    })
                });
                log.set_activity(Activity::OwnWork);
                Some(match written {
                    None => WorkerReport::NoUnitTest,
                    Some(Ok(text)) => WorkerReport::UnitTest(text),
                    Some(Err(error)) => WorkerReport::Impossible(error.into()),
                })
            }
        };
        system.announce_names(None);
        if let Some(report) = &report {
            sender.borrow_mut().report(report)?;
        }
        // This is the last reference.
        Rc::into_inner(sender).map_or(Ok(()), |sender| sender.into_inner().finish())
    }
}

/// Runs a saved test.
fn replay_saved<S: Target>(
    run: &RunCommand,
    system: &mut S,
    log: &StepLog,
    text: &str,
) -> WorkerReport {
    system.reserve_actions(text);
    let saved = match saved::read(system.actions(), text) {
        Ok(saved) => saved,
        Err(problems) => {
            let message = problems.into_iter().next().map(|problem| problem.message);
            return WorkerReport::Impossible(Error::new(message.unwrap_or_default()).into());
        }
    };
    let mut logged = LoggedSystem::new(system, log);
    let ran = saved.resolve(&mut logged).and_then(|test| {
        let options = ReplayOptions {
            check: run.reduce_options().check,
        };
        let trace = replay(&mut logged, &test, &options, &mut ())?;
        Ok((test, trace))
    });
    log.set_activity(Activity::OwnWork);
    let (test, trace) = match ran {
        Ok(ran) => ran,
        Err(error) => return WorkerReport::Impossible(error.into()),
    };
    let is_unknown = |step: &&Step| match step {
        Step::Act(action) => !system.is_resolved(*action),
        Step::Restart => false,
    };
    if let (None, Some(Step::Act(action))) = (trace.failure(), test.steps.iter().find(is_unknown)) {
        let text = system.actions().text(*action);
        return WorkerReport::Impossible(Error::new(format!("there is no action `{text}`")).into());
    }
    WorkerReport::Replayed {
        test: SentTest::from_test(&test, system.actions()),
        failure: trace.failure().map(SentFailure::from),
    }
}

/// Simplifies a test, as `testwright reduce` does.
fn simplify<S: Target>(
    run: &RunCommand,
    system: &mut S,
    log: &StepLog,
    test: SentTest,
    (failure, culprit): (SentFailure, Option<SentCulprit>),
) -> WorkerReport {
    let test = test.for_system(system);
    let Some(failure) = failure.into_failure() else {
        return WorkerReport::Impossible(Error::new("there is no such kind of failure").into());
    };
    let culprit = culprit.map(Culprit::from);
    let options = run.reduce_options();
    system.call_hook(Hook::BeforeReduce);
    let mut proceed = || !log.is_stop_requested();
    let shrunk = reduction::shrink(
        &mut LoggedSystem::new(system, log),
        &test,
        (&failure, culprit.as_ref()),
        &options,
        ReductionGoal::Simple,
        &mut proceed,
    );
    log.set_activity(Activity::OwnWork);
    system.call_hook(Hook::AfterReduce);
    match shrunk {
        Ok((shrunk, effort)) => WorkerReport::Simplified {
            test: SentTest::from_test(&shrunk.test, system.actions()),
            failure: (&shrunk.failure.unwrap_or(failure)).into(),
            runs: effort.runs,
            complete: shrunk.complete,
        },
        Err(ReduceError::NotReproduced(other)) => {
            WorkerReport::NotReproduced(other.as_ref().map(SentFailure::from))
        }
        Err(ReduceError::Error(error)) => WorkerReport::Impossible(error.into()),
    }
}

/// Finds the step that is to blame for a failure.
fn find_culprit<S: Target>(
    run: &RunCommand,
    system: &mut S,
    log: &StepLog,
    test: SentTest,
    failure: SentFailure,
) -> WorkerReport {
    let test = test.for_system(system);
    let Some(failure) = failure.into_failure() else {
        return WorkerReport::Impossible(Error::new("there is no such kind of failure").into());
    };
    let options = ReplayOptions {
        check: run.reduce_options().check,
    };
    let mut proceed = || !log.is_stop_requested();
    let mut logged = LoggedSystem::new(system, log);
    let identity = identify(&mut logged, &test, &failure, &options, &mut proceed);
    log.set_activity(Activity::OwnWork);
    match identity {
        Ok(identity) => WorkerReport::Identified(identity.culprit.map(Into::into)),
        Err(error) => WorkerReport::Impossible(error.into()),
    }
}

/// Returns the messages so far, with an error after them.
fn render_with_error(messages: &SharedBuffer, error: &Error, setup: &WorkerSetup) -> String {
    let (mut discarded, mut err) = (io::sink(), messages.clone());
    let terminal = Terminal {
        width: setup.width,
        colour_err: setup.colour,
        ..Terminal::plain()
    };
    let mut console = Console::new(&mut discarded, &mut err, terminal);
    console.error(error);
    drop(console);
    messages.text()
}

/// A buffer that stays readable while a console writes to it.
#[derive(Clone, Debug, Default)]
struct SharedBuffer(Rc<RefCell<Vec<u8>>>);

impl SharedBuffer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the error for a lost connection.
fn connection_lost(error: io::Error) -> Error {
    Error::new(format!(
        "the supervisor is gone: {}",
        describe_os_error(&error)
    ))
}
