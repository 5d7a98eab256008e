//! Errors in a harness that only the interpreter can detect, with location and help.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use pyo3::exceptions::{PyModuleNotFoundError, PySyntaxError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::FxHashSet;
use testwright_core::{Axis, TemplateId};
use testwright_lang::harness::Pool;
use testwright_lang::{Diagnostic, Harness, Severity};

use super::{KeywordLines, load_support, mistakes, new_context};
use crate::CheckMode;
use crate::Interpreter;
use crate::actions::CompiledActions;
use crate::context::HarnessContext;
use crate::failures::RaisedException;
use crate::functions::FunctionText;
use crate::reference_rules::{BadPattern, ReferenceRules};
use crate::skeleton::Skeleton;

/// Checks a harness with the interpreter, without running it: code that does not compile, patterns
/// that are rejected. If the harness is not `complete`, because its text has errors, only patterns
/// are checked.
pub fn check(
    interpreter: Interpreter<'_>,
    path: &Path,
    text: &str,
    harness: &Harness,
    complete: bool,
) -> Vec<Diagnostic> {
    let python = interpreter.0;
    let namespace = PyDict::new(python);
    let checked = load_support(python)
        .and_then(|support| new_context(python, path, harness.clone(), namespace, support))
        .and_then(|context| {
            let mut found = find_problems(&context, text, complete)?;
            if complete {
                found.extend(mistakes::find(&context, text, false)?);
            }
            Ok(found)
        });
    checked.unwrap_or_default()
}

/// Returns everything that the interpreter rejects.
pub(super) fn find_problems(
    context: &HarnessContext<'_>,
    text: &str,
    complete: bool,
) -> PyResult<Vec<Diagnostic>> {
    let (rules, bad) = ReferenceRules::new(context.python, &context.harness)?;
    if !bad.is_empty() || !complete {
        return Ok(bad
            .iter()
            .map(|pattern| pattern_error(text, pattern))
            .collect());
    }
    let actions = CompiledActions::new(context, &rules, Default::default(), false);
    let mut found = Vec::new();
    let mut sources = Vec::new();
    for (number, action) in context.harness.actions.iter().enumerate() {
        let template = TemplateId(number);
        if context.harness.catalog.count(template) == 0 {
            continue;
        }
        let first = vec![0; action.axes.len()];
        match actions.sources(context, &rules, template, &first) {
            Ok(texts) => sources.extend(texts),
            Err(problem) => {
                let message = RaisedException::new(context.python, &problem).message;
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
        if actions.lacks_compared_result(context, &rules, template, &first)? {
            found.push(missing_result(text, action.line));
        }
    }
    found.extend(pools_without_reference(context, text, &rules, &actions)?);
    for code in KeywordLines::new(context, &rules, CheckMode::All)?.all() {
        sources.push(code.source(context, &vec![0; code.line.axes.len()]));
    }
    found.extend(compile_errors(context, text, &sources));
    Ok(found)
}

/// Returns a warning for each pool whose twins do only what the system does: no `reference:` line
/// applies to an action with the pool, or with a pool that shares an action with it.
fn pools_without_reference<'py>(
    context: &HarnessContext<'py>,
    text: &str,
    rules: &ReferenceRules<'py>,
    actions: &CompiledActions<'py>,
) -> PyResult<Vec<Diagnostic>> {
    let harness = &context.harness;
    // Some patterns apply only to certain slots or values.
    if harness.references.is_empty() || rules.depends_on_indices() {
        return Ok(Vec::new());
    }
    let mut groups: Vec<(BTreeSet<usize>, bool)> = Vec::new();
    for (number, action) in harness.actions.iter().enumerate() {
        let template = TemplateId(number);
        if harness.catalog.count(template) == 0 {
            continue;
        }
        let sizes = harness.catalog.sizes(template).iter();
        let ends: [Vec<u64>; 2] = [
            vec![0; action.axes.len()],
            sizes.map(|size| size.saturating_sub(1)).collect(),
        ];
        let mut is_translated = false;
        for values in &ends {
            is_translated |= actions.is_translated(context, rules, template, values)?;
        }
        let pools = action.axes.iter().filter_map(|axis| match axis {
            Axis::Slot { pool, .. } => Some(pool.0),
            _ => None,
        });
        groups.push((pools.collect(), is_translated));
    }
    let mut referenced: BTreeSet<usize> = BTreeSet::new();
    loop {
        let before = referenced.len();
        for (pools, is_translated) in &groups {
            if *is_translated || !pools.is_disjoint(&referenced) {
                referenced.extend(pools);
            }
        }
        if referenced.len() == before {
            break;
        }
    }
    let pools = harness.pools.iter().enumerate();
    let lonely = pools.filter(|(number, pool)| pool.reference && !referenced.contains(number));
    let problem = |(_, pool): (usize, &Pool)| {
        let name = &pool.name;
        let message = format!(
            "the pool `<{name}>` is declared `REF`, but no `reference:` line changes an action with it: the system would be compared with itself"
        );
        let help = "name the reference, as in `reference: module.Class ==> list`, or remove `REF`";
        let label = "has twins, but no reference";
        warning(text, pool.line, "no-reference", message, label, help)
    };
    Ok(lonely.map(problem).collect())
}

/// Returns an error for a line.
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

/// Returns a warning about a line.
fn warning(
    text: &str,
    line: usize,
    name: &'static str,
    message: String,
    label: &str,
    help: &str,
) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        ..error(text, line, name, message, label, Some(help))
    }
}

