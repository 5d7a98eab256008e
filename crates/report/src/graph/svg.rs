//! A state graph as SVG, laid out and drawn here: no Graphviz is needed.
//!
//! Start states are on top, transitions lead down unless they close a cycle. Transitions from one state to the same
//! other are one edge with all their labels, at most four lines of them; what is cut off is seen when one points at it.
//! What is special about a state is said by its colour and, for those who do not see the colour, by its border and a
//! badge; a legend explains those that occur.
//!
//! Good to look at for a few hundred states. Up to [`MOST_STATES`] states it is drawn with less care; beyond, or where
//! the edges would pass too many layers, the picture only says so.

mod drawing;
mod marks;
mod shapes;

use super::bundles::{Bundle, bundles};
use super::escape::one_line;
use super::layout::{Edge, Layout, Node, layout};
use super::text_width::{shorten, text_width};
use super::{Labels, Marks, StateGraph};
use marks::Mark;
pub(super) use shapes::number;

/// Graphs with more states are not drawn.
pub const MOST_STATES: usize = 5_000;
/// Graphs with more edges, after parallel transitions have become one, are not drawn.
pub const MOST_EDGES: usize = 25_000;

/// What is to be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What is written at an edge.
    pub labels: Labels,
    /// Which of the graph's traces is drawn bold, if any.
    pub trace: Option<usize>,
}

/// The graph as a document of its own, on white.
pub fn write(graph: &StateGraph, options: &Options) -> String {
    let plan = Plan::new(graph, options.labels);
    drawing::document(graph, &plan, options.trace)
}

/// The picture for a page of ours.
pub(super) fn picture(graph: &StateGraph, plan: &Plan) -> String {
    drawing::document(graph, plan, None)
}

/// What is special about a state, in words.
pub(super) fn words(marks: Marks) -> String {
    let words: Vec<&str> = Mark::of(marks).map(Mark::words).collect();
    words.join("; ")
}

/// How large names of states are written.
const FONT_SIZE: f64 = 13.0;
/// Half the height of a state.
const HALF_HEIGHT: f64 = 17.0;
/// Longer names lose their middle.
const LONGEST_NAME: f64 = 150.0;
/// How far a loop reaches out of its state; its label comes after that.
const LOOP: f64 = 24.0;
/// How long the arrow is that leads to a start state.
const START_ARROW: f64 = 24.0;

/// All that is to be drawn and where.
pub(super) struct Plan {
    /// What is written in each state.
    names: Vec<String>,
    nodes: Vec<Node>,
    pub(super) bundles: Vec<Bundle>,
    /// For each bundle that is no loop, its place among the edges of the layout.
    edge_of: Vec<Option<usize>>,
    /// Nothing if the graph is too large.
    layout: Option<Layout>,
}

impl Plan {
    pub(super) fn new(graph: &StateGraph, labels: Labels) -> Plan {
        let bundles = bundles(graph, labels);
        let names: Vec<String> = (graph.states.iter())
            .map(|state| shorten(&one_line(&state.name), FONT_SIZE, LONGEST_NAME))
            .collect();
        let mut nodes: Vec<Node> = (graph.states.iter().zip(&names))
            .map(|(state, name)| {
                let half_width = (text_width(name, FONT_SIZE) / 2.0 + 11.0).max(20.0);
                // Badges reach a little over the rim, and no arrow's head should be hidden by one.
                let has_badge = Mark::of(state.marks).any(|mark| mark.badge().is_some());
                Node {
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
                edges.push(Edge {
                    from: bundle.from,
                    to: bundle.to,
                    label,
                });
            }
        }
        let starts: Vec<usize> = (0..graph.states.len())
            .filter(|&state| graph.states[state].marks.start)
            .collect();
        let is_small = nodes.len() <= MOST_STATES && edges.len() <= MOST_EDGES;
        let layout = if is_small {
            layout(&nodes, &edges, &starts)
        } else {
            None
        };
        Plan {
            names,
            nodes,
            bundles,
            edge_of,
            layout,
        }
    }
}

#[cfg(test)]
mod measured;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{State, Trace, toys};

    /// The names of all elements that a reader of XML finds.
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
                    &Options {
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
        let options = Options::default();
        assert_eq!(write(&graph, &options), write(&graph.clone(), &options));
    }

    #[test]
    fn all_transitions_are_in_the_title() {
        let text = write(&toys::parallel(30), &Options::default());
        assert!(text.contains("… 27 more"));
        for value in 0..30 {
            assert!(text.contains(&format!("&#10;Put({value})")), "{value}");
        }
    }

    #[test]
    fn marks_that_occur_are_in_the_legend() {
        let text = write(&toys::traffic_light(), &Options::default());
        assert!(
            text.contains(">start</text>") && text.contains(">accepting: a run may stop</text>")
        );
        assert!(!text.contains("unsafe: ") && !text.contains("dead: "));
        let text = write(&toys::marked(), &Options::default());
        for mark in Mark::ALL {
            assert!(text.contains(&format!(">{}</text>", mark.words())));
        }
        assert!(!write(&StateGraph::default(), &Options::default()).contains("class=\"legend\""));
    }

    #[test]
    fn a_trace_is_bold_if_it_is_a_path() {
        let count = |graph: &StateGraph, trace| {
            let labels = Labels::Action;
            write(graph, &Options { labels, trace })
                .matches(" on\"")
                .count()
        };
        let mut graph = toys::traffic_light();
        assert_eq!(count(&graph, None), 0);
        assert_eq!(count(&graph, Some(0)), 6);
        assert_eq!(count(&graph, Some(1)), 0);
        graph.traces.push(Trace {
            name: "no path".to_owned(),
            transitions: vec![0, 2, 77],
        });
        assert_eq!(count(&graph, Some(1)), 0);
    }

    #[test]
    fn a_graph_that_is_too_large_is_not_drawn() {
        let mut graph = toys::chain(3);
        graph.states.resize(MOST_STATES + 1, State::default());
        let text = write(&graph, &Options::default());
        assert!(text.contains("too large to be drawn"));
        assert!(text.contains("5001 states, 3 transitions"));
        assert!(!text.contains("class=\"legend\""));
        read(&text);
    }

    #[test]
    fn thousands_of_states_are_drawn() {
        let graph = toys::random(1_000, 1_500, 5);
        assert!(write(&graph, &Options::default()).contains("data-state=\"999\""));
    }
}
