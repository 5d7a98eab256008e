//! `testwright graph`: a machine, the states of models, or the path of a test, as a picture.

use testwright_core::Error;
use testwright_model::{Filter, GraphLimits, explore};
use testwright_python::FsmDrawing;

use crate::console::Console;
use crate::guard::{ProgressNote, run_guarded};
use crate::pictures::{self, PictureArguments};
use crate::quantity::parse_from_zero;
use crate::test_source::TestSetup;
use crate::{CommandError, ExitStatus, models};

mod path;

/// Draw a state machine, the states of models, or the path of a saved test
///
/// A machine is drawn as its module defines it. Models are explored first. Accepting states have a double
/// border, unsafe and dead states are marked, and pointing at a state shows its values. The steps of a saved test
/// are drawn in bold, and beside each step a few other actions that were possible. No other program is needed.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright graph StackFSM --svg stack.svg
  testwright graph Stack TwoUsers --max 200 --html stack.html --labels name
  testwright graph failure-1.test --svg path.svg

Exit status: 0 drawn, 2 could not do what was asked."
)]
pub(crate) struct GraphCommand {
    /// FSM module, or models to explore, or a saved test
    #[arg(value_name = "MODEL|TEST", required = true)]
    models: Vec<String>,

    /// For models: maximum number of transitions to record
    #[arg(long, value_name = "N", default_value_t = 500, allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    max: usize,

    /// For a test: seed that selects which other actions are drawn
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = parse_from_zero::<u64>)]
    seed: u64,

    #[command(flatten)]
    pictures: PictureArguments,

    #[command(flatten)]
    setup: TestSetup,
}

impl GraphCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        if !self.pictures.is_given() {
            let error = Error::new("there is no file to draw to")
                .with_help("add `--svg FILE`, `--html FILE` or `--dot FILE`");
            return Err(error.into());
        }
        if self.models.iter().any(|name| name.ends_with(".test")) {
            return match self.models.len() {
                1 => self.draw_path(console),
                _ => Err(Error::new("a test is drawn alone").into()),
            };
        }
        let limit = Some(self.setup.system.step_timeout);
        // The code of a model may end its process, or hang.
        run_guarded(console, limit, models::report_crash, |console, note| {
            self.draw_models(console, note)
        })
    }

    /// Draws a machine, or the states of models.
    fn draw_models(
        &self,
        console: &mut Console<'_>,
        note: &ProgressNote,
    ) -> Result<ExitStatus, CommandError> {
        let pictures = self.pictures.files()?;
        let title = pictures::title(&self.models);
        if let [only] = self.models.as_slice() {
            let machine =
                testwright_python::attach(|interpreter| FsmDrawing::load_if_fsm(interpreter, only));
            if let Some(machine) = machine.map_err(|error| models::model_error(console, &error))? {
                pictures.write(console, &pictures::machine_graph(&machine, &title))?;
                return Ok(ExitStatus::NothingFound);
            }
        }
        let limits = GraphLimits {
            transitions: Some(self.max),
            ..GraphLimits::default()
        };
        models::with_models(
            console,
            &self.models,
            &Filter::default(),
            |console, models| {
                models.product.try_observables();
                let explored = explore(&mut models.product, &limits, &mut |progress| {
                    note.write(&format!("state {}\n", progress.expanded()));
                    !testwright_python::is_stop_requested()
                });
                testwright_python::flush();
                note.mark_own_work();
                if let Some(error) = &explored.error {
                    return Err(models::model_error(console, error));
                }
                let drawn = pictures::exploration_graph(&models.product, &explored.graph, &title);
                pictures.write(console, &drawn)?;
                Ok(ExitStatus::NothingFound)
            },
        )
    }
}
