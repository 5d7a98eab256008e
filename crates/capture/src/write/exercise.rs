//! The call itself, as one would write it.

use super::build::{Builder, Missing};
use super::code::Code;
use super::name;
use super::plan::Setup;
use super::scope::snake_case;
use crate::inspect::Role;
use crate::recording::{Call, Outcome, Receiver, Unit};
use crate::value::{Reference, Value};

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
            Ok(Exercised::Value(match last {
                "__new__" if builder.form.constructors => Code::call(&class, arguments),
                // What it gives before the constructor has seen it.
                "__new__" => {
                    let all = std::iter::once(Code::text(&class)).chain(arguments);
                    Code::call(&format!("{class}.__new__"), all.collect())
                }
                _ => Code::call(&format!("{class}.{last}"), arguments),
            }))
        }
        Receiver::Instance(class) if is_creation(builder, unit) => {
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
            let mut arguments = builder.arguments(call, unit, 1)?;
            if let ("__getitem__" | "__setitem__" | "__delitem__", [key, ..]) =
                (last, arguments.as_mut_slice())
                && let Some(argument) = call.arguments.get(1)
            {
                *key = builder
                    .subscript(argument.before)
                    .unwrap_or_else(|| key.clone());
            }
            let role = builder.knowledge.role(unit);
            Ok(if answers_not(call) {
                // An operator would go on and ask the other operand.
                Exercised::Value(Code::call(&format!("{receiver}.{last}"), arguments))
            } else {
                on_object(role, &receiver, last, arguments)
            })
        }
    }
}

/// What another test has made a unit remember would be given to this one, whatever the unit does by then.
pub(super) fn forget_earlier_answers(
    builder: &mut Builder<'_>,
    unit: &Unit,
) -> Result<(), Missing> {
    if !builder.knowledge.is_cached(unit) {
        return Ok(());
    }
    let whole = Reference::new(unit.module.clone(), unit.qualified_name.clone());
    let unit = builder.reference(&whole)?.flat();
    let forget = Code::call(&format!("{unit}.cache_clear"), Vec::new());
    builder.setup.push(Setup::Do(forget));
    Ok(())
}

/// Whether a call makes an object. A constructor can also be called for one that has something in it already.
pub(super) fn is_creation(builder: &Builder<'_>, unit: &Unit) -> bool {
    name::last(unit) == "__init__" && (builder.form.constructors || is_for_new_object(builder.call))
}

/// Whether the object that a method is called for has nothing in it yet.
pub(super) fn is_for_new_object(call: &Call) -> bool {
    let own = call.arguments.first();
    own.is_none_or(|own| match call.values.value(own.before) {
        Value::Object(object) => object.attributes.is_empty(),
        _ => true,
    })
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
            // On one line, since a comma behind it would make it a tuple.
            value(format!("{receiver}[{}]", key.flat()))
        }
        ("__setitem__", [key, item]) => {
            let place = Code::Text(format!("{receiver}[{}]", key.flat()));
            Some(Exercised::Statement(Code::pair(place, " = ", item.clone())))
        }
        ("__delitem__", [key]) => Some(Exercised::Statement(Code::Text(format!(
            "del {receiver}[{}]",
            key.flat()
        )))),
        // In brackets, since `a in b is True` would ask two questions.
        ("__contains__", [item]) => value(format!("({} in {receiver})", item.flat())),
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
