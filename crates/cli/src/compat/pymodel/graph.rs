//! `pmg`: a machine as a DOT file. `pmv`: exploring, and drawing what was found.

use std::path::{Path, PathBuf};

use testwright_core::Error;
use testwright_model::{Limits, explore, fsm_file};
use testwright_python::Machine;
use testwright_report::graph::{Labels, dot, svg};

use super::super::{Calling, Ended, Tool};
use super::{Actions, ended, first_name, help, keep_imported, output};
use crate::console::Console;
use crate::files::Place;
use crate::{Trouble, models, pictures};

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
        if self.fsm.is_empty() {
            return Ok(help::<Grapher>(console));
        }
        let name = first_name(&self.fsm);
        let base = self.output.clone().unwrap_or_else(|| name.clone());
        let place = Place::new(&PathBuf::from(format!("{base}.dot")))?;
        testwright_python::attach(|interpreter| {
            let machine = match Machine::load(interpreter, &name) {
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
    /// Models, scenarios, suites and configurations: names of modules
    #[arg(value_name = "MODULE")]
    models: Vec<String>,

    #[command(flatten)]
    actions: Actions,

    /// How many transitions to record
    #[arg(
        short,
        long = "maxTransitions",
        value_name = "N",
        default_value_t = 100,
        allow_negative_numbers = true
    )]
    max_transitions: usize,

    /// The files to write, without their endings [default: the first module's name and FSM]
    #[arg(short, long, value_name = "NAME")]
    output: Option<String>,

    #[command(flatten)]
    drawing: Drawing,

    /// The kind of picture; svg needs no other program
    #[arg(
        short = 'T',
        long = "fileType",
        value_name = "TYPE",
        default_value = "svg"
    )]
    file_type: String,
}

impl Tool for Viewer {
    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble> {
        if self.models.is_empty() {
            return Ok(help::<Viewer>(console));
        }
        if self.file_type != "svg" {
            let message = format!(
                "pictures of the kind `{}` are not drawn here",
                self.file_type
            );
            let help = "leave `-T` out for svg, or let Graphviz make it from the DOT file that `pmg` writes";
            return Err(Error::new(message).with_help(help).into());
        }
        let base = self.output.clone();
        let base = base.unwrap_or_else(|| format!("{}FSM", first_name(&self.models)));
        let place = |ending: &str| Place::new(&PathBuf::from(format!("{base}.{ending}")));
        let [graph, picture] = [place("dot")?, place("svg")?];
        let read: Vec<&str> = self.models.iter().map(String::as_str).collect();
        let module = output(&base, &read)?;
        let limits = Limits {
            transitions: Some(self.max_transitions),
            ..Limits::default()
        };
        models::with_models(
            console,
            &self.models,
            &self.actions.filter(),
            |console, models| {
                keep_imported(&module, &base, models)?;
                let explored = explore(&mut models.product, &limits, &mut |_| {
                    !testwright_python::asked_to_stop()
                });
                testwright_python::flush();
                module.write(&fsm_file::write(
                    &models.product,
                    &explored.graph,
                    calling.line(),
                ))?;
                if let Some(trouble) = &explored.trouble {
                    return ended(console, trouble);
                }
                console.say(fsm_file::summary(&explored.graph));
                let drawn =
                    pictures::of_exploration(&models.product, &explored.graph, title(&base));
                let options = self.drawing.options();
                graph.write(&dot::write(&drawn, &options))?;
                let labels = options.labels;
                picture.write(&svg::write(
                    &drawn,
                    &svg::Options {
                        labels,
                        trace: None,
                    },
                ))?;
                Ok(Ended::Well)
            },
        )
    }
}
