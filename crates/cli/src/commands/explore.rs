//! `testwright explore`: visit every state once.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use testwright_core::explore::temporal::{Answer, Parsed};
use testwright_core::explore::{
    Choice, Explorer, Failures, GoingBack, Order as SearchOrder, Plan, Reach, Reason,
};
use testwright_core::{Error, Failure, Likeness, System, Test};
use testwright_python::{Output, PythonSystem};

use super::SystemArguments;
use super::run::at_least_one;
use crate::console::Console;
use crate::files::OutputFolder;
use crate::guard::{guarded, tell_crash};
use crate::pictures::PictureArguments;
use crate::source::is_model;
use crate::{ExitStatus, Trouble, duration, load, report, size};

mod findings;
mod graph_file;
mod guide;
mod helpers;
mod json;
mod judged;
mod last_words;
mod model_report;
mod models;
mod questions;
mod verdict;

use findings::{Desk, Kept};
use guide::{Guide, Stop};
use last_words::LastWords;
use questions::Questions;

/// Visit every state that a harness can reach, each once
///
/// Where `run` tries tests at random, this goes through all of them, and can say that there is no
/// failure: in no state at all, or in no test up to a length. It also looks for states (`--goal`) and
/// judges what must happen in time (`--formula`). States are told apart by what the slots hold.
///
/// EXPR is a Python expression over the slots, by the names they have in tests (`jug0`), and over all
/// that the harness knows. If it raises while a slot that it names is empty, it counts as false.
///
/// What is found is written to `testwright-out/NAME/`: failure-1.test and so on, goal.test, lasso.test.
/// Ctrl-C ends the exploration and tells what is known so far.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright explore jugs.tstl                              all states, until one is wrong
  testwright explore stack.tstl --small-scope 4             all tests of up to four steps
  testwright explore jugs.tstl --goal 'jug0.litres == 4'    the shortest test that gets there
  testwright explore jugs.tstl --goal 'jug0.litres == 4' --without empty
                                                            is there one that empties no jug?
  testwright explore lock.tstl --formula 'always ({lock0.wanted} implies eventually {lock0.held})'

Exit status: 0 nothing is wrong (also if a goal is not reached, which the text and `--json` tell),
1 a failure was found or the formula is violated, 2 could not do what was asked."
)]
pub(crate) struct Explore {
    /// The harness, or a model
    #[arg(value_name = "HARNESS|MODEL")]
    harness: PathBuf,

    /// Further models, scenarios and configurations to compose with a model
    #[arg(value_name = "MODEL")]
    more: Vec<String>,

    /// For models: how many transitions to record before it stops [default: any number]
    #[arg(long, value_name = "N")]
    max: Option<usize>,

    /// For models: how many processes explore; what they find is the same [default: 1]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// For models: include only actions of this name; can be given several times
    #[arg(long, value_name = "NAME")]
    action: Vec<String>,

    /// For models: leave out actions of this name; can be given several times
    #[arg(long, value_name = "NAME")]
    exclude: Vec<String>,

    /// Which states to visit first [default: breadth, or deepening with --small-scope, or best with --heuristic]
    #[arg(long, value_name = "ORDER", value_enum)]
    order: Option<Order>,

    /// How many steps a test may have [default: any number]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    depth: Option<u32>,

