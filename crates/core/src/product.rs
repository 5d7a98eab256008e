//! Composition of models that take steps together.
//!
//! A [`Model`] knows which steps are possible in any of its states, and where each leads: a model
//! program, a finite state machine, a list of runs. A [`System`](crate::System) is in one state at
//! a time; a model is queried about states, in any order.
//!
//! A [`Product`] composes models. Actions that several models name are taken together; actions that
//! only one model names are taken alone. So a small machine with `login` and `logout` makes a big
//! model log in and out in the machine's order, and leaves its other actions unconstrained:
//!
//! ```
//! use testwright_core::product::{Phase, Product};
//! use testwright_core::toys::ToyMachine;
//!
//! // A lamp that shines or not, and can be dimmed while it does.
//! let mut interner = ToyMachine::interner();
//! let lamp = ["off switch(1) on", "on dim on", "on switch(0) off"];
//! let lamp = ToyMachine::program(&mut interner, "lamp", &lamp);
//! // It should be switched twice, however.
//! let twice = ToyMachine::scenario(&mut interner, "twice", &["a switch b", "b switch c"]);
//! let mut both = Product::new(interner, vec![Box::new(lamp), Box::new(twice)]);
//!
//! let off = both.start(0).unwrap().unwrap();
//! let steps = both.possible_steps(&off, Phase::Normal).unwrap();
//! assert_eq!(steps.len(), 1); // to switch it on
//! let on = &steps[0].to;
//! let steps = both.possible_steps(on, Phase::Normal).unwrap();
//! let names: Vec<&str> = steps.iter().map(|one| both.interner().name_text(one.label.name)).collect();
//! assert_eq!(names, ["dim", "switch"]);
//! let off = &steps[1].to;
//! assert!(both.possible_steps(off, Phase::Normal).unwrap().is_empty()); // not a third time
//! ```
//!
//! Steps are [`StepLabel`]s: a name, arguments and a result. Two labels are equal if their parts
//! are equal as values of the language of the models. Core does not know that language, so each
//! value is a number that the loader of the models assigns ([`Interner`]).

mod compose;
mod interner;
mod model;

pub use compose::{BlockedAction, JointStep, Product};
pub use interner::{Interner, NameId, StepLabel, ValueId, ValueText};
pub use model::{
    BlockReason, Model, ModelError, ModelNotices, ModelState, ModelStep, Phase, SourceError,
};
