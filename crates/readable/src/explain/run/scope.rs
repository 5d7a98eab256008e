//! Meaning of names inside of an action, and inlining of helpers: a call is replaced by the
//! helper's body (Y2).

use std::collections::BTreeMap;

use testwright_source::Range;
use testwright_source::tree::ParameterKind;

use super::{EARLIER, Execution, Frame, Path, globals};
use crate::explain::flow::{End, Event, EventKind, ExecutionFlow};
use crate::explain::locate::Callable;
use crate::term::{
    CallTarget, CallTerm, EffectTerm, NameReference, NameRole, NameScope, Term, Type,
};
use crate::value::PythonValue;

/// Scope of names at a point of a path.
pub(super) struct View<'v, 'w> {
    pub(super) execution: &'v Execution<'w>,
    pub(super) path: &'v Path,
    pub(super) frame: &'v Frame<'w>,
}

impl NameScope for View<'_, '_> {
    fn resolve_expression(&self, range: &Range) -> Option<Term> {
        let taken = self.path.taken(range)?;
        let made = self.execution.made(&taken, self.path);
        Some(made.unwrap_or(taken))
    }

    fn resolve_name(&self, name: &str) -> Option<Term> {
        let local = self.path.locals.get(name).cloned();
        let local = local.map(|value| self.path.met_again(value));
        local.or_else(|| self.execution.world.global(name, &self.path.versions))
    }

    fn resolve_attribute(&self, object: &str, name: &str) -> Option<Term> {
        if self.frame.receiver.as_deref() != Some(object) {
            return None;
        }
        let world = self.execution.world;
        let key = format!("self.{name}");
        if world.parts.helpers.contains_key(&key) {
            return None;
        }
        // An attribute that is neither set at the start nor a constant is still a variable.
        let unlisted = || Some(self.state(name));
        world
            .constant(&key, 0)
            .or_else(|| world.global(name, &self.path.versions))
            .or_else(unlisted)
    }

    fn resolve_call(&self, call: &CallTerm) -> Option<Term> {
        match (&call.callee, call.arguments.as_slice()) {
            (CallTarget::Function { module: None, name }, [inner]) if name == EARLIER => {
                return Some(Term::Earlier(Box::new(inner.clone())));
            }
            // A method that is defined elsewhere: only its name is known.
            (CallTarget::Other(Term::Reference(method)), _)
                if matches!(method.role, NameRole::State { .. })
                    && self.frame.receiver.is_some() =>
            {
                return Some(Term::Call(Box::new(CallTerm {
                    callee: CallTarget::Function {
                        module: None,
                        name: method.name.clone(),
                    },
                    ..call.clone()
                })));
            }
            _ => {}
        }
        let inlined = self.execution.inlined(call, self.path, self.frame)?;
        let term = pure(inlined.flow, false)?;
        (!self.execution.is_too_large(&term)).then_some(term)
    }

    fn is_module(&self, name: &str) -> bool {
        let parts = self.execution.world.parts;
        let first = name.split('.').next().unwrap_or(name);
        let is_imported = parts.imported.iter().any(|known| known == first);
        // `from m import Thing` imports a class, whose methods are not functions.
        is_imported
            && !first.starts_with(char::is_uppercase)
            && !self.path.locals.contains_key(first)
    }
}

impl View<'_, '_> {
    fn state(&self, name: &str) -> Term {
        let version = self.path.versions.get(name).copied().unwrap_or_default();
        NameReference::new(name, NameRole::State { version }).into()
    }
}

impl<'w> Execution<'w> {
    /// Returns the flow of a helper call, if the helper can be inlined.
    pub(super) fn inlined(
        &self,
        call: &CallTerm,
        path: &Path,
        frame: &Frame<'w>,
    ) -> Option<super::Ended> {
        let (helper, path, frame) = self.prepared(call, path, frame)?;
        Some(self.body(&helper.body, path, &frame))
    }

    /// Returns a helper, the knowledge at its beginning, and its frame.
    pub(super) fn prepared(
        &self,
        call: &CallTerm,
        path: &Path,
        frame: &Frame<'w>,
    ) -> Option<(&'w Callable, Path, Frame<'w>)> {
        let helper = self.world.helper(call, frame.receiver.as_deref())?;
        let is_method = matches!(call.callee, CallTarget::Method { .. });
        let too_deep = frame.helpers.len() > self.world.limits.depth;
        if too_deep || frame.helpers.contains(&helper.name) {
            return None;
        }
        let locals = self.bound(helper, call, is_method)?;
        let mut helpers = frame.helpers.clone();
        helpers.push(helper.name.clone());
        let first = helper.parameters.first();
        let inner = Frame {
            text: self.world.text,
            globals: globals(&helper.body),
            receiver: if is_method {
                first.map(|one| one.name.clone())
            } else {
                None
            },
            helpers,
            counts: false,
            round: frame.round,
            finally: vec![],
            onward: None,
        };
        let path = Path {
            locals,
            versions: path.versions.clone(),
            facts: path.facts.clone(),
            between: path.between.clone(),
            same_since: path.same_since.clone(),
            loose: Default::default(),
            taken: Vec::new(),
            given: Vec::new(),
        };
        Some((helper, path, inner))
    }

