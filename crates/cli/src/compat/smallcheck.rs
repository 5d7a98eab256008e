//! `tstl_smallcheck`: all tests up to a length.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rustc_hash::FxHashMap;
use testwright_core::explore::{
    ExploreWatcher, Explorer, Failures, GoingBack, Plan, Progress, StateId, Transition,
};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{ActionId, Covered, Error, Failure, Likeness, Step, System, Test};
use testwright_python::{Measured, Output, PythonSystem};

use super::tally::Tally;
use super::test_file::{self, TestFile};
use super::{Calling, Ended, Tool, words};
use crate::Trouble;
use crate::compiled::Compiled;
use crate::console::Console;
use crate::files::Place;

mod beginning;

use beginning::Beginning;

/// Try all tests up to a length
#[derive(clap::Parser)]
#[command(name = "tstl_smallcheck", rename_all = "camelCase")]
pub(super) struct Smallcheck {
    /// How many steps a test may have
    #[arg(long, value_name = "N", default_value = "5")]
    depth: usize,

    /// How often to go on from tests that covered something new
    #[arg(long, value_name = "N", default_value = "0")]
    recursive: usize,

    /// Do not measure coverage
    #[arg(long, short = 'n')]
    no_cover: bool,

    /// What files are called [default: smallcheck.PID.test]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// How much to say: `STEPS`, `BACKTRACK`, or any other word
    #[arg(long, short, value_name = "WORD")]
    verbose: Option<String>,

    /// Go on after failures
    #[arg(long, short = 'M')]
    multiple: bool,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// Take actions in reverse order
    #[arg(long)]
    reverse: bool,

    /// Visit each state only once
    #[arg(long)]
    visited: bool,

    /// The same
    #[arg(long)]
    visited_list: bool,

    /// Begin with these tests, a pattern with `*` and `?`
    #[arg(long, value_name = "GLOB")]
    from_tests: Option<String>,
}

/// What was found.
#[derive(Default)]
struct Findings {
    tally: Tally,
    covering: Vec<Test>,
    failing: Vec<(Test, Failure)>,
}

impl Tool for Smallcheck {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] =
        &[("reverse", "all actions are taken, in whatever order")];

    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble> {
        let compiled = Compiled::read(Path::new("sut.py"))?;
        let usual = || PathBuf::from(format!("smallcheck.{}.test", std::process::id()));
        let output = Place::new(&self.output.clone().unwrap_or_else(usual))?;
        let pattern = self.from_tests.as_deref();
        let files = pattern.map(test_file::matching).unwrap_or_default();
        let files = files.iter().map(|path| TestFile::read(path, false));
        let files: Vec<TestFile> = files.collect::<Result<_, _>>()?;
        let config = calling.config();
        console.say(format_args!(
            "Running TSTL \"smallcheck\" using config={config}"
        ));
        let measured = Measured::modules_if(!self.no_cover);
        let options = compiled.options(Output::Drop, measured);
        compiled.with_system(console, &options, |console, system| {
            let mut findings = Findings::default();
            let started = Instant::now();
            let going_back = compiled.settings.replay.then_some(GoingBack::ByReplay);
            let plan = self.plan(going_back);
            self.explore(console, system, &files, &plan, &mut findings)?;
            let time = words::seconds(started.elapsed());
            console.say(format_args!("TOTAL RUNTIME FOR SMALLCHECK: {time}"));
            self.save(console, system, &findings, &output)
        })
    }
}

impl Smallcheck {
    fn plan(&self, going_back: Option<GoingBack>) -> Plan {
        Plan {
            matching: (self.visited || self.visited_list).then_some(Likeness::Equal),
            check: !self.no_check,
            failures: if self.multiple {
                Failures::All
            } else {
                Failures::First
            },
            going_back,
            ..Plan::small_scope(self.depth)
        }
    }

    /// Goes on from each given test, or from the initial state, and then from what that found.
    fn explore(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        files: &[TestFile],
        plan: &Plan,
        findings: &mut Findings,
    ) -> Result<(), Trouble> {
        let started = Instant::now();
        let plan = &with_way_back(system, plan)?;
        if system.coverage().is_some() {
            // What a reset covers is no test's.
            system.begin_anew()?;
            system.reset()?;
        }
        if let Some(collector) = system.coverage() {
            findings.tally.add(collector, collector.current().iter());
        }
        let mut starts = Vec::new();
        for file in files {
            let test = file.test(console, system)?;
            let options = ReplayOptions {
                check: !self.no_check,
            };
            // Replayed, so that what it covers is not new.
            replay(system, &test, &options, &mut ())?;
            if let Some(collector) = system.coverage() {
                findings.tally.add(collector, collector.current().iter());
            }
            starts.push((Some(file.name()), test));
        }
        if self.from_tests.is_none() {
            starts.push((None, Test::default()));
        }
        for (name, start) in &starts {
            if let Some(name) = name {
                console.say(format_args!("EXPLORING FROM TEST {name}"));
                words::say_test(console, system.actions(), start);
            }
            let mut new = self.explore_from(console, system, start, plan, findings)?;
            let time = words::seconds(started.elapsed());
            let depth = self.depth;
            console.say(format_args!(
                "FINISHED EXPLORATION TO DEPTH {depth} IN {time} SECONDS"
            ));
            for number in 1..=self.recursive {
                if new.is_empty() || self.is_over(findings) {
                    break;
                }
                console.say(format_args!("STARTING RECURSIVE EXPLORATION RUN #{number}"));
                for test in std::mem::take(&mut new) {
                    console.say("EXPLORING FROM COVERING TEST:");
                    words::say_test(console, system.actions(), &test);
                    new.extend(self.explore_from(console, system, &test, plan, findings)?);
                    if self.is_over(findings) {
                        break;
                    }
                }
            }
            if self.is_over(findings) {
                break;
            }
        }
        if testwright_python::interrupted() {
            testwright_python::never_mind();
            console.say("INTERRUPTED BY USER");
        }
        Ok(())
    }

