//! Several models moving together.
//!
//! A [`Model`] is what can say which steps are possible in any of its states, and where each leads: a model program, a
//! finite state machine, a list of runs. Where a [`System`](crate::System) lives in one state at a time and is led
//! around, a model is asked about states, in any order.
//!
//! A [`Product`] puts models together. What several of them know by name they do together; what only one knows it does
//! alone. So a small machine that knows `login` and `logout` makes a big model log in and out in the order that the
//! machine says, and lets it do all else as it likes:
//!
//! ```
//! use testwright_core::product::{Phase, Product};
//! use testwright_core::toys::Machine;
//!
//! // A lamp that shines or not, and can be dimmed while it does.
//! let mut words = Machine::words();
//! let lamp = ["off switch(1) on", "on dim on", "on switch(0) off"];
//! let lamp = Machine::program(&mut words, "lamp", &lamp);
//! // It should be switched twice, however.
//! let twice = Machine::scenario(&mut words, "twice", &["a switch b", "b switch c"]);
//! let mut both = Product::new(words, vec![Box::new(lamp), Box::new(twice)]);
//!
//! let off = both.start(0).unwrap().unwrap();
//! let moves = both.moves(&off, Phase::Usual).unwrap();
//! assert_eq!(moves.len(), 1); // to switch it on
//! let on = &moves[0].to;
//! let moves = both.moves(on, Phase::Usual).unwrap();
//! let names: Vec<&str> = moves.iter().map(|one| both.words().name_text(one.label.name)).collect();
//! assert_eq!(names, ["dim", "switch"]);
//! let off = &moves[1].to;
//! assert!(both.moves(off, Phase::Usual).unwrap().is_empty()); // not a third time
//! ```
//!
//! Steps are [`Label`]s: a name, arguments and a result. Two of them are the same if their parts are equal as values of
//! the language that the models are written in, and since that is not known here, each value is a number that the
//! reader of the models gives it ([`Words`]).

mod compose;
mod model;
mod words;

pub use compose::{Blocked, Joint, Product};
pub use model::{Misread, Model, Move, Phase, Place, Refusal, Trouble};
pub use words::{Label, NameId, ValueId, ValueText, Words};
