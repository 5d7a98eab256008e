//! The conversion of Python exceptions to failures.

use std::ffi::CString;

use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyMemoryError, PyRecursionError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTraceback;
use serde::{Deserialize, Serialize};
use testwright_core::message::without_values;
use testwright_core::{Failure, FailureKind};

/// The maximum length of a message: a system may put a whole data structure into one.
const MAX_MESSAGE: usize = 1_000;

/// The minimum number of digits of a hexadecimal number that is taken for an address.
const MIN_ADDRESS_DIGITS: usize = 8;

/// The part of an exception that stays the same when the same bug raises it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionIdentity {
    /// The class, without the scope in which it is defined.
    pub class: String,
    /// The words of the message in alphabetical order; `None` if it is nothing but a value.
    pub words: Option<Vec<String>>,
    /// File name and line where it was raised; `None` for exceptions that may come up anywhere.
    pub location: Option<String>,
}

impl ExceptionIdentity {
    /// Returns the identity of an exception with this qualified class name and message.
    ///
    /// Numbers, addresses, folders and names of temporary files differ by chance, and so does the
    /// order of the elements of a set.
    pub fn new(type_name: &str, message: &str, location: Option<String>) -> ExceptionIdentity {
        let message = truncate(&escape_unprintable(message));
        let is_value = type_name == "KeyError" || message.ends_with('…');
        ExceptionIdentity {
            class: type_name.rsplit('.').next().unwrap_or_default().to_owned(),
            words: (!is_value).then(|| words_of(&message)),
            location,
        }
    }
}

