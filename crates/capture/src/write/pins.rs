//! What is kept in modules and classes: set before the call, put back after it.

use super::build::{Builder, Missing};
use super::code::Code;
use super::literal;
use super::plan::Setup;
use crate::effects::Effect;
use crate::recording::{Place, PlaceState};
use crate::value::{NodeId, Value};

/// Globals and class attributes get the values that they had, unless a fresh import gives these anyway.
pub(super) fn pin_places(builder: &mut Builder<'_>) -> Result<(), Missing> {
    let call = builder.call;
    let effects = call.effects();
    for state in &call.places {
        let changes = changes(builder, state, &effects);
        if state.is_as_imported && !changes {
            continue;
        }
        let Some((owner, name)) = owner(builder, &state.place)? else {
            if changes {
                let what = "a variable of an enclosing function, or a default, that is changed";
                return Err(Missing(what.to_owned()));
            }
            continue;
        };
        match state.before {
            None => builder.setup.push(Setup::PinAbsent { owner, name }),
            Some(before) if is_command(&state.place) => {
                let value = command(builder, before)?;
                builder.setup.push(Setup::Pin { owner, name, value });
            }
            Some(before) => match builder.value(before, &name) {
                Ok(value) => builder.setup.push(Setup::Pin { owner, name, value }),
                // Perhaps it is not needed; running the test tells.
                Err(_) if !changes => {}
                Err(missing) => return Err(Missing(format!("{name} is {}", missing.0))),
            },
        }
    }
    Ok(())
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
