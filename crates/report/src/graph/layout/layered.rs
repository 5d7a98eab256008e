//! The graph with its long edges cut into pieces, so that every piece leads from one layer to the
//! next.

use super::acyclic::ReversedEdges;
use super::layers::preferred_width;
use super::{LayoutEdge, LayoutNode};

/// Kind of vertex in a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum VertexKind {
    /// A state.
    State,
    /// An edge that passes the layer.
    Bend,
    /// An edge that passes the layer with its label.
    Label,
}

/// A position in a layer that something takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    /// Kind of vertex.
    pub(super) kind: VertexKind,
    /// Index of its layer.
    pub(super) layer: usize,
    /// Extent to the left of its center.
    pub(super) left: f64,
    /// Extent to the right of its center.
    pub(super) right: f64,
    /// Extent above and below its center.
    pub(super) half_height: f64,
}

/// Layers and the connections between them.
#[derive(Clone, Debug)]
pub(super) struct LayeredGraph {
    /// Vertices, the states first.
    pub(super) vertices: Vec<Vertex>,
    /// Vertices of each layer, from left to right.
    pub(super) layers: Vec<Vec<usize>>,
    /// Neighbors of each vertex in the layer above.
    pub(super) above: Vec<Vec<usize>>,
    /// Neighbors of each vertex in the layer below.
    pub(super) below: Vec<Vec<usize>>,
    /// Vertices of each edge, from its upper state to its lower one, both included.
    pub(super) chains: Vec<Vec<usize>>,
}

/// Maximum number of vertices. With more, the drawing would take long and show nothing.
const MAX_VERTICES: usize = 400_000;

impl LayeredGraph {
    /// Cuts the edges. Returns `None` if there are too many pieces.
    pub(super) fn new(
        nodes: &[LayoutNode],
        edges: &[LayoutEdge],
        reversed_edges: &ReversedEdges,
        layer_of: &[usize],
    ) -> Option<LayeredGraph> {
        let spans: Vec<(usize, usize)> = (edges.iter().zip(reversed_edges))
            .map(|(edge, reversed)| {
                if *reversed {
                    (edge.to, edge.from)
                } else {
                    (edge.from, edge.to)
                }
            })
            .collect();
        let label_layers = LabelLayers::new(nodes, edges, &spans, layer_of);
        if nodes.len() + label_layers.pieces(&spans, layer_of) > MAX_VERTICES {
            return None;
        }
        let mut vertices: Vec<Vertex> = (nodes.iter().zip(layer_of))
            .map(|(node, layer)| Vertex {
                kind: VertexKind::State,
                layer: label_layers.layer_of_states[*layer],
                left: node.left,
                right: node.right,
                half_height: node.half_height,
            })
            .collect();
        let mut chains = Vec::with_capacity(edges.len());
        for ((edge, &(upper, lower)), label_layer) in
            edges.iter().zip(&spans).zip(&label_layers.layer_of_label)
        {
            let mut chain = vec![upper];
            for layer in vertices[upper].layer + 1..vertices[lower].layer {
                let label = edge.label.filter(|_| layer == *label_layer);
                let (width, height) = label.unwrap_or_default();
                chain.push(vertices.len());
                vertices.push(Vertex {
                    kind: if label.is_some() {
                        VertexKind::Label
                    } else {
                        VertexKind::Bend
                    },
                    layer,
                    left: width / 2.0,
                    right: width / 2.0,
                    half_height: height / 2.0,
                });
            }
            chain.push(lower);
            chains.push(chain);
        }
        let mut above = vec![Vec::new(); vertices.len()];
        let mut below = vec![Vec::new(); vertices.len()];
        for pair in chains.iter().flat_map(|chain| chain.windows(2)) {
            below[pair[0]].push(pair[1]);
            above[pair[1]].push(pair[0]);
        }
        let last = vertices.iter().map(|vertex| vertex.layer).max();
        let mut layers = vec![Vec::new(); last.map_or(0, |last| last + 1)];
        for (number, vertex) in vertices.iter().enumerate() {
            layers[vertex.layer].push(number);
        }
        Some(LayeredGraph {
            vertices,
            layers,
            above,
            below,
            chains,
        })
    }

    /// Returns the position of each vertex in its layer.
    pub(super) fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.vertices.len()];
        for layer in &self.layers {
            for (position, &vertex) in layer.iter().enumerate() {
                positions[vertex] = position;
            }
        }
        positions
    }
}

/// Layers for labels.
struct LabelLayers {
    /// Layer for the label of each edge.
    layer_of_label: Vec<usize>,
    /// New index of each layer of states, with layers for labels in between.
    layer_of_states: Vec<usize>,
}

impl LabelLayers {
    /// Puts the label of each edge between those layers of states with most room, otherwise in the
    /// middle. Many labels get several layers, in turn.
    fn new(
        nodes: &[LayoutNode],
        edges: &[LayoutEdge],
        spans: &[(usize, usize)],
        layer_of: &[usize],
    ) -> LabelLayers {
        /// Room that being one layer away from the middle is worth.
        const FROM_THE_MIDDLE: f64 = 40.0;
        const BETWEEN: f64 = 12.0;
        const MAX_LAYERS: f64 = 8.0;
        let gaps = layer_of.iter().max().map_or(0, |last| last + 1);
        let mut used = vec![0.0; gaps];
        let mut by_length: Vec<usize> = (0..edges.len()).collect();
        by_length.sort_by_key(|&edge| layer_of[spans[edge].1] - layer_of[spans[edge].0]);
        let mut gap_of = vec![0; edges.len()];
        for edge in by_length {
            let Some((width, _)) = edges[edge].label else {
                continue;
            };
            let (first, end) = (layer_of[spans[edge].0], layer_of[spans[edge].1]);
            let middle = (first + end - 1) as f64 / 2.0;
            let badness = |gap: &usize| used[*gap] + FROM_THE_MIDDLE * (*gap as f64 - middle).abs();
            let best = (first..end).min_by(|one, other| badness(one).total_cmp(&badness(other)));
            gap_of[edge] = best.unwrap_or(first);
            used[gap_of[edge]] += width + BETWEEN;
        }
        let max_width = preferred_width(nodes.iter().map(|node| node.left + node.right));
        let rows: Vec<usize> = (used.iter())
            .map(|used| (used / max_width).ceil().clamp(1.0, MAX_LAYERS) as usize)
            .collect();
        let mut layer_of_states = Vec::with_capacity(gaps);
        let mut next = 0;
        for rows in &rows {
            layer_of_states.push(next);
            next += 1 + rows;
        }
        let mut turns = vec![0; gaps];
        let layer_of_label = (gap_of.iter())
            .map(|&gap| {
                let turn = turns[gap] % rows[gap];
                turns[gap] += 1;
                layer_of_states[gap] + 1 + turn
            })
            .collect();
        LabelLayers {
            layer_of_label,
            layer_of_states,
        }
    }

    /// Returns the number of pieces that the edges are cut into.
    fn pieces(&self, spans: &[(usize, usize)], layer_of: &[usize]) -> usize {
        let layer = |state: usize| self.layer_of_states[layer_of[state]];
        (spans.iter())
            .map(|&(upper, lower)| layer(lower) - layer(upper))
            .sum()
    }
}