/// Returns the words of a message that do not differ by chance, in alphabetical order.
fn words_of(message: &str) -> Vec<String> {
    let is_end_of_path =
        |letter: char| letter.is_whitespace() || "'\"`,:;()[]{}<>=".contains(letter);
    let paths = message.split(is_end_of_path);
    let names = paths.map(|path| path.rsplit('/').next().unwrap_or_default());
    let words = names
        .flat_map(|name| name.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    let is_word = |word: &&str| {
        !word.is_empty()
            && !word.starts_with("tmp")
            && !word.contains(|letter: char| letter.is_ascii_digit())
    };
    let mut words: Vec<String> = words.filter(is_word).map(str::to_owned).collect();
    words.sort_unstable();
    words
}

/// The place where an exception was raised.
struct PlaceOfFailure {
    /// File names and lines.
    text: String,
    /// True if the message says more than the place.
    needs_message: bool,
}

/// An exception as text, for display and comparison.
pub(crate) struct RaisedException {
    /// The qualified name of the class.
    pub(crate) type_name: String,
    /// The text of the exception, possibly truncated.
    pub(crate) message: String,
    /// The place it comes from; `None` for exceptions that may come up anywhere.
    place: Option<PlaceOfFailure>,
    /// The line that raised it: `file.py:12`; `None` as above.
    raised_at: Option<String>,
    /// The formatted traceback.
    pub(crate) traceback: String,
}

impl RaisedException {
    /// Reads an exception.
    pub(crate) fn new(python: Python<'_>, error: &PyErr) -> RaisedException {
        let (type_name, message) = type_and_message(python, error);
        let is_unlocated = error.is_instance_of::<PyRecursionError>(python)
            || error.is_instance_of::<PyMemoryError>(python);
        let traceback = error.traceback(python).filter(|_| !is_unlocated);
        let raised_at = traceback.clone().and_then(innermost_location);
        let place = traceback.and_then(place_of_failure);
        RaisedException {
            type_name,
            message,
            place,
            raised_at,
            traceback: escape_unprintable(&format_traceback(python, error)),
        }
    }

    /// Returns type and message: `KeyError: 3`, or the type alone if there is no message.
    pub(crate) fn summary(&self) -> String {
        headline(&self.type_name, &self.message)
    }

    /// Returns the identity of the bug: the part that stays the same with other values.
    pub(crate) fn signature(&self) -> String {
        match &self.place {
            // The message of a `KeyError` is nothing but a value.
            Some(place) if place.needs_message && self.type_name != "KeyError" => format!(
                "{} at {}: {}",
                self.type_name,
                place.text,
                without_values(&self.message)
            ),
            Some(place) => format!("{} at {}", self.type_name, place.text),
            None => self.type_name.clone(),
        }
    }
}

impl RaisedException {
    /// Returns what the exception is compared by outside of the harness.
    pub(crate) fn identity(&self) -> ExceptionIdentity {
        ExceptionIdentity::new(&self.type_name, &self.message, self.raised_at.clone())
    }
}

/// Returns type and message of an exception, such as `KeyError: 3`, without its traceback.
pub(crate) fn summary(python: Python<'_>, error: &PyErr) -> String {
    let (type_name, message) = type_and_message(python, error);
    headline(&type_name, &message)
}

/// Returns the type name and the message of an exception, safe to print.
fn type_and_message(python: Python<'_>, error: &PyErr) -> (String, String) {
    let type_name = error.get_type(python).qualname().map_or_else(
        |_| String::from("exception"),
        |name| escape_unprintable(&name.to_string()),
    );
    let message = error.value(python).str().map_or_else(
        |_| String::from("(its message cannot be shown)"),
        |text| escape_unprintable(&text.to_string_lossy()),
    );
    (type_name, truncate(&message))
}

/// Joins a type name and the first line of a message that is not blank. `…` marks that there are more.
fn headline(type_name: &str, message: &str) -> String {
    let mut lines = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    match (lines.next(), lines.next()) {
        (None, _) => type_name.to_owned(),
        (Some(text), None) => format!("{type_name}: {text}"),
        (Some(text), Some(_)) => format!("{type_name}: {text} …"),
    }
}

/// Returns the failure for an unexpected exception of an action.
pub(crate) fn uncaught_failure(python: Python<'_>, error: &PyErr) -> Failure {
    let raised = RaisedException::new(python, error);
    Failure {
        kind: FailureKind::UncaughtException,
        message: raised.summary(),
        signature: raised.signature(),
        details: raised.traceback,
    }
}

/// Returns the `repr` of a value, truncated; never fails.
pub(crate) fn short_repr(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(
        |error| {
            format!(
                "(repr raised {})",
                RaisedException::new(value.py(), &error).summary()
            )
        },
        |text| truncate(&escape_unprintable(&text.to_string_lossy())),
    )
}

/// Escapes control characters, which would upset terminals and files, and replaces memory
/// addresses, which differ between runs.
fn escape_unprintable(text: &str) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let digits = rest.strip_prefix("0x").map_or(0, |tail| {
            tail.len()
                - tail
                    .trim_start_matches(|digit: char| digit.is_ascii_hexdigit())
                    .len()
        });
        if digits >= MIN_ADDRESS_DIGITS {
            clean.push_str("0x…");
            rest = &rest[2 + digits..];
            continue;
        }
        match character {
            '\n' | '\t' => clean.push(character),
            control if control.is_control() => clean.extend(control.escape_default()),
            plain => clean.push(plain),
        }
        rest = &rest[character.len_utf8()..];
    }
    clean
}

/// Truncates a text to [`MAX_MESSAGE`] characters.
fn truncate(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Calls a function of `place_of_failure.py`.
fn call_place_of_failure<'py>(
    python: Python<'py>,
    name: &str,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(python, || {
        let code = CString::new(include_str!("place_of_failure.py"))?;
        let path = c"testwright/place_of_failure.py";
        let module = PyModule::from_code(python, &code, path, c"testwright_place_of_failure")?;
        Ok::<_, PyErr>(module.unbind())
    })?;
    module.bind(python).call_method1(name, arguments)
}

/// Records the lines of functions that a harness or a stepper calls.
pub(crate) struct LineRecorder<'py>(Bound<'py, PyAny>);

impl<'py> LineRecorder<'py> {
    /// Begins to record what the code in a file calls. The lines of the file itself count if it is a
    /// stepper.
    pub(crate) fn start(
        python: Python<'py>,
        path: impl IntoPyObject<'py>,
        is_stepper: bool,
    ) -> PyResult<LineRecorder<'py>> {
        let recorder = call_place_of_failure(python, "LineRecorder", (path, is_stepper))?;
        recorder.call_method0("start")?;
        Ok(LineRecorder(recorder))
    }

    /// Stops recording and returns the lines.
    pub(crate) fn stop(self) -> Vec<String> {
        let lines = self.0.call_method0("stop");
        lines.and_then(|lines| lines.extract()).unwrap_or_default()
    }
}

