//! Which of many cases become examples (4.3): the fewest small ones that show everything a property can exercise.
//!
//! Cases come from elsewhere, for they are found by running code. Here is only the choice, so it is the same each time.

mod generate;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use generate::without_one;
pub use generate::{Generator, generator, simpler, simpler_together};
pub use shape::{shapes, size};

use crate::value::Value;

/// What a case meets: names of branches, conditions and their truth values, or shapes.
pub type Features = BTreeSet<String>;

/// Values of each input that are classes of their own: bounds of ranges, members of choices.
pub type Landmarks = BTreeMap<String, Vec<Value>>;

/// A case that a property was run on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Case {
    /// The value of each input.
    pub arguments: Vec<Argument>,
    /// The branches it takes and the truth values of the conditions it meets.
    pub met: Features,
    /// How the conditions in the property's own file were decided, in order.
    pub decisions: Vec<Decision>,
}

/// How a condition was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Where the condition begins, from 1.
    pub line: usize,
    /// In bytes from the beginning of the line, from 0.
    pub column: usize,
    /// Whether it was true.
    pub holds: bool,
}

/// What a property is called with for one of its inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The name of the parameter.
    pub name: String,
    /// What it is.
    pub value: Value,
    /// A Python expression that makes it, for what has no notation that can be read back.
    pub recipe: Option<String>,
}

impl Argument {
    /// A value that needs no recipe.
    #[must_use]
    pub fn new(name: &str, value: Value) -> Argument {
        Argument {
            name: name.to_owned(),
            value,
            recipe: None,
        }
    }
}

impl Case {
    /// A case of which only the arguments are known.
    #[must_use]
    pub fn of(arguments: Vec<Argument>) -> Case {
        Case {
            arguments,
            ..Case::default()
        }
    }

    /// A Python expression for each argument, that makes it.
    #[must_use]
    pub fn recipes(&self) -> Vec<(String, String)> {
        let recipes = self.arguments.iter().map(|argument| {
            let made = argument
                .recipe
                .clone()
                .unwrap_or_else(|| argument.value.to_python());
            (argument.name.clone(), made)
        });
        recipes.collect()
    }

    fn shapes(&self, landmarks: &Landmarks) -> Features {
        let shapes = self.arguments.iter().flat_map(|argument| {
            let known = landmarks.get(&argument.name).into_iter().flatten();
            let landmark = known
                .filter(|landmark| **landmark == argument.value)
                .map(Value::notation);
            let shapes = shapes(&argument.value).into_iter().chain(landmark);
            shapes.map(|shape| format!("{}: {shape}", argument.name))
        });
        shapes.collect()
    }

    /// Smaller, then shorter, then alphabetically first.
    fn rank(&self) -> (u128, usize, Vec<String>) {
        let sizes = self.arguments.iter().map(|argument| size(&argument.value));
        let notations: Vec<String> = (self.arguments.iter())
            .map(|argument| argument.value.notation())
            .collect();
        let length = notations
            .iter()
            .map(|notation| notation.chars().count())
            .sum();
        (sizes.fold(0, u128::saturating_add), length, notations)
    }
}

/// Chooses at most `limit` of the cases, makes them smaller, and puts the smallest first.
///
/// `shrink` gets a case and what it must still meet, and gives a smaller one that does, if there is one.
#[must_use]
pub fn choose(
    cases: &[Case],
    landmarks: &Landmarks,
    limit: usize,
    shrink: &mut dyn FnMut(&Case, &Features) -> Option<Case>,
) -> Vec<Case> {
    // Where no source was available, what values look like is all there is to go by.
    let by_shape = cases.iter().all(|case| case.met.is_empty());
    let features = |case: &Case| {
        if by_shape {
            case.shapes(landmarks)
        } else {
            case.met.clone()
        }
    };
    let mut candidates: Vec<(&Case, Features, Features)> = cases
        .iter()
        .map(|case| (case, features(case), case.shapes(landmarks)))
        .collect();
    let mut covered = Features::new();
    let mut covered_shapes = Features::new();
    let mut chosen = Vec::new();
    while chosen.len() < limit {
        let best = candidates
            .iter()
            .enumerate()
            .min_by_key(|(_, (case, features, shapes))| {
                let new = features.difference(&covered).count();
                let new_shapes = shapes.difference(&covered_shapes).count();
                (std::cmp::Reverse((new, new_shapes)), case.rank())
            });
        let Some((index, _)) = best else { break };
        let (case, features, shapes) = candidates.swap_remove(index);
        let new: Features = features.difference(&covered).cloned().collect();
        // A property without any branch still deserves one example.
        if new.is_empty() && !chosen.is_empty() {
            break;
        }
        let smaller = if by_shape {
            None
        } else {
            shrink(case, &new).filter(|smaller| smaller.rank() <= case.rank())
        };
        covered.extend(features);
        covered_shapes.extend(shapes);
        chosen.push(smaller.unwrap_or_else(|| case.clone()));
    }
    without_the_redundant(chosen, features)
}

