//! The laws of [`System`], as a test that every implementation should pass.
//!
//! The promises of generation, replay and reduction hold for systems that keep the laws. So every
//! implementation should have a unit test like this one:
//!
//! ```
//! use testwright_core::{laws::check_laws, toys::Jugs};
//!
//! check_laws(&mut Jugs::default(), 1, 200).unwrap();
//! ```

use rustc_hash::FxHashMap;

use crate::{
    ActionId, Equivalence, Fingerprint, Outcome, Random, Snapshot, System, TemplateId, TemplateSet,
};

/// The largest catalog for which the enabled actions are listed and compared one by one.
const MAX_LISTED_ACTIONS: u64 = 5_000;

/// The number of calls of [`System::pick`] in the fairness check.
const FAIRNESS_DRAWS: u64 = 2_000;

/// The number of groups into which the enabled actions are divided for that check.
const FAIRNESS_GROUPS: u64 = 20;

/// The maximum length of a random run.
const RUN_LENGTH: usize = 40;

/// Checks the laws of [`System`] with `steps` random steps. Returns the first law that is broken.
///
/// - After a reset, the same actions enable the same actions and have the same outcomes.
/// - [`System::pick`] returns an enabled action, or nothing if nothing is enabled, and the same for
///   the same random numbers. It does not change the state, and all enabled actions are about
///   equally likely.
/// - [`System::pick_among`] does so, too, and returns only actions of the given templates.
/// - [`System::enabled`] is in order and agrees with [`System::is_enabled`].
/// - [`System::check`] returns the same when it is called twice, and does not change what is
///   enabled.
///
/// Failures of the system do not break its laws, nor do expected exceptions. Every step is taken
/// twice. Checks that list or compare actions one by one are skipped for systems with more than
/// 5,000 actions.
pub fn check_laws<S: System + ?Sized>(
    system: &mut S,
    seed: u64,
    steps: usize,
) -> Result<(), String> {
    let mut random = Random::new(seed);
    let mut left = steps;
    while left > 0 {
        let run = random_run(system, &mut random, left.min(RUN_LENGTH))?;
        check_repeated_run(system, &run)?;
        // A run that deadlocks at once would never use up the steps.
        left -= run.steps_taken.len().max(1).min(left);
    }
    Ok(())
}

/// One step of a run: what was enabled before it, the action, and its outcomes.
struct ObservedStep {
    before: EnabledList,
    action: ActionId,
    outcome: Outcome,
    check: Option<Outcome>,
}

/// A random run of a system.
struct ObservedRun {
    steps_taken: Vec<ObservedStep>,
    enabled_at_end: EnabledList,
}

/// The enabled actions; `None` if there are too many to list.
type EnabledList = Option<Vec<ActionId>>;

/// Lists the enabled actions, and checks the list against [`System::is_enabled`].
fn check_and_list_enabled<S: System + ?Sized>(system: &mut S) -> Result<EnabledList, String> {
    if system.actions().len() > MAX_LISTED_ACTIONS {
        return Ok(None);
    }
    let enabled = system.enabled();
    if !enabled.is_sorted_by(|one, next| one < next) {
        return Err("enabled() is not in order, or names an action twice".to_owned());
    }
    for action in system.actions().ids() {
        let listed = enabled.binary_search(&action).is_ok();
        if listed != system.is_enabled(action) {
            let text = system.actions().text(action);
            return Err(format!(
                "enabled() and is_enabled() disagree about `{text}`"
            ));
        }
    }
    Ok(Some(enabled))
}

/// Checks the laws of [`Snapshot`] with a run of `steps` random steps: after each of two restores,
/// the same things happen as before.
pub fn check_snapshot_laws<S: Snapshot + ?Sized>(
    system: &mut S,
    seed: u64,
    steps: usize,
) -> Result<(), String> {
    let mut random = Random::new(seed);
    reset(system)?;
    for _ in 0..steps {
        let state = system.snapshot().map_err(|error| error.message)?;
        let enabled = system.enabled();
        let Some(action) = system.pick(&mut random) else {
            return Ok(());
        };
        let outcome = system.step(action);
        for _ in 0..2 {
            system.restore(&state).map_err(|error| error.message)?;
            if system.enabled() != enabled {
                return Err("after going back, other actions are enabled".to_owned());
            }
            if !same_outcome(&system.step(action), &outcome) {
                let text = system.actions().text(action);
                return Err(format!("after going back, `{text}` has another outcome"));
            }
        }
        if matches!(outcome, Outcome::Failed(_)) {
            return Ok(());
        }
    }
    Ok(())
}

