//! `testwright explore`: visit every state once.
//!
//! A harness is explored here: [`watcher`] enforces the limits, [`findings`] saves tests,
//! [`verdict`] and [`json`] report. Models have states of another kind and are explored in
//! [`models`].

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use testwright_core::explore::temporal::{FormulaVerdict, ParsedFormula};
use testwright_core::explore::{
    BacktrackChoice, Backtracking, ExploreOptions, ExploredExtent, Explorer, FailurePolicy,
    SearchOrder, StopReason,
};
use testwright_core::generate::UntakenTemplates;
use testwright_core::verdict::Verdict;
use testwright_core::{Equivalence, Error, Failure, FailureKind, System, Test};
use testwright_python::{OutputMode, PythonSystem};

use super::SystemArguments;
use super::run::{NO_FIRST_ACTION_HELP, parse_at_least_one};
use crate::console::Console;
use crate::files::OutputFolder;
use crate::guard::{report_crash, run_guarded};
use crate::pictures::PictureArguments;
use crate::quantity::parse_from_zero;
use crate::source::is_model;
use crate::{CommandError, ExitStatus, duration, load, report, size, verdict_text};

mod findings;
mod formula_check;
mod formula_result;
mod graph_file;
mod helpers;
mod interrupt_report;
mod json;
mod model_report;
mod models;
mod queries;
mod unused_parts;
mod verdict;
mod watcher;

use findings::{FindingsWriter, SavedFindings};
use interrupt_report::InterruptReport;
use queries::Queries;
use watcher::{EarlyStop, ExplorationMonitor};

/// Visit every state that a harness or a model can reach
///
/// `run` tries tests at random. `explore` tries all of them, each state once, and can show that there is no
/// failure: in no state at all, or in no test up to a length. It also looks for states (`--goal`) and checks
/// temporal properties (`--formula`). States are compared by the values in the slots.
///
/// EXPR is a Python expression. It uses slots by their names in tests (`jugs0`), and all names that the
/// harness can use. If it raises while a slot that it names is empty, it counts as false.
///
/// Tests are written to `testwright-out/NAME/`: failure-1.test and so on, goal.test, lasso.test.
/// Ctrl-C ends the exploration and shows the results so far.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright explore jugs.tstl                              all states, until one is wrong
  testwright explore stack.tstl --small-scope 4             all tests of up to four steps
  testwright explore jugs.tstl --goal \"jugs0.litres['large'] == 4\"
                                                            the shortest test that gets there
  testwright explore jugs.tstl --goal \"jugs0.litres['large'] == 4\" --without empty
                                                            is there one that empties no jug?
  testwright explore lock.tstl --formula 'always ({lock0.wanted} implies eventually {lock0.held})'

Exit status: 0 nothing wrong was found (see the text or `--json` for what was covered, and for the goal),
1 a failure was found or the formula is violated, 2 could not do what was asked, or nothing could be done."
)]
pub(crate) struct ExploreCommand {
    /// Harness, or a model
    #[arg(value_name = "HARNESS|MODEL")]
    harness: PathBuf,

    /// Further models, scenarios and configurations to compose with the model
    #[arg(value_name = "MODEL")]
    more: Vec<String>,

    /// For models: number of transitions after which to stop [default: no limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    max: Option<usize>,

    /// For models: number of processes; the result is the same [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    jobs: Option<usize>,

    /// For models: use only actions of this name; repeatable
    #[arg(long, value_name = "NAME")]
    action: Vec<String>,

    /// For models: leave out actions of this name; repeatable
    #[arg(long, value_name = "NAME")]
    exclude: Vec<String>,

    /// Order of states [default: breadth, or deepening with --small-scope, or best with --heuristic]
    #[arg(long, value_name = "ORDER", value_enum)]
    order: Option<OrderName>,

    /// Maximum number of steps of a test [default: no limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_at_least_one::<u32>)]
    depth: Option<u32>,

