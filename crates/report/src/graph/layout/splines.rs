//! Routes of the edges, as smooth curves.
//!
//! A route is a function from height to horizontal position. It is given by its values and slopes
//! at the layers, and cubic between them, so that there are no corners. Slopes are limited so that
//! a curve never swings out further than the points it connects, and stays in its own room within a
//! layer.

use super::acyclic::ReversedEdges;
use super::coordinates::LayerRow;
use super::layered::{LayeredGraph, VertexKind};
use super::{DrawingPoint, LayoutEdge, LayoutNode, Route};

/// Length of an arrow's head.
pub(in super::super) const ARROW: f64 = 8.0;
/// Maximum distance of an edge from the middle of its room within a layer.
const MAX_SWAY: f64 = 5.0;
/// Maximum slope, sideways per downwards, at which an edge may leave or enter a state.
const MAX_SLOPE: f64 = 1.3;

/// A point on a route, with its slope as sideways movement for each pixel down.
#[derive(Clone, Copy, Debug)]
struct Knot {
    x: f64,
    y: f64,
    slope: f64,
}

/// Computes the route of each edge.
pub(super) fn routes(
    layered: &LayeredGraph,
    nodes: &[LayoutNode],
    edges: &[LayoutEdge],
    reversed_edges: &ReversedEdges,
    x: &[f64],
    rows: &[LayerRow],
) -> Vec<Route> {
    let ports = Ports::new(layered, nodes, x);
    (0..edges.len())
        .map(|edge| {
            let chain = &layered.chains[edge];
            let (&upper, &lower) = match (chain.first(), chain.last()) {
                (Some(upper), Some(lower)) => (upper, lower),
                _ => return Route::default(),
            };
            let rim = |node: usize, offset: f64, side: f64| {
                let (rx, ry) = nodes[node].radii;
                let height = ry * (1.0 - (offset / rx).powi(2)).max(0.0).sqrt();
                DrawingPoint {
                    x: x[node] + offset,
                    y: rows[layered.vertices[node].layer].centre + side * height,
                }
            };
            let top = rim(upper, ports.upper[edge], 1.0);
            let bottom = rim(lower, ports.lower[edge], -1.0);
            let middle: Vec<LayerStop> = (chain[1..chain.len() - 1].iter())
                .map(|&vertex| {
                    let LayerRow { centre, .. } = rows[layered.vertices[vertex].layer];
                    let half_height = match layered.vertices[vertex].kind {
                        VertexKind::Label => layered.vertices[vertex].half_height,
                        _ => rows[layered.vertices[vertex].layer].half_height,
                    };
                    LayerStop {
                        x: x[vertex],
                        y: centre,
                        half_height,
                    }
                })
                .collect();
            let label = (chain.iter())
                .find(|&&vertex| layered.vertices[vertex].kind == VertexKind::Label)
                .map(|&vertex| DrawingPoint {
                    x: x[vertex],
                    y: rows[layered.vertices[vertex].layer].centre,
                });
            route(top, &middle, bottom, reversed_edges[edge], label)
        })
        .collect()
}

/// A layer that an edge passes.
struct LayerStop {
    x: f64,
    y: f64,
    half_height: f64,
}

/// Computes the route from the rim of the upper state to that of the lower one, or the other way
/// round if the edge is reversed.
fn route(
    top: DrawingPoint,
    middle: &[LayerStop],
    bottom: DrawingPoint,
    is_reversed: bool,
    label: Option<DrawingPoint>,
) -> Route {
    let slope =
        |one: DrawingPoint, other: DrawingPoint| (other.x - one.x) / (other.y - one.y).max(1.0);
    let centres: Vec<DrawingPoint> = (std::iter::once(top))
        .chain(middle.iter().map(|stop| DrawingPoint {
            x: stop.x,
            y: stop.y,
        }))
        .chain([bottom])
        .collect();
    let limited = |slope: f64| slope.clamp(-MAX_SLOPE, MAX_SLOPE);
    let first = limited(slope(top, centres[1]));
    let last = limited(slope(centres[centres.len() - 2], bottom));
    let mut knots = Vec::with_capacity(2 * centres.len());
    // The line ends where the arrow's head begins.
    let head = |tip: DrawingPoint, slope: f64, side: f64| {
        let down = ARROW / (1.0 + slope * slope).sqrt();
        Knot {
            x: tip.x + side * down * slope,
            y: tip.y + side * down,
            slope,
        }
    };
    let end = |tip: DrawingPoint, slope: f64| Knot {
        x: tip.x,
        y: tip.y,
        slope,
    };
    knots.push(if is_reversed {
        head(top, first, 1.0)
    } else {
        end(top, first)
    });
    for (stop, around) in middle.iter().zip(centres.windows(3)) {
        let before = slope(around[0], around[1]);
        let after = slope(around[1], around[2]);
        // Straight on if both sides agree. Otherwise the route turns here and is vertical.
        let mut slope = if before * after > 0.0 {
            2.0 * before * after / (before + after)
        } else {
            0.0
        };
        if stop.half_height > 0.0 {
            slope = slope.clamp(-MAX_SWAY / stop.half_height, MAX_SWAY / stop.half_height);
        }
        let knot = |side: f64| Knot {
            x: stop.x + side * stop.half_height * slope,
            y: stop.y + side * stop.half_height,
            slope,
        };
        if stop.half_height > 0.0 {
            knots.extend([knot(-1.0), knot(1.0)])
        } else {
            knots.push(knot(0.0))
        }
    }
    knots.push(if is_reversed {
        end(bottom, last)
    } else {
        head(bottom, last, -1.0)
    });
    let tip = if is_reversed { top } else { bottom };
    if is_reversed {
        knots.reverse();
    }
    Route {
        start: knots.first().map_or(top, |knot| DrawingPoint {
            x: knot.x,
            y: knot.y,
        }),
        curves: knots
            .windows(2)
            .map(|pair| curve(pair[0], pair[1]))
            .collect(),
        tip,
        label,
    }
}

