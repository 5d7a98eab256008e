//! Rewrites loops that only gather something into locals as expressions: a sum, a list, a set, a
//! dictionary, or whether there was one (Y9). The reader sees no loop.

use testwright_source::Range;
use testwright_source::tree::{Expression, Operator, Statement, StatementKind};

use super::assign::is_fresh;
use super::cycle::{Cycle, assigned_names, bind};
use super::scope::{combined, negated};
use super::{Execution, Frame, Path};
use crate::accumulation::{Accumulation, parse_accumulation};
use crate::term::{ComprehensionKind, ForClause, NameReference, NameRole, Term, Type};
use crate::value::PythonValue;

/// Value that one statement of such a loop adds to a local, and the rounds in which it does.
#[derive(Debug, Clone)]
struct Addition {
    name: String,
    what: What,
    clauses: Vec<ForClause>,
}

#[derive(Debug, Clone)]
enum What {
    /// `t += e`.
    Sum(Term),
    /// `r.append(e)`.
    Element(Term),
    /// `s.add(e)`.
    Member(Term),
    /// `d[k] = v`.
    Entry(Term, Term),
    /// `found = v`, equal in every round.
    Mark(Term),
}

impl<'w> Execution<'w> {
    /// Rewrites a loop as an expression for each local that it changes. Returns false if that is
    /// not possible.
    pub(super) fn gather(
        &self,
        cycle: &Cycle<'w>,
        clause: ForClause,
        inside: &Path,
        path: &mut Path,
        frame: &Frame<'w>,
    ) -> bool {
        let mut changed = Vec::new();
        assigned_names(cycle.body, &mut changed);
        changed.retain(|name| path.locals.contains_key(name) && !clause.targets.contains(name));
        let is_local = |name: &String| !frame.globals.contains(name) && !path.loose.contains(name);
        if !changed.iter().all(is_local) {
            return false;
        }
        // The result of the rounds so far has no phrase, so nothing may read it.
        let mut inside = inside.clone();
        for name in &changed {
            let unknown = NameReference::new(name.clone(), NameRole::Local);
            inside.locals.insert(name.clone(), unknown.into());
        }
        let mut additions = Vec::new();
        let mut clauses = vec![clause];
        let gathers = self.additions(cycle.body, inside, &mut clauses, frame, &mut additions);
        let mut names: Vec<&String> = additions.iter().map(|one| &one.name).collect();
        names.sort();
        names.dedup();
        if gathers.is_none() || additions.is_empty() || names.len() != additions.len() {
            return false;
        }
        let asks = |term: &Term| {
            self.expanded(term).any(&|part| {
                matches!(part, Term::Reference(one)
                    if one.role == NameRole::Local && changed.contains(&one.name))
            })
        };
        if additions.iter().any(|one| one.terms().any(asks)) {
            return false;
        }
        let totals: Option<Vec<(String, Term)>> = additions
            .into_iter()
            .map(|one| {
                let before = path.locals.get(&one.name)?;
                let total = self.total(&one.name.clone(), one, before, cycle.range)?;
                Some(total)
            })
            .collect();
        let Some(totals) = totals else { return false };
        path.locals.extend(totals);
        true
    }

