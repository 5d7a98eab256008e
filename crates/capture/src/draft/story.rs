//! Recorded calls, told with the actions of the draft.
//!
//! A story is what happened to some objects, from the first that was made: all calls that code outside of the modules made on
//! them, in order. It ends where something cannot be told, or where a call in between was not kept, because from there on the
//! objects would be in another state.

use std::collections::{BTreeMap, BTreeSet};

use super::action::{Action, Callee, What};
use super::calls::{Calls, ShapedArgument};
use super::drafter::PooledClass;
use super::pools::{Settled, Source, WishId};
use super::sample::Sample;
use crate::recording::{Call, CallId, Outcome};
use crate::value::{NodeId, ObjectId, Reference};
use crate::write::Scope;

/// How many stories there are, how many steps they have, and how many objects of a class.
const MOST_STORIES: usize = 40;
const MOST_STEPS: usize = 60;
const MOST_OBJECTS: usize = 4;

/// How many calls that have nothing to do with each other are told together.
const MOST_TOGETHER: usize = 10;

/// What could be told.
#[derive(Default)]
pub(super) struct Told {
    /// The steps of each story, as saved tests have them.
    pub(super) stories: Vec<Vec<String>>,
    /// How many calls are in them.
    pub(super) told: usize,
    /// How many are not.
    pub(super) untold: usize,
    /// How many objects of each class are there at once, at most.
    pub(super) objects: BTreeMap<usize, usize>,
}

/// What tells stories.
pub(super) struct Teller<'a, 't> {
    pub(super) calls: &'t Calls<'a>,
    pub(super) classes: &'t [PooledClass<'a>],
    pub(super) actions: &'t [Action<'a>],
    pub(super) settled: &'t Settled,
    pub(super) scope: &'t mut Scope,
}

