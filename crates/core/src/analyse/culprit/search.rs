//! The search for the step to blame.

use std::collections::BTreeSet;

use super::slots::{SlotHistory, SlotWatcher, slots_of};
use super::{BugIdentity, Culprit, last_action, shape};
use crate::replay::{ReplayOptions, ReplayWatcher, replay};
use crate::{ActionId, Error, Failure, FailureKind, PoolId, SlotRole, Step, System, Test};

/// The search for the culprit of one test.
pub(super) struct CulpritSearch<'a, S: ?Sized> {
    pub(super) system: &'a mut S,
    pub(super) test: &'a Test,
    pub(super) options: ReplayOptions,
    pub(super) proceed: Proceed<'a>,
    /// The pools that hold constants only.
    constants: Vec<PoolId>,
    /// The shapes of actions that were seen to change the state: they observe nothing.
    pub(super) changing: BTreeSet<String>,
    /// The shapes of actions that did not change the state when they were last looked at.
    pub(super) harmless: BTreeSet<String>,
    /// The number of steps taken so far.
    pub(super) steps: usize,
}

/// Ends replays when the caller does not want to go on.
pub(super) struct Proceed<'a>(pub(super) &'a mut dyn FnMut() -> bool);

impl<S: ?Sized> ReplayWatcher<S> for Proceed<'_> {
    fn proceed(&mut self) -> bool {
        (self.0)()
    }
}

