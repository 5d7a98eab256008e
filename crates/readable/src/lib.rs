//! Properties, models, harnesses and failing tests in plain English, for people who do not program.
//!
//! Python is read, never run: an expression becomes a term, a term becomes a phrase, phrases become
//! blocks, and only the last step, a renderer, makes text of them.

#![warn(missing_docs)]

mod addition;
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
mod room;
pub mod sample;
pub mod steps;
pub mod term;
pub mod value;
pub mod words;
