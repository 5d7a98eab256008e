//! Evaluation of a temporal formula over all runs of models.

use serde::Serialize;
use testwright_core::explore::temporal::{AtomEvaluator, Formula, FormulaVerdict, RunEnding};
use testwright_core::explore::{ExploreOptions, ExploreProgress, Explorer};
use testwright_core::product::ModelError;
use testwright_core::verdict::{Caveat, ReachedLimit, Verdict, VerdictExtent};
use testwright_core::{ActionId, Error, Step, System, Test};
use testwright_model::{GraphLimits, ProductSystem};
use testwright_python::{Models, StateEvaluator};

use crate::CommandError;
use crate::console::{Console, TextStyle};
use crate::verdict_text::{self, Claim};

/// Answer to a formula, with the run that violates it.
pub(super) struct FormulaResult {
    answer: FormulaVerdict,
    /// Evidence for what is said about all runs.
    verdict: Verdict,
    /// The violating run as text.
    violation: Option<ViolatingRun>,
    /// Number of states that were visited.
    pub(super) states: u64,
}

/// A run that violates the formula, with its steps as text.
#[derive(Clone, Serialize)]
pub(super) struct ViolatingRun {
    /// Steps at the beginning.
    prefix: Vec<String>,
    /// Steps that are repeated forever after them.
    lap: Vec<String>,
    /// Kind of ending: `lap`, `deadlock` or `anything`.
    then: &'static str,
}

/// Evaluates a formula over all runs of models, within the limits of their exploration. `proceed` is
/// called before each step, and ends the evaluation by returning false. So does an unsafe state, if
/// the limits say so.
pub(super) fn evaluate(
    models: &mut Models<'_>,
    formula: &Formula,
    limits: &GraphLimits,
    proceed: &mut dyn FnMut(&ExploreProgress) -> bool,
) -> Result<FormulaResult, CommandError> {
    let evaluator = models.state_evaluator();
    let error = |error: ModelError| Error::new(error.to_string());
    let mut system = ProductSystem::new(&mut models.product).map_err(error)?;
    let mut explorer = Explorer::new(&mut system)
        .with_snapshots()
        .with_fingerprints();
    let plan = ExploreOptions {
        check: false,
        max_states: limits.states,
        max_bytes: limits.bytes,
        ..ExploreOptions::default()
    };
    let mut atoms = PredicateEvaluator {
        evaluator,
        proceed,
        stops_at_unsafe: limits.stop_at_unsafe,
        has_stopped: false,
    };
    let judgement = explorer.judge(formula, &plan, &mut atoms)?;
    let has_stopped = atoms.has_stopped;
    let answer = judgement.verdict;
    let mut verdict = judgement.exploration.verdict();
    let states = judgement.exploration.states;
    if let (VerdictExtent::Bounded { by }, Some(max)) = (&mut verdict.extent, limits.states)
        && states >= max as u64
    {
        *by = vec![ReachedLimit::States(max as u64)];
    }
    if has_stopped {
        let by = vec![ReachedLimit::Failure];
        verdict.extent = VerdictExtent::Bounded { by };
    }
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
        answer,
        verdict,
        violation,
        states,
    })
}

/// Evaluates the predicates of a formula in states of models.
struct PredicateEvaluator<'e, 'py> {
    evaluator: StateEvaluator<'py>,
    /// Called before each step.
    proceed: &'e mut dyn FnMut(&ExploreProgress) -> bool,
    /// True if an unsafe state ends the evaluation.
    stops_at_unsafe: bool,
    /// True once an unsafe state was met that ends the evaluation.
    has_stopped: bool,
}

impl PredicateEvaluator<'_, '_> {
    /// Notes if the present state ends the evaluation.
    fn meet(&mut self, system: &ProductSystem<'_, '_>) {
        let product = system.product();
        let mut states = system.states().iter();
        self.has_stopped |= self.stops_at_unsafe && states.any(|state| !product.is_safe(state));
    }
}

impl AtomEvaluator<ProductSystem<'_, '_>> for PredicateEvaluator<'_, '_> {
    fn holds(
        &mut self,
        system: &mut ProductSystem<'_, '_>,
        predicate: &str,
    ) -> Result<bool, Error> {
        self.meet(system);
        self.evaluator
            .holds(system.product(), system.states(), predicate)
    }

    fn proceed(&mut self, progress: &ExploreProgress) -> bool {
        !self.has_stopped && (self.proceed)(progress)
    }

    fn allows(&mut self, system: &mut ProductSystem<'_, '_>, _action: ActionId) -> bool {
        self.meet(system);
        true
    }
}

impl FormulaResult {
    /// Returns true if the formula is violated.
    pub(super) fn is_violated(&self) -> bool {
        self.violation.is_some()
    }

    /// Adds what the exploration of the models did not cover.
    pub(super) fn add_caveats(&mut self, caveats: &[Caveat]) {
        self.verdict.add_caveats(caveats.iter().cloned());
    }

    /// Notes that the time limit ended the evaluation, not the user.
    pub(super) fn end_by_time(&mut self) {
        if self.verdict.extent == VerdictExtent::Interrupted {
            let by = vec![ReachedLimit::Time];
            self.verdict.extent = VerdictExtent::Bounded { by };
        }
    }

    /// Returns the verdict for scripts.
    pub(super) fn verdict_name(&self) -> &'static str {
        match self.answer {
            FormulaVerdict::Violated(_) => "violated",
            _ if self.verdict.is_proof() => "holds",
            FormulaVerdict::Holds | FormulaVerdict::NothingFound(_) => "nothing-found",
        }
    }

    /// Returns the run that violates the formula.
    pub(super) fn violation(&self) -> Option<ViolatingRun> {
        self.violation.clone()
    }

    /// Prints the verdict and the run.
    pub(super) fn print(&self, console: &mut Console<'_>) {
        let (style, text) = match &self.answer {
            FormulaVerdict::Holds | FormulaVerdict::NothingFound(_) => {
                let text = Claim::FormulaHolds.text(&self.verdict);
                let text = verdict_text::with_limits(&text, &self.verdict);
                (TextStyle::Success, text)
            }
            FormulaVerdict::Violated(_) => {
                (TextStyle::Failure, "is violated by this run".to_owned())
            }
        };
        console.out(format_args!("Formula: {}", console.paint(style, text)));
        let (Some(texts), FormulaVerdict::Violated(run)) = (&self.violation, &self.answer) else {
            return;
        };
        for step in &texts.prefix {
            console.out(format_args!("    {step}"));
        }
        console.out(match (run.ending, texts.prefix.is_empty()) {
            (RunEnding::Cycle, true) => "  again and again",
            (RunEnding::Cycle, false) => "  and then again and again",
            (RunEnding::Deadlock, _) => "  where no action is possible any more",
            (RunEnding::AnyContinuation, true) => "  at its beginning, whatever follows",
            (RunEnding::AnyContinuation, false) => "  whatever follows",
        });
        for step in &texts.lap {
            console.out(format_args!("    {step}"));
        }
    }
}
