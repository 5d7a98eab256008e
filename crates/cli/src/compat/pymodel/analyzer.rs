//! `pma`: all states of a model, as a machine.

use std::path::PathBuf;

use testwright_model::{Limits, explore, fsm_file};

use super::super::{Calling, Ended, Tool};
use super::{Actions, ended, first_name};
use crate::console::Console;
use crate::files::Place;
use crate::{Trouble, models};

/// Explore models, and write what was found as an FSM module
#[derive(clap::Parser)]
#[command(name = "pma", arg_required_else_help = true)]
pub(in crate::compat) struct Analyzer {
    /// Models, scenarios, suites and configurations: names of modules
    #[arg(value_name = "MODULE", required = true)]
    models: Vec<String>,

    #[command(flatten)]
    actions: Actions,

    /// How many transitions to record
    #[arg(
        short,
        long = "maxTransitions",
        value_name = "N",
        default_value_t = 100
    )]
    max_transitions: usize,

    /// The module to write [default: the first module's name and FSM]
    #[arg(short, long, value_name = "NAME")]
    output: Option<String>,
}

impl Tool for Analyzer {
    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble> {
        let name = self.output.clone();
        let name = name.unwrap_or_else(|| format!("{}FSM", first_name(&self.models)));
        let place = Place::new(&PathBuf::from(format!("{name}.py")))?;
        super::refuse_own_model(&place, &self.models)?;
        let limits = Limits {
            transitions: Some(self.max_transitions),
            ..Limits::default()
        };
        models::with_models(
            console,
            &self.models,
            &self.actions.filter(),
            |console, models| {
                let explored = explore(&mut models.product, &limits, &mut |_| true);
                testwright_python::flush();
                // What is known is written in any case.
                place.write(&fsm_file::write(
                    &models.product,
                    &explored.graph,
                    calling.line(),
                ))?;
                if let Some(trouble) = &explored.trouble {
                    return ended(console, trouble);
                }
                console.say(fsm_file::summary(&explored.graph));
                Ok(Ended::Well)
            },
        )
    }
}