/// Checks the laws of [`Fingerprint`] with `steps` random steps:
///
/// - Two calls return the same fingerprint, and calls do not change what is enabled.
/// - The same actions after a reset lead to the same fingerprint.
/// - States with the same fingerprint enable the same actions if it means equality, and equally
///   many if it means equality up to renaming. States that are equal are also equal up to renaming.
pub fn check_fingerprint_laws<S: Fingerprint + ?Sized>(
    system: &mut S,
    seed: u64,
    steps: usize,
) -> Result<(), String> {
    let mut random = Random::new(seed);
    let mut seen = SeenStates::default();
    let mut left = steps;
    while left > 0 {
        reset(system)?;
        let mut visited = vec![(None, seen.check_current_state(system)?)];
        while visited.len() <= left.min(RUN_LENGTH) {
            let Some(action) = system.pick(&mut random) else {
                break;
            };
            if !matches!(system.step(action), Outcome::Passed | Outcome::Expected) {
                break;
            }
            visited.push((Some(action), seen.check_current_state(system)?));
        }
        reset(system)?;
        for (action, fingerprint) in &visited {
            if let Some(action) = *action {
                system.step(action);
            }
            if seen.check_current_state(system)? != *fingerprint {
                return Err(
                    "after a reset, the same actions lead to another fingerprint".to_owned(),
                );
            }
        }
        left -= visited.len().min(left);
    }
    Ok(())
}

/// The states seen so far, by fingerprint.
#[derive(Default)]
struct SeenStates {
    /// By exact fingerprint: the enabled actions, and the fingerprint up to renaming.
    by_exact_fingerprint: FxHashMap<u128, (Vec<ActionId>, u128)>,
    /// By fingerprint up to renaming: the number of enabled actions.
    up_to_renaming: FxHashMap<u128, usize>,
}

impl SeenStates {
    /// Returns the fingerprint of the current state, after comparing the state with those seen
    /// before.
    fn check_current_state<S: Fingerprint + ?Sized>(
        &mut self,
        system: &mut S,
    ) -> Result<u128, String> {
        let enabled = system.enabled();
        let query = |system: &mut S, equivalence| {
            let problem = |error| format!("fingerprint() gave an error: {error}");
            let fingerprint = system.fingerprint(equivalence).map_err(problem)?;
            if system.fingerprint(equivalence).map_err(problem)? != fingerprint {
                return Err("fingerprint() gave two answers for the same state".to_owned());
            }
            Ok(fingerprint)
        };
        let equal = query(system, Equivalence::Equal)?;
        let up_to_renaming = query(system, Equivalence::UpToRenaming)?;
        if system.enabled() != enabled {
            return Err("fingerprint() changed what is enabled".to_owned());
        }
        let count = enabled.len();
        let known = self
            .by_exact_fingerprint
            .entry(equal)
            .or_insert((enabled.clone(), up_to_renaming));
        if known.0 != enabled {
            return Err("states with the same fingerprint enable different actions".to_owned());
        }
        if known.1 != up_to_renaming {
            return Err("states that are equal are not equal up to renaming".to_owned());
        }
        if *self.up_to_renaming.entry(up_to_renaming).or_insert(count) != count {
            let problem =
                "states that are equal up to renaming enable different numbers of actions";
            return Err(problem.to_owned());
        }
        Ok(equal)
    }
}

/// Resets the system.
fn reset<S: System + ?Sized>(system: &mut S) -> Result<(), String> {
    let result = system.reset();
    result.map_err(|error| format!("reset() gave an error: {error}"))
}

/// Takes random steps from a reset, and checks picking and checking on the way.
fn random_run<S: System + ?Sized>(
    system: &mut S,
    random: &mut Random,
    steps: usize,
) -> Result<ObservedRun, String> {
    reset(system)?;
    let mut steps_taken = Vec::new();
    // Fairness is checked once in each run, at a random step.
    let fairness_step = random.below(steps as u64) as usize;
    for number in 0..steps {
        let before = check_and_list_enabled(system)?;
        let mut same_random = random.clone();
        let picked = system.pick(random);
        if system.pick(&mut same_random) != picked {
            return Err("pick() gave two answers for the same random numbers".to_owned());
        }
        let Some(action) = picked else {
            if before.as_ref().is_some_and(|enabled| !enabled.is_empty()) {
                return Err("pick() gave nothing though something is enabled".to_owned());
            }
            break;
        };
        if !system.is_enabled(action) {
            let text = system.actions().text(action);
            return Err(format!("pick() gave `{text}`, which is not enabled"));
        }
        if let Some(enabled) = before.as_ref().filter(|_| number == fairness_step) {
            check_fairness(enabled, "pick()", &mut || system.pick(random))?;
            check_pick_among(system, random, enabled)?;
        }
        if check_and_list_enabled(system)? != before {
            return Err("pick() changed what is enabled".to_owned());
        }
        let outcome = system.step(action);
        let check = check_twice(system, &outcome)?;
        let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed(_));
        let has_failed = failed(&outcome) || check.as_ref().is_some_and(failed);
        steps_taken.push(ObservedStep {
            before,
            action,
            outcome,
            check,
        });
        if has_failed {
            return Ok(ObservedRun {
                steps_taken,
                enabled_at_end: None,
            });
        }
    }
    let enabled_at_end = check_and_list_enabled(system)?;
    Ok(ObservedRun {
        steps_taken,
        enabled_at_end,
    })
}

