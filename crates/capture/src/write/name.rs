//! What tests are called: short, stable from run to run, and telling where that is possible.

use super::Knowledge;
use super::access::{self, Root};
use super::apart;
use super::scope::snake_case;
use crate::effects::Effect;
use crate::graph::Graph;
use crate::inspect::Role;
use crate::recording::{
    Call, External, Outcome, ParameterKind, Place, Receiver, Source, StepOutcome, Unit, UnitKind,
};
use crate::value::{NodeId, ObjectId, Reference, Value};

/// What is said of a call of which nothing else is known.
const RUNS: &str = "runs";

/// No name is longer.
pub(super) const LONGEST: usize = 60;

/// What has to be imported to call a unit.
pub(super) fn importable(unit: &Unit, call: &Call) -> Reference {
    match &call.receiver {
        Receiver::Instance(class) | Receiver::Class(class) => class.clone(),
        Receiver::None => Reference::new(unit.module.clone(), unit.qualified_name.clone()),
    }
}

/// What a class of tests is about: a function, or the class around a method.
pub(super) fn subject(unit: &Unit) -> String {
    match unit.qualified_name.rsplit_once('.') {
        Some((class, _)) => class.to_owned(),
        None => unit.qualified_name.clone(),
    }
}

/// The last word of a unit's name.
pub(super) fn last(unit: &Unit) -> &str {
    let name = &unit.qualified_name;
    name.rsplit('.').next().unwrap_or(name)
}

/// The name that the test of a call deserves, and others, if that one is not its alone. `none_says_something` if the unit
/// also returns something else than `None`.
pub(super) fn test_names(
    knowledge: &Knowledge<'_>,
    unit: &Unit,
    call: &Call,
    none_says_something: bool,
) -> (String, Vec<String>) {
    let mut words: Vec<String> = vec!["test".to_owned()];
    let is_method = unit.qualified_name.contains('.');
    let last = last(unit);
    let is_creation = matches!(last, "__init__" | "__new__");
    if is_method && !is_creation {
        let role = knowledge.role(unit);
        words.push(snake_case(last).trim_matches('_').to_owned());
        match role {
            Some(Role::Setter) => words.push("is_set".to_owned()),
            Some(Role::Deleter) => words.push("is_deleted".to_owned()),
            _ => {}
        }
    }
    if is_creation {
        words.push("creation".to_owned());
    }
    let outcome = outcome_words(unit, call, is_creation);
    match outcome.as_slice() {
        [only] if only == RUNS && none_says_something => words.push("returns_none".to_owned()),
        _ => words.extend(outcome),
    }
    let stem = words.join("_");
    let joiner = if is_creation { "with" } else { "for" };
    // What a number is for is said as well, if there is room for that.
    let longer = [Meaning::Said, Meaning::Unsaid]
        .into_iter()
        .find_map(|meaning| {
            let arguments = argument_words(call, unit, is_creation, &words, meaning)?;
            let longer = format!("{stem}_{joiner}_{arguments}");
            (longer.len() <= LONGEST).then_some(longer)
        });
    let name = match longer {
        Some(longer) => longer,
        None if stem == "test" => format!("test_{RUNS}"),
        None => shortened(&stem),
    };
    let others = apart::names(&name, (&stem, joiner), unit, call);
    (name, others)
}

/// A name that no other test has: numbered if it is taken.
pub(crate) fn numbered(name: &str, number: usize) -> String {
    let suffix = format!("_{number}");
    let room = LONGEST - suffix.len();
    let cut: String = name.chars().take(room).collect();
    format!("{}{suffix}", cut.trim_end_matches('_'))
}

pub(super) fn shortened(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    // At a word, so that nothing looks like a name that it is not.
    let cut: String = name.chars().take(LONGEST).collect();
    match cut.rfind('_') {
        Some(end) if end > LONGEST / 2 => cut.get(..end).unwrap_or(&cut).to_owned(),
        _ => cut,
    }
}

