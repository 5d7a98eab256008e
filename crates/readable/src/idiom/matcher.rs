//! Matching patterns against terms, which gives the values of placeholders (I1, I3).

use super::pattern::{
    Bindings, IdiomPattern, PLACEHOLDER_PREFIX, PlaceholderValue, placeholder, rest_placeholder,
};
use crate::term::{
    CallTarget, CallTerm, EffectTerm, ForClause, NameReference, NameRole, Operator, Term,
};
use crate::value::PythonValue;

/// Matches a pattern against a term. Returns the values of its placeholders if the term is an
/// instance of it.
pub(super) fn match_term(pattern: &Term, term: &Term) -> Option<Bindings> {
    let mut matcher = Matcher {
        bindings: Bindings::new(),
        ignores_versions: false,
    };
    matcher.term(pattern, term).then_some(matcher.bindings)
}

/// Matches patterns against consecutive effects.
pub(super) fn match_effects(patterns: &[IdiomPattern], changes: &[EffectTerm]) -> Option<Bindings> {
    // An effect reads the old value of what it sets, so versions of state variables are ignored.
    let mut matcher = Matcher {
        bindings: Bindings::new(),
        ignores_versions: true,
    };
    let fits = patterns
        .iter()
        .zip(changes)
        .all(|(pattern, change)| match pattern {
            IdiomPattern::Effect(pattern) => matcher.effect(pattern, change),
            IdiomPattern::Expression(_) => false,
        });
    fits.then_some(matcher.bindings)
}

/// The state of a match.
struct Matcher {
    /// The values of placeholders so far.
    bindings: Bindings,
    /// True if versions of state variables do not count in comparisons.
    ignores_versions: bool,
}

