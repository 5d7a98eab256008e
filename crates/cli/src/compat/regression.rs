//! `tstl_regress`: many saved tests again.

use std::path::{Path, PathBuf};
use std::time::Instant;

use testwright_core::replay::{ReplayOptions, Watcher, replay};
use testwright_core::{ActionId, Error, Event, Failure};
use testwright_python::{Measured, Output, PythonSystem};

use super::tally::{Names, New, Tally};
use super::test_file::{self, TestFile};
use super::words::{self, Narration};
use super::{Calling, Ended, Tool};
use crate::Trouble;
use crate::compiled::Compiled;
use crate::console::Console;
use crate::coverage::FromFirstStep;
use crate::files::Place;

/// Run saved tests again, and tell which of them add no coverage
#[derive(clap::Parser)]
#[command(name = "tstl_regress", rename_all = "camelCase")]
pub(super) struct Regression {
    /// The tests
    #[arg(value_name = "TESTS")]
    tests: Vec<PathBuf>,

    /// The tests are patterns with `*` and `?`
    #[arg(long)]
    glob: bool,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// Write pages of what is covered to this folder
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,

    /// Do not measure coverage
    #[arg(long)]
    no_cover: bool,

    /// Show all values that a step uses
    #[arg(long)]
    verbose: bool,

    /// Tell what each test is the first to cover
    #[arg(long)]
    running: bool,

    /// Do not stop at a failing test, and end with status 0
    #[arg(long)]
    keep_going: bool,

    /// The tests are in AFL's form
    #[arg(long)]
    afl: bool,

    /// The tests are in AFL's swarm form
    #[arg(long)]
    aflswarm: bool,
}

/// What became of the tests.
#[derive(Default)]
struct Results {
    failed: Vec<String>,
    invalid: Vec<String>,
    needed: Vec<String>,
    redundant: Vec<String>,
}

impl Tool for Regression {
    fn run(self, console: &mut Console<'_>, _: &Calling) -> Result<Ended, Trouble> {
        test_file::refuse_swarm(self.aflswarm)?;
        let compiled = Compiled::read(Path::new("sut.py"))?;
        let table = Place::new(Path::new("coverage.out"))?;
        let pages = self.html.as_deref().map(Place::new).transpose()?;
        let files = self.files()?;
        let measured = Measured::modules_if(!self.no_cover);
        let options = compiled.options(Output::Show, measured);
        compiled.with_system(console, &options, |console, system| {
            let mut tally = Tally::default();
            let mut results = Results::default();
            let stopped = self.run_all(console, system, &files, &mut tally, &mut results)?;
            if stopped {
                return Ok(Ended::Failure);
            }
            if let Some(collector) = system.coverage() {
                tally.say_all(console, collector);
                let percentage = tally.write_table(collector, &table)?;
                console.say(format_args!("{percentage:?} PERCENT COVERED"));
                if let Some(folder) = &pages {
                    tally.write_pages(collector, folder)?;
                }
            }
            results.say(console, files.len());
            Ok(Ended::Well)
        })
    }
}

impl Regression {
    fn files(&self) -> Result<Vec<TestFile>, Error> {
        let found = if self.glob {
            let patterns = self.tests.iter().map(|path| path.to_string_lossy());
            patterns
                .flat_map(|pattern| test_file::matching(&pattern))
                .collect()
        } else {
            self.tests.clone()
        };
        let files = found.iter().map(|path| TestFile::read(path, self.afl));
        files.collect()
    }

