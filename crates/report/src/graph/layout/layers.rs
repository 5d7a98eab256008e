//! Assigns states to layers.

use super::acyclic::{self, ReversedEdges};
use super::{LayoutEdge, LayoutNode};

/// Cost of reversing an edge, in layers passed.
const REVERSAL_COST: usize = 2;
/// Room that a state takes in a layer besides its own width.
const ROOM: f64 = 24.0;

/// Chooses the better of two ways to break cycles: the one with shorter edges. Returns the reversed
/// edges, and the layer of each state.
pub(super) fn assign_layers(
    nodes: &[LayoutNode],
    edges: &[LayoutEdge],
    starts: &[usize],
) -> (ReversedEdges, Vec<usize>) {
    let pairs: Vec<(usize, usize)> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let mut widths: Vec<f64> = (nodes.iter())
        .map(|node| node.left + node.right + ROOM)
        .collect();
    for edge in edges {
        if let Some((width, _)) = edge.label {
            widths[edge.to] = widths[edge.to].max(width + ROOM);
        }
    }
    let [deep, broad] = acyclic::break_cycles(nodes.len(), &pairs, starts).map(|reversed_edges| {
        let down: Vec<(usize, usize)> = (pairs.iter().zip(&reversed_edges))
            .map(|(&(from, to), reversed)| if *reversed { (to, from) } else { (from, to) })
            .collect();
        let layer_of = layers(&widths, &down, starts);
        let length: usize = (down.iter())
            .map(|&(upper, lower)| layer_of[lower] - layer_of[upper])
            .sum();
        let reversed = reversed_edges.iter().filter(|reversed| **reversed).count();
        (length + REVERSAL_COST * reversed, reversed_edges, layer_of)
    });
    let (_, reversed_edges, layer_of) = if broad.0 < deep.0 { broad } else { deep };
    (reversed_edges, layer_of)
}

/// Assigns each state to a layer so that all edges lead down.
fn layers(widths: &[f64], edges: &[(usize, usize)], starts: &[usize]) -> Vec<usize> {
    let count = widths.len();
    let mut above = vec![Vec::new(); count];
    let mut below = vec![Vec::new(); count];
    for &(upper, lower) in edges {
        above[lower].push(upper);
        below[upper].push(lower);
    }
    let order = topological(&above, &below);
    let mut depth = vec![0; count];
    for &node in &order {
        depth[node] = above[node]
            .iter()
            .map(|&other| depth[other] + 1)
            .max()
            .unwrap_or(0);
    }
    let mut height = vec![0; count];
    for &node in order.iter().rev() {
        height[node] = below[node]
            .iter()
            .map(|&other| height[other] + 1)
            .max()
            .unwrap_or(0);
    }
    let mut layer_of = fill_layers(widths, &above, &depth, &height);
    tighten(&mut layer_of, &order, &above, &below, starts);
    close_gaps(&mut layer_of);
    layer_of
}

/// Sorts the states so that each comes after those above it.
fn topological(above: &[Vec<usize>], below: &[Vec<usize>]) -> Vec<usize> {
    let mut waiting: Vec<usize> = above.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..above.len())
        .filter(|&node| waiting[node] == 0)
        .collect();
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        for &other in &below[node] {
            waiting[other] -= 1;
            if waiting[other] == 0 {
                order.push(other);
            }
        }
    }
    order
}

/// Returns the width that the drawing should have: somewhat wider than high, and not wider than a
/// screen if it is small.
pub(super) fn preferred_width(widths: impl Iterator<Item = f64>) -> f64 {
    (2.4 * (widths.sum::<f64>() * 130.0).sqrt()).max(1500.0)
}

