//! Names of tests: short, stable from run to run, and descriptive where possible.

use super::Knowledge;
use super::access::{self, Root};
use super::distinct_names;
use super::scope::snake_case;
use crate::effects::CallEffect;
use crate::graph::ValueGraph;
use crate::inspect::FunctionRole;
use crate::recording::{
    BindingKind, Call, CallOutcome, CodeUnit, ExternalSource, Interaction, ProgramVariable,
    Receiver, StepOutcome, UnitKind,
};
use crate::value::{ImportPath, NodeId, ObjectId, Value};

/// The word for a call about which nothing else is known.
const FALLBACK_WORD: &str = "runs";

/// The maximum length of a name.
pub(super) const MAX_LENGTH: usize = 60;

/// Returns the path to import for a call of a unit.
pub(super) fn import_path(unit: &CodeUnit, call: &Call) -> ImportPath {
    match &call.receiver {
        Receiver::Instance(class) | Receiver::Class(class) => class.clone(),
        Receiver::None => ImportPath::new(unit.module.clone(), unit.qualified_name.clone()),
    }
}

/// Returns the name of a test class's subject: a function, or the class around a method.
pub(super) fn subject_name(unit: &CodeUnit) -> String {
    match unit.qualified_name.rsplit_once('.') {
        Some((class, _)) => class.to_owned(),
        None => unit.qualified_name.clone(),
    }
}

/// Returns the last part of a unit's name.
pub(super) fn last_name(unit: &CodeUnit) -> &str {
    let name = &unit.qualified_name;
    name.rsplit('.').next().unwrap_or(name)
}

/// Returns a name for the test of a call, and alternatives in case another test has the same.
/// `is_none_meaningful` is true if the unit also returns other values than `None`.
pub(super) fn test_names(
    knowledge: &Knowledge<'_>,
    unit: &CodeUnit,
    call: &Call,
    is_none_meaningful: bool,
) -> (String, Vec<String>) {
    let mut words: Vec<String> = vec!["test".to_owned()];
    let is_method = unit.qualified_name.contains('.');
    let last = last_name(unit);
    let is_creation = matches!(last, "__init__" | "__new__");
    if is_method && !is_creation {
        let role = knowledge.role(unit);
        words.push(snake_case(last).trim_matches('_').to_owned());
        match role {
            Some(FunctionRole::Setter) => words.push("is_set".to_owned()),
            Some(FunctionRole::Deleter) => words.push("is_deleted".to_owned()),
            _ => {}
        }
    }
    if is_creation {
        words.push("creation".to_owned());
    }
    let outcome = outcome_words(unit, call, is_creation);
    match outcome.as_slice() {
        [only] if only == FALLBACK_WORD && is_none_meaningful => {
            words.push("returns_none".to_owned())
        }
        _ => words.extend(outcome),
    }
    let stem = words.join("_");
    let joiner = if is_creation { "with" } else { "for" };
    // Parameter names are included if there is room for them.
    let longer = [ParameterNames::Included, ParameterNames::Omitted]
        .into_iter()
        .find_map(|parameter_names| {
            let arguments = argument_words(call, unit, is_creation, &words, parameter_names)?;
            let longer = format!("{stem}_{joiner}_{arguments}");
            (longer.len() <= MAX_LENGTH).then_some(longer)
        });
    let name = match longer {
        Some(longer) => longer,
        None if stem == "test" => format!("test_{FALLBACK_WORD}"),
        None => truncate_name(&stem),
    };
    let others = distinct_names::alternative_names(&name, (&stem, joiner), unit, call);
    (name, others)
}

/// Appends a number to a name, for a name that is taken.
pub(crate) fn with_number(name: &str, number: usize) -> String {
    let suffix = format!("_{number}");
    let room = MAX_LENGTH - suffix.len();
    let cut: String = name.chars().take(room).collect();
    format!("{}{suffix}", cut.trim_end_matches('_'))
}

/// Shortens a name to the maximum length, at the end of a word.
pub(super) fn truncate_name(name: &str) -> String {
    if name.len() <= MAX_LENGTH {
        return name.to_owned();
    }
    // A cut inside of a word would look like another name.
    let cut: String = name.chars().take(MAX_LENGTH).collect();
    match cut.rfind('_') {
        Some(end) if end > MAX_LENGTH / 2 => cut.get(..end).unwrap_or(&cut).to_owned(),
        _ => cut,
    }
}

