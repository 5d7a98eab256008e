//! Small graphs of many shapes, for tests.

use std::collections::BTreeMap;

use crate::graph::{GraphState, GraphTrace, GraphTransition, StateGraph, StateMarks};

/// Pseudo-random numbers, good enough to shuffle a graph.
pub(crate) struct ToyNumbers(pub(crate) u64);

impl ToyNumbers {
    pub(crate) fn below(&mut self, max: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % max.max(1)
    }
}

/// Builds a graph with these transitions between numbered states. The first state is the start.
fn of<'a>(
    title: &str,
    count: usize,
    transitions: impl IntoIterator<Item = (usize, usize, &'a str, String)>,
) -> StateGraph {
    StateGraph {
        title: title.to_owned(),
        states: (0..count)
            .map(|number| GraphState {
                name: number.to_string(),
                details: format!("{{'n': {number}}}"),
                marks: StateMarks {
                    start: number == 0,
                    ..StateMarks::default()
                },
            })
            .collect(),
        transitions: (transitions.into_iter())
            .map(|(from, to, name, text)| GraphTransition {
                from,
                to,
                name: name.to_owned(),
                text,
            })
            .collect(),
        traces: Vec::new(),
    }
}

/// Builds three states in a circle, with a trace around it.
pub(crate) fn traffic_light() -> StateGraph {
    let change = |from, to| (from, to, "Change", "Change()".to_owned());
    let mut graph = of(
        "traffic light",
        3,
        [change(0, 1), change(1, 2), change(2, 0)],
    );
    for (state, colour) in graph.states.iter_mut().zip(["red", "green", "yellow"]) {
        state.details = format!("{{'colour': '{colour}'}}");
    }
    graph.states[0].marks.accepting = true;
    graph.traces = vec![GraphTrace {
        name: "round".to_owned(),
        transitions: vec![0, 1, 2],
    }];
    graph
}

/// Builds a graph with every mark once, and several marks on the last state.
pub(crate) fn marked() -> StateGraph {
    let go = (1..8).map(|to| (0, to, "Go", format!("Go({to})")));
    let stay = (6, 6, "Stay", "Stay()".to_owned());
    let mut graph = of("marked", 8, go.chain([stay]));
    let mut set = |state: usize, marks: StateMarks| graph.states[state].marks = marks;
    let none = StateMarks::default();
    set(
        1,
        StateMarks {
            start: true,
            accepting: true,
            ..none
        },
    );
    set(
        2,
        StateMarks {
            is_unsafe: true,
            ..none
        },
    );
    set(
        3,
        StateMarks {
            frontier: true,
            ..none
        },
    );
    set(
        4,
        StateMarks {
            deadend: true,
            dead: true,
            ..none
        },
    );
    set(
        5,
        StateMarks {
            accepting: true,
            finished: true,
            ..none
        },
    );
    set(6, StateMarks { dead: true, ..none });
    set(
        7,
        StateMarks {
            accepting: true,
            is_unsafe: true,
            frontier: true,
            deadend: true,
            finished: true,
            dead: true,
            start: true,
        },
    );
    graph
}

/// Builds a stack of at most `max` values, of two kinds.
pub(crate) fn stack(max: u32) -> StateGraph {
    let mut states: Vec<String> = vec![String::new()];
    let mut transitions = Vec::new();
    let mut next = 0;
    while next < states.len() {
        let state = states[next].clone();
        let mut lead = |states: &mut Vec<String>, name, text, to: String| {
            let index = states
                .iter()
                .position(|other| *other == to)
                .unwrap_or_else(|| {
                    states.push(to);
                    states.len() - 1
                });
            transitions.push((next, index, name, text));
        };
        if (state.len() as u32) < max {
            for value in ["a", "b"] {
                lead(
                    &mut states,
                    "Push",
                    format!("Push('{value}')"),
                    format!("{state}{value}"),
                );
            }
        }
        if let Some(last) = state.chars().last() {
            let rest = state[..state.len() - 1].to_owned();
            lead(&mut states, "Pop", format!("Pop()/'{last}'"), rest);
        }
        lead(
            &mut states,
            "Size",
            format!("Size()/{}", state.len()),
            state,
        );
        next += 1;
    }
    let mut graph = of("stack", states.len(), transitions);
    for (state, text) in graph.states.iter_mut().zip(&states) {
        state.details = format!("{{'stack': '{text}'}}");
        state.marks.accepting = text.is_empty();
    }
    graph
}

