//! `pmg`: a state machine as a DOT file. `pmv`: explores models and draws the result.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use testwright_core::Error;
use testwright_python::FsmDrawing;
use testwright_report::graph::{Labels, dot, svg};

use super::super::{Invocation, Tool, ToolOutcome};
use super::{ExplorationArguments, first_name, outcome_of_error, print_help};
use crate::console::Console;
use crate::files::UserPath;
use crate::{CommandError, pictures};

/// The kind of picture that needs no other program.
const SVG: &str = "svg";

/// The options of drawing.
#[derive(clap::Args)]
struct DrawingArguments {
    /// Labels of the transitions: action, name or none
    #[arg(
        short = 'l',
        long = "transitionLabels",
        value_name = "WHAT",
        default_value = "action"
    )]
    labels: String,

    /// Leave out the tooltips of states
    #[arg(short = 'x', long = "noStateTooltip")]
    no_state_tooltip: bool,

    /// Leave out the tooltips of transitions
    #[arg(short = 'y', long = "noTransitionTooltip")]
    no_transition_tooltip: bool,
}

impl DrawingArguments {
    /// Returns the `pmg` command line for this drawing.
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

    /// Converts the options.
    fn options(&self) -> dot::DotOptions {
        dot::DotOptions {
            labels: match self.labels.as_str() {
                "name" => Labels::Name,
                "none" => Labels::None,
                // PyModel accepts any other word, too.
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
    drawing: DrawingArguments,
}

impl Tool for Grapher {
    fn run(
        self,
        console: &mut Console<'_>,
        _calling: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        let Some(module) = self.fsm.first() else {
            return Ok(print_help::<Grapher>(console));
        };
        let base = self.output.clone();
        let base = base.unwrap_or_else(|| first_name(&self.fsm));
        let path = UserPath::new(&PathBuf::from(format!("{base}.dot")))?;
        testwright_python::attach(|interpreter| {
            let machine = match FsmDrawing::load(interpreter, module) {
                Ok(machine) => machine,
                Err(problem) => return outcome_of_error(console, &problem),
            };
            let graph = pictures::machine_graph(&machine, title(&base));
            path.write(&dot::write(&graph, &self.drawing.options()))?;
            Ok(ToolOutcome::Passed)
        })
    }
}

/// Returns the name of a graph: the name of its file, up to the first dot.
fn title(base: &str) -> &str {
    let file = Path::new(base).file_name().and_then(|name| name.to_str());
    file.unwrap_or(base).split('.').next().unwrap_or_default()
}

/// Explore models, and draw the result
#[derive(clap::Parser)]
#[command(name = "pmv")]
pub(in crate::compat) struct Viewer {
    #[command(flatten)]
    exploration: ExplorationArguments,

    #[command(flatten)]
    drawing: DrawingArguments,

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
    fn run(
        self,
        console: &mut Console<'_>,
        invocation: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        if self.exploration.models.is_empty() {
            return Ok(print_help::<Viewer>(console));
        }
        let base = self.exploration.base_name();
        let path = |ending: &str| UserPath::new(&PathBuf::from(format!("{base}.{ending}")));
        let [graph, picture] = [path("dot")?, path(&self.file_type)?];
        // PyModel prints the commands that it runs, and users compare the output with earlier ones.
        console.out(self.exploration.as_command());
        self.exploration
            .run(console, invocation, |console, models, explored| {
                let drawn = pictures::exploration_graph(&models.product, explored, title(&base));
                let options = self.drawing.options();
                console.out(self.drawing.as_command(&base));
                graph.write(&dot::write(&drawn, &options))?;
                let kind = &self.file_type;
                console.out(format_args!("dot -T{kind} -o {base}.{kind} {base}.dot"));
                console.flush();
                if self.file_type != SVG {
                    return Ok(draw_with_graphviz(&self.file_type, &graph, &picture)?);
                }
                let labels = options.labels;
                let trace = None;
                picture.write(&svg::write(&drawn, &svg::SvgOptions { labels, trace }))?;
                Ok(())
            })
    }
}

/// Draws a picture with Graphviz, which supports many formats.
fn draw_with_graphviz(kind: &str, graph: &UserPath, picture: &UserPath) -> Result<(), Error> {
    let mut dot = Command::new("dot");
    dot.arg(format!("-T{kind}"));
    dot.arg("-o").arg(picture.absolute()).arg(graph.absolute());
    let help = format!(
        "leave `-T` out for svg, which needs no other program; `{}` is written in any case",
        graph.shown().display()
    );
    let problem = match dot.status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(_) => "could not draw it",
        Err(error) if error.kind() == ErrorKind::NotFound => "is not there",
        Err(_) => "cannot be started",
    };
    let message =
        format!("a picture of the kind `{kind}` needs Graphviz, and its program `dot` {problem}");
    Err(Error::new(message).with_help(help))
}
