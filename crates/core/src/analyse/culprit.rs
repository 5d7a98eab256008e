//! The step of a failing test that is to blame, and with it the identity of the bug.
//!
//! A bug in one function is seen in many ways: every function that reads what it spoiled gives a
//! wrong result, each in a line of its own. So the step that spoiled it is looked for: the *culprit*.
//!
//! If the values of the system can be compared with those of a reference, it is the first step after
//! which they differ. Where the failing step reads a slot, the slot's own history counts; and if it
//! got its wrong value from another slot, the history of that one.
//!
//! Otherwise all that can be observed is observed after each step: every action whose result is checked
//! is taken, in a replay that ends with it. An observer that is itself wrong must not make its victim look
//! guilty. So a step counts as the culprit only if two different observers are wrong after it, and at
//! least half of all.
//!
//! If there is no such step, the failing step itself is the culprit, and the failure's
//! [signature](Failure::signature) is its identity. Two failing tests show the same bug if their culprits
//! do the same, executed the same code, and have at least one common consequence.

use std::collections::{BTreeMap, BTreeSet};

use crate::replay::{ReplayOptions, ReplayWatcher, replay};
use crate::shrink::{Basis, ReduceOptions, ShrinkGoal, Shrinker, Shrunk};
use crate::{
    ActionId, Axis, Catalog, Error, Failure, FailureKind, Outcome, PoolId, SlotComparison,
    SlotRole, Step, System, Test, Trace, TraceEvent,
};

/// The maximum number of observations after one step.
const MAX_OBSERVATIONS: usize = 64;

/// The maximum number of steps that the search for a culprit takes. It is a number and not a time,
/// so that the result does not depend on the machine.
const MAX_STEPS: usize = 50_000;

/// The step of a failing test that is to blame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Culprit {
    /// Its position in the test, from 0.
    pub position: usize,
    /// The step as it stands in the test.
    pub text: String,
    /// The step without its values, with slots numbered by their first mention: equal for steps
    /// that do the same with other values.
    pub shape: String,
    /// The lines of code that it executed, as far as they can be seen.
    pub lines: BTreeSet<String>,
    /// The observations that are wrong after it: shapes of actions, lines of invariants.
    pub evidence: BTreeSet<String>,
    /// The parts of the values that differ from the reference since this step: pools with attributes.
    /// Empty if the values cannot be compared.
    pub spoiled: BTreeSet<String>,
    /// True if the test goes on after it: what it spoiled is only seen by a later step.
    pub is_earlier: bool,
}

/// The identity of the bug that a failing test shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BugIdentity {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// The failure's own identity, as seen in its last step.
    pub signature: String,
    /// The shape of the failing step.
    pub step: String,
    /// The step to blame; `None` if the place of the failure says more.
    pub culprit: Option<Culprit>,
}

impl BugIdentity {
    /// Returns the identity of a failure that is known by its place only.
    pub fn of_failure(catalog: &Catalog, test: &Test, failure: &Failure) -> BugIdentity {
        BugIdentity {
            kind: failure.kind,
            signature: failure.signature.clone(),
            step: last_action(test).map_or_else(String::new, |action| shape(catalog, action, &[])),
            culprit: None,
        }
    }

    /// Returns true if both are the same bug, as far as one can know.
    pub fn is_same_bug(&self, other: &BugIdentity) -> bool {
        match (&self.culprit, &other.culprit) {
            (Some(one), Some(other)) => one.is_same_as(other),
            (None, None) => self.kind == other.kind && self.signature == other.signature,
            _ => false,
        }
    }
}

impl Culprit {
    /// Returns true if both steps do the same, by the same way through the code, with at least one
    /// common consequence. One way may be a part of the other: loops and early returns depend on
    /// values.
    pub fn is_same_as(&self, other: &Culprit) -> bool {
        let is_consequence_shared = if self.spoiled.is_empty() || other.spoiled.is_empty() {
            !self.evidence.is_disjoint(&other.evidence)
        } else {
            !self.spoiled.is_disjoint(&other.spoiled)
        };
        self.shape == other.shape
            && is_consequence_shared
            && (self.lines.is_subset(&other.lines) || other.lines.is_subset(&self.lines))
    }
}

