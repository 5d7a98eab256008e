//! Traversal of terms: children, searches and replacements.

use super::{CallTarget, ForClause, NameReference, NameRole, Term};
use crate::value::PythonValue;

/// Lists the terms that a term is made of, by shared or mutable reference.
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
                    CallTarget::Function { .. } => None,
                    CallTarget::Method { object, .. } | CallTarget::Other(object) => Some(object),
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
    /// Returns the terms it is made of, from left to right as they are written.
    #[must_use]
    pub fn children(&self) -> Vec<&Term> {
        children!(self, [&], iter, as_deref)
    }

    /// Returns mutable references to the terms it is made of.
    fn children_mut(&mut self) -> Vec<&mut Term> {
        children!(self, [&mut], iter_mut, as_deref_mut)
    }

    /// Returns true if the predicate holds for it or for anything it is made of.
    #[must_use]
    pub fn any(&self, predicate: &dyn Fn(&Term) -> bool) -> bool {
        predicate(self)
            || self
                .children()
                .into_iter()
                .any(|child| child.any(predicate))
    }

    /// Returns true if it mentions a variable that is bound outside of it. A variable of the same
    /// name that it binds itself does not count.
    #[must_use]
    pub(crate) fn mentions(&self, variable: &str) -> bool {
        match self {
            Term::Reference(NameReference {
                name,
                role: NameRole::Variable,
                ..
            }) => name == variable,
            Term::Lambda { parameters, body } => {
                parameters.iter().all(|name| name != variable) && body.mentions(variable)
            }
            Term::Comprehension {
                element, clauses, ..
            } => clauses_mention(clauses, &[element], variable),
            Term::DictionaryComprehension {
                key,
                value,
                clauses,
            } => clauses_mention(clauses, &[key, value], variable),
            _ => self
                .children()
                .into_iter()
                .any(|child| child.mentions(variable)),
        }
    }

    /// Counts the terms it is made of, itself included. A term that substitution has made too large
    /// is better given a name.
    #[must_use]
    pub fn size(&self) -> usize {
        self.children().into_iter().map(Term::size).sum::<usize>() + 1
    }

    /// Returns a copy with parts replaced. The outermost parts are tried first, and replacements
    /// are not searched again. Parts that become constant are folded.
    #[must_use]
    pub fn map_parts(&self, replacement: &mut dyn FnMut(&Term) -> Option<Term>) -> Term {
        let mut term = self.clone();
        term.replace_in_place(replacement);
        term
    }

    /// Replaces parts in place; see [`Self::map_parts`].
    fn replace_in_place(&mut self, replacement: &mut dyn FnMut(&Term) -> Option<Term>) {
        if let Some(term) = replacement(self) {
            *self = term;
            return;
        }
        for child in self.children_mut() {
            child.replace_in_place(replacement);
        }
        let term = std::mem::replace(self, Term::Value(PythonValue::Nothing));
        *self = term.fold_constants();
    }
}

/// Returns true if a comprehension mentions a variable before it binds one of the same name.
fn clauses_mention(clauses: &[ForClause], elements: &[&Term], variable: &str) -> bool {
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
