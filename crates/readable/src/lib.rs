//! Properties, models, harnesses and failing tests in plain English, for people who do not program.
//!
//! Python is read and never run. The parts build on one another:
//!
//! - [`term`] resolves the names of an expression and works out its constants;
//! - [`phrase`] turns terms into noun phrases and clauses, with the words of [`idiom`] files;
//! - [`explain`] executes the actions of a model symbolically, [`property`] reads the body of a
//!   property, and [`counterexample`] reads a failing test or run;
//! - [`block`] and [`gherkin`] hold the resulting trees, which [`render`] and [`gherkin::write()`]
//!   turn into text.
//!
//! The wording follows numbered rules. `docs/readable-rules.md` lists them; comments and test names
//! cite them by number, such as C12 for lengths.

#![warn(missing_docs)]

mod accumulation;
mod big_stack;
pub mod block;
pub mod counterexample;
pub mod drift;
pub mod explain;
pub mod gherkin;
pub mod idiom;
pub mod kind;
pub mod measure;
pub mod mermaid;
pub mod phrase;
pub mod property;
mod quotation;
pub mod render;
pub mod sample;
pub mod steps;
pub mod term;
pub mod value;
pub mod words;