/// Groups failing tests that show the same bug: a test belongs to a group if it shows the same bug as
/// any test in it, so the order does not matter. Groups and their members are in order of position.
pub fn group_bugs(identities: &[BugIdentity]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, identity) in identities.iter().enumerate() {
        let is_same = |group: &Vec<usize>| {
            let mut members = group.iter();
            members.any(|member| identities[*member].is_same_bug(identity))
        };
        let (same, mut others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_same);
        let mut joined: Vec<usize> = same.into_iter().flatten().collect();
        joined.push(index);
        joined.sort_unstable();
        others.push(joined);
        others.sort();
        groups = others;
    }
    groups
}

/// Finds the identity of the bug that a failing test shows. The last step of the test should be the
/// failing one, and the test should be reduced: then few steps are suspected.
///
/// Takes some replays of the test per step and observer. Without examination
/// ([`System::examine`]), or if `proceed` returns false, the failure's own signature is the identity.
pub fn identify<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    failure: &Failure,
    options: &ReplayOptions,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<BugIdentity, Error> {
    let mut identity = BugIdentity::of_failure(system.actions(), test, failure);
    let mut search = CulpritSearch::new(system, test, options, proceed);
    identity.step = search.last_shape();
    identity.culprit = search.find_by_difference(failure, &identity)?;
    if identity.culprit.is_none() {
        // Without a reference, unneeded steps would hide the step that is needed.
        let reduced = reduce_for_culprit(system, test, failure, options, proceed);
        let short = reduced.as_ref().map_or(test, |reduced| &reduced.test);
        let mut search = CulpritSearch::new(system, short, options, proceed);
        identity.culprit = search.find_by_observers(failure, &identity)?;
        if let (Some(culprit), Some(reduced)) = (&mut identity.culprit, &reduced) {
            let kept = reduced.kept.get(culprit.position);
            culprit.position = kept.copied().unwrap_or(culprit.position);
        }
    }
    Ok(identity)
}

/// Reduces a test in which observers are looked at. `None` if that is not needed or not possible.
fn reduce_for_culprit<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    failure: &Failure,
    options: &ReplayOptions,
    proceed: &mut dyn FnMut() -> bool,
) -> Option<Shrunk> {
    let is_observed = matches!(
        failure.kind,
        FailureKind::PostCondition
            | FailureKind::ReferenceMismatch
            | FailureKind::ExceptionMismatch
            | FailureKind::ModelMismatch
    );
    if !is_observed {
        return None;
    }
    system.examine()?;
    let culprit = quick_culprit(system, test, failure, options, proceed).ok()?;
    let mut goal = SameBug {
        failure: failure.clone(),
        culprit,
        options: *options,
    };
    let reduce = ReduceOptions {
        check: options.check,
        ..ReduceOptions::default()
    };
    let mut shrinker = Shrinker::new(system, &mut goal, &reduce, proceed);
    shrinker.reduce(test).ok()
}

/// Finds the culprit of a test of any length, as far as that takes only a few replays: without
/// observers. `None` if it is not known.
pub fn quick_culprit<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    failure: &Failure,
    options: &ReplayOptions,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Option<Culprit>, Error> {
    let has_lines = last_action(test).is_some_and(|action| {
        let catalog = system.actions();
        !catalog.is_open(catalog.template_of(action))
    });
    if !has_lines {
        return Ok(None);
    }
    CulpritSearch::new(system, test, options, proceed).find_quickly(failure)
}

/// Goal: [fail the same way](Failure::is_same_as), because of the same step if that is known. So a test that
/// shows one bug does not become a test for another one that looks alike.
#[derive(Clone, Debug)]
pub struct SameBug {
    /// The failure.
    pub failure: Failure,
    /// The culprit, if it is known.
    pub culprit: Option<Culprit>,
    /// The options of replays.
    pub options: ReplayOptions,
}

impl<S: System + ?Sized> ShrinkGoal<S> for SameBug {
    fn basis(&self) -> Basis {
        match self.culprit {
            Some(_) => Basis::Run,
            None => Basis::Trace,
        }
    }

