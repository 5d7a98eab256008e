//! Orders the vertices within each layer for few crossings.
//!
//! Sweeps up and down put each vertex where its neighbors in the previous layer are, by their
//! median or their mean. Between sweeps, neighbors are swapped as long as this helps. The best
//! order found is kept.

use super::layered::LayeredGraph;

/// Limit for the work of all sweeps, in visited vertices.
const MAX_WORK: usize = 3_000_000;

/// Orders each layer.
pub(super) fn reduce_crossings(layered: &mut LayeredGraph) {
    let size = layered.vertices.len().max(1);
    let sweeps = (MAX_WORK / size).clamp(4, 28);
    let mut best = (usize::MAX, layered.layers.clone());
    for search in [TraversalOrder::Depth, TraversalOrder::Breadth] {
        layered.layers = initial_order(layered, search);
        sweep(layered, sweeps, &mut best);
        if best.0 == 0 || size > 20_000 {
            break;
        }
    }
    layered.layers = best.1;
}

/// Sweeps over the layers, and keeps the best order.
fn sweep(layered: &mut LayeredGraph, sweeps: usize, best: &mut (usize, Vec<Vec<usize>>)) {
    let mut positions = layered.positions();
    let mut without_gain = 0;
    for number in 0..=sweeps {
        if number > 0 {
            let by_median = number % 4 < 2;
            let is_down = number % 2 == 1;
            pass(layered, &mut positions, is_down, by_median);
        }
        swap_neighbours(layered, &mut positions);
        let crossings = crossings(layered, &positions);
        if crossings < best.0 {
            *best = (crossings, layered.layers.clone());
            without_gain = 0;
        } else {
            without_gain += 1;
        }
        if best.0 == 0 || without_gain > 8 {
            break;
        }
    }
}

/// Order of a search.
#[derive(Clone, Copy, PartialEq)]
enum TraversalOrder {
    Depth,
    Breadth,
}

/// Returns an order to start from: the order in which a search from the top visits the vertices.
fn initial_order(layered: &LayeredGraph, search: TraversalOrder) -> Vec<Vec<usize>> {
    let mut layers = vec![Vec::new(); layered.layers.len()];
    let mut is_seen = vec![false; layered.vertices.len()];
    let mut roots: Vec<usize> = (0..layered.vertices.len()).collect();
    roots.sort_by_key(|&vertex| layered.vertices[vertex].layer);
    for root in roots {
        let mut waiting = std::collections::VecDeque::from([root]);
        let next = |waiting: &mut std::collections::VecDeque<usize>| match search {
            TraversalOrder::Depth => waiting.pop_back(),
            TraversalOrder::Breadth => waiting.pop_front(),
        };
        while let Some(vertex) = next(&mut waiting) {
            if is_seen[vertex] {
                continue;
            }
            is_seen[vertex] = true;
            layers[layered.vertices[vertex].layer].push(vertex);
            match search {
                TraversalOrder::Depth => waiting.extend(layered.below[vertex].iter().rev()),
                TraversalOrder::Breadth => waiting.extend(&layered.below[vertex]),
            }
        }
    }
    layers
}

/// Sweeps once over all layers.
fn pass(layered: &mut LayeredGraph, positions: &mut [usize], is_down: bool, by_median: bool) {
    let count = layered.layers.len();
    let (neighbours, layers) = (
        if is_down {
            &layered.above
        } else {
            &layered.below
        },
        &mut layered.layers,
    );
    for step in 1..count {
        let layer = &mut layers[if is_down { step } else { count - 1 - step }];
        let mut slots = Vec::new();
        let mut moving = Vec::new();
        for (slot, &vertex) in layer.iter().enumerate() {
            if let Some(preferred) = preferred(&neighbours[vertex], positions, by_median) {
                slots.push(slot);
                moving.push((preferred, vertex));
            }
        }
        // Vertices without neighbors stay in place. Equal positions keep their order, so that a
        // sweep is repeatable.
        moving.sort_by(|one, other| one.0.total_cmp(&other.0));
        for (slot, (_, vertex)) in slots.into_iter().zip(moving) {
            layer[slot] = vertex;
        }
        for (position, &vertex) in layer.iter().enumerate() {
            positions[vertex] = position;
        }
    }
}

