//! Pictures of models: DOT, SVG, and an interactive page.

use std::path::{Path, PathBuf};

use testwright_core::Error;
use testwright_core::product::{Interner, Product, StepLabel, ValueId};
use testwright_model::ProductGraph;
use testwright_python::FsmDrawing;
use testwright_report::graph::{
    GraphState, GraphTrace, GraphTransition, Labels, StateGraph, StateMarks, dot, page, svg,
};

use crate::console::Console;
use crate::files::UserPath;

/// The options of pictures.
#[derive(clap::Args)]
#[command(next_help_heading = "Pictures of models")]
pub(crate) struct PictureArguments {
    /// Draw the states and transitions as an SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the states and transitions as a DOT file, for Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,

    /// Write an interactive page to search states and follow runs
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Labels of the transitions
    #[arg(long, value_name = "WHAT", value_enum, default_value = "action")]
    labels: LabelStyle,
}

/// The labels of transitions in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LabelStyle {
    /// the action with its arguments and its result
    Action,
    /// the name of the action
    Name,
    /// nothing
    None,
}

impl From<LabelStyle> for Labels {
    fn from(style: LabelStyle) -> Labels {
        match style {
            LabelStyle::Action => Labels::Action,
            LabelStyle::Name => Labels::Name,
            LabelStyle::None => Labels::None,
        }
    }
}

/// The files for pictures. Create it before models are loaded, which may change the current folder.
pub(crate) struct PictureFiles {
    /// The file for an SVG picture.
    svg: Option<UserPath>,
    /// The file for a DOT graph.
    dot: Option<UserPath>,
    /// The file for an interactive page.
    page: Option<UserPath>,
    /// The labels of transitions.
    labels: Labels,
}

impl PictureArguments {
    /// Returns true if a picture was requested.
    pub(crate) fn is_given(&self) -> bool {
        self.svg.is_some() || self.dot.is_some() || self.html.is_some()
    }

    /// Returns the SVG file, the only picture that there is of a test.
    pub(crate) fn only_svg(&self) -> Result<UserPath, Error> {
        match (&self.svg, self.dot.is_some() || self.html.is_some()) {
            (Some(svg), false) => UserPath::of_output(svg),
            _ => {
                Err(Error::new("a test is drawn as SVG")
                    .with_help("say `--svg FILE`, and no other"))
            }
        }
    }

    /// Resolves the paths of the requested files.
    pub(crate) fn files(&self) -> Result<PictureFiles, Error> {
        let path = |path: &Option<PathBuf>| path.as_deref().map(UserPath::of_output).transpose();
        Ok(PictureFiles {
            svg: path(&self.svg)?,
            dot: path(&self.dot)?,
            page: path(&self.html)?,
            labels: self.labels.into(),
        })
    }
}

impl PictureFiles {
    /// Draws the requested pictures, and prints the names of the files.
    pub(crate) fn write(&self, console: &mut Console<'_>, graph: &StateGraph) -> Result<(), Error> {
        let labels = self.labels;
        let texts: [(&Option<UserPath>, &dyn Fn() -> String); 3] = [
            (&self.svg, &|| {
                svg::write(
                    graph,
                    &svg::SvgOptions {
                        labels,
                        trace: None,
                    },
                )
            }),
            (&self.dot, &|| {
                dot::write(
                    graph,
                    &dot::DotOptions {
                        labels,
                        ..dot::DotOptions::default()
                    },
                )
            }),
            (&self.page, &|| {
                page::write(graph, &page::PageOptions { labels })
            }),
        ];
        for (path, text) in texts {
            if let Some(path) = path {
                path.write(&text())?;
                console.out(format_args!("Written: {}", path.shown().display()));
            }
        }
        Ok(())
    }
}

