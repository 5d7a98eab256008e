//! Classifies functions and classes, as far as their own source shows.

use testwright_source::tree::{self, Expression, ExpressionKind, Statement, StatementKind};

use super::definition::{ClassKind, FunctionRole};

/// Returns the last word of a dotted name, without brackets after it.
pub(super) fn last_word(text: &str) -> &str {
    let name = text.split(['(', '[']).next().unwrap_or(text);
    name.rsplit('.').next().unwrap_or(name).trim()
}

/// Returns the role of a function, by its decorators, its name and its surroundings.
pub(super) fn function_role(
    decorators: &[String],
    function: &tree::Function,
    in_class: bool,
    in_function: bool,
) -> FunctionRole {
    for decorator in decorators {
        let found = match last_word(decorator) {
            "overload" => FunctionRole::Overload,
            _ if !in_class => continue,
            "classmethod" => FunctionRole::ClassMethod,
            "staticmethod" => FunctionRole::StaticMethod,
            "property" | "cached_property" | "getter" | "abstractproperty" => FunctionRole::Getter,
            "setter" => FunctionRole::Setter,
            "deleter" => FunctionRole::Deleter,
            _ => continue,
        };
        return found;
    }
    match function.name.as_str() {
        _ if in_function => FunctionRole::Nested,
        "__init_subclass__" | "__class_getitem__" if in_class => FunctionRole::ClassMethod,
        "__new__" if in_class => FunctionRole::StaticMethod,
        _ if in_class => FunctionRole::Method,
        _ => FunctionRole::Function,
    }
}

/// Returns the kind of a class, by its decorators, its bases and its body.
pub(super) fn class_kind(
    decorators: &[String],
    bases: &[String],
    class: &tree::Class,
) -> ClassKind {
    let is_record = |decorator: &String| {
        let name = decorator.split('(').next().unwrap_or(decorator);
        matches!(last_word(name), "dataclass" | "define" | "frozen" | "attrs")
            || matches!(name, "attr.s" | "attr.dataclass")
    };
    if decorators.iter().any(is_record) {
        return ClassKind::Record;
    }
    for base in bases {
        match last_word(base) {
            "NamedTuple" | "namedtuple" => return ClassKind::NamedTuple,
            "Enum" | "IntEnum" | "StrEnum" | "Flag" | "IntFlag" => return ClassKind::Enum,
            "Protocol" => return ClassKind::Abstract,
            word if word.ends_with("Exception")
                || word.ends_with("Error")
                || word.ends_with("Warning")
                || matches!(word, "KeyboardInterrupt" | "SystemExit") =>
            {
                return ClassKind::Exception;
            }
            _ => {}
        }
    }
    let is_abstract = |inner: &Statement| match &inner.kind {
        StatementKind::Function(function) => function
            .decorators
            .iter()
            .filter_map(Expression::dotted_parts)
            .any(|words| {
                words
                    .last()
                    .is_some_and(|word| word.starts_with("abstract"))
            }),
        _ => false,
    };
    if class.body.iter().any(is_abstract) {
        return ClassKind::Abstract;
    }
    ClassKind::Plain
}

/// Returns the parts of a field that a record's constructor takes: `name: type`, with or without a
/// default.
pub(super) fn record_field(
    statement: &Statement,
) -> Option<(&str, &Expression, Option<&Expression>)> {
    let StatementKind::Annotated {
        target,
        annotation,
        value,
    } = &statement.kind
    else {
        return None;
    };
    let subscripted = match &annotation.kind {
        ExpressionKind::Subscript { object, .. } => object,
        _ => annotation,
    };
    let is_of_class = subscripted
        .dotted_parts()
        .is_some_and(|words| words.last() == Some(&"ClassVar"));
    let is_set_later = value.as_ref().is_some_and(|value| match &value.kind {
        ExpressionKind::Call { keywords, .. } => keywords.iter().any(|keyword| {
            keyword.name.as_deref() == Some("init")
                && keyword.value.kind == ExpressionKind::Boolean(false)
        }),
        _ => false,
    });
    let name = target.as_name()?;
    (!is_of_class && !is_set_later).then_some((name, annotation, value.as_ref()))
}

/// Returns the public names that a statement assigns to.
pub(super) fn assigned_names(statement: &Statement) -> Vec<String> {
    let StatementKind::Assign { targets, .. } = &statement.kind else {
        return Vec::new();
    };
    let names = targets.iter().filter_map(Expression::as_name);
    names
        .filter(|name| !name.starts_with('_'))
        .map(str::to_owned)
        .collect()
}
