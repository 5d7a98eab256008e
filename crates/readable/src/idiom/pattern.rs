//! Patterns: Python with placeholders, and what they match (I1).

use std::collections::BTreeMap;

use testwright_source::tree::{self, StatementKind};

use crate::term::{Callee, Change, Reference, Role, Scope, Term, Type};

/// How placeholders are called while a pattern is parsed; no identifier of a program begins like this.
pub(super) const ONE: &str = "__placeholder_";
const REST: &str = "__rest_placeholder_";

/// What an idiom matches.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    Expression(Term),
    Change(Change),
}

/// What a placeholder stands for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bound {
    One(Term),
    Rest(Vec<Term>),
}

/// What all placeholders stand for.
pub(super) type Bindings = BTreeMap<String, Bound>;

/// `where = $n is argument`.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) placeholder: String,
    pub(super) requirement: Requirement,
}

/// What may be required of a placeholder.
#[derive(Debug, Clone, Copy)]
pub(super) enum Requirement {
    Argument,
    State,
    Literal,
    Number,
    Text,
    Collection,
}

impl Requirement {
    pub(super) const NAMES: [(&'static str, Self); 6] = [
        ("argument", Self::Argument),
        ("state", Self::State),
        ("literal", Self::Literal),
        ("number", Self::Number),
        ("text", Self::Text),
        ("collection", Self::Collection),
    ];
}

impl Guard {
    pub(super) fn accepts(&self, bindings: &Bindings) -> bool {
        let Some(Bound::One(term)) = bindings.get(&self.placeholder) else {
            return false;
        };
        let type_ = term.type_of();
        match self.requirement {
            Requirement::Argument => is_role(term, &|role| {
                matches!(role, Role::Input | Role::Pool { .. })
            }),
            Requirement::State => is_role(term, &|role| matches!(role, Role::State { .. })),
            Requirement::Literal => term.as_value().is_some(),
            Requirement::Number => type_ == Type::Number,
            Requirement::Text => type_ == Type::Text,
            Requirement::Collection => type_.is_sized() && type_ != Type::Text,
        }
    }
}

fn is_role(term: &Term, is_such: &dyn Fn(&Role) -> bool) -> bool {
    matches!(term, Term::Reference(reference) if is_such(&reference.role))
}

/// In patterns, names stand for themselves and `self.x` is x (I1).
struct Names;

impl Scope for Names {
    fn name(&self, _name: &str) -> Option<Term> {
        None
    }

    fn attribute(&self, object: &str, name: &str) -> Option<Term> {
        (object == "self").then(|| Reference::new(name, Role::Global).into())
    }

    fn is_module(&self, name: &str) -> bool {
        !name.starts_with(ONE) && name != "self" && !name.starts_with("self.")
    }
}

impl Pattern {
    /// A pattern for expressions.
    pub(super) fn expression(text: &str) -> Result<Self, String> {
        let python = spelled(text)?;
        let expression = tree::expression(&python).map_err(|problems| first(&problems))?;
        let term = Term::read(&expression, &python, &Names);
        if is_placeholder(&term) {
            return Err("a placeholder alone would match everything".to_owned());
        }
        Ok(Self::Expression(term))
    }

    /// A pattern for what a statement does.
    pub(super) fn statement(text: &str) -> Result<Self, String> {
        let python = spelled(text)?;
        let statements = tree::statements(&python).map_err(|problems| first(&problems))?;
        let [statement] = statements.as_slice() else {
            return Err("a `match` line is one statement".to_owned());
        };
        let term = |expression| Term::read(expression, &python, &Names);
        let change = match &statement.kind {
            StatementKind::Assign { targets, value } => match targets.as_slice() {
                [target] => Change::Assign {
                    target: term(target),
                    value: term(value),
                },
                _ => {
                    return Err(
                        "an assignment to several targets at once is not one change".to_owned()
                    );
                }
            },
            StatementKind::Augmented {
                target,
                operator,
                value,
            } => Change::Augment {
                target: term(target),
                operator: *operator,
                value: term(value),
            },
            StatementKind::Delete(targets) => match targets.as_slice() {
                [target] => Change::Delete(term(target)),
                _ => return Err("a `del` of several things is not one change".to_owned()),
            },
            StatementKind::Expression(expression) => match term(expression) {
                call @ Term::Call(_) => Change::Call(call),
                _ => return Err("an effect is an assignment, a `del` or a call".to_owned()),
            },
            _ => return Err("an effect is an assignment, a `del` or a call".to_owned()),
        };
        Ok(Self::Change(change))
    }

