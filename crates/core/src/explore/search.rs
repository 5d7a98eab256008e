//! The search loop that all explorations share.

use super::confirmation::{MergedPair, MergedStates};
use super::exploration::StatePaths;
use super::frontier::{Frontier, OpenState, new_frontier};
use super::links::{START, Visit};
use super::visited::VisitedStates;
use super::walker::{Halt, StateWalker};
use super::{
    BacktrackChoice, Exploration, ExploreOptions, ExploreProgress, ExploreWatcher, ExploredExtent,
    Explorer, FailurePolicy, SearchOrder, StateId, StateTransition, StopReason, WhenFull,
};
use crate::verdict::Caveat;
use crate::{ActionId, Equivalence, Error, Failure, Outcome, System};

/// Explores a system; see [`Explorer::explore`].
pub(super) fn explore<S: System + ?Sized, K>(
    explorer: &mut Explorer<'_, S, K>,
    options: &ExploreOptions,
    watcher: &mut dyn ExploreWatcher<S>,
) -> Result<Exploration, Error> {
    if options.matching.is_some() && explorer.fingerprint.is_none() {
        let help = "explore without matching, up to a depth; then every test is tried separately";
        return Err(Error::new("the system cannot tell its states apart").with_help(help));
    }
    let backtracking = match options.backtracking {
        None => explorer.probe()?,
        Some(method) => BacktrackChoice {
            method,
            reason: "it was requested".to_owned(),
        },
    };
    let walker = StateWalker::new(
        explorer,
        backtracking.method,
        options.max_snapshots,
        options.check,
    );
    let mut search = StateSearch {
        walker,
        options,
        watcher,
        limit: options.depth,
        visited: None,
        frontier: new_frontier(options.order),
        unexpanded: 0,
        covered_length: 0,
        merged: MergedStates::default(),
        caveats: Vec::new(),
        found: empty_exploration(options.matching, backtracking),
    };
    let end = match options.order {
        SearchOrder::IterativeDeepening => search.deepen(),
        _ => search.run(),
    };
    let extent = match end {
        Ok(()) => search.extent(),
        Err(Halt::Stop(reason)) => ExploredExtent::Partial {
            reason,
            length: search.covered_length,
        },
        Err(Halt::Error(error)) => return Err(error),
    };
    Ok(search.into_exploration(extent))
}

/// Returns the result of an exploration that has not started.
fn empty_exploration(matching: Option<Equivalence>, backtracking: BacktrackChoice) -> Exploration {
    Exploration {
        states: 0,
        transitions: 0,
        steps: 0,
        depth: 0,
        extent: ExploredExtent::Everything,
        failures: Vec::new(),
        failure_count: 0,
        deadlocks: Vec::new(),
        deadlock_count: 0,
        goals: Vec::new(),
        goal_count: 0,
        matching,
        forgot_states: false,
        backtracking,
        caveats: Vec::new(),
        bytes: 0,
        paths: StatePaths::default(),
    }
}

/// An exploration in progress.
pub(super) struct StateSearch<'a, 'e, 's, S: ?Sized, K> {
    pub(super) walker: StateWalker<'e, 's, S, K>,
    pub(super) options: &'a ExploreOptions,
    pub(super) watcher: &'a mut dyn ExploreWatcher<S>,
    /// The current maximum number of steps per test.
    limit: Option<usize>,
    pub(super) visited: Option<VisitedStates>,
    frontier: Box<dyn Frontier>,
    /// The number of states that were not expanded because of a limit.
    unexpanded: u64,
    /// The length up to which every test is covered.
    covered_length: usize,
    /// The states that counted as one.
    pub(super) merged: MergedStates,
    /// Failures that did not happen again.
    caveats: Vec<Caveat>,
    found: Exploration,
}

/// The classification of a state that was just reached.
pub(super) enum Arrival {
    /// A known state that need not be visited again.
    Known(MergedPair),
    /// A known state, but reached by a shorter path, so that more of what follows is within the
    /// limit.
    Shorter(u32),
    /// A new state, with a fingerprint if it is to be recognized later.
    New(Option<u128>),
    /// A state that is not known, and there is no room to remember it.
    NoRoom,
}

