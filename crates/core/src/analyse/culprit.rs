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

mod observe;
mod search;
mod slots;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::replay::ReplayOptions;
use crate::shrink::{Basis, ReduceOptions, ShrinkGoal, Shrinker, Shrunk};
use crate::{
    ActionId, Axis, Catalog, Error, Failure, FailureKind, PoolId, Step, System, Test, Trace,
};
use search::CulpritSearch;

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
