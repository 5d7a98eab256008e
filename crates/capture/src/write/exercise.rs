//! The exercise phase of a test: the call itself, as a programmer would write it.

use super::build::{BuildError, ValueBuilder};
use super::code::PythonCode;
use super::name;
use super::plan::SetupStep;
use super::scope::snake_case;
use crate::inspect::FunctionRole;
use crate::recording::{Call, CallOutcome, CodeUnit, Receiver};
use crate::value::{ImportPath, Value};

/// The code that calls a unit.
pub(crate) enum CallCode {
    /// An expression.
    Value(PythonCode),
    /// A statement, which has no value.
    Statement(PythonCode),
    /// The creation of an object.
    Creation(PythonCode),
}

/// Writes the call of the unit under test.
pub(super) fn write_call(
    builder: &mut ValueBuilder<'_>,
    unit: &CodeUnit,
) -> Result<CallCode, BuildError> {
    let call = builder.call;
    let last = name::last_name(unit);
    match &call.receiver {
        Receiver::None => {
            let callable = builder
                .reference_code(&name::import_path(unit, call))?
                .one_line();
            let arguments = builder.argument_codes(call, unit, 0)?;
            Ok(CallCode::Value(PythonCode::call(&callable, arguments)))
        }
        Receiver::Class(class) => {
            let class = builder.reference_code(class)?.one_line();
            let arguments = builder.argument_codes(call, unit, 1)?;
            Ok(CallCode::Value(match last {
                "__new__" if builder.form.constructors => PythonCode::call(&class, arguments),
                // `__new__` alone, without running the constructor.
                "__new__" => {
                    let all = std::iter::once(PythonCode::text(&class)).chain(arguments);
                    PythonCode::call(&format!("{class}.__new__"), all.collect())
                }
                _ => PythonCode::call(&format!("{class}.{last}"), arguments),
            }))
        }
        Receiver::Instance(class) if is_creation(builder, unit) => {
            let class = builder.reference_code(class)?.one_line();
            let arguments = builder.argument_codes(call, unit, 1)?;
            Ok(CallCode::Creation(PythonCode::call(&class, arguments)))
        }
        Receiver::Instance(class) => {
            let own = call
                .arguments
                .first()
                .ok_or_else(|| BuildError("the object is not known".to_owned()))?;
            if let Some(object) = call.values.object(own.before) {
                builder.require_name(object);
            }
            let hint = snake_case(class.name());
            let receiver = match builder.call_value(own.before, &hint) {
                Err(_) if builder.is_lenient => builder.placeholder(&hint),
                Err(BuildError(what)) => return Err(BuildError(format!("the object is {what}"))),
                Ok(receiver) => receiver,
            };
            let receiver = receiver.one_line();
            let mut arguments = builder.argument_codes(call, unit, 1)?;
            if let ("__getitem__" | "__setitem__" | "__delitem__", [key, ..]) =
                (last, arguments.as_mut_slice())
                && let Some(argument) = call.arguments.get(1)
            {
                *key = builder
                    .subscript_code(argument.before)
                    .unwrap_or_else(|| key.clone());
            }
            let role = builder.knowledge.role(unit);
            Ok(if returns_not_implemented(call) {
                // An operator would go on and try the other operand.
                CallCode::Value(PythonCode::call(&format!("{receiver}.{last}"), arguments))
            } else {
                method_code(role, &receiver, last, arguments)
            })
        }
    }
}

/// Clears the cache of a unit, which would answer with the results of earlier tests.
pub(super) fn clear_cache(
    builder: &mut ValueBuilder<'_>,
    unit: &CodeUnit,
) -> Result<(), BuildError> {
    if !builder.knowledge.is_cached(unit) {
        return Ok(());
    }
    let whole = ImportPath::new(unit.module.clone(), unit.qualified_name.clone());
    let unit = builder.reference_code(&whole)?.one_line();
    let forget = PythonCode::call(&format!("{unit}.cache_clear"), Vec::new());
    builder.setup.push(SetupStep::Evaluate(forget));
    Ok(())
}

/// Returns true if a call makes an object. A constructor can also be called for an object that has
/// attributes already.
pub(super) fn is_creation(builder: &ValueBuilder<'_>, unit: &CodeUnit) -> bool {
    name::last_name(unit) == "__init__"
        && (builder.form.constructors || is_for_new_object(builder.call))
}

/// Returns true if the receiver of a method has no attributes yet.
pub(super) fn is_for_new_object(call: &Call) -> bool {
    let own = call.arguments.first();
    own.is_none_or(|own| match call.values.value(own.before) {
        Value::Object(object) => object.attributes.is_empty(),
        _ => true,
    })
}

/// Returns true if a call returned `NotImplemented`.
fn returns_not_implemented(call: &Call) -> bool {
    matches!(&call.outcome, CallOutcome::Returned(result)
        if *call.values.value(*result) == Value::NotImplemented)
}

/// Writes an operation on an object: an attribute access, an operator or a method call.
pub(crate) fn method_code(
    role: Option<FunctionRole>,
    receiver: &str,
    name: &str,
    arguments: Vec<PythonCode>,
) -> CallCode {
    let attribute = format!("{receiver}.{name}");
    match (role, arguments.as_slice()) {
        (Some(FunctionRole::Getter), []) => CallCode::Value(PythonCode::Text(attribute)),
        (Some(FunctionRole::Setter), [value]) => CallCode::Statement(PythonCode::pair(
            PythonCode::Text(attribute),
            " = ",
            value.clone(),
        )),
        (Some(FunctionRole::Deleter), []) => {
            CallCode::Statement(PythonCode::Text(format!("del {attribute}")))
        }
        _ => special_method(receiver, name, &arguments)
            .unwrap_or_else(|| CallCode::Value(PythonCode::call(&attribute, arguments))),
    }
}

/// Writes the call of a special method by the syntax that it implements.
fn special_method(receiver: &str, name: &str, arguments: &[PythonCode]) -> Option<CallCode> {
    let value = |text: String| Some(CallCode::Value(PythonCode::Text(text)));
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
        ("__call__", _) => Some(CallCode::Value(PythonCode::call(
            receiver,
            arguments.to_vec(),
        ))),
        ("__getitem__", [key]) => {
            // On one line, because a comma after the key would make it a tuple.
            value(format!("{receiver}[{}]", key.one_line()))
        }
        ("__setitem__", [key, item]) => {
            let item_code = PythonCode::Text(format!("{receiver}[{}]", key.one_line()));
            Some(CallCode::Statement(PythonCode::pair(
                item_code,
                " = ",
                item.clone(),
            )))
        }
        ("__delitem__", [key]) => Some(CallCode::Statement(PythonCode::Text(format!(
            "del {receiver}[{}]",
            key.one_line()
        )))),
        // In brackets, because `a in b is True` would be a chained comparison.
        ("__contains__", [item]) => value(format!("({} in {receiver})", item.one_line())),
        (_, [other]) => {
            let operator = binary_operator(name)?;
            value(format!("({receiver} {operator} {})", other.one_line()))
        }
        _ => None,
    }
}

/// Returns the operator that a special method of its left operand implements.
pub(crate) fn binary_operator(name: &str) -> Option<&'static str> {
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
