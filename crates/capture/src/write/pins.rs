//! Setup of module and class variables: set before the call, restored after it.

use super::build::{BuildError, ValueBuilder};
use super::code::PythonCode;
use super::literal;
use super::name;
use super::plan::SetupStep;
use crate::effects::CallEffect;
use crate::inspect::DefinitionKind;
use crate::recording::{BoundArgument, CodeUnit, ProgramVariable, VariableState};
use crate::value::{NodeId, Value};
use testwright_source::tree::ParameterKind;

/// Sets globals and class attributes to the values that they had, unless a fresh import gives them
/// anyway.
pub(super) fn pin_variables(builder: &mut ValueBuilder<'_>) -> Result<(), BuildError> {
    let call = builder.call;
    let effects = call.effects();
    for state in &call.variables {
        let changes = is_changed_by_call(builder, state, &effects);
        let is_import = [state.before, state.after]
            .into_iter()
            .any(|held| call.is_import(&state.variable, held));
        if is_import || (state.is_as_imported && !changes) {
            continue;
        }
        let checkpoint = builder.checkpoint();
        let (owner, name) = match owner_and_name(builder, &state.variable) {
            Ok(Some(owner)) => owner,
            Ok(None) if changes => {
                let reason = "a variable of an enclosing function, or a default, that is changed";
                return Err(BuildError(reason.to_owned()));
            }
            Err(missing) if changes => return Err(missing),
            Ok(None) | Err(_) => continue,
        };
        match state.before {
            None => builder.setup.push(SetupStep::PinAbsent { owner, name }),
            Some(before) if is_command_line(&state.variable) => {
                let value = command_line_code(builder, before)?;
                builder.setup.push(SetupStep::pin(owner, name, value));
            }
            Some(before) => match builder.call_value(before, &name) {
                Ok(value) => builder.setup.push(SetupStep::Pin {
                    is_created_later: is_created_later(builder, &state.variable),
                    owner,
                    name,
                    value,
                }),
                // The test may not need it; running the test decides. Its owner may be a class that
                // cannot be imported, so the import for it is undone as well.
                Err(_) if !changes => builder.restore(checkpoint),
                Err(missing) => return Err(BuildError(format!("{name} is {}", missing.0))),
            },
        }
    }
    Ok(())
}

/// Restores the defaults of parameters that the call changes. They are the same objects in each
/// call.
pub(super) fn pin_defaults(
    builder: &mut ValueBuilder<'_>,
    unit: &CodeUnit,
) -> Result<(), BuildError> {
    let call = builder.call;
    let is_changed = |argument: &BoundArgument| {
        let graph = &call.values;
        let after = argument.after.unwrap_or(argument.before);
        argument.is_default && !graph.is_isomorphic(argument.before, graph, after)
    };
    if !call.arguments.iter().any(is_changed) {
        return Ok(());
    }
    let module = builder
        .knowledge
        .project
        .module_at(std::path::Path::new(&unit.file));
    let definition = module.and_then(|module| module.definition(&unit.qualified_name));
    let Some(DefinitionKind::Function(function)) = definition.map(|found| &found.kind) else {
        return Err(BuildError("a default that is changed".to_owned()));
    };
    let mut values = Vec::new();
    for parameter in &function.signature.parameters {
        let is_positional = matches!(
            parameter.kind,
            ParameterKind::PositionalOnly | ParameterKind::Normal
        );
        let argument = call.arguments.iter().find(|one| one.name == parameter.name);
        match argument {
            Some(argument) if is_positional && argument.is_default => {
                values.push(builder.call_value(argument.before, &argument.name)?);
            }
            Some(argument)
                if is_positional && parameter.default.is_none() && !argument.is_default => {}
            Some(argument) if !is_positional && !is_changed(argument) => {}
            _ => return Err(BuildError("a default that is changed".to_owned())),
        }
    }
    let owner = builder.reference_code(&name::import_path(unit, call))?;
    let name = "__defaults__".to_owned();
    let value = PythonCode::tuple(values);
    builder.setup.push(SetupStep::pin(owner, name, value));
    Ok(())
}

/// Returns true if the module does not bind a variable at import, so that a function must have
/// created it.
fn is_created_later(builder: &ValueBuilder<'_>, variable: &ProgramVariable) -> bool {
    match variable {
        ProgramVariable::Global { module, name } => {
            let module = builder.scope.module_name(module);
            !builder.knowledge.binds_at_import(module, name)
        }
        _ => false,
    }
}

/// Returns true if a variable is `sys.argv`.
fn is_command_line(variable: &ProgramVariable) -> bool {
    matches!(variable, ProgramVariable::Global { module, name } if module == "sys" && name == "argv")
}

/// Writes the list of command line words. The program's folder depends on the machine, so only its
/// file name is kept.
fn command_line_code(
    builder: &mut ValueBuilder<'_>,
    node: NodeId,
) -> Result<PythonCode, BuildError> {
    let graph = &builder.call.values;
    let Value::List(words) = graph.value(node) else {
        return builder.call_value(node, "argv");
    };
    let mut items = Vec::new();
    for (index, word) in words.iter().enumerate() {
        items.push(match graph.value(*word) {
            Value::Text(program) if index == 0 => {
                literal::text_literal(program.rsplit('/').next().unwrap_or(program))
            }
            _ => builder.call_value(*word, "")?,
        });
    }
    Ok(PythonCode::list(items))
}

/// Returns true if a call rebinds a variable or changes anything inside of its value.
fn is_changed_by_call(
    builder: &ValueBuilder<'_>,
    state: &VariableState,
    effects: &[CallEffect],
) -> bool {
    let graph = &builder.call.values;
    match (state.before, state.after) {
        (Some(before), Some(after)) => {
            let rebound = effects.iter().any(
                |effect| matches!(effect, CallEffect::Rebound { variable, .. } if *variable == state.variable),
            );
            rebound || !graph.is_isomorphic(before, graph, after)
        }
        (None, None) => false,
        _ => true,
    }
}

/// Returns the module or class that owns a variable, and the variable's name in it; `None` for
/// variables of functions.
pub(super) fn owner_and_name(
    builder: &mut ValueBuilder<'_>,
    variable: &ProgramVariable,
) -> Result<Option<(PythonCode, String)>, BuildError> {
    Ok(match variable {
        ProgramVariable::Global { module, name } => {
            Some((builder.scope.module(module), name.clone()))
        }
        ProgramVariable::ClassAttribute { class, name } => {
            Some((builder.reference_code(class)?, name.clone()))
        }
        ProgramVariable::ClosureVariable { .. } | ProgramVariable::Default { .. } => None,
    })
}
