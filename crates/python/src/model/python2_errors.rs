//! Errors in the source of models, above all because it was written for Python 2, like most models
//! for PyModel. They show the position and the replacement, which a traceback does not.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyAttributeError, PyModuleNotFoundError, PyNameError, PySyntaxError};
use pyo3::prelude::*;
use testwright_core::product::{ModelError, SourceError};
use testwright_source::python2_hint;

/// Modules of Python 2 that were renamed.
const MODULES: [(&str, &str); 20] = [
    ("BaseHTTPServer", "http.server"),
    ("ConfigParser", "configparser"),
    ("Cookie", "http.cookies"),
    ("HTMLParser", "html.parser"),
    ("Queue", "queue"),
    ("SimpleHTTPServer", "http.server"),
    ("SocketServer", "socketserver"),
    ("StringIO", "io"),
    ("Tkinter", "tkinter"),
    ("__builtin__", "builtins"),
    ("cPickle", "pickle"),
    ("cStringIO", "io"),
    ("commands", "subprocess"),
    ("cookielib", "http.cookiejar"),
    ("copy_reg", "copyreg"),
    ("httplib", "http.client"),
    ("thread", "_thread"),
    ("urllib2", "urllib.request"),
    ("urlparse", "urllib.parse"),
    ("xmlrpclib", "xmlrpc.client"),
];

/// Functions and types of Python 2, and their replacements.
const NAMES: [(&str, &str); 12] = [
    ("basestring", "write `str`"),
    ("cmp", "compare with `<`, `==` and `>`"),
    (
        "execfile",
        "write `exec(open(path).read())`, or import the file",
    ),
    ("file", "write `open`"),
    ("intern", "write `from sys import intern` above"),
    ("long", "write `int`"),
    ("raw_input", "write `input`"),
    ("reduce", "write `from functools import reduce` above"),
    ("reload", "write `from importlib import reload` above"),
    ("unichr", "write `chr`"),
    ("unicode", "write `str`"),
    ("xrange", "write `range`"),
];

/// Methods of dictionaries in Python 2, and their replacements.
const DICT_METHODS: [(&str, &str); 4] = [
    ("has_key", "write `key in it`"),
    ("iteritems", "write `items`"),
    ("iterkeys", "write `keys`"),
    ("itervalues", "write `values`"),
];

/// Returns the position in the user's code if the error is due to invalid syntax or Python 2.
pub(crate) fn source_error(python: Python<'_>, error: &PyErr) -> Option<ModelError> {
    let source_error = if error.is_instance_of::<PySyntaxError>(python) {
        syntax_error(python, error)
    } else {
        python2_name(python, error)
    };
    source_error.map(|error| ModelError::Source(Box::new(error)))
}

/// Describes a syntax error.
fn syntax_error(python: Python<'_>, error: &PyErr) -> Option<SourceError> {
    let file: PathBuf = error
        .value(python)
        .getattr("filename")
        .ok()?
        .extract()
        .ok()?;
    let text = read(&file)?;
    let recompiled = compile(python, &text, &file);
    let value = recompiled.as_ref().unwrap_or(error).value(python);
    let number = |name: &str| value.getattr(name).ok()?.extract::<usize>().ok();
    let line = line_range(&text, number("lineno")?)?;
    // Python counts characters from 1; 0 or no value stands for the whole line.
    let column = |one: usize| {
        let characters = text[line.clone()].char_indices();
        let before = characters.map(|(at, _)| at).nth(one.checked_sub(1)?);
        Some(line.start + before?)
    };
    let start = number("offset").and_then(column).unwrap_or(line.start);
    let end = number("end_offset").and_then(column);
    let end = end.filter(|end| *end > start).unwrap_or(line.end);
    if let Some(hint) = python2_hint(&text, &(start..end)) {
        return Some(SourceError {
            name: "python-2",
            range: hint.range,
            message: hint.message,
            help: format!("{}: models run in Python 3", hint.help),
            file,
            text,
        });
    }
    let reason: String = value.getattr("msg").ok()?.extract().ok()?;
    let version = python.version_info();
    Some(SourceError {
        name: "host-syntax",
        range: start..end,
        message: format!("this is not Python: {reason}"),
        help: format!("it has to be Python {}.{}", version.major, version.minor),
        file,
        text,
    })
}

