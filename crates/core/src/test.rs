//! A test as plain data: the steps to take.

use crate::ActionId;

/// One step of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Take this action.
    Act(ActionId),
    /// Reset the system and continue (`<<RESTART>>` in saved tests).
    Restart,
}

/// A finite list of steps: a value that can be sliced, joined, compared, saved and replayed.
///
/// Two tests are equal if their steps are; remarks are ignored.
#[derive(Clone, Debug, Default)]
pub struct Test {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Remarks by step index (`;;;` in saved tests), in order.
    pub remarks: Vec<(usize, String)>,
}

impl Test {
    /// Creates a test of these actions.
    pub fn from_actions(actions: impl IntoIterator<Item = ActionId>) -> Test {
        Test {
            steps: actions.into_iter().map(Step::Act).collect(),
            remarks: Vec::new(),
        }
    }

    /// Creates a test of these steps.
    pub fn from_steps(steps: Vec<Step>) -> Test {
        Test {
            steps,
            remarks: Vec::new(),
        }
    }

    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns true if there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl PartialEq for Test {
    fn eq(&self, other: &Test) -> bool {
        self.steps == other.steps
    }
}

impl Eq for Test {}
