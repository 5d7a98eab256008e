//! `testwright quick`: a few short tests that reach what many long ones reach.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testwright_core::analyse::quick::{Quick as Quickener, QuickTest, minimal_suite};
use testwright_core::generate::{Found, Made, Progress, Search, SearchWatcher, search};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{ReduceError, ReduceOptions};
use testwright_core::{Coverage, Error, Failure, TargetId, Test, saved};
use testwright_python::{Measured, Options, Output};

use super::SystemArguments;
use super::replay::UntilInterrupted;
use super::run::{at_least_one, draw_seed, seed};
use crate::console::{Console, Look};
use crate::files::{OutputFolder, TextFile};
use crate::load::{self, Suite};
use crate::pulse::Pulse;
use crate::source::Source;
use crate::subject::Subject;
use crate::{ExitStatus, Trouble, duration, quantity, report};

/// Write a few short tests that together reach what many long ones reach
///
/// Makes random tests, or takes saved ones with `--from`, and measures which branches of the modules under
/// test they reach. For each branch a test is reduced to the steps that it takes to get there, and of these
/// short tests as few are kept as will do. They are a regression suite that runs in no time:
///
///   quick-1.test, quick-2.test ...   in the folder `testwright-out/NAME-quick` (NAME is that of the harness),
///                                    each with a note of the branches that it is there for
///
/// Such files of an earlier call are replaced. Branches that are reached by loading the modules do not
/// count. Ctrl-C ends the search, or the reduction, and writes a suite of what there is then.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright quick stack.tstl                             make tests for 10 seconds
  testwright quick stack.tstl --tests 1000 --seed 7       the same suite each time
  testwright quick stack.tstl --from kept --out suite     use the tests in the folder `kept`
  testwright regress suite                                run the suite later on

Exit status: 0 the suite is written and passes, 1 a test of it fails, 2 could not do what was asked."
)]
pub(crate) struct Quick {
    /// The harness, or models to compose
    #[arg(required = true, value_name = "HARNESS|MODEL")]
    harness: Vec<PathBuf>,

    /// Use these tests, and the tests in these folders, instead of making some
    #[arg(
        long,
        value_name = "TEST|FOLDER",
        num_args = 1..,
        conflicts_with_all = ["seed", "time", "tests", "length"]
    )]
    from: Vec<PathBuf>,

    /// Same seed, same tests; without it one is drawn and shown
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    seed: Option<u64>,

    /// How long to make tests: 30s, 2m, 1h, 1.5s [default: 10s, or no limit with --tests]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration::parse)]
    time: Option<Duration>,

    /// How many tests to make [default: as many as the time allows]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    tests: Option<u64>,

    /// How many steps a test may have
    #[arg(
        long,
        value_name = "N",
        default_value = "100",
        allow_negative_numbers = true,
        value_parser = at_least_one::<u32>
    )]
    length: u32,

    /// Where to write the suite [default: testwright-out/NAME-quick]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    system: SystemArguments,
}

/// How many tests and steps there were.
#[derive(Clone, Copy, Default)]
struct Size {
    tests: u64,
    steps: u64,
}

/// The tests to begin with.
struct Originals {
    /// Those that reach what no other does, at least.
    tests: Vec<Test>,
    /// How many there were in all.
    size: Size,
    /// Where they come from, for the notes.
    origin: (String, String),
}

