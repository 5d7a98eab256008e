//! Where in its layer each vertex is, and where the layers are.

use super::layered::{Kind, Layered};
use super::relax::{relax, straighten};
use super::settle::settle;

/// The least distance between two vertices that stand side by side.
fn distance(left: Kind, right: Kind) -> f64 {
    match (left, right) {
        (Kind::State, Kind::State) => 26.0,
        (Kind::Bend, Kind::Bend) => 14.0,
        (Kind::Label, Kind::Label) => 12.0,
        (Kind::State, _) | (_, Kind::State) => 18.0,
        _ => 12.0,
    }
}

/// The least distance between the middles of two vertices, the first to the left of the second.
pub(super) fn apart(layered: &Layered, left: usize, right: usize) -> f64 {
    let (left, right) = (&layered.vertices[left], &layered.vertices[right]);
    left.right + distance(left.kind, right.kind) + right.left
}

/// The horizontal place of each vertex.
pub(super) fn across(layered: &Layered) -> Vec<f64> {
    let mut x = packed(layered);
    relax(layered, &mut x);
    // What has moved away makes room for others to be straight.
    for _ in 0..4 {
        straighten(layered, &mut x);
        settle(layered, &mut x);
    }
    x
}

/// Every layer as narrow as it can be, one below the middle of the other.
fn packed(layered: &Layered) -> Vec<f64> {
    let mut x = vec![0.0; layered.vertices.len()];
    for layer in &layered.layers {
        let mut place = 0.0;
        for (number, &vertex) in layer.iter().enumerate() {
            if let Some(left) = number.checked_sub(1) {
                place += apart(layered, layer[left], vertex);
            }
            x[vertex] = place;
        }
        for &vertex in layer {
            x[vertex] -= place / 2.0;
        }
    }
    x
}

/// Where a layer is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) centre: f64,
    pub(super) half_height: f64,
}

/// The vertical place of each layer. Edges that lead far to the side get more room to do so.
pub(super) fn rows(layered: &Layered, x: &[f64]) -> Vec<Row> {
    const LEAST: f64 = 20.0;
    const LEAST_BETWEEN_LABELS: f64 = 12.0;
    const MOST: f64 = 64.0;
    let has_states = |layer: &Vec<usize>| {
        (layer.iter()).any(|&vertex| layered.vertices[vertex].kind == Kind::State)
    };
    let mut is_after_labels = false;
    let mut rows: Vec<Row> = Vec::with_capacity(layered.layers.len());
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
            LEAST_BETWEEN_LABELS
        } else {
            LEAST
        };
        is_after_labels = is_labels;
        let gap = if rows.is_empty() {
            0.0
        } else {
            (least + (furthest - 60.0).max(0.0) * 0.12).min(MOST)
        };
        let centre = bottom + gap + half_height;
        bottom = centre + half_height;
        rows.push(Row {
            centre,
            half_height,
        });
    }
    rows
}
