//! Values of a running program, as plain data.
//!
//! A [`Graph`](crate::Graph) is a snapshot: nodes that refer to each other, so that what is shared is there once and what is
//! cyclic stays cyclic. A [`Value`] says what a node is, in terms of other nodes. Nothing here needs the program, its
//! classes or an interpreter, and nothing can be run by reading it.
//!
//! There are few kinds of values, because most can be told by how they are made: a date, a deque or a compiled
//! pattern is [`Value::Made`], a call of something that can be imported with some arguments. User objects are told
//! by their class and their attributes ([`Value::Object`]). What cannot be told is [`Value::Unknown`], with its type
//! and the reason; what was too large is [`Value::Omitted`].
//!
//! ```
//! use testwright_capture::{Graph, Node, Value};
//!
//! let mut graph = Graph::default();
//! let one = graph.add(Node::plain(Value::Integer(1)));
//! let list = graph.add(Node::plain(Value::List(vec![one, one])));
//! assert_eq!(graph.children(list), [one, one]);
//! ```

use serde::{Deserialize, Serialize};

/// The place of a node in its [`Graph`](crate::Graph).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// Which object of the program a node is a snapshot of. Two nodes with the same number are the same object, at the
/// same moment or at different ones; the number of an object that died is never given to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObjectId(pub u64);

/// Something that an importer finds: `path` in the module `module`.
///
/// A reference stands for an object only if looking it up gave that very object when it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reference {
    /// The module's dotted name, `collections.abc`.
    pub module: String,
    /// The path inside the module, `Outer.Inner.method`; empty for the module itself.
    pub path: String,
}

impl Reference {
    /// `path` in `module`.
    pub fn new(module: impl Into<String>, path: impl Into<String>) -> Reference {
        let (module, path) = (module.into(), path.into());
        Reference { module, path }
    }

    /// The last name of the path, or of the module if there is no path.
    pub fn name(&self) -> &str {
        let whole = if self.path.is_empty() {
            &self.module
        } else {
            &self.path
        };
        whole.rsplit('.').next().unwrap_or(whole)
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            formatter.write_str(&self.module)
        } else {
            write!(formatter, "{}.{}", self.module, self.path)
        }
    }
}

/// A floating-point number, equal to another if all bits are: `nan` equals itself, and `0.0` is not `-0.0`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Float(pub f64);

