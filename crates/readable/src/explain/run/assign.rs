//! Executes assignments.

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind, Operator};

use super::local::number_of;
use super::loose::loose;
use super::{Execution, FIRST, Frame, Path, event};
use crate::explain::flow::{Event, EventKind, root};
use crate::term::{CallTarget, EffectTerm, NameReference, NameRole, Term, Type, UnaryOperator};
use crate::value::PythonValue;

impl<'w> Execution<'w> {
    pub(super) fn assign_all(
        &self,
        targets: &[Expression],
        value: &Expression,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        if let [target] = targets {
            if self.swap(target, value, range, path, frame, events) {
                return;
            }
            if self.result_of_call(target, value, range, path, frame, events) {
                return;
            }
        }
        let is_told = self.each_side(value, range, path, frame, events, &|side, path, events| {
            // In a round nothing is old, so a taken value is described where it is taken.
            let mut names = Vec::new();
            for target in targets.iter().filter(|_| frame.round.is_some()) {
                local_names(target, frame, &mut names);
            }
            names.retain(|name| !frame.globals.contains(*name));
            path.loose.extend(names.into_iter().map(str::to_owned));
            self.assign_all(targets, side, range, path, frame, events);
        });
        if is_told {
            return;
        }
        let value = self.value_of(value, range, path, frame, events);
        for target in targets {
            self.assign(target, value.clone(), range, path, frame, events);
        }
    }

