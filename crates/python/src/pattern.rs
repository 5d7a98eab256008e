//! Regular expressions that a person asks with, in Python's own notation.

use pyo3::prelude::*;
use testwright_lang::Diagnostic;

use crate::expression::diagnostic;
use crate::failures;
use crate::system::PythonSystem;

/// A regular expression, compiled once.
pub struct Pattern<'py> {
    search: Bound<'py, PyAny>,
}

impl<'py> PythonSystem<'py> {
    /// Compiles a regular expression, or tells what is wrong with it.
    pub fn pattern(&self, text: &str) -> Result<Pattern<'py>, Vec<Diagnostic>> {
        let python = self.context.python;
        let compiled = python
            .import("re")
            .and_then(|module| module.call_method1("compile", (text,)))
            .and_then(|pattern| pattern.getattr("search"));
        let error = match compiled {
            Ok(search) => return Ok(Pattern { search }),
            Err(error) => error,
        };
        // Python's words and place, where it has some: a place is counted in characters.
        let value = error.value(python);
        let place = value
            .getattr("pos")
            .and_then(|place| place.extract::<usize>());
        let message = value
            .getattr("msg")
            .and_then(|message| message.extract::<String>());
        let message = message.unwrap_or_else(|_| failures::summary(python, &error));
        let range = match place {
            Ok(place) => {
                let mut letters = text.char_indices().skip(place);
                let start = letters.next().map_or(text.len(), |(at, _)| at);
                let end = letters.next().map_or(text.len(), |(at, _)| at);
                start..end
            }
            Err(_) => 0..text.len(),
        };
        let message = format!("this is no regular expression: {message}");
        Err(vec![diagnostic("bad-pattern", range, message)])
    }
}

impl Pattern<'_> {
    /// Whether it matches somewhere in a text.
    pub fn is_in(&self, text: &str) -> bool {
        let search = || self.search.call1((text,)).map(|found| !found.is_none());
        // If that was Ctrl-C, the wish to stop is noted, and the answer still counts.
        search().or_else(|_| search()).unwrap_or(false)
    }
}
