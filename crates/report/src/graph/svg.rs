//! A state graph as SVG, laid out and drawn here: Graphviz is not needed.
//!
//! Start states are on top, transitions lead down unless they close a cycle. Transitions between
//! the same two states are one edge with all their labels, at most four lines of them; the full
//! text is shown when one points at it. Special states have a color and, for readers who do not
//! see the color, a border and a badge. A legend explains those that occur.
//!
//! The result is good for a few hundred states. Up to [`MAX_STATES`] states it is drawn with less
//! care. Beyond that, or if the edges would pass too many layers, the picture only says so.

mod drawing;
mod marks;
mod shapes;

use super::bundles::{Bundle, bundles};
use super::escape::escape_line;
use super::layout::{GraphLayout, LayoutEdge, LayoutNode, layout};
use super::text_width::{shorten, text_width};
use super::{Labels, StateGraph, StateMarks};
use marks::StateMark;
pub(super) use shapes::format_number;

/// Maximum number of states that are drawn.
pub const MAX_STATES: usize = 5_000;
/// Maximum number of edges that are drawn, after parallel transitions were bundled.
pub const MAX_EDGES: usize = 25_000;

/// Options for the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SvgOptions {
    /// Labels of edges.
    pub labels: Labels,
    /// Index of the trace that is drawn bold, if any.
    pub trace: Option<usize>,
}

/// Renders a graph as an SVG document on white.
pub fn write(graph: &StateGraph, options: &SvgOptions) -> String {
    let plan = DrawingPlan::new(graph, options.labels);
    drawing::document(graph, &plan, options.trace)
}

/// Renders the picture for an HTML page.
pub(super) fn picture(graph: &StateGraph, plan: &DrawingPlan) -> String {
    drawing::document(graph, plan, None)
}

/// Describes the marks of a state in words.
pub(super) fn describe_marks(marks: StateMarks) -> String {
    let words: Vec<&str> = StateMark::applying(marks).map(StateMark::text).collect();
    words.join("; ")
}

/// Font size of the names of states.
const FONT_SIZE: f64 = 13.0;
/// Half the height of a state.
const HALF_HEIGHT: f64 = 17.0;
/// Maximum width of a name. Longer names lose their middle.
const MAX_NAME_WIDTH: f64 = 150.0;
/// Distance that a loop reaches out of its state. Its label follows after that.
const LOOP: f64 = 24.0;
/// Length of the arrow that leads to a start state.
const START_ARROW: f64 = 24.0;

/// Everything that is drawn, and its position.
pub(super) struct DrawingPlan {
    /// Text inside each state.
    names: Vec<String>,
    /// Room that each state takes.
    nodes: Vec<LayoutNode>,
    /// Edges with their labels.
    pub(super) bundles: Vec<Bundle>,
    /// For each bundle that is not a loop, its index among the edges of the layout.
    edge_of: Vec<Option<usize>>,
    /// Positions, or `None` if the graph is too large.
    layout: Option<GraphLayout>,
}

impl DrawingPlan {
    /// Measures and lays out a graph.
    pub(super) fn new(graph: &StateGraph, labels: Labels) -> DrawingPlan {
        let bundles = bundles(graph, labels);
        let names: Vec<String> = (graph.states.iter())
            .map(|state| shorten(&escape_line(&state.name), FONT_SIZE, MAX_NAME_WIDTH))
            .collect();
        let mut nodes: Vec<LayoutNode> = (graph.states.iter().zip(&names))
            .map(|(state, name)| {
                let half_width = (text_width(name, FONT_SIZE) / 2.0 + 11.0).max(20.0);
                // Badges reach a little over the rim, and must not hide the head of an arrow.
                let has_badge = StateMark::applying(state.marks).any(|mark| mark.badge().is_some());
                LayoutNode {
                    radii: (half_width, HALF_HEIGHT),
                    left: half_width + if state.marks.start { START_ARROW } else { 7.0 },
                    right: half_width + 7.0,
                    half_height: HALF_HEIGHT + 4.0,
                    ports: half_width * if has_badge { 0.35 } else { 0.66 },
                }
            })
            .collect();
        let mut edges = Vec::new();
        let mut edge_of = Vec::with_capacity(bundles.len());
        for bundle in &bundles {
            let label = bundle.label_size();
            if bundle.from == bundle.to {
                let node = &mut nodes[bundle.from];
                let (width, height) = label.unwrap_or_default();
                node.right = node.radii.0 + LOOP + width;
                node.half_height = node.half_height.max(height / 2.0);
                edge_of.push(None);
            } else {
                edge_of.push(Some(edges.len()));
                edges.push(LayoutEdge {
                    from: bundle.from,
                    to: bundle.to,
                    label,
                });
            }
        }
        let starts: Vec<usize> = (0..graph.states.len())
            .filter(|&state| graph.states[state].marks.start)
            .collect();
        let is_small = nodes.len() <= MAX_STATES && edges.len() <= MAX_EDGES;
        let layout = if is_small {
            layout(&nodes, &edges, &starts)
        } else {
            None
        };
        DrawingPlan {
            names,
            nodes,
            bundles,
            edge_of,
            layout,
        }
    }
}

