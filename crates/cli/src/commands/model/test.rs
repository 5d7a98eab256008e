//! `testwright model test`: runs of a model, with or without an implementation.

use std::path::{Path, PathBuf};
use std::time::Duration;

use testwright_core::product::{Interner, ModelError, StepLabel};
use testwright_core::verdict::Caveat;
use testwright_core::{Error, Failure};
use testwright_model::{
    Chooser, Implementation, ModelRunner, RunCounts, RunEnd, RunPlan, RunWatcher, step_text,
    suite_file,
};
use testwright_python::{Models, StepperLimits};
use testwright_readable::steps::FeatureRunner;

use super::crash_note::{self, CrashNote, RunSource};
use super::explained_runs::{ExplanationWriter, StepFileSettings};
use super::failing_runs::{FailingRun, FailureReporter};
use super::{ModelArguments, planned_runs};
use crate::commands::draw_seed;
use crate::commands::feature::{RunnerName, model_run_setup};
use crate::console::{Console, TextStyle};
use crate::files::UserPath;
use crate::guard::{ProgressNote, run_guarded};
use crate::models::{DEFAULT_TIMEOUT, RunExplainer};
use crate::quantity::parse_from_zero;
use crate::source::SystemSource;
use crate::{CommandError, ExitStatus, duration, models, quantity, verdict_text};

/// Returns the limits of a stepper with this `--timeout`. It waits nearly as long for an observation, so
/// that waiting is not taken for a step that is late.
pub(super) fn stepper_limits(timeout: Duration) -> StepperLimits {
    StepperLimits {
        observation: timeout * 19 / 20,
        ..models::stepper_limits(timeout)
    }
}

/// Test an implementation against a model, or make tests from a model
///
/// With a stepper, the implementation takes the same steps as the model, and the two are compared. A failing
/// run is reduced, and written as a suite and as a pytest file. Without a stepper, runs of the model are shown.
/// With `--suite` they are written to be run later.
///
/// A stepper is a module with two functions. `TestAction(name, arguments, expected_result)` performs a step on
/// the implementation, and returns nothing if all is well, or a text that says what is wrong. `Reset()` restores
/// the initial state. The stepper appends actions that the implementation takes by itself to `queue` of the
/// module `observation_queue`.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright model test Stack --stepper StackStepper --runs 100
  testwright model test Stack --runs 5 --steps 20 --seed 1 --suite StackSuite.py
  testwright model test StackSuite --stepper StackStepper    run a suite that was written

Exit status: 0 no run failed, 1 a run failed, 2 could not do what was asked."
)]
pub(super) struct ModelTestCommand {
    #[command(flatten)]
    model: ModelArguments,

    /// Module that performs each step on the implementation
    #[arg(long, value_name = "MODULE")]
    stepper: Option<String>,

    /// Number of runs; a suite among the models is always run completely
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    runs: usize,

    /// Number of steps of a run, before cleanup
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    steps: usize,

    /// Maximum number of further steps to end a run, by actions that the model calls `cleanup`
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    cleanup: usize,

    /// Strategy that chooses the steps, or the goal of planned runs
    ///
    /// Strategies: random, ActionNameCoverage, StateCoverage, or a module with `SelectAction`.
    /// Goals: actions, labels, states, transitions, pairs, shortest.
    #[arg(
        verbatim_doc_comment,
        long,
        value_name = "STRATEGY",
        default_value = "random"
    )]
    strategy: String,

    /// Weight of an action when the next one is drawn; others have weight 1; repeatable
    #[arg(long, value_name = "NAME=WEIGHT", value_parser = parse_weight)]
    weight: Vec<(String, f64)>,

    /// For planned runs: maximum number of transitions of the model to look at
    #[arg(long, value_name = "N", default_value_t = 100_000, allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    max: usize,

    /// File to write the runs to, as a suite module
    #[arg(long, value_name = "FILE")]
    suite: Option<PathBuf>,

    /// Seed of the runs: the same seed makes the same runs [default: drawn, and shown]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_from_zero::<u64>)]
    seed: Option<u64>,

    /// Time limit of the stepper for a step, and for waiting for an observation [default: 5s]
    #[arg(long, visible_alias = "step-timeout", value_name = "DURATION", value_parser = duration::parse)]
    timeout: Option<Duration>,

    /// Do not check the invariants of the model
    #[arg(long)]
    no_check: bool,

    /// Do not reduce failing runs
    #[arg(long)]
    no_reduce: bool,

    /// Also explain failing runs in English, as a feature and a diagram
    #[arg(long)]
    explain: bool,

    /// With --explain: also write step definitions, so that the feature runs
    #[arg(long, value_name = "RUNNER", value_enum, requires = "explain")]
    steps_for: Option<RunnerName>,

    /// Folder to write failing runs to [default: testwright-out/NAME]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Show each step
    #[arg(long)]
    verbose: bool,
}

