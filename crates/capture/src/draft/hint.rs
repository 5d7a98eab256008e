//! Values suggested by type hints and defaults.

use testwright_source::tree::{self, Expression, ExpressionKind, Operator};

use super::public_api::PublicApi;
use super::sample::{Sample, SampleKind};
use crate::inspect::{self, ClassKind, ProjectModule};
use crate::value::ImportPath;
use crate::write::{ImportScope, snake_case};

/// The values that a hint allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HintedValues {
    /// A name for a pool of such values.
    pub(super) label: String,
    /// Simple values, including extreme ones.
    pub(super) samples: Vec<Sample>,
    /// The classes whose objects are allowed.
    pub(super) classes: Vec<ImportPath>,
    /// True if `None` is allowed.
    pub(super) allows_none: bool,
}

impl HintedValues {
    /// Creates hinted values of one kind.
    fn of_kind(label: &str, kind: SampleKind, texts: &[&str]) -> HintedValues {
        HintedValues {
            label: label.to_owned(),
            samples: texts.iter().map(|text| Sample::new(kind, *text)).collect(),
            ..HintedValues::default()
        }
    }

    /// Returns true if there is anything to try.
    pub(super) fn is_usable(&self) -> bool {
        !self.samples.is_empty() || !self.classes.is_empty() || self.allows_none
    }

    /// Combines the values of two hints.
    fn combine(mut self, other: HintedValues) -> HintedValues {
        if self.label.is_empty() {
            self.label = other.label;
        } else if !other.label.is_empty() && self.label != other.label {
            self.label = format!("{}_or_{}", self.label, other.label);
        }
        for sample in other.samples {
            if !self.samples.contains(&sample) {
                self.samples.push(sample);
            }
        }
        self.classes.extend(other.classes);
        self.allows_none |= other.allows_none;
        self
    }
}

/// A reader of the hints in a module.
pub(super) struct HintReader<'a, 's> {
    /// The public API of the modules.
    pub(super) api: &'a PublicApi<'a>,
    /// The module that contains the hints.
    pub(super) module: &'a ProjectModule,
    /// The imports of the harness.
    pub(super) scope: &'s mut ImportScope,
}

/// The maximum nesting of types; values of deeper ones are unreadable.
const MAX_DEPTH: usize = 4;

impl HintReader<'_, '_> {
    /// Returns the values that an annotation allows; `None` if it does not tell.
    pub(super) fn annotation_values(&mut self, text: &str) -> Option<HintedValues> {
        let expression = tree::expression(text).ok()?;
        self.type_values(&expression, MAX_DEPTH)
            .filter(HintedValues::is_usable)
    }

    /// Returns the values that a default suggests.
    pub(super) fn default_values(&self, default: &inspect::DefaultValue) -> Option<HintedValues> {
        if !default.literal {
            return None;
        }
        let expression = tree::expression(&default.text).ok()?;
        let operand = match &expression.kind {
            ExpressionKind::Unary { operand, .. } => &operand.kind,
            kind => kind,
        };
        let name = match operand {
            ExpressionKind::Boolean(_) => "bool",
            ExpressionKind::Integer(_) => "int",
            ExpressionKind::Float(_) => "float",
            ExpressionKind::Text(_) => "str",
            ExpressionKind::Bytes(_) => "bytes",
            _ => return None,
        };
        simple_values(name)
    }

    /// Returns the values that a type allows.
    fn type_values(&mut self, expression: &Expression, depth: usize) -> Option<HintedValues> {
        let depth = depth.checked_sub(1)?;
        match &expression.kind {
            ExpressionKind::None => Some(HintedValues {
                allows_none: true,
                ..HintedValues::default()
            }),
            // A hint in quotes refers to a later definition.
            ExpressionKind::Text(text) => {
                let inner = tree::expression(text).ok()?;
                self.type_values(&inner, depth)
            }
            ExpressionKind::Binary {
                left,
                operator: Operator::BitOr,
                right,
            } => {
                // One side may be unknown.
                let left = self.type_values(left, depth + 1).unwrap_or_default();
                let right = self.type_values(right, depth + 1).unwrap_or_default();
                Some(left.combine(right))
            }
            ExpressionKind::Subscript { object, index } => {
                let words = object.dotted_parts()?;
                self.parametrized_type_values(words.last()?, index, depth)
            }
            ExpressionKind::Name(_) | ExpressionKind::Attribute { .. } => {
                let words = expression.dotted_parts()?;
                self.named_type_values(&words.join("."))
            }
            _ => None,
        }
    }

