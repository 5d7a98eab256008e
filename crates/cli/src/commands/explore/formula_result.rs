//! Evaluation of a temporal formula over all runs of models.

use serde::Serialize;
use testwright_core::explore::temporal::{Formula, FormulaVerdict, RunEnding};
use testwright_core::explore::{ExploreOptions, Explorer};
use testwright_core::product::ModelError;
use testwright_core::{Error, Step, System, Test};
use testwright_model::ProductSystem;
use testwright_python::Models;

use crate::CommandError;
use crate::console::{Console, TextStyle};

/// Verdict on a formula, with the run that violates it.
pub(super) struct FormulaResult {
    verdict: FormulaVerdict,
    /// The violating run as text.
    violation: Option<ViolatingRun>,
}

/// A run that violates the formula, with its steps as text.
#[derive(Clone, Serialize)]
pub(super) struct ViolatingRun {
    /// Steps at the beginning.
    prefix: Vec<String>,
    /// Steps that are repeated for ever after them.
    lap: Vec<String>,
    /// Kind of ending: `lap`, `deadlock` or `anything`.
    then: &'static str,
}

/// Evaluates a formula over all runs of models, with a limit on the number of states.
pub(super) fn evaluate(
    models: &mut Models<'_>,
    formula: &Formula,
    max_states: Option<usize>,
) -> Result<FormulaResult, CommandError> {
    let evaluator = models.state_evaluator();
    let error = |error: ModelError| Error::new(error.to_string());
    let mut system = ProductSystem::new(&mut models.product).map_err(error)?;
    let mut explorer = Explorer::new(&mut system)
        .with_snapshots()
        .with_fingerprints();
    let plan = ExploreOptions {
        check: false,
        max_states,
        ..ExploreOptions::default()
    };
    let mut atoms = |system: &mut ProductSystem<'_, '_>, predicate: &str| {
        evaluator.holds(system.product(), system.states(), predicate)
    };
    let answer = explorer.judge(formula, &plan, &mut atoms)?.verdict;
    let steps = |test: &Test| {
        let text = |step: &Step| match step {
            Step::Act(action) => Some(system.actions().text(*action)),
            Step::Restart => None,
        };
        test.steps.iter().filter_map(text).collect()
    };
    let violation = match &answer {
        FormulaVerdict::Violated(run) => Some(ViolatingRun {
            prefix: steps(&run.prefix),
            lap: steps(&run.cycle),
            then: match run.ending {
                RunEnding::Cycle => "lap",
                RunEnding::Deadlock => "deadlock",
                RunEnding::AnyContinuation => "anything",
            },
        }),
        FormulaVerdict::Holds | FormulaVerdict::NothingFound(_) => None,
    };
    Ok(FormulaResult {
        verdict: answer,
        violation,
    })
}

impl FormulaResult {
    /// Returns true if the formula is violated.
    pub(super) fn is_violated(&self) -> bool {
        self.violation.is_some()
    }

    /// Returns the verdict for scripts.
    pub(super) fn verdict_name(&self) -> &'static str {
        match self.verdict {
            FormulaVerdict::Holds => "holds",
            FormulaVerdict::NothingFound(_) => "nothing-found",
            FormulaVerdict::Violated(_) => "violated",
        }
    }

    /// Returns the run that violates the formula.
    pub(super) fn violation(&self) -> Option<ViolatingRun> {
        self.violation.clone()
    }

    /// Prints the verdict and the run.
    pub(super) fn print(&self, console: &mut Console<'_>) {
        let (style, text) = match &self.verdict {
            FormulaVerdict::Holds => (TextStyle::Success, "holds in every run".to_owned()),
            FormulaVerdict::NothingFound(reach) => (
                TextStyle::Success,
                format!("nothing was found against it, in {reach}"),
            ),
            FormulaVerdict::Violated(_) => {
                (TextStyle::Failure, "is violated by this run".to_owned())
            }
        };
        console.out(format_args!("Formula: {}", console.paint(style, text)));
        let (Some(texts), FormulaVerdict::Violated(run)) = (&self.violation, &self.verdict) else {
            return;
        };
        for step in &texts.prefix {
            console.out(format_args!("    {step}"));
        }
        console.out(match (run.ending, texts.prefix.is_empty()) {
            (RunEnding::Cycle, true) => "  again and again",
            (RunEnding::Cycle, false) => "  and then again and again",
            (RunEnding::Deadlock, _) => "  where nothing is possible any more",
            (RunEnding::AnyContinuation, true) => "  at its beginning, whatever follows",
            (RunEnding::AnyContinuation, false) => "  whatever follows",
        });
        for step in &texts.lap {
            console.out(format_args!("    {step}"));
        }
    }
}
