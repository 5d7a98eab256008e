//! Tests and failures as they are sent from one process to another.

use serde::{Deserialize, Serialize};
use testwright_core::{ActionId, Catalog, Error, Failure, FailureKind, Step, Test};

/// A test, on its way. Both sides number the actions alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentTest {
    /// Actions; nothing stands for a restart.
    steps: Vec<Option<u64>>,
    remarks: Vec<(usize, String)>,
}

impl SentTest {
    /// Steps without remarks.
    pub fn of_steps(steps: &[Step]) -> SentTest {
        let number = |step: &Step| match step {
            Step::Act(action) => Some(action.0),
            Step::Restart => None,
        };
        SentTest {
            steps: steps.iter().map(number).collect(),
            remarks: Vec::new(),
        }
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
            Some(number) if number >= catalog.len() => None,
            Some(number) => Some(Step::Act(ActionId(number))),
            None => Some(Step::Restart),
        };
        Test {
            steps: self.steps.into_iter().filter_map(step).collect(),
            remarks: self.remarks,
        }
    }
}

impl From<&Test> for SentTest {
    fn from(test: &Test) -> SentTest {
        SentTest {
            remarks: test.remarks.clone(),
            ..SentTest::of_steps(&test.steps)
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
        assert_eq!(SentTest::from(&test).into_test(&catalog), test);
        test.steps.push(Step::Act(ActionId(2)));
        assert_eq!(SentTest::from(&test).into_test(&catalog).len(), 3);
    }
}
