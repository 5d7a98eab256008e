//! Values that a rule draws itself, `n = data.draw(st.integers())`: they are inputs like those that it is given.

use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::machine::mentions;
use super::{Callable, Input, Origin};
use crate::explain::run::{bodies, given_names, read_by};

/// Makes inputs of what a rule draws before it can matter what it does, and leaves out by what it draws if nothing else is drawn.
pub(super) fn drawn(inputs: &mut Vec<Input>, does: &mut Callable) {
    let sources = inputs.iter().filter(|input| is_source(&input.from));
    let sources: Vec<String> = sources.map(|input| input.name.clone()).collect();
    for source in sources {
        let mut known: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
        given_names(&does.body, &mut known);
        let mut is_before = true;
        does.body.retain(|statement| {
            let input = draw(statement, &source).filter(|(_, strategy)| {
                // What it draws from may be something else by now, or be known to nobody outside.
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

/// `st.data()`.
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
            let words = function.dotted().unwrap_or_default();
            arguments.is_empty() && words.last() == Some(&"data")
        }
        _ => false,
    }
}

/// The name and the strategy of `name = source.draw(strategy)`.
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
    let words = function.dotted()?;
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
