//! A good place across for everything, as if edges were springs.
//!
//! Layer by layer, each vertex goes to the mean of its neighbours above and below, as far as order and distances allow.
//! All of a layer move together: what is in the way is pushed aside if that is better for both. For a single layer this
//! is the best there is (isotonic regression, by pooling those that would come too close). Afterwards long
//! edges are made straight wherever there is room.

use super::coordinates::apart;
use super::layered::{Kind, Layered};

/// How much work this may be, in vertices looked at.
const MOST_WORK: usize = 4_000_000;

/// Moves everything closer to its neighbours.
pub(super) fn relax(layered: &Layered, x: &mut [f64]) {
    let sweeps = (MOST_WORK / layered.vertices.len().max(1)).clamp(4, 120);
    for sweep in 0..sweeps {
        let mut moved = 0.0_f64;
        let mut place = |layer: &Vec<usize>| moved = moved.max(place_layer(layered, layer, x));
        match sweep % 2 {
            0 => layered.layers.iter().for_each(&mut place),
            _ => layered.layers.iter().rev().for_each(&mut place),
        }
        if moved < 1.0 {
            break;
        }
    }
}

/// How strongly a piece of an edge pulls: a bend in the middle of a long edge is worse than one at its end.
fn strength(one: Kind, other: Kind) -> f64 {
    match (one, other) {
        (Kind::State, Kind::State) => 1.0,
        (Kind::State, _) | (_, Kind::State) => 1.5,
        _ => 12.0,
    }
}

/// The best places for one layer while all others stay; gives how far something moved.
fn place_layer(layered: &Layered, layer: &[usize], x: &mut [f64]) -> f64 {
    /// Vertices that touch: how many, where the first wants to be and how much.
    struct Pool {
        count: usize,
        wish: f64,
        weight: f64,
    }
    let mut pools: Vec<Pool> = Vec::with_capacity(layer.len());
    // Distances from the first vertex if all were as close as they may be.
    let mut offsets = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (place, &vertex) in layer.iter().enumerate() {
        if let Some(left) = place.checked_sub(1) {
            offset += apart(layered, layer[left], vertex);
        }
        offsets.push(offset);
        let here = layered.vertices[vertex].kind;
        let neighbours = layered.above[vertex].iter().chain(&layered.below[vertex]);
        let (mut sum, mut weight) = (0.0, 0.0);
        for &other in neighbours {
            let strength = strength(here, layered.vertices[other].kind);
            sum += strength * x[other];
            weight += strength;
        }
        let (wish, weight) = if weight > 0.0 {
            (sum / weight, weight)
        } else {
            (x[vertex], 0.1)
        };
        let mut pool = Pool {
            count: 1,
            wish: wish - offset,
            weight,
        };
        while let Some(left) = pools.pop_if(|left| left.wish >= pool.wish) {
            let weight = left.weight + pool.weight;
            pool = Pool {
                count: left.count + pool.count,
                wish: (left.wish * left.weight + pool.wish * pool.weight) / weight,
                weight,
            };
        }
        pools.push(pool);
    }
    let mut moved = 0.0_f64;
    let wishes = (pools.iter()).flat_map(|pool| std::iter::repeat_n(pool.wish, pool.count));
    for ((&vertex, offset), wish) in layer.iter().zip(offsets).zip(wishes) {
        moved = moved.max((x[vertex] - wish - offset).abs());
        x[vertex] = wish + offset;
    }
    moved
}

/// Gives all of a thread the same place, or as many in a row as there is room for.
pub(super) fn straighten(layered: &Layered, x: &mut [f64]) {
    let positions = layered.positions();
    let mut threads = threads(layered);
    // The longest first: they are seen most.
    threads.sort_by_key(|thread| std::cmp::Reverse(thread.len()));
    for thread in threads {
        let mut bends = &thread[..];
        while !bends.is_empty() {
            let (mut least, mut most) = (f64::MIN, f64::MAX);
            let mut count = 0;
            for &vertex in bends {
                let (left, right) = room(layered, &positions, vertex, x);
                if least.max(left) > most.min(right) {
                    break;
                }
                (least, most) = (least.max(left), most.min(right));
                count += 1;
            }
            // Rounding may leave no room even where something stands.
            let count = count.max(1);
            let (run, rest) = bends.split_at(count);
            let mean = run.iter().map(|&vertex| x[vertex]).sum::<f64>() / count as f64;
            if count > 1 {
                let place = mean.min(most).max(least);
                run.iter().for_each(|&vertex| x[vertex] = place);
            }
            bends = rest;
        }
    }
}

/// What had best be straight: the bends of an edge, and with them states that nothing else leads to or from.
pub(super) fn threads(layered: &Layered) -> Vec<Vec<usize>> {
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

/// How far to the left and to the right a vertex can be without a change of anything else.
pub(super) fn room(layered: &Layered, positions: &[usize], vertex: usize, x: &[f64]) -> (f64, f64) {
    let layer = &layered.layers[layered.vertices[vertex].layer];
    let place = positions[vertex];
    let left = place.checked_sub(1).and_then(|left| layer.get(left));
    let least = left.map_or(f64::MIN, |&left| x[left] + apart(layered, left, vertex));
    let right = layer.get(place + 1);
    let most = right.map_or(f64::MAX, |&right| x[right] - apart(layered, vertex, right));
    (least, most)
}
