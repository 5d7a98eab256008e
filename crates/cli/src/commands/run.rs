//! `testwright run`: search for failures.
//!
//! The search runs in worker processes ([`campaign`]) or, with `--jobs 0`, in this process
//! ([`in_process`]). Both hand failing tests to a [`FailureWriter`], which writes and prints them.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use testwright_core::generate::{SearchOptions, UntakenTemplates};
use testwright_core::shrink::ReduceOptions;
use testwright_core::{Covered, Error, System, Test};
use testwright_python::{Options, OutputMode, PythonSystem};

use super::{StepperArgument, SystemArguments};
use crate::console::Console;
use crate::coverage::{CoverageArguments, CoverageOutputs};
use crate::explanation::{HarnessExplainer, TestExplainer};
use crate::files::OutputFolder;
use crate::project::ProjectFolder;
use crate::source::SystemSource;
use crate::target::Target;
use crate::workers::actions::ActionRegistry;
use crate::workers::start::Starter;
use crate::{CommandError, ExitStatus, duration, load, quantity, report};

mod campaign;
pub(super) mod confirm;
mod display;
mod failures;
mod final_report;
mod in_process;
pub(super) mod interrupt;
mod json;
mod models;
mod outcome;
mod progress;
mod reductions;
mod resume;
mod resume_point;
mod slowdown;
mod store_writer;
mod strategy;
mod work_shares;
mod worker_thread;
mod workers;

use campaign::CampaignInputs;
pub(crate) use confirm::fails_alone;
use failures::FailureWriter;
use final_report::FinalReport;
use in_process::InProcessSearch;
use json::RunReport;
pub(super) use outcome::NO_FIRST_ACTION_HELP;
pub(crate) use slowdown::SlowdownGuard;
use store_writer::StoppedCampaign;
use strategy::StrategyArguments;
pub(crate) use strategy::{SelectedStrategy, parse_probability};
use workers::WorkerArguments;

/// Search for failures with random tests, and reduce what is found
///
/// Takes random actions, checking the properties of the harness after each, until a test fails or the
/// time is up. A failing test is reduced to the steps that matter. These files are written to the folder
/// `testwright-out/NAME/`, where NAME is the name of the harness:
///
///   failure-1.test        the reduced test, for `testwright replay`
///   failure-1.full.test   the test as it was found
///   test_failure_1.py     the reduced test for pytest; it needs neither Testwright nor the harness
///
/// Files of an earlier run stay until this run finds its first failure. Ctrl-C ends the search and keeps
/// the failures found so far.
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
  testwright run --resume                            continue the last campaign that was stopped
  testwright run stack.tstl --explain                failing tests in English, with a diagram
  testwright run Queue Polite                        search models that are composed
  testwright run Queue --stepper QueueStepper        look for where an implementation differs from its model

Exit status: 0 no failure found, 1 a failure was found, 2 could not do what was asked, or nothing was tested."
)]
pub(crate) struct RunCommand {
    /// Harness, or a model
    #[arg(required_unless_present = "resume", value_name = "HARNESS|MODEL")]
    harness: Option<PathBuf>,

    /// Further models, scenarios and configurations to compose with the model
    #[arg(value_name = "MODEL")]
    more: Vec<PathBuf>,

    /// Seed of the tests: the same seed makes the same tests [default: drawn, and shown]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_seed)]
    seed: Option<u64>,

    /// Time to search: 30s, 2m, 1h, 1.5s [default: 30s, or no limit with --tests or --steps]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration::parse)]
    time: Option<Duration>,

    /// Number of tests to make [default: as many as the time allows]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_at_least_one::<u64>)]
    tests: Option<u64>,

    /// Number of steps to take in all [default: as many as the time allows]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_at_least_one::<u64>)]
    steps: Option<u64>,

