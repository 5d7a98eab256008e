//! Kinds of annotations: `int`, `list[str]`, `int | None`.

use testwright_source::tree::{self, Expression, ExpressionKind, Operator};

use super::{
    KindPhrase, KindReader, either_kind, group_kind, last_segment, noun_of_class, type_of_class,
};
use crate::term::Type;

impl KindReader<'_> {
    /// Reads the kind of the values that an annotation allows.
    #[must_use]
    pub fn read_annotation(&self, annotation: &Expression) -> KindPhrase {
        match &annotation.kind {
            ExpressionKind::None => KindPhrase::with_noun("empty value", Type::Nothing),
            // An annotation may be quoted.
            ExpressionKind::Text(text) => match tree::expression(text) {
                Ok(inner) => KindReader { text, ..*self }.read_annotation(&inner),
                Err(_) => KindPhrase::unknown(),
            },
            ExpressionKind::Binary {
                operator: Operator::BitOr,
                ..
            } => {
                let mut kinds = Vec::new();
                self.collect_alternatives(annotation, &mut kinds);
                either_kind(&kinds)
            }
            ExpressionKind::Subscript { object, index } => self.subscript_kind(object, index),
            _ => match last_segment(annotation) {
                Some(name) => self.class_kind(name),
                None => KindPhrase::unknown(),
            },
        }
    }

    /// Returns the kind of a class, built in or not.
    fn class_kind(&self, name: &str) -> KindPhrase {
        match noun_of_class(name) {
            Some(noun) => KindPhrase::with_noun(noun, type_of_class(name)),
            None if matches!(name, "Any" | "object" | "T") => KindPhrase::unknown(),
            None => self.user_class_kind(name),
        }
    }

    /// Returns the kind of a class of the user's.
    pub(super) fn user_class_kind(&self, name: &str) -> KindPhrase {
        KindPhrase::with_noun(&self.phraser.words(name), Type::Object(name.to_owned()))
    }

    /// Collects the kinds of `A | B | C`.
    fn collect_alternatives(&self, annotation: &Expression, kinds: &mut Vec<KindPhrase>) {
        match &annotation.kind {
            ExpressionKind::Binary {
                left,
                operator: Operator::BitOr,
                right,
            } => {
                self.collect_alternatives(left, kinds);
                self.collect_alternatives(right, kinds);
            }
            _ => kinds.push(self.read_annotation(annotation)),
        }
    }

    /// Reads a generic annotation such as `list[int]` or `Optional[str]`.
    fn subscript_kind(&self, object: &Expression, index: &Expression) -> KindPhrase {
        let arguments = match &index.kind {
            ExpressionKind::Tuple(items) => items.as_slice(),
            _ => std::slice::from_ref(index),
        };
        let kinds = || -> Vec<KindPhrase> {
            arguments
                .iter()
                .map(|argument| self.read_annotation(argument))
                .collect()
        };
        match (last_segment(object), arguments) {
            (Some("list" | "List" | "Sequence" | "Iterable"), [element]) => {
                list_of("list", &self.read_annotation(element))
            }
            (Some("set" | "Set"), [element]) => list_of("set", &self.read_annotation(element)),
            (Some("frozenset" | "FrozenSet"), [element]) => {
                list_of("fixed set", &self.read_annotation(element))
            }
            (Some("dict" | "Dict" | "Mapping"), [key, value]) => {
                dictionary_of(&self.read_annotation(key), &self.read_annotation(value))
            }
            (Some("tuple" | "Tuple"), [element, rest]) if rest.kind == ExpressionKind::Ellipsis => {
                let kind = list_of("group", &self.read_annotation(element));
                KindPhrase {
                    type_: Type::Tuple(Vec::new()),
                    ..kind
                }
            }
            (Some("tuple" | "Tuple"), _) => group_kind(&kinds()),
            (Some("Optional"), [inner]) => either_kind(&[
                self.read_annotation(inner),
                KindPhrase::with_noun("empty value", Type::Nothing),
            ]),
            (Some("Union"), _) => either_kind(&kinds()),
            (Some("Annotated" | "Final" | "Required"), [inner, ..]) => self.read_annotation(inner),
            (Some("Literal"), _) => self.choice_kind(&self.term(index)),
            (Some(name), _) => self.class_kind(name),
            _ => KindPhrase::unknown(),
        }
    }
}

/// Returns the kind of a collection with one kind of elements: "list of whole numbers".
pub(super) fn list_of(noun: &str, element: &KindPhrase) -> KindPhrase {
    let type_ = match noun {
        "set" | "fixed set" => Type::Set(Box::new(element.type_.clone())),
        _ => Type::List(Box::new(element.type_.clone())),
    };
    KindPhrase::with_noun(noun, type_).with_restriction(format!(" of {}", element.several()))
}

/// Returns the kind of a dictionary: "dictionary from texts to whole numbers".
pub(super) fn dictionary_of(key: &KindPhrase, value: &KindPhrase) -> KindPhrase {
    let type_ = Type::Dictionary(Box::new(key.type_.clone()), Box::new(value.type_.clone()));
    let restriction = format!(" from {} to {}", key.several(), value.several());
    KindPhrase::with_noun("dictionary", type_).with_restriction(restriction)
}
