//! Patterns of idioms: Python with placeholders (I1: `$x` matches any expression).

use std::collections::BTreeMap;

use testwright_source::tree::{self, StatementKind};

use crate::term::{CallTarget, EffectTerm, NameReference, NameRole, NameScope, Term, Type};

/// The beginning of a placeholder's name while a pattern is parsed. No identifier of a program
/// begins like this.
pub(super) const PLACEHOLDER_PREFIX: &str = "__placeholder_";
/// The beginning of the name of a `$*rest` placeholder.
const REST_PREFIX: &str = "__rest_placeholder_";

/// The pattern of an idiom.
#[derive(Debug, Clone)]
pub(super) enum IdiomPattern {
    /// A pattern for expressions.
    Expression(Term),
    /// A pattern for the effect of a statement.
    Effect(EffectTerm),
}

/// The value of a placeholder.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PlaceholderValue {
    /// One expression, for `$x`.
    One(Term),
    /// The remaining arguments, for `$*rest`.
    Rest(Vec<Term>),
}

/// The values of all placeholders, by name.
pub(super) type Bindings = BTreeMap<String, PlaceholderValue>;

/// A requirement on a placeholder: `where = $n is argument`.
#[derive(Debug, Clone)]
pub(super) struct PlaceholderGuard {
    pub(super) placeholder: String,
    pub(super) requirement: Requirement,
}

/// A requirement on the value of a placeholder.
#[derive(Debug, Clone, Copy)]
pub(super) enum Requirement {
    /// An argument of an action, or a pool value.
    Argument,
    /// A state variable.
    State,
    /// A constant.
    Literal,
    /// A number, by its type.
    Number,
    /// A text, by its type.
    Text,
    /// A collection other than a text.
    Collection,
}

impl Requirement {
    /// The requirements by the names that files use.
    pub(super) const NAMES: [(&'static str, Self); 6] = [
        ("argument", Self::Argument),
        ("state", Self::State),
        ("literal", Self::Literal),
        ("number", Self::Number),
        ("text", Self::Text),
        ("collection", Self::Collection),
    ];
}

impl PlaceholderGuard {
    /// Returns true if the placeholder has a value that meets the requirement.
    pub(super) fn accepts(&self, bindings: &Bindings) -> bool {
        let Some(PlaceholderValue::One(term)) = bindings.get(&self.placeholder) else {
            return false;
        };
        let type_ = term.type_of();
        match self.requirement {
            Requirement::Argument => is_role(term, &|role| {
                matches!(role, NameRole::Input | NameRole::Pool { .. })
            }),
            Requirement::State => is_role(term, &|role| matches!(role, NameRole::State { .. })),
            Requirement::Literal => term.as_value().is_some(),
            Requirement::Number => type_ == Type::Number,
            Requirement::Text => type_ == Type::Text,
            Requirement::Collection => type_.is_sized() && type_ != Type::Text,
        }
    }
}

/// Returns true if a term is a name whose role the predicate accepts.
fn is_role(term: &Term, predicate: &dyn Fn(&NameRole) -> bool) -> bool {
    matches!(term, Term::Reference(reference) if predicate(&reference.role))
}

/// The scope of patterns, in which names stand for themselves and `self.x` is x (I1).
struct PatternScope;

impl NameScope for PatternScope {
    fn resolve_name(&self, _name: &str) -> Option<Term> {
        None
    }

    fn resolve_attribute(&self, object: &str, name: &str) -> Option<Term> {
        (object == "self").then(|| NameReference::new(name, NameRole::Global).into())
    }

    fn is_module(&self, name: &str) -> bool {
        !name.starts_with(PLACEHOLDER_PREFIX) && name != "self" && !name.starts_with("self.")
    }
}

impl IdiomPattern {
    /// Parses a pattern for expressions.
    pub(super) fn parse_expression(text: &str) -> Result<Self, String> {
        let python = replace_placeholders(text)?;
        let expression = tree::expression(&python).map_err(|problems| first_message(&problems))?;
        let term = Term::from_expression(&expression, &python, &PatternScope);
        if is_placeholder(&term) {
            return Err("a placeholder alone would match everything".to_owned());
        }
        Ok(Self::Expression(term))
    }

