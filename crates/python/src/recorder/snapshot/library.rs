//! Values of well-known types that are told by how they are made.
//!
//! Only objects of exactly these types are asked, and only for what their own code answers: it is written in C, or is
//! Python code of the standard library that calls nobody else.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use testwright_capture::{NodeId, Reference, Value};

use super::super::names;
use super::Moment;

/// Types that are made from what their attributes say, in the order of the parameters of the class.
const BY_ATTRIBUTES: [(&str, &str, &[&str]); 7] = [
    ("datetime", "date", &["year", "month", "day"]),
    (
        "datetime",
        "timedelta",
        &["days", "seconds", "microseconds"],
    ),
    ("re", "Pattern", &["pattern", "flags"]),
    ("builtins", "range", &["start", "stop", "step"]),
    ("builtins", "slice", &["start", "stop", "step"]),
    ("fractions", "Fraction", &["numerator", "denominator"]),
    (
        "subprocess",
        "CompletedProcess",
        &["args", "returncode", "stdout", "stderr"],
    ),
];

/// Types that are made from a text, `str()` of them.
const BY_TEXT: [(&str, &str); 12] = [
    ("decimal", "Decimal"),
    ("uuid", "UUID"),
    ("pathlib", "PosixPath"),
    ("pathlib", "WindowsPath"),
    ("pathlib", "PurePosixPath"),
    ("pathlib", "PureWindowsPath"),
    ("ipaddress", "IPv4Address"),
    ("ipaddress", "IPv6Address"),
    ("ipaddress", "IPv4Network"),
    ("ipaddress", "IPv6Network"),
    ("ipaddress", "IPv4Interface"),
    ("ipaddress", "IPv6Interface"),
];

/// In longer texts nothing is matched again, as that may take long.
const LONGEST_MATCHED: usize = 10_000;

