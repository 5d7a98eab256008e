//! What happened: the outcome of a step, why it failed, and the trace of a whole test.

use std::fmt;

use crate::{ActionId, Step, Test};

/// What one step, or one check of the invariants, came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to complain about.
    Passed,
    /// An exception that the harness expects; [`System::expected`](crate::System::expected) knows which.
    Expected,
    /// The system misbehaved.
    Failed(Box<Failure>),
    /// The person at the keyboard asked to stop. It says nothing about the system.
    Interrupted,
}

/// In which way a system misbehaved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureKind {
    /// An action raised what the harness does not expect.
    UncaughtException,
    /// An invariant is false or raised.
    Property,
    /// A slot holds a value of another type than its pool declares.
    PoolType,
    /// What a line promises after `=>` does not hold.
    PostCondition,
    /// The reference implementation returned something else.
    ReferenceMismatch,
    /// One of system and reference raised, the other did not (or, in the strict modes, something else).
    ExceptionMismatch,
    /// The process that the system lives in came to an end.
    Crash,
    /// A step did not come to an end.
    Hang,
    /// An implementation did something else than the model of it.
    ModelMismatch,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [FailureKind; 9] = [
        FailureKind::UncaughtException,
        FailureKind::Property,
        FailureKind::PoolType,
        FailureKind::PostCondition,
        FailureKind::ReferenceMismatch,
        FailureKind::ExceptionMismatch,
        FailureKind::Crash,
        FailureKind::Hang,
        FailureKind::ModelMismatch,
    ];

    /// The name used in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::UncaughtException => "uncaught-exception",
            FailureKind::Property => "property",
            FailureKind::PoolType => "pool-type",
            FailureKind::PostCondition => "post-condition",
            FailureKind::ReferenceMismatch => "reference-mismatch",
            FailureKind::ExceptionMismatch => "exception-mismatch",
            FailureKind::Crash => "crash",
            FailureKind::Hang => "hang",
            FailureKind::ModelMismatch => "model-mismatch",
        }
    }

    /// The kind of that name.
    pub fn of_name(name: &str) -> Option<FailureKind> {
        FailureKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Why a test failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// In which way.
    pub kind: FailureKind,
    /// For a person: one line, such as `KeyError: 3` or `property heightOk(avl0) is false`.
    pub message: String,
    /// What makes this failure the same one after reduction. Values that change with the test (numbers,
    /// addresses) are left out, the place where it was raised is in: two failures with equal kind and
    /// signature are one bug, as far as anybody can tell without understanding them.
    pub signature: String,
    /// More for a person: a traceback, the two values that differ; may be empty, may have many lines.
    pub details: String,
}

impl Failure {
    /// Whether reduction may go from one to the other without sliding to another bug.
    pub fn is_same_as(&self, other: &Failure) -> bool {
        self.kind == other.kind && self.signature == other.signature
    }
}

/// What happened to one step of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The system was reset in the middle of the test.
    Restarted,
    /// The action was not enabled and left out.
    Skipped(ActionId),
    /// The action was taken and passed.
    Passed(ActionId),
    /// The action was taken and raised an exception that the harness expects, as text.
    Expected(ActionId, String),
    /// The action was taken and the system misbehaved, in it or in the check after it.
    Failed(ActionId, Box<Failure>),
}

impl Event {
    /// Whether the same happened, as far as kind and signature tell. Texts do not count: they may speak of addresses.
    pub fn is_same_as(&self, other: &Event) -> bool {
        match (self, other) {
            (Event::Expected(one, _), Event::Expected(other, _)) => one == other,
            (Event::Failed(one, failure), Event::Failed(other, other_failure)) => {
                one == other && failure.is_same_as(other_failure)
            }
            _ => self == other,
        }
    }
}

/// What happened when a test ran, step by step, up to its end or first failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// One event per step that was reached.
    pub events: Vec<Event>,
    /// The run was ended by the person at the keyboard.
    pub interrupted: bool,
}

impl Trace {
    /// The failure the test ended with.
    pub fn failure(&self) -> Option<&Failure> {
        match self.events.last() {
            Some(Event::Failed(_, failure)) => Some(failure),
            _ => None,
        }
    }

    /// The steps that were taken, up to the failing one. Those that were skipped are left out.
    pub fn executed(&self) -> Test {
        let step = |event: &Event| match event {
            Event::Restarted => Some(Step::Restart),
            Event::Skipped(_) => None,
            Event::Passed(action) | Event::Failed(action, _) | Event::Expected(action, _) => {
                Some(Step::Act(*action))
            }
        };
        Test::of_steps(self.events.iter().filter_map(step).collect())
    }
}
