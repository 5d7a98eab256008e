//! The [`Target`] interface of a system that logs its steps: everything else is forwarded.

use std::path::{Path, PathBuf};

use testwright_campaign::LoggedSystem;
use testwright_core::{ActionId, Error, TargetId};
use testwright_python::{Collector, HarnessProblem, Hook, OutputMode, SlotValue};

use super::{NameListener, ReachedArcs, Target, TargetDescription};
use crate::files::TextFile;
use crate::unit_test::{UnitTestDraft, UnitTestRequest};

impl<S: Target> Target for LoggedSystem<'_, S> {
    fn is_measured(&self) -> bool {
        self.system().is_measured()
    }

    fn take_new_targets(&self) -> Vec<TargetId> {
        self.system().take_new_targets()
    }

    fn unit(&self) -> &'static str {
        self.system().unit()
    }

    fn describe_targets(&self, targets: &[TargetId], root: &Path) -> Vec<TargetDescription> {
        self.system().describe_targets(targets, root)
    }

    fn coverage_help(&self) -> &'static str {
        self.system().coverage_help()
    }

    fn register_actions(&mut self, test: &TextFile) {
        self.system_mut().register_actions(test);
    }

    fn announce_names(&mut self, listener: Option<NameListener>) {
        self.system_mut().announce_names(listener);
    }

    fn start(&mut self) -> Result<(), Error> {
        self.system_mut().start()
    }

    fn reserve_actions(&mut self, test: &str) {
        self.system_mut().reserve_actions(test);
    }

    fn is_resolved(&self, action: ActionId) -> bool {
        self.system().is_resolved(action)
    }

    fn reached_arcs(&self, targets: &[TargetId], known: usize) -> ReachedArcs {
        self.system().reached_arcs(targets, known)
    }

    fn problems(&self) -> Vec<HarnessProblem> {
        self.system().problems()
    }

    fn move_to(&mut self, folder: &Path) -> Result<(), Error> {
        self.system_mut().move_to(folder)
    }

    fn collector(&self) -> Option<&Collector<'_>> {
        self.system().collector()
    }

    fn call_hook(&mut self, hook: Hook) {
        self.system_mut().call_hook(hook);
    }

    fn take_log(&mut self) -> Vec<String> {
        self.system_mut().take_log()
    }

    fn take_output(&mut self) -> String {
        self.system_mut().take_output()
    }

    fn set_output(&mut self, output: OutputMode) -> Result<(), Error> {
        self.system_mut().set_output(output)
    }

    fn flush(&self) {
        self.system().flush();
    }

    fn slot_values(&self, action: ActionId) -> Vec<SlotValue> {
        self.system().slot_values(action)
    }

    fn reference_text(&self, action: ActionId) -> Option<String> {
        self.system().reference_text(action)
    }

    fn mark_own_work(&self) {
        LoggedSystem::mark_own_work(self);
    }

    fn unit_test(&mut self, wanted: &UnitTestRequest<'_>) -> Option<Result<UnitTestDraft, Error>> {
        self.system_mut().unit_test(wanted)
    }

    fn use_full_limits(&mut self) {
        self.system_mut().use_full_limits();
    }

    fn file(&self) -> Option<&Path> {
        self.system().file()
    }

    fn process_context(&self) -> Option<(PathBuf, PathBuf)> {
        self.system().process_context()
    }
}