fn outcome_words(unit: &Unit, call: &Call, is_creation: bool) -> Vec<String> {
    let graph = &call.values;
    if let Outcome::Raised { exception, .. } = &call.outcome {
        if let Value::Exception(found) = graph.value(*exception) {
            let mut words = vec!["raises".to_owned(), snake_case(found.class.name())];
            words.extend(message_words(graph, &found.arguments));
            return words;
        }
        return vec!["raises".to_owned()];
    }
    if is_creation {
        return Vec::new();
    }
    match unit.kind {
        UnitKind::Generator | UnitKind::AsyncGenerator => {
            let yielded: Vec<Option<String>> = call
                .steps
                .iter()
                .filter_map(|step| match step.outcome {
                    StepOutcome::Yielded(node) => Some(value_word(graph, node)),
                    _ => None,
                })
                .take(4)
                .collect();
            let told: Option<Vec<String>> = yielded.into_iter().collect();
            match told {
                Some(told) if told.is_empty() => vec!["yields_nothing".to_owned()],
                Some(told) if told.len() < 4 => vec!["yields".to_owned(), told.join("_then_")],
                _ => vec!["yields".to_owned()],
            }
        }
        UnitKind::Function | UnitKind::Coroutine => {
            let Outcome::Returned(result) = &call.outcome else {
                return Vec::new();
            };
            match (graph.value(*result), value_word(graph, *result)) {
                (Value::None, _) => changed_words(call),
                (_, Some(word)) => vec!["returns".to_owned(), word],
                (value, None) => match type_word(value) {
                    Some(word) => vec!["returns".to_owned(), word],
                    None => changed_words(call),
                },
            }
        }
    }
}

/// What a call that returns nothing does.
fn changed_words(call: &Call) -> Vec<String> {
    let changed = call.effects().into_iter().find_map(|effect| match effect {
        Effect::Changed {
            object,
            before,
            after,
        } => changed_name(call, object, before, after),
        Effect::Rebound { place, .. } => place_name(&place),
    });
    if let Some(name) = changed {
        let name = snake_case(&name).trim_matches('_').to_owned();
        return vec!["changes".to_owned(), name];
    }
    for event in &call.events {
        match &event.external {
            External::Output { .. } => return vec!["prints".to_owned()],
            External::Logged { .. } => return vec!["logs".to_owned()],
            External::File { before, after, .. } if before != after => {
                return vec!["writes_file".to_owned()];
            }
            External::Environment {
                name,
                before,
                after,
            } if before != after => {
                let verb = if after.is_some() { "sets" } else { "deletes" };
                return vec![verb.to_owned(), snake_case(name)];
            }
            External::WorkingFolder { before, after } if before != after => {
                return vec!["changes_folder".to_owned()];
            }
            External::Called {
                source: Source::Interpreter | Source::Process,
                function,
                ..
            } => {
                let last = function.rsplit('.').next().unwrap_or(function);
                return vec!["calls".to_owned(), snake_case(last)];
            }
            _ => {}
        }
    }
    vec![RUNS.to_owned()]
}

fn place_name(place: &Place) -> Option<String> {
    match place {
        Place::Global { name, .. } | Place::ClassAttribute { name, .. } => Some(name.clone()),
        Place::Cell { .. } | Place::Default { .. } => None,
    }
}

/// What an object is called that changed: the attribute that is different, the one that leads to it, or the argument.
fn changed_name(call: &Call, object: ObjectId, before: NodeId, after: NodeId) -> Option<String> {
    if let (Value::Object(old), Value::Object(new)) =
        (call.values.value(before), call.values.value(after))
    {
        let different = new
            .attributes
            .iter()
            .find(|entry| !old.attributes.contains(entry));
        if let Some((name, _)) = different {
            return Some(name.clone());
        }
    }
    let ways = access::after(call);
    let way = ways.get(&object)?;
    let mut words = way
        .steps
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let last = words.rfind(|word| word.starts_with(|letter: char| !letter.is_ascii_digit()));
    match (last, way.root) {
        (Some(name), _) => Some(name.to_owned()),
        (None, Root::Argument(index)) => Some(call.arguments.get(index)?.name.clone()),
        (None, Root::Place(index)) => place_name(&call.places.get(index)?.place),
    }
}