/// Builds the alternating bit protocol: a sender, a receiver, and a channel in each direction that
/// holds one message and may lose it.
pub(crate) fn alternating_bit() -> StateGraph {
    type Values = (u8, u8, Option<u8>, Option<u8>);
    let mut states: Vec<Values> = vec![(0, 0, None, None)];
    let mut known = BTreeMap::from([(states[0], 0)]);
    let mut transitions = Vec::new();
    let mut next = 0;
    while next < states.len() {
        let (sends, expects, there, back) = states[next];
        let mut steps: Vec<(&str, String, Values)> = Vec::new();
        if there.is_none() {
            steps.push((
                "Send",
                format!("Send({sends})"),
                (sends, expects, Some(sends), back),
            ));
        }
        if let Some(bit) = there {
            steps.push((
                "LoseMessage",
                "LoseMessage()".to_owned(),
                (sends, expects, None, back),
            ));
            if back.is_none() {
                let then = if bit == expects { 1 - expects } else { expects };
                let text = format!(
                    "Receive({bit})/{}",
                    if bit == expects { "'new'" } else { "'old'" }
                );
                steps.push(("Receive", text, (sends, then, None, Some(bit))));
            }
        }
        if let Some(bit) = back {
            steps.push((
                "LoseAnswer",
                "LoseAnswer()".to_owned(),
                (sends, expects, there, None),
            ));
            let then = if bit == sends { 1 - sends } else { sends };
            steps.push((
                "Acknowledge",
                format!("Acknowledge({bit})"),
                (then, expects, there, None),
            ));
        }
        for (name, text, to) in steps {
            let index = *known.entry(to).or_insert_with(|| {
                states.push(to);
                states.len() - 1
            });
            transitions.push((next, index, name, text));
        }
        next += 1;
    }
    let mut graph = of("alternating bit protocol", states.len(), transitions);
    for (state, values) in graph.states.iter_mut().zip(&states) {
        state.details = format!("{values:?}");
        state.marks.accepting = values.0 == values.1 && values.2.is_none() && values.3.is_none();
    }
    graph
}

/// Builds a graph with random transitions.
pub(crate) fn random(states: usize, transitions: usize, seed: u64) -> StateGraph {
    let mut numbers = ToyNumbers(seed);
    let names = ["Open", "Close", "Read", "WriteAll", "Seek", "X"];
    let transitions: Vec<_> = (0..transitions)
        .map(|number| {
            let name = names[numbers.below(names.len())];
            // The first transitions form a tree, so that most states can be reached.
            let (from, to) = if number + 1 < states {
                (numbers.below(number + 1), number + 1)
            } else {
                (numbers.below(states), numbers.below(states))
            };
            let arguments = ["", "1", "'text'", "'a longer text', 12345, [1, 2, 3], None"];
            (
                from,
                to,
                name,
                format!("{name}({})", arguments[numbers.below(4)]),
            )
        })
        .collect();
    let mut graph = of("random", states, transitions);
    for state in &mut graph.states {
        state.marks.accepting = numbers.below(5) == 0;
        state.marks.is_unsafe = numbers.below(20) == 0;
        state.marks.frontier = numbers.below(9) == 0;
        state.marks.dead = numbers.below(12) == 0;
    }
    graph
}