/// Returns the title of a picture of models: their names, however they were given.
pub(crate) fn title(names: &[String]) -> String {
    let stems = names.iter().map(|name| {
        let path = Path::new(name);
        let stem = if path.extension().is_some_and(|ending| ending == "py") {
            path.file_stem()
        } else {
            path.file_name()
        };
        stem.unwrap_or_default().to_string_lossy().into_owned()
    });
    stems.collect::<Vec<String>>().join("_")
}

/// Renders a step as it is written at a transition: `Pop()/2`.
fn label_text(words: &Interner, label: StepLabel) -> String {
    let name = words.name_text(label.name);
    let arguments = words.value_text(label.arguments).plain();
    match label.result {
        ValueId::NONE => format!("{name}{arguments}"),
        result => format!("{name}{arguments}/{}", words.value_text(result).plain()),
    }
}

/// Returns a transition to draw.
fn transition(words: &Interner, from: usize, label: StepLabel, to: usize) -> GraphTransition {
    GraphTransition {
        from,
        to,
        name: words.name_text(label.name).to_owned(),
        text: label_text(words, label),
    }
}

/// Converts the result of an exploration to a graph to draw.
pub(crate) fn exploration_graph(
    product: &Product<'_>,
    graph: &ProductGraph,
    title: &str,
) -> StateGraph {
    let mut marks = vec![StateMarks::default(); graph.states()];
    let mut mark = |states: &[u32], set: fn(&mut StateMarks)| {
        states
            .iter()
            .for_each(|state| set(&mut marks[*state as usize]));
    };
    mark(&graph.accepting, |marks| marks.accepting = true);
    mark(&graph.starts, |marks| marks.start = true);
    mark(&graph.unsafe_states, |marks| marks.is_unsafe = true);
    mark(&graph.frontier, |marks| marks.frontier = true);
    mark(&graph.dead_ends, |marks| marks.deadend = true);
    mark(&graph.finished, |marks| marks.finished = true);
    mark(&graph.dead_states(), |marks| marks.dead = true);
    let states = marks
        .into_iter()
        .enumerate()
        .map(|(number, marks)| GraphState {
            name: number.to_string(),
            details: graph.text(product, number as u32),
            marks,
        });
    let transitions = graph.transitions.iter().map(|one| {
        let label = graph.labels[one.label as usize];
        transition(
            product.interner(),
            one.from as usize,
            label,
            one.to as usize,
        )
    });
    let worst = graph
        .unsafe_states
        .first()
        .map(|state| ("to an unsafe state", *state));
    let stuck = graph
        .dead_ends
        .first()
        .map(|state| ("to a dead end", *state));
    let traces = worst
        .into_iter()
        .chain(stuck)
        .map(|(name, state)| GraphTrace {
            name: format!("{name}, {state}"),
            transitions: graph
                .shortest_path_to(state)
                .into_iter()
                .map(|one| one as usize)
                .collect(),
        });
    StateGraph {
        title: title.to_owned(),
        states: states.collect(),
        transitions: transitions.collect(),
        traces: traces.collect(),
    }
}

/// Converts a state machine to a graph to draw.
pub(crate) fn machine_graph(machine: &FsmDrawing, title: &str) -> StateGraph {
    let [unsafe_states, frontier, finished, dead_ends] = &machine.marked;
    let states = machine
        .states
        .iter()
        .enumerate()
        .map(|(number, (name, details))| GraphState {
            name: name.clone(),
            details: details.clone().unwrap_or_default(),
            marks: StateMarks {
                accepting: machine.accepting.contains(&number),
                start: machine.starts.contains(&number),
                is_unsafe: unsafe_states.contains(&number),
                frontier: frontier.contains(&number),
                deadend: dead_ends.contains(&number),
                finished: finished.contains(&number),
                dead: false,
            },
        });
    let transitions = machine
        .edges
        .iter()
        .map(|(from, label, to)| transition(&machine.interner, *from, *label, *to));
    StateGraph {
        title: title.to_owned(),
        states: states.collect(),
        transitions: transitions.collect(),
        traces: Vec::new(),
    }
}