    /// Executes `a, b = b, a` as a swap (E22).
    fn swap(
        &self,
        target: &Expression,
        value: &Expression,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> bool {
        let (ExpressionKind::Tuple(targets), ExpressionKind::Tuple(values)) =
            (&target.kind, &value.kind)
        else {
            return false;
        };
        let ([one, other], [first, second]) = (targets.as_slice(), values.as_slice()) else {
            return false;
        };
        let is_local = |one: &Expression| {
            one.as_name()
                .is_some_and(|name| !frame.globals.contains(name))
        };
        if one != second || other != first || is_local(one) || is_local(other) {
            return false;
        }
        let (one, other) = (self.term(one, path, frame), self.term(other, path, frame));
        path.replaces(&one);
        path.replaces(&other);
        self.changed(&one, Some(other.clone()), range, path);
        self.changed(&other, Some(one.clone()), range, path);
        events.push(event(EventKind::Swap(one, other), range));
        true
    }

    /// Executes `x = unknown(…)`: the call is an event, and the local is a name for its result
    /// (Y3).
    fn result_of_call(
        &self,
        target: &Expression,
        value: &Expression,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> bool {
        let mut names = Vec::new();
        let is_local = local_names(target, frame, &mut names);
        if !is_local || names.iter().any(|name| path.loose.contains(*name)) {
            return false;
        }
        if let Some(ended) = self.helper_with_events(value, path, frame)
            && ended.flow.is_straight()
        {
            return false;
        }
        let term = self.term(value, path, frame);
        if !term.is_unknown_call() || is_the_first(&term) {
            return false;
        }
        let giving = names.iter().map(|name| self.result(name, path)).collect();
        path.facts.forget_objects();
        let kind = EventKind::Change {
            change: EffectTerm::Call(term),
            is_new: false,
            giving,
        };
        events.push(event(kind, range));
        true
    }

    pub(super) fn assign(
        &self,
        target: &Expression,
        value: Term,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        match &target.kind {
            ExpressionKind::Name(name) if !frame.globals.contains(name) => {
                if path.loose.contains(name) {
                    self.change_loose(name, value, false, range, path, events);
                } else {
                    let value = self.made(&value, path).unwrap_or(value);
                    let term = self.define(name, value, range);
                    path.locals.insert(name.clone(), term);
                }
            }
            ExpressionKind::Tuple(targets) | ExpressionKind::List(targets) => {
                self.unpack(targets, &value, range, path, frame, events);
            }
            ExpressionKind::Starred(inner) => {
                self.assign(inner, value, range, path, frame, events);
            }
            _ => {
                if self.entry_of_local(target, &value, range, path, frame, events) {
                    return;
                }
                match self.place(target, path, frame) {
                    // A slice with all elements of a list is the list.
                    Term::Slice {
                        object,
                        start: None,
                        stop: None,
                        step: None,
                    } => self.set(*object, value, range, path, events),
                    target => {
                        path.replaces(&target);
                        self.set(target, value, range, path, events);
                    }
                }
            }
        }
    }

    /// Executes `local[key] = value` for a local with its own collection. A dictionary that is
    /// written out gets one more entry. Any other collection is described by its name from now on.
    fn entry_of_local(
        &self,
        target: &Expression,
        value: &Term,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> bool {
        let Some(name) = self.own_collection(target, path, frame) else {
            return false;
        };
        if let ExpressionKind::Subscript { object, index } = &target.kind
            && object.as_name() == Some(&name)
            && let Some(known) = path.locals.get(&name)
            && let Some(mut entries) = entries(&self.expanded(known))
        {
            let key = self.term(index, path, frame);
            // It is not known if the key is there already.
            let is_certain = key.as_value().is_some()
                && entries
                    .iter()
                    .all(|(known, _)| known.as_ref().and_then(Term::as_value).is_some());
            if entries.is_empty() || is_certain {
                entries.retain(|(known, _)| known.as_ref() != Some(&key));
                entries.push((Some(key), value.clone()));
                let term = self.define(&name, Term::Dictionary(entries).fold_constants(), range);
                path.locals.insert(name, term);
                return true;
            }
        }
        self.loosen(&name, range, path, events);
        false
    }

    /// Returns the local whose own collection contains a target.
    pub(super) fn own_collection(
        &self,
        target: &Expression,
        path: &Path,
        frame: &Frame<'w>,
    ) -> Option<String> {
        let ExpressionKind::Subscript { .. } = &target.kind else {
            return None;
        };
        let name = super::cycle::holder(target).as_name()?;
        let known = path.locals.get(name)?;
        let is_own = is_fresh(&self.expanded(known)) || path.is_left_alone(known);
        let is_own = is_own && known.type_of().is_built_in();
        let is_known = frame.globals.contains(name) || path.loose.contains(name);
        (is_own && !is_known).then(|| name.to_owned())
    }

    /// Returns a target as a term with its locals written out, since their values are what changes.
    fn place(&self, target: &Expression, path: &Path, frame: &Frame<'w>) -> Term {
        if let ExpressionKind::Name(name) = &target.kind {
            // A slot of a harness.
            if let Some(known) = path.locals.get(name) {
                return known.clone();
            }
            let version = path.versions.get(name).copied().unwrap_or_default();
            let type_ = self.world.types.get(name).cloned().unwrap_or_default();
            let reference = NameReference::new(name.clone(), NameRole::State { version });
            return reference.with_type(type_).into();
        }
        // Keys and positions are only read, so they may be named.
        match self.term(target, path, frame) {
            Term::Item { object, index } => Term::Item {
                object: Box::new(self.expanded(&object)),
                index,
            },
            other => self.expanded(&other),
        }
    }

    fn unpack(
        &self,
        targets: &[Expression],
        value: &Term,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        let values = members(&self.expanded(value));
        let starred = targets
            .iter()
            .position(|one| matches!(one.kind, ExpressionKind::Starred(_)));
        let given: Vec<Term> = match (values, starred) {
            (Some(values), None) if values.len() == targets.len() => values,
            (_, None) => (0..targets.len()).map(|at| item(value, at)).collect(),
            (_, Some(at)) => {
                let behind = targets.len() - at - 1;
                let from_end = |back: usize| Box::new(PythonValue::integer(-(back as i64)).into());
                let mut given: Vec<Term> = (0..at).map(|at| item(value, at)).collect();
                given.push(Term::Slice {
                    object: Box::new(value.clone()),
                    start: (at > 0).then(|| Box::new(PythonValue::integer(at as i64).into())),
                    stop: (behind > 0).then(|| from_end(behind)),
                    step: None,
                });
                given.extend((1..=behind).rev().map(|back| Term::Item {
                    object: Box::new(value.clone()),
                    index: from_end(back),
                }));
                given
            }
        };
        for (target, value) in targets.iter().zip(given) {
            self.assign(target, value, range, path, frame, events);
        }
    }

    /// Changes a place that is not a local.
    fn set(
        &self,
        target: Term,
        value: Term,
        range: &Range,
        path: &mut Path,
        events: &mut Vec<Event>,
    ) {
        let (was, now) = (self.expanded(&target), self.expanded(&value));
        let is_copy = match &now {
            Term::Call(call) => {
                call.copied_argument() == Some(&was) && now.type_of() == was.type_of()
            }
            _ => false,
        };
        if now == was || is_copy {
            return;
        }
        // `t = a if c else b` is executed like an `if` statement (Y5).
        if let Term::Conditional {
            condition,
            then,
            otherwise,
        } = value
        {
            match self.decide(&condition, path) {
                Some(true) => return self.set(target, *then, range, path, events),
                Some(false) => return self.set(target, *otherwise, range, path, events),
                None => {}
            }
            let [then, otherwise] = [(*then, true), (*otherwise, false)].map(|(value, holds)| {
                let mut path = self.with_fact(path, &condition, holds);
                let mut events = Vec::new();
                self.set(target.clone(), value, range, &mut path, &mut events);
                super::Ended {
                    flow: crate::explain::flow::ExecutionFlow {
                        events,
                        end: crate::explain::flow::End::Open,
                    },
                    path,
                }
            });
            return self.join(&condition, then, otherwise, range, path, events);
        }
        let target = self.without_dead_changes(target, &value, path, events);
        let is_new = match &target {
            Term::Item { object, index } => {
                matches!(object.type_of(), Type::Dictionary(..))
                    && path.facts.says_absent(&self.expanded(index), object)
            }
            _ => false,
        };
        if matches!(target, Term::Attribute { .. }) {
            path.facts.forget_objects();
        }
        self.changed(&target, Some(value.clone()), range, path);
        let kind = EventKind::Change {
            change: EffectTerm::Assign { target, value },
            is_new,
            giving: vec![],
        };
        events.push(event(kind, range));
    }

    /// Removes changes of a variable that is overwritten before it is read (Y8). The remaining
    /// change has the version before the first of them.
    fn without_dead_changes(
        &self,
        target: Term,
        value: &Term,
        path: &Path,
        events: &mut Vec<Event>,
    ) -> Term {
        let Term::Reference(mut variable) = target else {
            return target;
        };
        while let NameRole::State { version } = variable.role {
            let read = |term: &Term| {
                self.expanded(term).any(&|part| {
                    matches!(part, Term::Reference(one)
                        if one.name == variable.name && one.role == NameRole::State { version })
                })
            };
            let changed = events.iter().rposition(|event| {
                let mut names = Vec::new();
                event.changed(&mut names);
                names.contains(&variable.name)
            });
            let Some(at) = changed else { break };
            let Some(before) = plain_change(&events[at], &variable.name) else {
                break;
            };
            let is_read = read(value)
                || path.locals.values().any(&read)
                || events[at + 1..]
                    .iter()
                    .any(|one| one.terms().into_iter().any(&read));
            if is_read {
                break;
            }
            events.remove(at);
            variable.role = NameRole::State { version: before };
        }
        Term::Reference(variable)
    }

    pub(super) fn augment(
        &self,
        target: &Expression,
        (operator, value): (Operator, &Expression),
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        let is_told = self.each_side(value, range, path, frame, events, &|side, path, events| {
            self.augment(target, (operator, side), range, path, frame, events);
        });
        if is_told {
            return;
        }
        let value = self.value_of(value, range, path, frame, events);
        if let Some(name) = self.own_collection(target, path, frame) {
            self.loosen(&name, range, path, events);
        }
        let local = match &target.kind {
            ExpressionKind::Name(name) if !frame.globals.contains(name) => Some(name),
            _ => None,
        };
        let before = self.term(target, path, frame);
        // A collection grows in place, so its other names have grown as well.
        let shared = Some(self.expanded(&before)).filter(|before| {
            is_collection(before) && root(before).is_some() && !path.is_left_alone(before)
        });
        let local = local.filter(|_| shared.is_none());
        if let Some(name) = local.filter(|name| !path.loose.contains(*name)) {
            let sum = Term::Binary {
                left: Box::new(before),
                operator,
                right: Box::new(value),
            };
            let term = self.define(name, sum.fold_constants(), range);
            path.locals.insert(name.clone(), term);
            return;
        }
        let target = match (local, shared) {
            (Some(name), _) => loose(name),
            (None, Some(shared)) => shared,
            (None, None) => self.place(target, path, frame),
        };
        if matches!(target, Term::Attribute { .. }) {
            path.facts.forget_objects();
        }
        let sum = Term::Binary {
            left: Box::new(target.clone()),
            operator,
            right: Box::new(value.clone()),
        };
        if !is_collection(&target) {
            path.replaces(&target);
        }
        self.changed(&target, Some(sum), range, path);
        if is_collection(&target) {
            self.follow(&target, path);
        }
        let kind = EventKind::Change {
            change: EffectTerm::Augment {
                target,
                operator,
                value,
            },
            is_new: false,
            giving: vec![],
        };
        events.push(event(kind, range));
    }

    pub(super) fn delete(
        &self,
        target: &Expression,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        if let Some(name) = self.own_collection(target, path, frame) {
            self.loosen(&name, range, path, events);
        }
        let change = match &target.kind {
            ExpressionKind::Name(name) if !frame.globals.contains(name) => {
                path.locals.remove(name);
                return;
            }
            ExpressionKind::Tuple(all) | ExpressionKind::List(all) => {
                for one in all {
                    self.delete(one, range, path, frame, events);
                }
                return;
            }
            ExpressionKind::Subscript { .. } => EffectTerm::Delete(self.place(target, path, frame)),
            _ => EffectTerm::Assign {
                target: self.place(target, path, frame),
                value: PythonValue::Nothing.into(),
            },
        };
        if let EffectTerm::Delete(target) | EffectTerm::Assign { target, .. } = &change {
            path.replaces(target);
            self.changed(target, None, range, path);
        }
        let kind = EventKind::Change {
            change,
            is_new: false,
            giving: vec![],
        };
        events.push(event(kind, range));
    }
}

/// Returns true if a term can grow in place.
pub(super) fn is_collection(term: &Term) -> bool {
    matches!(
        term.type_of(),
        Type::List(_) | Type::Set(_) | Type::Dictionary(..)
    )
}

/// Returns true if a term is the result of a search, which is not evaluated again.
fn is_the_first(term: &Term) -> bool {
    matches!(term, Term::Call(call)
        if matches!(&call.callee, CallTarget::Function { module: None, name } if name == FIRST))
}

/// Returns the version before a change of a whole variable, if the event is only that.
fn plain_change(event: &Event, name: &str) -> Option<u32> {
    let EventKind::Change { change, giving, .. } = &event.kind else {
        return None;
    };
    let target = match change {
        EffectTerm::Assign { target, .. } | EffectTerm::Augment { target, .. } => target,
        EffectTerm::Call(call) => crate::explain::flow::changed_by_call(call)?,
        EffectTerm::Delete(_) => return None,
    };
    let Term::Reference(reference) = target else {
        return None;
    };
    match reference.role {
        NameRole::State { version } if reference.name == name && giving.is_empty() => Some(version),
        _ => None,
    }
}

/// Returns the names that a target assigns, if all of them are locals.
fn local_names<'e>(target: &'e Expression, frame: &Frame<'_>, names: &mut Vec<&'e str>) -> bool {
    match &target.kind {
        ExpressionKind::Name(name) => {
            names.push(name);
            !frame.globals.contains(name)
        }
        ExpressionKind::Tuple(all) | ExpressionKind::List(all) => {
            all.iter().all(|one| local_names(one, frame, names))
        }
        _ => false,
    }
}

/// Returns the entries of a dictionary that is written out.
fn entries(value: &Term) -> Option<Vec<(Option<Term>, Term)>> {
    match value {
        Term::Dictionary(entries) => Some(entries.clone()),
        Term::Value(PythonValue::Dictionary(entries)) => Some(
            entries
                .iter()
                .map(|(key, value)| (Some(key.clone().into()), value.clone().into()))
                .collect(),
        ),
        _ => None,
    }
}

/// Returns the members of a tuple or list that is written out.
fn members(value: &Term) -> Option<Vec<Term>> {
    match value {
        Term::Tuple(items) | Term::List(items) => Some(items.clone()),
        Term::Value(PythonValue::Tuple(items) | PythonValue::List(items)) => {
            Some(items.iter().cloned().map(Term::from).collect())
        }
        _ => None,
    }
}

fn item(value: &Term, at: usize) -> Term {
    Term::Item {
        object: Box::new(value.clone()),
        index: Box::new(PythonValue::integer(at as i64).into()),
    }
    .fold_constants()
}

/// Returns true if a term is a value without other references, so that changing it changes nothing
/// else.
pub(super) fn is_fresh(term: &Term) -> bool {
    match term {
        Term::Reference(reference) => number_of(reference).is_some(),
        Term::Item { .. } | Term::Attribute { .. } | Term::Source(_) => false,
        Term::Call(_) => !term.is_unknown_call() && term.type_of().is_built_in(),
        Term::Conditional {
            then, otherwise, ..
        } => is_fresh(then) && is_fresh(otherwise),
        Term::Unary { operator, .. } => *operator != UnaryOperator::Not,
        _ => true,
    }
}
