//! Recordings made by hand, for tests.

use crate::Node;
use crate::recording::{
    Argument, Call, CallId, Event, External, Outcome, Parameter, ParameterKind, Place, PlaceState,
    Receiver, Unit, UnitId, UnitKind,
};
use crate::value::{NodeId, Object, ObjectId, ObjectKind, Reference, Value};

/// A call that is made up step by step.
pub(crate) struct Made {
    pub(crate) unit: Unit,
    pub(crate) call: Call,
}

impl Made {
    pub(crate) fn of(name: &str) -> Made {
        let unit = Unit {
            module: "zoo".to_owned(),
            qualified_name: name.to_owned(),
            file: "zoo.py".to_owned(),
            line: 1,
            kind: UnitKind::Function,
            parameters: Vec::new(),
            calls: 1,
        };
        let call = Call {
            end: Some(1),
            ..Call::begun(CallId(0), 0, UnitId(0), None)
        };
        let mut made = Made { unit, call };
        let none = made.plain(Value::None);
        made.call.outcome = Outcome::Returned(none);
        made
    }

    pub(crate) fn plain(&mut self, value: Value) -> NodeId {
        self.call.values.add(Node::plain(value))
    }

    pub(crate) fn number(&mut self, number: i64) -> NodeId {
        self.plain(Value::Integer(number))
    }

    pub(crate) fn text(&mut self, text: &str) -> NodeId {
        self.plain(Value::Text(text.to_owned()))
    }

    pub(crate) fn with_id(&mut self, id: u64, value: Value) -> NodeId {
        self.call.values.add(Node {
            value,
            object: Some(ObjectId(id)),
        })
    }

    pub(crate) fn list(&mut self, id: u64, numbers: &[i64]) -> NodeId {
        let items = numbers.iter().map(|number| self.number(*number)).collect();
        self.with_id(id, Value::List(items))
    }

    pub(crate) fn object(&mut self, id: u64, class: &str, attributes: &[(&str, NodeId)]) -> NodeId {
        let attributes = attributes
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect();
        let object = Object {
            class: Reference::new("zoo", class),
            is_importable: true,
            kind: ObjectKind::Plain,
            content: None,
            attributes,
        };
        self.with_id(id, Value::Object(object))
    }

    pub(crate) fn argument(mut self, name: &str, before: NodeId, after: NodeId) -> Made {
        self.unit.parameters.push(Parameter {
            name: name.to_owned(),
            kind: ParameterKind::Normal,
        });
        self.call.arguments.push(Argument {
            name: name.to_owned(),
            before,
            after: Some(after),
            is_default: false,
        });
        self
    }

    pub(crate) fn returns(mut self, value: NodeId) -> Made {
        self.call.outcome = Outcome::Returned(value);
        self
    }

    pub(crate) fn event(mut self, external: External) -> Made {
        self.call.events.push(Event {
            at: 0,
            is_nested: false,
            external,
        });
        self
    }

    pub(crate) fn place(
        mut self,
        place: Place,
        before: Option<NodeId>,
        after: Option<NodeId>,
    ) -> Made {
        self.call.places.push(PlaceState {
            place,
            before,
            after,
            is_as_imported: false,
        });
        self
    }

    pub(crate) fn on(mut self, class: &str, before: NodeId, after: NodeId) -> Made {
        self.call.receiver = Receiver::Instance(Reference::new("zoo", class));
        self.argument("self", before, after)
    }
}
