//! The `log:` lines of a harness.

use pyo3::prelude::*;
use testwright_core::ActionId;

use crate::context::HarnessContext;
use crate::failures::short_repr;
use crate::harness_object::LogLevel;
use crate::line_code::LineCode;

/// All `log:` lines of a harness, and their collected messages.
pub(crate) struct LogLines<'py> {
    /// The lines.
    lines: Vec<LogLine<'py>>,
    /// The current level, shared with harness code.
    level: LogLevel,
    /// Messages are collected for [`LogLines::take`]; otherwise they are printed like output of the
    /// system.
    collects: bool,
    /// The collected messages.
    messages: Vec<String>,
    /// A function that receives messages instead: action, code, value, and whether it is after the
    /// step.
    listener: Option<Bound<'py, PyAny>>,
}

/// A `log:` line.
pub(crate) struct LogLine<'py> {
    /// The expression.
    pub(crate) code: LineCode<'py>,
    /// The line is evaluated after the step instead of before it.
    pub(crate) after: bool,
    /// The level from which on it is evaluated.
    pub(crate) level: i64,
}

impl<'py> LogLines<'py> {
    /// Creates the log lines of a harness.
    pub(crate) fn new(lines: Vec<LogLine<'py>>, level: LogLevel, collects: bool) -> LogLines<'py> {
        LogLines {
            lines,
            level,
            collects,
            messages: Vec::new(),
            listener: None,
        }
    }

    /// Sets the function that receives messages; without one they are printed.
    pub(crate) fn set_listener(&mut self, listener: Option<Bound<'py, PyAny>>) {
        self.listener = listener;
    }

    /// Sets the level up to which lines are evaluated; `None` for none.
    pub(crate) fn set_level(&mut self, level: Option<i64>) {
        self.level.set(level);
    }

    /// Takes the messages since the last call.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// Evaluates the lines for before or after a step. A line that raises logs nothing.
    #[inline]
    pub(crate) fn evaluate(
        &mut self,
        context: &HarnessContext<'py>,
        action: ActionId,
        after: bool,
    ) {
        if !self.lines.is_empty() {
            self.evaluate_lines(context, action, after);
        }
    }

    /// Evaluates the lines when there are any.
    #[cold]
    fn evaluate_lines(&mut self, context: &HarnessContext<'py>, action: ActionId, after: bool) {
        let mut name = None;
        for line in &mut self.lines {
            if line.after != after || !self.level.is_shown(line.level) {
                continue;
            }
            let name = name.get_or_insert_with(|| context.harness.catalog.text(action));
            let label = if after { "POST LOG" } else { "LOG" };
            line.code.for_each(context, None, |line, values, result| {
                if let (Ok(value), Some(listener)) = (&result, &self.listener) {
                    let code = context.display_text(&line.code, &line.axes, values);
                    let result = listener.call1((
                        name.as_str(),
                        context.with_display_names(&code),
                        value,
                        after,
                    ));
                    // An error in a listener must not stop the step, but must be noticed.
                    if let Err(error) = result {
                        error.write_unraisable(context.python, Some(listener));
                    }
                } else if let Ok(value) = result {
                    let text = value
                        .str()
                        .map_or_else(|_| short_repr(&value), |text| text.to_string());
                    let code = context
                        .with_display_names(&context.display_text(&line.code, &line.axes, values));
                    let message = format!("[ {label} {name}  :  {code}] {text}");
                    if self.collects {
                        self.messages.push(message);
                    } else {
                        print(context, &message);
                    }
                }
                true
            });
        }
    }
}

/// Prints like the system itself. Text that cannot be printed is lost, like any output of the
/// system.
fn print(context: &HarnessContext<'_>, message: &str) {
    let builtins = context.python.import("builtins");
    let _lost = builtins.and_then(|builtins| builtins.call_method1("print", (message,)));
}