    fn ends_in_failure(&self) -> bool {
        true
    }

    fn is_achieved(&mut self, system: &mut S, _test: &Test, trace: &Trace) -> Result<bool, Error> {
        let Some(failure) = trace
            .failure()
            .filter(|failure| failure.is_same_as(&self.failure))
        else {
            return Ok(false);
        };
        let Some(culprit) = &self.culprit else {
            return Ok(true);
        };
        let test = trace.executed_test();
        let found = quick_culprit(system, &test, failure, &self.options, &mut || true)?;
        Ok(found.is_some_and(|found| found.is_same_as(culprit)))
    }
}

/// The search for the culprit of one test.
struct CulpritSearch<'a, S: ?Sized> {
    system: &'a mut S,
    test: &'a Test,
    options: ReplayOptions,
    proceed: Proceed<'a>,
    /// The pools that hold constants only.
    constants: Vec<PoolId>,
    /// The shapes of actions that were seen to change the state: they observe nothing.
    changing: BTreeSet<String>,
    /// The shapes of actions that did not change the state when they were last looked at.
    harmless: BTreeSet<String>,
    /// The number of steps taken so far.
    steps: usize,
}

/// Ends replays when the caller does not want to go on.
struct Proceed<'a>(&'a mut dyn FnMut() -> bool);

impl<S: ?Sized> ReplayWatcher<S> for Proceed<'_> {
    fn proceed(&mut self) -> bool {
        (self.0)()
    }
}

/// The observations after a prefix of the test.
struct Observations {
    /// The shapes of all observers.
    all: BTreeSet<String>,
    /// The shapes of those that fail.
    wrong: BTreeSet<String>,
    /// True if the values are known to agree with those of the reference.
    agrees: bool,
    /// The invariants that do not hold.
    violations: Vec<String>,
}

/// Observations after each step of a test.
#[derive(Default)]
struct SlotHistory {
    /// The comparisons of slots, by pool and index.
    slots: Vec<BTreeMap<(PoolId, u32), SlotComparison>>,
    /// The keys of the states.
    states: Vec<Option<u128>>,
}

impl SlotHistory {
    /// Returns the position of the step after which a slot differs, up to the step before `end`. `None` if it
    /// does not differ there, or may always have differed.
    fn begin_of_difference(
        &self,
        catalog: &Catalog,
        test: &Test,
        slot: (PoolId, u32),
        end: usize,
    ) -> Option<usize> {
        let differs = |position: usize| {
            let compared = self.slots.get(position)?.get(&slot)?;
            Some(!compared.differences.is_empty())
        };
        let differing = (0..end)
            .rev()
            .take_while(|position| differs(*position) == Some(true));
        let first = differing.last()?;
        let is_new = first == 0
            || differs(first - 1).is_none()
            || slots_of(catalog, test, first)
                .any(|(other, role)| other == slot && role == SlotRole::Definition);
        let is_proven = !is_new || self.slots[first][&slot].is_comparable;
        is_proven.then_some(first)
    }

    /// Returns true if there is no reference, and a step changes the state.
    fn is_changed(&self, position: usize) -> bool {
        let [before, after] = [position - 1, position].map(|position| self.states.get(position));
        self.slots.iter().all(BTreeMap::is_empty) && before != after
    }

    /// Returns true if no slot differs after a step.
    fn agrees(&self, position: usize) -> bool {
        let compared = self.slots.get(position);
        compared.is_some_and(|slots| {
            !slots.is_empty() && slots.values().all(|one| one.differences.is_empty())
        })
    }
}

/// Returns the slots that a step names, with their roles.
fn slots_of(
    catalog: &Catalog,
    test: &Test,
    position: usize,
) -> impl Iterator<Item = ((PoolId, u32), SlotRole)> + use<> {
    let slots = match test.steps.get(position) {
        Some(Step::Act(action)) => catalog.slots(*action),
        _ => Vec::new(),
    };
    slots
        .into_iter()
        .map(|(pool, slot, role)| ((pool, slot), role))
}

