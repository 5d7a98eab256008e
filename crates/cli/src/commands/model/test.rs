//! `testwright model test`: runs through a model, with or without an implementation.

use std::path::{Path, PathBuf};
use std::time::Duration;

use testwright_core::product::{Label, Trouble as ModelTrouble, Words};
use testwright_core::{Error, Failure};
use testwright_model::{
    Chooser, Implementation, Plan, RunEnd, RunWatcher, Runs, Tally, step_text, suite_file,
};
use testwright_python::Models;
use testwright_readable::steps::Runner;

use super::failing::{Failing, FailingRun, PATIENCE};
use super::last_run::{self, Again, LastRun};
use super::telling::{Playing, Telling};
use super::{ModelArguments, covering};
use crate::commands::draw_seed;
use crate::commands::feature::{RunnerName, company};
use crate::console::{Console, Look};
use crate::files::Place;
use crate::guard::{Note, guarded};
use crate::models::RunExplaining;
use crate::source::Source;
use crate::{ExitStatus, Trouble, duration, models, quantity};

/// Test an implementation against a model, step by step, or make tests of a model
///
/// With a stepper, the implementation does what the model does, and the two are compared. A run that fails is reduced to
/// the steps that it takes to fail, and written as a suite and as a pytest file. Without a stepper, runs of the
/// model are shown, and with `--suite` written to be run later.
///
/// A stepper is a module with a function `TestAction(name, arguments, expected_result)` that makes the implementation do
/// a step, and returns nothing if all is well or a text that says what is wrong; and with `Reset()`. What the
/// implementation does by itself the stepper appends to `queue` of the module `observation_queue`.
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
pub(super) struct Test {
    #[command(flatten)]
    model: ModelArguments,

    /// The module that makes the implementation do each step
    #[arg(long, value_name = "MODULE")]
    stepper: Option<String>,

    /// How many runs; all of them if there is a suite among the models
    #[arg(long, value_name = "N", default_value_t = 10)]
    runs: usize,

    /// How many steps to take in a run before it comes to its end
    #[arg(long, value_name = "N", default_value_t = 50)]
    steps: usize,

    /// How many more steps a run may take to come to its end, by actions that the model calls `cleanup`
    #[arg(long, value_name = "N", default_value_t = 50)]
    cleanup: usize,

    /// Who chooses the steps: random, ActionNameCoverage, StateCoverage, or a module with `SelectAction`; or what runs
    /// that are made beforehand shall cover: actions, labels, states, transitions, pairs, shortest
    #[arg(long, value_name = "STRATEGY", default_value = "random")]
    strategy: String,

    /// How much more likely an action is to be chosen than others, which weigh 1: its name is drawn by weight, then one
    /// of its steps; can be given several times
    #[arg(long, value_name = "NAME=WEIGHT", value_parser = weight)]
    weight: Vec<(String, f64)>,

    /// For runs that are made beforehand: how many transitions of the model to look at
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    max: usize,

    /// The suite module to write
    #[arg(long, value_name = "FILE")]
    suite: Option<PathBuf>,

    /// The seed, to repeat the same runs [default: drawn, and shown]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// How long the stepper may take for a step, and to wait for something to observe [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    timeout: Option<Duration>,

    /// Do not check the invariants of the model
    #[arg(long)]
    no_check: bool,

    /// Do not reduce runs that fail
    #[arg(long)]
    no_reduce: bool,

    /// Tell runs that fail in English, too, and write that as a feature and as a diagram
    #[arg(long)]
    explain: bool,

    /// Write step definitions with that, too, so that the feature runs
    #[arg(long, value_name = "RUNNER", value_enum, requires = "explain")]
    steps_for: Option<RunnerName>,

    /// Where to write runs that fail [default: testwright-out/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Show each step
    #[arg(long)]
    verbose: bool,
}

