//! Values that a type hint or a default speaks of.

use testwright_source::tree::{self, Expression, ExpressionKind, Operator};

use super::sample::{Kind, Sample};
use super::surface::Surface;
use crate::inspect::{self, Module, Nature};
use crate::value::Reference;
use crate::write::{Scope, snake_case};

/// What a hint allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hinted {
    /// A name for a pool of such values.
    pub(super) label: String,
    /// Simple values, those at the ends of what is possible among them.
    pub(super) samples: Vec<Sample>,
    /// Classes whose objects are allowed.
    pub(super) classes: Vec<Reference>,
    /// Whether `None` is allowed.
    pub(super) or_none: bool,
}

impl Hinted {
    fn of(label: &str, kind: Kind, texts: &[&str]) -> Hinted {
        Hinted {
            label: label.to_owned(),
            samples: texts.iter().map(|text| Sample::new(kind, *text)).collect(),
            ..Hinted::default()
        }
    }

    /// Whether it tells of anything that could be tried.
    pub(super) fn is_usable(&self) -> bool {
        !self.samples.is_empty() || !self.classes.is_empty() || self.or_none
    }

    fn and(mut self, other: Hinted) -> Hinted {
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
        self.or_none |= other.or_none;
        self
    }
}

/// Reads hints as they are written in a module.
pub(super) struct Hints<'a, 's> {
    pub(super) surface: &'a Surface<'a>,
    pub(super) module: &'a Module,
    pub(super) scope: &'s mut Scope,
}

/// How deeply types may be nested before nobody would read their values.
const DEPTH: usize = 4;

impl Hints<'_, '_> {
    /// What an annotation allows; nothing if it does not say.
    pub(super) fn annotation(&mut self, text: &str) -> Option<Hinted> {
        let expression = tree::expression(text).ok()?;
        self.hint(&expression, DEPTH).filter(Hinted::is_usable)
    }

    /// What a default lets expect.
    pub(super) fn default(&self, default: &inspect::Default) -> Option<Hinted> {
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
        simple(name)
    }

    fn hint(&mut self, expression: &Expression, depth: usize) -> Option<Hinted> {
        let depth = depth.checked_sub(1)?;
        match &expression.kind {
            ExpressionKind::None => Some(Hinted {
                or_none: true,
                ..Hinted::default()
            }),
            // A hint in quotes, for what is defined later.
            ExpressionKind::Text(text) => {
                let inner = tree::expression(text).ok()?;
                self.hint(&inner, depth)
            }
            ExpressionKind::Binary {
                left,
                operator: Operator::BitOr,
                right,
            } => {
                // What one side does not tell, the other may.
                let left = self.hint(left, depth + 1).unwrap_or_default();
                let right = self.hint(right, depth + 1).unwrap_or_default();
                Some(left.and(right))
            }
            ExpressionKind::Subscript { object, index } => {
                let words = object.dotted()?;
                self.subscripted(words.last()?, index, depth)
            }
            ExpressionKind::Name(_) | ExpressionKind::Attribute { .. } => {
                let words = expression.dotted()?;
                self.named(&words.join("."))
            }
            _ => None,
        }
    }

    fn named(&mut self, name: &str) -> Option<Hinted> {
        let last = name.rsplit('.').next().unwrap_or(name);
        if let Some(found) = simple(last) {
            return Some(found);
        }
        let reference = self.surface.meaning(self.module, name);
        let at = self.surface.class(&reference)?;
        if at.class.nature == Nature::Enum {
            let class = self.scope.reference(&reference).flat();
            let members = at.class.members.iter();
            let members = members.map(|member| format!("{class}.{member}"));
            return Some(Hinted {
                label: snake_case(reference.name()),
                samples: members.map(|text| Sample::new(Kind::Other, text)).collect(),
                ..Hinted::default()
            });
        }
        Some(Hinted {
            label: snake_case(reference.name()),
            classes: vec![reference],
            ..Hinted::default()
        })
    }

    fn subscripted(&mut self, name: &str, index: &Expression, depth: usize) -> Option<Hinted> {
        let parts: Vec<&Expression> = match &index.kind {
            ExpressionKind::Tuple(parts) => parts.iter().collect(),
            _ => vec![index],
        };
        match name {
            "Optional" => {
                let inner = self.hint(parts.first()?, depth + 1)?;
                Some(Hinted {
                    or_none: true,
                    ..inner
                })
            }
            "Union" => {
                let mut all = Hinted::default();
                for part in parts {
                    all = all.and(self.hint(part, depth + 1).unwrap_or_default());
                }
                Some(all)
            }
            "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" => {
                self.hint(parts.first()?, depth + 1)
            }
            "Literal" => literal(&parts),
            "Type" | "type" | "Callable" => None,
            _ => {
                let inner = parts
                    .iter()
                    .filter(|part| part.kind != ExpressionKind::Ellipsis)
                    .map(|part| self.hint(part, depth))
                    .collect::<Option<Vec<Hinted>>>();
                // A collection of what is not known is still a collection.
                match inner.filter(|inner| inner.iter().all(|part| !part.samples.is_empty())) {
                    Some(inner) => collection(name, &inner),
                    None => simple(name),
                }
            }
        }
    }
}

