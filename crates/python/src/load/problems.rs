//! What is wrong with a harness that only the interpreter can tell, with the place and the way out.

use std::ops::Range;
use std::path::Path;

use pyo3::exceptions::{PyModuleNotFoundError, PySyntaxError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::FxHashSet;
use testwright_core::TemplateId;
use testwright_lang::{Diagnostic, Harness, Severity};

use super::{Lines, context, support};
use crate::ChecksWhen;
use crate::Interpreter;
use crate::actions::Actions;
use crate::context::Context;
use crate::failures::Raised;
use crate::functions::FunctionText;
use crate::mirror::{BadPattern, Mirror};
use crate::skeleton::Skeleton;

/// What only the interpreter can say about a harness without running it: code that it does not compile,
/// patterns that it rejects. Of a harness that is not `complete`, because its text has errors, only patterns are
/// looked at.
pub fn check(
    interpreter: Interpreter<'_>,
    path: &Path,
    text: &str,
    harness: &Harness,
    complete: bool,
) -> Vec<Diagnostic> {
    let python = interpreter.0;
    let namespace = PyDict::new(python);
    let checked = support(python)
        .and_then(|support| context(python, path, harness.clone(), namespace, support))
        .and_then(|context| problems(&context, text, complete));
    checked.unwrap_or_default()
}

/// Everything the interpreter rejects.
pub(super) fn problems(
    context: &Context<'_>,
    text: &str,
    complete: bool,
) -> PyResult<Vec<Diagnostic>> {
    let (mirror, bad) = Mirror::new(context.python, &context.harness)?;
    if !bad.is_empty() || !complete {
        return Ok(bad
            .iter()
            .map(|pattern| bad_pattern(text, pattern))
            .collect());
    }
    let actions = Actions::new(context, &mirror, Default::default(), false);
    let mut found = Vec::new();
    let mut sources = Vec::new();
    for (number, action) in context.harness.actions.iter().enumerate() {
        let template = TemplateId(number);
        if context.harness.catalog.count(template) == 0 {
            continue;
        }
        let first = vec![0; action.axes.len()];
        match actions.sources(context, &mirror, template, &first) {
            Ok(texts) => sources.extend(texts),
            Err(problem) => {
                let message = Raised::new(context.python, &problem).message;
                let label = "this action cannot be mirrored";
                return Ok(vec![error(
                    text,
                    action.line,
                    "bad-reference",
                    message,
                    label,
                    None,
                )]);
            }
        }
        if actions.is_compared_in_vain(context, &mirror, template, &first)? {
            found.push(no_result(text, action.line));
        }
    }
    for code in Lines::new(context, &mirror, ChecksWhen::All)?.all() {
        sources.push(code.source(context, &vec![0; code.line.axes.len()]));
    }
    found.extend(not_compiled(context, text, &sources));
    Ok(found)
}

fn error(
    text: &str,
    line: usize,
    name: &'static str,
    message: String,
    label: &str,
    help: Option<&str>,
) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        name,
        message,
        range: line_range(text, line),
        label: label.to_owned(),
        related: None,
        help: help.map(str::to_owned),
    }
}

fn bad_pattern(text: &str, pattern: &BadPattern) -> Diagnostic {
    let message = format!(
        "this is not a valid regular expression: {}",
        pattern.message
    );
    let help = if pattern.message.contains("group reference") {
        "`\\1` is what the first pair of parentheses in the pattern matches, `\\2` the second"
    } else {
        "a character such as `(`, `[`, `*` or `+` that is meant literally needs a backslash"
    };
    error(
        text,
        pattern.line,
        "bad-pattern",
        message,
        "in this line",
        Some(help),
    )
}

fn no_result(text: &str, line: usize) -> Diagnostic {
    let message = "the result of this line is not compared, although a `compare:` line asks for it";
    let help = "only an expression or an assignment has a result; whether both raise is compared all the same";
    let warning = error(
        text,
        line,
        "no-result",
        message.to_owned(),
        "has no result",
        Some(help),
    );
    Diagnostic {
        severity: Severity::Warning,
        ..warning
    }
}

/// What the interpreter does not compile, of raw code and of the functions made from lines.
fn not_compiled(context: &Context<'_>, text: &str, sources: &[FunctionText]) -> Vec<Diagnostic> {
    let compile = |code: &str| {
        let compiled = context
            .support
            .call_method1("compile_code", (code, &context.path));
        compiled.map(|_| ())
    };
    let rejected = |line, problem: &PyErr, help| {
        let message = format!(
            "Python does not accept this line: {}",
            reason(context, problem)
        );
        error(text, line, "host-syntax", message, "", help)
    };
    let mut found = Vec::new();
    if let Err(problem) = compile(&context.harness.raw.text) {
        let line = problem.value(context.python).getattr("lineno");
        let line = line.and_then(|line| line.extract()).unwrap_or(1);
        found.push(rejected(line, &problem, None));
    }
    // One attempt for many is much faster than one for each, and mostly it succeeds. For all at once it takes more
    // memory than anything else that is done with a harness.
    let all_fine = without_likes(sources).chunks(AT_ONCE).all(|sources| {
        let together: String = sources.iter().map(|source| source.text.as_str()).collect();
        compile(&together).is_ok()
    });
    if !all_fine {
        for source in sources {
            if let Err(problem) = compile(&source.text) {
                found.push(rejected(source.line, &problem, surroundings(&problem)));
            }
        }
        found.dedup();
    }
    found
}

