//! What generators and annotations promise of the values they give (3.4): "whole number", "list of texts".

mod annotation;
mod strategy;

use testwright_source::tree::{Expression, ExpressionKind};

use crate::phrase::{Speaker, join};
use crate::term::{Scope, Term, Type};
use crate::words::{plural_of, with_article};

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

impl Kind {
    /// Nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self::named("value", Type::Unknown)
    }

    fn named(noun: &str, type_: Type) -> Self {
        Self {
            noun: noun.to_owned(),
            plural: plural_of(noun),
            restriction: String::new(),
            type_,
        }
    }

    fn with_restriction(self, restriction: impl Into<String>) -> Self {
        Self {
            restriction: restriction.into(),
            ..self
        }
    }

    /// "any whole number n from 0 to 9" for properties, without a name for inputs.
    #[must_use]
    pub fn any(&self, name: Option<&str>) -> String {
        let name = name.map_or(String::new(), |name| format!(" {name}"));
        format!("any {}{name}{}", self.noun, self.restriction)
    }

    /// "a whole number from 0 to 9".
    #[must_use]
    pub fn one(&self) -> String {
        format!("{}{}", with_article(&self.noun), self.restriction)
    }

    /// "whole numbers from 0 to 9".
    #[must_use]
    pub fn several(&self) -> String {
        format!("{}{}", self.plural, self.restriction)
    }
}

/// The noun of one of Python's own classes (3.4, C28).
pub(crate) fn noun_of_class(class: &str) -> Option<&'static str> {
    Some(match class {
        "int" => "whole number",
        "float" => "number",
        "bool" => "true-or-false value",
        "str" => "text",
        "list" | "List" => "list",
        "tuple" | "Tuple" => "group",
        "set" | "Set" => "set",
        "frozenset" | "FrozenSet" => "fixed set",
        "dict" | "Dict" => "dictionary",
        "bytes" => "byte string",
        "complex" => "complex number",
        "Decimal" => "exact number",
        "Fraction" => "fraction",
        "date" => "date",
        "datetime" => "moment",
        "timedelta" => "duration",
        "NoneType" => "empty value",
        _ => return None,
    })
}

/// The type that goes with such a class.
fn type_of_class(class: &str) -> Type {
    match class {
        "int" | "float" | "complex" | "Decimal" | "Fraction" => Type::Number,
        "bool" => Type::Boolean,
        "str" => Type::Text,
        "list" | "List" => Type::list(),
        "tuple" | "Tuple" => Type::Tuple(Vec::new()),
        "set" | "Set" | "frozenset" | "FrozenSet" => Type::set(),
        "dict" | "Dict" => Type::dictionary(),
        "bytes" => Type::Bytes,
        "NoneType" => Type::Nothing,
        _ => Type::Unknown,
    }
}

/// A pair or a group of kinds, if at least one is given.
fn group(kinds: &[Kind]) -> Kind {
    let noun = if kinds.len() == 2 { "pair" } else { "group" };
    let items: Vec<String> = kinds
        .iter()
        .map(|kind| join::operand(&kind.one()))
        .collect();
    let type_ = Type::Tuple(kinds.iter().map(|kind| kind.type_.clone()).collect());
    Kind::named(noun, type_).with_restriction(format!(" of {}", join::nouns(&items, "and")))
}

/// One of several kinds.
fn either(kinds: &[Kind]) -> Kind {
    if let [only] = kinds {
        return only.clone();
    }
    let alternatives: Vec<String> = kinds.iter().map(Kind::one).collect();
    let type_ = Type::common(kinds.iter().map(|kind| kind.type_.clone()));
    let either = join::nouns(&alternatives, "or");
    Kind {
        type_,
        ..Kind::unknown().with_restriction(format!(" that is either {either}"))
    }
}

/// The last word of `a.b.c`.
fn last_name(expression: &Expression) -> Option<&str> {
    match &expression.kind {
        ExpressionKind::Name(name) | ExpressionKind::Attribute { name, .. } => Some(name),
        _ => None,
    }
}

impl Kinds<'_> {
    fn term(&self, expression: &Expression) -> Term {
        Term::read(expression, self.text, self.scope)
    }
}
