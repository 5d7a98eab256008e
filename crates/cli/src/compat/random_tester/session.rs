//! A whole search: test after test, until there is a reason to stop.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use testwright_core::generate::{
    FailingTest, SearchOptions, SearchProgress, SearchWatcher, search_with,
};
use testwright_core::{Coverage, Error, Random, System, Test};
use testwright_python::PythonSystem;

use super::RandomTester;
use super::analyses::CoverageAnalyses;
use super::failures::FailureHandler;
use super::observed_system::ObservedSystem;
use super::quick::QuickTests;
use super::strategy::{self, TesterStrategy};
use crate::CommandError;
use crate::compat::ToolOutcome;
use crate::compat::goals::{NondeterminismGoal, Sandbox, SandboxGoal};
use crate::compat::{test_file, tstl_text};
use crate::console::Console;
use crate::files::UserPath;
use crate::throttle::Throttle;

/// The output files. All paths are resolved before the system is loaded, which may change the
/// current folder.
pub(super) struct SessionFiles {
    /// The failing test.
    pub(super) output: UserPath,
    /// The table of coverage.
    pub(super) table: UserPath,
    /// The folder for pages of coverage.
    pub(super) pages: Option<UserPath>,
    /// The file with the number of tests for each branch and statement.
    pub(super) counts: Option<UserPath>,
    /// The file with the classes and the coverage of each test.
    pub(super) swarm: Option<UserPath>,
    /// The test that covers the max.
    pub(super) best: Option<UserPath>,
    /// The log of the current test.
    pub(super) current: UserPath,
    /// The log of all tests.
    pub(super) total: UserPath,
    /// The test that is not deterministic.
    nondeterministic_test: UserPath,
}

impl SessionFiles {
    /// Resolves the paths of all files.
    pub(super) fn new(tool: &RandomTester) -> Result<SessionFiles, Error> {
        let path = |name: &str| UserPath::new(Path::new(name));
        let optional =
            |path: &Option<std::path::PathBuf>| path.as_deref().map(UserPath::new).transpose();
        Ok(SessionFiles {
            output: match &tool.output {
                Some(path) => UserPath::new(path)?,
                None => path(&format!("failure.{}.test", std::process::id()))?,
            },
            table: UserPath::new(&tool.cover_file)?,
            pages: optional(&tool.html)?,
            counts: optional(&tool.full_coverage)?,
            swarm: optional(&tool.save_swarm_coverage)?,
            best: optional(&tool.track_max_coverage)?,
            current: path("currtest.test")?,
            total: path("fulltest.test")?,
            nondeterministic_test: path("ndfail.test")?,
        })
    }

    /// Returns the path of a file in the folder that was the current one at the beginning.
    pub(super) fn in_folder(&self, name: &str) -> UserPath {
        self.current.renamed(|_| name.to_owned())
    }
}

/// A search under way.
pub(super) struct Session<'t> {
    pub(super) tool: &'t RandomTester,
    pub(super) files: &'t SessionFiles,
    seed: u64,
    pub(super) failures: FailureHandler<'t>,
    pub(super) analyses: CoverageAnalyses<'t>,
    quick: QuickTests<'t>,
}

