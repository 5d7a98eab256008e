//! The CPython backend: a harness plus an interpreter is a [`System`](testwright_core::System).
//!
//! Start with [`PythonSystem`]. [`attach`] gives the interpreter, [`PythonSystem::load`] brings a harness to
//! life, and from there everything in `testwright_core` works on it. Inside, `load` sets the scene, `plan` and
//! `functions` turn lines into Python functions, `pool_states` and `weights` know what is enabled, `mirror`
//! runs the reference implementation, `failures` turns exceptions into failures. `modules` and `surroundings` know
//! what a reset has to put back, `coverage` which lines and branches were reached, `sight` what a property can see.
//! [`recorder`] watches any program, and has nothing to do with harnesses.
//!
//! All `unsafe` code of the project is here. Most of it calls the interpreter where its safe interface would cost
//! too much in every step; `coverage` changes code that runs, and `sight` and `imprint` read objects where the
//! interpreter keeps them. Each block says why it is sound.

#![warn(missing_docs)]

mod actions;
mod assignment;
mod by_key;
mod call;
mod chance;
mod checks;
mod context;
mod coverage;
mod covered;
mod dictionary;
mod draw;
mod explain;
mod expression;
mod failures;
mod fingerprint;
mod forked;
mod functions;
mod guidance;
mod harness_object;
mod hooks;
mod imprint;
mod interpreter;
mod interrupt;
mod kept;
mod layout;
mod library;
mod line_code;
mod load;
mod logs;
mod mirror;
mod model;
mod modules;
mod options;
mod output;
mod pattern;
mod plan;
mod pool_states;
pub mod recorder;
mod rejected;
mod reset;
mod restricted;
mod shapes;
mod sight;
mod skeleton;
mod slot_set;
mod snapshot;
mod stage;
mod standalone;
mod surroundings;
mod system;
mod weights;

pub use coverage::{Arc, Collector, Ended, MeasuredFile, SourceChoice};
pub use explain::SlotValue;
pub use expression::Expression;
pub use forked::{fork, leave, tell_of_crashes};
pub use hooks::Hook;
pub use interpreter::{Interpreter, attach, executable, search_path, version};
pub use interrupt::{interrupted, listen_to, never_mind, when_stuck};
pub use kept::KeptSystem;
pub use library::PoolValues;
pub use load::{LoadError, check};
pub use model::{
    Asker, Lint, Machine, Models, PythonChooser, Stepper, Steppers, ValuePassing, asked_to_stop,
    cases, flush, move_to,
};
pub use options::{ChecksWhen, Measured, Options, Process, ReferenceExceptions};
pub use output::{Output, Printed};
pub use pattern::Pattern;
pub use snapshot::PythonState;
pub use standalone::{Pieces, Style};
pub use system::{Problem, PythonSystem};
