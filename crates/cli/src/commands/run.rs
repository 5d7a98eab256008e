//! `testwright run`: search for failures.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use testwright_core::generate::{Progress, Search};
use testwright_core::shrink::ReduceOptions;
use testwright_core::{Catalog, Covered, Error, System, Test};
use testwright_python::{Options, Output, PythonSystem};
use testwright_report::CoverageReport;

use super::{StepperArgument, SystemArguments};
use crate::console::{Console, Look};
use crate::coverage::{CoverageArguments, Reached, Reports};
use crate::explaining::{Explaining, HarnessExplaining};
use crate::files::OutputFolder;
use crate::project::Project;
use crate::source::Source;
use crate::subject::Subject;
use crate::workers::actions::Actions;
use crate::workers::start::Starter;
use crate::{ExitStatus, Trouble, duration, events, load, quantity, report};

mod campaign;
mod confirm;
mod finding;
mod head;
mod in_process;
pub(super) mod interrupt;
mod json;
mod judging;
mod keeper;
mod last_words;
mod memory;
mod models;
mod pace;
mod progress;
mod resume;
mod shares;
mod strategy;
mod watching;
mod workers;

use campaign::Means;
use finding::{Desk, Finding};
use in_process::InProcess;
use json::{FailureReport, Report};
use last_words::LastWords;
use memory::Earlier;
pub(crate) use pace::Pace;
use strategy::StrategyArguments;
pub(crate) use strategy::{Chosen, probability};
use workers::WorkerArguments;

/// Search for failures with random tests, and reduce what is found
///
/// Takes random actions, checking the properties of the harness after each, until a test fails or the
/// time is up. A failing test is reduced to the steps that matter. The folder `testwright-out/NAME/`
/// (NAME is that of the harness) then has
///
///   failure-1.test        the reduced test, for `testwright replay`
///   failure-1.full.test   the test as it was found
///   test_failure_1.py     the reduced test for pytest; it needs neither Testwright nor the harness
///
/// Such files of an earlier run are kept until this run finds its first failure, and are then replaced.
/// Ctrl-C ends the search and keeps what was found.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright run stack.tstl                          search for 30 seconds, or until a test fails
  testwright run stack.tstl --time 5m --keep-going   collect different failures for five minutes
  testwright run stack.tstl --seed 7 --tests 1000    the same thousand tests each time
  testwright run stack.tstl --json | jq .failures    for scripts
  testwright run stack.tstl --coverage-report html   which lines and branches the tests reach
  testwright run stack.tstl --strategy swarm         leave out some lines of the harness in each test
  testwright run --resume                            go on where the last campaign was stopped
  testwright run stack.tstl --explain                failing tests in English, with a diagram
  testwright run Queue Polite                        search models that are composed
  testwright run Queue --stepper QueueStepper        look for where an implementation differs from its model

Exit status: 0 nothing found, 1 a failure was found, 2 could not do what was asked."
)]
pub(crate) struct Run {
    /// The harness, or a model
    #[arg(required_unless_present = "resume", value_name = "HARNESS|MODEL")]
    harness: Option<PathBuf>,

    /// Further models, scenarios and configurations to compose with a model
    #[arg(value_name = "MODEL")]
    more: Vec<PathBuf>,

    /// Same seed, same tests; without it one is drawn and shown, so that the run can be repeated
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    seed: Option<u64>,

    /// How long to search: 30s, 2m, 1h, 1.5s [default: 30s, or no limit with --tests or --steps]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration::parse)]
    time: Option<Duration>,

    /// How many tests to make [default: as many as the time allows]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    tests: Option<u64>,

    /// How many steps to take in all [default: as many as the time allows]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    steps: Option<u64>,