/// Describes the outcome of a call.
fn outcome_words(unit: &CodeUnit, call: &Call, is_creation: bool) -> Vec<String> {
    let graph = &call.values;
    if let CallOutcome::Raised { exception, .. } = &call.outcome {
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
            let words: Option<Vec<String>> = yielded.into_iter().collect();
            match words {
                Some(words) if words.is_empty() => vec!["yields_nothing".to_owned()],
                Some(words) if words.len() < 4 => vec!["yields".to_owned(), words.join("_then_")],
                _ => vec!["yields".to_owned()],
            }
        }
        UnitKind::Function | UnitKind::Coroutine => {
            let CallOutcome::Returned(result) = &call.outcome else {
                return Vec::new();
            };
            match (graph.value(*result), value_word(graph, *result)) {
                (Value::None, _) => effect_words(call),
                (_, Some(word)) => vec!["returns".to_owned(), word],
                (value, None) => match type_word(value) {
                    Some(word) => vec!["returns".to_owned(), word],
                    None => effect_words(call),
                },
            }
        }
    }
}

/// Describes the effect of a call that returns nothing.
fn effect_words(call: &Call) -> Vec<String> {
    let changed = call.effects().into_iter().find_map(|effect| match effect {
        CallEffect::Changed {
            object,
            before,
            after,
        } => changed_name(call, object, before, after),
        CallEffect::Rebound { variable, .. } => variable_name(&variable),
    });
    if let Some(name) = changed {
        let name = snake_case(&name).trim_matches('_').to_owned();
        return vec!["changes".to_owned(), name];
    }
    for event in &call.events {
        match &event.external {
            Interaction::Output { .. } => return vec!["prints".to_owned()],
            Interaction::Logged { .. } => return vec!["logs".to_owned()],
            Interaction::File { before, after, .. } if before != after => {
                return vec!["writes_file".to_owned()];
            }
            Interaction::Environment {
                name,
                before,
                after,
            } if before != after => {
                let verb = if after.is_some() { "sets" } else { "deletes" };
                return vec![verb.to_owned(), snake_case(name)];
            }
            Interaction::WorkingFolder { before, after } if before != after => {
                return vec!["changes_folder".to_owned()];
            }
            Interaction::Called {
                source: ExternalSource::Interpreter | ExternalSource::Process,
                function,
                ..
            } => {
                let last = function.rsplit('.').next().unwrap_or(function);
                return vec!["calls".to_owned(), snake_case(last)];
            }
            _ => {}
        }
    }
    vec![FALLBACK_WORD.to_owned()]
}

/// Names a variable of a module or class.
fn variable_name(variable: &ProgramVariable) -> Option<String> {
    match variable {
        ProgramVariable::Global { name, .. } | ProgramVariable::ClassAttribute { name, .. } => {
            Some(name.clone())
        }
        ProgramVariable::ClosureVariable { .. } | ProgramVariable::Default { .. } => None,
    }
}

/// Names a changed object: by the attribute that differs, the attribute that leads to it, or the
/// argument.
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
    let paths = access::paths_at_exit(call);
    let path = paths.get(&object)?;
    let mut words = path
        .steps
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let last = words.rfind(|word| word.starts_with(|letter: char| !letter.is_ascii_digit()));
    match (last, path.root) {
        (Some(name), _) => Some(name.to_owned()),
        (None, Root::Argument(index)) => Some(call.arguments.get(index)?.name.clone()),
        (None, Root::Variable(index)) => variable_name(&call.variables.get(index)?.variable),
    }
}

/// The use of parameter names in a test's name, for values that say nothing by themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParameterNames {
    Included,
    Omitted,
}