/// Returns the cubic curve from one knot to the next.
fn curve(from: Knot, to: Knot) -> [DrawingPoint; 3] {
    let third = (to.y - from.y) / 3.0;
    // Fritsch and Carlson: with slopes beyond three times the mean, the curve would swing out.
    let mean = (to.x - from.x) / (to.y - from.y);
    let within = |slope: f64| {
        if slope * mean > 0.0 {
            slope.signum() * slope.abs().min(3.0 * mean.abs())
        } else {
            slope * 0.5
        }
    };
    [
        DrawingPoint {
            x: from.x + third * within(from.slope),
            y: from.y + third,
        },
        DrawingPoint {
            x: to.x - third * within(to.slope),
            y: to.y - third,
        },
        DrawingPoint { x: to.x, y: to.y },
    ]
}

/// Points on the rim of its states where each edge begins and ends, as distances from the middle.
struct Ports {
    /// Distance at the upper state, for each edge.
    upper: Vec<f64>,
    /// Distance at the lower state, for each edge.
    lower: Vec<f64>,
}

impl Ports {
    /// Distributes the ends of edges along the rims.
    fn new(layered: &LayeredGraph, nodes: &[LayoutNode], x: &[f64]) -> Ports {
        let mut at_upper = vec![Vec::new(); nodes.len()];
        let mut at_lower = vec![Vec::new(); nodes.len()];
        for (edge, chain) in layered.chains.iter().enumerate() {
            if let [upper, below, ..] = chain[..] {
                at_upper[upper].push((x[below], edge));
            }
            if let [.., above, lower] = chain[..] {
                at_lower[lower].push((x[above], edge));
            }
        }
        let spread_all = |at: Vec<Vec<(f64, usize)>>| {
            let mut offsets = vec![0.0; layered.chains.len()];
            for (node, mut ends) in at.into_iter().enumerate() {
                ends.sort_by(|one, other| one.0.total_cmp(&other.0));
                let preferred: Vec<f64> =
                    ends.iter().map(|(end, _)| (end - x[node]) * 0.25).collect();
                let spread = spread_ports(&preferred, nodes[node].ports);
                for ((_, edge), offset) in ends.iter().zip(spread) {
                    offsets[*edge] = offset;
                }
            }
            offsets
        };
        Ports {
            upper: spread_all(at_upper),
            lower: spread_all(at_lower),
        }
    }
}

/// Returns positions near the preferred ones, in the same order, at some distance from each other
/// and all within the limit.
fn spread_ports(preferred: &[f64], limit: f64) -> Vec<f64> {
    let last = preferred.len().saturating_sub(1);
    let gap = match last {
        0 => 0.0,
        _ => (2.0 * limit / last as f64).min(9.0),
    };
    let mut from_left: Vec<f64> = Vec::with_capacity(preferred.len());
    for (index, preferred) in preferred.iter().enumerate() {
        let leftmost = from_left.last().map_or(-limit, |left| left + gap);
        from_left.push(
            preferred
                .max(leftmost)
                .min(limit - (last - index) as f64 * gap),
        );
    }
    let mut from_right: Vec<f64> = Vec::with_capacity(preferred.len());
    for (index, preferred) in preferred.iter().enumerate().rev() {
        let rightmost = from_right.last().map_or(limit, |right| right - gap);
        from_right.push(preferred.min(rightmost).max(-limit + index as f64 * gap));
    }
    (from_left.iter().zip(from_right.iter().rev()))
        .map(|(one, other)| (one + other) / 2.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_spread() {
        assert_eq!(spread_ports(&[], 10.0), Vec::<f64>::new());
        assert_eq!(spread_ports(&[0.0], 10.0), [0.0]);
        assert_eq!(spread_ports(&[0.0, 0.0], 10.0), [-4.5, 4.5]);
        assert_eq!(spread_ports(&[-90.0, 0.0, 90.0], 10.0), [-10.0, 0.0, 10.0]);
        let many = spread_ports(&[5.0; 21], 10.0);
        assert!(
            many.windows(2)
                .all(|pair| (pair[1] - pair[0] - 1.0).abs() < 1e-9)
        );
        assert!((many[0] + 10.0).abs() < 1e-9 && (many[20] - 10.0).abs() < 1e-9);
    }

    #[test]
    fn a_way_does_not_swing_out() {
        let stops = [0.0, 40.0, 40.0, 0.0].map(|x| (x, 0.0));
        let middle: Vec<LayerStop> = (stops.iter().enumerate())
            .map(|(index, &(x, half_height))| LayerStop {
                x,
                y: 20.0 * (index + 1) as f64,
                half_height,
            })
            .collect();
        let top = DrawingPoint { x: 0.0, y: 0.0 };
        let bottom = DrawingPoint { x: 0.0, y: 100.0 };
        for is_reversed in [false, true] {
            let route = route(top, &middle, bottom, is_reversed, None);
            assert_eq!(route.tip, if is_reversed { top } else { bottom });
            for point in route.curves.iter().flatten() {
                assert!((-1.0..=41.0).contains(&point.x), "{point:?}");
            }
        }
    }
}
