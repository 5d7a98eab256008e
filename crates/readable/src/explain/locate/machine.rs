//! Finds the parts of a Hypothesis state machine: a class with rules, preconditions, invariants and
//! bundles.

use testwright_source::tree::{
    Class, Expression, ExpressionKind, Function, Keyword, Module as Tree, Statement, StatementKind,
    first_paragraph,
};

use super::drawn::drawn;
use super::lineage::{classes, is_derived, last_word, lineage, whole};
use super::python::{ModuleNames, callable};
use super::{Action, Callable, Input, Origin, Parts, Start, Variable};

/// Returns the parts of the machine with this name, or of the first one that no other is derived
/// from. Returns `None` if there is none.
pub(crate) fn machine(tree: &Tree, wanted: Option<&str>) -> Option<Parts> {
    let all: Vec<&Class> = classes(tree).filter(|one| is_machine(one, tree)).collect();
    let is_base = |class: &Class| all.iter().any(|other| is_derived(other, class, tree));
    let class = all.iter().find(|class| match wanted {
        Some(name) => class.name == name,
        None => !is_base(class),
    })?;
    let module = ModuleNames::read(&tree.body);
    Some(read(&whole(class, tree), &module, tree))
}

/// Returns the names of all machines.
pub(crate) fn machines(tree: &Tree) -> Vec<String> {
    let all = classes(tree).filter(|class| is_machine(class, tree));
    all.map(|class| class.name.clone()).collect()
}

/// Returns true if a class is a machine: it is derived from one by name, or has rules, its own or
/// inherited.
fn is_machine(class: &Class, tree: &Tree) -> bool {
    lineage(class, tree).into_iter().any(|one| {
        let mut bases = one.bases.iter().filter_map(last_word);
        bases.any(|word| word.ends_with("StateMachine"))
            || methods(one).any(|(method, _)| decorator(method, "rule").is_some())
    })
}

fn methods(class: &Class) -> impl Iterator<Item = (&Function, &Statement)> {
    class.body.iter().filter_map(|one| match &one.kind {
        StatementKind::Function(function) => Some((&**function, one)),
        _ => None,
    })
}

/// Arguments of a decorator.
type Arguments<'t> = (&'t [Expression], &'t [Keyword]);

fn decorator<'t>(
    function: &'t testwright_source::tree::Function,
    name: &str,
) -> Option<Arguments<'t>> {
    decorators(function, name).next()
}

fn decorators<'t>(
    function: &'t testwright_source::tree::Function,
    name: &str,
) -> impl Iterator<Item = Arguments<'t>> {
    function.decorators.iter().filter_map(move |one| {
        let ExpressionKind::Call {
            function,
            arguments,
            keywords,
        } = &one.kind
        else {
            return None;
        };
        let words = function.dotted_parts()?;
        (words.last() == Some(&name)).then_some((arguments.as_slice(), keywords.as_slice()))
    })
}

fn read(class: &Class, module: &ModuleNames, tree: &Tree) -> Parts {
    let own = ModuleNames::read(&class.body);
    let bundles: Vec<&str> = own
        .values
        .iter()
        .filter(|(_, value, _)| is_bundle(value))
        .map(|(name, ..)| name.as_str())
        .collect();
    let mut parts = Parts {
        name: class.name.clone(),
        intro: class.docstring.as_deref().map(first_paragraph),
        state: variables(class, &own),
        helpers: module.functions.clone(),
        constants: module.constants(&tree.body),
        imported: module.imported.clone(),
        values: module.all_values(),
        is_machine: true,
        ..Parts::default()
    };
    for (method, statement) in methods(class) {
        let mut does = callable(method, &statement.range);
        let guards = decorators(method, "precondition");
        let guards = guards.filter_map(|(arguments, _)| {
            arguments
                .first()
                .and_then(|guard| own.callable(guard).or_else(|| module.callable(guard)))
        });
        let mut guards: Vec<Callable> = guards.collect();
        // Decorators are applied from bottom to top, but read from top to bottom.
        guards.dedup_by(|one, other| one.range == other.range);
        let initialize = decorator(method, "initialize").filter(|(_, keywords)| {
            // Rules that only set variables become their start values.
            !targets(keywords).is_empty() || !only_sets(&method.body)
        });
        if let Some((_, keywords)) = decorator(method, "rule").or(initialize) {
            let mut inputs = inputs(method, keywords, &bundles);
            drawn(&mut inputs, &mut does);
            parts.actions.push(Action {
                guards,
                inputs,
                is_first: initialize.is_some(),
                is_observed: false,
                in_cases: false,
                targets: targets(keywords),
                does,
            });
        } else if decorator(method, "invariant").is_some() {
            parts
                .always
                .push(guards.into_iter().rev().fold(does, only_if));
        } else {
            parts.helpers.insert(format!("self.{}", method.name), does);
        }
    }
    parts.actions.sort_by_key(|action| !action.is_first);
    // An attribute of the class that is never changed is a constant, read through `self`.
    let changed = assigned(class);
    for (name, value, _) in &own.values {
        let is_variable = parts.state.iter().any(|one| one.name == *name);
        if !is_variable && !bundles.contains(&name.as_str()) && !changed.contains(name) {
            parts
                .constants
                .insert(format!("self.{name}"), value.clone());
        }
    }
    parts
}

