//! `log:` lines.

use pyo3::prelude::*;
use testwright_core::ActionId;

use crate::context::Context;
use crate::failures::shown;
use crate::harness_object::LogLevel;
use crate::line_code::LineCode;

/// All `log:` lines of a harness, and what they said.
pub(crate) struct Logs<'py> {
    lines: Vec<LogLine<'py>>,
    level: LogLevel,
    /// Somebody will ask for what was said; otherwise it goes where the system prints.
    collects: bool,
    said: Vec<String>,
    /// Whom to tell instead of printing: a function of action, code, value, and whether it is after the step.
    listener: Option<Bound<'py, PyAny>>,
}

/// A `log:` line.
pub(crate) struct LogLine<'py> {
    pub(crate) code: LineCode<'py>,
    /// It speaks after the step instead of before it.
    pub(crate) after: bool,
    pub(crate) level: i64,
}

impl<'py> Logs<'py> {
    pub(crate) fn new(lines: Vec<LogLine<'py>>, level: LogLevel, collects: bool) -> Logs<'py> {
        Logs {
            lines,
            level,
            collects,
            said: Vec::new(),
            listener: None,
        }
    }

    /// From now on a function hears what the lines have to say; without one it is printed.
    pub(crate) fn set_listener(&mut self, listener: Option<Bound<'py, PyAny>>) {
        self.listener = listener;
    }

    /// Lets lines up to a level speak, or none.
    pub(crate) fn set_level(&mut self, level: Option<i64>) {
        self.level.set(level);
    }

    /// What was said since the last call.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }

    /// Lets the lines speak that do so before, or after, a step. One that raises has nothing to say.
    #[inline]
    pub(crate) fn speak(&mut self, context: &Context<'py>, action: ActionId, after: bool) {
        if !self.lines.is_empty() {
            self.let_lines_speak(context, action, after);
        }
    }

    #[cold]
    fn let_lines_speak(&mut self, context: &Context<'py>, action: ActionId, after: bool) {
        let mut name = None;
        for line in &mut self.lines {
            if line.after != after || !self.level.shows(line.level) {
                continue;
            }
            let name = name.get_or_insert_with(|| context.harness.catalog.text(action));
            let word = if after { "POST LOG" } else { "LOG" };
            line.code.for_each(context, None, |line, values, result| {
                if let (Ok(value), Some(listener)) = (&result, &self.listener) {
                    let code = context.shown(&line.code, &line.axes, values);
                    let told = listener.call1((
                        name.as_str(),
                        context.with_display_names(&code),
                        value,
                        after,
                    ));
                    // A step is no place to stop at for a mistake in a log, but it must not go unnoticed.
                    if let Err(error) = told {
                        error.write_unraisable(context.python, Some(listener));
                    }
                } else if let Ok(value) = result {
                    let text = value
                        .str()
                        .map_or_else(|_| shown(&value), |text| text.to_string());
                    let code =
                        context.with_display_names(&context.shown(&line.code, &line.axes, values));
                    let words = format!("[ {word} {name}  :  {code}] {text}");
                    if self.collects {
                        self.said.push(words);
                    } else {
                        print(context, &words);
                    }
                }
                true
            });
        }
    }
}

/// Prints as the system itself does. What cannot be printed is lost, like anything the system prints in vain.
fn print(context: &Context<'_>, words: &str) {
    let builtins = context.python.import("builtins");
    let _lost = builtins.and_then(|builtins| builtins.call_method1("print", (words,)));
}
