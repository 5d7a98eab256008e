//! Patterns: Python with placeholders, and what they match (I1).

use std::collections::BTreeMap;

use testwright_source::tree::{self, StatementKind};

use crate::term::{Call, Callee, Change, Clause, Operator, Reference, Role, Scope, Term, Type};
use crate::value::Value;

/// How placeholders are called while a pattern is parsed; no identifier of a program begins like this.
const ONE: &str = "__placeholder_";
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

    /// The placeholders that are recorded.
    pub(super) fn placeholders(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut look = |term: &Term| collect(term, &mut found);
        match self {
            Self::Expression(term) | Self::Change(Change::Delete(term) | Change::Call(term)) => {
                look(term)
            }
            Self::Change(
                Change::Assign { target, value } | Change::Augment { target, value, .. },
            ) => {
                look(target);
                look(value);
            }
        }
        found
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
fn placeholder(term: &Term) -> Option<&str> {
    match term {
        Term::Reference(reference) => reference.name.strip_prefix(ONE),
        _ => None,
    }
}

fn is_placeholder(term: &Term) -> bool {
    placeholder(term).is_some()
}

/// The name of a placeholder for all that is left.
fn rest_placeholder(term: &Term) -> Option<&str> {
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

/// What placeholders stand for, if the term is an instance of the pattern.
pub(super) fn matched(pattern: &Term, term: &Term) -> Option<Bindings> {
    let mut matcher = Matcher {
        bindings: Bindings::new(),
        ignores_versions: false,
    };
    matcher.term(pattern, term).then_some(matcher.bindings)
}

/// The same for changes in a row.
pub(super) fn matched_changes(patterns: &[Pattern], changes: &[Change]) -> Option<Bindings> {
    // A change reads the old value of what it sets, so equal means equal but for that.
    let mut matcher = Matcher {
        bindings: Bindings::new(),
        ignores_versions: true,
    };
    let fits = patterns
        .iter()
        .zip(changes)
        .all(|(pattern, change)| match pattern {
            Pattern::Change(pattern) => matcher.change(pattern, change),
            Pattern::Expression(_) => false,
        });
    fits.then_some(matcher.bindings)
}

struct Matcher {
    bindings: Bindings,
    ignores_versions: bool,
}

impl Matcher {
    fn change(&mut self, pattern: &Change, change: &Change) -> bool {
        match (pattern, change) {
            (Change::Delete(pattern), Change::Delete(term))
            | (Change::Call(pattern), Change::Call(term)) => self.term(pattern, term),
            (
                Change::Augment {
                    target,
                    operator,
                    value,
                },
                Change::Augment {
                    target: subject,
                    operator: other,
                    value: operand,
                },
            ) => operator == other && self.term(target, subject) && self.term(value, operand),
            (
                Change::Assign { target, value },
                Change::Assign {
                    target: subject,
                    value: assigned,
                },
            ) => self.term(target, subject) && self.term(value, assigned),
            // `t += n` is `t = t + n`.
            (
                Change::Assign { target, value },
                Change::Augment {
                    target: subject,
                    operator,
                    value: operand,
                },
            ) => {
                let sum = binary(subject, *operator, operand);
                self.term(target, subject) && self.term(value, &sum)
            }
            (
                Change::Augment {
                    target,
                    operator,
                    value,
                },
                Change::Assign {
                    target: subject,
                    value: assigned,
                },
            ) => {
                let sum = binary(target, *operator, value);
                self.term(target, subject) && self.term(&sum, assigned)
            }
            _ => false,
        }
    }

    fn bind(&mut self, name: &str, bound: Bound) -> bool {
        if name == "_" {
            return true;
        }
        match self.bindings.get(name) {
            Some(known) => self.is_same(known, &bound),
            None => {
                self.bindings.insert(name.to_owned(), bound);
                true
            }
        }
    }

    fn is_same(&self, one: &Bound, two: &Bound) -> bool {
        match (one, two) {
            (Bound::One(one), Bound::One(two)) if self.ignores_versions => {
                on_entry(one) == on_entry(two)
            }
            _ => one == two,
        }
    }

    fn term(&mut self, pattern: &Term, term: &Term) -> bool {
        if let Some(name) = placeholder(pattern) {
            return self.bind(name, Bound::One(term.clone()));
        }
        match (pattern, term) {
            (Term::Reference(pattern), Term::Reference(reference)) => {
                pattern.name == reference.name
            }
            (Term::Value(pattern), Term::Value(value)) => pattern == value,
            (Term::List(pattern), Term::List(terms))
            | (Term::Tuple(pattern), Term::Tuple(terms))
            | (Term::Set(pattern), Term::Set(terms)) => self.terms(pattern, terms),
            // Displays of constants have become values; a pattern still sees their members.
            (Term::List(pattern), Term::Value(Value::List(values)))
            | (Term::Tuple(pattern), Term::Value(Value::Tuple(values)))
            | (Term::Set(pattern), Term::Value(Value::Set(values))) => {
                let terms: Vec<Term> = values.iter().cloned().map(Term::Value).collect();
                self.terms(pattern, &terms)
            }
            (Term::Formatted(pattern), Term::Formatted(terms))
            | (Term::And(pattern), Term::And(terms))
            | (Term::Or(pattern), Term::Or(terms)) => self.terms(pattern, terms),
            (Term::Dictionary(pattern), Term::Dictionary(entries)) => {
                pattern.len() == entries.len()
                    && pattern
                        .iter()
                        .zip(entries)
                        .all(|((pattern_key, pattern), (key, value))| {
                            self.maybe(pattern_key.as_ref(), key.as_ref())
                                && self.term(pattern, value)
                        })
            }
            (
                Term::Attribute {
                    object: pattern,
                    name,
                },
                Term::Attribute {
                    object,
                    name: other,
                },
            ) => name == other && self.term(pattern, object),
            (
                Term::Item {
                    object: pattern,
                    index: pattern_index,
                },
                Term::Item { object, index },
            ) => self.term(pattern, object) && self.term(pattern_index, index),
            (
                Term::Slice {
                    object: pattern,
                    start: pattern_start,
                    stop: pattern_stop,
                    step: pattern_step,
                },
                Term::Slice {
                    object,
                    start,
                    stop,
                    step,
                },
            ) => {
                self.term(pattern, object)
                    && self.maybe(pattern_start.as_deref(), start.as_deref())
                    && self.maybe(pattern_stop.as_deref(), stop.as_deref())
                    && self.maybe(pattern_step.as_deref(), step.as_deref())
            }
            (Term::Call(pattern), Term::Call(call)) => self.call(pattern, call),
            (
                Term::Unary {
                    operator: pattern_operator,
                    operand: pattern,
                },
                Term::Unary { operator, operand },
            ) => pattern_operator == operator && self.term(pattern, operand),
            (Term::Not(pattern), Term::Not(term))
            | (Term::Starred(pattern), Term::Starred(term))
            | (Term::Earlier(pattern), Term::Earlier(term)) => self.term(pattern, term),
            (
                Term::Binary {
                    left: pattern_left,
                    operator: pattern_operator,
                    right: pattern_right,
                },
                Term::Binary {
                    left,
                    operator,
                    right,
                },
            ) => {
                pattern_operator == operator
                    && self.term(pattern_left, left)
                    && self.term(pattern_right, right)
            }
            (
                Term::Compare {
                    first: pattern,
                    rest: pattern_rest,
                },
                Term::Compare { first, rest },
            ) => {
                pattern_rest.len() == rest.len()
                    && self.term(pattern, first)
                    && pattern_rest.iter().zip(rest).all(
                        |((pattern_comparison, pattern), (comparison, operand))| {
                            pattern_comparison == comparison && self.term(pattern, operand)
                        },
                    )
            }
            (
                Term::Conditional {
                    condition: pattern,
                    then: pattern_then,
                    otherwise: pattern_otherwise,
                },
                Term::Conditional {
                    condition,
                    then,
                    otherwise,
                },
            ) => {
                self.term(pattern, condition)
                    && self.term(pattern_then, then)
                    && self.term(pattern_otherwise, otherwise)
            }
            (
                Term::Lambda {
                    parameters: pattern,
                    body: pattern_body,
                },
                Term::Lambda { parameters, body },
            ) => pattern == parameters && self.term(pattern_body, body),
            (
                Term::Comprehension {
                    form: pattern_form,
                    element: pattern,
                    clauses: pattern_clauses,
                },
                Term::Comprehension {
                    form,
                    element,
                    clauses,
                },
            ) => {
                pattern_form == form
                    && self.clauses(pattern_clauses, clauses)
                    && self.term(pattern, element)
            }
            (
                Term::DictionaryComprehension {
                    key: pattern_key,
                    value: pattern,
                    clauses: pattern_clauses,
                },
                Term::DictionaryComprehension {
                    key,
                    value,
                    clauses,
                },
            ) => {
                self.clauses(pattern_clauses, clauses)
                    && self.term(pattern_key, key)
                    && self.term(pattern, value)
            }
            _ => false,
        }
    }

    fn maybe(&mut self, pattern: Option<&Term>, term: Option<&Term>) -> bool {
        match (pattern, term) {
            (None, None) => true,
            (Some(pattern), Some(term)) => self.term(pattern, term),
            _ => false,
        }
    }

    fn terms(&mut self, patterns: &[Term], terms: &[Term]) -> bool {
        if let [before @ .., last] = patterns
            && let Some(name) = rest_placeholder(last)
        {
            let Some((matched, rest)) = terms.split_at_checked(before.len()) else {
                return false;
            };
            return self.terms(before, matched) && self.bind(name, Bound::Rest(rest.to_vec()));
        }
        patterns.len() == terms.len()
            && patterns
                .iter()
                .zip(terms)
                .all(|(pattern, term)| self.term(pattern, term))
    }

    fn call(&mut self, pattern: &Call, call: &Call) -> bool {
        self.callee(&pattern.callee, &call.callee)
            && self.terms(&pattern.arguments, &call.arguments)
            && pattern.keywords.len() == call.keywords.len()
            && pattern.keywords.iter().all(|(name, pattern)| {
                let value = call.keywords.iter().find(|(other, _)| other == name);
                value.is_some_and(|(_, value)| self.term(pattern, value))
            })
    }

    fn callee(&mut self, pattern: &Callee, callee: &Callee) -> bool {
        match (pattern, callee) {
            // `$f($x)`: any function, called by its name.
            (Callee::Function { module: None, name }, _) if name.starts_with(ONE) => {
                let name = name.strip_prefix(ONE).unwrap_or(name);
                match callee {
                    Callee::Function { name: function, .. } => self.bind(
                        name,
                        Bound::One(Reference::new(function.clone(), Role::Global).into()),
                    ),
                    Callee::Method { .. } => false,
                    Callee::Other(term) => self.bind(name, Bound::One(term.clone())),
                }
            }
            (Callee::Function { module: None, name }, Callee::Function { name: other, .. }) => {
                name == other
            }
            (
                Callee::Function {
                    module: Some(module),
                    name,
                },
                Callee::Function {
                    module: other,
                    name: function,
                },
            ) => name == function && other.as_ref() == Some(module),
            // What looks like a module in a pattern may be an object: `stack.push($x)`.
            (
                Callee::Function {
                    module: Some(module),
                    name,
                },
                Callee::Method {
                    object,
                    name: method,
                },
            ) => name == method && object.to_python() == *module,
            (
                Callee::Function { module: None, name },
                Callee::Other(Term::Reference(reference)),
            )
            | (Callee::Other(Term::Reference(reference)), Callee::Function { name, .. }) => {
                *name == reference.name
            }
            // `self.push($x)` in a pattern.
            (Callee::Other(Term::Reference(reference)), Callee::Method { object, name }) => {
                *name == reference.name && object.to_python() == "self"
            }
            (
                Callee::Method {
                    object: pattern,
                    name,
                },
                Callee::Method {
                    object,
                    name: method,
                },
            ) => name == method && self.term(pattern, object),
            (Callee::Other(pattern), Callee::Other(term)) => self.term(pattern, term),
            _ => false,
        }
    }

    fn clauses(&mut self, patterns: &[Clause], clauses: &[Clause]) -> bool {
        patterns.len() == clauses.len()
            && patterns.iter().zip(clauses).all(|(pattern, clause)| {
                pattern.targets.len() == clause.targets.len()
                    && pattern
                        .targets
                        .iter()
                        .zip(&clause.targets)
                        .all(|(target, name)| self.target(target, name))
                    && self.term(&pattern.iterable, &clause.iterable)
                    && self.terms(&pattern.conditions, &clause.conditions)
            })
    }

    /// A bound name of a pattern may be a placeholder: `$v in $x`.
    fn target(&mut self, pattern: &str, name: &str) -> bool {
        match pattern.strip_prefix(ONE) {
            None => pattern == name,
            Some(placeholder) => self.bind(
                placeholder,
                Bound::One(Reference::new(name, Role::Variable).into()),
            ),
        }
    }
}

fn binary(left: &Term, operator: Operator, right: &Term) -> Term {
    Term::Binary {
        left: Box::new(left.clone()),
        operator,
        right: Box::new(right.clone()),
    }
    .folded()
}

/// The term with all state variables as on entry.
fn on_entry(term: &Term) -> Term {
    term.replaced(&mut |term| match term {
        Term::Reference(
            reference @ Reference {
                role: Role::State { .. },
                ..
            },
        ) => Some(
            Reference {
                role: Role::State { version: 0 },
                ..reference.clone()
            }
            .into(),
        ),
        _ => None,
    })
}
