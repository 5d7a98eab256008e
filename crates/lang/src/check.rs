//! Checks that the host code of a line is correct, whatever stands in its holes.
//!
//! Holes become a name, choices one of their alternatives, and the host's parser judges the result.
//! With several choices, one varies at a time: the number of checks is the sum of their
//! alternatives, not the product.

use testwright_core::{Axis, ChoiceValues};

use crate::advice;
use crate::choices::{ChoiceAlternatives, ChoiceNode};
use crate::diagnostics::Diagnostic;
use crate::expand::{LineContext, PlacedNode};
use crate::fragments;
use crate::host::{self, HostProblem, SyntaxKind};
use crate::keywords::{shorten, trim};
use crate::mapping::MappedText;
use crate::nodes::NodeKind;
use crate::placeholders::UNKNOWN_POOL_TEXT;

/// Name that is written for a hole, followed by its number. Messages show the text of the harness
/// instead.
const HOLE: &str = "tw_hole_";

/// Maximum number of variants of a line that are checked.
const MAX_CHECKS: usize = 300;

/// Host code to be checked.
pub(crate) struct HostCode<'a> {
    /// Name of this part of the line, for messages: `guard`.
    pub(crate) part_name: &'static str,
    /// Grammar that the code must follow.
    pub(crate) syntax: SyntaxKind,
    /// Code with its holes.
    pub(crate) nodes: &'a [PlacedNode],
    /// Text before and after that makes the code complete.
    pub(crate) wrapper: (&'static str, &'static str),
    /// Number of checks that may still be made on this line.
    pub(crate) budget: &'a mut usize,
}

/// Returns the number of checks that a line starts with.
pub(crate) fn budget() -> usize {
    MAX_CHECKS
}

/// Reports the first variant that is wrong. Returns true if there is none.
pub(crate) fn check(code: HostCode<'_>, axes: &[Axis], context: &mut LineContext<'_, '_>) -> bool {
    let line = context.line();
    let mut variants = vec![None];
    for (at, placed) in code.nodes.iter().enumerate() {
        if let NodeKind::Choice(choice) = &placed.node.kind {
            let count = match axes.get(placed.axis) {
                Some(Axis::Choice(axis)) if axis.is_empty() => return true,
                Some(Axis::Choice(ChoiceValues::Texts(texts))) => texts.len(),
                _ => 1,
            };
            if !fragments::is_operand(code.nodes, at, choice, line) {
                let room = code.budget.saturating_sub(variants.len());
                variants.extend(
                    (1..count)
                        .take(room)
                        .map(|alternative| Some((at, alternative))),
                );
            }
        }
    }
    for variant in variants {
        if *code.budget == 0 {
            return true;
        }
        *code.budget -= 1;
        let text = fill_holes(&code, variant, axes, line, false);
        let problems = host::check(code.syntax, &text.text);
        if problems.is_empty() {
            if variant.is_none() {
                warn_suspicious(&code, &text, context);
            }
            continue;
        }
        let (text, problems) = retry_with_names(&code, variant, axes, line, text, problems);
        for problem in &problems {
            report_problem(&code, &text, variant, axes, problem, context);
        }
        return false;
    }
    true
}

/// Tries to report the same problems with choices written as names, so that messages name choices
/// and not single alternatives.
fn retry_with_names(
    code: &HostCode<'_>,
    variant: Option<(usize, usize)>,
    axes: &[Axis],
    line: &str,
    text: MappedText,
    problems: Vec<HostProblem>,
) -> (MappedText, Vec<HostProblem>) {
    let other = fill_holes(code, variant, axes, line, true);
    let retried = host::check(code.syntax, &other.text);
    let kinds = |problems: &[HostProblem]| -> Vec<bool> {
        let is_outdated = |problem: &HostProblem| problem.python2_help.is_some();
        problems.iter().map(is_outdated).collect()
    };
    if kinds(&retried) == kinds(&problems) {
        (other, retried)
    } else {
        (text, problems)
    }
}

/// Reports one problem at its place in the harness, with advice where there is some.
fn report_problem(
    code: &HostCode<'_>,
    text: &MappedText,
    variant: Option<(usize, usize)>,
    axes: &[Axis],
    problem: &HostProblem,
    context: &mut LineContext<'_, '_>,
) {
    let line = context.line();
    let mut problem = problem.clone();
    let help = advice::advice(code.part_name, &text.text, &problem);
    problem.message = restore_holes(&problem.message, code.nodes, line);
    problem.python2_help = problem
        .python2_help
        .map(|help| restore_holes(&help, code.nodes, line));
    let mut range = text.source(&problem.range);
    let mut part_name = code.part_name.to_owned();
    if let (Some((at, alternative)), None) = (variant, &problem.python2_help)
        && let Some(Axis::Choice(choice)) = axes.get(code.nodes[at].axis)
        && let NodeKind::Choice(node) = &code.nodes[at].node.kind
    {
        let chosen = choice.text(alternative as u64);
        part_name = format!(
            "{part_name} with the alternative `{}`",
            shorten(chosen.trim())
        );
        let location =
            alternative_range(node, alternative).unwrap_or(code.nodes[at].node.span.clone());
        if !(location.start <= range.start && range.end <= location.end) {
            range = trim(line, location);
        }
    }
    let mut diagnostic =
        to_diagnostic(&problem, context.declaration.file_range(&range), &part_name);
    let help = help
        .map(|help| restore_holes(&help, code.nodes, line))
        .or_else(|| alternative_advice(code.nodes, &range));
    diagnostic.help = diagnostic.help.or(help);
    context.diagnostics.push(diagnostic);
}

