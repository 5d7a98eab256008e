//! Locals: each assignment gives a name to a term. At the end it is decided whether a reader gets
//! the name or the term (L6).

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind};

use super::{Execution, Frame, Path};
use crate::property::child_expressions;
use crate::term::{NameReference, NameRole, Term};

/// Value of a local.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) value: Term,
    pub(crate) range: Range,
    /// Size of the value with all its locals written out.
    size: usize,
}

/// Maximum size of a term to process. Larger terms are not compared, and helpers with such a result
/// are not inlined.
pub(super) const LARGEST: usize = 2_000;

/// Separator between the name of a local and the number of its definition. No identifier contains
/// it.
const MARK: char = '\u{0}';

/// Returns the number of the definition that a reference stands for.
pub(crate) fn number_of(reference: &NameReference) -> Option<usize> {
    let (_, number) = reference.name.split_once(MARK)?;
    number.parse().ok()
}

/// Returns the name of a local without the number.
pub(crate) fn name_of(reference: &NameReference) -> &str {
    let name = reference.name.split(MARK).next();
    name.unwrap_or(&reference.name)
}

impl<'w> Execution<'w> {
    /// Assigns names in `(name := value)` anywhere in an expression.
    pub(super) fn name_inside(&self, expression: &Expression, path: &mut Path, frame: &Frame<'w>) {
        for child in child_expressions(expression) {
            self.name_inside(child, path, frame);
        }
        if let ExpressionKind::Named { target, value } = &expression.kind
            && let Some(name) = target.as_name()
        {
            let value = self.term(value, path, frame);
            let term = self.define(name, value, &expression.range);
            path.locals.insert(name.to_owned(), term);
        }
    }
}

impl Execution<'_> {
    /// Returns a definition by its number.
    pub(crate) fn definition(&self, number: usize) -> Option<Definition> {
        self.definitions.borrow().get(number).cloned()
    }

    /// Returns the number of definitions.
    pub(crate) fn definitions(&self) -> usize {
        self.definitions.borrow().len()
    }

    /// Defines a local, and returns a term for it. Short terms stand for themselves.
    pub(super) fn define(&self, name: &str, value: Term, range: &Range) -> Term {
        let is_short = match &value {
            Term::Value(_) | Term::Reference(_) => true,
            Term::Attribute { object, .. } => matches!(**object, Term::Reference(_)),
            _ => false,
        };
        if is_short {
            return value;
        }
        let type_ = value.type_of();
        let size = self.expanded_size(&value);
        let mut definitions = self.definitions.borrow_mut();
        let number = definitions.len();
        definitions.push(Definition {
            name: name.to_owned(),
            value,
            range: range.clone(),
            size,
        });
        let reference = NameReference::new(format!("{name}{MARK}{number}"), NameRole::Local);
        reference.with_type(type_).into()
    }

    /// Creates a name for the result of an unknown call. The reader gets only that name (R6), but
    /// two results are never equal.
    pub(super) fn result(&self, name: &str, path: &mut Path) -> NameReference {
        // A number beyond all definitions has no definition.
        let reference =
            NameReference::new(format!("{name}{MARK}r{}", self.fresh()), NameRole::Local);
        path.locals
            .insert(name.to_owned(), Term::Reference(reference.clone()));
        reference
    }

    fn fresh(&self) -> usize {
        let mut definitions = self.definitions.borrow_mut();
        let number = definitions.len();
        // The number must not be used again.
        definitions.push(Definition {
            name: String::new(),
            value: Term::Tuple(vec![]),
            range: 0..0,
            size: 1,
        });
        number
    }

    pub(super) fn expanded_size(&self, term: &Term) -> usize {
        if let Term::Reference(reference) = term
            && let Some(number) = number_of(reference)
        {
            let definitions = self.definitions.borrow();
            return definitions.get(number).map_or(1, |one| one.size);
        }
        let inside = term
            .children()
            .into_iter()
            .map(|one| self.expanded_size(one));
        inside.fold(1_usize, usize::saturating_add)
    }

    /// Returns a term with all locals written out, unless that would make it too large.
    pub(crate) fn expanded(&self, term: &Term) -> Term {
        if self.expanded_size(term) > LARGEST {
            return term.clone();
        }
        self.written_out(term)
    }

    fn written_out(&self, term: &Term) -> Term {
        term.map_parts(&mut |part| match part {
            Term::Reference(reference) => {
                let number = number_of(reference)?;
                let value = self.definitions.borrow().get(number)?.value.clone();
                Some(self.written_out(&value))
            }
            _ => None,
        })
    }

    /// Returns true if a term is too large to be repeated.
    pub(crate) fn is_too_large(&self, term: &Term) -> bool {
        self.expanded_size(term) > LARGEST
    }
}