/// Describes the arguments of a call: short values as they are, others by their type, or by their
/// parameters if there are several. Words that the name contains already are left out.
fn argument_words(
    call: &Call,
    unit: &CodeUnit,
    is_creation: bool,
    words_so_far: &[String],
    parameter_names: ParameterNames,
) -> Option<String> {
    let given = call.explicit_arguments(unit);
    let graph = &call.values;
    let has_several = given.clone().count() > 1;
    let mut words = Vec::new();
    for (argument, parameter) in given {
        let value = graph.value(argument.before);
        match (parameter.kind, value) {
            // The collected arguments are described, not the collection.
            (BindingKind::Positionals, Value::Tuple(items)) => {
                let words_so_far = items.iter().map(|item| short_word(graph, *item));
                words.extend(words_so_far.collect::<Option<Vec<String>>>()?);
            }
            (BindingKind::Keywords, Value::Dictionary(entries)) => {
                let names = entries.iter().map(|(name, _)| value_word(graph, *name));
                words.extend(names.collect::<Option<Vec<String>>>()?);
            }
            _ => match value_word(graph, argument.before) {
                Some(word) if has_several && parameter_names == ParameterNames::Included => {
                    words.push(word_with_parameter(&argument.name, value).unwrap_or(word));
                }
                Some(word) => words.push(word),
                None if has_several && argument.name.len() > 1 => {
                    let name = snake_case(&argument.name).trim_matches('_').to_owned();
                    words.extend((!words_so_far.contains(&name)).then_some(name));
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

/// Describes a value together with its parameter: `amount_2`, `loud`, `not_loud`, `no_limit`.
pub(super) fn word_with_parameter(parameter: &str, value: &Value) -> Option<String> {
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

/// Describes a value by itself if it is short, otherwise by its type.
fn short_word(graph: &ValueGraph, node: NodeId) -> Option<String> {
    value_word(graph, node).or_else(|| type_word(graph.value(node)))
}

/// Describes a value that is short and specific.
pub(super) fn value_word(graph: &ValueGraph, node: NodeId) -> Option<String> {
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
        Value::EnumMember { names, .. } if names.len() == 1 => {
            names.first().map(|name| snake_case(name))
        }
        Value::Reference(reference) => Some(snake_case(reference.name())),
        _ => None,
    }
}

/// Describes a short text by its letters and digits, if it consists mostly of them.
fn text_word(text: &str) -> Option<String> {
    const MAX_TEXT: usize = 20;
    let is_word_letter =
        |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ' ' | '.' | '-');
    let has_letter = text.chars().any(|letter| letter.is_ascii_alphanumeric());
    let length = text.chars().count();
    let words_so_far = text.chars().filter(is_word_letter).count();
    let is_readable =
        has_letter && length <= MAX_TEXT && words_so_far * 5 >= length * 4 && text.is_ascii();
    is_readable.then(|| split_words(text))
}

/// Splits a text into lower-case words as a name in mixed case would be, and nowhere else: `kB` is
/// one word.
fn split_words(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let is_small = |index: usize| letters.get(index).is_some_and(char::is_ascii_lowercase);
    let mut spelled = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let begins_word = letter.is_ascii_uppercase()
            && is_small(index + 1)
            && index.checked_sub(1).is_some_and(is_small);
        let is_gap = !letter.is_ascii_alphanumeric();
        if (begins_word || is_gap) && !spelled.ends_with('_') {
            spelled.push('_');
        }
        spelled.extend((!is_gap).then(|| letter.to_ascii_lowercase()));
    }
    spelled.trim_matches('_').to_owned()
}

/// Words that cannot end a phrase.
const UNFINISHED_ENDINGS: [&str; 24] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "in", "is",
    "must", "not", "of", "on", "or", "than", "the", "to", "was", "with",
];

/// Returns the first words of an exception's message, if it begins with plain words.
fn message_words(graph: &ValueGraph, arguments: &[NodeId]) -> Option<String> {
    const MAX_WORDS: usize = 5;
    let Value::Text(text) = graph.value(*arguments.first()?) else {
        return None;
    };
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').take(MAX_WORDS) {
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
        .is_some_and(|word| UNFINISHED_ENDINGS.contains(&word.as_str()))
    {
        words.pop();
    }
    (words.len() > 1).then(|| words.join("_"))
}

/// Returns a word for the type of a value, where that is specific.
pub(super) fn type_word(value: &Value) -> Option<String> {
    let word = match value {
        Value::Integer(_) | Value::LargeInteger(_) => "number",
        Value::Float(number) if number.0 < 0.0 => "negative_float",
        Value::Float(_) => "float",
        Value::Text(_) | Value::SurrogateText(_) => "text",
        Value::Bytes(_) => "bytes",
        Value::List(_) => "list",
        Value::Tuple(_) => "tuple",
        Value::Dictionary(_) => "dict",
        Value::Set(_) | Value::FrozenSet(_) => "set",
        Value::Object(object) => return Some(snake_case(object.class.name())),
        Value::Constructed { callee, .. } if callee.name().ends_with("Path") => "path",
        Value::Constructed { callee, .. } if callee.module == "re" => match callee.path.as_str() {
            "compile" => "pattern",
            _ => "match",
        },
        Value::Constructed { callee: class, .. }
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
        let spelled = texts.map(split_words);
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
