//! Finds the parts of a finite-state scenario machine: a module with `graph`, `initial` and
//! `accepting`.

use testwright_source::tree::{Expression, ExpressionKind, Module as Tree, first_paragraph};

use super::python::ModuleNames;

/// A scenario machine. States and values are expressions, most of them literals.
#[derive(Debug, Clone)]
pub(crate) struct FsmScenario {
    pub(crate) intro: Option<String>,
    pub(crate) initial: Expression,
    /// Accepting states. If they are not given, a run may end anywhere.
    pub(crate) accepting: Option<Vec<Expression>>,
    pub(crate) edges: Vec<Edge>,
}

/// An action with its arguments and result.
#[derive(Debug, Clone)]
pub(crate) struct FsmStep {
    pub(crate) action: String,
    /// Action as it is written: `website.login`.
    pub(crate) dotted: String,
    pub(crate) arguments: Vec<Expression>,
    /// Result, or `None` if it is not given or is `None`.
    pub(crate) result: Option<Expression>,
    /// Whole expression.
    pub(crate) whole: Expression,
}

/// A transition of a scenario.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub(crate) from: Expression,
    pub(crate) step: FsmStep,
    pub(crate) to: Expression,
    /// Whole expression.
    pub(crate) whole: Expression,
}

/// Returns the scenario of a module with a `graph`, or `None` if there is no readable one.
pub(crate) fn scenario(tree: &Tree) -> Option<FsmScenario> {
    let module = ModuleNames::read(&tree.body);
    let graph = module.members(module.value("graph")?)?;
    let edges: Option<Vec<Edge>> = graph.iter().map(|edge| read(&module, edge)).collect();
    let initial = module.value("initial")?;
    Some(FsmScenario {
        intro: tree.docstring.as_deref().map(first_paragraph),
        initial: module.resolved(initial).clone(),
        accepting: module
            .value("accepting")
            .and_then(|listed| module.members(listed))
            .map(|all| all.iter().map(|one| module.resolved(one).clone()).collect()),
        edges: edges?,
    })
}

fn read(module: &ModuleNames, edge: &Expression) -> Option<Edge> {
    let parts = module.members(edge)?;
    let [from, step, to] = parts.as_slice() else {
        return None;
    };
    Some(Edge {
        from: module.resolved(from).clone(),
        step: read_step(module, step, true)?,
        to: module.resolved(to).clone(),
        whole: edge.clone(),
    })
}

/// Parses `(action, arguments, result)`. Only the action is required. In a machine it may be a
/// text.
fn read_step(module: &ModuleNames, step: &Expression, in_machine: bool) -> Option<FsmStep> {
    let parts = module.members(step)?;
    let (action, arguments, result) = match parts.as_slice() {
        [action] => (action, vec![], None),
        [action, arguments] => (action, module.members(arguments)?, None),
        [action, arguments, result] => (action, module.members(arguments)?, Some(result.clone())),
        _ => return None,
    };
    let dotted = match &action.kind {
        ExpressionKind::Text(name) if in_machine => name.clone(),
        _ => action.dotted_parts()?.join("."),
    };
    Some(FsmStep {
        action: dotted.rsplit('.').next()?.to_owned(),
        dotted,
        arguments,
        result: result.filter(|value| value.kind != ExpressionKind::None),
        whole: step.clone(),
    })
}

/// Returns the runs of a test suite: a module with `testSuite`, or one of its other spellings.
pub(crate) fn suite(tree: &Tree) -> Option<Vec<Vec<FsmStep>>> {
    let module = ModuleNames::read(&tree.body);
    let runs = ["testSuite", "testsuite", "test_suite"]
        .iter()
        .find_map(|name| module.value(name))?;
    let run = |run: &Expression| {
        let steps = module.members(run)?;
        steps
            .iter()
            .map(|step| read_step(&module, step, false))
            .collect()
    };
    module.members(runs)?.iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;

    #[test]
    fn steps_are_read() {
        let text = "from m import A, B\ninitial, accepting = 0, [1]\nend = 1\n\
            graph = ((0, (A, (1, 'x'), None), end), (1, (m.B, (), 3), 1), (1, ('Go', ()), 0))\n";
        let found = scenario(&tree::module(text).expect("Python")).expect("a scenario");
        let [first, second, third] = found.edges.as_slice() else {
            panic!("three steps")
        };
        assert_eq!(third.step.action, "Go");
        assert_eq!(
            (first.step.action.as_str(), second.step.action.as_str()),
            ("A", "B")
        );
        assert_eq!(
            (first.step.arguments.len(), first.to.clone()),
            (2, second.from.clone())
        );
        assert!(first.step.result.is_none() && second.step.result.is_some());
        assert_eq!(found.accepting.map(|all| all.len()), Some(1));
    }

    #[test]
    fn a_module_without_a_valid_graph_is_no_scenario() {
        for text in [
            "graph = 3\ninitial = 0\n",
            "graph = [(1, 2)]\ninitial = 0\n",
            "x = 1\n",
        ] {
            assert!(
                scenario(&tree::module(text).expect("Python")).is_none(),
                "{text}"
            );
        }
    }
}
