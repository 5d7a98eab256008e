//! What a line of the store says.
//!
//! Calls are stored as they are in memory, but for their graph: each [`NodeId`](crate::NodeId) in a stored call is a
//! place in its list of [`Link`]s.

use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;
use siphasher::sip128::{Hasher128, SipHasher13 as Sip128};

use crate::recording::{
    Argument, CallId, Event, Execution, Outcome, PlaceState, Receiver, Step, Unit, UnitId,
};
use crate::value::{ObjectId, Value};

/// The version of everything below. A file of another version is not read.
pub(super) const VERSION: u32 = 1;

/// A value by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Digest(u128);

impl Digest {
    pub(super) fn of(text: &str) -> Digest {
        let mut hasher = Sip128::new();
        hasher.write(text.as_bytes());
        Digest(hasher.finish128().as_u128())
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        format!("{:032x}", digest.0)
    }
}

impl TryFrom<String> for Digest {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Digest, Self::Error> {
        u128::from_str_radix(&text, 16).map(Digest)
    }
}

/// How a stored value refers to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Link {
    /// A value without parts, right here.
    #[serde(rename = "h")]
    Here(Box<Value<Link>>),
    /// A large value without parts.
    #[serde(rename = "v")]
    Leaf(Digest),
    /// A node that is met for the first time, right here. Nodes with parts or with an identity are numbered in the
    /// order in which they are met.
    #[serde(rename = "n")]
    New(Box<Value<Link>>),
    /// The same for a larger one.
    #[serde(rename = "o")]
    Node(Digest),
    /// The node with this number, which was met before.
    #[serde(rename = "s")]
    Same(u32),
}

/// A call without its graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredCall {
    pub(super) id: CallId,
    pub(super) end: Option<u64>,
    pub(super) thread: u32,
    pub(super) task: Option<u32>,
    pub(super) unit: UnitId,
    pub(super) caller: Option<CallId>,
    pub(super) is_from_own_method: bool,
    pub(super) receiver: Receiver,
    pub(super) arguments: Vec<Argument>,
    pub(super) places: Vec<PlaceState>,
    pub(super) outcome: Outcome,
    pub(super) steps: Vec<Step>,
    pub(super) events: Vec<Event>,
    pub(super) lines: Vec<u32>,
    pub(super) microseconds: u64,
    pub(super) uncaptured: Vec<String>,
    /// What the call refers to.
    pub(super) links: Vec<Link>,
    /// Which objects the numbered nodes are.
    pub(super) objects: Vec<Option<ObjectId>>,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Record {
    Begin {
        version: u32,
        execution: Execution,
    },
    Unit(Unit),
    Value(Digest, Value<Link>),
    Entered {
        call: CallId,
        unit: UnitId,
        caller: Option<CallId>,
    },
    Call(Box<StoredCall>),
    Dropped(CallId),
    Counts(Vec<u64>),
    Trouble(String),
    End,
}

impl Record {
    /// As it is written. JSON has no line breaks in it, so a line is a record.
    pub(super) fn line(&self) -> serde_json::Result<String> {
        let text = serde_json::to_string(self)?;
        Ok(format!("{:016x} {text}\n", checksum(&text)))
    }

    /// The record in a line (without its end), if it is as it was written.
    pub(super) fn from_line(line: &[u8]) -> Option<Record> {
        let (sum, text) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        let is_intact = sum.len() == 16 && u64::from_str_radix(sum, 16) == Ok(checksum(text));
        is_intact.then(|| serde_json::from_str(text).ok())?
    }
}

fn checksum(text: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}
