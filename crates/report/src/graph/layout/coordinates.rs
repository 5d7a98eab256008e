//! Horizontal positions of vertices in their layers, and vertical positions of layers.

use super::layered::{LayeredGraph, VertexKind};
use super::relax::{relax, straighten};
use super::settle::align_blocks;

/// Returns the minimum gap between two vertices side by side.
fn min_gap(left: VertexKind, right: VertexKind) -> f64 {
    match (left, right) {
        (VertexKind::State, VertexKind::State) => 26.0,
        (VertexKind::Bend, VertexKind::Bend) => 14.0,
        (VertexKind::Label, VertexKind::Label) => 12.0,
        (VertexKind::State, _) | (_, VertexKind::State) => 18.0,
        _ => 12.0,
    }
}

/// Returns the minimum distance between the centers of two vertices, the first to the left of the
/// second.
pub(super) fn min_distance(layered: &LayeredGraph, left: usize, right: usize) -> f64 {
    let (left, right) = (&layered.vertices[left], &layered.vertices[right]);
    left.right + min_gap(left.kind, right.kind) + right.left
}

/// Computes the horizontal position of each vertex.
pub(super) fn x_coordinates(layered: &LayeredGraph) -> Vec<f64> {
    let mut x = pack_layers(layered);
    relax(layered, &mut x);
    // Vertices that moved away make room for others to become straight.
    for _ in 0..4 {
        straighten(layered, &mut x);
        align_blocks(layered, &mut x);
    }
    x
}

/// Packs every layer as tightly as possible, centered below the one above.
fn pack_layers(layered: &LayeredGraph) -> Vec<f64> {
    let mut x = vec![0.0; layered.vertices.len()];
    for layer in &layered.layers {
        let mut position = 0.0;
        for (number, &vertex) in layer.iter().enumerate() {
            if let Some(left) = number.checked_sub(1) {
                position += min_distance(layered, layer[left], vertex);
            }
            x[vertex] = position;
        }
        for &vertex in layer {
            x[vertex] -= position / 2.0;
        }
    }
    x
}

/// Vertical position of a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerRow {
    /// Middle of the layer.
    pub(super) centre: f64,
    /// Half the height of its highest vertex.
    pub(super) half_height: f64,
}

/// Computes the vertical position of each layer. Edges that lead far to the side get more room.
pub(super) fn rows(layered: &LayeredGraph, x: &[f64]) -> Vec<LayerRow> {
    const MIN_GAP: f64 = 20.0;
    const MIN_LABEL_GAP: f64 = 12.0;
    const MAX_GAP: f64 = 64.0;
    let has_states = |layer: &Vec<usize>| {
        (layer.iter()).any(|&vertex| layered.vertices[vertex].kind == VertexKind::State)
    };
    let mut is_after_labels = false;
    let mut rows: Vec<LayerRow> = Vec::with_capacity(layered.layers.len());
    let mut bottom = 0.0;
    for layer in &layered.layers {
        let half_height = (layer.iter())
            .map(|&vertex| layered.vertices[vertex].half_height)
            .fold(0.0, f64::max);
        let furthest = (layer.iter())
            .flat_map(|&vertex| {
                (layered.above[vertex].iter()).map(move |&other| (x[vertex] - x[other]).abs())
            })
            .fold(0.0, f64::max);
        let is_labels = !has_states(layer);
        let least = if is_labels && is_after_labels {
            MIN_LABEL_GAP
        } else {
            MIN_GAP
        };
        is_after_labels = is_labels;
        let gap = if rows.is_empty() {
            0.0
        } else {
            (least + (furthest - 60.0).max(0.0) * 0.12).min(MAX_GAP)
        };
        let centre = bottom + gap + half_height;
        bottom = centre + half_height;
        rows.push(LayerRow {
            centre,
            half_height,
        });
    }
    rows
}