/// Builds a chessboard on which one moves right and down, and optionally back.
pub(crate) fn grid(columns: usize, rows: usize, and_back: bool) -> StateGraph {
    let mut transitions = Vec::new();
    for index in 0..columns * rows {
        let (x, y) = (index % columns, index / columns);
        let mut lead = |to: usize, name: &'static str, back: &'static str| {
            transitions.push((index, to, name, format!("{name}()")));
            if and_back {
                transitions.push((to, index, back, format!("{back}()")));
            }
        };
        if x + 1 < columns {
            lead(index + 1, "Right", "Left");
        }
        if y + 1 < rows {
            lead(index + columns, "Down", "Up");
        }
    }
    of("grid", columns * rows, transitions)
}

/// Builds a chain that leads back to the start.
pub(crate) fn chain(count: usize) -> StateGraph {
    let next = (0..count).map(|from| (from, (from + 1) % count, "Next", format!("Next({from})")));
    of("chain", count, next)
}

/// Builds `count` transitions from one state to another, and one back.
pub(crate) fn parallel(count: usize) -> StateGraph {
    let put = (0..count).map(|value| (0, 1, "Put", format!("Put({value})")));
    of(
        "parallel",
        2,
        put.chain([(1, 0, "Get", "Get()/'all of it'".to_owned())]),
    )
}

/// Builds a star, with transitions from the center to all leaves.
pub(crate) fn star(leaves: usize) -> StateGraph {
    let go = (1..=leaves).map(|to| (0, to, "Choose", format!("Choose({to})")));
    of("star", leaves + 1, go)
}

/// Builds a graph of several components, some of them a single state.
pub(crate) fn parts() -> StateGraph {
    let step = |from, to| (from, to, "Step", format!("Step({from})"));
    let pairs = [
        (0, 1),
        (1, 2),
        (2, 0),
        (4, 5),
        (5, 6),
        (6, 7),
        (4, 7),
        (8, 8),
    ];
    of("parts", 10, pairs.map(|(from, to)| step(from, to)))
}

/// Builds states with loops only.
pub(crate) fn loops() -> StateGraph {
    let stay = (0..3).flat_map(|state| {
        (0..=2 * state).map(move |value| (state, state, "Stay", format!("Stay({value})")))
    });
    of("loops", 3, stay)
}

/// Builds a graph with texts that could upset a reader of markup.
pub(crate) fn hostile() -> StateGraph {
    let texts = [
        "</title></svg></script><script>alert(1)</script>".to_owned(),
        "]]> <!-- --> <![CDATA[ &amp; \"'` \\".to_owned(),
        "\0\u{1}\u{8}\u{b}\u{1b}[31m\u{7f}\u{85}\u{fffe}\u{ffff}\u{202e}\u{2028}\r\n\t".to_owned(),
        "名前は何ですか".repeat(20),
        "😀👩‍👩‍👧e\u{301}\u{301}\u{301}".repeat(30),
        "onmouseover=\"alert(1)\" x='".to_owned(),
        "W".repeat(500),
        String::new(),
    ];
    let transitions: Vec<_> = (0..texts.len())
        .flat_map(|from| {
            [1, 3].map(|step| (from, (from + step) % texts.len(), "Do", texts[from].clone()))
        })
        .collect();
    let mut graph = of(&texts[0], texts.len(), transitions);
    for (state, text) in graph.states.iter_mut().zip(&texts) {
        state.name.clone_from(text);
        state.details = format!("{text}\n{text}");
    }
    graph
}

/// Returns all of these graphs, in sizes that a test can afford.
pub(crate) fn all() -> Vec<StateGraph> {
    let mut graphs = vec![
        StateGraph::default(),
        of("one", 1, []),
        traffic_light(),
        marked(),
        stack(3),
        alternating_bit(),
        random(12, 60, 3),
        random(100, 180, 1),
        grid(20, 10, false),
        grid(6, 5, true),
        chain(30),
        parallel(30),
        star(60),
        parts(),
        loops(),
        hostile(),
    ];
    for seed in 0..30 {
        let mut numbers = ToyNumbers(seed);
        let states = 1 + numbers.below(30);
        graphs.push(random(states, numbers.below(4 * states), seed));
    }
    graphs
}