impl Test {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        if !self.weight.is_empty() && self.strategy != "random" {
            let message = format!("`--weight` and `--strategy {}` both choose", self.strategy);
            return Err(Error::new(message)
                .with_help("leave one of the two out")
                .into());
        }
        let suite = self.suite.as_deref().map(Place::new).transpose()?;
        let folder = Place::new(&self.folder())?;
        let telling = self.telling(&folder)?;
        // Models may change it.
        let here = std::env::current_dir().unwrap_or_default();
        let seed = self.seed.unwrap_or_else(draw_seed);
        let again = Again {
            models: &self.model.models,
            stepper: self.stepper.as_deref(),
            telling: telling.as_ref(),
        };
        let ended = |console: &mut Console<'_>, note: &str, failure: &Failure| {
            last_run::tell(console, &folder, &again, note, failure)
        };
        // The stepper is told itself when it takes too long, and may have to wait for something to observe as well.
        let patience = self.patience() * 2 + Duration::from_secs(1);
        // The code of a model or of the implementation may end its process, or not come back.
        guarded(console, Some(patience), ended, |console, note| {
            let places = Places {
                folder: &folder,
                suite: suite.as_ref(),
                here: &here,
            };
            self.play_and_tell(console, &places, telling.as_ref(), seed, note)
        })
    }

    /// How runs that fail are told, if that is wanted.
    fn telling<'t>(&self, folder: &'t Place) -> Result<Option<Telling<'t>>, Error> {
        let playing = self.playing(folder)?;
        Ok(self.explain.then(|| Telling {
            explaining: RunExplaining::new(&self.model.models),
            playing,
            folder,
        }))
    }

    /// What step files need, if there are to be some.
    fn playing(&self, folder: &Place) -> Result<Option<Playing>, Error> {
        let Some(runner) = self.steps_for.map(Runner::from) else {
            return Ok(None);
        };
        if let Some(name) = self.model.action.first().or(self.model.exclude.first()) {
            let message = format!("step definitions would not know that `{name}` was named");
            let help = "leave out `--action` and `--exclude`: a scenario without edges for an action forbids it, too";
            return Err(Error::new(message).with_help(help));
        }
        let models = Source::Models(self.model.models.clone()).files();
        let stepper = self.stepper.as_deref();
        let company = company(&models, stepper, self.patience(), folder, runner)?;
        Ok(Some(Playing { runner, company }))
    }

    fn play_and_tell(
        &self,
        console: &mut Console<'_>,
        places: &Places<'_>,
        telling: Option<&Telling<'_>>,
        seed: u64,
        note: &Note,
    ) -> Result<ExitStatus, Trouble> {
        models::with_models(
            console,
            &self.model.models,
            &self.model.filter(),
            |console, models| {
                let played = self.play(console, models, seed, note)?;
                // What comes now may take its time.
                note.write("");
                if let Some(place) = places.suite {
                    let product = &models.product;
                    let line = self.line(seed);
                    let text = suite_file::write(
                        product.words(),
                        product.vocabulary(),
                        &played.runs,
                        &line,
                    );
                    place.write(&text)?;
                    console.say(format_args!("Written: {}", place.shown().display()));
                }
                let found = Failing {
                    models: &self.model.models,
                    stepper: self.stepper.as_deref(),
                    patience: self.patience(),
                    reduce: !self.no_reduce,
                    telling,
                    check: !self.no_check,
                    folder: places.folder,
                    here: places.here,
                    line: self.line(seed),
                };
                found.tell(console, models, &played.failing)?;
                Ok(match played.tally.failed {
                    0 => ExitStatus::NothingFound,
                    _ => ExitStatus::FailureFound,
                })
            },
        )
    }

    fn patience(&self) -> Duration {
        self.timeout.unwrap_or(PATIENCE)
    }

    fn folder(&self) -> PathBuf {
        let first = self.model.models.first().map_or("", String::as_str);
        let name = Path::new(first).file_stem().unwrap_or_default();
        self.out
            .clone()
            .unwrap_or_else(|| PathBuf::from("testwright-out").join(name))
    }

    /// The command again, as it can be typed to get the same.
    fn line(&self, seed: u64) -> String {
        let stepper = self
            .stepper
            .as_ref()
            .map(|name| format!(" --stepper {name}"));
        format!(
            "testwright model test {}{} --runs {} --steps {} --strategy {}{} --seed {seed}",
            self.model.models.join(" "),
            stepper.unwrap_or_default(),
            self.runs,
            self.steps,
            self.strategy,
            self.weight
                .iter()
                .map(|(name, weight)| format!(" --weight {name}={weight}"))
                .collect::<String>(),
        )
    }

    fn play(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
        seed: u64,
        note: &Note,
    ) -> Result<Played, Trouble> {
        let stepper = self.stepper.as_ref();
        let stepper = stepper.map(|name| models.stepper(name, Some(self.patience())));
        let mut stepper = stepper
            .transpose()
            .map_err(|trouble| models::tell(console, &trouble))?;
        let (mut chooser, planned): (Box<dyn Chooser + '_>, Option<usize>) =
            match covering::goal(&self.strategy) {
                Some(goal) => {
                    let playlist = covering::playlist(console, models, goal, self.max)?;
                    let planned = playlist.len();
                    (Box::new(playlist), Some(planned))
                }
                None => {
                    let name = Some(self.strategy.as_str()).filter(|name| *name != "random");
                    let chooser = match self.weight.as_slice() {
                        [] => models.chooser(name),
                        weights => models.weighted(weights),
                    };
                    let chooser = chooser.and_then(|chooser| models.seed(seed).map(|()| chooser));
                    let chooser = chooser.map_err(|trouble| models::tell(console, &trouble))?;
                    if !models.product.has_suite() {
                        console.say(format_args!("Seed {seed}"));
                        // What models print comes after it.
                        console.flush();
                    }
                    (Box::new(chooser), None)
                }
            };
        let is_tested = stepper.is_some();
        let vocabulary = models.product.vocabulary().to_vec();
        let mut watcher = Watcher {
            console,
            last_run: LastRun::new(note, vocabulary, self.line(seed)),
            shows_steps: self.verbose || (!is_tested && self.suite.is_none()),
            is_tested,
            played: Played::default(),
            steps: Vec::new(),
        };
        let mut runs = Runs {
            product: &mut models.product,
            chooser: &mut *chooser,
            implementation: stepper
                .as_mut()
                .map(|stepper| stepper as &mut dyn Implementation),
            plan: Plan {
                runs: Some(planned.unwrap_or(self.runs)),
                steps: Some(self.steps).filter(|_| planned.is_none()),
                cleanup: self.cleanup,
                check: !self.no_check,
                put_back: true,
            },
        };
        let (tally, result) = runs.all(&mut watcher);
        let mut played = watcher.played;
        played.tally = tally;
        let words = format!(
            "{}, {}",
            quantity::of(tally.runs as u64, "run"),
            match tally.failed {
                0 if is_tested => console.paint(Look::Good, "none failed"),
                0 => quantity::of(
                    played.runs.iter().map(Vec::len).sum::<usize>() as u64,
                    "step"
                ),
                failed => console.paint(Look::Bad, format!("{failed} failed")),
            }
        );
        let is_stopped = matches!(result, Err(ModelTrouble::Interrupted));
        let is_stopped = is_stopped || testwright_python::asked_to_stop();
        let end = if is_stopped { "; stopped" } else { "" };
        console.say(format_args!("{words}{end}"));
        match result {
            Ok(()) => Ok(played),
            // What failed until then is worth telling.
            Err(ModelTrouble::Interrupted) => Ok(played),
            Err(trouble) => Err(models::tell(console, &trouble)),
        }
    }
}

