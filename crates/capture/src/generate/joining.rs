//! Joins tests that differ only in values into tests with a table, which are validated like any
//! other.

use std::collections::{BTreeMap, BTreeSet};

use super::SuiteGenerator;
use crate::validate::{Error, TestVerdict, ValidationRound};
use crate::write::{MIN_TABLE_ROWS, TestSkeleton, WrittenTest};

/// Tests that are joined in a table.
pub(super) struct JoinedTests {
    /// The indices of the candidates, in order.
    pub(super) members: Vec<usize>,
    /// The test with the table.
    pub(super) written: WrittenTest,
}

impl SuiteGenerator<'_, '_> {
    /// Joins candidates with equal skeletons. Existing tests stay as they are.
    pub(super) fn join_similar(&mut self, present: &BTreeSet<String>) -> Result<(), Error> {
        let mut alike: BTreeMap<(String, TestSkeleton), Vec<usize>> = BTreeMap::new();
        for (index, candidate) in self.candidates.iter().enumerate() {
            let written = &candidate.written;
            if !candidate.is_test() || present.contains(&written.test.id) {
                continue;
            }
            if let Some(skeleton) = self.writer.skeleton(candidate.call, written) {
                let key = (candidate.module.clone(), skeleton);
                alike.entry(key).or_default().push(index);
            }
        }
        for ((_, skeleton), members) in alike {
            if members.len() < MIN_TABLE_ROWS {
                continue;
            }
            let candidates = members
                .iter()
                .filter_map(|index| self.candidates.get(*index));
            let tests: Vec<_> = candidates
                .map(|candidate| (candidate.call, &candidate.written))
                .collect();
            if let Some(written) = self.writer.table_test(&skeleton, &tests) {
                self.joined.push(JoinedTests { members, written });
            }
        }
        let members: Vec<usize> = (self.joined.iter())
            .flat_map(|joined| joined.members.iter().copied())
            .collect();
        let mut failed = BTreeSet::new();
        for round in ValidationRound::ALL {
            let verdicts = self.run(&members, round)?;
            let bad = verdicts
                .into_iter()
                .filter(|(_, verdict)| *verdict != TestVerdict::Passed);
            failed.extend(bad.map(|(index, _)| index));
        }
        // The separate tests have passed, so they are used instead.
        self.joined
            .retain(|joined| !joined.members.iter().any(|index| failed.contains(index)));
        Ok(())
    }

    /// Returns the joined test that a candidate is a row of, if all of its rows are among these
    /// candidates.
    pub(super) fn joined_test_of(&self, index: usize, among: &[usize]) -> Option<&JoinedTests> {
        let mut joined = self.joined.iter();
        let found = joined.find(|joined| joined.members.contains(&index))?;
        let is_whole = found.members.iter().all(|member| among.contains(member));
        is_whole.then_some(found)
    }
}