    /// Try all tests of up to N steps, without matching states
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = parse_at_least_one::<u32>,
        conflicts_with = "depth"
    )]
    small_scope: Option<u32>,

    /// Treat states as equal if they differ only by the names of slots
    #[arg(long, conflicts_with_all = ["no_matching", "small_scope", "formula", "without"])]
    symmetry: bool,

    /// Do not match states: visit a state again for every test that leads there
    #[arg(long)]
    no_matching: bool,

    /// Look for a test that leads to a state in which this is true
    #[arg(long, value_name = "EXPR", conflicts_with = "formula")]
    goal: Option<String>,

    /// For `--order best`: number by which states are ordered, the smallest first
    #[arg(long, value_name = "EXPR", conflicts_with = "formula")]
    heuristic: Option<String>,

    /// Check a temporal property, such as 'always eventually {queue0 == []}'
    #[arg(long, value_name = "LTL", alias = "ltl")]
    formula: Option<String>,

    /// Leave out actions whose text matches this Python regular expression
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    without: Option<String>,

    /// Number of remembered states after which to stop [default: no limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_at_least_one::<u64>)]
    most_states: Option<u64>,

    /// Memory limit for remembered states, such as 500MB [default: no limit; for models 2GB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = size::parse_limit::<{ 1 << 10 }>)]
    memory: Option<usize>,

    /// Time to explore: 30s, 2m, 1h [default: no limit]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration::parse)]
    time: Option<Duration>,

    /// Way to backtrack to an earlier state [default: copy, unless a trial shows that it does not work]
    #[arg(long, value_name = "HOW", value_enum)]
    going_back: Option<BacktrackName>,

    /// Continue after a failure, and collect one test for each kind
    #[arg(long, visible_alias = "all")]
    keep_going: bool,

    /// Folder to write tests to [default: testwright-out/NAME]; for models: `.py` or `.json` file to write
    #[arg(long, value_name = "FOLDER|FILE")]
    out: Option<PathBuf>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pictures: PictureArguments,

    #[command(flatten)]
    system: SystemArguments,
}

/// Values of `--order`.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum OrderName {
    /// breadth first: finds shortest tests
    Breadth,
    /// depth first: needs little memory
    Depth,
    /// depth first up to one step, then two, and so on: shortest tests with little memory
    Deepening,
    /// the state with the smallest `--heuristic` first
    Best,
}

/// Values of `--going-back`.
#[derive(Clone, Copy, ValueEnum)]
enum BacktrackName {
    /// keep copies of the values in the slots
    Copy,
    /// start again, and take the same actions
    Replay,
}

/// Result of an exploration.
struct ExplorationOutcome {
    /// Number of states visited.
    states: u64,
    /// Number of transitions taken.
    transitions: u64,
    /// Number of steps executed, including those to return to earlier states.
    steps: u64,
    /// Length of the longest test.
    depth: usize,
    /// Part of the system that was covered.
    reach: ExploredExtent,
    /// Evidence for what is said about all states.
    verdict: Verdict,
    /// One test for each distinct failure.
    failures: Vec<(Test, Failure)>,
    /// Number of transitions that fail, including repeated failures.
    failing: u64,
    /// Number of states in which no action is enabled.
    deadlocked: u64,
    /// A test that leads to such a state.
    deadlock: Option<Test>,
    /// A test that leads to the goal.
    goal: Option<Test>,
    /// Verdict on the formula.
    answer: Option<FormulaVerdict>,
    /// Way of returning to earlier states, with the reason for it.
    backtracking: BacktrackChoice,
    /// Limit of the user that ended the exploration.
    stop: Option<EarlyStop>,
    time: Duration,
}

/// Reports that the code under test ended the process.
fn handle_crash(
    console: &mut Console<'_>,
    note: &str,
    failure: &Failure,
) -> Result<ExitStatus, CommandError> {
    let status = report_crash(console, note, failure)?;
    if failure.kind == FailureKind::Hang {
        console.err("`testwright run` finds the few steps that lead there");
        return Ok(status);
    }
    Err(
        Error::new("the code under test ended the process, so the other states were not explored")
            .with_help("`testwright run` survives this, and finds the few steps that lead there")
            .into(),
    )
}