/// Takes the steps of a run again and compares.
fn check_repeated_run<S: System + ?Sized>(system: &mut S, run: &ObservedRun) -> Result<(), String> {
    reset(system)?;
    for (number, old) in run.steps_taken.iter().enumerate() {
        let text = system.actions().text(old.action);
        let index = format!("step {} (`{text}`) after a reset", number + 1);
        if check_and_list_enabled(system)? != old.before {
            return Err(format!(
                "before {index}, other actions are enabled the second time"
            ));
        }
        if !system.is_enabled(old.action) {
            return Err(format!("{index} is not enabled the second time"));
        }
        let outcome = system.step(old.action);
        if !same_outcome(&outcome, &old.outcome) {
            return Err(format!(
                "{index} had the outcome {:?}, the second time {outcome:?}",
                old.outcome
            ));
        }
        let check = check_twice(system, &outcome)?;
        let same = match (&check, &old.check) {
            (Some(check), Some(old)) => same_outcome(check, old),
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Err(format!(
                "check() after {index} gave {:?}, the second time {check:?}",
                old.check
            ));
        }
    }
    if run.enabled_at_end.is_some() && check_and_list_enabled(system)? != run.enabled_at_end {
        return Err("at the end of a run, other actions are enabled the second time".to_owned());
    }
    Ok(())
}

/// Checks the invariants twice after a step that did not fail, and compares.
fn check_twice<S: System + ?Sized>(
    system: &mut S,
    outcome: &Outcome,
) -> Result<Option<Outcome>, String> {
    match outcome {
        Outcome::Failed(_) => return Ok(None),
        Outcome::Interrupted => return Err("interrupted".to_owned()),
        Outcome::Passed | Outcome::Expected => {}
    }
    let before = check_and_list_enabled(system)?;
    let first = system.check();
    if first == Outcome::Interrupted {
        return Err("interrupted".to_owned());
    }
    if matches!(first, Outcome::Expected) {
        return Err("check() gave an expected exception, which only step() may".to_owned());
    }
    let second = system.check();
    if !same_outcome(&first, &second) {
        return Err(format!("check() gave {first:?}, then {second:?}"));
    }
    if check_and_list_enabled(system)? != before {
        return Err("check() changed what is enabled".to_owned());
    }
    Ok(Some(first))
}

