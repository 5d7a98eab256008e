//! `testwright quick`: a few short tests that reach what many long ones reach.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testwright_core::analyse::quick::{QuickReducer as Quickener, QuickTest, minimal_suite};
use testwright_core::generate::{
    FailingTest, GeneratedTest, SearchOptions, SearchProgress, SearchWatcher, search,
};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{ReduceError, ReduceOptions};
use testwright_core::{Coverage, Error, Failure, TargetId, Test, saved};
use testwright_python::{MeasuredCode, Options, OutputMode};

use super::replay::UntilInterrupted;
use super::run::{draw_seed, parse_at_least_one, parse_seed};
use super::{ProcessArguments, StepperArgument, SystemArguments};
use crate::console::{Console, TextStyle};
use crate::files::{OutputFolder, TextFile};
use crate::load::{self, SavedSuite};
use crate::source::SystemSource;
use crate::target::Target;
use crate::throttle::Throttle;
use crate::{CommandError, ExitStatus, duration, quantity, report, test_source};

/// Write a few short tests that reach the same code as many long ones
///
/// Makes random tests, or takes saved ones with `--from`, and measures which branches of the modules under
/// test they reach. For each branch, a test is reduced to the steps that reach it. As few of these short
/// tests are kept as possible. They are a fast regression suite:
///
///   quick-1.test, quick-2.test ...   in the folder `testwright-out/NAME-quick` (NAME is the name of the
///                                    harness), each with a note of the branches that it covers
///
/// Such files of an earlier call are replaced. Branches that are reached by loading the modules do not
/// count. Ctrl-C ends the search, or the reduction, and writes a suite of the tests so far.
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
pub(crate) struct QuickCommand {
    /// Harness, or models to compose
    #[arg(required = true, value_name = "HARNESS|MODEL")]
    harness: Vec<PathBuf>,

    /// Use these tests, and the tests in these folders, instead of random tests
    #[arg(
        long,
        value_name = "TEST|FOLDER",
        num_args = 1..,
        conflicts_with_all = ["seed", "time", "tests", "length"]
    )]
    from: Vec<PathBuf>,

    /// Seed of the tests: the same seed makes the same tests [default: drawn, and shown]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_seed)]
    seed: Option<u64>,

    /// Time to make tests: 30s, 2m, 1h, 1.5s [default: 10s, or no limit with --tests]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration::parse)]
    time: Option<Duration>,

    /// Number of tests to make [default: as many as the time allows]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_at_least_one::<u64>)]
    tests: Option<u64>,

    /// Maximum number of steps of a test
    #[arg(
        long,
        value_name = "N",
        default_value = "100",
        allow_negative_numbers = true,
        value_parser = parse_at_least_one::<u32>
    )]
    length: u32,

    /// Folder to write the suite to [default: testwright-out/NAME-quick]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    #[command(flatten)]
    stepper: StepperArgument,

    #[command(flatten)]
    system: SystemArguments,

    #[command(flatten)]
    process: ProcessArguments,
}

/// Number of tests and of their steps.
#[derive(Clone, Copy, Default)]
struct SuiteSize {
    tests: u64,
    steps: u64,
}

/// The tests to begin with.
struct OriginalTests {
    /// At least the tests that reach something that no other test reaches.
    tests: Vec<Test>,
    /// Number of all tests, including those that were not kept.
    size: SuiteSize,
    /// Note about their origin: name and text.
    origin: (String, String),
}

impl QuickCommand {
    /// Time limit for making tests if no limit is given.
    const DEFAULT_TIME: Duration = Duration::from_secs(10);
    /// Maximum number of runs to reduce a test for a branch; more shorten it only a little.
    const RUNS_PER_BRANCH: u64 = 2_000;
    /// Maximum number of branches named in a note.
    const MAX_NAMED: usize = 8;

