//! What really happened, as a scenario: so a recorded run can be composed with models like any other.

use testwright_core::Error;
use testwright_core::product::{Label, NameId, Product, Trouble, ValueId};

use crate::Suite;
use crate::conform::{Follower, Happened};

/// What came of a step may not have been recorded, and models may leave it open. So many ways to read a run are kept.
const MOST_READINGS: usize = 64;

/// What was not recorded at all may happen in between. So many states are looked at for that.
const MOST_STATES: usize = 10_000;

/// Runs that were recorded, as a suite for these models. Results that were not recorded are those that the models say.
/// Actions that do not occur in it may happen in between, as with every scenario. From where models do not allow what happened, the steps stand as they were recorded, and are not possible.
pub fn recorded(
    product: &mut Product<'_>,
    name: &str,
    runs: &[Vec<Happened>],
) -> Result<Suite, Trouble> {
    let is_recorded = |name: &NameId| runs.iter().flatten().any(|one| one.name == *name);
    let vocabulary = product.vocabulary().iter().copied();
    let others: Vec<NameId> = vocabulary.filter(|name| !is_recorded(name)).collect();
    let mut all = Vec::new();
    for run in runs {
        let mut readings = vec![Reading {
            steps: Vec::new(),
            follower: Some(Follower::new(product)?),
        }];
        for happened in run {
            let mut longer = Vec::new();
            for reading in &readings {
                longer.extend(reading.with(product, happened, &others)?);
            }
            readings = only_if_some(longer, |reading| reading.follower.is_some());
            if readings.len() > MOST_READINGS {
                let message = format!("`{name}` leaves open too often what came of its steps");
                let help = "record the results, too";
                return Err(Error::new(message).with_help(help).into());
            }
        }
        for reading in &mut readings {
            reading.wander(product, &others)?;
        }
        let may_end = |reading: &Reading| {
            let follower = reading.follower.as_ref();
            follower.is_some_and(|follower| follower.is_accepting(product))
        };
        let readings = only_if_some(readings, may_end);
        all.extend(readings.into_iter().map(|reading| reading.steps));
    }
    Ok(Suite::new(name, all))
}

/// A way to read what was recorded.
struct Reading {
    steps: Vec<Label>,
    /// Where the models are after these steps; nothing if they do not allow them.
    follower: Option<Follower>,
}

impl Reading {
    /// Lets happen what was not recorded.
    fn wander(&mut self, product: &mut Product<'_>, others: &[NameId]) -> Result<(), Trouble> {
        match &mut self.follower {
            Some(follower) if !others.is_empty() => follower.wander(product, others, MOST_STATES),
            _ => Ok(()),
        }
    }

    /// The same with one step more, for each result that it may have had.
    fn with(
        &self,
        product: &mut Product<'_>,
        happened: &Happened,
        others: &[NameId],
    ) -> Result<Vec<Reading>, Trouble> {
        let longer = |label: Label, follower: Option<Follower>| Reading {
            steps: [self.steps.as_slice(), &[label]].concat(),
            follower,
        };
        let mut before = Reading {
            steps: Vec::new(),
            follower: self.follower.clone(),
        };
        before.wander(product, others)?;
        let Some(before) = before.follower else {
            return Ok(vec![longer(as_recorded(happened), None)]);
        };
        let mut after = before.clone();
        let Ok(labels) = after.follow(product, happened)? else {
            return Ok(vec![longer(as_recorded(happened), None)]);
        };
        if let [only] = labels.as_slice() {
            return Ok(vec![longer(*only, Some(after))]);
        }
        let mut all = Vec::new();
        for label in labels {
            let mut after = before.clone();
            let result = Some([label.result; 2]);
            if after
                .follow(
                    product,
                    &Happened {
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

/// Those that are as they should be, or all if none is.
fn only_if_some(readings: Vec<Reading>, is_good: impl Fn(&Reading) -> bool) -> Vec<Reading> {
    if readings.iter().any(&is_good) {
        readings.into_iter().filter(is_good).collect()
    } else {
        readings
    }
}

/// A step that is not possible.
fn as_recorded(happened: &Happened) -> Label {
    let label = Label {
        name: happened.name,
        arguments: happened.arguments,
        result: happened.result.map_or(ValueId::NONE, |either| either[0]),
    };
    if label.is_wildcard() {
        // It would stand for anything. With an empty tuple for its result, it stands for what does not happen.
        Label {
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
    use testwright_core::toys::Machine;

    use super::*;
    use crate::{Limits, explore};

    /// A lamp that says how it is after each switch, and a log of two switches.
    fn lamp() -> (Product<'static>, Happened) {
        let mut words = Machine::words();
        let lines = ["off switch/on on", "on switch/off off"];
        let lamp = Machine::program(&mut words, "lamp", &lines);
        let name = lamp.vocabulary()[0];
        let happened = Happened {
            name,
            arguments: ValueId::EMPTY,
            result: None,
        };
        (Product::new(words, vec![Box::new(lamp)]), happened)
    }

    #[test]
    fn results_that_were_not_recorded_are_those_of_the_model() {
        let (mut product, happened) = lamp();
        let suite = recorded(&mut product, "log", &[vec![happened; 3]]).unwrap();
        product.add(Box::new(suite));
        let graph = explore(&mut product, &Limits::default(), &mut |_| true).graph;
        assert_eq!((graph.states(), graph.transitions.len()), (4, 3));
    }

    #[test]
    fn what_is_not_allowed_is_where_it_ends() {
        let (mut product, happened) = lamp();
        let wrong = Happened {
            result: Some([ValueId::NONE; 2]),
            ..happened
        };
        let suite = recorded(&mut product, "log", &[vec![happened, wrong, happened]]).unwrap();
        product.add(Box::new(suite));
        let graph = explore(&mut product, &Limits::default(), &mut |_| true).graph;
        assert_eq!((graph.states(), graph.dead_ends.len()), (2, 1));
    }
}
