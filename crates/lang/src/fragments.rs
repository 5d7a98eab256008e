//! Converts nodes to host code with holes.

use std::ops::Range;

use crate::choices::ChoiceNode;
use crate::expand::PlacedNode;
use crate::harness::{CodePart, Fragment};
use crate::host;
use crate::nodes::NodeKind;

/// Returns the nodes without blanks at both ends.
pub(crate) fn trim_nodes(nodes: &[PlacedNode], line: &str) -> Vec<PlacedNode> {
    let mut nodes = nodes.to_vec();
    while let Some(first) = nodes.first_mut() {
        if matches!(first.node.kind, NodeKind::Text) {
            let text = &line[first.node.span.clone()];
            first.node.span.start += text.len() - text.trim_start().len();
            if first.node.span.is_empty() {
                nodes.remove(0);
                continue;
            }
        }
        break;
    }
    while let Some(last) = nodes.last_mut() {
        if matches!(last.node.kind, NodeKind::Text) {
            let text = &line[last.node.span.clone()];
            last.node.span.end -= text.len() - text.trim_end().len();
            if last.node.span.is_empty() {
                nodes.pop();
                continue;
            }
        }
        break;
    }
    nodes
}

/// Returns the range from the start of the first node to the end of the last.
pub(crate) fn node_span(nodes: &[PlacedNode]) -> Option<Range<usize>> {
    Some(nodes.first()?.node.span.start..nodes.last()?.node.span.end)
}

/// Builds the code. The expression of `pre<(e)>` is added to `pre_values`, equal ones once.
pub(crate) fn build_fragment(
    nodes: &[PlacedNode],
    line: &str,
    pre_values: &mut Vec<Fragment>,
) -> Fragment {
    let mut builder = FragmentBuilder::default();
    let mut at = 0;
    while let Some(placed) = nodes.get(at) {
        if matches!(placed.node.kind, NodeKind::PreOpen) {
            let length = nodes[at..]
                .iter()
                .position(|inner| matches!(inner.node.kind, NodeKind::PreClose))
                .unwrap_or(nodes.len() - at);
            let inner = trim_nodes(&nodes[at + 1..at + length], line);
            let value = build_fragment(&inner, line, &mut Vec::new());
            let known = pre_values.iter().position(|known| *known == value);
            let index = known.unwrap_or_else(|| {
                pre_values.push(value);
                pre_values.len() - 1
            });
            builder.parts.push(CodePart::Pre(index));
            at += length + 1;
            continue;
        }
        builder.push_node(nodes, at, line);
        at += 1;
    }
    Fragment {
        parts: builder.parts,
    }
}

/// Collects the parts of a fragment.
#[derive(Default)]
struct FragmentBuilder {
    parts: Vec<CodePart>,
}

impl FragmentBuilder {
    /// Appends host text.
    fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(CodePart::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.parts.push(CodePart::Text(text.to_owned())),
        }
    }

    /// Appends a node.
    fn push_node(&mut self, nodes: &[PlacedNode], at: usize, line: &str) {
        let PlacedNode { node, axis } = &nodes[at];
        match &node.kind {
            NodeKind::Text => self.push_text(&line[node.span.clone()]),
            NodeKind::HostText(text) => self.push_text(text),
            NodeKind::Separator(mark) => self.push_text(mark.host_text()),
            NodeKind::Slot(mention) | NodeKind::BackReference(mention, _) => {
                self.parts.push(CodePart::Slot {
                    axis: *axis,
                    twin: mention.twin,
                    in_string: mention.in_string,
                })
            }
            NodeKind::Choice(choice) => self.parts.push(CodePart::Choice {
                axis: *axis,
                is_operand: is_operand(nodes, at, choice, line),
            }),
            NodeKind::PreOpen | NodeKind::PreClose => {}
        }
    }
}

/// Returns true if the choice with this index is an operand of its own whose alternatives are
/// literals.
pub(crate) fn is_operand(nodes: &[PlacedNode], at: usize, choice: &ChoiceNode, line: &str) -> bool {
    if choice.in_string || !stands_alone(nodes, at, line) {
        return false;
    }
    let Some(literals) = choice.literal_info(line) else {
        return false;
    };
    let behind = text_at(nodes.get(at + 1), line).map(str::trim_start);
    !(literals.signed && behind.is_some_and(|behind| behind.starts_with("**")))
}

/// Returns the text of a node, if it is host text.
fn text_at<'a>(placed: Option<&'a PlacedNode>, line: &'a str) -> Option<&'a str> {
    let node = &placed?.node;
    match &node.kind {
        NodeKind::Text => Some(&line[node.span.clone()]),
        NodeKind::HostText(text) => Some(text),
        NodeKind::Separator(mark) => Some(mark.host_text()),
        NodeKind::PreOpen => Some("("),
        NodeKind::PreClose => Some(")"),
        NodeKind::Slot(_) | NodeKind::BackReference(..) | NodeKind::Choice(_) => None,
    }
}

/// Returns true if the text around a node does not become part of it.
fn stands_alone(nodes: &[PlacedNode], at: usize, line: &str) -> bool {
    may_precede_operand(&nodes[..at], line) && may_follow_operand(&nodes[at + 1..], line)
}

/// Returns true for a quotation mark.
fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '\'')
}

/// Returns true if a letter directly beside a literal would become a part of it.
fn joins_literal(letter: char) -> bool {
    host::continues_name(letter) || is_quote(letter) || letter == '.'
}

/// Returns true if an operand may stand after these nodes. After another operand, the text of a
/// choice may be an operator: `x <[-1,+1]>` subtracts or adds.
fn may_precede_operand(before: &[PlacedNode], line: &str) -> bool {
    let Some(last) = before.last() else {
        return true;
    };
    let Some(text) = text_at(Some(last), line) else {
        return false;
    };
    let code = text.trim_end();
    let Some(letter) = code.chars().next_back() else {
        return may_precede_operand(&before[..before.len() - 1], line);
    };
    if text.ends_with(joins_literal) || is_quote(letter) || matches!(letter, '.' | ')' | ']' | '}')
    {
        return false;
    }
    let word_start = code
        .rfind(|letter| !host::continues_name(letter))
        .map_or(0, |at| {
            at + code[at..].chars().next().map_or(1, char::len_utf8)
        });
    let word = &code[word_start..];
    word.is_empty() || (host::is_keyword(word) && !host::is_constant(word))
}

/// Returns true if these nodes may stand after an operand without becoming a part of it.
fn may_follow_operand(behind: &[PlacedNode], line: &str) -> bool {
    let Some(next) = behind.first() else {
        return true;
    };
    let Some(text) = text_at(Some(next), line) else {
        return false;
    };
    let code = text.trim_start();
    let is_target = code.starts_with('=') && !code.starts_with("==");
    let extends = |letter: char| is_quote(letter) || matches!(letter, '(' | '[' | '.');
    !text.starts_with(joins_literal) && !code.starts_with(extends) && !is_target
}