impl<'a> Teller<'a, '_> {
    /// Tells all calls that can be told.
    pub(super) fn tell(&mut self) -> Told {
        let mut action_of: BTreeMap<(u32, CallId), usize> = BTreeMap::new();
        for (number, action) in self.actions.iter().enumerate() {
            for call in action.calls.iter().filter(|_| action.left_out.is_none()) {
                action_of.insert((call.execution, call.id), number);
            }
        }
        let mut told = Told::default();
        let mut known = BTreeSet::new();
        for group in self.groups() {
            let mut story = Story::default();
            for call in &group {
                let action = action_of.get(&(call.execution, call.id));
                let action = action.and_then(|number| self.actions.get(*number));
                let is_short = story.steps.len() < MOST_STEPS;
                if action
                    .filter(|_| is_short)
                    .and_then(|action| self.step(&mut story, action, call))
                    .is_none()
                {
                    // What touches no object changes nothing for those that follow.
                    if !self.objects(call).is_empty() {
                        break;
                    }
                }
            }
            let is_new = !story.steps.is_empty() && known.insert(story.steps.clone());
            if is_new && told.stories.len() < MOST_STORIES {
                told.told += story.calls;
                told.untold += group.len() - story.calls;
                told.stories.push(story.steps);
                for (class, number) in story.slots_used {
                    let most = told.objects.entry(class).or_default();
                    *most = number.max(*most);
                }
            } else {
                told.untold += group.len();
            }
        }
        told
    }

    /// Calls that belong together, because they are about the same objects.
    fn groups(&self) -> Vec<Vec<&'a Call>> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        for call in self.calls.made_outside() {
            let objects = self.objects(call).into_iter();
            let mut whole = Group {
                objects: objects.map(|object| (call.execution, object)).collect(),
                calls: vec![call],
            };
            if whole.objects.is_empty() {
                let place = groups.iter().position(|group| group.has_room_for(call));
                match place.and_then(|place| groups.get_mut(place)) {
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

    /// The objects of classes with pools that a call has to do with.
    fn objects(&self, call: &Call) -> Vec<ObjectId> {
        let result = match call.outcome {
            Outcome::Returned(node) => Some(node),
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

    fn class_at(&self, call: &Call, node: NodeId) -> Option<usize> {
        match call.values.value(node) {
            crate::Value::Object(object) => {
                let is_it =
                    |known: &PooledClass<'_>| self.calls.is(&object.class, &known.reference);
                self.classes.iter().position(is_it)
            }
            _ => None,
        }
    }

    /// Adds the steps of one call; nothing if it cannot be told.
    fn step(&mut self, story: &mut Story<'a>, action: &Action<'a>, call: &'a Call) -> Option<()> {
        let classes = self.classes;
        let class_of =
            |class: &Reference| classes.iter().position(|known| known.reference == *class);
        let own = call.arguments.first();
        let skipped = usize::from(!matches!(call.receiver, crate::Receiver::None));
        let shaped = self
            .calls
            .shaped(call, skipped, self.scope, class_of)
            .ok()?;
        let receiver = match action.callee {
            Callee::Of { .. } => story.known(call, own?.before)?,
            Callee::Named(_) => String::new(),
        };
        let mut steps = Vec::new();
        let mut slots: BTreeMap<usize, usize> = BTreeMap::new();
        let mut texts = Vec::new();
        for (argument, given) in action.arguments.iter().zip(&shaped.arguments) {
            texts.push(match &argument.what {
                What::Text(text) => text.clone(),
                What::Object(class) => self.object(story, call, *class, given.node)?,
                What::Wish(wish) => self.value(*wish, flat(given)?, &mut slots, &mut steps)?,
            });
        }
        let mut said = action.said(&receiver, &texts);
        if let Some(class) = action.result {
            let made = match (&call.outcome, own) {
                (_, Some(own)) if is_construction(action, call) => own.after,
                (Outcome::Returned(node), _) => Some(*node),
                _ => None,
            };
            let number = story.made.entry(class).or_default();
            if *number >= MOST_OBJECTS {
                return None;
            }
            let slot = format!("{}{number}", classes.get(class)?.pool);
            // A call that fails has a slot in mind, too.
            let used = story.slots_used.entry(class).or_default();
            *used = (*used).max(*number + 1);
            if let Some(object) = made.and_then(|node| call.values.object(node)) {
                *number += 1;
                story.slots.insert(object, slot.clone());
            }
            said = format!("{slot} = {said}");
        }
        story.steps.extend(steps);
        story.steps.push(said);
        story.calls += 1;
        let nodes = call.arguments.iter().filter_map(|argument| argument.after);
        let result = match call.outcome {
            Outcome::Returned(node) => Some(node),
            _ => None,
        };
        for node in nodes.chain(result) {
            if let Some(object) = call.values.object(node) {
                story.states.insert(object, (call, node));
            }
        }
        Some(())
    }
}

impl<'a> Teller<'a, '_> {
    /// The slot of an object. A record that nobody was seen to make is made from its fields.
    fn object(
        &mut self,
        story: &mut Story<'a>,
        call: &'a Call,
        class: usize,
        node: NodeId,
    ) -> Option<String> {
        let object = call.values.object(node)?;
        if story.slots.contains_key(&object) {
            return story.known(call, node);
        }
        let crate::Value::Object(record) = call.values.value(node) else {
            return None;
        };
        let is_whole = |action: &&Action<'_>| {
            let names: BTreeSet<&str> = action
                .arguments
                .iter()
                .filter_map(|argument| argument.field.as_deref())
                .collect();
            let is_field = |(name, _): &(String, NodeId)| names.contains(name.as_str());
            action.result == Some(class)
                && action.left_out.is_none()
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
            let flat = self.calls.sample(call, field.1, self.scope).ok()?.flat();
            let What::Wish(wish) = &argument.what else {
                return None;
            };
            texts.push(self.value(*wish, flat, &mut slots, &mut steps)?);
        }
        let number = story.made.entry(class).or_default();
        if *number >= MOST_OBJECTS {
            return None;
        }
        let slot = format!("{}{number}", self.classes.get(class)?.pool);
        *number += 1;
        let used = story.slots_used.entry(class).or_default();
        *used = (*used).max(*number);
        steps.push(format!("{slot} = {}", action.said("", &texts)));
        story.slots.insert(object, slot.clone());
        story.steps.extend(steps);
        Some(slot)
    }

    /// How a value is said: as it stands, or by the slot of a pool, which a step fills first.
    fn value(
        &self,
        wish: WishId,
        flat: String,
        slots: &mut BTreeMap<usize, usize>,
        steps: &mut Vec<String>,
    ) -> Option<String> {
        match self.settled.source(wish)? {
            Source::Choice(choices) => choices.contains(&flat).then_some(flat),
            Source::Pool(number) => {
                let pool = self.settled.pools.get(*number)?;
                let entry = pool.entries.iter().find(|entry| entry.flat == flat)?;
                let slot = slots.entry(*number).or_default();
                let name = format!("{}{slot}", pool.name);
                *slot += 1;
                if *slot > pool.size {
                    return None;
                }
                steps.push(format!("{name} = {}", entry.said));
                Some(name)
            }
        }
    }
}

fn flat(given: &ShapedArgument<'_>) -> Option<String> {
    given.sample.as_ref().map(Sample::flat)
}

/// Whether a call is `__init__`, whose object is the one that the action makes.
fn is_construction(action: &Action<'_>, call: &Call) -> bool {
    matches!(action.callee, Callee::Named(_))
        && matches!(call.receiver, crate::Receiver::Instance(_))
}

/// Calls that belong together, and what they are about.
struct Group<'a> {
    objects: BTreeSet<(u32, ObjectId)>,
    calls: Vec<&'a Call>,
}

impl Group<'_> {
    /// Whether a call that is about no object can be told along with these.
    fn has_room_for(&self, call: &Call) -> bool {
        let is_alike = self
            .calls
            .first()
            .is_some_and(|first| first.unit == call.unit);
        self.objects.is_empty() && is_alike && self.calls.len() < MOST_TOGETHER
    }
}

/// A story while it is told.
#[derive(Default)]
struct Story<'a> {
    steps: Vec<String>,
    calls: usize,
    /// Where objects are.
    slots: BTreeMap<ObjectId, String>,
    /// How they were when they were last seen.
    states: BTreeMap<ObjectId, (&'a Call, NodeId)>,
    /// How many objects of each class were made.
    made: BTreeMap<usize, usize>,
    /// How many slots of each class the steps speak of.
    slots_used: BTreeMap<usize, usize>,
}

impl Story<'_> {
    /// The slot of an object, if it is as it was when it was last seen.
    fn known(&self, call: &Call, node: NodeId) -> Option<String> {
        let object = call.values.object(node)?;
        let (earlier, before) = self.states.get(&object)?;
        let is_same = earlier.values.is_alike(*before, &call.values, node);
        is_same.then(|| self.slots.get(&object).cloned())?
    }
}