    /// Number of steps of a test [default: 100; `auto` also tries up to eight times as many]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = parse_at_least_one::<u32>
    )]
    length: Option<u32>,

    /// Do not reduce failing tests
    #[arg(long)]
    no_reduce: bool,

    /// Continue after a failure; a failure like an earlier one is counted, not shown again
    #[arg(long)]
    keep_going: bool,

    /// Continue the last campaign that was stopped: same seed, same options, the time that is left
    #[arg(long)]
    resume: bool,

    /// Do not run the failing tests of earlier campaigns first [default with --seed]
    #[arg(long)]
    no_replay: bool,

    /// File to keep campaigns in [default: .testwright/store.db, here or in a folder above]
    #[arg(long, value_name = "FILE", conflicts_with = "no_store")]
    store: Option<PathBuf>,

    /// Do not keep this campaign
    #[arg(long)]
    no_store: bool,

    /// Also write each failing test as a scenario in English, for people who do not program
    #[arg(long)]
    explain: bool,

    /// Show what the system under test prints
    #[arg(long, conflicts_with = "json")]
    show_output: bool,

    /// Folder to write failing tests to [default: testwright-out/NAME]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Folder to save every test in, also tests that pass: test-1.test, test-2.test and so on
    #[arg(long, value_name = "FOLDER")]
    keep_tests: Option<PathBuf>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// Print events as they happen, one JSON object per line, and nothing else
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

impl RunCommand {
    /// Time limit if no limit is given at all.
    const DEFAULT_TIME: Duration = Duration::from_secs(30);
    /// Number of steps in a test if `--length` is not given.
    const DEFAULT_LENGTH: u32 = 100;

    /// Runs the command. `args` are the arguments after `testwright run`.
    pub(crate) fn run(
        self,
        console: &mut Console<'_>,
        args: &[OsString],
    ) -> Result<ExitStatus, CommandError> {
        if self.resume {
            let (run, args, stopped) = resume::load(console, &self, args)?;
            run.start(console, &args, Some(stopped))
        } else {
            self.start(console, args, None)
        }
    }

    /// Searches, or goes on with a stopped campaign.
    ///
    /// Chooses between models and a harness, and between worker processes and this process.
    fn start(
        self,
        console: &mut Console<'_>,
        args: &[OsString],
        stopped: Option<StoppedCampaign>,
    ) -> Result<ExitStatus, CommandError> {
        let source = self.source()?;
        self.stepper
            .apply_to(Options::default(), &source, self.system.step_timeout)?;
        if self.json_lines && self.jobs() == 0 {
            let error = Error::new("`--json-lines` needs worker processes")
                .with_help("leave `--jobs 0` or `--json-lines` out; `--json` works with both");
            return Err(error.into());
        }
        if stopped.is_some() && self.jobs() == 0 {
            let error = Error::new("a campaign can only be resumed with workers")
                .with_help("leave `--jobs 0` out");
            return Err(error.into());
        }
        if let SystemSource::Models(names) = &source {
            return models::run(&self, console, names, &source, args, stopped);
        }
        let folder = OutputFolder::for_failures(&self.folder())?;
        let test_folder = self.keep_tests.as_deref().map(OutputFolder::for_tests);
        let test_folder = test_folder.transpose()?;
        let reports = self.coverage.prepare()?;
        let mut plan = self.plan();
        if let Some(stopped) = &stopped {
            plan.seed = stopped.record.settings.seed;
        }
        let (file, harness) = load::harness(console, self.harness())?;
        let empty_report = RunReport::new(plan.seed, &harness.catalog);
        let explaining = self
            .explain
            .then(|| TestExplainer::Harness(HarnessExplainer::new(&file, &harness)));
        let actions = ActionRegistry::complete(harness.catalog.clone());
        let writer = FailureWriter::new(&self, source.clone(), folder, plan, actions, explaining);
        let result = match self.jobs() {
            0 => {
                let action_summary = report::actions_from_lines(&harness);
                let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>| {
                    self.search_in_process(
                        console,
                        system,
                        &action_summary,
                        writer,
                        test_folder,
                        &reports,
                    )
                };
                load::with_system(console, &file, harness, &self.options(), work)
            }
            jobs => {
                let isolation = self.workers.isolation(jobs, self.show_output);
                let starter = Starter::new(
                    console,
                    Some(&file),
                    args,
                    isolation,
                    self.system.step_timeout,
                )?;
                let inputs = CampaignInputs {
                    source: &source,
                    harness: Some((&file, &harness)),
                    text: &file.text,
                    starter: &starter,
                    args,
                    jobs,
                };
                campaign::run(console, writer, test_folder, &reports, &inputs, stopped)
            }
        };
        if self.json && matches!(result, Err(CommandError::Interrupted)) {
            console.out(empty_report.into_interrupted().to_json());
        }
        result
    }

