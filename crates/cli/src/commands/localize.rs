//! `testwright localize`: branches that are suspected to contain the fault.

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;
use testwright_core::analyse::localize::{Spectrum, Suspect, SuspicionFormula};
use testwright_core::generate::{
    FailingTest, GeneratedTest, SearchOptions, SearchProgress, SearchWatcher, search,
};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{Error, TargetId, Test};
use testwright_python::{MeasuredCode, Options, OutputMode};

use super::run::{draw_seed, parse_at_least_one, parse_seed};
use crate::console::{Console, TextStyle};
use crate::coverage::FirstStepWatcher;
use crate::load::{self, SavedSuite};
use crate::target::{Target, TargetDescription};
use crate::test_source::TestSetup;
use crate::{CommandError, ExitStatus, quantity};

/// Rank the branches that failing tests reach and passing tests do not
///
/// The tests are replayed. Each branch gets a score from the numbers of failing and passing tests that reach
/// it. That works best with reduced tests of one bug (`testwright triage` groups tests by bug) and many
/// passing tests. If no given test passes, random tests are made; a random test that fails counts without
/// its failing step. A folder stands for all `.test` files in it and below. Tests that no longer fit the
/// harness are reported and left out.
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
pub(crate) struct LocalizeCommand {
    /// Saved tests, and folders with tests; at least one test must fail
    #[arg(required = true, value_name = "TEST|FOLDER")]
    tests: Vec<PathBuf>,

    /// Formula of the score
    #[arg(long, value_name = "NAME", value_enum, default_value = "ochiai")]
    formula: FormulaName,

    /// Number of branches to show
    #[arg(
        long,
        value_name = "N",
        default_value = "10",
        allow_negative_numbers = true,
        value_parser = parse_at_least_one::<u32>
    )]
    top: u32,

    /// Number of passing tests to make [default: none if a given test passes, else 100]
    #[arg(long = "tests", value_name = "N", allow_negative_numbers = true, value_parser = quantity::parse_from_zero::<u64>)]
    made: Option<u64>,

    /// Seed of the random tests: the same seed makes the same tests [default: drawn, and shown]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_seed)]
    seed: Option<u64>,

    /// Maximum number of steps of a random test
    #[arg(
        long,
        value_name = "N",
        default_value = "100",
        allow_negative_numbers = true,
        value_parser = parse_at_least_one::<u32>
    )]
    length: u32,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: TestSetup,
}

/// Values of `--formula`.
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

impl From<FormulaName> for SuspicionFormula {
    fn from(name: FormulaName) -> SuspicionFormula {
        match name {
            FormulaName::Ochiai => SuspicionFormula::Ochiai,
            FormulaName::Tarantula => SuspicionFormula::Tarantula,
            FormulaName::Dstar => SuspicionFormula::DStar,
            FormulaName::Op2 => SuspicionFormula::Op2,
        }
    }
}

impl LocalizeCommand {
    /// Number of tests to make if none of the given ones passes.
    const DEFAULT_TESTS: u64 = 100;

    /// Runs the command.
    pub(crate) fn run(mut self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let files = load::test_files(&self.tests)?;
        let root = std::env::current_dir().unwrap_or_default();
        let source = self.setup.restore(&self.tests)?;
        let options = Options {
            measured: MeasuredCode::Modules,
            ..self.setup.options(&source, OutputMode::Drop)?
        };
        let ready = source.read(console)?;
        ready.with_target(console, &options, &self.setup.system, |console, system| {
            let suite = SavedSuite::read(console, system, files)?;
            let mut evidence = CoverageEvidence::default();
            let given = suite.tests.iter().map(|(_, test)| test);
            self.replay_all(console, system, given, &mut evidence)?;
            if evidence.failing == 0 {
                return Err(no_fault().into());
            }
            let default = match evidence.passing {
                0 => LocalizeCommand::DEFAULT_TESTS,
                _ => 0,
            };
            let seed = self.seed.unwrap_or_else(draw_seed);
            let made = self.make_tests(system, self.made.unwrap_or(default), seed)?;
            self.replay_all(console, system, made.iter(), &mut evidence)?;
            console.clear_status();

            let mut suspects = evidence.spectrum.rank(self.formula.into());
            if suspects.is_empty() {
                let message = "the failing tests reach no code that is measured";
                return Err(Error::new(message).with_help(system.coverage_help()).into());
            }
            let all = suspects.len();
            suspects.truncate(self.top as usize);
            let targets: Vec<TargetId> = suspects.iter().map(|suspect| suspect.target).collect();
            let lines = suspects
                .iter()
                .zip(system.describe_targets(&targets, &root));
            let lines = lines.map(|(suspect, location)| SuspectLine::new(suspect, location));
            let report = LocalizeReport {
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
                console.out(report.to_json())
            } else {
                report.print(console)
            }
            Ok(ExitStatus::FailureFound)
        })
    }

