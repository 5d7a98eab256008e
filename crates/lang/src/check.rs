//! Is the host code of a line right, whatever stands in its holes?
//!
//! Holes become a name, choices one of their alternatives, and the host's parser judges the result. With several choices
//! they are varied one at a time: the sum of their alternatives, not the product.

use testwright_core::{Axis, Choice};

use crate::choices::{Alternatives, ChoiceNode};
use crate::diagnostics::Diagnostic;
use crate::expand::{Context, Placed};
use crate::fragments;
use crate::host::{self, Syntax, Trouble};
use crate::keywords::shorten;
use crate::mapping::Mapped;
use crate::nodes::Kind;

/// What is written for a slot.
const SLOT: &str = "slot";

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
        let text = written(&code, variant, axes, line);
        let troubles = host::check(code.syntax, &text.text);
        if troubles.is_empty() {
            continue;
        }
        for trouble in &troubles {
            let range = context.declaration.place(&text.source(&trouble.range));
            let mut diagnostic = report(trouble, range, code.what);
            if let (Some((at, alternative)), None) = (variant, &trouble.outdated)
                && let Some(Axis::Choice(choice)) = axes.get(code.nodes[at].axis)
            {
                let chosen = choice.text(alternative as u64);
                diagnostic.label = format!("with the alternative `{}`", shorten(chosen.trim()));
            }
            context.diagnostics.push(diagnostic);
        }
        return false;
    }
    true
}

/// The diagnostic for a trouble at this range of the file.
pub(crate) fn report(trouble: &Trouble, range: std::ops::Range<usize>, what: &str) -> Diagnostic {
    match &trouble.outdated {
        Some(help) => {
            Diagnostic::error("python-2", range, trouble.message.clone()).with_help(help.clone())
        }
        None => Diagnostic::error(
            "host-syntax",
            range,
            format!("syntax error in the {what}: {}", trouble.message),
        ),
    }
}

/// The code with its holes filled.
fn written(code: &Code<'_>, variant: Option<(usize, usize)>, axes: &[Axis], line: &str) -> Mapped {
    let mut mapped = Mapped::default();
    let start = code.nodes.first().map_or(0, |first| first.node.span.start);
    mapped.push_instead(code.around.0, start..start);
    for (at, placed) in code.nodes.iter().enumerate() {
        let span = placed.node.span.clone();
        match &placed.node.kind {
            Kind::Text => mapped.push(&line[span.clone()], span.start),
            Kind::Written(text) => mapped.push_instead(text, span),
            Kind::Mark(mark) => mapped.push_instead(mark.host_text(), span),
            Kind::Slot(_) | Kind::Back(..) => mapped.push_instead(SLOT, span),
            Kind::PreOpen => mapped.push_instead("(", span),
            Kind::PreClose => mapped.push_instead(")", span),
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
