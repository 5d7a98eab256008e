//! Tests, failures and errors in the form that is sent between processes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use testwright_core::{ActionId, Catalog, Error, Failure, FailureKind, Step, System, Test};

/// A test in transit. If the two processes may number actions differently, it carries their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentTest {
    /// Action numbers; `None` stands for a restart.
    steps: Vec<Option<u64>>,
    /// The test's remarks, each with the position of its step.
    remarks: Vec<(usize, String)>,
    /// The names of actions that the receiver may number differently.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<SentName>,
}

/// The name of an action, for processes that number it differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentName {
    /// Its number in the sending process.
    pub number: u64,
    /// Its class, such as the name of the function it calls.
    pub class: String,
    /// The text after the class, such as its arguments.
    pub rest: String,
}

impl SentName {
    /// Returns the name of an action, or `None` if the catalog identifies it by number only.
    pub fn from_action(action: ActionId, catalog: &Catalog) -> Option<SentName> {
        let (class, rest) = catalog.name(action)?;
        Some(SentName {
            number: action.0,
            class: class.to_owned(),
            rest: rest.to_owned(),
        })
    }
}

impl SentTest {
    /// Packs a test of actions of this catalog.
    pub fn from_test(test: &Test, catalog: &Catalog) -> SentTest {
        SentTest {
            remarks: test.remarks.clone(),
            ..SentTest::from_steps(&test.steps, catalog)
        }
    }

    /// Packs steps without remarks.
    pub fn from_steps(steps: &[Step], catalog: &Catalog) -> SentTest {
        let number = |step: &Step| match step {
            Step::Act(action) => Some(action.0),
            Step::Restart => None,
        };
        let steps: Vec<Option<u64>> = steps.iter().map(number).collect();
        let distinct: BTreeSet<u64> = steps.iter().flatten().copied().collect();
        let names = distinct.into_iter().map(ActionId);
        SentTest {
            names: names
                .filter(|action| catalog.contains(*action))
                .filter_map(|action| SentName::from_action(action, catalog))
                .collect(),
            steps,
            remarks: Vec::new(),
        }
    }

    /// Unpacks the test in a process with its own catalog: `number` finds the action of a name.
    /// Actions without one are left out.
    pub fn resolve_names(self, mut number: impl FnMut(&SentName) -> Option<ActionId>) -> Test {
        let numbers: BTreeMap<u64, Option<ActionId>> = self
            .names
            .iter()
            .map(|name| (name.number, number(name)))
            .collect();
        let step = |number: Option<u64>| match number {
            Some(number) => numbers.get(&number).copied().flatten().map(Step::Act),
            None => Some(Step::Restart),
        };
        Test {
            steps: self.steps.into_iter().filter_map(step).collect(),
            remarks: self.remarks,
        }
    }

    /// Unpacks the test for a system of the same kind as the sender's.
    pub fn for_system<S: System + ?Sized>(self, system: &mut S) -> Test {
        if self.names.is_empty() {
            self.into_test(system.actions())
        } else {
            self.resolve_names(|name| system.action_by_name(&name.class, &name.rest))
        }
    }

    /// Returns true if the receiver may number the actions differently.
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns true if there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Unpacks the test. Actions that are not in the catalog are left out: only a worker with
    /// corrupted memory sends them.
    pub fn into_test(self, catalog: &Catalog) -> Test {
        let step = |number: Option<u64>| match number {
            Some(number) if !catalog.contains(ActionId(number)) => None,
            Some(number) => Some(Step::Act(ActionId(number))),
            None => Some(Step::Restart),
        };
        Test {
            steps: self.steps.into_iter().filter_map(step).collect(),
            remarks: self.remarks,
        }
    }
}

/// A failure in transit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFailure {
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) signature: String,
    pub(crate) details: String,
}

impl SentFailure {
    /// Unpacks the failure, or returns `None` if its kind is unknown.
    pub fn into_failure(self) -> Option<Failure> {
        Some(Failure {
            kind: FailureKind::from_name(&self.kind)?,
            message: self.message,
            signature: self.signature,
            details: self.details,
        })
    }
}

impl From<&Failure> for SentFailure {
    fn from(failure: &Failure) -> SentFailure {
        SentFailure {
            kind: failure.kind.name().to_owned(),
            message: failure.message.clone(),
            signature: failure.signature.clone(),
            details: failure.details.clone(),
        }
    }
}

/// An error in transit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentError {
    message: String,
    help: Option<String>,
}

impl From<Error> for SentError {
    fn from(Error { message, help }: Error) -> SentError {
        SentError { message, help }
    }
}

impl From<SentError> for Error {
    fn from(SentError { message, help }: SentError) -> Error {
        Error { message, help }
    }
}

#[cfg(test)]
mod tests {
    use testwright_core::toys;

    use super::*;

    #[test]
    fn tests_arrive_as_they_were_sent() {
        let catalog = toys::catalog(&[], &["a()", "b()"]);
        let mut test = Test::from_steps(vec![
            Step::Act(ActionId(1)),
            Step::Restart,
            Step::Act(ActionId(0)),
        ]);
        test.remarks.push((1, "again".to_owned()));
        assert_eq!(
            SentTest::from_test(&test, &catalog).into_test(&catalog),
            test
        );
        test.steps.push(Step::Act(ActionId(2)));
        assert_eq!(
            SentTest::from_test(&test, &catalog)
                .into_test(&catalog)
                .len(),
            3
        );
    }

    #[test]
    fn actions_are_found_by_name_under_other_numbers() {
        let open = |texts: [&str; 2]| {
            let mut catalog = Catalog::default();
            let push = catalog.open_template("Push".to_owned(), 1).unwrap();
            let actions = texts.map(|text| catalog.add_action(push, text.to_owned()).unwrap());
            (catalog, actions)
        };
        let (ours, [one, two]) = open(["(1,)", "(2,)"]);
        let (theirs, [their_two, their_one]) = open(["(2,)", "(1,)"]);
        let mut test = Test::from_steps(vec![Step::Act(one), Step::Restart, Step::Act(two)]);
        test.remarks.push((1, "again".to_owned()));
        let sent = SentTest::from_test(&test, &ours);
        assert!(sent.has_names());
        let find = |name: &SentName| {
            let mut all = theirs.ids();
            all.find(|action| theirs.name(*action) == Some((&name.class, &name.rest)))
        };
        let arrived = sent.clone().resolve_names(find);
        let steps = [Step::Act(their_one), Step::Restart, Step::Act(their_two)];
        assert_eq!(arrived.steps, steps);
        assert_eq!(arrived.remarks, test.remarks);
        // Actions without a number are left out.
        assert_eq!(sent.resolve_names(|_| None).steps, [Step::Restart]);
    }
}
