//! Analysis of Python source *text*: syntax errors, positions of its parts, and the names it uses.
//!
//! Nothing here runs code, reads a file or knows about test harnesses. The input is text; the
//! output is byte ranges of that text, always on character boundaries, and messages for people. No
//! text causes a panic: text that is nested too deeply to be parsed safely is a [`SyntaxProblem`]
//! like any other.
//!
//! ```
//! use testwright_source::{check_statements, definitions, names, needed_definitions};
//!
//! // Is it Python? If not, where and why?
//! let problems = check_statements("stack.push(1");
//! assert_eq!(problems[0].range, 10..11);
//! assert_eq!(problems[0].message, "this `(` is never closed");
//!
//! // Which names does it need, and which part of a module defines them?
//! let module = "import math\nlimit = 3\ndef area(r): return math.pi * r * r\n";
//! let reads = names("a = area(2)").unwrap_or_default().reads;
//! let definitions = definitions(module).unwrap_or_default();
//! let kept: Vec<&str> = needed_definitions(&definitions, &reads)
//!     .into_iter()
//!     .map(|definition| &module[definition.range.clone()])
//!     .collect();
//! assert_eq!(kept, ["import math", "def area(r): return math.pi * r * r"]);
//! ```
//!
//! # Where to go next
//!
//! - [`check_module`], [`check_statements`], [`check_expression`]: syntax errors, in plain words.
//! - [`statements()`], [`is_literal`]: the form of a small piece of code.
//! - [`names()`], [`definitions()`], [`needed_definitions`], [`imports()`]: dependencies.
//! - [`functions()`]: the functions of a file by line.
//! - [`only_definitions()`]: whether running a module again could make a difference.
//! - [`coverable`](mod@coverable): the lines and branches of a file that can run, for coverage.
//! - [`tree`]: the syntax tree of a text.
//! - [`tokenize`]: tokenizing text that may not be Python at all.
//! - [`python2_hint`], [`python2_constructs`]: recognizing Python 2.
//!
//! The parser is ruff's. Its interface is not stable, so none of its types appears in this one:
//! `parse.rs` wraps it.

#![warn(missing_docs)]

mod check;
pub mod coverable;
mod definitions;
mod depth;
mod functions;
mod imports;
mod literal;
mod names;
mod only_definitions;
mod parse;
mod python2;
mod statements;
mod tokens;
pub mod tree;
mod wording;

pub use check::{SyntaxProblem, check_expression, check_module, check_statements};
pub use definitions::{ModuleDefinition, definitions, needed_definitions};
pub use functions::{NamedFunction, functions};
pub use imports::{Import, imports};
pub use literal::is_literal;
pub use names::{NameUsage, names};
pub use only_definitions::only_definitions;
pub use python2::{Python2Hint, python2_constructs, python2_hint};
pub use statements::{LineStatement, StatementForm, statements};
pub use tokens::{Token, TokenKind, is_identifier, is_keyword, tokenize};

/// A byte range of the given text.
pub type Range = std::ops::Range<usize>;
