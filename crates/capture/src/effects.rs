//! What a call changed, found by comparing its two moments.
//!
//! An object has changed if what it holds itself is different: other parts, or other objects in the place of the old
//! ones. That a part of a part is different is that part's change. So each change is told once, where it happened,
//! however many ways lead there.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::Graph;
use crate::recording::{Call, Place};
use crate::value::{NodeId, ObjectId, Value};

/// Something that a call changed inside the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A place holds something else: another object, or a different value without identity. (If it holds the same
    /// object and that has changed, there is [`Effect::Changed`] for the object.)
    Rebound {
        /// Where.
        place: Place,
        /// What was there.
        before: Option<NodeId>,
        /// What is there.
        after: Option<NodeId>,
    },
    /// An object that existed at entry holds something else: a container other items, an instance other attributes.
    Changed {
        /// The object.
        object: ObjectId,
        /// As it was.
        before: NodeId,
        /// As it is.
        after: NodeId,
    },
}

impl Call {
    /// What the call changed: places first, in their order, then objects in the order in which they are reached.
    ///
    /// A call that has not ended has changed nothing that is known.
    pub fn effects(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for state in &self.places {
            let is_import = self.is_import(&state.place, state.after);
            if !is_import && !self.is_same_binding(state.before, state.after) {
                effects.push(Effect::Rebound {
                    place: state.place.clone(),
                    before: state.before,
                    after: state.after,
                });
            }
        }
        let before = reached(&self.values, self.roots_before());
        let after: BTreeMap<ObjectId, NodeId> = reached(&self.values, self.roots_after())
            .into_iter()
            .collect();
        for (object, old) in before {
            if let Some(new) = after.get(&object)
                && !is_same_shallow(&self.values, old, *new)
            {
                effects.push(Effect::Changed {
                    object,
                    before: old,
                    after: *new,
                });
            }
        }
        effects
    }

    /// Whether a place is where a package keeps a module inside of it. That one is there as soon as somebody has imported it,
    /// and who did so first is no behaviour.
    pub(crate) fn is_import(&self, place: &Place, held: Option<NodeId>) -> bool {
        let Place::Global { module, name } = place else {
            return false;
        };
        let value = held.map(|node| self.values.value(node));
        matches!(value, Some(Value::Reference(found))
            if found.path.is_empty() && found.module == format!("{module}.{name}"))
    }

    /// The node of an object at entry, if it could be reached then: a result that is one existed before the call.
    pub fn at_entry(&self, object: ObjectId) -> Option<NodeId> {
        let found = reached(&self.values, self.roots_before());
        found
            .into_iter()
            .find(|(known, _)| *known == object)
            .map(|(_, place)| place)
    }

    /// Everything that was looked at at entry.
    pub fn roots_before(&self) -> Vec<NodeId> {
        let arguments = self.arguments.iter().map(|argument| argument.before);
        arguments
            .chain(self.places.iter().filter_map(|state| state.before))
            .collect()
    }

    /// Everything that was looked at at exit, the outcome not included.
    pub fn roots_after(&self) -> Vec<NodeId> {
        let arguments = self.arguments.iter().filter_map(|argument| argument.after);
        arguments
            .chain(self.places.iter().filter_map(|state| state.after))
            .collect()
    }

    fn is_same_binding(&self, before: Option<NodeId>, after: Option<NodeId>) -> bool {
        match (before, after) {
            (None, None) => true,
            (Some(before), Some(after)) => is_same_reference(&self.values, before, after),
            _ => false,
        }
    }
}

/// All objects that can be reached, each once, in order.
fn reached(graph: &Graph, roots: Vec<NodeId>) -> Vec<(ObjectId, NodeId)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut pending: Vec<NodeId> = roots.into_iter().rev().collect();
    while let Some(place) = pending.pop() {
        if !seen.insert(place) {
            continue;
        }
        found.extend(graph.object(place).map(|object| (object, place)));
        pending.extend(graph.children(place).into_iter().rev());
    }
    found
}

/// Whether two nodes are the same object, or equal values without identity.
fn is_same_reference(graph: &Graph, one: NodeId, other: NodeId) -> bool {
    let mut pending = vec![(one, other)];
    while let Some((one, other)) = pending.pop() {
        match (graph.object(one), graph.object(other)) {
            (Some(one), Some(other)) if one == other => {}
            (None, None) => {
                let (old, new) = (graph.value(one), graph.value(other));
                if !is_same_form(old, new) {
                    return false;
                }
                pending.extend(graph.children(one).into_iter().zip(graph.children(other)));
            }
            _ => return false,
        }
    }
    true
}

/// Whether an object holds at one node what it holds at another.
fn is_same_shallow(graph: &Graph, one: NodeId, other: NodeId) -> bool {
    let same_form = is_same_form(graph.value(one), graph.value(other));
    let mut pairs = graph.children(one).into_iter().zip(graph.children(other));
    same_form && pairs.all(|(one, other)| is_same_reference(graph, one, other))
}

/// Whether two values differ at most in what they refer to.
fn is_same_form(one: &Value, other: &Value) -> bool {
    one.children().len() == other.children().len()
        && one.clone().map(|_| ()) == other.clone().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Node;
    use crate::recording::{Argument, CallId, PlaceState, UnitId};

    fn call() -> Call {
        Call {
            end: Some(1),
            ..Call::begun(CallId(0), 0, UnitId(0), None)
        }
    }

    impl Call {
        fn number(&mut self, number: i64) -> NodeId {
            self.values.add(Node::plain(Value::Integer(number)))
        }

        fn list(&mut self, object: u64, items: Vec<NodeId>) -> NodeId {
            let object = Some(ObjectId(object));
            let value = Value::List(items);
            self.values.add(Node { value, object })
        }

        fn argument(&mut self, before: NodeId, after: NodeId) {
            self.arguments.push(Argument {
                name: "items".to_owned(),
                before,
                after: Some(after),
                is_default: false,
            });
        }
    }

    #[test]
    fn an_inner_change_is_told_once_and_where_it_happened() {
        let mut call = call();
        let (one, two) = (call.number(1), call.number(2));
        let inner = call.list(1, vec![one]);
        let outer = call.list(2, vec![inner, inner]);
        let new_inner = call.list(1, vec![one, two]);
        let new_outer = call.list(2, vec![new_inner, new_inner]);
        call.argument(outer, new_outer);
        let object = ObjectId(1);
        let expected = Effect::Changed {
            object,
            before: inner,
            after: new_inner,
        };
        assert_eq!(call.effects(), [expected]);
    }

    #[test]
    fn another_object_with_the_same_content_is_a_change() {
        let mut call = call();
        let (old, new) = (call.list(1, vec![]), call.list(3, vec![]));
        let before = call.list(2, vec![old]);
        let after = call.list(2, vec![new]);
        call.argument(before, after);
        assert_eq!(call.effects().len(), 1);
    }

    #[test]
    fn a_place_is_rebound_only_if_its_value_differs() {
        let mut call = call();
        let nodes = [1, 1, 2].map(|number| call.number(number));
        let place = Place::Global {
            module: "app".to_owned(),
            name: "count".to_owned(),
        };
        let state = |after| PlaceState {
            place: place.clone(),
            before: Some(nodes[0]),
            after,
            is_as_imported: true,
        };
        call.places = vec![state(Some(nodes[1]))];
        assert_eq!(call.effects(), []);
        call.places = vec![state(Some(nodes[2])), state(None)];
        assert_eq!(call.effects().len(), 2);
    }
}
