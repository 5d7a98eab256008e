//! TSTL's algorithms as documented, without any of our improvements: every candidate is run, from a
//! reset, whether it was run before or not. Only evaluations of the predicate are counted; the runs
//! that find enabled actions and prune disabled steps are free.

use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{ActionId, Failure, PoolId, SlotRole, Step, System, Test, TraceEvent};

/// The actions of a test.
type Steps = Vec<ActionId>;
type Slot = (PoolId, u32);

/// The maximum number of evaluations.
const MAX_RUNS: u64 = 300_000;

/// TSTL's algorithms on a system with a failing test.
pub(crate) struct Ancestor<'a, S> {
    pub(crate) system: &'a mut S,
    pub(crate) failure: &'a Failure,
    /// The number of evaluations of the predicate.
    pub(crate) runs: u64,
}

impl<S: System> Ancestor<'_, S> {
    /// Returns true if a test still fails the same way.
    fn holds(&mut self, steps: &[ActionId]) -> bool {
        self.runs += 1;
        if self.runs > MAX_RUNS {
            return false;
        }
        let test = Test::from_actions(steps.iter().copied());
        let trace = replay(self.system, &test, &ReplayOptions::default(), &mut ()).unwrap();
        trace
            .failure()
            .is_some_and(|failure| failure.is_same_as(self.failure))
    }

    /// Returns the steps that are enabled in their turn. Not counted.
    fn pruned(&mut self, steps: &[ActionId]) -> Steps {
        let test = Test::from_actions(steps.iter().copied());
        let trace = replay(self.system, &test, &ReplayOptions::default(), &mut ()).unwrap();
        let mut pruned = Vec::new();
        for (index, action) in steps.iter().enumerate() {
            if !matches!(trace.events.get(index), Some(TraceEvent::Skipped(_))) {
                pruned.push(*action);
            }
        }
        pruned
    }

    /// Returns the enabled actions before each step. Not counted.
    fn enabled(&mut self, steps: &[ActionId]) -> Vec<Vec<ActionId>> {
        self.system.reset().unwrap();
        let mut all = Vec::new();
        for action in steps {
            all.push(self.system.enabled());
            if self.system.is_enabled(*action) {
                self.system.step(*action);
            }
        }
        all
    }

    /// Reduces greedily: single steps, continuing where the last success was.
    pub(crate) fn reduce(&mut self, test: &[ActionId]) -> Steps {
        let mut body = test.to_vec();
        let mut last = 0;
        'again: loop {
            if body.len() < 2 {
                return body;
            }
            for offset in 0..body.len() {
                let index = (last + offset) % body.len();
                let mut candidate = body.clone();
                candidate.remove(index);
                if self.holds(&candidate) {
                    body = self.pruned(&candidate);
                    last = if body.is_empty() {
                        0
                    } else {
                        index % body.len()
                    };
                    continue 'again;
                }
            }
            return body;
        }
    }

    /// Applies all rules in the order of the table; reduces after every success; rules that failed
    /// go to the end.
    pub(crate) fn normalize(&mut self, test: &[ActionId]) -> Steps {
        let mut test = test.to_vec();
        type Rule<'a, S> = fn(&mut Ancestor<'a, S>, &[ActionId]) -> Option<Steps>;
        let mut rules: Vec<Rule<'_, S>> = vec![
            Ancestor::simplify_all,
            Ancestor::replace_pool,
            Ancestor::simplify_single,
            Ancestor::swap_pool,
            Ancestor::swap_action,
            Ancestor::reduce_action,
        ];
        let mut seen = vec![test.clone()];
        'again: loop {
            for number in 0..rules.len() {
                if let Some(better) = rules[number](self, &test) {
                    let better = self.reduce(&better);
                    rules.rotate_left(number);
                    // TSTL would fail an assertion here; we stop.
                    if seen.contains(&better) || self.runs > MAX_RUNS {
                        return better;
                    }
                    seen.push(better.clone());
                    test = better;
                    continue 'again;
                }
            }
            return test;
        }
    }

    fn simplify_all(&mut self, test: &[ActionId]) -> Option<Steps> {
        let enabled = self.enabled(test);
        let mut tried = Vec::new();
        for (index, action) in test.iter().enumerate() {
            for lower in enabled[index].iter().filter(|other| *other < action) {
                if tried.contains(&(*action, *lower)) {
                    continue;
                }
                tried.push((*action, *lower));
                let replace = |step: &ActionId| if step == action { *lower } else { *step };
                let candidate: Steps = test.iter().map(replace).collect();
                if self.holds(&candidate) {
                    return Some(candidate);
                }
            }
        }
        None
    }

    fn simplify_single(&mut self, test: &[ActionId]) -> Option<Steps> {
        let enabled = self.enabled(test);
        for (index, action) in test.iter().enumerate() {
            for lower in enabled[index].iter().filter(|other| *other < action) {
                let mut candidate = test.to_vec();
                candidate[index] = *lower;
                if self.holds(&candidate) {
                    return Some(candidate);
                }
            }
        }
        None
    }

    fn replace_pool(&mut self, test: &[ActionId]) -> Option<Steps> {
        for index in 0..test.len() {
            for (pool, slot) in self.mentioned(test) {
                for lower in 0..slot {
                    let target = (pool, lower);
                    let (moved, stay): (Steps, Steps) = test[..index]
                        .iter()
                        .partition(|action| self.mentions(**action, target));
                    let candidate = [stay, moved, test[index..].to_vec()].concat();
                    let candidate = self.renamed(&candidate, 0..test.len(), (pool, slot), lower);
                    if candidate != test && self.holds(&candidate) {
                        return Some(candidate);
                    }
                    for end in (index + 1..=test.len()).rev() {
                        let candidate = self.renamed(test, index..end, (pool, slot), lower);
                        if candidate != test && self.holds(&candidate) {
                            return Some(candidate);
                        }
                    }
                }
            }
        }
        None
    }

    fn swap_pool(&mut self, test: &[ActionId]) -> Option<Steps> {
        let pools = self.system.actions().pools().to_vec();
        for (pool, slots) in pools.iter().enumerate() {
            for high in 0..slots.size {
                for low in 0..high {
                    for start in 0..test.len() {
                        for end in (start + 1..=test.len()).rev() {
                            let mut candidate = test.to_vec();
                            for action in &mut candidate[start..end] {
                                *action =
                                    self.system.actions().rename(
                                        *action,
                                        |other, slot| match slot {
                                            _ if other.0 != pool => slot,
                                            _ if slot == high => low,
                                            _ if slot == low => high,
                                            _ => slot,
                                        },
                                    );
                            }
                            let changed =
                                || test.iter().zip(&candidate).filter(|(old, new)| old != new);
                            let before = changed().map(|(old, _)| old).min();
                            let after = changed().map(|(_, new)| new).min();
                            if after < before && self.holds(&candidate) {
                                return Some(candidate);
                            }
                        }
                    }
                }
            }
        }
        None
    }

    fn swap_action(&mut self, test: &[ActionId]) -> Option<Steps> {
        for one in 0..test.len() {
            for other in one + 1..test.len() {
                if test[other] < test[one] {
                    let mut candidate = test.to_vec();
                    candidate.swap(one, other);
                    if self.holds(&candidate) {
                        return Some(candidate);
                    }
                }
            }
        }
        None
    }

    fn reduce_action(&mut self, test: &[ActionId]) -> Option<Steps> {
        let enabled = self.enabled(test);
        for (index, action) in test.iter().enumerate() {
            for other in enabled[index].iter().filter(|other| *other != action) {
                let mut candidate = test.to_vec();
                candidate[index] = *other;
                if self.holds(&candidate) {
                    let reduced = self.reduce(&candidate);
                    if reduced.len() < test.len() {
                        return Some(reduced);
                    }
                }
            }
        }
        None
    }

    /// Tries every other action at every step, every swap, and every fresh value. The results do
    /// not matter here.
    pub(crate) fn generalize(&mut self, test: &[ActionId]) {
        let count = self.system.actions().len();
        for index in 0..test.len() {
            for other in (0..count)
                .map(ActionId)
                .filter(|other| *other != test[index])
            {
                let mut candidate = test.to_vec();
                candidate[index] = other;
                self.holds(&candidate);
            }
            for other in index + 1..test.len() {
                let mut candidate = test.to_vec();
                candidate.swap(index, other);
                self.holds(&candidate);
            }
            for (pool, slot, role) in self.system.actions().slots(test[index]) {
                let only = [(pool, slot, SlotRole::Definition)];
                for definition in (0..count).map(ActionId) {
                    if role != SlotRole::Definition
                        && self.system.actions().slots(definition) == only
                    {
                        let mut candidate = test.to_vec();
                        candidate.insert(index, definition);
                        self.holds(&candidate);
                    }
                }
            }
        }
    }

    fn mentioned(&self, test: &[ActionId]) -> Vec<Slot> {
        let mut all = Vec::new();
        for (pool, slot, _) in test
            .iter()
            .flat_map(|action| self.system.actions().slots(*action))
        {
            if !all.contains(&(pool, slot)) {
                all.push((pool, slot));
            }
        }
        all
    }

    fn mentions(&self, action: ActionId, wanted: Slot) -> bool {
        let slots = self.system.actions().slots(action);
        slots.iter().any(|(pool, slot, _)| (*pool, *slot) == wanted)
    }

    fn renamed(
        &self,
        test: &[ActionId],
        range: std::ops::Range<usize>,
        from: Slot,
        to: u32,
    ) -> Steps {
        let mut test = test.to_vec();
        for action in &mut test[range] {
            *action =
                self.system.actions().rename(
                    *action,
                    |pool, slot| if (pool, slot) == from { to } else { slot },
                );
        }
        test
    }
}

/// Returns the actions of a test, without restarts.
pub(crate) fn actions(test: &Test) -> Steps {
    let action = |step: &Step| match step {
        Step::Act(action) => Some(*action),
        Step::Restart => None,
    };
    test.steps.iter().filter_map(action).collect()
}
