//! `r = []`, and later `for v in X: [if d:] r.append(e)`: a property that gathers something in a loop says the same as one
//! with a comprehension, and that has words (P21, P30, P31).

use testwright_source::Range;
use testwright_source::tree::{
    Clause, ComprehensionKind, Expression, ExpressionKind, Statement, StatementKind,
};

use super::code::free_names;
use super::loops::bound;
use super::scope::Here;
use crate::addition::{Added, addition};

/// A local that starts with nothing and is filled by one loop.
pub(super) struct Gathering<'a> {
    pub(super) name: &'a str,
    /// Where it is given nothing.
    pub(super) start: usize,
    /// The loop.
    pub(super) range: Range,
    what: What<'a>,
    loops: Vec<Loop<'a>>,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Sum(&'a Expression),
    List(&'a Expression),
    Set(&'a Expression),
    Dictionary(&'a Expression, &'a Expression),
}

struct Loop<'a> {
    target: &'a Expression,
    iterable: &'a Expression,
    conditions: Vec<&'a Expression>,
}

/// All that statements gather.
pub(super) fn gatherings(body: &[Statement]) -> Vec<Gathering<'_>> {
    let indices = 0..body.len();
    indices.filter_map(|at| gathering(body, at)).collect()
}

fn gathering(body: &[Statement], at: usize) -> Option<Gathering<'_>> {
    let mut loops = Vec::new();
    let (name, what) = filled(std::slice::from_ref(&body[at]), &mut loops)?;
    if loops.is_empty() {
        return None;
    }
    let parts = loops
        .iter()
        .flat_map(|one| std::iter::once(one.iterable).chain(one.conditions.iter().copied()))
        .chain(what.parts());
    if parts.into_iter().any(|part| mentions(part, name)) {
        return None;
    }
    // Between its start and the loop nobody may speak of it.
    for earlier in body[..at].iter().rev() {
        match &earlier.kind {
            StatementKind::Assign { targets, value } => {
                if let [target] = targets.as_slice()
                    && target.as_name() == Some(name)
                {
                    return what.starts_with(value).then(|| Gathering {
                        name,
                        start: earlier.range.start,
                        range: body[at].range.clone(),
                        what,
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
            // Another loop that gathers something else.
            StatementKind::For { .. } => {
                let mut inside = Vec::new();
                let (other, what) = filled(std::slice::from_ref(earlier), &mut inside)?;
                let mut parts = what.parts();
                if other == name || parts.any(|part| mentions(part, name)) {
                    return None;
                }
            }
            _ => return None,
        }
    }
    None
}

/// What is filled by the only thing that statements do.
fn filled<'a>(body: &'a [Statement], loops: &mut Vec<Loop<'a>>) -> Option<(&'a str, What<'a>)> {
    let [statement] = body else { return None };
    match &statement.kind {
        StatementKind::For {
            target,
            iterable,
            body,
            otherwise,
            is_async: false,
        } if otherwise.is_empty() => {
            loops.push(Loop {
                target,
                iterable,
                conditions: Vec::new(),
            });
            filled(body, loops)
        }
        StatementKind::If {
            condition,
            body,
            otherwise,
        } if otherwise.is_empty() => {
            loops.last_mut()?.conditions.push(condition);
            filled(body, loops)
        }
        _ => {
            let (name, added) = addition(statement)?;
            let what = match added {
                Added::Sum(value) => What::Sum(value),
                Added::Element(element) => What::List(element),
                Added::Member(element) => What::Set(element),
                Added::Entry(key, value) => What::Dictionary(key, value),
                Added::Mark(_) => return None,
            };
            Some((name, what))
        }
    }
}

fn mentions(expression: &Expression, name: &str) -> bool {
    let mut read = Vec::new();
    free_names(expression, &mut Vec::new(), &mut read);
    read.iter().any(|one| one == name)
}

impl<'a> What<'a> {
    fn parts(self) -> impl Iterator<Item = &'a Expression> {
        let (first, second) = match self {
            What::Sum(one) | What::List(one) | What::Set(one) => (one, None),
            What::Dictionary(key, value) => (key, Some(value)),
        };
        std::iter::once(first).chain(second)
    }

    /// Whether a value is the nothing that it starts with.
    fn starts_with(self, value: &Expression) -> bool {
        let makes = |class: &str| {
            matches!(&value.kind, ExpressionKind::Call { function, arguments, keywords }
                if function.as_name() == Some(class) && arguments.is_empty() && keywords.is_empty())
        };
        match (self, &value.kind) {
            (What::Sum(_), ExpressionKind::Integer(digits)) => digits == "0",
            (What::List(_), ExpressionKind::List(items)) => items.is_empty(),
            (What::Dictionary(..), ExpressionKind::Dictionary(entries)) => entries.is_empty(),
            (What::List(_), _) => makes("list"),
            (What::Set(_), _) => makes("set"),
            (What::Dictionary(..), _) => makes("dict"),
            _ => false,
        }
    }
}

impl Gathering<'_> {
    /// The comprehension that gives the same.
    pub(super) fn as_expression(&self) -> Expression {
        let clauses: Vec<Clause> = self
            .loops
            .iter()
            .map(|one| Clause {
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
        expression(match self.what {
            What::List(element) => comprehension(ComprehensionKind::List, element),
            What::Set(element) => comprehension(ComprehensionKind::Set, element),
            What::Dictionary(key, value) => ExpressionKind::DictionaryComprehension {
                key: Some(boxed(key)),
                value: boxed(value),
                clauses: clauses.clone(),
            },
            What::Sum(element) => {
                let all = comprehension(ComprehensionKind::Generator, element);
                ExpressionKind::Call {
                    function: Box::new(expression(ExpressionKind::Name("sum".to_owned()))),
                    arguments: vec![expression(all)],
                    keywords: Vec::new(),
                }
            }
        })
    }

    /// The same as Python.
    pub(super) fn code(&self, here: &mut Here<'_>) -> String {
        let inside = code(self.what, &self.loops, here);
        match self.what {
            What::Sum(_) => format!("sum({inside})"),
            What::List(_) => format!("[{inside}]"),
            What::Set(_) | What::Dictionary(..) => format!("{{{inside}}}"),
        }
    }
}

/// The element, then the loops from the outermost on; names that a loop binds are its own inside of it.
fn code(what: What<'_>, loops: &[Loop<'_>], here: &mut Here<'_>) -> String {
    let mut clauses = String::new();
    let element = inside(what, loops, here, &mut clauses);
    format!("{element}{clauses}")
}

fn inside(what: What<'_>, loops: &[Loop<'_>], here: &mut Here<'_>, clauses: &mut String) -> String {
    let Some((first, rest)) = loops.split_first() else {
        return match what {
            What::Sum(one) | What::List(one) | What::Set(one) => here.code(one),
            What::Dictionary(key, value) => format!("{}: {}", here.code(key), here.code(value)),
        };
    };
    let (target, iterable) = (here.source(first.target), here.code(first.iterable));
    clauses.push_str(&format!(" for {target} in {iterable}"));
    let names = bound(first.target, &here.term(first.iterable));
    here.binding(&names, |here| {
        for condition in &first.conditions {
            clauses.push_str(&format!(" if {}", here.code(condition)));
        }
        inside(what, rest, here, clauses)
    })
}
