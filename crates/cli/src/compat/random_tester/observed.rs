//! The system under test with somebody looking on: a clock, a log, a tally of what is covered, and words about each step.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use testwright_core::{
    ActionId, Catalog, Classes, Coverage, Covered, Error, Event, Outcome, Random, Step, System,
    TargetId, TemplateId, TemplateSet, Test,
};
use testwright_python::PythonSystem;

use super::super::tally::{Names, New, Tally};
use super::super::test_file;
use super::super::words::{self, Narration};
use super::RandomTester;
use super::session::Places;
use crate::console::Console;
use crate::files::{Place, unwritable};
use crate::pulse::Pulse;

/// Where the time went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) operations: Duration,
    pub(super) choosing: Duration,
    pub(super) checks: Duration,
    pub(super) restarts: Duration,
    pub(super) reducing: Duration,
}

/// How often a line of the harness was taken, and how long that took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    pub(super) count: u64,
    pub(super) time: Duration,
}

/// In the first tests all that a test covers is looked at, not only what nothing covered before: what loading the
/// modules runs counts once a test runs it, too.
const LOOKED_AT: u64 = 32;

/// A system, observed.
pub(super) struct Observed<'s, 'py, 'c> {
    pub(super) system: &'s mut PythonSystem<'py>,
    pub(super) console: &'s mut Console<'c>,
    tool: &'s RandomTester,
    places: &'s Places,
    cover_resets: bool,
    /// Nobody looks while a test is reduced.
    pub(super) is_observed: bool,
    pub(super) times: Times,
    pub(super) started: Instant,
    /// Tests begun.
    pub(super) tests: u64,
    /// Steps taken.
    pub(super) operations: u64,
    /// The current test.
    pub(super) steps: Vec<Step>,
    pub(super) tally: Tally,
    /// What the current test was the first to cover.
    pub(super) new: New,
    /// Whether the last step was the first to cover something.
    pub(super) was_new: bool,
    /// What a strategy is still to be told of.
    untold: Vec<TargetId>,
    is_measuring: bool,
    classes: Arc<Classes>,
    pub(super) taken: Vec<Taken>,
    narration: Narration,
    current_log: Option<File>,
    total_log: Option<File>,
    pooled: usize,
    pub(super) trouble: Option<Error>,
    /// What the harness is called.
    name: &'s str,
    /// How many tests covered something new, and how many since then did not.
    with_new: u64,
    pub(super) without_new: u64,
    pulse: Pulse,
    /// When it was last told how it goes, in intervals since the beginning.
    told: u64,
}

