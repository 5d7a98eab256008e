//! Drafts actions from definitions and recorded calls.

mod from_calls;
mod from_signatures;
mod limits;

use std::collections::BTreeSet;

use super::action::{
    ActionArgument, ActionCallee, ArgumentSource, DraftAction, ResultUse, has_ordinary_syntax,
    is_receiver_last,
};
use super::calls::RecordedCalls;
use super::pools::{ValueRequests, free_name, pool_name};
use super::public_api::{LocatedClass, LocatedFunction, PublicApi};
use super::side_effects::SourceTexts;
use crate::inspect::{ClassKind, ExecutionKind, FunctionRole, SignatureParameter, is_public};
use crate::recording::{Call, CallOutcome, Receiver};
use crate::value::ImportPath;
use crate::write::ImportScope;
use from_signatures::SignatureTarget;

/// The state of drafting the actions of some modules.
pub(super) struct Drafter<'a> {
    /// The public API of the modules.
    pub(super) api: &'a PublicApi<'a>,
    /// The sources of the modules.
    pub(super) texts: SourceTexts<'a>,
    /// The recorded calls.
    pub(super) calls: RecordedCalls<'a>,
    /// The imports of the harness.
    pub(super) scope: ImportScope,
    /// The values that arguments need.
    pub(super) requests: ValueRequests,
    /// The classes with pools.
    pub(super) classes: Vec<PooledClass<'a>>,
    /// The actions so far.
    pub(super) actions: Vec<DraftAction<'a>>,
    /// The definitions that are still to be drafted, with their calls.
    pub(super) pending: Vec<(PendingDraft<'a>, Vec<&'a Call>)>,
}

/// A class whose objects are kept in a pool.
pub(super) struct PooledClass<'a> {
    /// The class.
    pub(super) class: LocatedClass<'a>,
    /// Its path.
    pub(super) reference: ImportPath,
    /// The name of its pool.
    pub(super) pool: String,
}

/// A definition that is to be drafted.
pub(super) enum PendingDraft<'a> {
    /// A function, method or constructor.
    Function(ApiTarget<'a>),
    /// A class whose constructor takes its fields.
    Record(usize),
}

/// A function, method or constructor, with the way in which it is called.
pub(super) struct ApiTarget<'a> {
    /// The function.
    function: LocatedFunction<'a>,
    /// The callee.
    callee: CalleeName,
    /// The class that it is listed under.
    section: Option<usize>,
    /// The number of leading parameters without arguments: `self`, `cls`.
    skipped: usize,
    /// Its position in the draft.
    position: usize,
}

/// The callee of a target.
#[derive(Clone)]
pub(super) enum CalleeName {
    /// A name.
    Text(String),
    /// An object of a class.
    Member(usize),
    /// The constructor of a class.
    Constructor(usize, String),
}

impl<'a> Drafter<'a> {
    /// Chooses the classes with pools.
    pub(super) fn choose_classes(&mut self) {
        let mut names = BTreeSet::new();
        for at in self.api.classes() {
            let reference = at.reference();
            let is_usable = self.api.is_public_definition(at.module, at.definition)
                && matches!(
                    at.class.kind,
                    ClassKind::Plain | ClassKind::Record | ClassKind::NamedTuple
                );
            let is_seen = self.calls.is_receiver(&reference) && at.class.kind != ClassKind::Enum;
            // Exceptions get a pool only if a method was called on one.
            if !(is_usable && !self.api.is_exception(&reference) || is_seen) {
                continue;
            }
            let pool = free_name(&pool_name(reference.name()), &mut names);
            self.classes.push(PooledClass {
                class: at,
                reference,
                pool,
            });
        }
    }

