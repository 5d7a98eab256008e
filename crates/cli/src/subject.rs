//! What commands need of the system that they work on, besides what every algorithm needs.

mod logged;
mod sheltered;

use std::path::{Path, PathBuf};

use testwright_campaign::SentName;
use testwright_core::{ActionId, Covered, Error, Failure, TargetId, Test};
use testwright_python::{
    Collector, Hook, MeasuredFile, Output, Problem, PythonSystem, SlotValue, Style,
};

use crate::coverage::Places;
use crate::files::TextFile;

pub(crate) use sheltered::Sheltered;

/// A harness or models, brought to life.
pub(crate) trait Subject: Covered {
    /// Whether it tells what was touched.
    fn is_measured(&self) -> bool;

    /// What was touched for the first time ever, since somebody was last told of that.
    fn news(&self) -> Vec<TargetId>;

    /// What can be touched.
    fn unit(&self) -> &'static str;

    /// What targets are, for people. Names of files are relative to `root`.
    fn reachable(&self, targets: &[TargetId], root: &Path) -> Vec<Reachable>;

    /// What to do about tests that touch nothing.
    fn help_to_reach(&self) -> &'static str;

    /// Makes sure that the actions that a saved test speaks of can be looked up.
    fn meet(&mut self, _test: &TextFile) {}

    /// From now on, tells what an action is called before it is first taken; nobody any more without a teller. A system
    /// whose actions have the same numbers in all processes has nothing to tell.
    fn tell_names(&mut self, _teller: Option<Teller>) {}

    /// This process is the one in which it will live: whatever must not be there before that comes now.
    fn come_to_life(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Gives numbers to the actions that a saved test speaks of, though nothing may be known of them but their names.
    fn hear_of(&mut self, _test: &str) {}

    /// Whether an action is more than a name.
    fn has_met(&self, _action: ActionId) -> bool {
        true
    }

    /// What targets are, for another process, which knows of the first `known` files already.
    fn places(&self, targets: &[TargetId], known: usize) -> PlacesReached;

    /// What went wrong with itself so far.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// Lets it run in another folder from now on.
    fn move_to(&mut self, folder: &Path) -> Result<(), Error>;

    /// What lines and branches were reached.
    fn collector(&self) -> Option<&Collector<'_>> {
        None
    }

    /// Calls a function of the user's, if there is one.
    fn call_hook(&mut self, _hook: Hook) {}

    /// What its log says since this was last asked.
    fn take_log(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// What it has printed since this was last asked.
    fn take_output(&mut self) -> String;

    /// Says what becomes of what it prints from now on.
    fn set_output(&mut self, output: Output) -> Result<(), Error>;

    /// Lets out what it has printed.
    fn flush(&self);

    /// The values that matter for an action, as they are now.
    fn shown(&self, action: ActionId) -> Vec<SlotValue>;

    /// What the reference does for an action.
    fn reference_text(&self, _action: ActionId) -> Option<String> {
        None
    }

    /// A test as a unit test that needs nothing else, or why there is none; nothing if there never is.
    fn unit_test(
        &mut self,
        _test: &Test,
        _title: &str,
        _file: &Path,
    ) -> Option<Result<String, Error>> {
        None
    }

    /// The same for a test whose last step nobody survives.
    fn unit_test_of_crash(
        &mut self,
        _test: &Test,
        _failure: &Failure,
        _title: &str,
        _file: &Path,
    ) -> Option<Result<String, Error>> {
        None
    }

    /// What an implementation has done by itself since this was last asked, as it would stand in a test.
    fn take_observed(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Its file, if it has exactly one.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// The Python program and the folder for another process that does the same.
    fn home(&self) -> Option<(PathBuf, PathBuf)>;
}

/// Is told what actions are called.
pub(crate) type Teller = Box<dyn FnMut(SentName)>;

/// What was touched, in a form that another process understands.
#[derive(Default)]
pub(crate) struct PlacesReached {
    /// Files that were not mentioned before, with the lines that have code. Others refer to them by number.
    pub(crate) files: Vec<(PathBuf, Vec<u32>)>,
    /// The number of a file, and a way from one line of it to another.
    pub(crate) arcs: Vec<(usize, i32, i32)>,
}

/// Something that can be touched.
pub(crate) struct Reachable {
    pub(crate) file: String,
    /// The line that it leads from, if there is one.
    pub(crate) from: Option<u32>,
    /// The line that it leads to, if there is one.
    pub(crate) to: Option<u32>,
    pub(crate) source: String,
    /// All of that in short.
    pub(crate) place: String,
}

impl Subject for PythonSystem<'_> {
    fn is_measured(&self) -> bool {
        self.coverage().is_some()
    }

    fn news(&self) -> Vec<TargetId> {
        self.coverage().map_or_else(Vec::new, Collector::take_new)
    }

    fn unit(&self) -> &'static str {
        "branch"
    }

