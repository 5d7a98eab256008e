//! What generators and annotations promise of the values they give (3.4): "whole number", "list of texts".

use testwright_source::tree::Expression;

use crate::phrase::Speaker;
use crate::term::{Scope, Term, Type};

/// What kind of values there are to be expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// One of them: "whole number".
    pub noun: String,
    /// Several of them: "whole numbers".
    pub plural: String,
    /// What is said behind the noun or the name, with the space before it: " from 0 to 9". May be empty.
    pub restriction: String,
    /// What this tells of their type.
    pub type_: Type,
}

/// Reads kinds where generators and annotations stand.
#[derive(Clone, Copy)]
pub struct Kinds<'a> {
    /// The text in which they stand.
    pub text: &'a str,
    /// What names stand for there.
    pub scope: &'a dyn Scope,
    /// The expression that a module-level name was assigned, for strategies that have a name.
    pub definition: &'a dyn Fn(&str) -> Option<Expression>,
    /// Who phrases bounds and conditions.
    pub speaker: Speaker<'a>,
}

impl Kinds<'_> {
    /// The kind of what a Hypothesis strategy gives. The variable is what conditions of `filter` speak of; without one
    /// they speak of the parameter of their lambda.
    #[must_use]
    pub fn of_strategy(&self, strategy: &Expression, variable: Option<&Term>) -> Kind {
        let _ = (strategy, variable);
        Kind::unknown()
    }

    /// The kind of what an annotation allows.
    #[must_use]
    pub fn of_annotation(&self, annotation: &Expression) -> Kind {
        let _ = annotation;
        Kind::unknown()
    }
}

impl Kind {
    /// Nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            noun: "value".into(),
            plural: "values".into(),
            restriction: String::new(),
            type_: Type::Unknown,
        }
    }

    /// "any whole number n from 0 to 9" for properties, without a name for inputs.
    #[must_use]
    pub fn any(&self, name: Option<&str>) -> String {
        let name = name.map_or(String::new(), |name| format!(" {name}"));
        format!("any {}{name}{}", self.noun, self.restriction)
    }
}
