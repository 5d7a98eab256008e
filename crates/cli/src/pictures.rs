//! Graphs of models as pictures: DOT, SVG, and a page to walk about in.

use std::path::{Path, PathBuf};

use testwright_core::Error;
use testwright_core::product::{Label, Product, ValueId, Words};
use testwright_model::Graph;
use testwright_python::Machine;
use testwright_report::graph::{
    Labels, Marks, State, StateGraph, Trace, Transition, dot, page, svg,
};

use crate::console::Console;
use crate::files::Place;

/// Which pictures to make.
#[derive(clap::Args)]
#[command(next_help_heading = "Pictures of models")]
pub(crate) struct PictureArguments {
    /// Draw the states and transitions as an SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write them as a DOT file, for Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,

    /// Write a page on which to search them, and to follow runs
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// What to write at transitions
    #[arg(long, value_name = "WHAT", value_enum, default_value = "action")]
    labels: LabelStyle,
}

/// What to write at transitions.
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

/// Where pictures go. To be made before models are loaded, which may change the current folder.
pub(crate) struct Pictures {
    svg: Option<Place>,
    dot: Option<Place>,
    page: Option<Place>,
    labels: Labels,
}

impl PictureArguments {
    pub(crate) fn is_given(&self) -> bool {
        self.svg.is_some() || self.dot.is_some() || self.html.is_some()
    }

    /// Where the only picture goes that there is of a test.
    pub(crate) fn only_svg(&self) -> Result<Place, Error> {
        match (&self.svg, self.dot.is_some() || self.html.is_some()) {
            (Some(svg), false) => Place::new(svg),
            _ => {
                Err(Error::new("a test is drawn as SVG")
                    .with_help("say `--svg FILE`, and no other"))
            }
        }
    }

    pub(crate) fn places(&self) -> Result<Pictures, Error> {
        let place = |path: &Option<PathBuf>| path.as_deref().map(Place::new).transpose();
        Ok(Pictures {
            svg: place(&self.svg)?,
            dot: place(&self.dot)?,
            page: place(&self.html)?,
            labels: self.labels.into(),
        })
    }
}

impl Pictures {
    /// Draws what is wanted, and says what was written.
    pub(crate) fn write(&self, console: &mut Console<'_>, graph: &StateGraph) -> Result<(), Error> {
        let labels = self.labels;
        let texts: [(&Option<Place>, &dyn Fn() -> String); 3] = [
            (&self.svg, &|| {
                svg::write(
                    graph,
                    &svg::Options {
                        labels,
                        trace: None,
                    },
                )
            }),
            (&self.dot, &|| {
                dot::write(
                    graph,
                    &dot::Options {
                        labels,
                        ..dot::Options::default()
                    },
                )
            }),
            (&self.page, &|| {
                page::write(graph, &page::Options { labels })
            }),
        ];
        for (place, text) in texts {
            if let Some(place) = place {
                place.write(&text())?;
                console.say(format_args!("Written: {}", place.shown().display()));
            }
        }
        Ok(())
    }
}

/// What a picture of models is called: by their names, however they were given.
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

/// A step as it is written at a transition: `Pop()/2`.
fn text(words: &Words, label: Label) -> String {
    let name = words.name_text(label.name);
    let arguments = words.value_text(label.arguments).plain();
    match label.result {
        ValueId::NONE => format!("{name}{arguments}"),
        result => format!("{name}{arguments}/{}", words.value_text(result).plain()),
    }
}

fn transition(words: &Words, from: usize, label: Label, to: usize) -> Transition {
    Transition {
        from,
        to,
        name: words.name_text(label.name).to_owned(),
        text: text(words, label),
    }
}

/// What an exploration has found, as a graph to draw.
pub(crate) fn of_exploration(product: &Product<'_>, graph: &Graph, title: &str) -> StateGraph {
    let mut marks = vec![Marks::default(); graph.states()];
    let mut mark = |states: &[u32], set: fn(&mut Marks)| {
        states
            .iter()
            .for_each(|state| set(&mut marks[*state as usize]));
    };
    mark(&graph.accepting, |marks| marks.accepting = true);
    mark(&graph.starts, |marks| marks.start = true);
    mark(&graph.not_safe, |marks| marks.is_unsafe = true);
    mark(&graph.frontier, |marks| marks.frontier = true);
    mark(&graph.dead_ends, |marks| marks.deadend = true);
    mark(&graph.finished, |marks| marks.finished = true);
    mark(&graph.dead(), |marks| marks.dead = true);
    let states = marks.into_iter().enumerate().map(|(number, marks)| State {
        name: number.to_string(),
        details: graph.text(product, number as u32),
        marks,
    });
    let transitions = graph.transitions.iter().map(|one| {
        let label = graph.labels[one.label as usize];
        transition(product.words(), one.from as usize, label, one.to as usize)
    });
    let worst = graph
        .not_safe
        .first()
        .map(|state| ("to an unsafe state", *state));
    let stuck = graph
        .dead_ends
        .first()
        .map(|state| ("to a dead end", *state));
    let traces = worst.into_iter().chain(stuck).map(|(name, state)| Trace {
        name: format!("{name}, {state}"),
        transitions: graph
            .way_to(state)
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

/// A machine as its module has it, as a graph to draw.
pub(crate) fn of_machine(machine: &Machine, title: &str) -> StateGraph {
    let [not_safe, frontier, finished, dead_ends] = &machine.marked;
    let states = machine
        .states
        .iter()
        .enumerate()
        .map(|(number, (name, details))| State {
            name: name.clone(),
            details: details.clone().unwrap_or_default(),
            marks: Marks {
                accepting: machine.accepting.contains(&number),
                start: machine.starts.contains(&number),
                is_unsafe: not_safe.contains(&number),
                frontier: frontier.contains(&number),
                deadend: dead_ends.contains(&number),
                finished: finished.contains(&number),
                dead: false,
            },
        });
    let transitions = machine
        .edges
        .iter()
        .map(|(from, label, to)| transition(&machine.words, *from, *label, *to));
    StateGraph {
        title: title.to_owned(),
        states: states.collect(),
        transitions: transitions.collect(),
        traces: Vec::new(),
    }
}