    /// Runs the command.
    pub(crate) fn run(mut self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let mut folder = OutputFolder::for_quick_tests(&self.folder()?)?;
        let root = std::env::current_dir().unwrap_or_default();
        let files = if self.from.is_empty() {
            Vec::new()
        } else {
            load::test_files(&self.from)?
        };
        let source = self.source()?;
        if !files.is_empty() {
            let given = Some(source.clone());
            test_source::restore(
                given,
                &mut self.stepper,
                &mut self.system,
                &mut self.process,
                &files,
            )?;
        }
        if files.is_empty() {
            self.process.put_in_force()?;
        }
        let options = self.system.options_for(&source, OutputMode::Drop)?;
        let timeout = self.system.step_timeout;
        let options = Options {
            measured: MeasuredCode::Modules,
            ..self.stepper.apply_to(options, &source, timeout)?
        };
        let ready = source.read(console)?;
        ready.with_target(console, &options, &self.system, |console, system| {
            system.reset()?;
            let loaded = system.all_touched();
            let originals = if files.is_empty() {
                self.make_tests(console, system)?
            } else {
                read_tests(console, system, files)?
            };
            let (measured, chosen) =
                self.choose_suite(console, system, &originals.tests, loaded)?;
            let before = union(&measured);
            if before.is_empty() {
                let message = "the tests reach nothing that loading the modules does not reach";
                return Err(Error::new(message).with_help(system.coverage_help()).into());
            }
            let suite = self.verify(system, chosen)?;
            self.write(system, &root, &originals.origin, &suite, &mut folder)?;
            let after = union(suite.iter().map(|(quick, _)| quick));
            let unit = system.unit();
            Ok(self.print_result(console, originals.size, unit, &before, &suite, &after))
        })
    }

    /// Returns the harness or the models.
    fn source(&self) -> Result<SystemSource, Error> {
        SystemSource::from_names(&self.harness)
    }

    /// Returns the folder for the suite.
    fn folder(&self) -> Result<PathBuf, Error> {
        let mut name = self.source()?.stem().into_os_string();
        name.push("-quick");
        let default = PathBuf::from("testwright-out").join(name);
        Ok(self.out.clone().unwrap_or(default))
    }

    /// Makes random tests, and keeps those that reach something for the first time.
    fn make_tests(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Target,
    ) -> Result<OriginalTests, CommandError> {
        let plan = SearchOptions {
            seed: self.seed.unwrap_or_else(draw_seed),
            tests: self.tests,
            length: self.length as usize,
            check: self.system.check(),
        };
        let default = self.tests.is_none().then_some(QuickCommand::DEFAULT_TIME);
        system.take_new();
        let mut collector = NewCoverageTests {
            console,
            tests: Vec::new(),
            new: 0,
            size: SuiteSize::default(),
            started: Instant::now(),
            time: self.time.or(default),
            throttle: Throttle::new(),
        };
        let searched = search(system, &plan, &mut collector);
        let NewCoverageTests {
            console,
            tests,
            new,
            size,
            ..
        } = collector;
        console.clear_status();
        match searched {
            Err(error) if !testwright_python::is_interrupted() => return Err(error.into()),
            _ if tests.is_empty() && testwright_python::is_interrupted() => {
                return Err(CommandError::Interrupted);
            }
            _ => {}
        }
        console.out(format_args!(
            "{}: {} of up to {} made (seed {}), {} of them reached something new",
            self.source()?.display_name(),
            quantity::format_count(size.tests, "test"),
            quantity::format_count(u64::from(self.length), "step"),
            plan.seed,
            quantity::grouped(new),
        ));
        console.flush();
        Ok(OriginalTests {
            tests,
            size,
            origin: note("seed", plan.seed),
        })
    }

