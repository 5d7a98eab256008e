//! Code that Python does not understand, above all because it was written for Python 2, as most models of the ancestor's
//! time were. The person who has it learns where that is and what to write instead; a traceback would not tell.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyAttributeError, PyModuleNotFoundError, PyNameError, PySyntaxError};
use pyo3::prelude::*;
use testwright_core::product::{Misread, Trouble};
use testwright_source::python2_hint;

/// Modules of Python 2 that have another name since.
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

/// Functions and types of Python 2, and what to write instead.
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

/// What dictionaries had in Python 2.
const OF_DICTIONARIES: [(&str, &str); 4] = [
    ("has_key", "write `key in it`"),
    ("iteritems", "write `items`"),
    ("iterkeys", "write `keys`"),
    ("itervalues", "write `values`"),
];

/// The place in the user's code, if it is not Python, or if it is Python 2.
pub(crate) fn place(python: Python<'_>, error: &PyErr) -> Option<Trouble> {
    let misread = if error.is_instance_of::<PySyntaxError>(python) {
        wrong_syntax(python, error)
    } else {
        older(python, error)
    };
    misread.map(|misread| Trouble::Misread(Box::new(misread)))
}

fn wrong_syntax(python: Python<'_>, error: &PyErr) -> Option<Misread> {
    let file: PathBuf = error
        .value(python)
        .getattr("filename")
        .ok()?
        .extract()
        .ok()?;
    let text = read(&file)?;
    let again = compile(python, &text, &file);
    let value = again.as_ref().unwrap_or(error).value(python);
    let number = |name: &str| value.getattr(name).ok()?.extract::<usize>().ok();
    let line = line_of(&text, number("lineno")?)?;
    // Python counts characters, and from 1; 0 and nothing stand for the whole line.
    let column = |one: usize| {
        let characters = text[line.clone()].char_indices();
        let before = characters.map(|(at, _)| at).nth(one.checked_sub(1)?);
        Some(line.start + before?)
    };
    let start = number("offset").and_then(column).unwrap_or(line.start);
    let end = number("end_offset").and_then(column);
    let end = end.filter(|end| *end > start).unwrap_or(line.end);
    if let Some(hint) = python2_hint(&text, &(start..end)) {
        return Some(Misread {
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
    Some(Misread {
        name: "host-syntax",
        range: start..end,
        message: format!("this is not Python: {reason}"),
        help: format!("it has to be Python {}.{}", version.major, version.minor),
        file,
        text,
    })
}

/// What Python says of a text by itself. Of a file, before Python 3.13, it counts bytes where it should count characters.
fn compile(python: Python<'_>, text: &str, file: &Path) -> Option<PyErr> {
    let builtins = python.import("builtins").ok()?;
    let said = builtins.call_method1("compile", (text, file, "exec")).err();
    said.filter(|error| error.is_instance_of::<PySyntaxError>(python))
}

fn older(python: Python<'_>, error: &PyErr) -> Option<Misread> {
    let said = error.value(python).to_string();
    // Only newer Pythons also have the name by itself.
    let name = said.rsplit('\'').nth(1)?;
    let (message, help) = if error.is_instance_of::<PyModuleNotFoundError>(python) {
        let other = find(&MODULES, name)?;
        let message = format!("`{name}` is a module only in Python 2");
        (message, format!("since Python 3 it is `{other}`"))
    } else if error.is_instance_of::<PyNameError>(python) {
        let message = format!("`{name}` is known only in Python 2");
        (message, in_python3(find(&NAMES, name)?))
    } else if error.is_instance_of::<PyAttributeError>(python) && said.starts_with("'dict' ") {
        let message = format!("dictionaries have `{name}` only in Python 2");
        (message, in_python3(find(&OF_DICTIONARIES, name)?))
    } else {
        return None;
    };
    let (file, line) = raised_at(python, error)?;
    let text = read(&file)?;
    let line = line_of(&text, line)?;
    let range = match text[line.clone()].find(name) {
        Some(at) => line.start + at..line.start + at + name.len(),
        None => line,
    };
    Some(Misread {
        name: "python-2",
        file,
        text,
        range,
        message,
        help,
    })
}

fn in_python3(help: &str) -> String {
    format!("{help}: models run in Python 3")
}

fn find<'t>(table: &'t [(&str, &str)], name: &str) -> Option<&'t str> {
    let found = table.iter().find(|(older, _)| *older == name);
    found.map(|(_, instead)| *instead)
}

/// File and line of the code that raised.
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

/// The text of a file, if it was code from a file: what is run without one has a made-up name.
fn read(file: &Path) -> Option<String> {
    let text = file
        .is_absolute()
        .then(|| fs::read_to_string(file).ok())??;
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Some(rest.to_owned()),
        None => Some(text),
    }
}

/// Where a line is, without what ends it; lines are counted from 1.
fn line_of(text: &str, number: usize) -> Option<Range<usize>> {
    let mut start = 0;
    let mut lines = text.split_inclusive('\n');
    for line in lines.by_ref().take(number.checked_sub(1)?) {
        start += line.len();
    }
    Some(start..start + lines.next()?.trim_end().len())
}
