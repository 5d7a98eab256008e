//! The conversion of Python exceptions to failures.

use std::ffi::CString;

use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyMemoryError, PyRecursionError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTraceback;
use testwright_core::message::without_values;
use testwright_core::{Failure, FailureKind};

/// The maximum length of a message: a system may put a whole data structure into one.
const MAX_MESSAGE: usize = 1_000;

/// The minimum number of digits of a hexadecimal number that is taken for an address.
const MIN_ADDRESS_DIGITS: usize = 8;

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
    /// Where it was raised; `None` for exceptions that may come up anywhere.
    place: Option<PlaceOfFailure>,
    /// The formatted traceback.
    pub(crate) traceback: String,
}

impl RaisedException {
    /// Reads an exception.
    pub(crate) fn new(python: Python<'_>, error: &PyErr) -> RaisedException {
        let (type_name, message) = type_and_message(python, error);
        let is_unlocated = error.is_instance_of::<PyRecursionError>(python)
            || error.is_instance_of::<PyMemoryError>(python);
        let place = if is_unlocated {
            None
        } else {
            error.traceback(python).and_then(place_of_failure)
        };
        RaisedException {
            type_name,
            message,
            place,
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
    use super::escape_unprintable;

    #[test]
    fn addresses_and_control_characters_are_not_for_people() {
        assert_eq!(
            escape_unprintable("<A at 0x7f3a99c0ffee>\u{1b}[31m\u{0}\té\n"),
            "<A at 0x…>\\u{1b}[31m\\u{0}\té\n"
        );
        assert_eq!(escape_unprintable("mask 0xff"), "mask 0xff");
    }
}
