//! `testwright model lint`: what goes wrong with the state of a model unnoticed.

use testwright_model::{Limits, explore};

use super::ModelArguments;
use crate::console::{Console, Look};
use crate::{ExitStatus, Trouble, models, quantity};

/// Look for variables that are not put back, and for objects that are torn apart
///
/// The state of a model is what the variables hold that it lists in `state`, each copied by itself. What
/// actions do to other variables of the module is not put back, and leaks from one try into the next. And
/// what two variables of the state have in common becomes two things with the first step. This explores a part of
/// the model, and tells of both. Oddities that every command warns of are told as well.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright model lint Stack

Exit status: 0 nothing is odd, 1 something is, 2 could not do what was asked."
)]
pub(super) struct Lint {
    #[command(flatten)]
    model: ModelArguments,

    /// How many transitions to look at
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    max: usize,
}

impl Lint {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let names = &self.model.models;
        models::with_models(console, names, &self.model.filter(), |console, models| {
            let tell = |console: &mut Console<'_>, trouble| models::tell(console, &trouble);
            let lint = models.lint();
            let lint = lint.map_err(|trouble| tell(console, trouble))?;
            let limits = Limits {
                transitions: Some(self.max),
                ..Limits::default()
            };
            let explored = explore(&mut models.product, &limits, &mut |_| {
                !testwright_python::asked_to_stop()
            });
            testwright_python::flush();
            if let Some(trouble) = explored.trouble {
                return Err(tell(console, trouble));
            }
            let findings = lint.findings();
            for finding in &findings {
                console.say(finding);
            }
            let odd = findings.len() + models.remarks.len();
            let transitions = explored.graph.transitions.len() as u64;
            let transitions = quantity::of(transitions, "transition");
            let verdict = match odd {
                0 => console.paint(Look::Good, "nothing is odd"),
                odd => console.paint(Look::Bad, quantity::of(odd as u64, "oddity")),
            };
            console.say(format_args!(
                "{}: {transitions}, {verdict}",
                names.join(" ")
            ));
            Ok(match odd {
                0 => ExitStatus::NothingFound,
                _ => ExitStatus::FailureFound,
            })
        })
    }
}
