//! `testwright localize`: where in the code is the fault?

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;
use testwright_core::analyse::localize::{Formula, Spectrum, Suspect};
use testwright_core::generate::{Found, Made, Progress, Search, SearchWatcher, search};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{Error, TargetId, Test};
use testwright_python::{Measured, Options, Output};

use super::SystemArguments;
use super::run::{at_least_one, draw_seed, seed};
use crate::belonging::HarnessArgument;
use crate::console::{Console, Look};
use crate::coverage::FromFirstStep;
use crate::load::{self, Suite};
use crate::subject::{Reachable, Subject};
use crate::{ExitStatus, Trouble, quantity};

/// Tell which branches of the code are reached by failing tests, and not by passing ones
///
/// The tests are replayed, and each branch gets a score from how many failing and how many passing tests
/// reach it. That works best with reduced tests of one bug (`testwright triage` tells bugs apart) and many
/// passing tests. If no given test passes, some are made at random; one that fails counts without its
/// failing step. A folder stands for all `.test` files in it and below; tests that the harness does not
/// understand any more are told and left out.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright localize testwright-out/stack/failure-1.test
  testwright localize failing passing --formula dstar --top 3
  testwright localize failure-1.test --tests 1000 --seed 7

Exit status: 1 a test fails, and the suspects are shown, 2 could not do what was asked."
)]
pub(crate) struct Localize {
    /// Tests, and folders with tests; at least one must fail
    #[arg(required = true, value_name = "TEST|FOLDER")]
    tests: Vec<PathBuf>,

    #[command(flatten)]
    harness: HarnessArgument,

    /// How to make a score of the numbers of tests
    #[arg(long, value_name = "NAME", value_enum, default_value = "ochiai")]
    formula: FormulaName,

    /// How many branches to show
    #[arg(
        long,
        value_name = "N",
        default_value = "10",
        allow_negative_numbers = true,
        value_parser = at_least_one::<u32>
    )]
    top: u32,

    /// How many passing tests to make [default: none if a given test passes, else 100]
    #[arg(long = "tests", value_name = "N", allow_negative_numbers = true, value_parser = number)]
    made: Option<u64>,

    /// Same seed, same made tests; without it one is drawn and shown
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    seed: Option<u64>,

    /// How many steps a made test may have
    #[arg(
        long,
        value_name = "N",
        default_value = "100",
        allow_negative_numbers = true,
        value_parser = at_least_one::<u32>
    )]
    length: u32,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    system: SystemArguments,
}

#[derive(Clone, Copy, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum FormulaName {
    /// f / √(F · (f + p)), where f of F failing and p of P passing tests reach the branch
    Ochiai,
    /// (f/F) / (f/F + p/P)
    Tarantula,
    /// f² / (p + F − f)
    Dstar,
    /// f − p / (P + 1)
    Op2,
}

impl From<FormulaName> for Formula {
    fn from(name: FormulaName) -> Formula {
        match name {
            FormulaName::Ochiai => Formula::Ochiai,
            FormulaName::Tarantula => Formula::Tarantula,
            FormulaName::Dstar => Formula::DStar,
            FormulaName::Op2 => Formula::Op2,
        }
    }
}

impl Localize {
    const USUAL_TESTS: u64 = 100;

    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let files = load::test_files(&self.tests)?;
        let root = std::env::current_dir().unwrap_or_default();
        let source = self.harness.of(&self.tests)?;
        let options = Options {
            measured: Measured::Modules,
            ..self.system.options_for(&source, Output::Drop)?
        };
        let ready = source.read(console)?;
        ready.with_subject(console, &options, &self.system, |console, system| {
            let suite = Suite::read(console, system, files)?;
            let mut evidence = Evidence::default();
            let given = suite.tests.iter().map(|(_, test)| test);
            self.look_at(console, system, given, &mut evidence)?;
            if evidence.failing == 0 {
                return Err(no_fault().into());
            }
            let usual = match evidence.passing {
                0 => Localize::USUAL_TESTS,
                _ => 0,
            };
            let seed = self.seed.unwrap_or_else(draw_seed);
            let made = self.make(system, self.made.unwrap_or(usual), seed)?;
            self.look_at(console, system, made.iter(), &mut evidence)?;
            console.clear_status();

            let mut suspects = evidence.spectrum.rank(self.formula.into());
            if suspects.is_empty() {
                let message = "the failing tests reach no code that is measured";
                return Err(Error::new(message).with_help(system.help_to_reach()).into());
            }
            let all = suspects.len();
            suspects.truncate(self.top as usize);
            let targets: Vec<TargetId> = suspects.iter().map(|suspect| suspect.target).collect();
            let lines = suspects.iter().zip(system.reachable(&targets, &root));
            let lines = lines.map(|(suspect, place)| Line::new(suspect, place));
            let report = Report {
                formula: self.formula,
                failing: evidence.failing,
                passing: evidence.passing,
                broken: suite.broken,
                made: made.len(),
                seed: (!made.is_empty()).then_some(seed),
                reached: all,
                suspects: lines.collect(),
                unit: system.unit(),
            };
            if self.json {
                console.say(report.to_json())
            } else {
                report.say(console)
            }
            Ok(ExitStatus::FailureFound)
        })
    }

    /// Replays tests and notes what they reach.
    fn look_at<'t>(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Subject,
        tests: impl ExactSizeIterator<Item = &'t Test>,
        evidence: &mut Evidence,
    ) -> Result<(), Trouble> {
        let options = ReplayOptions {
            check: !self.system.no_check,
        };
        let all = quantity::of(tests.len() as u64, "test");
        for (number, test) in tests.enumerate() {
            console.status(|| format!("{} of {all}", quantity::grouped(number as u64)));
            let mut watcher = FromFirstStep::default();
            let trace = replay(system, test, &options, &mut watcher)?;
            if let Some(error) = watcher.trouble {
                return Err(error.into());
            }
            if trace.interrupted {
                return Err(Trouble::Interrupted);
            }
            if !watcher.begun {
                continue;
            }
            let failed = trace.failure().is_some();
            evidence.spectrum.add(&system.touched(), failed);
            *if failed {
                &mut evidence.failing
            } else {
                &mut evidence.passing
            } += 1;
        }
        Ok(())
    }

    /// Makes random tests that pass: of those that fail all but the last step.
    fn make(&self, system: &mut dyn Subject, number: u64, seed: u64) -> Result<Vec<Test>, Trouble> {
        let plan = Search {
            seed,
            tests: Some(number),
            length: self.length as usize,
            check: !self.system.no_check,
        };
        let mut collection = Collection::default();
        search(system, &plan, &mut collection)?;
        if testwright_python::interrupted() {
            Err(Trouble::Interrupted)
        } else {
            Ok(collection.0)
        }
    }
}

