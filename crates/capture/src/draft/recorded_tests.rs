//! Recorded calls as saved tests, which repeat them with the actions of the draft.
//!
//! A test is the history of some objects, from the first that was created: all calls on them by
//! code outside of the modules, in order. It ends at a call that cannot be repeated or was not
//! kept, because from there on the objects would be in another state.

use std::collections::{BTreeMap, BTreeSet};

use super::action::{ActionCallee, ArgumentSource, DraftAction};
use super::calls::{RecordedCalls, ShapedArgument};
use super::drafter::PooledClass;
use super::pools::{ArgumentValues, DraftPools, ValueRequestId};
use super::sample::Sample;
use crate::recording::{Call, CallId, CallOutcome};
use crate::value::{ImportPath, NodeId, ObjectId};
use crate::write::ImportScope;

/// The maximum number of tests.
const MAX_TESTS: usize = 40;
/// The maximum number of steps in a test.
const MAX_STEPS: usize = 60;
/// The maximum number of objects of a class in a test.
const MAX_OBJECTS: usize = 4;

/// The maximum number of unrelated calls in one test.
const MAX_UNRELATED_CALLS: usize = 10;

/// The saved tests, with numbers for the report.
#[derive(Default)]
pub(super) struct RecordedTests {
    /// The steps of each test.
    pub(super) tests: Vec<Vec<String>>,
    /// The number of calls in them.
    pub(super) replayed_calls: usize,
    /// The number of calls that could not be repeated.
    pub(super) skipped: usize,
    /// The maximum number of objects in use at once, by class.
    pub(super) objects: BTreeMap<usize, usize>,
}

/// A writer of saved tests.
pub(super) struct TestDrafter<'a, 't> {
    /// The recorded calls.
    pub(super) calls: &'t RecordedCalls<'a>,
    /// The classes with pools.
    pub(super) classes: &'t [PooledClass<'a>],
    /// The actions of the draft.
    pub(super) actions: &'t [DraftAction<'a>],
    /// The pools of the draft.
    pub(super) pools: &'t DraftPools,
    /// The imports of the harness.
    pub(super) scope: &'t mut ImportScope,
}

