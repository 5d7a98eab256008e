//! Distinct names for tests that would get the same name, after properties that only one of them
//! has.

use super::name::{MAX_LENGTH, type_word, value_word, word_with_parameter};
use super::scope::snake_case;
use crate::graph::ValueGraph;
use crate::recording::{BindingKind, BoundArgument, Call, CallOutcome, CodeUnit, Receiver};
use crate::value::{NodeId, Value};

/// The maximum number of words that are collected from a value.
const MAX_WORDS: usize = 24;

/// Returns alternative names for the test called `name`, the best first. `stem` is the name without
/// the arguments, and the joiner stands between the two.
pub(super) fn alternative_names(
    name: &str,
    (stem, joiner): (&str, &str),
    unit: &CodeUnit,
    call: &Call,
) -> Vec<String> {
    let graph = &call.values;
    let arguments: Vec<&BoundArgument> = call
        .explicit_arguments(unit)
        .filter(|(_, parameter)| {
            !matches!(
                parameter.kind,
                BindingKind::Positionals | BindingKind::Keywords
            )
        })
        .map(|(argument, _)| argument)
        .collect();
    let words: Vec<String> = arguments
        .iter()
        .filter_map(|argument| {
            let word = value_word(graph, argument.before)?;
            Some(word_with_parameter(&argument.name, graph.value(argument.before)).unwrap_or(word))
        })
        .collect();
    let mut ends = vec![words.join("_and_")];
    // Trailing optional arguments are passed for a reason, so they come first.
    ends.extend(words.into_iter().rev());
    let mut names: Vec<String> = ends
        .iter()
        .filter(|end| !end.is_empty())
        .map(|end| format!("{stem}_{joiner}_{end}"))
        .collect();
    for argument in &arguments {
        let value = graph.value(argument.before);
        let subject = match arguments.len() {
            1 => type_word(value),
            _ => Some(snake_case(&argument.name).trim_matches('_').to_owned()),
        };
        let Some(subject) = subject else {
            continue;
        };
        let inside = words_inside(graph, argument.before).into_iter();
        names.extend(inside.map(|word| format!("{stem}_{joiner}_{subject}_with_{word}")));
    }
    if let (Receiver::Instance(class), Some(receiver)) = (&call.receiver, call.arguments.first()) {
        let class = snake_case(class.name());
        names.push(format!("{name}_on_{class}"));
        let inside = words_inside(graph, receiver.before).into_iter();
        names.extend(inside.map(|word| format!("{name}_on_{class}_with_{word}")));
    }
    if let CallOutcome::Returned(end) | CallOutcome::Raised { exception: end, .. } = &call.outcome {
        let inside = words_inside(graph, *end).into_iter();
        names.extend(inside.map(|word| format!("{stem}_with_{word}")));
    }
    names.retain(|name| name.len() <= MAX_LENGTH);
    names.dedup();
    names
}

/// Collects words from inside of a value that is no word itself.
fn words_inside(graph: &ValueGraph, node: NodeId) -> Vec<String> {
    let mut words = Vec::new();
    if value_word(graph, node).is_none() {
        collect_words(graph, node, &mut words, 0);
    }
    words
}

/// Collects the words of a value and its parts, down to a depth.
fn collect_words(graph: &ValueGraph, node: NodeId, words: &mut Vec<String>, depth: usize) {
    const MAX_DEPTH: usize = 4;
    if words.len() >= MAX_WORDS || depth > MAX_DEPTH {
        return;
    }
    let mut all = |nodes: &mut dyn Iterator<Item = NodeId>| {
        nodes.for_each(|node| collect_words(graph, node, words, depth + 1));
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
        Value::Constructed { arguments, .. } => all(&mut arguments.iter().copied()),
        Value::Exception(exception) => all(&mut exception.arguments.iter().copied()),
        // Nearly every value contains these, so they distinguish nothing.
        Value::None | Value::Boolean(_) => {}
        Value::Text(text) if value_word(graph, node).is_none() => {
            let parts = text.split(|letter: char| !letter.is_ascii_alphanumeric());
            let parts =
                parts.filter(|part| part.len() > 2 && part.starts_with(char::is_alphabetic));
            words.extend(parts.take(MAX_WORDS - words.len()).map(snake_case));
        }
        _ => words.extend(value_word(graph, node)),
    }
}

/// Chooses names for the tests of one class. Each test comes with its name and its alternatives. If
/// several have the same name, each gets the first alternative that no other test could have, or
/// keeps its name if there is none.
pub(crate) fn choose_distinct_names(tests: &[(&str, &[String])]) -> Vec<String> {
    let mut chosen: Vec<String> = Vec::new();
    for (index, (name, others)) in tests.iter().enumerate() {
        let has_same_name = |(other_index, (other, _)): &(usize, &(&str, &[String]))| {
            *other_index != index && other == name
        };
        let rivals: Vec<&[String]> = tests
            .iter()
            .enumerate()
            .filter(has_same_name)
            .map(|(_, (_, others))| *others)
            .collect();
        let is_taken = |one: &String| {
            rivals.iter().any(|others| others.contains(one))
                || chosen.contains(one)
                || tests.iter().any(|(name, _)| name == one)
        };
        let own = if rivals.is_empty() {
            None
        } else {
            others.iter().find(|one| !is_taken(one))
        };
        chosen.push(own.map_or_else(|| (*name).to_owned(), String::clone));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_test_is_named_after_its_distinct_property() {
        let (grid, plain) = (names(&["a_sun", "a_grid"]), names(&["a_sun", "a_plain"]));
        let chosen = choose_distinct_names(&[("a", &grid), ("b", &grid), ("a", &plain)]);
        assert_eq!(chosen, ["a_grid", "b", "a_plain"]);
    }

    #[test]
    fn a_test_without_a_distinct_name_keeps_its_name() {
        let (few, many) = (names(&["a_sun"]), names(&["a_sun", "a_moon", "b"]));
        let chosen = choose_distinct_names(&[("a", &few), ("a", &many), ("b", &few)]);
        assert_eq!(chosen, ["a", "a_moon", "b"]);
    }
}
