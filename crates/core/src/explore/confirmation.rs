//! Doubts about what an exploration saw, settled by running tests from a fresh start.
//!
//! A failure is reported only if it happens again after a reset. Of the states that count as one, some
//! pairs are sampled: both are reached from a fresh start, and the same few steps are taken from both.
//! If anything differs, the fingerprint does not tell enough. From then on states with that fingerprint
//! are taken apart, and the exploration claims nothing.

use rustc_hash::FxHashMap;

use super::StopReason;
use super::frontier::OpenState;
use super::links::Visit;
use super::search::{Arrival, StateSearch};
use super::walker::Halt;
use crate::verdict::Caveat;
use crate::{ActionId, Equivalence, Failure, FailureKind, Outcome, Step, System, Test};

/// The number of steps taken from both states of a pair.
const SAMPLE_STEPS: usize = 3;

/// The number of pairs that are compared in any case.
const FIRST_SAMPLES: u64 = 12;

/// Later pairs are compared while that takes at most one of so many steps.
const SAMPLE_SHARE: u64 = 40;

/// The maximum number of states with one fingerprint that are taken apart. A system may count its
/// steps where no fingerprint can see it, and its exploration should still end.
const MAX_APART: u32 = 64;

/// The states that counted as one, and what became of it.
#[derive(Default)]
pub(super) struct MergedStates {
    /// Pairs that were compared.
    compared: u64,
    /// Pairs that differed.
    differed: u64,
    /// Steps taken to compare.
    steps: u64,
    /// Fingerprints that do not tell enough, with the number of states that have each.
    apart: FxHashMap<u128, u32>,
}

impl MergedStates {
    /// Returns the fingerprint by which a state is remembered.
    pub(super) fn key(&mut self, fingerprint: u128) -> u128 {
        match self.apart.get_mut(&fingerprint) {
            Some(states) if *states < MAX_APART => {
                *states += 1;
                let mixed =
                    u128::from(*states).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
                fingerprint ^ mixed
            }
            _ => fingerprint,
        }
    }

    /// Returns true if another pair should be compared.
    fn wants_more(&self, steps: u64) -> bool {
        self.compared < FIRST_SAMPLES || self.steps * SAMPLE_SHARE < steps
    }

    /// Returns the caveat, if pairs differed.
    pub(super) fn caveat(&self) -> Option<Caveat> {
        (self.differed > 0).then_some(Caveat::StatesDiffer {
            pairs: self.differed,
            compared: self.compared,
        })
    }
}

/// The observable part of a run: what each step came to, what was enabled, and the fingerprints.
#[derive(Debug, PartialEq)]
struct ObservedPath {
    steps: Vec<(ActionId, StepResult)>,
    states: Vec<(Option<u128>, Vec<ActionId>)>,
}

/// The observable part of a step and the check after it.
#[derive(Debug, PartialEq)]
enum StepResult {
    Passed,
    Expected,
    Failed(FailureKind, String),
}

impl From<Outcome> for StepResult {
    fn from(outcome: Outcome) -> StepResult {
        match outcome {
            Outcome::Expected => StepResult::Expected,
            Outcome::Failed(failure) => StepResult::Failed(failure.kind, failure.signature),
            Outcome::Passed | Outcome::Interrupted => StepResult::Passed,
        }
    }
}

/// A pair of paths that led to the same fingerprint.
pub(super) struct MergedPair {
    /// The state that was known.
    pub(super) known: u32,
    /// The fingerprint.
    pub(super) fingerprint: u128,
}

