//! Recorded runs as scenarios, so that they can be composed with models like any other scenario.

use testwright_core::Error;
use testwright_core::product::{ModelError, NameId, Product, StepLabel, ValueId};

use crate::RunSuite;
use crate::conform::{LoggedAction, StateTracker};

/// Maximum number of interpretations of a run. A run has several if results were not recorded and
/// the models leave them open.
const MAX_INTERPRETATIONS: usize = 64;

/// Maximum number of states to visit for unrecorded actions between two recorded ones.
const MAX_STATES: usize = 10_000;

/// Builds a suite from recorded runs, for composition with these models.
///
/// Results that were not recorded are filled in by the models. Actions that are never recorded may
/// happen in between, as with every scenario. If the models do not allow a recorded action, the
/// rest of the run stays as it was recorded, and these steps are not possible.
pub fn recorded_suite(
    product: &mut Product<'_>,
    name: &str,
    runs: &[Vec<LoggedAction>],
) -> Result<RunSuite, ModelError> {
    let is_recorded = |name: &NameId| runs.iter().flatten().any(|one| one.name == *name);
    let vocabulary = product.vocabulary().iter().copied();
    let others: Vec<NameId> = vocabulary.filter(|name| !is_recorded(name)).collect();
    let mut all = Vec::new();
    for run in runs {
        let mut interpretations = vec![Interpretation {
            steps: Vec::new(),
            tracker: Some(StateTracker::new(product)?),
        }];
        for happened in run {
            let mut longer = Vec::new();
            for interpretation in &interpretations {
                longer.extend(interpretation.with_action(product, happened, &others)?);
            }
            interpretations =
                keep_preferred(longer, |interpretation| interpretation.tracker.is_some());
            if interpretations.len() > MAX_INTERPRETATIONS {
                let message = format!("`{name}` leaves open too often what came of its steps");
                let help = "record the results, too";
                return Err(Error::new(message).with_help(help).into());
            }
        }
        for interpretation in &mut interpretations {
            interpretation.follow_unrecorded(product, &others)?;
        }
        let may_end = |interpretation: &Interpretation| {
            let tracker = interpretation.tracker.as_ref();
            tracker.is_some_and(|tracker| tracker.is_accepting(product))
        };
        let interpretations = keep_preferred(interpretations, may_end);
        all.extend(
            interpretations
                .into_iter()
                .map(|interpretation| interpretation.steps),
        );
    }
    Ok(RunSuite::new(name, all))
}

/// One way to complete a recorded run with results.
struct Interpretation {
    /// Steps with their results.
    steps: Vec<StepLabel>,
    /// States of the models after these steps. `None` if the models do not allow them.
    tracker: Option<StateTracker>,
}

impl Interpretation {
    /// Lets unrecorded actions happen.
    fn follow_unrecorded(
        &mut self,
        product: &mut Product<'_>,
        others: &[NameId],
    ) -> Result<(), ModelError> {
        match &mut self.tracker {
            Some(tracker) if !others.is_empty() => {
                tracker.apply_unrecorded(product, others, MAX_STATES)?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns the interpretations with one more recorded action, one for each possible result.
    fn with_action(
        &self,
        product: &mut Product<'_>,
        happened: &LoggedAction,
        others: &[NameId],
    ) -> Result<Vec<Interpretation>, ModelError> {
        let longer = |label: StepLabel, tracker: Option<StateTracker>| Interpretation {
            steps: [self.steps.as_slice(), &[label]].concat(),
            tracker,
        };
        let mut before = Interpretation {
            steps: Vec::new(),
            tracker: self.tracker.clone(),
        };
        before.follow_unrecorded(product, others)?;
        let Some(before) = before.tracker else {
            return Ok(vec![longer(impossible_step(happened), None)]);
        };
        let mut after = before.clone();
        let Ok(labels) = after.apply_recorded(product, happened)? else {
            return Ok(vec![longer(impossible_step(happened), None)]);
        };
        if let [only] = labels.as_slice() {
            return Ok(vec![longer(*only, Some(after))]);
        }
        let mut all = Vec::new();
        for label in labels {
            let mut after = before.clone();
            let result = Some([label.result; 2]);
            if after
                .apply_recorded(
                    product,
                    &LoggedAction {
                        result,
                        ..*happened
                    },
                )?
                .is_ok()
            {
                all.push(longer(label, Some(after)));
            }
        }
        Ok(all)
    }
}

/// Keeps the interpretations that satisfy `is_good`, or all if none does.
fn keep_preferred(
    interpretations: Vec<Interpretation>,
    is_good: impl Fn(&Interpretation) -> bool,
) -> Vec<Interpretation> {
    if interpretations.iter().any(&is_good) {
        interpretations.into_iter().filter(is_good).collect()
    } else {
        interpretations
    }
}

/// Returns the step for a recorded action that the models do not allow.
fn impossible_step(happened: &LoggedAction) -> StepLabel {
    let label = StepLabel {
        name: happened.name,
        arguments: happened.arguments,
        result: happened.result.map_or(ValueId::NONE, |either| either[0]),
    };
    if label.is_wildcard() {
        // The step would match any action. An empty tuple as its result makes it one that never
        // happens.
        StepLabel {
            result: ValueId::EMPTY,
            ..label
        }
    } else {
        label
    }
}

#[cfg(test)]
mod tests {
    use testwright_core::product::Model;
    use testwright_core::toys::ToyMachine;

    use super::*;
    use crate::{GraphLimits, explore};

    /// Builds a lamp that reports its state at each switch, and one recorded switch of it.
    fn lamp() -> (Product<'static>, LoggedAction) {
        let mut interner = ToyMachine::interner();
        let lines = ["off switch/on on", "on switch/off off"];
        let lamp = ToyMachine::program(&mut interner, "lamp", &lines);
        let name = lamp.vocabulary()[0];
        let happened = LoggedAction {
            name,
            arguments: ValueId::EMPTY,
            result: None,
        };
        (Product::new(interner, vec![Box::new(lamp)]), happened)
    }

    #[test]
    fn results_that_were_not_recorded_are_those_of_the_model() {
        let (mut product, happened) = lamp();
        let suite = recorded_suite(&mut product, "log", &[vec![happened; 3]]).unwrap();
        product.add(Box::new(suite));
        let graph = explore(&mut product, &GraphLimits::default(), &mut |_| true).graph;
        assert_eq!((graph.states(), graph.transitions.len()), (4, 3));
    }

    #[test]
    fn a_recorded_suite_ends_at_the_first_forbidden_action() {
        let (mut product, happened) = lamp();
        let wrong = LoggedAction {
            result: Some([ValueId::NONE; 2]),
            ..happened
        };
        let suite =
            recorded_suite(&mut product, "log", &[vec![happened, wrong, happened]]).unwrap();
        product.add(Box::new(suite));
        let graph = explore(&mut product, &GraphLimits::default(), &mut |_| true).graph;
        assert_eq!((graph.states(), graph.dead_ends.len()), (2, 1));
    }
}
