//! Expands nodes to templates: finds the axes of a line, and splits choices that need lines of
//! their own.
//!
//! A choice between texts is an axis. One whose alternatives contain placeholders is *structural*:
//! each alternative has its own axes, so the line becomes several. The order of all concrete
//! actions is that of the original TSTL: `<,[…],>` choices vary slowest, then slots and other choices in
//! reading order.

use std::collections::BTreeMap;
use std::ops::Range;

use testwright_core::{
    Axis, Catalog, PoolId, SlotPool, SlotRole, Template, TemplatePiece, TooManyActions,
};

use crate::choices::{ChoiceAlternatives, ChoiceNode};
use crate::diagnostics::Diagnostic;
use crate::harness::{ActionTemplate, CodePart, Harness};
use crate::keywords::Declaration;
use crate::nodes::{LineNode, NodeKind, PoolMention, Separator};
use crate::pools::Pools;

/// Context for parsing a line.
pub(crate) struct LineContext<'a, 'd> {
    /// The line.
    pub(crate) declaration: &'a Declaration<'a>,
    /// Known pools.
    pub(crate) pools: &'a Pools,
    /// Problems found so far.
    pub(crate) diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a> LineContext<'a, '_> {
    /// Returns the text of the line.
    pub(crate) fn line(&self) -> &'a str {
        &self.declaration.line.text
    }

    /// Adds an error at a range of the line, and returns it for label and help.
    pub(crate) fn error(
        &mut self,
        name: &'static str,
        range: &Range<usize>,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let location = self.declaration.file_range(range);
        self.diagnostics
            .push(Diagnostic::error(name, location, message));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    /// Adds a warning at a range of the line, and returns it for label and help.
    pub(crate) fn warning(
        &mut self,
        name: &'static str,
        range: &Range<usize>,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let diagnostic = self.error(name, range, message);
        diagnostic.severity = crate::Severity::Warning;
        diagnostic
    }
}

/// Meaning of the placeholders of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceholderMeaning {
    /// They define and use slots.
    Action,
    /// They are slots that must hold a value.
    Property,
    /// They are slots, whatever these hold.
    Plain,
}

/// A node and its axis.
#[derive(Clone, Debug)]
pub(crate) struct PlacedNode {
    /// The node.
    pub(crate) node: LineNode,
    /// Index of the axis. It has no meaning for nodes that are not holes.
    pub(crate) axis: usize,
}

/// A line, or one structural alternative of it.
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    /// Nodes with their axes.
    pub(crate) nodes: Vec<PlacedNode>,
    /// Axes of variation.
    pub(crate) axes: Vec<Axis>,
}

/// Maximum number of structural alternatives on one line.
const MAX_ALTERNATIVES: usize = 10_000;

/// Maximum total text of the alternatives. Each carries the whole line, so a long line may have
/// fewer of them.
const MAX_TEXT: usize = 50_000_000;

/// Expands a line.
pub(crate) fn expand(
    nodes: Vec<LineNode>,
    meaning: PlaceholderMeaning,
    context: &mut LineContext<'_, '_>,
) -> Vec<Expansion> {
    let Some(variants) = split_structural(nodes, meaning, context.line()) else {
        let content = context.declaration.content.clone();
        context
            .error(
                "too-many-alternatives",
                &content,
                "the choices of this line have too many combinations of alternatives with placeholders",
            )
            .help = Some("write several lines, or use a pool".to_owned());
        return Vec::new();
    };
    variants
        .into_iter()
        .map(|nodes| assign_axes(nodes, meaning, context))
        .collect()
}

/// Splits at structural choices until none is left. Returns `None` if there are too many
/// alternatives.
fn split_structural(
    nodes: Vec<LineNode>,
    meaning: PlaceholderMeaning,
    line: &str,
) -> Option<Vec<Vec<LineNode>>> {
    let mut pending = vec![nodes];
    let mut done = Vec::new();
    while let Some(nodes) = pending.pop() {
        let Some(at) = find_structural_choice(&nodes, meaning) else {
            done.push(nodes);
            continue;
        };
        let alternatives = alternative_nodes(&nodes[at], line)?;
        let count = done.len() + pending.len() + alternatives.len();
        if count > MAX_ALTERNATIVES || count.saturating_mul(line.len()) > MAX_TEXT {
            return None;
        }
        for alternative in alternatives.into_iter().rev() {
            let mut variant = nodes[..at].to_vec();
            variant.extend(alternative);
            variant.extend_from_slice(&nodes[at + 1..]);
            pending.push(variant);
        }
    }
    Some(done)
}