/// Where things are.
struct Places<'p> {
    /// For runs that fail.
    folder: &'p Place,
    /// For all runs, if they are to be written.
    suite: Option<&'p Place>,
    /// The folder that names of models refer to.
    here: &'p Path,
}

fn weight(text: &str) -> Result<(String, f64), String> {
    let read = text.rsplit_once('=').and_then(|(name, weight)| {
        let weight: f64 = weight.trim().parse().ok()?;
        let is_weight = weight.is_finite() && weight >= 0.0;
        (is_weight && !name.trim().is_empty()).then(|| (name.trim().to_owned(), weight))
    });
    read.ok_or_else(|| "must be a name and a number from 0 upwards, such as `Push=3`".to_owned())
}

/// What was done.
#[derive(Default)]
struct Played {
    tally: Tally,
    runs: Vec<Vec<Label>>,
    failing: Vec<FailingRun>,
}

/// Says how each run ended, and keeps what was done.
struct Watcher<'c, 'o> {
    console: &'c mut Console<'o>,
    /// What is left of a run if this process does not survive it.
    last_run: LastRun<'c>,
    shows_steps: bool,
    is_tested: bool,
    played: Played,
    /// The steps of the run, and whether they were observed.
    steps: Vec<(Label, bool)>,
}

impl RunWatcher for Watcher<'_, '_> {
    fn begins(&mut self, run: usize) {
        self.last_run.begins(run);
        self.played.runs.push(Vec::new());
        self.steps.clear();
        if self.shows_steps {
            testwright_python::flush();
            self.console.say(format_args!("Run {run}"));
            self.console.flush();
        }
    }

    fn step(&mut self, words: &Words, label: Label, is_observed: bool) {
        if let Some(run) = self.played.runs.last_mut() {
            run.push(label);
        }
        self.steps.push((label, is_observed));
        self.last_run.step(words, label, is_observed);
        if self.shows_steps {
            testwright_python::flush();
            let seen = if is_observed { "  (observed)" } else { "" };
            self.console
                .say(format_args!("  {}{seen}", step_text(words, label)));
            self.console.flush();
        }
    }

    fn ended(&mut self, end: &RunEnd) -> bool {
        self.last_run.ended();
        testwright_python::flush();
        if let Some(failure) = &end.failure {
            let is_known = |one: &FailingRun| one.failure.is_same_as(failure);
            let is_new = !self.played.failing.iter().any(is_known);
            self.played.failing.push(FailingRun {
                run: end.run,
                failure: failure.clone(),
                steps: self.steps.clone(),
            });
            // A thousand runs that fail in the same way are not worth a thousand lines.
            if is_new || self.shows_steps {
                let words = format!("failed: {}", failure.message);
                let words = self.console.paint(Look::Bad, words);
                let steps = quantity::of(end.steps as u64, "step");
                self.console
                    .say(format_args!("Run {}, {steps}, {words}", end.run));
            }
        } else if self.shows_steps || !self.is_tested {
            let steps = quantity::of(end.steps as u64, "step");
            self.console
                .say(format_args!("Run {}, {steps}, {}", end.run, end.info()));
        }
        if end.leftovers > 0 {
            let what = quantity::of(end.leftovers as u64, "observation");
            let words = format!("run {} ended before {what} could be looked at", end.run);
            self.console.warning(&words, None);
        }
        !testwright_python::asked_to_stop()
    }
}
