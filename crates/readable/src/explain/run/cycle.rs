//! Loops (Y9): one event each, an expression where they add something up, an alternative where they look for something.

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind, Operator, Statement, StatementKind};

use super::{Execution, FIRST, Frame, Path, Work, event, leaves, push};
use crate::explain::flow::{End, Event, EventKind};
use crate::term::{Call, Callee, Change, Clause, Form, Reference, Role, Term, Type};
use crate::value::Value;

/// A `for` loop.
pub(super) struct Cycle<'w> {
    pub(super) target: &'w Expression,
    pub(super) iterable: &'w Expression,
    pub(super) body: &'w [Statement],
    pub(super) range: &'w Range,
}

/// A body that does one thing, under one condition or under none.
struct Single<'w> {
    condition: Option<&'w Expression>,
    statement: &'w Statement,
}

impl<'w> Execution<'w> {
    pub(super) fn each(
        &self,
        cycle: &Cycle<'w>,
        work: &mut Work<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Option<End> {
        let iterable = self.term(cycle.iterable, path, frame);
        let mut names = Vec::new();
        bind(cycle.target, &iterable.type_of().element(), &mut names);
        let mut inside = path.clone();
        for (name, type_) in &names {
            let variable = Reference::new(name.clone(), Role::Variable).with_type(type_.clone());
            inside.locals.insert(name.clone(), variable.into());
        }
        let targets: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        if let Some(end) = self.first(cycle, &targets, &iterable, &inside, work, path, frame) {
            return Some(end);
        }
        if self.accumulate(cycle, &targets, &iterable, &inside, path, frame) {
            return None;
        }
        let body = self.rounds(
            cycle.body,
            &targets,
            inside,
            path,
            cycle.range,
            frame,
            events,
        );
        for name in &targets {
            path.locals.insert(
                name.clone(),
                Reference::new(name.clone(), Role::Local).into(),
            );
        }
        if body.is_empty() {
            return None;
        }
        let iterable = match sorted(&iterable) {
            Some(inner) if !order_matters(&body) => inner.clone(),
            _ => iterable,
        };
        let kind = EventKind::Each {
            targets,
            iterable,
            body,
        };
        events.push(event(kind, cycle.range));
        None
    }

    pub(super) fn as_long_as(
        &self,
        condition: &'w Expression,
        body: &'w [Statement],
        range: &'w Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        // The condition is asked again in each round, so it is read with what the rounds change.
        let inside = path.clone();
        let body = self.rounds(body, &[], inside, path, range, frame, events);
        let condition = self.term(condition, path, frame);
        if body.is_empty() {
            return;
        }
        events.push(event(EventKind::AsLongAs { condition, body }, range));
    }

    /// The events of one round, whichever it is.
    #[allow(
        clippy::too_many_arguments,
        reason = "the place in a flow has many sides"
    )]
    fn rounds(
        &self,
        body: &'w [Statement],
        targets: &[String],
        inside: Path,
        path: &mut Path,
        range: &Range,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Vec<Event> {
        let mut assigned = Vec::new();
        assigned_names(body, &mut assigned);
        let mut inside = inside;
        for name in assigned {
            let is_outer = path.locals.contains_key(&name) && !frame.globals.contains(&name);
            if is_outer && !targets.contains(&name) {
                self.loosen(&name, range, path, events);
                inside.loose.insert(name.clone());
                if let Some(known) = path.locals.get(&name) {
                    inside.locals.insert(name, known.clone());
                }
            }
        }
        let frame = frame.uncounted();
        // A round may come after others: what the body changes has some later value when it begins.
        let once = self.body(body, inside.clone(), &frame).flow.settled();
        let mut changed = Vec::new();
        for event in &once {
            event.changed(&mut changed);
        }
        for name in &changed {
            *inside.versions.entry(name.clone()).or_default() += 1;
        }
        let settled = match changed.is_empty() {
            true => once,
            false => {
                let ended = self.body(body, inside, &frame);
                inside = ended.path;
                ended.flow.settled()
            }
        };
        for name in changed {
            let last = inside.versions.get(&name).copied().unwrap_or_default();
            let known = path.versions.entry(name).or_default();
            *known = (*known).max(last) + 1;
        }
        settled
    }

    /// `for v in X: if c: … return e`: "the first v in X such that C", and the rest as the other case.
    #[allow(
        clippy::too_many_arguments,
        reason = "the place in a flow has many sides"
    )]
    fn first(
        &self,
        cycle: &Cycle<'w>,
        targets: &[String],
        iterable: &Term,
        inside: &Path,
        work: &Work<'w>,
        path: &Path,
        frame: &Frame<'w>,
    ) -> Option<End> {
        let [statement] = cycle.body else { return None };
        let StatementKind::If {
            condition,
            body,
            otherwise,
        } = &statement.kind
        else {
            return None;
        };
        let always_returns = matches!(body.last()?.kind, StatementKind::Return(_))
            && !leaves(&body[..body.len() - 1]);
        let [target] = targets else { return None };
        if !otherwise.is_empty() || !always_returns {
            return None;
        }
        let condition = self.term(condition, inside, frame);
        let variable = inside.locals.get(target)?.clone();
        let found = Term::Comprehension {
            form: Form::List,
            element: Box::new(variable.clone()),
            clauses: vec![Clause {
                targets: targets.to_vec(),
                iterable: iterable.clone(),
                conditions: vec![condition],
            }],
        };
        let mut then = path.clone();
        let the_first = Term::Call(Box::new(Call {
            callee: Callee::Function {
                module: None,
                name: FIRST.to_owned(),
            },
            arguments: vec![found.clone()],
            keywords: vec![],
        }));
        then.locals.insert(target.clone(), the_first);
        let mut steps = work.clone();
        push(&mut steps, body);
        let ways = [(steps, then), (work.clone(), path.clone())];
        Some(self.split(found, ways, cycle.range, frame))
    }

    /// `t = 0; for v in X: t += e` and `r = []; for v in X: r.append(e)`, each with or without a condition, are expressions.
    fn accumulate(
        &self,
        cycle: &Cycle<'w>,
        targets: &[String],
        iterable: &Term,
        inside: &Path,
        path: &mut Path,
        frame: &Frame<'w>,
    ) -> bool {
        let Some(single) = single(cycle.body) else {
            return false;
        };
        let Some((name, element, is_sum)) = addition(single.statement) else {
            return false;
        };
        let is_local = !frame.globals.contains(name) && !path.loose.contains(name);
        let Some(before) = path.locals.get(name).filter(|_| is_local).cloned() else {
            return false;
        };
        let clauses = vec![Clause {
            targets: targets.to_vec(),
            iterable: iterable.clone(),
            conditions: single
                .condition
                .iter()
                .map(|condition| self.term(condition, inside, frame))
                .collect(),
        }];
        let element = Box::new(self.term(element, inside, frame));
        let reads_itself = |term: &Term| *term == before && before.as_value().is_none();
        if element.any(&reads_itself) {
            return false;
        }
        let start = self.expanded(&before);
        let total = match (is_sum, start.as_value()) {
            (true, Some(value)) if value.is_number() => {
                let all = Term::Comprehension {
                    form: Form::Generator,
                    element,
                    clauses,
                };
                let sum = Term::call("sum", vec![all]);
                match value.as_integer() {
                    Some(0) => sum,
                    _ => Term::Binary {
                        left: Box::new(before),
                        operator: Operator::Add,
                        right: Box::new(sum),
                    },
                }
            }
            (false, Some(Value::List(items))) if items.is_empty() => Term::Comprehension {
                form: Form::List,
                element,
                clauses,
            },
            _ => return false,
        };
        let term = self.define(name, total, cycle.range);
        path.locals.insert(name.to_owned(), term);
        true
    }
}

