//! The call itself, as one would write it.

use super::build::{Builder, Missing};
use super::code::Code;
use super::name;
use super::scope::snake_case;
use crate::inspect::Role;
use crate::recording::{Call, Outcome, Receiver, Unit};
use crate::value::Value;

/// How a unit is called.
pub(crate) enum Exercised {
    /// By an expression.
    Value(Code),
    /// By a statement, which has no value.
    Statement(Code),
    /// By making an object of a class.
    Creation(Code),
}

pub(super) fn exercise(builder: &mut Builder<'_>, unit: &Unit) -> Result<Exercised, Missing> {
    let call = builder.call;
    let last = name::last(unit);
    match &call.receiver {
        Receiver::None => {
            let callable = builder.reference(&name::importable(unit, call))?.flat();
            let arguments = builder.arguments(call, unit, 0)?;
            Ok(Exercised::Value(Code::call(&callable, arguments)))
        }
        Receiver::Class(class) => {
            let class = builder.reference(class)?.flat();
            let arguments = builder.arguments(call, unit, 1)?;
            let callable = match last {
                "__new__" => class,
                _ => format!("{class}.{last}"),
            };
            Ok(Exercised::Value(Code::call(&callable, arguments)))
        }
        Receiver::Instance(class) if last == "__init__" => {
            let class = builder.reference(class)?.flat();
            let arguments = builder.arguments(call, unit, 1)?;
            Ok(Exercised::Creation(Code::call(&class, arguments)))
        }
        Receiver::Instance(class) => {
            let own = call
                .arguments
                .first()
                .ok_or_else(|| Missing("the object is not known".to_owned()))?;
            if let Some(object) = call.values.object(own.before) {
                builder.needs_name(object);
            }
            let hint = snake_case(class.name());
            let receiver = match builder.value(own.before, &hint) {
                Err(_) if builder.is_lenient => builder.placeholder(&hint),
                Err(Missing(what)) => return Err(Missing(format!("the object is {what}"))),
                Ok(receiver) => receiver,
            };
            let receiver = receiver.flat();
            let arguments = builder.arguments(call, unit, 1)?;
            let role = builder.knowledge.role(unit);
            Ok(match answers_not(call) {
                // An operator would go on and ask the other operand.
                true => Exercised::Value(Code::call(&format!("{receiver}.{last}"), arguments)),
                false => on_object(role, &receiver, last, arguments),
            })
        }
    }
}

fn answers_not(call: &Call) -> bool {
    matches!(&call.outcome, Outcome::Returned(result)
        if *call.values.value(*result) == Value::NotImplemented)
}

/// What is done to an object: an attribute is read or set, an operator is used, a method is called.
pub(crate) fn on_object(
    role: Option<Role>,
    receiver: &str,
    name: &str,
    arguments: Vec<Code>,
) -> Exercised {
    let attribute = format!("{receiver}.{name}");
    match (role, arguments.as_slice()) {
        (Some(Role::Getter), []) => Exercised::Value(Code::Text(attribute)),
        (Some(Role::Setter), [value]) => {
            Exercised::Statement(Code::pair(Code::Text(attribute), " = ", value.clone()))
        }
        (Some(Role::Deleter), []) => Exercised::Statement(Code::Text(format!("del {attribute}"))),
        _ => special(receiver, name, &arguments)
            .unwrap_or_else(|| Exercised::Value(Code::call(&attribute, arguments))),
    }
}

/// Special methods are called by what they are for.
fn special(receiver: &str, name: &str, arguments: &[Code]) -> Option<Exercised> {
    let value = |text: String| Some(Exercised::Value(Code::Text(text)));
    match (name, arguments) {
        ("__len__", []) => value(format!("len({receiver})")),
        ("__str__", []) => value(format!("str({receiver})")),
        ("__repr__", []) => value(format!("repr({receiver})")),
        ("__bool__", []) => value(format!("bool({receiver})")),
        ("__neg__", []) => value(format!("-{receiver}")),
        ("__abs__", []) => value(format!("abs({receiver})")),
        ("__int__", []) => value(format!("int({receiver})")),
        ("__float__", []) => value(format!("float({receiver})")),
        ("__hash__", []) => value(format!("hash({receiver})")),
        ("__iter__", []) => value(format!("iter({receiver})")),
        ("__next__", []) => value(format!("next({receiver})")),
        ("__call__", _) => Some(Exercised::Value(Code::call(receiver, arguments.to_vec()))),
        ("__getitem__", [key]) => {
            let open = format!("{receiver}[");
            Some(Exercised::Value(Code::group(&open, vec![key.clone()], "]")))
        }
        ("__setitem__", [key, item]) => {
            let place = Code::Text(format!("{receiver}[{}]", key.flat()));
            Some(Exercised::Statement(Code::pair(place, " = ", item.clone())))
        }
        ("__delitem__", [key]) => Some(Exercised::Statement(Code::Text(format!(
            "del {receiver}[{}]",
            key.flat()
        )))),
        ("__contains__", [item]) => value(format!("{} in {receiver}", item.flat())),
        (_, [other]) => {
            let operator = operator(name)?;
            value(format!("({receiver} {operator} {})", other.flat()))
        }
        _ => None,
    }
}

/// The operator that a special method of its left operand is for.
pub(crate) fn operator(name: &str) -> Option<&'static str> {
    Some(match name {
        "__eq__" => "==",
        "__ne__" => "!=",
        "__lt__" => "<",
        "__le__" => "<=",
        "__gt__" => ">",
        "__ge__" => ">=",
        "__add__" => "+",
        "__sub__" => "-",
        "__mul__" => "*",
        "__truediv__" => "/",
        "__floordiv__" => "//",
        "__mod__" => "%",
        "__pow__" => "**",
        "__and__" => "&",
        "__or__" => "|",
        "__xor__" => "^",
        _ => return None,
    })
}
