//! Finds the parts of a PyModel program: a module with `state`, `actions`, `enablers` and
//! `domains`.

use testwright_source::tree::{Expression, ExpressionKind, Module as Tree, first_paragraph};

use super::python::ModuleNames;
use super::{Action, Callable, Input, Origin, Parts, Start, Variable};

/// Returns the parts of a module with `actions`, or `None` if it has none.
pub(crate) fn program(tree: &Tree) -> Option<Parts> {
    let module = ModuleNames::read(&tree.body);
    let listed = functions(&module, "actions")?;
    let observed = functions(&module, "observables").unwrap_or_default();
    let mut all = listed;
    for function in functions(&module, "cleanup").unwrap_or_default() {
        if !all.iter().any(|known| known.name == function.name) {
            all.push(function);
        }
    }
    let is_observed = |function: &Callable| observed.iter().any(|one| one.name == function.name);
    let actions = all.into_iter().map(|does| Action {
        guards: guards(&module, &does),
        inputs: inputs(&module, &does),
        is_observed: is_observed(&does),
        is_first: false,
        in_cases: in_cases(&module, &does),
        targets: vec![],
        does,
    });
    let state = variables(&module);
    let mut constants = module.constants(&tree.body);
    for variable in &state {
        constants.remove(&variable.name);
    }
    let latest = |spellings: &[&str]| latest(&module, spellings);
    Some(Parts {
        name: String::new(),
        intro: tree.docstring.as_deref().map(first_paragraph),
        actions: actions.collect(),
        always: latest(&["StateInvariant", "stateinvariant", "state_invariant"])
            .into_iter()
            .collect(),
        end: latest(&["Accepting", "accepting"]),
        limits: latest(&["StateFilter", "statefilter", "state_filter"]),
        helpers: module.functions.clone(),
        imported: module.imported.clone(),
        values: module.all_values(),
        is_machine: false,
        constants,
        state,
    })
}

/// Returns the functions that a name lists. A single one may stand without brackets. Those of a set
/// are in the order of the text.
fn functions(module: &ModuleNames, name: &str) -> Option<Vec<Callable>> {
    let listed = module.value(name)?;
    if let Some(only) = module.callable(listed) {
        return Some(vec![only]);
    }
    let members = module.members(listed)?;
    let found = members.iter().filter_map(|member| module.callable(member));
    let mut found: Vec<Callable> = found.filter(|one| !one.name.is_empty()).collect();
    if matches!(module.resolved(listed).kind, ExpressionKind::Set(_)) {
        found.sort_by_key(|function| function.range.start);
    }
    let mut names: Vec<String> = Vec::new();
    found.retain(|function| {
        let is_new = !names.contains(&function.name);
        names.push(function.name.clone());
        is_new
    });
    Some(found)
}

/// Returns the variables that `state` names. A bare text stands for a tuple with a forgotten comma.
fn variables(module: &ModuleNames) -> Vec<Variable> {
    let Some(state) = module.value("state") else {
        return vec![];
    };
    let names = match &module.resolved(state).kind {
        ExpressionKind::Text(only) => vec![only.clone()],
        _ => module
            .members(state)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|member| match member.kind {
                ExpressionKind::Text(name) => Some(name),
                _ => None,
            })
            .collect(),
    };
    let variable = |name: String| {
        // Runs start with the first value in the module. Functions may assign another one by
        // `global` later.
        let first = module.values.iter().find(|(given, ..)| *given == name);
        Variable {
            start: first.map_or(Start::Nothing, |(_, value, _)| Start::Value(value.clone())),
            range: module.place(&name).unwrap_or_else(|| state.range.clone()),
            name,
        }
    };
    names.into_iter().map(variable).collect()
}

fn latest(module: &ModuleNames, spellings: &[&str]) -> Option<Callable> {
    let mut found = spellings.iter().rev().filter_map(|spelling| {
        let name = Expression {
            range: 0..0,
            kind: ExpressionKind::Name((*spelling).to_owned()),
        };
        module.callable(&name)
    });
    found.next()
}

