//! Choosing examples: the fewest small cases that show everything a property can exercise.
//!
//! Cases are found by running code elsewhere. This module only chooses among them, so the choice is
//! reproducible.

mod generate;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use generate::without_one;
pub use generate::{ValueGenerator, generator_for, simpler_values, simplify_equal_numbers};
pub use shape::{shapes, size};

use crate::value::PythonValue;

/// The features that a case covers: names of branches, conditions with their truth values, or
/// shapes.
pub type CaseFeatures = BTreeSet<String>;

/// Values of each input that deserve an example of their own: bounds of ranges, members of choices.
pub type Landmarks = BTreeMap<String, Vec<PythonValue>>;

/// A case that a property was run on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleCase {
    /// The value of each input.
    pub arguments: Vec<SampleArgument>,
    /// The branches that it takes, and the truth values of its conditions.
    pub features: CaseFeatures,
    /// The decisions of conditions in the property's own file, in order.
    pub decisions: Vec<Decision>,
}

/// The observed truth value of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The line of the condition, counted from 1.
    pub line: usize,
    /// The column of the condition in bytes, counted from 0.
    pub column: usize,
    /// The truth value.
    pub holds: bool,
}

/// The value of one input of a property.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleArgument {
    /// The name of the parameter.
    pub name: String,
    /// The value.
    pub value: PythonValue,
    /// A Python expression that makes it, for values whose notation cannot be parsed back.
    pub recipe: Option<String>,
}

impl SampleArgument {
    /// Creates an argument that needs no recipe.
    #[must_use]
    pub fn new(name: &str, value: PythonValue) -> SampleArgument {
        SampleArgument {
            name: name.to_owned(),
            value,
            recipe: None,
        }
    }
}

impl SampleCase {
    /// Creates a case from its arguments alone.
    #[must_use]
    pub fn of(arguments: Vec<SampleArgument>) -> SampleCase {
        SampleCase {
            arguments,
            ..SampleCase::default()
        }
    }

    /// Returns a Python expression for each argument.
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

    /// Returns the shapes of the arguments, with landmarks as shapes of their own.
    fn shapes(&self, landmarks: &Landmarks) -> CaseFeatures {
        let shapes = self.arguments.iter().flat_map(|argument| {
            let known = landmarks.get(&argument.name).into_iter().flatten();
            let landmark = known
                .filter(|landmark| **landmark == argument.value)
                .map(PythonValue::notation);
            let shapes = shapes(&argument.value).into_iter().chain(landmark);
            shapes.map(|shape| format!("{}: {shape}", argument.name))
        });
        shapes.collect()
    }

    /// Returns the sort key of a case: smaller, then shorter, then alphabetically first.
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

/// Chooses at most `limit` of the cases, shrinks them, and sorts them by size.
///
/// The choice is a greedy cover of features. `shrink` gets a case and the features that it must
/// keep, and returns a smaller case if there is one.
#[must_use]
pub fn choose_examples(
    cases: &[SampleCase],
    landmarks: &Landmarks,
    limit: usize,
    shrink: &mut dyn FnMut(&SampleCase, &CaseFeatures) -> Option<SampleCase>,
) -> Vec<SampleCase> {
    // Without a source there are no branches, so shapes are covered instead.
    let by_shape = cases.iter().all(|case| case.features.is_empty());
    let features = |case: &SampleCase| {
        if by_shape {
            case.shapes(landmarks)
        } else {
            case.features.clone()
        }
    };
    let mut candidates: Vec<(&SampleCase, CaseFeatures, CaseFeatures)> = cases
        .iter()
        .map(|case| (case, features(case), case.shapes(landmarks)))
        .collect();
    let mut covered = CaseFeatures::new();
    let mut covered_shapes = CaseFeatures::new();
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
        let new: CaseFeatures = features.difference(&covered).cloned().collect();
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
    remove_redundant(chosen, features)
}

/// Removes repeated cases, and cases whose features the others cover.
fn remove_redundant(
    mut chosen: Vec<SampleCase>,
    features: impl Fn(&SampleCase) -> CaseFeatures,
) -> Vec<SampleCase> {
    chosen.sort_by_cached_key(SampleCase::rank);
    chosen.dedup_by(|one, other| one.arguments == other.arguments);
    // The largest case is tried first, because readers miss it least.
    for index in (0..chosen.len()).rev() {
        let others = chosen
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index);
        let by_others: CaseFeatures = others.flat_map(|(_, case)| features(case)).collect();
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

    fn case(n: i64, met: &[&str]) -> SampleCase {
        SampleCase {
            arguments: vec![SampleArgument::new("n", PythonValue::integer(n))],
            features: met.iter().map(|feature| (*feature).to_owned()).collect(),
            decisions: vec![],
        }
    }

    fn numbers(cases: &[SampleCase]) -> Vec<String> {
        cases
            .iter()
            .map(|case| case.arguments[0].value.notation())
            .collect()
    }

    fn chosen(cases: &[SampleCase], limit: usize) -> Vec<String> {
        numbers(&choose_examples(
            cases,
            &Landmarks::new(),
            limit,
            &mut |_, _| None,
        ))
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
        // All shapes are new at first, and 1 is the smallest; then -5 has a new shape, and 4 does
        // not.
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
        let landmarks = Landmarks::from([("n".to_owned(), vec![PythonValue::integer(9)])]);
        assert_eq!(
            numbers(&choose_examples(&cases, &landmarks, 5, &mut |_, _| None)),
            ["9"]
        );
        assert_eq!(chosen(&cases, 5), ["2"]);
    }

    #[test]
    fn a_chosen_example_is_shrunk_while_it_shows_the_same_features() {
        let cases = [case(40, &["a", "b"]), case(1, &["a"])];
        let mut wanted = Vec::new();
        let chosen = choose_examples(&cases, &Landmarks::new(), 5, &mut |_, features| {
            wanted.push(features.clone());
            Some(case(3, &["a", "b"]))
        });
        assert_eq!(numbers(&chosen), ["3"]);
        assert_eq!(wanted, [case(0, &["a", "b"]).features]);
    }

    #[test]
    fn examples_covered_by_shrunk_ones_are_dropped() {
        let cases = [case(10, &["a", "b"]), case(5, &["c"])];
        let chosen = choose_examples(&cases, &Landmarks::new(), 5, &mut |found, _| {
            if found.features.contains("c") {
                Some(case(4, &["a", "b", "c"]))
            } else {
                None
            }
        });
        assert_eq!(numbers(&chosen), ["4"]);
    }

    #[test]
    fn no_cases_no_examples() {
        assert!(choose_examples(&[], &Landmarks::new(), 5, &mut |_, _| None).is_empty());
    }
}
