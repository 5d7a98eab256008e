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
use super::strategy;
use crate::Trouble;
use crate::compat::Ended;
use crate::compat::goals::{Differs, Sandbox, What};
use crate::compat::test_file;
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
    /// How many tests in a row covered nothing new.
    without_new: u64,
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
            without_new: 0,
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
        if system_is_blind(self.tool, &observed) {
            let message = "coverage is not measured: the harness was compiled without, or this interpreter cannot";
            observed.console.tell(message);
        }
        let given = self.quick.read(&mut observed)?;
        let mut strategy = strategy::chosen(self.tool, &mut observed, &given)?;
        if self.tool.verbose {
            observed.console.say("ABOUT TO START TESTING");
        }
        let until = observed.started.checked_add(self.tool.timeout);
        while u64::try_from(self.tool.max_tests).is_ok_and(|most| observed.tests < most)
            || self.tool.max_tests < 0
        {
            if self.tool.verbose {
                let number = observed.tests;
                observed.console.say(format_args!("STARTING TEST {number}"));
            }
            observed.tests += 1;
            let plan = Search {
                seed: Random::for_part(self.seed, observed.tests).below(u64::MAX),
                tests: Some(1),
                length: self.tool.depth as usize,
                check: !self.tool.no_check,
            };
            let mut looking = Looking {
                until,
                pulse: Pulse::new(),
                is_late: false,
                found: None,
            };
            let summary = search_with(&mut observed, &mut strategy.choosing, &plan, &mut looking);
            let summary = match summary {
                Err(_) if testwright_python::interrupted() => break,
                summary => summary?,
            };
            if let Some(error) = observed.trouble.take() {
                return Err(error.into());
            }
            let length = observed.steps.len();
            if summary.progress.deadlocks > 0 || summary.progress.tests == 1 && length == 0 {
                let console = &mut observed.console;
                console.say("WARNING: DEADLOCK (NO ENABLED ACTIONS)");
                console.say(format_args!(
                    "TERMINATING TEST DUE TO NO ENABLED ACTIONS, AT LENGTH {length}"
                ));
            }
            let test = observed.test();
            let covered = observed.end_test();
            let is_new = !observed.new.is_empty();
            self.without_new = match is_new {
                true => 0,
                false => self.without_new + 1,
            };
            observed.with_new += u64::from(is_new);
            observed.without_new = self.without_new;
            if looking.is_late {
                observed.console.say(format_args!(
                    "STOPPING TEST DUE TO TIMEOUT, TERMINATED AT LENGTH {length}"
                ));
            }
            let failed = looking.found.is_some();
            if let Some(covered) = &covered {
                self.analyses.note(&mut observed, &test, covered, failed);
                self.analyses
                    .note_swarm(&observed, strategy.swarm.as_ref(), covered);
            }
            if let Some((found, tuple)) = looking.found.take() {
                let covered = self.failures.take_in(&mut observed, found, tuple)?;
                if let Some(covered) = covered {
                    self.analyses.note_failure(&observed, &covered);
                }
                if !self.tool.multiple {
                    observed.console.say("STOPPING TESTING DUE TO FAILED TEST");
                }
            }
            if self.tool.quick_tests && is_new && !test.is_empty() {
                self.quick.save(&mut observed, &test)?;
            }
            if let Some(hit) = self.analyses.hit.take() {
                self.failures.take_in_hit(&mut observed, &test, hit)?;
                break;
            }
            self.say_progress(&mut observed);
            if self.failures.count > 0 && !self.tool.multiple {
                break;
            }
            if testwright_python::interrupted() {
                break;
            }
            if !failed && !summary.stopped && self.is_different(&mut observed, &test)? {
                break;
            }
            if length == 0 && !summary.stopped && self.tool.depth > 0 {
                observed
                    .console
                    .say("STOPPING TESTING SINCE NO TEST CAN HAVE ANY STEP");
                break;
            }
            if self.has_reason_to_stop(&mut observed, covered.as_ref(), looking.is_late) {
                break;
            }
        }
        testwright_python::never_mind();
        observed.system.flush();
        self.end(observed)
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
            crate::compat::words::say_test(observed.console, observed.system.actions(), test);
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
            .is_some_and(|most| self.without_new >= most)
        {
            let number = self.without_new;
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
        if let Some(reason) = reasons.first() {
            observed.console.say(reason);
        }
        !reasons.is_empty()
    }
}

fn system_is_blind(tool: &RandomTester, observed: &Observed<'_, '_, '_>) -> bool {
    !tool.no_cover && observed.system.coverage().is_none()
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