/// Records the comparisons of slots while a test runs.
struct SlotWatcher<'a, 'p> {
    proceed: &'a mut Proceed<'p>,
    history: SlotHistory,
}

impl<S: System + ?Sized> ReplayWatcher<S> for SlotWatcher<'_, '_> {
    fn proceed(&mut self) -> bool {
        (self.proceed.0)()
    }

    fn after_step(&mut self, system: &mut S, _event: &TraceEvent) {
        let state = system.examine().unwrap_or_default();
        self.history.states.push(state.state);
        let slots = state.slots.into_iter();
        self.history
            .slots
            .push(slots.map(|one| ((one.pool, one.slot), one)).collect());
    }
}

impl<'a, S: System + ?Sized> CulpritSearch<'a, S> {
    fn new(
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
    fn shape(&self, action: ActionId) -> String {
        shape(self.system.actions(), action, &self.constants)
    }

    /// Returns the shape of the failing step.
    fn last_shape(&self) -> String {
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
    fn find_quickly(&mut self, failure: &Failure) -> Result<Option<Culprit>, Error> {
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
    fn find_by_difference(
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
    fn find_by_observers(
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
    fn with_constants(&self, length: usize) -> Test {
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

    /// Runs the first steps of the test. Returns false if they fail, unless they are the whole test.
    fn run_prefix(&mut self, length: usize) -> Result<bool, Error> {
        let prefix = Test::from_steps(self.test.steps[..length].to_vec());
        self.run_part(length, &prefix)
    }

    /// Runs the first steps of the test and assigns the constants of later steps, so that all can be
    /// observed that later steps observe.
    fn run_to_observe(&mut self, length: usize) -> Result<bool, Error> {
        let prefix = self.with_constants(length);
        self.run_part(length, &prefix)
    }

    /// Runs a part of the test. Returns false if it fails, unless it is the whole test.
    fn run_part(&mut self, length: usize, prefix: &Test) -> Result<bool, Error> {
        self.steps += prefix.len();
        let trace = replay(self.system, prefix, &self.options, &mut self.proceed)?;
        let is_whole = length == self.test.len();
        Ok(!trace.interrupted && (is_whole || trace.failure().is_none()))
    }

    /// Observes all that can be observed after the first steps of the test. `None` if that cannot be
    /// done.
    fn observe(&mut self, length: usize) -> Result<Option<Observations>, Error> {
        if !self.run_to_observe(length)? {
            return Ok(None);
        }
        let Some(state) = self.system.examine() else {
            return Ok(None);
        };
        let mut seen = Observations {
            all: BTreeSet::new(),
            wrong: BTreeSet::new(),
            agrees: !state.slots.is_empty()
                && state.slots.iter().all(|one| one.differences.is_empty()),
            violations: state.violations,
        };
        for observer in state.observers.into_iter().take(MAX_OBSERVATIONS) {
            let shape = self.shape(observer);
            if self.changing.contains(&shape) || seen.wrong.contains(&shape) {
                continue;
            }
            if self.steps > MAX_STEPS {
                return Ok(None);
            }
            match self.quick_observation(length, observer, &shape)? {
                Observation::Right => {}
                Observation::Wrong => {
                    seen.wrong.insert(shape.clone());
                }
                Observation::Changes => {
                    self.changing.insert(shape);
                    continue;
                }
                Observation::Impossible => continue,
            }
            seen.all.insert(shape);
        }
        seen.all.retain(|shape| !self.changing.contains(shape));
        seen.wrong.retain(|shape| !self.changing.contains(shape));
        Ok(Some(seen))
    }

    /// Takes one observer in the current state, where other observers may have been taken before. If
    /// that is not known to be harmless, or something is wrong, it is taken once more on its own.
    fn quick_observation(
        &mut self,
        length: usize,
        observer: ActionId,
        shape: &str,
    ) -> Result<Observation, Error> {
        if self.harmless.contains(shape) && self.system.is_enabled(observer) {
            self.steps += 1;
            if matches!(
                self.system.step(observer),
                Outcome::Passed | Outcome::Expected
            ) {
                return Ok(Observation::Right);
            }
        }
        let observation = self.observation(length, observer)?;
        if matches!(observation, Observation::Right | Observation::Wrong) {
            self.harmless.insert(shape.to_owned());
        } else {
            self.harmless.remove(shape);
        }
        if !matches!(observation, Observation::Right) {
            self.run_to_observe(length)?;
        }
        Ok(observation)
    }

    /// Takes one observer after the first steps of the test. It is taken twice, because the first
    /// time may mark the slots that it reads as used.
    fn observation(&mut self, length: usize, observer: ActionId) -> Result<Observation, Error> {
        if !self.run_to_observe(length)? || !self.system.is_enabled(observer) {
            return Ok(Observation::Impossible);
        }
        self.steps += 2;
        let first = self.system.step(observer);
        if first == Outcome::Interrupted {
            return Ok(Observation::Impossible);
        }
        let before = self.system.examine().and_then(|state| state.state);
        if self.system.is_enabled(observer) {
            self.system.step(observer);
        }
        let after = self.system.examine().and_then(|state| state.state);
        Ok(match first {
            _ if before != after => Observation::Changes,
            Outcome::Failed(_) => Observation::Wrong,
            _ => Observation::Right,
        })
    }
}

/// The result of one observation.
enum Observation {
    /// The result is as it should be.
    Right,
    /// The result is not as it should be.
    Wrong,
    /// The action changes the state, so it observes nothing.
    Changes,
    /// The action cannot be taken here.
    Impossible,
}

impl Observations {
    /// Returns true if the state is spoiled, and not just an observer wrong. `failing` is the shape of the
    /// test's last step.
    fn is_proof(&self, failing: &str) -> bool {
        let others = self.wrong.iter().any(|shape| shape != failing);
        others && !self.agrees && 2 * self.wrong.len() >= self.all.len()
    }
}

/// Returns the action of the last step.
fn last_action(test: &Test) -> Option<ActionId> {
    match test.steps.last() {
        Some(Step::Act(action)) => Some(*action),
        _ => None,
    }
}

/// Returns an action without its values, with the slots of each pool numbered in the order of their
/// first mention: `b0.merge(b0)` and `b1.merge(b1)` have one shape, and `b0.merge(b1)` another one. The slots
/// of `constants` are values.
pub fn shape(catalog: &Catalog, action: ActionId, constants: &[PoolId]) -> String {
    let (template, mut values) = catalog.values(action);
    let mut known = Vec::new();
    for (axis, value) in catalog.templates()[template.0].axes.iter().zip(&mut values) {
        *value = match axis {
            Axis::Slot { pool, .. } if constants.contains(pool) => 0,
            Axis::Slot { pool, .. } => {
                let slot = (*pool, *value);
                if !known.contains(&slot) {
                    known.push(slot);
                }
                let of_pool = known.iter().filter(|(other, _)| other == pool);
                of_pool
                    .enumerate()
                    .find(|(_, other)| **other == slot)
                    .map_or(0, |(number, _)| number as u64)
            }
            Axis::Choice(_) | Axis::Repeat(_) => 0,
        };
    }
    if catalog.is_open(template) {
        return catalog.template_key(action);
    }
    catalog.text(catalog.action(template, &values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys;

    /// Returns an identity with a culprit, from names separated by blanks.
    fn blamed(shape: &str, lines: &str, evidence: &str) -> BugIdentity {
        let set = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        BugIdentity {
            kind: FailureKind::ReferenceMismatch,
            signature: "line 1".to_owned(),
            step: "get()".to_owned(),
            culprit: Some(Culprit {
                shape: shape.to_owned(),
                lines: set(lines),
                evidence: set(evidence),
                ..Culprit::default()
            }),
        }
    }

    #[test]
    fn bugs_differ_by_step_by_way_and_by_consequences() {
        let bug = blamed("put()", "1 2 3", "get size");
        assert!(bug.is_same_bug(&blamed("put()", "1 2", "size")));
        assert!(!bug.is_same_bug(&blamed("add()", "1 2 3", "size")));
        assert!(!bug.is_same_bug(&blamed("put()", "1 2 4", "size")));
        assert!(!bug.is_same_bug(&blamed("put()", "1 2 3", "top")));
        let unknown = BugIdentity {
            culprit: None,
            ..bug.clone()
        };
        assert!(!bug.is_same_bug(&unknown));
        assert!(unknown.is_same_bug(&unknown.clone()));
    }

    #[test]
    fn the_slots_that_differ_tell_bugs_apart() {
        let spoiling = |parts: &str, evidence: &str| {
            let mut bug = blamed("put()", "1", evidence);
            let culprit = bug.culprit.as_mut().expect("there is a culprit");
            culprit.spoiled = parts.split_whitespace().map(str::to_owned).collect();
            bug
        };
        let bug = spoiling("b.items", "get");
        assert!(bug.is_same_bug(&spoiling("b.items b.size", "size")));
        assert!(!bug.is_same_bug(&spoiling("b.size", "get")));
        assert!(bug.is_same_bug(&spoiling("", "get")));
    }

    #[test]
    fn a_difference_begins_where_a_slot_was_right_before() {
        let catalog = toys::catalog(&[("b", 2)], &["<b> := f()", "g(<b>)"]);
        let test = ["b0 = f()", "g(b0)", "g(b0)", "g(b0)"].map(|text| catalog.find(text)[0]);
        let test = Test::from_actions(test);
        let slot = (PoolId(0), 0);
        let begin = |differs: [Option<bool>; 3], is_comparable: bool| {
            let compared = |differs: &Option<bool>| {
                let comparison = differs.map(|differs| SlotComparison {
                    pool: slot.0,
                    slot: slot.1,
                    differences: vec!["x".to_owned(); usize::from(differs)],
                    is_comparable,
                });
                comparison.into_iter().map(|one| (slot, one)).collect()
            };
            let history = SlotHistory {
                slots: differs.iter().map(compared).collect(),
                states: Vec::new(),
            };
            history.begin_of_difference(&catalog, &test, slot, 3)
        };
        let (right, wrong) = (Some(false), Some(true));
        assert_eq!(begin([right, right, right], true), None);
        assert_eq!(begin([right, wrong, wrong], true), Some(1));
        // What differed for some time only is not to blame.
        assert_eq!(begin([wrong, right, wrong], true), Some(2));
        assert_eq!(begin([wrong, wrong, wrong], true), Some(0));
        // Values of different make prove nothing, unless they have been equal.
        assert_eq!(begin([wrong, wrong, wrong], false), None);
        assert_eq!(begin([right, wrong, wrong], false), Some(1));
        assert_eq!(begin([None, wrong, wrong], false), None);
    }

    #[test]
    fn groups_do_not_depend_on_the_order() {
        let narrow = blamed("put()", "1", "get");
        let wide = blamed("put()", "1 2", "get size");
        let far = blamed("put()", "1 2 3", "size");
        let other = blamed("add()", "1", "get");
        let cases = [narrow.clone(), other.clone(), far.clone(), wide.clone()];
        assert_eq!(group_bugs(&cases), [vec![0, 2, 3], vec![1]]);
        assert_eq!(
            group_bugs(&[wide, far, other, narrow]),
            [vec![0, 1, 3], vec![2]]
        );
    }

    #[test]
    fn shapes_keep_the_pattern_of_slots_only() {
        let catalog = toys::catalog(&[("b", 3)], &["<b>.merge(<b>)", "<b>.add(<[1..9]>)"]);
        let shape_of = |text: &str| shape(&catalog, catalog.find(text)[0], &[]);
        assert_eq!(shape_of("b2.merge(b2)"), "b0.merge(b0)");
        assert_eq!(shape_of("b2.merge(b0)"), "b0.merge(b1)");
        assert_eq!(shape_of("b1.add(7)"), shape_of("b2.add(3)"));
        let of_constants = |text: &str| shape(&catalog, catalog.find(text)[0], &[PoolId(0)]);
        assert_eq!(of_constants("b2.merge(b0)"), of_constants("b1.merge(b1)"));
    }
}
