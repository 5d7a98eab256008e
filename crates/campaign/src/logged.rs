//! A system that writes down what is done with it.

use testwright_core::{
    ActionId, Catalog, Coverage, Covered, Error, Fingerprint, Likeness, Outcome, Random, Snapshot,
    System, TargetId, TemplateId, TemplateSet,
};

use crate::{Doing, Log};

/// A system whose every reset and step is in a [`Log`] before it happens.
#[derive(Debug)]
pub struct Logged<'a, S: ?Sized> {
    system: &'a mut S,
    log: &'a Log,
}

impl<'a, S: ?Sized> Logged<'a, S> {
    /// From now on.
    pub fn new(system: &'a mut S, log: &'a Log) -> Logged<'a, S> {
        Logged { system, log }
    }

    /// The system itself, to look at.
    pub fn inner(&self) -> &S {
        self.system
    }

    /// The system itself.
    pub fn system(&mut self) -> &mut S {
        self.system
    }
}

impl<S: System + ?Sized> System for Logged<'_, S> {
    fn actions(&self) -> &Catalog {
        self.system.actions()
    }

    fn number(&mut self, class: &str, rest: &str) -> Option<ActionId> {
        self.system.number(class, rest)
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.log.reset();
        self.system.reset()
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.log.reset();
        self.system.begin()
    }

    fn alike(&self, template: TemplateId) -> Option<u64> {
        self.system.alike(template)
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.log.does(Doing::Choosing);
        self.system.is_enabled(action)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        self.log.does(Doing::Choosing);
        self.system.pick(random)
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        self.log.does(Doing::Choosing);
        self.system.pick_among(templates, random)
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        self.log.step(action);
        self.system.step(action)
    }

    fn expected(&mut self) -> String {
        self.system.expected()
    }

    fn check(&mut self) -> Outcome {
        self.log.does(Doing::Checking);
        self.system.check()
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.log.does(Doing::Choosing);
        self.system.enabled()
    }
}

impl<S: Snapshot + ?Sized> Snapshot for Logged<'_, S> {
    type State = S::State;

    fn snapshot(&mut self) -> Result<S::State, Error> {
        self.system.snapshot()
    }

    fn restore(&mut self, state: &S::State) -> Result<(), Error> {
        self.system.restore(state)
    }
}

impl<S: Fingerprint + ?Sized> Fingerprint for Logged<'_, S> {
    fn fingerprint(&mut self, likeness: Likeness) -> Result<u128, Error> {
        self.system.fingerprint(likeness)
    }
}

impl<S: Covered + ?Sized> Covered for Logged<'_, S> {
    fn all_touched(&self) -> Coverage {
        self.system.all_touched()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        self.system.take_new()
    }

    fn begin_anew(&mut self) -> Result<(), Error> {
        self.system.begin_anew()
    }

    fn touched(&self) -> Coverage {
        self.system.touched()
    }
}

#[cfg(test)]
mod tests {
    use testwright_core::generate::{Search, regenerate};
    use testwright_core::toys::Safe;

    use super::*;

    #[test]
    fn the_log_has_the_test_that_was_made() {
        let file = tempfile::tempfile().unwrap();
        let log = Log::create(&file, 1_000).unwrap();
        let plan = Search {
            seed: 1,
            tests: None,
            length: 20,
            check: true,
        };
        let mut safe = Safe::new(9, &[1, 2, 3]);
        let test = regenerate(&mut Logged::new(&mut safe, &log), &plan, 5).unwrap();
        assert_eq!(log.current().test, test);
        assert_eq!(log.doing(), Doing::Checking);
        assert_eq!(
            regenerate(&mut safe, &plan, 5).unwrap(),
            test,
            "logging changes nothing"
        );
    }
}