impl<'a> TestDrafter<'a, '_> {
    /// Repeats all calls that can be repeated.
    pub(super) fn draft_tests(&mut self) -> RecordedTests {
        let mut action_of: BTreeMap<(u32, CallId), usize> = BTreeMap::new();
        for (number, action) in self.actions.iter().enumerate() {
            for call in action
                .calls
                .iter()
                .filter(|_| action.comment_reason.is_none())
            {
                action_of.insert((call.execution, call.id), number);
            }
        }
        let mut drafted = RecordedTests::default();
        let mut known = BTreeSet::new();
        for group in self.groups() {
            let mut test = TestDraft::default();
            for call in &group {
                let action = action_of.get(&(call.execution, call.id));
                let action = action.and_then(|number| self.actions.get(*number));
                let is_short = test.steps.len() < MAX_STEPS;
                if action
                    .filter(|_| is_short)
                    .and_then(|action| self.add_call(&mut test, action, call))
                    .is_none()
                {
                    // A call without objects does not affect the following ones.
                    if !self.objects(call).is_empty() {
                        break;
                    }
                }
            }
            let is_new = !test.steps.is_empty() && known.insert(test.steps.clone());
            if is_new && drafted.tests.len() < MAX_TESTS {
                drafted.replayed_calls += test.calls;
                drafted.skipped += group.len() - test.calls;
                drafted.tests.push(test.steps);
                for (class, number) in test.slots_used {
                    let max = drafted.objects.entry(class).or_default();
                    *max = number.max(*max);
                }
            } else {
                drafted.skipped += group.len();
            }
        }
        drafted
    }

    /// Groups calls that involve the same objects.
    fn groups(&self) -> Vec<Vec<&'a Call>> {
        let mut groups: Vec<CallGroup<'a>> = Vec::new();
        for call in self.calls.calls_from_outside() {
            let objects = self.objects(call).into_iter();
            let mut whole = CallGroup {
                objects: objects.map(|object| (call.execution, object)).collect(),
                calls: vec![call],
            };
            if whole.objects.is_empty() {
                let index = groups.iter().position(|group| group.has_room_for(call));
                match index.and_then(|index| groups.get_mut(index)) {
                    Some(group) => group.calls.push(call),
                    None => groups.push(whole),
                }
                continue;
            }
            let (joined, others): (Vec<_>, Vec<_>) = groups
                .into_iter()
                .partition(|group| !group.objects.is_disjoint(&whole.objects));
            groups = others;
            for group in joined {
                whole.objects.extend(group.objects);
                whole.calls.extend(group.calls);
            }
            whole.calls.sort_by_key(|call| (call.execution, call.id));
            groups.push(whole);
        }
        let mut groups: Vec<Vec<&Call>> = groups.into_iter().map(|group| group.calls).collect();
        groups.sort_by_key(|calls| calls.first().map(|call| (call.execution, call.id)));
        groups
    }

    /// Returns the objects of classes with pools that a call involves.
    fn objects(&self, call: &Call) -> Vec<ObjectId> {
        let result = match call.outcome {
            CallOutcome::Returned(node) => Some(node),
            _ => None,
        };
        let nodes = call
            .arguments
            .iter()
            .map(|argument| argument.before)
            .chain(result);
        nodes
            .filter(|node| self.class_at(call, *node).is_some())
            .filter_map(|node| call.values.object(node))
            .collect()
    }

    /// Returns the class of a value, if it has a pool.
    fn class_at(&self, call: &Call, node: NodeId) -> Option<usize> {
        match call.values.value(node) {
            crate::Value::Object(object) => {
                let is_it = |known: &PooledClass<'_>| {
                    self.calls.is_same_class(&object.class, &known.reference)
                };
                self.classes.iter().position(is_it)
            }
            _ => None,
        }
    }

    /// Adds the steps of one call; `None` if it cannot be repeated.
    fn add_call(
        &mut self,
        test: &mut TestDraft<'a>,
        action: &DraftAction<'a>,
        call: &'a Call,
    ) -> Option<()> {
        let classes = self.classes;
        let class_of =
            |class: &ImportPath| classes.iter().position(|known| known.reference == *class);
        let own = call.arguments.first();
        let skipped = usize::from(!matches!(call.receiver, crate::Receiver::None));
        let shaped = self
            .calls
            .shape_call(call, skipped, self.scope, class_of)
            .ok()?;
        let receiver = match action.callee {
            ActionCallee::Member { .. } => test.slot_of(call, own?.before)?,
            ActionCallee::Named(_) => String::new(),
        };
        let mut steps = Vec::new();
        let mut slots: BTreeMap<usize, usize> = BTreeMap::new();
        let mut texts = Vec::new();
        for (argument, shaped_argument) in action.arguments.iter().zip(&shaped.arguments) {
            texts.push(match &argument.source {
                ArgumentSource::Text(text) => text.clone(),
                ArgumentSource::Object(class) => {
                    self.object_slot(test, call, *class, shaped_argument.node)?
                }
                ArgumentSource::Request(request) => self.value_code(
                    *request,
                    argument_code(shaped_argument)?,
                    &mut slots,
                    &mut steps,
                )?,
            });
        }
        let mut statement = action.statement(&receiver, &texts);
        if let Some(class) = action.result {
            let made = match (&call.outcome, own) {
                (_, Some(own)) if is_construction(action, call) => own.after,
                (CallOutcome::Returned(node), _) => Some(*node),
                _ => None,
            };
            let number = test.objects_made.entry(class).or_default();
            if *number >= MAX_OBJECTS {
                return None;
            }
            let slot = format!("{}{number}", classes.get(class)?.pool);
            // A call that fails still names a slot.
            let used = test.slots_used.entry(class).or_default();
            *used = (*used).max(*number + 1);
            if let Some(object) = made.and_then(|node| call.values.object(node)) {
                *number += 1;
                test.slots.insert(object, slot.clone());
            }
            statement = format!("{slot} = {statement}");
        }
        test.steps.extend(steps);
        test.steps.push(statement);
        test.calls += 1;
        let nodes = call.arguments.iter().filter_map(|argument| argument.after);
        let result = match call.outcome {
            CallOutcome::Returned(node) => Some(node),
            _ => None,
        };
        for node in nodes.chain(result) {
            if let Some(object) = call.values.object(node) {
                test.states.insert(object, (call, node));
            }
        }
        Some(())
    }
}

