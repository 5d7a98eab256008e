//! Looking into terms, and making new ones of them.

use super::{Callee, Clause, Term};

impl Term {
    /// The terms it is made of, from left to right as they are written.
    #[must_use]
    pub fn children(&self) -> Vec<&Term> {
        match self {
            Self::Value(_) | Self::Reference(_) | Self::Source(_) => Vec::new(),
            Self::List(items)
            | Self::Tuple(items)
            | Self::Set(items)
            | Self::And(items)
            | Self::Or(items)
            | Self::Formatted(items) => items.iter().collect(),
            Self::Dictionary(entries) => entries
                .iter()
                .flat_map(|(key, value)| key.iter().chain(Some(value)))
                .collect(),
            Self::Attribute { object, .. } => vec![object],
            Self::Item { object, index } => vec![object, index],
            Self::Slice {
                object,
                start,
                stop,
                step,
            } => {
                let bounds = [start, stop, step]
                    .into_iter()
                    .filter_map(|bound| bound.as_deref());
                std::iter::once(&**object).chain(bounds).collect()
            }
            Self::Call(call) => {
                let object = match &call.callee {
                    Callee::Function { .. } => None,
                    Callee::Method { object, .. } | Callee::Other(object) => Some(object),
                };
                let keywords = call.keywords.iter().map(|(_, value)| value);
                object
                    .into_iter()
                    .chain(&call.arguments)
                    .chain(keywords)
                    .collect()
            }
            Self::Unary { operand: inner, .. }
            | Self::Not(inner)
            | Self::Starred(inner)
            | Self::Earlier(inner)
            | Self::Lambda { body: inner, .. } => vec![inner],
            Self::Binary { left, right, .. } => vec![left, right],
            Self::Compare { first, rest } => std::iter::once(&**first)
                .chain(rest.iter().map(|(_, operand)| operand))
                .collect(),
            Self::Conditional {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
            Self::Comprehension {
                element, clauses, ..
            } => {
                let mut children = vec![&**element];
                children.extend(clauses.iter().flat_map(Clause::children));
                children
            }
            Self::DictionaryComprehension {
                key,
                value,
                clauses,
            } => {
                let mut children = vec![&**key, &**value];
                children.extend(clauses.iter().flat_map(Clause::children));
                children
            }
        }
    }

    /// Whether it, or anything it is made of, is such a term.
    #[must_use]
    pub fn any(&self, is_such: &dyn Fn(&Term) -> bool) -> bool {
        is_such(self) || self.children().into_iter().any(|child| child.any(is_such))
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
        if let Some(term) = replacement(self) {
            return term;
        }
        let mut term = self.clone();
        for child in term.children_mut() {
            *child = child.replaced(replacement);
        }
        term.folded()
    }

    fn children_mut(&mut self) -> Vec<&mut Term> {
        match self {
            Self::Value(_) | Self::Reference(_) | Self::Source(_) => Vec::new(),
            Self::List(items)
            | Self::Tuple(items)
            | Self::Set(items)
            | Self::And(items)
            | Self::Or(items)
            | Self::Formatted(items) => items.iter_mut().collect(),
            Self::Dictionary(entries) => entries
                .iter_mut()
                .flat_map(|(key, value)| key.iter_mut().chain(Some(value)))
                .collect(),
            Self::Attribute { object, .. } => vec![object],
            Self::Item { object, index } => vec![object, index],
            Self::Slice {
                object,
                start,
                stop,
                step,
            } => {
                let bounds = [start, stop, step]
                    .into_iter()
                    .filter_map(|bound| bound.as_deref_mut());
                std::iter::once(&mut **object).chain(bounds).collect()
            }
            Self::Call(call) => {
                let object = match &mut call.callee {
                    Callee::Function { .. } => None,
                    Callee::Method { object, .. } | Callee::Other(object) => Some(object),
                };
                let keywords = call.keywords.iter_mut().map(|(_, value)| value);
                object
                    .into_iter()
                    .chain(&mut call.arguments)
                    .chain(keywords)
                    .collect()
            }
            Self::Unary { operand: inner, .. }
            | Self::Not(inner)
            | Self::Starred(inner)
            | Self::Earlier(inner)
            | Self::Lambda { body: inner, .. } => vec![inner],
            Self::Binary { left, right, .. } => vec![left, right],
            Self::Compare { first, rest } => std::iter::once(&mut **first)
                .chain(rest.iter_mut().map(|(_, operand)| operand))
                .collect(),
            Self::Conditional {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
            Self::Comprehension {
                element, clauses, ..
            } => {
                let mut children = vec![&mut **element];
                children.extend(clauses.iter_mut().flat_map(Clause::children_mut));
                children
            }
            Self::DictionaryComprehension {
                key,
                value,
                clauses,
            } => {
                let mut children = vec![&mut **key, &mut **value];
                children.extend(clauses.iter_mut().flat_map(Clause::children_mut));
                children
            }
        }
    }
}

impl Clause {
    fn children(&self) -> impl Iterator<Item = &Term> {
        std::iter::once(&self.iterable).chain(&self.conditions)
    }

    fn children_mut(&mut self) -> impl Iterator<Item = &mut Term> {
        std::iter::once(&mut self.iterable).chain(&mut self.conditions)
    }
}
