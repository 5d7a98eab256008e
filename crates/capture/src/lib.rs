//! A running program becomes a recording, and a recording becomes the unit tests it lacked.
//!
//! [`value`](Value) says how values of a program are told as plain data, and [`Recording`] what the program did with
//! them: calls with their arguments and outcomes, the state before and after, and what came from outside.
//! [`Call::effects`](Call::effects) finds what a call changed. A program is watched by `testwright-python`, which
//! hands such data over; nothing here needs an interpreter. [`store`] keeps it on disk, [`words`] shows it to
//! people, and [`told`] to other tools.
//!
//! From there it goes on like this: [`inspect`] reads what the project consists of, [`select`] chooses few calls that show
//! everything, [`write`](mod@write) makes tests of them, [`validate`] runs these and keeps what is true each time, [`merge`] puts them
//! into files that people edit, and [`generate`] is all of that together. [`mutate`] tells what the tests would notice.
//! [`mod@draft`] makes a first harness from the same data.

#![warn(missing_docs)]

mod digest;
pub mod draft;
mod effects;
pub mod generate;
mod graph;
pub mod inspect;
pub mod merge;
pub mod mutate;
pub mod plain_clock;
mod recording;
pub mod select;
pub mod store;
pub mod suite;
pub mod told;
#[cfg(test)]
mod toys;
pub mod validate;
mod value;
pub mod words;
pub mod write;

pub use effects::Effect;
pub use graph::{Graph, Node};
pub use recording::{
    Answer, Argument, Call, CallId, Event, Execution, External, FileState, MASKED, Outcome,
    Parameter, ParameterKind, Place, PlaceState, Receiver, Recording, Source, Step, StepAction,
    StepOutcome, Unit, UnitId, UnitKind,
};
pub use value::{
    Exception, Float, Function, NodeId, Object, ObjectId, ObjectKind, Reference, Value, word,
};
