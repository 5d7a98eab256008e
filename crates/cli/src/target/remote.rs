//! A [`Target`] in remote processes, which may die at any step.

use std::path::{Path, PathBuf};

use testwright_campaign::{Launcher, RemoteSystem};
use testwright_core::{
    ActionId, Catalog, Coverage, Covered, Error, Examination, Outcome, System, TargetId,
};
use testwright_python::{OutputMode, SlotValue};

use super::{ReachedArcs, Target, TargetDescription};
use crate::files::TextFile;
use crate::workers::actions::ActionRegistry;

/// A system that runs in other processes. Only its behavior is known: no coverage, no output.
pub(crate) struct RemoteTarget<L: Launcher> {
    pub(crate) remote: RemoteSystem<L>,
    /// The Python program, and the folder that the command was called in.
    pub(crate) process_context: (PathBuf, PathBuf),
    /// The actions of models that saved tests have mentioned; `None` for a harness.
    pub(crate) mentioned: Option<ActionRegistry>,
}

impl<L: Launcher> System for RemoteTarget<L> {
    fn actions(&self) -> &Catalog {
        self.remote.actions()
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.remote.reset()
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.remote.begin()
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.remote.is_enabled(action)
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        self.remote.step(action)
    }

    fn expected_exception(&mut self) -> String {
        self.remote.expected_exception()
    }

    fn check(&mut self) -> Outcome {
        self.remote.check()
    }

    fn examine(&mut self) -> Option<Examination> {
        self.remote.examine()
    }

    fn step_with_lines(&mut self, action: ActionId, lines: &mut Vec<String>) -> Outcome {
        self.remote.step_with_lines(action, lines)
    }
}

impl<L: Launcher> Covered for RemoteTarget<L> {
    fn all_touched(&self) -> Coverage {
        Coverage::default()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        Vec::new()
    }

    fn reset_touched(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn touched(&self) -> Coverage {
        Coverage::default()
    }
}

impl<L: Launcher> Target for RemoteTarget<L> {
    fn is_measured(&self) -> bool {
        false
    }

    fn take_new_targets(&self) -> Vec<TargetId> {
        Vec::new()
    }

    fn unit(&self) -> &'static str {
        "branch"
    }

    fn describe_targets(&self, _targets: &[TargetId], _root: &Path) -> Vec<TargetDescription> {
        Vec::new()
    }

    fn coverage_help(&self) -> &'static str {
        "nothing is measured in processes that may die"
    }

    fn reached_arcs(&self, _targets: &[TargetId], _known: usize) -> ReachedArcs {
        ReachedArcs::default()
    }

    fn move_to(&mut self, _folder: &Path) -> Result<(), Error> {
        Ok(())
    }

    fn take_output(&mut self) -> String {
        String::new()
    }

    fn set_output(&mut self, _output: OutputMode) -> Result<(), Error> {
        Ok(())
    }

    fn flush(&self) {}

    fn slot_values(&self, _action: ActionId) -> Vec<SlotValue> {
        Vec::new()
    }

    fn use_full_limits(&mut self) {
        self.remote.use_full_limits();
    }

    fn register_actions(&mut self, test: &TextFile) {
        if let Some(actions) = &self.mentioned {
            // Reading registers them. What else is wrong with the test is told later.
            let _problems = actions.read(&test.text);
            self.remote.set_catalog(actions.catalog().clone());
        }
    }

    fn process_context(&self) -> Option<(PathBuf, PathBuf)> {
        Some(self.process_context.clone())
    }
}
