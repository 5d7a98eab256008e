//! Is the host code of a line right, whatever stands in its holes?
//!
//! Holes become a name, choices one of their alternatives, and the host's parser judges the result. With several choices
//! they are varied one at a time: the sum of their alternatives, not the product.

use testwright_core::{Axis, Choice};

use crate::advice;
use crate::choices::{Alternatives, ChoiceNode};
use crate::diagnostics::Diagnostic;
use crate::expand::{Context, Placed};
use crate::fragments;
use crate::host::{self, Syntax, Trouble};
use crate::keywords::{shorten, trim};
use crate::mapping::Mapped;
use crate::nodes::Kind;
use crate::placeholders::UNKNOWN;

/// What is written for a slot, with a number behind it: messages speak of what stands in the harness.
const HOLE: &str = "tw_hole_";

/// A line is checked in no more variants than this.
const MOST_CHECKS: usize = 300;

/// Host code to be checked.
pub(crate) struct Code<'a> {
    /// What it is, for messages: `guard`.
    pub(crate) what: &'static str,
    pub(crate) syntax: Syntax,
    pub(crate) nodes: &'a [Placed],
    /// Text around it that makes it complete.
    pub(crate) around: (&'static str, &'static str),
    /// Checks that may still be made.
    pub(crate) budget: &'a mut usize,
}

/// The number of checks a line may start with.
pub(crate) fn budget() -> usize {
    MOST_CHECKS
}