/// The only thing that a body does.
fn single(body: &[Statement]) -> Option<Single<'_>> {
    let [statement] = body else { return None };
    match &statement.kind {
        StatementKind::If {
            condition,
            body,
            otherwise,
        } if otherwise.is_empty() => {
            let [inner] = body.as_slice() else {
                return None;
            };
            Some(Single {
                condition: Some(condition),
                statement: inner,
            })
        }
        _ => Some(Single {
            condition: None,
            statement,
        }),
    }
}

/// `t += e`, `t = t + e` (a sum) or `r.append(e)`: the name and what is added.
fn addition(statement: &Statement) -> Option<(&str, &Expression, bool)> {
    match &statement.kind {
        StatementKind::Augmented {
            target,
            operator: Operator::Add,
            value,
        } => Some((target.as_name()?, value, true)),
        StatementKind::Assign { targets, value } => {
            let [target] = targets.as_slice() else {
                return None;
            };
            let ExpressionKind::Binary {
                left,
                operator: Operator::Add,
                right,
            } = &value.kind
            else {
                return None;
            };
            let name = target.as_name()?;
            (left.as_name()? == name).then_some((name, &**right, true))
        }
        StatementKind::Expression(expression) => {
            let ExpressionKind::Call {
                function,
                arguments,
                ..
            } = &expression.kind
            else {
                return None;
            };
            let ExpressionKind::Attribute { object, name } = &function.kind else {
                return None;
            };
            let [element] = arguments.as_slice() else {
                return None;
            };
            (name == "append").then_some((object.as_name()?, element, false))
        }
        _ => None,
    }
}

