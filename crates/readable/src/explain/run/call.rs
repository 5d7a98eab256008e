//! Executes calls that stand alone or on the right of an assignment.

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind, Operator};

use super::assign::is_fresh;
use super::between::after_call;
use super::{Ended, Execution, Frame, Path, conjuncts, event};
use crate::explain::flow::{End, Event, EventKind, changed_by_call, root};
use crate::term::{CallTarget, CallTerm, EffectTerm, NameReference, NameRole, Term, Type};
use crate::value::PythonValue;

impl<'w> Execution<'w> {
    /// Executes an expression statement.
    pub(super) fn alone(
        &self,
        expression: &'w Expression,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        match &expression.kind {
            ExpressionKind::Await(inner) => self.alone(inner, range, path, frame, events),
            ExpressionKind::Call {
                function,
                arguments,
                ..
            } => {
                if is_silent(function) || self.is_of_hypothesis(function, &REPORTING) {
                    return;
                }
                if let [condition] = arguments.as_slice()
                    && self.is_of_hypothesis(function, &["assume"])
                {
                    let condition = self.term(condition, path, frame);
                    path.facts.add(&self.expanded(&condition), true);
                    let assumed = conjuncts(condition);
                    events.push(event(EventKind::Assume(assumed), range));
                    return;
                }
                if let Some(ended) = self.helper_with_events(expression, path, frame)
                    && ended.flow.is_straight()
                {
                    self.splice(ended, range, path, events);
                    return;
                }
                if self.change_local(expression, range, path, frame, events) {
                    return;
                }
                let term = self.term(expression, path, frame);
                if let Term::Call(_) = &term {
                    let term = self.with_default_set(term, range, path, events);
                    self.carry_out(term, range, path, events);
                }
            }
            // A value that is only read has no effect.
            ExpressionKind::None
            | ExpressionKind::Boolean(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::Float(_)
            | ExpressionKind::Imaginary(_)
            | ExpressionKind::Text(_)
            | ExpressionKind::Bytes(_)
            | ExpressionKind::Ellipsis
            | ExpressionKind::FormattedText(_)
            | ExpressionKind::Name(_)
            | ExpressionKind::Attribute { .. } => {}
            // A lookup may fail, or be compared with the result of a reference.
            ExpressionKind::Subscript { .. }
            | ExpressionKind::Compare { .. }
            | ExpressionKind::Unary { .. }
            | ExpressionKind::Binary { .. } => {
                let term = self.term(expression, path, frame);
                self.carry_out(term, range, path, events);
            }
            _ => self.unread(range, frame, events),
        }
    }

    /// Returns true if this is a Hypothesis function with one of these names.
    fn is_of_hypothesis(&self, function: &Expression, names: &[&str]) -> bool {
        let parts = self.world.parts;
        function.as_name().is_some_and(|name| {
            parts.is_machine
                && names.contains(&name)
                && parts.imported.iter().any(|one| one == name)
        })
    }

    /// Executes a call for its effect.
    fn carry_out(&self, call: Term, range: &Range, path: &mut Path, events: &mut Vec<Event>) {
        let call = with_object(call, |object| self.expanded(object));
        match changed_by_call(&call) {
            Some(target) => {
                let target = target.clone();
                let after = match &call {
                    Term::Call(call) => after_call(call),
                    _ => None,
                };
                self.changed(&target, after, range, path);
                self.follow(&target, path);
            }
            None => {
                path.facts.forget_objects();
                // It is not known what an unknown call does to a variable that it gets.
                if let Term::Call(inner) = &call
                    && let CallTarget::Method { object, .. } = &inner.callee
                    && let Some(variable) = root(object)
                {
                    path.facts.forget_variable(&variable.name);
                }
            }
        }
        let kind = EventKind::Change {
            change: EffectTerm::Call(call),
            is_new: false,
            giving: vec![],
        };
        events.push(event(kind, range));
    }

