//! Checks that names of actions, in options and in scenarios, are names that models have.

use testwright_core::Error;
use testwright_core::spelling;
use testwright_model::Filter;

/// The actions of a module, before any of them is left out.
pub(super) struct ModuleActions {
    /// The name of the module.
    pub(super) module: String,
    /// The role of the module in a product.
    pub(super) role: ModuleRole,
    /// The names of its actions.
    pub(super) names: Vec<String>,
}

/// The role of a module in a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ModuleRole {
    /// A model program, which decides which actions there are.
    Program,
    /// A state machine: a scenario, or a model of its own.
    Machine,
    /// A list of runs.
    Suite,
}

/// Returns an error if a filter or a scenario names an action that does not exist.
pub(super) fn check(
    modules: &[ModuleActions],
    filter: &Filter,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    let all = names_of(modules.iter());
    for (option, named) in [
        ("--action", &filter.include),
        ("--exclude", &filter.exclude),
    ] {
        if let Some(unknown) = named.iter().find(|name| !all.contains(name)) {
            return Err(
                Error::new(format!("`{option} {unknown}`: no model has such an action"))
                    .with_help(spelling::advice(unknown, "actions", all.iter().cloned())),
            );
        }
    }
    for (index, module) in modules.iter().enumerate() {
        let others = modules.iter().enumerate();
        let others = others.filter(|(other, _)| *other != index);
        let others: Vec<&ModuleActions> = others.map(|(_, other)| other).collect();
        check_scenario(module, &others, warnings)?;
    }
    Ok(())
}

/// Returns an error if a scenario has an action that seems to be misspelt.
///
/// Each step of a suite is meant for another model. A machine may be a model of its own, so one of
/// its actions is only an error if its name is almost that of another.
fn check_scenario(
    module: &ModuleActions,
    others: &[&ModuleActions],
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    let takes_part = |other: &&&ModuleActions| match module.role {
        ModuleRole::Program => false,
        ModuleRole::Machine => other.role == ModuleRole::Program,
        ModuleRole::Suite => other.role != ModuleRole::Suite,
    };
    let known = names_of(others.iter().filter(takes_part).copied());
    if known.is_empty() {
        return Ok(());
    }
    let is_shared = |name: &String| names_of(others.iter().copied()).contains(name);
    for name in module.names.iter().filter(|name| !is_shared(name)) {
        let meant = spelling::closest(name, known.iter().cloned());
        if module.role == ModuleRole::Suite || meant.is_some() {
            let message = format!(
                "`{}` has the action `{name}`, and no other model does",
                module.module
            );
            return Err(Error::new(message).with_help(spelling::advice(name, "actions", known)));
        }
        if module.names.iter().any(is_shared) {
            warnings.push(format!(
                "only `{}` has the action `{name}`, so no other model takes part in it",
                module.module
            ));
        }
    }
    Ok(())
}

/// Returns the distinct names of the actions of modules.
fn names_of<'a>(modules: impl Iterator<Item = &'a ModuleActions>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in modules.flat_map(|module| &module.names) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}