    /// Returns the additions of statements that do nothing else. `clauses` are the enclosing loops
    /// with their conditions.
    fn additions(
        &self,
        body: &'w [Statement],
        mut inside: Path,
        clauses: &mut Vec<ForClause>,
        frame: &Frame<'w>,
        found: &mut Vec<Addition>,
    ) -> Option<()> {
        let conditions = clauses.last()?.conditions.len();
        let depth = clauses.len();
        for statement in body {
            match &statement.kind {
                StatementKind::Pass => {}
                StatementKind::If {
                    condition,
                    body,
                    otherwise,
                } => {
                    let condition = self.term(condition, &inside, frame);
                    if otherwise.is_empty()
                        && matches!(body.as_slice(), [one] if one.kind == StatementKind::Continue)
                    {
                        // The remaining statements are for the other elements.
                        clauses.last_mut()?.conditions.push(negated(condition));
                        continue;
                    }
                    let side = |body: &'w [Statement], condition: Term| {
                        let mut found = Vec::new();
                        let mut clauses = clauses.clone();
                        clauses.last_mut()?.conditions.push(condition);
                        let inside = inside.clone();
                        self.additions(body, inside, &mut clauses, frame, &mut found)?;
                        Some(found)
                    };
                    let then = side(body, condition.clone())?;
                    if otherwise.is_empty() {
                        found.extend(then);
                    } else {
                        let otherwise = side(otherwise, negated(condition.clone()))?;
                        found.extend(either(&condition, then, otherwise, clauses)?);
                    }
                }
                StatementKind::For {
                    is_async: false,
                    target,
                    iterable,
                    body,
                    otherwise,
                } if otherwise.is_empty() => {
                    let iterable = self.term(iterable, &inside, frame);
                    let (targets, inside) = bound(target, &iterable, &inside);
                    clauses.push(ForClause {
                        targets,
                        iterable,
                        conditions: vec![],
                    });
                    self.additions(body, inside, clauses, frame, found)?;
                    clauses.truncate(depth);
                }
                _ => match self.addition(statement, &inside, frame) {
                    Some((name, what)) => {
                        let clauses = clauses.clone();
                        let name = name.to_owned();
                        found.push(Addition {
                            name,
                            what,
                            clauses,
                        });
                        if let What::Mark(_) = found.last()?.what {
                            // Once it is set, further rounds change nothing.
                            return (body.len() == 1 || ends(body)).then_some(());
                        }
                    }
                    None => self.own_local(statement, &mut inside, frame)?,
                },
            }
        }
        clauses.last_mut()?.conditions.truncate(conditions);
        Some(())
    }

    /// Substitutes a local of the round by its value.
    fn own_local(
        &self,
        statement: &'w Statement,
        inside: &mut Path,
        frame: &Frame<'w>,
    ) -> Option<()> {
        let StatementKind::Assign { targets, value } = &statement.kind else {
            return None;
        };
        let [target] = targets.as_slice() else {
            return None;
        };
        let name = target.as_name()?;
        let is_own = !inside.locals.contains_key(name) && !frame.globals.contains(name);
        let value = self.term(value, inside, frame);
        if !is_own || value.any(&Term::is_unknown_call) {
            return None;
        }
        inside.locals.insert(name.to_owned(), value);
        Some(())
    }

    /// Returns the name and the addition of a single statement.
    fn addition<'s>(
        &self,
        statement: &'s Statement,
        inside: &Path,
        frame: &Frame<'w>,
    ) -> Option<(&'s str, What)> {
        let term = |one: &Expression| self.term(one, inside, frame);
        let is_outer = |name: &str| {
            matches!(inside.locals.get(name), Some(Term::Reference(one))
                if one.role == NameRole::Local && one.name == name)
        };
        let (name, added) = parse_accumulation(statement)?;
        let what = match added {
            Accumulation::Sum(value) => What::Sum(term(value)),
            Accumulation::Element(element) => What::Element(term(element)),
            Accumulation::Member(element) => What::Member(term(element)),
            Accumulation::Entry(key, value) => What::Entry(term(key), term(value)),
            Accumulation::Assigned(value) => What::Mark(term(value)),
        };
        is_outer(name).then_some((name, what))
    }

    /// Returns the value of a local after the loop.
    fn total(
        &self,
        name: &str,
        addition: Addition,
        before: &Term,
        range: &Range,
    ) -> Option<(String, Term)> {
        let start = self.expanded(before);
        let clauses = addition.clauses;
        let joined = |operator, is_empty: bool, all: Term| {
            if is_empty {
                all
            } else {
                Term::Binary {
                    left: Box::new(before.clone()),
                    operator,
                    right: Box::new(all),
                }
            }
        };
        let total = match addition.what {
            What::Sum(element) => {
                let value = start.as_value().filter(|value| value.is_number())?;
                let all = comprehension(ComprehensionKind::Generator, element, clauses);
                let sum = Term::call("sum", vec![all]);
                joined(Operator::Add, value.as_integer() == Some(0), sum)
            }
            What::Element(element) => {
                let is_list = matches!(start.type_of(), Type::List(_)) && is_fresh(&start);
                is_list.then_some(())?;
                let is_empty =
                    matches!(start.as_value(), Some(PythonValue::List(items)) if items.is_empty());
                let all = comprehension(ComprehensionKind::List, element, clauses);
                joined(Operator::Add, is_empty, all)
            }
            What::Member(element) => {
                let is_set = matches!(start.type_of(), Type::Set(_)) && is_fresh(&start);
                is_set.then_some(())?;
                let is_empty =
                    matches!(start.as_value(), Some(PythonValue::Set(items)) if items.is_empty());
                let all = comprehension(ComprehensionKind::Set, element, clauses);
                joined(Operator::BitOr, is_empty, all)
            }
            What::Entry(key, value) => {
                let is_empty = matches!(start.as_value(), Some(PythonValue::Dictionary(entries)) if entries.is_empty());
                is_empty.then_some(())?;
                Term::DictionaryComprehension {
                    key: Box::new(key),
                    value: Box::new(value),
                    clauses,
                }
            }
            What::Mark(value) => {
                let names: Vec<&String> = clauses.iter().flat_map(|one| &one.targets).collect();
                let differs = value.any(
                    &|part| matches!(part, Term::Reference(one) if names.contains(&&one.name)),
                );
                let condition = one_condition(clauses)?;
                let is_some = Term::call("any", vec![condition]);
                (!differs).then(|| combined(is_some, value, before.clone(), false))?
            }
        };
        Some((name.to_owned(), self.define(name, total, range)))
    }
}