#[cfg(test)]
mod overlap_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphState, GraphTrace, toys};

    /// Returns the names of all XML elements of a text.
    fn read(text: &str) -> Vec<String> {
        use quick_xml::events::Event;
        let mut reader = quick_xml::Reader::from_str(text);
        let (mut names, mut depth) = (Vec::new(), 0);
        loop {
            match reader.read_event().expect("well-formed") {
                Event::Start(start) => {
                    depth += 1;
                    names.push(start.name().as_ref().to_owned());
                    start.attributes().for_each(|attribute| {
                        attribute.expect("a sound attribute");
                    });
                }
                Event::Empty(start) => names.push(start.name().as_ref().to_owned()),
                Event::End(_) => depth -= 1,
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(depth, 0);
        names
    }

    #[test]
    fn every_picture_is_well_formed() {
        for graph in toys::all() {
            for labels in [Labels::Action, Labels::Name, Labels::None] {
                let text = write(
                    &graph,
                    &SvgOptions {
                        labels,
                        trace: None,
                    },
                );
                let names = read(&text);
                assert!(!names.iter().any(|name| name == "script"));
                let allowed = |letter: char| letter == '\n' || !letter.is_control();
                assert!(text.chars().all(allowed), "{}", graph.title);
                let count = |name: &str| names.iter().filter(|other| *other == name).count();
                assert!(count("ellipse") >= graph.states.len());
            }
        }
    }

    #[test]
    fn the_same_graph_gives_the_same_text() {
        let graph = toys::random(60, 150, 7);
        let options = SvgOptions::default();
        assert_eq!(write(&graph, &options), write(&graph.clone(), &options));
    }

    #[test]
    fn all_transitions_are_in_the_title() {
        let text = write(&toys::parallel(30), &SvgOptions::default());
        assert!(text.contains("… 27 more"));
        for value in 0..30 {
            assert!(text.contains(&format!("&#10;Put({value})")), "{value}");
        }
    }

    #[test]
    fn marks_that_occur_are_in_the_legend() {
        let text = write(&toys::traffic_light(), &SvgOptions::default());
        assert!(
            text.contains(">start</text>") && text.contains(">accepting: a run may stop</text>")
        );
        assert!(!text.contains("unsafe: ") && !text.contains("dead: "));
        let text = write(&toys::marked(), &SvgOptions::default());
        for mark in StateMark::ALL {
            assert!(text.contains(&format!(">{}</text>", mark.text())));
        }
        assert!(
            !write(&StateGraph::default(), &SvgOptions::default()).contains("class=\"legend\"")
        );
    }

    #[test]
    fn a_trace_is_bold_if_it_is_a_path() {
        let count = |graph: &StateGraph, trace| {
            let labels = Labels::Action;
            write(graph, &SvgOptions { labels, trace })
                .matches(" on\"")
                .count()
        };
        let mut graph = toys::traffic_light();
        assert_eq!(count(&graph, None), 0);
        assert_eq!(count(&graph, Some(0)), 6);
        assert_eq!(count(&graph, Some(1)), 0);
        graph.traces.push(GraphTrace {
            name: "no path".to_owned(),
            transitions: vec![0, 2, 77],
        });
        assert_eq!(count(&graph, Some(1)), 0);
    }

    #[test]
    fn a_graph_that_is_too_large_is_not_drawn() {
        let mut graph = toys::chain(3);
        graph.states.resize(MAX_STATES + 1, GraphState::default());
        let text = write(&graph, &SvgOptions::default());
        assert!(text.contains("too large to be drawn"));
        assert!(text.contains("5001 states, 3 transitions"));
        assert!(!text.contains("class=\"legend\""));
        read(&text);
    }

    #[test]
    fn thousands_of_states_are_drawn() {
        let graph = toys::random(1_000, 1_500, 5);
        assert!(write(&graph, &SvgOptions::default()).contains("data-state=\"999\""));
    }
}