    /// How many steps to choose for a test [default: 100; `auto` also tries up to eight times as many]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = at_least_one::<u32>
    )]
    length: Option<u32>,

    /// Leave failing tests as they were found
    #[arg(long)]
    no_reduce: bool,

    /// Go on after a failure; a failure like an earlier one is counted, not shown again
    #[arg(long)]
    keep_going: bool,

    /// Go on with the last campaign that was stopped: same seed, same options, what is left of its time
    #[arg(long)]
    resume: bool,

    /// Do not run the failing tests of earlier campaigns first; so it is with --seed, too
    #[arg(long)]
    no_replay: bool,

    /// Where campaigns are kept [default: .testwright/store.db, here or in a folder above]
    #[arg(long, value_name = "FILE", conflicts_with = "no_store")]
    store: Option<PathBuf>,

    /// Keep no campaign
    #[arg(long)]
    no_store: bool,

    /// Tell each failing test as a scenario, too, for people who do not program
    #[arg(long)]
    explain: bool,

    /// Show what the system under test prints
    #[arg(long, conflicts_with = "json")]
    show_output: bool,

    /// Where to write failing tests [default: testwright-out/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Save every test in this folder, also those that pass: test-1.test, test-2.test and so on
    #[arg(long, value_name = "DIR")]
    keep_tests: Option<PathBuf>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// Print what happens as it happens, one JSON object per line, and nothing else
    #[arg(long, conflicts_with_all = ["json", "show_output"])]
    json_lines: bool,

    #[command(flatten)]
    stepper: StepperArgument,

    #[command(flatten)]
    workers: WorkerArguments,

    #[command(flatten)]
    strategy: StrategyArguments,

    #[command(flatten)]
    coverage: CoverageArguments,

    #[command(flatten)]
    system: SystemArguments,
}

impl Run {
    const USUAL_TIME: Duration = Duration::from_secs(30);
    const USUAL_LENGTH: u32 = 100;

    /// `words` are what was typed after `testwright run`.
    pub(crate) fn run(
        self,
        console: &mut Console<'_>,
        words: &[OsString],
    ) -> Result<ExitStatus, Trouble> {
        if self.resume {
            let (run, words, earlier) = resume::earlier(console, &self, words)?;
            run.start(console, &words, Some(earlier))
        } else {
            self.start(console, words, None)
        }
    }

    fn start(
        self,
        console: &mut Console<'_>,
        words: &[OsString],
        earlier: Option<Earlier>,
    ) -> Result<ExitStatus, Trouble> {
        let source = self.source()?;
        self.stepper
            .put_into(Options::default(), &source, self.system.step_timeout)?;
        if self.json_lines && self.jobs() == 0 {
            let error = Error::new("only workers tell what happens as it happens")
                .with_help("leave `--jobs 0` or `--json-lines` out; `--json` works with both");
            return Err(error.into());
        }
        if earlier.is_some() && self.jobs() == 0 {
            let error = Error::new("a campaign can only be resumed with workers")
                .with_help("leave `--jobs 0` out");
            return Err(error.into());
        }
        if let Source::Models(names) = &source {
            return models::run(&self, console, names, &source, words, earlier);
        }
        let folder = OutputFolder::of_findings(&self.folder())?;
        let kept = self.keep_tests.as_deref().map(OutputFolder::of_tests);
        let kept = kept.transpose()?;
        let reports = self.coverage.prepare()?;
        let mut plan = self.plan();
        if let Some(earlier) = &earlier {
            plan.seed = earlier.record.begun.seed;
        }
        let (file, harness) = load::harness(console, self.harness())?;
        let nothing_yet = Report::new(plan.seed, &harness.catalog);
        let explaining = self
            .explain
            .then(|| Explaining::Harness(HarnessExplaining::new(&file, &harness)));
        let actions = Actions::all(harness.catalog.clone());
        let desk = Desk::new(&self, source.clone(), folder, plan, actions, explaining);
        let ran = match self.jobs() {
            0 => {
                let what = report::actions_from_lines(&harness);
                let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>| {
                    self.search_here(console, system, &what, desk, kept, &reports)
                };
                load::with_system(console, &file, harness, &self.options(), work)
            }
            jobs => {
                let isolation = self.workers.isolation(jobs, self.show_output);
                let starter = Starter::new(console, Some(&file), words, isolation)?;
                let means = Means {
                    source: &source,
                    harness: Some((&file, &harness)),
                    text: &file.text,
                    starter: &starter,
                    words,
                    jobs,
                };
                campaign::run(console, desk, kept, &reports, &means, earlier)
            }
        };
        if self.json && matches!(ran, Err(Trouble::Interrupted)) {
            console.say(nothing_yet.interrupted().to_json());
        }
        ran
    }

    /// The harness or the models.
    fn source(&self) -> Result<Source, Error> {
        let names = self.harness.iter().chain(&self.more);
        Source::of(&names.cloned().collect::<Vec<_>>())
    }

    /// What it is called in the store of a project. Models with an implementation fail otherwise than without.
    fn stored_name(&self, project: &Project) -> Result<String, Error> {
        let name = self.source()?.stored_name(project)?;
        Ok(format!("{name}{}", self.stepper.as_option()))
    }