/// Whether values that mean nothing by themselves come with the names of their parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Said,
    Unsaid,
}

/// What a call was given: short values as they are, all others by their type, or by the names of their parameters where there
/// are several. What the name of the test tells already is left out.
fn argument_words(
    call: &Call,
    unit: &Unit,
    is_creation: bool,
    told: &[String],
    meaning: Meaning,
) -> Option<String> {
    let given = call.given(unit);
    let graph = &call.values;
    let has_several = given.clone().count() > 1;
    let mut words = Vec::new();
    for (argument, parameter) in given {
        let value = graph.value(argument.before);
        match (parameter.kind, value) {
            // What was given is what these collect, not the collection.
            (ParameterKind::Positionals, Value::Tuple(items)) => {
                let told = items.iter().map(|item| told_word(graph, *item));
                words.extend(told.collect::<Option<Vec<String>>>()?);
            }
            (ParameterKind::Keywords, Value::Dictionary(entries)) => {
                let names = entries.iter().map(|(name, _)| value_word(graph, *name));
                words.extend(names.collect::<Option<Vec<String>>>()?);
            }
            _ => match value_word(graph, argument.before) {
                Some(word) if has_several && meaning == Meaning::Said => {
                    words.push(meant(&argument.name, value).unwrap_or(word));
                }
                Some(word) => words.push(word),
                None if has_several && argument.name.len() > 1 => {
                    let name = snake_case(&argument.name).trim_matches('_').to_owned();
                    words.extend((!told.contains(&name)).then_some(name));
                }
                None => words.push(type_word(value)?),
            },
        }
    }
    if words.is_empty() {
        return is_creation
            .then_some("defaults".to_owned())
            .filter(|_| !call.arguments.is_empty());
    }
    Some(words.join("_and_"))
}

/// What a value that could be anything is to its parameter: `amount_2`, `loud`, `not_loud`, `no_limit`.
pub(super) fn meant(parameter: &str, value: &Value) -> Option<String> {
    let name = snake_case(parameter).trim_matches('_').to_owned();
    // A single letter says no more than the value.
    if name.len() < 2 {
        return None;
    }
    match value {
        Value::Boolean(true) => Some(name),
        Value::Boolean(false) => Some(format!("not_{name}")),
        Value::None => Some(format!("no_{name}")),
        Value::Integer(number) if *number < 0 => {
            Some(format!("{name}_minus_{}", number.unsigned_abs()))
        }
        Value::Integer(number) => Some(format!("{name}_{number}")),
        _ => None,
    }
}

/// A value by itself if it is short, else by its type.
fn told_word(graph: &Graph, node: NodeId) -> Option<String> {
    value_word(graph, node).or_else(|| type_word(graph.value(node)))
}

/// A value that is short and says something.
pub(super) fn value_word(graph: &Graph, node: NodeId) -> Option<String> {
    match graph.value(node) {
        Value::None => Some("none".to_owned()),
        Value::Boolean(value) => Some(if *value { "true" } else { "false" }.to_owned()),
        Value::Integer(number) if (0..1000).contains(number) => Some(number.to_string()),
        Value::Integer(number) if *number < 0 && *number > -1000 => {
            Some(format!("minus_{}", number.unsigned_abs()))
        }
        Value::Text(text) if text.is_empty() => Some("empty_text".to_owned()),
        Value::Text(text) => text_word(text),
        Value::List(items) if items.is_empty() => Some("empty_list".to_owned()),
        Value::Tuple(items) if items.is_empty() => Some("empty_tuple".to_owned()),
        Value::Dictionary(items) if items.is_empty() => Some("empty_dict".to_owned()),
        Value::Set(items) if items.is_empty() => Some("empty_set".to_owned()),
        Value::Member { names, .. } if names.len() == 1 => {
            names.first().map(|name| snake_case(name))
        }
        Value::Reference(reference) => Some(snake_case(reference.name())),
        _ => None,
    }
}