/// Returns the preferred position of a vertex with these neighbors.
fn preferred(neighbours: &[usize], positions: &[usize], by_median: bool) -> Option<f64> {
    let mut sorted: Vec<f64> = (neighbours.iter())
        .map(|&other| positions[other] as f64)
        .collect();
    let count = sorted.len();
    if count == 0 {
        return None;
    }
    if !by_median || count == 2 {
        return Some(sorted.iter().sum::<f64>() / count as f64);
    }
    sorted.sort_by(f64::total_cmp);
    let middle = count / 2;
    if count % 2 == 1 {
        return Some(sorted[middle]);
    }
    // Between the two in the middle, nearer to the side where the others are close together.
    let left = sorted[middle - 1] - sorted[0];
    let right = sorted[count - 1] - sorted[middle];
    match left + right {
        0.0 => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
        both => Some((sorted[middle - 1] * right + sorted[middle] * left) / both),
    }
}

/// Swaps neighbors as long as this reduces crossings.
fn swap_neighbours(layered: &mut LayeredGraph, positions: &mut [usize]) {
    for _ in 0..6 {
        let mut is_changed = false;
        for number in 0..layered.layers.len() {
            let layer = &mut layered.layers[number];
            for index in 1..layer.len() {
                let (left, right) = (layer[index - 1], layer[index]);
                let gain = (gain(&layered.above[left], &layered.above[right], positions))
                    + gain(&layered.below[left], &layered.below[right], positions);
                if gain > 0 {
                    layer.swap(index - 1, index);
                    positions[left] = index;
                    positions[right] = index - 1;
                    is_changed = true;
                }
            }
        }
        if !is_changed {
            break;
        }
    }
}

/// Returns the number of crossings that a swap of two neighbors saves, on one side of them.
fn gain(left: &[usize], right: &[usize], positions: &[usize]) -> isize {
    let mut gain = 0;
    for &one in left {
        for &other in right {
            gain += match positions[one].cmp(&positions[other]) {
                std::cmp::Ordering::Greater => 1,
                std::cmp::Ordering::Less => -1,
                std::cmp::Ordering::Equal => 0,
            };
        }
    }
    gain
}

/// Counts the pairs of edges that cross.
pub(super) fn crossings(layered: &LayeredGraph, positions: &[usize]) -> usize {
    let mut total = 0;
    for (number, layer) in layered.layers.iter().enumerate() {
        let width = layered.layers.get(number + 1).map_or(0, Vec::len);
        // Counts of ends so far, as a tree of partial sums.
        let mut tree = vec![0_usize; width + 1];
        let mut seen = 0;
        for &vertex in layer {
            let mut ends: Vec<usize> = (layered.below[vertex].iter())
                .map(|&other| positions[other])
                .collect();
            ends.sort_unstable();
            for &end in &ends {
                let mut not_beyond = 0;
                let mut index = end + 1;
                while index > 0 {
                    not_beyond += tree[index];
                    index &= index - 1;
                }
                total += seen - not_beyond;
            }
            for end in ends {
                seen += 1;
                let mut index = end + 1;
                while index <= width {
                    tree[index] += 1;
                    index += index & index.wrapping_neg();
                }
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::super::LayoutEdge;
    use super::super::layers::assign_layers;
    use super::super::tests::node;
    use super::*;

    fn layered(count: usize, pairs: &[(usize, usize)]) -> LayeredGraph {
        let nodes = vec![node(); count];
        let edges: Vec<LayoutEdge> = (pairs.iter())
            .map(|&(from, to)| LayoutEdge {
                from,
                to,
                label: None,
            })
            .collect();
        let (reversed_edges, layer_of) = assign_layers(&nodes, &edges, &[0]);
        LayeredGraph::new(&nodes, &edges, &reversed_edges, &layer_of).unwrap()
    }

    #[test]
    fn crossings_are_counted() {
        let mut graph = layered(4, &[(0, 2), (0, 3), (1, 2), (1, 3)]);
        reduce_crossings(&mut graph);
        assert_eq!(crossings(&graph, &graph.positions()), 1);
    }

    #[test]
    fn trees_have_no_crossings() {
        let pairs: Vec<(usize, usize)> = (1..40).map(|node| ((node - 1) / 3, node)).collect();
        let mut graph = layered(40, &pairs);
        reduce_crossings(&mut graph);
        assert_eq!(crossings(&graph, &graph.positions()), 0);
    }

    #[test]
    fn a_cube_has_few_crossings() {
        let pairs: Vec<(usize, usize)> = (0..8_usize)
            .flat_map(|node| (0..3).map(move |bit| (node, node | 1 << bit)))
            .filter(|(from, to)| from != to)
            .collect();
        let mut graph = layered(8, &pairs);
        reduce_crossings(&mut graph);
        assert!(crossings(&graph, &graph.positions()) <= 2);
    }
}
