//! Values of a running program, as plain data.
//!
//! A [`ValueGraph`](crate::ValueGraph) is a snapshot: nodes that refer to each other. A shared
//! object is one node, and cycles stay cycles. A [`Value`] is the content of a node, in terms of
//! other nodes. Nothing here needs the program, its classes or an interpreter, and reading a value
//! runs no code.
//!
//! There are few kinds of values, because most are represented by the call that makes them: a date,
//! a deque or a compiled pattern is a [`Value::Constructed`], a call of an importable function with its
//! arguments. User objects are represented by their class and attributes ([`Value::Object`]). A
//! value that cannot be represented is [`Value::Unknown`], with its type and the reason. A value
//! that is too large is [`Value::Omitted`].
//!
//! ```
//! use testwright_capture::{Value, ValueGraph, ValueNode};
//!
//! let mut graph = ValueGraph::default();
//! let one = graph.add(ValueNode::plain(Value::Integer(1)));
//! let list = graph.add(ValueNode::plain(Value::List(vec![one, one])));
//! assert_eq!(graph.children(list), [one, one]);
//! ```

use serde::{Deserialize, Serialize};

/// The index of a node in its [`ValueGraph`](crate::ValueGraph).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// The identity of the program's object that a node is a snapshot of. Two nodes with the same
/// number are the same object, at the same time or at different times. The number of a dead object
/// is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObjectId(pub u64);

/// An importable definition: `path` in the module `module`.
///
/// A path stands for an object only if importing it gave that very object when it was recorded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ImportPath {
    /// The module's dotted name, `collections.abc`.
    pub module: String,
    /// The path inside the module, `Outer.Inner.method`; empty for the module itself.
    pub path: String,
}

// Ids of tests are digests of this text (see `write::identity`), and they stand in people's files.
// So the name in it stays as it was when the first tests were written.
impl std::fmt::Debug for ImportPath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Reference")
            .field("module", &self.module)
            .field("path", &self.path)
            .finish()
    }
}

impl ImportPath {
    /// Creates the path of `path` in `module`.
    pub fn new(module: impl Into<String>, path: impl Into<String>) -> ImportPath {
        let (module, path) = (module.into(), path.into());
        ImportPath { module, path }
    }

    /// Returns the last name of the path, or of the module if the path is empty.
    pub fn name(&self) -> &str {
        let whole = if self.path.is_empty() {
            &self.module
        } else {
            &self.path
        };
        whole.rsplit('.').next().unwrap_or(whole)
    }
}

impl std::fmt::Display for ImportPath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            formatter.write_str(&self.module)
        } else {
            write!(formatter, "{}.{}", self.module, self.path)
        }
    }
}

/// A floating-point number that is compared by its bits: `nan` equals itself, and `0.0` is not
/// `-0.0`.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct ExactFloat(pub f64);

// Ids of tests are digests of this text (see `write::identity`), and they stand in people's files.
// So the name in it stays as it was when the first tests were written.
impl std::fmt::Debug for ExactFloat {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Float").field(&self.0).finish()
    }
}

