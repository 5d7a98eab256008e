//! What a pattern matches, and what its placeholders stand for then (I1, I3).

use super::pattern::{Bindings, Bound, ONE, Pattern, placeholder, rest_placeholder};
use crate::term::{Call, Callee, Change, Clause, Operator, Reference, Role, Term};
use crate::value::Value;

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
