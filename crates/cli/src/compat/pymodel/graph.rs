//! `pmg`: a machine as a DOT file. `pmv`: exploring, and drawing what was found.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use testwright_core::Error;
use testwright_python::Machine;
use testwright_report::graph::{Labels, dot, svg};

use super::super::{Calling, Ended, Tool};
use super::{Exploring, ended, first_name, help};
use crate::console::Console;
use crate::files::Place;
use crate::{Trouble, pictures};

/// The kind of picture that needs no other program.
const SVG: &str = "svg";

/// How to draw.
#[derive(clap::Args)]
struct Drawing {
    /// What to write at transitions: action, name or none
    #[arg(
        short = 'l',
        long = "transitionLabels",
        value_name = "WHAT",
        default_value = "action"
    )]
    labels: String,

    /// States do not show what they are when one points at them
    #[arg(short = 'x', long = "noStateTooltip")]
    no_state_tooltip: bool,

    /// Transitions do not show what they are when one points at them
    #[arg(short = 'y', long = "noTransitionTooltip")]
    no_transition_tooltip: bool,
}

impl Drawing {
    /// The command that draws like that.
    fn as_command(&self, base: &str) -> String {
        let mut words = vec!["pmg", "--transitionLabels", &self.labels];
        if self.no_state_tooltip {
            words.push("--noStateTooltip");
        }
        if self.no_transition_tooltip {
            words.push("--noTransitionTooltip");
        }
        words.push(base);
        words.join(" ")
    }

    fn options(&self) -> dot::Options {
        dot::Options {
            labels: match self.labels.as_str() {
                "name" => Labels::Name,
                "none" => Labels::None,
                // Any other word, too: so it was always.
                _ => Labels::Action,
            },
            state_tooltips: !self.no_state_tooltip,
            transition_tooltips: !self.no_transition_tooltip,
        }
    }
}

/// Draw a machine as a DOT file
#[derive(clap::Parser)]
#[command(name = "pmg")]
pub(in crate::compat) struct Grapher {
    /// The FSM: the name of its module
    #[arg(value_name = "FSM", num_args = 0..=2)]
    fsm: Vec<String>,

    /// The file to write, without .dot [default: the name of the module]
    #[arg(short, long, value_name = "NAME")]
    output: Option<String>,

    #[command(flatten)]
    drawing: Drawing,
}

impl Tool for Grapher {
    fn run(self, console: &mut Console<'_>, _calling: &Calling) -> Result<Ended, Trouble> {
        let Some(module) = self.fsm.first() else {
            return Ok(help::<Grapher>(console));
        };
        let base = self.output.clone();
        let base = base.unwrap_or_else(|| first_name(&self.fsm));
        let place = Place::new(&PathBuf::from(format!("{base}.dot")))?;
        testwright_python::attach(|interpreter| {
            let machine = match Machine::load(interpreter, module) {
                Ok(machine) => machine,
                Err(trouble) => return ended(console, &trouble),
            };
            let graph = pictures::of_machine(&machine, title(&base));
            place.write(&dot::write(&graph, &self.drawing.options()))?;
            Ok(Ended::Well)
        })
    }
}

/// The name of a graph: that of its file, up to the first dot.
fn title(base: &str) -> &str {
    let file = Path::new(base).file_name().and_then(|name| name.to_str());
    file.unwrap_or(base).split('.').next().unwrap_or_default()
}

/// Explore models, and draw what was found
#[derive(clap::Parser)]
#[command(name = "pmv")]
pub(in crate::compat) struct Viewer {
    #[command(flatten)]
    exploring: Exploring,

    #[command(flatten)]
    drawing: Drawing,

    /// The kind of picture; any but svg is drawn by Graphviz
    #[arg(
        short = 'T',
        long = "fileType",
        value_name = "TYPE",
        default_value = SVG
    )]
    file_type: String,
}

impl Tool for Viewer {
    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble> {
        if self.exploring.models.is_empty() {
            return Ok(help::<Viewer>(console));
        }
        let base = self.exploring.base();
        let place = |ending: &str| Place::new(&PathBuf::from(format!("{base}.{ending}")));
        let [graph, picture] = [place("dot")?, place(&self.file_type)?];
        // It says which commands it gives, and those who compare what it says with what it said once expect that.
        console.say(self.exploring.as_command());
        self.exploring
            .run(console, calling, |console, models, explored| {
                let drawn = pictures::of_exploration(&models.product, explored, title(&base));
                let options = self.drawing.options();
                console.say(self.drawing.as_command(&base));
                graph.write(&dot::write(&drawn, &options))?;
                let kind = &self.file_type;
                console.say(format_args!("dot -T{kind} -o {base}.{kind} {base}.dot"));
                console.flush();
                if self.file_type != SVG {
                    return Ok(draw_elsewhere(&self.file_type, &graph, &picture)?);
                }
                let labels = options.labels;
                let trace = None;
                picture.write(&svg::write(&drawn, &svg::Options { labels, trace }))?;
                Ok(())
            })
    }
}

/// Has a picture drawn by Graphviz, which knows many kinds.
fn draw_elsewhere(kind: &str, graph: &Place, picture: &Place) -> Result<(), Error> {
    let mut dot = Command::new("dot");
    dot.arg(format!("-T{kind}"));
    dot.arg("-o").arg(picture.absolute()).arg(graph.absolute());
    let help = format!(
        "leave `-T` out for svg, which needs no other program; `{}` is written in any case",
        graph.shown().display()
    );
    let trouble = match dot.status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(_) => "could not draw it",
        Err(error) if error.kind() == ErrorKind::NotFound => "is not there",
        Err(_) => "cannot be started",
    };
    let message =
        format!("a picture of the kind `{kind}` needs Graphviz, and its program `dot` {trouble}");
    Err(Error::new(message).with_help(help))
}