/// Returns advice for a problem in the middle of an alternative.
fn alternative_advice(nodes: &[PlacedNode], range: &std::ops::Range<usize>) -> Option<String> {
    let is_around = |placed: &&PlacedNode| {
        let span = &placed.node.span;
        matches!(placed.node.kind, NodeKind::Choice(_))
            && span.start < range.start
            && range.end < span.end
    };
    nodes.iter().find(is_around)?;
    Some("alternatives are separated by commas: `<[1,2,3]>`".to_owned())
}

/// Reports code that follows the host's grammar but is hardly meant.
fn warn_suspicious(code: &HostCode<'_>, text: &MappedText, context: &mut LineContext<'_, '_>) {
    let is_condition = matches!(code.part_name, "post-condition" | "property");
    let Some(suspicious) = host::find_suspicious(&text.text, is_condition) else {
        return;
    };
    let range = context
        .declaration
        .file_range(&text.source(&suspicious.range));
    let diagnostic = if suspicious.is_error {
        Diagnostic::error("useless-line", range, suspicious.message)
    } else {
        Diagnostic::warning("always-true", range, suspicious.message)
    };
    context.diagnostics.push(diagnostic.with_help(restore_holes(
        &suspicious.help,
        code.nodes,
        context.line(),
    )));
}

/// Builds the diagnostic for a problem at this range of the file.
pub(crate) fn to_diagnostic(
    problem: &HostProblem,
    range: std::ops::Range<usize>,
    part_name: &str,
) -> Diagnostic {
    match &problem.python2_help {
        Some(help) => {
            Diagnostic::error("python-2", range, problem.message.clone()).with_help(help.clone())
        }
        // The message names its subject itself: a bracket that is never closed may belong to any
        // part of the line.
        None if problem.message.starts_with("this ") => {
            Diagnostic::error("host-syntax", range, problem.message.clone())
        }
        None => Diagnostic::error(
            "host-syntax",
            range,
            format!("syntax error in the {part_name}: {}", problem.message),
        ),
    }
}

/// Replaces the names that were written for holes by the text of the harness.
fn restore_holes(message: &str, nodes: &[PlacedNode], line: &str) -> String {
    let mut parts = message.split(HOLE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once('_').unwrap_or((part, ""));
        let node = number.parse().ok().and_then(|at: usize| nodes.get(at));
        text.push_str(node.map_or("…", |placed| &line[placed.node.span.clone()]));
        text.push_str(rest);
    }
    text
}

/// Returns the code with its holes filled.
///
/// With `readable`, a choice between literals is written as a name too.
fn fill_holes(
    code: &HostCode<'_>,
    variant: Option<(usize, usize)>,
    axes: &[Axis],
    line: &str,
    readable: bool,
) -> MappedText {
    let mut mapped = MappedText::default();
    let start = code.nodes.first().map_or(0, |first| first.node.span.start);
    mapped.push_replacement(code.wrapper.0, start..start);
    for (at, placed) in code.nodes.iter().enumerate() {
        let span = placed.node.span.clone();
        let hole = || format!("{HOLE}{at}_");
        match &placed.node.kind {
            NodeKind::Text => mapped.push(&line[span.clone()], span.start),
            NodeKind::HostText(text) if text == UNKNOWN_POOL_TEXT => {
                mapped.push_replacement(&hole(), span)
            }
            NodeKind::HostText(text) => mapped.push_replacement(text, span),
            NodeKind::Separator(mark) => mapped.push_replacement(mark.host_text(), span),
            NodeKind::Slot(_) | NodeKind::BackReference(..) => {
                mapped.push_replacement(&hole(), span)
            }
            NodeKind::PreOpen => mapped.push_replacement("(", span),
            NodeKind::PreClose => mapped.push_replacement(")", span),
            NodeKind::Choice(choice)
                if readable && fragments::is_operand(code.nodes, at, choice, line) =>
            {
                mapped.push_replacement(&hole(), span);
            }
            NodeKind::Choice(choice) => {
                let alternative = variant
                    .filter(|(location, _)| *location == at)
                    .map_or(0, |(_, chosen)| chosen);
                match alternative_range(choice, alternative) {
                    Some(location) => mapped.push(&line[location.clone()], location.start),
                    None => {
                        if let Some(Axis::Choice(axis)) = axes.get(placed.axis) {
                            mapped.push_replacement(&axis.text(alternative as u64), span);
                        }
                    }
                }
            }
        }
    }
    let end = code.nodes.last().map_or(0, |last| last.node.span.end);
    mapped.push_replacement(code.wrapper.1, end..end);
    mapped
}

/// Returns the range of an alternative in the line, if it stands there letter by letter.
fn alternative_range(choice: &ChoiceNode, alternative: usize) -> Option<std::ops::Range<usize>> {
    let ChoiceAlternatives::Items(items) = &choice.alternatives else {
        return None;
    };
    let item = items.get(alternative)?;
    match item.nodes.as_slice() {
        [node] if matches!(node.kind, NodeKind::Text) => Some(node.span.clone()),
        _ => None,
    }
}