    /// Replays tests, and records which targets they reach.
    fn replay_all<'t>(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Target,
        tests: impl ExactSizeIterator<Item = &'t Test>,
        evidence: &mut CoverageEvidence,
    ) -> Result<(), CommandError> {
        let options = ReplayOptions {
            check: self.setup.check(),
        };
        let all = quantity::format_count(tests.len() as u64, "test");
        for (number, test) in tests.enumerate() {
            console.status(|| format!("{} of {all}", quantity::grouped(number as u64)));
            let mut watcher = FirstStepWatcher::default();
            let trace = replay(system, test, &options, &mut watcher)?;
            if let Some(error) = watcher.error {
                return Err(error.into());
            }
            if trace.interrupted {
                return Err(CommandError::Interrupted);
            }
            if !watcher.has_begun {
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

    /// Makes random tests that pass: of a failing one, all but its last step.
    fn make_tests(
        &self,
        system: &mut dyn Target,
        number: u64,
        seed: u64,
    ) -> Result<Vec<Test>, CommandError> {
        let plan = SearchOptions {
            seed,
            tests: Some(number),
            length: self.length as usize,
            check: self.setup.check(),
        };
        let mut passing = PassingTests::default();
        search(system, &plan, &mut passing)?;
        if testwright_python::is_interrupted() {
            Err(CommandError::Interrupted)
        } else {
            Ok(passing.0)
        }
    }
}

/// Returns the error for tests that all pass.
fn no_fault() -> Error {
    Error::new("none of the tests fails, so there is no fault to look for")
        .with_help("`testwright run` finds and saves tests that fail")
}

/// Coverage of failing and passing tests.
#[derive(Default)]
struct CoverageEvidence {
    /// For each target, how many failing and passing tests reach it.
    spectrum: Spectrum,
    failing: u64,
    passing: u64,
}

/// Watcher that collects the passing part of each test of a search.
#[derive(Default)]
struct PassingTests(Vec<Test>);

impl<S: ?Sized> SearchWatcher<S> for PassingTests {
    fn proceed(&mut self, _: &SearchProgress) -> bool {
        !testwright_python::is_interrupted()
    }

    /// Keeps the steps before the failing one.
    fn test_generated(&mut self, _: &S, made: GeneratedTest<'_>) -> ControlFlow<()> {
        let passing = match (made.failure, made.steps.split_last()) {
            (Some(_), Some((_, before))) => before,
            _ => made.steps,
        };
        if !passing.is_empty() {
            self.0.push(Test::from_steps(passing.to_vec()));
        }
        ControlFlow::Continue(())
    }

    /// Goes on after failures.
    fn failure_found(&mut self, _: &mut S, _: FailingTest) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The result. Field names are the keys of the JSON output and must not change.
#[derive(Serialize)]
struct LocalizeReport {
    formula: FormulaName,
    failing: u64,
    passing: u64,
    /// Number of passing tests that were made at random.
    made: usize,
    /// Seed of the tests that were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// Tests that the harness does not understand any more.
    broken: Vec<String>,
    /// Number of branches that failing tests reach.
    reached: usize,
    suspects: Vec<SuspectLine>,
    /// Noun for the suspects: `branch` or `transition`.
    #[serde(skip)]
    unit: &'static str,
}

/// A suspicious branch.
#[derive(Serialize)]
struct SuspectLine {
    rank: usize,
    /// Number of suspects with the same score.
    ties: usize,
    /// Suspicion; infinity is `null` in JSON.
    score: f64,
    file: String,
    /// Line from which the branch leads.
    from: Option<u32>,
    /// Line to which the branch leads.
    to: Option<u32>,
    failing: u64,
    passing: u64,
    /// Source text of the line.
    source: String,
    /// Location for people.
    #[serde(skip)]
    place: String,
}

impl SuspectLine {
    /// Combines a suspect with its location.
    fn new(suspect: &Suspect, location: TargetDescription) -> SuspectLine {
        SuspectLine {
            rank: suspect.rank,
            ties: suspect.ties,
            score: suspect.score,
            file: location.file,
            from: location.from,
            to: location.to,
            failing: suspect.counts.failing,
            passing: suspect.counts.passing,
            source: location.source,
            place: location.location,
        }
    }
}

impl LocalizeReport {
    /// Prints the suspects as a table.
    fn print(&self, console: &mut Console<'_>) {
        let seed = match self.seed {
            Some(seed) => format!(
                " ({} made with seed {seed})",
                quantity::grouped(self.made as u64)
            ),
            None => String::new(),
        };
        console.out(format_args!(
            "{}, {}{seed}; {} in failing ones, the most suspicious first:",
            quantity::format_count(self.failing, "failing test"),
            quantity::format_count(self.passing, "passing test"),
            quantity::format_count(self.reached as u64, self.unit),
        ));
        let lengths = self.suspects.iter().map(|line| line.place.chars().count());
        let width = lengths.max().unwrap_or(0);
        let heading = format!("rank   score  failing  passing  {:width$}  source", "place");
        let heading = console.paint(TextStyle::Dim, heading);
        console.out(heading);
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
            console.out(text.trim_end());
        }
        let last = self.suspects.last();
        let more = last.map_or(0, |last| {
            (last.rank + last.ties - 1).saturating_sub(self.suspects.len())
        });
        if more > 0 {
            let branches = quantity::format_count(more as u64, &format!("more {}", self.unit));
            console.out(format_args!("and {branches} with the score of the last"));
        }
    }

    /// Formats the report as one JSON object.
    fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}
