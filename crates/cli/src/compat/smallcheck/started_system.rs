//! A system whose initial state is the end of a test.

use testwright_core::{
    ActionId, Catalog, Equivalence, Error, Fingerprint, Outcome, Random, Snapshot, Step, System,
    TemplateSet,
};
use testwright_python::{PythonState, PythonSystem};

/// A system that runs a test in every reset.
pub(super) struct StartedSystem<'s, 'py> {
    /// The system.
    pub(super) system: &'s mut PythonSystem<'py>,
    /// The steps of the test.
    pub(super) start: &'s [Step],
}

impl System for StartedSystem<'_, '_> {
    fn actions(&self) -> &Catalog {
        self.system.actions()
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.system.reset()?;
        for step in self.start {
            match step {
                Step::Restart => self.system.reset()?,
                // Failing steps are taken, too: only the resulting state matters.
                Step::Act(action) if self.system.is_enabled(*action) => {
                    self.system.step(*action);
                }
                Step::Act(_) => {}
            }
        }
        Ok(())
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.system.is_enabled(action)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        self.system.pick(random)
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        self.system.pick_among(templates, random)
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        self.system.step(action)
    }

    fn expected_exception(&mut self) -> String {
        self.system.expected_exception()
    }

    fn check(&mut self) -> Outcome {
        self.system.check()
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.system.enabled()
    }
}

impl Snapshot for StartedSystem<'_, '_> {
    type State = PythonState;

    fn snapshot(&mut self) -> Result<PythonState, Error> {
        self.system.snapshot()
    }

    fn restore(&mut self, state: &PythonState) -> Result<(), Error> {
        self.system.restore(state)
    }
}

impl Fingerprint for StartedSystem<'_, '_> {
    fn fingerprint(&mut self, equivalence: Equivalence) -> Result<u128, Error> {
        self.system.fingerprint(equivalence)
    }
}