    /// Returns the values of a named type.
    fn named_type_values(&mut self, name: &str) -> Option<HintedValues> {
        let last = name.rsplit('.').next().unwrap_or(name);
        if let Some(found) = simple_values(last) {
            return Some(found);
        }
        let reference = self.api.resolve(self.module, name);
        let at = self.api.class(&reference)?;
        if at.class.kind == ClassKind::Enum {
            let class = self.scope.reference(&reference).one_line();
            let members = at.class.members.iter();
            let members = members.map(|member| format!("{class}.{member}"));
            return Some(HintedValues {
                label: snake_case(reference.name()),
                samples: members
                    .map(|text| Sample::new(SampleKind::Other, text))
                    .collect(),
                ..HintedValues::default()
            });
        }
        Some(HintedValues {
            label: snake_case(reference.name()),
            classes: vec![reference],
            ..HintedValues::default()
        })
    }

    /// Returns the values of a type with parameters.
    fn parametrized_type_values(
        &mut self,
        name: &str,
        index: &Expression,
        depth: usize,
    ) -> Option<HintedValues> {
        let parts: Vec<&Expression> = match &index.kind {
            ExpressionKind::Tuple(parts) => parts.iter().collect(),
            _ => vec![index],
        };
        match name {
            "Optional" => {
                let inner = self.type_values(parts.first()?, depth + 1)?;
                Some(HintedValues {
                    allows_none: true,
                    ..inner
                })
            }
            "Union" => {
                let mut all = HintedValues::default();
                for part in parts {
                    all = all.combine(self.type_values(part, depth + 1).unwrap_or_default());
                }
                Some(all)
            }
            "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" => {
                self.type_values(parts.first()?, depth + 1)
            }
            "Literal" => literal_values(&parts),
            "Type" | "type" | "Callable" => None,
            _ => {
                let inner = parts
                    .iter()
                    .filter(|part| part.kind != ExpressionKind::Ellipsis)
                    .map(|part| self.type_values(part, depth))
                    .collect::<Option<Vec<HintedValues>>>();
                // A collection of unknown items is still a collection.
                match inner.filter(|inner| inner.iter().all(|part| !part.samples.is_empty())) {
                    Some(inner) => collection_values(name, &inner),
                    None => simple_values(name),
                }
            }
        }
    }
}

/// Returns the values in `Literal["a", 1]`.
fn literal_values(parts: &[&Expression]) -> Option<HintedValues> {
    let mut hinted = HintedValues::default();
    for part in parts {
        let (operand, sign) = match &part.kind {
            ExpressionKind::Unary { operand, .. } => (&operand.kind, "-"),
            kind => (kind, ""),
        };
        hinted.samples.push(match operand {
            ExpressionKind::None => {
                hinted.allows_none = true;
                continue;
            }
            ExpressionKind::Text(text) => Sample {
                setup_lines: Vec::new(),
                code: crate::write::text_literal(text),
                kind: SampleKind::Text,
            },
            ExpressionKind::Integer(digits) => {
                Sample::new(SampleKind::Integer, format!("{sign}{digits}"))
            }
            ExpressionKind::Boolean(true) => Sample::new(SampleKind::Boolean, "True"),
            ExpressionKind::Boolean(false) => Sample::new(SampleKind::Boolean, "False"),
            _ => return None,
        });
    }
    Some(hinted)
}