impl ModelTestCommand {
    /// Runs the command.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        if !self.weight.is_empty() && self.strategy != "random" {
            let message = format!("`--weight` and `--strategy {}` both choose", self.strategy);
            return Err(Error::new(message)
                .with_help("leave one of the two out")
                .into());
        }
        let suite = self.suite.as_deref().map(UserPath::new).transpose()?;
        let folder = UserPath::new(&self.folder())?;
        let explanations = self.explanation_writer(&folder)?;
        // Models may change the current folder.
        let here = std::env::current_dir().unwrap_or_default();
        let seed = self.seed.unwrap_or_else(draw_seed);
        let source = RunSource {
            models: &self.model.models,
            stepper: self.stepper.as_deref(),
            explanations: explanations.as_ref(),
        };
        let ended = |console: &mut Console<'_>, note: &str, failure: &Failure| {
            crash_note::report(console, &folder, &source, note, failure)
        };
        // The code of a model or of the implementation may end its process, or hang.
        run_guarded(console, Some(self.timeout()), ended, |console, note| {
            let paths = OutputPaths {
                folder: &folder,
                suite: suite.as_ref(),
                model_folder: &here,
            };
            self.play_and_report(console, &paths, explanations.as_ref(), seed, note)
        })
    }

    /// Returns the writer of explanations, if they are requested.
    fn explanation_writer<'t>(
        &self,
        folder: &'t UserPath,
    ) -> Result<Option<ExplanationWriter<'t>>, Error> {
        let step_files = self.step_files(folder)?;
        Ok(self.explain.then(|| ExplanationWriter {
            explainer: RunExplainer::new(&self.model.models),
            step_files,
            folder,
        }))
    }

    /// Returns the settings for step files, if they are requested.
    fn step_files(&self, folder: &UserPath) -> Result<Option<StepFileSettings>, Error> {
        let Some(runner) = self.steps_for.map(FeatureRunner::from) else {
            return Ok(None);
        };
        if let Some(name) = self.model.action.first().or(self.model.exclude.first()) {
            let message = format!("step definitions would not know that `{name}` was named");
            let help = "leave out `--action` and `--exclude`: a scenario without edges for an action forbids it, too";
            return Err(Error::new(message).with_help(help));
        }
        let models = SystemSource::Models(self.model.models.clone()).files();
        let stepper = self.stepper.as_deref();
        let setup = model_run_setup(&models, stepper, self.timeout(), folder, runner)?;
        Ok(Some(StepFileSettings { runner, setup }))
    }

    /// Plays the runs, writes the suite and reports failures.
    fn play_and_report(
        &self,
        console: &mut Console<'_>,
        paths: &OutputPaths<'_>,
        explanations: Option<&ExplanationWriter<'_>>,
        seed: u64,
        note: &ProgressNote,
    ) -> Result<ExitStatus, CommandError> {
        models::with_models(
            console,
            &self.model.models,
            &self.model.filter(),
            |console, models| {
                models.stop_on_termination()?;
                let played = self.play(console, models, seed, note)?;
                // Failing runs are played again.
                note.write("\n");
                if let Some(path) = paths.suite {
                    let product = &models.product;
                    let line = self.command_line(seed);
                    let text = suite_file::write(
                        product.interner(),
                        product.vocabulary(),
                        &played.runs,
                        &line,
                    );
                    path.write(&text)?;
                    console.out(format_args!("Written: {}", path.shown().display()));
                }
                let reporter = FailureReporter {
                    models: &self.model.models,
                    stepper: self.stepper.as_deref(),
                    timeout: self.timeout(),
                    reduce: !self.no_reduce,
                    explanations,
                    check: !self.no_check,
                    folder: paths.folder,
                    model_folder: paths.model_folder,
                    command_line: self.command_line(seed),
                };
                reporter.report(console, models, &played.failing)?;
                if let Some(error) = &played.error {
                    let error = models::model_error(console, error);
                    if played.tally.failed == 0 {
                        return Err(error);
                    }
                    error.report(console);
                }
                if played.tally.failed > 0 {
                    return Ok(ExitStatus::FailureFound);
                }
                if played.runs.iter().all(Vec::is_empty) {
                    let message = "no run took a step, so nothing was tested";
                    let help = "in the initial state an action must be enabled, and the strategy must choose it";
                    return Err(Error::new(message).with_help(help).into());
                }
                Ok(ExitStatus::NothingFound)
            },
        )
    }

    /// Returns what no run could test: actions that were left out, arguments that domains leave out, and
    /// invariants.
    fn caveats(&self, models: &Models<'_>) -> Vec<Caveat> {
        let mut caveats = models.product.caveats();
        caveats.retain(|caveat| {
            matches!(
                caveat,
                Caveat::LeftOutActions { .. } | Caveat::UntriedArguments { .. }
            )
        });
        let invariants = models.product.models().iter();
        let invariants = invariants.filter(|model| model.has_invariant()).count() as u64;
        if self.no_check && invariants > 0 {
            caveats.push(Caveat::UncheckedProperties {
                properties: invariants,
            });
        }
        caveats
    }

    /// Returns the time limit of the stepper for a step.
    fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Returns the folder for failed runs.
    fn folder(&self) -> PathBuf {
        let first = self.model.models.first().map_or("", String::as_str);
        let name = Path::new(first).file_stem().unwrap_or_default();
        self.out
            .clone()
            .unwrap_or_else(|| PathBuf::from("testwright-out").join(name))
    }

    /// Returns a command that plays the same runs.
    fn command_line(&self, seed: u64) -> String {
        let stepper = self
            .stepper
            .as_ref()
            .map(|name| format!(" --stepper {name}"));
        format!(
            "testwright model test {}{}{}{} --runs {} --steps {} --strategy {}{} --seed {seed}",
            self.model.models.join(" "),
            self.model.options_text(),
            stepper.unwrap_or_default(),
            if self.no_check { " --no-check" } else { "" },
            self.runs,
            self.steps,
            self.strategy,
            self.weight
                .iter()
                .map(|(name, weight)| format!(" --weight {name}={weight}"))
                .collect::<String>(),
        )
    }

    /// Plays the runs and prints a summary.
    fn play(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
        seed: u64,
        note: &ProgressNote,
    ) -> Result<PlayedRuns, CommandError> {
        let stepper = self.stepper.as_ref();
        let stepper =
            stepper.map(|name| models.stepper(name, Some(stepper_limits(self.timeout()))));
        let mut stepper = stepper
            .transpose()
            .map_err(|error| models::model_error(console, &error))?;
        let (mut chooser, planned): (Box<dyn Chooser + '_>, Option<usize>) =
            match planned_runs::goal(&self.strategy) {
                Some(goal) => {
                    let playlist = planned_runs::playlist(console, models, goal, self.max)?;
                    let planned = playlist.len();
                    (Box::new(playlist), Some(planned))
                }
                None => {
                    let name = Some(self.strategy.as_str()).filter(|name| *name != "random");
                    let chooser = match self.weight.as_slice() {
                        [] => models.chooser(name),
                        weights => models.weighted_chooser(weights),
                    };
                    let chooser = chooser.and_then(|chooser| models.seed(seed).map(|()| chooser));
                    let chooser = chooser.map_err(|error| models::model_error(console, &error))?;
                    if !models.product.has_suite() {
                        console.out(format_args!("Seed {seed}"));
                        // Flushed, so that the output of models comes after it.
                        console.flush();
                    }
                    (Box::new(chooser), None)
                }
            };
        let has_stepper = stepper.is_some();
        let vocabulary = models.product.vocabulary().to_vec();
        let mut watcher = RunRecorder {
            console,
            crash_note: CrashNote::new(note, vocabulary, self.command_line(seed)),
            shows_steps: self.verbose || (!has_stepper && self.suite.is_none()),
            has_stepper,
            played: PlayedRuns::default(),
            steps: Vec::new(),
        };
        let mut runs = ModelRunner {
            product: &mut models.product,
            chooser: &mut *chooser,
            implementation: stepper
                .as_mut()
                .map(|stepper| stepper as &mut dyn Implementation),
            plan: RunPlan {
                runs: Some(planned.unwrap_or(self.runs)),
                steps: Some(self.steps).filter(|_| planned.is_none()),
                cleanup: self.cleanup,
                check_invariants: !self.no_check,
                restore_initial: true,
                follows_pymodel: false,
            },
        };
        let (tally, result) = runs.run_all(&mut watcher);
        let mut played = watcher.played;
        played.tally = tally;
        let text = format!(
            "{}, {}",
            quantity::format_count(tally.runs as u64, "run"),
            match tally.failed {
                0 if has_stepper => console.paint(TextStyle::Success, "none failed"),
                0 => quantity::format_count(
                    played.runs.iter().map(Vec::len).sum::<usize>() as u64,
                    "step"
                ),
                failed => console.paint(TextStyle::Failure, format!("{failed} failed")),
            }
        );
        let is_stopped = matches!(result, Err(ModelError::Interrupted));
        let is_stopped = is_stopped || testwright_python::is_stop_requested();
        let end = if is_stopped { "; stopped" } else { "" };
        console.out(format_args!("{text}{end}"));
        if has_stepper && played.unfinished > 0 {
            console.out(format_args!(
                "{} ended before an accepting state; a larger `--steps` or `--cleanup` may lead to one",
                quantity::format_count(played.unfinished, "run")
            ));
        }
        for line in verdict_text::caveat_lines(&self.caveats(models)) {
            console.out(line);
        }
        // Failures up to an interrupt or an error are still reported.
        played.error = result
            .err()
            .filter(|error| *error != ModelError::Interrupted);
        Ok(played)
    }
}

