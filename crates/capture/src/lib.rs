//! Turns a recording of a running program into unit tests.
//!
//! The data:
//!
//! - [`Value`] and [`ValueGraph`] represent Python values as plain data.
//! - [`Recording`] holds the calls of a program with their arguments and outcomes, the state before
//!   and after, and the input and output.
//! - [`Call::effects`](Call::effects) computes what a call changed.
//! - [`store`] keeps recordings on disk, [`describe`] renders them for people, [`export`] as JSON
//!   for other tools.
//!
//! `testwright-python` watches the program and produces this data. Nothing in this crate needs an
//! interpreter.
//!
//! The pipeline from a recording to test files:
//!
//! 1. [`inspect`] reads the project's source files.
//! 2. [`select`] picks few calls that show all recorded behavior.
//! 3. [`write`](mod@write) writes a unit test for each of them.
//! 4. [`validate`] runs the tests and keeps those that pass every time.
//! 5. [`merge`] adds them to test files without touching hand-written code.
//! 6. [`generate`] runs these steps together.
//!
//! [`mutate`] measures which changes of the code the tests would detect. [`mod@draft`] drafts a
//! harness from the same recording.

#![warn(missing_docs)]

pub mod canonical_clock;
pub mod describe;
mod digest;
pub mod draft;
mod effects;
pub mod export;
pub mod generate;
mod graph;
pub mod inspect;
pub mod merge;
pub mod mutate;
mod recording;
pub mod select;
pub mod store;
pub mod suite;
#[cfg(test)]
mod toys;
pub mod validate;
mod value;
pub mod write;

pub use effects::CallEffect;
pub use graph::{ValueGraph, ValueNode};
pub use recording::{
    BindingKind, BoundArgument, Call, CallId, CallOutcome, CodeUnit, ExternalEvent, ExternalReply,
    ExternalSource, FileState, GeneratorStep, Interaction, MASKED, ProgramRun, ProgramVariable,
    Receiver, Recording, StepAction, StepOutcome, UnitId, UnitKind, UnitParameter, VariableState,
};
pub use value::{
    ExactFloat, Exception, ImportPath, InstanceValue, LocalFunction, NodeId, ObjectId, ObjectKind,
    Value, as_name,
};
