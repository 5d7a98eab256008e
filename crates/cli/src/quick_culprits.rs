//! The steps that are to blame for failing tests, looked for while a search goes on.

use std::collections::HashMap;

use testwright_core::System;
use testwright_core::analyse::culprit::{Culprit, quick_culprit};
use testwright_core::generate::FailingTest;
use testwright_core::replay::ReplayOptions;

/// Finds the culprits of failing tests, so that two bugs that look alike are told apart. Once a failure has
/// come up often, it does so more and more rarely, so that the search is not slowed down.
#[derive(Default)]
pub(crate) struct QuickCulprits {
    /// The number of tests with each failure.
    counts: HashMap<String, u64>,
}

impl QuickCulprits {
    /// The number of tests with the same failure of which each is looked at.
    const MANY: u64 = 50;

    /// The maximum length of a test, in steps.
    const MAX_STEPS: usize = 2_000;

    /// Returns the culprit of a failing test, if it is looked for and found.
    pub(crate) fn find(
        &mut self,
        system: &mut impl System,
        found: &FailingTest,
        check: bool,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Option<Culprit> {
        let key = format!("{} {}", found.failure.kind, found.failure.signature);
        let count = self.counts.entry(key).or_default();
        *count += 1;
        let is_due = *count <= QuickCulprits::MANY || count.is_power_of_two();
        if !is_due || found.test.len() > QuickCulprits::MAX_STEPS {
            return None;
        }
        let options = ReplayOptions { check };
        let culprit = quick_culprit(system, &found.test, &found.failure, &options, proceed);
        // A system that cannot be run again shows that in the next test.
        culprit.ok().flatten()
    }
}
