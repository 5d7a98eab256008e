//! Computes good horizontal positions, as if edges were springs.
//!
//! Layer by layer, each vertex goes to the mean of its neighbors above and below, as far as order
//! and distances allow. All vertices of a layer move together: one that is in the way is pushed
//! aside if that is better for both. For a single layer this is optimal (isotonic regression by
//! pooling adjacent violators). Afterwards long edges are straightened wherever there is room.

use super::coordinates::min_distance;
use super::layered::{LayeredGraph, VertexKind};

/// Limit for the work, in visited vertices.
const MAX_WORK: usize = 4_000_000;

/// Moves every vertex closer to its neighbors.
pub(super) fn relax(layered: &LayeredGraph, x: &mut [f64]) {
    let sweeps = (MAX_WORK / layered.vertices.len().max(1)).clamp(4, 120);
    for sweep in 0..sweeps {
        let mut moved = 0.0_f64;
        let mut move_layer = |layer: &Vec<usize>| moved = moved.max(place_layer(layered, layer, x));
        match sweep % 2 {
            0 => layered.layers.iter().for_each(&mut move_layer),
            _ => layered.layers.iter().rev().for_each(&mut move_layer),
        }
        if moved < 1.0 {
            break;
        }
    }
}

/// Returns the strength with which a piece of an edge pulls. A bend in the middle of a long edge is
/// worse than one at its end.
fn edge_strength(one: VertexKind, other: VertexKind) -> f64 {
    match (one, other) {
        (VertexKind::State, VertexKind::State) => 1.0,
        (VertexKind::State, _) | (_, VertexKind::State) => 1.5,
        _ => 12.0,
    }
}

/// Computes the best positions for one layer while all others stay. Returns the largest movement.
fn place_layer(layered: &LayeredGraph, layer: &[usize], x: &mut [f64]) -> f64 {
    /// Vertices that touch: their number, the preferred position of the first, and their weight.
    struct VertexPool {
        count: usize,
        preferred: f64,
        weight: f64,
    }
    let mut pools: Vec<VertexPool> = Vec::with_capacity(layer.len());
    // Distances from the first vertex if all are as close as possible.
    let mut offsets = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (index, &vertex) in layer.iter().enumerate() {
        if let Some(left) = index.checked_sub(1) {
            offset += min_distance(layered, layer[left], vertex);
        }
        offsets.push(offset);
        let kind = layered.vertices[vertex].kind;
        let neighbours = layered.above[vertex].iter().chain(&layered.below[vertex]);
        let (mut sum, mut weight) = (0.0, 0.0);
        for &other in neighbours {
            let strength = edge_strength(kind, layered.vertices[other].kind);
            sum += strength * x[other];
            weight += strength;
        }
        let (preferred, weight) = if weight > 0.0 {
            (sum / weight, weight)
        } else {
            (x[vertex], 0.1)
        };
        let mut pool = VertexPool {
            count: 1,
            preferred: preferred - offset,
            weight,
        };
        while let Some(left) = pools.pop_if(|left| left.preferred >= pool.preferred) {
            let weight = left.weight + pool.weight;
            pool = VertexPool {
                count: left.count + pool.count,
                preferred: (left.preferred * left.weight + pool.preferred * pool.weight) / weight,
                weight,
            };
        }
        pools.push(pool);
    }
    let mut moved = 0.0_f64;
    let preferred = (pools.iter()).flat_map(|pool| std::iter::repeat_n(pool.preferred, pool.count));
    for ((&vertex, offset), preferred) in layer.iter().zip(offsets).zip(preferred) {
        moved = moved.max((x[vertex] - preferred - offset).abs());
        x[vertex] = preferred + offset;
    }
    moved
}

/// Gives all vertices of a thread the same position, or as many in a row as there is room for.
pub(super) fn straighten(layered: &LayeredGraph, x: &mut [f64]) {
    let positions = layered.positions();
    let mut threads = straight_chains(layered);
    // The longest threads come first, since they are the most visible.
    threads.sort_by_key(|thread| std::cmp::Reverse(thread.len()));
    for thread in threads {
        let mut bends = &thread[..];
        while !bends.is_empty() {
            let (mut leftmost, mut rightmost) = (f64::MIN, f64::MAX);
            let mut count = 0;
            for &vertex in bends {
                let (left, right) = free_interval(layered, &positions, vertex, x);
                if leftmost.max(left) > rightmost.min(right) {
                    break;
                }
                (leftmost, rightmost) = (leftmost.max(left), rightmost.min(right));
                count += 1;
            }
            // Rounding may leave no room even for the current position.
            let count = count.max(1);
            let (run, rest) = bends.split_at(count);
            let mean = run.iter().map(|&vertex| x[vertex]).sum::<f64>() / count as f64;
            if count > 1 {
                let position = mean.min(rightmost).max(leftmost);
                run.iter().for_each(|&vertex| x[vertex] = position);
            }
            bends = rest;
        }
    }
}

/// Returns the chains of vertices that should be straight: the bends of an edge, together with
/// states that have at most one edge above and below.
pub(super) fn straight_chains(layered: &LayeredGraph) -> Vec<Vec<usize>> {
    let is_simple =
        |vertex: &usize| layered.above[*vertex].len() <= 1 && layered.below[*vertex].len() <= 1;
    let mut threads = Vec::new();
    for vertex in (0..layered.vertices.len()).filter(is_simple) {
        if layered.above[vertex].iter().any(is_simple) {
            continue;
        }
        let next = |vertex: &usize| layered.below[*vertex].first().copied().filter(is_simple);
        threads.push(std::iter::successors(Some(vertex), next).collect());
    }
    threads
}

/// Returns the leftmost and rightmost position of a vertex if nothing else moves.
pub(super) fn free_interval(
    layered: &LayeredGraph,
    positions: &[usize],
    vertex: usize,
    x: &[f64],
) -> (f64, f64) {
    let layer = &layered.layers[layered.vertices[vertex].layer];
    let index = positions[vertex];
    let left = index.checked_sub(1).and_then(|left| layer.get(left));
    let leftmost = left.map_or(f64::MIN, |&left| {
        x[left] + min_distance(layered, left, vertex)
    });
    let right = layer.get(index + 1);
    let rightmost = right.map_or(f64::MAX, |&right| {
        x[right] - min_distance(layered, vertex, right)
    });
    (leftmost, rightmost)
}