/// `Literal["a", 1]`: each of the values.
fn literal(parts: &[&Expression]) -> Option<Hinted> {
    let mut hinted = Hinted::default();
    for part in parts {
        let (operand, sign) = match &part.kind {
            ExpressionKind::Unary { operand, .. } => (&operand.kind, "-"),
            kind => (kind, ""),
        };
        hinted.samples.push(match operand {
            ExpressionKind::None => {
                hinted.or_none = true;
                continue;
            }
            ExpressionKind::Text(text) => Sample {
                before: Vec::new(),
                code: crate::write::text_literal(text),
                kind: Kind::Text,
            },
            ExpressionKind::Integer(digits) => {
                Sample::new(Kind::Integer, format!("{sign}{digits}"))
            }
            ExpressionKind::Boolean(true) => Sample::new(Kind::Boolean, "True"),
            ExpressionKind::Boolean(false) => Sample::new(Kind::Boolean, "False"),
            _ => return None,
        });
    }
    Some(hinted)
}

/// Types that have values of their own, by the last word of their name.
fn simple(name: &str) -> Option<Hinted> {
    Some(match name {
        "int" | "Integral" | "SupportsIndex" | "SupportsInt" => {
            Hinted::of("int", Kind::Integer, &["0", "1", "-1", "2", "10"])
        }
        "float" | "Real" | "Number" | "SupportsFloat" => {
            Hinted::of("float", Kind::Float, &["0.0", "1.0", "-1.5", "2.25"])
        }
        "complex" => Hinted::of("complex", Kind::Other, &["0j", "1 + 2j"]),
        "bool" => Hinted::of("bool", Kind::Boolean, &["True", "False"]),
        "str" | "AnyStr" | "Text" | "LiteralString" => {
            Hinted::of("str", Kind::Text, &["\"\"", "\"a\"", "\"two words\""])
        }
        "bytes" | "ByteString" | "Buffer" => Hinted::of(
            "bytes",
            Kind::Bytes,
            &["b\"\"", "b\"a\"", "b\"\\x00\\xff\""],
        ),
        "bytearray" => Hinted::of(
            "bytearray",
            Kind::Other,
            &["bytearray()", "bytearray(b\"a\")"],
        ),
        "list" | "List" | "Sequence" | "MutableSequence" | "Iterable" | "Collection"
        | "Reversible" | "Sized" => {
            Hinted::of("list", Kind::List, &["[]", "[1]", "[2, 1, 2]", "[\"a\"]"])
        }
        "tuple" | "Tuple" => Hinted::of("tuple", Kind::Tuple, &["()", "(1,)", "(1, \"a\")"]),
        "set" | "Set" | "MutableSet" | "AbstractSet" => {
            Hinted::of("set", Kind::Set, &["set()", "{1}", "{1, 2}"])
        }
        "frozenset" | "FrozenSet" => Hinted::of(
            "frozenset",
            Kind::Set,
            &["frozenset()", "frozenset({1, 2})"],
        ),
        "dict" | "Dict" | "Mapping" | "MutableMapping" => Hinted::of(
            "dict",
            Kind::Dictionary,
            &["{}", "{\"a\": 1}", "{\"a\": 1, \"b\": [2]}"],
        ),
        "Iterator" | "Generator" => {
            Hinted::of("iterator", Kind::Other, &["iter([])", "iter([1, 2])"])
        }
        "Any" | "object" | "Hashable" => Hinted {
            label: "any".to_owned(),
            samples: vec![
                Sample::new(Kind::Integer, "0"),
                Sample::new(Kind::Integer, "1"),
                Sample::new(Kind::Text, "\"a\""),
                Sample::new(Kind::Tuple, "(1, 2)"),
            ],
            ..Hinted::default()
        },
        "None" | "NoneType" => Hinted {
            or_none: true,
            ..Hinted::default()
        },
        _ => return None,
    })
}

/// Collections of some values: empty, with one, with two.
fn collection(name: &str, inner: &[Hinted]) -> Option<Hinted> {
    let labels: Vec<&str> = inner.iter().map(|part| part.label.as_str()).collect();
    let items = |part: &Hinted| -> Vec<String> {
        let samples = part.samples.iter().map(|sample| sample.code.flat());
        // The first ones are often the empty ones.
        samples
            .skip(1)
            .chain(part.samples.first().map(|sample| sample.code.flat()))
            .take(2)
            .collect()
    };
    let first = items(inner.first()?);
    let (one, two) = (first.first()?, first.join(", "));
    let bare = simple(name)?;
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
    Some(Hinted {
        label: format!("{}_{}", bare.label, labels.join("_")),
        samples: texts
            .into_iter()
            .map(|text| Sample::new(kind, text))
            .collect(),
        ..Hinted::default()
    })
}

#[cfg(test)]
mod tests;
