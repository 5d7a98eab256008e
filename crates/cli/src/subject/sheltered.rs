//! A harness in processes that may die.

use std::path::{Path, PathBuf};

use testwright_campaign::{Launcher, Remote};
use testwright_core::{ActionId, Catalog, Coverage, Covered, Error, Outcome, System, TargetId};
use testwright_python::{Output, SlotValue};

use super::{PlacesReached, Reachable, Subject};

/// A system that lives in other processes. Nothing is known of it but what it does.
pub(crate) struct Sheltered<L: Launcher> {
    pub(crate) remote: Remote<L>,
    /// The Python program, and the folder that the command was called in.
    pub(crate) home: (PathBuf, PathBuf),
}

impl<L: Launcher> System for Sheltered<L> {
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

    fn expected(&mut self) -> String {
        self.remote.expected()
    }

    fn check(&mut self) -> Outcome {
        self.remote.check()
    }
}

impl<L: Launcher> Covered for Sheltered<L> {
    fn all_touched(&self) -> Coverage {
        Coverage::default()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        Vec::new()
    }

    fn begin_anew(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn touched(&self) -> Coverage {
        Coverage::default()
    }
}

impl<L: Launcher> Subject for Sheltered<L> {
    fn is_measured(&self) -> bool {
        false
    }

    fn news(&self) -> Vec<TargetId> {
        Vec::new()
    }

    fn unit(&self) -> &'static str {
        "branch"
    }

    fn reachable(&self, _targets: &[TargetId], _root: &Path) -> Vec<Reachable> {
        Vec::new()
    }

    fn help_to_reach(&self) -> &'static str {
        "nothing is measured in processes that may die"
    }

    fn places(&self, _targets: &[TargetId], _known: usize) -> PlacesReached {
        PlacesReached::default()
    }

    fn move_to(&mut self, _folder: &Path) -> Result<(), Error> {
        Ok(())
    }

    fn take_output(&mut self) -> String {
        String::new()
    }

    fn set_output(&mut self, _output: Output) -> Result<(), Error> {
        Ok(())
    }

    fn flush(&self) {}

    fn shown(&self, _action: ActionId) -> Vec<SlotValue> {
        Vec::new()
    }

    fn home(&self) -> Option<(PathBuf, PathBuf)> {
        Some(self.home.clone())
    }
}
