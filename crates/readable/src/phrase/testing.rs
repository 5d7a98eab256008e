//! Phrases of expressions for the tests of this folder: what the rules of the specification are tried on.

use testwright_source::tree;

use super::{Polarity, Speaker, Tense};
use crate::idiom::Vocabulary;
use crate::term::{Call, Callee, Reference, Role, Scope, Term, Type};
use crate::value::Value;

/// Names and what they stand for in tests: xs and ys are lists, s and t texts, d is a dictionary, u and v are sets, n is a
/// number, flag is a truth value, tree is a pool value, plates and regs are state variables, pid and names are inputs;
/// all others are variables of unknown type. `pre(e)` is an earlier value, `lib` a module.
struct Names;

impl Scope for Names {
    fn name(&self, name: &str) -> Option<Term> {
        let (role, type_) = match name {
            "xs" | "ys" => (Role::Variable, Type::list()),
            "s" | "t" => (Role::Variable, Type::Text),
            "d" => (Role::Variable, Type::dictionary()),
            "u" | "v" => (Role::Variable, Type::set()),
            "n" => (Role::Variable, Type::Number),
            "flag" => (Role::Variable, Type::Boolean),
            "tree" => (Role::Pool { number: 1 }, Type::Object("Tree".into())),
            "tree2" => {
                let second = Reference::new("tree", Role::Pool { number: 2 });
                return Some(second.with_type(Type::Object("Tree".into())).into());
            }
            "plates" => (Role::State { version: 0 }, Type::list()),
            "regs" => (Role::State { version: 0 }, Type::dictionary()),
            "pid" | "names" => (Role::Input, Type::Unknown),
            "NAMES" => return Some(Value::List(vec![Value::text("a"), Value::text("b")]).into()),
            "a" | "b" | "c" | "x" | "y" | "z" | "i" | "k" | "e" | "o" | "p" | "q" => {
                (Role::Variable, Type::Unknown)
            }
            _ => return None,
        };
        Some(Reference::new(name, role).with_type(type_).into())
    }

    fn call(&self, call: &Call) -> Option<Term> {
        match (&call.callee, call.arguments.as_slice()) {
            (Callee::Function { module: None, name }, [inner]) if name == "pre" => {
                Some(Term::Earlier(Box::new(inner.clone())))
            }
            _ => None,
        }
    }

    fn is_module(&self, name: &str) -> bool {
        name == "lib"
    }
}

pub(crate) fn term(text: &str) -> Term {
    let expression = tree::expression(text).unwrap_or_else(|_| panic!("{text} is no expression"));
    Term::read(&expression, text, &Names)
}

/// NP, with "(plural)" behind it if it is.
pub(crate) fn np(text: &str) -> String {
    let vocabulary = Vocabulary::default();
    let noun = Speaker::new(&vocabulary).noun(&term(text));
    if noun.plural {
        format!("{} (plural)", noun.text)
    } else {
        noun.text
    }
}

fn said(text: &str, polarity: Polarity, tense: Tense) -> String {
    let vocabulary = Vocabulary::default();
    Speaker::new(&vocabulary).say(&term(text), polarity, tense)
}

/// CL
pub(crate) fn cl(text: &str) -> String {
    said(text, Polarity::Positive, Tense::Present)
}

/// CL-
pub(crate) fn not(text: &str) -> String {
    said(text, Polarity::Negative, Tense::Present)
}

/// CL in the past.
pub(crate) fn was(text: &str) -> String {
    said(text, Polarity::Positive, Tense::Past)
}

/// CL- in the past.
pub(crate) fn was_not(text: &str) -> String {
    said(text, Polarity::Negative, Tense::Past)
}

/// The clause behind "if".
pub(crate) fn condition(text: &str) -> String {
    let vocabulary = Vocabulary::default();
    Speaker::new(&vocabulary).behind_if().clause(&term(text))
}