    /// Try all tests of up to N steps, each for itself, without matching states
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = at_least_one::<u32>,
        conflicts_with = "depth"
    )]
    small_scope: Option<u32>,

    /// Take states for one that differ only by the names of slots
    #[arg(long, conflicts_with_all = ["no_matching", "small_scope", "formula", "without"])]
    symmetry: bool,

    /// Visit a state again for every test that leads there
    #[arg(long)]
    no_matching: bool,

    /// Look for a test that leads to a state in which this is true
    #[arg(long, value_name = "EXPR", conflicts_with = "formula")]
    goal: Option<String>,

    /// For `--order best`: states in which this number is smaller come first
    #[arg(long, value_name = "EXPR", conflicts_with = "formula")]
    heuristic: Option<String>,

    /// Judge a temporal property, such as 'always eventually {queue0 == []}'
    #[arg(long, value_name = "LTL", alias = "ltl")]
    formula: Option<String>,

    /// Leave out actions in whose text this regular expression (of Python) is found
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    without: Option<String>,

    /// How many states to remember before it stops [default: any number]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    most_states: Option<u64>,

    /// How much memory to take for remembering states, such as 500MB [default: any amount]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = size::parse)]
    memory: Option<usize>,

    /// How long to explore: 30s, 2m, 1h [default: until the end]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration::parse)]
    time: Option<Duration>,

    /// How to get back to an earlier state [default: copy, unless a trial shows that it does not work]
    #[arg(long, value_name = "HOW", value_enum)]
    going_back: Option<Back>,

    /// Go on after a failure, and collect one test for each kind
    #[arg(long)]
    all: bool,

    /// Where to write the tests that are found [default: testwright-out/NAME]; for models: the FSM module to write, or a
    /// `.json` file
    #[arg(long, value_name = "DIR|FILE")]
    out: Option<PathBuf>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pictures: PictureArguments,

    #[command(flatten)]
    system: SystemArguments,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Order {
    /// those that take fewer steps first: finds shortest tests
    Breadth,
    /// onwards from the newest: needs little memory
    Depth,
    /// depth first up to one step, then two, and so on: finds shortest tests with little memory
    Deepening,
    /// those with the smallest `--heuristic` first
    Best,
}

#[derive(Clone, Copy, ValueEnum)]
enum Back {
    /// keep copies of what the slots hold
    Copy,
    /// start anew and take the same actions
    Replay,
}

/// What an exploration came to.
struct Outcome {
    states: u64,
    transitions: u64,
    steps: u64,
    depth: usize,
    reach: Reach,
    failures: Vec<(Test, Failure)>,
    failing: u64,
    deadlocked: u64,
    /// A test that leads to a state in which nothing can be done.
    deadlock: Option<Test>,
    goal: Option<Test>,
    /// What became of the formula.
    answer: Option<Answer>,
    going_back: Choice,
    /// Why the person's own limits ended it.
    stop: Option<Stop>,
    time: Duration,
}

/// Tells that the code under test has ended the process.
fn crashed(
    console: &mut Console<'_>,
    note: &str,
    failure: &Failure,
) -> Result<ExitStatus, Trouble> {
    tell_crash(console, note, failure)?;
    Err(Error::new(
        "the code under test ended the process, so nothing is known of the other states",
    )
    .with_help("`testwright run` survives that, and finds the few steps that lead there")
    .into())
}

