//! Tests that reached something: those of earlier campaigns, and those that one worker tells the others of.

use testwright_campaign::SentTest;
use testwright_core::saved::{SavedLine, SavedStep};
use testwright_core::{Step, Test};

use super::super::Run;
use super::super::memory::Memory;
use super::Campaign;
use crate::console::Console;
use crate::workers::actions::Actions;

/// What workers begin with.
pub(super) fn of_earlier_campaigns(
    run: &Run,
    memory: &mut Memory,
    console: &mut Console<'_>,
    actions: &Actions,
) -> Vec<SentTest> {
    if run.seed.is_some() || run.tests.is_some() || run.steps.is_some() {
        // These make the same tests wherever they are made.
        return Vec::new();
    }
    let texts = memory.corpus(console);
    let tests = texts.iter().filter_map(|text| test_of(actions, text));
    tests.collect()
}

/// A saved test, as far as it can be read without running it.
fn test_of(actions: &Actions, text: &str) -> Option<SentTest> {
    let saved = actions.read(text).ok()?;
    let step = |line: &SavedLine| match &line.step {
        SavedStep::Restart => Some(Step::Restart),
        SavedStep::Act { candidates } => candidates.first().copied().map(Step::Act),
    };
    let steps: Option<Vec<Step>> = saved.lines.iter().map(step).collect();
    Some(SentTest::of_steps(&steps?, &actions.catalog()))
}

impl Campaign<'_, '_> {
    /// Lets others know of a test that reached something.
    pub(super) fn share(&mut self, from: usize, test: &Test) {
        /// Who does not come to ask does not need more.
        const MOST: usize = 100;
        let sent = self.desk.actions.sent(test);
        for (worker, waiting) in self.shared.iter_mut().enumerate() {
            if worker != from && waiting.len() < MOST {
                waiting.push(sent.clone());
            }
        }
    }
}
