//! The parts that all actions of a model share: variables, constants, helpers, limits.

use std::cell::Cell;
use std::collections::BTreeMap;

use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use crate::explain::locate::{Callable, Parts, Start};
use crate::idiom::Vocabulary;
use crate::term::{CallTarget, CallTerm, NameReference, NameRole, NameScope, Term, Type};

/// Function that stands for `pre<(e)>` in the code that is read.
pub(crate) const EARLIER: &str = "__earlier__";

/// Function that stands for the first element of a filtered list, which has its own phrase (Y9).
pub(crate) const FIRST: &str = "__first__";

/// Limits of an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of outcomes of one action.
    pub outcomes: usize,
    /// Maximum depth of inlined helpers.
    pub depth: usize,
    /// Maximum number of statements that are executed for a whole model. A time limit would make
    /// the text depend on the machine.
    pub steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            outcomes: 64,
            depth: 5,
            steps: 200_000,
        }
    }
}

/// Parts that all actions of a model share.
pub(crate) struct World<'w> {
    pub(crate) parts: &'w Parts,
    /// Text of the module with its constants and helpers.
    pub(crate) text: &'w str,
    pub(crate) vocabulary: &'w Vocabulary,
    pub(crate) limits: Limits,
    /// Types of the variables, as far as they are known.
    pub(crate) types: BTreeMap<String, Type>,
    steps: Cell<usize>,
}

impl<'w> World<'w> {
    pub(crate) fn new(
        parts: &'w Parts,
        text: &'w str,
        vocabulary: &'w Vocabulary,
        limits: Limits,
    ) -> World<'w> {
        let mut world = World {
            parts,
            text,
            vocabulary,
            limits,
            types: BTreeMap::new(),
            steps: Cell::new(limits.steps),
        };
        for variable in &parts.state {
            let type_ = match &variable.start {
                Start::Value(value) | Start::Made(value, _) => {
                    world.constant_term(value, 0).type_of()
                }
                Start::Bundle => Type::list(),
                Start::Drawn(_) | Start::Nothing => Type::Unknown,
            };
            let type_ = match (type_, made_on_demand(&variable.start)) {
                // A variable that starts as `None` becomes something else later.
                (Type::Nothing, _) => Type::Unknown,
                (Type::Dictionary(key, _), Some(value)) => Type::Dictionary(key, Box::new(value)),
                (known, _) => known,
            };
            world.types.insert(variable.name.clone(), type_);
        }
        world.learn_elements();
        world
    }

    /// Returns a vocabulary for this model, whose patterns may use the names of its constants.
    pub(crate) fn vocabulary_of(
        parts: &Parts,
        text: &str,
        vocabulary: &Vocabulary,
        limits: Limits,
    ) -> Vocabulary {
        let world = World::new(parts, text, vocabulary, limits);
        vocabulary.with_constants(&|name| {
            if world.types.contains_key(name) {
                None
            } else {
                world.constant(name, 0)
            }
        })
    }

    /// Returns the meaning of the names of the module, and of attributes as `self.name`, before
    /// anything has happened.
    pub(crate) fn known(&self) -> BTreeMap<String, Term> {
        let remembered = self.types.keys().filter_map(|name| {
            let term = self.global(name, &BTreeMap::new())?;
            Some((format!("self.{name}"), term))
        });
        let constants = self.parts.constants.keys();
        let constants = constants.filter_map(|name| Some((name.clone(), self.constant(name, 0)?)));
        constants.chain(remembered).collect()
    }

    /// Counts one statement. Returns false if there were too many.
    pub(super) fn take_step(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }

    /// Returns the meaning of a name of the module.
    pub(crate) fn global(&self, name: &str, versions: &BTreeMap<String, u32>) -> Option<Term> {
        if let Some(type_) = self.types.get(name) {
            let version = versions.get(name).copied().unwrap_or_default();
            let reference = NameReference::new(name, NameRole::State { version });
            return Some(reference.with_type(type_.clone()).into());
        }
        self.constant(name, 0)
    }

    /// Returns the value of a constant, if it can be written down: a constant is replaced by its
    /// value (R7).
    pub(super) fn constant(&self, name: &str, depth: usize) -> Option<Term> {
        let value = self.parts.constants.get(name)?;
        if depth > self.limits.depth {
            return None;
        }
        let term = self.constant_term(value, depth);
        term.as_value().is_some().then_some(term)
    }

    /// Returns the value of a variable when the module was loaded.
    fn started(&self, name: &str, depth: usize) -> Option<Term> {
        let mut state = self.parts.state.iter();
        let variable = state.find(|variable| variable.name == name)?;
        let Start::Value(value) = &variable.start else {
            return None;
        };
        if depth > self.limits.depth || self.parts.is_machine {
            return None;
        }
        let term = self.constant_term(value, depth);
        term.as_value().is_some().then_some(term)
    }

    fn constant_term(&self, value: &Expression, depth: usize) -> Term {
        Term::from_expression(value, self.text, &ModuleConstants { world: self, depth })
            .evaluate_constant()
    }

    /// Returns the start value of a variable.
    pub(crate) fn start(&self, value: &Expression) -> Term {
        self.constant_term(value, 0)
    }

    /// Returns the helper that a call refers to, if it can be inlined (Y2): not an action, and
    /// without words of its own.
    pub(super) fn helper(&self, call: &CallTerm, receiver: Option<&str>) -> Option<&'w Callable> {
        let (key, name) = match &call.callee {
            CallTarget::Function { module: None, name } => (name.clone(), name),
            CallTarget::Method { object, name } => {
                let Term::Reference(object) = object else {
                    return None;
                };
                (Some(object.name.as_str()) == receiver).then_some(())?;
                (format!("self.{name}"), name)
            }
            _ => return None,
        };
        let is_action = self.parts.actions.iter().any(|one| one.does.name == *name);
        if is_action || self.vocabulary.has_words_for(name) {
            return None;
        }
        self.parts.helpers.get(&key)
    }

    /// Infers the types of elements from the statements that put values into collections.
    fn learn_elements(&mut self) {
        let parts = self.parts;
        let bodies = parts
            .helpers
            .values()
            .chain(parts.actions.iter().map(|action| &action.does));
        let mut found: Vec<(String, Type, bool)> = Vec::new();
        for callable in bodies {
            self.gather(&callable.body, &mut found);
        }
        for (name, element, is_entry) in found {
            let Some(known) = self.types.get_mut(&name) else {
                continue;
            };
            match known {
                Type::Dictionary(_, value) if is_entry && **value == Type::Unknown => {
                    **value = element;
                }
                Type::List(inner) | Type::Set(inner) if !is_entry && **inner == Type::Unknown => {
                    **inner = element;
                }
                _ => {}
            }
        }
    }

    fn gather(&self, body: &[Statement], found: &mut Vec<(String, Type, bool)>) {
        for statement in body {
            match &statement.kind {
                StatementKind::Assign { targets, value } => {
                    for target in targets {
                        if let ExpressionKind::Subscript { object, .. } = &target.kind {
                            found.extend(self.learnt(object, value, true));
                        }
                    }
                    self.gather_calls(value, found);
                }
                StatementKind::Expression(expression) | StatementKind::Return(Some(expression)) => {
                    self.gather_calls(expression, found)
                }
                StatementKind::If {
                    body, otherwise, ..
                }
                | StatementKind::For {
                    body, otherwise, ..
                }
                | StatementKind::While {
                    body, otherwise, ..
                } => {
                    self.gather(body, found);
                    self.gather(otherwise, found);
                }
                _ => {}
            }
        }
    }

    /// Collects calls such as `d.setdefault(k, [])` and `t.append([])`, and calls of their results.
    fn gather_calls(&self, expression: &Expression, found: &mut Vec<(String, Type, bool)>) {
        if let ExpressionKind::Call {
            function,
            arguments,
            ..
        } = &expression.kind
            && let ExpressionKind::Attribute { object, name } = &function.kind
        {
            found.extend(match (name.as_str(), arguments.as_slice()) {
                ("append" | "add", [value]) => self.learnt(object, value, false),
                ("setdefault", [_, value]) => self.learnt(object, value, true),
                _ => None,
            });
            self.gather_calls(object, found);
        }
    }

    /// Returns a variable, the type of a literal collection put into it, and true if it is put
    /// there as an entry.
    fn learnt(
        &self,
        target: &Expression,
        value: &Expression,
        is_entry: bool,
    ) -> Option<(String, Type, bool)> {
        let words = target.dotted_parts()?;
        let ([name] | ["self", name]) = words.as_slice() else {
            return None;
        };
        let type_ = self.constant_term(value, 0).type_of();
        let is_collection = type_.is_sized() && type_ != Type::Text;
        is_collection.then(|| ((*name).to_owned(), type_, is_entry))
    }
}