/// Combines an invariant with its precondition: it is not checked if the precondition is false.
fn only_if(invariant: Callable, guard: Callable) -> Callable {
    let receiver = |one: &Callable| one.parameters.first().map(|first| first.name.clone());
    let is_same = receiver(&guard) == receiver(&invariant);
    match guard.body.as_slice() {
        [
            Statement {
                kind: StatementKind::Return(Some(condition)),
                range,
            },
        ] if is_same => {
            let kind = StatementKind::If {
                condition: condition.clone(),
                body: invariant.body,
                otherwise: vec![],
            };
            let range = range.clone();
            Callable {
                body: vec![Statement { range, kind }],
                ..invariant
            }
        }
        _ => invariant,
    }
}

fn is_bundle(value: &Expression) -> bool {
    matches!(&value.kind, ExpressionKind::Call { function, .. }
        if function.dotted_parts().and_then(|words| words.last().copied()) == Some("Bundle"))
}

/// Returns the variables: `self.x = …` in `__init__` and in initialising rules, then bundles.
fn variables(class: &Class, own: &ModuleNames) -> Vec<Variable> {
    let mut variables: Vec<Variable> = Vec::new();
    let is_first = |method: &Function| method.name == "__init__";
    let first = methods(class).filter(|(method, _)| is_first(method));
    let later = methods(class).filter(|(method, _)| !is_first(method));
    for (method, _) in first.chain(later) {
        let initialize = decorator(method, "initialize");
        if !is_first(method) && initialize.is_none() {
            continue;
        }
        let strategies = initialize.map_or(&[][..], |(_, keywords)| keywords);
        let mut given = Vec::new();
        started(&method.body, &mut given);
        for mut variable in given {
            draw(&mut variable, strategies);
            // Initialising rules run after `__init__`, and before all other rules.
            match variables.iter_mut().find(|one| one.name == variable.name) {
                Some(known) => *known = variable,
                None => variables.push(variable),
            }
        }
    }
    // An attribute of the class that is changed through `self` is a variable like any other.
    let changed = assigned(class);
    for (name, value, range) in &own.values {
        let known = variables.iter().any(|one| one.name == *name);
        if !known && changed.contains(name) && !is_bundle(value) {
            variables.push(Variable {
                name: name.clone(),
                start: Start::Value(value.clone()),
                range: range.clone(),
            });
        }
    }
    for (name, value, range) in &own.values {
        if is_bundle(value) {
            variables.push(Variable {
                name: name.clone(),
                start: Start::Bundle,
                range: range.clone(),
            });
        }
    }
    variables
}

fn started(body: &[Statement], variables: &mut Vec<Variable>) {
    for statement in body {
        let (targets, value) = match &statement.kind {
            StatementKind::Assign { targets, value } => (targets.as_slice(), value),
            StatementKind::Annotated {
                target,
                value: Some(value),
                ..
            } => (std::slice::from_ref(target), value),
            _ => continue,
        };
        for target in targets {
            start(target, value, statement, variables);
        }
    }
}

/// Returns true if statements only give variables their start values.
fn only_sets(body: &[Statement]) -> bool {
    body.iter().all(|statement| {
        let mut variables = Vec::new();
        started(std::slice::from_ref(statement), &mut variables);
        match &statement.kind {
            StatementKind::Expression(value) => matches!(value.kind, ExpressionKind::Text(_)),
            StatementKind::Pass => true,
            _ => !variables.is_empty(),
        }
    })
}