impl Quick {
    const USUAL_TIME: Duration = Duration::from_secs(10);
    /// More runs than this make a test shorter only by little.
    const RUNS_PER_BRANCH: u64 = 2_000;
    /// How many branches a note names.
    const MOST_NAMED: usize = 8;

    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let mut folder = OutputFolder::of_quick_tests(&self.folder()?)?;
        let root = std::env::current_dir().unwrap_or_default();
        let files = if self.from.is_empty() {
            Vec::new()
        } else {
            load::test_files(&self.from)?
        };
        let source = self.source()?;
        let options = Options {
            measured: Measured::Modules,
            ..self.system.options_for(&source, Output::Drop)?
        };
        let ready = source.read(console)?;
        ready.with_subject(console, &options, &self.system, |console, system| {
            system.reset()?;
            let loaded = system.all_touched();
            let originals = if files.is_empty() {
                self.make(console, system)?
            } else {
                given(console, system, files)?
            };
            let (measured, chosen) = self.choose(console, system, &originals.tests, loaded)?;
            let before = union(&measured);
            if before.is_empty() {
                let message = "the tests reach nothing that loading the modules does not reach";
                return Err(Error::new(message).with_help(system.help_to_reach()).into());
            }
            let suite = self.verify(system, chosen)?;
            self.write(system, &root, &originals.origin, &suite, &mut folder)?;
            let after = union(suite.iter().map(|(quick, _)| quick));
            let unit = system.unit();
            Ok(self.say_result(console, originals.size, unit, &before, &suite, &after))
        })
    }

    fn source(&self) -> Result<Source, Error> {
        Source::of(&self.harness)
    }

    fn folder(&self) -> Result<PathBuf, Error> {
        let mut name = self.source()?.stem().into_os_string();
        name.push("-quick");
        let usual = PathBuf::from("testwright-out").join(name);
        Ok(self.out.clone().unwrap_or(usual))
    }

    /// Makes random tests and keeps those that reach something for the first time.
    fn make(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Subject,
    ) -> Result<Originals, Trouble> {
        let plan = Search {
            seed: self.seed.unwrap_or_else(draw_seed),
            tests: self.tests,
            length: self.length as usize,
            check: !self.system.no_check,
        };
        let usual = self.tests.is_none().then_some(Quick::USUAL_TIME);
        system.take_new();
        let mut collection = Collection {
            console,
            tests: Vec::new(),
            new: 0,
            size: Size::default(),
            started: Instant::now(),
            time: self.time.or(usual),
            pulse: Pulse::new(),
        };
        let searched = search(system, &plan, &mut collection);
        let Collection {
            console,
            tests,
            new,
            size,
            ..
        } = collection;
        console.clear_status();
        match searched {
            Err(error) if !testwright_python::interrupted() => return Err(error.into()),
            _ if tests.is_empty() && testwright_python::interrupted() => {
                return Err(Trouble::Interrupted);
            }
            _ => {}
        }
        console.say(format_args!(
            "{}: {} of up to {} made (seed {}), {} of them reached something new",
            self.source()?.shown(),
            quantity::of(size.tests, "test"),
            quantity::of(u64::from(self.length), "step"),
            plan.seed,
            quantity::grouped(new),
        ));
        console.flush();
        Ok(Originals {
            tests,
            size,
            origin: note("seed", plan.seed),
        })
    }

    /// All tests as they were, and a few short ones that reach the same.
    fn choose(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Subject,
        tests: &[Test],
        loaded: Coverage,
    ) -> Result<(Vec<QuickTest>, Vec<QuickTest>), Trouble> {
        let started = Instant::now();
        let mut pulse = Pulse::new();
        let mut proceed = || {
            if let Some(now) = pulse.beat() {
                let time = now - started;
                console.status(|| format!("reducing tests, {}", duration::show(time)));
            }
            !testwright_python::interrupted()
        };
        // Whoever stopped the search wants to have what was found: tests as they were, which can be measured still.
        let was_interrupted = testwright_python::interrupted();
        let mut go_on = || true;
        let mut quick = Quickener {
            options: ReduceOptions {
                check: !self.system.no_check,
                ..ReduceOptions::default()
            },
            budget: Quick::RUNS_PER_BRANCH,
            loaded,
            proceed: if was_interrupted {
                &mut go_on
            } else {
                &mut proceed
            },
        };
        let measured = quick.measured(system, tests)?;
        if measured.len() < tests.len() {
            return Err(Trouble::Interrupted);
        }
        let candidates: Vec<QuickTest> = if was_interrupted {
            measured.clone()
        } else {
            let found = quick.per_target(system, &measured).map_err(explain)?;
            found.into_iter().map(|(_, quick)| quick).collect()
        };
        console.clear_status();
        let suite = minimal_suite(&candidates);
        let suite = suite.into_iter().map(|index| candidates[index].clone());
        Ok((measured, suite.collect()))
    }

    /// Runs the suite as `regress` will, to see which of it fails.
    fn verify(
        &self,
        system: &mut dyn Subject,
        suite: Vec<QuickTest>,
    ) -> Result<Vec<(QuickTest, Option<Failure>)>, Trouble> {
        let options = ReplayOptions {
            check: !self.system.no_check,
        };
        let mut verified = Vec::new();
        for mut quick in suite {
            system.begin_anew()?;
            let trace = replay(system, &quick.test, &options, &mut UntilInterrupted)?;
            if !trace.interrupted {
                // It can be less than before only if chance has a part in it.
                let lost = quick.touches.difference(&system.touched());
                quick.touches = quick.touches.difference(&lost);
            }
            verified.push((quick, trace.failure().cloned()));
        }
        Ok(verified)
    }

    /// Writes the suite, each test with a note of what it reaches that those before do not.
    fn write(
        &self,
        system: &dyn Subject,
        root: &Path,
        origin: &(String, String),
        suite: &[(QuickTest, Option<Failure>)],
        folder: &mut OutputFolder,
    ) -> Result<(), Error> {
        let mut known = Coverage::default();
        for (number, (quick, failure)) in (1..).zip(suite) {
            let new = quick.touches.difference(&known);
            known.merge(&new);
            let named: Vec<TargetId> = new.iter().take(Quick::MOST_NAMED).collect();
            let named = system.reachable(&named, root).into_iter();
            let mut branches: Vec<String> = named.map(|one| one.place).collect();
            if new.len() > branches.len() {
                branches.push(format!("and {} more", new.len() - branches.len()));
            }
            let mut notes = self.source()?.notes();
            notes.push(origin.clone());
            notes.push(note("for", branches.join(", ")));
            notes.extend(failure.as_ref().map(|failure| {
                let text = format!("{}: {}", failure.kind, failure.message);
                note("failure", text)
            }));
            let text = saved::write(system.actions(), &quick.test, &notes);
            folder.write(&format!("quick-{number}.test"), &text)?;
        }
        Ok(())
    }

    fn say_result(
        &self,
        console: &mut Console<'_>,
        size: Size,
        unit: &str,
        before: &Coverage,
        suite: &[(QuickTest, Option<Failure>)],
        after: &Coverage,
    ) -> ExitStatus {
        let steps = suite.iter().map(|(quick, _)| quick.test.len() as u64).sum();
        let suite_size = Size {
            tests: suite.len() as u64,
            steps,
        };
        let units = quantity::plural(unit);
        let (first, rest) = units.split_at(1);
        let width = units.len();
        let heading = format!(
            "          Tests       Steps  {}{rest}",
            first.to_uppercase()
        );
        console.say(heading);
        let lost = before.difference(after).len();
        for (name, size, reached) in [
            ("before", size, before.len()),
            ("after", suite_size, before.len() - lost),
        ] {
            console.say(format_args!(
                "{name:6}  {:>7}  {:>10}  {:>width$}",
                quantity::grouped(size.tests),
                quantity::grouped(size.steps),
                quantity::grouped(reached as u64),
            ));
        }
        let more = after.difference(before).len();
        if more > 0 {
            let branches = quantity::of(more as u64, &format!("more {unit}"));
            console.say(format_args!("Steps in another order reach {branches}"));
        }
        let folder = self.folder().unwrap_or_default();
        let mut status = ExitStatus::NothingFound;
        for (number, (_, failure)) in (1..).zip(suite) {
            let Some(failure) = failure else { continue };
            status = ExitStatus::FailureFound;
            let file = folder.join(format!("quick-{number}.test"));
            let words = console.paint(Look::Bad, "fails");
            console.say(format_args!("{}: {words}", file.display()));
            report::say_failure(console, failure, 4);
        }
        let how = if testwright_python::interrupted() {
            "; interrupted, so it may not be the shortest"
        } else {
            ""
        };
        console.say(format_args!("Written to {}{how}", folder.display()));
        if lost > 0 {
            let branches = quantity::of(lost as u64, unit);
            console.warning(
                &format!("not reached again: {branches} that the tests did reach"),
                Some("the system depends on something besides the test: time, chance, files, an earlier test"),
            );
            return ExitStatus::CouldNot;
        }
        status
    }
}