/// Returns the choice that a node is.
fn as_choice(node: &LineNode) -> Option<&ChoiceNode> {
    match &node.kind {
        NodeKind::Choice(choice) => Some(choice),
        _ => None,
    }
}

/// Returns the next choice to split. Choices with double commas come first, from left to right;
/// those left of a structural one must be split with it.
fn find_structural_choice(nodes: &[LineNode], meaning: PlaceholderMeaning) -> Option<usize> {
    let has_message = match meaning {
        PlaceholderMeaning::Action => nodes
            .iter()
            .position(|node| node.is_separator(Separator::Post)),
        PlaceholderMeaning::Property => Some(0),
        PlaceholderMeaning::Plain => None,
    };
    let has_message = has_message.unwrap_or(nodes.len())..nodes.len();
    let is_structural = |at: usize, double: bool| {
        as_choice(&nodes[at]).is_some_and(|choice| {
            choice.double == double && is_structural(choice, has_message.contains(&at))
        })
    };
    if (0..nodes.len()).any(|at| is_structural(at, true)) {
        return nodes
            .iter()
            .position(|node| as_choice(node).is_some_and(|choice| choice.double));
    }
    (0..nodes.len()).find(|at| is_structural(*at, false))
}

/// Returns true if a choice must be split. A comma in the alternative of a condition may separate
/// its message.
fn is_structural(choice: &ChoiceNode, has_message: bool) -> bool {
    match &choice.alternatives {
        ChoiceAlternatives::Range(_) => false,
        ChoiceAlternatives::Items(items) => items.iter().any(|item| {
            !item.is_text() || (has_message && item.nodes.iter().any(LineNode::is_comma))
        }),
    }
}

/// Returns the alternatives of a choice as nodes.
fn alternative_nodes(node: &LineNode, line: &str) -> Option<Vec<Vec<LineNode>>> {
    let choice = as_choice(node)?;
    match &choice.alternatives {
        ChoiceAlternatives::Items(items) => {
            Some(items.iter().map(|item| item.nodes.clone()).collect())
        }
        ChoiceAlternatives::Range(_) => {
            let axis = choice.to_axis(line);
            if axis.len() > MAX_ALTERNATIVES as u64 {
                return None;
            }
            let written = |alternative| {
                vec![LineNode {
                    kind: NodeKind::HostText(axis.text(alternative).into_owned()),
                    span: node.span.clone(),
                }]
            };
            Some((0..axis.len()).map(written).collect())
        }
    }
}

/// Gives each hole its axis.
fn assign_axes(
    nodes: Vec<LineNode>,
    meaning: PlaceholderMeaning,
    context: &mut LineContext<'_, '_>,
) -> Expansion {
    let line = context.line();
    let roles = slot_roles(&nodes, meaning);
    let mut axes: Vec<Axis> = context
        .declaration
        .repeat
        .map(Axis::Repeat)
        .into_iter()
        .collect();
    let mut axis_of = vec![0; nodes.len()];
    let mut slots: BTreeMap<PoolId, Vec<usize>> = BTreeMap::new();
    for double in [true, false] {
        for (at, node) in nodes.iter().enumerate() {
            match &node.kind {
                NodeKind::Choice(choice) if choice.double == double => {
                    axis_of[at] = axes.len();
                    axes.push(Axis::Choice(choice.to_axis(line)));
                    warn_if_empty(choice, node, axes.last(), context);
                }
                NodeKind::Slot(mention) if !double => {
                    axis_of[at] = axes.len();
                    slots.entry(mention.pool).or_default().push(axes.len());
                    axes.push(Axis::Slot {
                        pool: mention.pool,
                        role: roles[at],
                    });
                }
                _ => {}
            }
        }
    }
    for (at, node) in nodes.iter().enumerate() {
        if let NodeKind::BackReference(mention, number) = &node.kind {
            let known = slots.get(&mention.pool).map_or(&[][..], Vec::as_slice);
            axis_of[at] = resolve_back_reference(node, mention, *number, known, context);
        }
    }
    let location = |(node, axis)| PlacedNode { node, axis };
    Expansion {
        nodes: nodes.into_iter().zip(axis_of).map(location).collect(),
        axes,
    }
}