impl Explore {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        if is_model(&self.harness) {
            return self.run_models(console);
        }
        self.refuse_nonsense()?;
        let folder = self.folder();
        let findings = OutputFolder::of_findings(&folder)?;
        let answers = OutputFolder::of_answers(&folder)?;
        let options = self.system.options(Output::Drop);
        let formula = questions::formula(console, self.formula.as_deref())?;
        let (file, harness) = load::harness(console, &self.harness)?;
        guarded(console, None, crashed, |console, note| {
            load::with_system(console, &file, harness, &options, |console, system| {
                note.write("While states were visited");
                let desk = Desk::new(&self, findings, answers);
                self.explore(console, system, formula, desk)
            })
        })
    }

    /// What cannot be meant.
    fn refuse_nonsense(&self) -> Result<(), Error> {
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
        let is_best = self.order() == Order::Best;
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
        if self.formula.is_some() && self.order.is_some_and(|order| order != Order::Breadth) {
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

    fn folder(&self) -> PathBuf {
        let name = self.harness.file_stem().unwrap_or_default();
        self.out
            .clone()
            .unwrap_or_else(|| PathBuf::from("testwright-out").join(name))
    }

    fn order(&self) -> Order {
        match self.order {
            Some(order) => order,
            None if self.heuristic.is_some() => Order::Best,
            None if self.formula.is_some() => Order::Breadth,
            // Hardly slower than depth first, and what it finds is shortest.
            None if self.small_scope.is_some() => Order::Deepening,
            None => Order::Breadth,
        }
    }

    /// Whether the tests that are found are shortest ones.
    fn finds_shortest(&self) -> bool {
        matches!(self.order(), Order::Breadth | Order::Deepening)
    }

    fn plan(&self) -> Plan {
        let is_for_answer = self.goal.is_some() || self.formula.is_some();
        Plan {
            order: match self.order() {
                Order::Breadth => SearchOrder::BreadthFirst,
                Order::Depth => SearchOrder::DepthFirst,
                Order::Deepening => SearchOrder::IterativeDeepening,
                Order::Best => SearchOrder::BestFirst,
            },
            matching: if self.no_matching || self.small_scope.is_some() {
                None
            } else if self.symmetry {
                Some(Likeness::UpToRenaming)
            } else {
                Some(Likeness::Equal)
            },
            depth: self.depth.or(self.small_scope).map(|steps| steps as usize),
            check: !self.system.no_check,
            // Who looks for something else does not want to be kept from it.
            failures: if self.all || is_for_answer {
                Failures::Distinct
            } else {
                Failures::First
            },
            stop_at_goal: self.goal.is_some(),
            most_states: self
                .most_states
                .map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            most_bytes: self.memory,
            ..Plan::default()
        }
    }

    fn explore<'py>(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        formula: Option<Parsed>,
        mut desk: Desk<'_>,
    ) -> Result<ExitStatus, Trouble> {
        let questions = Questions::compile(self, console, system, formula.as_ref())?;
        console.keep_quiet(self.json);
        // The trial takes steps already, and may get stuck in one.
        let last_words = LastWords::prepare(system.actions(), self.json);
        let going_back = match self.choose_way_back(system) {
            Err(Trouble::Interrupted) if self.json => {
                console.keep_quiet(false);
                console.say(last_words.report().to_json());
                return Err(Trouble::Interrupted);
            }
            choice => choice?,
        };
        self.say_plan(console, system, &going_back);
        let outcome = self.outcome(
            console,
            system,
            &questions,
            formula.as_ref(),
            (&mut desk, last_words),
            going_back,
        );
        testwright_python::never_mind();
        console.clear_status();
        let (outcome, trouble) = outcome.map_err(|error| self.advise(error))?;
        let kept = desk.take_in(console, system, &questions, &outcome);
        verdict::say(console, self, &questions, &outcome, &kept);
        console.keep_quiet(false);
        if self.json {
            let report = json::Report::new(self, &questions, &outcome, &kept, system);
            console.say(report.to_json());
        }
        match trouble {
            Some(error) => Err(self.advise(error).into()),
            None => Ok(status(&outcome, &kept)),
        }
    }

    /// Tries how to get back to a state, unless the person says how.
    fn choose_way_back(&self, system: &mut PythonSystem<'_>) -> Result<Choice, Trouble> {
        let by = match self.going_back {
            Some(Back::Copy) => GoingBack::ByCopy,
            Some(Back::Replay) => GoingBack::ByReplay,
            None => {
                let mut explorer = Explorer::of(system).with_copies().with_fingerprints();
                let choice = explorer.probe();
                return if testwright_python::interrupted() {
                    Err(Trouble::Interrupted)
                } else {
                    Ok(choice?)
                };
            }
        };
        let why = "as you wished".to_owned();
        Ok(Choice { by, why })
    }

    /// Explores. If the system cannot go on, what was found until then comes with the reason.
    fn outcome<'py>(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        questions: &Questions<'py>,
        formula: Option<&Parsed>,
        (desk, last_words): (&mut Desk<'_>, LastWords),
        going_back: Choice,
    ) -> Result<(Outcome, Option<Error>), Error> {
        let plan = Plan {
            going_back: Some(going_back.by),
            ..self.plan()
        };
        let mut guide = Guide::new(self, console, questions, desk, last_words);
        let started = Instant::now();
        let mut explorer = Explorer::of(system).with_copies().with_fingerprints();
        let explored = match formula {
            Some(parsed) => explorer
                .judge(&parsed.formula, &plan, &mut guide)
                .map(|judgement| (judgement.exploration, Some(judgement.answer))),
            None => explorer
                .explore(&plan, &mut guide)
                .map(|exploration| (exploration, None)),
        };
        let time = started.elapsed();
        let asked_to_stop = testwright_python::interrupted();
        let stop = guide.stop.or(asked_to_stop.then_some(Stop::Interrupted));
        let trouble = guide.trouble.take();
        match explored {
            Ok((found, answer)) => {
                let outcome = Outcome {
                    states: found.states,
                    transitions: found.transitions,
                    steps: found.steps,
                    depth: found.depth,
                    reach: found.reach,
                    failures: found.failures,
                    failing: found.failing,
                    deadlocked: found.deadlocked,
                    deadlock: found.deadlocks.into_iter().next(),
                    goal: found.goals.into_iter().next(),
                    answer,
                    going_back,
                    stop,
                    time,
                };
                Ok((outcome, trouble))
            }
            Err(error) if guide.failures.is_empty() && !asked_to_stop => Err(error),
            Err(error) => {
                let progress = guide.progress;
                let because = if asked_to_stop {
                    Reason::Interrupted
                } else {
                    Reason::Stopped
                };
                let outcome = Outcome {
                    states: progress.states,
                    transitions: progress.transitions,
                    steps: progress.steps,
                    depth: progress.depth,
                    reach: Reach::Partial { because, length: 0 },
                    failing: guide.failures.len() as u64,
                    failures: guide.failures,
                    deadlocked: 0,
                    deadlock: None,
                    goal: None,
                    answer: None,
                    going_back,
                    stop,
                    time,
                };
                // Ctrl-C may have struck where the system was being set up; that is no trouble of its own.
                Ok((outcome, Some(error).filter(|_| !asked_to_stop)))
            }
        }
    }

    /// What a person at the command line can do about it.
    fn advise(&self, error: Error) -> Error {
        if !error.message.starts_with("states cannot be told apart") {
            return error;
        }
        let help = error.help.unwrap_or_default();
        Error::new(error.message).with_help(format!(
            "{help}, or try all short tests with `--small-scope N`, which needs no matching"
        ))
    }

    fn say_plan(&self, console: &mut Console<'_>, system: &PythonSystem<'_>, back: &Choice) {
        let order = match self.order() {
            Order::Breadth => "breadth first",
            Order::Depth => "depth first",
            Order::Deepening => "one step deeper each time",
            Order::Best => "best first",
        };
        let scope = match (self.small_scope, self.depth) {
            (Some(steps), _) => format!("all tests up to {}", verdict::steps(steps as usize)),
            (_, Some(steps)) => format!("all states within {}", verdict::steps(steps as usize)),
            _ => "all states".to_owned(),
        };
        console.say(format_args!(
            "{}: {}; {scope}, {order}",
            self.harness.display(),
            report::actions_from_lines(system.harness()),
        ));
        let by = match back.by {
            GoingBack::ByCopy => "copy",
            GoingBack::ByReplay => "replay",
        };
        console.say(format_args!("Going back by {by}: {}", back.why));
        console.flush();
    }
}

fn status(outcome: &Outcome, kept: &Kept) -> ExitStatus {
    let violated = matches!(outcome.answer, Some(Answer::Violated(_)));
    if kept.unwritten {
        ExitStatus::CouldNot
    } else if violated || !outcome.failures.is_empty() {
        ExitStatus::FailureFound
    } else {
        ExitStatus::NothingFound
    }
}
