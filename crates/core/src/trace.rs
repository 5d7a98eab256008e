//! The events of a run: the outcome of a step, the reason for a failure, and the trace of a whole
//! test.

use std::fmt;

use crate::{ActionId, Step, Test};

/// The outcome of one step, or of one check of the invariants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No problem.
    Passed,
    /// An exception that the harness expects;
    /// [`System::expected_exception`](crate::System::expected_exception) returns it.
    Expected,
    /// The system misbehaved.
    Failed(Box<Failure>),
    /// The user asked to stop. This says nothing about the system.
    Interrupted,
}

/// The way in which a system misbehaved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureKind {
    /// An action raised an exception that the harness does not expect.
    UncaughtException,
    /// An invariant is false or raised an exception.
    Property,
    /// A slot holds a value of another type than its pool declares.
    PoolType,
    /// A post-condition (after `=>`) does not hold.
    PostCondition,
    /// The reference implementation returned something else.
    ReferenceMismatch,
    /// Only one of system and reference raised an exception (or, in the strict modes, they raised
    /// different ones).
    ExceptionMismatch,
    /// The process of the system ended.
    Crash,
    /// A step did not end in time.
    Hang,
    /// An implementation did something else than its model.
    ModelMismatch,
}

impl FailureKind {
    /// All kinds.
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

    /// Returns the name used in reports and files.
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

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<FailureKind> {
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

/// The reason why a test failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The way in which the system misbehaved.
    pub kind: FailureKind,
    /// For a person: one line, such as `KeyError: 3` or `property heightOk(avl0) is false`.
    pub message: String,
    /// The identity of this failure, which reduction preserves. Values that change with the test
    /// (numbers, addresses) are left out; the location where it was raised is included. Two
    /// failures with equal kind and signature are treated as one bug.
    pub signature: String,
    /// More details for a person: a traceback, the two values that differ; may be empty, may have
    /// many lines.
    pub details: String,
}

impl Failure {
    /// Returns true if reduction may go from one failure to the other without switching to another
    /// bug.
    pub fn is_same_as(&self, other: &Failure) -> bool {
        self.kind == other.kind && self.signature == other.signature
    }
}

/// The result of one step of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// The system was reset in the middle of the test.
    Restarted,
    /// The action was not enabled and was skipped.
    Skipped(ActionId),
    /// The action was taken and passed.
    Passed(ActionId),
    /// The action was taken and raised an exception that the harness expects, as text.
    Expected(ActionId, String),
    /// The action was taken and the system misbehaved, in it or in the check after it.
    Failed(ActionId, Box<Failure>),
}

impl TraceEvent {
    /// Returns true if the same happened, by kind and signature. Texts are ignored, since they may
    /// contain addresses.
    pub fn is_same_as(&self, other: &TraceEvent) -> bool {
        match (self, other) {
            (TraceEvent::Expected(one, _), TraceEvent::Expected(other, _)) => one == other,
            (TraceEvent::Failed(one, failure), TraceEvent::Failed(other, other_failure)) => {
                one == other && failure.is_same_as(other_failure)
            }
            _ => self == other,
        }
    }
}

/// The events of a test run, step by step, up to its end or first failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// One event per step that was reached.
    pub events: Vec<TraceEvent>,
    /// True if the user ended the run.
    pub interrupted: bool,
}

impl Trace {
    /// Returns true if at least one action was taken.
    pub fn has_taken_step(&self) -> bool {
        let is_step =
            |event: &TraceEvent| !matches!(event, TraceEvent::Restarted | TraceEvent::Skipped(_));
        self.events.iter().any(is_step)
    }

    /// Returns the number of steps that were skipped, since they were not enabled.
    pub fn skipped_steps(&self) -> usize {
        let skipped = |event: &&TraceEvent| matches!(event, TraceEvent::Skipped(_));
        self.events.iter().filter(skipped).count()
    }

    /// Returns the failure that the test ended with.
    pub fn failure(&self) -> Option<&Failure> {
        match self.events.last() {
            Some(TraceEvent::Failed(_, failure)) => Some(failure),
            _ => None,
        }
    }

    /// Returns the executed steps, up to the failing one. Skipped steps are left out.
    pub fn executed_test(&self) -> Test {
        let step = |event: &TraceEvent| match event {
            TraceEvent::Restarted => Some(Step::Restart),
            TraceEvent::Skipped(_) => None,
            TraceEvent::Passed(action)
            | TraceEvent::Failed(action, _)
            | TraceEvent::Expected(action, _) => Some(Step::Act(*action)),
        };
        Test::from_steps(self.events.iter().filter_map(step).collect())
    }
}
