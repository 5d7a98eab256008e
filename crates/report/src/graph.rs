//! Pictures of state graphs: DOT for Graphviz and others, SVG drawn here, a page to walk about in, and the path of one
//! test with what else could have been done.
//!
//! ```
//! use testwright_report::graph::{Labels, Marks, State, StateGraph, Transition, dot, svg};
//!
//! let state = |name: &str, details: &str, marks| State {
//!     name: name.to_owned(),
//!     details: details.to_owned(),
//!     marks,
//! };
//! let change = |from, to| Transition {
//!     from,
//!     to,
//!     name: "Change".to_owned(),
//!     text: "Change()".to_owned(),
//! };
//! let lights = StateGraph {
//!     title: "lights".to_owned(),
//!     states: vec![
//!         state("0", "{'colour': 'red'}", Marks { start: true, accepting: true, ..Marks::default() }),
//!         state("1", "{'colour': 'green'}", Marks::default()),
//!     ],
//!     transitions: vec![change(0, 1), change(1, 0)],
//!     traces: Vec::new(),
//! };
//! let options = dot::Options { labels: Labels::Name, state_tooltips: false, transition_tooltips: false };
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
//! assert!(svg::write(&lights, &svg::Options::default()).starts_with("<svg "));
//! ```
//!
//! All texts come from models, that is from strangers: each writer escapes everything. A transition that leads from or
//! to a state that is not there is left out, and so is a trace that has it or that is no path.
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

/// States and how one gets from one to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateGraph {
    /// What it is a graph of: the graph's name in DOT, the headline elsewhere.
    pub title: String,
    /// All states. Others name a state by its place in this list.
    pub states: Vec<State>,
    /// All transitions, in the order in which they were found.
    pub transitions: Vec<Transition>,
    /// Ways through the graph that the page offers to step along.
    pub traces: Vec<Trace>,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// What is written inside it, best a number.
    pub name: String,
    /// All of it, as text; seen when one points at the state.
    pub details: String,
    /// What is special about it.
    pub marks: Marks,
}

/// What is special about a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// A run may stop here.
    pub accepting: bool,
    /// A run starts here.
    pub start: bool,
    /// An invariant does not hold here.
    pub is_unsafe: bool,
    /// Not all that can be done here was tried, so that transitions may be missing.
    pub frontier: bool,
    /// Nothing can be done here, and a run may not stop.
    pub deadend: bool,
    /// Nothing can be done here, and a run may stop.
    pub finished: bool,
    /// No accepting state can be reached from here.
    pub dead: bool,
}

/// Something that can be done in a state, and where it leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// The state before.
    pub from: usize,
    /// The state after.
    pub to: usize,
    /// The action's name: `Login`.
    pub name: String,
    /// The action with its arguments and its result: `Login('x', 1)/'ok'`.
    pub text: String,
}

/// A way through a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// What it is called where one can choose it.
    pub name: String,
    /// The transitions, each of which starts where the one before it ended.
    pub transitions: Vec<usize>,
}

/// What is written at a transition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// The action with arguments and result.
    #[default]
    Action,
    /// The action's name.
    Name,
    /// Nothing.
    None,
}

impl Labels {
    /// What is written at this transition.
    fn of(self, transition: &Transition) -> &str {
        match self {
            Labels::Action => &transition.text,
            Labels::Name => &transition.name,
            Labels::None => "",
        }
    }
}

impl StateGraph {
    /// The transitions between states that are there, with their places.
    fn sound_transitions(&self) -> impl Iterator<Item = (usize, &Transition)> {
        let count = self.states.len();
        (self.transitions.iter().enumerate())
            .filter(move |(_, transition)| transition.from < count && transition.to < count)
    }

    /// Whether these transitions are there and each starts where the one before it ended.
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
