//! Python source *text*: is it right, where are its parts, and which names does it use.
//!
//! Nothing here runs code, reads a file or knows about test harnesses. Text goes in; out come ranges of bytes into that text,
//! always on the boundaries of characters, and words for a person. No text makes it panic: what is nested too deeply to be
//! parsed safely is a [`Problem`] like any other.
//!
//! ```
//! use testwright_source::{check_statements, definitions, names, needed};
//!
//! // Is it Python? If not, where and why.
//! let problems = check_statements("stack.push(1");
//! assert_eq!(problems[0].range, 10..11);
//! assert_eq!(problems[0].message, "this `(` is never closed");
//!
//! // Which names does it need, and which part of a module defines them?
//! let module = "import math\nlimit = 3\ndef area(r): return math.pi * r * r\n";
//! let reads = names("a = area(2)").unwrap_or_default().reads;
//! let definitions = definitions(module).unwrap_or_default();
//! let kept: Vec<&str> = needed(&definitions, &reads)
//!     .into_iter()
//!     .map(|definition| &module[definition.range.clone()])
//!     .collect();
//! assert_eq!(kept, ["import math", "def area(r): return math.pi * r * r"]);
//! ```
//!
//! # What to read next
//!
//! - [`check_module`], [`check_statements`], [`check_expression`]: syntax errors, in plain words.
//! - [`statements`], [`is_literal`]: the shape of a small piece of code.
//! - [`names`], [`definitions`], [`needed`], [`imports`]: what depends on what.
//! - [`functions`]: the functions of a file by their line.
//! - [`only_definitions`]: whether running a module again could make a difference.
//! - [`shape`](mod@shape): what can run in a file, which is what coverage is a share of.
//! - [`tree`]: what a text says, as a tree of our own.
//! - [`tokens`]: cutting a text that may not be Python at all.
//! - [`python2_hint`], [`python2_constructs`]: noticing that it is Python 2.
//!
//! The parser is ruff's. Its interface is not stable, so none of its types appears in this one: `parse.rs` is the fence.

#![warn(missing_docs)]

mod check;
mod definitions;
mod depth;
mod functions;
mod imports;
mod literal;
mod names;
mod only_definitions;
mod parse;
mod python2;
pub mod shape;
mod statements;
mod tokens;
pub mod tree;
mod wording;

pub use check::{Problem, check_expression, check_module, check_statements};
pub use definitions::{Definition, definitions, needed};
pub use functions::{NamedFunction, functions};
pub use imports::{Import, imports};
pub use literal::is_literal;
pub use names::{Names, names};
pub use only_definitions::only_definitions;
pub use python2::{Python2Hint, python2_constructs, python2_hint};
pub use statements::{Shape, Statement, statements};
pub use tokens::{Token, TokenKind, is_keyword, tokens};

/// Byte range into the text that was given.
pub type Range = std::ops::Range<usize>;