/// Reports the first variant that is wrong; true if there is none.
pub(crate) fn check(code: Code<'_>, axes: &[Axis], context: &mut Context<'_, '_>) -> bool {
    let line = context.line();
    let mut variants = vec![None];
    for (at, placed) in code.nodes.iter().enumerate() {
        if let Kind::Choice(choice) = &placed.node.kind {
            let count = match axes.get(placed.axis) {
                Some(Axis::Choice(axis)) if axis.is_empty() => return true,
                Some(Axis::Choice(Choice::Texts(texts))) => texts.len(),
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
        let text = written(&code, variant, axes, line, false);
        let troubles = host::check(code.syntax, &text.text);
        if troubles.is_empty() {
            if variant.is_none() {
                in_spite_of_syntax(&code, &text, context);
            }
            continue;
        }
        let (text, troubles) = readable(&code, variant, axes, line, text, troubles);
        for trouble in &troubles {
            report_here(&code, &text, variant, axes, trouble, context);
        }
        return false;
    }
    true
}

/// The same troubles in words that speak of choices, not of their alternatives, where that is possible.
fn readable(
    code: &Code<'_>,
    variant: Option<(usize, usize)>,
    axes: &[Axis],
    line: &str,
    text: Mapped,
    troubles: Vec<Trouble>,
) -> (Mapped, Vec<Trouble>) {
    let other = written(code, variant, axes, line, true);
    let again = host::check(code.syntax, &other.text);
    let kinds = |troubles: &[Trouble]| -> Vec<bool> {
        let is_outdated = |trouble: &Trouble| trouble.outdated.is_some();
        troubles.iter().map(is_outdated).collect()
    };
    if kinds(&again) == kinds(&troubles) {
        (other, again)
    } else {
        (text, troubles)
    }
}

fn report_here(
    code: &Code<'_>,
    text: &Mapped,
    variant: Option<(usize, usize)>,
    axes: &[Axis],
    trouble: &Trouble,
    context: &mut Context<'_, '_>,
) {
    let line = context.line();
    let mut trouble = trouble.clone();
    let help = advice::advice(code.what, &text.text, &trouble);
    trouble.message = with_holes(&trouble.message, code.nodes, line);
    trouble.outdated = trouble
        .outdated
        .map(|help| with_holes(&help, code.nodes, line));
    let mut range = text.source(&trouble.range);
    let mut what = code.what.to_owned();
    if let (Some((at, alternative)), None) = (variant, &trouble.outdated)
        && let Some(Axis::Choice(choice)) = axes.get(code.nodes[at].axis)
        && let Kind::Choice(node) = &code.nodes[at].node.kind
    {
        let chosen = choice.text(alternative as u64);
        what = format!("{what} with the alternative `{}`", shorten(chosen.trim()));
        let place = exact_place(node, alternative).unwrap_or(code.nodes[at].node.span.clone());
        if !(place.start <= range.start && range.end <= place.end) {
            range = trim(line, place);
        }
    }
    let mut diagnostic = report(&trouble, context.declaration.place(&range), &what);
    let help = help
        .map(|help| with_holes(&help, code.nodes, line))
        .or_else(|| in_choice(code.nodes, &range));
    diagnostic.help = diagnostic.help.or(help);
    context.diagnostics.push(diagnostic);
}

/// The way out of trouble in the middle of an alternative.
fn in_choice(nodes: &[Placed], range: &std::ops::Range<usize>) -> Option<String> {
    let is_around = |placed: &&Placed| {
        let span = &placed.node.span;
        matches!(placed.node.kind, Kind::Choice(_))
            && span.start < range.start
            && range.end < span.end
    };
    nodes.iter().find(is_around)?;
    Some("alternatives are separated by commas: `<[1,2,3]>`".to_owned())
}

/// What the host's grammar allows, but nobody means.
fn in_spite_of_syntax(code: &Code<'_>, text: &Mapped, context: &mut Context<'_, '_>) {
    let is_condition = matches!(code.what, "post-condition" | "property");
    let Some(surprise) = host::surprise(&text.text, is_condition) else {
        return;
    };
    let range = context.declaration.place(&text.source(&surprise.range));
    let diagnostic = if surprise.is_error {
        Diagnostic::error("useless-line", range, surprise.message)
    } else {
        Diagnostic::warning("always-true", range, surprise.message)
    };
    context.diagnostics.push(diagnostic.with_help(with_holes(
        &surprise.help,
        code.nodes,
        context.line(),
    )));
}

/// The diagnostic for a trouble at this range of the file.
pub(crate) fn report(trouble: &Trouble, range: std::ops::Range<usize>, what: &str) -> Diagnostic {
    match &trouble.outdated {
        Some(help) => {
            Diagnostic::error("python-2", range, trouble.message.clone()).with_help(help.clone())
        }
        // Says for itself what it is about: a bracket that is never closed may belong to any part of the line.
        None if trouble.message.starts_with("this ") => {
            Diagnostic::error("host-syntax", range, trouble.message.clone())
        }
        None => Diagnostic::error(
            "host-syntax",
            range,
            format!("syntax error in the {what}: {}", trouble.message),
        ),
    }
}

/// A message with what stands in the harness in place of the names that were written for it.
fn with_holes(message: &str, nodes: &[Placed], line: &str) -> String {
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

/// The code with its holes filled.
///
/// With `readable`, a choice between literals is written as a name too.
fn written(
    code: &Code<'_>,
    variant: Option<(usize, usize)>,
    axes: &[Axis],
    line: &str,
    readable: bool,
) -> Mapped {
    let mut mapped = Mapped::default();
    let start = code.nodes.first().map_or(0, |first| first.node.span.start);
    mapped.push_instead(code.around.0, start..start);
    for (at, placed) in code.nodes.iter().enumerate() {
        let span = placed.node.span.clone();
        let hole = || format!("{HOLE}{at}_");
        match &placed.node.kind {
            Kind::Text => mapped.push(&line[span.clone()], span.start),
            Kind::Written(text) if text == UNKNOWN => mapped.push_instead(&hole(), span),
            Kind::Written(text) => mapped.push_instead(text, span),
            Kind::Mark(mark) => mapped.push_instead(mark.host_text(), span),
            Kind::Slot(_) | Kind::Back(..) => mapped.push_instead(&hole(), span),
            Kind::PreOpen => mapped.push_instead("(", span),
            Kind::PreClose => mapped.push_instead(")", span),
            Kind::Choice(choice)
                if readable && fragments::is_operand(code.nodes, at, choice, line) =>
            {
                mapped.push_instead(&hole(), span);
            }
            Kind::Choice(choice) => {
                let alternative = variant
                    .filter(|(place, _)| *place == at)
                    .map_or(0, |(_, chosen)| chosen);
                match exact_place(choice, alternative) {
                    Some(place) => mapped.push(&line[place.clone()], place.start),
                    None => {
                        if let Some(Axis::Choice(axis)) = axes.get(placed.axis) {
                            mapped.push_instead(&axis.text(alternative as u64), span);
                        }
                    }
                }
            }
        }
    }
    let end = code.nodes.last().map_or(0, |last| last.node.span.end);
    mapped.push_instead(code.around.1, end..end);
    mapped
}

/// Where an alternative stands in the line, if it stands there as such.
fn exact_place(choice: &ChoiceNode, alternative: usize) -> Option<std::ops::Range<usize>> {
    let Alternatives::Items(items) = &choice.alternatives else {
        return None;
    };
    let item = items.get(alternative)?;
    match item.nodes.as_slice() {
        [node] if matches!(node.kind, Kind::Text) => Some(node.span.clone()),
        _ => None,
    }
}