    /// The models, in a process that is to load them.
    pub(crate) fn model_names(&self) -> Result<Vec<String>, Error> {
        match self.source()? {
            Source::Models(names) => Ok(names),
            Source::Harness(_) => Err(Error::new("there are no models to load")),
        }
    }

    fn names(&self) -> String {
        let names = self.harness.iter().chain(&self.more);
        let names: Vec<String> = names.map(|name| name.display().to_string()).collect();
        names.join(" ")
    }

    /// The harness file.
    fn harness(&self) -> &Path {
        // It is only left out to resume, and then the campaign that is resumed has one.
        self.harness.as_deref().unwrap_or(Path::new(""))
    }

    /// How many workers there are to be.
    fn jobs(&self) -> usize {
        self.workers.jobs.unwrap_or_else(|| {
            // One worker makes the same tests for the same seed, and nobody wants to read what several print at once.
            if self.seed.is_some() || self.show_output {
                1
            } else {
                WorkerArguments::one_for_each_core()
            }
        })
    }

    /// How the harness is brought to life.
    pub(crate) fn options(&self) -> Options {
        Options {
            measured: self.strategy.measured(self.coverage.measured()),
            stepper: self.stepper.patient(self.system.step_timeout),
            ..self.system.options(self.output())
        }
    }

    /// The strategy for a system.
    pub(crate) fn chosen<S: System + Covered>(
        &self,
        console: &mut Console<'_>,
        system: &mut impl Subject,
    ) -> Result<Chosen<S>, Trouble> {
        self.strategy.chosen(console, system, self.length.is_some())
    }

    pub(crate) fn reduce_options(&self) -> ReduceOptions {
        ReduceOptions {
            check: !self.system.no_check,
            ..ReduceOptions::default()
        }
    }

    fn output(&self) -> Output {
        if self.show_output {
            Output::Show
        } else {
            Output::Drop
        }
    }

    fn folder(&self) -> PathBuf {
        let name = self.harness().file_stem().unwrap_or_default();
        self.out
            .clone()
            .unwrap_or_else(|| PathBuf::from("testwright-out").join(name))
    }

    /// Searches in this process.
    fn search_here<S: Subject>(
        &self,
        console: &mut Console<'_>,
        system: &mut S,
        what: &str,
        desk: Desk<'_>,
        kept: Option<OutputFolder>,
        reports: &Reports,
    ) -> Result<ExitStatus, Trouble> {
        let strategy = self.chosen(console, system)?;
        let plan = desk.plan;
        console.keep_quiet(self.json);
        self.say_plan(console, what, &plan, 1);
        let started = Instant::now();
        let last_words = LastWords::prepare(plan.seed, system.actions(), started, self.json);
        let mut search = InProcess::new(self, console, desk, kept, started, last_words);
        search.note_coverage(system, || "loading the harness".to_owned());
        let nobody_else = None::<fn(&mut S) -> Option<Test>>;
        let searched = strategy.search(system, &plan, &mut search, nobody_else);
        testwright_python::never_mind();
        let mut result = search.into_outcome(searched);
        system.flush();
        let coverage = match (system.collector(), result.reached.take()) {
            (Some(collector), Some(reached)) if self.coverage.is_wanted() => {
                Some(reached.into_report(collector, reports))
            }
            _ => None,
        };
        self.conclude(console, system.actions(), result, coverage, reports)
    }

    /// Says what a run came to.
    fn conclude(
        &self,
        console: &mut Console<'_>,
        catalog: &Catalog,
        result: Outcome,
        coverage: Option<CoverageReport>,
        reports: &Reports,
    ) -> Result<ExitStatus, Trouble> {
        say_summary(console, &result);
        if let Some(coverage) = &coverage {
            reports.write(console, coverage, |console, table| console.say(table))?;
        }
        console.keep_quiet(false);
        if self.json || self.json_lines {
            let mut report = Report::new(result.seed, catalog);
            report.coverage = coverage.map(|coverage| coverage.counts().into());
            report.update(&result.progress, result.time, result.interrupted);
            let failures = result.findings.iter();
            report.failures = failures
                .map(|finding| FailureReport::new(finding, catalog))
                .collect();
            if self.json_lines {
                events::tell(console, result.time, &events::End { report: &report })
            } else {
                console.say(report.to_json())
            }
        }
        match result.trouble {
            Some(trouble) => Err(trouble),
            None if result.unwritten => Ok(ExitStatus::CouldNot),
            None if result.findings.is_empty() => Ok(ExitStatus::NothingFound),
            None => Ok(ExitStatus::FailureFound),
        }
    }