/// Puts each state as high as possible, but makes no layer much wider than the drawing should be.
/// States on the path to most others come first. States that lead nowhere are spread over as many
/// layers as they need, in turn, so that the edges to the lower ones pass between the upper ones.
fn fill_layers(
    widths: &[f64],
    above: &[Vec<usize>],
    depth: &[usize],
    height: &[usize],
) -> Vec<usize> {
    let max_width = preferred_width(widths.iter().copied());
    let mut order: Vec<usize> = (0..widths.len()).collect();
    order.sort_by_key(|&node| (depth[node], std::cmp::Reverse(height[node])));
    let mut layer_of = vec![0; widths.len()];
    let mut used: Vec<f64> = Vec::new();
    let room = |used: &[f64], layer: usize| (max_width - used.get(layer).unwrap_or(&0.0)).max(0.0);
    for group in order.chunk_by(|&one, &other| depth[one] == depth[other]) {
        let last = group.partition_point(|&node| height[node] > 0);
        let mut needed: f64 = group[last..].iter().map(|&node| widths[node]).sum();
        // Number of layers that the states without successors are spread over.
        let mut turns = 0;
        for (index, &node) in group.iter().enumerate() {
            let highest = (above[node].iter())
                .map(|&other| layer_of[other] + 1)
                .max()
                .unwrap_or(0);
            let mut layer = highest;
            if index < last {
                while used.get(layer).is_some_and(|used| *used > 0.0)
                    && room(&used, layer) < widths[node]
                {
                    layer += 1;
                }
            } else {
                while turns == 0 || needed > 0.0 {
                    needed -= room(&used, highest + turns);
                    turns += 1;
                }
                layer += (index - last) % turns;
            }
            if used.len() <= layer {
                used.resize(layer + 1, 0.0);
            }
            used[layer] += widths[node];
            layer_of[node] = layer;
        }
    }
    layer_of
}

/// Moves states down towards their successors, if that makes edges shorter. Start states stay on
/// top.
fn tighten(
    layer_of: &mut [usize],
    order: &[usize],
    above: &[Vec<usize>],
    below: &[Vec<usize>],
    starts: &[usize],
) {
    let mut is_start = vec![false; layer_of.len()];
    for &start in starts {
        is_start[start] = true;
    }
    for _ in 0..4 {
        let mut is_changed = false;
        for &node in order.iter().rev() {
            let lowest = below[node].iter().map(|&other| layer_of[other]).min();
            if let Some(lowest) = lowest
                && above[node].len() < below[node].len()
                && !is_start[node]
                && lowest - 1 != layer_of[node]
            {
                layer_of[node] = lowest - 1;
                is_changed = true;
            }
        }
        for &node in order {
            let highest = above[node].iter().map(|&other| layer_of[other]).max();
            if let Some(highest) = highest
                && above[node].len() > below[node].len()
                && !below[node].is_empty()
                && highest + 1 != layer_of[node]
            {
                layer_of[node] = highest + 1;
                is_changed = true;
            }
        }
        if !is_changed {
            break;
        }
    }
}

/// Removes layers that have become empty.
fn close_gaps(layer_of: &mut [usize]) {
    let mut is_used = vec![false; layer_of.iter().max().map_or(0, |last| last + 1)];
    for &layer in layer_of.iter() {
        is_used[layer] = true;
    }
    let mut count = 0;
    let renumbered: Vec<usize> = (is_used.iter())
        .map(|used| {
            count += usize::from(*used);
            count.saturating_sub(1)
        })
        .collect();
    for layer in layer_of {
        *layer = renumbered[*layer];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: usize, edges: &[(usize, usize)], expected: &[usize]) {
        assert_eq!(layers(&vec![60.0; count], edges, &[0]), expected);
    }

    #[test]
    fn edges_lead_down() {
        check(4, &[(0, 1), (1, 2), (0, 2), (2, 3)], &[0, 1, 2, 3]);
        check(1, &[], &[0]);
    }

    #[test]
    fn edges_are_short() {
        // 3 leads to 2 twice as directly as anything leads to 3.
        check(5, &[(0, 1), (1, 2), (3, 2), (2, 4)], &[0, 1, 2, 1, 3]);
    }

    #[test]
    fn a_layer_is_not_too_wide() {
        let edges: Vec<(usize, usize)> = (1..200).map(|leaf| (0, leaf)).collect();
        let layer_of = layers(&[60.0; 200], &edges, &[0]);
        let layers = layer_of.iter().max().unwrap() + 1;
        assert!((4..12).contains(&layers), "{layers}");
        assert_ne!(layer_of[1], layer_of[2]);
        assert!(layer_of[1..].iter().all(|layer| *layer > 0));
    }
}