impl PartialEq for ExactFloat {
    fn eq(&self, other: &ExactFloat) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for ExactFloat {}

impl From<u64> for ExactFloat {
    fn from(bits: u64) -> ExactFloat {
        ExactFloat(f64::from_bits(bits))
    }
}

impl From<ExactFloat> for u64 {
    fn from(number: ExactFloat) -> u64 {
        number.0.to_bits()
    }
}

/// The content of a node. `R` is the type of references to other nodes: [`NodeId`] in a
/// [`ValueGraph`](crate::ValueGraph), a digest or an inline value in the store.
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
    /// An `int` that fits into 64 bits.
    Integer(i64),
    /// Any other `int`, as a Python literal (hexadecimal, since that has no limit on its length).
    LargeInteger(String),
    /// A `float`.
    Float(ExactFloat),
    /// A `complex`: real and imaginary part.
    Complex(ExactFloat, ExactFloat),
    /// A `str`.
    Text(String),
    /// A `str` with lone surrogates, by code points.
    SurrogateText(Vec<u32>),
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
    /// A `frozenset`, sorted like [`Value::Set`].
    FrozenSet(Vec<R>),
    /// A `dict`, in its own order.
    Dictionary(Vec<(R, R)>),
    /// A function, class, module or built-in that can be imported.
    Reference(ImportPath),
    /// A member of an enumeration (several for a combination of flags), by the names of the
    /// members.
    EnumMember {
        /// The enumeration.
        class: ImportPath,
        /// The names: one, or those that `|` combines; none for the empty flag.
        names: Vec<String>,
    },
    /// A value represented by the call that makes it: `datetime.date(2026, 1, 31)`,
    /// `collections.deque([1], 5)`, `re.compile("a+", 2)`. Repeating the call gives an equal value
    /// and runs no user code.
    Constructed {
        /// The function or class that is called.
        callee: ImportPath,
        /// The positional arguments.
        arguments: Vec<R>,
        /// The keyword arguments.
        keywords: Vec<(String, R)>,
    },
    /// An instance of a class made in Python (or of a subclass of a built-in type).
    Object(InstanceValue<R>),
    /// A method bound to a receiver.
    Method {
        /// The object, or the class for a class method.
        receiver: R,
        /// The name under which the receiver's class has the function.
        name: String,
    },
    /// A function that cannot be imported: a lambda, or a function defined inside another one.
    Function(LocalFunction<R>),
    /// A generator, coroutine or asynchronous generator.
    Generator {
        /// The unit whose code it runs.
        function: ImportPath,
        /// The call that made it, if that was recorded: its number in the timeline.
        created_by: Option<u64>,
    },
    /// An iterator over what is left of a built-in collection: `iter([2, 3])`.
    Iterator {
        /// The iterator's type, as in `type(...).__name__`: `list_iterator`.
        kind: String,
        /// The items that it has yet to produce.
        remaining: Vec<R>,
    },
    /// A stream in memory.
    Stream {
        /// `io.StringIO` or `io.BytesIO`.
        class: ImportPath,
        /// Its whole content, a text or bytes.
        content: R,
        /// The current position, in the units of `seek`.
        position: u64,
    },
    /// An exception as a value.
    Exception(Exception<R>),
    /// Something larger or deeper than the limits of the recording.
    Omitted {
        /// Its type.
        class: ImportPath,
        /// `len()` of it, if it has one.
        length: Option<u64>,
    },
    /// A value that cannot be looked into: a socket, a lock, a handle of an extension module.
    Unknown {
        /// Its type.
        class: ImportPath,
        /// The reason, as the end of "it is not known because …".
        reason: String,
    },
}

/// Returns a short text that looks like a name, and so likely is one choice among few: `"grid"`,
/// `"utf-8"`.
#[must_use]
pub fn as_name(value: &Value) -> Option<&str> {
    const MAX_LENGTH: usize = 20;
    let Value::Text(text) = value else {
        return None;
    };
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let is_word = text.len() <= MAX_LENGTH
        && text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(is_part);
    is_word.then_some(text)
}

/// An instance by its class and its attributes.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceValue<R = NodeId> {
    /// Its class. [`InstanceValue::is_importable`] is false if the class cannot be imported.
    pub class: ImportPath,
    /// True if importing the class by its path gave this very class.
    pub is_importable: bool,
    /// The library or construct that defines the class.
    pub kind: ObjectKind,
    /// The underlying value of a subclass of a built-in type: the text of a subclass of `str`.
    pub content: Option<R>,
    /// The attributes in `__slots__`, then those of `__dict__` in the order of creation.
    pub attributes: Vec<(String, R)>,
}

// Ids of tests are digests of this text (see `write::identity`), and they stand in people's files.
// So the name in it stays as it was when the first tests were written.
impl<R: std::fmt::Debug> std::fmt::Debug for InstanceValue<R> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Object")
            .field("class", &self.class)
            .field("is_importable", &self.is_importable)
            .field("kind", &self.kind)
            .field("content", &self.content)
            .field("attributes", &self.attributes)
            .finish()
    }
}

/// The kind of a class, which decides how its instances are constructed in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObjectKind {
    /// An ordinary class.
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
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalFunction<R = NodeId> {
    /// The module whose globals it uses.
    pub module: String,
    /// The qualified name: `make.<locals>.inner`, `<lambda>`.
    pub qualified_name: String,
    /// The line at which its definition begins.
    pub line: u32,
    /// The enclosed variables that have a value.
    pub closure: Vec<(String, R)>,
}

// Ids of tests are digests of this text (see `write::identity`), and they stand in people's files.
// So the name in it stays as it was when the first tests were written.
impl<R: std::fmt::Debug> std::fmt::Debug for LocalFunction<R> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Function")
            .field("module", &self.module)
            .field("qualified_name", &self.qualified_name)
            .field("line", &self.line)
            .field("closure", &self.closure)
            .finish()
    }
}

