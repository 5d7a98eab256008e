//! A subject that writes down what is done with it, and is the same otherwise.

use std::path::{Path, PathBuf};

use testwright_campaign::Logged;
use testwright_core::{ActionId, Error, Failure, TargetId, Test};
use testwright_python::{Collector, Hook, Output, Problem, SlotValue};

use super::{PlacesReached, Reachable, Subject, Teller};
use crate::files::TextFile;

impl<S: Subject> Subject for Logged<'_, S> {
    fn is_measured(&self) -> bool {
        self.inner().is_measured()
    }

    fn news(&self) -> Vec<TargetId> {
        self.inner().news()
    }

    fn unit(&self) -> &'static str {
        self.inner().unit()
    }

    fn reachable(&self, targets: &[TargetId], root: &Path) -> Vec<Reachable> {
        self.inner().reachable(targets, root)
    }

    fn help_to_reach(&self) -> &'static str {
        self.inner().help_to_reach()
    }

    fn meet(&mut self, test: &TextFile) {
        self.system().meet(test);
    }

    fn tell_names(&mut self, teller: Option<Teller>) {
        self.system().tell_names(teller);
    }

    fn come_to_life(&mut self) -> Result<(), Error> {
        self.system().come_to_life()
    }

    fn hear_of(&mut self, test: &str) {
        self.system().hear_of(test);
    }

    fn has_met(&self, action: ActionId) -> bool {
        self.inner().has_met(action)
    }

    fn places(&self, targets: &[TargetId], known: usize) -> PlacesReached {
        self.inner().places(targets, known)
    }

    fn problems(&self) -> Vec<Problem> {
        self.inner().problems()
    }

    fn move_to(&mut self, folder: &Path) -> Result<(), Error> {
        self.system().move_to(folder)
    }

    fn collector(&self) -> Option<&Collector<'_>> {
        self.inner().collector()
    }

    fn call_hook(&mut self, hook: Hook) {
        self.system().call_hook(hook);
    }

    fn take_log(&mut self) -> Vec<String> {
        self.system().take_log()
    }

    fn take_output(&mut self) -> String {
        self.system().take_output()
    }

    fn set_output(&mut self, output: Output) -> Result<(), Error> {
        self.system().set_output(output)
    }

    fn flush(&self) {
        self.inner().flush();
    }

    fn shown(&self, action: ActionId) -> Vec<SlotValue> {
        self.inner().shown(action)
    }

    fn reference_text(&self, action: ActionId) -> Option<String> {
        self.inner().reference_text(action)
    }

    fn unit_test(
        &mut self,
        test: &Test,
        title: &str,
        file: &Path,
    ) -> Option<Result<String, Error>> {
        self.system().unit_test(test, title, file)
    }

    fn unit_test_of_crash(
        &mut self,
        test: &Test,
        failure: &Failure,
        title: &str,
        file: &Path,
    ) -> Option<Result<String, Error>> {
        self.system().unit_test_of_crash(test, failure, title, file)
    }

    fn file(&self) -> Option<&Path> {
        self.inner().file()
    }

    fn home(&self) -> Option<(PathBuf, PathBuf)> {
        self.inner().home()
    }
}