/// Returns the values of a well-known type, by the last word of its name.
fn simple_values(name: &str) -> Option<HintedValues> {
    Some(match name {
        "int" | "Integral" | "SupportsIndex" | "SupportsInt" => {
            HintedValues::of_kind("int", SampleKind::Integer, &["0", "1", "-1", "2", "10"])
        }
        "float" | "Real" | "Number" | "SupportsFloat" => {
            HintedValues::of_kind("float", SampleKind::Float, &["0.0", "1.0", "-1.5", "2.25"])
        }
        "complex" => HintedValues::of_kind("complex", SampleKind::Other, &["0j", "1 + 2j"]),
        "bool" => HintedValues::of_kind("bool", SampleKind::Boolean, &["True", "False"]),
        "str" | "AnyStr" | "Text" | "LiteralString" => {
            HintedValues::of_kind("str", SampleKind::Text, &["\"\"", "\"a\"", "\"two words\""])
        }
        "bytes" | "ByteString" | "Buffer" => HintedValues::of_kind(
            "bytes",
            SampleKind::Bytes,
            &["b\"\"", "b\"a\"", "b\"\\x00\\xff\""],
        ),
        "bytearray" => HintedValues::of_kind(
            "bytearray",
            SampleKind::Other,
            &["bytearray()", "bytearray(b\"a\")"],
        ),
        "list" | "List" | "Sequence" | "MutableSequence" | "Iterable" | "Collection"
        | "Reversible" | "Sized" => HintedValues::of_kind(
            "list",
            SampleKind::List,
            &["[]", "[1]", "[2, 1, 2]", "[\"a\"]"],
        ),
        "tuple" | "Tuple" => {
            HintedValues::of_kind("tuple", SampleKind::Tuple, &["()", "(1,)", "(1, \"a\")"])
        }
        "set" | "Set" | "MutableSet" | "AbstractSet" => {
            HintedValues::of_kind("set", SampleKind::Set, &["set()", "{1}", "{1, 2}"])
        }
        "frozenset" | "FrozenSet" => HintedValues::of_kind(
            "frozenset",
            SampleKind::Set,
            &["frozenset()", "frozenset({1, 2})"],
        ),
        "dict" | "Dict" | "Mapping" | "MutableMapping" => HintedValues::of_kind(
            "dict",
            SampleKind::Dictionary,
            &["{}", "{\"a\": 1}", "{\"a\": 1, \"b\": [2]}"],
        ),
        "Iterator" | "Generator" => {
            HintedValues::of_kind("iterator", SampleKind::Other, &["iter([])", "iter([1, 2])"])
        }
        "Any" | "object" | "Hashable" => HintedValues {
            label: "any".to_owned(),
            samples: vec![
                Sample::new(SampleKind::Integer, "0"),
                Sample::new(SampleKind::Integer, "1"),
                Sample::new(SampleKind::Text, "\"a\""),
                Sample::new(SampleKind::Tuple, "(1, 2)"),
            ],
            ..HintedValues::default()
        },
        "None" | "NoneType" => HintedValues {
            allows_none: true,
            ..HintedValues::default()
        },
        _ => return None,
    })
}

/// Returns collections of some values: empty, with one item, with two items.
fn collection_values(name: &str, inner: &[HintedValues]) -> Option<HintedValues> {
    let labels: Vec<&str> = inner.iter().map(|part| part.label.as_str()).collect();
    let items = |part: &HintedValues| -> Vec<String> {
        let samples = part.samples.iter().map(|sample| sample.code.one_line());
        // The first value is often an empty one.
        samples
            .skip(1)
            .chain(part.samples.first().map(|sample| sample.code.one_line()))
            .take(2)
            .collect()
    };
    let first = items(inner.first()?);
    let (one, two) = (first.first()?, first.join(", "));
    let bare = simple_values(name)?;
    let kind = bare.samples.first()?.kind;
    let texts: Vec<String> = match bare.label.as_str() {
        "list" => vec!["[]".to_owned(), format!("[{one}]"), format!("[{two}]")],
        "set" => vec![
            "set()".to_owned(),
            format!("{{{one}}}"),
            format!("{{{two}}}"),
        ],
        "frozenset" => vec!["frozenset()".to_owned(), format!("frozenset({{{two}}})")],
        "iterator" => vec!["iter([])".to_owned(), format!("iter([{two}])")],
        "dict" => {
            let values = items(inner.get(1)?);
            let pairs = first.iter().zip(values.iter().cycle());
            let pairs: Vec<String> = pairs
                .map(|(key, value)| format!("{key}: {value}"))
                .collect();
            vec![
                "{}".to_owned(),
                format!("{{{}}}", pairs.first()?),
                format!("{{{}}}", pairs.join(", ")),
            ]
        }
        "tuple" if inner.len() == 1 => {
            vec!["()".to_owned(), format!("({one},)"), format!("({two})")]
        }
        "tuple" => {
            let columns: Vec<Vec<String>> = inner.iter().map(items).collect();
            let row = |number: usize| -> Option<String> {
                let row: Option<Vec<String>> = columns
                    .iter()
                    .map(|column| column.get(number).or(column.first()).cloned())
                    .collect();
                Some(format!("({})", row?.join(", ")))
            };
            vec![row(0)?, row(1)?]
        }
        _ => return None,
    };
    Some(HintedValues {
        label: format!("{}_{}", bare.label, labels.join("_")),
        samples: texts
            .into_iter()
            .map(|text| Sample::new(kind, text))
            .collect(),
        ..HintedValues::default()
    })
}

#[cfg(test)]
mod tests;