/// Warns about a choice without alternatives.
fn warn_if_empty(
    choice: &ChoiceNode,
    node: &LineNode,
    axis: Option<&Axis>,
    context: &mut LineContext<'_, '_>,
) {
    let is_empty = matches!(axis, Some(Axis::Choice(choice)) if choice.is_empty());
    if !is_empty {
        return;
    }
    let (message, help) = match choice.alternatives {
        ChoiceAlternatives::Range(_) => (
            "the range is empty, so the line has no actions",
            "the smaller end of a range comes first: `<[1..9]>`",
        ),
        ChoiceAlternatives::Items(_) => (
            "the choice has no alternatives, so the line has no actions",
            "write the alternatives between the brackets: `<[1,2,3]>`",
        ),
    };
    let diagnostic = context.warning("empty-choice", &node.span, message);
    diagnostic.label = "nothing to choose".to_owned();
    diagnostic.help = Some(help.to_owned());
}

/// Returns the axis that a back reference means, or `usize::MAX` after reporting that there is
/// none.
fn resolve_back_reference(
    node: &LineNode,
    mention: &PoolMention,
    number: u64,
    known: &[usize],
    context: &mut LineContext<'_, '_>,
) -> usize {
    let found = match number {
        0 => known.last(),
        _ => usize::try_from(number - 1)
            .ok()
            .and_then(|index| known.get(index)),
    };
    if let Some(axis) = found {
        return *axis;
    }
    let name = context.pools.declared[mention.pool.0].name.clone();
    let message = match known.len() {
        0 => format!("the line has no `<{name}>` to which `<{name},{number}>` could refer"),
        1 => format!("the line has only one `<{name}>`, so `<{name},{number}>` does not exist"),
        count => {
            format!("the line has only {count} `<{name}>`, so `<{name},{number}>` does not exist")
        }
    };
    let diagnostic = context.error("bad-back-reference", &node.span, message);
    diagnostic.label = "refers to nothing".to_owned();
    diagnostic.help = Some(match known.len() {
        0 => format!("write `<{name}>` where the slot is to be chosen"),
        1 => format!("write `<{name},1>` for the slot of that one"),
        count => format!(
            "the numbers count the `<{name}>` from left to right: `<{name},1>` to `<{name},{count}>`"
        ),
    });
    usize::MAX
}

/// Returns the role of each slot, by node.
fn slot_roles(nodes: &[LineNode], meaning: PlaceholderMeaning) -> Vec<SlotRole> {
    let mut roles = Vec::with_capacity(nodes.len());
    for part in nodes.split_inclusive(|node| node.is_separator(Separator::Semicolon)) {
        let define = part
            .iter()
            .position(|node| node.is_separator(Separator::Define));
        for (at, node) in part.iter().enumerate() {
            let mention = match &node.kind {
                NodeKind::Slot(mention) => Some(mention),
                _ => None,
            };
            roles.push(match (meaning, mention) {
                (PlaceholderMeaning::Property, Some(mention)) if !mention.twin => SlotRole::Use,
                (PlaceholderMeaning::Action, Some(_))
                    if define.is_some_and(|define| at < define) =>
                {
                    SlotRole::Definition
                }
                (PlaceholderMeaning::Action, Some(mention)) if mention.silent => {
                    SlotRole::SilentUse
                }
                (PlaceholderMeaning::Action, Some(_)) => SlotRole::Use,
                _ => SlotRole::Mention,
            });
        }
    }
    roles
}

/// Builds the catalog of all actions of a harness whose pools and actions are known.
pub(crate) fn catalog(harness: &Harness) -> Result<Catalog, TooManyActions> {
    let pool = |pool: &crate::harness::Pool| SlotPool {
        name: pool.name.clone(),
        size: pool.size,
    };
    let template = |action: &ActionTemplate| Template {
        class: action.class.clone(),
        line: action.line,
        pieces: action.statement.parts.iter().filter_map(to_piece).collect(),
        axes: action.axes.clone(),
    };
    Catalog::new(
        harness.pools.iter().map(pool).collect(),
        harness.actions.iter().map(template).collect(),
    )
}

/// Converts a part of a statement to a piece of a template.
fn to_piece(part: &CodePart) -> Option<TemplatePiece> {
    match part {
        CodePart::Text(text) => Some(TemplatePiece::Text(text.clone())),
        CodePart::Slot { axis, .. } | CodePart::Choice { axis, .. } if *axis == usize::MAX => None,
        CodePart::Slot {
            axis, twin: true, ..
        } => Some(TemplatePiece::Twin(*axis)),
        CodePart::Slot { axis, .. } | CodePart::Choice { axis, .. } => {
            Some(TemplatePiece::Hole(*axis))
        }
        CodePart::Pre(_) => None,
    }
}