fn given(
    console: &mut Console<'_>,
    system: &mut dyn Subject,
    files: Vec<TextFile>,
) -> Result<Originals, Trouble> {
    let suite = Suite::read(console, system, files)?;
    let tests: Vec<Test> = suite.tests.into_iter().map(|(_, test)| test).collect();
    let size = Size {
        tests: tests.len() as u64,
        steps: tests.iter().map(|test| test.len() as u64).sum(),
    };
    let origin = note("made-from", quantity::of(size.tests, "test"));
    Ok(Originals {
        tests,
        size,
        origin,
    })
}

fn explain(error: ReduceError) -> Error {
    match error {
        ReduceError::Error(error) => error,
        not_reproduced => Error::new(format!("a test cannot be reduced: {not_reproduced}")),
    }
}

fn union<'a>(tests: impl IntoIterator<Item = &'a QuickTest>) -> Coverage {
    let mut all = Coverage::default();
    for test in tests {
        all.merge(&test.touches);
    }
    all
}

fn note(name: &str, text: impl ToString) -> (String, String) {
    (name.to_owned(), text.to_string())
}

/// Looks after a search for tests that reach something new.
struct Collection<'s, 'c> {
    console: &'s mut Console<'c>,
    tests: Vec<Test>,
    /// How many reached something new.
    new: u64,
    size: Size,
    started: Instant,
    time: Option<Duration>,
    pulse: Pulse,
}

impl<'s> SearchWatcher<dyn Subject + 's> for Collection<'_, '_> {
    fn proceed(&mut self, progress: &Progress) -> bool {
        let Some(now) = self.pulse.beat() else {
            return true;
        };
        let (time, new) = (now - self.started, self.new);
        self.console.status(|| {
            let made = quantity::of(progress.tests, "test");
            let time = duration::show(time);
            format!("{made} made, {new} of them reached something new, {time}")
        });
        !testwright_python::interrupted() && self.time.is_none_or(|limit| time < limit)
    }

    fn made(&mut self, system: &(dyn Subject + 's), made: Made<'_>) -> ControlFlow<()> {
        self.size.tests += 1;
        self.size.steps += made.steps.len() as u64;
        if !system.news().is_empty() {
            self.new += 1;
            self.tests.push(Test::of_steps(made.steps.to_vec()));
            // What it reached before it failed is better shown by a test that passes.
            if let (Some(_), Some((_, before @ [_, ..]))) = (made.failure, made.steps.split_last())
            {
                self.tests.push(Test::of_steps(before.to_vec()));
            }
        }
        ControlFlow::Continue(())
    }

    fn found(&mut self, _: &mut (dyn Subject + 's), _: Found) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