/// Returns where an exception was raised.
fn place_of_failure(traceback: Bound<'_, PyTraceback>) -> Option<PlaceOfFailure> {
    let found = call_place_of_failure(traceback.py(), "place_of_failure", (traceback,));
    let (text, needs_message) = found.ok()?.extract().ok()?;
    Some(PlaceOfFailure {
        text,
        needs_message,
    })
}

/// Returns those words of a text that are written in the file of a function: the others are values.
/// `None` if the file cannot be found.
pub(crate) fn written_words(function: &Bound<'_, PyAny>, text: &str) -> Option<String> {
    let code = function.getattr("__code__").ok()?;
    let file = code.getattr("co_filename").ok()?;
    let words = call_place_of_failure(function.py(), "written_words", (file, text));
    words.ok()?.extract().ok()
}

/// Returns the innermost location of a traceback: `file.py:12`.
fn innermost_location(traceback: Bound<'_, PyTraceback>) -> Option<String> {
    let mut entry = traceback.into_any();
    while let Ok(next) = entry.getattr("tb_next") {
        if next.is_none() {
            break;
        }
        entry = next;
    }
    let code = entry
        .getattr("tb_frame")
        .and_then(|frame| frame.getattr("f_code"))
        .ok()?;
    let file: String = code
        .getattr("co_filename")
        .and_then(|name| name.extract())
        .ok()?;
    let line: usize = entry
        .getattr("tb_lineno")
        .and_then(|line| line.extract())
        .ok()?;
    let name = file.rsplit(['/', '\\']).next().unwrap_or(&file).to_owned();
    Some(format!("{name}:{line}"))
}

/// Returns the formatted traceback of an exception.
fn format_traceback(python: Python<'_>, error: &PyErr) -> String {
    let lines = python.import("traceback").and_then(|module| {
        let format = module.getattr("format_exception")?;
        format
            .call1((
                error.get_type(python),
                error.value(python),
                error.traceback(python),
            ))?
            .extract::<Vec<String>>()
    });
    lines
        .map(|lines| without_misplaced_carets(&lines.concat()))
        .unwrap_or_default()
}

/// Removes caret lines below lines of a harness: they point into generated code, not into the shown
/// text.
fn without_misplaced_carets(traceback: &str) -> String {
    let mut in_harness = false;
    let mut kept = String::new();
    for line in traceback.split_inclusive('\n') {
        if line.starts_with("  File ") {
            in_harness = !line.contains(".py\", line ");
        }
        let is_caret_line = line
            .trim()
            .chars()
            .all(|character| matches!(character, '^' | '~'))
            && !line.trim().is_empty();
        if !(in_harness && is_caret_line) {
            kept.push_str(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{ExceptionIdentity, escape_unprintable};

    #[test]
    fn only_what_differs_by_chance_is_ignored() {
        let of = |class, message| ExceptionIdentity::new(class, message, None);
        let same = |one, other| of("ValueError", one) == of("a.ValueError", other);
        assert!(same("no {'a', 'b'}", "no {'b', 'a'}"));
        assert!(same(
            "<A at 0x7f3a99c0ffee> is 3",
            "<A at 0x7f3a99c01234> is 4"
        ));
        assert!(same(
            "cannot read '/tmp/tmpx1y2/a/data'",
            "cannot read '/srv/b/data'"
        ));
        assert!(!same("cannot read '/tmp/data'", "cannot write '/tmp/data'"));
        assert!(!same("bad", "worse"));
        assert!(!same("a bad thing", "bad"));
        assert_ne!(of("ValueError", "bad"), of("KeyError", "bad"));
        assert_eq!(of("KeyError", "'a'"), of("KeyError", "'b'"));
    }

    #[test]
    fn addresses_and_control_characters_are_not_for_people() {
        assert_eq!(
            escape_unprintable("<A at 0x7f3a99c0ffee>\u{1b}[31m\u{0}\té\n"),
            "<A at 0x…>\\u{1b}[31m\\u{0}\té\n"
        );
        assert_eq!(escape_unprintable("mask 0xff"), "mask 0xff");
    }
}