impl<'a> TestDrafter<'a, '_> {
    /// Returns the slot of an object. A record without a recorded creation is created from its
    /// fields.
    fn object_slot(
        &mut self,
        test: &mut TestDraft<'a>,
        call: &'a Call,
        class: usize,
        node: NodeId,
    ) -> Option<String> {
        let object = call.values.object(node)?;
        if test.slots.contains_key(&object) {
            return test.slot_of(call, node);
        }
        let crate::Value::Object(record) = call.values.value(node) else {
            return None;
        };
        let is_whole = |action: &&DraftAction<'_>| {
            let names: BTreeSet<&str> = action
                .arguments
                .iter()
                .filter_map(|argument| argument.field.as_deref())
                .collect();
            let is_field = |(name, _): &(String, NodeId)| names.contains(name.as_str());
            action.result == Some(class)
                && action.comment_reason.is_none()
                && !names.is_empty()
                && names.len() == action.arguments.len()
                && record.attributes.iter().all(is_field)
        };
        let action = self.actions.iter().find(is_whole)?;
        let mut steps = Vec::new();
        let mut texts = Vec::new();
        let mut slots = BTreeMap::new();
        for argument in &action.arguments {
            let field = record
                .attributes
                .iter()
                .find(|(name, _)| argument.field.as_ref() == Some(name))?;
            let flat = self
                .calls
                .sample(call, field.1, self.scope)
                .ok()?
                .full_text();
            let ArgumentSource::Request(request) = &argument.source else {
                return None;
            };
            texts.push(self.value_code(*request, flat, &mut slots, &mut steps)?);
        }
        let number = test.objects_made.entry(class).or_default();
        if *number >= MAX_OBJECTS {
            return None;
        }
        let slot = format!("{}{number}", self.classes.get(class)?.pool);
        *number += 1;
        let used = test.slots_used.entry(class).or_default();
        *used = (*used).max(*number);
        steps.push(format!("{slot} = {}", action.statement("", &texts)));
        test.slots.insert(object, slot.clone());
        test.steps.extend(steps);
        Some(slot)
    }

    /// Returns the expression for a value: itself, or the slot of a pool, which a step fills first.
    fn value_code(
        &self,
        request: ValueRequestId,
        flat: String,
        slots: &mut BTreeMap<usize, usize>,
        steps: &mut Vec<String>,
    ) -> Option<String> {
        match self.pools.source(request)? {
            ArgumentValues::Choice(choices) => choices.contains(&flat).then_some(flat),
            ArgumentValues::Pool(number) => {
                let pool = self.pools.pools.get(*number)?;
                let entry = pool.entries.iter().find(|entry| entry.one_line == flat)?;
                let slot = slots.entry(*number).or_default();
                let name = format!("{}{slot}", pool.name);
                *slot += 1;
                if *slot > pool.size {
                    return None;
                }
                steps.push(format!("{name} = {}", entry.expression));
                Some(name)
            }
        }
    }
}

/// Returns the code of an argument.
fn argument_code(shaped_argument: &ShapedArgument<'_>) -> Option<String> {
    shaped_argument.sample.as_ref().map(Sample::full_text)
}

/// Returns true if a call is `__init__`, whose object is the one that the action makes.
fn is_construction(action: &DraftAction<'_>, call: &Call) -> bool {
    matches!(action.callee, ActionCallee::Named(_))
        && matches!(call.receiver, crate::Receiver::Instance(_))
}

/// Calls that belong together, with the objects that they involve.
struct CallGroup<'a> {
    /// The objects, by execution.
    objects: BTreeSet<(u32, ObjectId)>,
    /// The calls, in order.
    calls: Vec<&'a Call>,
}

impl CallGroup<'_> {
    /// Returns true if a call without objects can be added.
    fn has_room_for(&self, call: &Call) -> bool {
        let is_alike = self
            .calls
            .first()
            .is_some_and(|first| first.unit == call.unit);
        self.objects.is_empty() && is_alike && self.calls.len() < MAX_UNRELATED_CALLS
    }
}

/// A saved test under construction.
#[derive(Default)]
struct TestDraft<'a> {
    /// The steps so far.
    steps: Vec<String>,
    /// The number of calls so far.
    calls: usize,
    /// The slots of the objects.
    slots: BTreeMap<ObjectId, String>,
    /// The last recorded state of the objects.
    states: BTreeMap<ObjectId, (&'a Call, NodeId)>,
    /// The number of objects made, by class.
    objects_made: BTreeMap<usize, usize>,
    /// The number of slots used, by class.
    slots_used: BTreeMap<usize, usize>,
}

impl TestDraft<'_> {
    /// Returns the slot of an object, if the object is in its last recorded state.
    fn slot_of(&self, call: &Call, node: NodeId) -> Option<String> {
        let object = call.values.object(node)?;
        let (earlier, before) = self.states.get(&object)?;
        let is_same = earlier.values.is_isomorphic(*before, &call.values, node);
        is_same.then(|| self.slots.get(&object).cloned())?
    }
}
