//! Executes loops: each is one event, loops that add something up become an expression, and loops
//! that search become an alternative (Y9).

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::gather::bound;
use super::later::reads;
use super::{Execution, FIRST, Frame, Path, Work, event, leaves, push};
use crate::explain::flow::{End, Event, EventKind, Round, root};
use crate::term::{
    CallTarget, CallTerm, ComprehensionKind, EffectTerm, ForClause, NameReference, NameRole, Term,
    Type,
};

/// A `for` loop.
pub(super) struct Cycle<'w> {
    pub(super) target: &'w Expression,
    pub(super) iterable: &'w Expression,
    pub(super) body: &'w [Statement],
    pub(super) otherwise: &'w [Statement],
    pub(super) range: &'w Range,
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
        let (targets, mut inside) = bound(cycle.target, &iterable, path);
        if let Some(end) = self.first(cycle, &targets, &iterable, &inside, work, path, frame) {
            return Some(end);
        }
        let may_break = !cycle.otherwise.is_empty() && breaks(cycle.body);
        if may_break
            && let Some((found, body)) =
                self.searched(cycle, &targets, &iterable, &inside, path, frame)
        {
            let ways = [body, cycle.otherwise];
            return self.branch(&found, ways, cycle.range, work, path, frame, events);
        }
        let clause = ForClause {
            targets: targets.clone(),
            iterable: iterable.clone(),
            conditions: vec![],
        };
        if !may_break && self.gather(cycle, clause, &inside, path, frame) {
            push(work, cycle.otherwise);
            return None;
        }
        self.hold_for_later(cycle.body, work, path, frame);
        for name in &path.loose {
            inside.loose.insert(name.clone());
            let known = path.locals.get(name).cloned();
            inside
                .locals
                .extend(known.map(|known| (name.clone(), known)));
        }
        let mut names = Vec::new();
        bind(cycle.target, &Type::Unknown, &mut names);
        let names: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        let body = self.rounds(
            (Round::Each, cycle.body),
            &names,
            inside,
            path,
            cycle.range,
            frame,
            events,
        );
        for name in names {
            let after = NameReference::new(name.clone(), NameRole::Local);
            path.locals.insert(name, after.into());
        }
        if !body.is_empty() {
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
        }
        if may_break {
            self.if_completed(None, cycle.otherwise, cycle.range, path, frame, events)
        } else {
            push(work, cycle.otherwise)
        }
        None
    }

    /// Makes locals loose that rounds assign and that are read after the loop, so that their
    /// assignments are described in the round.
    pub(super) fn hold_for_later(
        &self,
        body: &[Statement],
        work: &Work<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
    ) {
        let mut given = Vec::new();
        given_names(body, &mut given);
        given.retain(|name| !frame.globals.contains(name) && !path.locals.contains_key(name));
        for name in given {
            if reads(work.iter().rev().copied(), &name, frame.text) {
                path.hold(&name);
            }
        }
    }

    /// Executes `while`. Afterwards, the condition of the last round is false.
    pub(super) fn as_long_as(
        &self,
        condition: &'w Expression,
        body: &'w [Statement],
        range: &'w Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Term {
        // The condition is evaluated in each round, so it is read with the variables that rounds
        // change.
        let inside = path.clone();
        let body = (Round::While, body);
        let body = self.rounds(body, &[], inside, path, range, frame, events);
        let condition = self.term(condition, path, frame);
        if !body.is_empty() {
            let condition = condition.clone();
            events.push(event(EventKind::AsLongAs { condition, body }, range));
        }
        condition
    }

    /// Executes the `else` of a loop that may break.
    pub(super) fn if_completed(
        &self,
        unless: Option<Term>,
        body: &'w [Statement],
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        let ended = self.body(body, path.clone(), &frame.uncounted());
        for (name, version) in ended.path.versions {
            path.versions.insert(name, version);
        }
        let body = ended.flow.settled();
        if !body.is_empty() {
            events.push(event(EventKind::IfCompleted { unless, body }, range));
        }
    }

    /// Returns the events of one round, whichever it is.
    #[allow(
        clippy::too_many_arguments,
        reason = "the place in a flow has many sides"
    )]
    fn rounds(
        &self,
        (round, body): (Round, &'w [Statement]),
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
            if is_outer && !targets.contains(&name) && !self.is_alias(&name, body, path) {
                self.loosen(&name, range, path, events);
                inside.loose.insert(name.clone());
                if let Some(known) = path.locals.get(&name) {
                    inside.locals.insert(name, known.clone());
                }
            }
        }
        let frame = frame.repeated(round);
        // A round may follow others, so variables that the body changes have a later version at its
        // beginning.
        let once = self.body(body, inside.clone(), &frame).flow.settled();
        let mut changed = Vec::new();
        for event in &once {
            event.changed(&mut changed);
        }
        for name in &changed {
            *inside.versions.entry(name.clone()).or_default() += 1;
        }
        let settled = if changed.is_empty() {
            once
        } else {
            let ended = self.body(body, inside, &frame);
            inside = ended.path;
            ended.flow.settled()
        };
        for name in changed {
            let last = inside.versions.get(&name).copied().unwrap_or_default();
            let known = path.versions.entry(name.clone()).or_default();
            *known = (*known).max(last) + 1;
            if inside.same_since.get(&name) != path.same_since.get(&name) {
                path.same_since.insert(name, *known);
            }
        }
        settled
    }

    /// Returns true if a local is and stays an alias of a state variable, so that its changes
    /// change that.
    fn is_alias(&self, name: &str, body: &[Statement], path: &Path) -> bool {
        let known = path.locals.get(name).map(|known| self.expanded(known));
        let mut given = Vec::new();
        given_names(body, &mut given);
        known.is_some_and(|known| root(&known).is_some()) && !given.iter().any(|one| one == name)
    }

    /// Executes `for v in X: if c: … return e` as a choice: "the first v in X such that C", and the
    /// rest as the other case.
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
        let (condition, body) = only_choice(cycle.body)?;
        let always_returns = matches!(body.last()?.kind, StatementKind::Return(_))
            && !leaves(&body[..body.len() - 1]);
        if !always_returns {
            return None;
        }
        let (found, the_first) = self.found(cycle, condition, targets, iterable, inside, frame)?;
        let mut then = path.clone();
        then.locals.extend(the_first);
        let mut steps = work.clone();
        push(&mut steps, body);
        let mut none = work.clone();
        push(&mut none, cycle.otherwise);
        let ways = [(steps, then), (none, path.clone())];
        Some(self.split(found, ways, cycle.range, frame))
    }

    /// Executes `for v in X: if c: …; break`: a condition that there is such a v, and what is done
    /// with the first.
    fn searched(
        &self,
        cycle: &Cycle<'w>,
        targets: &[String],
        iterable: &Term,
        inside: &Path,
        path: &mut Path,
        frame: &Frame<'w>,
    ) -> Option<(Term, &'w [Statement])> {
        let (condition, body) = only_choice(cycle.body)?;
        let (last, body) = body.split_last()?;
        if !matches!(last.kind, StatementKind::Break) || leaves(body) {
            return None;
        }
        let (found, the_first) = self.found(cycle, condition, targets, iterable, inside, frame)?;
        path.locals.extend(the_first);
        Some((found, body))
    }

    /// Returns all v in X such that C, and the name v for the first of them.
    fn found(
        &self,
        cycle: &Cycle<'w>,
        condition: &Expression,
        targets: &[String],
        iterable: &Term,
        inside: &Path,
        frame: &Frame<'w>,
    ) -> Option<(Term, [(String, Term); 1])> {
        let [_] = targets else { return None };
        let name = cycle.target.as_name()?;
        let condition = self.term(condition, inside, frame);
        let found = Term::Comprehension {
            form: ComprehensionKind::List,
            element: Box::new(inside.locals.get(name)?.clone()),
            clauses: vec![ForClause {
                targets: targets.to_vec(),
                iterable: iterable.clone(),
                conditions: vec![condition],
            }],
        };
        let the_first = Term::Call(Box::new(CallTerm {
            callee: CallTarget::Function {
                module: None,
                name: FIRST.to_owned(),
            },
            arguments: vec![found.clone()],
            keywords: vec![],
        }));
        Some((found, [(name.to_owned(), the_first)]))
    }
}

