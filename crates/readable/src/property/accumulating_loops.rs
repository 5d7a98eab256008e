//! Loops that only accumulate: `r = []`, and later `for v in X: [if d:] r.append(e)`. They say the
//! same as a comprehension, which has a phrase (P21, P30, P31).

use testwright_source::Range;
use testwright_source::tree::{
    ComprehensionClause, ComprehensionKind, Expression, ExpressionKind, Statement, StatementKind,
};

use super::code::collect_free_names;
use super::loops::loop_variables;
use super::scope::PropertyScope;
use crate::accumulation::{Accumulation, parse_accumulation};

/// A local that starts empty and is filled by one loop.
pub(super) struct AccumulatingLoop<'a> {
    /// The local.
    pub(super) name: &'a str,
    /// The position of the statement that makes it empty.
    pub(super) start: usize,
    /// The range of the loop.
    pub(super) range: Range,
    /// The values that the loop adds.
    accumulator: Accumulator<'a>,
    /// The loops, outermost first.
    loops: Vec<LoopClause<'a>>,
}

/// The kind of accumulation and the expressions that are added.
#[derive(Clone, Copy)]
enum Accumulator<'a> {
    /// `t += e`.
    Sum(&'a Expression),
    /// `r.append(e)`.
    List(&'a Expression),
    /// `s.add(e)`.
    Set(&'a Expression),
    /// `d[k] = v`.
    Dictionary(&'a Expression, &'a Expression),
}

/// One loop with the conditions inside it.
struct LoopClause<'a> {
    target: &'a Expression,
    iterable: &'a Expression,
    conditions: Vec<&'a Expression>,
}

/// Finds all accumulating loops among statements.
pub(super) fn find_accumulating_loops(body: &[Statement]) -> Vec<AccumulatingLoop<'_>> {
    let indices = 0..body.len();
    indices
        .filter_map(|at| accumulating_loop(body, at))
        .collect()
}

/// Recognizes the loop at an index. Its local must start empty and must not be mentioned in
/// between.
fn accumulating_loop(body: &[Statement], at: usize) -> Option<AccumulatingLoop<'_>> {
    let mut loops = Vec::new();
    let (name, accumulator) = accumulated_value(std::slice::from_ref(&body[at]), &mut loops)?;
    if loops.is_empty() {
        return None;
    }
    let parts = loops
        .iter()
        .flat_map(|one| std::iter::once(one.iterable).chain(one.conditions.iter().copied()))
        .chain(accumulator.parts());
    if parts.into_iter().any(|part| mentions(part, name)) {
        return None;
    }
    // Nothing may mention the local between its start and the loop.
    for earlier in body[..at].iter().rev() {
        match &earlier.kind {
            StatementKind::Assign { targets, value } => {
                if let [target] = targets.as_slice()
                    && target.as_name() == Some(name)
                {
                    return accumulator.starts_with(value).then(|| AccumulatingLoop {
                        name,
                        start: earlier.range.start,
                        range: body[at].range.clone(),
                        accumulator,
                        loops,
                    });
                }
                let parts = targets.iter().chain([value]);
                if parts.into_iter().any(|part| mentions(part, name)) {
                    return None;
                }
            }
            StatementKind::Assert { condition: one, .. } | StatementKind::Expression(one)
                if !mentions(one, name) => {}
            StatementKind::Pass => {}
            // Another loop that fills another local.
            StatementKind::For { .. } => {
                let mut inside = Vec::new();
                let (other, accumulator) =
                    accumulated_value(std::slice::from_ref(earlier), &mut inside)?;
                let mut parts = accumulator.parts();
                if other == name || parts.any(|part| mentions(part, name)) {
                    return None;
                }
            }
            _ => return None,
        }
    }
    None
}

/// Returns the local that statements fill, if they do nothing else. Collects the loops on the way.
fn accumulated_value<'a>(
    body: &'a [Statement],
    loops: &mut Vec<LoopClause<'a>>,
) -> Option<(&'a str, Accumulator<'a>)> {
    let [statement] = body else { return None };
    match &statement.kind {
        StatementKind::For {
            target,
            iterable,
            body,
            otherwise,
            is_async: false,
        } if otherwise.is_empty() => {
            loops.push(LoopClause {
                target,
                iterable,
                conditions: Vec::new(),
            });
            accumulated_value(body, loops)
        }
        StatementKind::If {
            condition,
            body,
            otherwise,
        } if otherwise.is_empty() => {
            loops.last_mut()?.conditions.push(condition);
            accumulated_value(body, loops)
        }
        _ => {
            let (name, added) = parse_accumulation(statement)?;
            let accumulator = match added {
                Accumulation::Sum(value) => Accumulator::Sum(value),
                Accumulation::Element(element) => Accumulator::List(element),
                Accumulation::Member(element) => Accumulator::Set(element),
                Accumulation::Entry(key, value) => Accumulator::Dictionary(key, value),
                Accumulation::Assigned(_) => return None,
            };
            Some((name, accumulator))
        }
    }
}