    fn is_over(&self, findings: &Findings) -> bool {
        testwright_python::interrupted() || (!findings.failing.is_empty() && !self.multiple)
    }

    /// The tests that covered something for the first time.
    fn explore_from(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        start: &Test,
        plan: &Plan,
        findings: &mut Findings,
    ) -> Result<Vec<Test>, Trouble> {
        console.flush();
        let mut beginning = Beginning {
            system,
            start: &start.steps,
        };
        let mut looker = Looker {
            tally: &mut findings.tally,
            came_from: FxHashMap::default(),
            covering: Vec::new(),
            covered: 0,
        };
        let explored = Explorer::of(&mut beginning)
            .with_copies()
            .with_fingerprints()
            .explore(plan, &mut looker);
        let from_start = |steps: Vec<Step>| {
            let mut all = start.steps.clone();
            all.extend(steps);
            Test::of_steps(all)
        };
        let covering: Vec<Test> = looker.covering.into_iter().map(from_start).collect();
        let explored = match explored {
            Err(_) if testwright_python::interrupted() => return Ok(covering),
            explored => explored?,
        };
        findings.covering.extend(covering.iter().cloned());
        for (test, failure) in explored.failures {
            findings.failing.push((from_start(test.steps), failure));
        }
        Ok(covering)
    }

    fn save(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        findings: &Findings,
        output: &Place,
    ) -> Result<Ended, Trouble> {
        let prefix = output.renamed(|name| name.replace(".test", ""));
        if system.coverage().is_some() {
            let tests = findings.covering.iter();
            self.save_all(console, system, tests, output, "COVERING")?;
            let (number, prefix) = (findings.covering.len(), prefix.shown().display());
            console.say(format_args!(
                "SAVED {number} COVERING TESTS WITH PREFIX {prefix}"
            ));
        }
        let failed = |place: &Place| place.renamed(|name| format!("fail.{name}"));
        let Some((test, failure)) = findings.failing.first() else {
            return Ok(Ended::Well);
        };
        if self.multiple {
            let tests = findings.failing.iter().map(|(test, _)| test);
            self.save_all(console, system, tests, &failed(output), "FAILED")?;
            let (number, prefix) = (findings.failing.len(), failed(&prefix));
            let prefix = prefix.shown().display();
            console.say(format_args!(
                "SAVED {number} FAILING TESTS WITH PREFIX {prefix}"
            ));
            return Ok(Ended::Failure);
        }
        console.say("STOPPING DUE TO FAILED TEST.");
        let options = ReplayOptions {
            check: !self.no_check,
        };
        replay(system, test, &options, &mut ())?;
        words::say_error(console, &system.exception_tuple(&failure.message), failure);
        words::say_test(console, system.actions(), test);
        let place = failed(output);
        console.say(format_args!(
            "SAVING FAILED TEST AS {}",
            place.shown().display()
        ));
        test_file::save(system, test, &place)?;
        Ok(Ended::Failure)
    }

    /// Saves tests under numbered names.
    fn save_all<'t>(
        &self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        tests: impl Iterator<Item = &'t Test>,
        output: &Place,
        kind: &str,
    ) -> Result<(), Error> {
        for (number, test) in tests.enumerate() {
            let place = output.renamed(|name| name.replace(".test", &format!(".{number}.test")));
            if self.verbose.is_some() {
                console.say(format_args!(
                    "SAVING {kind} TEST AS {}",
                    place.shown().display()
                ));
            }
            test_file::save(system, test, &place)?;
        }
        Ok(())
    }
}

/// The plan with a way to go back to earlier states. To find one takes steps, which are over before anything is measured.
fn with_way_back(system: &mut PythonSystem<'_>, plan: &Plan) -> Result<Plan, Error> {
    let by = match plan.going_back {
        Some(by) => by,
        None => {
            let mut explorer = Explorer::of(system).with_copies().with_fingerprints();
            explorer.probe()?.by
        }
    };
    Ok(Plan {
        going_back: Some(by),
        ..*plan
    })
}

/// Keeps the tests that cover something for the first time.
struct Looker<'l> {
    tally: &'l mut Tally,
    /// How each state was reached first.
    came_from: FxHashMap<StateId, (StateId, ActionId)>,
    covering: Vec<Vec<Step>>,
    /// How much was covered when it was last looked at.
    covered: usize,
}

impl Looker<'_> {
    fn way_to(&self, mut state: StateId) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some((before, action)) = self.came_from.get(&state) {
            steps.push(Step::Act(*action));
            state = *before;
        }
        steps.reverse();
        steps
    }
}

impl<'py> ExploreWatcher<Beginning<'_, 'py>> for Looker<'_> {
    fn proceed(&mut self, _: &Progress) -> bool {
        !testwright_python::interrupted()
    }

    fn took(&mut self, system: &mut Beginning<'_, 'py>, transition: &Transition) {
        if let Some(to) = transition.to.filter(|to| to.0 != 0) {
            let origin = (transition.from, transition.action);
            self.came_from.entry(to).or_insert(origin);
        }
        let Some(collector) = system.system.coverage() else {
            return;
        };
        let covered = collector.current();
        if covered.len() == std::mem::replace(&mut self.covered, covered.len()) {
            return;
        }
        let new = self.tally.add(collector, covered.iter());
        if !new.is_empty() {
            let mut steps = self.way_to(transition.from);
            steps.push(Step::Act(transition.action));
            self.covering.push(steps);
        }
    }
}