/// An exception, raised or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception<R = NodeId> {
    /// Its class.
    pub class: ImportPath,
    /// True if importing the class by its path gave this very class.
    pub is_importable: bool,
    /// The value of `args`.
    pub arguments: Vec<R>,
    /// Its own attributes, including those that built-in exceptions keep elsewhere (`filename`,
    /// `errno`, `value`).
    pub attributes: Vec<(String, R)>,
    /// The class of `__cause__`.
    pub cause: Option<ImportPath>,
    /// The class of `__context__`.
    pub context: Option<ImportPath>,
    /// The members of an exception group.
    pub members: Vec<R>,
}

impl<R> Value<R> {
    /// Replaces every reference, in the order of [`Value::children`].
    pub fn map<S>(self, mut to: impl FnMut(R) -> S) -> Value<S> {
        match self.try_map(|reference| Ok::<S, std::convert::Infallible>(to(reference))) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Replaces every reference, or returns the first error. The order is that of
    /// [`Value::children`].
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
            Value::SurrogateText(value) => Value::SurrogateText(value),
            Value::Bytes(value) => Value::Bytes(value),
            Value::ByteArray(value) => Value::ByteArray(value),
            Value::List(items) => Value::List(try_map_all(items, &mut to)?),
            Value::Tuple(items) => Value::Tuple(try_map_all(items, &mut to)?),
            Value::Set(items) => Value::Set(try_map_all(items, &mut to)?),
            Value::FrozenSet(items) => Value::FrozenSet(try_map_all(items, &mut to)?),
            Value::Dictionary(entries) => {
                let both = |(key, value)| Ok((to(key)?, to(value)?));
                Value::Dictionary(entries.into_iter().map(both).collect::<Result<_, E>>()?)
            }
            Value::Reference(reference) => Value::Reference(reference),
            Value::EnumMember { class, names } => Value::EnumMember { class, names },
            Value::Constructed {
                callee,
                arguments,
                keywords,
            } => Value::Constructed {
                callee,
                arguments: try_map_all(arguments, &mut to)?,
                keywords: map_named(keywords, &mut to)?,
            },
            Value::Object(object) => Value::Object(InstanceValue {
                class: object.class,
                is_importable: object.is_importable,
                kind: object.kind,
                content: object.content.map(&mut to).transpose()?,
                attributes: map_named(object.attributes, &mut to)?,
            }),
            Value::Method { receiver, name } => Value::Method {
                receiver: to(receiver)?,
                name,
            },
            Value::Function(function) => Value::Function(LocalFunction {
                module: function.module,
                qualified_name: function.qualified_name,
                line: function.line,
                closure: map_named(function.closure, &mut to)?,
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
                remaining: try_map_all(remaining, &mut to)?,
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
                arguments: try_map_all(exception.arguments, &mut to)?,
                attributes: map_named(exception.attributes, &mut to)?,
                cause: exception.cause,
                context: exception.context,
                members: try_map_all(exception.members, &mut to)?,
            }),
            Value::Omitted { class, length } => Value::Omitted { class, length },
            Value::Unknown { class, reason } => Value::Unknown { class, reason },
        })
    }

    /// Returns all references to other nodes, in the order in which they are written.
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
            Value::Constructed {
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

/// Converts every reference of a list.
fn try_map_all<R, S, E>(
    references: Vec<R>,
    to: &mut impl FnMut(R) -> Result<S, E>,
) -> Result<Vec<S>, E> {
    references.into_iter().map(to).collect()
}

/// Converts every reference of a list of named values.
fn map_named<R, S, E>(
    pairs: Vec<(String, R)>,
    to: &mut impl FnMut(R) -> Result<S, E>,
) -> Result<Vec<(String, S)>, E> {
    pairs
        .into_iter()
        .map(|(name, value)| Ok((name, to(value)?)))
        .collect()
}

/// Serialization of bytes as hexadecimal text, for the store.
pub(crate) mod hexadecimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes two digits per byte.
    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digit = |half| char::from_digit(u32::from(half), 16).unwrap_or('0');
        to.serialize_str(&digits.map(digit).collect::<String>())
    }

    /// Reads the digits back; an odd number of digits is an error.
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
    fn names_in_debug_output_are_part_of_test_ids_and_stay() {
        let value: Value<()> = Value::Constructed {
            callee: ImportPath::new("m", "p"),
            arguments: Vec::new(),
            keywords: Vec::new(),
        };
        let text = r#"Constructed { callee: Reference { module: "m", path: "p" }, arguments: [], keywords: [] }"#;
        assert_eq!(format!("{value:?}"), text);
        let number: Value<()> = Value::Float(ExactFloat(1.5));
        assert_eq!(format!("{number:?}"), "Float(Float(1.5))");
    }

    #[test]
    fn children_and_map_agree_on_the_order() {
        let value: Value<u8> = Value::Exception(Exception {
            class: ImportPath::new("builtins", "OSError"),
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