/// Returns the type of missing entries of `defaultdict(set)`.
fn made_on_demand(start: &Start) -> Option<Type> {
    let (Start::Value(value) | Start::Made(value, _)) = start else {
        return None;
    };
    let ExpressionKind::Call {
        function,
        arguments,
        ..
    } = &value.kind
    else {
        return None;
    };
    let [factory] = arguments.as_slice() else {
        return None;
    };
    (function.dotted_parts()?.last() == Some(&"defaultdict")).then_some(())?;
    Some(match factory.as_name()? {
        "list" | "deque" => Type::list(),
        "set" => Type::set(),
        "dict" => Type::dictionary(),
        "str" => Type::Text,
        "int" | "float" => Type::Number,
        "bool" => Type::Boolean,
        _ => return None,
    })
}

/// Scope with constants only.
struct ModuleConstants<'a, 'w> {
    world: &'a World<'w>,
    depth: usize,
}

impl NameScope for ModuleConstants<'_, '_> {
    fn resolve_name(&self, name: &str) -> Option<Term> {
        let started = || self.world.started(name, self.depth + 1);
        self.world.constant(name, self.depth + 1).or_else(started)
    }

    fn resolve_attribute(&self, object: &str, name: &str) -> Option<Term> {
        match object {
            "self" => {
                let constant = self.world.constant(&format!("self.{name}"), self.depth + 1);
                // A value that was set before is phrased like a state variable (R8).
                constant.or_else(|| self.world.global(name, &BTreeMap::new()))
            }
            _ => None,
        }
    }
}
