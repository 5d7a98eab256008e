//! What supervisor and worker say to each other: messages in JSON, each after its length in four bytes.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use testwright_core::{ActionId, Error, Outcome};

use crate::sent::{SentFailure, SentName};

/// No message is longer. One that says it is comes from code under test that wrote into our connection.
const LONGEST: usize = 64 << 20;

/// What a supervisor asks of a system that lives in a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Request {
    Reset,
    /// What actions are called, of which both sides may think by different numbers.
    Number(Vec<SentName>),
    IsEnabled(u64),
    Enabled,
    Step(u64),
    Expected,
    Check,
}

/// What the worker answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    /// It cannot be done, and why.
    Impossible {
        message: String,
        help: Option<String>,
    },
    Truth(bool),
    Actions(Vec<u64>),
    /// The numbers of those that were asked for, as far as there are any.
    Numbers(Vec<Option<u64>>),
    Text(String),
    Passed,
    ExpectedException,
    Failed(SentFailure),
    Interrupted,
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Answer {
        match outcome {
            Outcome::Passed => Answer::Passed,
            Outcome::Expected => Answer::ExpectedException,
            Outcome::Interrupted => Answer::Interrupted,
            Outcome::Failed(failure) => Answer::Failed(SentFailure::from(&*failure)),
        }
    }
}

impl From<Result<(), Error>> for Answer {
    fn from(result: Result<(), Error>) -> Answer {
        match result {
            Ok(()) => Answer::Done,
            Err(Error { message, help }) => Answer::Impossible { message, help },
        }
    }
}

impl Answer {
    /// The outcome that was asked for, unless this is the answer to something else.
    pub(crate) fn outcome(self) -> Option<Outcome> {
        Some(match self {
            Answer::Passed => Outcome::Passed,
            Answer::ExpectedException => Outcome::Expected,
            Answer::Interrupted => Outcome::Interrupted,
            Answer::Failed(failure) => Outcome::Failed(Box::new(failure.into_failure()?)),
            _ => return None,
        })
    }

    pub(crate) fn actions(self) -> Option<Vec<ActionId>> {
        match self {
            Answer::Actions(actions) => Some(actions.into_iter().map(ActionId).collect()),
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

/// Waits for a message. An error of the kind [`io::ErrorKind::InvalidData`] means that it is none of ours.
pub(crate) fn receive<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<M> {
    let mut prefix = [0; 4];
    from.read_exact(&mut prefix)?;
    let length = u32::from_le_bytes(prefix) as usize;
    if length > LONGEST {
        return Err(too_long(length));
    }
    // Read as it comes, so that a length that is not true takes no memory.
    let mut text = Vec::new();
    from.take(length as u64).read_to_end(&mut text)?;
    if text.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&text)?)
}

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
        send(&mut wire, &Answer::from(outcome.clone())).unwrap();
        send(&mut wire, &Answer::Actions(vec![0, u64::MAX])).unwrap();
        let mut wire = wire.as_slice();
        let answer: Answer = receive(&mut wire).unwrap();
        assert_eq!(answer.outcome(), Some(outcome));
        let answer: Answer = receive(&mut wire).unwrap();
        assert_eq!(
            answer.actions(),
            Some(vec![ActionId(0), ActionId(u64::MAX)])
        );
        let end = receive::<Answer>(&mut wire).unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let kind = |bytes: &[u8]| receive::<Answer>(&mut &bytes[..]).unwrap_err().kind();
        assert_eq!(kind(b"Hello, world"), io::ErrorKind::InvalidData);
        assert_eq!(kind(b"\x03\0\0\0abc"), io::ErrorKind::InvalidData);
        assert_eq!(kind(b"\x09\0\0\0abc"), io::ErrorKind::UnexpectedEof);
        assert_eq!(Answer::Done.outcome(), None);
        let unknown = SentFailure {
            kind: "sulk".to_owned(),
            ..SentFailure::default()
        };
        assert_eq!(Answer::Failed(unknown).outcome(), None);
    }
}