    /// Measures the tests, and reduces them to a few short ones that reach the same. Returns both.
    fn choose_suite(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Target,
        tests: &[Test],
        loaded: Coverage,
    ) -> Result<(Vec<QuickTest>, Vec<QuickTest>), CommandError> {
        let started = Instant::now();
        let mut throttle = Throttle::new();
        let mut proceed = || {
            if let Some(now) = throttle.poll() {
                let time = now - started;
                console.status(|| format!("reducing tests, {}", duration::show(time)));
            }
            !testwright_python::is_interrupted()
        };
        // If the search was interrupted, the tests are still measured, but not reduced.
        let was_interrupted = testwright_python::is_interrupted();
        let mut always = || true;
        let mut quick = Quickener {
            options: ReduceOptions {
                check: self.system.check(),
                ..ReduceOptions::default()
            },
            budget: QuickCommand::RUNS_PER_BRANCH,
            touched_by_loading: loaded,
            proceed: if was_interrupted {
                &mut always
            } else {
                &mut proceed
            },
        };
        let measured = quick.measure_all(system, tests)?;
        if measured.len() < tests.len() {
            return Err(CommandError::Interrupted);
        }
        let candidates: Vec<QuickTest> = if was_interrupted {
            measured.clone()
        } else {
            let found = quick
                .reduce_per_target(system, &measured)
                .map_err(reduction_error)?;
            found.into_iter().map(|(_, quick)| quick).collect()
        };
        console.clear_status();
        let suite = minimal_suite(&candidates);
        let suite = suite.into_iter().map(|index| candidates[index].clone());
        Ok((measured, suite.collect()))
    }

    /// Runs the suite as `regress` will, to see which of its tests fail.
    fn verify(
        &self,
        system: &mut dyn Target,
        suite: Vec<QuickTest>,
    ) -> Result<Vec<(QuickTest, Option<Failure>)>, CommandError> {
        let options = ReplayOptions {
            check: self.system.check(),
        };
        let mut verified = Vec::new();
        for mut quick in suite {
            system.reset_touched()?;
            let trace = replay(system, &quick.test, &options, &mut UntilInterrupted)?;
            if !trace.interrupted {
                // A test can reach less than before only if the system is not deterministic.
                let lost = quick.touches.difference(&system.touched());
                quick.touches = quick.touches.difference(&lost);
            }
            verified.push((quick, trace.failure().cloned()));
        }
        Ok(verified)
    }