impl<'a, S: System + ?Sized> CulpritSearch<'a, S> {
    pub(super) fn new(
        system: &'a mut S,
        test: &'a Test,
        options: &ReplayOptions,
        proceed: &'a mut dyn FnMut() -> bool,
    ) -> CulpritSearch<'a, S> {
        let constants = system.examine().unwrap_or_default().constants;
        CulpritSearch {
            system,
            test,
            options: *options,
            proceed: Proceed(proceed),
            constants,
            changing: BTreeSet::new(),
            harmless: BTreeSet::new(),
            steps: 0,
        }
    }

    /// Returns the shape of an action, with the constants that are known here.
    pub(super) fn shape(&self, action: ActionId) -> String {
        shape(self.system.actions(), action, &self.constants)
    }

    /// Returns the shape of the failing step.
    pub(super) fn last_shape(&self) -> String {
        last_action(self.test).map_or_else(String::new, |action| self.shape(action))
    }

    /// Returns true if a step only assigns a constant.
    fn is_constant(&self, step: &Step) -> bool {
        let Step::Act(action) = step else {
            return false;
        };
        let mut slots = self.system.actions().slots(*action).into_iter();
        slots.any(|(pool, _, role)| role == SlotRole::Definition && self.constants.contains(&pool))
    }

    /// Returns what is seen after each step of the test; nothing if it does not fail in the same way again.
    fn slot_history(&mut self, failure: &Failure) -> Result<SlotHistory, Error> {
        // A step that ends the process must not be taken here.
        let is_fatal = matches!(failure.kind, FailureKind::Crash | FailureKind::Hang);
        let length = self.test.len() - usize::from(is_fatal && !self.test.is_empty());
        let test = Test::from_steps(self.test.steps[..length].to_vec());
        let mut watcher = SlotWatcher {
            proceed: &mut self.proceed,
            history: SlotHistory::default(),
        };
        let trace = replay(self.system, &test, &self.options, &mut watcher)?;
        self.steps += length;
        let is_same = |found: &Failure| found.is_same_as(failure);
        // A test that does something else this time says nothing.
        Ok(if is_fatal || trace.failure().is_some_and(is_same) {
            watcher.history
        } else {
            SlotHistory::default()
        })
    }

    /// Finds the step that first made the values differ from those of the reference, and the parts that
    /// differ since.
    fn first_difference(&self, history: &SlotHistory) -> Option<(usize, BTreeSet<String>)> {
        let catalog = self.system.actions();
        let earliest = |slots: Vec<(PoolId, u32)>, end: usize| {
            let begin = |slot| {
                Some((
                    history.begin_of_difference(catalog, self.test, slot, end)?,
                    slot,
                ))
            };
            slots.into_iter().filter_map(begin).min()
        };
        let read = |position: usize| {
            let slots = slots_of(catalog, self.test, position);
            let read = slots.filter(|(_, role)| *role != SlotRole::Definition);
            read.map(|(slot, _)| slot).collect::<Vec<_>>()
        };
        let last = self.test.len().checked_sub(1)?;
        let all = || {
            let before = last
                .checked_sub(1)
                .and_then(|before| history.slots.get(before));
            before.map_or_else(Vec::new, |slots| slots.keys().copied().collect())
        };
        let mut found = earliest(read(last), last).or_else(|| earliest(all(), last))?;
        while let Some(source) = earliest(read(found.0), found.0) {
            found = source;
        }
        Some((found.0, self.spoiled(history, found.0)))
    }

    /// Returns the parts of values that differ after a step and did not differ before.
    fn spoiled(&self, history: &SlotHistory, position: usize) -> BTreeSet<String> {
        let before = position.checked_sub(1).map(|before| &history.slots[before]);
        let mut spoiled = BTreeSet::new();
        for (slot, compared) in history.slots.get(position).into_iter().flatten() {
            let known = before.and_then(|before| before.get(slot));
            if known.is_none_or(|known| known.differences.is_empty()) {
                let pool = &self.system.actions().pool(slot.0).name;
                spoiled.extend(
                    compared
                        .differences
                        .iter()
                        .map(|part| format!("{pool}{part}")),
                );
            }
        }
        spoiled
    }

    /// Finds the culprit without observers.
    pub(super) fn find_quickly(&mut self, failure: &Failure) -> Result<Option<Culprit>, Error> {
        let history = self.slot_history(failure)?;
        if history.states.is_empty() {
            return Ok(None);
        }
        let evidence = BTreeSet::from([self.last_shape(), failure.signature.clone()]);
        if let Some((position, spoiled)) = self.first_difference(&history) {
            let mut culprit = self.culprit(position, evidence)?;
            culprit.spoiled = spoiled;
            return Ok(Some(culprit));
        }
        let last = self.test.len().saturating_sub(1);
        let is_known = match failure.kind {
            FailureKind::Property | FailureKind::PoolType => true,
            // A step that changes nothing may be innocent, unless the state before it is right.
            FailureKind::PostCondition
            | FailureKind::ReferenceMismatch
            | FailureKind::ExceptionMismatch => {
                last == 0 || history.agrees(last - 1) || history.is_changed(last)
            }
            _ => false,
        };
        is_known.then(|| self.culprit(last, evidence)).transpose()
    }

    /// Finds the culprit by the first difference from the reference.
    pub(super) fn find_by_difference(
        &mut self,
        failure: &Failure,
        identity: &BugIdentity,
    ) -> Result<Option<Culprit>, Error> {
        let history = self.slot_history(failure)?;
        if let Some((position, spoiled)) = self.first_difference(&history) {
            let seen = self.observe(position + 1)?;
            let mut evidence = seen.map_or_else(BTreeSet::new, |seen| seen.wrong);
            evidence.insert(identity.step.clone());
            let mut culprit = self.culprit(position, evidence)?;
            culprit.spoiled = spoiled;
            return Ok(Some(culprit));
        }
        Ok(None)
    }

    /// Finds the culprit by observers, if there is more to know than the place of the failure.
    pub(super) fn find_by_observers(
        &mut self,
        failure: &Failure,
        identity: &BugIdentity,
    ) -> Result<Option<Culprit>, Error> {
        let last = self.test.len().saturating_sub(1);
        let history = self.slot_history(failure)?;
        if matches!(failure.kind, FailureKind::Property | FailureKind::PoolType) {
            let mut position = last;
            let step = self.test.steps.get(last);
            if step.is_some_and(|step| self.is_constant(step)) {
                // The constant was only needed to see what an earlier step did.
                position = self.first_violation(identity)?.unwrap_or(last);
            }
            let Some(seen) = self.observe(position + 1)? else {
                return Ok(None);
            };
            let mut evidence = seen.wrong;
            evidence.extend(seen.violations);
            evidence.insert(identity.signature.clone());
            return self.culprit(position, evidence).map(Some);
        }
        for position in 0..last {
            if last > 0 && history.agrees(last - 1) || self.is_constant(&self.test.steps[position])
            {
                continue;
            }
            let Some(seen) = self.observe(position + 1)? else {
                return Ok(None);
            };
            if seen.is_proof(&identity.step) {
                let mut evidence = seen.wrong;
                evidence.insert(identity.step.clone());
                return self.culprit(position, evidence).map(Some);
            }
        }
        match failure.kind {
            FailureKind::PostCondition
            | FailureKind::ReferenceMismatch
            | FailureKind::ExceptionMismatch => {
                let evidence = BTreeSet::from([identity.signature.clone()]);
                self.culprit(last, evidence).map(Some)
            }
            // The place where an exception was raised says more than the step, and a step that ends
            // the process must not be taken here.
            _ => Ok(None),
        }
    }

    /// Returns the position of the first step after which the invariant does not hold, if the constants of
    /// later steps are assigned before.
    fn first_violation(&mut self, identity: &BugIdentity) -> Result<Option<usize>, Error> {
        for position in 0..self.test.len() {
            if self.is_constant(&self.test.steps[position]) {
                continue;
            }
            let prefix = self.with_constants(position + 1);
            let trace = replay(self.system, &prefix, &self.options, &mut self.proceed)?;
            let failure = trace.failure();
            if failure.is_some_and(|failure| failure.signature == identity.signature) {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// Returns the first steps of the test, after them the constants of later steps.
    pub(super) fn with_constants(&self, length: usize) -> Test {
        let (first, later) = self.test.steps.split_at(length);
        let constants = later.iter().filter(|step| self.is_constant(step));
        Test::from_steps(first.iter().chain(constants).copied().collect())
    }

    /// Returns the step at a position as the culprit, with the code that it executes.
    fn culprit(&mut self, position: usize, evidence: BTreeSet<String>) -> Result<Culprit, Error> {
        let mut lines = Vec::new();
        let mut culprit = Culprit {
            position,
            evidence,
            is_earlier: position + 1 < self.test.len(),
            ..Culprit::default()
        };
        if let Some(Step::Act(action)) = self.test.steps.get(position).copied() {
            let catalog = self.system.actions();
            culprit.text = catalog.text(action);
            culprit.shape = shape(catalog, action, &self.constants);
            if self.run_prefix(position)? && self.system.is_enabled(action) {
                self.system.step_with_lines(action, &mut lines);
            }
        }
        culprit.lines = lines.into_iter().collect();
        Ok(culprit)
    }
}
