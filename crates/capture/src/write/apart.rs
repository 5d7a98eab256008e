//! What tests are called that would be called alike: by what only one of them has.

use super::name::{LONGEST, meant, type_word, value_word};
use super::scope::snake_case;
use crate::graph::Graph;
use crate::recording::{Argument, Call, Outcome, ParameterKind, Receiver, Unit};
use crate::value::{NodeId, Value};

/// So many words of a value are looked at.
const MOST: usize = 24;

/// Other names for the test of a call that is called `name`, the best first. `stem` is what it is called without what was
/// given, and the joiner stands before that.
pub(super) fn names(
    name: &str,
    (stem, joiner): (&str, &str),
    unit: &Unit,
    call: &Call,
) -> Vec<String> {
    let graph = &call.values;
    let given: Vec<&Argument> = call
        .given(unit)
        .filter(|(_, parameter)| {
            !matches!(
                parameter.kind,
                ParameterKind::Positionals | ParameterKind::Keywords
            )
        })
        .map(|(argument, _)| argument)
        .collect();
    let told: Vec<String> = given
        .iter()
        .filter_map(|argument| {
            let word = value_word(graph, argument.before)?;
            Some(meant(&argument.name, graph.value(argument.before)).unwrap_or(word))
        })
        .collect();
    let mut ends = vec![told.join("_and_")];
    // Who gives the last arguments at all gives them for a reason.
    ends.extend(told.into_iter().rev());
    let mut names: Vec<String> = ends
        .iter()
        .filter(|end| !end.is_empty())
        .map(|end| format!("{stem}_{joiner}_{end}"))
        .collect();
    for argument in &given {
        let value = graph.value(argument.before);
        let what = match given.len() {
            1 => type_word(value),
            _ => Some(snake_case(&argument.name).trim_matches('_').to_owned()),
        };
        let Some(what) = what else {
            continue;
        };
        let inside = words_inside(graph, argument.before).into_iter();
        names.extend(inside.map(|word| format!("{stem}_{joiner}_{what}_with_{word}")));
    }
    if let (Receiver::Instance(class), Some(receiver)) = (&call.receiver, call.arguments.first()) {
        let class = snake_case(class.name());
        names.push(format!("{name}_on_{class}"));
        let inside = words_inside(graph, receiver.before).into_iter();
        names.extend(inside.map(|word| format!("{name}_on_{class}_with_{word}")));
    }
    if let Outcome::Returned(end) | Outcome::Raised { exception: end, .. } = &call.outcome {
        let inside = words_inside(graph, *end).into_iter();
        names.extend(inside.map(|word| format!("{stem}_with_{word}")));
    }
    names.retain(|name| name.len() <= LONGEST);
    names.dedup();
    names
}

/// Words that stand somewhere in a value which is no word itself.
fn words_inside(graph: &Graph, node: NodeId) -> Vec<String> {
    let mut words = Vec::new();
    if value_word(graph, node).is_none() {
        gather(graph, node, &mut words, 0);
    }
    words
}

fn gather(graph: &Graph, node: NodeId, words: &mut Vec<String>, depth: usize) {
    const DEEPEST: usize = 4;
    if words.len() >= MOST || depth > DEEPEST {
        return;
    }
    let mut all = |nodes: &mut dyn Iterator<Item = NodeId>| {
        nodes.for_each(|node| gather(graph, node, words, depth + 1));
    };
    match graph.value(node) {
        Value::List(items) | Value::Tuple(items) => all(&mut items.iter().copied()),
        Value::Set(items) | Value::FrozenSet(items) => all(&mut items.iter().copied()),
        Value::Dictionary(entries) => {
            all(&mut entries.iter().flat_map(|(key, value)| [*key, *value]));
        }
        Value::Object(object) => {
            let attributes = object.attributes.iter().map(|(_, value)| *value);
            all(&mut object.content.into_iter().chain(attributes));
        }
        Value::Made { arguments, .. } => all(&mut arguments.iter().copied()),
        Value::Exception(exception) => all(&mut exception.arguments.iter().copied()),
        // What nearly everything has somewhere tells nothing apart.
        Value::None | Value::Boolean(_) => {}
        Value::Text(text) if value_word(graph, node).is_none() => {
            let parts = text.split(|letter: char| !letter.is_ascii_alphanumeric());
            let parts =
                parts.filter(|part| part.len() > 2 && part.starts_with(char::is_alphabetic));
            words.extend(parts.take(MOST - words.len()).map(snake_case));
        }
        _ => words.extend(value_word(graph, node)),
    }
}

/// Names for tests of one class that are to be called alike: for each, what it is called and what else it may be called.
/// The first of its other names that no other test could have is what it gets, and a test that has none keeps its name.
pub(crate) fn told_apart(tests: &[(&str, &[String])]) -> Vec<String> {
    let mut given: Vec<String> = Vec::new();
    for (place, (name, others)) in tests.iter().enumerate() {
        let alike = |(other_place, (other, _)): &(usize, &(&str, &[String]))| {
            *other_place != place && other == name
        };
        let rivals: Vec<&[String]> = tests
            .iter()
            .enumerate()
            .filter(alike)
            .map(|(_, (_, others))| *others)
            .collect();
        let is_taken = |one: &String| {
            rivals.iter().any(|others| others.contains(one))
                || given.contains(one)
                || tests.iter().any(|(name, _)| name == one)
        };
        let own = if rivals.is_empty() {
            None
        } else {
            others.iter().find(|one| !is_taken(one))
        };
        given.push(own.map_or_else(|| (*name).to_owned(), String::clone));
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_test_is_called_after_what_only_it_has() {
        let (grid, plain) = (names(&["a_sun", "a_grid"]), names(&["a_sun", "a_plain"]));
        let told = told_apart(&[("a", &grid), ("b", &grid), ("a", &plain)]);
        assert_eq!(told, ["a_grid", "b", "a_plain"]);
    }

    #[test]
    fn who_has_nothing_of_its_own_keeps_its_name() {
        let (few, many) = (names(&["a_sun"]), names(&["a_sun", "a_moon", "b"]));
        let told = told_apart(&[("a", &few), ("a", &many), ("b", &few)]);
        assert_eq!(told, ["a", "a_moon", "b"]);
    }
}
