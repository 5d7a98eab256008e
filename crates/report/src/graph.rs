//! Pictures of state graphs.
//!
//! There are four formats: DOT for Graphviz and others, SVG drawn here, an interactive page, and
//! the path of one test with the other actions that were possible.
//!
//! ```
//! use testwright_report::graph::{
//!     GraphState, GraphTransition, Labels, StateGraph, StateMarks, dot, svg,
//! };
//!
//! let state = |name: &str, details: &str, marks| GraphState {
//!     name: name.to_owned(),
//!     details: details.to_owned(),
//!     marks,
//! };
//! let change = |from, to| GraphTransition {
//!     from,
//!     to,
//!     name: "Change".to_owned(),
//!     text: "Change()".to_owned(),
//! };
//! let first = StateMarks { start: true, accepting: true, ..StateMarks::default() };
//! let lights = StateGraph {
//!     title: "lights".to_owned(),
//!     states: vec![
//!         state("0", "{'color': 'red'}", first),
//!         state("1", "{'color': 'green'}", StateMarks::default()),
//!     ],
//!     transitions: vec![change(0, 1), change(1, 0)],
//!     traces: Vec::new(),
//! };
//! let options = dot::DotOptions {
//!     labels: Labels::Name,
//!     state_tooltips: false,
//!     transition_tooltips: false,
//! };
//! assert_eq!(
//!     dot::write(&lights, &options),
//!     "\
//! digraph lights {
//!
//!   // Nodes
//!   0 [ style=filled, shape=ellipse, peripheries=2, fillcolor=lightgray ]
//!   1 [ style=filled, shape=ellipse, peripheries=1, fillcolor=white ]
//!
//!   // Transitions
//!   0 -> 1 [ label=\"Change\" ]
//!   1 -> 0 [ label=\"Change\" ]
//! }
//! "
//! );
//! assert!(svg::write(&lights, &svg::SvgOptions::default()).starts_with("<svg "));
//! ```
//!
//! Texts come from models and are not trusted: each writer escapes everything. A transition from or
//! to a state that does not exist is left out, and so is a trace that contains it or that is not a
//! path.
//!
//! The same graph gives the same text, byte for byte.

mod bundles;
pub mod dot;
mod escape;
mod layout;
pub mod page;
pub mod path;
pub mod svg;
mod text_width;
#[cfg(test)]
mod toys;

/// States and the transitions between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateGraph {
    /// Subject of the graph: its name in DOT, the headline elsewhere.
    pub title: String,
    /// All states. Transitions refer to a state by its index in this list.
    pub states: Vec<GraphState>,
    /// All transitions, in the order of discovery.
    pub transitions: Vec<GraphTransition>,
    /// Paths through the graph that the page offers to step along.
    pub traces: Vec<GraphTrace>,
}

/// A state of the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphState {
    /// Text inside the state, preferably a number.
    pub name: String,
    /// Full description, shown when one points at the state.
    pub details: String,
    /// Special properties of the state.
    pub marks: StateMarks,
}

/// Special properties of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateMarks {
    /// A run may stop in the state.
    pub accepting: bool,
    /// A run starts in the state.
    pub start: bool,
    /// An invariant is false in the state.
    pub is_unsafe: bool,
    /// The state was not fully explored, so transitions may be missing.
    pub frontier: bool,
    /// No action is possible in the state, and a run may not stop there.
    pub deadend: bool,
    /// No action is possible in the state, and a run may stop there.
    pub finished: bool,
    /// No accepting state can be reached from the state.
    pub dead: bool,
}

/// An action that is possible in a state, and the state it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphTransition {
    /// Index of the state before.
    pub from: usize,
    /// Index of the state after.
    pub to: usize,
    /// Name of the action: `Login`.
    pub name: String,
    /// Action with its arguments and its result: `Login('x', 1)/'ok'`.
    pub text: String,
}

/// A path through a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphTrace {
    /// Name for choosing it.
    pub name: String,
    /// Indices of the transitions. Each starts where the one before it ended.
    pub transitions: Vec<usize>,
}

/// Labels of transitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// Action with arguments and result.
    #[default]
    Action,
    /// Name of the action.
    Name,
    /// No label.
    None,
}

impl Labels {
    /// Returns the label of a transition.
    fn label_text(self, transition: &GraphTransition) -> &str {
        match self {
            Labels::Action => &transition.text,
            Labels::Name => &transition.name,
            Labels::None => "",
        }
    }
}

impl StateGraph {
    /// Iterates over the transitions between existing states, with their indices.
    fn valid_transitions(&self) -> impl Iterator<Item = (usize, &GraphTransition)> {
        let count = self.states.len();
        (self.transitions.iter().enumerate())
            .filter(move |(_, transition)| transition.from < count && transition.to < count)
    }

    /// Returns true if these transitions exist and each starts where the one before it ended.
    fn is_path(&self, transitions: &[usize]) -> bool {
        let count = self.states.len();
        let mut state = None;
        transitions.iter().all(|&number| {
            let Some(transition) = self.transitions.get(number) else {
                return false;
            };
            let is_next = state.is_none_or(|state| state == transition.from);
            state = Some(transition.to);
            is_next && transition.from < count && transition.to < count
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_a_path() {
        let graph = toys::traffic_light();
        assert!(graph.is_path(&[]));
        assert!(graph.is_path(&[1, 2, 0]));
        assert!(!graph.is_path(&[0, 2]));
        assert!(!graph.is_path(&[3]));
    }
}