/// Returns true if reduction would consider two outcomes the same. Messages are ignored, since they
/// may contain addresses.
fn same_outcome(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (Outcome::Failed(one), Outcome::Failed(other)) => one.is_same_as(other),
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// Checks [`System::pick_among`] with about half of the templates, with none and with one.
fn check_pick_among<S: System + ?Sized>(
    system: &mut S,
    random: &mut Random,
    enabled: &[ActionId],
) -> Result<(), String> {
    let count = system.actions().templates().len();
    let half = (0..count).filter(|_| random.below(2) == 0);
    let half: TemplateSet = half.map(TemplateId).collect();
    let one = TemplateId(random.below(count as u64) as usize);
    let one: TemplateSet = [one].into_iter().collect();
    for set in &[half, TemplateSet::default(), one] {
        let is_in = |action: &ActionId| set.contains(system.actions().template_of(*action));
        let among: Vec<ActionId> = enabled.iter().copied().filter(is_in).collect();
        let mut same_random = random.clone();
        let picked = system.pick_among(set, random);
        if system.pick_among(set, &mut same_random) != picked {
            return Err("pick_among() gave two answers for the same random numbers".to_owned());
        }
        match picked {
            Some(_) => check_fairness(&among, "pick_among()", &mut || {
                system.pick_among(set, random)
            })?,
            None if among.is_empty() => {}
            None => return Err("pick_among() gave nothing though something is enabled".to_owned()),
        }
    }
    Ok(())
}

/// Draws many times and compares with a uniform distribution (a chi-square test with a bound that a
/// fair draw misses once in many millions).
fn check_fairness(
    enabled: &[ActionId],
    name: &str,
    pick: &mut dyn FnMut() -> Option<ActionId>,
) -> Result<(), String> {
    let count = enabled.len() as u64;
    let groups = count.min(FAIRNESS_GROUPS);
    let mut drawn = vec![0u64; groups as usize];
    let mut members = vec![0u64; groups as usize];
    for index in 0..count {
        members[(index * groups / count) as usize] += 1;
    }
    for _ in 0..FAIRNESS_DRAWS {
        let picked = pick();
        let index = picked.and_then(|action| enabled.binary_search(&action).ok());
        let Some(index) = index else {
            return Err(format!(
                "{name} gave an action that is not enabled, or not asked for"
            ));
        };
        drawn[(index as u64 * groups / count) as usize] += 1;
    }
    let distance: f64 = drawn
        .iter()
        .zip(&members)
        .map(|(drawn, members)| {
            let expected = (FAIRNESS_DRAWS * members) as f64 / count as f64;
            (*drawn as f64 - expected).powi(2) / expected
        })
        .sum();
    let degrees_of_freedom = (groups - 1) as f64;
    let bound = degrees_of_freedom + 8.0 * (2.0 * degrees_of_freedom).sqrt() + 20.0;
    if distance > bound {
        return Err(format!(
            "{name} is not fair: in {FAIRNESS_DRAWS} draws from {count} enabled actions, groups of equal size came up {drawn:?} times"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check_fingerprint_laws, check_laws};
    use crate::toys::{Buffer, Counters, Crossing, Flaky, Jugs, Safe, Stack};
    use crate::{
        ActionId, Catalog, Equivalence, Error, Fingerprint, Outcome, Random, System, TemplateSet,
    };

    #[test]
    fn the_toys_keep_the_laws() {
        check_laws(&mut Safe::new(9, &[1, 2, 3]), 1, 500).unwrap();
        check_laws(&mut Jugs::default(), 2, 500).unwrap();
        check_laws(&mut Stack::default(), 3, 500).unwrap();
        check_laws(&mut Counters::new(9), 4, 500).unwrap();
        check_laws(&mut Crossing::default(), 5, 500).unwrap();
        check_laws(&mut Buffer::new(9), 6, 500).unwrap();
    }

    #[test]
    fn toys_keep_the_snapshot_laws() {
        super::check_snapshot_laws(&mut Stack::default(), 3, 200).unwrap();
        super::check_snapshot_laws(&mut Jugs::default(), 4, 200).unwrap();
        super::check_snapshot_laws(&mut Counters::new(50), 5, 200).unwrap();
    }

    #[test]
    fn the_toys_have_lawful_fingerprints() {
        check_fingerprint_laws(&mut Safe::new(9, &[1, 2, 3]), 1, 500).unwrap();
        check_fingerprint_laws(&mut Jugs::default(), 2, 500).unwrap();
        check_fingerprint_laws(&mut Stack::default(), 3, 500).unwrap();
        check_fingerprint_laws(&mut Counters::new(9), 4, 500).unwrap();
        check_fingerprint_laws(&mut Crossing::default(), 5, 500).unwrap();
    }

    /// Jugs with custom, possibly bad, fingerprints.
    struct CustomFingerprints<F>(Jugs, F, u128);

    impl<F> System for CustomFingerprints<F> {
        fn actions(&self) -> &Catalog {
            self.0.actions()
        }
        fn reset(&mut self) -> Result<(), Error> {
            self.0.reset()
        }
        fn is_enabled(&mut self, action: ActionId) -> bool {
            self.0.is_enabled(action)
        }
        fn step(&mut self, action: ActionId) -> Outcome {
            self.0.step(action)
        }
        fn check(&mut self) -> Outcome {
            self.0.check()
        }
    }

    impl<F: FnMut(&mut Jugs, Equivalence, u128) -> u128> Fingerprint for CustomFingerprints<F> {
        fn fingerprint(&mut self, equivalence: Equivalence) -> Result<u128, Error> {
            self.2 += 1;
            Ok((self.1)(&mut self.0, equivalence, self.2))
        }
    }

    #[test]
    fn bad_fingerprints_are_found_out() {
        fn problem(fingerprint: impl FnMut(&mut Jugs, Equivalence, u128) -> u128) -> String {
            check_fingerprint_laws(
                &mut CustomFingerprints(Jugs::default(), fingerprint, 0),
                1,
                200,
            )
            .unwrap_err()
        }
        let same = problem(|_, _, _| 1);
        assert!(same.contains("enable different actions"), "{same}");
        let counting = problem(|_, _, calls| calls);
        assert!(counting.contains("two answers"), "{counting}");
        let changing = problem(|jugs, equivalence, _| {
            let fingerprint = jugs.fingerprint(equivalence).unwrap();
            jugs.reset().unwrap();
            fingerprint
        });
        assert!(changing.contains("fingerprint()"), "{changing}");
        let growing = problem(|jugs, equivalence, calls| {
            jugs.fingerprint(equivalence).unwrap() ^ (calls / 100)
        });
        assert!(!growing.is_empty());
        let finer = problem(|jugs, equivalence, calls| match equivalence {
            Equivalence::Equal => jugs.fingerprint(equivalence).unwrap(),
            Equivalence::UpToRenaming => calls / 4,
        });
        assert!(
            finer.contains("two answers") || finer.contains("up to renaming"),
            "{finer}"
        );
    }

    #[test]
    fn many_actions_are_supported() {
        check_laws(
            &mut CustomPick::new(|_, _| Some(ActionId(0)), 100_000),
            1,
            50,
        )
        .unwrap();
    }

    #[test]
    fn a_flaky_system_is_found_out() {
        let problem = check_laws(&mut Flaky::default(), 1, 100).unwrap_err();
        assert!(problem.contains("the second time"), "{problem}");
    }

    #[test]
    fn an_unfair_pick_is_found_out() {
        let greedy =
            |_: &mut u64, random: &mut Random| Some(ActionId(random.below(10).saturating_sub(1)));
        let problem = check_laws(&mut CustomPick::new(greedy, 9), 1, 50).unwrap_err();
        assert!(problem.starts_with("pick() is not fair"), "{problem}");
        let constant = |_: &mut u64, _: &mut Random| Some(ActionId(3));
        let problem = check_laws(&mut CustomPick::new(constant, 9), 1, 50).unwrap_err();
        assert!(problem.starts_with("pick() is not fair"), "{problem}");
    }

    #[test]
    fn a_pick_among_that_takes_others_is_found_out() {
        struct Careless(Crossing);
        impl System for Careless {
            fn actions(&self) -> &Catalog {
                self.0.actions()
            }
            fn reset(&mut self) -> Result<(), Error> {
                self.0.reset()
            }
            fn is_enabled(&mut self, action: ActionId) -> bool {
                self.0.is_enabled(action)
            }
            fn pick_among(&mut self, _: &TemplateSet, random: &mut Random) -> Option<ActionId> {
                self.0.pick(random)
            }
            fn step(&mut self, action: ActionId) -> Outcome {
                self.0.step(action)
            }
            fn check(&mut self) -> Outcome {
                self.0.check()
            }
        }
        let problem = check_laws(&mut Careless(Crossing::default()), 1, 50).unwrap_err();
        assert!(
            problem.starts_with("pick_among() gave an action"),
            "{problem}"
        );
    }

    #[test]
    fn a_pick_that_gives_up_or_depends_on_more_than_chance_is_found_out() {
        let problem = check_laws(&mut CustomPick::new(|_, _| None, 9), 1, 50).unwrap_err();
        assert!(problem.starts_with("pick() gave nothing"), "{problem}");
        let turns = |turn: &mut u64, _: &mut Random| {
            *turn += 1;
            Some(ActionId(*turn % 9))
        };
        let problem = check_laws(&mut CustomPick::new(turns, 9), 1, 50).unwrap_err();
        assert!(problem.starts_with("pick() gave two answers"), "{problem}");
    }

    /// A system that does nothing, with a custom, possibly bad, `pick`.
    struct CustomPick<F> {
        actions: Catalog,
        pick: F,
        memory: u64,
    }

    impl<F: FnMut(&mut u64, &mut Random) -> Option<ActionId>> CustomPick<F> {
        fn new(pick: F, count: u64) -> CustomPick<F> {
            let line = format!("do(<[1..{count}]>)");
            CustomPick {
                actions: crate::toys::catalog(&[], &[&line]),
                pick,
                memory: 0,
            }
        }
    }

    impl<F: FnMut(&mut u64, &mut Random) -> Option<ActionId>> System for CustomPick<F> {
        fn actions(&self) -> &Catalog {
            &self.actions
        }
        fn reset(&mut self) -> Result<(), Error> {
            Ok(())
        }
        fn is_enabled(&mut self, _action: ActionId) -> bool {
            true
        }
        fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
            (self.pick)(&mut self.memory, random)
        }
        fn step(&mut self, _action: ActionId) -> Outcome {
            Outcome::Passed
        }
        fn check(&mut self) -> Outcome {
            Outcome::Passed
        }
    }
}
