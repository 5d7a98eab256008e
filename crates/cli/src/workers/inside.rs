//! The process of a nursery, and of the workers that it bears.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use testwright_campaign::{
    Connected, Doing, LOST_CONNECTION, Log, Logged, Newborn, Place, SentFailure, SentTest, Voice,
    connect, serve,
};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::ReduceError;
use testwright_core::{Error, Step, saved};
use testwright_python::{Hook, Interpreter, Options, Process, PythonSystem};

use super::search::{self, SharedVoice};
use super::{Greeting, Refusal, Report, Setup, Task};
use crate::commands::{Chosen, Run};
use crate::console::Console;
use crate::models::{At, ModelSystem};
use crate::reducing::{self, Aim};
use crate::source::with_model_system;
use crate::subject::Subject;
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

    /// Loads the harness or the models and bears workers. It returns only if they cannot be loaded.
    fn live(&self, interpreter: Interpreter<'_>, place: Place, setup: &Setup) -> Result<(), Error> {
        setup.limits.apply();
        let (mut nowhere, mut told) = (io::sink(), Words::default());
        let words = told.clone();
        let terminal = Terminal {
            width: setup.width,
            colour_err: setup.colour,
            ..Terminal::plain()
        };
        let mut console = Console::new(&mut nowhere, &mut told, terminal);
        let options = Options {
            process: Process::OfAWorker,
            ..self.run.options()
        };
        let place = Cell::new(Some(place));
        let refused = match &setup.harness {
            Some(harness) => {
                let file = harness.file();
                // What is wrong with its text has been told by who started us.
                let (harness, _) = testwright_lang::parse(&file.text);
                let loaded = load::system(&mut console, interpreter, &file, harness, &options);
                loaded.and_then(|mut system| {
                    let greeting = |_: &PythonSystem<'_>| Greeting::default();
                    self.nurse(
                        &mut console,
                        interpreter,
                        &mut system,
                        &place,
                        setup,
                        greeting,
                    )
                })
            }
            None => {
                let names = self.run.model_names()?;
                let work = |console: &mut Console<'_>, system: &mut ModelSystem<'_, '_, '_>| {
                    let greeting = |system: &ModelSystem<'_, '_, '_>| Greeting {
                        classes: system.class_names(),
                        told: words.text(),
                    };
                    self.nurse(console, interpreter, system, &place, setup, greeting)
                };
                with_model_system(&mut console, &names, &options, At::Alone, work)
            }
        };
        let Err(trouble) = refused;
        drop(console);
        let refusal = match trouble {
            Trouble::Error(error) if words.text().is_empty() => Refusal::Error(error.into()),
            // A traceback belongs to it.
            Trouble::Error(error) => Refusal::Told(told_with(&words, &error, setup)),
            Trouble::Told | Trouble::Interrupted => Refusal::Told(words.text()),
        };
        if let Some(mut place) = place.take() {
            place.loaded(Err::<Greeting, _>(refusal)).map_err(lost)?;
        }
        Ok(())
    }

    /// Bears workers. It returns only if that cannot begin.
    fn nurse<S: Subject>(
        &self,
        console: &mut Console<'_>,
        interpreter: Interpreter<'_>,
        system: &mut S,
        place: &Cell<Option<Place>>,
        setup: &Setup,
        greeting: impl FnOnce(&S) -> Greeting,
    ) -> Result<Infallible, Trouble> {
        // Each worker makes one of its own; what is wrong with it is to be told only once.
        let _strategy: Chosen<S> = self.run.chosen(console, system)?;
        let Some(mut here) = place.take() else {
            return Err(Trouble::Interrupted);
        };
        if let Some(folder) = &setup.folder {
            let moved = system.move_to(folder).and_then(|()| {
                let kept = here.keep(folder);
                kept.map_err(|error| Error::new(format!("cannot keep the folder: {error}")))
            });
            if let Err(error) = moved {
                place.set(Some(here));
                return Err(error.into());
            }
        }
        here.loaded(Ok::<_, ()>(greeting(system))).map_err(lost)?;
        let mut fork = || {
            testwright_python::fork(interpreter).map_err(|error| io::Error::other(error.message))
        };
        let newborn = here.attend(&mut fork).map_err(lost)?;
        testwright_python::leave(match newborn {
            Some(newborn) => self.be(interpreter, system, newborn),
            // The system need not be put away.
            None => 0,
        });
    }

    /// The life of a worker, until its exit status.
    fn be<S: Subject>(
        &self,
        interpreter: Interpreter<'_>,
        system: &mut S,
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
    fn work<S: Subject>(
        &self,
        system: &mut S,
        log: &Log,
        connection: UnixStream,
        task: Task,
    ) -> io::Result<()> {
        let mut connection = Connected::new(connection);
        let alive = system.come_to_life();
        if let Task::Serve = task {
            return match alive {
                Ok(()) => serve(&mut Logged::new(system, log), &mut connection),
                // Who asks learns that there is nobody.
                Err(_) => Ok(()),
            };
        }
        if let Err(error) = alive {
            let mut voice = Voice::new(connection);
            voice.tell(&match task {
                Task::Search(_) => Report::Searched {
                    deadlocks: 0,
                    is_idle: false,
                    problems: Vec::new(),
                    trouble: Some(error.into()),
                },
                _ => Report::Impossible(error.into()),
            })?;
            return voice.over();
        }
        let voice: SharedVoice = Rc::new(RefCell::new(Voice::new(connection)));
        let teller = voice.clone();
        system.tell_names(Some(Box::new(move |name| {
            // A supervisor that does not listen any more ends this process soon.
            let _nobody_listens = teller.borrow_mut().tell(&Report::Met(name));
        })));
        let report = match task {
            Task::Serve => None,
            Task::Search(task) => {
                search::search(&self.run, system, log, &voice, task);
                None
            }
            Task::Simplify { test, failure } => {
                Some(simplify(&self.run, system, log, test, failure))
            }
            Task::Replay { text } => Some(replayed(&self.run, system, log, &text)),
            Task::Write {
                test,
                fatal,
                title,
                file,
            } => {
                let test = test.for_system(system);
                let written = match fatal.and_then(SentFailure::into_failure) {
                    None => system.unit_test(&test, &title, &file),
                    Some(failure) => system.unit_test_of_crash(&test, &failure, &title, &file),
                };
                Some(match written {
                    None => Report::NotWritten,
                    Some(Ok(text)) => Report::Written(text),
                    Some(Err(error)) => Report::Impossible(error.into()),
                })
            }
        };
        system.tell_names(None);
        if let Some(report) = &report {
            voice.borrow_mut().tell(report)?;
        }
        // Nobody else has it any more.
        Rc::into_inner(voice).map_or(Ok(()), |voice| voice.into_inner().over())
    }
}

