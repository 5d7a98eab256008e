//! Trials: candidates are run here, and what came of them is remembered.
//!
//! Runs are what shrinking costs. Reduction, normalisation and generalisation of one test ask about many tests that are
//! alike, and often about the same ones, so they share one memory. It holds for each candidate whether it achieved the
//! [`Goal`], and how: which of its steps were executed, and what failed. A candidate whose disabled steps were skipped
//! is remembered without them, too.

use std::fmt;

use rustc_hash::FxHashMap;

use super::goal::{Basis, Goal};
use super::prefixes::{FromReset, Prefixes};
use crate::replay::{ReplayOptions, Watcher, go_on};
use crate::{ActionId, Error, Event, Failure, Step, System, Test, Trace};

/// What shrinking has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// How many tests were run.
    pub runs: u64,
    /// How many runs were saved since the answer was known.
    pub cached: u64,
    /// How many steps were taken in the runs; those that a snapshot saved are not among them.
    pub steps: u64,
    /// How many runs went on from a snapshot.
    pub resumed: u64,
}

/// Why a test cannot be made simpler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReduceError {
    /// The test did not fail, or failed in another way, when it was run again. For goals other than failures: the
    /// test does not achieve it.
    NotReproduced(Option<Failure>),
    /// The system gave up.
    Error(Error),
}

impl From<Error> for ReduceError {
    fn from(error: Error) -> ReduceError {
        ReduceError::Error(error)
    }
}

impl fmt::Display for ReduceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReduceError::NotReproduced(None) => {
                out.write_str("the test does not fail when it is run again")
            }
            ReduceError::NotReproduced(Some(failure)) => write!(
                out,
                "the test fails in another way when it is run again: {}",
                failure.message
            ),
            ReduceError::Error(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for ReduceError {}

/// Why shrinking does not go on.
pub(super) enum Stop {
    /// Somebody said so, or the budget is used up; the best test so far counts.
    Asked,
    /// It cannot.
    For(ReduceError),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::For(ReduceError::Error(error))
    }
}

/// How a candidate achieved the goal.
#[derive(Clone, Debug)]
pub(super) struct Achieved {
    /// The places of the steps that were executed.
    pub(super) executed: Vec<usize>,
    pub(super) failure: Option<Failure>,
}

impl Achieved {
    /// Those of `steps` that were executed.
    pub(super) fn steps(&self, steps: &[Step]) -> Vec<Step> {
        self.executed.iter().map(|place| steps[*place]).collect()
    }
}

/// Runs candidates, remembers what came of them, and knows when it is enough.
pub(super) struct Trials<'a, S: System + ?Sized> {
    pub(super) system: &'a mut S,
    goal: &'a mut dyn Goal<S>,
    proceed: &'a mut dyn FnMut() -> bool,
    pub(super) keep_last: bool,
    check: bool,
    /// How many runs there may be.
    pub(super) budget: u64,
    pub(super) effort: Effort,
    pub(super) prefixes: Box<dyn Prefixes<S> + 'a>,
    /// The last test that achieved the goal, and what happened in it: to put copies to the proof.
    example: (Vec<Step>, Trace),
    /// `None` for a candidate that does not achieve the goal.
    known: FxHashMap<Vec<Step>, Option<Achieved>>,
    /// What is known to be enabled, or not, after these steps.
    enabled: FxHashMap<Vec<Step>, FxHashMap<ActionId, bool>>,
}

