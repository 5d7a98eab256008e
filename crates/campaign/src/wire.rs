//! Messages between supervisor and worker: JSON, each after its length in four bytes.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use testwright_core::{ActionId, Error, Examination, Outcome, PoolId, SlotComparison};

use crate::sent::{SentFailure, SentName};

/// The maximum length of a message. A larger length comes from code under test that wrote into the
/// connection.
const MAX_MESSAGE: usize = 64 << 20;

/// A supervisor's request to a system in a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SystemRequest {
    /// Reset the system.
    Reset,
    /// Return the worker's numbers of actions with these names.
    FindNumbers(Vec<SentName>),
    /// Return whether an action is enabled.
    IsEnabled(u64),
    /// Return all enabled actions.
    Enabled,
    /// Take a step.
    Step(u64),
    /// Return the exception of the last step as text, if the step was allowed to raise it.
    Expected,
    /// Check the invariants.
    Check,
    /// Examine the state.
    Examine,
    /// Take a step, and return its outcome with the lines that it executes.
    StepWithLines(u64),
}

/// The worker's reply to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SystemReply {
    /// The reset succeeded.
    Done,
    /// The request cannot be performed, for this reason.
    Impossible {
        message: String,
        help: Option<String>,
    },
    /// The answer to `IsEnabled`.
    Bool(bool),
    /// The enabled actions.
    Actions(Vec<u64>),
    /// The numbers of the named actions, as far as they exist.
    Numbers(Vec<Option<u64>>),
    /// The requested text.
    Text(String),
    /// The step or check passed.
    Passed,
    /// The step raised an exception that it may raise.
    ExpectedException,
    /// The step or check failed.
    Failed(SentFailure),
    /// The step was interrupted.
    Interrupted,
    /// The examined state.
    Examined(Option<SentExamination>),
    /// The lines that a step executed, and its outcome.
    Lines(Vec<String>, Box<SystemReply>),
}

/// A [state that was examined](Examination), in a form that can be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentExamination {
    observers: Vec<u64>,
    /// The two halves of the key, since JSON has no numbers of 128 bits.
    state: Option<(u64, u64)>,
    /// Pool, slot, differences, and whether they prove anything.
    slots: Vec<(usize, u32, Vec<String>, bool)>,
    constants: Vec<usize>,
    violations: Vec<String>,
}

impl From<Examination> for SentExamination {
    fn from(state: Examination) -> SentExamination {
        let halves = |key: u128| ((key >> 64) as u64, key as u64);
        let sent = |one: SlotComparison| (one.pool.0, one.slot, one.differences, one.is_comparable);
        SentExamination {
            observers: state.observers.iter().map(|action| action.0).collect(),
            state: state.state.map(halves),
            slots: state.slots.into_iter().map(sent).collect(),
            constants: state.constants.iter().map(|pool| pool.0).collect(),
            violations: state.violations,
        }
    }
}

impl From<SentExamination> for Examination {
    fn from(sent: SentExamination) -> Examination {
        let key = |(high, low): (u64, u64)| u128::from(high) << 64 | u128::from(low);
        let received = |(pool, slot, differences, is_comparable)| SlotComparison {
            pool: PoolId(pool),
            slot,
            differences,
            is_comparable,
        };
        Examination {
            observers: sent.observers.into_iter().map(ActionId).collect(),
            state: sent.state.map(key),
            slots: sent.slots.into_iter().map(received).collect(),
            constants: sent.constants.into_iter().map(PoolId).collect(),
            violations: sent.violations,
        }
    }
}

impl From<Outcome> for SystemReply {
    fn from(outcome: Outcome) -> SystemReply {
        match outcome {
            Outcome::Passed => SystemReply::Passed,
            Outcome::Expected => SystemReply::ExpectedException,
            Outcome::Interrupted => SystemReply::Interrupted,
            Outcome::Failed(failure) => SystemReply::Failed(SentFailure::from(&*failure)),
        }
    }
}