/// Paths of input and output.
struct OutputPaths<'p> {
    /// Folder for runs that fail.
    folder: &'p UserPath,
    /// File for all runs, if they are to be written.
    suite: Option<&'p UserPath>,
    /// Folder that the names of models are relative to.
    model_folder: &'p Path,
}

/// Parses `NAME=WEIGHT`.
fn parse_weight(text: &str) -> Result<(String, f64), String> {
    let read = text.rsplit_once('=').and_then(|(name, weight)| {
        let weight: f64 = weight.trim().parse().ok()?;
        let is_weight = weight.is_finite() && weight >= 0.0;
        (is_weight && !name.trim().is_empty()).then(|| (name.trim().to_owned(), weight))
    });
    read.ok_or_else(|| "must be a name and a number from 0 upwards, such as `Push=3`".to_owned())
}

/// Runs that were played.
#[derive(Default)]
struct PlayedRuns {
    /// Numbers of runs.
    tally: RunCounts,
    /// Steps of all runs.
    runs: Vec<Vec<StepLabel>>,
    /// Runs that failed.
    failing: Vec<FailingRun>,
    /// Number of runs that were too short to reach an accepting state.
    unfinished: u64,
    /// Error that ended the runs early.
    error: Option<ModelError>,
}

/// Watcher that prints the end of each run and records its steps.
struct RunRecorder<'c, 'o> {
    console: &'c mut Console<'o>,
    /// Note for the parent process, in case this process does not survive the run.
    crash_note: CrashNote<'c>,
    /// True if every step is printed.
    shows_steps: bool,
    /// True if an implementation is tested.
    has_stepper: bool,
    played: PlayedRuns,
    /// Steps of the current run; true for those that were observed.
    steps: Vec<(StepLabel, bool)>,
}