    /// Executes `d.setdefault(k, v).append(x)` as two events: an entry is added, then it is
    /// changed.
    fn with_default_set(
        &self,
        call: Term,
        range: &Range,
        path: &mut Path,
        events: &mut Vec<Event>,
    ) -> Term {
        let Term::Call(mut call) = call else {
            return call;
        };
        if let CallTarget::Method { object, .. } = &mut call.callee
            && let Some((dictionary, key)) = default_set(&self.expanded(object))
        {
            self.carry_out(object.clone(), range, path, events);
            *object = entry(&dictionary, key, path);
        }
        Term::Call(call)
    }

    /// Returns the value on the right of an assignment or behind `return`. Its changes become
    /// events.
    pub(super) fn value_of(
        &self,
        expression: &Expression,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Term {
        let ExpressionKind::Call { .. } = &expression.kind else {
            return self.term(expression, path, frame);
        };
        if let Some(ended) = self.helper_with_events(expression, path, frame)
            && ended.flow.is_straight()
        {
            return self.splice(ended, range, path, events);
        }
        if let Some(value) = self.pop_from_local(expression, range, path, frame) {
            return value;
        }
        let term = self.term(expression, path, frame);
        if let Some((dictionary, key)) = default_set(&self.expanded(&term)) {
            self.carry_out(term, range, path, events);
            return entry(&dictionary, key, path);
        }
        match popped(&with_object(term.clone(), |object| self.expanded(object))) {
            Some(value) => {
                self.carry_out(term, range, path, events);
                match value {
                    Term::Item { object, .. } if frame.round.is_some() => popped_element(&object),
                    other => other,
                }
            }
            None => term,
        }
    }

    /// Executes a helper here. Returns its result.
    pub(super) fn splice(
        &self,
        ended: Ended,
        range: &Range,
        path: &mut Path,
        events: &mut Vec<Event>,
    ) -> Term {
        path.versions = ended.path.versions;
        path.facts = ended.path.facts;
        path.between = ended.path.between;
        path.same_since = ended.path.same_since;
        self.keep_as_made(range, path);
        events.extend(ended.flow.events);
        match ended.flow.end {
            End::Return { value, .. } => value,
            _ => PythonValue::Nothing.into(),
        }
    }

    /// Returns the flow of a helper call that does more than return a value.
    pub(super) fn helper_with_events(
        &self,
        expression: &Expression,
        path: &Path,
        frame: &Frame<'w>,
    ) -> Option<Ended> {
        let call = self.call_of_helper(expression, path, frame)?;
        let ended = self.inlined(&call, path, frame)?;
        has_events(&ended.flow).then_some(ended)
    }

    /// Returns the helper of a call, with its arguments.
    pub(super) fn call_of_helper(
        &self,
        expression: &Expression,
        path: &Path,
        frame: &Frame<'w>,
    ) -> Option<CallTerm> {
        let ExpressionKind::Call {
            function,
            arguments,
            keywords,
        } = &expression.kind
        else {
            return None;
        };
        let callee = match &function.kind {
            ExpressionKind::Name(name) if !path.locals.contains_key(name) => CallTarget::Function {
                module: None,
                name: name.clone(),
            },
            ExpressionKind::Attribute { object, name } => {
                let object = object.as_name()?;
                (frame.receiver.as_deref() == Some(object)).then_some(())?;
                CallTarget::Method {
                    object: NameReference::new(object, NameRole::Global).into(),
                    name: name.clone(),
                }
            }
            _ => return None,
        };
        let mut call = CallTerm {
            callee,
            arguments: vec![],
            keywords: vec![],
        };
        self.world.helper(&call, frame.receiver.as_deref())?;
        let term = |one: &Expression| self.term(one, path, frame);
        call.arguments = arguments.iter().map(term).collect();
        call.keywords = keywords
            .iter()
            .map(|keyword| (keyword.name.clone(), term(&keyword.value)))
            .collect();
        Some(call)
    }

    /// Changes a value that only a local has. The local stands for the changed value from now on.
    fn change_local(
        &self,
        expression: &Expression,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> bool {
        let Some((name, method, arguments)) = self.fresh_local(expression, path) else {
            return false;
        };
        let before = path
            .locals
            .get(&name)
            .cloned()
            .unwrap_or(Term::Tuple(vec![]));
        let given: Vec<Term> = arguments
            .iter()
            .map(|one| self.term(one, path, frame))
            .collect();
        let list = |items: Vec<Term>| Term::List(items).fold_constants();
        let sum = |left: Term, operator, right: Term| {
            let (left, right) = (Box::new(left), Box::new(right));
            Term::Binary {
                left,
                operator,
                right,
            }
            .fold_constants()
        };
        let after = match (method.as_str(), given.as_slice()) {
            ("append", [one]) => match self.expanded(&before) {
                Term::Value(PythonValue::List(items)) => {
                    let mut items: Vec<Term> = items.into_iter().map(Term::from).collect();
                    items.push(one.clone());
                    list(items)
                }
                Term::List(mut items) => {
                    items.push(one.clone());
                    list(items)
                }
                _ => sum(before, Operator::Add, list(vec![one.clone()])),
            },
            ("extend", [more]) => sum(before, Operator::Add, more.clone()),
            ("insert", [at, one]) if at.as_value().and_then(PythonValue::as_integer) == Some(0) => {
                sum(list(vec![one.clone()]), Operator::Add, before)
            }
            ("add", [one]) => {
                let one = Term::Set(vec![one.clone()]).fold_constants();
                sum(before, Operator::BitOr, one)
            }
            ("update", [more]) if matches!(before.type_of(), Type::Set(_)) => {
                sum(before, Operator::BitOr, more.clone())
            }
            ("sort", []) => Term::call("sorted", vec![before]),
            ("clear", []) => match before.type_of() {
                Type::Set(_) => PythonValue::Set(vec![]).into(),
                Type::Dictionary(..) => PythonValue::Dictionary(vec![]).into(),
                _ => PythonValue::List(vec![]).into(),
            },
            _ => {
                self.loosen(&name, range, path, events);
                return false;
            }
        };
        let term = self.define(&name, after, range);
        path.locals.insert(name, term);
        true
    }

    /// Matches `local.method(arguments)` if the local has its own value and the method changes it.
    fn fresh_local<'e>(
        &self,
        expression: &'e Expression,
        path: &Path,
    ) -> Option<(String, String, &'e [Expression])> {
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
        let local = object.as_name()?;
        let value = path.locals.get(local)?;
        let changes = crate::term::MUTATING_METHODS.contains(&name.as_str());
        let is_own = is_fresh(&self.expanded(value)) || path.is_left_alone(value);
        let is_own = is_own && value.type_of().is_built_in();
        (changes && is_own && !path.loose.contains(local))
            .then(|| (local.to_owned(), name.clone(), arguments.as_slice()))
    }

    /// Executes `x = local.pop()`.
    fn pop_from_local(
        &self,
        expression: &Expression,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
    ) -> Option<Term> {
        let (name, method, arguments) = self.fresh_local(expression, path)?;
        let before = path.locals.get(&name).cloned()?;
        let at = match arguments {
            [] => -1,
            [at] => self.term(at, path, frame).as_value()?.as_integer()?,
            _ => return None,
        };
        let is_list = matches!(before.type_of(), Type::List(_));
        let (start, stop) = match at {
            -1 => (None, Some(Box::new(PythonValue::integer(-1).into()))),
            0 => (Some(Box::new(PythonValue::integer(1).into())), None),
            _ => return None,
        };
        if method != "pop" || !is_list {
            return None;
        }
        let rest = Term::Slice {
            object: Box::new(before.clone()),
            start,
            stop,
            step: None,
        };
        let rest = self.define(&name, rest, range);
        path.locals.insert(name, rest);
        let index = Box::new(PythonValue::integer(at).into());
        let object = Box::new(before);
        Some(Term::Item { object, index }.fold_constants())
    }
}

/// Returns true if a flow does more than return a value.
fn has_events(flow: &crate::explain::flow::ExecutionFlow) -> bool {
    let below = match &flow.end {
        End::Split {
            then, otherwise, ..
        } => has_events(then) || has_events(otherwise),
        _ => false,
    };
    !flow.events.is_empty() || below
}

/// Reporting functions of Hypothesis, which change nothing.
const REPORTING: [&str; 3] = ["note", "event", "target"];

/// Returns true for calls that mean nothing to a reader: `print(…)`, `super().__init__()`.
fn is_silent(function: &Expression) -> bool {
    match &function.kind {
        ExpressionKind::Name(name) => name == "print",
        ExpressionKind::Attribute { object, .. } => matches!(&object.kind,
            ExpressionKind::Call { function, .. } if function.as_name() == Some("super")),
        _ => false,
    }
}

fn with_object(call: Term, change: impl Fn(&Term) -> Term) -> Term {
    match call {
        Term::Call(mut call) => {
            if let CallTarget::Method { object, .. } = &mut call.callee {
                *object = change(object);
            }
            Term::Call(call)
        }
        other => other,
    }
}

/// Returns the dictionary and the key of `d.setdefault(k, …)`.
fn default_set(call: &Term) -> Option<(Term, Term)> {
    let target = changed_by_call(call)?;
    let Term::Call(call) = call else { return None };
    match (&call.callee, call.arguments.as_slice()) {
        (CallTarget::Method { name, .. }, [key, ..]) if name == "setdefault" => {
            Some((target.clone(), key.clone()))
        }
        _ => None,
    }
}

/// Returns an entry of a dictionary in its current version.
fn entry(dictionary: &Term, key: Term, path: &Path) -> Term {
    let now = dictionary.map_parts(&mut |part| match part {
        Term::Reference(reference) if matches!(reference.role, NameRole::State { .. }) => {
            let version = path
                .versions
                .get(&reference.name)
                .copied()
                .unwrap_or_default();
            let role = NameRole::State { version };
            Some(
                NameReference {
                    role,
                    ..reference.clone()
                }
                .into(),
            )
        }
        _ => None,
    });
    Term::Item {
        object: Box::new(now),
        index: Box::new(key),
    }
}

/// Returns the term for a value that was just taken out of a collection.
fn popped_element(object: &Term) -> Term {
    let (words, type_) = match object.type_of() {
        Type::Dictionary(_, value) => ("that entry", *value),
        other => ("that element", other.element()),
    };
    let one = NameReference::new(words, NameRole::Phrase);
    one.with_type(type_).into()
}

/// Returns the result of `t.pop(…)`, in terms of `t` before the call.
fn popped(call: &Term) -> Option<Term> {
    let target = changed_by_call(call)?;
    let Term::Call(call) = call else { return None };
    let CallTarget::Method { name, .. } = &call.callee else {
        return None;
    };
    let item = |index: Term| Term::Item {
        object: Box::new(target.clone()),
        index: Box::new(index),
    };
    match (name.as_str(), target.type_of(), call.arguments.as_slice()) {
        ("pop", Type::Set(_), []) => {
            Some(NameReference::new("that element", NameRole::Phrase).into())
        }
        ("popitem", Type::Dictionary(..), []) => {
            Some(NameReference::new("that entry", NameRole::Phrase).into())
        }
        ("pop", _, []) => Some(item(PythonValue::integer(-1).into())),
        ("pop", _, [at]) => Some(item(at.clone())),
        ("pop", Type::Dictionary(..), [key, default]) => Some(Term::Call(Box::new(CallTerm {
            callee: CallTarget::Method {
                object: target.clone(),
                name: "get".to_owned(),
            },
            arguments: vec![key.clone(), default.clone()],
            keywords: vec![],
        }))),
        _ => None,
    }
}
