//! Conformance checking: decides whether a model allows a recorded behavior, and explains why not.

use rustc_hash::FxHashSet;
use testwright_core::product::{
    BlockReason, BlockedAction, JointStep, ModelError, ModelState, NameId, Phase, Product,
    StepLabel, ValueId,
};

/// A recorded action: its name, its arguments and, if known, its result.
///
/// A log format may have fewer types than the model's language. A recorded result is then one of
/// two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedAction {
    /// Name of the action.
    pub name: NameId,
    /// Arguments of the action.
    pub arguments: ValueId,
    /// Values that the recorded result may stand for. `None` if no result was recorded.
    pub result: Option<[ValueId; 2]>,
}

/// Set of the states that a model may be in after the recorded actions so far.
#[derive(Clone, Debug)]
pub struct StateTracker {
    /// States that agree with all recorded actions, sorted.
    states: Vec<Vec<ModelState>>,
    /// Distinct arguments that were recorded. Only the log tells which arguments an observed action
    /// may have.
    recorded_arguments: Vec<ValueId>,
}

/// Maximum number of arguments to remember.
const MAX_ARGUMENTS: usize = 100;

/// Explanation of a recorded action that the model does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// One explanation for each state that the model may have been in.
    pub states: Vec<StateRejection>,
}

/// Explanation for a single state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRejection {
    /// State of the product before the action.
    pub state: Vec<ModelState>,
    /// Reason in this state.
    pub reason: RejectionReason,
    /// Steps that would have been possible.
    pub alternatives: Vec<StepLabel>,
}

/// Reason for which an action is not allowed in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RejectionReason {
    /// No model has an action of that name.
    Unknown,
    /// These models, by index, block the action.
    Refused(Vec<(usize, BlockReason)>),
    /// The action is possible, but only with these other results.
    OtherResults(Vec<ValueId>),
}

impl StateTracker {
    /// Creates a tracker at the start of a run.
    pub fn new(product: &mut Product<'_>) -> Result<StateTracker, ModelError> {
        let mut tracker = StateTracker {
            states: Vec::new(),
            recorded_arguments: Vec::new(),
        };
        tracker.restart(product)?;
        Ok(tracker)
    }

    /// Returns to the start of a run.
    pub fn restart(&mut self, product: &mut Product<'_>) -> Result<(), ModelError> {
        self.states = product.initial_state(0)?.into_iter().collect();
        Ok(())
    }

    /// Returns the states that the model may be in.
    pub fn states(&self) -> &[Vec<ModelState>] {
        &self.states
    }

    /// Returns true if the run may end here.
    pub fn is_accepting(&self, product: &Product<'_>) -> bool {
        self.states.iter().any(|state| product.is_accepting(state))
    }

    /// Adds the states that can be reached by unrecorded actions with these names, any number of
    /// times. Stops adding once there are `max_states` states, and returns false then.
    pub fn apply_unrecorded(
        &mut self,
        product: &mut Product<'_>,
        names: &[NameId],
        max_states: usize,
    ) -> Result<bool, ModelError> {
        let mut is_complete = true;
        let mut known: FxHashSet<Vec<ModelState>> = self.states.iter().cloned().collect();
        let mut next = 0;
        while next < self.states.len() {
            let state = self.states[next].clone();
            next += 1;
            for one in product.possible_steps(&state, Phase::Normal)? {
                let is_unrecorded = names.contains(&one.label.name);
                if !is_unrecorded || known.contains(&one.to) {
                    continue;
                }
                if known.len() >= max_states {
                    is_complete = false;
                } else {
                    known.insert(one.to.clone());
                    self.states.push(one.to);
                }
            }
        }
        Ok(is_complete)
    }

    /// Applies a recorded action. Returns the steps that it may have been, with their results, or
    /// the reasons for which no state allows it.
    pub fn apply_recorded(
        &mut self,
        product: &mut Product<'_>,
        happened: &LoggedAction,
    ) -> Result<Result<Vec<StepLabel>, Rejection>, ModelError> {
        let LoggedAction {
            name,
            arguments,
            result,
        } = *happened;
        if self.recorded_arguments.len() < MAX_ARGUMENTS
            && !self.recorded_arguments.contains(&arguments)
        {
            self.recorded_arguments.push(arguments);
        }
        let mut after: Vec<Vec<ModelState>> = Vec::new();
        let mut labels: Vec<StepLabel> = Vec::new();
        let mut refused = Vec::new();
        for state in self.states.clone() {
            let why = if !product.has_action(name) {
                RejectionReason::Unknown
            } else {
                let refusals = product.block_reasons(&state, name, arguments)?;
                if refusals.is_empty() {
                    let done = product.perform(&state, name, arguments)?;
                    let agrees = |one: &JointStep| {
                        result.is_none_or(|results| results.contains(&one.label.result))
                    };
                    let before = after.len();
                    for one in done.iter().filter(|one| agrees(one)) {
                        after.push(one.to.clone());
                        if !labels.contains(&one.label) {
                            labels.push(one.label);
                        }
                    }
                    if after.len() > before {
                        continue;
                    }
                    RejectionReason::OtherResults(done.iter().map(|one| one.label.result).collect())
                } else {
                    RejectionReason::Refused(refusals)
                }
            };
            refused.push((state, why));
        }
        after.sort_unstable();
        after.dedup();
        if !after.is_empty() {
            self.states = after;
            return Ok(Ok(labels));
        }
        let mut states = Vec::new();
        for (state, why) in refused {
            states.push(StateRejection {
                alternatives: self.possible_steps(product, &state)?,
                state,
                reason: why,
            });
        }
        Ok(Err(Rejection { states }))
    }