    /// Writes the suite. A note in each test names what it reaches and earlier tests do not.
    fn write(
        &self,
        system: &dyn Target,
        root: &Path,
        origin: &(String, String),
        suite: &[(QuickTest, Option<Failure>)],
        folder: &mut OutputFolder,
    ) -> Result<(), Error> {
        let mut known = Coverage::default();
        for (number, (quick, failure)) in (1..).zip(suite) {
            let new = quick.touches.difference(&known);
            known.merge(&new);
            let named: Vec<TargetId> = new.iter().take(QuickCommand::MAX_NAMED).collect();
            let named = system.describe_targets(&named, root).into_iter();
            let mut branches: Vec<String> = named.map(|one| one.location).collect();
            if new.len() > branches.len() {
                branches.push(format!("and {} more", new.len() - branches.len()));
            }
            let mut notes =
                test_source::notes(&self.source()?, &self.stepper, &self.system, &self.process);
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

    /// Prints the sizes before and after, failing tests and lost branches.
    fn print_result(
        &self,
        console: &mut Console<'_>,
        size: SuiteSize,
        unit: &str,
        before: &Coverage,
        suite: &[(QuickTest, Option<Failure>)],
        after: &Coverage,
    ) -> ExitStatus {
        let steps = suite.iter().map(|(quick, _)| quick.test.len() as u64).sum();
        let suite_size = SuiteSize {
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
        console.out(heading);
        let lost = before.difference(after).len();
        for (name, size, reached) in [
            ("before", size, before.len()),
            ("after", suite_size, before.len() - lost),
        ] {
            console.out(format_args!(
                "{name:6}  {:>7}  {:>10}  {:>width$}",
                quantity::grouped(size.tests),
                quantity::grouped(size.steps),
                quantity::grouped(reached as u64),
            ));
        }
        let more = after.difference(before).len();
        if more > 0 {
            let branches = quantity::format_count(more as u64, &format!("more {unit}"));
            console.out(format_args!("Steps in another order reach {branches}"));
        }
        let folder = self.folder().unwrap_or_default();
        let mut status = ExitStatus::NothingFound;
        for (number, (_, failure)) in (1..).zip(suite) {
            let Some(failure) = failure else { continue };
            status = ExitStatus::FailureFound;
            let file = folder.join(format!("quick-{number}.test"));
            let verdict = console.paint(TextStyle::Failure, "fails");
            console.out(format_args!("{}: {verdict}", file.display()));
            report::print_failure(console, failure, 4);
        }
        let interrupted_note = if testwright_python::is_interrupted() {
            "; interrupted, so it may not be the shortest"
        } else {
            ""
        };
        console.out(format_args!(
            "Written to {}{interrupted_note}",
            folder.display()
        ));
        if lost > 0 {
            let branches = quantity::format_count(lost as u64, unit);
            console.warning(
                &format!("not reached again: {branches} that the tests did reach"),
                Some("the system depends on something besides the test: time, chance, files, an earlier test"),
            );
            return ExitStatus::Error;
        }
        status
    }
}

/// Reads the tests given by `--from`.
fn read_tests(
    console: &mut Console<'_>,
    system: &mut dyn Target,
    files: Vec<TextFile>,
) -> Result<OriginalTests, CommandError> {
    let suite = SavedSuite::read(console, system, files)?;
    let tests: Vec<Test> = suite.tests.into_iter().map(|(_, test)| test).collect();
    let size = SuiteSize {
        tests: tests.len() as u64,
        steps: tests.iter().map(|test| test.len() as u64).sum(),
    };
    let origin = note("made-from", quantity::format_count(size.tests, "test"));
    Ok(OriginalTests {
        tests,
        size,
        origin,
    })
}

/// Converts an error of the reduction.
fn reduction_error(error: ReduceError) -> Error {
    match error {
        ReduceError::Error(error) => error,
        not_reproduced => Error::new(format!("a test cannot be reduced: {not_reproduced}")),
    }
}

/// Returns everything that some of the tests reach.
fn union<'a>(tests: impl IntoIterator<Item = &'a QuickTest>) -> Coverage {
    let mut all = Coverage::default();
    for test in tests {
        all.merge(&test.touches);
    }
    all
}

/// Returns a note for a saved test.
fn note(name: &str, text: impl ToString) -> (String, String) {
    (name.to_owned(), text.to_string())
}

/// Watcher that collects the tests of a search that reach something new.
struct NewCoverageTests<'s, 'c> {
    console: &'s mut Console<'c>,
    /// Tests that reached something new.
    tests: Vec<Test>,
    /// Number of tests that reached something new.
    new: u64,
    /// Size of all tests made so far.
    size: SuiteSize,
    started: Instant,
    /// Time limit.
    time: Option<Duration>,
    throttle: Throttle,
}

impl<'s> SearchWatcher<dyn Target + 's> for NewCoverageTests<'_, '_> {
    fn proceed(&mut self, progress: &SearchProgress) -> bool {
        let Some(now) = self.throttle.poll() else {
            return true;
        };
        let (time, new) = (now - self.started, self.new);
        self.console.status(|| {
            let made = quantity::format_count(progress.tests, "test");
            let time = duration::show(time);
            format!("{made} made, {new} of them reached something new, {time}")
        });
        !testwright_python::is_interrupted() && self.time.is_none_or(|limit| time < limit)
    }

    /// Keeps the test if it reached something new.
    fn test_generated(
        &mut self,
        system: &(dyn Target + 's),
        made: GeneratedTest<'_>,
    ) -> ControlFlow<()> {
        self.size.tests += 1;
        self.size.steps += made.steps.len() as u64;
        if !system.take_new_targets().is_empty() {
            self.new += 1;
            self.tests.push(Test::from_steps(made.steps.to_vec()));
            // A passing test is preferred for the branches that it reached before it failed.
            if let (Some(_), Some((_, before @ [_, ..]))) = (made.failure, made.steps.split_last())
            {
                self.tests.push(Test::from_steps(before.to_vec()));
            }
        }
        ControlFlow::Continue(())
    }

    /// Ignores failures: only coverage counts here.
    fn failure_found(&mut self, _: &mut (dyn Target + 's), _: FailingTest) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
