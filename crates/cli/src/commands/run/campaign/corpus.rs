//! The corpus: tests that reached something new, loaded from earlier campaigns and shared between
//! workers.

use testwright_campaign::SentTest;
use testwright_core::saved::{SavedLine, SavedStep};
use testwright_core::{Step, Test};

use super::super::RunCommand;
use super::super::store_writer::StoreWriter;
use super::Campaign;
use crate::console::Console;
use crate::workers::actions::ActionRegistry;

/// Loads the tests of earlier campaigns that workers begin with.
pub(super) fn load(
    run: &RunCommand,
    store: &mut StoreWriter,
    console: &mut Console<'_>,
    actions: &ActionRegistry,
) -> Vec<SentTest> {
    if run.seed.is_some() || run.tests.is_some() || run.steps.is_some() {
        // With a seed or a number of tests, a run must not depend on the store.
        return Vec::new();
    }
    let texts = store.corpus(console);
    let tests = texts.iter().filter_map(|text| parse_saved(actions, text));
    tests.collect()
}

/// Parses a saved test. Returns `None` if a step is not known.
///
/// The test is not run, so the first candidate of an ambiguous step is taken.
fn parse_saved(actions: &ActionRegistry, text: &str) -> Option<SentTest> {
    let saved = actions.read(text).ok()?;
    let step = |line: &SavedLine| match &line.step {
        SavedStep::Restart => Some(Step::Restart),
        SavedStep::Act { candidates } => candidates.first().copied().map(Step::Act),
    };
    let steps: Option<Vec<Step>> = saved.lines.iter().map(step).collect();
    Some(SentTest::from_steps(&steps?, &actions.catalog()))
}

impl Campaign<'_, '_> {
    /// Queues a test that reached something new for all workers but its sender.
    pub(super) fn share_test(&mut self, sender: usize, test: &Test) {
        /// Limit for a worker that rarely fetches tests of others.
        const MAX_PENDING: usize = 100;
        let sent = self.writer.actions.encode_test(test);
        for (worker, waiting) in self.pending_tests.iter_mut().enumerate() {
            if worker != sender && waiting.len() < MAX_PENDING {
                waiting.push(sent.clone());
            }
        }
    }
}