/// Returns true if an expression reads a name.
fn mentions(expression: &Expression, name: &str) -> bool {
    let mut read = Vec::new();
    collect_free_names(expression, &mut Vec::new(), &mut read);
    read.iter().any(|one| one == name)
}

impl<'a> Accumulator<'a> {
    /// Returns the expressions that are added.
    fn parts(self) -> impl Iterator<Item = &'a Expression> {
        let (first, second) = match self {
            Accumulator::Sum(one) | Accumulator::List(one) | Accumulator::Set(one) => (one, None),
            Accumulator::Dictionary(key, value) => (key, Some(value)),
        };
        std::iter::once(first).chain(second)
    }

    /// Returns true if a value is the empty start of this accumulation.
    fn starts_with(self, value: &Expression) -> bool {
        let makes = |class: &str| {
            matches!(&value.kind, ExpressionKind::Call { function, arguments, keywords }
                if function.as_name() == Some(class) && arguments.is_empty() && keywords.is_empty())
        };
        match (self, &value.kind) {
            (Accumulator::Sum(_), ExpressionKind::Integer(digits)) => digits == "0",
            (Accumulator::List(_), ExpressionKind::List(items)) => items.is_empty(),
            (Accumulator::Dictionary(..), ExpressionKind::Dictionary(entries)) => {
                entries.is_empty()
            }
            (Accumulator::List(_), _) => makes("list"),
            (Accumulator::Set(_), _) => makes("set"),
            (Accumulator::Dictionary(..), _) => makes("dict"),
            _ => false,
        }
    }
}

impl AccumulatingLoop<'_> {
    /// Returns the comprehension that gives the same result.
    pub(super) fn as_expression(&self) -> Expression {
        let clauses: Vec<ComprehensionClause> = self
            .loops
            .iter()
            .map(|one| ComprehensionClause {
                is_async: false,
                target: one.target.clone(),
                iterable: one.iterable.clone(),
                conditions: one.conditions.iter().map(|&one| one.clone()).collect(),
            })
            .collect();
        let boxed = |one: &Expression| Box::new(one.clone());
        let comprehension = |kind, element| ExpressionKind::Comprehension {
            kind,
            element: boxed(element),
            clauses: clauses.clone(),
        };
        let expression = |kind| Expression {
            range: self.range.clone(),
            kind,
        };
        expression(match self.accumulator {
            Accumulator::List(element) => comprehension(ComprehensionKind::List, element),
            Accumulator::Set(element) => comprehension(ComprehensionKind::Set, element),
            Accumulator::Dictionary(key, value) => ExpressionKind::DictionaryComprehension {
                key: Some(boxed(key)),
                value: boxed(value),
                clauses: clauses.clone(),
            },
            Accumulator::Sum(element) => {
                let all = comprehension(ComprehensionKind::Generator, element);
                ExpressionKind::Call {
                    function: Box::new(expression(ExpressionKind::Name("sum".to_owned()))),
                    arguments: vec![expression(all)],
                    keywords: Vec::new(),
                }
            }
        })
    }

    /// Returns that comprehension as Python code.
    pub(super) fn code(&self, scope: &mut PropertyScope<'_>) -> String {
        let inside = comprehension_code(self.accumulator, &self.loops, scope);
        match self.accumulator {
            Accumulator::Sum(_) => format!("sum({inside})"),
            Accumulator::List(_) => format!("[{inside}]"),
            Accumulator::Set(_) | Accumulator::Dictionary(..) => format!("{{{inside}}}"),
        }
    }
}

/// Writes the element and the clauses, outermost loop first.
fn comprehension_code(
    accumulator: Accumulator<'_>,
    loops: &[LoopClause<'_>],
    scope: &mut PropertyScope<'_>,
) -> String {
    let mut clauses = String::new();
    let element = push_clauses(accumulator, loops, scope, &mut clauses);
    format!("{element}{clauses}")
}

/// Writes the clauses of the loops, and returns the code of the element. Names that a loop binds
/// stay as they are inside it.
fn push_clauses(
    accumulator: Accumulator<'_>,
    loops: &[LoopClause<'_>],
    scope: &mut PropertyScope<'_>,
    clauses: &mut String,
) -> String {
    let Some((first, rest)) = loops.split_first() else {
        return match accumulator {
            Accumulator::Sum(one) | Accumulator::List(one) | Accumulator::Set(one) => {
                scope.code(one)
            }
            Accumulator::Dictionary(key, value) => {
                format!("{}: {}", scope.code(key), scope.code(value))
            }
        };
    };
    let (target, iterable) = (scope.source(first.target), scope.code(first.iterable));
    clauses.push_str(&format!(" for {target} in {iterable}"));
    let names = loop_variables(first.target, &scope.term(first.iterable));
    scope.binding(&names, |scope| {
        for condition in &first.conditions {
            clauses.push_str(&format!(" if {}", scope.code(condition)));
        }
        push_clauses(accumulator, rest, scope, clauses)
    })
}
