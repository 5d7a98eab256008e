//! Final improvement of horizontal positions: moves vertices with room closer to their neighbors.
//!
//! Straight parts of an edge or chains of states move as a whole, and so stay straight. Distances
//! in a layer stay large enough, and no order changes.

use super::layered::LayeredGraph;
use super::relax::{free_interval, straight_chains};

/// Limit for the work, in visited vertices.
const MAX_WORK: usize = 1_000_000;

/// Moves every block to the middle of its neighbors, as far as there is room.
pub(super) fn align_blocks(layered: &LayeredGraph, x: &mut [f64]) {
    let positions = layered.positions();
    let blocks = blocks(layered, x);
    let passes = (MAX_WORK / layered.vertices.len().max(1)).clamp(2, 30);
    for pass in 0..passes {
        let mut moved = 0.0_f64;
        let mut move_block = |block: &Vec<usize>| {
            let Some(preferred) = preferred_position(layered, block, x) else {
                return;
            };
            let (leftmost, rightmost) = block_interval(layered, &positions, block, x);
            let by = preferred.clamp(leftmost.min(rightmost), rightmost) - x[block[0]];
            block.iter().for_each(|&vertex| x[vertex] += by);
            moved = moved.max(by.abs());
        };
        match pass % 2 {
            0 => blocks.iter().for_each(&mut move_block),
            _ => blocks.iter().rev().for_each(&mut move_block),
        }
        if moved < 0.5 {
            break;
        }
    }
}

/// Returns the blocks that move as a whole, from top to bottom.
fn blocks(layered: &LayeredGraph, x: &[f64]) -> Vec<Vec<usize>> {
    let is_straight = |upper: &usize, lower: &usize| (x[*upper] - x[*lower]).abs() < 0.01;
    let threads = straight_chains(layered);
    let mut is_in_thread = vec![false; layered.vertices.len()];
    for &vertex in threads.iter().flatten() {
        is_in_thread[vertex] = true;
    }
    let alone = (0..layered.vertices.len()).filter(|&vertex| !is_in_thread[vertex]);
    let mut blocks: Vec<Vec<usize>> = (threads.iter())
        .flat_map(|thread| thread.chunk_by(is_straight))
        .map(<[usize]>::to_vec)
        .chain(alone.map(|vertex| vec![vertex]))
        .collect();
    blocks.sort_by_key(|block| layered.vertices[block[0]].layer);
    blocks
}

/// Returns the preferred position of a block: in the middle of its neighbors.
fn preferred_position(layered: &LayeredGraph, block: &[usize], x: &[f64]) -> Option<f64> {
    let (first, last) = (block.first()?, block.last()?);
    let mut positions: Vec<f64> = (layered.above[*first].iter().chain(&layered.below[*last]))
        .map(|&other| x[other])
        .collect();
    positions.sort_by(f64::total_cmp);
    let end = positions.len().checked_sub(1)?;
    Some((positions[end / 2] + positions[end.div_ceil(2)]) / 2.0)
}

/// Returns the leftmost and rightmost position of a block.
fn block_interval(
    layered: &LayeredGraph,
    positions: &[usize],
    block: &[usize],
    x: &[f64],
) -> (f64, f64) {
    (block.iter()).fold((f64::MIN, f64::MAX), |(leftmost, rightmost), &vertex| {
        let (left, right) = free_interval(layered, positions, vertex, x);
        (leftmost.max(left), rightmost.min(right))
    })
}
