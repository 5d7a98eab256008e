//! Conversion between graphs and links.
//!
//! Nodes are numbered in the order in which a traversal from the call's references visits them, so
//! the numbers need not be written: a node that was visited before is a number, every other node is
//! written where it is visited. Identities are stored separately, so equal values of different
//! calls have equal texts.

use std::collections::{BTreeMap, BTreeSet};

use super::format::{Digest, Link, StoredCall};
use crate::graph::{ValueGraph, ValueNode};
use crate::recording::{Call, CallOutcome, ExternalReply, Interaction, StepAction, StepOutcome};
use crate::value::{NodeId, ObjectId, Value};

/// The maximum length of an inline value.
const MAX_INLINE: usize = 96;
/// The maximum number of nodes; more are a sign of a damaged file.
const MAX_NODES: usize = 2_000_000;
/// The maximum nesting depth.
const MAX_DEPTH: usize = 500;

/// Encodes a call, and returns it with the values that it needs, parts first.
pub(super) fn encode_call(mut call: Call) -> (StoredCall, Vec<(Digest, Value<Link>)>) {
    let graph = std::mem::take(&mut call.values);
    let mut encoder = GraphEncoder {
        graph: &graph,
        numbers: BTreeMap::new(),
        objects: Vec::new(),
        written: BTreeSet::new(),
        values: Vec::new(),
    };
    let mut links = Vec::new();
    for_each_reference(&mut call, |reference| {
        links.push(encoder.encode_node(*reference, 0));
        *reference = NodeId(u32::try_from(links.len() - 1).unwrap_or(u32::MAX));
    });
    let GraphEncoder {
        objects, values, ..
    } = encoder;
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
        variables: call.variables,
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

/// Decodes a call. Returns `None` if a value is missing or malformed.
pub(super) fn decode_call(
    stored: StoredCall,
    execution: u32,
    values: &BTreeMap<Digest, Value<Link>>,
) -> Option<Call> {
    let mut decoder = GraphDecoder {
        values,
        objects: &stored.objects,
        decoded: Vec::new(),
        graph: ValueGraph::default(),
    };
    let mut roots = Vec::new();
    for link in &stored.links {
        roots.push(decoder.decode_node(link, 0)?);
    }
    let graph = decoder.graph;
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
        variables: stored.variables,
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

/// Visits all references to nodes outside of the graph, always in the same order.
fn for_each_reference(call: &mut Call, mut visit: impl FnMut(&mut NodeId)) {
    for argument in &mut call.arguments {
        visit(&mut argument.before);
    }
    for state in &mut call.variables {
        state.before.iter_mut().for_each(&mut visit);
    }
    for event in &mut call.events {
        if let Interaction::Called {
            arguments,
            keywords,
            answer,
            ..
        } = &mut event.external
        {
            arguments.iter_mut().for_each(&mut visit);
            keywords.iter_mut().for_each(|(_, value)| visit(value));
            match answer {
                ExternalReply::Returned(value) | ExternalReply::Raised(value) => visit(value),
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
    for state in &mut call.variables {
        state.after.iter_mut().for_each(&mut visit);
    }
    match &mut call.outcome {
        CallOutcome::Returned(value)
        | CallOutcome::Raised {
            exception: value, ..
        } => visit(value),
        CallOutcome::Unfinished => {}
    }
}

/// The state of encoding one graph.
struct GraphEncoder<'a> {
    /// The graph.
    graph: &'a ValueGraph,
    /// The numbers of the nodes visited so far.
    numbers: BTreeMap<NodeId, u32>,
    /// The identities of the numbered nodes.
    objects: Vec<Option<ObjectId>>,
    /// The digests in `values`.
    written: BTreeSet<Digest>,
    /// The values that are stored by digest.
    values: Vec<(Digest, Value<Link>)>,
}

impl GraphEncoder<'_> {
    /// Returns the link to a node. Nodes beyond the maximum depth become `None`.
    fn encode_node(&mut self, node_id: NodeId, depth: usize) -> Link {
        let Some(node) = self.graph.get(node_id).filter(|_| depth < MAX_DEPTH) else {
            return Link::InlineLeaf(Box::new(Value::None));
        };
        let is_leaf = node.object.is_none() && node.value.children().is_empty();
        if !is_leaf {
            if let Some(number) = self.numbers.get(&node_id) {
                return Link::KnownNode(*number);
            }
            let number = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
            self.numbers.insert(node_id, number);
            self.objects.push(node.object);
        }
        let value = node
            .value
            .clone()
            .map(|child| self.encode_node(child, depth + 1));
        let text = serde_json::to_string(&value).unwrap_or_default();
        match (is_leaf, text.len() <= MAX_INLINE) {
            (true, true) => Link::InlineLeaf(Box::new(value)),
            (false, true) => Link::InlineNode(Box::new(value)),
            (true, false) => Link::StoredLeaf(self.store_value(&text, value)),
            (false, false) => Link::StoredNode(self.store_value(&text, value)),
        }
    }

    /// Adds a value that is stored by digest.
    fn store_value(&mut self, text: &str, value: Value<Link>) -> Digest {
        let digest = Digest::of_text(text);
        if self.written.insert(digest) {
            self.values.push((digest, value));
        }
        digest
    }
}

/// The state of decoding one graph.
struct GraphDecoder<'a> {
    /// The values that are stored by digest.
    values: &'a BTreeMap<Digest, Value<Link>>,
    /// The identities of the numbered nodes.
    objects: &'a [Option<ObjectId>],
    /// The numbered nodes decoded so far.
    decoded: Vec<NodeId>,
    /// The graph so far.
    graph: ValueGraph,
}

impl GraphDecoder<'_> {
    /// Decodes the node that a link refers to.
    fn decode_node(&mut self, link: &Link, depth: usize) -> Option<NodeId> {
        if depth > MAX_DEPTH || self.graph.len() > MAX_NODES {
            return None;
        }
        let (value, is_leaf) = match link {
            Link::KnownNode(number) => return self.decoded.get(*number as usize).copied(),
            Link::InlineLeaf(value) => (&**value, true),
            Link::StoredLeaf(digest) => (self.values.get(digest)?, true),
            Link::InlineNode(value) => (&**value, false),
            Link::StoredNode(digest) => (self.values.get(digest)?, false),
        };
        // The node is needed before its parts, because they may refer to it.
        let node_id = self.graph.add(ValueNode::plain(Value::None));
        let mut object = None;
        if !is_leaf {
            object = *self.objects.get(self.decoded.len())?;
            self.decoded.push(node_id);
        }
        let value = value
            .clone()
            .try_map(|child| self.decode_node(&child, depth + 1).ok_or(()))
            .ok()?;
        self.graph.set(node_id, ValueNode { value, object });
        Some(node_id)
    }
}
