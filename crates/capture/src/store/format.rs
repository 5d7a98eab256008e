//! The records of the store.
//!
//! Calls are stored as they are in memory, except for their graph: each [`NodeId`](crate::NodeId)
//! in a stored call is an index into its list of [`Link`]s. Names of fields and variants are part
//! of the file format.

use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;
use siphasher::sip128::{Hasher128, SipHasher13 as Sip128};

use crate::recording::{
    BoundArgument, CallId, CallOutcome, CodeUnit, ExternalEvent, GeneratorStep, ProgramRun,
    Receiver, UnitId, VariableState,
};
use crate::value::{ObjectId, Value};

/// The version of the format. Files of other versions are not read.
pub(super) const VERSION: u32 = 1;

/// The digest of a value's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Digest(u128);

impl Digest {
    /// Computes the digest of a serialized value.
    pub(super) fn of_text(text: &str) -> Digest {
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

/// A reference from one stored value to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Link {
    /// A short value without parts, inline.
    #[serde(rename = "h")]
    InlineLeaf(Box<Value<Link>>),
    /// A long value without parts, by its digest.
    #[serde(rename = "v")]
    StoredLeaf(Digest),
    /// The first occurrence of a short node, inline. Nodes with parts or an identity are numbered
    /// in the order of their first occurrence.
    #[serde(rename = "n")]
    InlineNode(Box<Value<Link>>),
    /// The first occurrence of a long node, by its digest.
    #[serde(rename = "o")]
    StoredNode(Digest),
    /// A node that occurred before, by its number.
    #[serde(rename = "s")]
    KnownNode(u32),
}

/// A call without its graph. The fields are those of [`Call`](crate::Call).
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
    pub(super) arguments: Vec<BoundArgument>,
    #[serde(rename = "places")]
    pub(super) variables: Vec<VariableState>,
    pub(super) outcome: CallOutcome,
    pub(super) steps: Vec<GeneratorStep>,
    pub(super) events: Vec<ExternalEvent>,
    pub(super) lines: Vec<u32>,
    pub(super) microseconds: u64,
    pub(super) uncaptured: Vec<String>,
    /// The references of the call to its values.
    pub(super) links: Vec<Link>,
    /// The identities of the numbered nodes.
    pub(super) objects: Vec<Option<ObjectId>>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum StoreRecord {
    /// The first record of a file.
    Begin { version: u32, execution: ProgramRun },
    /// A unit; its number is the number of units before it.
    Unit(CodeUnit),
    /// A value, by its digest.
    Value(Digest, Value<Link>),
    /// The beginning of a call.
    Entered {
        call: CallId,
        unit: UnitId,
        caller: Option<CallId>,
    },
    /// A finished call.
    Call(Box<StoredCall>),
    /// The end of a call that is not kept.
    Dropped(CallId),
    /// The number of calls of each unit.
    Counts(Vec<u64>),
    /// An error of the recorder.
    Trouble(String),
    /// The end of the recording.
    End,
}

impl StoreRecord {
    /// Renders the record as a line. JSON contains no line breaks, so a line is a record.
    pub(super) fn line(&self) -> serde_json::Result<String> {
        let text = serde_json::to_string(self)?;
        Ok(format!("{:016x} {text}\n", checksum(&text)))
    }

    /// Parses a line (without its end); `None` if it is damaged.
    pub(super) fn from_line(line: &[u8]) -> Option<StoreRecord> {
        let (sum, text) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        let is_intact = sum.len() == 16 && u64::from_str_radix(sum, 16) == Ok(checksum(text));
        is_intact.then(|| serde_json::from_str(text).ok())?
    }
}

/// Computes the checksum of a line.
fn checksum(text: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}