impl Addition {
    /// Iterates over all terms of an addition.
    fn terms(&self) -> impl Iterator<Item = &Term> {
        let (first, second) = match &self.what {
            What::Entry(key, value) => (key, Some(value)),
            What::Sum(term) | What::Element(term) | What::Member(term) | What::Mark(term) => {
                (term, None)
            }
        };
        let around = self
            .clauses
            .iter()
            .flat_map(|clause| std::iter::once(&clause.iterable).chain(&clause.conditions));
        std::iter::once(first).chain(second).chain(around)
    }
}

fn comprehension(form: ComprehensionKind, element: Term, clauses: Vec<ForClause>) -> Term {
    Term::Comprehension {
        form,
        element: Box::new(element),
        clauses,
    }
}

/// Turns the conditions of the innermost loop into the element: `(c for v in X)`.
fn one_condition(mut clauses: Vec<ForClause>) -> Option<Term> {
    let last = clauses.last_mut()?;
    let mut conditions = std::mem::take(&mut last.conditions);
    let condition = match conditions.len() {
        0 => return None,
        1 => conditions.pop()?,
        _ => Term::And(conditions),
    };
    Some(comprehension(
        ComprehensionKind::Generator,
        condition,
        clauses,
    ))
}

/// Returns the names that a loop binds, and the knowledge inside of it. An outer variable of the
/// same name that is still referred to inside, such as the argument of a helper, is a different
/// one.
pub(super) fn bound(target: &Expression, iterable: &Term, outside: &Path) -> (Vec<String>, Path) {
    let mut names = Vec::new();
    bind(target, &iterable.type_of().element(), &mut names);
    let mut inside = outside.clone();
    let mut targets = Vec::new();
    for (name, type_) in names {
        let mut called = name.clone();
        let is_meant = |called: &str| {
            let mut others = outside.locals.iter().filter(|(local, _)| **local != name);
            others.any(|(_, value)| value.mentions(called))
        };
        while is_meant(&called) {
            called.insert_str(0, "other_");
        }
        let variable = NameReference::new(called.clone(), NameRole::Variable).with_type(type_);
        inside.locals.insert(name, variable.into());
        targets.push(called);
    }
    (targets, inside)
}

/// Combines the additions of both sides of an `if` to the same names, depending on the condition.
fn either(
    condition: &Term,
    then: Vec<Addition>,
    otherwise: Vec<Addition>,
    clauses: &[ForClause],
) -> Option<Vec<Addition>> {
    if then.len() != otherwise.len() {
        return None;
    }
    let choice = |one: Term, other: Term| Term::Conditional {
        condition: Box::new(condition.clone()),
        then: Box::new(one),
        otherwise: Box::new(other),
    };
    let is_plain = |one: &Addition| {
        let given = |all: &[ForClause]| all.iter().map(|one| one.conditions.len()).sum::<usize>();
        one.clauses.len() == clauses.len() && given(&one.clauses) == given(clauses) + 1
    };
    then.into_iter()
        .zip(otherwise)
        .map(|(one, other)| {
            if one.name != other.name || !is_plain(&one) || !is_plain(&other) {
                return None;
            }
            let what = match (one.what, other.what) {
                (What::Sum(a), What::Sum(b)) => What::Sum(choice(a, b)),
                (What::Element(a), What::Element(b)) => What::Element(choice(a, b)),
                (What::Member(a), What::Member(b)) => What::Member(choice(a, b)),
                (What::Entry(key, a), What::Entry(other, b)) if key == other => {
                    What::Entry(key, choice(a, b))
                }
                _ => return None,
            };
            Some(Addition {
                name: one.name,
                what,
                clauses: clauses.to_vec(),
            })
        })
        .collect()
}

/// Returns true if everything after the first statement is the end of the loop.
fn ends(body: &[Statement]) -> bool {
    matches!(body, [_, last] if last.kind == StatementKind::Break)
}