/// The names that a target binds, and what is known of their types.
fn bind(target: &Expression, type_: &Type, names: &mut Vec<(String, Type)>) {
    match &target.kind {
        ExpressionKind::Name(name) => names.push((name.clone(), type_.clone())),
        ExpressionKind::Tuple(parts) | ExpressionKind::List(parts) => {
            for (index, part) in parts.iter().enumerate() {
                bind(part, &type_.item(index), names);
            }
        }
        ExpressionKind::Starred(rest) => bind(rest, &Type::list(), names),
        _ => {}
    }
}

/// Names that statements assign, or change in place.
fn assigned_names(body: &[Statement], names: &mut Vec<String>) {
    let mut add = |expression: &Expression| {
        let mut found = Vec::new();
        bind(expression, &Type::Unknown, &mut found);
        names.extend(found.into_iter().map(|(name, _)| name));
    };
    for statement in body {
        match &statement.kind {
            StatementKind::Assign { targets, .. } => targets.iter().for_each(&mut add),
            StatementKind::Augmented { target, .. } => add(target),
            StatementKind::Expression(expression) => {
                if let ExpressionKind::Call { function, .. } = &expression.kind
                    && let ExpressionKind::Attribute { object, name } = &function.kind
                    && crate::explain::flow::CHANGING.contains(&name.as_str())
                {
                    add(object);
                }
            }
            _ => {}
        }
    }
    for statement in body {
        match &statement.kind {
            StatementKind::If {
                body, otherwise, ..
            }
            | StatementKind::For {
                body, otherwise, ..
            }
            | StatementKind::While {
                body, otherwise, ..
            } => {
                assigned_names(body, names);
                assigned_names(otherwise, names);
            }
            StatementKind::With { body, .. } | StatementKind::Try { body, .. } => {
                assigned_names(body, names);
            }
            _ => {}
        }
    }
}

/// What `sorted(…)` sorts, if it does nothing else.
fn sorted(term: &Term) -> Option<&Term> {
    let Term::Call(call) = term else { return None };
    match (&call.callee, call.arguments.as_slice()) {
        (Callee::Function { module: None, name }, [inner])
            if name == "sorted" && call.keywords.is_empty() =>
        {
            Some(inner)
        }
        _ => None,
    }
}

/// Whether events may come to something else in another order.
fn order_matters(events: &[Event]) -> bool {
    events.iter().any(|event| match &event.kind {
        EventKind::Change { change, .. } => match change {
            Change::Delete(_) => false,
            Change::Assign { target, .. } => !matches!(target, Term::Item { .. }),
            Change::Augment { value, .. } => value.type_of() != Type::Number,
            Change::Call(call) => {
                let target = crate::explain::flow::changed_by_call(call);
                !target.is_some_and(|target| {
                    matches!(target.type_of(), Type::Set(_) | Type::Dictionary(..))
                })
            }
        },
        EventKind::Check(_) => false,
        EventKind::Choice {
            then, otherwise, ..
        } => order_matters(then) || order_matters(otherwise),
        EventKind::Each { body, .. } => order_matters(body),
        _ => true,
    })
}