/// Returns the values that a dictionary has for an action, later ones first.
fn entries<'m>(
    module: &'m ModuleNames,
    dictionary: &str,
    action: &'m Callable,
) -> impl Iterator<Item = Expression> + 'm {
    let all = module.dictionary(dictionary);
    all.into_iter().rev().filter_map(move |(key, value)| {
        let found = module.callable(&key)?;
        (found.name == action.name).then_some(value)
    })
}

fn guards(module: &ModuleNames, action: &Callable) -> Vec<Callable> {
    let Some(listed) = entries(module, "enablers", action).next() else {
        return vec![];
    };
    if let Some(only) = module.callable(&listed) {
        return vec![only];
    }
    let members = module.members(&listed).unwrap_or_default();
    let found = members.iter().filter_map(|member| module.callable(member));
    found.collect()
}

fn inputs(module: &ModuleNames, action: &Callable) -> Vec<Input> {
    let domains = entries(module, "domains", action).next();
    let domains = domains.map_or(vec![], |domains| module.pairs(&domains));
    let origin = |name: &str| {
        let mut named = domains.iter().rev();
        let found =
            named.find(|(key, _)| matches!(&key.kind, ExpressionKind::Text(text) if text == name));
        match found {
            None => Origin::Any,
            Some((_, values)) => match module.callable(values) {
                Some(function) => Origin::Computed(function),
                None => Origin::Domain(values.clone()),
            },
        }
    };
    let inputs = action.parameters.iter().map(|parameter| Input {
        name: parameter.name.clone(),
        from: origin(&parameter.name),
        annotation: parameter.annotation.clone(),
    });
    inputs.collect()
}

fn in_cases(module: &ModuleNames, action: &Callable) -> bool {
    let combination = entries(module, "combinations", action).next();
    combination.is_some_and(
        |combination| matches!(&combination.kind, ExpressionKind::Text(text) if text == "cases"),
    )
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;

    fn read(text: &str) -> Parts {
        program(&tree::module(text).expect("Python")).expect("a program")
    }

    fn names(actions: &[Action]) -> Vec<&str> {
        actions.iter().map(|one| one.does.name.as_str()).collect()
    }

    #[test]
    fn parts_are_found_in_all_spellings() {
        let parts = read(
            "x, y = 0, None\ndef a(p, q): pass\ndef b(): pass\ndef g(): return x\n\
             def Accepting(): return True\ndef statefilter(): return x\nstate_invariant = lambda: y\n\
             state = ('x', 'y')\nactions = [a, b]\nobservables = (b,)\nenablers = {a: g, b: [g, lambda: y]}\n\
             domains = {a: {'p': [1], 'q': lambda: [x]}}\ncombinations = {a: 'cases'}\n",
        );
        assert_eq!(names(&parts.actions), ["a", "b"]);
        let [a, b] = parts.actions.as_slice() else {
            panic!("two actions")
        };
        assert_eq!((a.guards.len(), b.guards.len()), (1, 2));
        assert!(a.in_cases && !a.is_observed && b.is_observed);
        assert!(matches!(a.inputs[0].from, Origin::Domain(_)));
        assert!(matches!(a.inputs[1].from, Origin::Computed(_)));
        assert!(parts.end.is_some() && parts.limits.is_some() && parts.always.len() == 1);
        assert!(!parts.constants.contains_key("x"), "{:?}", parts.constants);
    }

    #[test]
    fn forgotten_commas_and_sets_are_understood() {
        let parts =
            read("n = 0\ndef b(): pass\ndef a(): pass\nstate = ('n')\nactions = {a, b, a}\n");
        assert_eq!(names(&parts.actions), ["b", "a"]);
        assert_eq!(parts.state.len(), 1);
        let parts = read("def a(): pass\nactions = (a)\n");
        assert_eq!(names(&parts.actions), ["a"]);
    }

    #[test]
    fn a_module_without_actions_is_no_program() {
        assert!(program(&tree::module("x = 1\n").expect("Python")).is_none());
    }
}