    /// Returns the harness or the models to test.
    fn source(&self) -> Result<SystemSource, Error> {
        let names = self.harness.iter().chain(&self.more);
        SystemSource::from_names(&names.cloned().collect::<Vec<_>>())
    }

    /// Returns the name that identifies the harness or the models in the store.
    ///
    /// The stepper is part of it, because models fail differently with an implementation than
    /// without.
    fn stored_name(&self, project: &ProjectFolder) -> Result<String, Error> {
        let name = self.source()?.stored_name(project)?;
        Ok(format!("{name}{}", self.stepper.as_option()))
    }

    /// Returns the names of the models, for a worker process that loads them.
    pub(crate) fn model_names(&self) -> Result<Vec<String>, Error> {
        match self.source()? {
            SystemSource::Models(names) => Ok(names),
            SystemSource::Harness(_) => Err(Error::new("there are no models to load")),
        }
    }

    /// Returns the harness or the models as they were typed, separated by blanks.
    fn joined_names(&self) -> String {
        let names = self.harness.iter().chain(&self.more);
        let names: Vec<String> = names.map(|name| name.display().to_string()).collect();
        names.join(" ")
    }

    /// Returns the path of the harness file.
    fn harness(&self) -> &Path {
        // It can be missing only with `--resume`, and then the resumed campaign names it.
        self.harness.as_deref().unwrap_or(Path::new(""))
    }

    /// Returns the number of worker processes; 0 means to search in this process.
    fn jobs(&self) -> usize {
        self.workers.jobs.unwrap_or_else(|| {
            // With one worker, the same seed makes the same tests. The output of several would be mixed up.
            if self.seed.is_some() || self.show_output {
                1
            } else {
                WorkerArguments::default_jobs()
            }
        })
    }

    /// Returns the options for loading the harness or the models.
    pub(crate) fn options(&self) -> Options {
        Options {
            measured: self.strategy.measured(self.coverage.measured()),
            stepper: self.stepper.with_timeout(self.system.step_timeout),
            ..self.system.options(self.output())
        }
    }

    /// Builds the strategy for a system.
    pub(crate) fn build_strategy<S: System + Covered>(
        &self,
        console: &mut Console<'_>,
        system: &mut impl Target,
    ) -> Result<SelectedStrategy<S>, CommandError> {
        self.strategy.build(console, system, self.length.is_some())
    }

    /// Returns the options for reducing a failing test.
    pub(crate) fn reduce_options(&self) -> ReduceOptions {
        ReduceOptions {
            check: !self.system.no_check,
            ..ReduceOptions::default()
        }
    }

    /// Returns what happens to the output of the system under test.
    fn output(&self) -> OutputMode {
        if self.show_output {
            OutputMode::Show
        } else {
            OutputMode::Drop
        }
    }

    /// Returns the folder for failing tests.
    fn folder(&self) -> PathBuf {
        let name = self.harness().file_stem().unwrap_or_default();
        self.out
            .clone()
            .unwrap_or_else(|| PathBuf::from("testwright-out").join(name))
    }