pub(super) fn mentions(expression: &Expression, name: &str) -> bool {
    let inside = crate::property::child_expressions(expression);
    expression.as_name() == Some(name) || inside.into_iter().any(|one| mentions(one, name))
}

/// Replaces the start value of a variable that is an argument of the rule by the argument's
/// strategy.
fn draw(variable: &mut Variable, strategies: &[Keyword]) {
    let Start::Value(value) = &variable.start else {
        return;
    };
    let argument = value.as_name();
    let strategy = strategies
        .iter()
        .find(|keyword| argument.is_some() && keyword.name.as_deref() == argument);
    if let Some(strategy) = strategy {
        variable.start = Start::Drawn(strategy.value.clone());
        return;
    }
    let inputs: Vec<String> = strategies
        .iter()
        .filter_map(|keyword| keyword.name.clone())
        .collect();
    if inputs.iter().any(|input| mentions(value, input)) {
        variable.start = Start::Made(value.clone(), inputs);
    }
}

fn start(
    target: &Expression,
    value: &Expression,
    statement: &Statement,
    variables: &mut Vec<Variable>,
) {
    match (&target.kind, &value.kind) {
        (ExpressionKind::Tuple(targets), ExpressionKind::Tuple(values))
            if targets.len() == values.len() =>
        {
            for (target, value) in targets.iter().zip(values) {
                start(target, value, statement, variables);
            }
        }
        _ => {
            let Some(["self", name]) = target.dotted_parts().as_deref().map(|words| match words {
                [owner, name] => [*owner, *name],
                _ => ["", ""],
            }) else {
                return;
            };
            if !variables.iter().any(|known| known.name == name) {
                variables.push(Variable {
                    name: name.to_owned(),
                    start: Start::Value(value.clone()),
                    range: statement.range.clone(),
                });
            }
        }
    }
}

/// Returns the attributes of `self` that methods set.
fn assigned(class: &Class) -> Vec<String> {
    let mut names = Vec::new();
    for (method, _) in methods(class) {
        let mut found = Vec::new();
        gather(&method.body, &mut found);
        names.append(&mut found);
    }
    names
}

fn gather(body: &[Statement], names: &mut Vec<String>) {
    for statement in body {
        let targets: Vec<&Expression> = match &statement.kind {
            StatementKind::Assign { targets, .. } => targets.iter().collect(),
            StatementKind::Augmented { target, .. } | StatementKind::Annotated { target, .. } => {
                vec![target]
            }
            StatementKind::If {
                body, otherwise, ..
            }
            | StatementKind::For {
                body, otherwise, ..
            }
            | StatementKind::While {
                body, otherwise, ..
            } => {
                gather(body, names);
                gather(otherwise, names);
                continue;
            }
            StatementKind::With { body, .. } | StatementKind::Try { body, .. } => {
                gather(body, names);
                continue;
            }
            _ => continue,
        };
        for target in targets {
            let all = match &target.kind {
                ExpressionKind::Tuple(all) => all.iter().collect(),
                _ => vec![target],
            };
            for one in all {
                if let Some(words) = one.dotted_parts()
                    && let ["self", name] = words.as_slice()
                {
                    names.push((*name).to_owned());
                }
            }
        }
    }
}

/// Returns the arguments of a rule, in the order of the method's parameters.
fn inputs(
    method: &testwright_source::tree::Function,
    keywords: &[Keyword],
    bundles: &[&str],
) -> Vec<Input> {
    let parameters = method.parameters.iter().filter(|one| one.name != "self");
    let input = |parameter: &testwright_source::tree::Parameter| {
        let named = keywords
            .iter()
            .find(|keyword| keyword.name.as_deref() == Some(parameter.name.as_str()));
        Input {
            name: parameter.name.clone(),
            from: named.map_or(Origin::Any, |keyword| origin(&keyword.value, bundles)),
            annotation: parameter.annotation.clone(),
        }
    };
    parameters.map(input).collect()
}

fn origin(strategy: &Expression, bundles: &[&str]) -> Origin {
    match bundle(strategy, bundles) {
        Some((name, is_consumed)) => Origin::Bundle {
            name,
            is_consumed,
            filtered: strategy.dotted_parts().is_none().then(|| strategy.clone()),
        },
        None => Origin::Strategy(strategy.clone()),
    }
}

