//! The step of a failing test that is to blame, and with it the identity of the bug.
//!
//! A bug in one function is seen in many ways: every function that reads what it spoiled gives a
//! wrong result, each in a line of its own. So a failing test is run again, and after each step all
//! that can be observed is observed: every action whose result is checked is taken, in a replay
//! that ends with it. The step after which that shows the first difference is the *culprit*. Two
//! failing tests show the same bug if they have the same culprit, if it executed the same code, and
//! if at least one observation differs in both.
//!
//! An observer that is itself wrong must not make its victim look guilty. So a difference counts
//! only if two different observers show it, and either the values of the system stopped to agree
//! with those of the reference in that step, or, where they cannot be compared, at least half of
//! all observers show it. Otherwise the failing step itself is the culprit, and the failure's
//! [signature](Failure::signature) is its identity.

use std::collections::BTreeSet;

use crate::replay::{ReplayOptions, ReplayWatcher, replay};
use crate::{ActionId, Axis, Catalog, Error, Failure, FailureKind, Outcome, Step, System, Test};

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
            step: last_action(test).map_or_else(String::new, |action| shape(catalog, action)),
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
    fn is_same_as(&self, other: &Culprit) -> bool {
        self.shape == other.shape
            && !self.evidence.is_disjoint(&other.evidence)
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
    let mut search = CulpritSearch {
        system,
        test,
        options: *options,
        proceed: Proceed(proceed),
        changing: BTreeSet::new(),
        harmless: BTreeSet::new(),
        steps: 0,
    };
    identity.culprit = search.find(failure, &identity)?;
    Ok(identity)
}

/// The search for the culprit of one test.
struct CulpritSearch<'a, S: ?Sized> {
    system: &'a mut S,
    test: &'a Test,
    options: ReplayOptions,
    proceed: Proceed<'a>,
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
    /// The agreement of the values with those of the reference.
    agrees: Option<bool>,
    /// The invariants that do not hold.
    violations: Vec<String>,
}

impl<S: System + ?Sized> CulpritSearch<'_, S> {
    /// Finds the culprit, if there is more to know than the place of the failure.
    fn find(
        &mut self,
        failure: &Failure,
        identity: &BugIdentity,
    ) -> Result<Option<Culprit>, Error> {
        let last = self.test.len().saturating_sub(1);
        if matches!(failure.kind, FailureKind::Property | FailureKind::PoolType) {
            let Some(seen) = self.observe(last + 1)? else {
                return Ok(None);
            };
            let mut evidence = seen.wrong;
            evidence.extend(seen.violations);
            evidence.insert(identity.signature.clone());
            return self.culprit(last, evidence).map(Some);
        }
        let mut agreed = None;
        for position in 0..last {
            let Some(seen) = self.observe(position + 1)? else {
                return Ok(None);
            };
            if seen.is_proof(agreed, &identity.step) {
                let mut evidence = seen.wrong;
                evidence.insert(identity.step.clone());
                return self.culprit(position, evidence).map(Some);
            }
            agreed = seen.agrees;
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
            culprit.shape = shape(catalog, action);
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
        self.steps += length;
        let trace = replay(self.system, &prefix, &self.options, &mut self.proceed)?;
        let is_whole = length == self.test.len();
        Ok(!trace.interrupted && (is_whole || trace.failure().is_none()))
    }

    /// Observes all that can be observed after the first steps of the test. `None` if that cannot be
    /// done.
    fn observe(&mut self, length: usize) -> Result<Option<Observations>, Error> {
        if !self.run_prefix(length)? {
            return Ok(None);
        }
        let Some(state) = self.system.examine() else {
            return Ok(None);
        };
        let mut seen = Observations {
            all: BTreeSet::new(),
            wrong: BTreeSet::new(),
            agrees: state.agrees_with_reference,
            violations: state.violations,
        };
        for observer in state.observers.into_iter().take(MAX_OBSERVATIONS) {
            let shape = shape(self.system.actions(), observer);
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
            self.run_prefix(length)?;
        }
        Ok(observation)
    }

    /// Takes one observer after the first steps of the test. It is taken twice, because the first
    /// time may mark the slots that it reads as used.
    fn observation(&mut self, length: usize, observer: ActionId) -> Result<Observation, Error> {
        if !self.run_prefix(length)? || !self.system.is_enabled(observer) {
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
    /// Returns true if the state is spoiled, and not just an observer wrong. `agreed` says whether
    /// the values agreed with the reference before, and `failing` is the shape of the test's last
    /// step.
    fn is_proof(&self, agreed: Option<bool>, failing: &str) -> bool {
        let others = self.wrong.iter().any(|shape| shape != failing);
        let is_spoiled = match self.agrees {
            Some(true) => false,
            Some(false) if agreed == Some(true) => true,
            _ => 2 * self.wrong.len() >= self.all.len(),
        };
        others && is_spoiled
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
/// first mention: `b0.merge(b0)` and `b1.merge(b1)` have one shape, and `b0.merge(b1)` another one.
pub fn shape(catalog: &Catalog, action: ActionId) -> String {
    let (template, mut values) = catalog.values(action);
    let mut known = Vec::new();
    for (axis, value) in catalog.templates()[template.0].axes.iter().zip(&mut values) {
        *value = match axis {
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
        let shape_of = |text: &str| shape(&catalog, catalog.find(text)[0]);
        assert_eq!(shape_of("b2.merge(b2)"), "b0.merge(b0)");
        assert_eq!(shape_of("b2.merge(b0)"), "b0.merge(b1)");
        assert_eq!(shape_of("b1.add(7)"), shape_of("b2.add(3)"));
    }
}