/// Returns the condition and the statements of a body that is one `if` without `else`.
fn only_choice(body: &[Statement]) -> Option<(&Expression, &[Statement])> {
    let [statement] = body else { return None };
    match &statement.kind {
        StatementKind::If {
            condition,
            body,
            otherwise,
        } if otherwise.is_empty() => Some((condition, body)),
        _ => None,
    }
}

/// Returns the names that a target binds, with their known types.
pub(super) fn bind(target: &Expression, type_: &Type, names: &mut Vec<(String, Type)>) {
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

/// Collects the names that statements assign as a whole.
pub(in crate::explain) fn given_names(body: &[Statement], names: &mut Vec<String>) {
    let mut add = |expression: &Expression| {
        let mut found = Vec::new();
        bind(expression, &Type::Unknown, &mut found);
        names.extend(found.into_iter().map(|(name, _)| name));
    };
    for statement in body {
        match &statement.kind {
            StatementKind::Assign { targets, .. } => targets.iter().for_each(&mut add),
            StatementKind::Augmented { target, .. }
            | StatementKind::Annotated {
                target,
                value: Some(_),
                ..
            } => add(target),
            _ => {}
        }
    }
    for inner in body.iter().flat_map(bodies) {
        given_names(inner, names);
    }
}

/// Returns the bodies inside of a statement.
pub(in crate::explain) fn bodies(statement: &Statement) -> Vec<&[Statement]> {
    match &statement.kind {
        StatementKind::If {
            body, otherwise, ..
        }
        | StatementKind::For {
            body, otherwise, ..
        }
        | StatementKind::While {
            body, otherwise, ..
        } => vec![body, otherwise],
        StatementKind::With { body, .. } => vec![body],
        StatementKind::Try {
            body,
            handlers,
            otherwise,
            finally,
        } => {
            let handlers = handlers.iter().map(|one| one.body.as_slice());
            let all = [body.as_slice(), otherwise, finally].into_iter();
            all.chain(handlers).collect()
        }
        StatementKind::Match { cases, .. } => cases.iter().map(|one| &*one.body).collect(),
        _ => vec![],
    }
}

/// Collects the names that statements assign, or change in place.
pub(super) fn assigned_names(body: &[Statement], names: &mut Vec<String>) {
    let mut add = |expression: &Expression| {
        let mut found = Vec::new();
        bind(holder(expression), &Type::Unknown, &mut found);
        names.extend(found.into_iter().map(|(name, _)| name));
    };
    for statement in body {
        match &statement.kind {
            StatementKind::Assign { targets, .. } => targets.iter().for_each(&mut add),
            StatementKind::Augmented { target, .. } => add(target),
            StatementKind::Delete(targets) => targets.iter().for_each(&mut add),
            StatementKind::Expression(expression) => {
                if let ExpressionKind::Call { function, .. } = &expression.kind
                    && let ExpressionKind::Attribute { object, name } = &function.kind
                    && crate::term::MUTATING_METHODS.contains(&name.as_str())
                {
                    add(object);
                }
            }
            _ => {}
        }
    }
    for inner in body.iter().flat_map(bodies) {
        assigned_names(inner, names);
    }
}

/// Returns true if a round may be the last one because of a `break`.
pub(super) fn breaks(body: &[Statement]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StatementKind::Break => true,
        StatementKind::For { otherwise, .. } | StatementKind::While { otherwise, .. } => {
            breaks(otherwise)
        }
        _ => bodies(statement).into_iter().any(breaks),
    })
}

/// Returns the collection that an entry or element is part of.
pub(super) fn holder(expression: &Expression) -> &Expression {
    match &expression.kind {
        ExpressionKind::Subscript { object, .. } => holder(object),
        _ => expression,
    }
}

/// Returns the argument of `sorted(…)` without other arguments.
fn sorted(term: &Term) -> Option<&Term> {
    let Term::Call(call) = term else { return None };
    match (&call.callee, call.arguments.as_slice()) {
        (CallTarget::Function { module: None, name }, [inner])
            if name == "sorted" && call.keywords.is_empty() =>
        {
            Some(inner)
        }
        _ => None,
    }
}

/// Returns true if another order of the events may have another result.
fn order_matters(events: &[Event]) -> bool {
    events.iter().any(|event| match &event.kind {
        EventKind::Change { change, .. } => match change {
            EffectTerm::Delete(_) => false,
            EffectTerm::Assign { target, .. } => !matches!(target, Term::Item { .. }),
            EffectTerm::Augment { value, .. } => value.type_of() != Type::Number,
            EffectTerm::Call(call) => {
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