impl PartialEq for Float {
    fn eq(&self, other: &Float) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Float {}

impl From<u64> for Float {
    fn from(bits: u64) -> Float {
        Float(f64::from_bits(bits))
    }
}

impl From<Float> for u64 {
    fn from(number: Float) -> u64 {
        number.0.to_bits()
    }
}

/// What a node is. `R` is how it refers to other nodes: by [`NodeId`] in a [`Graph`](crate::Graph), by content in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Value<R = NodeId> {
    /// `None`.
    None,
    /// `...`
    Ellipsis,
    /// `NotImplemented`.
    NotImplemented,
    /// `True` or `False`.
    Boolean(bool),
    /// An `int` that fits.
    Integer(i64),
    /// Any other `int`, as a Python literal (hexadecimal, since that has no limit on its length).
    LargeInteger(String),
    /// A `float`.
    Float(Float),
    /// A `complex`: real and imaginary part.
    Complex(Float, Float),
    /// A `str`.
    Text(String),
    /// A `str` with lone surrogates, by code points.
    BrokenText(Vec<u32>),
    /// A `bytes`.
    Bytes(#[serde(with = "hexadecimal")] Vec<u8>),
    /// A `bytearray`.
    ByteArray(#[serde(with = "hexadecimal")] Vec<u8>),
    /// A `list`.
    List(Vec<R>),
    /// A `tuple`.
    Tuple(Vec<R>),
    /// A `set`, sorted by content where there is an order, so that hash order never shows.
    Set(Vec<R>),
    /// A `frozenset`, likewise.
    FrozenSet(Vec<R>),
    /// A `dict`, in its own order.
    Dictionary(Vec<(R, R)>),
    /// A function, class, module or built-in that can be imported.
    Reference(Reference),
    /// A member of an enumeration (several for a combination of flags), by the names of the members.
    Member {
        /// The enumeration.
        class: Reference,
        /// The names: one, or those that `|` combines; none for the empty flag.
        names: Vec<String>,
    },
    /// What a call of something importable gives: `datetime.date(2026, 1, 31)`, `collections.deque([1], 5)`,
    /// `re.compile("a+", 2)`. Calling it again with these arguments gives an equal value, and runs no user code.
    Made {
        /// What is called.
        callee: Reference,
        /// With these positional arguments.
        arguments: Vec<R>,
        /// And these by name.
        keywords: Vec<(String, R)>,
    },
    /// An instance of a class made in Python (or of a subclass of a built-in type).
    Object(Object<R>),
    /// A method bound to a receiver.
    Method {
        /// The object, or the class for a class method.
        receiver: R,
        /// The name under which the receiver's class has the function.
        name: String,
    },
    /// A function that nobody can import: a lambda, or one made inside another function.
    Function(Function<R>),
    /// A generator, coroutine or asynchronous generator.
    Generator {
        /// The unit whose code it runs.
        function: Reference,
        /// The call that made it, if that was recorded: its number in the timeline.
        created_by: Option<u64>,
    },
    /// An iterator over what is left of a built-in collection: `iter([2, 3])`.
    Iterator {
        /// What `type(...).__name__` says: `list_iterator`.
        kind: String,
        /// What it has yet to give.
        remaining: Vec<R>,
    },
    /// A stream in memory.
    Stream {
        /// `io.StringIO` or `io.BytesIO`.
        class: Reference,
        /// Its whole content, a text or bytes.
        content: R,
        /// Where it stands, in the units of `seek`.
        position: u64,
    },
    /// An exception as a value.
    Exception(Exception<R>),
    /// Something larger or deeper than the limits of the recording.
    Omitted {
        /// Its type.
        class: Reference,
        /// `len()` of it, if it has one.
        length: Option<u64>,
    },
    /// Something that cannot be looked into: a socket, a lock, a handle of an extension.
    Unknown {
        /// Its type.
        class: Reference,
        /// Why, as the end of "it is not known because …".
        reason: String,
    },
}

/// A text that is a name, and so likely a choice among few: `"grid"`, `"utf-8"`.
#[must_use]
pub fn word(value: &Value) -> Option<&str> {
    const LONGEST: usize = 20;
    let Value::Text(text) = value else {
        return None;
    };
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let is_word = text.len() <= LONGEST
        && text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(is_part);
    is_word.then_some(text)
}

/// An instance by its class and its attributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object<R = NodeId> {
    /// Its class. If that cannot be imported, [`Object::is_importable`] is false.
    pub class: Reference,
    /// Whether importing the class gave the very class.
    pub is_importable: bool,
    /// What is special about the class.
    pub kind: ObjectKind,
    /// For a subclass of a built-in type, the value as that type has it: the text of a subclass of `str`.
    pub content: Option<R>,
    /// The attributes in `__slots__`, then those of `__dict__` in the order of their creation.
    pub attributes: Vec<(String, R)>,
}

/// What is known about how instances of a class are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObjectKind {
    /// Nothing.
    Plain,
    /// A dataclass.
    Dataclass,
    /// A named tuple: `content` is the tuple.
    NamedTuple,
    /// A class by `attrs`.
    Attrs,
    /// A model by `pydantic`.
    Pydantic,
}

/// A function that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function<R = NodeId> {
    /// The module whose globals it uses.
    pub module: String,
    /// `make.<locals>.inner`, `<lambda>`.
    pub qualified_name: String,
    /// Where its definition begins.
    pub line: u32,
    /// The variables it encloses that have a value.
    pub closure: Vec<(String, R)>,
}

/// An exception, raised or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception<R = NodeId> {
    /// Its class.
    pub class: Reference,
    /// Whether importing the class gave the very class.
    pub is_importable: bool,
    /// `args`.
    pub arguments: Vec<R>,
    /// Attributes of its own, those that built-in exceptions keep elsewhere included (`filename`, `errno`, `value`).
    pub attributes: Vec<(String, R)>,
    /// The class of `__cause__`.
    pub cause: Option<Reference>,
    /// The class of `__context__`.
    pub context: Option<Reference>,
    /// The members of an exception group.
    pub members: Vec<R>,
}

