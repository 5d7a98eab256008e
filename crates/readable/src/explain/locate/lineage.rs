//! Inheritance between the classes of a module.

use testwright_source::tree::{Class, Expression, Module as Tree, Statement, StatementKind};

/// Iterates over the classes of a module.
pub(super) fn classes(tree: &Tree) -> impl Iterator<Item = &Class> {
    tree.body.iter().filter_map(|one| match &one.kind {
        StatementKind::Class(class) => Some(&**class),
        _ => None,
    })
}

/// Returns the last word of a base: `RuleBasedStateMachine` of `stateful.RuleBasedStateMachine`.
pub(super) fn last_word(base: &Expression) -> Option<&str> {
    base.dotted_parts().and_then(|words| words.last().copied())
}

/// Returns true if a class is derived from another one of its module, directly or indirectly.
pub(super) fn is_derived(class: &Class, from: &Class, tree: &Tree) -> bool {
    let all = lineage(class, tree);
    class.name != from.name && all.iter().any(|one| one.name == from.name)
}

/// Returns the base classes of a class in its module, and the class itself last. Later definitions
/// override earlier ones.
pub(super) fn lineage<'t>(class: &'t Class, tree: &'t Tree) -> Vec<&'t Class> {
    let mut all = Vec::new();
    gather(class, tree, &mut Vec::new(), &mut all);
    all
}

fn gather<'t>(
    class: &'t Class,
    tree: &'t Tree,
    around: &mut Vec<&'t str>,
    all: &mut Vec<&'t Class>,
) {
    if around.contains(&class.name.as_str()) {
        return;
    }
    around.push(&class.name);
    for base in class.bases.iter().rev().filter_map(last_word) {
        if let Some(base) = classes(tree).find(|one| one.name == base) {
            gather(base, tree, around, all);
        }
    }
    around.pop();
    if !all.iter().any(|known| known.name == class.name) {
        all.push(class);
    }
}

/// Returns a class with everything that it inherits. An overridden definition keeps its position.
/// All `__init__` methods are kept, since each calls that of its base.
pub(super) fn whole(class: &Class, tree: &Tree) -> Class {
    let mut body: Vec<Statement> = Vec::new();
    for one in lineage(class, tree) {
        for statement in &one.body {
            let name = defined(statement).filter(|name| *name != "__init__");
            let known = name.and_then(|name| body.iter().position(|it| defined(it) == Some(name)));
            match known {
                Some(at) if !one.body.contains(&body[at]) => body[at] = statement.clone(),
                _ => body.push(statement.clone()),
            }
        }
    }
    Class {
        body,
        ..class.clone()
    }
}

/// Returns the method or attribute that a statement of a class defines.
fn defined(statement: &Statement) -> Option<&str> {
    match &statement.kind {
        StatementKind::Function(function) => Some(&function.name),
        StatementKind::Assign { targets, .. } => match targets.as_slice() {
            [target] => target.as_name(),
            _ => None,
        },
        StatementKind::Annotated { target, .. } => target.as_name(),
        _ => None,
    }
}