    pub(crate) fn plan(&self) -> Search {
        Search {
            seed: self.seed.unwrap_or_else(draw_seed),
            tests: self.tests,
            length: self.length.unwrap_or(Run::USUAL_LENGTH) as usize,
            check: !self.system.no_check,
        }
    }

    /// How long to search; no limit if only a number of tests or steps is given.
    fn time(&self) -> Option<Duration> {
        let is_limited = self.tests.is_some() || self.steps.is_some();
        self.time
            .or_else(|| (!is_limited).then_some(Run::USUAL_TIME))
    }

    /// `what` there is to do, and how.
    fn say_plan(&self, console: &mut Console<'_>, what: &str, plan: &Search, jobs: usize) {
        let tests = match self.tests {
            Some(tests) => quantity::of(tests, "test"),
            None => "tests".to_owned(),
        };
        let length = quantity::of(plan.length as u64, "step");
        let length = if self.strategy.may_be_longer(self.length.is_some()) {
            format!("{length} or more")
        } else {
            format!("up to {length}")
        };
        let steps = match self.steps {
            Some(steps) => format!(", {} in all", quantity::of(steps, "step")),
            None => String::new(),
        };
        let time = match self.time() {
            Some(time) => format!(" for {}", duration::show(time)),
            None => String::new(),
        };
        let workers = match jobs {
            1 => String::new(),
            jobs => format!(" in {}", quantity::of(jobs as u64, "worker")),
        };
        console.say(format_args!(
            "{}: {what}; seed {}, {tests} of {length}{steps}{time}{workers}",
            self.names(),
            plan.seed,
        ));
        console.flush();
    }
}

/// What a whole run came to.
struct Outcome {
    seed: u64,
    progress: Progress,
    interrupted: bool,
    time: Duration,
    findings: Vec<Finding>,
    /// Some finding could not be written, which has been told.
    unwritten: bool,
    /// Why the search could not go on.
    trouble: Option<Trouble>,
    /// Which test reached what, if that was measured.
    reached: Option<Reached>,
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("the seed is a whole number from 0 to {}", u64::MAX))
}

pub(super) fn at_least_one<N: FromStr + From<u8> + PartialOrd>(text: &str) -> Result<N, String> {
    text.parse()
        .ok()
        .filter(|number| *number >= N::from(1))
        .ok_or_else(|| "must be a whole number from 1".to_owned())
}

/// A seed that is easy to type again.
pub(crate) fn draw_seed() -> u64 {
    RandomState::new().hash_one(std::process::id()) % 1_000_000
}

fn say_summary(console: &mut Console<'_>, result: &Outcome) {
    let progress = &result.progress;
    let found = match result.findings.len() as u64 {
        0 => console.paint(Look::Good, "no failure found"),
        number => console.paint(
            Look::Bad,
            format_args!("{} found", quantity::of(number, "failure")),
        ),
    };
    let how = if result.interrupted {
        "Interrupted after"
    } else {
        "Ran"
    };
    console.say(format_args!(
        "{how} {}, {} in {} (seed {}): {found}",
        quantity::of(progress.tests, "test"),
        quantity::of(progress.steps, "step"),
        duration::show(result.time),
        result.seed,
    ));
    say_repeats(console, &result.findings);
    if progress.tests == 0 && !result.findings.is_empty() {
        console.say("  nothing else was searched for; `--keep-going` does so, and `--no-replay` does not look at known failures");
    }
    say_deadlocks(console, result);
}

fn say_repeats(console: &mut Console<'_>, findings: &[Finding]) {
    for finding in findings.iter().filter(|finding| finding.times > 1) {
        console.say(format_args!(
            "  failure {} came up in {}",
            finding.number,
            quantity::of(finding.times, "test")
        ));
    }
}

/// Tests that end early are easily overlooked, and mostly a mistake in the harness.
fn say_deadlocks(console: &mut Console<'_>, result: &Outcome) {
    let progress = &result.progress;
    if progress.tests > 0 && progress.steps == 0 {
        console.warning(
            "no action is enabled at the start, so nothing was tested",
            Some("at least one action must need no pool value and have no guard that is false"),
        );
    } else if progress.deadlocks > 0 {
        console.say(format_args!(
            "  {} ended early: no action was enabled any more",
            quantity::of(progress.deadlocks, "test")
        ));
    }
}
