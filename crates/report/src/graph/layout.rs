//! Layered layout of states, edges and labels, from top to bottom.
//!
//! The method is Sugiyama's. Edges that close a cycle are reversed ([`acyclic`]), every state gets
//! a layer ([`layers`]), long edges are cut into pieces from layer to layer ([`layered`]), the
//! layers are ordered for few crossings ([`order`]), everything gets its coordinates
//! ([`coordinates`], by [`relax`] and [`settle`]), and the pieces become curves ([`splines`]).
//!
//! Between two layers of states there is always one for labels. An edge that passes a layer has a
//! position of its own in it, and a label is such a position that is as large as its text. So
//! nothing can overlap: two things that could are in the same layer, and each has its own room
//! there.

mod acyclic;
mod coordinates;
mod layered;
mod layers;
mod order;
mod relax;
mod settle;
mod splines;

use layered::LayeredGraph;
pub(super) use splines::ARROW;

/// A point, in pixels from the upper left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DrawingPoint {
    pub(super) x: f64,
    pub(super) y: f64,
}

impl DrawingPoint {
    /// Returns the point moved by an offset.
    fn translated(self, x: f64, y: f64) -> DrawingPoint {
        DrawingPoint {
            x: self.x + x,
            y: self.y + y,
        }
    }
}

/// Room that a state takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayoutNode {
    /// Half the width and half the height of its ellipse.
    pub(super) radii: (f64, f64),
    /// Extent of its drawing to the left of its center.
    pub(super) left: f64,
    /// Extent of its drawing to the right of its center, with loops.
    pub(super) right: f64,
    /// Extent of its drawing above and below its center.
    pub(super) half_height: f64,
    /// Maximum distance from the middle at which edges may begin and end.
    pub(super) ports: f64,
}

/// An edge between two different states.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayoutEdge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Width and height of its label.
    pub(super) label: Option<(f64, f64)>,
}

/// Route of an edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    /// Point where it leaves its state.
    pub(super) start: DrawingPoint,
    /// Cubic curves, each from the end of the one before: two control points and the end.
    pub(super) curves: Vec<[DrawingPoint; 3]>,
    /// Tip of its arrow. The curves end where the arrow begins.
    pub(super) tip: DrawingPoint,
    /// Center of its label.
    pub(super) label: Option<DrawingPoint>,
}

impl Route {
    /// Iterates over all points.
    fn points_mut(&mut self) -> impl Iterator<Item = &mut DrawingPoint> {
        [&mut self.start, &mut self.tip]
            .into_iter()
            .chain(self.curves.iter_mut().flatten())
            .chain(&mut self.label)
    }
}

/// Positions of everything in a drawing.
#[derive(Clone, Debug, Default)]
pub(super) struct GraphLayout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Center of each state's ellipse.
    pub(super) centres: Vec<DrawingPoint>,
    /// Route of each edge.
    pub(super) routes: Vec<Route>,
}

/// Distance between components of a graph.
const COMPONENT_GAP: f64 = 40.0;

/// Lays out a graph. Returns `None` if edges would pass too many layers to finish soon.
pub(super) fn layout(
    nodes: &[LayoutNode],
    edges: &[LayoutEdge],
    starts: &[usize],
) -> Option<GraphLayout> {
    let mut whole = GraphLayout {
        centres: vec![DrawingPoint::default(); nodes.len()],
        routes: vec![Route::default(); edges.len()],
        ..GraphLayout::default()
    };
    let mut components = Vec::new();
    for component in find_components(nodes.len(), edges, starts) {
        let drawing = draw_component(nodes, edges, starts, &component)?;
        components.push((component, drawing));
    }
    // The rest is sorted by height, so that each row has components of similar height. The first
    // component has the start and stays first.
    if let [_, rest @ ..] = &mut components[..] {
        rest.sort_by(|(_, one), (_, other)| other.height.total_cmp(&one.height));
    }
    let area: f64 = (components.iter())
        .map(|(_, drawing)| (drawing.width + COMPONENT_GAP) * (drawing.height + COMPONENT_GAP))
        .sum();
    let widest =
        (components.iter()).fold(0.0_f64, |widest, (_, drawing)| widest.max(drawing.width));
    let max_width = widest.max(1.6 * area.sqrt());
    let (mut x, mut y, mut row_height) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (component, mut drawing) in components {
        if x > 0.0 && x + drawing.width > max_width {
            (x, y) = (0.0, y + row_height + COMPONENT_GAP);
            row_height = 0.0;
        }
        for (&node, centre) in component.nodes.iter().zip(&drawing.centres) {
            whole.centres[node] = centre.translated(x, y);
        }
        for (&edge, route) in component.edges.iter().zip(&mut drawing.routes) {
            (route.points_mut()).for_each(|point| *point = point.translated(x, y));
            whole.routes[edge] = std::mem::take(route);
        }
        whole.width = whole.width.max(x + drawing.width);
        whole.height = whole.height.max(y + drawing.height);
        row_height = row_height.max(drawing.height);
        x += drawing.width + COMPONENT_GAP;
    }
    Some(whole)
}