impl From<Result<(), Error>> for SystemReply {
    fn from(result: Result<(), Error>) -> SystemReply {
        match result {
            Ok(()) => SystemReply::Done,
            Err(Error { message, help }) => SystemReply::Impossible { message, help },
        }
    }
}

impl SystemReply {
    /// Returns the outcome, or `None` if this is the reply to another kind of request.
    pub(crate) fn outcome(self) -> Option<Outcome> {
        Some(match self {
            SystemReply::Passed => Outcome::Passed,
            SystemReply::ExpectedException => Outcome::Expected,
            SystemReply::Interrupted => Outcome::Interrupted,
            SystemReply::Failed(failure) => Outcome::Failed(Box::new(failure.into_failure()?)),
            _ => return None,
        })
    }

    /// Returns the enabled actions, or `None` if this is the reply to another kind of request.
    pub(crate) fn actions(self) -> Option<Vec<ActionId>> {
        match self {
            SystemReply::Actions(actions) => Some(actions.into_iter().map(ActionId).collect()),
            _ => None,
        }
    }
}

/// Sends a message.
pub(crate) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = frame.len() - 4;
    let prefix = u32::try_from(length).map_err(|_| too_long(length))?;
    frame[..4].copy_from_slice(&prefix.to_le_bytes());
    to.write_all(&frame)?;
    to.flush()
}

/// Waits for a message. An error of kind [`io::ErrorKind::InvalidData`] means that the data is
/// not a message of this protocol.
pub(crate) fn receive<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<M> {
    let mut prefix = [0; 4];
    from.read_exact(&mut prefix)?;
    let length = u32::from_le_bytes(prefix) as usize;
    if length > MAX_MESSAGE {
        return Err(too_long(length));
    }
    // Read in portions, so that a wrong length allocates no memory.
    let mut text = Vec::new();
    from.take(length as u64).read_to_end(&mut text)?;
    if text.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&text)?)
}

/// Returns the error for a message that exceeds [`MAX_MESSAGE`].
fn too_long(length: usize) -> io::Error {
    let message = format!("a message of {length} bytes is too long");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use testwright_core::{Failure, FailureKind};

    use super::*;

    #[test]
    fn messages_arrive_one_by_one() {
        let mut wire = Vec::new();
        let failure = Failure {
            kind: FailureKind::Crash,
            message: "naïve \u{0} \u{1f600}".to_owned(),
            signature: String::new(),
            details: "a\nb".to_owned(),
        };
        let outcome = Outcome::Failed(Box::new(failure));
        send(&mut wire, &SystemReply::from(outcome.clone())).unwrap();
        send(&mut wire, &SystemReply::Actions(vec![0, u64::MAX])).unwrap();
        let mut wire = wire.as_slice();
        let answer: SystemReply = receive(&mut wire).unwrap();
        assert_eq!(answer.outcome(), Some(outcome));
        let answer: SystemReply = receive(&mut wire).unwrap();
        assert_eq!(
            answer.actions(),
            Some(vec![ActionId(0), ActionId(u64::MAX)])
        );
        let end = receive::<SystemReply>(&mut wire).unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn invalid_messages_are_refused() {
        let kind = |bytes: &[u8]| receive::<SystemReply>(&mut &bytes[..]).unwrap_err().kind();
        assert_eq!(kind(b"Hello, world"), io::ErrorKind::InvalidData);
        assert_eq!(kind(b"\x03\0\0\0abc"), io::ErrorKind::InvalidData);
        assert_eq!(kind(b"\x09\0\0\0abc"), io::ErrorKind::UnexpectedEof);
        assert_eq!(SystemReply::Done.outcome(), None);
        let unknown = SentFailure {
            kind: "sulk".to_owned(),
            ..SentFailure::default()
        };
        assert_eq!(SystemReply::Failed(unknown).outcome(), None);
    }
}