impl RunWatcher for RunRecorder<'_, '_> {
    /// Begins a run.
    fn run_started(&mut self, run: usize) {
        self.crash_note.start_run(run);
        self.played.runs.push(Vec::new());
        self.steps.clear();
        if self.shows_steps {
            testwright_python::flush();
            self.console.out(format_args!("Run {run}"));
            self.console.flush();
        }
    }

    /// Records a step, and notes it for the parent process.
    fn step(&mut self, interner: &Interner, label: StepLabel, is_observed: bool) {
        if let Some(run) = self.played.runs.last_mut() {
            run.push(label);
        }
        self.steps.push((label, is_observed));
        self.crash_note.add_step(interner, label, is_observed);
        if self.shows_steps {
            testwright_python::flush();
            let observed = if is_observed { "  (observed)" } else { "" };
            self.console
                .out(format_args!("  {}{observed}", step_text(interner, label)));
            self.console.flush();
        }
    }

    /// Prints the end of a run. Returns false if the user interrupts.
    fn run_ended(&mut self, end: &RunEnd) -> bool {
        self.crash_note.end_run();
        testwright_python::flush();
        self.played.unfinished += u64::from(!end.accepting && end.failure.is_none());
        if let Some(failure) = &end.failure {
            let is_known = |one: &FailingRun| one.failure.is_same_as(failure);
            let is_new = !self.played.failing.iter().any(is_known);
            self.played.failing.push(FailingRun {
                run: end.run,
                failure: failure.clone(),
                steps: self.steps.clone(),
            });
            // Each failure is printed once, even if many runs fail in the same way.
            if is_new || self.shows_steps {
                let text = format!("failed: {}", failure.message);
                let text = self.console.paint(TextStyle::Failure, text);
                let steps = quantity::format_count(end.steps as u64, "step");
                self.console
                    .out(format_args!("Run {}, {steps}, {text}", end.run));
            }
        } else if self.shows_steps || !self.has_stepper {
            let steps = quantity::format_count(end.steps as u64, "step");
            self.console.out(format_args!(
                "Run {}, {steps}, {}",
                end.run,
                end.description()
            ));
        }
        if end.unhandled > 0 {
            let observations = quantity::format_count(end.unhandled as u64, "observation");
            let text = format!(
                "run {} ended before {observations} could be looked at",
                end.run
            );
            self.console.warning(&text, None);
        }
        !testwright_python::is_stop_requested()
    }
}