/// Returns the error for an invalid regular expression.
fn pattern_error(text: &str, pattern: &BadPattern) -> Diagnostic {
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

/// Returns the warning for a compared line without a result.
fn missing_result(text: &str, line: usize) -> Diagnostic {
    let message = "the result of this line is not compared, although a `compare:` line asks for it";
    let help = "only an expression or an assignment has a result; whether both raise is compared all the same";
    warning(
        text,
        line,
        "no-result",
        message.to_owned(),
        "has no result",
        help,
    )
}

/// Compiles raw code and the functions of all lines, and returns the errors.
fn compile_errors(
    context: &HarnessContext<'_>,
    text: &str,
    sources: &[FunctionText],
) -> Vec<Diagnostic> {
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
    // Compiling many functions at once is much faster than one by one, and mostly succeeds.
    // Compiling all at once would take more memory than anything else that is done with a harness.
    let all_fine = distinct_sources(sources).chunks(BATCH_SIZE).all(|sources| {
        let together: String = sources.iter().map(|source| source.text.as_str()).collect();
        compile(&together).is_ok()
    });
    if !all_fine {
        for source in sources {
            if let Err(problem) = compile(&source.text) {
                found.push(rejected(source.line, &problem, placement_help(&problem)));
            }
        }
        found.dedup();
    }
    found
}

/// The number of functions compiled at once.
const BATCH_SIZE: usize = 500;

/// Returns the first of all texts that differ only in their literals: if it compiles, so do the
/// others, since their literals were parsed before.
fn distinct_sources(sources: &[FunctionText]) -> Vec<&FunctionText> {
    let mut seen = FxHashSet::default();
    let is_first = |source: &&FunctionText| match Skeleton::new(&source.text) {
        Some(skeleton) => seen.insert(skeleton.text),
        None => true,
    };
    sources.iter().filter(is_first).collect()
}

/// Returns help for a line that the interpreter rejects because of its context.
fn placement_help(problem: &PyErr) -> Option<&'static str> {
    let message = problem.to_string();
    let phrases = ["outside", "in loop", "nonlocal", "module level"];
    let is_about_place = phrases.iter().any(|phrase| message.contains(phrase));
    is_about_place.then_some("every line is run as a function of its own")
}

/// Returns the interpreter's reason; names are in backticks, as in all messages.
fn reason(context: &HarnessContext<'_>, problem: &PyErr) -> String {
    problem
        .value(context.python)
        .getattr("msg")
        .map_or_else(|_| problem.to_string(), |reason| reason.to_string())
        .replace('\'', "`")
        // Python 3.14 uses another word; messages must not depend on the version.
        .replace("duplicate parameter", "duplicate argument")
}

/// Returns the diagnostic for an exception in raw code: its line, the reason, and help.
pub(super) fn raw_code_failed(
    context: &HarnessContext<'_>,
    text: &str,
    error: &PyErr,
) -> Diagnostic {
    let python = context.python;
    let raised = RaisedException::new(python, error);
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

/// Returns the end of a traceback, which is about the system under test.
fn last_frames(traceback: &str) -> String {
    let lines: Vec<&str> = traceback.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

/// Returns the line of the harness that was being executed.
fn line_in_harness(context: &HarnessContext<'_>, error: &PyErr) -> Option<usize> {
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

/// Returns the range of a line without leading and trailing blanks.
pub(super) fn line_range(text: &str, line: usize) -> Range<usize> {
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
