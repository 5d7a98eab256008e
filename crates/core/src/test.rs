//! A test: what to do, as plain data.

use crate::ActionId;

/// One thing to do in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Take this action.
    Act(ActionId),
    /// Reset the system and go on (`<<RESTART>>` in saved tests).
    Restart,
}

/// A finite list of steps: a value that can be sliced, joined, compared, saved and replayed.
///
/// Equality is that of the steps; remarks about them do not count.
#[derive(Clone, Debug, Default)]
pub struct Test {
    /// What to do, in order.
    pub steps: Vec<Step>,
    /// Remarks by step index (`;;;` in saved tests), in order.
    pub remarks: Vec<(usize, String)>,
}

impl Test {
    /// A test of these actions.
    pub fn of(actions: impl IntoIterator<Item = ActionId>) -> Test {
        Test {
            steps: actions.into_iter().map(Step::Act).collect(),
            remarks: Vec::new(),
        }
    }

    /// A test of these steps.
    pub fn of_steps(steps: Vec<Step>) -> Test {
        Test {
            steps,
            remarks: Vec::new(),
        }
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// True if there is nothing to do.
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
