//! Looking into terms, and making new ones of them.

use super::{Callee, Clause, Reference, Role, Term};
use crate::value::Value;

/// The terms that a term is made of, borrowed as it is: to look at them, or to change them.
macro_rules! children {
    ($term:expr, [$($borrow:tt)+], $iterate:ident, $as_deref:ident) => {
        match $term {
            Term::Value(_) | Term::Reference(_) | Term::Source(_) => Vec::new(),
            Term::List(items)
            | Term::Tuple(items)
            | Term::Set(items)
            | Term::And(items)
            | Term::Or(items)
            | Term::Formatted(items) => items.$iterate().collect(),
            Term::Dictionary(entries) => entries
                .$iterate()
                .flat_map(|(key, value)| key.$iterate().chain(Some(value)))
                .collect(),
            Term::Attribute { object, .. } => vec![object],
            Term::Item { object, index } => vec![object, index],
            Term::Slice {
                object,
                start,
                stop,
                step,
            } => {
                let bounds = [start, stop, step]
                    .into_iter()
                    .filter_map(|bound| bound.$as_deref());
                std::iter::once($($borrow)+ **object).chain(bounds).collect()
            }
            Term::Call(call) => {
                let object = match $($borrow)+ call.callee {
                    Callee::Function { .. } => None,
                    Callee::Method { object, .. } | Callee::Other(object) => Some(object),
                };
                let keywords = call.keywords.$iterate().map(|(_, value)| value);
                object
                    .into_iter()
                    .chain($($borrow)+ call.arguments)
                    .chain(keywords)
                    .collect()
            }
            Term::Unary { operand: inner, .. }
            | Term::Not(inner)
            | Term::Starred(inner)
            | Term::Earlier(inner)
            | Term::Lambda { body: inner, .. } => vec![inner],
            Term::Binary { left, right, .. } => vec![left, right],
            Term::Compare { first, rest } => std::iter::once($($borrow)+ **first)
                .chain(rest.$iterate().map(|(_, operand)| operand))
                .collect(),
            Term::Conditional {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
            Term::Comprehension {
                element, clauses, ..
            } => {
                let clauses = clauses.$iterate().flat_map(|clause| {
                    std::iter::once($($borrow)+ clause.iterable).chain($($borrow)+ clause.conditions)
                });
                std::iter::once($($borrow)+ **element).chain(clauses).collect()
            }
            Term::DictionaryComprehension {
                key,
                value,
                clauses,
            } => {
                let clauses = clauses.$iterate().flat_map(|clause| {
                    std::iter::once($($borrow)+ clause.iterable).chain($($borrow)+ clause.conditions)
                });
                [$($borrow)+ **key, $($borrow)+ **value].into_iter().chain(clauses).collect()
            }
        }
    };
}

impl Term {
    /// The terms it is made of, from left to right as they are written.
    #[must_use]
    pub fn children(&self) -> Vec<&Term> {
        children!(self, [&], iter, as_deref)
    }

    fn children_mut(&mut self) -> Vec<&mut Term> {
        children!(self, [&mut], iter_mut, as_deref_mut)
    }

    /// Whether it, or anything it is made of, is such a term.
    #[must_use]
    pub fn any(&self, is_such: &dyn Fn(&Term) -> bool) -> bool {
        is_such(self) || self.children().into_iter().any(|child| child.any(is_such))
    }

    /// Whether it mentions a variable that is bound around it: that it binds one of the same name itself does not count.
    #[must_use]
    pub(crate) fn mentions(&self, variable: &str) -> bool {
        match self {
            Term::Reference(Reference {
                name,
                role: Role::Variable,
                ..
            }) => name == variable,
            Term::Lambda { parameters, body } => {
                parameters.iter().all(|name| name != variable) && body.mentions(variable)
            }
            Term::Comprehension {
                element, clauses, ..
            } => mentioned_in(clauses, &[element], variable),
            Term::DictionaryComprehension {
                key,
                value,
                clauses,
            } => mentioned_in(clauses, &[key, value], variable),
            _ => self
                .children()
                .into_iter()
                .any(|child| child.mentions(variable)),
        }
    }

    /// How many terms it is made of, itself included. What substitution has let grow too large is better given a name.
    #[must_use]
    pub fn size(&self) -> usize {
        self.children().into_iter().map(Term::size).sum::<usize>() + 1
    }

    /// The same with parts replaced: outermost first, and what was put in is not looked into. Constant parts that come
    /// about are worked out.
    #[must_use]
    pub fn replaced(&self, replacement: &mut dyn FnMut(&Term) -> Option<Term>) -> Term {
        let mut term = self.clone();
        term.replace(replacement);
        term
    }

    fn replace(&mut self, replacement: &mut dyn FnMut(&Term) -> Option<Term>) {
        if let Some(term) = replacement(self) {
            *self = term;
            return;
        }
        for child in self.children_mut() {
            child.replace(replacement);
        }
        let term = std::mem::replace(self, Term::Value(Value::Nothing));
        *self = term.folded();
    }
}

fn mentioned_in(clauses: &[Clause], elements: &[&Term], variable: &str) -> bool {
    for clause in clauses {
        if clause.iterable.mentions(variable) {
            return true;
        }
        if clause.targets.iter().any(|name| name == variable) {
            return false;
        }
        if clause.conditions.iter().any(|one| one.mentions(variable)) {
            return true;
        }
    }
    elements.iter().any(|element| element.mentions(variable))
}
