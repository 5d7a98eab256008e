//! Nodes to templates: which axes a line has, and which of its choices must be split into lines of their own.
//!
//! A choice between texts is an axis. One whose alternatives contain placeholders is *structural*: each alternative has its
//! own axes, so the line becomes several. The order of all concrete actions is that of the original: `<,[…],>` choices vary
//! slowest, then slots and other choices as they are read.

use std::collections::BTreeMap;
use std::ops::Range;

use testwright_core::{Axis, Catalog, Piece, Pool, PoolId, Role, Template, TooManyActions};

use crate::choices::{Alternatives, ChoiceNode};
use crate::diagnostics::Diagnostic;
use crate::harness::{Action, Harness, Part};
use crate::keywords::Declaration;
use crate::nodes::{Kind, Mark, Mention, Node};
use crate::pools::Pools;

/// What lines are read with.
pub(crate) struct Context<'a, 'd> {
    pub(crate) declaration: &'a Declaration<'a>,
    pub(crate) pools: &'a Pools,
    pub(crate) diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a> Context<'a, '_> {
    pub(crate) fn line(&self) -> &'a str {
        &self.declaration.line.text
    }

    pub(crate) fn error(
        &mut self,
        name: &'static str,
        range: &Range<usize>,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let place = self.declaration.place(range);
        self.diagnostics
            .push(Diagnostic::error(name, place, message));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

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

/// What placeholders of a line mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Definitions and uses.
    Action,
    /// Slots that must hold a value.
    Property,
    /// Slots, whatever they hold.
    Plain,
}

/// A node and the axis it stands for.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) node: Node,
    /// Meaningless for nodes that are no holes.
    pub(crate) axis: usize,
}

/// A line, or one structural alternative of it.
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    pub(crate) nodes: Vec<Placed>,
    pub(crate) axes: Vec<Axis>,
}

/// More structural alternatives than this on one line are refused.
const MOST_ALTERNATIVES: usize = 10_000;

/// Each alternative carries the whole line, so long lines may have fewer, by this number of bytes.
const MOST_TEXT: usize = 50_000_000;

