//! Regular expressions given by the user, in Python's notation.

use pyo3::prelude::*;
use testwright_lang::Diagnostic;

use crate::expression::diagnostic;
use crate::failures;
use crate::system::PythonSystem;

/// A compiled regular expression.
pub struct TextPattern<'py> {
    /// The `search` method of the compiled pattern.
    search: Bound<'py, PyAny>,
}

impl<'py> PythonSystem<'py> {
    /// Compiles a regular expression, or returns what is wrong with it.
    pub fn pattern(&self, text: &str) -> Result<TextPattern<'py>, Vec<Diagnostic>> {
        let python = self.context.python;
        let compiled = python
            .import("re")
            .and_then(|module| module.call_method1("compile", (text,)))
            .and_then(|pattern| pattern.getattr("search"));
        let error = match compiled {
            Ok(search) => return Ok(TextPattern { search }),
            Err(error) => error,
        };
        // Uses Python's message and position if it gives any. Positions are counted in characters.
        let value = error.value(python);
        let position = value
            .getattr("pos")
            .and_then(|position| position.extract::<usize>());
        let message = value
            .getattr("msg")
            .and_then(|message| message.extract::<String>());
        let message = message.unwrap_or_else(|_| failures::summary(python, &error));
        let range = match position {
            Ok(position) => {
                let mut characters = text.char_indices().skip(position);
                let start = characters.next().map_or(text.len(), |(at, _)| at);
                let end = characters.next().map_or(text.len(), |(at, _)| at);
                start..end
            }
            Err(_) => 0..text.len(),
        };
        let message = format!("this is not a valid regular expression: {message}");
        Err(vec![diagnostic("bad-pattern", range, message)])
    }
}

impl TextPattern<'_> {
    /// Returns true if the expression matches somewhere in a text.
    pub fn matches(&self, text: &str) -> bool {
        let search = || self.search.call1((text,)).map(|found| !found.is_none());
        // If the first attempt was interrupted, the interrupt is noted, and the answer still
        // counts.
        search().or_else(|_| search()).unwrap_or(false)
    }
}
