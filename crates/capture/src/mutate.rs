//! Small changes of a program, to see which of them its tests notice.
//!
//! A [`Mutant`] is one edit of one file: `<` becomes `<=`, a statement is gone, a number is one off. [`mutants`] finds all that
//! a text has. Tests that pass although a line was changed say nothing about what that change alters, so each mutant that
//! survives is a check that is missing, told as the line before and after.
//!
//! What makes a list of mutants worth reading is what is *not* in it, so these are left out:
//!
//! - what no test can see: docstrings, type hints, bodies of `if TYPE_CHECKING:` and of `if __name__ == "__main__":`;
//! - what no test should see: `__all__` and its kin, log messages, arguments of decorators (mostly of caches and registries),
//!   texts behind `assert`;
//! - what says the same as another mutant: `x > 3` with 2 instead of 3 where there is `x >= 3` already, a condition negated
//!   that is a single comparison, `return None` in the place of a literal that is changed itself;
//! - what cannot survive anywhere, such as subtracting from a text.
//!
//! [`run`](mod@run) runs tests with mutants, without changing a file.

mod constants;
mod expressions;
mod left_out;
mod operators;
pub mod run;
#[cfg(test)]
mod tests;
mod walk;
mod whole_numbers;

use std::fmt;

use testwright_source::{Problem, Range};

/// One small change of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// What kind of change it is.
    pub kind: Kind,
    /// What is replaced, in bytes.
    pub range: Range,
    /// By what. It has as many line ends as what it replaces, so that all other lines keep their numbers.
    pub replacement: String,
    /// The line of the change, from 1.
    pub line: usize,
    /// Its column, in characters from 1.
    pub column: usize,
    /// The lines of its statement, without those of a block in it.
    pub statement: Lines,
    /// A test that comes to one of these lines may notice it. For the default of a parameter that is the function's body,
    /// otherwise the statement.
    pub reached_in: Lines,
    /// Whether the statement belongs to a function, and is not executed when the module is imported.
    pub in_function: bool,
}

/// The first and the last of some lines, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
}

impl Lines {
    /// Whether a line is among them.
    #[must_use]
    pub fn contains(self, line: usize) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

/// Kinds of mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `<` to `<=` and `>=`, `==` to `!=`
    Comparison,
    /// `in` to `not in`
    Membership,
    /// `is` to `is not`
    Identity,
    /// `+` to `-`, `&` to `|`, `-x` to `+x`
    Arithmetic,
    /// `and` to `or`, `not x` to `x`
    Boolean,
    /// A number, one more or one less.
    Number,
    /// A text with something before it.
    Text,
    /// `True` to `False`, `None` to 0
    Constant,
    /// `break` to `continue`
    Loop,
    /// `return x` to `return None`
    Return,
    /// A call, or an assignment to a part of something, that is not done.
    Statement,
    /// `if x` to `if not (x)`
    Condition,
    /// An index, or an end of a slice, one off.
    Index,
    /// Any of these in the default of a parameter.
    Default,
    /// An exception that is not raised.
    Raise,
}

impl Kind {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Comparison => "comparison",
            Kind::Membership => "membership",
            Kind::Identity => "identity",
            Kind::Arithmetic => "arithmetic",
            Kind::Boolean => "boolean",
            Kind::Number => "number",
            Kind::Text => "text",
            Kind::Constant => "constant",
            Kind::Loop => "loop",
            Kind::Return => "return",
            Kind::Statement => "statement",
            Kind::Condition => "condition",
            Kind::Index => "index",
            Kind::Default => "default",
            Kind::Raise => "raise",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// All mutants of a file, by their place.
///
/// # Errors
/// What keeps the text from being Python.
pub fn mutants(text: &str) -> Result<Vec<Mutant>, Vec<Problem>> {
    walk::mutants(text)
}

impl Mutant {
    /// The text with the change.
    #[must_use]
    pub fn applied(&self, text: &str) -> String {
        let before = text.get(..self.range.start).unwrap_or_default();
        let after = text.get(self.range.end..).unwrap_or_default();
        format!("{before}{}{after}", self.replacement)
    }

    /// The line as it is and as it becomes; of several lines the first, with `…` for the rest.
    #[must_use]
    pub fn shown(&self, text: &str) -> (String, String) {
        let start = text
            .get(..self.range.start)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |newline| newline + 1);
        let line = |text: &str| {
            let rest = text.get(start..).unwrap_or_default();
            let line = rest.lines().next().unwrap_or_default();
            line.trim_end().to_owned()
        };
        let replaced = text.get(self.range.clone()).unwrap_or_default();
        let more = if replaced.contains('\n') { " …" } else { "" };
        (line(text) + more, line(&self.applied(text)))
    }
}
