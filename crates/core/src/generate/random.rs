//! One random test: a walk that takes any enabled action, all of them equally likely.
//!
//! This is the hot loop of random testing. It allocates nothing but the growing list of steps, which the next
//! test uses again.

use super::{Progress, Search};
use crate::{Error, Failure, Outcome, Random, Step, System};

/// How a walk ended.
pub(super) enum Walk {
    /// At its full length.
    Finished,
    /// Where nothing was enabled.
    Deadlocked,
    /// At a failure of its last step.
    Failed(Box<Failure>),
    /// Because somebody said so.
    Stopped,
}

/// Walks test `number` of a search and leaves its steps in `steps`.
pub(super) fn walk<S: System + ?Sized>(
    system: &mut S,
    search: &Search,
    number: u64,
    steps: &mut Vec<Step>,
    progress: &mut Progress,
    proceed: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Walk, Error> {
    let mut random = Random::for_part(search.seed, number);
    steps.clear();
    system.reset()?;
    for _ in 0..search.length {
        if !proceed(progress) {
            return Ok(Walk::Stopped);
        }
        let Some(action) = system.pick(&mut random) else {
            return Ok(Walk::Deadlocked);
        };
        steps.push(Step::Act(action));
        progress.steps += 1;
        let mut outcome = system.step(action);
        if search.check && matches!(outcome, Outcome::Passed | Outcome::Expected) {
            outcome = system.check();
        }
        match outcome {
            Outcome::Passed | Outcome::Expected => {}
            Outcome::Failed(failure) => return Ok(Walk::Failed(failure)),
            Outcome::Interrupted => return Ok(Walk::Stopped),
        }
    }
    Ok(Walk::Finished)
}