/// Compiles a text and returns the syntax error. For files, Python before 3.13 counts bytes instead
/// of characters.
fn compile(python: Python<'_>, text: &str, file: &Path) -> Option<PyErr> {
    let builtins = python.import("builtins").ok()?;
    let error = builtins.call_method1("compile", (text, file, "exec")).err();
    error.filter(|error| error.is_instance_of::<PySyntaxError>(python))
}

/// Describes the use of a module, name or method that only Python 2 has.
fn python2_name(python: Python<'_>, error: &PyErr) -> Option<SourceError> {
    let python_message = error.value(python).to_string();
    // Only newer versions of Python provide the name separately.
    let name = python_message.rsplit('\'').nth(1)?;
    let (message, help) = if error.is_instance_of::<PyModuleNotFoundError>(python) {
        let other = find(&MODULES, name)?;
        let message = format!("`{name}` is a module only in Python 2");
        (message, format!("since Python 3 it is `{other}`"))
    } else if error.is_instance_of::<PyNameError>(python) {
        let message = format!("`{name}` is known only in Python 2");
        (message, in_python3(find(&NAMES, name)?))
    } else if error.is_instance_of::<PyAttributeError>(python)
        && python_message.starts_with("'dict' ")
    {
        let message = format!("dictionaries have `{name}` only in Python 2");
        (message, in_python3(find(&DICT_METHODS, name)?))
    } else {
        return None;
    };
    let (file, line) = raised_at(python, error)?;
    let text = read(&file)?;
    let line = line_range(&text, line)?;
    let range = match text[line.clone()].find(name) {
        Some(at) => line.start + at..line.start + at + name.len(),
        None => line,
    };
    Some(SourceError {
        name: "python-2",
        file,
        text,
        range,
        message,
        help,
    })
}

/// Adds to a help text that models run in Python 3.
fn in_python3(help: &str) -> String {
    format!("{help}: models run in Python 3")
}

/// Looks up a name in a table.
fn find<'t>(table: &'t [(&str, &str)], name: &str) -> Option<&'t str> {
    let found = table.iter().find(|(python2_name, _)| *python2_name == name);
    found.map(|(_, instead)| *instead)
}

/// Returns the file and line of the code that raised an exception.
fn raised_at(python: Python<'_>, error: &PyErr) -> Option<(PathBuf, usize)> {
    let mut entry = error.traceback(python)?.into_any();
    loop {
        let next = entry.getattr("tb_next").ok()?;
        if next.is_none() {
            break;
        }
        entry = next;
    }
    let line = entry.getattr("tb_lineno").ok()?.extract().ok()?;
    let code = entry.getattr("tb_frame").ok()?.getattr("f_code").ok()?;
    let file = code.getattr("co_filename").ok()?.extract().ok()?;
    Some((file, line))
}

/// Returns the text of a source file. Code without a file has a made-up name, and no text.
fn read(file: &Path) -> Option<String> {
    let text = file
        .is_absolute()
        .then(|| fs::read_to_string(file).ok())??;
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Some(rest.to_owned()),
        None => Some(text),
    }
}

/// Returns the range of a line without its end. Lines are counted from 1.
fn line_range(text: &str, number: usize) -> Option<Range<usize>> {
    let mut start = 0;
    let mut lines = text.split_inclusive('\n');
    for line in lines.by_ref().take(number.checked_sub(1)?) {
        start += line.len();
    }
    Some(start..start + lines.next()?.trim_end().len())
}