    /// Searches in this process, without workers. `action_summary` says how many actions there are.
    fn search_in_process<S: Target>(
        &self,
        console: &mut Console<'_>,
        system: &mut S,
        action_summary: &str,
        writer: FailureWriter<'_>,
        test_folder: Option<OutputFolder>,
        reports: &CoverageOutputs,
    ) -> Result<ExitStatus, CommandError> {
        let strategy = self.build_strategy(console, system)?;
        let plan = writer.plan;
        console.set_quiet(self.json);
        self.print_plan(console, action_summary, &plan, 1);
        let started = Instant::now();
        let final_report = FinalReport::install(plan.seed, system.actions(), started, self.json);
        let reported = (final_report, UntakenTemplates::new(system.actions()));
        let mut search =
            InProcessSearch::new(self, console, writer, test_folder, started, reported);
        search.add_new_coverage(system, || "loading the harness".to_owned());
        let no_shared_tests = None::<fn(&mut S) -> Option<Test>>;
        let searched = strategy.search(system, &plan, &mut search, no_shared_tests);
        testwright_python::clear_interrupt();
        let mut result = search.into_outcome(searched);
        system.flush();
        let coverage = match (system.collector(), result.reached.take()) {
            (Some(collector), Some(reached)) if self.coverage.is_requested() => {
                Some(reached.into_report(collector, reports))
            }
            _ => None,
        };
        self.report_outcome(console, system.actions(), result, coverage, reports)
    }

    /// Returns the plan of the search. Without `--seed`, each call draws a new seed.
    pub(crate) fn plan(&self) -> SearchOptions {
        SearchOptions {
            seed: self.seed.unwrap_or_else(draw_seed),
            tests: self.tests,
            length: self.length.unwrap_or(RunCommand::DEFAULT_LENGTH) as usize,
            check: !self.system.no_check,
        }
    }

    /// Returns the time limit; `None` if only the number of tests or steps is limited.
    fn time_limit(&self) -> Option<Duration> {
        let is_limited = self.tests.is_some() || self.steps.is_some();
        self.time
            .or_else(|| (!is_limited).then_some(RunCommand::DEFAULT_TIME))
    }

    /// Prints what is going to be searched: actions, seed, limits and workers.
    fn print_plan(
        &self,
        console: &mut Console<'_>,
        action_summary: &str,
        plan: &SearchOptions,
        jobs: usize,
    ) {
        let tests = match self.tests {
            Some(tests) => quantity::format_count(tests, "test"),
            None => "tests".to_owned(),
        };
        let length = quantity::format_count(plan.length as u64, "step");
        let length = if self.strategy.may_be_longer(self.length.is_some()) {
            format!("{length} or more")
        } else {
            format!("up to {length}")
        };
        let steps = match self.steps {
            Some(steps) => format!(", {} in all", quantity::format_count(steps, "step")),
            None => String::new(),
        };
        let time = match self.time_limit() {
            Some(time) => format!(" for {}", duration::show(time)),
            None => String::new(),
        };
        let workers = match jobs {
            1 => String::new(),
            jobs => format!(" in {}", quantity::format_count(jobs as u64, "worker")),
        };
        console.out(format_args!(
            "{}: {action_summary}; seed {}, {tests} of {length}{steps}{time}{workers}",
            self.joined_names(),
            plan.seed,
        ));
        console.flush();
    }
}

/// Parses the value of `--seed`.
pub(super) fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("the seed is a whole number from 0 to {}", u64::MAX))
}

/// Parses a whole number that must not be 0.
pub(super) fn parse_at_least_one<N: FromStr + From<u8> + PartialOrd>(
    text: &str,
) -> Result<N, String> {
    text.parse()
        .ok()
        .filter(|number| *number >= N::from(1))
        .ok_or_else(|| "must be a whole number from 1".to_owned())
}

/// Draws a random seed that is short enough to type.
pub(crate) fn draw_seed() -> u64 {
    RandomState::new().hash_one(std::process::id()) % 1_000_000
}
