//! Where states, edges and labels go: a layered drawing, top to bottom.
//!
//! The way is Sugiyama's. Edges that close a cycle are turned round ([`acyclic`]), every state gets a layer
//! ([`layers`]), long edges are cut into pieces from layer to layer ([`layered`]), the layers are put in an order with
//! few crossings ([`order`]), everything gets its place ([`coordinates`], by [`relax`] and [`settle`]), and the pieces
//! become curves ([`splines`]).
//!
//! Between two layers of states there is always one for labels. An edge that passes a layer has a place of its own in
//! it, and a label is such a place that is as large as its text. So nothing can overlap: what would, is in the same
//! layer, and there each has its room.

mod acyclic;
mod coordinates;
mod layered;
mod layers;
mod order;
mod relax;
mod settle;
mod splines;

use layered::Layered;
pub(super) use splines::ARROW;

/// A place, in pixels from the upper left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

impl Point {
    fn moved(self, x: f64, y: f64) -> Point {
        Point {
            x: self.x + x,
            y: self.y + y,
        }
    }
}

/// How much room a state takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Half the width and half the height of its ellipse.
    pub(super) radii: (f64, f64),
    /// All that is drawn for it, from its centre to the left.
    pub(super) left: f64,
    /// All that is drawn for it, from its centre to the right: its loops are there.
    pub(super) right: f64,
    /// All that is drawn for it, from its centre up and down.
    pub(super) half_height: f64,
    /// How far from the middle edges may begin and end.
    pub(super) ports: f64,
}

/// An edge between two different states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Width and height of its label.
    pub(super) label: Option<(f64, f64)>,
}

/// The way of an edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    /// Where it leaves its state.
    pub(super) start: Point,
    /// Cubic curves, each from where the one before it ended: two control points and the end.
    pub(super) curves: Vec<[Point; 3]>,
    /// The tip of its arrow; the curves end where the arrow begins.
    pub(super) tip: Point,
    /// The middle of its label.
    pub(super) label: Option<Point>,
}

impl Route {
    fn points_mut(&mut self) -> impl Iterator<Item = &mut Point> {
        [&mut self.start, &mut self.tip]
            .into_iter()
            .chain(self.curves.iter_mut().flatten())
            .chain(&mut self.label)
    }
}

/// A drawing.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// The middle of each state's ellipse.
    pub(super) centres: Vec<Point>,
    /// The way of each edge.
    pub(super) routes: Vec<Route>,
}

/// Between parts of a graph that have nothing to do with each other.
const BETWEEN_PARTS: f64 = 40.0;

/// Draws a graph, or says that edges would pass too many layers for this to end soon.
pub(super) fn layout(nodes: &[Node], edges: &[Edge], starts: &[usize]) -> Option<Layout> {
    let mut whole = Layout {
        centres: vec![Point::default(); nodes.len()],
        routes: vec![Route::default(); edges.len()],
        ..Layout::default()
    };
    let mut parts = Vec::new();
    for part in parts_of(nodes.len(), edges, starts) {
        let drawing = draw_part(nodes, edges, starts, &part)?;
        parts.push((part, drawing));
    }
    // Of the same height in a row, except that one starts at the start.
    if let [_, rest @ ..] = &mut parts[..] {
        rest.sort_by(|(_, one), (_, other)| other.height.total_cmp(&one.height));
    }
    let area: f64 = (parts.iter())
        .map(|(_, drawing)| (drawing.width + BETWEEN_PARTS) * (drawing.height + BETWEEN_PARTS))
        .sum();
    let widest = (parts.iter()).fold(0.0_f64, |most, (_, drawing)| most.max(drawing.width));
    let most = widest.max(1.6 * area.sqrt());
    let (mut x, mut y, mut row_height) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (part, mut drawing) in parts {
        if x > 0.0 && x + drawing.width > most {
            (x, y) = (0.0, y + row_height + BETWEEN_PARTS);
            row_height = 0.0;
        }
        for (&node, centre) in part.nodes.iter().zip(&drawing.centres) {
            whole.centres[node] = centre.moved(x, y);
        }
        for (&edge, route) in part.edges.iter().zip(&mut drawing.routes) {
            (route.points_mut()).for_each(|point| *point = point.moved(x, y));
            whole.routes[edge] = std::mem::take(route);
        }
        whole.width = whole.width.max(x + drawing.width);
        whole.height = whole.height.max(y + drawing.height);
        row_height = row_height.max(drawing.height);
        x += drawing.width + BETWEEN_PARTS;
    }
    Some(whole)
}

/// A part of the graph that hangs together.
struct Part {
    nodes: Vec<usize>,
    edges: Vec<usize>,
}

/// The parts: first those with a start state, otherwise in the order of their first states.
fn parts_of(count: usize, edges: &[Edge], starts: &[usize]) -> Vec<Part> {
    let mut leader: Vec<usize> = (0..count).collect();
    fn find(leader: &mut [usize], mut node: usize) -> usize {
        while leader[node] != node {
            leader[node] = leader[leader[node]];
            node = leader[node];
        }
        node
    }
    for edge in edges {
        let (from, to) = (find(&mut leader, edge.from), find(&mut leader, edge.to));
        leader[from] = to;
    }
    let mut place_of = vec![None; count];
    let mut parts: Vec<Part> = Vec::new();
    for node in starts.iter().copied().chain(0..count) {
        let place = place_of[find(&mut leader, node)].get_or_insert(parts.len());
        if *place == parts.len() {
            parts.push(Part {
                nodes: Vec::new(),
                edges: Vec::new(),
            });
        }
    }
    for node in 0..count {
        if let Some(place) = place_of[find(&mut leader, node)] {
            parts[place].nodes.push(node);
        }
    }
    for (number, edge) in edges.iter().enumerate() {
        if let Some(place) = place_of[find(&mut leader, edge.from)] {
            parts[place].edges.push(number);
        }
    }
    parts
}