    /// Returns the parameters of a helper with their arguments, or `None` if they do not match.
    fn bound(
        &self,
        helper: &Callable,
        call: &CallTerm,
        is_method: bool,
    ) -> Option<BTreeMap<String, Term>> {
        let mut parameters = helper.parameters.iter().skip(usize::from(is_method));
        let starred = call
            .arguments
            .iter()
            .any(|one| matches!(one, Term::Starred(_)));
        let variadic = parameters.clone().any(|one| {
            matches!(
                one.kind,
                ParameterKind::Variadic | ParameterKind::KeywordVariadic
            )
        });
        if starred || variadic {
            return None;
        }
        let mut locals = BTreeMap::new();
        let mut open = Vec::new();
        let mut arguments = call.arguments.iter();
        for parameter in parameters.by_ref() {
            let by_position = parameter.kind != ParameterKind::KeywordOnly;
            match arguments.next().filter(|_| by_position) {
                Some(argument) => _ = locals.insert(parameter.name.clone(), argument.clone()),
                None => open.push(parameter),
            }
        }
        if arguments.next().is_some() {
            return None;
        }
        for (name, value) in &call.keywords {
            let name = name.as_ref()?;
            let at = open.iter().position(|parameter| parameter.name == *name)?;
            open.remove(at);
            locals.insert(name.clone(), value.clone());
        }
        for parameter in open {
            let default = self.world.start(parameter.default.as_ref()?);
            locals.insert(parameter.name.clone(), default);
        }
        Some(locals)
    }

    /// Returns a guard or invariant as one condition (Y11), or `None` if it does more than return a
    /// value.
    pub(crate) fn condition(
        &self,
        callable: &'w Callable,
        path: Path,
        frame: &Frame<'w>,
    ) -> Option<Term> {
        let flow = self.body(&callable.body, path, &frame.uncounted()).flow;
        let term = pure(flow, true)?;
        (!self.is_too_large(&term)).then_some(term)
    }
}

/// Returns the value of a flow that only returns one. A tree of returns becomes an expression (Y2),
/// in a condition one of truth values (Y11).
pub(super) fn pure(flow: ExecutionFlow, in_condition: bool) -> Option<Term> {
    if in_condition && let Some(results) = asked(&flow.events) {
        let term = value(flow.end, in_condition)?;
        return Some(term.map_parts(&mut |part| match part {
            Term::Reference(reference) => results.get(&reference.name).cloned(),
            _ => None,
        }));
    }
    if flow.events.is_empty() {
        value(flow.end, in_condition)
    } else {
        None
    }
}

/// Returns the results of events that only query the system, by the names of the results. A reader
/// who needs only a condition does not need these events.
fn asked(events: &[Event]) -> Option<BTreeMap<String, Term>> {
    let mut results: BTreeMap<String, Term> = BTreeMap::new();
    for event in events {
        let EventKind::Change {
            change: EffectTerm::Call(call),
            giving,
            ..
        } = &event.kind
        else {
            return None;
        };
        let [result] = giving.as_slice() else {
            return None;
        };
        let call = call.map_parts(&mut |part| match part {
            Term::Reference(reference) => results.get(&reference.name).cloned(),
            _ => None,
        });
        results.insert(result.name.clone(), call);
    }
    Some(results)
}

/// Returns the value of an end, if it is one.
fn value(end: End, in_condition: bool) -> Option<Term> {
    match end {
        End::Return { value, .. } => Some(value),
        End::Open => Some(PythonValue::Nothing.into()),
        End::Split {
            condition,
            then,
            otherwise,
            ..
        } => {
            let then = pure(*then, in_condition)?;
            let otherwise = pure(*otherwise, in_condition)?;
            Some(combined(condition, then, otherwise, in_condition))
        }
        _ => None,
    }
}

/// Combines two values into one term: `then` if the condition holds, otherwise `otherwise`.
pub(super) fn combined(condition: Term, then: Term, otherwise: Term, in_condition: bool) -> Term {
    let truth = |term: &Term| match term.as_value() {
        Some(PythonValue::Boolean(value)) => Some(*value),
        Some(PythonValue::Nothing) if in_condition => Some(false),
        _ => None,
    };
    let is_boolean = |term: &Term| in_condition || term.type_of() == Type::Boolean;
    match (truth(&then), truth(&otherwise)) {
        (Some(one), Some(other)) if one == other => then,
        (Some(true), Some(false)) if is_boolean(&condition) => condition,
        (Some(true), Some(false)) => Term::call("bool", vec![condition]),
        (Some(false), Some(true)) => negated(condition),
        (Some(true), None) if is_boolean(&otherwise) => either(condition, otherwise),
        (Some(false), None) if is_boolean(&otherwise) => both(negated(condition), otherwise),
        (None, Some(false)) if is_boolean(&then) => both(condition, then),
        (None, Some(true)) if is_boolean(&then) => either(negated(condition), then),
        _ => Term::Conditional {
            condition: Box::new(condition),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        },
    }
}

pub(super) fn negated(condition: Term) -> Term {
    match condition {
        Term::Not(inner) => *inner,
        other => Term::Not(Box::new(other)),
    }
}

pub(crate) fn both(one: Term, other: Term) -> Term {
    let mut parts = super::conjuncts(one);
    parts.extend(super::conjuncts(other));
    Term::And(parts)
}

fn either(one: Term, other: Term) -> Term {
    let parts = |term| match term {
        Term::Or(parts) => parts,
        other => vec![other],
    };
    let mut all = parts(one);
    all.extend(parts(other));
    Term::Or(all)
}
