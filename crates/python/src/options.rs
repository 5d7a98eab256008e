//! Options for loading a harness.

use std::time::Duration;

use crate::output::OutputMode;

/// The rule by which an exception of the system and one of its reference agree.
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

/// The properties that are checked after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckMode {
    /// All properties.
    #[default]
    All,
    /// Only properties that can see something that has changed since they last held.
    Changed,
}

/// The code whose coverage is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeasuredCode {
    /// No code.
    #[default]
    Nothing,
    /// The modules named by `source:` lines of the harness; without any, local modules and those
    /// that the harness imports.
    Modules,
    /// Like `Modules`, but without an error if this interpreter does not support it.
    ModulesIfPossible,
    /// Like `Modules`, and also the raw code in the harness itself.
    ModulesAndHarness,
}

impl MeasuredCode {
    /// Returns `Modules` if wanted, else `Nothing`.
    pub fn modules_if(is_wanted: bool) -> MeasuredCode {
        if is_wanted {
            MeasuredCode::Modules
        } else {
            MeasuredCode::Nothing
        }
    }
}

/// The owner of the process that a harness is loaded in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessOwner {
    /// The tool. Each reset restores what a system changed in the process, its output is handled as
    /// [`OutputMode`] says, and Ctrl-C ends the search.
    #[default]
    Tool,
    /// The tool, in a worker without a user at the keyboard. Like `Tool`, but signals have their
    /// default effect.
    Worker,
    /// A script or a notebook that uses the tool as a library. Its directory, streams, signals and
    /// random numbers are left alone.
    Caller,
}

/// Options for loading a harness.
#[derive(Clone, Debug)]
pub struct Options {
    /// The owner of the process.
    pub process: ProcessOwner,
    /// The handling of the system's output.
    pub output: OutputMode,
    /// The rule by which exceptions of system and reference agree.
    pub reference_exceptions: ReferenceExceptions,
    /// A reset executes the modules again that the harness imports.
    pub reset_modules: bool,
    /// Log lines up to this level are evaluated; `None` for no logging.
    pub log_level: Option<i64>,
    /// The code whose coverage is measured.
    pub measured: MeasuredCode,
    /// The properties that are checked after a step.
    pub checks: CheckMode,
    /// Modules with machines or lists of runs that decide which lines may come next.
    pub scenarios: Vec<String>,
    /// For models: the module that drives an implementation, and its time limit for a step.
    pub stepper: Option<(String, Duration)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            process: ProcessOwner::default(),
            output: OutputMode::default(),
            reference_exceptions: ReferenceExceptions::default(),
            reset_modules: true,
            log_level: None,
            measured: MeasuredCode::default(),
            checks: CheckMode::default(),
            scenarios: Vec::new(),
            stepper: None,
        }
    }
}
