//! `tstl_replay`: a saved test again.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use testwright_core::replay::{ReplayOptions, Watcher, replay};
use testwright_core::{ActionId, Covered, Error, Event, System, Test};
use testwright_python::{Measured, Options, Output, PythonSystem};

use super::tally::Tally;
use super::test_file::{self, TestFile};
use super::words::{self, Narration};
use super::{Calling, Ended, Tool, seconds};
use crate::Trouble;
use crate::compiled::Compiled;
use crate::console::Console;
use crate::files::{Place, unwritable};

/// Run a saved test again
#[derive(clap::Parser)]
#[command(name = "tstl_replay", rename_all = "camelCase")]
pub(super) struct Replayer {
    /// The test
    #[arg(value_name = "TEST")]
    test: PathBuf,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// Show `log:` lines up to this level
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    logging: Option<i64>,

    /// Show all values that a step uses
    #[arg(long)]
    verbose: bool,

    /// Do not show values of opaque pools
    #[arg(long)]
    hide_opaque: bool,

    /// Show each step
    #[arg(long)]
    show_actions: bool,

    /// Wait after each step
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    delay: Option<Duration>,

    /// Write coverage to `coverage.out`
    #[arg(long)]
    coverage: bool,

    /// Show all that is covered
    #[arg(long)]
    internal: bool,

    /// Write pages of what is covered to this folder
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,

    /// Show each line that runs
    #[arg(long)]
    trace: bool,

    /// The test is in AFL's form
    #[arg(long)]
    afl: bool,

    /// The test is in AFL's swarm form
    #[arg(long)]
    aflswarm: bool,
}

/// Where files go.
struct Places {
    log: Place,
    table: Place,
    pages: Option<Place>,
}

impl Tool for Replayer {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] = &[(
        "trace",
        "lines are not shown one by one; --coverage tells which of them run",
    )];

    fn run(self, console: &mut Console<'_>, _: &Calling) -> Result<Ended, Trouble> {
        test_file::refuse_swarm(self.aflswarm)?;
        let compiled = Compiled::read(Path::new("sut.py"))?;
        let places = Places {
            log: Place::new(Path::new("replay.out"))?,
            table: Place::new(Path::new("coverage.out"))?,
            pages: self.html.as_deref().map(Place::new).transpose()?,
        };
        let file = TestFile::read(&self.test, self.afl)?;
        let measured = Measured::modules_if(self.measures());
        let options = Options {
            log_level: self.logging,
            ..compiled.options(Output::Show, measured)
        };
        compiled.with_system(console, &options, |console, system| {
            let test = file.test(console, system)?;
            self.replay(console, system, &test, &places)
        })
    }
}

impl Replayer {
    fn measures(&self) -> bool {
        self.coverage || self.internal || self.html.is_some()
    }

    fn replay(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        test: &Test,
        places: &Places,
    ) -> Result<Ended, Trouble> {
        let options = ReplayOptions {
            check: !self.no_check,
        };
        let unwritten = |error| unwritable(places.log.shown(), &error);
        let log = File::create(places.log.absolute()).map_err(unwritten)?;
        let mut player = Player {
            tool: self,
            console,
            narration: Narration::new(self.hide_opaque),
            lines: test_file::lines(system, test),
            log,
            index: 0,
            trouble: None,
        };
        let trace = replay(system, test, &options, &mut player)?;
        let Player {
            console,
            mut log,
            trouble,
            ..
        } = player;
        if let Some(error) = trouble {
            return Err(error.into());
        }
        if trace.interrupted {
            return Err(Trouble::Interrupted);
        }
        system.flush();
        if let Some(failure) = trace.failure() {
            let what = if words::is_of_check(failure) {
                "FAILED PROPERTY"
            } else {
                "FAILED STEP"
            };
            console.say(what);
            console.say(system.exception_tuple(&failure.message));
            words::say_details(console, failure);
        } else {
            writeln!(log, "TEST REPLAYED SUCCESSFULLY").map_err(unwritten)?;
        }
        self.report(console, system, places)?;
        Ok(match trace.failure() {
            Some(_) => Ended::Failure,
            None => Ended::Well,
        })
    }

    fn report(
        &self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        places: &Places,
    ) -> Result<(), Error> {
        let Some(collector) = system.coverage() else {
            return Ok(());
        };
        let mut tally = Tally::default();
        tally.add(collector, collector.current().iter());
        if self.internal {
            tally.say_all(console, collector);
        }
        if self.coverage {
            let percentage = tally.write_table(collector, &places.table)?;
            console.say(format_args!("{percentage:?} PERCENT COVERED"));
        }
        match &places.pages {
            Some(folder) => tally.write_pages(collector, folder),
            None => Ok(()),
        }
    }
}

/// Shows a test while it runs, and keeps a log that survives a crash.
struct Player<'p, 'c> {
    tool: &'p Replayer,
    console: &'p mut Console<'c>,
    narration: Narration,
    /// The steps, as they go to the log.
    lines: Vec<String>,
    log: File,
    index: usize,
    trouble: Option<Error>,
}

impl Player<'_, '_> {
    /// A step begins.
    fn begin(&mut self, text: &str) {
        let line = self.lines.get(self.index).map_or("", String::as_str);
        if let Err(error) = writeln!(self.log, "{line}") {
            self.trouble = Some(unwritable(Path::new("replay.out"), &error));
        }
        if self.tool.verbose {
            self.console.say(format_args!("STEP #{}:", self.index));
        }
        if self.tool.show_actions {
            self.console.say(text);
        }
        self.console.flush();
        self.index += 1;
    }
}

impl<'py> Watcher<PythonSystem<'py>> for Player<'_, '_> {
    fn proceed(&mut self) -> bool {
        self.trouble.is_none() && !testwright_python::interrupted()
    }

    fn before(&mut self, system: &mut PythonSystem<'py>, action: ActionId) {
        if self.index == 0 && system.coverage().is_some() {
            self.trouble = system.begin_anew().err();
        }
        self.begin(&system.actions().text(action));
        if self.tool.verbose {
            self.narration.begin(self.console, system, action);
        }
    }

    fn after(&mut self, system: &mut PythonSystem<'py>, event: &Event) {
        match event {
            Event::Restarted => self.begin("<<RESTART>>"),
            Event::Skipped(action) => self.begin(&system.actions().text(*action)),
            event if self.tool.verbose => self.narration.end(self.console, system, event),
            _ => {}
        }
        for line in system.take_log() {
            self.console.say(line);
        }
        thread::sleep(self.tool.delay.unwrap_or_default());
    }
}