impl<'t> Session<'t> {
    /// Prepares a search.
    pub(super) fn new(tool: &'t RandomTester, files: &'t SessionFiles, seed: u64) -> Session<'t> {
        Session {
            tool,
            files,
            seed,
            failures: FailureHandler::new(tool, files),
            analyses: CoverageAnalyses::new(tool, files),
            quick: QuickTests::new(tool, files),
        }
    }

    /// Runs the search and prints its summary.
    pub(super) fn run(
        mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        name: &str,
        cover_resets: bool,
    ) -> Result<ToolOutcome, CommandError> {
        let mut observed =
            ObservedSystem::new(self.tool, self.files, name, console, system, cover_resets)?;
        if !self.tool.no_cover && observed.system.coverage().is_none() {
            let message = "coverage is not measured: the harness was compiled without, or this interpreter cannot";
            observed.console.err(message);
        }
        testwright_python::set_exit_report(|_, err| {
            let message =
                "The system under test does not react to Ctrl-C, so the process is ended.";
            // A broken pipe cannot be reported anywhere.
            let _ = writeln!(err, "{message}");
            1
        });
        let tests = self.quick.read(&mut observed)?;
        let mut strategy = strategy::build(self.tool, &mut observed, &tests)?;
        if self.tool.verbose {
            observed.console.out("ABOUT TO START TESTING");
        }
        while u64::try_from(self.tool.max_tests).map_or(true, |max| observed.tests < max) {
            let one = self.run_one(&mut observed, &mut strategy)?;
            if one.is_break() || testwright_python::is_interrupted() {
                break;
            }
        }
        testwright_python::clear_interrupt();
        observed.system.flush();
        self.end(observed)
    }

    /// Makes one test, and processes its result. Returns `Break` if the search is over.
    fn run_one<'s, 'py, 'c>(
        &mut self,
        observed: &mut ObservedSystem<'s, 'py, 'c>,
        strategy: &mut TesterStrategy<'s, 'py, 'c>,
    ) -> Result<ControlFlow<()>, CommandError> {
        if self.tool.verbose {
            let number = observed.tests;
            observed.console.out(format_args!("STARTING TEST {number}"));
        }
        observed.tests += 1;
        let mut watcher = TestWatcher {
            deadline: observed.started.checked_add(self.tool.timeout),
            throttle: Throttle::new(),
            is_time_over: false,
            found: None,
        };
        let plan = self.plan(observed.tests);
        let summary = match search_with(observed, &mut strategy.strategy, &plan, &mut watcher) {
            Err(_) if testwright_python::is_interrupted() => return Ok(ControlFlow::Break(())),
            summary => summary?,
        };
        if let Some(error) = observed.error.take() {
            return Err(error.into());
        }
        let TestWatcher {
            is_time_over: is_late,
            found,
            ..
        } = watcher;
        let test = observed.test();
        let is_empty = test.is_empty() && !summary.stopped;
        if summary.progress.deadlocks > 0 || is_empty {
            let message = "TERMINATING TEST DUE TO NO ENABLED ACTIONS, AT LENGTH";
            observed
                .console
                .out("WARNING: DEADLOCK (NO ENABLED ACTIONS)");
            observed
                .console
                .out(format_args!("{message} {}", test.len()));
        }
        if is_late {
            let message = "STOPPING TEST DUE TO TIMEOUT, TERMINATED AT LENGTH";
            observed
                .console
                .out(format_args!("{message} {}", test.len()));
        }
        let covered = observed.end_test();
        let is_new = !observed.new.is_empty();
        observed.count_new(is_new);
        let failed = found.is_some();
        if let Some(covered) = &covered {
            self.analyses.add_test(observed, &test, covered, failed);
            let swarm = strategy.swarm.as_ref();
            self.analyses.add_swarm(observed, swarm, covered);
        }
        if let Some((found, tuple)) = found {
            self.handle_failure(observed, found, tuple)?;
        }
        if self.tool.quick_tests && is_new && !test.is_empty() {
            self.quick.save(observed, &test)?;
        }
        if let Some(hit) = self.analyses.hit_target.take() {
            self.failures.handle_stop_target(observed, &test, hit)?;
            return Ok(ControlFlow::Break(()));
        }
        self.print_progress(observed);
        let is_over = (self.failures.count > 0 && !self.tool.multiple)
            || (!failed && !summary.stopped && self.check_determinism(observed, &test)?)
            || self.should_stop(observed, covered.as_ref(), is_late, is_empty);
        Ok(if is_over {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }

    /// Returns the settings of a test. Each test has its own part of the seed.
    fn plan(&self, number: u64) -> SearchOptions {
        SearchOptions {
            seed: Random::for_part(self.seed, number).below(u64::MAX),
            tests: Some(1),
            length: self.tool.depth as usize,
            check: !self.tool.no_check,
        }
    }

    /// Handles a failing test.
    fn handle_failure(
        &mut self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        found: FailingTest,
        tuple: String,
    ) -> Result<(), CommandError> {
        let covered = self.failures.handle(observed, found, tuple)?;
        if let Some(covered) = covered {
            self.analyses.add_failure(observed, &covered);
        }
        if !self.tool.multiple {
            let message = "STOPPING TESTING DUE TO FAILED TEST";
            observed.console.out(message);
        }
        Ok(())
    }

    /// Prints the requested numbers after a test.
    fn print_progress(&self, observed: &mut ObservedSystem<'_, '_, '_>) {
        if self.tool.throughput {
            let seconds = observed.started.elapsed().as_secs_f64();
            let rate = observed.operations as f64 / seconds.max(1e-9);
            observed
                .console
                .out(format_args!("THROUGHPUT: {rate:?} ACTIONS/SECOND"));
        }
        if self.tool.progress {
            observed.print_status(false);
        }
    }

    /// Returns true if a test behaves differently when it is run again, if that is to be checked.
    fn check_determinism(
        &self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        test: &Test,
    ) -> Result<bool, CommandError> {
        let check = !self.tool.no_check;
        let mut is_different = false;
        let mut qualifier = "";
        if self.tool.check_process_determinism {
            observed.console.out("CHECKING PROCESS DETERMINISM...");
            let sandbox = Sandbox::new(SandboxGoal::Differ, check, None)?;
            for _ in 0..self.tool.determinism_tries {
                std::thread::sleep(self.tool.determinism_delay);
                is_different |= sandbox.is_achieved_by(observed.system, test)?;
            }
            qualifier = "PROCESS ";
        }
        if self.tool.check_determinism && !is_different {
            observed.console.out("CHECKING DETERMINISM...");
            let differs = NondeterminismGoal {
                compares_each_step: true,
                tries: self.tool.determinism_tries,
                delays: [Duration::ZERO, self.tool.determinism_delay],
                check,
            };
            is_different = differs.is_nondeterministic(observed.system, test)?;
            qualifier = "";
        }
        if is_different {
            tstl_text::print_test(observed.console, observed.system.actions(), test);
            observed.console.out(format_args!(
                "TEST WAS NOT {qualifier}DETERMINISTIC!  WRITING FAILURE AS ndfail.test"
            ));
            test_file::save(observed.system, test, &self.files.nondeterministic_test)?;
        }
        Ok(is_different)
    }

    /// Returns true if there is a reason to stop, and prints the first one.
    fn should_stop(
        &mut self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        covered: Option<&Coverage>,
        is_late: bool,
        is_empty: bool,
    ) -> bool {
        let tool = self.tool;
        let reached =
            |wanted: Option<usize>, number: usize| wanted.is_some_and(|wanted| number >= wanted);
        let mut reasons = Vec::new();
        if tool.stop_saturated && self.analyses.is_saturated(covered) {
            reasons.push("STOPPING DUE TO ESTIMATED COVERAGE SATURATION".to_owned());
        }
        if tool
            .stop_when_no_coverage
            .is_some_and(|max| observed.without_new >= max)
        {
            let number = observed.without_new;
            reasons.push(format!(
                "STOPPING TESTING DUE TO LACK OF NEW COVERAGE FOR {number} TESTS"
            ));
        }
        if reached(tool.stop_when_branches, observed.covered_code.branches()) {
            reasons.push("STOPPING TESTING DUE TO REACHING BRANCH COVERAGE TARGET".to_owned());
        }
        if reached(
            tool.stop_when_statements,
            observed.covered_code.statements(),
        ) {
            reasons.push("STOPPING TESTING DUE TO REACHING STATEMENT COVERAGE TARGET".to_owned());
        }
        if is_late {
            reasons.push("STOPPING TESTING DUE TO TIMEOUT".to_owned());
        }
        if is_empty && tool.depth > 0 {
            reasons.push("STOPPING TESTING SINCE NOTHING CAN BE DONE AT THE START".to_owned());
        }
        if let Some(reason) = reasons.first() {
            observed.console.out(reason);
        }
        !reasons.is_empty()
    }
}

/// Watches one test: the clock, Ctrl-C, and the failure.
struct TestWatcher {
    /// The time when the search must end, if there is a limit.
    deadline: Option<Instant>,
    throttle: Throttle,
    /// True if the time is over.
    is_time_over: bool,
    /// A failing test, with its exception.
    found: Option<(FailingTest, String)>,
}

impl<'s, 'py, 'c> SearchWatcher<ObservedSystem<'s, 'py, 'c>> for TestWatcher {
    fn proceed(&mut self, _: &SearchProgress) -> bool {
        let Some(now) = self.throttle.poll() else {
            return true;
        };
        self.is_time_over = self.deadline.is_some_and(|until| now >= until);
        !self.is_time_over && !testwright_python::is_interrupted()
    }

    fn failure_found(
        &mut self,
        observed: &mut ObservedSystem<'s, 'py, 'c>,
        found: FailingTest,
    ) -> ControlFlow<()> {
        let tuple = observed.system.exception_tuple(&found.failure.message);
        self.found = Some((found, tuple));
        ControlFlow::Break(())
    }
}
