//! Mutation testing: small changes of a program, to see which of them its tests notice.
//!
//! A [`Mutant`] is one edit of one file: `<` becomes `<=`, a statement is removed, a number is one
//! off. [`mutants`] finds all mutants of a file. Tests that pass although a line was changed say
//! nothing about that change, so each surviving mutant is a missing check. It is reported as the
//! line before and after.
//!
//! A list of mutants is only worth reading without noise, so these are excluded:
//!
//! - changes that no test can see: docstrings, type hints, bodies of `if TYPE_CHECKING:` and of `if
//!   __name__ == "__main__":`;
//! - changes that no test should see: `__all__` and similar names, log messages, arguments of
//!   decorators (mostly of caches and registries), messages of `assert`;
//! - duplicates of other mutants: `x > 3` with 2 instead of 3 where there is `x >= 3` already, a
//!   negated condition that is a single comparison, `return None` in the place of a literal that is
//!   changed itself;
//! - changes that cannot survive anywhere, such as subtracting from a text.
//!
//! [`run`](mod@run) runs tests with mutants, without changing a file.

mod constants;
mod exclusions;
mod expressions;
mod finder;
mod integers;
mod operators;
pub mod run;
#[cfg(test)]
mod tests;

use std::fmt;

use testwright_source::{Range, SyntaxProblem};

/// A small change of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// The kind of change.
    pub kind: MutantKind,
    /// The replaced range, in bytes.
    pub range: Range,
    /// The new text. It has as many line ends as the replaced one, so that all other lines keep
    /// their numbers.
    pub replacement: String,
    /// The line of the change, from 1.
    pub line: usize,
    /// Its column, in characters from 1.
    pub column: usize,
    /// The lines of its statement, without those of blocks in it.
    pub statement: LineRange,
    /// The lines that a test has to reach to notice it: the function's body for the default of a
    /// parameter, otherwise the statement.
    pub reached_in: LineRange,
    /// True if the statement belongs to a function, so that it does not run when the module is
    /// imported.
    pub in_function: bool,
}

/// A range of lines, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The first line.
    pub first: usize,
    /// The last line, included.
    pub last: usize,
}

impl LineRange {
    /// Returns true if a line is in the range.
    #[must_use]
    pub fn contains(self, line: usize) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

/// The kinds of mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MutantKind {
    /// A comparison: `<` to `<=` and `>=`, `==` to `!=`.
    Comparison,
    /// A membership test: `in` to `not in`.
    Membership,
    /// An identity test: `is` to `is not`.
    Identity,
    /// An arithmetic or bitwise operator: `+` to `-`, `&` to `|`, `-x` to `+x`.
    Arithmetic,
    /// A boolean operator: `and` to `or`, `not x` to `x`.
    Boolean,
    /// A number, one more or one less.
    Number,
    /// A text with a prefix.
    Text,
    /// A constant: `True` to `False`, `None` to 0.
    Constant,
    /// A jump in a loop: `break` to `continue`.
    Loop,
    /// A result: `return x` to `return None`.
    Return,
    /// A call, or an assignment to a part of an object, that is removed.
    Statement,
    /// A condition: `if x` to `if not (x)`.
    Condition,
    /// An index, or a bound of a slice, one off.
    Index,
    /// Any of these in the default of a parameter.
    Default,
    /// A `raise` that is removed.
    Raise,
}

impl MutantKind {
    /// Returns the name of the kind, for reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MutantKind::Comparison => "comparison",
            MutantKind::Membership => "membership",
            MutantKind::Identity => "identity",
            MutantKind::Arithmetic => "arithmetic",
            MutantKind::Boolean => "boolean",
            MutantKind::Number => "number",
            MutantKind::Text => "text",
            MutantKind::Constant => "constant",
            MutantKind::Loop => "loop",
            MutantKind::Return => "return",
            MutantKind::Statement => "statement",
            MutantKind::Condition => "condition",
            MutantKind::Index => "index",
            MutantKind::Default => "default",
            MutantKind::Raise => "raise",
        }
    }
}

impl fmt::Display for MutantKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Finds all mutants of a file, by position.
///
/// # Errors
/// The syntax errors of the text.
pub fn mutants(text: &str) -> Result<Vec<Mutant>, Vec<SyntaxProblem>> {
    finder::mutants(text)
}

impl Mutant {
    /// Applies the change to the text of the file.
    #[must_use]
    pub fn apply(&self, text: &str) -> String {
        let before = text.get(..self.range.start).unwrap_or_default();
        let after = text.get(self.range.end..).unwrap_or_default();
        format!("{before}{}{after}", self.replacement)
    }

    /// Returns the line before and after the change. Of several lines it is the first, with `…` for
    /// the rest.
    #[must_use]
    pub fn preview(&self, text: &str) -> (String, String) {
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
        (line(text) + more, line(&self.apply(text)))
    }
}