impl Matcher {
    /// Matches one effect. `t += n` and `t = t + n` match each other.
    fn effect(&mut self, pattern: &EffectTerm, change: &EffectTerm) -> bool {
        match (pattern, change) {
            (EffectTerm::Delete(pattern), EffectTerm::Delete(term))
            | (EffectTerm::Call(pattern), EffectTerm::Call(term)) => self.term(pattern, term),
            (
                EffectTerm::Augment {
                    target,
                    operator,
                    value,
                },
                EffectTerm::Augment {
                    target: subject,
                    operator: other,
                    value: operand,
                },
            ) => operator == other && self.term(target, subject) && self.term(value, operand),
            (
                EffectTerm::Assign { target, value },
                EffectTerm::Assign {
                    target: subject,
                    value: assigned,
                },
            ) => self.term(target, subject) && self.term(value, assigned),
            // `t += n` matches `t = t + n`.
            (
                EffectTerm::Assign { target, value },
                EffectTerm::Augment {
                    target: subject,
                    operator,
                    value: operand,
                },
            ) => {
                let sum = binary(subject, *operator, operand);
                self.term(target, subject) && self.term(value, &sum)
            }
            (
                EffectTerm::Augment {
                    target,
                    operator,
                    value,
                },
                EffectTerm::Assign {
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

    /// Binds a placeholder, or compares with its earlier value. `_` matches anything and is not
    /// recorded.
    fn bind(&mut self, name: &str, bound: PlaceholderValue) -> bool {
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

    /// Returns true if two values of a placeholder are the same.
    fn is_same(&self, one: &PlaceholderValue, two: &PlaceholderValue) -> bool {
        match (one, two) {
            (PlaceholderValue::One(one), PlaceholderValue::One(two)) if self.ignores_versions => {
                with_entry_versions(one) == with_entry_versions(two)
            }
            _ => one == two,
        }
    }

    /// Matches a term, part by part.
    fn term(&mut self, pattern: &Term, term: &Term) -> bool {
        if let Some(name) = placeholder(pattern) {
            return self.bind(name, PlaceholderValue::One(term.clone()));
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
            (Term::List(pattern), Term::Value(PythonValue::List(values)))
            | (Term::Tuple(pattern), Term::Value(PythonValue::Tuple(values)))
            | (Term::Set(pattern), Term::Value(PythonValue::Set(values))) => {
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
                            self.optional(pattern_key.as_ref(), key.as_ref())
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
                    && self.optional(pattern_start.as_deref(), start.as_deref())
                    && self.optional(pattern_stop.as_deref(), stop.as_deref())
                    && self.optional(pattern_step.as_deref(), step.as_deref())
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

    /// Matches optional parts: both must be there, or neither.
    fn optional(&mut self, pattern: Option<&Term>, term: Option<&Term>) -> bool {
        match (pattern, term) {
            (None, None) => true,
            (Some(pattern), Some(term)) => self.term(pattern, term),
            _ => false,
        }
    }

    /// Matches lists of terms; `$*rest` takes what is left.
    fn terms(&mut self, patterns: &[Term], terms: &[Term]) -> bool {
        if let [before @ .., last] = patterns
            && let Some(name) = rest_placeholder(last)
        {
            let Some((matched, rest)) = terms.split_at_checked(before.len()) else {
                return false;
            };
            return self.terms(before, matched)
                && self.bind(name, PlaceholderValue::Rest(rest.to_vec()));
        }
        patterns.len() == terms.len()
            && patterns
                .iter()
                .zip(terms)
                .all(|(pattern, term)| self.term(pattern, term))
    }

    /// Matches a call; keyword arguments may stand in any order.
    fn call(&mut self, pattern: &CallTerm, call: &CallTerm) -> bool {
        self.callee(&pattern.callee, &call.callee)
            && self.terms(&pattern.arguments, &call.arguments)
            && pattern.keywords.len() == call.keywords.len()
            && pattern.keywords.iter().all(|(name, pattern)| {
                let value = call.keywords.iter().find(|(other, _)| other == name);
                value.is_some_and(|(_, value)| self.term(pattern, value))
            })
    }

    /// Matches what is called. Functions, methods of `self` and objects that look like modules
    /// match by name.
    fn callee(&mut self, pattern: &CallTarget, callee: &CallTarget) -> bool {
        match (pattern, callee) {
            // `$f($x)`: any function, called by its name.
            (CallTarget::Function { module: None, name }, _)
                if name.starts_with(PLACEHOLDER_PREFIX) =>
            {
                let name = name.strip_prefix(PLACEHOLDER_PREFIX).unwrap_or(name);
                match callee {
                    CallTarget::Function { name: function, .. } => self.bind(
                        name,
                        PlaceholderValue::One(
                            NameReference::new(function.clone(), NameRole::Global).into(),
                        ),
                    ),
                    CallTarget::Method { .. } => false,
                    CallTarget::Other(term) => self.bind(name, PlaceholderValue::One(term.clone())),
                }
            }
            (
                CallTarget::Function { module: None, name },
                CallTarget::Function { name: other, .. },
            ) => name == other,
            (
                CallTarget::Function {
                    module: Some(module),
                    name,
                },
                CallTarget::Function {
                    module: other,
                    name: function,
                },
            ) => name == function && other.as_ref() == Some(module),
            // A name that looks like a module in a pattern may be an object: `stack.push($x)`.
            (
                CallTarget::Function {
                    module: Some(module),
                    name,
                },
                CallTarget::Method {
                    object,
                    name: method,
                },
            ) => name == method && object.to_python() == *module,
            (
                CallTarget::Function { module: None, name },
                CallTarget::Other(Term::Reference(reference)),
            )
            | (CallTarget::Other(Term::Reference(reference)), CallTarget::Function { name, .. }) => {
                *name == reference.name
            }
            // `self.push($x)` in a pattern.
            (
                CallTarget::Other(Term::Reference(reference)),
                CallTarget::Method { object, name },
            ) => *name == reference.name && object.to_python() == "self",
            (
                CallTarget::Method {
                    object: pattern,
                    name,
                },
                CallTarget::Method {
                    object,
                    name: method,
                },
            ) => name == method && self.term(pattern, object),
            (CallTarget::Other(pattern), CallTarget::Other(term)) => self.term(pattern, term),
            _ => false,
        }
    }

    /// Matches the clauses of comprehensions.
    fn clauses(&mut self, patterns: &[ForClause], clauses: &[ForClause]) -> bool {
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

    /// Matches a bound name, which may be a placeholder in a pattern: `$v in $x`.
    fn target(&mut self, pattern: &str, name: &str) -> bool {
        match pattern.strip_prefix(PLACEHOLDER_PREFIX) {
            None => pattern == name,
            Some(placeholder) => self.bind(
                placeholder,
                PlaceholderValue::One(NameReference::new(name, NameRole::Variable).into()),
            ),
        }
    }
}

/// Creates an operation and folds its constants.
fn binary(left: &Term, operator: Operator, right: &Term) -> Term {
    Term::Binary {
        left: Box::new(left.clone()),
        operator,
        right: Box::new(right.clone()),
    }
    .fold_constants()
}

/// Returns the term with all state variables as on entry.
fn with_entry_versions(term: &Term) -> Term {
    term.map_parts(&mut |term| match term {
        Term::Reference(
            reference @ NameReference {
                role: NameRole::State { .. },
                ..
            },
        ) => Some(
            NameReference {
                role: NameRole::State { version: 0 },
                ..reference.clone()
            }
            .into(),
        ),
        _ => None,
    })
}
