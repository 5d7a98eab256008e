//! What is kept in modules and classes: set before the call, put back after it.

use super::build::{Builder, Missing};
use super::code::Code;
use super::literal;
use super::name;
use super::plan::Setup;
use crate::effects::Effect;
use crate::inspect::DefinitionKind;
use crate::recording::{Argument, Place, PlaceState, Unit};
use crate::value::{NodeId, Value};
use testwright_source::tree::ParameterKind;

/// Globals and class attributes get the values that they had, unless a fresh import gives these anyway.
pub(super) fn pin_places(builder: &mut Builder<'_>) -> Result<(), Missing> {
    let call = builder.call;
    let effects = call.effects();
    for state in &call.places {
        let changes = changes(builder, state, &effects);
        let is_import = [state.before, state.after]
            .into_iter()
            .any(|held| call.is_import(&state.place, held));
        if is_import || (state.is_as_imported && !changes) {
            continue;
        }
        let stand = builder.stand();
        let (owner, name) = match owner(builder, &state.place) {
            Ok(Some(owner)) => owner,
            Ok(None) if changes => {
                let what = "a variable of an enclosing function, or a default, that is changed";
                return Err(Missing(what.to_owned()));
            }
            Err(missing) if changes => return Err(missing),
            Ok(None) | Err(_) => continue,
        };
        match state.before {
            None => builder.setup.push(Setup::PinAbsent { owner, name }),
            Some(before) if is_command(&state.place) => {
                let value = command(builder, before)?;
                builder.setup.push(Setup::pin(owner, name, value));
            }
            Some(before) => match builder.value(before, &name) {
                Ok(value) => builder.setup.push(Setup::Pin {
                    is_made_later: is_made_later(builder, &state.place),
                    owner,
                    name,
                    value,
                }),
                // Perhaps it is not needed; running the test tells. Neither is then what its owner was to be imported for, and
                // that may be a class that nobody can import.
                Err(_) if !changes => builder.restore(stand),
                Err(missing) => return Err(Missing(format!("{name} is {}", missing.0))),
            },
        }
    }
    Ok(())
}

/// Default values that the call changes are the same objects in each call, so they are put back.
pub(super) fn pin_defaults(builder: &mut Builder<'_>, unit: &Unit) -> Result<(), Missing> {
    let call = builder.call;
    let is_changed = |argument: &Argument| {
        let graph = &call.values;
        let after = argument.after.unwrap_or(argument.before);
        argument.is_default && !graph.is_alike(argument.before, graph, after)
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
        return Err(Missing("a default that is changed".to_owned()));
    };
    let mut values = Vec::new();
    for parameter in &function.signature.parameters {
        let is_positional = matches!(
            parameter.kind,
            ParameterKind::PositionalOnly | ParameterKind::Normal
        );
        let given = call.arguments.iter().find(|one| one.name == parameter.name);
        match given {
            Some(given) if is_positional && given.is_default => {
                values.push(builder.value(given.before, &given.name)?);
            }
            Some(given) if is_positional && parameter.default.is_none() && !given.is_default => {}
            Some(given) if !is_positional && !is_changed(given) => {}
            _ => return Err(Missing("a default that is changed".to_owned())),
        }
    }
    let owner = builder.reference(&name::importable(unit, call))?;
    let name = "__defaults__".to_owned();
    let value = Code::tuple(values);
    builder.setup.push(Setup::pin(owner, name, value));
    Ok(())
}

/// Whether a variable is there only since some function made it.
fn is_made_later(builder: &Builder<'_>, place: &Place) -> bool {
    match place {
        Place::Global { module, name } => {
            let module = builder.scope.module_name(module);
            !builder.knowledge.binds(module, name)
        }
        _ => false,
    }
}

/// Whether a place holds the words of the command that ran the program.
fn is_command(place: &Place) -> bool {
    matches!(place, Place::Global { module, name } if module == "sys" && name == "argv")
}

/// The words of the command. Where the program is depends on the machine.
fn command(builder: &mut Builder<'_>, node: NodeId) -> Result<Code, Missing> {
    let graph = &builder.call.values;
    let Value::List(words) = graph.value(node) else {
        return builder.value(node, "argv");
    };
    let mut items = Vec::new();
    for (place, word) in words.iter().enumerate() {
        items.push(match graph.value(*word) {
            Value::Text(program) if place == 0 => {
                literal::text(program.rsplit('/').next().unwrap_or(program))
            }
            _ => builder.value(*word, "")?,
        });
    }
    Ok(Code::list(items))
}

/// Whether a call changes what a place holds, or anything inside of it.
fn changes(builder: &Builder<'_>, state: &PlaceState, effects: &[Effect]) -> bool {
    let graph = &builder.call.values;
    match (state.before, state.after) {
        (Some(before), Some(after)) => {
            let rebound = effects.iter().any(
                |effect| matches!(effect, Effect::Rebound { place, .. } if *place == state.place),
            );
            rebound || !graph.is_alike(before, graph, after)
        }
        (None, None) => false,
        _ => true,
    }
}

/// The module or class that a place belongs to, and the name of the place in it.
pub(super) fn owner(
    builder: &mut Builder<'_>,
    place: &Place,
) -> Result<Option<(Code, String)>, Missing> {
    Ok(match place {
        Place::Global { module, name } => Some((builder.scope.module(module), name.clone())),
        Place::ClassAttribute { class, name } => Some((builder.reference(class)?, name.clone())),
        Place::Cell { .. } | Place::Default { .. } => None,
    })
}