impl<R> Value<R> {
    /// The same value with other references. The order is that of [`Value::children`].
    pub fn map<S>(self, mut to: impl FnMut(R) -> S) -> Value<S> {
        match self.try_map(|reference| Ok::<S, std::convert::Infallible>(to(reference))) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// The same value with other references, if each can be had.
    pub fn try_map<S, E>(self, mut to: impl FnMut(R) -> Result<S, E>) -> Result<Value<S>, E> {
        Ok(match self {
            Value::None => Value::None,
            Value::Ellipsis => Value::Ellipsis,
            Value::NotImplemented => Value::NotImplemented,
            Value::Boolean(value) => Value::Boolean(value),
            Value::Integer(value) => Value::Integer(value),
            Value::LargeInteger(value) => Value::LargeInteger(value),
            Value::Float(value) => Value::Float(value),
            Value::Complex(real, imaginary) => Value::Complex(real, imaginary),
            Value::Text(value) => Value::Text(value),
            Value::BrokenText(value) => Value::BrokenText(value),
            Value::Bytes(value) => Value::Bytes(value),
            Value::ByteArray(value) => Value::ByteArray(value),
            Value::List(items) => Value::List(all(items, &mut to)?),
            Value::Tuple(items) => Value::Tuple(all(items, &mut to)?),
            Value::Set(items) => Value::Set(all(items, &mut to)?),
            Value::FrozenSet(items) => Value::FrozenSet(all(items, &mut to)?),
            Value::Dictionary(entries) => {
                let both = |(key, value)| Ok((to(key)?, to(value)?));
                Value::Dictionary(entries.into_iter().map(both).collect::<Result<_, E>>()?)
            }
            Value::Reference(reference) => Value::Reference(reference),
            Value::Member { class, names } => Value::Member { class, names },
            Value::Made {
                callee,
                arguments,
                keywords,
            } => Value::Made {
                callee,
                arguments: all(arguments, &mut to)?,
                keywords: named(keywords, &mut to)?,
            },
            Value::Object(object) => Value::Object(Object {
                class: object.class,
                is_importable: object.is_importable,
                kind: object.kind,
                content: object.content.map(&mut to).transpose()?,
                attributes: named(object.attributes, &mut to)?,
            }),
            Value::Method { receiver, name } => Value::Method {
                receiver: to(receiver)?,
                name,
            },
            Value::Function(function) => Value::Function(Function {
                module: function.module,
                qualified_name: function.qualified_name,
                line: function.line,
                closure: named(function.closure, &mut to)?,
            }),
            Value::Generator {
                function,
                created_by,
            } => Value::Generator {
                function,
                created_by,
            },
            Value::Iterator { kind, remaining } => Value::Iterator {
                kind,
                remaining: all(remaining, &mut to)?,
            },
            Value::Stream {
                class,
                content,
                position,
            } => Value::Stream {
                class,
                content: to(content)?,
                position,
            },
            Value::Exception(exception) => Value::Exception(Exception {
                class: exception.class,
                is_importable: exception.is_importable,
                arguments: all(exception.arguments, &mut to)?,
                attributes: named(exception.attributes, &mut to)?,
                cause: exception.cause,
                context: exception.context,
                members: all(exception.members, &mut to)?,
            }),
            Value::Omitted { class, length } => Value::Omitted { class, length },
            Value::Unknown { class, reason } => Value::Unknown { class, reason },
        })
    }

    /// What it refers to, in the order in which it is written.
    pub fn children(&self) -> Vec<&R> {
        match self {
            Value::List(items)
            | Value::Tuple(items)
            | Value::Set(items)
            | Value::FrozenSet(items) => items.iter().collect(),
            Value::Dictionary(entries) => entries
                .iter()
                .flat_map(|(key, value)| [key, value])
                .collect(),
            Value::Made {
                arguments,
                keywords,
                ..
            } => arguments
                .iter()
                .chain(keywords.iter().map(|(_, value)| value))
                .collect(),
            Value::Object(object) => {
                let attributes = object.attributes.iter().map(|(_, value)| value);
                object.content.iter().chain(attributes).collect()
            }
            Value::Method { receiver, .. } => vec![receiver],
            Value::Function(function) => function.closure.iter().map(|(_, value)| value).collect(),
            Value::Iterator { remaining, .. } => remaining.iter().collect(),
            Value::Stream { content, .. } => vec![content],
            Value::Exception(exception) => {
                let attributes = exception.attributes.iter().map(|(_, value)| value);
                exception
                    .arguments
                    .iter()
                    .chain(attributes)
                    .chain(&exception.members)
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

fn all<R, S, E>(references: Vec<R>, to: &mut impl FnMut(R) -> Result<S, E>) -> Result<Vec<S>, E> {
    references.into_iter().map(to).collect()
}

fn named<R, S, E>(
    pairs: Vec<(String, R)>,
    to: &mut impl FnMut(R) -> Result<S, E>,
) -> Result<Vec<(String, S)>, E> {
    pairs
        .into_iter()
        .map(|(name, value)| Ok((name, to(value)?)))
        .collect()
}

/// Bytes as text, for the store.
pub(crate) mod hexadecimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digit = |half| char::from_digit(u32::from(half), 16).unwrap_or('0');
        to.serialize_str(&digits.map(digit).collect::<String>())
    }

    pub(crate) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let digits: Option<Vec<u8>> = text
            .chars()
            .map(|digit| u8::try_from(digit.to_digit(16)?).ok())
            .collect();
        let digits = digits.filter(|digits| digits.len() % 2 == 0);
        let digits = digits.ok_or_else(|| D::Error::custom("not hexadecimal"))?;
        Ok(digits
            .chunks_exact(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_and_map_agree_on_the_order() {
        let value: Value<u8> = Value::Exception(Exception {
            class: Reference::new("builtins", "OSError"),
            is_importable: true,
            arguments: vec![1, 2],
            attributes: vec![("errno".to_owned(), 3)],
            cause: None,
            context: None,
            members: vec![4],
        });
        let mut seen = Vec::new();
        let children: Vec<u8> = value.children().into_iter().copied().collect();
        value.map(|child| seen.push(child));
        assert_eq!(children, seen);
    }
}
