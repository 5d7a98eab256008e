//! From definitions and recorded calls to actions.

mod limits;
mod seen;
mod unseen;

use std::collections::BTreeSet;

use super::action::{Action, Argument, Callee, What, Wrap, is_said, is_said_behind};
use super::calls::Calls;
use super::danger::Texts;
use super::pools::{Wishes, free_name, pool_name};
use super::surface::{ClassAt, FunctionAt, Surface};
use crate::inspect::{Flow, Nature, Parameter, Role, is_public};
use crate::recording::{Call, Outcome, Receiver};
use crate::value::Reference;
use crate::write::Scope;
use unseen::Origin;

/// Drafts the actions of some modules.
pub(super) struct Drafter<'a> {
    pub(super) surface: &'a Surface<'a>,
    pub(super) texts: Texts<'a>,
    pub(super) calls: Calls<'a>,
    pub(super) scope: Scope,
    pub(super) wishes: Wishes,
    /// The classes that have pools.
    pub(super) classes: Vec<PooledClass<'a>>,
    pub(super) actions: Vec<Action<'a>>,
    /// What is still to be drafted, with its calls.
    pub(super) pending: Vec<(Pending<'a>, Vec<&'a Call>)>,
}

/// A class whose objects are kept in a pool.
pub(super) struct PooledClass<'a> {
    pub(super) at: ClassAt<'a>,
    pub(super) reference: Reference,
    pub(super) pool: String,
}

/// Something that the modules offer.
pub(super) enum Pending<'a> {
    /// A function, method or constructor.
    Function(Target<'a>),
    /// A class whose constructor is made from its fields.
    Record(usize),
}

/// How something is called, and by what name.
pub(super) struct Target<'a> {
    at: FunctionAt<'a>,
    callee: Named,
    section: Option<usize>,
    /// The first parameters that nobody gives: `self`, `cls`.
    skipped: usize,
    /// Its place in the draft.
    order: usize,
}

/// What an action calls.
#[derive(Clone)]
pub(super) enum Named {
    Text(String),
    Of(usize),
    /// The constructor of a class.
    New(usize, String),
}

impl<'a> Drafter<'a> {
    /// Chooses the classes that have pools.
    pub(super) fn choose_classes(&mut self) {
        let mut names = BTreeSet::new();
        for at in self.surface.classes() {
            let reference = at.reference();
            let is_usable = self.surface.offers(at.module, at.definition)
                && matches!(
                    at.class.nature,
                    Nature::Plain | Nature::Record | Nature::NamedTuple
                );
            let is_seen = self.calls.is_receiver(&reference) && at.class.nature != Nature::Enum;
            // Exceptions are raised by others, unless somebody did something with one.
            if !(is_usable && !self.surface.is_exception(&reference) || is_seen) {
                continue;
            }
            let pool = free_name(&pool_name(reference.name()), &mut names);
            self.classes.push(PooledClass {
                at,
                reference,
                pool,
            });
        }
    }

