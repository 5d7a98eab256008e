//! The interface of commands to the system that they work on, beyond the interface that the
//! algorithms need.

mod logged;
mod remote;

use std::path::{Path, PathBuf};

use testwright_campaign::SentName;
use testwright_core::{ActionId, Covered, Error, TargetId};
use testwright_python::{
    Collector, HarnessProblem, Hook, MeasuredFile, OutputMode, PythonSystem, SlotValue,
    StandaloneStyle, StandaloneTarget,
};

use crate::coverage::TargetLocations;
use crate::files::TextFile;
use crate::unit_test::{UnitTestDraft, UnitTestForm, UnitTestRequest};
use crate::workers::reduce::is_fatal;

pub(crate) use remote::RemoteTarget;

/// A running harness, or running models.
pub(crate) trait Target: Covered {
    /// Returns true if coverage is measured.
    fn is_measured(&self) -> bool;

    /// Returns the coverage targets that were touched for the first time since the last call.
    fn take_new_targets(&self) -> Vec<TargetId>;

    /// Returns the noun for coverage targets, such as `branch`.
    fn unit(&self) -> &'static str;

    /// Describes coverage targets for people. Names of files are relative to `root`.
    fn describe_targets(&self, targets: &[TargetId], root: &Path) -> Vec<TargetDescription>;

    /// Returns the advice for tests that touch nothing.
    fn coverage_help(&self) -> &'static str;

    /// Marks the beginning of Testwright's own work, which has no time limit.
    fn mark_own_work(&self) {}

    /// Makes sure that the actions of a saved test can be looked up.
    fn register_actions(&mut self, _test: &TextFile) {}

    /// Sets the listener that gets the name of an action before it is first taken. A system whose
    /// actions have the same numbers in all processes announces none.
    fn announce_names(&mut self, _listener: Option<NameListener>) {}

    /// Starts the parts that must not exist before this process is the one in which the system
    /// runs.
    fn start(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Gives numbers to the actions of a saved test, even if only their names are known.
    fn reserve_actions(&mut self, _test: &str) {}

    /// Returns true if an action is known by more than its name.
    fn is_resolved(&self, _action: ActionId) -> bool {
        true
    }

    /// Describes coverage targets for another process, which knows the first `known` files already.
    fn reached_arcs(&self, targets: &[TargetId], known: usize) -> ReachedArcs;

    /// Returns the problems of the harness so far.
    fn problems(&self) -> Vec<HarnessProblem> {
        Vec::new()
    }

    /// Changes the folder in which the system runs.
    fn move_to(&mut self, folder: &Path) -> Result<(), Error>;

    /// Returns the collector of lines and branches, if coverage is measured.
    fn collector(&self) -> Option<&Collector<'_>> {
        None
    }

    /// Calls a function of the user's harness, if it defines this one.
    fn call_hook(&mut self, _hook: Hook) {}

    /// Returns the lines of the log since the last call.
    fn take_log(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the output since the last call.
    fn take_output(&mut self) -> String;

    /// Sets the destination of the output.
    fn set_output(&mut self, output: OutputMode) -> Result<(), Error>;

    /// Flushes the output.
    fn flush(&self);

    /// Returns the current values of the slots that an action uses.
    fn slot_values(&self, action: ActionId) -> Vec<SlotValue>;

    /// Returns the action as the reference performs it, if there is a reference.
    fn reference_text(&self, _action: ActionId) -> Option<String> {
        None
    }

    /// Renders a failing test as a unit test that needs nothing else. If its last step ends the
    /// process, or does not end, that step is not taken. Returns `None` if the target never has unit
    /// tests.
    fn unit_test(&mut self, _: &UnitTestRequest<'_>) -> Option<Result<UnitTestDraft, Error>> {
        None
    }

    /// Gives steps that are known to hang as much time as others, to confirm that they do.
    fn use_full_limits(&mut self) {}

    /// Returns the actions that an implementation has performed by itself since the last call, as
    /// they would stand in a test.
    fn take_observed(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the file of the target, if it has exactly one.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Returns the Python program and the folder for another process that runs the same system.
    fn process_context(&self) -> Option<(PathBuf, PathBuf)>;
}

/// A callback that gets the names of actions.
pub(crate) type NameListener = Box<dyn FnMut(SentName)>;

/// Reached code, in a form that another process understands.
#[derive(Default)]
pub(crate) struct ReachedArcs {
    /// The files that were not mentioned before, with the lines that have code. Arcs refer to files
    /// by number.
    pub(crate) files: Vec<(PathBuf, Vec<u32>)>,
    /// The number of a file, and the two lines of an arc in it.
    pub(crate) arcs: Vec<(usize, i32, i32)>,
}

/// A coverage target, described for people.
pub(crate) struct TargetDescription {
    /// The name of the file.
    pub(crate) file: String,
    /// The line where the arc starts, if there is one.
    pub(crate) from: Option<u32>,
    /// The line where the arc ends, if there is one.
    pub(crate) to: Option<u32>,
    /// The text of the line.
    pub(crate) source: String,
    /// The whole location in short.
    pub(crate) location: String,
}

impl Target for PythonSystem<'_> {
    fn is_measured(&self) -> bool {
        self.coverage().is_some()
    }

    fn take_new_targets(&self) -> Vec<TargetId> {
        self.coverage().map_or_else(Vec::new, Collector::take_new)
    }

    fn unit(&self) -> &'static str {
        "branch"
    }