/// Runs a saved test.
fn replayed<S: Subject>(run: &Run, system: &mut S, log: &Log, text: &str) -> Report {
    system.hear_of(text);
    let saved = match saved::read(system.actions(), text) {
        Ok(saved) => saved,
        Err(problems) => {
            let message = problems.into_iter().next().map(|problem| problem.message);
            return Report::Impossible(Error::new(message.unwrap_or_default()).into());
        }
    };
    let mut logged = Logged::new(system, log);
    let ran = saved.resolve(&mut logged).and_then(|test| {
        let options = ReplayOptions {
            check: run.reduce_options().check,
        };
        let trace = replay(&mut logged, &test, &options, &mut ())?;
        Ok((test, trace))
    });
    log.does(Doing::OwnWork);
    let (test, trace) = match ran {
        Ok(ran) => ran,
        Err(error) => return Report::Impossible(error.into()),
    };
    let is_unknown = |step: &&Step| match step {
        Step::Act(action) => !system.has_met(*action),
        Step::Restart => false,
    };
    if let (None, Some(Step::Act(action))) = (trace.failure(), test.steps.iter().find(is_unknown)) {
        let text = system.actions().text(*action);
        return Report::Impossible(Error::new(format!("there is no action `{text}`")).into());
    }
    Report::Replayed {
        test: SentTest::of(&test, system.actions()),
        failure: trace.failure().map(SentFailure::from),
    }
}

/// Makes a test simpler, as `testwright reduce` does.
fn simplify<S: Subject>(
    run: &Run,
    system: &mut S,
    log: &Log,
    test: SentTest,
    failure: SentFailure,
) -> Report {
    let test = test.for_system(system);
    let Some(failure) = failure.into_failure() else {
        return Report::Impossible(Error::new("there is no such kind of failure").into());
    };
    let options = run.reduce_options();
    system.call_hook(Hook::BeforeReduce);
    let mut proceed = || !log.is_to_stop();
    let shrunk = reducing::shrink(
        &mut Logged::new(system, log),
        &test,
        &failure,
        &options,
        Aim::Simple,
        &mut proceed,
    );
    log.does(Doing::OwnWork);
    system.call_hook(Hook::AfterReduce);
    match shrunk {
        Ok((shrunk, effort)) => Report::Simplified {
            test: SentTest::of(&shrunk.test, system.actions()),
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

/// What has been told, and an error after it.
fn told_with(words: &Words, error: &Error, setup: &Setup) -> String {
    let (mut nowhere, mut told) = (io::sink(), words.clone());
    let terminal = Terminal {
        width: setup.width,
        colour_err: setup.colour,
        ..Terminal::plain()
    };
    let mut console = Console::new(&mut nowhere, &mut told, terminal);
    console.error(error);
    drop(console);
    words.text()
}

/// What a console tells, for those who have lent it away.
#[derive(Clone, Debug, Default)]
struct Words(Rc<RefCell<Vec<u8>>>);

impl Words {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

impl Write for Words {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lost(error: io::Error) -> Error {
    Error::new(format!("the supervisor is gone: {error}"))
}