/// Expands a line.
pub(crate) fn expand(
    nodes: Vec<Node>,
    meaning: Meaning,
    context: &mut Context<'_, '_>,
) -> Vec<Expansion> {
    let Some(variants) = split(nodes, meaning, context.line()) else {
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
        .map(|nodes| number(nodes, meaning, context))
        .collect()
}

/// Splits at structural choices until none is left.
fn split(nodes: Vec<Node>, meaning: Meaning, line: &str) -> Option<Vec<Vec<Node>>> {
    let mut pending = vec![nodes];
    let mut done = Vec::new();
    while let Some(nodes) = pending.pop() {
        let Some(at) = next_to_split(&nodes, meaning) else {
            done.push(nodes);
            continue;
        };
        let alternatives = alternatives(&nodes[at], line)?;
        let count = done.len() + pending.len() + alternatives.len();
        if count > MOST_ALTERNATIVES || count.saturating_mul(line.len()) > MOST_TEXT {
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

fn as_choice(node: &Node) -> Option<&ChoiceNode> {
    match &node.kind {
        Kind::Choice(choice) => Some(choice),
        _ => None,
    }
}

/// Choices with double commas come first, from left to right; those left of a structural one must be split with it.
fn next_to_split(nodes: &[Node], meaning: Meaning) -> Option<usize> {
    let has_message = match meaning {
        Meaning::Action => nodes.iter().position(|node| node.is_mark(Mark::Post)),
        Meaning::Property => Some(0),
        Meaning::Plain => None,
    };
    let has_message = has_message.unwrap_or(nodes.len())..nodes.len();
    let is_structural = |at: usize, double: bool| {
        as_choice(&nodes[at]).is_some_and(|choice| {
            choice.double == double && structural(choice, has_message.contains(&at))
        })
    };
    if (0..nodes.len()).any(|at| is_structural(at, true)) {
        return nodes
            .iter()
            .position(|node| as_choice(node).is_some_and(|choice| choice.double));
    }
    (0..nodes.len()).find(|at| is_structural(*at, false))
}

/// A comma in the alternative of a condition may separate its message.
fn structural(choice: &ChoiceNode, has_message: bool) -> bool {
    match &choice.alternatives {
        Alternatives::Range(_) => false,
        Alternatives::Items(items) => items
            .iter()
            .any(|item| !item.is_text() || (has_message && item.nodes.iter().any(Node::is_comma))),
    }
}

fn alternatives(node: &Node, line: &str) -> Option<Vec<Vec<Node>>> {
    let choice = as_choice(node)?;
    match &choice.alternatives {
        Alternatives::Items(items) => Some(items.iter().map(|item| item.nodes.clone()).collect()),
        Alternatives::Range(_) => {
            let axis = choice.to_axis(line);
            if axis.len() > MOST_ALTERNATIVES as u64 {
                return None;
            }
            let written = |alternative| {
                vec![Node {
                    kind: Kind::Written(axis.text(alternative).into_owned()),
                    span: node.span.clone(),
                }]
            };
            Some((0..axis.len()).map(written).collect())
        }
    }
}

/// Gives each hole its axis.
fn number(nodes: Vec<Node>, meaning: Meaning, context: &mut Context<'_, '_>) -> Expansion {
    let line = context.line();
    let roles = roles(&nodes, meaning);
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
                Kind::Choice(choice) if choice.double == double => {
                    axis_of[at] = axes.len();
                    axes.push(Axis::Choice(choice.to_axis(line)));
                    warn_if_empty(choice, node, axes.last(), context);
                }
                Kind::Slot(mention) if !double => {
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
        if let Kind::Back(mention, number) = &node.kind {
            let known = slots.get(&mention.pool).map_or(&[][..], Vec::as_slice);
            axis_of[at] = back_reference(node, mention, *number, known, context);
        }
    }
    let place = |(node, axis)| Placed { node, axis };
    Expansion {
        nodes: nodes.into_iter().zip(axis_of).map(place).collect(),
        axes,
    }
}

fn warn_if_empty(
    choice: &ChoiceNode,
    node: &Node,
    axis: Option<&Axis>,
    context: &mut Context<'_, '_>,
) {
    let is_empty = matches!(axis, Some(Axis::Choice(choice)) if choice.is_empty());
    if !is_empty {
        return;
    }
    let (message, help) = match choice.alternatives {
        Alternatives::Range(_) => (
            "the range is empty, so the line has no actions",
            "the smaller end of a range comes first: `<[1..9]>`",
        ),
        Alternatives::Items(_) => (
            "the choice has no alternatives, so the line has no actions",
            "write the alternatives between the brackets: `<[1,2,3]>`",
        ),
    };
    let diagnostic = context.warning("empty-choice", &node.span, message);
    diagnostic.label = "nothing to choose".to_owned();
    diagnostic.help = Some(help.to_owned());
}

/// The axis that a back reference means.
fn back_reference(
    node: &Node,
    mention: &Mention,
    number: u64,
    known: &[usize],
    context: &mut Context<'_, '_>,
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

/// The role of each slot, by its place among the nodes.
fn roles(nodes: &[Node], meaning: Meaning) -> Vec<Role> {
    let mut roles = Vec::with_capacity(nodes.len());
    for part in nodes.split_inclusive(|node| node.is_mark(Mark::Semicolon)) {
        let define = part.iter().position(|node| node.is_mark(Mark::Define));
        for (at, node) in part.iter().enumerate() {
            let mention = match &node.kind {
                Kind::Slot(mention) => Some(mention),
                _ => None,
            };
            roles.push(match (meaning, mention) {
                (Meaning::Property, Some(mention)) if !mention.twin => Role::Use,
                (Meaning::Action, Some(_)) if define.is_some_and(|define| at < define) => {
                    Role::Definition
                }
                (Meaning::Action, Some(mention)) if mention.silent => Role::SilentUse,
                (Meaning::Action, Some(_)) => Role::Use,
                _ => Role::Mention,
            });
        }
    }
    roles
}

/// The catalogue of all actions of a harness whose pools and actions are known.
pub(crate) fn catalog(harness: &Harness) -> Result<Catalog, TooManyActions> {
    let pool = |pool: &crate::harness::Pool| Pool {
        name: pool.name.clone(),
        size: pool.size,
    };
    let template = |action: &Action| Template {
        class: action.class.clone(),
        line: action.line,
        pieces: action.statement.parts.iter().filter_map(piece).collect(),
        axes: action.axes.clone(),
    };
    Catalog::new(
        harness.pools.iter().map(pool).collect(),
        harness.actions.iter().map(template).collect(),
    )
}

fn piece(part: &Part) -> Option<Piece> {
    match part {
        Part::Text(text) => Some(Piece::Text(text.clone())),
        Part::Slot { axis, .. } | Part::Choice { axis, .. } if *axis == usize::MAX => None,
        Part::Slot {
            axis, twin: true, ..
        } => Some(Piece::Twin(*axis)),
        Part::Slot { axis, .. } | Part::Choice { axis, .. } => Some(Piece::Hole(*axis)),
        Part::Pre(_) => None,
    }
}