    fn describe_targets(&self, targets: &[TargetId], root: &Path) -> Vec<TargetDescription> {
        let Some(collector) = self.coverage() else {
            return Vec::new();
        };
        let locations = TargetLocations::new(collector, root);
        let each = targets.iter().map(|target| {
            let location = locations.location(collector, *target);
            TargetDescription {
                file: location.file.to_owned(),
                from: location.from,
                to: location.to,
                source: location.source.to_owned(),
                location: location.to_string(),
            }
        });
        each.collect()
    }

    fn coverage_help(&self) -> &'static str {
        "name files, folders or modules to measure with `source:` lines in the harness"
    }

    fn reached_arcs(&self, targets: &[TargetId], known: usize) -> ReachedArcs {
        let Some(collector) = self.coverage() else {
            return ReachedArcs::default();
        };
        let arc = |target: &TargetId| {
            let (file, (from, to)) = collector.file_and_arc(*target);
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
        ReachedArcs { files, arcs }
    }

    fn problems(&self) -> Vec<HarnessProblem> {
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

    fn set_output(&mut self, output: OutputMode) -> Result<(), Error> {
        PythonSystem::set_output(self, output)
    }

    fn flush(&self) {
        PythonSystem::flush(self);
    }

    fn slot_values(&self, action: ActionId) -> Vec<SlotValue> {
        let mut values = self.values(action);
        values.retain(|value| !value.opaque);
        values
    }

    fn reference_text(&self, action: ActionId) -> Option<String> {
        PythonSystem::reference_text(self, action)
    }

    fn unit_test(&mut self, wanted: &UnitTestRequest<'_>) -> Option<Result<UnitTestDraft, Error>> {
        Some(draft(self, wanted))
    }

    fn file(&self) -> Option<&Path> {
        Some(PythonSystem::file(self))
    }

    fn process_context(&self) -> Option<(PathBuf, PathBuf)> {
        Some((self.executable()?, self.folder()?))
    }
}

/// Returns the draft of a unit test of a harness.
fn draft(
    system: &mut PythonSystem<'_>,
    wanted: &UnitTestRequest<'_>,
) -> Result<UnitTestDraft, Error> {
    let target = StandaloneTarget {
        style: StandaloneStyle::Pytest,
        name: wanted.title,
        file: Some(wanted.file),
        check: wanted.check,
    };
    let (test, failure) = (wanted.test, wanted.failure);
    let (forms, limit) = if is_fatal(failure.kind) {
        let forms = system.standalone_of_crash(test, failure, &target, wanted.limit)?;
        (forms, Some(wanted.limit))
    } else {
        let (forms, found) = system.standalone(test, &target)?;
        match found {
            Some(found) if found.is_same_as(failure) => (forms, None),
            Some(found) => {
                let message = format!(
                    "when it was to be written, the test failed otherwise: {}",
                    found.message
                );
                return Err(Error::new(message));
            }
            None => return Err(Error::new("when it was to be written, the test passed")),
        }
    };
    Ok(UnitTestDraft {
        forms: forms.into_iter().map(UnitTestForm::Steps).collect(),
        limit,
        process_context: Target::process_context(system),
    })
}
