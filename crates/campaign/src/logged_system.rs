//! A wrapper that logs each step of a system before it is taken.

use testwright_core::{
    ActionId, Catalog, Coverage, Covered, Equivalence, Error, Examination, Fingerprint, Outcome,
    Random, Snapshot, System, TargetId, TemplateId, TemplateSet,
};

use crate::{Activity, StepLog};

/// A system that records resets, steps and other activity in a [`StepLog`] before they happen.
#[derive(Debug)]
pub struct LoggedSystem<'a, S: ?Sized> {
    /// The wrapped system.
    system: &'a mut S,
    /// The log of the worker that runs it.
    log: &'a StepLog,
}

impl<'a, S: ?Sized> LoggedSystem<'a, S> {
    /// Wraps a system and its log.
    pub fn new(system: &'a mut S, log: &'a StepLog) -> LoggedSystem<'a, S> {
        LoggedSystem { system, log }
    }

    /// Returns the wrapped system.
    pub fn system(&self) -> &S {
        self.system
    }

    /// Returns the log.
    pub(crate) fn log(&self) -> &StepLog {
        self.log
    }

    /// Marks the beginning of Testwright's own work, which has no time limit.
    pub fn mark_own_work(&self) {
        self.log.set_activity(Activity::OwnWork);
    }

    /// Returns the wrapped system for calls that are not logged.
    pub fn system_mut(&mut self) -> &mut S {
        self.system
    }
}

impl<S: System + ?Sized> System for LoggedSystem<'_, S> {
    fn actions(&self) -> &Catalog {
        self.system.actions()
    }

    fn action_by_name(&mut self, class: &str, rest: &str) -> Option<ActionId> {
        self.system.action_by_name(class, rest)
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.log.record_reset();
        self.system.reset()
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.log.record_reset();
        self.system.begin()
    }

    fn enabling_group(&self, template: TemplateId) -> Option<u64> {
        self.system.enabling_group(template)
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.log.set_activity(Activity::Choosing);
        self.system.is_enabled(action)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        self.log.set_activity(Activity::Choosing);
        self.system.pick(random)
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        self.log.set_activity(Activity::Choosing);
        self.system.pick_among(templates, random)
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        self.log.record_step(action);
        self.system.step(action)
    }

    fn expected_exception(&mut self) -> String {
        self.system.expected_exception()
    }

    fn check(&mut self) -> Outcome {
        self.log.set_activity(Activity::Checking);
        self.system.check()
    }

    fn examine(&mut self) -> Option<Examination> {
        self.log.set_activity(Activity::Checking);
        self.system.examine()
    }

    fn step_with_lines(&mut self, action: ActionId, lines: &mut Vec<String>) -> Outcome {
        self.log.record_step(action);
        self.system.step_with_lines(action, lines)
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.log.set_activity(Activity::Choosing);
        self.system.enabled()
    }
}

impl<S: Snapshot + ?Sized> Snapshot for LoggedSystem<'_, S> {
    type State = S::State;

    fn snapshot(&mut self) -> Result<S::State, Error> {
        self.system.snapshot()
    }

    fn restore(&mut self, state: &S::State) -> Result<(), Error> {
        self.system.restore(state)
    }
}

impl<S: Fingerprint + ?Sized> Fingerprint for LoggedSystem<'_, S> {
    fn fingerprint(&mut self, equivalence: Equivalence) -> Result<u128, Error> {
        self.system.fingerprint(equivalence)
    }
}

impl<S: Covered + ?Sized> Covered for LoggedSystem<'_, S> {
    fn all_touched(&self) -> Coverage {
        self.system.all_touched()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        self.system.take_new()
    }

    fn reset_touched(&mut self) -> Result<(), Error> {
        self.system.reset_touched()
    }

    fn touched(&self) -> Coverage {
        self.system.touched()
    }
}

#[cfg(test)]
mod tests {
    use testwright_core::generate::{SearchOptions, regenerate};
    use testwright_core::toys::Safe;

    use super::*;

    #[test]
    fn the_log_has_the_test_that_was_made() {
        let file = tempfile::tempfile().unwrap();
        let log = StepLog::create(&file, 1_000).unwrap();
        let plan = SearchOptions {
            seed: 1,
            tests: None,
            length: 20,
            check: true,
        };
        let mut safe = Safe::new(9, &[1, 2, 3]);
        let test = regenerate(&mut LoggedSystem::new(&mut safe, &log), &plan, 5).unwrap();
        assert_eq!(log.current_test().test, test);
        assert_eq!(log.activity(), Activity::Checking);
        assert_eq!(
            regenerate(&mut safe, &plan, 5).unwrap(),
            test,
            "logging changes nothing"
        );
    }
}
