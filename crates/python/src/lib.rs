//! The CPython backend: a harness plus an interpreter is a [`System`](testwright_core::System).
//!
//! Start with [`PythonSystem`]. [`attach`] gives access to the interpreter, [`PythonSystem::load`]
//! loads a harness, and from there everything in `testwright_core` works on it.
//!
//! Inside, `load` sets everything up. `plan` and `functions` turn lines into Python functions, and
//! `actions` compiles and calls them. `pool_states` and `weights` know which actions the slots
//! allow. `reference_rules` translates actions for the reference implementation, and `failures`
//! turns exceptions into failures. `modules`, `process_state` and `process_snapshot` know what a
//! reset has to restore, `coverage` which lines and branches were reached, `reachability` which
//! objects a property can see. [`recorder`] records calls of any program and is independent of
//! harnesses.
//!
//! Almost all `unsafe` code of the project is here. Most of it calls the interpreter where its safe
//! interface would cost too much in every step; `coverage` changes running code, and `reachability`
//! and `module_snapshot` read objects in the interpreter's memory. Each block says why it is sound.

#![warn(missing_docs)]

mod actions;
mod assignment;
mod call;
mod checks;
mod context;
mod coverage;
mod detached;
mod dictionary;
mod draw;
mod examine;
mod exit_handlers;
mod explain;
mod expression;
mod failures;
mod fingerprint;
mod forking;
mod functions;
mod harness_object;
mod hooks;
mod interpreter;
mod interrupt;
mod key_table;
mod library;
mod line_code;
mod load;
mod logs;
mod model;
mod module_snapshot;
mod modules;
mod options;
mod output;
mod outside_watch;
mod pattern;
mod plan;
mod pool_states;
mod process_snapshot;
mod process_state;
mod random_module;
mod reachability;
pub mod recorder;
mod reference_rules;
mod rejected;
mod reset;
mod restricted;
mod scenario_guide;
mod shapes;
mod skeleton;
mod slot_layout;
mod slot_set;
mod snapshot;
mod standalone;
mod state_tracker;
mod system;
mod system_coverage;
mod unawaited;
mod walker;
mod weights;

pub use coverage::{Arc, Collector, MeasuredFile, ProgramExit, SourceSelection};
pub use detached::DetachedSystem;
pub use exit_handlers::run_exit_handlers;
pub use explain::SlotValue;
pub use expression::StateExpression;
pub use failures::ExceptionIdentity;
pub use forking::{enable_crash_reports, exit_now, fork};
pub use hooks::Hook;
pub use interpreter::{Interpreter, attach, executable, search_path, set_environment, version};
pub use interrupt::{
    clear_interrupt, is_interrupted, mark_progress, set_exit_report, set_external_request,
    share_progress,
};
pub use library::PoolValues;
pub use load::{LoadError, check};
pub use model::{
    ActionParameter, FsmDrawing, Models, PythonChooser, PythonValueCodec, StateEvaluator,
    StateLint, Stepper, StepperFactory, StepperLimits, change_folder, flush, is_stop_requested,
    load_cases,
};
pub use options::{CheckMode, MeasuredCode, Options, ProcessOwner, ReferenceExceptions};
pub use output::{OutputCapture, OutputMode};
pub use pattern::TextPattern;
pub use snapshot::{CopiedState, PythonState};
pub use standalone::{
    StandaloneEnd, StandaloneFile, StandaloneStyle, StandaloneTarget, TestPieces,
};
pub use system::{HarnessProblem, PythonSystem};
