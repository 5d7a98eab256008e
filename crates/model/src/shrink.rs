//! Shrinks failing runs.
//!
//! An implementation with threads or a network need not behave the same twice. So a candidate that
//! did not fail may have been lucky, and is retried before it counts as passing. That costs many
//! runs. It is done only for implementations that have shown to need it, and only after most steps
//! are gone.

use rustc_hash::FxHashMap;
use testwright_core::product::{ModelError, NameId, Product, ValueId};
use testwright_core::shrink::{Basis, ReduceOptions, ShrinkGoal, Shrinker};
use testwright_core::{Error, Failure, Step, Test, Trace};

use crate::replay::prepare_run;
use crate::{Implementation, ProductSystem, RecordedRun, ReplayOutcome};

/// Number of tries for a run that does not fail each time.
const MAX_TRIES: usize = 10;

/// Number of failures in a row after which a run counts as failing always.
const SURE_FAILURES: usize = 3;

/// A minimal failing run: every step is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimalRun {
    /// Chosen steps, each a name with arguments.
    pub steps: Vec<(NameId, ValueId)>,
    /// Outcome of a replay that failed.
    pub replayed: ReplayOutcome,
    /// Failure of that replay.
    pub failure: Failure,
    /// Number of replays that shrinking took.
    pub replays: u64,
    /// Number of failures and of tries at the end, if the run does not always fail.
    pub failure_rate: Option<(usize, usize)>,
}

/// Removes steps from a run while it fails in the same way.
///
/// Returns `None` if no try reproduces the failure. `proceed` is called before each run; once it
/// returns false, the shortest failing run so far is the result.
pub fn shrink(
    product: &mut Product<'_>,
    implementation: &mut dyn Implementation,
    recorded: &RecordedRun,
    failure: &Failure,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Option<MinimalRun>, Error> {
    let mut system = ProductSystem::starting_with_run(product, recorded.run).map_err(to_error)?;
    let mut actions = Vec::new();
    for (name, arguments) in &recorded.steps {
        actions.push(system.action_id(*name, *arguments)?);
    }
    let test = Test::from_actions(actions);
    let mut goal = ReplayGoal {
        implementation,
        recorded,
        failure,
        tries: MAX_TRIES,
        replays: 0,
        failed: FxHashMap::default(),
    };
    if !goal.fails(&mut system, &test)? {
        return Ok(None);
    }
    goal.tries = 1;
    let mut test = reduce_test(&mut system, &mut goal, &test, proceed)?;
    let mut odds = goal.count_failures(&mut system, &test, SURE_FAILURES, proceed)?;
    if odds.0 < odds.1 || goal.implementation.is_asynchronous() {
        goal.tries = MAX_TRIES;
        test = reduce_test(&mut system, &mut goal, &test, proceed)?;
        odds = goal.count_failures(&mut system, &test, MAX_TRIES, proceed)?;
    }
    let plays = goal.replays;
    let replayed = goal.failed.remove(&test.steps).unwrap_or_default();
    Ok(Some(MinimalRun {
        steps: chosen_steps(&system, &test),
        failure: replayed.failure.clone().unwrap_or_else(|| failure.clone()),
        replayed,
        replays: plays,
        failure_rate: Some(odds).filter(|(failed, tries)| failed < tries),
    }))
}

/// Reduces a test with the common reduction loop.
fn reduce_test<'w, 'm>(
    system: &mut ProductSystem<'w, 'm>,
    goal: &mut ReplayGoal<'_>,
    test: &Test,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Test, Error> {
    let options = ReduceOptions::default();
    let mut shrinker = Shrinker::new(system, goal, &options, proceed);
    let shrunk = shrinker.reduce(test);
    Ok(shrunk.map_err(|error| Error::new(error.to_string()))?.test)
}

/// Converts a test to chosen steps.
fn chosen_steps(system: &ProductSystem<'_, '_>, test: &Test) -> Vec<(NameId, ValueId)> {
    let actions = test.steps.iter().filter_map(|step| match step {
        Step::Act(action) => system.name_and_arguments(*action),
        Step::Restart => None,
    });
    actions.collect()
}

/// Converts an error of the models.
fn to_error(error: ModelError) -> Error {
    Error::new(error.to_string())
}

/// Goal of the reduction: the replay fails in the same way, in one of several tries.
struct ReplayGoal<'a> {
    /// The implementation under test.
    implementation: &'a mut dyn Implementation,
    /// Run that is being shrunk, for everything but its steps.
    recorded: &'a RecordedRun,
    /// Failure to reproduce.
    failure: &'a Failure,
    /// Number of tries for each candidate.
    tries: usize,
    /// Number of replays so far.
    replays: u64,
    /// Candidates that failed, each with its outcome.
    failed: FxHashMap<Vec<Step>, ReplayOutcome>,
}

impl ReplayGoal<'_> {
    /// Replays a test once. Returns true if it fails in the same way.
    fn replay(&mut self, system: &mut ProductSystem<'_, '_>, test: &Test) -> Result<bool, Error> {
        let recorded = RecordedRun {
            steps: chosen_steps(system, test),
            ..self.recorded.clone()
        };
        self.replays += 1;
        prepare_run(self.implementation).map_err(to_error)?;
        let replayed = recorded.replay(system.product_mut(), self.implementation);
        let replayed = replayed.map_err(to_error)?;
        let is_same = |failure: &Failure| failure.is_same_as(self.failure);
        let has_failed = replayed.failure.as_ref().is_some_and(is_same);
        if has_failed {
            self.failed.insert(test.steps.clone(), replayed);
        }
        Ok(has_failed)
    }

    /// Returns true if a test fails in one of several tries, or did so before.
    fn fails(&mut self, system: &mut ProductSystem<'_, '_>, test: &Test) -> Result<bool, Error> {
        if self.failed.contains_key(&test.steps) {
            return Ok(true);
        }
        for _ in 0..self.tries {
            if self.replay(system, test)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts the failures of a test in so many tries. Returns the numbers of failures and of
    /// tries.
    fn count_failures(
        &mut self,
        system: &mut ProductSystem<'_, '_>,
        test: &Test,
        tries: usize,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<(usize, usize), Error> {
        let [mut failed, mut tried] = [0, 0];
        while tried < tries && proceed() {
            failed += usize::from(self.replay(system, test)?);
            tried += 1;
        }
        Ok((failed, tried))
    }
}

impl<'w, 'm> ShrinkGoal<ProductSystem<'w, 'm>> for ReplayGoal<'_> {
    fn basis(&self) -> Basis {
        Basis::Test
    }

    fn is_achieved(
        &mut self,
        system: &mut ProductSystem<'w, 'm>,
        test: &Test,
        _trace: &Trace,
    ) -> Result<bool, Error> {
        self.fails(system, test)
    }
}