    /// Whether a failure ended it.
    fn run_all(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        files: &[TestFile],
        tally: &mut Tally,
        results: &mut Results,
    ) -> Result<bool, Trouble> {
        let started = Instant::now();
        for file in files {
            let name = file.name().to_owned();
            console.say(format_args!("RUNNING TEST {name}"));
            let test = match file.test(console, system) {
                Ok(test) => test,
                Err(Trouble::Told) => {
                    console.say("INVALID TEST, SKIPPING...");
                    results.invalid.push(name);
                    continue;
                }
                Err(trouble) => return Err(trouble),
            };
            let options = ReplayOptions {
                check: !self.no_check,
            };
            let mut player = Player {
                console,
                narration: self.verbose.then(|| Narration::new(false)),
                from_first_step: system.coverage().map(|_| FromFirstStep::default()),
            };
            let trace = replay(system, &test, &options, &mut player)?;
            let trouble = player.from_first_step.and_then(|watcher| watcher.trouble);
            if let Some(error) = trouble {
                return Err(error.into());
            }
            if trace.interrupted {
                return Err(Trouble::Interrupted);
            }
            system.flush();
            let new = self.measure(console, system, tally);
            if let Some(new) = &new {
                if new.is_empty() {
                    results.redundant.push(name.clone())
                } else {
                    results.needed.push(name.clone())
                }
            }
            if let Some(failure) = trace.failure() {
                say_failure(console, system, &name, failure);
                results.failed.push(name);
                if !self.keep_going {
                    return Ok(true);
                }
            }
            console.say(format_args!(
                "{} ELAPSED",
                words::seconds(started.elapsed())
            ));
            if let Some(new) = new {
                let (statements, branches) = (tally.statements(), tally.branches());
                console.say(format_args!(
                    "STATEMENTS: {statements} BRANCHES: {branches}"
                ));
                if !new.is_empty() {
                    console.say(format_args!(
                        "NEW STATEMENTS: {} BRANCHES: {}",
                        new.statements.len(),
                        new.branches.len()
                    ));
                }
            }
            console.flush();
        }
        Ok(false)
    }

    /// What the last test was the first to cover, if that is measured.
    fn measure(
        &self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        tally: &mut Tally,
    ) -> Option<New> {
        let collector = system.coverage()?;
        let new = tally.add(collector, collector.current().iter());
        if self.running {
            let names = Names::new(collector);
            for branch in &new.branches {
                let name = names.branch(collector, *branch);
                console.say(format_args!("New branch: {name}"));
            }
            for statement in &new.statements {
                let name = names.statement(*statement);
                console.say(format_args!("New statement: {name}"));
            }
        }
        Some(new)
    }
}

fn say_failure(
    console: &mut Console<'_>,
    system: &PythonSystem<'_>,
    name: &str,
    failure: &Failure,
) {
    console.say(format_args!("TEST {name} FAILED:"));
    console.say(system.exception_tuple(&failure.message));
    if words::is_of_check(failure) {
        console.say(&failure.message);
    }
}

impl Results {
    fn say(&self, console: &mut Console<'_>, total: usize) {
        if !self.redundant.is_empty() {
            for name in &self.redundant {
                console.say(format_args!(
                    "TEST {name} REDUNDANT WITH RESPECT TO COVERAGE"
                ));
            }
            console.say("");
            console.say(format_args!(
                "{} TESTS NEEDED FOR FULL COVERAGE: {}",
                self.needed.len(),
                self.needed.join(", ")
            ));
            console.say("");
        }
        console.say(format_args!("EXECUTED {total} TESTS"));
        if !self.invalid.is_empty() {
            console.say(format_args!("{} INVALID TESTS:", self.invalid.len()));
            console.say(self.invalid.join(" "));
        }
        if self.failed.is_empty() {
            console.say("ALL TESTS SUCCESSFUL");
        } else {
            console.say(format_args!("{} FAILED TESTS:", self.failed.len()));
            console.say(self.failed.join(" "));
        }
    }
}

/// Measures and shows a test while it runs.
struct Player<'p, 'c> {
    console: &'p mut Console<'c>,
    narration: Option<Narration>,
    from_first_step: Option<FromFirstStep>,
}

impl<'py> Watcher<PythonSystem<'py>> for Player<'_, '_> {
    fn proceed(&mut self) -> bool {
        match &mut self.from_first_step {
            Some(watcher) => Watcher::<PythonSystem<'py>>::proceed(watcher),
            None => !testwright_python::interrupted(),
        }
    }

    fn before(&mut self, system: &mut PythonSystem<'py>, action: ActionId) {
        if let Some(watcher) = &mut self.from_first_step {
            watcher.before(system, action);
        }
        if let Some(narration) = &mut self.narration {
            narration.begin(self.console, system, action);
        }
    }

    fn after(&mut self, system: &mut PythonSystem<'py>, event: &Event) {
        if let Some(narration) = &mut self.narration {
            narration.end(self.console, system, event);
        }
    }
}
