//! What can be chosen when a harness is loaded.

use std::time::Duration;

use crate::output::Output;

/// When an exception of the system and one of its reference agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferenceExceptions {
    /// For compared actions: both raise or neither does.
    #[default]
    BothRaise,
    /// For every action that the reference mirrors: the same type.
    SameType,
    /// For every action that the reference mirrors: the same type and the same message.
    SameTypeAndMessage,
}

/// Which properties are checked after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksWhen {
    /// All.
    #[default]
    All,
    /// Those that can see something that has changed since they last held.
    Changed,
}

/// Which code is measured while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measured {
    /// None.
    #[default]
    Nothing,
    /// What the `source:` lines of the harness name; without any, local modules and those that the harness imports.
    Modules,
    /// That, unless this interpreter is one whose code cannot be measured.
    ModulesIfPossible,
    /// That, and the raw code in the harness itself.
    ModulesAndHarness,
}

impl Measured {
    /// The modules under test, if they are to be measured at all.
    pub fn modules_if(is_wanted: bool) -> Measured {
        if is_wanted {
            Measured::Modules
        } else {
            Measured::Nothing
        }
    }
}

/// Whose the process is in which a harness lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Process {
    /// The tool's: what a system changes in it is put back on every reset, its output goes where [`Output`] says, and
    /// Ctrl-C is a wish to end the search.
    #[default]
    OfTheTool,
    /// The tool's, with nobody at the keyboard: as before, but signals do what they do in any program.
    OfAWorker,
    /// A script's or a notebook's that uses the tool as a library: its directory, streams, signals and random numbers
    /// are none of our business.
    OfTheCaller,
}

/// How a harness is brought to life.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose the process is.
    pub process: Process,
    /// What becomes of what the system prints.
    pub output: Output,
    /// When exceptions of system and reference agree.
    pub reference_exceptions: ReferenceExceptions,
    /// Whether a reset re-executes the modules that the harness imports.
    pub reset_modules: bool,
    /// Log lines up to this level are evaluated; `None` for no logging.
    pub log_level: Option<i64>,
    /// Which code is measured.
    pub measured: Measured,
    /// Which properties are checked after a step.
    pub checks: ChecksWhen,
    /// Modules of machines and lists of runs that say which lines may come next.
    pub scenarios: Vec<String>,
    /// For models: the module that makes an implementation do the same, and how long it may take for a step.
    pub stepper: Option<(String, Duration)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            process: Process::default(),
            output: Output::default(),
            reference_exceptions: ReferenceExceptions::default(),
            reset_modules: true,
            log_level: None,
            measured: Measured::default(),
            checks: ChecksWhen::default(),
            scenarios: Vec::new(),
            stepper: None,
        }
    }
}
