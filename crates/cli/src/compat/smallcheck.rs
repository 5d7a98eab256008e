//! `tstl_smallcheck`: runs all tests up to a length.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rustc_hash::FxHashMap;
use testwright_core::explore::{
    Backtracking, ExploreOptions, ExploreProgress, ExploreWatcher, Explorer, FailurePolicy,
    StateId, StateTransition,
};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{ActionId, Covered, Equivalence, Error, Failure, Step, System, Test};
use testwright_python::{MeasuredCode, OutputMode, PythonSystem};

use super::covered_code::CoveredCode;
use super::test_file::{self, TestFile};
use super::{Invocation, Tool, ToolOutcome, tstl_text};
use crate::CommandError;
use crate::compiled::CompiledModule;
use crate::console::Console;
use crate::files::UserPath;

mod started_system;

use started_system::StartedSystem;

/// Try all tests up to a length
#[derive(clap::Parser)]
#[command(name = "tstl_smallcheck", rename_all = "camelCase")]
pub(super) struct Smallcheck {
    /// Maximum number of steps in a test
    #[arg(long, value_name = "N", default_value = "5")]
    depth: usize,

    /// Number of times to continue from tests that covered something new
    #[arg(long, value_name = "N", default_value = "0")]
    recursive: usize,

    /// Do not measure coverage
    #[arg(long, short = 'n')]
    no_cover: bool,

    /// Name of the saved tests [default: smallcheck.PID.test]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Amount of output: `STEPS`, `BACKTRACK`, or any other word
    #[arg(long, short, value_name = "WORD")]
    verbose: Option<String>,

    /// Continue after failures
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

    /// Visit each state only once, as --visited
    #[arg(long)]
    visited_list: bool,

    /// Begin with these tests, a pattern with `*` and `?`
    #[arg(long, value_name = "GLOB")]
    from_tests: Option<String>,
}

/// The results of the exploration.
#[derive(Default)]
struct SmallcheckFindings {
    /// The code that was covered.
    covered_code: CoveredCode,
    /// The tests that covered something new.
    covering: Vec<Test>,
    /// The tests that failed.
    failing: Vec<(Test, Failure)>,
}

impl Tool for Smallcheck {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] =
        &[("reverse", "all actions are taken, in whatever order")];

    fn run(
        self,
        console: &mut Console<'_>,
        invocation: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        let compiled = CompiledModule::read(Path::new("sut.py"))?;
        let usual = || PathBuf::from(format!("smallcheck.{}.test", std::process::id()));
        let output = UserPath::new(&self.output.clone().unwrap_or_else(usual))?;
        let pattern = self.from_tests.as_deref();
        let files = pattern.map(test_file::glob).unwrap_or_default();
        let files = files.iter().map(|path| TestFile::read(path, false));
        let files: Vec<TestFile> = files.collect::<Result<_, _>>()?;
        let config = invocation.config();
        console.out(format_args!(
            "Running TSTL \"smallcheck\" using config={config}"
        ));
        let measured = MeasuredCode::modules_if(!self.no_cover);
        let options = compiled.options(OutputMode::Drop, measured);
        compiled.with_system(console, &options, |console, system| {
            let mut findings = SmallcheckFindings::default();
            let started = Instant::now();
            let backtracking = compiled
                .settings
                .backtrack_by_replay
                .then_some(Backtracking::ByReplay);
            let plan = self.plan(backtracking);
            self.explore(console, system, &files, &plan, &mut findings)?;
            let time = tstl_text::seconds(started.elapsed());
            console.out(format_args!("TOTAL RUNTIME FOR SMALLCHECK: {time}"));
            self.save(console, system, &findings, &output)
        })
    }
}

impl Smallcheck {
    /// Returns the plan of the exploration.
    fn plan(&self, backtracking: Option<Backtracking>) -> ExploreOptions {
        ExploreOptions {
            matching: (self.visited || self.visited_list).then_some(Equivalence::Equal),
            check: !self.no_check,
            failures: if self.multiple {
                FailurePolicy::All
            } else {
                FailurePolicy::First
            },
            backtracking,
            ..ExploreOptions::small_scope(self.depth)
        }
    }