impl Moment<'_> {
    pub(super) fn library(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        let class = names::class_reference(&object.get_type());
        let module = public_module(&class);
        let path = class.path.as_str();
        if let Some((.., attributes)) = BY_ATTRIBUTES
            .iter()
            .find(|(of, name, _)| (*of, *name) == (module, path))
        {
            return self.by_attributes(object, module, path, attributes, depth);
        }
        if BY_TEXT.contains(&(module, path)) {
            let text = object.str().ok()?;
            let argument = self.node(text.as_any(), depth);
            let callee = Reference::new(module, path.trim_start_matches("Posix"));
            let callee = match path {
                "PosixPath" | "WindowsPath" => Reference::new("pathlib", "Path"),
                _ => Reference {
                    path: path.to_owned(),
                    ..callee
                },
            };
            return Some(made(callee, vec![argument]));
        }
        match (module, path) {
            ("datetime", "datetime" | "time") => self.moment(object, path, depth),
            ("datetime", "timezone") => self.timezone(object, depth),
            ("zoneinfo", "ZoneInfo") => {
                let key = self.node(&object.getattr("key").ok()?, depth);
                Some(made(Reference::new("zoneinfo", "ZoneInfo"), vec![key]))
            }
            ("time", "struct_time") => {
                let parts = object.cast::<PyTuple>().ok()?;
                let parts = Value::Tuple(self.all(parts.iter(), depth));
                let parts = self.plain(parts);
                Some(made(Reference::new("time", "struct_time"), vec![parts]))
            }
            ("collections", "deque") => {
                let items = object.try_iter().ok()?.flatten();
                let items = Value::List(self.all(items, depth));
                let mut arguments = vec![self.plain(items)];
                let limit = object.getattr("maxlen").ok()?;
                if !limit.is_none() {
                    arguments.push(self.node(&limit, depth));
                }
                Some(made(Reference::new("collections", "deque"), arguments))
            }
            ("collections", "OrderedDict") => {
                let entries = self.ordered(object, depth)?;
                Some(made(
                    Reference::new("collections", "OrderedDict"),
                    vec![entries],
                ))
            }
            ("collections", "Counter") => {
                let entries = self.entries(object.cast::<PyDict>().ok()?, depth);
                let entries = self.plain(Value::Dictionary(entries));
                Some(made(
                    Reference::new("collections", "Counter"),
                    vec![entries],
                ))
            }
            ("collections", "defaultdict") => {
                let factory = self.node(&object.getattr("default_factory").ok()?, depth);
                let entries = self.entries(object.cast::<PyDict>().ok()?, depth);
                let entries = self.plain(Value::Dictionary(entries));
                let callee = Reference::new("collections", "defaultdict");
                Some(made(callee, vec![factory, entries]))
            }
            ("array", "array") => {
                let code = self.node(&object.getattr("typecode").ok()?, depth);
                let items = self.node(&object.call_method0("tolist").ok()?, depth);
                Some(made(Reference::new("array", "array"), vec![code, items]))
            }
            ("types", "SimpleNamespace") => {
                let keywords = object.getattr("__dict__").ok()?;
                let keywords = self.keywords(keywords.cast::<PyDict>().ok()?, depth)?;
                let callee = Reference::new("types", "SimpleNamespace");
                Some(Value::Made {
                    callee,
                    arguments: Vec::new(),
                    keywords,
                })
            }
            ("builtins", "memoryview") => {
                let whole = object.getattr("obj").ok()?;
                let length = object.getattr("nbytes").ok()?.extract::<usize>().ok()?;
                let is_all = whole
                    .cast_exact::<pyo3::types::PyByteArray>()
                    .map(|bytes| bytes.len() == length);
                let whole = is_all.ok()?.then(|| self.node(&whole, depth))?;
                Some(made(Reference::new("builtins", "memoryview"), vec![whole]))
            }
            // Loggers are known by their names, and there is one of each.
            ("logging", "Logger" | "RootLogger") => {
                let name = self.node(&object.getattr("name").ok()?, depth);
                let arguments = match path {
                    "Logger" => vec![name],
                    _ => Vec::new(),
                };
                Some(made(Reference::new("logging", "getLogger"), arguments))
            }
            // One that has this value by default says the same to all who ask. (3.9 counts it among the built-ins.)
            ("_contextvars" | "builtins", "ContextVar") => {
                let name = self.node(&object.getattr("name").ok()?, depth);
                let value = object.call_method0("get").ok();
                let value = value.map(|value| ("default".to_owned(), self.node(&value, depth)));
                Some(Value::Made {
                    callee: Reference::new("contextvars", "ContextVar"),
                    arguments: vec![name],
                    keywords: value.into_iter().collect(),
                })
            }
            ("sqlite3", "Connection") => self.database(object, depth),
            ("socket", "socket") | ("subprocess", "Popen") => Some(Value::Unknown {
                class: Reference::new(module, path),
                reason: "it is connected to something outside".to_owned(),
            }),
            ("functools", "partial") => self.partial(object, depth),
            ("weakref", "ReferenceType" | "weakref") | ("builtins", "weakref") => {
                self.weak_reference(object, depth)
            }
            ("re", "Match") => self.found(object, depth),
            ("io", "StringIO" | "BytesIO") => {
                let content = self.node(&object.call_method0("getvalue").ok()?, depth);
                let position = object.call_method0("tell").ok()?.extract().ok()?;
                let class = Reference::new("io", path);
                Some(Value::Stream {
                    class,
                    content,
                    position,
                })
            }
            (
                "builtins",
                "list_iterator"
                | "tuple_iterator"
                | "range_iterator"
                | "dict_keyiterator"
                | "dict_valueiterator"
                | "dict_itemiterator"
                | "set_iterator"
                | "str_iterator"
                | "str_ascii_iterator"
                | "list_reverseiterator"
                | "reversed"
                | "map"
                | "zip"
                | "enumerate",
            )
            | ("itertools", "chain") => self.iterator(object, path, depth),
            ("builtins", "generator" | "coroutine" | "async_generator") => generator(object, path),
            _ => None,
        }
    }

    fn by_attributes(
        &mut self,
        object: &Bound<'_, PyAny>,
        module: &str,
        path: &str,
        attributes: &[&str],
        depth: u32,
    ) -> Option<Value> {
        let mut arguments = Vec::new();
        for name in attributes {
            arguments.push(self.node(&object.getattr(*name).ok()?, depth));
        }
        let callee = match path {
            "Pattern" => Reference::new("re", "compile"),
            _ => Reference::new(module, path),
        };
        Some(made(callee, arguments))
    }

    /// A point in time or a time of day.
    fn moment(&mut self, object: &Bound<'_, PyAny>, path: &str, depth: u32) -> Option<Value> {
        let all = [
            "year",
            "month",
            "day",
            "hour",
            "minute",
            "second",
            "microsecond",
        ];
        let names = if path == "time" { &all[3..] } else { &all[..] };
        let mut arguments = Vec::new();
        for name in names {
            arguments.push(self.node(&object.getattr(*name).ok()?, depth));
        }
        let mut keywords = Vec::new();
        let zone = object.getattr("tzinfo").ok()?;
        if !zone.is_none() {
            keywords.push(("tzinfo".to_owned(), self.node(&zone, depth)));
        }
        let fold = object.getattr("fold").ok()?;
        if fold.extract::<u8>().ok()? != 0 {
            keywords.push(("fold".to_owned(), self.node(&fold, depth)));
        }
        let callee = Reference::new("datetime", path);
        Some(Value::Made {
            callee,
            arguments,
            keywords,
        })
    }

    fn timezone(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        // What it was made with: an offset, and a name if there is one.
        let parts = object.call_method0("__getinitargs__").ok()?;
        let parts = parts.cast_into::<PyTuple>().ok()?;
        let arguments = self.all(parts.iter(), depth);
        Some(made(Reference::new("datetime", "timezone"), arguments))
    }

    /// The entries of an `OrderedDict`, whose order is its own.
    fn ordered(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<NodeId> {
        let stored: Vec<_> = object.cast::<PyDict>().ok()?.iter().collect();
        let mut entries = Vec::new();
        for key in object.try_iter().ok()?.flatten() {
            let (_, value) = stored.iter().find(|(stored, _)| stored.is(&key))?;
            entries.push((self.node(&key, depth), self.node(value, depth)));
        }
        Some(self.plain(Value::Dictionary(entries)))
    }

    fn keywords(
        &mut self,
        dictionary: &Bound<'_, PyDict>,
        depth: u32,
    ) -> Option<Vec<(String, NodeId)>> {
        let mut keywords = Vec::new();
        for (name, value) in dictionary.iter() {
            // SAFETY: the name is alive.
            let name = unsafe { names::text(name.py(), name.as_ptr()) }?;
            keywords.push((name, self.node(&value, depth)));
        }
        Some(keywords)
    }

    fn partial(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        let mut arguments = vec![self.node(&object.getattr("func").ok()?, depth)];
        let given = object.getattr("args").ok()?.cast_into::<PyTuple>().ok()?;
        arguments.extend(self.all(given.iter(), depth));
        let keywords = object.getattr("keywords").ok()?;
        let keywords = self.keywords(keywords.cast::<PyDict>().ok()?, depth)?;
        let function = arguments.first().copied()?;
        let callee = Reference::new("functools", "partial");
        let partial = Value::Made {
            callee,
            arguments,
            keywords,
        };
        // It may have been made to look like the function in it. Its own class answers, which is written in C.
        let wrapped = object.getattr("__wrapped__").ok();
        if !wrapped.is_some_and(|wrapped| object.getattr("func").is_ok_and(|of| of.is(&wrapped))) {
            return Some(partial);
        }
        let partial = self.plain(partial);
        let callee = Reference::new("functools", "update_wrapper");
        Some(made(callee, vec![partial, function]))
    }

    /// What a weak reference refers to, if that is still there and nobody wants to know when it is not.
    fn weak_reference(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        // Of a type written in C, which answers itself.
        if !object.getattr("__callback__").ok()?.is_none() {
            return None;
        }
        let target = object.call0().ok().filter(|target| !target.is_none())?;
        let target = self.node(&target, depth);
        Some(made(Reference::new("weakref", "ref"), vec![target]))
    }

    /// A small database, told by what makes another one like it.
    fn database(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        const MOST_LINES: usize = 200;
        // Whatever makes rows or texts in its own way may be code of the program.
        let rows = object.getattr("row_factory").ok()?;
        let library = object.py().import("sqlite3").ok()?;
        let are_named = rows.is(&library.getattr("Row").ok()?);
        let texts = object.getattr("text_factory").ok()?;
        let is_usual = texts.is(object.py().get_type::<PyString>());
        if !(rows.is_none() || are_named) || !is_usual {
            return None;
        }
        let mut lines = Vec::new();
        for line in object.call_method0("iterdump").ok()?.try_iter().ok()? {
            let line: String = line.ok()?.extract().ok()?;
            if !matches!(line.as_str(), "BEGIN TRANSACTION;" | "COMMIT;") {
                lines.push(line);
            }
            if lines.len() > MOST_LINES {
                return None;
            }
        }
        let script = super::super::sources::masked(&lines.join("\n")).into_owned();
        let script = self.plain(Value::Text(script));
        let mut keywords = Vec::new();
        if are_named {
            keywords.push(("row_factory".to_owned(), self.node(&rows, depth)));
        }
        Some(Value::Made {
            callee: Reference::new("testwright_helpers", "database"),
            arguments: vec![script],
            keywords,
        })
    }

    /// A match, told by the way in which its pattern finds it again.
    fn found(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        let [pattern, text, first, last, groups] =
            ["re", "string", "pos", "endpos", "regs"].map(|name| object.getattr(name).ok());
        let (pattern, text, groups) = (pattern?, text?, groups?);
        let is_plain =
            text.cast_exact::<PyString>().is_ok() || text.cast_exact::<PyBytes>().is_ok();
        let length = text.len().ok()?;
        if !is_plain || length > LONGEST_MATCHED {
            return None;
        }
        let (first, last): (usize, usize) = (first?.extract().ok()?, last?.extract().ok()?);
        let start: usize = object.call_method0("start").ok()?.extract().ok()?;
        let ways = [
            ("match", first),
            ("fullmatch", first),
            ("search", first),
            ("search", start),
        ];
        for (name, from) in ways {
            let again = pattern.call_method1(name, (&text, from, last)).ok()?;
            let is_same = again
                .getattr("regs")
                .is_ok_and(|found| found.eq(&groups).unwrap_or(false));
            if !is_same {
                continue;
            }
            let mut arguments = vec![self.node(&pattern, depth), self.node(&text, depth)];
            if (from, last) == (0, length) {
                return Some(made(Reference::new("re", name), arguments));
            }
            arguments.push(self.integer(from));
            if last != length {
                arguments.push(self.integer(last));
            }
            return Some(made(
                Reference::new("re", format!("Pattern.{name}")),
                arguments,
            ));
        }
        None
    }

    fn integer(&mut self, number: usize) -> NodeId {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.plain(Value::Integer(number))
    }

    /// What an iterator has yet to give.
    fn iterator(&mut self, object: &Bound<'_, PyAny>, path: &str, depth: u32) -> Option<Value> {
        let items = super::iterators::remaining(object)?;
        Some(Value::Iterator {
            kind: path.to_owned(),
            remaining: self.all(items.into_iter(), depth),
        })
    }
}

fn generator(object: &Bound<'_, PyAny>, path: &str) -> Option<Value> {
    let letters = match path {
        "generator" => "gi",
        "coroutine" => "cr",
        _ => "ag",
    };
    let code = object.getattr(format!("{letters}_code").as_str()).ok()?;
    let path = object.getattr("__qualname__").ok()?.extract().ok()?;
    let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
    let module = super::super::scope::module_of_file(object.py(), &file).unwrap_or_default();
    Some(Value::Generator {
        function: Reference { module, path },
        created_by: None,
    })
}

fn made(callee: Reference, arguments: Vec<NodeId>) -> Value {
    Value::Made {
        callee,
        arguments,
        keywords: Vec::new(),
    }
}

/// The module under which a type is documented.
fn public_module(class: &Reference) -> &str {
    match class.module.as_str() {
        "_io" => "io",
        "_pydatetime" => "datetime",
        "_decimal" => "decimal",
        "pathlib._local" => "pathlib",
        module => module,
    }
}
