//! Values of well-known library types, as the calls that recreate them.
//!
//! Only objects of exactly these types are read, and only through code that is written in C, or
//! Python code of the standard library that calls no code of the program.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use testwright_capture::{ImportPath, NodeId, Value};

use super::super::names;
use super::ValueGraphBuilder;

/// Types recreated from their attributes, in the order of the constructor's parameters.
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

/// Types recreated from their `str()`.
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

/// The maximum length of texts in which a match is searched again, as that may take long.
const MAX_MATCHED_LENGTH: usize = 10_000;

impl ValueGraphBuilder<'_> {
    /// Reads a value of a well-known type; `None` for others.
    pub(super) fn library_value(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        let class = names::class_reference(&object.get_type());
        let module = public_module(&class);
        let path = class.path.as_str();
        if let Some((.., attributes)) = BY_ATTRIBUTES
            .iter()
            .find(|(of, name, _)| (*of, *name) == (module, path))
        {
            return self.value_from_attributes(object, module, path, attributes, depth);
        }
        if BY_TEXT.contains(&(module, path)) {
            let text = object.str().ok()?;
            let argument = self.node(text.as_any(), depth);
            let callee = ImportPath::new(module, path.trim_start_matches("Posix"));
            let callee = match path {
                "PosixPath" | "WindowsPath" => ImportPath::new("pathlib", "Path"),
                _ => ImportPath {
                    path: path.to_owned(),
                    ..callee
                },
            };
            return Some(made_value(callee, vec![argument]));
        }
        match (module, path) {
            ("datetime", "datetime" | "time") => self.date_or_time(object, path, depth),
            ("datetime", "timezone") => self.timezone(object, depth),
            ("zoneinfo", "ZoneInfo") => {
                let key = self.node(&object.getattr("key").ok()?, depth);
                Some(made_value(
                    ImportPath::new("zoneinfo", "ZoneInfo"),
                    vec![key],
                ))
            }
            ("time", "struct_time") => {
                let parts = object.cast::<PyTuple>().ok()?;
                let parts = Value::Tuple(self.add_all(parts.iter(), depth));
                let parts = self.add_plain(parts);
                Some(made_value(
                    ImportPath::new("time", "struct_time"),
                    vec![parts],
                ))
            }
            ("collections", "deque") => {
                let items = object.try_iter().ok()?.flatten();
                let items = Value::List(self.add_all(items, depth));
                let mut arguments = vec![self.add_plain(items)];
                let limit = object.getattr("maxlen").ok()?;
                if !limit.is_none() {
                    arguments.push(self.node(&limit, depth));
                }
                Some(made_value(
                    ImportPath::new("collections", "deque"),
                    arguments,
                ))
            }
            ("collections", "OrderedDict") => {
                let entries = self.ordered_entries(object, depth)?;
                Some(made_value(
                    ImportPath::new("collections", "OrderedDict"),
                    vec![entries],
                ))
            }
            ("collections", "Counter") => {
                let entries = self.entries(object.cast::<PyDict>().ok()?, depth);
                let entries = self.add_plain(Value::Dictionary(entries));
                Some(made_value(
                    ImportPath::new("collections", "Counter"),
                    vec![entries],
                ))
            }
            ("collections", "defaultdict") => {
                let factory = self.node(&object.getattr("default_factory").ok()?, depth);
                let entries = self.entries(object.cast::<PyDict>().ok()?, depth);
                let entries = self.add_plain(Value::Dictionary(entries));
                let callee = ImportPath::new("collections", "defaultdict");
                Some(made_value(callee, vec![factory, entries]))
            }
            ("array", "array") => {
                let code = self.node(&object.getattr("typecode").ok()?, depth);
                let items = self.node(&object.call_method0("tolist").ok()?, depth);
                Some(made_value(
                    ImportPath::new("array", "array"),
                    vec![code, items],
                ))
            }
            ("types", "SimpleNamespace") => {
                let keywords = object.getattr("__dict__").ok()?;
                let keywords = self.keywords(keywords.cast::<PyDict>().ok()?, depth)?;
                let callee = ImportPath::new("types", "SimpleNamespace");
                Some(Value::Constructed {
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
                Some(made_value(
                    ImportPath::new("builtins", "memoryview"),
                    vec![whole],
                ))
            }
            // Loggers are singletons, identified by their names.
            ("logging", "Logger" | "RootLogger") => {
                let name = self.node(&object.getattr("name").ok()?, depth);
                let arguments = match path {
                    "Logger" => vec![name],
                    _ => Vec::new(),
                };
                Some(made_value(
                    ImportPath::new("logging", "getLogger"),
                    arguments,
                ))
            }
            // A new variable with the current value as its default behaves the same. (3.9 lists the
            // type among the built-ins.)
            ("_contextvars" | "builtins", "ContextVar") => {
                let name = self.node(&object.getattr("name").ok()?, depth);
                let value = object.call_method0("get").ok();
                let value = value.map(|value| ("default".to_owned(), self.node(&value, depth)));
                Some(Value::Constructed {
                    callee: ImportPath::new("contextvars", "ContextVar"),
                    arguments: vec![name],
                    keywords: value.into_iter().collect(),
                })
            }
            ("sqlite3", "Connection") => self.database(object, depth),
            ("socket", "socket") | ("subprocess", "Popen") => Some(Value::Unknown {
                class: ImportPath::new(module, path),
                reason: "it is connected to a socket or process outside the program".to_owned(),
            }),
            ("functools", "partial") => self.partial(object, depth),
            ("weakref", "ReferenceType" | "weakref") | ("builtins", "weakref") => {
                self.weak_reference(object, depth)
            }
            ("re", "Match") => self.regex_match(object, depth),
            ("io", "StringIO" | "BytesIO") => {
                let content = self.node(&object.call_method0("getvalue").ok()?, depth);
                let position = object.call_method0("tell").ok()?.extract().ok()?;
                let class = ImportPath::new("io", path);
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

    /// Recreates a value from its attributes.
    fn value_from_attributes(
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
            "Pattern" => ImportPath::new("re", "compile"),
            _ => ImportPath::new(module, path),
        };
        Some(made_value(callee, arguments))
    }

    /// Recreates a `datetime` or `time`.
    fn date_or_time(&mut self, object: &Bound<'_, PyAny>, path: &str, depth: u32) -> Option<Value> {
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
        let callee = ImportPath::new("datetime", path);
        Some(Value::Constructed {
            callee,
            arguments,
            keywords,
        })
    }

    /// Recreates a `timezone` from its offset and name.
    fn timezone(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        // The arguments of the constructor: an offset, and a name if there is one.
        let parts = object.call_method0("__getinitargs__").ok()?;
        let parts = parts.cast_into::<PyTuple>().ok()?;
        let arguments = self.add_all(parts.iter(), depth);
        Some(made_value(
            ImportPath::new("datetime", "timezone"),
            arguments,
        ))
    }

    /// Adds the entries of an `OrderedDict`, which stores its order separately.
    fn ordered_entries(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<NodeId> {
        let stored: Vec<_> = object.cast::<PyDict>().ok()?.iter().collect();
        let mut entries = Vec::new();
        for key in object.try_iter().ok()?.flatten() {
            let (_, value) = stored.iter().find(|(stored, _)| stored.is(&key))?;
            entries.push((self.node(&key, depth), self.node(value, depth)));
        }
        Some(self.add_plain(Value::Dictionary(entries)))
    }

    /// Adds the entries of a dictionary as keyword arguments.
    fn keywords(
        &mut self,
        dictionary: &Bound<'_, PyDict>,
        depth: u32,
    ) -> Option<Vec<(String, NodeId)>> {
        let mut keywords = Vec::new();
        for (name, value) in dictionary.iter() {
            // SAFETY: the name is alive.
            let name = unsafe { names::read_text(name.py(), name.as_ptr()) }?;
            keywords.push((name, self.node(&value, depth)));
        }
        Some(keywords)
    }

    /// Recreates a `functools.partial`.
    fn partial(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        let mut arguments = vec![self.node(&object.getattr("func").ok()?, depth)];
        let bound_arguments = object.getattr("args").ok()?.cast_into::<PyTuple>().ok()?;
        arguments.extend(self.add_all(bound_arguments.iter(), depth));
        let keywords = object.getattr("keywords").ok()?;
        let keywords = self.keywords(keywords.cast::<PyDict>().ok()?, depth)?;
        let function = arguments.first().copied()?;
        let callee = ImportPath::new("functools", "partial");
        let partial = Value::Constructed {
            callee,
            arguments,
            keywords,
        };
        // It may have been passed to `update_wrapper`. The class is written in C, so this runs no
        // code of the program.
        let wrapped = object.getattr("__wrapped__").ok();
        if !wrapped.is_some_and(|wrapped| object.getattr("func").is_ok_and(|of| of.is(&wrapped))) {
            return Some(partial);
        }
        let partial = self.add_plain(partial);
        let callee = ImportPath::new("functools", "update_wrapper");
        Some(made_value(callee, vec![partial, function]))
    }

    /// Recreates a weak reference, if its object is alive and it has no callback.
    fn weak_reference(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        // The type is written in C, so this runs no code of the program.
        if !object.getattr("__callback__").ok()?.is_none() {
            return None;
        }
        let target = object.call0().ok().filter(|target| !target.is_none())?;
        let target = self.node(&target, depth);
        Some(made_value(ImportPath::new("weakref", "ref"), vec![target]))
    }

    /// Recreates a small SQLite database from its dump.
    fn database(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        const MAX_LINES: usize = 200;
        // Other factories of rows or texts may be code of the program.
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
            if lines.len() > MAX_LINES {
                return None;
            }
        }
        let script = super::super::external::mask(&lines.join("\n")).into_owned();
        let script = self.add_plain(Value::Text(script));
        let mut keywords = Vec::new();
        if are_named {
            keywords.push(("row_factory".to_owned(), self.node(&rows, depth)));
        }
        Some(Value::Constructed {
            callee: ImportPath::new("testwright_helpers", "database"),
            arguments: vec![script],
            keywords,
        })
    }

    /// Recreates a match by searching for the same groups with its pattern.
    fn regex_match(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        let [pattern, text, first, last, groups] =
            ["re", "string", "pos", "endpos", "regs"].map(|name| object.getattr(name).ok());
        let (pattern, text, groups) = (pattern?, text?, groups?);
        let is_plain =
            text.cast_exact::<PyString>().is_ok() || text.cast_exact::<PyBytes>().is_ok();
        let length = text.len().ok()?;
        if !is_plain || length > MAX_MATCHED_LENGTH {
            return None;
        }
        let (first, last): (usize, usize) = (first?.extract().ok()?, last?.extract().ok()?);
        let start: usize = object.call_method0("start").ok()?.extract().ok()?;
        let searches = [
            ("match", first),
            ("fullmatch", first),
            ("search", first),
            ("search", start),
        ];
        for (name, from) in searches {
            let found_again = pattern.call_method1(name, (&text, from, last)).ok()?;
            let is_same = found_again
                .getattr("regs")
                .is_ok_and(|found| found.eq(&groups).unwrap_or(false));
            if !is_same {
                continue;
            }
            let mut arguments = vec![self.node(&pattern, depth), self.node(&text, depth)];
            if (from, last) == (0, length) {
                return Some(made_value(ImportPath::new("re", name), arguments));
            }
            arguments.push(self.integer(from));
            if last != length {
                arguments.push(self.integer(last));
            }
            return Some(made_value(
                ImportPath::new("re", format!("Pattern.{name}")),
                arguments,
            ));
        }
        None
    }

    /// Adds an integer.
    fn integer(&mut self, number: usize) -> NodeId {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.add_plain(Value::Integer(number))
    }

    /// Reads the remaining items of an iterator.
    fn iterator(&mut self, object: &Bound<'_, PyAny>, path: &str, depth: u32) -> Option<Value> {
        let items = super::iterators::remaining_items(object)?;
        Some(Value::Iterator {
            kind: path.to_owned(),
            remaining: self.add_all(items.into_iter(), depth),
        })
    }
}

/// Returns a reference to the function of a generator or coroutine.
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
        function: ImportPath { module, path },
        created_by: None,
    })
}

/// Returns a value that is recreated by a call.
fn made_value(callee: ImportPath, arguments: Vec<NodeId>) -> Value {
    Value::Constructed {
        callee,
        arguments,
        keywords: Vec::new(),
    }
}

/// Returns the module under which a type is documented.
fn public_module(class: &ImportPath) -> &str {
    match class.module.as_str() {
        "_io" => "io",
        "_pydatetime" => "datetime",
        "_decimal" => "decimal",
        "pathlib._local" => "pathlib",
        module => module,
    }
}
