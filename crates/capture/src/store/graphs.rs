//! Graphs to links and back.
//!
//! Nodes are numbered in the order in which a walk from the call's references meets them, so the numbers need not be
//! written: what was met before is a number, everything else stands where it is met. Equal values of different calls
//! get equal texts that way, as identities are written apart from them.

use std::collections::{BTreeMap, BTreeSet};

use super::format::{Digest, Link, StoredCall};
use crate::graph::{Graph, Node};
use crate::recording::{Answer, Call, External, Outcome, StepAction, StepOutcome};
use crate::value::{NodeId, ObjectId, Value};

/// What is shorter than this stands where it is used.
const SHORT: usize = 96;
/// More nodes than this are no recording of ours.
const MOST_NODES: usize = 2_000_000;
/// Nor is anything nested deeper than this.
const DEEPEST: usize = 500;

/// A call as it is stored, and the values it needs, parts first.
pub(super) fn stored(mut call: Call) -> (StoredCall, Vec<(Digest, Value<Link>)>) {
    let graph = std::mem::take(&mut call.values);
    let mut writing = Writing {
        graph: &graph,
        numbers: BTreeMap::new(),
        objects: Vec::new(),
        written: BTreeSet::new(),
        values: Vec::new(),
    };
    let mut links = Vec::new();
    for_each_reference(&mut call, |reference| {
        links.push(writing.link(*reference, 0));
        *reference = NodeId(u32::try_from(links.len() - 1).unwrap_or(u32::MAX));
    });
    let Writing {
        objects, values, ..
    } = writing;
    let stored = StoredCall {
        id: call.id,
        end: call.end,
        thread: call.thread,
        task: call.task,
        unit: call.unit,
        caller: call.caller,
        is_from_own_method: call.is_from_own_method,
        receiver: call.receiver,
        arguments: call.arguments,
        places: call.places,
        outcome: call.outcome,
        steps: call.steps,
        events: call.events,
        lines: call.lines,
        microseconds: call.microseconds,
        uncaptured: call.uncaptured,
        links,
        objects,
    };
    (stored, values)
}

/// A stored call with its graph again. `None` if a value is missing, or something is not as we write it.
pub(super) fn restored(
    stored: StoredCall,
    execution: u32,
    values: &BTreeMap<Digest, Value<Link>>,
) -> Option<Call> {
    let mut reading = Reading {
        values,
        objects: &stored.objects,
        met: Vec::new(),
        graph: Graph::default(),
    };
    let mut roots = Vec::new();
    for link in &stored.links {
        roots.push(reading.node(link, 0)?);
    }
    let graph = reading.graph;
    let mut call = Call {
        id: stored.id,
        end: stored.end,
        execution,
        thread: stored.thread,
        task: stored.task,
        unit: stored.unit,
        caller: stored.caller,
        is_from_own_method: stored.is_from_own_method,
        receiver: stored.receiver,
        arguments: stored.arguments,
        places: stored.places,
        outcome: stored.outcome,
        steps: stored.steps,
        events: stored.events,
        lines: stored.lines,
        microseconds: stored.microseconds,
        uncaptured: stored.uncaptured,
        values: graph,
    };
    let mut is_complete = true;
    for_each_reference(&mut call, |reference| {
        match roots.get(reference.0 as usize) {
            Some(node) => *reference = *node,
            None => is_complete = false,
        }
    });
    is_complete.then_some(call)
}

/// All references to nodes outside the graph, always in the same order.
fn for_each_reference(call: &mut Call, mut visit: impl FnMut(&mut NodeId)) {
    for argument in &mut call.arguments {
        visit(&mut argument.before);
    }
    for state in &mut call.places {
        state.before.iter_mut().for_each(&mut visit);
    }
    for event in &mut call.events {
        if let External::Called {
            arguments,
            keywords,
            answer,
            ..
        } = &mut event.external
        {
            arguments.iter_mut().for_each(&mut visit);
            keywords.iter_mut().for_each(|(_, value)| visit(value));
            match answer {
                Answer::Returned(value) | Answer::Raised(value) => visit(value),
            }
        }
    }
    for step in &mut call.steps {
        match &mut step.action {
            StepAction::Send(value) | StepAction::Throw(value) => visit(value),
            StepAction::Next | StepAction::Close => {}
        }
        match &mut step.outcome {
            StepOutcome::Yielded(value)
            | StepOutcome::Returned(value)
            | StepOutcome::Raised(value) => visit(value),
        }
    }
    for argument in &mut call.arguments {
        argument.after.iter_mut().for_each(&mut visit);
    }
    for state in &mut call.places {
        state.after.iter_mut().for_each(&mut visit);
    }
    match &mut call.outcome {
        Outcome::Returned(value)
        | Outcome::Raised {
            exception: value, ..
        } => visit(value),
        Outcome::Unfinished => {}
    }
}

struct Writing<'a> {
    graph: &'a Graph,
    numbers: BTreeMap<NodeId, u32>,
    objects: Vec<Option<ObjectId>>,
    written: BTreeSet<Digest>,
    values: Vec<(Digest, Value<Link>)>,
}

impl Writing<'_> {
    fn link(&mut self, place: NodeId, depth: usize) -> Link {
        let Some(node) = self.graph.get(place).filter(|_| depth < DEEPEST) else {
            return Link::Here(Box::new(Value::None));
        };
        let is_leaf = node.object.is_none() && node.value.children().is_empty();
        if !is_leaf {
            if let Some(number) = self.numbers.get(&place) {
                return Link::Same(*number);
            }
            let number = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
            self.numbers.insert(place, number);
            self.objects.push(node.object);
        }
        let value = node.value.clone().map(|child| self.link(child, depth + 1));
        let text = serde_json::to_string(&value).unwrap_or_default();
        match (is_leaf, text.len() <= SHORT) {
            (true, true) => Link::Here(Box::new(value)),
            (false, true) => Link::New(Box::new(value)),
            (true, false) => Link::Leaf(self.keep(&text, value)),
            (false, false) => Link::Node(self.keep(&text, value)),
        }
    }

    fn keep(&mut self, text: &str, value: Value<Link>) -> Digest {
        let digest = Digest::of(text);
        if self.written.insert(digest) {
            self.values.push((digest, value));
        }
        digest
    }
}

struct Reading<'a> {
    values: &'a BTreeMap<Digest, Value<Link>>,
    objects: &'a [Option<ObjectId>],
    met: Vec<NodeId>,
    graph: Graph,
}

impl Reading<'_> {
    fn node(&mut self, link: &Link, depth: usize) -> Option<NodeId> {
        if depth > DEEPEST || self.graph.len() > MOST_NODES {
            return None;
        }
        let (value, is_leaf) = match link {
            Link::Same(number) => return self.met.get(*number as usize).copied(),
            Link::Here(value) => (&**value, true),
            Link::Leaf(digest) => (self.values.get(digest)?, true),
            Link::New(value) => (&**value, false),
            Link::Node(digest) => (self.values.get(digest)?, false),
        };
        // Its place is needed before its parts are there, for they may refer to it.
        let place = self.graph.add(Node::plain(Value::None));
        let mut object = None;
        if !is_leaf {
            object = *self.objects.get(self.met.len())?;
            self.met.push(place);
        }
        let value = value
            .clone()
            .try_map(|child| self.node(&child, depth + 1).ok_or(()))
            .ok()?;
        self.graph.set(place, Node { value, object });
        Some(place)
    }
}
