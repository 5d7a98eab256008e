//! Recordings built by hand, for tests.

use crate::ValueNode;
use crate::recording::{
    BindingKind, BoundArgument, Call, CallId, CallOutcome, CodeUnit, ExternalEvent, Interaction,
    ProgramVariable, Receiver, UnitId, UnitKind, UnitParameter, VariableState,
};
use crate::value::{ImportPath, InstanceValue, NodeId, ObjectId, ObjectKind, Value};

/// A builder of a call and its unit.
pub(crate) struct CallBuilder {
    pub(crate) unit: CodeUnit,
    pub(crate) call: Call,
}

impl CallBuilder {
    pub(crate) fn new(name: &str) -> CallBuilder {
        let unit = CodeUnit {
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
            ..Call::unfinished(CallId(0), 0, UnitId(0), None)
        };
        let mut builder = CallBuilder { unit, call };
        let none = builder.plain(Value::None);
        builder.call.outcome = CallOutcome::Returned(none);
        builder
    }

    pub(crate) fn plain(&mut self, value: Value) -> NodeId {
        self.call.values.add(ValueNode::plain(value))
    }

    pub(crate) fn number(&mut self, number: i64) -> NodeId {
        self.plain(Value::Integer(number))
    }

    pub(crate) fn text(&mut self, text: &str) -> NodeId {
        self.plain(Value::Text(text.to_owned()))
    }

    pub(crate) fn with_id(&mut self, id: u64, value: Value) -> NodeId {
        self.call.values.add(ValueNode {
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
        let object = InstanceValue {
            class: ImportPath::new("zoo", class),
            is_importable: true,
            kind: ObjectKind::Plain,
            content: None,
            attributes,
        };
        self.with_id(id, Value::Object(object))
    }

    pub(crate) fn argument(mut self, name: &str, before: NodeId, after: NodeId) -> CallBuilder {
        self.unit.parameters.push(UnitParameter {
            name: name.to_owned(),
            kind: BindingKind::Normal,
        });
        self.call.arguments.push(BoundArgument {
            name: name.to_owned(),
            before,
            after: Some(after),
            is_default: false,
        });
        self
    }

    pub(crate) fn returns(mut self, value: NodeId) -> CallBuilder {
        self.call.outcome = CallOutcome::Returned(value);
        self
    }

    pub(crate) fn event(mut self, external: Interaction) -> CallBuilder {
        self.call.events.push(ExternalEvent {
            at: 0,
            is_nested: false,
            external,
        });
        self
    }

    pub(crate) fn variable(
        mut self,
        variable: ProgramVariable,
        before: Option<NodeId>,
        after: Option<NodeId>,
    ) -> CallBuilder {
        self.call.variables.push(VariableState {
            variable,
            before,
            after,
            is_as_imported: false,
        });
        self
    }

    pub(crate) fn on(mut self, class: &str, before: NodeId, after: NodeId) -> CallBuilder {
        self.call.receiver = Receiver::Instance(ImportPath::new("zoo", class));
        self.argument("self", before, after)
    }
}
