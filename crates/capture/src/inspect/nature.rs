//! What kind of thing a definition is, as far as its own text tells.

use testwright_source::tree::{self, Expression, ExpressionKind, Statement, StatementKind};

use super::definition::{Nature, Role};

/// The last word of a dotted name, without what stands in brackets behind it.
pub(super) fn last_word(text: &str) -> &str {
    let name = text.split(['(', '[']).next().unwrap_or(text);
    name.rsplit('.').next().unwrap_or(name).trim()
}

pub(super) fn role(
    decorators: &[String],
    function: &tree::Function,
    in_class: bool,
    in_function: bool,
) -> Role {
    for decorator in decorators {
        let found = match last_word(decorator) {
            "overload" => Role::Overload,
            _ if !in_class => continue,
            "classmethod" => Role::ClassMethod,
            "staticmethod" => Role::StaticMethod,
            "property" | "cached_property" | "getter" | "abstractproperty" => Role::Getter,
            "setter" => Role::Setter,
            "deleter" => Role::Deleter,
            _ => continue,
        };
        return found;
    }
    match function.name.as_str() {
        _ if in_function => Role::Nested,
        "__init_subclass__" | "__class_getitem__" if in_class => Role::ClassMethod,
        "__new__" if in_class => Role::StaticMethod,
        _ if in_class => Role::Method,
        _ => Role::Function,
    }
}

pub(super) fn nature(decorators: &[String], bases: &[String], class: &tree::Class) -> Nature {
    let is_record = |decorator: &String| {
        let name = decorator.split('(').next().unwrap_or(decorator);
        matches!(last_word(name), "dataclass" | "define" | "frozen" | "attrs")
            || matches!(name, "attr.s" | "attr.dataclass")
    };
    if decorators.iter().any(is_record) {
        return Nature::Record;
    }
    for base in bases {
        match last_word(base) {
            "NamedTuple" | "namedtuple" => return Nature::NamedTuple,
            "Enum" | "IntEnum" | "StrEnum" | "Flag" | "IntFlag" => return Nature::Enum,
            "Protocol" => return Nature::Abstract,
            word if word.ends_with("Exception")
                || word.ends_with("Error")
                || word.ends_with("Warning")
                || matches!(word, "KeyboardInterrupt" | "SystemExit") =>
            {
                return Nature::Exception;
            }
            _ => {}
        }
    }
    let is_abstract = |inner: &Statement| match &inner.kind {
        StatementKind::Function(function) => function
            .decorators
            .iter()
            .filter_map(Expression::dotted)
            .any(|words| {
                words
                    .last()
                    .is_some_and(|word| word.starts_with("abstract"))
            }),
        _ => false,
    };
    if class.body.iter().any(is_abstract) {
        return Nature::Abstract;
    }
    Nature::Plain
}

/// The parts of a field that a record's constructor takes: `name: type`, with or without a default.
pub(super) fn field(statement: &Statement) -> Option<(&str, &Expression, Option<&Expression>)> {
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
        .dotted()
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

/// The public names that a statement assigns to.
pub(super) fn assigned(statement: &Statement) -> Vec<String> {
    let StatementKind::Assign { targets, .. } = &statement.kind else {
        return Vec::new();
    };
    let names = targets.iter().filter_map(Expression::as_name);
    names
        .filter(|name| !name.starts_with('_'))
        .map(str::to_owned)
        .collect()
}
