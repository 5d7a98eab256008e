//! Support for tests: harnesses from text, each in its own folder.

#![allow(dead_code, reason = "not every test file needs every helper")]

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use testwright_core::{ActionId, Outcome, System};
use testwright_lang::Severity;
use testwright_python::{Options, PythonSystem, attach};

/// Interpreter and standard descriptors belong to the whole process, so tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// A folder with modules under test.
pub(crate) struct Folder {
    pub(crate) directory: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Folder {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text)
                .expect("a file in the temporary folder");
        }
        Folder {
            directory,
            _turn: turn,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Loads the harness text and passes the system to `work`, after a reset.
    pub(crate) fn with_options<R>(
        &self,
        text: &str,
        options: &Options,
        work: impl FnOnce(&mut PythonSystem<'_>) -> R,
    ) -> R {
        let path = self.path("case.tstl");
        std::fs::write(&path, text).expect("the harness");
        let (harness, diagnostics) = testwright_lang::parse(text);
        let errors: Vec<_> = diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
        attach(|interpreter| {
            let mut system = PythonSystem::load(interpreter, &path, text, harness, options)
                .expect("a harness that loads");
            system.reset().expect("a reset");
            work(&mut system)
        })
    }

    pub(crate) fn with<R>(&self, text: &str, work: impl FnOnce(&mut PythonSystem<'_>) -> R) -> R {
        self.with_options(text, &Options::default(), work)
    }
}

/// Returns the only action with this text.
pub(crate) fn action(system: &PythonSystem<'_>, text: &str) -> ActionId {
    match system.actions().find(text).as_slice() {
        [only] => *only,
        found => panic!("`{text}` is {} actions", found.len()),
    }
}

/// Takes the step with this text and describes its outcome.
pub(crate) fn step(system: &mut PythonSystem<'_>, text: &str) -> String {
    let action = action(system, text);
    if !system.is_enabled(action) {
        return String::from("disabled");
    }
    match system.step(action) {
        Outcome::Expected => format!("expected {}", system.expected_exception()),
        outcome => describe(&outcome),
    }
}

pub(crate) fn check(system: &mut PythonSystem<'_>) -> String {
    describe(&system.check())
}

pub(crate) fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passed => String::from("passed"),
        Outcome::Expected => String::from("expected"),
        Outcome::Failed(failure) => format!("{}: {}", failure.kind, failure.message),
        Outcome::Interrupted => String::from("interrupted"),
    }
}

/// Returns the texts of all enabled actions.
pub(crate) fn enabled(system: &mut PythonSystem<'_>) -> Vec<String> {
    let actions = system.enabled();
    actions
        .into_iter()
        .map(|action| system.actions().text(action))
        .collect()
}
