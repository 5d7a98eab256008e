//! From definitions and recorded calls to actions.

use std::collections::{BTreeMap, BTreeSet};

use testwright_source::tree::ParameterKind;

use super::action::{Action, Argument, Callee, What, Wrap, is_operator, is_said};
use super::calls::{Calls, Shape, Shaped};
use super::danger::{self, Texts};
use super::guard;
use super::hint::{Hinted, Hints};
use super::pools::{Wishes, free_name, pool_name};
use super::surface::{ClassAt, FunctionAt, Surface};
use crate::inspect::{Flow, Module, Nature, Parameter, Role, is_public};
use crate::recording::{Call, Outcome, Receiver, StepOutcome};
use crate::value::{Reference, Value};
use crate::write::Scope;

/// How many ways to call something become actions.
const MOST_SHAPES: usize = 16;

/// How many classes an argument may be of.
const MOST_CLASSES: usize = 3;

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
                && matches!(at.class.nature, Nature::Plain | Nature::Record | Nature::NamedTuple);
            let is_seen = self.calls.is_receiver(&reference) && at.class.nature != Nature::Enum;
            if !(is_usable || is_seen) || self.surface.is_exception(&reference) {
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
            self.wishes.used(&action.wishes(), action.left_out.is_none());
        }
    }

    fn class(&mut self, number: usize) {
        let Some((reference, at)) = self.classes.get(number).map(|class| (class.reference.clone(), class.at)) else {
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
                    (self.of_class(&reference, &definition.name), 0, self.calls.of(&key, |_| true))
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
                || !definition.qualified_name.starts_with(&format!("{}.", at.definition.qualified_name));
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
        let is_record = |at: &ClassAt<'_>| matches!(at.class.nature, Nature::Record | Nature::NamedTuple);
        let fields: Vec<Parameter> = match family.iter().any(is_record) {
            true => family.iter().rev().flat_map(|at| &at.class.fields).cloned().collect(),
            false => Vec::new(),
        };
        let key = (at.module.name.clone(), at.definition.first_line);
        for field in &fields {
            let wish = self.wishes.of(&key, &field.name);
            for sample in self.calls.field_samples(&reference, &field.name, &mut self.scope) {
                self.wishes.seen(wish, sample);
            }
        }
        let unknown = self.surface.unknown_bases(&reference);
        let inherited = unknown.first().map(|base| format!("takes what `{base}` takes, which is not known here"));
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
        self.from_parameters(&origin, &fields);
    }

    /// Actions for all ways in which something was called, or for what its signature tells.
    fn target(&mut self, target: &Target<'a>, calls: &[&'a Call]) {
        let at = target.at;
        let definition = at.definition;
        if at.function.flow == Flow::AsyncGenerator {
            self.comment_out(target, "gives an asynchronous generator, which needs a loop around it");
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
            self.from_parameters(&origin, parameters.unwrap_or_default());
            return;
        }
        self.from_calls(target, calls);
    }

    fn from_calls(&mut self, target: &Target<'a>, calls: &[&'a Call]) {
        let at = target.at;
        let danger = calls
            .iter()
            .find_map(|call| danger::seen(call))
            .or_else(|| self.texts.own(at.module, at.definition));
        let (shapes, unsayable) = self.shapes(target, calls);
        self.add_hints(target);
        if let (true, Some(reason)) = (shapes.is_empty(), &unsayable) {
            let reason = format!("needs what cannot be written here: {reason}");
            self.comment_out(target, &danger.unwrap_or(reason));
            return;
        }
        let others = match target.callee {
            Named::Of(class) => self.calls.on(self.classes.get(class).map(|class| &class.reference)),
            _ => Vec::new(),
        };
        // Only if it gives nothing else, however it is called.
        let result = self.result(target, calls);
        let is_only = shapes.len() == 1;
        let total = self.calls.count(&at.key());
        let mut shapes: Vec<(Shape, Vec<&'a Call>)> = shapes.into_iter().collect();
        // Ways that were seen often come first, then short ones.
        shapes.sort_by_key(|(shape, calls)| (std::cmp::Reverse(calls.len()), shape.arguments.len()));
        shapes.truncate(MOST_SHAPES);
        shapes.sort_by_key(|(shape, _)| shape.arguments.len());
        for (shape, calls) in shapes {
            let times = match is_only {
                true => total.max(calls.len() as u64),
                false => calls.len() as u64,
            };
            let guard = match (&target.callee, at.function.role) {
                (Named::Of(_), Role::Method) => guard::observed(&calls, &others),
                _ => None,
            };
            let (exceptions, raised) = self.exceptions(&calls);
            let mut note = format!("seen {}", times_word(times));
            for (name, times) in raised {
                let name = name.rsplit('.').next().unwrap_or(&name);
                note.push_str(&format!(", raised {name} {}", times_word(times)));
            }
            if guard.is_some() {
                note.push_str("; the guard was observed, not proved");
            }
            let wrap = self.wrap(at, &calls);
            let result = result.filter(|_| wrap == Wrap::Nothing);
            let arguments = shape.arguments.into_iter();
            self.actions.push(Action {
                callee: target.callee.clone().into_callee(Some(at.function.role), &at.definition.name),
                arguments: arguments
                    .map(|(keyword, what)| Argument {
                        keyword,
                        what,
                        field: None,
                    })
                    .collect(),
                wrap,
                result,
                exceptions,
                guard,
                note,
                left_out: danger.clone().map(|danger| format!("it {danger}")),
                section: target.section,
                order: target.order,
                calls,
            });
        }
    }

    /// The ways in which something was called, with the calls; and why some calls cannot be written.
    fn shapes(
        &mut self,
        target: &Target<'a>,
        calls: &[&'a Call],
    ) -> (BTreeMap<Shape, Vec<&'a Call>>, Option<String>) {
        let key = target.at.key();
        let mut shapes: BTreeMap<Shape, Vec<&'a Call>> = BTreeMap::new();
        let mut unsayable = None;
        for call in calls {
            let classes = &self.classes;
            let class_of = |class: &Reference| classes.iter().position(|known| known.reference == *class);
            match self.calls.shaped(call, target.skipped, &mut self.scope, class_of) {
                Ok(Shaped { arguments }) => {
                    let mut shape = Shape::default();
                    for argument in arguments {
                        let what = match argument.sample {
                            Some(sample) => {
                                let wish = self.wishes.of(&key, argument.parameter);
                                self.wishes.seen(wish, sample);
                                What::Wish(wish)
                            }
                            None => argument.what,
                        };
                        shape.arguments.push((argument.keyword.map(str::to_owned), what));
                    }
                    shapes.entry(shape).or_default().push(call);
                }
                Err(reason) => unsayable = Some(reason.0),
            }
        }
        (shapes, unsayable)
    }

    /// To values that were seen, those are added that hints and defaults speak of.
    fn add_hints(&mut self, target: &Target<'a>) {
        let at = target.at;
        for parameter in &at.function.signature.parameters {
            if let Some(wish) = self.wishes.known(&at.key(), &parameter.name)
                && let Some(hinted) = self.hint(at.module, parameter)
            {
                self.wishes.hinted(wish, &hinted);
            }
        }
    }

    fn hint(&mut self, module: &'a Module, parameter: &Parameter) -> Option<Hinted> {
        let mut hints = Hints {
            surface: self.surface,
            module,
            scope: &mut self.scope,
        };
        let annotated = parameter.annotation.as_deref();
        let annotated = annotated.and_then(|text| hints.annotation(text));
        annotated.or_else(|| hints.default(parameter.default.as_ref()?))
    }

    /// The exceptions of some calls as a harness names them, and how often each was raised.
    fn exceptions(&mut self, calls: &[&Call]) -> (Vec<String>, Vec<(String, u64)>) {
        let mut raised: Vec<(String, u64)> = Vec::new();
        for call in calls {
            let in_steps = call.steps.iter().filter_map(|step| match step.outcome {
                StepOutcome::Raised(node) => Some(node),
                _ => None,
            });
            let at_end = match call.outcome {
                Outcome::Raised { exception, .. } => Some(exception),
                _ => None,
            };
            // Who closes a generator raises something in it, and nobody notices.
            if let Some(node) = in_steps.chain(at_end).next()
                && let Value::Exception(exception) = call.values.value(node)
                && exception.class.name() != "GeneratorExit"
            {
                let name = match exception.is_importable {
                    true => self.scope.reference(&exception.class).flat(),
                    false => "Exception".to_owned(),
                };
                match raised.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, times)) => *times += 1,
                    None => raised.push((name, 1)),
                }
            }
        }
        let mut names: Vec<String> = raised.iter().map(|(name, _)| name.clone()).collect();
        let reads_files = calls.iter().any(|call| danger::reads_files(call));
        if reads_files && !names.iter().any(|name| name == "OSError") {
            names.push("OSError".to_owned());
        }
        (names, raised)
    }

    /// The class whose pool takes the results of some calls: all of them are new objects of it, or `None`.
    fn result(&self, target: &Target<'a>, calls: &[&Call]) -> Option<usize> {
        if let Named::New(class, _) = target.callee {
            return Some(class);
        }
        let mut found = None;
        for call in calls {
            let Outcome::Returned(result) = call.outcome else {
                continue;
            };
            let class = match call.values.value(result) {
                Value::None => continue,
                Value::Object(object) => &object.class,
                _ => return None,
            };
            let class = self.classes.iter().position(|known| self.calls.is(class, &known.reference))?;
            let object = call.values.object(result);
            let is_given = call.arguments.iter().any(|argument| call.values.object(argument.before) == object);
            if is_given || found.is_some_and(|found| found != class) {
                return None;
            }
            found = Some(class);
        }
        found
    }

    /// The same by the annotation.
    fn hinted_result(&mut self, target: &Target<'a>) -> Option<usize> {
        if let Named::New(class, _) = target.callee {
            return Some(class);
        }
        let returns = target.at.function.signature.returns.as_deref()?;
        if let ("Self" | "typing.Self", Named::Of(class)) = (returns, &target.callee) {
            return Some(*class);
        }
        let mut hints = Hints {
            surface: self.surface,
            module: target.at.module,
            scope: &mut self.scope,
        };
        let hinted = hints.annotation(returns)?;
        let [class] = hinted.classes.as_slice() else {
            return None;
        };
        self.classes.iter().position(|known| known.reference == *class)
    }

    /// What something that was never called raises without being wrong.
    fn expected(&self, at: FunctionAt<'a>) -> Vec<String> {
        let mut names = Vec::new();
        if at.definition.name == "__next__" {
            names.push("StopIteration".to_owned());
        }
        if self.texts.opens_files(at.module, at.definition) {
            names.push("OSError".to_owned());
        }
        names
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
                match calls.is_empty() || calls.iter().any(is_open) {
                    true => Wrap::Some,
                    false => Wrap::List,
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
            callee: target.callee.clone().into_callee(Some(at.function.role), &at.definition.name),
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

    /// Actions for something of which only the signature is known: with what it needs, and with all that it takes.
    fn from_parameters(&mut self, origin: &Origin<'a, '_>, parameters: &[Parameter]) {
        let mut needed: Vec<Argument> = Vec::new();
        let mut further: Vec<Argument> = Vec::new();
        let mut missing: Vec<String> = Vec::new();
        for parameter in parameters {
            let is_many = matches!(parameter.kind, ParameterKind::Variadic | ParameterKind::KeywordVariadic);
            if is_many {
                continue;
            }
            let is_optional = parameter.default.is_some();
            let is_named = is_optional || parameter.kind == ParameterKind::KeywordOnly;
            let keyword = is_named.then(|| parameter.name.clone());
            let keyword = keyword.filter(|_| parameter.kind != ParameterKind::PositionalOnly);
            let field = origin.is_record.then(|| parameter.name.clone());
            let list = if is_optional { &mut further } else { &mut needed };
            match self.hinted_argument(origin, parameter) {
                Some(what) => list.push(Argument { keyword, what, field }),
                None if is_optional => {}
                None => {
                    missing.push(parameter.name.clone());
                    let what = What::Text(parameter.name.clone());
                    list.push(Argument { keyword, what, field });
                }
            }
        }
        let left_out = match (missing.as_slice(), &origin.danger) {
            ([], None) => None,
            ([], Some(danger)) => Some(format!("it {danger}")),
            (missing, _) => Some(format!("nothing is known about {}: no call was seen, and no type hint tells", listed(missing))),
        };
        let whole: Vec<Argument> = needed
            .iter()
            .chain(&further)
            .map(|argument| Argument {
                keyword: argument.keyword.clone(),
                what: argument.what.clone(),
                field: argument.field.clone(),
            })
            .collect();
        let is_both = !further.is_empty() && missing.is_empty();
        for arguments in std::iter::once(needed).chain(is_both.then_some(whole)) {
            let result = match origin.callee {
                Named::New(class, _) => Some(class),
                _ => origin.result.filter(|_| origin.wrap == Wrap::Nothing),
            };
            self.actions.push(Action {
                callee: origin.callee.clone().into_callee(origin.role, origin.name),
                arguments,
                wrap: origin.wrap,
                result,
                exceptions: origin.exceptions.clone(),
                guard: None,
                note: match origin.is_record {
                    true => "from its fields".to_owned(),
                    false => "from its signature".to_owned(),
                },
                left_out: left_out.clone(),
                section: origin.section,
                order: origin.order,
                calls: Vec::new(),
            });
        }
    }

    fn hinted_argument(&mut self, origin: &Origin<'a, '_>, parameter: &Parameter) -> Option<What> {
        let hinted = self.hint(origin.module, parameter);
        let wish = self.wishes.known(&origin.key, &parameter.name);
        if let Some(wish) = wish.filter(|wish| self.wishes.was_seen(*wish)) {
            if let Some(hinted) = &hinted {
                self.wishes.hinted(wish, hinted);
            }
            return Some(What::Wish(wish));
        }
        if hinted.is_none() && !is_operator(origin.name) {
            // What other parameters of the same name were given is a good guess, and so is a class of that name.
            let borrowed = self.wishes.borrowed(&origin.key, &parameter.name);
            let name = pool_name(&parameter.name);
            let class = || self.classes.iter().position(|class| class.pool == name);
            return borrowed.map(What::Wish).or_else(|| class().map(What::Object));
        }
        if hinted.is_none() && let (Named::Of(class), true) = (&origin.callee, is_operator(origin.name)) {
            return Some(What::Object(*class));
        }
        let hinted = hinted?;
        let accepted = hinted.classes.iter().find_map(|class| self.accepted(class).first().copied());
        if let Some(class) = accepted {
            return Some(What::Object(class));
        }
        if hinted.samples.is_empty() {
            return hinted.or_none.then(|| What::Text("None".to_owned()));
        }
        let wish = self.wishes.of(&origin.key, &parameter.name);
        self.wishes.hinted(wish, &hinted);
        Some(What::Wish(wish))
    }

    /// The classes with pools whose objects are objects of a class.
    fn accepted(&self, class: &Reference) -> Vec<usize> {
        let is_heir = |known: &PooledClass<'_>| {
            let family = self.surface.family(&known.reference);
            family.iter().any(|at| at.reference() == *class) && known.at.class.nature != Nature::Abstract
        };
        let numbered = self.classes.iter().enumerate();
        numbered
            .filter(|(_, known)| is_heir(known))
            .map(|(number, _)| number)
            .take(MOST_CLASSES)
            .collect()
    }

    /// What is added to itself, or multiplied, grows without end.
    fn keep_small(&mut self) {
        let sized: BTreeSet<usize> = (0..self.classes.len())
            .filter(|number| {
                let class = self.classes.get(*number).map(|class| &class.reference);
                let methods = class.map(|class| self.surface.methods(class)).unwrap_or_default();
                methods.iter().any(|method| method.definition.name == "__len__")
            })
            .collect();
        for action in &mut self.actions {
            let Callee::Of { class, name, .. } = &action.callee else {
                continue;
            };
            let is_doubled = action.arguments.iter().any(|argument| argument.what == What::Object(*class));
            let grows = matches!(name.as_str(), "__add__" | "__iadd__" | "__radd__" | "__mul__" | "__imul__" | "__rmul__");
            let compares = matches!(name.as_str(), "__eq__" | "__ne__" | "__lt__" | "__le__" | "__gt__" | "__ge__" | "__contains__");
            if sized.contains(class) && (grows || is_doubled) && !compares {
                action.guard = Some(guard::against_growth());
                action.note.push_str("; kept small");
            }
        }
    }

    /// An action that needs an object which no action makes can never be taken.
    fn leave_out_what_nothing_makes(&mut self) {
        loop {
            let made: BTreeSet<usize> = self
                .actions
                .iter()
                .filter(|action| action.left_out.is_none())
                // Something that only makes objects from objects of the same class does not begin.
                .filter(|action| !action.result.is_some_and(|class| action.needs().contains(&class)))
                .filter_map(|action| action.result)
                .collect();
            let mut changed = false;
            for action in &mut self.actions {
                let lacking = action.needs().into_iter().find(|class| !made.contains(class));
                if let (None, Some(class)) = (&action.left_out, lacking) {
                    let name = self.classes.get(class).map_or("", |class| class.reference.name());
                    action.left_out = Some(format!("nothing here makes an object of `{name}`"));
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}

/// Something of which only the signature is known.
struct Origin<'a, 'n> {
    module: &'a Module,
    key: super::surface::Key,
    callee: Named,
    role: Option<Role>,
    name: &'n str,
    section: Option<usize>,
    wrap: Wrap,
    result: Option<usize>,
    danger: Option<String>,
    exceptions: Vec<String>,
    is_record: bool,
    order: usize,
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

/// `once`, `twice`, `12 times`.
fn times_word(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{times} times"),
    }
}

/// `a`, `a and b`, `a, b and c`, each in quotes.
fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
