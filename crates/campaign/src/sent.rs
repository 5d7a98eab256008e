//! Tests and failures as they are sent from one process to another.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use testwright_core::{ActionId, Catalog, Error, Failure, FailureKind, Step, System, Test};

/// A test, on its way. Both sides number the actions alike, or else their names come along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentTest {
    /// Actions; nothing stands for a restart.
    steps: Vec<Option<u64>>,
    remarks: Vec<(usize, String)>,
    /// The names of those that the other side may know by another number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<SentName>,
}

/// What an action is called by those who number it otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentName {
    /// Its number where this comes from.
    pub number: u64,
    /// Its class.
    pub class: String,
    /// What follows the class.
    pub rest: String,
}

impl SentName {
    /// The name of an action, if that is what it is known by.
    pub fn of(action: ActionId, catalog: &Catalog) -> Option<SentName> {
        let (class, rest) = catalog.name(action)?;
        Some(SentName {
            number: action.0,
            class: class.to_owned(),
            rest: rest.to_owned(),
        })
    }
}

impl SentTest {
    /// A test of actions of this catalogue.
    pub fn of(test: &Test, catalog: &Catalog) -> SentTest {
        SentTest {
            remarks: test.remarks.clone(),
            ..SentTest::of_steps(&test.steps, catalog)
        }
    }

    /// Steps without remarks.
    pub fn of_steps(steps: &[Step], catalog: &Catalog) -> SentTest {
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
                .filter_map(|action| SentName::of(action, catalog))
                .collect(),
            steps,
            remarks: Vec::new(),
        }
    }

    /// The test, for somebody with a catalogue of their own, who knows actions by their names: `number` tells which is
    /// meant.
    pub fn named(self, mut number: impl FnMut(&SentName) -> Option<ActionId>) -> Test {
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

    /// The test, for a system of the same kind as where it comes from.
    pub fn for_system<S: System + ?Sized>(self, system: &mut S) -> Test {
        if self.names.is_empty() {
            self.into_test(system.actions())
        } else {
            self.named(|name| system.number(&name.class, &name.rest))
        }
    }

    /// Whether the other side may know its actions by other numbers.
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The test. Actions that there are none of are left out: they come from a process that has lost its mind.
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

/// A failure, on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFailure {
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) signature: String,
    pub(crate) details: String,
}

impl SentFailure {
    /// The failure, if there is such a kind.
    pub fn into_failure(self) -> Option<Failure> {
        Some(Failure {
            kind: FailureKind::of_name(&self.kind)?,
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

/// An error, on its way.
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
        let mut test = Test::of_steps(vec![
            Step::Act(ActionId(1)),
            Step::Restart,
            Step::Act(ActionId(0)),
        ]);
        test.remarks.push((1, "again".to_owned()));
        assert_eq!(SentTest::of(&test, &catalog).into_test(&catalog), test);
        test.steps.push(Step::Act(ActionId(2)));
        assert_eq!(SentTest::of(&test, &catalog).into_test(&catalog).len(), 3);
    }

    #[test]
    fn those_who_number_actions_otherwise_are_told_their_names() {
        let open = |texts: [&str; 2]| {
            let mut catalog = Catalog::default();
            let push = catalog.open("Push".to_owned(), 1).unwrap();
            let actions = texts.map(|text| catalog.add(push, text.to_owned()).unwrap());
            (catalog, actions)
        };
        let (ours, [one, two]) = open(["(1,)", "(2,)"]);
        let (theirs, [their_two, their_one]) = open(["(2,)", "(1,)"]);
        let mut test = Test::of_steps(vec![Step::Act(one), Step::Restart, Step::Act(two)]);
        test.remarks.push((1, "again".to_owned()));
        let sent = SentTest::of(&test, &ours);
        assert!(sent.has_names());
        let find = |name: &SentName| {
            let mut all = theirs.ids();
            all.find(|action| theirs.name(*action) == Some((&name.class, &name.rest)))
        };
        let arrived = sent.clone().named(find);
        let steps = [Step::Act(their_one), Step::Restart, Step::Act(their_two)];
        assert_eq!(arrived.steps, steps);
        assert_eq!(arrived.remarks, test.remarks);
        // One that nobody knows is left out.
        assert_eq!(sent.named(|_| None).steps, [Step::Restart]);
    }
}
