//! DOT, the language of Graphviz, arranged as PyModel's viewer does: a node for each state, an edge
//! for each transition.
//!
//! In contrast to PyModel, names that are not identifiers of the language are quoted and texts are
//! escaped, so that Graphviz reads every graph.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{GraphState, Labels, StateGraph, StateMarks};
use crate::visible::make_visible;

/// Options for the DOT text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DotOptions {
    /// Labels of transitions.
    pub labels: Labels,
    /// True if a state shows its details when one points at it.
    pub state_tooltips: bool,
    /// True if a transition shows its text when one points at it.
    pub transition_tooltips: bool,
}

impl Default for DotOptions {
    fn default() -> Self {
        DotOptions {
            labels: Labels::Action,
            state_tooltips: true,
            transition_tooltips: true,
        }
    }
}

/// Renders a graph in DOT.
pub fn write(graph: &StateGraph, options: &DotOptions) -> String {
    let ids = node_ids(&graph.states);
    let mut text = format!("digraph {} {{\n\n  // Nodes\n", quote_id(&graph.title));
    for (state, (id, label)) in graph.states.iter().zip(&ids) {
        text += &format!(
            "  {id} [ style=filled, shape=ellipse, peripheries={}, fillcolor={}",
            if state.marks.accepting { 2 } else { 1 },
            fill_colour(state.marks),
        );
        if let Some(label) = label {
            text += &format!(", label={}", quoted(label));
        }
        if options.state_tooltips && !state.details.is_empty() {
            text += &format!(",\n      tooltip={}", quoted(&state.details));
        }
        text += " ]\n";
    }
    text += "\n  // Transitions\n";
    for (_, transition) in graph.valid_transitions() {
        text += &format!(
            "  {} -> {} [ label={}",
            ids[transition.from].0,
            ids[transition.to].0,
            quoted(options.labels.label_text(transition))
        );
        if options.transition_tooltips {
            text += &format!(", tooltip={}", quoted(&transition.text));
        }
        text += " ]\n";
    }
    text + "}\n"
}

/// Returns the color of the first mark that applies. The colors are PyModel's, so states that
/// only the analysis of dead states marks look like others.
fn fill_colour(marks: StateMarks) -> &'static str {
    let colours = [
        (marks.is_unsafe, "red"),
        (marks.frontier, "orange"),
        (marks.deadend, "yellow"),
        (marks.finished, "lightgreen"),
        (marks.start, "lightgray"),
    ];
    (colours.iter())
        .find(|(applies, _)| *applies)
        .map_or("white", |(_, colour)| colour)
}

/// Returns the identifier of each state, and its label if that differs. Graphviz would merge two
/// states with the same name. If that occurs, all states are identified by their index, and the
/// name becomes a label.
fn node_ids(states: &[GraphState]) -> Vec<(String, Option<&str>)> {
    let names: BTreeSet<&str> = states.iter().map(|state| state.name.as_str()).collect();
    let is_one_each = names.len() == states.len();
    (states.iter().enumerate())
        .map(|(index, state)| {
            if is_one_each {
                (quote_id(&state.name), None)
            } else {
                (index.to_string(), Some(state.name.as_str()))
            }
        })
        .collect()
}

