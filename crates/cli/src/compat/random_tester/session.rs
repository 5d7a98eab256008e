//! A whole search: test after test, until there is a reason to stop.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use testwright_core::generate::{Found, Progress, Search, SearchWatcher, search_with};
use testwright_core::{Coverage, Error, Random, System, Test};
use testwright_python::PythonSystem;

use super::RandomTester;
use super::analyses::Analyses;
use super::failures::Failures;
use super::observed::Observed;
use super::quick::QuickTests;
use super::strategy::{self, Chosen};
use crate::Trouble;
use crate::compat::Ended;
use crate::compat::goals::{Differs, Sandbox, What};
use crate::compat::{test_file, words};
use crate::console::Console;
use crate::files::Place;
use crate::pulse::Pulse;

/// Where files go. All of it is found out before the system is loaded, which may change the current folder.
pub(super) struct Places {
    pub(super) output: Place,
    pub(super) table: Place,
    pub(super) pages: Option<Place>,
    pub(super) counts: Option<Place>,
    pub(super) swarm: Option<Place>,
    pub(super) best: Option<Place>,
    pub(super) current: Place,
    pub(super) total: Place,
    different: Place,
}

impl Places {
    pub(super) fn new(tool: &RandomTester) -> Result<Places, Error> {
        let place = |name: &str| Place::new(Path::new(name));
        let wished =
            |path: &Option<std::path::PathBuf>| path.as_deref().map(Place::new).transpose();
        Ok(Places {
            output: match &tool.output {
                Some(path) => Place::new(path)?,
                None => place(&format!("failure.{}.test", std::process::id()))?,
            },
            table: Place::new(&tool.cover_file)?,
            pages: wished(&tool.html)?,
            counts: wished(&tool.full_coverage)?,
            swarm: wished(&tool.save_swarm_coverage)?,
            best: wished(&tool.track_max_coverage)?,
            current: place("currtest.test")?,
            total: place("fulltest.test")?,
            different: place("ndfail.test")?,
        })
    }

    /// A file in the folder that was the current one at the beginning.
    pub(super) fn in_folder(&self, name: &str) -> Place {
        self.current.renamed(|_| name.to_owned())
    }
}

/// A search under way.
pub(super) struct Session<'t> {
    pub(super) tool: &'t RandomTester,
    pub(super) places: &'t Places,
    seed: u64,
    pub(super) failures: Failures<'t>,
    pub(super) analyses: Analyses<'t>,
    quick: QuickTests<'t>,
}