/// A connected component of the graph.
struct GraphComponent {
    /// Indices of its states.
    nodes: Vec<usize>,
    /// Indices of its edges.
    edges: Vec<usize>,
}

/// Returns the components: first those with a start state, then in the order of their first states.
fn find_components(count: usize, edges: &[LayoutEdge], starts: &[usize]) -> Vec<GraphComponent> {
    let mut leader: Vec<usize> = (0..count).collect();
    fn find_leader(leader: &mut [usize], mut node: usize) -> usize {
        while leader[node] != node {
            leader[node] = leader[leader[node]];
            node = leader[node];
        }
        node
    }
    for edge in edges {
        let (from, to) = (
            find_leader(&mut leader, edge.from),
            find_leader(&mut leader, edge.to),
        );
        leader[from] = to;
    }
    let mut component_of = vec![None; count];
    let mut components: Vec<GraphComponent> = Vec::new();
    for node in starts.iter().copied().chain(0..count) {
        let index = component_of[find_leader(&mut leader, node)].get_or_insert(components.len());
        if *index == components.len() {
            components.push(GraphComponent {
                nodes: Vec::new(),
                edges: Vec::new(),
            });
        }
    }
    for node in 0..count {
        if let Some(index) = component_of[find_leader(&mut leader, node)] {
            components[index].nodes.push(node);
        }
    }
    for (number, edge) in edges.iter().enumerate() {
        if let Some(index) = component_of[find_leader(&mut leader, edge.from)] {
            components[index].edges.push(number);
        }
    }
    components
}

/// Lays out a component.
fn draw_component(
    nodes: &[LayoutNode],
    edges: &[LayoutEdge],
    starts: &[usize],
    component: &GraphComponent,
) -> Option<GraphLayout> {
    let mut local = vec![usize::MAX; nodes.len()];
    for (index, &node) in component.nodes.iter().enumerate() {
        local[node] = index;
    }
    let nodes: Vec<LayoutNode> = component.nodes.iter().map(|&node| nodes[node]).collect();
    let starts: Vec<usize> = (starts.iter().map(|&start| local[start]))
        .filter(|&start| start != usize::MAX)
        .collect();
    let edges: Vec<LayoutEdge> = (component.edges.iter())
        .map(|&edge| LayoutEdge {
            from: local[edges[edge].from],
            to: local[edges[edge].to],
            label: edges[edge].label,
        })
        .collect();
    let (reversed_edges, layer_of) = layers::assign_layers(&nodes, &edges, &starts);
    let mut layered = LayeredGraph::new(&nodes, &edges, &reversed_edges, &layer_of)?;
    order::reduce_crossings(&mut layered);
    let x = coordinates::x_coordinates(&layered);
    let rows = coordinates::rows(&layered, &x);
    let mut drawing = GraphLayout {
        centres: (0..nodes.len())
            .map(|node| DrawingPoint {
                x: x[node],
                y: rows[layered.vertices[node].layer].centre,
            })
            .collect(),
        routes: splines::routes(&layered, &nodes, &edges, &reversed_edges, &x, &rows),
        ..GraphLayout::default()
    };
    crop(&mut drawing, &nodes, &edges);
    Some(drawing)
}

/// Moves the drawing to the upper left corner, and measures it.
fn crop(drawing: &mut GraphLayout, nodes: &[LayoutNode], edges: &[LayoutEdge]) {
    let (mut left, mut top) = (f64::MAX, f64::MAX);
    let (mut right, mut bottom) = (f64::MIN, f64::MIN);
    let mut include = |point: DrawingPoint, west: f64, east: f64, half_height: f64| {
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
        *centre = centre.translated(-left, -top);
    }
    for point in drawing.routes.iter_mut().flat_map(Route::points_mut) {
        *point = point.translated(-left, -top);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn node() -> LayoutNode {
        LayoutNode {
            radii: (20.0, 17.0),
            left: 20.0,
            right: 20.0,
            half_height: 17.0,
            ports: 13.0,
        }
    }

    fn drawn(count: usize, pairs: &[(usize, usize)]) -> GraphLayout {
        let edges: Vec<LayoutEdge> = (pairs.iter())
            .map(|&(from, to)| LayoutEdge {
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
        let components = drawn(4, &[(0, 1), (2, 3)]);
        assert_eq!(components.centres[0].y, components.centres[2].y);
        assert!(components.centres[2].x - components.centres[0].x > 40.0);
    }

    #[test]
    fn too_many_pieces_are_not_drawn() {
        // Two thousand edges. Each passes a layer for each of a thousand states.
        let mut edges: Vec<LayoutEdge> = Vec::new();
        let mut add = |from, to| {
            edges.push(LayoutEdge {
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