impl<'a, S: System + ?Sized> Trials<'a, S> {
    pub(super) fn new(
        system: &'a mut S,
        goal: &'a mut dyn Goal<S>,
        keep_last: bool,
        check: bool,
        proceed: &'a mut dyn FnMut() -> bool,
    ) -> Trials<'a, S> {
        Trials {
            system,
            goal,
            proceed,
            keep_last,
            check,
            budget: u64::MAX,
            effort: Effort::default(),
            prefixes: Box::new(FromReset),
            example: (Vec::new(), Trace::default()),
            known: FxHashMap::default(),
            enabled: FxHashMap::default(),
        }
    }

    /// Whether the last step of every test that achieves the goal fails.
    pub(super) fn ends_in_failure(&self) -> bool {
        self.goal.ends_in_failure()
    }

    /// Runs a test that should achieve the goal, or else says how it fails instead. It may go on after its failure.
    pub(super) fn reproduce(&mut self, steps: &[Step]) -> Result<Achieved, Stop> {
        if let Some(Some(achieved)) = self.known.get(steps) {
            self.effort.cached += 1;
            return Ok(achieved.clone());
        }
        let keep_last = std::mem::take(&mut self.keep_last);
        let answer = self.run(steps);
        self.keep_last = keep_last;
        let (achieved, failure) = answer?;
        achieved.ok_or(Stop::For(ReduceError::NotReproduced(failure)))
    }

    /// How a candidate achieves the goal, if it does.
    pub(super) fn attempt(&mut self, steps: &[Step]) -> Result<Option<Achieved>, Stop> {
        if let Some(answer) = self.known.get(steps) {
            self.effort.cached += 1;
            return Ok(answer.clone());
        }
        let (achieved, _) = self.run(steps)?;
        Ok(achieved)
    }

    /// Which of these actions are enabled after `steps`. Takes one run, however many actions there are.
    pub(super) fn enabled_after(
        &mut self,
        steps: &[Step],
        actions: &[ActionId],
    ) -> Result<Vec<ActionId>, Stop> {
        let mut known = self.enabled.remove(steps).unwrap_or_default();
        if actions.iter().any(|action| !known.contains_key(action)) {
            self.replay(steps)?;
            for action in actions {
                let enabled = || self.system.is_enabled(*action);
                known.entry(*action).or_insert_with(enabled);
            }
        } else {
            self.effort.cached += 1;
        }
        let is_enabled = |action: &ActionId| known.get(action) == Some(&true);
        let enabled = actions.iter().copied().filter(is_enabled).collect();
        self.enabled.insert(steps.to_vec(), known);
        Ok(enabled)
    }

    /// Runs a candidate and remembers what came of it. If it is not good enough, says how it failed instead.
    fn run(&mut self, steps: &[Step]) -> Result<(Option<Achieved>, Option<Failure>), Stop> {
        let (answer, failure) = match self.goal.basis() {
            Basis::Test => (self.ask(steps)?, None),
            Basis::Trace | Basis::Run => self.judge(steps)?,
        };
        self.known.insert(steps.to_vec(), answer.clone());
        Ok((answer, failure))
    }

    /// Lets a goal look at a run.
    fn judge(&mut self, steps: &[Step]) -> Result<(Option<Achieved>, Option<Failure>), Stop> {
        let resumed_before = self.effort.resumed;
        self.goal.before(self.system)?;
        let mut trace = self.replay(steps)?;
        let test = Test::of_steps(steps.to_vec());
        let mut is_achieved = self.goal.is_achieved(self.system, &test, &trace)?;
        if is_achieved && self.effort.resumed > resumed_before {
            trace = self.replay_from_reset(steps)?;
            is_achieved = self.goal.is_achieved(self.system, &test, &trace)?;
            if !is_achieved {
                // Who knows what else the copies have made us believe.
                self.prefixes.distrust();
                self.known.clear();
                self.enabled.clear();
            }
        }
        let failure = trace.failure().cloned();
        let executed: Vec<usize> = executed(&trace).collect();
        if !is_achieved {
            let fewer = executed.iter().map(|place| steps[*place]).collect();
            self.known.insert(fewer, None);
            return Ok((None, failure));
        }
        self.example = (steps.to_vec(), trace);
        if self.keep_last && executed.last().copied() != steps.len().checked_sub(1) {
            return Ok((None, failure));
        }
        let answer = Achieved { executed, failure };
        let fewer = answer.steps(steps);
        let all = Achieved {
            executed: (0..fewer.len()).collect(),
            failure: answer.failure.clone(),
        };
        self.known.insert(fewer, Some(all));
        Ok((Some(answer), None))
    }

    /// Asks a goal that runs tests itself. Which steps are not enabled is found by a run of our own, and whether they
    /// may go is asked, too, for the goal may see that differently.
    fn ask(&mut self, steps: &[Step]) -> Result<Option<Achieved>, Stop> {
        if !self.ask_once(steps)? {
            return Ok(None);
        }
        let trace = self.replay(steps)?;
        let is_skipped =
            |place: &usize| matches!(trace.events.get(*place), Some(Event::Skipped(_)));
        let all: Vec<usize> = (0..steps.len()).collect();
        let rest: Vec<usize> = all
            .iter()
            .copied()
            .filter(|place| !is_skipped(place))
            .collect();
        let ends_alike = !self.keep_last || rest.last() == all.last();
        let failure = trace.failure().cloned();
        if rest.len() < all.len() && ends_alike {
            let fewer: Vec<Step> = rest.iter().map(|place| steps[*place]).collect();
            let answer = match self.known.get(&fewer) {
                Some(answer) => answer.is_some(),
                None => self.ask_once(&fewer)?,
            };
            let executed = (0..fewer.len()).collect();
            let achieved = answer.then_some(Achieved {
                executed,
                failure: failure.clone(),
            });
            self.known.insert(fewer, achieved);
            if answer {
                return Ok(Some(Achieved {
                    executed: rest,
                    failure,
                }));
            }
        }
        Ok(Some(Achieved {
            executed: all,
            failure,
        }))
    }

    fn ask_once(&mut self, steps: &[Step]) -> Result<bool, Stop> {
        self.spend()?;
        if !(self.proceed)() {
            return Err(Stop::Asked);
        }
        let test = Test::of_steps(steps.to_vec());
        Ok(self
            .goal
            .is_achieved(self.system, &test, &Trace::default())?)
    }

    /// One run less is left.
    fn spend(&mut self) -> Result<(), Stop> {
        if self.effort.runs >= self.budget {
            return Err(Stop::Asked);
        }
        self.effort.runs += 1;
        Ok(())
    }

    /// Runs steps, from the longest beginning that is known if the goal does not mind.
    fn replay(&mut self, steps: &[Step]) -> Result<Trace, Stop> {
        self.spend()?;
        self.replay_from(steps, self.goal.basis() == Basis::Trace)
    }

    /// Runs steps to confirm what a run from a copy has shown; not counted as a run of its own.
    fn replay_from_reset(&mut self, steps: &[Step]) -> Result<Trace, Stop> {
        self.replay_from(steps, false)
    }

    fn replay_from(&mut self, steps: &[Step], copies: bool) -> Result<Trace, Stop> {
        let from_reset: &mut dyn Prefixes<S> = &mut FromReset;
        let prefixes = if copies {
            self.prefixes.as_mut()
        } else {
            from_reset
        };
        let options = ReplayOptions { check: self.check };
        self.effort.steps += prefixes.prove(self.system, steps, &self.example, &options)?;
        let events = prefixes.start(self.system, steps)?;
        self.effort.resumed += u64::from(!events.is_empty());
        let started_at = events.len();
        let mut watcher = Watching {
            proceed: self.proceed,
            wanted: prefixes.wanted(steps, started_at),
            prefixes,
            steps,
            events: events.clone(),
        };
        let trace = Trace {
            events,
            interrupted: false,
        };
        let trace = go_on(self.system, steps, trace, &options, &mut watcher)?;
        self.effort.steps += (trace.events.len() - started_at) as u64;
        if trace.interrupted {
            return Err(Stop::Asked);
        }
        Ok(trace)
    }
}

/// The places of the steps that a run executed.
fn executed(trace: &Trace) -> impl Iterator<Item = usize> {
    let events = trace.events.iter().enumerate();
    events.filter_map(|(place, event)| (!matches!(event, Event::Skipped(_))).then_some(place))
}

/// Lets a run go on as long as a question is answered with yes, and keeps a state on the way.
struct Watching<'a, S: ?Sized> {
    proceed: &'a mut dyn FnMut() -> bool,
    prefixes: &'a mut dyn Prefixes<S>,
    /// After how many steps a copy is wanted.
    wanted: Option<usize>,
    steps: &'a [Step],
    /// What happened so far; only kept up to the copy.
    events: Vec<Event>,
}

impl<S: ?Sized> Watcher<S> for Watching<'_, S> {
    fn proceed(&mut self) -> bool {
        (self.proceed)()
    }

    fn after(&mut self, system: &mut S, event: &Event) {
        let Some(wanted) = self.wanted else { return };
        if matches!(event, Event::Failed(..)) {
            return;
        }
        self.events.push(event.clone());
        if self.events.len() == wanted {
            self.prefixes
                .keep(system, &self.steps[..wanted], &self.events);
            self.wanted = None;
        }
    }
}