impl<S: System + ?Sized, K> StateSearch<'_, '_, '_, S, K> {
    /// Runs one search after the other, each one step deeper.
    fn deepen(&mut self) -> Result<(), Halt> {
        for limit in 1.. {
            self.limit = Some(self.options.depth.map_or(limit, |depth| depth.min(limit)));
            self.run()?;
            if !self.found.forgot_states || self.follows_unremembered() {
                self.covered_length = limit;
            }
            let deepest = self.options.depth.is_some_and(|depth| limit >= depth);
            if self.unexpanded == 0
                || deepest
                || self.found.forgot_states && !self.follows_unremembered()
            {
                break;
            }
        }
        Ok(())
    }

    /// Runs the search until no state is open.
    fn run(&mut self) -> Result<(), Halt> {
        self.enter_initial_state()?;
        while let Some(open) = self.frontier.current() {
            let Some(actions) = &mut open.actions else {
                self.list_current_actions()?;
                continue;
            };
            match actions.pop() {
                None => self.close_current(),
                Some(action) => {
                    let last = actions.is_empty();
                    let from = OpenState {
                        actions: None,
                        ..*open
                    };
                    self.take_action(&from, action, last)?;
                }
            }
        }
        Ok(())
    }

    /// Resets the search and enters the initial state.
    fn enter_initial_state(&mut self) -> Result<(), Halt> {
        self.walker.forget_visits();
        self.walker.progress = ExploreProgress {
            steps: self.walker.progress.steps,
            ..ExploreProgress::default()
        };
        self.unexpanded = 0;
        let mut failures = std::mem::take(&mut self.found.failures);
        if self.options.failures != FailurePolicy::Distinct {
            failures.clear();
        }
        self.found = Exploration {
            // Failures of an earlier, less deep search are shorter.
            failures,
            ..empty_exploration(self.found.matching, self.found.backtracking.clone())
        };
        // Depths are remembered only where a longer path may be found first.
        let with_paths = self.limit.is_some() && self.options.order != SearchOrder::BreadthFirst;
        self.visited = self
            .options
            .matching
            .map(|_| VisitedStates::new(with_paths));
        self.watcher.on_start();
        self.go_to(START)?;
        let arrival = Arrival::New(self.fingerprint()?);
        self.enter(START, arrival, 0)?;
        self.stop_at_goal()
    }

    /// Brings the system to the state of a visit.
    pub(super) fn go_to(&mut self, visit: Visit) -> Result<(), Halt> {
        let watcher = &mut *self.watcher;
        self.walker
            .go_to(visit, &mut |progress| watcher.proceed(progress))
    }

    /// Lists the actions of the current state of the frontier.
    fn list_current_actions(&mut self) -> Result<(), Halt> {
        let Some(open) = self.frontier.current() else {
            return Ok(());
        };
        let (visit, depth) = (open.visit, open.depth);
        let mut is_revisit = false;
        if let (Some(number), Some(visited)) = (open.state_number, &mut self.visited)
            && let Some((best, taken)) = visited.depth(number)
        {
            if best < depth {
                // A shorter path was found in the meantime, and is waiting or was followed already.
                open.actions = Some(Vec::new());
                open.is_revisit = true;
                return Ok(());
            }
            is_revisit = taken;
            visited.set_depth(number, depth, true);
        }
        if self.options.order == SearchOrder::BreadthFirst && !self.found.forgot_states {
            self.covered_length = depth as usize;
        }
        self.go_to(visit)?;
        let actions = self.list_actions(visit, is_revisit);
        if let Some(open) = self.frontier.current() {
            open.action_count = actions.len();
            open.actions = Some(actions);
            open.is_revisit = is_revisit;
        }
        Ok(())
    }

    /// Closes the current state of the frontier.
    fn close_current(&mut self) {
        if let Some(open) = self.frontier.close() {
            if !open.is_revisit {
                self.watcher
                    .on_state_finished(open.state, open.action_count);
            }
            self.release(open.visit, open.state_number);
        }
    }

    /// Frees a visit that is not needed any more. The first visit of a remembered state stays, so
    /// that its test can be rebuilt. In a tree of tests that is not a stack, later visits build on
    /// it, so it stays as well.
    fn release(&mut self, visit: Visit, number: Option<u32>) {
        let first = match (number, &self.visited) {
            (Some(number), Some(visited)) => visited.visit(number) == visit,
            _ => false,
        };
        let tree = self.visited.is_none() && !self.frontier.is_newest_first();
        self.walker.release(visit, first || tree);
    }

    /// Returns the actions to take in the current state, in reverse order. Records a deadlock.
    fn list_actions(&mut self, visit: Visit, is_revisit: bool) -> Vec<ActionId> {
        let system = &mut *self.walker.explorer.system;
        let mut actions = system.enabled();
        if actions.is_empty() && !is_revisit {
            self.found.deadlock_count += 1;
            if self.found.deadlocks.len() < self.options.max_tests {
                self.found
                    .deadlocks
                    .push(self.walker.links.test_to(visit, &[]));
            }
        }
        actions.retain(|action| {
            // Equal copies lead to the same state.
            system.actions().first_copy(*action) == *action
                && self.watcher.is_allowed(system, *action)
        });
        actions.reverse();
        actions
    }

    /// Takes an action of an open state and handles the result.
    fn take_action(&mut self, from: &OpenState, action: ActionId, last: bool) -> Result<(), Halt> {
        self.go_to(from.visit)?;
        if !last {
            self.walker.keep_snapshot(from.visit);
        }
        self.walker.progress.open_states = self.frontier.len();
        let watcher = &mut *self.watcher;
        let mut outcome = self
            .walker
            .step(action, &mut |progress| watcher.proceed(progress))?;
        if self.options.check && matches!(outcome, Outcome::Passed | Outcome::Expected) {
            outcome = self.walker.explorer.system.check();
        }
        let (mut failure, mut merged) = (None, None);
        let to = match outcome {
            Outcome::Passed | Outcome::Expected => {
                let (state, pair) = self.handle_new_state(from, action)?;
                merged = pair;
                Some(state)
            }
            Outcome::Interrupted => return Err(Halt::Stop(StopReason::Interrupted)),
            Outcome::Failed(reason) => {
                failure = Some(*reason);
                None
            }
        };
        if !from.is_revisit {
            self.walker.progress.transitions += 1;
            let transition = StateTransition {
                from: from.state,
                action,
                to,
            };
            self.watcher
                .on_transition(self.walker.explorer.system, &transition);
            if let Some(failure) = failure {
                self.record_failure(from.visit, action, failure)?;
            }
        }
        if let Some(pair) = merged {
            self.compare_merged(from, action, &pair)?;
        }
        self.stop_at_goal()
    }

    /// Ends the search if a goal was reached and one is enough.
    fn stop_at_goal(&self) -> Result<(), Halt> {
        if self.options.stop_at_goal && self.found.goal_count > 0 {
            Err(Halt::Stop(StopReason::GoalFound))
        } else {
            Ok(())
        }
    }

    /// Records a failure, and ends the search if one is enough.
    fn record_failure(
        &mut self,
        from: Visit,
        action: ActionId,
        failure: Failure,
    ) -> Result<(), Halt> {
        let is_new = match self.options.failures {
            FailurePolicy::First | FailurePolicy::All => true,
            FailurePolicy::Distinct => self.is_new_failure(&failure),
        };
        if is_new && self.found.failures.len() < self.options.max_tests {
            let test = self.walker.links.test_to(from, &[action]);
            let message = failure.message.clone();
            let confirmed = self.confirm(&test)?.filter(|(test, failure)| {
                let system = &mut *self.walker.explorer.system;
                self.watcher.is_confirmed(system, test, failure)
            });
            let Some((test, failure)) = confirmed else {
                self.caveats.push(Caveat::Unconfirmed { failure: message });
                return Ok(());
            };
            if self.options.failures != FailurePolicy::Distinct || self.is_new_failure(&failure) {
                let system = &mut *self.walker.explorer.system;
                self.watcher.on_failure(system, &test, &failure);
                self.found.failures.push((test, failure));
            }
        }
        self.found.failure_count += 1;
        match self.options.failures {
            FailurePolicy::First => Err(Halt::Stop(StopReason::FailureFound)),
            FailurePolicy::Distinct | FailurePolicy::All => Ok(()),
        }
    }

    /// Returns true if no failure that was found is the same.
    fn is_new_failure(&self, failure: &Failure) -> bool {
        !self
            .found
            .failures
            .iter()
            .any(|(_, other)| other.is_same_as(failure))
    }

    /// Handles a passing step: recognizes the state it led to, and enters it if necessary.
    /// Also returns the pair of states if it counts as a known one.
    fn handle_new_state(
        &mut self,
        from: &OpenState,
        action: ActionId,
    ) -> Result<(StateId, Option<MergedPair>), Halt> {
        let depth = from.depth + 1;
        let arrival = self.recognise(depth)?;
        match arrival {
            Arrival::Known(pair) => return Ok((StateId(u64::from(pair.known)), Some(pair))),
            Arrival::NoRoom => {
                self.found.forgot_states = true;
                if self.options.when_full == WhenFull::Stop {
                    return Err(Halt::Stop(StopReason::MemoryFull));
                }
            }
            Arrival::Shorter(_) | Arrival::New(_) => {}
        }
        let visit = self.walker.record_visit(from.visit, action);
        Ok((self.enter(visit, arrival, depth)?, None))
    }

    /// Returns the fingerprint of the current state, if states are matched.
    pub(super) fn fingerprint(&mut self) -> Result<Option<u128>, Halt> {
        let explorer = &mut *self.walker.explorer;
        match (self.options.matching, explorer.fingerprint) {
            (Some(equivalence), Some(fingerprint)) => {
                Ok(Some(fingerprint(explorer.system, equivalence)?))
            }
            _ => Ok(None),
        }
    }

    /// Classifies the state that the system is in.
    fn recognise(&mut self, depth: u32) -> Result<Arrival, Halt> {
        let fingerprint = self.fingerprint()?;
        let fingerprint = fingerprint.map(|fingerprint| self.merged.key(fingerprint));
        let known = match (fingerprint, &self.visited) {
            (Some(fingerprint), Some(visited)) => visited.find(fingerprint),
            _ => None,
        };
        let Some((fingerprint, known)) = fingerprint.zip(known) else {
            return Ok(if self.is_full() {
                Arrival::NoRoom
            } else {
                Arrival::New(fingerprint)
            });
        };
        let best = self
            .visited
            .as_ref()
            .and_then(|visited| visited.depth(known));
        Ok(match best {
            Some((best, _)) if depth < best => Arrival::Shorter(known),
            _ => Arrival::Known(MergedPair { known, fingerprint }),
        })
    }

    /// Returns true if no more states can be remembered.
    pub(super) fn is_full(&self) -> bool {
        let visited = self.visited.as_ref();
        let remembered = visited.map_or(self.walker.links.len(), VisitedStates::len);
        // Once a state was forgotten, no more are remembered, since numbers are assigned in order.
        self.found.forgot_states
            || self.walker.links.len() >= u32::MAX as usize
            || self
                .options
                .max_states
                .is_some_and(|limit| remembered >= limit)
            || self.options.max_bytes.is_some_and(|limit| {
                self.bytes() + self.frontier.len() * size_of::<OpenState>() >= limit
            })
    }

    /// Returns true if states are followed even if they cannot be remembered.
    fn follows_unremembered(&self) -> bool {
        self.frontier.is_newest_first() && self.options.depth.is_some()
    }

    /// Returns the memory used, in bytes.
    fn bytes(&self) -> usize {
        let visited = self.visited.as_ref();
        self.walker.links.bytes() + visited.map_or(0, VisitedStates::bytes) + self.watcher.bytes()
    }

    /// Visits a state that is new or was reached by a shorter path.
    pub(super) fn enter(
        &mut self,
        visit: Visit,
        arrival: Arrival,
        depth: u32,
    ) -> Result<StateId, Halt> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let follow = match arrival {
            // Without memory, only a limit ends the search, and only a stack stays small.
            Arrival::NoRoom => self.follows_unremembered(),
            _ => true,
        };
        let number = match (arrival, &mut self.visited) {
            (Arrival::Shorter(number), Some(visited)) => {
                if let Some((best, taken)) = visited.depth(number) {
                    // No state waits at the limit: what was not taken there was cut off.
                    if best as usize == limit && !taken {
                        self.unexpanded -= 1;
                    }
                    visited.set_depth(number, depth, taken);
                }
                self.push(visit, StateId(u64::from(number)), Some(number), depth);
                return Ok(StateId(u64::from(number)));
            }
            (Arrival::New(Some(fingerprint)), Some(visited)) => {
                visited.add(fingerprint, depth, visit)
            }
            _ => None,
        };
        let state = StateId(self.walker.progress.states);
        let progress = &mut self.walker.progress;
        progress.states += 1;
        progress.depth = progress.depth.max(depth as usize);
        let system = &mut *self.walker.explorer.system;
        self.watcher.on_state(system, state, depth as usize);
        if self.watcher.is_goal(system) {
            self.found.goal_count += 1;
            if self.found.goals.len() < self.options.max_tests {
                self.found.goals.push(self.walker.links.test_to(visit, &[]));
            }
        }
        if follow && (depth as usize) < limit {
            self.push(visit, state, number, depth);
            return Ok(state);
        }
        if follow && self.list_actions(visit, false).is_empty() {
            // Nothing was cut off here.
            self.watcher.on_state_finished(state, 0);
            if let (Some(number), Some(visited)) = (number, &mut self.visited) {
                visited.set_depth(number, depth, true);
            }
        } else {
            self.unexpanded += 1;
        }
        self.release(visit, number);
        Ok(state)
    }

    /// Adds a state to the frontier.
    fn push(&mut self, visit: Visit, state: StateId, number: Option<u32>, depth: u32) {
        let distance = match self.options.order {
            SearchOrder::BestFirst => self.watcher.distance(self.walker.explorer.system),
            _ => 0,
        };
        if !self.frontier.is_newest_first() {
            // Other states come first, so take the snapshot now.
            self.walker.keep_snapshot(visit);
        }
        let open = OpenState {
            state,
            visit,
            depth,
            actions: None,
            action_count: 0,
            is_revisit: false,
            state_number: number,
        };
        self.frontier.push(open, distance);
    }

    /// Returns the part of the system that a completed search covered.
    fn extent(&self) -> ExploredExtent {
        match self.limit {
            _ if self.unexpanded == 0 => ExploredExtent::Everything,
            Some(limit) if !self.found.forgot_states || self.follows_unremembered() => {
                ExploredExtent::Length(limit)
            }
            _ => ExploredExtent::Partial {
                reason: StopReason::MemoryFull,
                length: self.covered_length,
            },
        }
    }

    /// Returns what the exploration does not cover.
    fn caveats(&self) -> Vec<Caveat> {
        let explorer = &*self.walker.explorer;
        let mut caveats = match explorer.caveats {
            Some(caveats) => caveats(explorer.system),
            None => Vec::new(),
        };
        if self.options.matching.is_none() {
            caveats.retain(|caveat| !matches!(caveat, Caveat::Abstraction { .. }));
        }
        caveats.extend(self.caveats.iter().cloned());
        caveats.extend(self.merged.caveat());
        caveats.sort_unstable();
        caveats.dedup();
        caveats
    }

    /// Turns the search into its result.
    fn into_exploration(self, extent: ExploredExtent) -> Exploration {
        let bytes = self.bytes();
        let progress = self.walker.progress;
        let caveats = self.caveats();
        Exploration {
            caveats,
            states: progress.states,
            transitions: progress.transitions,
            steps: progress.steps,
            depth: progress.depth,
            extent,
            bytes,
            paths: StatePaths {
                links: Some(self.walker.links),
                visited: self.visited,
            },
            ..self.found
        }
    }
}
