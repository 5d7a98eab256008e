//! `pma`: all states of a model, as a machine.

use testwright_model::{Limits, explore, fsm_file};

use super::super::{Calling, Ended, Tool};
use super::{Actions, ended, first_name, help, keep_imported, output};
use crate::console::Console;
use crate::pulse::Pulse;
use crate::{Trouble, models};

/// Explore models, and write what was found as an FSM module
#[derive(clap::Parser)]
#[command(name = "pma")]
pub(in crate::compat) struct Analyzer {
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

    /// The module to write [default: the first module's name and FSM]
    #[arg(short, long, value_name = "NAME")]
    output: Option<String>,
}

impl Tool for Analyzer {
    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble> {
        if self.models.is_empty() {
            return Ok(help::<Analyzer>(console));
        }
        let name = self.output.clone();
        let name = name.unwrap_or_else(|| format!("{}FSM", first_name(&self.models)));
        let read: Vec<&str> = self.models.iter().map(String::as_str).collect();
        let place = output(&name, &read)?;
        let limits = Limits {
            transitions: Some(self.max_transitions),
            ..Limits::default()
        };
        models::with_models(
            console,
            &self.models,
            &self.actions.filter(),
            |console, models| {
                keep_imported(&place, &name, models)?;
                let mut pulse = Pulse::new();
                let explored = explore(&mut models.product, &limits, &mut |_| {
                    pulse.beat().is_none() || !testwright_python::asked_to_stop()
                });
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
                if explored.stopped {
                    return Err(Trouble::Interrupted);
                }
                console.say(fsm_file::summary(&explored.graph));
                Ok(Ended::Well)
            },
        )
    }
}