/// Returns the bundle that a strategy takes values from, and true if they are consumed: `items`,
/// `consumes(items)`, both with any number of filters.
fn bundle(strategy: &Expression, bundles: &[&str]) -> Option<(String, bool)> {
    if let Some(name) = strategy
        .dotted_parts()
        .and_then(|words| words.last().copied())
    {
        return bundles.contains(&name).then(|| (name.to_owned(), false));
    }
    let ExpressionKind::Call {
        function,
        arguments,
        ..
    } = &strategy.kind
    else {
        return None;
    };
    match (&function.kind, arguments.as_slice()) {
        (ExpressionKind::Attribute { object, name }, [_]) if name == "filter" => {
            bundle(object, bundles)
        }
        (_, [inner]) if function.dotted_parts()?.last() == Some(&"consumes") => {
            bundle(inner, bundles).map(|(name, _)| (name, true))
        }
        _ => None,
    }
}

fn targets(keywords: &[Keyword]) -> Vec<String> {
    let mut names = Vec::new();
    for keyword in keywords {
        let all = match (keyword.name.as_deref(), &keyword.value.kind) {
            (Some("target"), _) => vec![&keyword.value],
            (Some("targets"), ExpressionKind::Tuple(all) | ExpressionKind::List(all)) => {
                all.iter().collect()
            }
            _ => continue,
        };
        let last = |one: &&Expression| {
            one.dotted_parts()
                .and_then(|words| words.last().copied().map(str::to_owned))
        };
        names.extend(all.iter().filter_map(last));
    }
    names
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;

    const TEXT: &str = "\
class Bank(RuleBasedStateMachine):
    '''A bank.

    More.
    '''
    accounts = Bundle('accounts')
    limit = 5
    open = True

    def __init__(self):
        super().__init__()
        self.total, self.log = 0, []

    @rule(target=accounts, name=st.text())
    def add(self, name):
        self.open = False
        return name

    @precondition(lambda self: self.total > 0)
    @rule(one=accounts, other=consumes(accounts), n=st.integers())
    def move(self, one, other, n):
        self.helper()

    @invariant()
    def fine(self):
        assert self.total >= 0

    def helper(self):
        self.total += 1
";

    #[test]
    fn parts_of_a_machine_are_found() {
        let parts = machine(&tree::module(TEXT).expect("Python"), None).expect("a machine");
        assert_eq!(parts.intro.as_deref(), Some("A bank."));
        let state: Vec<_> = parts.state.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(state, ["total", "log", "open", "accounts"]);
        let [add, take] = parts.actions.as_slice() else {
            panic!("two rules")
        };
        assert_eq!(add.targets, ["accounts"]);
        assert!(matches!(add.inputs[0].from, Origin::Strategy(_)));
        assert!(matches!(
            &take.inputs[0].from,
            Origin::Bundle {
                is_consumed: false,
                ..
            }
        ));
        assert!(matches!(
            &take.inputs[1].from,
            Origin::Bundle {
                is_consumed: true,
                ..
            }
        ));
        assert_eq!((take.guards.len(), parts.always.len()), (1, 1));
        assert!(parts.helpers.contains_key("self.helper"));
        assert!(parts.constants.contains_key("self.limit"));
    }

    #[test]
    fn members_inherited_by_a_machine_are_found() {
        let derived = "\
class Branch(Bank):
    notes = Bundle('notes')
    limit = 6

    def __init__(self):
        super().__init__()
        self.total = 3
        self.name = ''

    @rule()
    def add(self):
        self.total -= 1
";
        let tree = tree::module(&format!("{TEXT}\n{derived}")).expect("Python");
        assert_eq!(machines(&tree), ["Bank", "Branch"]);
        let parts = machine(&tree, None).expect("a machine");
        assert_eq!((parts.name.as_str(), parts.intro), ("Branch", None));
        let state: Vec<_> = parts.state.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(state, ["total", "log", "name", "accounts", "notes"]);
        let rules: Vec<_> = parts
            .actions
            .iter()
            .map(|one| (one.does.name.as_str(), one.inputs.len()))
            .collect();
        assert_eq!(rules, [("add", 0), ("move", 3)]);
        assert_eq!(parts.always.len(), 1);
    }

    #[test]
    fn a_machine_can_be_named() {
        let tree = tree::module(TEXT).expect("Python");
        assert!(machine(&tree, Some("Bank")).is_some());
        assert!(machine(&tree, Some("Bunk")).is_none());
    }
}