fn without_the_redundant(mut chosen: Vec<Case>, features: impl Fn(&Case) -> Features) -> Vec<Case> {
    chosen.sort_by_cached_key(Case::rank);
    chosen.dedup_by(|one, other| one.arguments == other.arguments);
    // The largest is tried first: it is the one that readers miss least.
    for index in (0..chosen.len()).rev() {
        let others = chosen
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index);
        let by_others: Features = others.flat_map(|(_, case)| features(case)).collect();
        let is_redundant = chosen
            .get(index)
            .is_some_and(|case| features(case).is_subset(&by_others));
        if is_redundant && chosen.len() > 1 {
            chosen.remove(index);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(n: i64, met: &[&str]) -> Case {
        Case {
            arguments: vec![Argument::new("n", Value::integer(n))],
            met: met.iter().map(|feature| (*feature).to_owned()).collect(),
            decisions: vec![],
        }
    }

    fn numbers(cases: &[Case]) -> Vec<String> {
        cases
            .iter()
            .map(|case| case.arguments[0].value.notation())
            .collect()
    }

    fn chosen(cases: &[Case], limit: usize) -> Vec<String> {
        numbers(&choose(cases, &Landmarks::new(), limit, &mut |_, _| None))
    }

    #[test]
    fn the_fewest_that_meet_everything() {
        let cases = [
            case(9, &["a"]),
            case(5, &["a", "b"]),
            case(1, &["b"]),
            case(7, &["c"]),
            case(3, &["c"]),
        ];
        assert_eq!(chosen(&cases, 5), ["3", "5"]);
    }

    #[test]
    fn never_more_than_the_limit_and_the_richest_first() {
        let cases = [case(1, &["a"]), case(2, &["b"]), case(3, &["c", "d"])];
        assert_eq!(chosen(&cases, 1), ["3"]);
        assert_eq!(chosen(&cases, 2), ["1", "3"]);
    }

    #[test]
    fn ties_go_to_new_shapes_then_to_the_smaller() {
        let cases = [
            case(4, &["a"]),
            case(-5, &["a"]),
            case(1, &["b"]),
            case(2, &["b"]),
        ];
        // All look new at first, and 1 is the smallest; then -5 looks new, and 4 does not.
        assert_eq!(chosen(&cases, 5), ["1", "-5"]);
    }

    #[test]
    fn without_source_shapes_are_covered() {
        let cases = [case(4, &[]), case(0, &[]), case(2, &[]), case(-3, &[])];
        assert_eq!(chosen(&cases, 5), ["0", "2", "-3"]);
    }

    #[test]
    fn bounds_of_a_range_look_new() {
        let cases = [case(3, &[]), case(2, &[]), case(9, &[])];
        let landmarks = Landmarks::from([("n".to_owned(), vec![Value::integer(9)])]);
        assert_eq!(
            numbers(&choose(&cases, &landmarks, 5, &mut |_, _| None)),
            ["9"]
        );
        assert_eq!(chosen(&cases, 5), ["2"]);
    }

    #[test]
    fn what_is_chosen_shrinks_while_it_meets_the_same() {
        let cases = [case(40, &["a", "b"]), case(1, &["a"])];
        let mut wanted = Vec::new();
        let chosen = choose(&cases, &Landmarks::new(), 5, &mut |_, features| {
            wanted.push(features.clone());
            Some(case(3, &["a", "b"]))
        });
        assert_eq!(numbers(&chosen), ["3"]);
        assert_eq!(wanted, [case(0, &["a", "b"]).met]);
    }

    #[test]
    fn what_others_show_after_shrinking_is_dropped() {
        let cases = [case(10, &["a", "b"]), case(5, &["c"])];
        let chosen = choose(&cases, &Landmarks::new(), 5, &mut |found, _| {
            if found.met.contains("c") {
                Some(case(4, &["a", "b", "c"]))
            } else {
                None
            }
        });
        assert_eq!(numbers(&chosen), ["4"]);
    }

    #[test]
    fn no_cases_no_examples() {
        assert!(choose(&[], &Landmarks::new(), 5, &mut |_, _| None).is_empty());
    }
}
