//! Terms: expressions with their names resolved, locals written out and constants worked out.
//!
//! Phrases are made of terms and nothing else. A [`NameScope`] says what the names of an expression
//! stand for at the place where it is read.

mod build;
mod constant;
mod fold;
mod infer;
mod python;
mod traverse;
mod types;

pub use build::{EmptyScope, NameScope};
pub(crate) use infer::is_class_name;
pub(crate) use python::Precedence;
pub use testwright_source::tree::{Comparison, ComprehensionKind, Operator, UnaryOperator};
pub(crate) use types::MUTATING_METHODS;
pub use types::Type;

use crate::value::PythonValue;

/// An expression. Two are equal if they mean the same about the same things.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the fields are the parts of the expression, by Python's own names for them"
)]
pub enum Term {
    /// A constant: a literal, a display of constants, or the value of a module constant (R7:
    /// constants are written as their values).
    Value(PythonValue),
    /// A name.
    Reference(NameReference),
    /// `[a, b]`, unless all members are constant.
    List(Vec<Term>),
    /// `(a, b)`.
    Tuple(Vec<Term>),
    /// `{a, b}`.
    Set(Vec<Term>),
    /// Keys and values; a `**mapping` has no key.
    Dictionary(Vec<(Option<Term>, Term)>),
    /// `object.name`.
    Attribute { object: Box<Term>, name: String },
    /// `object[index]`.
    Item { object: Box<Term>, index: Box<Term> },
    /// `object[start:stop:step]`.
    Slice {
        object: Box<Term>,
        start: Option<Box<Term>>,
        stop: Option<Box<Term>>,
        step: Option<Box<Term>>,
    },
    /// A call.
    Call(Box<CallTerm>),
    /// A sign or an inversion; `not` is [`Term::Not`].
    Unary {
        operator: UnaryOperator,
        operand: Box<Term>,
    },
    /// `not operand`.
    Not(Box<Term>),
    /// `left operator right`.
    Binary {
        left: Box<Term>,
        operator: Operator,
        right: Box<Term>,
    },
    /// `a and b and c`.
    And(Vec<Term>),
    /// `a or b or c`.
    Or(Vec<Term>),
    /// A chain of comparisons: `first < a <= b`.
    Compare {
        first: Box<Term>,
        rest: Vec<(Comparison, Term)>,
    },
    /// `then if condition else otherwise`.
    Conditional {
        condition: Box<Term>,
        then: Box<Term>,
        otherwise: Box<Term>,
    },
    /// `lambda parameters: body`.
    Lambda {
        parameters: Vec<String>,
        body: Box<Term>,
    },
    /// A list, set or generator comprehension.
    Comprehension {
        form: ComprehensionKind,
        element: Box<Term>,
        clauses: Vec<ForClause>,
    },
    /// `{key: value for …}`.
    DictionaryComprehension {
        key: Box<Term>,
        value: Box<Term>,
        clauses: Vec<ForClause>,
    },
    /// A formatted text: its pieces, with literal ones as values.
    Formatted(Vec<Term>),
    /// `*value` in a display or a call.
    Starred(Box<Term>),
    /// `pre<(e)>`: the value before the step.
    Earlier(Box<Term>),
    /// Any other expression, as it is written (P42: it is quoted as code).
    Source(String),
}

/// A call with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTerm {
    /// The function or method that is called.
    pub callee: CallTarget,
    /// The positional arguments; `*rest` is a [`Term::Starred`].
    pub arguments: Vec<Term>,
    /// The keyword arguments; `**rest` has no name.
    pub keywords: Vec<(Option<String>, Term)>,
}

/// The function or method that a call invokes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the parts of it")]
pub enum CallTarget {
    /// `name(…)` or `module.name(…)`.
    Function {
        module: Option<String>,
        name: String,
    },
    /// `object.name(…)`.
    Method { object: Term, name: String },
    /// Any other callee, such as the result of another call.
    Other(Term),
}

/// `for target in iterable if condition …`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the parts of it")]
pub struct ForClause {
    /// The names that the clause binds, from left to right, with those of nested targets.
    pub targets: Vec<String>,
    /// The expression that is iterated over.
    pub iterable: Term,
    /// The conditions after `if`.
    pub conditions: Vec<Term>,
}

/// A name in a term, with its role and what is known of its type. The role decides how a phrase
/// refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameReference {
    /// The identifier.
    pub name: String,
    /// The role of the name at this place.
    pub role: NameRole,
    /// The type, as far as it is known.
    pub type_: Type,
}

/// The role of a name, which decides its phrase (rules R1 to R10 of
/// `docs/readable-rules.md#references`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameRole {
    /// A bare name, "n": a variable of a property or a slot of a failing test (R1), a variable
    /// bound by a comprehension or loop (R5), and in properties the result of an unknown call (R6).
    Variable,
    /// An argument of an action (R2: it is a given one): "the given name".
    Input,
    /// A state variable (R3, R8: `self.x` is x): "the plates". The type of its reference is that of
    /// its start value. Version 0 is its value on entry, and each change makes the next version
    /// (R10: changed variables are old or new).
    State {
        /// The number of changes since entry.
        version: u32,
    },
    /// A pool value in a harness action (R4: it is called after its pool): "the tree", "the second
    /// tree".
    Pool {
        /// 1 for the first distinct value of its pool.
        number: u32,
    },
    /// In actions, the result of an unknown call (R6) or a name that is defined under "Here:" (L6):
    /// "the answer".
    Local,
    /// A class (R9), a function, a module, or an unknown name.
    Global,
    /// A name that is already a phrase: "the result".
    Phrase,
}

impl NameReference {
    /// Creates a reference of unknown type.
    #[must_use]
    pub fn new(name: impl Into<String>, role: NameRole) -> Self {
        Self {
            name: name.into(),
            role,
            type_: Type::Unknown,
        }
    }

    /// Sets the type.
    #[must_use]
    pub fn with_type(self, type_: Type) -> Self {
        Self { type_, ..self }
    }
}

impl From<NameReference> for Term {
    fn from(reference: NameReference) -> Self {
        Self::Reference(reference)
    }
}

impl From<PythonValue> for Term {
    fn from(value: PythonValue) -> Self {
        Self::Value(value)
    }
}

/// The effect of one statement, as idioms match it (I3: an effect matches statements).
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the parts of the statement")]
pub enum EffectTerm {
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
    /// Creates a call of a function by its name.
    #[must_use]
    pub fn call(name: impl Into<String>, arguments: Vec<Term>) -> Self {
        Self::Call(Box::new(CallTerm {
            callee: CallTarget::Function {
                module: None,
                name: name.into(),
            },
            arguments,
            keywords: Vec::new(),
        }))
    }

    /// Creates a comparison of two terms.
    #[must_use]
    pub fn compare(first: Term, comparison: Comparison, second: Term) -> Self {
        Self::Compare {
            first: Box::new(first),
            rest: vec![(comparison, second)],
        }
    }

    /// Returns the value of a constant.
    #[must_use]
    pub fn as_value(&self) -> Option<&PythonValue> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Returns true if it calls something that only the system under test knows: not a built-in
    /// with a phrase, not a method of a built-in type, not a pure function of the standard library,
    /// and not a constructor.
    #[must_use]
    pub fn is_unknown_call(&self) -> bool {
        match self {
            Self::Call(call) => call.is_unknown(),
            _ => false,
        }
    }
}
