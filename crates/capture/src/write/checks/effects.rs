//! What the call changed inside of the program.

use super::super::access;
use super::super::build::Missing;
use super::super::code::Code;
use super::super::exercise::is_creation;
use super::super::literal;
use super::super::pins::owner;
use super::super::plan::{Actual, Check, How};
use super::Verifier;
use super::values::is_hash;
use crate::effects::Effect;
use crate::recording::{Outcome, Unit};
use crate::value::{Function, NodeId, Object, Value};

/// Up to so many attributes are checked one by one.
const FEW: usize = 3;

impl Verifier<'_, '_> {
    /// Everything that the call changed.
    pub(super) fn effects(&mut self, unit: &Unit) -> Result<(), Missing> {
        let call = self.builder.call;
        let ways = access::after(call);
        let is_creation = is_creation(self.builder, unit);
        let created = is_creation
            .then(|| call.arguments.first())
            .flatten()
            .and_then(|own| call.values.object(own.before));
        let (places, objects): (Vec<Effect>, Vec<Effect>) = call
            .effects()
            .into_iter()
            .partition(|effect| matches!(effect, Effect::Rebound { .. }));
        for effect in objects {
            let Effect::Changed {
                object,
                before,
                after,
            } = effect
            else {
                continue;
            };
            if Some(object) == created || self.covered.contains(&after) {
                continue;
            }
            let named = self.builder.live.get(&object).cloned();
            let path = named.or_else(|| ways.get(&object).and_then(|way| self.path(way)));
            match path {
                Some(path) => self.changed(&path, before, after),
                None if is_creation => {}
                None => {
                    let what = "a change of an object that the test cannot reach";
                    self.unknown.get_or_insert_with(|| what.to_owned());
                }
            }
        }
        for effect in places {
            let Effect::Rebound { place, after, .. } = effect else {
                continue;
            };
            let Some((owner, name)) = owner(self.builder, &place)? else {
                continue;
            };
            match after {
                Some(after) => {
                    let actual = Actual::Code(Code::Text(format!("{}.{name}", owner.flat())));
                    let returned = matches!(call.outcome, Outcome::Returned(result)
                        if call.values.object(result).is_some()
                            && call.values.object(result) == call.values.object(after));
                    if returned || (is_creation && call.values.object(after) == created) {
                        let actual = Actual::OfResult(String::new(), String::new());
                        let place = Code::Text(format!("{}.{name}", owner.flat()));
                        self.checks.push(Check::new(actual, How::Is, place));
                    } else {
                        self.value(actual, after);
                    }
                }
                None => {
                    let asked = format!("hasattr({}, \"{name}\")", owner.flat());
                    self.is_false(asked);
                }
            }
        }
        Ok(())
    }

    fn is_false(&mut self, asked: String) {
        let actual = Actual::Code(Code::Text(asked));
        self.checks
            .push(Check::new(actual, How::False, Code::text("")));
    }

    /// An object that holds something else now.
    fn changed(&mut self, path: &str, before: NodeId, after: NodeId) {
        let graph = &self.builder.call.values;
        if let Value::Function(function) = graph.value(after)
            && self.enclosed(path, function).is_some()
        {
            return;
        }
        let (Value::Object(old), Value::Object(new)) = (graph.value(before), graph.value(after))
        else {
            self.value(Actual::Code(Code::text(path)), after);
            return;
        };
        let different = self.different(old, new);
        let gone: Vec<&String> = old
            .attributes
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !new.attributes.iter().any(|(known, _)| known == *name))
            .collect();
        let is_same_content = match (old.content, new.content) {
            (Some(old), Some(new)) => graph.is_alike(old, graph, new),
            (None, None) => true,
            _ => false,
        };
        if different.len() > FEW || !is_same_content {
            self.value(Actual::Code(Code::text(path)), after);
            return;
        }
        self.covered.insert(after);
        for name in gone {
            self.is_false(format!("hasattr({path}, \"{name}\")"));
        }
        for (name, value) in different {
            if is_hash(&name, graph.value(value)) {
                continue;
            }
            self.value(Actual::Code(Code::Text(format!("{path}.{name}"))), value);
        }
    }

    /// The variables that a function encloses; nothing if one of them cannot be said.
    fn enclosed(&mut self, path: &str, function: &Function) -> Option<()> {
        let nodes: Vec<NodeId> = function.closure.iter().map(|(_, node)| *node).collect();
        let values = self.items(&nodes).ok()?;
        let names = function
            .closure
            .iter()
            .map(|(name, _)| literal::quoted(name));
        let entries = names
            .zip(values)
            .map(|(name, value)| Code::pair(Code::Text(name), ": ", value));
        let expected = Code::group("{", entries.collect(), "}");
        let inspect = self.builder.scope.module("inspect").flat();
        let actual = Code::Text(format!("{inspect}.getclosurevars({path}).nonlocals"));
        let how = self.how_all(&nodes);
        let how = self.helped(how);
        let how = if how == How::Is { How::Equal } else { how };
        self.checks
            .push(Check::new(Actual::Code(actual), how, expected));
        Some(())
    }

    /// The attributes that are new or hold something else.
    fn different(&self, old: &Object, new: &Object) -> Vec<(String, NodeId)> {
        let graph = &self.builder.call.values;
        let is_different = |(name, value): &&(String, NodeId)| {
            let before = old.attributes.iter().find(|(known, _)| known == name);
            !before.is_some_and(|(_, before)| {
                graph.object(*before) == graph.object(*value)
                    && (graph.object(*value).is_some() || graph.is_alike(*before, graph, *value))
            })
        };
        new.attributes
            .iter()
            .filter(is_different)
            .cloned()
            .collect()
    }
}