    /// Explores from each given test or from the initial state, and then from the tests that this
    /// found.
    fn explore(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        files: &[TestFile],
        plan: &ExploreOptions,
        findings: &mut SmallcheckFindings,
    ) -> Result<(), CommandError> {
        let started = Instant::now();
        let plan = &with_backtracking(system, plan)?;
        if system.coverage().is_some() {
            // The coverage of a reset belongs to no test.
            system.reset_touched()?;
            system.reset()?;
        }
        if let Some(collector) = system.coverage() {
            findings
                .covered_code
                .add(collector, collector.current().iter());
        }
        let mut starts = Vec::new();
        for file in files {
            let test = file.test(console, system)?;
            let options = ReplayOptions {
                check: !self.no_check,
            };
            // Replayed, so that its coverage is not new.
            replay(system, &test, &options, &mut ())?;
            if let Some(collector) = system.coverage() {
                findings
                    .covered_code
                    .add(collector, collector.current().iter());
            }
            starts.push((Some(file.name()), test));
        }
        if self.from_tests.is_none() {
            starts.push((None, Test::default()));
        }
        for (name, start) in &starts {
            if let Some(name) = name {
                console.out(format_args!("EXPLORING FROM TEST {name}"));
                tstl_text::print_test(console, system.actions(), start);
            }
            let mut new = self.explore_from(console, system, start, plan, findings)?;
            let time = tstl_text::seconds(started.elapsed());
            let depth = self.depth;
            console.out(format_args!(
                "FINISHED EXPLORATION TO DEPTH {depth} IN {time} SECONDS"
            ));
            for number in 1..=self.recursive {
                if new.is_empty() || self.must_stop(findings) {
                    break;
                }
                console.out(format_args!("STARTING RECURSIVE EXPLORATION RUN #{number}"));
                for test in std::mem::take(&mut new) {
                    console.out("EXPLORING FROM COVERING TEST:");
                    tstl_text::print_test(console, system.actions(), &test);
                    new.extend(self.explore_from(console, system, &test, plan, findings)?);
                    if self.must_stop(findings) {
                        break;
                    }
                }
            }
            if self.must_stop(findings) {
                break;
            }
        }
        if testwright_python::is_interrupted() {
            testwright_python::clear_interrupt();
            console.out("INTERRUPTED BY USER");
        }
        Ok(())
    }

    /// Returns true if the exploration must end.
    fn must_stop(&self, findings: &SmallcheckFindings) -> bool {
        testwright_python::is_interrupted() || (!findings.failing.is_empty() && !self.multiple)
    }

    /// Explores from the end of a test. Returns the tests that covered something new.
    fn explore_from(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        start: &Test,
        plan: &ExploreOptions,
        findings: &mut SmallcheckFindings,
    ) -> Result<Vec<Test>, CommandError> {
        console.flush();
        let mut started = StartedSystem {
            system,
            start: &start.steps,
        };
        let mut watcher = CoverageWatcher {
            covered_code: &mut findings.covered_code,
            first_steps: FxHashMap::default(),
            covering: Vec::new(),
            covered: 0,
        };
        let explored = Explorer::new(&mut started)
            .with_snapshots()
            .with_fingerprints()
            .explore(plan, &mut watcher);
        let from_start = |steps: Vec<Step>| {
            let mut all = start.steps.clone();
            all.extend(steps);
            Test::from_steps(all)
        };
        let covering: Vec<Test> = watcher.covering.into_iter().map(from_start).collect();
        let explored = match explored {
            Err(_) if testwright_python::is_interrupted() => return Ok(covering),
            explored => explored?,
        };
        findings.covering.extend(covering.iter().cloned());
        for (test, failure) in explored.failures {
            findings.failing.push((from_start(test.steps), failure));
        }
        Ok(covering)
    }

