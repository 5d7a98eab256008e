//! Conditions that a checking function requires: its assertions hold, and it does not fail.
//!
//! The steps of such a function are not described, so the results of its calls are written out.

use crate::explain::flow::{End, Event, EventKind, ExecutionFlow};
use crate::term::{ComprehensionKind, ForClause, NameReference, Term};
use crate::value::PythonValue;

/// Returns the conditions that a flow checks, whatever else it does. On a path that has split, they
/// depend on the path's conditions.
pub(crate) fn checks(flow: &ExecutionFlow) -> Vec<Term> {
    let mut results = Vec::new();
    super::here::gather(flow, &mut results);
    let found = of_flow(flow).into_iter();
    found.map(|one| written_out(&one, &results)).collect()
}

/// Replaces the names of results in a condition by the calls.
fn written_out(
    condition: &Term,
    results: &[(&NameReference, &Term, &testwright_source::Range)],
) -> Term {
    condition.map_parts(&mut |part| match part {
        Term::Reference(reference) => {
            let mut named = results.iter().filter(|(name, ..)| *name == reference);
            let (_, call, _) = named.next()?;
            // For a call with several results, each name is only a part.
            let is_whole = results
                .iter()
                .filter(|(_, other, _)| std::ptr::eq(*other, *call))
                .count()
                == 1;
            is_whole.then(|| written_out(call, results))
        }
        _ => None,
    })
}

fn of_flow(flow: &ExecutionFlow) -> Vec<Term> {
    let mut found = of_events(&flow.events);
    if let End::Split {
        condition,
        then,
        otherwise,
        ..
    } = &flow.end
    {
        found.extend(either(condition, of_flow(then), of_flow(otherwise)));
    }
    found
}

fn of_events(events: &[Event]) -> Vec<Term> {
    let mut found = Vec::new();
    for event in events {
        match &event.kind {
            EventKind::Check(conditions) => found.extend(conditions.iter().cloned()),
            // A path that comes here has failed.
            EventKind::Fail(_) => found.push(PythonValue::Boolean(false).into()),
            EventKind::Choice {
                condition,
                then,
                otherwise,
            } => found.extend(either(condition, of_events(then), of_events(otherwise))),
            EventKind::Each {
                targets,
                iterable,
                body,
            } => found.extend(of_events(body).into_iter().map(|one| {
                let all = Term::Comprehension {
                    form: ComprehensionKind::Generator,
                    element: Box::new(one),
                    clauses: vec![ForClause {
                        targets: targets.clone(),
                        iterable: iterable.clone(),
                        conditions: vec![],
                    }],
                };
                Term::call("all", vec![all])
            })),
            _ => {}
        }
    }
    found
}

/// Combines the checks of two branches: one expression if each has one, as a branch with a constant
/// result becomes `and` or `or` (Y11).
fn either(condition: &Term, then: Vec<Term>, otherwise: Vec<Term>) -> Vec<Term> {
    let not = Term::Not(Box::new(condition.clone())).fold_constants();
    let fails = |checks: &[Term]| checks.iter().any(|one| one.truth() == Some(false));
    match (then.as_slice(), otherwise.as_slice()) {
        // A branch that always fails must not be taken, so the other one is.
        (one, _) if fails(one) => std::iter::once(not).chain(otherwise).collect(),
        (_, other) if fails(other) => std::iter::once(condition.clone()).chain(then).collect(),
        ([one], [other]) => vec![Term::Conditional {
            condition: Box::new(condition.clone()),
            then: Box::new(one.clone()),
            otherwise: Box::new(other.clone()),
        }],
        _ => {
            let then = then.into_iter().map(|one| implied(&not, one));
            let otherwise = otherwise.into_iter().map(|one| implied(condition, one));
            then.chain(otherwise).collect()
        }
    }
}

/// Returns `unless or check`, which reads "if … then …". A check that depends on two conditions is
/// made if both hold.
fn implied(unless: &Term, check: Term) -> Term {
    let not = |term: Term| match term {
        Term::Not(inner) => *inner,
        other => Term::Not(Box::new(other)),
    };
    let (unless, check) = match check {
        Term::Or(mut parts) if parts.len() == 2 && matches!(parts[0], Term::Not(_)) => {
            let last = parts.remove(1);
            let both = vec![not(unless.clone()), not(parts.remove(0))];
            (not(Term::And(both)), last)
        }
        other => (unless.clone(), other),
    };
    Term::Or(vec![unless, check]).fold_constants()
}
