//! Expressions with their meaning resolved: names say what they refer to, locals are written out, constants are values.
//!
//! Phrases are made of terms and of nothing else. A [`Scope`] says what names stand for where an expression is read.

mod build;
mod constant;
mod fold;
mod infer;
mod python;
mod types;
mod walk;

pub use build::{Scope, Unscoped};
pub(crate) use infer::is_class_name;
pub(crate) use python::Binding;
pub use testwright_source::tree::{Comparison, ComprehensionKind as Form, Operator, UnaryOperator};
pub(crate) use types::CHANGING;
pub use types::Type;

use crate::value::Value;

/// An expression. Two are equal if they say the same of the same things.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the fields are the parts of the expression, by Python's own names for them"
)]
pub enum Term {
    /// A constant: a literal, a display of constants, or what a module constant stands for (R7).
    Value(Value),
    Reference(Reference),
    List(Vec<Term>),
    Tuple(Vec<Term>),
    Set(Vec<Term>),
    /// Keys and values; a `**mapping` has no key.
    Dictionary(Vec<(Option<Term>, Term)>),
    Attribute {
        object: Box<Term>,
        name: String,
    },
    Item {
        object: Box<Term>,
        index: Box<Term>,
    },
    Slice {
        object: Box<Term>,
        start: Option<Box<Term>>,
        stop: Option<Box<Term>>,
        step: Option<Box<Term>>,
    },
    Call(Box<Call>),
    /// Any but `not`.
    Unary {
        operator: UnaryOperator,
        operand: Box<Term>,
    },
    Not(Box<Term>),
    Binary {
        left: Box<Term>,
        operator: Operator,
        right: Box<Term>,
    },
    And(Vec<Term>),
    Or(Vec<Term>),
    Compare {
        first: Box<Term>,
        rest: Vec<(Comparison, Term)>,
    },
    Conditional {
        condition: Box<Term>,
        then: Box<Term>,
        otherwise: Box<Term>,
    },
    Lambda {
        parameters: Vec<String>,
        body: Box<Term>,
    },
    Comprehension {
        form: Form,
        element: Box<Term>,
        clauses: Vec<Clause>,
    },
    DictionaryComprehension {
        key: Box<Term>,
        value: Box<Term>,
        clauses: Vec<Clause>,
    },
    /// A formatted text: its pieces, literal ones as values.
    Formatted(Vec<Term>),
    /// `*value` in a display or a call.
    Starred(Box<Term>),
    /// `pre<(e)>`: the value before the step.
    Earlier(Box<Term>),
    /// Anything else, as it is written (P42).
    Source(String),
}

/// What is called, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// The arguments without a name; `*rest` is a [`Term::Starred`].
    pub arguments: Vec<Term>,
    /// The arguments with a name; `**rest` has none.
    pub keywords: Vec<(Option<String>, Term)>,
}

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the parts of it")]
pub enum Callee {
    /// `name(…)` or `module.name(…)`.
    Function {
        module: Option<String>,
        name: String,
    },
    /// `object.name(…)`.
    Method { object: Term, name: String },
    /// Anything else, such as the result of another call.
    Other(Term),
}

/// `for target in iterable if condition …`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the parts of it")]
pub struct Clause {
    /// The names that are bound, from left to right, inner groups included.
    pub targets: Vec<String>,
    pub iterable: Term,
    pub conditions: Vec<Term>,
}

/// Something that a phrase refers to by name (3.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Its identifier.
    pub name: String,
    /// What it is here.
    pub role: Role,
    /// What is known of its type.
    pub type_: Type,
}

/// What a name refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// A variable of a property, a slot of a failing test (R1), what a comprehension or loop binds (R5), in properties
    /// also the result of an unknown call (R6): "n".
    Variable,
    /// An argument of an action (R2): "the given name".
    Input,
    /// A state variable (R3, R8): "the plates". The type of its reference is that of its start value. Version 0 is its
    /// value on entry, each change makes the next (R10).
    State {
        /// How often it has changed since entry.
        version: u32,
    },
    /// A pool value in a harness action (R4): "the tree", "the second tree".
    Pool {
        /// 1 for the first distinct one of its pool.
        number: u32,
    },
    /// In actions, the result of an unknown call (R6) or what "Here:" defines (L6): "the answer".
    Local,
    /// A class (R9), a function, a module, or a name that is not known.
    Global,
    /// The name is a phrase already: "the result".
    Phrase,
}

impl Reference {
    /// A reference to something of unknown type.
    #[must_use]
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        Self {
            name: name.into(),
            role,
            type_: Type::Unknown,
        }
    }

    /// The same with what is known of its type.
    #[must_use]
    pub fn with_type(self, type_: Type) -> Self {
        Self { type_, ..self }
    }
}

impl From<Reference> for Term {
    fn from(reference: Reference) -> Self {
        Self::Reference(reference)
    }
}

impl From<Value> for Term {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

/// What one statement changes (6.4), as idioms see it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the parts of the statement")]
pub enum Change {
    /// `target = value`.
    Assign { target: Term, value: Term },
    /// `target += value`.
    Augment {
        target: Term,
        operator: Operator,
        value: Term,
    },
    /// `del target`.
    Delete(Term),
    /// A call for its effect.
    Call(Term),
}

impl Term {
    /// A call of a function by its name.
    #[must_use]
    pub fn call(name: impl Into<String>, arguments: Vec<Term>) -> Self {
        Self::Call(Box::new(Call {
            callee: Callee::Function {
                module: None,
                name: name.into(),
            },
            arguments,
            keywords: Vec::new(),
        }))
    }

    /// A comparison of two things.
    #[must_use]
    pub fn compare(first: Term, comparison: Comparison, second: Term) -> Self {
        Self::Compare {
            first: Box::new(first),
            rest: vec![(comparison, second)],
        }
    }

    /// The constant, if it is one.
    #[must_use]
    pub fn as_value(&self) -> Option<&Value> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Whether it is a call of something that only the system under test knows (3.5): not a built-in that has a phrase,
    /// not a method of a built-in type, not a pure function of the standard library, not a constructor.
    #[must_use]
    pub fn is_unknown_call(&self) -> bool {
        match self {
            Self::Call(call) => call.is_unknown(),
            _ => false,
        }
    }
}
