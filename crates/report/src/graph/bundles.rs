//! Bundles: transitions between the same two states, drawn as one edge with all their labels.

use std::collections::BTreeMap;

use super::escape::escape_line;
use super::text_width::{shorten, text_width};
use super::{Labels, StateGraph};

/// Font size of labels.
pub(super) const FONT_SIZE: f64 = 11.0;
/// Distance from one line of a label to the next.
pub(super) const LINE_HEIGHT: f64 = 14.0;
/// Distance between the text and the border of its box.
const PADDING: f64 = 3.0;
/// Maximum width of a line. Longer lines lose their middle.
const MAX_WIDTH: f64 = 190.0;
/// Maximum number of lines of a label. The rest is only counted.
const MAX_LINES: usize = 4;

/// All transitions from one state to another.
pub(super) struct Bundle {
    /// Index of the state before.
    pub(super) from: usize,
    /// Index of the state after.
    pub(super) to: usize,
    /// Indices of the transitions.
    pub(super) transitions: Vec<usize>,
    /// Lines of the label.
    pub(super) lines: Vec<String>,
}

impl Bundle {
    /// Returns the width and height of the label, if there is one.
    pub(super) fn label_size(&self) -> Option<(f64, f64)> {
        let width = (self.lines.iter())
            .map(|line| text_width(line, FONT_SIZE))
            .reduce(f64::max)?;
        let height = self.lines.len() as f64 * LINE_HEIGHT;
        Some((width + 2.0 * PADDING, height + PADDING))
    }
}

/// Returns the bundles of a graph, in the order of their first transitions.
pub(super) fn bundles(graph: &StateGraph, labels: Labels) -> Vec<Bundle> {
    let mut bundles: Vec<Bundle> = Vec::new();
    let mut indices = BTreeMap::new();
    for (number, transition) in graph.valid_transitions() {
        let (from, to) = (transition.from, transition.to);
        let index = *indices.entry((from, to)).or_insert(bundles.len());
        if index == bundles.len() {
            bundles.push(Bundle {
                from,
                to,
                transitions: Vec::new(),
                lines: Vec::new(),
            });
        }
        bundles[index].transitions.push(number);
    }
    for bundle in &mut bundles {
        let texts = (bundle.transitions.iter())
            .map(|&number| labels.label_text(&graph.transitions[number]));
        bundle.lines = label_lines(texts);
    }
    bundles
}

/// Returns the lines of a label: each text once, with its count, and the number of texts left out.
fn label_lines<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut indices = BTreeMap::new();
    for text in texts.filter(|text| !text.is_empty()) {
        let index = *indices.entry(text).or_insert(counts.len());
        if index == counts.len() {
            counts.push((text, 0));
        }
        counts[index].1 += 1;
    }
    let shown = match counts.len() {
        ..=MAX_LINES => counts.len(),
        _ => MAX_LINES - 1,
    };
    let mut lines: Vec<String> = counts[..shown]
        .iter()
        .map(|(text, count)| {
            let times = match count {
                1 => String::new(),
                _ => format!(" × {count}"),
            };
            let room = MAX_WIDTH - text_width(&times, FONT_SIZE);
            shorten(&escape_line(text), FONT_SIZE, room) + &times
        })
        .collect();
    let hidden: usize = counts[shown..].iter().map(|(_, count)| count).sum();
    if hidden > 0 {
        lines.push(format!("… {hidden} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::toys;

    #[test]
    fn parallel_transitions_are_one_bundle() {
        let graph = toys::parallel(30);
        let bundles = bundles(&graph, Labels::Action);
        let sizes: Vec<usize> = bundles
            .iter()
            .map(|bundle| bundle.transitions.len())
            .collect();
        assert_eq!(sizes, [30, 1]);
        assert_eq!(
            bundles[0].lines,
            ["Put(0)", "Put(1)", "Put(2)", "… 27 more"]
        );
    }

    #[test]
    fn a_label_says_each_thing_once() {
        assert_eq!(
            label_lines(["a", "b", "a", "", "a"].into_iter()),
            ["a × 3", "b"]
        );
        assert_eq!(label_lines(["a", "b", "c", "d"].into_iter()).len(), 4);
        assert_eq!(label_lines(["", ""].into_iter()), Vec::<String>::new());
        let name = bundles(&toys::parallel(30), Labels::Name);
        assert_eq!(name[0].lines, ["Put × 30"]);
        assert!(
            bundles(&toys::parallel(30), Labels::None)[0]
                .label_size()
                .is_none()
        );
    }
}