    /// Returns the steps that are possible in a state. Models do not list the arguments of observed
    /// actions, so these are tried with the arguments recorded so far.
    fn possible_steps(
        &self,
        product: &mut Product<'_>,
        state: &[ModelState],
    ) -> Result<Vec<StepLabel>, ModelError> {
        let moves = product.possible_steps(state, Phase::Normal)?;
        let mut possible: Vec<StepLabel> = moves.iter().map(|one| one.label).collect();
        for name in product.vocabulary().to_vec() {
            if moves.iter().any(|one| one.label.name == name) {
                continue;
            }
            for arguments in &self.recorded_arguments {
                match allowed_steps(product, state, name, *arguments) {
                    Ok(labels) => possible.extend(labels),
                    Err(ModelError::Interrupted) => return Err(ModelError::Interrupted),
                    // These arguments were only a guess, so an error with them says nothing.
                    Err(_) => {}
                }
            }
        }
        Ok(possible)
    }
}

/// Returns the steps that an action with these arguments may be, or nothing if it is blocked.
fn allowed_steps(
    product: &mut Product<'_>,
    state: &[ModelState],
    name: NameId,
    arguments: ValueId,
) -> Result<Vec<StepLabel>, ModelError> {
    if !product.allows(state, name, arguments)? {
        return Ok(Vec::new());
    }
    let done = product.perform(state, name, arguments)?;
    Ok(done.into_iter().map(|one| one.label).collect())
}

/// Explains in one line which models block an action, and why.
pub fn explain(product: &Product<'_>, by: &[(usize, BlockReason)]) -> String {
    let interner = product.interner();
    let each = by.iter().map(|(model, refusal)| {
        let name = product.models()[*model].name();
        match refusal {
            BlockReason::Guard(guard) => format!("{name}: the guard `{guard}` says no"),
            BlockReason::Filter => format!("{name}: the state after it is filtered out"),
            BlockReason::Result(result) => {
                let result = interner.value_text(*result).plain();
                format!("{name}: the result would be {result}")
            }
            BlockReason::Domain => format!("{name}: its domains have no such arguments"),
            BlockReason::Scenario {
                state,
                allowed_steps: instead,
            } if instead.is_empty() => {
                format!("{name}: nothing is meant to happen in its state {state}")
            }
            BlockReason::Scenario {
                state,
                allowed_steps: instead,
            } => {
                let few: Vec<String> = instead
                    .iter()
                    .take(3)
                    .map(|label| crate::step_text(interner, *label))
                    .collect();
                let more = if instead.len() > few.len() {
                    ", …"
                } else {
                    ""
                };
                format!(
                    "{name}: in its state {state} it lets only {}{more} happen",
                    few.join(", ")
                )
            }
        }
    });
    each.collect::<Vec<String>>().join("; ")
}

/// Explains the blocked actions, one line for each action and reason. Actions that differ only in
/// their arguments share a line.
pub fn explain_all(product: &Product<'_>, blocked: &[BlockedAction]) -> Vec<String> {
    let interner = product.interner();
    let mut groups: Vec<(NameId, String, Vec<ValueId>)> = Vec::new();
    for one in blocked {
        let why = explain(product, &one.reasons);
        let same = groups
            .iter_mut()
            .find(|(name, other, _)| *name == one.name && *other == why);
        match same {
            Some((_, _, all)) => all.push(one.arguments),
            None => groups.push((one.name, why, vec![one.arguments])),
        }
    }
    let line = |(name, why, all): &(NameId, String, Vec<ValueId>)| {
        let first = interner.value_text(all[0]).plain();
        let name = interner.name_text(*name);
        match all.len() {
            1 => format!("{name}{first}: {why}"),
            more => format!("{name}{first} and {} more: {why}", more - 1),
        }
    };
    groups.iter().map(line).collect()
}

/// Explains in one line each which models do not accept a state.
pub fn explain_not_accepting(product: &Product<'_>, state: &[ModelState]) -> Vec<String> {
    let each = product.models().iter().zip(state);
    let against = each.filter(|(model, state)| !model.is_accepting(**state));
    against
        .map(|(model, state)| {
            format!(
                "{} does not accept its state {}",
                model.name(),
                model.text(*state)
            )
        })
        .collect()
}
