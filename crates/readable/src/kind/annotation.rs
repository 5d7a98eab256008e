//! Kinds from annotations: `int`, `list[str]`, `int | None`.

use testwright_source::tree::{self, Expression, ExpressionKind, Operator};

use super::{Kind, Kinds, either, group, last_name, noun_of_class, type_of_class};
use crate::term::Type;

impl Kinds<'_> {
    /// The kind of what an annotation allows.
    #[must_use]
    pub fn of_annotation(&self, annotation: &Expression) -> Kind {
        match &annotation.kind {
            ExpressionKind::None => Kind::named("empty value", Type::Nothing),
            // An annotation may be quoted.
            ExpressionKind::Text(text) => match tree::expression(text) {
                Ok(inner) => Kinds { text, ..*self }.of_annotation(&inner),
                Err(_) => Kind::unknown(),
            },
            ExpressionKind::Binary {
                operator: Operator::BitOr,
                ..
            } => {
                let mut kinds = Vec::new();
                self.alternatives(annotation, &mut kinds);
                either(&kinds)
            }
            ExpressionKind::Subscript { object, index } => self.subscripted(object, index),
            _ => match last_name(annotation) {
                Some(name) => self.of_class(name),
                None => Kind::unknown(),
            },
        }
    }

    fn of_class(&self, name: &str) -> Kind {
        match noun_of_class(name) {
            Some(noun) => Kind::named(noun, type_of_class(name)),
            None if matches!(name, "Any" | "object" | "T") => Kind::unknown(),
            None => self.of_user_class(name),
        }
    }

    pub(super) fn of_user_class(&self, name: &str) -> Kind {
        Kind::named(&self.speaker.words(name), Type::Object(name.to_owned()))
    }

    fn alternatives(&self, annotation: &Expression, kinds: &mut Vec<Kind>) {
        match &annotation.kind {
            ExpressionKind::Binary {
                left,
                operator: Operator::BitOr,
                right,
            } => {
                self.alternatives(left, kinds);
                self.alternatives(right, kinds);
            }
            _ => kinds.push(self.of_annotation(annotation)),
        }
    }

    fn subscripted(&self, object: &Expression, index: &Expression) -> Kind {
        let arguments = match &index.kind {
            ExpressionKind::Tuple(items) => items.as_slice(),
            _ => std::slice::from_ref(index),
        };
        let kinds = || -> Vec<Kind> {
            arguments
                .iter()
                .map(|argument| self.of_annotation(argument))
                .collect()
        };
        match (last_name(object), arguments) {
            (Some("list" | "List" | "Sequence" | "Iterable"), [element]) => {
                list_of("list", &self.of_annotation(element))
            }
            (Some("set" | "Set"), [element]) => list_of("set", &self.of_annotation(element)),
            (Some("frozenset" | "FrozenSet"), [element]) => {
                list_of("fixed set", &self.of_annotation(element))
            }
            (Some("dict" | "Dict" | "Mapping"), [key, value]) => {
                dictionary_of(&self.of_annotation(key), &self.of_annotation(value))
            }
            (Some("tuple" | "Tuple"), [element, rest]) if rest.kind == ExpressionKind::Ellipsis => {
                let kind = list_of("group", &self.of_annotation(element));
                Kind {
                    type_: Type::Tuple(Vec::new()),
                    ..kind
                }
            }
            (Some("tuple" | "Tuple"), _) => group(&kinds()),
            (Some("Optional"), [inner]) => either(&[
                self.of_annotation(inner),
                Kind::named("empty value", Type::Nothing),
            ]),
            (Some("Union"), _) => either(&kinds()),
            (Some("Annotated" | "Final" | "Required"), [inner, ..]) => self.of_annotation(inner),
            (Some("Literal"), _) => self.among(&self.term(index)),
            (Some(name), _) => self.of_class(name),
            _ => Kind::unknown(),
        }
    }
}

/// "list of whole numbers".
pub(super) fn list_of(noun: &str, element: &Kind) -> Kind {
    let type_ = match noun {
        "set" | "fixed set" => Type::Set(Box::new(element.type_.clone())),
        _ => Type::List(Box::new(element.type_.clone())),
    };
    Kind::named(noun, type_).with_restriction(format!(" of {}", element.several()))
}

/// "dictionary from texts to whole numbers".
pub(super) fn dictionary_of(key: &Kind, value: &Kind) -> Kind {
    let type_ = Type::Dictionary(Box::new(key.type_.clone()), Box::new(value.type_.clone()));
    let restriction = format!(" from {} to {}", key.several(), value.several());
    Kind::named("dictionary", type_).with_restriction(restriction)
}