impl<'s, 'py, 'c> Observed<'s, 'py, 'c> {
    pub(super) fn new(
        tool: &'s RandomTester,
        places: &'s Places,
        name: &'s str,
        console: &'s mut Console<'c>,
        system: &'s mut PythonSystem<'py>,
        cover_resets: bool,
    ) -> Result<Observed<'s, 'py, 'c>, Error> {
        let classes = Arc::new(Classes::new(system.actions()));
        system.relax(tool.relax);
        let mut tally = Tally::default();
        if let Some(collector) = system.coverage() {
            let loaded = collector.take_new();
            if cover_resets {
                tally.add(collector, loaded);
            }
        }
        Ok(Observed {
            taken: vec![Taken::default(); classes.len()],
            classes,
            system,
            console,
            tool,
            places,
            cover_resets,
            is_observed: true,
            times: Times::default(),
            started: Instant::now(),
            tests: 0,
            operations: 0,
            steps: Vec::new(),
            tally,
            new: New::default(),
            was_new: false,
            untold: Vec::new(),
            is_measuring: false,
            narration: Narration::new(tool.hide_opaque),
            current_log: None,
            total_log: if tool.total {
                Some(created(&places.total)?)
            } else {
                None
            },
            pooled: 0,
            trouble: None,
            name,
            with_new: 0,
            without_new: 0,
            pulse: Pulse::new(),
            told: 0,
        })
    }

    pub(super) fn classes(&self) -> &Arc<Classes> {
        &self.classes
    }

    /// The current test, as far as it has come.
    pub(super) fn test(&self) -> Test {
        Test::of_steps(self.steps.clone())
    }

    /// Takes note of what the last step covered.
    fn absorb(&mut self) {
        let Some(collector) = self.system.coverage() else {
            return;
        };
        let targets = collector.take_new();
        if targets.is_empty() {
            return;
        }
        self.untold.extend(&targets);
        let new = self.tally.add(collector, targets);
        self.was_new |= !new.is_empty();
        if self.tool.running {
            let names = Names::new(collector);
            let elapsed = words::seconds(self.started.elapsed());
            if let Some(Step::Act(action)) = self.steps.last() {
                let text = self.system.actions().text(*action);
                self.console.say(format_args!("ACTION: {text}"));
            }
            for branch in &new.branches {
                let (all, name) = (self.tally.branches(), names.branch(collector, *branch));
                self.console
                    .say(format_args!("{elapsed} {all} New branch {name}"));
            }
            for statement in &new.statements {
                let (all, name) = (self.tally.statements(), names.statement(*statement));
                self.console
                    .say(format_args!("{elapsed} {all} New statement {name}"));
            }
        }
        self.new.add(new);
    }

    /// All that the current test covered, if that is known; what it was the first to cover is then complete.
    pub(super) fn end_test(&mut self) -> Option<Coverage> {
        self.absorb();
        let collector = self.system.coverage()?;
        if !self.is_measuring {
            return None;
        }
        let covered = collector.current();
        let new = self.tally.add(collector, covered.iter());
        self.new.add(new);
        Some(covered)
    }

    /// Says how it goes, in one line.
    pub(super) fn say_status(&mut self, with_step: bool) {
        let elapsed = self.started.elapsed();
        let mut words = format!("{}: TEST #{} ", self.name, self.tests);
        if with_step {
            words += &format!("STEP #{} ", self.steps.len());
        }
        words += &format!("({}) ", words::clock(elapsed));
        if self.system.coverage().is_some() {
            let (statements, branches) = (self.tally.statements(), self.tally.branches());
            words += &format!("[ {statements} stmts {branches} branches ] ");
            if self.without_new > 0 {
                words += &format!("(no cov+ for {} tests) ", self.without_new);
            }
        }
        let rate = self.operations as f64 / elapsed.as_secs_f64().max(1e-9);
        words += &format!("{} TOTAL ACTIONS ({rate:.2}/s)", self.operations);
        if self.system.coverage().is_some() {
            words += &format!(" {} cov+ tests", self.with_new);
        }
        self.console.say(words);
        self.console.flush();
    }

    /// Says how it goes if it is time to.
    fn tick(&mut self) {
        let (Some(now), Ok(interval @ 1..)) =
            (self.pulse.beat(), u64::try_from(self.tool.timed_progress))
        else {
            return;
        };
        let intervals = (now - self.started).as_secs() / interval;
        if intervals > self.told {
            self.told = intervals;
            self.say_status(true);
        }
    }

    /// Counts a test by whether it was the first to cover something.
    pub(super) fn count_new(&mut self, is_new: bool) {
        if is_new {
            self.with_new += 1;
            self.without_new = 0;
        } else {
            self.without_new += 1
        }
    }

    /// What was done so far is no part of the search.
    pub(super) fn forget_steps(&mut self) {
        self.operations = 0;
        self.times = Times::default();
        self.taken.fill(Taken::default());
    }

    fn log(&mut self, line: &str, is_start: bool) -> Result<(), Error> {
        if is_start && self.tool.replayable {
            self.current_log = Some(created(&self.places.current)?);
        }
        let current = if is_start {
            None
        } else {
            self.current_log.as_mut()
        };
        for file in current.into_iter().chain(self.total_log.as_mut()) {
            let written = writeln!(file, "{line}");
            written.map_err(|error| Error::new(format!("cannot write the log: {error}")))?;
        }
        Ok(())
    }

    /// A step is about to be taken.
    fn begin_step(&mut self, action: ActionId) -> Result<(), Error> {
        let tool = self.tool;
        if tool.replayable || tool.total {
            let test = Test::of([action]);
            let line = test_file::lines(self.system, &test).pop();
            self.log(&line.unwrap_or_default(), false)?;
        }
        let index = self.steps.len() - 1;
        if tool.verbose {
            let text = self.system.actions().text(action);
            self.console
                .say(format_args!("GENERATING STEP {index} ACTION: {text}"));
            self.console.flush();
        }
        if tool.show_actions {
            let text = self.system.actions().text(action);
            self.console.say(format_args!("STEP #{index} {text}"));
        }
        if tool.verbose_actions {
            self.narration.begin(self.console, self.system, action);
        }
        Ok(())
    }

    fn end_step(&mut self, action: ActionId, outcome: &Outcome) -> Result<(), Error> {
        if self.tool.verbose_actions {
            let event = match outcome {
                Outcome::Passed => Event::Passed(action),
                Outcome::Expected => Event::Expected(action, self.system.expected()),
                Outcome::Failed(failure) => Event::Failed(action, failure.clone()),
                Outcome::Interrupted => return Ok(()),
            };
            self.narration.end(self.console, self.system, &event);
        }
        for line in self.system.take_log() {
            self.console.say(line);
        }
        if let Some(warning) = self.system.take_warning() {
            self.console.say(format_args!("SUT WARNING: {warning}"));
        }
        let prefix = self.tool.save_pool.as_ref().filter(|_| self.was_new);
        if let Some(prefix) = prefix {
            let name = format!("{prefix}.{}.test", self.pooled);
            self.pooled += 1;
            self.console.say(format_args!("SAVING POOL TEST AS {name}"));
            let place = self.places.in_folder(&name);
            test_file::save(self.system, &self.test(), &place)?;
        }
        Ok(())
    }
}

