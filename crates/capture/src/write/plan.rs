//! A test before it is Python: what to set up, what to call, what to check. Styles turn it into lines.

use super::code::Code;

/// One test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// In order: what has to be so before the call.
    pub(crate) setup: Vec<Setup>,
    /// What is called.
    pub(crate) exercise: Exercise,
    /// What has to be so afterwards.
    pub(crate) checks: Vec<Check>,
    /// What was printed: standard output, standard error.
    pub(crate) output: Option<(String, String)>,
    /// What was logged.
    pub(crate) logged: Vec<Logged>,
}

impl Plan {
    /// Whether anything comes of running it but that nothing is raised.
    pub(crate) fn checks_something(&self) -> bool {
        let tells = self.output.is_some() || !self.logged.is_empty();
        tells || !self.checks.is_empty() || self.exercise.checks_something()
    }
}

/// Something that was logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Logged {
    pub(crate) logger: String,
    pub(crate) level: i64,
    pub(crate) message: String,
}

/// Something that is prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setup {
    /// `target = code`.
    Assign { target: String, code: Code },
    /// A function of the test's own, line by line.
    Definition(Vec<String>),
    /// A call whose value is not needed.
    Do(Code),
    /// An attribute of a module or class for the time of the test.
    Pin {
        owner: Code,
        name: String,
        value: Code,
        /// Whether it may not be there, because the program made it only as it ran.
        is_made_later: bool,
    },
    /// An attribute that is not there for the time of the test.
    PinAbsent { owner: Code, name: String },
    /// An environment variable for the time of the test.
    Environment {
        name: String,
        value: Option<Code>,
        /// Whether it is absent now and the call sets it.
        is_set_later: bool,
    },
    /// Work in the test's own folder.
    EnterFolder,
}

impl Setup {
    /// An attribute that is always there, for the time of the test.
    pub(crate) fn pin(owner: Code, name: String, value: Code) -> Setup {
        Setup::Pin {
            owner,
            name,
            value,
            is_made_later: false,
        }
    }
}

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exercise {
    /// An expression, whose value is checked or not.
    Value(Code),
    /// A statement.
    Statement(Code),
    /// An expression that raises; the checks can use what was caught.
    Raises { call: Code, class: Code },
    /// A generator that is resumed step by step.
    Steps(Code, Vec<StepCheck>),
    /// An asynchronous generator that is used up.
    Collected(Code, Code),
}

impl Default for Exercise {
    fn default() -> Exercise {
        Exercise::Value(Code::text("None"))
    }
}

impl Exercise {
    /// Whether making the call checks something already.
    pub(crate) fn checks_something(&self) -> bool {
        !matches!(self, Exercise::Value(_) | Exercise::Statement(_))
    }
}

/// One resumption of a generator and what comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepCheck {
    /// It gives a value.
    Gives(Code, How, Code),
    /// It ends, with a value unless that is `None`.
    Ends(Code, Option<Code>),
    /// It raises.
    Raises(Code, Code),
    /// Nothing is checked.
    Runs(Code),
}

/// Something that is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) actual: Actual,
    pub(crate) how: How,
    pub(crate) expected: Code,
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Actual {
    /// The value of the call.
    Result,
    /// Something made of the value of the call: what stands before and behind it.
    OfResult(String, String),
    /// An attribute of the exception that was caught.
    Caught(String),
    /// Anything else.
    Code(Code),
}

/// How two things are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// `==`
    Equal,
    /// `is`
    Is,
    /// By type and attributes, with the helper.
    Same,
    /// `isinstance`
    Instance,
    /// The actual is true; nothing is expected.
    True,
    /// The actual is false; nothing is expected.
    False,
    /// The expected is not in the actual.
    NotIn,
    /// The actual checks by itself; nothing is expected.
    Holds,
}

impl Check {
    pub(crate) fn new(actual: Actual, how: How, expected: Code) -> Check {
        Check {
            actual,
            how,
            expected,
        }
    }
}
