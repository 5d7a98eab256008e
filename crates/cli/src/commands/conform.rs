//! `testwright conform`: does a model allow what a log says?

use std::path::PathBuf;
use std::time::Duration;

use testwright_core::Error;
use testwright_core::product::{Label, Trouble as ModelTrouble};
use testwright_model::conform::{Follower, RefusedIn, Why, explain};
use testwright_model::{Filter, step_text};
use testwright_python::Models;

use super::STEP_TIMEOUT;
use crate::console::{Console, Look};
use crate::files::TextFile;
use crate::guard::{Note, guarded};
use crate::models::log::{self, Entry};
use crate::{ExitStatus, Trouble, duration, models, quantity};

/// Tell whether a model allows what a log says, and if not, which step first and why
///
/// A log has one JSON object on each line: `{"action": "Push", "arguments": [1], "result": null}`. Without
/// `arguments` there are none, and without `result` nothing is said about it. `{"restart": true}` begins another run.
/// Each run must end where the model says that it may.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright conform Stack stack.log
  testwright conform Server Sessions server.jsonl

Exit status: 0 the model allows it, 1 it does not, 2 could not do what was asked."
)]
pub(crate) struct Conform {
    /// Models, scenarios and configurations, and the log last
    #[arg(value_name = "MODEL... LOG", required = true)]
    words: Vec<String>,

    /// Do not mind if a run ends where the model says that it may not
    #[arg(long)]
    open_end: bool,

    /// How long a model may take for a line before it counts as a hang
    #[arg(long, value_name = "DURATION", default_value = STEP_TIMEOUT, value_parser = duration::parse)]
    step_timeout: Duration,
}

/// How many alternatives are shown.
const MOST_SHOWN: usize = 8;

impl Conform {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let Some((log, names)) = self
            .words
            .split_last()
            .filter(|(_, names)| !names.is_empty())
        else {
            let error = Error::new("a model and a log are needed")
                .with_help("the log comes last: `testwright conform MODEL LOG`");
            return Err(error.into());
        };
        let file = TextFile::read(&PathBuf::from(log))?;
        let entries = log::read(console, &file)?;
        // The code of a model may end its process, or not come back.
        guarded(
            console,
            Some(self.step_timeout),
            models::tell_end,
            |console, note| {
                models::with_models(console, names, &Filter::default(), |console, models| {
                    self.follow(console, models, &file, &entries, note)
                })
            },
        )
    }

    fn follow(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
        file: &TextFile,
        entries: &[Entry],
        note: &Note,
    ) -> Result<ExitStatus, Trouble> {
        let follower = Follower::new(&mut models.product);
        let mut follower = follower.map_err(|trouble| models::tell(console, &trouble))?;
        let [mut steps, mut runs] = [0u64, 1u64];
        for entry in entries {
            let Some(step) = &entry.step else {
                if !self.may_end(console, models, &follower, file, entry.line) {
                    return Ok(ExitStatus::FailureFound);
                }
                let begun = follower.restart(&mut models.product);
                begun.map_err(|trouble| models::tell(console, &trouble))?;
                runs += 1;
                continue;
            };
            note.write(&format!("{}:{}: {}\n", file.name, entry.line, entry.text));
            let happened = step.happened(models);
            let happened = happened.map_err(|trouble| models::tell(console, &trouble))?;
            let followed = follower.follow(&mut models.product, &happened);
            match followed.map_err(|trouble| tell_at(console, file, entry, &trouble))? {
                Ok(_) => steps += 1,
                Err(refused) => {
                    let title = format!(
                        "{}:{}: not allowed after {}",
                        file.name,
                        entry.line,
                        quantity::of(steps, "step")
                    );
                    let title = console.paint(Look::Bad, title);
                    console.say(title);
                    console.say(format_args!("    {}", entry.text));
                    for state in refused.states.iter().take(3) {
                        say_refused(console, models, state);
                    }
                    return Ok(ExitStatus::FailureFound);
                }
            }
        }
        note.rest();
        let last = entries.last().map_or(1, |entry| entry.line);
        if !self.may_end(console, models, &follower, file, last) {
            return Ok(ExitStatus::FailureFound);
        }
        let words = console.paint(Look::Good, "the model allows all of it");
        console.say(format_args!(
            "{}, {}: {words}",
            quantity::of(runs, "run"),
            quantity::of(steps, "step")
        ));
        Ok(ExitStatus::NothingFound)
    }

    /// Whether a run may end here; if not, that is said.
    fn may_end(
        &self,
        console: &mut Console<'_>,
        models: &Models<'_>,
        follower: &Follower,
        file: &TextFile,
        line: usize,
    ) -> bool {
        if self.open_end || follower.is_accepting(&models.product) {
            return true;
        }
        let title = format!("{}:{line}: the run ends here, and may not", file.name);
        let title = console.paint(Look::Bad, title);
        console.say(title);
        for state in follower.states().iter().take(3) {
            console.say(format_args!("  in the state {}", state_text(models, state)));
        }
        false
    }
}

/// Tells why a model does not answer, and which line it was asked about.
fn tell_at(
    console: &mut Console<'_>,
    file: &TextFile,
    entry: &Entry,
    trouble: &ModelTrouble,
) -> Trouble {
    if !matches!(trouble, ModelTrouble::Interrupted) {
        console.tell(format_args!("{}:{}: {}", file.name, entry.line, entry.text));
    }
    models::tell(console, trouble)
}

fn state_text(models: &Models<'_>, state: &[testwright_core::product::Place]) -> String {
    testwright_model::state_text(&models.product, state)
}

fn say_refused(console: &mut Console<'_>, models: &Models<'_>, refused: &RefusedIn) {
    let words = models.product.words();
    console.say(format_args!(
        "  in the state {}",
        state_text(models, &refused.state)
    ));
    match &refused.why {
        Why::Unknown => console.say("  no model knows an action of that name"),
        Why::By(by) => console.say(format_args!("  {}", explain(&models.product, by))),
        Why::Results(results) => {
            let each: Vec<&str> = results
                .iter()
                .map(|value| words.value_text(*value).plain())
                .collect();
            console.say(format_args!(
                "  the model says that the result is {}",
                each.join(" or ")
            ));
        }
    }
    let shown: Vec<String> = refused
        .instead
        .iter()
        .take(MOST_SHOWN)
        .map(|label: &Label| step_text(words, *label))
        .collect();
    let more = match refused.instead.len().saturating_sub(MOST_SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    if shown.is_empty() {
        console.say("  nothing is possible there")
    } else {
        console.say(format_args!("  possible there: {}{more}", shown.join(", ")))
    }
}