    /// Parses a pattern for the effect of a statement.
    pub(super) fn parse_statement(text: &str) -> Result<Self, String> {
        let python = replace_placeholders(text)?;
        let statements = tree::statements(&python).map_err(|problems| first_message(&problems))?;
        let [statement] = statements.as_slice() else {
            return Err("a `match` line is one statement".to_owned());
        };
        let term = |expression| Term::from_expression(expression, &python, &PatternScope);
        let change = match &statement.kind {
            StatementKind::Assign { targets, value } => match targets.as_slice() {
                [target] => EffectTerm::Assign {
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
            } => EffectTerm::Augment {
                target: term(target),
                operator: *operator,
                value: term(value),
            },
            StatementKind::Delete(targets) => match targets.as_slice() {
                [target] => EffectTerm::Delete(term(target)),
                _ => return Err("a `del` of several things is not one change".to_owned()),
            },
            StatementKind::Expression(expression) => match term(expression) {
                call @ Term::Call(_) => EffectTerm::Call(call),
                _ => return Err("an effect is an assignment, a `del` or a call".to_owned()),
            },
            _ => return Err("an effect is an assignment, a `del` or a call".to_owned()),
        };
        Ok(Self::Effect(change))
    }

    /// Returns the placeholder for what is changed: `$t` in `$t.append($e)` and in `$t[$i] = $e`.
    pub(super) fn target(&self) -> Option<String> {
        let mut changed = match self {
            Self::Expression(_) => return None,
            Self::Effect(
                EffectTerm::Assign { target, .. }
                | EffectTerm::Augment { target, .. }
                | EffectTerm::Delete(target),
            ) => target,
            Self::Effect(EffectTerm::Call(Term::Call(call))) => match &call.callee {
                CallTarget::Method { object, .. } => object,
                _ => return None,
            },
            Self::Effect(EffectTerm::Call(_)) => return None,
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

    /// Returns the terms of the pattern.
    fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Expression(term)
            | Self::Effect(EffectTerm::Delete(term) | EffectTerm::Call(term)) => {
                vec![term]
            }
            Self::Effect(
                EffectTerm::Assign { target, value } | EffectTerm::Augment { target, value, .. },
            ) => vec![target, value],
        }
    }

    /// Returns the names of all placeholders that are recorded.
    pub(super) fn placeholders(&self) -> Vec<String> {
        let mut found = Vec::new();
        for term in self.terms() {
            collect_placeholders(term, &mut found);
        }
        found
    }

    /// Returns true if it contains a call of this function, or of this method of a machine.
    pub(super) fn calls(&self, function: &str) -> bool {
        let predicate = |term: &Term| match term {
            Term::Call(call) => match &call.callee {
                CallTarget::Function { module: None, name } => name == function,
                CallTarget::Other(Term::Reference(method)) => method.name == function,
                _ => false,
            },
            _ => false,
        };
        self.terms().into_iter().any(|term| term.any(&predicate))
    }

    /// Replaces the names of constants by their values, because terms hold the values as well (R7).
    pub(super) fn with_constants(&self, constant: &dyn Fn(&str) -> Option<Term>) -> Self {
        let put = |term: &Term| {
            term.map_parts(&mut |part| match part {
                Term::Reference(reference) => constant(&reference.name),
                _ => None,
            })
        };
        match self {
            Self::Expression(term) => match put(term) {
                // A constant alone would match everything with the same value.
                Term::Value(_) => self.clone(),
                term => Self::Expression(term),
            },
            Self::Effect(change) => Self::Effect(match change {
                EffectTerm::Assign { target, value } => EffectTerm::Assign {
                    target: put(target),
                    value: put(value),
                },
                EffectTerm::Augment {
                    target,
                    operator,
                    value,
                } => EffectTerm::Augment {
                    target: put(target),
                    operator: *operator,
                    value: put(value),
                },
                EffectTerm::Delete(target) => EffectTerm::Delete(put(target)),
                EffectTerm::Call(call) => EffectTerm::Call(put(call)),
            }),
        }
    }
}

/// Returns the first message of the Python parser.
fn first_message(problems: &[testwright_source::SyntaxProblem]) -> String {
    problems.first().map_or_else(
        || "not Python".to_owned(),
        |problem| problem.message.clone(),
    )
}

/// Rewrites placeholders as names, so that Python's parser accepts the pattern. Texts are left
/// alone.
fn replace_placeholders(text: &str) -> Result<String, String> {
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
                    format!("*{REST_PREFIX}{name}")
                } else {
                    format!("{PLACEHOLDER_PREFIX}{name}")
                };
                continue;
            }
            _ => {}
        }
        python.push(character);
    }
    Ok(python)
}

/// Returns the name of a placeholder for one expression.
pub(super) fn placeholder(term: &Term) -> Option<&str> {
    match term {
        Term::Reference(reference) => reference.name.strip_prefix(PLACEHOLDER_PREFIX),
        _ => None,
    }
}

/// Returns true if a term is a placeholder.
fn is_placeholder(term: &Term) -> bool {
    placeholder(term).is_some()
}

/// Returns the name of a placeholder for all remaining arguments.
pub(super) fn rest_placeholder(term: &Term) -> Option<&str> {
    match term {
        Term::Starred(inner) => match &**inner {
            Term::Reference(reference) => reference.name.strip_prefix(REST_PREFIX),
            _ => None,
        },
        _ => None,
    }
}

/// Appends the names of the placeholders in a term.
fn collect_placeholders(term: &Term, found: &mut Vec<String>) {
    match placeholder(term).or_else(|| rest_placeholder(term)) {
        Some(name) => found.push(name.to_owned()),
        None => {
            if let Term::Call(call) = term
                && let CallTarget::Function { name, .. } = &call.callee
                && let Some(name) = name.strip_prefix(PLACEHOLDER_PREFIX)
            {
                found.push(name.to_owned());
            }
            term.children()
                .into_iter()
                .for_each(|child| collect_placeholders(child, found));
        }
    }
}
