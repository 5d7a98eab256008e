//! Turns values that a rule draws itself, `n = data.draw(st.integers())`, into inputs like its
//! parameters.

use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::machine::mentions;
use super::{Callable, Input, Origin};
use crate::explain::run::{bodies, given_names, read_by};

/// Turns draws into inputs, if their position does not matter: the strategy must not depend on
/// names of the rule, nor on `self` after other statements. Removes the data parameter if nothing
/// else is drawn from it.
pub(super) fn drawn(inputs: &mut Vec<Input>, does: &mut Callable) {
    let sources = inputs.iter().filter(|input| is_source(&input.from));
    let sources: Vec<String> = sources.map(|input| input.name.clone()).collect();
    for source in sources {
        let mut known: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
        given_names(&does.body, &mut known);
        let mut is_before = true;
        does.body.retain(|statement| {
            let input = draw(statement, &source).filter(|(_, strategy)| {
                // The state may have changed by now, and names of the rule are unknown outside.
                (is_before || !mentions(strategy, "self"))
                    && !known.iter().any(|name| mentions(strategy, name))
            });
            is_before &= input.is_some() || is_text(statement);
            let Some((name, strategy)) = input else {
                return true;
            };
            inputs.push(Input {
                name: name.to_owned(),
                from: Origin::Strategy(strategy.clone()),
                annotation: None,
            });
            false
        });
        if !asks_for(&does.body, &source) {
            inputs.retain(|input| input.name != source);
        }
    }
}

/// Returns true for `st.data()`.
fn is_source(origin: &Origin) -> bool {
    let Origin::Strategy(strategy) = origin else {
        return false;
    };
    match &strategy.kind {
        ExpressionKind::Call {
            function,
            arguments,
            ..
        } => {
            let words = function.dotted_parts().unwrap_or_default();
            arguments.is_empty() && words.last() == Some(&"data")
        }
        _ => false,
    }
}

/// Returns the name and the strategy of `name = source.draw(strategy)`.
fn draw<'s>(statement: &'s Statement, source: &str) -> Option<(&'s str, &'s Expression)> {
    let StatementKind::Assign { targets, value } = &statement.kind else {
        return None;
    };
    let ExpressionKind::Call {
        function,
        arguments,
        ..
    } = &value.kind
    else {
        return None;
    };
    let words = function.dotted_parts()?;
    match (targets.as_slice(), words.as_slice(), arguments.as_slice()) {
        ([target], [object, "draw"], [strategy, ..]) if *object == source => {
            Some((target.as_name()?, strategy))
        }
        _ => None,
    }
}

fn is_text(statement: &Statement) -> bool {
    matches!(&statement.kind, StatementKind::Expression(value)
        if matches!(value.kind, ExpressionKind::Text(_)))
}

fn asks_for(body: &[Statement], name: &str) -> bool {
    body.iter().any(|statement| {
        read_by(statement)
            .into_iter()
            .any(|one| mentions(one, name))
            || bodies(statement)
                .into_iter()
                .any(|inner| asks_for(inner, name))
    })
}
