//! What must hold for a function that checks: what it asserts, and that it does not fail.
//!
//! Nothing is told of what such a function does on the way, so what its calls give is written out.

use crate::explain::flow::{End, Event, EventKind, Flow};
use crate::term::{Clause, Form, Reference, Term};
use crate::value::Value;

/// What a flow checks, whatever else it does: on a way that has parted, if its conditions hold.
pub(crate) fn checks(flow: &Flow) -> Vec<Term> {
    let mut results = Vec::new();
    super::here::gather(flow, &mut results);
    let found = of_flow(flow).into_iter();
    found.map(|one| written_out(&one, &results)).collect()
}

/// A condition with calls in place of the names of what they give.
fn written_out(
    condition: &Term,
    results: &[(&Reference, &Term, &testwright_source::Range)],
) -> Term {
    condition.replaced(&mut |part| match part {
        Term::Reference(reference) => {
            let mut named = results.iter().filter(|(name, ..)| *name == reference);
            let (_, call, _) = named.next()?;
            // Of a call that gives several values, each is only a part.
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

fn of_flow(flow: &Flow) -> Vec<Term> {
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
            // Whoever comes here has failed.
            EventKind::Fail(_) => found.push(Value::Boolean(false).into()),
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
                    form: Form::Generator,
                    element: Box::new(one),
                    clauses: vec![Clause {
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

/// What must hold if one or the other is checked (Y11): one expression if there is one on each side.
fn either(condition: &Term, then: Vec<Term>, otherwise: Vec<Term>) -> Vec<Term> {
    let not = Term::Not(Box::new(condition.clone())).folded();
    let fails = |checks: &[Term]| checks.iter().any(|one| one.truth() == Some(false));
    match (then.as_slice(), otherwise.as_slice()) {
        // A way on which it always fails must not be taken, so the other one is.
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

/// `unless or check`, which reads "if … then …". What is checked on two conditions is checked if both hold.
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
    Term::Or(vec![unless, check]).folded()
}