    /// Drafts everything in the public API.
    pub(super) fn draft_actions(&mut self) {
        for number in 0..self.classes.len() {
            self.draft_class(number);
        }
        for at in self.api.functions() {
            let reference = ImportPath::new(&at.module.name, &at.definition.qualified_name);
            let callee = CalleeName::Text(self.scope.reference(&reference).one_line());
            let calls = self.calls.calls_of(&at.key(), |_| true);
            let order = self.pending.len();
            let target = ApiTarget {
                function: at,
                callee,
                section: None,
                skipped: 0,
                position: order,
            };
            self.pending.push((PendingDraft::Function(target), calls));
        }
        // Definitions with recorded calls come first, because the others can use their values.
        let (seen, unseen): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pending)
            .into_iter()
            .enumerate()
            .partition(|(_, (_, calls))| !calls.is_empty());
        for (order, (pending, calls)) in seen.into_iter().chain(unseen) {
            match pending {
                PendingDraft::Function(target) => self.draft_target(&target, &calls),
                PendingDraft::Record(class) => self.draft_record(class, order),
            }
        }
        self.actions.sort_by_key(|action| action.position);
        self.guard_growth();
        self.leave_out_unreachable();
        for action in &self.actions {
            self.requests
                .count_uses(&action.requests(), action.comment_reason.is_none());
            if let (ActionCallee::Member { name, .. }, [only]) =
                (&action.callee, action.requests().as_slice())
                && is_receiver_last(name)
            {
                self.requests.mark_starts_action(*only);
            }
        }
    }

    /// Adds the constructor and the methods of a class.
    fn draft_class(&mut self, number: usize) {
        let Some((reference, at)) = self
            .classes
            .get(number)
            .map(|class| (class.reference.clone(), class.class))
        else {
            return;
        };
        let methods = self.api.methods(&reference);
        self.draft_constructor(number, &reference, at, &methods);
        for method in methods {
            let definition = method.definition;
            if !is_public(&definition.name) || !has_ordinary_syntax(&definition.name) {
                continue;
            }
            let key = method.key();
            let (callee, skipped, calls) = match method.function.role {
                FunctionRole::StaticMethod => {
                    let is_own = definition.qualified_name
                        == format!("{}.{}", at.definition.qualified_name, definition.name);
                    if !is_own {
                        continue;
                    }
                    (
                        self.class_callee(&reference, &definition.name),
                        0,
                        self.calls.calls_of(&key, |_| true),
                    )
                }
                FunctionRole::ClassMethod => {
                    let is_included = |call: &Call| matches!(&call.receiver, Receiver::Class(class) if self.calls.is_same_class(class, &reference));
                    let calls = self.calls.calls_of(&key, is_included);
                    (self.class_callee(&reference, &definition.name), 1, calls)
                }
                _ => {
                    let is_included = |call: &Call| matches!(&call.receiver, Receiver::Instance(class) if self.calls.is_same_class(class, &reference));
                    (
                        CalleeName::Member(number),
                        1,
                        self.calls.calls_of(&key, is_included),
                    )
                }
            };
            // Inherited methods are drafted once, with the class that defines them.
            let is_inherited = method.module.name != at.module.name
                || !definition
                    .qualified_name
                    .starts_with(&format!("{}.", at.definition.qualified_name));
            let is_elsewhere = self.classes.iter().any(|class| {
                class.class.module.name == method.module.name
                    && definition.qualified_name
                        == format!(
                            "{}.{}",
                            class.class.definition.qualified_name, definition.name
                        )
            });
            if calls.is_empty() && is_inherited && is_elsewhere {
                continue;
            }
            let target = ApiTarget {
                function: method,
                callee,
                section: Some(number),
                skipped,
                position: self.pending.len(),
            };
            self.pending.push((PendingDraft::Function(target), calls));
        }
    }

    /// Returns the callee for a static or class method.
    fn class_callee(&mut self, class: &ImportPath, name: &str) -> CalleeName {
        let class = self.scope.reference(class).one_line();
        CalleeName::Text(format!("{class}.{name}"))
    }

    /// Adds the constructor of a class.
    fn draft_constructor(
        &mut self,
        number: usize,
        reference: &ImportPath,
        at: LocatedClass<'a>,
        methods: &[LocatedFunction<'a>],
    ) {
        if at.class.kind == ClassKind::Abstract {
            return;
        }
        let class = self.scope.reference(reference).one_line();
        let named = |name: &str| methods.iter().find(|method| method.definition.name == name);
        let callee = CalleeName::Constructor(number, class);
        if let Some(init) = named("__init__").or_else(|| named("__new__")).copied() {
            let is_new = |call: &Call| {
                let class = match &call.receiver {
                    Receiver::Instance(class) | Receiver::Class(class) => class,
                    Receiver::None => return false,
                };
                self.calls.is_same_class(class, reference) && !call.is_from_own_method
            };
            let calls = self.calls.calls_of(&init.key(), is_new);
            let target = ApiTarget {
                function: init,
                callee,
                section: Some(number),
                skipped: 1,
                position: self.pending.len(),
            };
            self.pending.push((PendingDraft::Function(target), calls));
            return;
        }
        self.pending
            .push((PendingDraft::Record(number), Vec::new()));
    }

    /// Drafts the constructor of a class that does not define one: it takes the fields of a record,
    /// or nothing.
    fn draft_record(&mut self, number: usize, order: usize) {
        let Some(PooledClass {
            class: at,
            reference,
            ..
        }) = self.classes.get(number)
        else {
            return;
        };
        let (at, reference) = (*at, reference.clone());
        let family = self.api.class_and_bases(&reference);
        let is_record = |at: &LocatedClass<'_>| {
            matches!(at.class.kind, ClassKind::Record | ClassKind::NamedTuple)
        };
        let fields: Vec<SignatureParameter> = if family.iter().any(is_record) {
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
            let request = self.requests.find_or_add(&key, &field.name);
            for sample in self
                .calls
                .field_samples(&reference, &field.name, &mut self.scope)
            {
                self.requests.add_recorded(request, sample);
            }
        }
        let unknown = self.api.unknown_bases(&reference);
        let inherited = unknown
            .first()
            .map(|base| format!("takes what `{base}` takes, which is not known here"));
        let class = self.scope.reference(&reference).one_line();
        let origin = SignatureTarget {
            module: at.module,
            key,
            callee: CalleeName::Constructor(number, class),
            role: None,
            name: "__init__",
            section: Some(number),
            result_use: ResultUse::Unchanged,
            result: None,
            effect: inherited.filter(|_| fields.is_empty()),
            exceptions: Vec::new(),
            is_record: !fields.is_empty(),
            order,
        };
        self.draft_parameters(&origin, &fields);
    }

    /// Drafts actions for all forms in which something was called, or for its signature.
    fn draft_target(&mut self, target: &ApiTarget<'a>, calls: &[&'a Call]) {
        let at = target.function;
        let definition = at.definition;
        if at.function.execution == ExecutionKind::AsyncGenerator {
            self.add_commented_out(
                target,
                "gives an asynchronous generator, which needs a loop around it",
            );
            return;
        }
        if calls.is_empty() {
            let parameters = at.function.signature.parameters.get(target.skipped..);
            let origin = SignatureTarget {
                module: at.module,
                key: at.key(),
                callee: target.callee.clone(),
                role: Some(at.function.role),
                name: &definition.name,
                section: target.section,
                result_use: self.result_use(at, &[]),
                result: self.hinted_result(target),
                effect: self.texts.reachable_effect(at.module, definition),
                exceptions: self.expected_exceptions(at),
                is_record: false,
                order: target.position,
            };
            self.draft_parameters(&origin, parameters.unwrap_or_default());
            return;
        }
        self.draft_calls(target, calls);
    }

    /// Returns the use of a function's result.
    fn result_use(&self, at: LocatedFunction<'_>, calls: &[&Call]) -> ResultUse {
        let is_context = at.definition.decorators.iter().any(|decorator| {
            let name = decorator.rsplit('.').next();
            name == Some("contextmanager")
        });
        // `list()` iterates anyway.
        let is_listed = matches!(at.definition.name.as_str(), "__iter__" | "__reversed__");
        match at.function.execution {
            ExecutionKind::Generator if is_context => ResultUse::EnterContext,
            ExecutionKind::Generator if is_listed => ResultUse::Unchanged,
            ExecutionKind::Generator => {
                let is_open = |call: &&Call| call.outcome == CallOutcome::Unfinished;
                if calls.is_empty() || calls.iter().any(is_open) {
                    ResultUse::TakeItems
                } else {
                    ResultUse::Exhaust
                }
            }
            ExecutionKind::Coroutine => ResultUse::RunCoroutine,
            ExecutionKind::Plain | ExecutionKind::AsyncGenerator => ResultUse::Unchanged,
        }
    }

    /// Adds an action that is commented out for a reason.
    fn add_commented_out(&mut self, target: &ApiTarget<'a>, reason: &str) {
        let at = target.function;
        let parameters = at.function.signature.parameters.get(target.skipped..);
        let arguments = parameters.unwrap_or_default().iter();
        let arguments = arguments.filter(|parameter| parameter.default.is_none());
        self.actions.push(DraftAction {
            callee: target
                .callee
                .clone()
                .into_callee(Some(at.function.role), &at.definition.name),
            arguments: arguments
                .map(|parameter| ActionArgument {
                    keyword: None,
                    source: ArgumentSource::Text(parameter.name.clone()),
                    field: None,
                })
                .collect(),
            result_use: ResultUse::Unchanged,
            result: None,
            exceptions: Vec::new(),
            guard: None,
            note: String::new(),
            comment_reason: Some(format!("it {reason}")),
            section: target.section,
            position: target.position,
            calls: Vec::new(),
        });
    }
}

impl CalleeName {
    /// Converts the callee for an action.
    fn into_callee(self, role: Option<FunctionRole>, name: &str) -> ActionCallee {
        match self {
            CalleeName::Text(text) | CalleeName::Constructor(_, text) => ActionCallee::Named(text),
            CalleeName::Member(class) => ActionCallee::Member {
                class,
                role,
                name: name.to_owned(),
            },
        }
    }
}
