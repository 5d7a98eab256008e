//! Judging a formula over all runs of models.

use serde::Serialize;
use testwright_core::explore::temporal::{Answer, Ending, Formula};
use testwright_core::explore::{Explorer, Plan};
use testwright_core::product::Trouble as ModelTrouble;
use testwright_core::{Error, Step, System, Test};
use testwright_model::Walk;
use testwright_python::Models;

use crate::Trouble;
use crate::console::{Console, Look};

/// What came of a formula.
pub(super) struct Judged {
    answer: Answer,
    violation: Option<Violation>,
}

/// A run that violates it.
#[derive(Clone, Serialize)]
pub(super) struct Violation {
    /// The steps at its beginning.
    prefix: Vec<String>,
    /// The steps that come again and again after it.
    lap: Vec<String>,
    /// What comes after the beginning.
    then: &'static str,
}

/// Judges a formula, remembering so many states at most.
pub(super) fn judge(
    models: &mut Models<'_>,
    formula: &Formula,
    most_states: Option<usize>,
) -> Result<Judged, Trouble> {
    let asker = models.asker();
    let trouble = |trouble: ModelTrouble| Error::new(trouble.to_string());
    let mut walk = Walk::new(&mut models.product).map_err(trouble)?;
    let mut explorer = Explorer::of(&mut walk).with_copies().with_fingerprints();
    let plan = Plan {
        check: false,
        most_states,
        ..Plan::default()
    };
    let mut atoms = |walk: &mut Walk<'_, '_>, predicate: &str| {
        asker.holds(walk.product(), walk.states(), predicate)
    };
    let answer = explorer.judge(formula, &plan, &mut atoms)?.answer;
    let steps = |test: &Test| {
        let text = |step: &Step| match step {
            Step::Act(action) => Some(walk.actions().text(*action)),
            Step::Restart => None,
        };
        test.steps.iter().filter_map(text).collect()
    };
    let violation = match &answer {
        Answer::Violated(run) => Some(Violation {
            prefix: steps(&run.prefix),
            lap: steps(&run.lap),
            then: match run.ending {
                Ending::Lap => "lap",
                Ending::Deadlock => "deadlock",
                Ending::Anything => "anything",
            },
        }),
        Answer::Holds | Answer::NothingFound(_) => None,
    };
    Ok(Judged { answer, violation })
}

impl Judged {
    pub(super) fn is_violated(&self) -> bool {
        self.violation.is_some()
    }

    /// The answer, for scripts.
    pub(super) fn answer(&self) -> &'static str {
        match self.answer {
            Answer::Holds => "holds",
            Answer::NothingFound(_) => "nothing-found",
            Answer::Violated(_) => "violated",
        }
    }

    pub(super) fn violation(&self) -> Option<Violation> {
        self.violation.clone()
    }

    /// The answer, for people.
    pub(super) fn say(&self, console: &mut Console<'_>) {
        let (look, words) = match &self.answer {
            Answer::Holds => (Look::Good, "holds in every run".to_owned()),
            Answer::NothingFound(reach) => (
                Look::Good,
                format!("nothing was found against it, in {reach}"),
            ),
            Answer::Violated(_) => (Look::Bad, "is violated by this run".to_owned()),
        };
        console.say(format_args!("Formula: {}", console.paint(look, words)));
        let (Some(texts), Answer::Violated(run)) = (&self.violation, &self.answer) else {
            return;
        };
        for step in &texts.prefix {
            console.say(format_args!("    {step}"));
        }
        console.say(match (run.ending, texts.prefix.is_empty()) {
            (Ending::Lap, true) => "  again and again",
            (Ending::Lap, false) => "  and then again and again",
            (Ending::Deadlock, _) => "  where nothing is possible any more",
            (Ending::Anything, true) => "  at its beginning, whatever follows",
            (Ending::Anything, false) => "  whatever follows",
        });
        for step in &texts.lap {
            console.say(format_args!("    {step}"));
        }
    }
}
