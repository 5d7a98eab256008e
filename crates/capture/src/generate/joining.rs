//! Tests that differ only in values become one with a table, which is run as often as any other before it is kept.

use std::collections::{BTreeMap, BTreeSet};

use super::Generator;
use crate::validate::{Error, Round, Verdict};
use crate::write::{FEWEST_JOINED, Likeness, Written};

/// Tests that are written together.
pub(super) struct Joined {
    /// The candidates, in order.
    pub(super) members: Vec<usize>,
    pub(super) written: Written,
}

impl Generator<'_, '_> {
    /// Joins what can be joined. Tests that are there already stay as they are.
    pub(super) fn join(&mut self, present: &BTreeSet<String>) -> Result<(), Error> {
        let mut alike: BTreeMap<(String, Likeness), Vec<usize>> = BTreeMap::new();
        for (index, candidate) in self.candidates.iter().enumerate() {
            let written = &candidate.written;
            if !candidate.is_test() || present.contains(&written.test.id) {
                continue;
            }
            if let Some(likeness) = self.writer.likeness(candidate.call, written) {
                let key = (candidate.module.clone(), likeness);
                alike.entry(key).or_default().push(index);
            }
        }
        for ((_, likeness), members) in alike {
            if members.len() < FEWEST_JOINED {
                continue;
            }
            let candidates = members
                .iter()
                .filter_map(|index| self.candidates.get(*index));
            let tests: Vec<_> = candidates
                .map(|candidate| (candidate.call, &candidate.written))
                .collect();
            if let Some(written) = self.writer.joined(&likeness, &tests) {
                self.joined.push(Joined { members, written });
            }
        }
        let members: Vec<usize> = (self.joined.iter())
            .flat_map(|joined| joined.members.iter().copied())
            .collect();
        let mut failed = BTreeSet::new();
        for round in Round::ALL {
            let verdicts = self.run(&members, round)?;
            let bad = verdicts
                .into_iter()
                .filter(|(_, verdict)| *verdict != Verdict::Passed);
            failed.extend(bad.map(|(index, _)| index));
        }
        // Apart from each other they are known to be true.
        self.joined
            .retain(|joined| !joined.members.iter().any(|index| failed.contains(index)));
        Ok(())
    }

    /// The test that a candidate is a row of, if all of its rows are among these candidates.
    pub(super) fn joined_with(&self, index: usize, among: &[usize]) -> Option<&Joined> {
        let mut joined = self.joined.iter();
        let found = joined.find(|joined| joined.members.contains(&index))?;
        let is_whole = found.members.iter().all(|member| among.contains(member));
        is_whole.then_some(found)
    }
}