/// How many functions are compiled in one attempt.
const AT_ONCE: usize = 500;

/// The first of all texts that are alike but for their literals: if it compiles, so do the others, whose literals
/// have been parsed before.
fn without_likes(sources: &[FunctionText]) -> Vec<&FunctionText> {
    let mut seen = FxHashSet::default();
    let is_first = |source: &&FunctionText| match Skeleton::new(&source.text) {
        Some(skeleton) => seen.insert(skeleton.text),
        None => true,
    };
    sources.iter().filter(is_first).collect()
}

/// What to know about the place of a line, if the interpreter rejects it because of its place.
fn surroundings(problem: &PyErr) -> Option<&'static str> {
    let message = problem.to_string();
    let places = ["outside", "in loop", "nonlocal", "module level"];
    let is_about_place = places.iter().any(|place| message.contains(place));
    is_about_place.then_some("every line is run as a function of its own")
}

/// Why the interpreter does not compile a text; names stand in backticks, as in all messages.
fn reason(context: &Context<'_>, problem: &PyErr) -> String {
    problem
        .value(context.python)
        .getattr("msg")
        .map_or_else(|_| problem.to_string(), |reason| reason.to_string())
        .replace('\'', "`")
        // Python 3.14 calls it so; messages are to be the same everywhere.
        .replace("duplicate parameter", "duplicate argument")
}

/// Raw code raised: where in the harness, why, and what to do.
pub(super) fn raw_code_failed(context: &Context<'_>, text: &str, error: &PyErr) -> Diagnostic {
    let python = context.python;
    let raised = Raised::new(python, error);
    let value = error.value(python);
    let line = line_in_harness(context, error).unwrap_or(1);
    let mut message = format!("the harness's own code raised {}", raised.summary());
    let mut help = None;
    if error.is_instance_of::<PyModuleNotFoundError>(python) {
        let name: String = value
            .getattr("name")
            .and_then(|name| name.extract())
            .unwrap_or_default();
        message = format!("there is no module named `{name}`");
        let folder = Path::new(&context.path)
            .parent()
            .unwrap_or(Path::new("."))
            .display()
            .to_string();
        help = Some(format!(
            "install it, or put `{}.py` into `{folder}`",
            name.split('.').next().unwrap_or(&name)
        ));
    } else if error.is_instance_of::<PySyntaxError>(python) {
        let file: String = value
            .getattr("filename")
            .and_then(|file| file.extract())
            .unwrap_or_default();
        let number: usize = value
            .getattr("lineno")
            .and_then(|number| number.extract())
            .unwrap_or(0);
        let reason: String = value
            .getattr("msg")
            .and_then(|reason| reason.extract())
            .unwrap_or_default();
        if file != context.path {
            message = format!("a module that the harness imports is not valid Python: {reason}");
            help = Some(format!(
                "see `{file}`, line {number}; was it written for Python 2?"
            ));
        }
    } else if raised.traceback.matches("\n  File ").count() > 2 {
        help = Some(format!(
            "the call that failed:\n{}",
            last_frames(&raised.traceback)
        ));
    }
    let label = String::from("while running this");
    Diagnostic {
        severity: Severity::Error,
        name: "raw-code-failed",
        message,
        range: line_range(text, line),
        label,
        related: None,
        help,
    }
}

/// The part of a traceback that is about the system under test.
fn last_frames(traceback: &str) -> String {
    let lines: Vec<&str> = traceback.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

/// The line of the harness that was being executed.
fn line_in_harness(context: &Context<'_>, error: &PyErr) -> Option<usize> {
    let mut entry = error.traceback(context.python)?.into_any();
    let mut line = None;
    loop {
        let file: String = entry
            .getattr("tb_frame")
            .and_then(|frame| frame.getattr("f_code")?.getattr("co_filename")?.extract())
            .ok()?;
        if file == context.path {
            line = entry
                .getattr("tb_lineno")
                .and_then(|number| number.extract())
                .ok();
        }
        let next = entry.getattr("tb_next").ok()?;
        if next.is_none() {
            return line;
        }
        entry = next;
    }
}

/// The text of a line, without blanks at its ends.
fn line_range(text: &str, line: usize) -> Range<usize> {
    let mut start = 0;
    for (number, content) in text.split_inclusive('\n').enumerate() {
        if number + 1 == line {
            let indent = content.len() - content.trim_start().len();
            return start + indent..start + content.trim_end().len().max(indent);
        }
        start += content.len();
    }
    0..0
}