    fn reachable(&self, targets: &[TargetId], root: &Path) -> Vec<Reachable> {
        let Some(collector) = self.coverage() else {
            return Vec::new();
        };
        let places = Places::new(collector, root);
        let each = targets.iter().map(|target| {
            let place = places.of(collector, *target);
            Reachable {
                file: place.file.to_owned(),
                from: place.from,
                to: place.to,
                source: place.source.to_owned(),
                place: place.to_string(),
            }
        });
        each.collect()
    }

    fn help_to_reach(&self) -> &'static str {
        "name files, folders or modules to measure with `source:` lines in the harness"
    }

    fn places(&self, targets: &[TargetId], known: usize) -> PlacesReached {
        let Some(collector) = self.coverage() else {
            return PlacesReached::default();
        };
        let arc = |target: &TargetId| {
            let (file, (from, to)) = collector.meaning(*target);
            (file, from, to)
        };
        let arcs: Vec<_> = targets.iter().map(arc).collect();
        let mut files = Vec::new();
        if arcs.iter().any(|(file, _, _)| *file >= known) {
            let measured = collector.files();
            let new = measured.get(known..).unwrap_or_default();
            let file =
                |file: &MeasuredFile| (file.path.clone(), file.lines.iter().copied().collect());
            files.extend(new.iter().map(file));
        }
        PlacesReached { files, arcs }
    }

    fn problems(&self) -> Vec<Problem> {
        PythonSystem::problems(self)
    }

    fn move_to(&mut self, folder: &Path) -> Result<(), Error> {
        PythonSystem::move_to(self, folder)
    }

    fn collector(&self) -> Option<&Collector<'_>> {
        self.coverage()
    }

    fn call_hook(&mut self, hook: Hook) {
        PythonSystem::call_hook(self, hook);
    }

    fn take_log(&mut self) -> Vec<String> {
        PythonSystem::take_log(self)
    }

    fn take_output(&mut self) -> String {
        PythonSystem::take_output(self)
    }

    fn set_output(&mut self, output: Output) -> Result<(), Error> {
        PythonSystem::set_output(self, output)
    }

    fn flush(&self) {
        PythonSystem::flush(self);
    }

    fn shown(&self, action: ActionId) -> Vec<SlotValue> {
        let mut values = self.values(action);
        values.retain(|value| !value.opaque);
        values
    }

    fn reference_text(&self, action: ActionId) -> Option<String> {
        PythonSystem::reference_text(self, action)
    }

    fn unit_test(
        &mut self,
        test: &Test,
        title: &str,
        file: &Path,
    ) -> Option<Result<String, Error>> {
        Some(self.standalone(test, Style::Pytest, title, Some(file)))
    }

    fn unit_test_of_crash(
        &mut self,
        test: &Test,
        failure: &Failure,
        title: &str,
        file: &Path,
    ) -> Option<Result<String, Error>> {
        Some(self.standalone_of_crash(test, failure, Style::Pytest, title, Some(file)))
    }

    fn file(&self) -> Option<&Path> {
        Some(PythonSystem::file(self))
    }

    fn home(&self) -> Option<(PathBuf, PathBuf)> {
        Some((self.executable()?, self.folder()?))
    }
}