impl<S: System + ?Sized, K> StateSearch<'_, '_, '_, S, K> {
    /// Runs a failing test from a fresh start. Returns the test up to its failure, with the failure;
    /// `None` if nothing fails.
    pub(super) fn confirm(&mut self, test: &Test) -> Result<Option<(Test, Failure)>, Halt> {
        let actions: Vec<ActionId> = test
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Act(action) => Some(*action),
                Step::Restart => None,
            })
            .collect();
        self.walker.restart()?;
        for (index, action) in actions.iter().enumerate() {
            match self.take_again(*action)? {
                None => return Ok(None),
                Some(Outcome::Failed(failure)) => {
                    let test = Test::from_actions(actions[..=index].iter().copied());
                    return Ok(Some((test, *failure)));
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }

    /// Takes an action and checks the invariants. Returns `None` if the action is not enabled.
    fn take_again(&mut self, action: ActionId) -> Result<Option<Outcome>, Halt> {
        if !self.walker.explorer.system.is_enabled(action) {
            return Ok(None);
        }
        let watcher = &mut *self.watcher;
        let mut outcome = self
            .walker
            .step(action, &mut |progress| watcher.proceed(progress))?;
        if self.options.check && matches!(outcome, Outcome::Passed | Outcome::Expected) {
            let checked = self.walker.explorer.system.check();
            match checked {
                Outcome::Interrupted => return Err(Halt::Stop(StopReason::Interrupted)),
                Outcome::Failed(_) => outcome = checked,
                _ => {}
            }
        }
        Ok(Some(outcome))
    }

    /// Compares a pair of states that count as one, if it is one of the sample. If they differ, the
    /// second is entered as a state of its own.
    pub(super) fn compare_merged(
        &mut self,
        from: &OpenState,
        action: ActionId,
        pair: &MergedPair,
    ) -> Result<(), Halt> {
        let is_exact = self.options.matching == Some(Equivalence::Equal);
        let Some(visited) = &self.visited else {
            return Ok(());
        };
        if !is_exact || !self.merged.wants_more(self.walker.progress.steps) {
            return Ok(());
        }
        let before = self.walker.progress.steps;
        let links = &self.walker.links;
        let known_path = links.path(visited.visit(pair.known));
        let mut new_path = links.path(from.visit);
        new_path.push(action);
        if known_path == new_path {
            return Ok(());
        }
        let turn = self.merged.compared as usize;
        let known = self.observe_path(&known_path, &Continuation::Choose(turn))?;
        let steps = match &known {
            Some(known) => known.steps.iter().map(|(action, _)| *action).collect(),
            None => Vec::new(),
        };
        let new = self.observe_path(&new_path, &Continuation::Take(steps))?;
        self.merged.compared += 1;
        self.merged.steps += self.walker.progress.steps - before;
        let as_seen = |path: &Option<ObservedPath>| {
            path.as_ref()
                .is_some_and(|path| path.states[0].0 == Some(pair.fingerprint))
        };
        if known == new && as_seen(&known) {
            return Ok(());
        }
        self.merged.differed += 1;
        self.merged.apart.entry(pair.fingerprint).or_default();
        self.enter_apart(from.visit, action, pair.fingerprint, from.depth + 1)
    }

    /// Enters a state that counted as a known one.
    fn enter_apart(
        &mut self,
        from: Visit,
        action: ActionId,
        fingerprint: u128,
        depth: u32,
    ) -> Result<(), Halt> {
        if self.is_full() {
            return Ok(());
        }
        self.go_to(from)?;
        if !matches!(
            self.take_again(action)?,
            Some(Outcome::Passed | Outcome::Expected)
        ) {
            return Ok(());
        }
        let key = self.merged.key(fingerprint);
        let visit = self.walker.record_visit(from, action);
        self.enter(visit, Arrival::New(Some(key)), depth)
            .map(|_| ())
    }

    /// Reaches a state from a fresh start and takes a few steps from it. Returns `None` if the path
    /// cannot be taken again.
    fn observe_path(
        &mut self,
        path: &[ActionId],
        continuation: &Continuation,
    ) -> Result<Option<ObservedPath>, Halt> {
        self.walker.restart()?;
        for action in path {
            match self.take_again(*action)? {
                Some(Outcome::Passed | Outcome::Expected) => {}
                _ => return Ok(None),
            }
        }
        let mut observed = ObservedPath {
            steps: Vec::new(),
            states: vec![self.observe()?],
        };
        for index in 0..SAMPLE_STEPS {
            let enabled = observed
                .states
                .last()
                .map_or(&[][..], |(_, enabled)| enabled);
            let next = match continuation {
                Continuation::Choose(turn) if !enabled.is_empty() => {
                    Some(enabled[(turn * 7 + index * 3) % enabled.len()])
                }
                Continuation::Choose(_) => None,
                Continuation::Take(actions) => actions.get(index).copied(),
            };
            let Some(action) = next else { break };
            let Some(outcome) = self.take_again(action)? else {
                break;
            };
            let failed = matches!(outcome, Outcome::Failed(_));
            observed.steps.push((action, StepResult::from(outcome)));
            if failed {
                break;
            }
            let state = self.observe()?;
            observed.states.push(state);
        }
        Ok(Some(observed))
    }

    /// Returns the fingerprint of the current state, and what is enabled.
    fn observe(&mut self) -> Result<(Option<u128>, Vec<ActionId>), Halt> {
        let fingerprint = self.fingerprint()?;
        Ok((fingerprint, self.walker.explorer.system.enabled()))
    }
}

/// The steps to take from a sampled state.
enum Continuation {
    /// Choose among the enabled actions; the number varies the choice.
    Choose(usize),
    /// Take these actions.
    Take(Vec<ActionId>),
}