impl ExploreCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        if is_model(&self.harness) {
            return self.run_models(console);
        }
        self.validate_args()?;
        let folder = self.folder();
        let findings = OutputFolder::for_failures(&folder)?;
        let answers = OutputFolder::for_answers(&folder)?;
        let options = self.system.options(OutputMode::Drop);
        let formula = queries::parse_formula(console, self.formula.as_deref())?;
        let (file, harness) = load::harness(console, &self.harness)?;
        run_guarded(
            console,
            Some(self.system.step_timeout),
            handle_crash,
            |console, note| {
                load::with_system(console, &file, harness, &options, |console, system| {
                    note.write("While states were visited");
                    let writer = FindingsWriter::new(&self, findings, answers);
                    self.explore(console, system, formula, writer)
                })
            },
        )
    }

    /// Fails if options contradict each other, or are meant for models.
    fn validate_args(&self) -> Result<(), Error> {
        let refuse = |message: &str, help: &str| Err(Error::new(message).with_help(help));
        let for_models = self.pictures.is_given()
            || self.max.is_some()
            || self.jobs.is_some()
            || !self.action.is_empty()
            || !self.exclude.is_empty();
        if for_models || !self.more.is_empty() {
            return refuse(
                "`--max`, `--jobs`, `--action`, `--exclude`, pictures and further models are for models",
                "a harness is explored alone, with `--depth N`, `--most-states N` or `--without REGEX`",
            );
        }
        let is_best = self.order() == OrderName::Best;
        if self.heuristic.is_some() && !is_best {
            return refuse(
                "`--heuristic` is for `--order best`",
                "leave one of the two out",
            );
        }
        if is_best && self.heuristic.is_none() {
            return refuse(
                "`--order best` needs to know which states are best",
                "say so with `--heuristic EXPR`: smaller is better",
            );
        }
        if self.formula.is_some() && self.order.is_some_and(|order| order != OrderName::Breadth) {
            return refuse("formulas are judged breadth first", "leave `--order` out");
        }
        let limited = self.depth.is_some() || self.small_scope.is_some() || self.time.is_some();
        if self.no_matching && !limited && self.most_states.is_none() && self.memory.is_none() {
            return refuse(
                "without matching, the exploration would never end",
                "set a limit with `--depth N` or `--time DURATION`",
            );
        }
        Ok(())
    }

    /// Returns the folder for tests that are found.
    fn folder(&self) -> PathBuf {
        let name = self.harness.file_stem().unwrap_or_default();
        self.out
            .clone()
            .unwrap_or_else(|| PathBuf::from("testwright-out").join(name))
    }

    /// Returns the order, or the default that fits the other options.
    fn order(&self) -> OrderName {
        match self.order {
            Some(order) => order,
            None if self.heuristic.is_some() => OrderName::Best,
            None if self.formula.is_some() => OrderName::Breadth,
            // Hardly slower than depth first, and it finds shortest tests.
            None if self.small_scope.is_some() => OrderName::Deepening,
            None => OrderName::Breadth,
        }
    }

    /// Returns true if no shorter tests exist than those that are found.
    fn finds_shortest(&self) -> bool {
        matches!(self.order(), OrderName::Breadth | OrderName::Deepening)
    }

    /// Converts the arguments to options of the exploration.
    fn plan(&self) -> ExploreOptions {
        let has_query = self.goal.is_some() || self.formula.is_some();
        ExploreOptions {
            order: match self.order() {
                OrderName::Breadth => SearchOrder::BreadthFirst,
                OrderName::Depth => SearchOrder::DepthFirst,
                OrderName::Deepening => SearchOrder::IterativeDeepening,
                OrderName::Best => SearchOrder::BestFirst,
            },
            matching: if self.no_matching || self.small_scope.is_some() {
                None
            } else if self.symmetry {
                Some(Equivalence::UpToRenaming)
            } else {
                Some(Equivalence::Equal)
            },
            depth: self.depth.or(self.small_scope).map(|steps| steps as usize),
            check: !self.system.no_check,
            // A failure must not end the search for a goal, or the check of a formula.
            failures: if self.keep_going || has_query {
                FailurePolicy::Distinct
            } else {
                FailurePolicy::First
            },
            stop_at_goal: self.goal.is_some(),
            max_states: self
                .most_states
                .map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            max_bytes: self.memory,
            ..ExploreOptions::default()
        }
    }

    /// Explores, prints and saves the findings, and returns the exit status.
    fn explore<'py>(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        formula: Option<ParsedFormula>,
        mut writer: FindingsWriter<'_>,
    ) -> Result<ExitStatus, CommandError> {
        let queries = Queries::compile(self, console, system, formula.as_ref())?;
        console.set_quiet(self.json);
        // The trial takes steps already, and may get stuck in one.
        let interrupt_report = InterruptReport::install(system.actions(), self.json);
        let going_back = match self.choose_backtracking(system) {
            Err(CommandError::Interrupted) if self.json => {
                console.set_quiet(false);
                console.out(interrupt_report.report().to_json());
                return Err(CommandError::Interrupted);
            }
            choice => choice?,
        };
        self.print_plan(console, system, &going_back);
        let outcome = self.run_exploration(
            console,
            system,
            &queries,
            formula.as_ref(),
            (&mut writer, interrupt_report),
            going_back,
        );
        testwright_python::clear_interrupt();
        console.clear_status();
        let (outcome, error) = outcome.map_err(|error| self.with_advice(error))?;
        let saved = writer.save_all(console, system, &queries, &outcome);
        verdict::print(console, self, &queries, &outcome, &saved);
        console.set_quiet(false);
        if self.json {
            let report = json::ExplorationReport::new(self, &queries, &outcome, &saved, system);
            console.out(report.to_json());
        }
        match error {
            Some(error) => Err(self.with_advice(error).into()),
            None => self.exit_status(&outcome, &saved),
        }
    }

    /// Returns the exit status. Fails if nothing was explored and nothing was found.
    fn exit_status(
        &self,
        outcome: &ExplorationOutcome,
        saved: &SavedFindings,
    ) -> Result<ExitStatus, CommandError> {
        let violated = matches!(outcome.answer, Some(FormulaVerdict::Violated(_)));
        if saved.has_unwritten {
            Ok(ExitStatus::Error)
        } else if violated || !outcome.failures.is_empty() {
            Ok(ExitStatus::FailureFound)
        } else if outcome.is_empty() && outcome.goal.is_none() {
            let help = match self.without {
                Some(_) => "`--without` leaves out all that could be done there",
                None => NO_FIRST_ACTION_HELP,
            };
            let message = "no action can be taken at the start, so nothing was explored";
            Err(Error::new(message).with_help(help).into())
        } else {
            Ok(ExitStatus::NothingFound)
        }
    }

    /// Chooses how to return to an earlier state: as requested, or by a trial.
    fn choose_backtracking(
        &self,
        system: &mut PythonSystem<'_>,
    ) -> Result<BacktrackChoice, CommandError> {
        let by = match self.going_back {
            Some(BacktrackName::Copy) => Backtracking::BySnapshot,
            Some(BacktrackName::Replay) => Backtracking::ByReplay,
            None => {
                let mut explorer = Explorer::new(system).with_snapshots().with_fingerprints();
                let choice = explorer.probe();
                return if testwright_python::is_interrupted() {
                    Err(CommandError::Interrupted)
                } else {
                    Ok(choice?)
                };
            }
        };
        let reason = "as requested".to_owned();
        Ok(BacktrackChoice { method: by, reason })
    }

    /// Runs the exploration. If the system fails to go on, returns the partial outcome with the
    /// error.
    fn run_exploration<'py>(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        queries: &Queries<'py>,
        formula: Option<&ParsedFormula>,
        (writer, interrupt_report): (&mut FindingsWriter<'_>, InterruptReport),
        going_back: BacktrackChoice,
    ) -> Result<(ExplorationOutcome, Option<Error>), Error> {
        let plan = ExploreOptions {
            backtracking: Some(going_back.method),
            ..self.plan()
        };
        let reported = (interrupt_report, UntakenTemplates::new(system.actions()));
        let mut monitor = ExplorationMonitor::new(self, console, queries, writer, reported);
        let started = Instant::now();
        let mut explorer = Explorer::new(system).with_snapshots().with_fingerprints();
        let explored = match formula {
            Some(parsed) => explorer
                .judge(&parsed.formula, &plan, &mut monitor)
                .map(|judgement| (judgement.exploration, Some(judgement.verdict))),
            None => explorer
                .explore(&plan, &mut monitor)
                .map(|exploration| (exploration, None)),
        };
        let time = started.elapsed();
        let asked_to_stop = testwright_python::is_interrupted();
        let stop = monitor
            .stop
            .or(asked_to_stop.then_some(EarlyStop::Interrupted));
        let error = monitor.error.take();
        let untaken = std::mem::take(&mut monitor.untaken);
        match explored {
            Ok((found, answer)) => {
                let mut verdict = verdict::judge(self, &found, (stop, answer.as_ref()), system);
                // A formula is judged without looking at lines.
                if verdict.is_complete() && answer.is_none() && self.without.is_none() {
                    verdict.add_caveats(verdict_text::never_taken(system.actions(), &untaken));
                }
                let outcome = ExplorationOutcome {
                    verdict,
                    states: found.states,
                    transitions: found.transitions,
                    steps: found.steps,
                    depth: found.depth,
                    reach: found.extent,
                    failures: found.failures,
                    failing: found.failure_count,
                    deadlocked: found.deadlock_count,
                    deadlock: found.deadlocks.into_iter().next(),
                    goal: found.goals.into_iter().next(),
                    answer,
                    backtracking: going_back,
                    stop,
                    time,
                };
                Ok((outcome, error))
            }
            Err(error) if monitor.failures.is_empty() && !asked_to_stop => Err(error),
            Err(error) => {
                let progress = monitor.progress;
                let because = if asked_to_stop {
                    StopReason::Interrupted
                } else {
                    StopReason::Stopped
                };
                let outcome = ExplorationOutcome {
                    verdict: Verdict::new(verdict::stopped_extent(stop, None)),
                    states: progress.states,
                    transitions: progress.transitions,
                    steps: progress.steps,
                    depth: progress.depth,
                    reach: ExploredExtent::Partial {
                        reason: because,
                        length: 0,
                    },
                    failing: monitor.failures.len() as u64,
                    failures: monitor.failures,
                    deadlocked: 0,
                    deadlock: None,
                    goal: None,
                    answer: None,
                    backtracking: going_back,
                    stop,
                    time,
                };
                // Ctrl-C during a reset of the system looks like an error, but is an interrupt.
                Ok((outcome, Some(error).filter(|_| !asked_to_stop)))
            }
        }
    }

    /// Adds the advice to use `--small-scope` if states cannot be told apart.
    fn with_advice(&self, error: Error) -> Error {
        if !error.message.starts_with("states cannot be told apart") {
            return error;
        }
        let help = error.help.unwrap_or_default();
        Error::new(error.message).with_help(format!(
            "{help}, or try all short tests with `--small-scope N`, which needs no matching"
        ))
    }

    /// Prints what is going to be explored, and how.
    fn print_plan(
        &self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        back: &BacktrackChoice,
    ) {
        let order = match self.order() {
            OrderName::Breadth => "breadth first",
            OrderName::Depth => "depth first",
            OrderName::Deepening => "one step deeper each time",
            OrderName::Best => "best first",
        };
        let scope = match (self.small_scope, self.depth) {
            (Some(steps), _) => format!("tests of up to {}", verdict::steps_text(steps as usize)),
            (_, Some(steps)) => {
                format!("states within {}", verdict::steps_text(steps as usize))
            }
            _ => "each state once".to_owned(),
        };
        console.out(format_args!(
            "{}: {}; {scope}, {order}",
            self.harness.display(),
            report::actions_from_lines(system.harness()),
        ));
        let by = match back.method {
            Backtracking::BySnapshot => "copy",
            Backtracking::ByReplay => "replay",
        };
        console.out(format_args!("Going back by {by}: {}", back.reason));
        console.flush();
    }
}
