//! Locals: each assignment gives a name to a term. Whether a reader is told the name or the term is decided at the end (L6).

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind};

use super::{Execution, Frame, Path};
use crate::property::children;
use crate::term::{Reference, Role, Term};

/// What a local was given.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) value: Term,
    pub(crate) range: Range,
    /// How large the value is with all locals in it written out.
    size: usize,
}

/// Larger terms are left as they are: two are not compared, and no helper is looked into whose result would be one.
pub(super) const LARGEST: usize = 2_000;

/// Between the name of a local and the number of its definition; no identifier has such a character.
const MARK: char = '\u{0}';

/// The number of the definition that a reference stands for.
pub(crate) fn number_of(reference: &Reference) -> Option<usize> {
    let (_, number) = reference.name.split_once(MARK)?;
    number.parse().ok()
}

/// The name of a local without the number.
pub(crate) fn name_of(reference: &Reference) -> &str {
    let name = reference.name.split(MARK).next();
    name.unwrap_or(&reference.name)
}

impl<'w> Execution<'w> {
    /// `(name := value)` anywhere in an expression gives the name to the value, and then it is that value.
    pub(super) fn name_inside(&self, expression: &Expression, path: &mut Path, frame: &Frame<'w>) {
        for child in children(expression) {
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
    /// A definition by its number.
    pub(crate) fn definition(&self, number: usize) -> Option<Definition> {
        self.definitions.borrow().get(number).cloned()
    }

    /// How many definitions there are.
    pub(crate) fn definitions(&self) -> usize {
        self.definitions.borrow().len()
    }

    /// A term that stands for a local; short terms stand for themselves.
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
        let reference = Reference::new(format!("{name}{MARK}{number}"), Role::Local);
        reference.with_type(type_).into()
    }

    /// A name for the result of an unknown call: it is told by that name only (R6), but two results are never the same.
    pub(super) fn result(&self, name: &str, path: &mut Path) -> Reference {
        // A number beyond all definitions: nothing stands behind it.
        let reference = Reference::new(format!("{name}{MARK}r{}", self.fresh()), Role::Local);
        path.locals
            .insert(name.to_owned(), Term::Reference(reference.clone()));
        reference
    }

    fn fresh(&self) -> usize {
        let mut definitions = self.definitions.borrow_mut();
        let number = definitions.len();
        // The number must not be given again.
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

    /// The term with all locals written out, unless that would make it too large.
    pub(crate) fn expanded(&self, term: &Term) -> Term {
        if self.expanded_size(term) > LARGEST {
            return term.clone();
        }
        self.written_out(term)
    }

    fn written_out(&self, term: &Term) -> Term {
        term.replaced(&mut |part| match part {
            Term::Reference(reference) => {
                let number = number_of(reference)?;
                let value = self.definitions.borrow().get(number)?.value.clone();
                Some(self.written_out(&value))
            }
            _ => None,
        })
    }

    /// Whether a term is too large to be repeated.
    pub(crate) fn is_too_large(&self, term: &Term) -> bool {
        self.expanded_size(term) > LARGEST
    }
}
