//! The process of a nursery, and of the workers that it bears.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::panic::AssertUnwindSafe;

use testwright_campaign::{
    Connected, Doing, LOST_CONNECTION, Log, Logged, Newborn, Place, SentFailure, SentTest, Voice,
    connect, serve,
};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::ReduceError;
use testwright_core::{Error, System, saved};
use testwright_python::{Hook, Interpreter, Options, Process, PythonSystem, Style};

use super::{Refusal, Report, Setup, Task, search};
use crate::commands::{Chosen, Run};
use crate::console::Console;
use crate::reducing::{self, Aim};
use crate::{ExitStatus, Terminal, Trouble, catch, load};

/// Bears workers for a supervisor (this is not for people)
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Worker {
    #[command(flatten)]
    run: Run,
}

impl Worker {
    pub(crate) fn run(self) -> Result<ExitStatus, Trouble> {
        let connected = connect::<Setup>().map_err(|_| {
            Error::new("this command is for Testwright's own use")
                .with_help("`testwright run` starts workers by itself")
        });
        let (place, last_words, setup) = connected?;
        testwright_python::attach(|interpreter| {
            testwright_python::tell_of_crashes(interpreter, &last_words)?;
            self.live(interpreter, place, &setup)
        })?;
        Ok(ExitStatus::NothingFound)
    }

    /// Loads the harness and bears workers. It returns only if the harness cannot be loaded.
    fn live(
        &self,
        interpreter: Interpreter<'_>,
        mut place: Place,
        setup: &Setup,
    ) -> Result<(), Error> {
        setup.limits.apply();
        let (mut nowhere, mut told) = (io::sink(), Vec::new());
        let terminal = Terminal {
            width: setup.width,
            colour_err: setup.colour,
            ..Terminal::plain()
        };
        let mut console = Console::new(&mut nowhere, &mut told, terminal);
        let file = setup.file();
        // What is wrong with its text has been told by who started us.
        let (harness, _) = testwright_lang::parse(&file.text);
        let options = Options {
            process: Process::OfAWorker,
            ..self.run.options()
        };
        let loaded = load::system(&mut console, interpreter, &file, harness, &options);
        let ready = loaded.and_then(|mut system| {
            // Each worker makes one of its own; what is wrong with it is to be told only once.
            let _strategy: Chosen<PythonSystem<'_>> = self.run.chosen(&mut console, &mut system)?;
            if let Some(folder) = &setup.folder {
                system.move_to(folder)?;
                let kept = place.keep(folder);
                kept.map_err(|error| Error::new(format!("cannot keep the folder: {error}")))?;
            }
            Ok(system)
        });
        let mut system = match ready {
            Ok(system) => system,
            Err(trouble) => {
                let error = match trouble {
                    Trouble::Error(error) => Some(error),
                    Trouble::Told | Trouble::Interrupted => None,
                };
                drop(console);
                let refusal = match error {
                    Some(error) => Refusal::Error(error.into()),
                    None => Refusal::Told(String::from_utf8_lossy(&told).into_owned()),
                };
                place.loaded(Err(refusal)).map_err(lost)?;
                return Ok(());
            }
        };
        place.loaded(Ok::<(), ()>(())).map_err(lost)?;
        let mut fork = || {
            testwright_python::fork(interpreter).map_err(|error| io::Error::other(error.message))
        };
        let newborn = place.attend(&mut fork).map_err(lost)?;
        testwright_python::leave(match newborn {
            Some(newborn) => self.be(interpreter, &mut system, newborn),
            // The system need not be put away.
            None => 0,
        });
    }

