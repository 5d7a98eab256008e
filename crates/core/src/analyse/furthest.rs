//! Furthest point first: failing tests in an order in which each is as different as can be from all before.
//!
//! The first few tests then show the most different bugs, however many duplicates there are.

use crate::{ActionClasses, Catalog, Failure, Step, Test};

/// The properties in which two failing tests may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FurthestOptions {
    /// Compare the class of the last step, in addition to how often each class occurs.
    pub compare_last_step: bool,
    /// Compare the text of the failure.
    pub compare_failures: bool,
}

impl Default for FurthestOptions {
    fn default() -> FurthestOptions {
        FurthestOptions {
            compare_last_step: true,
            compare_failures: true,
        }
    }
}

/// Ranks failing tests and returns their indices. The first test comes first; each next one is the
/// test whose nearest ranked test is furthest away. Of equally distant tests the first wins.
///
/// A test is a point: how often each action class occurs in it, the class of its last step and the text of its failure.
/// Distances are Euclidean.
pub fn furthest_first(
    catalog: &Catalog,
    cases: &[(Test, Failure)],
    options: &FurthestOptions,
) -> Vec<usize> {
    let points = feature_vectors(catalog, cases, options);
    // By test: the square of the distance to the nearest ranked one.
    let mut nearest: Vec<Option<u64>> = vec![Some(u64::MAX); cases.len()];
    let mut ranked = Vec::new();
    let mut next = (!cases.is_empty()).then_some(0);
    while let Some(now) = next {
        ranked.push(now);
        nearest[now] = None;
        let mut furthest = None;
        for (index, distance) in nearest.iter_mut().enumerate() {
            let Some(distance) = distance else { continue };
            *distance = (*distance).min(squared_distance(&points[now], &points[index]));
            if furthest.is_none_or(|(max, _)| *distance > max) {
                furthest = Some((*distance, index));
            }
        }
        next = furthest.map(|(_, index)| index);
    }
    ranked
}

/// Returns each test as a point: class counts, then the class of the last step, then the failure
/// text.
fn feature_vectors(
    catalog: &Catalog,
    cases: &[(Test, Failure)],
    options: &FurthestOptions,
) -> Vec<Vec<u64>> {
    let classes = ActionClasses::new(catalog);
    let mut texts: Vec<&str> = Vec::new();
    for (_, failure) in cases {
        if !texts.contains(&failure.message.as_str()) {
            texts.push(&failure.message);
        }
    }
    let class = |step: &Step| match step {
        Step::Act(action) => Some(classes.class_of_action(catalog, *action).0),
        Step::Restart => None,
    };
    let point = |(test, failure): &(Test, Failure)| {
        let mut point = vec![0; classes.len() * 2 + texts.len()];
        for class in test.steps.iter().filter_map(class) {
            point[class] += 1;
        }
        if let Some(last) = test
            .steps
            .last()
            .and_then(class)
            .filter(|_| options.compare_last_step)
        {
            point[classes.len() + last] = 1;
        }
        let text = texts.iter().position(|text| *text == failure.message);
        if let Some(text) = text.filter(|_| options.compare_failures) {
            point[classes.len() * 2 + text] = 1;
        }
        point
    };
    cases.iter().map(point).collect()
}

/// Returns the squared Euclidean distance between two points.
fn squared_distance(one: &[u64], other: &[u64]) -> u64 {
    let pairs = one.iter().zip(other);
    pairs.map(|(one, other)| one.abs_diff(*other).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailureKind, toys};

    #[test]
    fn duplicates_come_last() {
        let catalog = toys::catalog(&[], &["a()", "b()", "c(<[1..3]>)"]);
        let case = |texts: &[&str], message: &str| {
            let failure = Failure {
                kind: FailureKind::UncaughtException,
                message: message.to_owned(),
                signature: String::new(),
                details: String::new(),
            };
            (
                Test::from_actions(texts.iter().map(|text| catalog.find(text)[0])),
                failure,
            )
        };
        let cases = [
            case(&["a()", "b()"], "one"),
            case(&["a()", "b()"], "one"),
            case(&["a()", "b()", "c(1)"], "one"),
            case(&["a()", "b()"], "two"),
            case(&["c(1)", "c(2)", "c(3)", "c(1)"], "two"),
            case(&["c(2)", "c(2)", "c(2)", "c(2)"], "two"),
        ];
        let ranked = furthest_first(&catalog, &cases, &FurthestOptions::default());
        assert_eq!(ranked, [0, 4, 2, 3, 1, 5]);
        assert_eq!(
            furthest_first(&catalog, &[], &FurthestOptions::default()),
            [0usize; 0]
        );
    }
}