/// A short text by its letters and digits, if these are most of it.
fn text_word(text: &str) -> Option<String> {
    const TOLD: usize = 20;
    let is_told =
        |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ' ' | '.' | '-');
    let has_letter = text.chars().any(|letter| letter.is_ascii_alphanumeric());
    let length = text.chars().count();
    let told = text.chars().filter(is_told).count();
    let says_enough = has_letter && length <= TOLD && told * 5 >= length * 4 && text.is_ascii();
    says_enough.then(|| spelled(text))
}

/// A text in small letters. Words are split where a name in mixed case would be, and nowhere else: `kB` is one word.
fn spelled(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let is_small = |place: usize| letters.get(place).is_some_and(char::is_ascii_lowercase);
    let mut spelled = String::new();
    for (place, letter) in letters.iter().enumerate() {
        let begins_word = letter.is_ascii_uppercase()
            && is_small(place + 1)
            && place.checked_sub(1).is_some_and(is_small);
        let is_gap = !letter.is_ascii_alphanumeric();
        if (begins_word || is_gap) && !spelled.ends_with('_') {
            spelled.push('_');
        }
        spelled.extend((!is_gap).then(|| letter.to_ascii_lowercase()));
    }
    spelled.trim_matches('_').to_owned()
}

/// Words that promise another one.
const OPEN: [&str; 24] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "in", "is",
    "must", "not", "of", "on", "or", "than", "the", "to", "was", "with",
];

/// The first words of an exception's message, if it begins with some.
fn message_words(graph: &Graph, arguments: &[NodeId]) -> Option<String> {
    const MOST: usize = 5;
    let Value::Text(text) = graph.value(*arguments.first()?) else {
        return None;
    };
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').take(MOST) {
        let bare = word.trim_end_matches(|letter| ":;,.!?".contains(letter));
        if bare.is_empty() || !bare.chars().all(|letter| letter.is_ascii_alphabetic()) {
            break;
        }
        words.push(bare.to_lowercase());
        if bare != word {
            break;
        }
    }
    while words
        .last()
        .is_some_and(|word| OPEN.contains(&word.as_str()))
    {
        words.pop();
    }
    (words.len() > 1).then(|| words.join("_"))
}

/// What kind of value it is, where that may tell it from others.
pub(super) fn type_word(value: &Value) -> Option<String> {
    let word = match value {
        Value::Integer(_) | Value::LargeInteger(_) => "number",
        Value::Float(number) if number.0 < 0.0 => "negative_float",
        Value::Float(_) => "float",
        Value::Text(_) | Value::BrokenText(_) => "text",
        Value::Bytes(_) => "bytes",
        Value::List(_) => "list",
        Value::Tuple(_) => "tuple",
        Value::Dictionary(_) => "dict",
        Value::Set(_) | Value::FrozenSet(_) => "set",
        Value::Object(object) => return Some(snake_case(object.class.name())),
        Value::Made { callee, .. } if callee.name().ends_with("Path") => "path",
        Value::Made { callee, .. } if callee.module == "re" => match callee.path.as_str() {
            "compile" => "pattern",
            _ => "match",
        },
        Value::Made { callee: class, .. }
        | Value::Unknown { class, .. }
        | Value::Omitted { class, .. } => return Some(snake_case(class.name())),
        Value::Function(_) | Value::Method { .. } => "function",
        Value::Exception(_) => "error",
        Value::Iterator { .. } => "iterator",
        _ => return None,
    };
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_into_words_as_people_read_them() {
        let texts = [
            "kB",
            "lastName",
            "-P1DT2H",
            "1.0 QB",
            "Jun 05 2007",
            "HTTPError",
        ];
        let spelled = texts.map(spelled);
        let read = [
            "kb",
            "last_name",
            "p1dt2h",
            "1_0_qb",
            "jun_05_2007",
            "httperror",
        ];
        assert_eq!(spelled, read);
    }
}
