//! Where in its layer each vertex is, and where the layers are.
//!
//! Across, this follows Brandes and Köpf: vertices are aligned with the median of their neighbours, long edges before
//! others, four times (from above and from below, leaning to the left and to the right), and the four drawings are
//! averaged. An edge that passes several layers is straight in each of them and therefore in the average. This
//! is a good order of columns, but wide; then everything moves closer to its neighbours ([`relax`], [`settle`]).

use std::collections::HashSet;

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
    let conflicts = conflicts(layered);
    let mut drawings: Vec<Vec<f64>> = Vec::new();
    for is_upwards in [false, true] {
        for is_mirrored in [false, true] {
            let view = View::new(layered, is_upwards, is_mirrored);
            let mut x = view.compact(&view.align(&conflicts));
            if is_mirrored {
                x.iter_mut().for_each(|x| *x = -*x);
            }
            drawings.push(x);
        }
    }
    let mut x = average(layered, drawings);
    relax(layered, &mut x);
    // What has moved away makes room for others to be straight.
    for _ in 0..4 {
        straighten(layered, &mut x);
        settle(layered, &mut x);
    }
    x
}

/// Pieces that cross a piece in the middle of a long edge. The long edge is the one that is kept straight.
fn conflicts(layered: &Layered) -> HashSet<(usize, usize)> {
    let positions = layered.positions();
    let is_bend = |vertex: usize| layered.vertices[vertex].kind != Kind::State;
    let mut conflicts = HashSet::new();
    for pair in layered.layers.windows(2) {
        // From one inner piece to the next, everything that leaves the room between them crosses one of them.
        let (mut from, mut scanned) = (0, 0);
        for (place, &vertex) in pair[1].iter().enumerate() {
            let inner =
                (layered.above[vertex].first()).filter(|&&other| is_bend(vertex) && is_bend(other));
            if inner.is_none() && place + 1 < pair[1].len() {
                continue;
            }
            let to = inner.map_or(pair[0].len(), |&other| positions[other]);
            for &other in &pair[1][scanned..=place] {
                for &above in &layered.above[other] {
                    let is_outside = positions[above] < from || positions[above] > to;
                    if is_outside && !(is_bend(other) && is_bend(above)) {
                        conflicts.insert((above, other));
                    }
                }
            }
            (from, scanned) = (to, place + 1);
        }
    }
    conflicts
}

/// The layers as seen in one of four ways, so that there is one algorithm for all.
struct View<'a> {
    layered: &'a Layered,
    layers: Vec<Vec<usize>>,
    positions: Vec<usize>,
    is_upwards: bool,
    is_mirrored: bool,
}

impl<'a> View<'a> {
    fn new(layered: &'a Layered, is_upwards: bool, is_mirrored: bool) -> Self {
        let mut layers = layered.layers.clone();
        if is_upwards {
            layers.reverse();
        }
        if is_mirrored {
            layers.iter_mut().for_each(|layer| layer.reverse());
        }
        let mut positions = vec![0; layered.vertices.len()];
        for layer in &layers {
            for (position, &vertex) in layer.iter().enumerate() {
                positions[vertex] = position;
            }
        }
        View {
            layered,
            layers,
            positions,
            is_upwards,
            is_mirrored,
        }
    }

    /// For each vertex, the first vertex of the column that it is in.
    fn align(&self, conflicts: &HashSet<(usize, usize)>) -> Vec<usize> {
        let neighbours = match self.is_upwards {
            true => &self.layered.below,
            false => &self.layered.above,
        };
        let count = self.positions.len();
        let mut column: Vec<usize> = (0..count).collect();
        for layer in &self.layers {
            let mut next_free = 0;
            for &vertex in layer {
                let mut candidates = neighbours[vertex].clone();
                candidates.sort_by_key(|&other| self.positions[other]);
                let Some(last) = candidates.len().checked_sub(1) else {
                    continue;
                };
                for middle in [last / 2, last.div_ceil(2)] {
                    let other = candidates[middle];
                    let pair = match self.is_upwards {
                        true => (vertex, other),
                        false => (other, vertex),
                    };
                    if self.positions[other] >= next_free && !conflicts.contains(&pair) {
                        column[vertex] = column[other];
                        next_free = self.positions[other] + 1;
                        break;
                    }
                }
            }
        }
        column
    }

    /// A place for each vertex, with columns as close together as they can be.
    fn compact(&self, column: &[usize]) -> Vec<f64> {
        let count = column.len();
        let mut right_of: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
        let mut waiting = vec![0_usize; count];
        for pair in self.layers.iter().flat_map(|layer| layer.windows(2)) {
            let distance = self.apart(pair[0], pair[1]);
            right_of[column[pair[0]]].push((column[pair[1]], distance));
            waiting[column[pair[1]]] += 1;
        }
        let mut order: Vec<usize> = (0..count)
            .filter(|&vertex| column[vertex] == vertex && waiting[vertex] == 0)
            .collect();
        let mut place = vec![0.0_f64; count];
        let mut next = 0;
        while let Some(&left) = order.get(next) {
            next += 1;
            for &(right, distance) in &right_of[left] {
                place[right] = place[right].max(place[left] + distance);
                waiting[right] -= 1;
                if waiting[right] == 0 {
                    order.push(right);
                }
            }
        }
        // Columns are as far to the left as they can be. Those with room on their right come closer to what is there.
        for &left in order.iter().rev() {
            let room = (right_of[left].iter())
                .map(|&(right, distance)| place[right] - distance)
                .reduce(f64::min);
            if let Some(room) = room {
                place[left] = place[left].max(room);
            }
        }
        column.iter().map(|&column| place[column]).collect()
    }

    /// The least distance between the middles of two neighbours.
    fn apart(&self, left: usize, right: usize) -> f64 {
        match self.is_mirrored {
            true => apart(self.layered, right, left),
            false => apart(self.layered, left, right),
        }
    }
}

/// The mean of the two middle ones of four drawings, after the narrowest has been laid over the others. Distances that
/// all four keep are kept by this mean as well.
fn average(layered: &Layered, mut drawings: Vec<Vec<f64>>) -> Vec<f64> {
    let extent = |x: &[f64]| {
        let vertices = x.iter().zip(&layered.vertices);
        vertices.fold((f64::MAX, f64::MIN), |(least, most), (x, vertex)| {
            (least.min(x - vertex.left), most.max(x + vertex.right))
        })
    };
    let extents: Vec<(f64, f64)> = drawings.iter().map(|x| extent(x)).collect();
    let narrowest = (extents.iter().copied())
        .min_by(|one, other| (one.1 - one.0).total_cmp(&(other.1 - other.0)))
        .unwrap_or_default();
    for (number, (drawing, extent)) in drawings.iter_mut().zip(&extents).enumerate() {
        let shift = match number % 2 {
            0 => narrowest.0 - extent.0,
            _ => narrowest.1 - extent.1,
        };
        drawing.iter_mut().for_each(|x| *x += shift);
    }
    (0..layered.vertices.len())
        .map(|vertex| {
            let mut places: Vec<f64> = drawings.iter().map(|drawing| drawing[vertex]).collect();
            places.sort_by(f64::total_cmp);
            (places[1] + places[2]) / 2.0
        })
        .collect()
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
        let least = match is_labels && is_after_labels {
            true => LEAST_BETWEEN_LABELS,
            false => LEAST,
        };
        is_after_labels = is_labels;
        let gap = match rows.is_empty() {
            true => 0.0,
            false => (least + (furthest - 60.0).max(0.0) * 0.12).min(MOST),
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