fn no_fault() -> Error {
    Error::new("none of the tests fails, so there is no fault to look for")
        .with_help("`testwright run` finds and saves tests that fail")
}

fn number(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "must be a whole number from 0".to_owned())
}

/// Who reached what.
#[derive(Default)]
struct Evidence {
    spectrum: Spectrum,
    failing: u64,
    passing: u64,
}

/// Keeps what passes of the tests of a search.
#[derive(Default)]
struct Collection(Vec<Test>);

impl<S: ?Sized> SearchWatcher<S> for Collection {
    fn proceed(&mut self, _: &Progress) -> bool {
        !testwright_python::interrupted()
    }

    fn made(&mut self, _: &S, made: Made<'_>) -> ControlFlow<()> {
        let passing = match (made.failure, made.steps.split_last()) {
            (Some(_), Some((_, before))) => before,
            _ => made.steps,
        };
        if !passing.is_empty() {
            self.0.push(Test::of_steps(passing.to_vec()));
        }
        ControlFlow::Continue(())
    }

    fn found(&mut self, _: &mut S, _: Found) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The result, also for scripts. The names in here are a promise.
#[derive(Serialize)]
struct Report {
    formula: FormulaName,
    failing: u64,
    passing: u64,
    /// Of those that pass: how many were made, and from which seed.
    made: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    broken: Vec<String>,
    /// How many branches failing tests reach.
    reached: usize,
    suspects: Vec<Line>,
    /// What the suspects are.
    #[serde(skip)]
    unit: &'static str,
}

#[derive(Serialize)]
struct Line {
    rank: usize,
    ties: usize,
    /// `null` in JSON if it is infinite.
    score: f64,
    file: String,
    from: Option<u32>,
    to: Option<u32>,
    failing: u64,
    passing: u64,
    source: String,
    #[serde(skip)]
    place: String,
}

impl Line {
    fn new(suspect: &Suspect, place: Reachable) -> Line {
        Line {
            rank: suspect.rank,
            ties: suspect.ties,
            score: suspect.score,
            file: place.file,
            from: place.from,
            to: place.to,
            failing: suspect.counts.failing,
            passing: suspect.counts.passing,
            source: place.source,
            place: place.place,
        }
    }
}

impl Report {
    fn say(&self, console: &mut Console<'_>) {
        let seed = match self.seed {
            Some(seed) => format!(
                " ({} made with seed {seed})",
                quantity::grouped(self.made as u64)
            ),
            None => String::new(),
        };
        console.say(format_args!(
            "{}, {}{seed}; {} in failing ones, the most suspicious first:",
            quantity::of(self.failing, "failing test"),
            quantity::of(self.passing, "passing test"),
            quantity::of(self.reached as u64, self.unit),
        ));
        let lengths = self.suspects.iter().map(|line| line.place.chars().count());
        let width = lengths.max().unwrap_or(0);
        let heading = format!("rank   score  failing  passing  {:width$}  source", "place");
        let heading = console.paint(Look::Quiet, heading);
        console.say(heading);
        for line in &self.suspects {
            let score = if line.score.is_finite() {
                format!("{:.3}", line.score)
            } else {
                "∞".to_owned()
            };
            let text = format!(
                "{:>4}  {score:>6}  {:>7}  {:>7}  {:width$}  {}",
                line.rank, line.failing, line.passing, line.place, line.source
            );
            console.say(text.trim_end());
        }
        let last = self.suspects.last();
        let more = last.map_or(0, |last| {
            (last.rank + last.ties - 1).saturating_sub(self.suspects.len())
        });
        if more > 0 {
            let branches = quantity::of(more as u64, &format!("more {}", self.unit));
            console.say(format_args!("and {branches} with the score of the last"));
        }
    }

    fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}