impl<'t> Session<'t> {
    pub(super) fn new(tool: &'t RandomTester, places: &'t Places, seed: u64) -> Session<'t> {
        Session {
            tool,
            places,
            seed,
            failures: Failures::new(tool, places),
            analyses: Analyses::new(tool, places),
            quick: QuickTests::new(tool, places),
        }
    }

    pub(super) fn run(
        mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        name: &str,
        cover_resets: bool,
    ) -> Result<Ended, Trouble> {
        let mut observed =
            Observed::new(self.tool, self.places, name, console, system, cover_resets)?;
        if !self.tool.no_cover && observed.system.coverage().is_none() {
            let message = "coverage is not measured: the harness was compiled without, or this interpreter cannot";
            observed.console.tell(message);
        }
        testwright_python::when_stuck(|_, err| {
            let message =
                "The system under test does not react to Ctrl-C, so the process is ended.";
            // Nobody is left who could do anything about a broken pipe.
            let _ = writeln!(err, "{message}");
            1
        });
        let given = self.quick.read(&mut observed)?;
        let mut strategy = strategy::chosen(self.tool, &mut observed, &given)?;
        if self.tool.verbose {
            observed.console.say("ABOUT TO START TESTING");
        }
        while u64::try_from(self.tool.max_tests).map_or(true, |most| observed.tests < most) {
            let one = self.run_one(&mut observed, &mut strategy)?;
            if one.is_break() || testwright_python::interrupted() {
                break;
            }
        }
        testwright_python::never_mind();
        observed.system.flush();
        self.end(observed)
    }

    /// Makes one test and all that is to be made of it.
    fn run_one<'s, 'py, 'c>(
        &mut self,
        observed: &mut Observed<'s, 'py, 'c>,
        strategy: &mut Chosen<'s, 'py, 'c>,
    ) -> Result<ControlFlow<()>, Trouble> {
        if self.tool.verbose {
            let number = observed.tests;
            observed.console.say(format_args!("STARTING TEST {number}"));
        }
        observed.tests += 1;
        let mut looking = Looking {
            until: observed.started.checked_add(self.tool.timeout),
            pulse: Pulse::new(),
            is_late: false,
            found: None,
        };
        let plan = self.plan(observed.tests);
        let summary = match search_with(observed, &mut strategy.choosing, &plan, &mut looking) {
            Err(_) if testwright_python::interrupted() => return Ok(ControlFlow::Break(())),
            summary => summary?,
        };
        if let Some(error) = observed.trouble.take() {
            return Err(error.into());
        }
        let Looking { is_late, found, .. } = looking;
        let test = observed.test();
        let is_empty = test.is_empty() && !summary.stopped;
        if summary.progress.deadlocks > 0 || is_empty {
            let message = "TERMINATING TEST DUE TO NO ENABLED ACTIONS, AT LENGTH";
            observed
                .console
                .say("WARNING: DEADLOCK (NO ENABLED ACTIONS)");
            observed
                .console
                .say(format_args!("{message} {}", test.len()));
        }
        if is_late {
            let message = "STOPPING TEST DUE TO TIMEOUT, TERMINATED AT LENGTH";
            observed
                .console
                .say(format_args!("{message} {}", test.len()));
        }
        let covered = observed.end_test();
        let is_new = !observed.new.is_empty();
        observed.count_new(is_new);
        let failed = found.is_some();
        if let Some(covered) = &covered {
            self.analyses.note(observed, &test, covered, failed);
            let swarm = strategy.swarm.as_ref();
            self.analyses.note_swarm(observed, swarm, covered);
        }
        if let Some((found, tuple)) = found {
            self.take_in(observed, found, tuple)?;
        }
        if self.tool.quick_tests && is_new && !test.is_empty() {
            self.quick.save(observed, &test)?;
        }
        if let Some(hit) = self.analyses.hit.take() {
            self.failures.take_in_hit(observed, &test, hit)?;
            return Ok(ControlFlow::Break(()));
        }
        self.say_progress(observed);
        let is_over = (self.failures.count > 0 && !self.tool.multiple)
            || (!failed && !summary.stopped && self.is_different(observed, &test)?)
            || self.has_reason_to_stop(observed, covered.as_ref(), is_late, is_empty);
        Ok(if is_over {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }

    /// What a test is made with. Each has its own part of the seed.
    fn plan(&self, number: u64) -> Search {
        Search {
            seed: Random::for_part(self.seed, number).below(u64::MAX),
            tests: Some(1),
            length: self.tool.depth as usize,
            check: !self.tool.no_check,
        }
    }

    fn take_in(
        &mut self,
        observed: &mut Observed<'_, '_, '_>,
        found: Found,
        tuple: String,
    ) -> Result<(), Trouble> {
        let covered = self.failures.take_in(observed, found, tuple)?;
        if let Some(covered) = covered {
            self.analyses.note_failure(observed, &covered);
        }
        if !self.tool.multiple {
            let message = "STOPPING TESTING DUE TO FAILED TEST";
            observed.console.say(message);
        }
        Ok(())
    }

    fn say_progress(&self, observed: &mut Observed<'_, '_, '_>) {
        if self.tool.throughput {
            let seconds = observed.started.elapsed().as_secs_f64();
            let rate = observed.operations as f64 / seconds.max(1e-9);
            observed
                .console
                .say(format_args!("THROUGHPUT: {rate:?} ACTIONS/SECOND"));
        }
        if self.tool.progress {
            observed.say_status(false);
        }
    }

    /// Whether a test does something else when it is run again, if that is to be found out.
    fn is_different(
        &self,
        observed: &mut Observed<'_, '_, '_>,
        test: &Test,
    ) -> Result<bool, Trouble> {
        let check = !self.tool.no_check;
        let mut is_different = false;
        let mut what = "";
        if self.tool.check_process_determinism {
            observed.console.say("CHECKING PROCESS DETERMINISM...");
            let sandbox = Sandbox::new(What::Differ, check, None)?;
            for _ in 0..self.tool.determinism_tries {
                std::thread::sleep(self.tool.determinism_delay);
                is_different |= sandbox.is_achieved_by(observed.system, test)?;
            }
            what = "PROCESS ";
        }
        if self.tool.check_determinism && !is_different {
            observed.console.say("CHECKING DETERMINISM...");
            let differs = Differs {
                each_step: true,
                tries: self.tool.determinism_tries,
                delays: [Duration::ZERO, self.tool.determinism_delay],
                check,
            };
            is_different = differs.is_seen(observed.system, test)?;
            what = "";
        }
        if is_different {
            words::say_test(observed.console, observed.system.actions(), test);
            observed.console.say(format_args!(
                "TEST WAS NOT {what}DETERMINISTIC!  WRITING FAILURE AS ndfail.test"
            ));
            test_file::save(observed.system, test, &self.places.different)?;
        }
        Ok(is_different)
    }

    /// Whether enough was done, and says why.
    fn has_reason_to_stop(
        &mut self,
        observed: &mut Observed<'_, '_, '_>,
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
            .is_some_and(|most| observed.without_new >= most)
        {
            let number = observed.without_new;
            reasons.push(format!(
                "STOPPING TESTING DUE TO LACK OF NEW COVERAGE FOR {number} TESTS"
            ));
        }
        if reached(tool.stop_when_branches, observed.tally.branches()) {
            reasons.push("STOPPING TESTING DUE TO REACHING BRANCH COVERAGE TARGET".to_owned());
        }
        if reached(tool.stop_when_statements, observed.tally.statements()) {
            reasons.push("STOPPING TESTING DUE TO REACHING STATEMENT COVERAGE TARGET".to_owned());
        }
        if is_late {
            reasons.push("STOPPING TESTING DUE TO TIMEOUT".to_owned());
        }
        if is_empty && tool.depth > 0 {
            reasons.push("STOPPING TESTING SINCE NOTHING CAN BE DONE AT THE START".to_owned());
        }
        if let Some(reason) = reasons.first() {
            observed.console.say(reason);
        }
        !reasons.is_empty()
    }
}

/// Looks after one test: the clock, Ctrl-C, and what is found.
struct Looking {
    until: Option<Instant>,
    pulse: Pulse,
    is_late: bool,
    /// A failing test, with its exception.
    found: Option<(Found, String)>,
}

impl<'s, 'py, 'c> SearchWatcher<Observed<'s, 'py, 'c>> for Looking {
    fn proceed(&mut self, _: &Progress) -> bool {
        let Some(now) = self.pulse.beat() else {
            return true;
        };
        self.is_late = self.until.is_some_and(|until| now >= until);
        !self.is_late && !testwright_python::interrupted()
    }

    fn found(&mut self, observed: &mut Observed<'s, 'py, 'c>, found: Found) -> ControlFlow<()> {
        let tuple = observed.system.exception_tuple(&found.failure.message);
        self.found = Some((found, tuple));
        ControlFlow::Break(())
    }
}
