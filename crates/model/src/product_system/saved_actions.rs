//! Discovers the actions that a saved test names, so that they can be looked up in the catalog.
//!
//! A saved test is text, and the catalog only has the actions that were met so far. So the test
//! is followed as far as possible. Actions that it does not meet are searched for in the states
//! around the start.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashSet;
use testwright_core::saved::{self, SavedStep};
use testwright_core::{ActionId, Outcome, System};

use super::ProductSystem;

/// Maximum number of states to search for actions that following the test does not meet.
const MAX_STATES: usize = 10_000;

impl ProductSystem<'_, '_> {
    /// Follows a saved test, and searches for those of its actions that it does not meet.
    ///
    /// Errors are ignored here: they come up again when the test is run. `before` is called before
    /// each step with its number, from 1, and its text.
    pub fn discover_actions(&mut self, test: &str, before: &mut dyn FnMut(usize, &str)) {
        let mut number = 0;
        let mut unknown: BTreeSet<&str> = BTreeSet::new();
        let mut has_failed = self.reset().is_err();
        for line in test.lines().map(str::trim) {
            if has_failed {
                unknown.insert(line);
                continue;
            }
            match self.parse_line(line) {
                None => {
                    unknown.insert(line);
                }
                Some(LineStep::Restart) => {
                    number += 1;
                    has_failed = self.reset().is_err();
                }
                Some(LineStep::Act(candidates)) => {
                    number += 1;
                    let enabled = candidates
                        .into_iter()
                        .rev()
                        .find(|one| self.is_enabled(*one));
                    if let Some(action) = enabled {
                        before(number, &self.actions.text(action));
                        has_failed = self.step(action) != Outcome::Passed;
                    }
                }
            }
        }
        unknown.retain(|line| !line.is_empty() && !line.starts_with('#'));
        self.search_states(&mut unknown);
    }

    /// Parses one line of a saved test. Returns `None` if it names an unknown action.
    fn parse_line(&self, line: &str) -> Option<LineStep> {
        let read = saved::read(&self.actions, line).ok()?;
        Some(match read.lines.into_iter().next()?.step {
            SavedStep::Restart => LineStep::Restart,
            SavedStep::Act { candidates } => LineStep::Act(candidates),
        })
    }

    /// Visits states, nearest first, until all lines can be parsed.
    fn search_states(&mut self, unknown: &mut BTreeSet<&str>) {
        let mut waiting: VecDeque<_> = self.starts.iter().cloned().collect();
        let mut seen: FxHashSet<_> = waiting.iter().cloned().collect();
        let mut enough = 0;
        while let Some(state) = waiting.pop_front() {
            // Parsing the lines takes longer than expanding a state, so it is not done for each
            // state.
            if self.actions.len() >= enough {
                enough = self.actions.len() * 5 / 4 + 1;
                unknown.retain(|line| self.parse_line(line).is_none());
            }
            if unknown.is_empty() {
                return;
            }
            let Ok(moves) = self.steps_from(&state) else {
                continue;
            };
            for one in moves.iter() {
                if seen.len() < MAX_STATES && seen.insert(one.to.clone()) {
                    waiting.push_back(one.to.clone());
                }
            }
        }
    }
}

/// Meaning of one line of a saved test.
enum LineStep {
    /// The line restarts the system.
    Restart,
    /// The line names one of these actions.
    Act(Vec<ActionId>),
}