    /// The life of a worker, until its exit status.
    fn be<'py>(
        &self,
        interpreter: Interpreter<'py>,
        system: &mut PythonSystem<'py>,
        newborn: Newborn<Task>,
    ) -> i32 {
        let Newborn {
            task,
            connection,
            log,
            last_words,
        } = newborn;
        // Without it a crash is told of all the same, only not where it happened.
        let _no_stack = testwright_python::tell_of_crashes(interpreter, &last_words);
        let worked = catch::panics(AssertUnwindSafe(|| {
            self.work(system, &log, connection, task)
        }));
        system.flush();
        match worked {
            Ok(Ok(())) => 0,
            Ok(Err(_)) => LOST_CONNECTION,
            Err(error) => {
                // Who reads what crashes have to say will find it.
                let _nobody_reads = writeln!(&last_words, "{}", error.message);
                1
            }
        }
    }

    /// Does what a worker is told to.
    fn work(
        &self,
        system: &mut PythonSystem<'_>,
        log: &Log,
        connection: UnixStream,
        task: Task,
    ) -> io::Result<()> {
        let mut connection = Connected::new(connection);
        if let Task::Serve = task {
            return serve(&mut Logged::new(system, log), &mut connection);
        }
        let mut voice = Voice::new(connection);
        match task {
            Task::Serve => {}
            Task::Search(task) => {
                voice = search::search(&self.run, system, log, voice, task);
            }
            Task::Simplify { test, failure } => {
                let report = simplify(&self.run, system, log, test, failure);
                voice.tell(&report)?;
            }
            Task::Replay { text } => {
                let report = replayed(&self.run, system, log, &text);
                voice.tell(&report)?;
            }
            Task::Write {
                test,
                fatal,
                title,
                file,
            } => {
                let test = test.into_test(system.actions());
                let fatal = fatal.and_then(SentFailure::into_failure);
                let (style, file) = (Style::Pytest, Some(file.as_path()));
                let written = match fatal {
                    None => system.standalone(&test, style, &title, file),
                    Some(failure) => {
                        system.standalone_of_crash(&test, &failure, style, &title, file)
                    }
                };
                voice.tell(&match written {
                    Ok(text) => Report::Written(text),
                    Err(error) => Report::Impossible(error.into()),
                })?;
            }
        }
        voice.over()
    }
}

/// Runs a saved test.
fn replayed(run: &Run, system: &mut PythonSystem<'_>, log: &Log, text: &str) -> Report {
    let saved = match saved::read(system.actions(), text) {
        Ok(saved) => saved,
        Err(problems) => {
            let message = problems.into_iter().next().map(|problem| problem.message);
            return Report::Impossible(Error::new(message.unwrap_or_default()).into());
        }
    };
    let mut system = Logged::new(system, log);
    let ran = saved.resolve(&mut system).and_then(|test| {
        let options = ReplayOptions {
            check: run.reduce_options().check,
        };
        let trace = replay(&mut system, &test, &options, &mut ())?;
        Ok((test, trace))
    });
    log.does(Doing::OwnWork);
    match ran {
        Ok((test, trace)) => Report::Replayed {
            test: (&test).into(),
            failure: trace.failure().map(SentFailure::from),
        },
        Err(error) => Report::Impossible(error.into()),
    }
}

/// Makes a test simpler, as `testwright reduce` does.
fn simplify(
    run: &Run,
    system: &mut PythonSystem<'_>,
    log: &Log,
    test: SentTest,
    failure: SentFailure,
) -> Report {
    let test = test.into_test(system.actions());
    let Some(failure) = failure.into_failure() else {
        return Report::Impossible(Error::new("there is no such kind of failure").into());
    };
    let options = run.reduce_options();
    system.call_hook(Hook::BeforeReduce);
    let system = &mut Logged::new(system, log);
    let mut proceed = || !log.is_to_stop();
    let aim = Aim::Simple;
    let shrunk = reducing::shrink(system, &test, &failure, &options, aim, &mut proceed);
    log.does(Doing::OwnWork);
    system.system().call_hook(Hook::AfterReduce);
    match shrunk {
        Ok((shrunk, effort)) => Report::Simplified {
            test: (&shrunk.test).into(),
            failure: (&shrunk.failure.unwrap_or(failure)).into(),
            runs: effort.runs,
            complete: shrunk.complete,
        },
        Err(ReduceError::NotReproduced(other)) => {
            Report::NotReproduced(other.as_ref().map(SentFailure::from))
        }
        Err(ReduceError::Error(error)) => Report::Impossible(error.into()),
    }
}

fn lost(error: io::Error) -> Error {
    Error::new(format!("the supervisor is gone: {error}"))
}