    /// The placeholder that stands for what is changed: `$t` in `$t.append($e)` and in `$t[$i] = $e`.
    pub(super) fn target(&self) -> Option<String> {
        let mut changed = match self {
            Self::Expression(_) => return None,
            Self::Change(
                Change::Assign { target, .. }
                | Change::Augment { target, .. }
                | Change::Delete(target),
            ) => target,
            Self::Change(Change::Call(Term::Call(call))) => match &call.callee {
                Callee::Method { object, .. } => object,
                _ => return None,
            },
            Self::Change(Change::Call(_)) => return None,
        };
        loop {
            match changed {
                Term::Item { object, .. }
                | Term::Slice { object, .. }
                | Term::Attribute { object, .. } => changed = object,
                _ => return placeholder(changed).map(str::to_owned),
            }
        }
    }

    fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Expression(term) | Self::Change(Change::Delete(term) | Change::Call(term)) => {
                vec![term]
            }
            Self::Change(
                Change::Assign { target, value } | Change::Augment { target, value, .. },
            ) => vec![target, value],
        }
    }

    /// The placeholders that are recorded.
    pub(super) fn placeholders(&self) -> Vec<String> {
        let mut found = Vec::new();
        for term in self.terms() {
            collect(term, &mut found);
        }
        found
    }

    /// Whether it speaks of a call of this function, or of this method of a machine.
    pub(super) fn calls(&self, function: &str) -> bool {
        let is_such = |term: &Term| match term {
            Term::Call(call) => match &call.callee {
                Callee::Function { module: None, name } => name == function,
                Callee::Other(Term::Reference(method)) => method.name == function,
                _ => false,
            },
            _ => false,
        };
        self.terms().into_iter().any(|term| term.any(&is_such))
    }

    /// The same with the values of constants in place of their names, as what it is compared with has them (R7).
    pub(super) fn with_constants(&self, constant: &dyn Fn(&str) -> Option<Term>) -> Self {
        let put = |term: &Term| {
            term.replaced(&mut |part| match part {
                Term::Reference(reference) => constant(&reference.name),
                _ => None,
            })
        };
        match self {
            Self::Expression(term) => match put(term) {
                // A constant alone would match whatever has the same value.
                Term::Value(_) => self.clone(),
                term => Self::Expression(term),
            },
            Self::Change(change) => Self::Change(match change {
                Change::Assign { target, value } => Change::Assign {
                    target: put(target),
                    value: put(value),
                },
                Change::Augment {
                    target,
                    operator,
                    value,
                } => Change::Augment {
                    target: put(target),
                    operator: *operator,
                    value: put(value),
                },
                Change::Delete(target) => Change::Delete(put(target)),
                Change::Call(call) => Change::Call(put(call)),
            }),
        }
    }
}

fn first(problems: &[testwright_source::Problem]) -> String {
    problems.first().map_or_else(
        || "not Python".to_owned(),
        |problem| problem.message.clone(),
    )
}

/// The pattern as Python: placeholders become names. Texts are left alone.
fn spelled(text: &str) -> Result<String, String> {
    let mut python = String::with_capacity(text.len());
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', Some(_)) => {
                python.push(character);
                python.extend(characters.next());
                continue;
            }
            ('\'' | '"', None) => quote = Some(character),
            (_, Some(open)) if open == character => quote = None,
            ('$', None) => {
                let is_rest = characters.next_if_eq(&'*').is_some();
                let mut name = String::new();
                while let Some(letter) =
                    characters.next_if(|letter| letter.is_alphanumeric() || *letter == '_')
                {
                    name.push(letter);
                }
                if name.is_empty() {
                    return Err("a placeholder is `$` and a name, `$_` or `$*rest`".to_owned());
                }
                python += &if is_rest {
                    format!("*{REST}{name}")
                } else {
                    format!("{ONE}{name}")
                };
                continue;
            }
            _ => {}
        }
        python.push(character);
    }
    Ok(python)
}

/// The name of a placeholder for one expression.
pub(super) fn placeholder(term: &Term) -> Option<&str> {
    match term {
        Term::Reference(reference) => reference.name.strip_prefix(ONE),
        _ => None,
    }
}

fn is_placeholder(term: &Term) -> bool {
    placeholder(term).is_some()
}

/// The name of a placeholder for all that is left.
pub(super) fn rest_placeholder(term: &Term) -> Option<&str> {
    match term {
        Term::Starred(inner) => match &**inner {
            Term::Reference(reference) => reference.name.strip_prefix(REST),
            _ => None,
        },
        _ => None,
    }
}

fn collect(term: &Term, found: &mut Vec<String>) {
    match placeholder(term).or_else(|| rest_placeholder(term)) {
        Some(name) => found.push(name.to_owned()),
        None => {
            if let Term::Call(call) = term
                && let Callee::Function { name, .. } = &call.callee
                && let Some(name) = name.strip_prefix(ONE)
            {
                found.push(name.to_owned());
            }
            term.children()
                .into_iter()
                .for_each(|child| collect(child, found));
        }
    }
}
