//! Meeting the actions that a saved test speaks of, so that they can be looked up.
//!
//! A test is text, and text is only ever looked up in the catalogue, which has the actions that were met until then. So
//! the test is followed as far as it goes. What is not met on its way is looked for around where runs begin.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashSet;
use testwright_core::saved::{self, SavedStep};
use testwright_core::{ActionId, Outcome, System};

use super::Walk;

/// How many states are looked at for actions that a test does not meet itself.
const MOST_STATES: usize = 10_000;

impl Walk<'_, '_> {
    /// Follows a saved test, and looks for those of its actions that it does not meet. Trouble on the way is met again
    /// by whoever runs the test. `before` is told of each step that is taken: its number, from 1, and its text.
    pub fn meet(&mut self, test: &str, before: &mut dyn FnMut(usize, &str)) {
        let mut number = 0;
        let mut not_met: BTreeSet<&str> = BTreeSet::new();
        let mut is_lost = self.reset().is_err();
        for line in test.lines().map(str::trim) {
            if is_lost {
                not_met.insert(line);
                continue;
            }
            match self.meant(line) {
                None => {
                    not_met.insert(line);
                }
                Some(Meant::Restart) => {
                    number += 1;
                    is_lost = self.reset().is_err();
                }
                Some(Meant::Act(candidates)) => {
                    number += 1;
                    let enabled = candidates
                        .into_iter()
                        .rev()
                        .find(|one| self.is_enabled(*one));
                    if let Some(action) = enabled {
                        before(number, &self.actions.text(action));
                        is_lost = self.step(action) != Outcome::Passed;
                    }
                }
            }
        }
        not_met.retain(|line| !line.is_empty() && !line.starts_with('#'));
        self.look_around(&mut not_met);
    }

    fn meant(&self, line: &str) -> Option<Meant> {
        let read = saved::read(&self.actions, line).ok()?;
        Some(match read.lines.into_iter().next()?.step {
            SavedStep::Restart => Meant::Restart,
            SavedStep::Act { candidates } => Meant::Act(candidates),
        })
    }

    /// Visits states, nearest first, until all lines can be looked up.
    fn look_around(&mut self, not_met: &mut BTreeSet<&str>) {
        let mut waiting: VecDeque<_> = self.starts.iter().cloned().collect();
        let mut seen: FxHashSet<_> = waiting.iter().cloned().collect();
        let mut enough = 0;
        while let Some(state) = waiting.pop_front() {
            // Looking lines up takes longer than looking at states, so it is done now and then.
            if self.actions.len() >= enough {
                enough = self.actions.len() * 5 / 4 + 1;
                not_met.retain(|line| self.meant(line).is_none());
            }
            if not_met.is_empty() {
                return;
            }
            let Ok(moves) = self.moves(&state) else {
                continue;
            };
            for one in moves.iter() {
                if seen.len() < MOST_STATES && seen.insert(one.to.clone()) {
                    waiting.push_back(one.to.clone());
                }
            }
        }
    }
}

/// What a line says.
enum Meant {
    Restart,
    Act(Vec<ActionId>),
}
