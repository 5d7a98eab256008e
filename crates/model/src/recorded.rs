//! What really happened, as a scenario: so a recorded run can be composed with models like any other.

use testwright_core::Error;
use testwright_core::product::{Label, Product, Trouble, ValueId};

use crate::Suite;
use crate::conform::{Follower, Happened};

/// What came of a step may not have been recorded, and models may leave it open. So many ways to read a run are kept.
const MOST_READINGS: usize = 64;

/// Runs that were recorded, as a suite for these models. Results that were not recorded are those that the models say.
/// From where models do not allow what happened, the steps stand as they were recorded, and are not possible.
pub fn recorded(
    product: &mut Product<'_>,
    name: &str,
    runs: &[Vec<Happened>],
) -> Result<Suite, Trouble> {
    let mut all = Vec::new();
    for run in runs {
        let mut follower = Some(Follower::new(product)?);
        let mut readings: Vec<Vec<Label>> = vec![Vec::new()];
        for happened in run {
            let followed = match &mut follower {
                Some(follower) => follower.follow(product, happened)?.ok(),
                None => None,
            };
            let labels = followed.unwrap_or_else(|| {
                follower = None;
                vec![as_recorded(happened)]
            });
            let longer = |reading: &Vec<Label>| {
                let reading = reading.clone();
                let longer = move |label: &Label| [reading.as_slice(), &[*label]].concat();
                labels.iter().map(longer).collect::<Vec<_>>()
            };
            readings = readings.iter().flat_map(longer).collect();
            if readings.len() > MOST_READINGS {
                let message = format!("`{name}` leaves open too often what came of its steps");
                let help = "record the results, too";
                return Err(Error::new(message).with_help(help).into());
            }
        }
        all.extend(readings);
    }
    Ok(Suite::new(name, all))
}

/// A step that is not possible.
fn as_recorded(happened: &Happened) -> Label {
    let label = Label {
        name: happened.name,
        arguments: happened.arguments,
        result: happened.result.map_or(ValueId::NONE, |either| either[0]),
    };
    match label.is_wildcard() {
        // It would stand for anything. With an empty tuple for its result, it stands for what does not happen.
        true => Label {
            result: ValueId::EMPTY,
            ..label
        },
        false => label,
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