    /// Drafts everything that the modules offer.
    pub(super) fn draft(&mut self) {
        for number in 0..self.classes.len() {
            self.class(number);
        }
        for at in self.surface.functions() {
            let reference = Reference::new(&at.module.name, &at.definition.qualified_name);
            let callee = Named::Text(self.scope.reference(&reference).flat());
            let calls = self.calls.of(&at.key(), |_| true);
            let order = self.pending.len();
            let target = Target {
                at,
                callee,
                section: None,
                skipped: 0,
                order,
            };
            self.pending.push((Pending::Function(target), calls));
        }
        // What was seen comes first, because its values are good for the rest, too.
        let (seen, unseen): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pending)
            .into_iter()
            .enumerate()
            .partition(|(_, (_, calls))| !calls.is_empty());
        for (order, (pending, calls)) in seen.into_iter().chain(unseen) {
            match pending {
                Pending::Function(target) => self.target(&target, &calls),
                Pending::Record(class) => self.record(class, order),
            }
        }
        self.actions.sort_by_key(|action| action.order);
        self.keep_small();
        self.leave_out_what_nothing_makes();
        for action in &self.actions {
            self.wishes
                .used(&action.wishes(), action.left_out.is_none());
            if let (Callee::Of { name, .. }, [only]) = (&action.callee, action.wishes().as_slice())
                && is_said_behind(name)
            {
                self.wishes.begins(*only);
            }
        }
    }

    fn class(&mut self, number: usize) {
        let Some((reference, at)) = self
            .classes
            .get(number)
            .map(|class| (class.reference.clone(), class.at))
        else {
            return;
        };
        let methods = self.surface.methods(&reference);
        self.constructor(number, &reference, at, &methods);
        for method in methods {
            let definition = method.definition;
            if !is_public(&definition.name) || !is_said(&definition.name) {
                continue;
            }
            let key = method.key();
            let (callee, skipped, calls) = match method.function.role {
                Role::StaticMethod => {
                    let is_own = definition.qualified_name
                        == format!("{}.{}", at.definition.qualified_name, definition.name);
                    if !is_own {
                        continue;
                    }
                    (
                        self.of_class(&reference, &definition.name),
                        0,
                        self.calls.of(&key, |_| true),
                    )
                }
                Role::ClassMethod => {
                    let is_meant = |call: &Call| matches!(&call.receiver, Receiver::Class(class) if self.calls.is(class, &reference));
                    let calls = self.calls.of(&key, is_meant);
                    (self.of_class(&reference, &definition.name), 1, calls)
                }
                _ => {
                    let is_meant = |call: &Call| matches!(&call.receiver, Receiver::Instance(class) if self.calls.is(class, &reference));
                    (Named::Of(number), 1, self.calls.of(&key, is_meant))
                }
            };
            // What a class only inherits is drafted once, with the class that defines it.
            let is_inherited = method.module.name != at.module.name
                || !definition
                    .qualified_name
                    .starts_with(&format!("{}.", at.definition.qualified_name));
            let is_elsewhere = self.classes.iter().any(|class| {
                class.at.module.name == method.module.name
                    && definition.qualified_name
                        == format!("{}.{}", class.at.definition.qualified_name, definition.name)
            });
            if calls.is_empty() && is_inherited && is_elsewhere {
                continue;
            }
            let target = Target {
                at: method,
                callee,
                section: Some(number),
                skipped,
                order: self.pending.len(),
            };
            self.pending.push((Pending::Function(target), calls));
        }
    }

    fn of_class(&mut self, class: &Reference, name: &str) -> Named {
        let class = self.scope.reference(class).flat();
        Named::Text(format!("{class}.{name}"))
    }

    fn constructor(
        &mut self,
        number: usize,
        reference: &Reference,
        at: ClassAt<'a>,
        methods: &[FunctionAt<'a>],
    ) {
        if at.class.nature == Nature::Abstract {
            return;
        }
        let class = self.scope.reference(reference).flat();
        let named = |name: &str| methods.iter().find(|method| method.definition.name == name);
        let callee = Named::New(number, class);
        if let Some(init) = named("__init__").or_else(|| named("__new__")).copied() {
            let is_new = |call: &Call| {
                let class = match &call.receiver {
                    Receiver::Instance(class) | Receiver::Class(class) => class,
                    Receiver::None => return false,
                };
                self.calls.is(class, reference) && !call.is_from_own_method
            };
            let calls = self.calls.of(&init.key(), is_new);
            let target = Target {
                at: init,
                callee,
                section: Some(number),
                skipped: 1,
                order: self.pending.len(),
            };
            self.pending.push((Pending::Function(target), calls));
            return;
        }
        self.pending.push((Pending::Record(number), Vec::new()));
    }

    /// The constructor of a class that does not define one: it takes the fields of a record, or nothing.
    fn record(&mut self, number: usize, order: usize) {
        let Some(PooledClass { at, reference, .. }) = self.classes.get(number) else {
            return;
        };
        let (at, reference) = (*at, reference.clone());
        let family = self.surface.family(&reference);
        let is_record =
            |at: &ClassAt<'_>| matches!(at.class.nature, Nature::Record | Nature::NamedTuple);
        let fields: Vec<Parameter> = if family.iter().any(is_record) {
            family
                .iter()
                .rev()
                .flat_map(|at| &at.class.fields)
                .cloned()
                .collect()
        } else {
            Vec::new()
        };
        let key = (at.module.name.clone(), at.definition.first_line);
        for field in &fields {
            let wish = self.wishes.of(&key, &field.name);
            for sample in self
                .calls
                .field_samples(&reference, &field.name, &mut self.scope)
            {
                self.wishes.seen(wish, sample);
            }
        }
        let unknown = self.surface.unknown_bases(&reference);
        let inherited = unknown
            .first()
            .map(|base| format!("takes what `{base}` takes, which is not known here"));
        let class = self.scope.reference(&reference).flat();
        let origin = Origin {
            module: at.module,
            key,
            callee: Named::New(number, class),
            role: None,
            name: "__init__",
            section: Some(number),
            wrap: Wrap::Nothing,
            result: None,
            danger: inherited.filter(|_| fields.is_empty()),
            exceptions: Vec::new(),
            is_record: !fields.is_empty(),
            order,
        };
        self.draft_parameters(&origin, &fields);
    }

    /// Actions for all ways in which something was called, or for what its signature tells.
    fn target(&mut self, target: &Target<'a>, calls: &[&'a Call]) {
        let at = target.at;
        let definition = at.definition;
        if at.function.flow == Flow::AsyncGenerator {
            self.comment_out(
                target,
                "gives an asynchronous generator, which needs a loop around it",
            );
            return;
        }
        if calls.is_empty() {
            let parameters = at.function.signature.parameters.get(target.skipped..);
            let origin = Origin {
                module: at.module,
                key: at.key(),
                callee: target.callee.clone(),
                role: Some(at.function.role),
                name: &definition.name,
                section: target.section,
                wrap: self.wrap(at, &[]),
                result: self.hinted_result(target),
                danger: self.texts.all(at.module, definition),
                exceptions: self.expected(at),
                is_record: false,
                order: target.order,
            };
            self.draft_parameters(&origin, parameters.unwrap_or_default());
            return;
        }
        self.draft_calls(target, calls);
    }

    fn wrap(&self, at: FunctionAt<'_>, calls: &[&Call]) -> Wrap {
        let is_context = at.definition.decorators.iter().any(|decorator| {
            let name = decorator.rsplit('.').next();
            name == Some("contextmanager")
        });
        // `list()` asks for the items anyway.
        let is_listed = matches!(at.definition.name.as_str(), "__iter__" | "__reversed__");
        match at.function.flow {
            Flow::Generator if is_context => Wrap::With,
            Flow::Generator if is_listed => Wrap::Nothing,
            Flow::Generator => {
                let is_open = |call: &&Call| call.outcome == Outcome::Unfinished;
                if calls.is_empty() || calls.iter().any(is_open) {
                    Wrap::Some
                } else {
                    Wrap::List
                }
            }
            Flow::Coroutine => Wrap::Run,
            Flow::Plain | Flow::AsyncGenerator => Wrap::Nothing,
        }
    }

    fn comment_out(&mut self, target: &Target<'a>, reason: &str) {
        let at = target.at;
        let parameters = at.function.signature.parameters.get(target.skipped..);
        let arguments = parameters.unwrap_or_default().iter();
        let arguments = arguments.filter(|parameter| parameter.default.is_none());
        self.actions.push(Action {
            callee: target
                .callee
                .clone()
                .into_callee(Some(at.function.role), &at.definition.name),
            arguments: arguments
                .map(|parameter| Argument {
                    keyword: None,
                    what: What::Text(parameter.name.clone()),
                    field: None,
                })
                .collect(),
            wrap: Wrap::Nothing,
            result: None,
            exceptions: Vec::new(),
            guard: None,
            note: String::new(),
            left_out: Some(format!("it {reason}")),
            section: target.section,
            order: target.order,
            calls: Vec::new(),
        });
    }
}

impl Named {
    fn into_callee(self, role: Option<Role>, name: &str) -> Callee {
        match self {
            Named::Text(text) | Named::New(_, text) => Callee::Named(text),
            Named::Of(class) => Callee::Of {
                class,
                role,
                name: name.to_owned(),
            },
        }
    }
}