    /// Saves the tests and prints their names.
    fn save(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        findings: &SmallcheckFindings,
        output: &UserPath,
    ) -> Result<ToolOutcome, CommandError> {
        let prefix = output.renamed(|name| name.replace(".test", ""));
        if system.coverage().is_some() {
            let tests = findings.covering.iter();
            self.save_all(console, system, tests, output, "COVERING")?;
            let (number, prefix) = (findings.covering.len(), prefix.shown().display());
            console.out(format_args!(
                "SAVED {number} COVERING TESTS WITH PREFIX {prefix}"
            ));
        }
        let failed = |path: &UserPath| path.renamed(|name| format!("fail.{name}"));
        let Some((test, failure)) = findings.failing.first() else {
            return Ok(ToolOutcome::Passed);
        };
        if self.multiple {
            let tests = findings.failing.iter().map(|(test, _)| test);
            self.save_all(console, system, tests, &failed(output), "FAILED")?;
            let (number, prefix) = (findings.failing.len(), failed(&prefix));
            let prefix = prefix.shown().display();
            console.out(format_args!(
                "SAVED {number} FAILING TESTS WITH PREFIX {prefix}"
            ));
            return Ok(ToolOutcome::Failure);
        }
        console.out("STOPPING DUE TO FAILED TEST.");
        let options = ReplayOptions {
            check: !self.no_check,
        };
        replay(system, test, &options, &mut ())?;
        tstl_text::print_error(console, &system.exception_tuple(&failure.message), failure);
        tstl_text::print_test(console, system.actions(), test);
        let path = failed(output);
        console.out(format_args!(
            "SAVING FAILED TEST AS {}",
            path.shown().display()
        ));
        test_file::save(system, test, &path)?;
        Ok(ToolOutcome::Failure)
    }

    /// Saves tests under numbered names.
    fn save_all<'t>(
        &self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        tests: impl Iterator<Item = &'t Test>,
        output: &UserPath,
        kind: &str,
    ) -> Result<(), Error> {
        for (number, test) in tests.enumerate() {
            let path = output.renamed(|name| name.replace(".test", &format!(".{number}.test")));
            if self.verbose.is_some() {
                console.out(format_args!(
                    "SAVING {kind} TEST AS {}",
                    path.shown().display()
                ));
            }
            test_file::save(system, test, &path)?;
        }
        Ok(())
    }
}

/// Returns the plan with a method of backtracking. To find one takes steps, which are over before
/// anything is measured.
fn with_backtracking(
    system: &mut PythonSystem<'_>,
    plan: &ExploreOptions,
) -> Result<ExploreOptions, Error> {
    let by = match plan.backtracking {
        Some(by) => by,
        None => {
            let mut explorer = Explorer::new(system).with_snapshots().with_fingerprints();
            explorer.probe()?.method
        }
    };
    Ok(ExploreOptions {
        backtracking: Some(by),
        ..*plan
    })
}

/// Keeps the tests that cover something new.
struct CoverageWatcher<'l> {
    covered_code: &'l mut CoveredCode,
    /// The step by which each state was first reached.
    first_steps: FxHashMap<StateId, (StateId, ActionId)>,
    covering: Vec<Vec<Step>>,
    /// The number of covered targets after the last step.
    covered: usize,
}

impl CoverageWatcher<'_> {
    fn shortest_path_to(&self, mut state: StateId) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some((before, action)) = self.first_steps.get(&state) {
            steps.push(Step::Act(*action));
            state = *before;
        }
        steps.reverse();
        steps
    }
}

impl<'py> ExploreWatcher<StartedSystem<'_, 'py>> for CoverageWatcher<'_> {
    fn proceed(&mut self, _: &ExploreProgress) -> bool {
        !testwright_python::is_interrupted()
    }

    fn on_transition(&mut self, system: &mut StartedSystem<'_, 'py>, transition: &StateTransition) {
        if let Some(to) = transition.to.filter(|to| to.0 != 0) {
            let origin = (transition.from, transition.action);
            self.first_steps.entry(to).or_insert(origin);
        }
        let Some(collector) = system.system.coverage() else {
            return;
        };
        let covered = collector.current();
        if covered.len() == std::mem::replace(&mut self.covered, covered.len()) {
            return;
        }
        let new = self.covered_code.add(collector, covered.iter());
        if !new.is_empty() {
            let mut steps = self.shortest_path_to(transition.from);
            steps.push(Step::Act(transition.action));
            self.covering.push(steps);
        }
    }
}
