//! Tests as data, before they are Python: the setup, the call and the assertions. A style renders
//! them.

use super::code::PythonCode;

/// A planned test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestPlan {
    /// The setup statements, in order.
    pub(crate) setup: Vec<SetupStep>,
    /// The call.
    pub(crate) exercise: Exercise,
    /// The assertions about the state afterwards.
    pub(crate) checks: Vec<Assertion>,
    /// The expected standard output and standard error.
    pub(crate) output: Option<(String, String)>,
    /// The expected log messages.
    pub(crate) logged: Vec<LogMessage>,
}

impl TestPlan {
    /// Returns true if the test can fail in another way than by an exception.
    pub(crate) fn checks_something(&self) -> bool {
        let has_output = self.output.is_some() || !self.logged.is_empty();
        has_output || !self.checks.is_empty() || self.exercise.checks_something()
    }
}

/// A log message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogMessage {
    /// The name of the logger.
    pub(crate) logger: String,
    /// The number of the level.
    pub(crate) level: i64,
    /// The formatted message.
    pub(crate) message: String,
}

/// A step of the setup phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SetupStep {
    /// An assignment: `target = code`.
    Assign { target: String, code: PythonCode },
    /// The definition of a function, line by line.
    Definition(Vec<String>),
    /// An expression whose value is not needed.
    Evaluate(PythonCode),
    /// A value for an attribute of a module or class, for the time of the test.
    Pin {
        owner: PythonCode,
        name: String,
        value: PythonCode,
        /// True if the attribute may not exist, because the program creates it as it runs.
        is_created_later: bool,
    },
    /// The absence of an attribute for the time of the test.
    PinAbsent { owner: PythonCode, name: String },
    /// A value for an environment variable, or its absence, for the time of the test.
    Environment {
        name: String,
        value: Option<PythonCode>,
        /// True if the variable is absent at first and the call sets it.
        is_set_later: bool,
    },
    /// A change to the test's own folder.
    EnterFolder,
}

impl SetupStep {
    /// Creates a step that sets an attribute that always exists.
    pub(crate) fn pin(owner: PythonCode, name: String, value: PythonCode) -> SetupStep {
        SetupStep::Pin {
            owner,
            name,
            value,
            is_created_later: false,
        }
    }
}

/// The exercise phase of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exercise {
    /// An expression, whose value may be checked.
    Value(PythonCode),
    /// A statement.
    Statement(PythonCode),
    /// An expression that raises; assertions can refer to the caught exception.
    Raises { call: PythonCode, class: PythonCode },
    /// A generator that is resumed step by step.
    Steps(PythonCode, Vec<StepCheck>),
    /// An asynchronous generator that is exhausted, and the list of its items.
    AsyncItems(PythonCode, PythonCode),
}

impl Default for Exercise {
    fn default() -> Exercise {
        Exercise::Value(PythonCode::text("None"))
    }
}

impl Exercise {
    /// Returns true if making the call checks something already.
    pub(crate) fn checks_something(&self) -> bool {
        !matches!(self, Exercise::Value(_) | Exercise::Statement(_))
    }
}

/// One resumption of a generator, with its expected outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepCheck {
    /// It yields a value.
    Yields(PythonCode, ComparisonKind, PythonCode),
    /// It returns, with a value unless that is `None`.
    Returns(PythonCode, Option<PythonCode>),
    /// It raises an exception.
    Raises(PythonCode, PythonCode),
    /// Its outcome is not checked.
    Unchecked(PythonCode),
}

/// An assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assertion {
    /// The value that is checked.
    pub(crate) actual: ActualValue,
    /// The comparison.
    pub(crate) comparison: ComparisonKind,
    /// The expected value; empty for comparisons without one.
    pub(crate) expected: PythonCode,
}

/// The value that an assertion checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ActualValue {
    /// The result of the call.
    Result,
    /// An expression around the result: the code before and after it.
    AroundResult(String, String),
    /// An attribute of the caught exception.
    ExceptionAttribute(String),
    /// Any other expression.
    Code(PythonCode),
}

/// A way to compare two values. The names of the variants are part of test ids (see
/// `TestSkeleton`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ComparisonKind {
    /// Equality: `==`.
    Equal,
    /// Identity: `is`.
    Is,
    /// Equality of type and attributes, by the helper.
    SameTypeAndAttributes,
    /// Membership in a class: `isinstance`.
    Instance,
    /// The actual value is true; there is no expected one.
    True,
    /// The actual value is false; there is no expected one.
    False,
    /// The expected value is not in the actual one.
    NotIn,
    /// The actual expression checks by itself; there is no expected one.
    AlreadyChecked,
}

impl Assertion {
    /// Creates an assertion.
    pub(crate) fn new(
        actual: ActualValue,
        comparison: ComparisonKind,
        expected: PythonCode,
    ) -> Assertion {
        Assertion {
            actual,
            comparison,
            expected,
        }
    }
}
