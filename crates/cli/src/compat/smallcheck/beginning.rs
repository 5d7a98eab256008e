//! Going on from where a test leads.

use testwright_core::{
    ActionId, Catalog, Error, Fingerprint, Likeness, Outcome, Random, Snapshot, Step, System,
    TemplateSet,
};
use testwright_python::{PythonState, PythonSystem};

/// A system that begins where a test has led it.
pub(super) struct Beginning<'s, 'py> {
    pub(super) system: &'s mut PythonSystem<'py>,
    pub(super) start: &'s [Step],
}

impl System for Beginning<'_, '_> {
    fn actions(&self) -> &Catalog {
        self.system.actions()
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.system.reset()?;
        for step in self.start {
            match step {
                Step::Restart => self.system.reset()?,
                // Steps that fail are taken as well: the test leads to where it leads.
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

    fn expected(&mut self) -> String {
        self.system.expected()
    }

    fn check(&mut self) -> Outcome {
        self.system.check()
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.system.enabled()
    }
}

impl Snapshot for Beginning<'_, '_> {
    type State = PythonState;

    fn snapshot(&mut self) -> Result<PythonState, Error> {
        self.system.snapshot()
    }

    fn restore(&mut self, state: &PythonState) -> Result<(), Error> {
        self.system.restore(state)
    }
}

impl Fingerprint for Beginning<'_, '_> {
    fn fingerprint(&mut self, likeness: Likeness) -> Result<u128, Error> {
        self.system.fingerprint(likeness)
    }
}