/// Returns a name, quoted if necessary.
fn quote_id(name: &str) -> String {
    if is_identifier(name) || is_number(name) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// Returns true if a name needs no quotation marks as an identifier.
fn is_identifier(name: &str) -> bool {
    let is_keyword = ["node", "edge", "graph", "digraph", "subgraph", "strict"]
        .iter()
        .any(|keyword| name.eq_ignore_ascii_case(keyword));
    !is_keyword
        && name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && (name.chars()).all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Returns true if a name needs no quotation marks as a number.
fn is_number(name: &str) -> bool {
    let digits = name.strip_prefix('-').unwrap_or(name);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    (whole.len() + part.len() > 0)
        && (whole.bytes().chain(part.bytes())).all(|digit| digit.is_ascii_digit())
}

/// Quotes a text as Graphviz reads it in labels and tooltips.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for (index, letter) in text.char_indices() {
        match letter {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '&' if is_entity(&text[index..]) => quoted += "&amp;",
            _ => {
                // Invisible characters are spelled with a backslash, which has to be escaped too.
                let shown = make_visible(letter.encode_utf8(&mut [0; 4])).replace('\\', "\\\\");
                let _ = quoted.write_str(&shown);
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Returns true if Graphviz would read the beginning of a text as an HTML character entity.
fn is_entity(text: &str) -> bool {
    let name = text.trim_start_matches('&');
    let name = name.strip_prefix('#').unwrap_or(name);
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric());
    end.is_some_and(|end| end > 0 && name[end..].starts_with(';'))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::graph::{GraphTransition, toys};

    #[test]
    fn the_layout_is_the_old_one() {
        let text = write(&toys::marked(), &DotOptions::default());
        expect![[r#"
            digraph marked {

              // Nodes
              0 [ style=filled, shape=ellipse, peripheries=1, fillcolor=lightgray,
                  tooltip="{'n': 0}" ]
              1 [ style=filled, shape=ellipse, peripheries=2, fillcolor=lightgray,
                  tooltip="{'n': 1}" ]
              2 [ style=filled, shape=ellipse, peripheries=1, fillcolor=red,
                  tooltip="{'n': 2}" ]
              3 [ style=filled, shape=ellipse, peripheries=1, fillcolor=orange,
                  tooltip="{'n': 3}" ]
              4 [ style=filled, shape=ellipse, peripheries=1, fillcolor=yellow,
                  tooltip="{'n': 4}" ]
              5 [ style=filled, shape=ellipse, peripheries=2, fillcolor=lightgreen,
                  tooltip="{'n': 5}" ]
              6 [ style=filled, shape=ellipse, peripheries=1, fillcolor=white,
                  tooltip="{'n': 6}" ]
              7 [ style=filled, shape=ellipse, peripheries=2, fillcolor=red,
                  tooltip="{'n': 7}" ]

              // Transitions
              0 -> 1 [ label="Go(1)", tooltip="Go(1)" ]
              0 -> 2 [ label="Go(2)", tooltip="Go(2)" ]
              0 -> 3 [ label="Go(3)", tooltip="Go(3)" ]
              0 -> 4 [ label="Go(4)", tooltip="Go(4)" ]
              0 -> 5 [ label="Go(5)", tooltip="Go(5)" ]
              0 -> 6 [ label="Go(6)", tooltip="Go(6)" ]
              0 -> 7 [ label="Go(7)", tooltip="Go(7)" ]
              6 -> 6 [ label="Stay()", tooltip="Stay()" ]
            }
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn labels_and_tooltips_can_be_chosen() {
        let options = |labels, transition_tooltips| DotOptions {
            labels,
            state_tooltips: false,
            transition_tooltips,
        };
        let text = write(&toys::marked(), &options(Labels::Name, false));
        assert!(text.contains("  0 -> 1 [ label=\"Go\" ]\n"), "{text}");
        assert!(text.contains("fillcolor=lightgray ]\n"), "{text}");
        let text = write(&toys::marked(), &options(Labels::None, true));
        assert!(text.contains("  0 -> 1 [ label=\"\", tooltip=\"Go(1)\" ]\n"));
    }

    #[test]
    fn names_are_quoted_when_needed() {
        for name in ["a", "_a1", "12", "-1.5", ".5", "5."] {
            assert_eq!(quote_id(name), name);
        }
        for name in [
            "", "1a", "-", ".", "a-b", "Node", "strict", "1.2.3", "ä", "a b",
        ] {
            assert_eq!(quote_id(name), format!("\"{name}\""));
        }
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(quoted("a\"b\\c\nd\te\u{1b}"), r#""a\"b\\c\nd\\te\\u{1b}""#);
        assert_eq!(
            quoted("a & b &lt; c &#60; &;"),
            "\"a & b &amp;lt; c &amp;#60; &;\""
        );
    }

    #[test]
    fn states_of_the_same_name_stay_apart() {
        let mut graph = toys::traffic_light();
        for state in &mut graph.states {
            state.name = "on".to_owned();
        }
        let text = write(&graph, &DotOptions::default());
        assert!(text.contains("fillcolor=white, label=\"on\",\n"), "{text}");
        assert!(text.contains("  1 -> 2 [ "));
    }

    #[test]
    fn states_without_details_have_no_tooltip() {
        let mut graph = toys::traffic_light();
        graph.states[0].details.clear();
        let text = write(&graph, &DotOptions::default());
        assert_eq!(text.matches("tooltip=\"{").count(), graph.states.len() - 1);
        assert!(!text.contains("tooltip=\"\""), "{text}");
    }

    #[test]
    fn transitions_to_nowhere_are_left_out() {
        let mut graph = toys::traffic_light();
        graph.transitions.push(GraphTransition {
            from: 0,
            to: 99,
            name: "Fall".to_owned(),
            text: "Fall()".to_owned(),
        });
        assert!(!write(&graph, &DotOptions::default()).contains("Fall"));
    }
}
