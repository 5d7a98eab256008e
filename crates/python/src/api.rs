#![allow(missing_docs, unused_variables, reason = "first sketch")]
use std::marker::PhantomData;
use std::path::Path;
use testwright_core::{ActionId, Catalog, Error, Outcome, Random, System, Test};
use testwright_lang::{Diagnostic, Harness};

/// Proof that the interpreter is held by this thread.
#[derive(Clone, Copy)]
pub struct Interpreter<'py>(pub(crate) PhantomData<&'py ()>);

/// Starts the interpreter if there is none (in tests), holds it, and runs `work`.
pub fn attach<R>(work: impl FnOnce(Interpreter<'_>) -> R) -> R {
    work(Interpreter(PhantomData))
}

/// What becomes of what the system under test prints (file descriptors 1 and 2 included).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    Show,
    Capture,
    #[default]
    Drop,
}

/// When an exception of the system and one of its reference agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferenceExceptions {
    /// Compared actions: both raised or neither did.
    #[default]
    BothRaise,
    /// Every mirrored action: the same type.
    SameType,
    /// Every mirrored action: the same type and message.
    SameTypeAndMessage,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub output: Output,
    pub reference_exceptions: ReferenceExceptions,
    /// Re-execute the modules the harness imports on every reset.
    pub reset_modules: bool,
    pub log_level: Option<i64>,
}

impl Default for Options {
    fn default() -> Options {
        Options { output: Output::Drop, reference_exceptions: ReferenceExceptions::BothRaise, reset_modules: true, log_level: None }
    }
}

/// Why a harness could not be brought to life.
#[derive(Clone, Debug)]
pub enum LoadError {
    /// Something in the text is wrong that only the interpreter could tell.
    Diagnostics(Vec<Diagnostic>),
    /// Importing the system under test or running the raw code failed: message with help, ready to print.
    Failed(Error),
}

/// A slot's value for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotValue {
    pub name: String,
    /// `repr`, or a note that it raised.
    pub text: String,
    pub type_name: String,
    pub opaque: bool,
}

/// Something wrong with the harness that showed only while it ran (a guard that raised).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub line: usize,
    pub message: String,
    pub times: u64,
}

/// Which kind of file a standalone test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Pytest,
    Unittest,
    Script,
}

/// A harness plus the interpreter, as a `System`. While it lives, the process's standard output, error and input
/// belong to the system under test (as `Output` says); the tool's own messages must go to duplicates of the
/// descriptors made before.
pub struct PythonSystem<'py> {
    interpreter: Interpreter<'py>,
    harness: Harness,
}

/// What only the interpreter can say about a harness: code it cannot compile, regular expressions it rejects.
pub fn check(interpreter: Interpreter<'_>, path: &Path, harness: &Harness, text: &str) -> Vec<Diagnostic> {
    Vec::new()
}

/// True once the person at the keyboard pressed Ctrl-C (SIGINT) or SIGTERM came, since the last `load`.
pub fn interrupted() -> bool {
    false
}

impl<'py> PythonSystem<'py> {
    /// Imports, runs the raw code; `path` is the harness file: its folder is where modules are looked for first,
    /// then the current directory; `text` is its content, for messages.
    pub fn load(interpreter: Interpreter<'py>, path: &Path, text: &str, harness: Harness, options: &Options) -> Result<PythonSystem<'py>, LoadError> {
        Ok(PythonSystem { interpreter, harness })
    }
    pub fn harness(&self) -> &Harness {
        &self.harness
    }
    /// Values of the slots an action names (twins included), now.
    pub fn values(&self, action: ActionId) -> Vec<SlotValue> {
        Vec::new()
    }
    /// The reference version of an action, as text in display form.
    pub fn reference_text(&mut self, action: ActionId) -> Option<String> {
        None
    }
    /// What went wrong with the harness itself so far, one entry per cause.
    pub fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
    /// What the system printed since the last call (with `Output::Capture`).
    pub fn take_output(&mut self) -> String {
        String::new()
    }
    /// Changes what becomes of output from now on.
    pub fn set_output(&mut self, output: Output) {}
    /// The test as a Python file that needs only the system under test. `file` is where it will be written
    /// (so that it can find local modules relative to itself). `name` is the test's name, such as `failure_1`.
    pub fn standalone(&mut self, test: &Test, style: Style, name: &str, file: Option<&Path>) -> Result<String, Error> {
        Err(Error::new("not yet"))
    }
}

impl System for PythonSystem<'_> {
    fn actions(&self) -> &Catalog {
        &self.harness.catalog
    }
    fn reset(&mut self) -> Result<(), Error> {
        Ok(())
    }
    fn is_enabled(&mut self, action: ActionId) -> bool {
        false
    }
    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        None
    }
    fn step(&mut self, action: ActionId) -> Outcome {
        Outcome::Passed
    }
    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}