fn created(place: &Place) -> Result<File, Error> {
    File::create(place.absolute()).map_err(|error| unwritable(place.shown(), &error))
}

impl System for Observed<'_, '_, '_> {
    fn actions(&self) -> &Catalog {
        self.system.actions()
    }

    fn reset(&mut self) -> Result<(), Error> {
        if !self.is_observed {
            return self.system.reset();
        }
        let begun = Instant::now();
        self.system.reset()?;
        self.times.restarts += begun.elapsed();
        self.steps.clear();
        self.untold.clear();
        self.new = New::default();
        if let Some(collector) = self.system.coverage() {
            let new = collector.take_new();
            if self.cover_resets {
                self.tally.add(collector, new);
            }
            self.is_measuring = self.tool.measures_each_test() || self.tests < LOOKED_AT;
            if self.is_measuring {
                collector.begin_anew()?;
            }
        }
        self.log("<<RESTART>>", true)
    }

    fn alike(&self, template: TemplateId) -> Option<u64> {
        self.system.alike(template)
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.system.is_enabled(action)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        let begun = Instant::now();
        let picked = self.system.pick(random);
        self.times.choosing += begun.elapsed();
        picked
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        let begun = Instant::now();
        let picked = self.system.pick_among(templates, random);
        self.times.choosing += begun.elapsed();
        picked
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        if !self.is_observed {
            return self.excused(action);
        }
        self.tick();
        self.steps.push(Step::Act(action));
        self.operations += 1;
        self.was_new = false;
        self.trouble = self.begin_step(action).err().or(self.trouble.take());
        let begun = Instant::now();
        let outcome = self.excused(action);
        let time = begun.elapsed();
        self.times.operations += time;
        let class = self.classes.of_action(self.system.actions(), action);
        if let Some(taken) = self.taken.get_mut(class.0) {
            taken.count += 1;
            taken.time += time;
        }
        self.absorb();
        self.trouble = self
            .end_step(action, &outcome)
            .err()
            .or(self.trouble.take());
        outcome
    }

    fn expected(&mut self) -> String {
        self.system.expected()
    }

    fn check(&mut self) -> Outcome {
        let begun = Instant::now();
        let outcome = self.system.check();
        if self.is_observed {
            self.times.checks += begun.elapsed();
            self.absorb();
        }
        outcome
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.system.enabled()
    }
}

impl Observed<'_, '_, '_> {
    /// Takes an action. If exceptions are no failures, it passes whatever it raises.
    fn excused(&mut self, action: ActionId) -> Outcome {
        match self.system.step(action) {
            Outcome::Failed(_) if self.tool.uncaught => Outcome::Passed,
            outcome => outcome,
        }
    }
}

impl Covered for Observed<'_, '_, '_> {
    fn all_touched(&self) -> Coverage {
        self.system.all_touched()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        if self.is_observed {
            std::mem::take(&mut self.untold)
        } else {
            self.system.take_new()
        }
    }

    fn begin_anew(&mut self) -> Result<(), Error> {
        self.system.begin_anew()
    }

    fn touched(&self) -> Coverage {
        self.system.touched()
    }
}