fn draw_part(nodes: &[Node], edges: &[Edge], starts: &[usize], part: &Part) -> Option<Layout> {
    let mut local = vec![usize::MAX; nodes.len()];
    for (place, &node) in part.nodes.iter().enumerate() {
        local[node] = place;
    }
    let nodes: Vec<Node> = part.nodes.iter().map(|&node| nodes[node]).collect();
    let starts: Vec<usize> = (starts.iter().map(|&start| local[start]))
        .filter(|&start| start != usize::MAX)
        .collect();
    let edges: Vec<Edge> = (part.edges.iter())
        .map(|&edge| Edge {
            from: local[edges[edge].from],
            to: local[edges[edge].to],
            label: edges[edge].label,
        })
        .collect();
    let (flow, layer_of) = layers::flow_and_layers(&nodes, &edges, &starts);
    let mut layered = Layered::new(&nodes, &edges, &flow, &layer_of)?;
    order::reduce_crossings(&mut layered);
    let x = coordinates::across(&layered);
    let rows = coordinates::rows(&layered, &x);
    let mut drawing = Layout {
        centres: (0..nodes.len())
            .map(|node| Point {
                x: x[node],
                y: rows[layered.vertices[node].layer].centre,
            })
            .collect(),
        routes: splines::routes(&layered, &nodes, &edges, &flow, &x, &rows),
        ..Layout::default()
    };
    crop(&mut drawing, &nodes, &edges);
    Some(drawing)
}

/// Moves the drawing to the corner and measures it.
fn crop(drawing: &mut Layout, nodes: &[Node], edges: &[Edge]) {
    let (mut left, mut top) = (f64::MAX, f64::MAX);
    let (mut right, mut bottom) = (f64::MIN, f64::MIN);
    let mut include = |point: Point, west: f64, east: f64, half_height: f64| {
        left = left.min(point.x - west);
        right = right.max(point.x + east);
        top = top.min(point.y - half_height);
        bottom = bottom.max(point.y + half_height);
    };
    for (centre, node) in drawing.centres.iter().zip(nodes) {
        include(*centre, node.left, node.right, node.half_height);
    }
    for (route, edge) in drawing.routes.iter().zip(edges) {
        for point in route.curves.iter().flatten() {
            include(*point, 4.0, 4.0, 4.0);
        }
        if let (Some(label), Some((width, height))) = (route.label, edge.label) {
            include(label, width / 2.0, width / 2.0, height / 2.0);
        }
    }
    (drawing.width, drawing.height) = (right - left, bottom - top);
    for centre in &mut drawing.centres {
        *centre = centre.moved(-left, -top);
    }
    for point in drawing.routes.iter_mut().flat_map(Route::points_mut) {
        *point = point.moved(-left, -top);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn node() -> Node {
        Node {
            radii: (20.0, 17.0),
            left: 20.0,
            right: 20.0,
            half_height: 17.0,
            ports: 13.0,
        }
    }

    fn drawn(count: usize, pairs: &[(usize, usize)]) -> Layout {
        let edges: Vec<Edge> = (pairs.iter())
            .map(|&(from, to)| Edge {
                from,
                to,
                label: Some((50.0, 14.0)),
            })
            .collect();
        layout(&vec![node(); count], &edges, &[]).unwrap()
    }

    #[test]
    fn nothing_has_no_size() {
        let nothing = drawn(0, &[]);
        assert_eq!((nothing.width, nothing.height), (0.0, 0.0));
    }

    #[test]
    fn a_chain_is_a_straight_line() {
        let chain = drawn(4, &[(0, 1), (1, 2), (2, 3)]);
        assert!(
            chain
                .centres
                .iter()
                .all(|centre| centre.x == chain.centres[0].x)
        );
        assert!(chain.centres.windows(2).all(|pair| pair[0].y < pair[1].y));
        assert!(chain.width < 60.0, "{}", chain.width);
    }

    #[test]
    fn a_long_edge_is_straight_where_it_passes_others() {
        let pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)];
        let route = &drawn(5, &pairs).routes[4];
        let inner: Vec<f64> = (route.curves[..route.curves.len() - 1].iter())
            .map(|curve| curve[2].x)
            .collect();
        assert!(
            inner.iter().all(|x| (x - inner[0]).abs() < 0.01),
            "{inner:?}"
        );
    }

    #[test]
    fn parts_stand_side_by_side() {
        let parts = drawn(4, &[(0, 1), (2, 3)]);
        assert_eq!(parts.centres[0].y, parts.centres[2].y);
        assert!(parts.centres[2].x - parts.centres[0].x > 40.0);
    }

    #[test]
    fn too_many_pieces_are_not_drawn() {
        // Two thousand edges, each of which passes a layer for each of a thousand states.
        let mut edges: Vec<Edge> = Vec::new();
        let mut add = |from, to| {
            edges.push(Edge {
                from,
                to,
                label: None,
            });
        };
        (1..1000).for_each(|node| add(node - 1, node));
        (1000..2000).for_each(|node| {
            add(0, node);
            add(node, 999);
        });
        assert!(layout(&vec![node(); 2000], &edges, &[0]).is_none());
    }
}
