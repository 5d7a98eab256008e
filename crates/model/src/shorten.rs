//! Runs that fail, made short.
//!
//! An implementation with threads or a network need not do the same twice. So a candidate that did not fail may have
//! been lucky, and is tried again before it counts as one that does not fail. That costs many runs. It is done only for
//! implementations that have shown that they need it, and only once most steps are gone.

use rustc_hash::FxHashMap;
use testwright_core::product::{NameId, Product, Trouble, ValueId};
use testwright_core::shrink::{Basis, Goal, ReduceOptions, Shrinker};
use testwright_core::{Error, Failure, Step, Test, Trace};

use crate::replay::make_ready;
use crate::{Implementation, Replayed, Script, Walk};

/// How often something is tried that need not happen each time.
const TRIES: usize = 10;

/// How often a run has to fail in a row to count as one that always fails.
const IN_A_ROW: usize = 3;

/// A run that fails, and no step of which can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// The steps that somebody has to choose.
    pub steps: Vec<(NameId, ValueId)>,
    /// What happened when it failed.
    pub replayed: Replayed,
    /// How it fails.
    pub failure: Failure,
    /// How many runs it took to find out.
    pub plays: u64,
    /// In how many of how many tries it failed in the end, if that was not each time.
    pub odds: Option<(usize, usize)>,
}

/// Leaves steps out of a run as long as it fails in the same way. None if it does not fail again at all, however often
/// that is tried. `proceed` is asked before each run; once it says no, the shortest run so far is the result.
pub fn shorten(
    product: &mut Product<'_>,
    implementation: &mut dyn Implementation,
    script: &Script,
    failure: &Failure,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Option<Short>, Error> {
    let mut walk = Walk::beginning_with(product, script.run).map_err(error)?;
    let mut actions = Vec::new();
    for (name, arguments) in &script.steps {
        actions.push(walk.action(*name, *arguments)?);
    }
    let test = Test::of(actions);
    let mut again = Again {
        implementation,
        script,
        failure,
        tries: TRIES,
        plays: 0,
        failed: FxHashMap::default(),
    };
    if !again.fails(&mut walk, &test)? {
        return Ok(None);
    }
    again.tries = 1;
    let mut test = reduced(&mut walk, &mut again, &test, proceed)?;
    let mut odds = again.odds(&mut walk, &test, IN_A_ROW, proceed)?;
    if odds.0 < odds.1 || again.implementation.is_asynchronous() {
        again.tries = TRIES;
        test = reduced(&mut walk, &mut again, &test, proceed)?;
        odds = again.odds(&mut walk, &test, TRIES, proceed)?;
    }
    let plays = again.plays;
    let replayed = again.failed.remove(&test.steps).unwrap_or_default();
    Ok(Some(Short {
        steps: choices(&walk, &test),
        failure: replayed.failure.clone().unwrap_or_else(|| failure.clone()),
        replayed,
        plays,
        odds: Some(odds).filter(|(failed, tries)| failed < tries),
    }))
}

fn reduced<'w, 'm>(
    walk: &mut Walk<'w, 'm>,
    again: &mut Again<'_>,
    test: &Test,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Test, Error> {
    let options = ReduceOptions::default();
    let mut shrinker = Shrinker::new(walk, again, &options, proceed);
    let shrunk = shrinker.reduce(test);
    Ok(shrunk.map_err(|error| Error::new(error.to_string()))?.test)
}

fn choices(walk: &Walk<'_, '_>, test: &Test) -> Vec<(NameId, ValueId)> {
    let actions = test.steps.iter().filter_map(|step| match step {
        Step::Act(action) => walk.chosen(*action),
        Step::Restart => None,
    });
    actions.collect()
}

fn error(trouble: Trouble) -> Error {
    Error::new(trouble.to_string())
}

/// To fail the same way, in one of several tries.
struct Again<'a> {
    implementation: &'a mut dyn Implementation,
    script: &'a Script,
    failure: &'a Failure,
    tries: usize,
    plays: u64,
    /// What has failed, and what happened then.
    failed: FxHashMap<Vec<Step>, Replayed>,
}

impl Again<'_> {
    /// Plays a test once, and says whether it failed in the same way.
    fn play(&mut self, walk: &mut Walk<'_, '_>, test: &Test) -> Result<bool, Error> {
        let script = Script {
            steps: choices(walk, test),
            ..self.script.clone()
        };
        self.plays += 1;
        make_ready(self.implementation).map_err(error)?;
        let replayed = script.play(walk.product_mut(), self.implementation);
        let replayed = replayed.map_err(error)?;
        let is_same = |failure: &Failure| failure.is_same_as(self.failure);
        let has_failed = replayed.failure.as_ref().is_some_and(is_same);
        if has_failed {
            self.failed.insert(test.steps.clone(), replayed);
        }
        Ok(has_failed)
    }

    /// Whether a test fails in one of several tries, or did so before.
    fn fails(&mut self, walk: &mut Walk<'_, '_>, test: &Test) -> Result<bool, Error> {
        if self.failed.contains_key(&test.steps) {
            return Ok(true);
        }
        for _ in 0..self.tries {
            if self.play(walk, test)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// In how many of so many tries a test fails.
    fn odds(
        &mut self,
        walk: &mut Walk<'_, '_>,
        test: &Test,
        tries: usize,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<(usize, usize), Error> {
        let [mut failed, mut tried] = [0, 0];
        while tried < tries && proceed() {
            failed += usize::from(self.play(walk, test)?);
            tried += 1;
        }
        Ok((failed, tried))
    }
}

impl<'w, 'm> Goal<Walk<'w, 'm>> for Again<'_> {
    fn basis(&self) -> Basis {
        Basis::Test
    }

    fn is_achieved(
        &mut self,
        walk: &mut Walk<'w, 'm>,
        test: &Test,
        _trace: &Trace,
    ) -> Result<bool, Error> {
        self.fails(walk, test)
    }
}
