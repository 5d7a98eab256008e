//! The loop that all explorations share.

use super::exploration::Paths;
use super::frontier::{Frontier, Open, frontier};
use super::links::{START, Visit};
use super::visited::Visited;
use super::walker::{Halt, Walker};
use super::{
    Choice, Exploration, ExploreWatcher, Explorer, Failures, Order, Plan, Progress, Reach, Reason,
    StateId, Transition, WhenFull,
};
use crate::{ActionId, Error, Failure, Likeness, Outcome, System};

/// See [`Explorer::explore`].
pub(super) fn explore<S: System + ?Sized, K>(
    explorer: &mut Explorer<'_, S, K>,
    plan: &Plan,
    watcher: &mut dyn ExploreWatcher<S>,
) -> Result<Exploration, Error> {
    if plan.matching.is_some() && explorer.fingerprint.is_none() {
        let help = "explore without matching, up to a depth: every test is tried for itself then";
        return Err(Error::new("the system cannot tell its states apart").with_help(help));
    }
    let going_back = match plan.going_back {
        None => explorer.probe()?,
        Some(by) => Choice {
            by,
            why: "it was asked for".to_owned(),
        },
    };
    let walker = Walker::new(explorer, going_back.by, plan.most_copies);
    let mut search = Search {
        walker,
        plan,
        watcher,
        limit: plan.depth,
        visited: None,
        frontier: frontier(plan.order),
        unexpanded: 0,
        covered: 0,
        found: nothing(plan.matching, going_back),
    };
    let end = match plan.order {
        Order::IterativeDeepening => search.deepen(),
        _ => search.run(),
    };
    let reach = match end {
        Ok(()) => search.reach(),
        Err(Halt::Stop(because)) => Reach::Partial {
            because,
            length: search.covered,
        },
        Err(Halt::Error(error)) => return Err(error),
    };
    Ok(search.into_exploration(reach))
}

/// An exploration that has not begun.
fn nothing(matching: Option<Likeness>, going_back: Choice) -> Exploration {
    Exploration {
        states: 0,
        transitions: 0,
        steps: 0,
        depth: 0,
        reach: Reach::Everything,
        failures: Vec::new(),
        failing: 0,
        deadlocks: Vec::new(),
        deadlocked: 0,
        goals: Vec::new(),
        reached: 0,
        matching,
        forgot: false,
        going_back,
        bytes: 0,
        paths: Paths::default(),
    }
}

struct Search<'a, 'e, 's, S: ?Sized, K> {
    walker: Walker<'e, 's, S, K>,
    plan: &'a Plan,
    watcher: &'a mut dyn ExploreWatcher<S>,
    /// How many steps a test may have, for now.
    limit: Option<usize>,
    visited: Option<Visited>,
    frontier: Box<dyn Frontier>,
    /// How many states were not expanded, because of a limit.
    unexpanded: u64,
    /// Every test up to this length is covered.
    covered: usize,
    found: Exploration,
}

/// What a state turns out to be.
enum Arrival {
    /// Known, and there is no reason to visit it again.
    Known(StateId),
    /// Known, but this way to it is shorter, so that more of what follows is within the limit.
    Shorter(u32),
    /// New, with a fingerprint if it is to be recognised later.
    New(Option<u128>),
    /// New, as far as anybody knows, and there is no room to remember it.
    NoRoom,
}

impl<S: System + ?Sized, K> Search<'_, '_, '_, S, K> {
    /// One search after the other, each one step deeper.
    fn deepen(&mut self) -> Result<(), Halt> {
        for limit in 1.. {
            self.limit = Some(self.plan.depth.map_or(limit, |depth| depth.min(limit)));
            self.run()?;
            if !self.found.forgot || self.follows_all() {
                self.covered = limit;
            }
            let deepest = self.plan.depth.is_some_and(|depth| limit >= depth);
            if self.unexpanded == 0 || deepest || self.found.forgot && !self.follows_all() {
                break;
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), Halt> {
        self.begin()?;
        while let Some(open) = self.frontier.current() {
            let Some(actions) = &mut open.actions else {
                self.open()?;
                continue;
            };
            match actions.pop() {
                None => self.close(),
                Some(action) => {
                    let last = actions.is_empty();
                    let from = Open {
                        actions: None,
                        ..*open
                    };
                    self.follow(&from, action, last)?;
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Halt> {
        self.walker.begin_again();
        self.walker.progress = Progress {
            steps: self.walker.progress.steps,
            ..Progress::default()
        };
        self.unexpanded = 0;
        let mut failures = std::mem::take(&mut self.found.failures);
        if self.plan.failures != Failures::Distinct {
            failures.clear();
        }
        self.found = Exploration {
            // Those of a search that was less deep are shorter.
            failures,
            ..nothing(self.found.matching, self.found.going_back.clone())
        };
        // Only where a longer way may be found first do depths have to be remembered.
        let ways = self.limit.is_some() && self.plan.order != Order::BreadthFirst;
        self.visited = self.plan.matching.map(|_| Visited::new(ways));
        self.watcher.started();
        self.go_to(START)?;
        let arrival = Arrival::New(self.fingerprint()?);
        self.enter(START, arrival, 0)?;
        self.stop_at_goal()
    }

    fn go_to(&mut self, visit: Visit) -> Result<(), Halt> {
        let watcher = &mut *self.watcher;
        self.walker
            .go_to(visit, &mut |progress| watcher.proceed(progress))
    }

    /// Finds out what can be done in the current state of the frontier.
    fn open(&mut self) -> Result<(), Halt> {
        let Some(open) = self.frontier.current() else {
            return Ok(());
        };
        let (visit, depth) = (open.visit, open.depth);
        let mut again = false;
        if let (Some(number), Some(visited)) = (open.number, &mut self.visited)
            && let Some((best, taken)) = visited.depth(number)
        {
            if best < depth {
                // While it waited, a shorter way was found, which waits too or was followed already.
                open.actions = Some(Vec::new());
                open.again = true;
                return Ok(());
            }
            again = taken;
            visited.set_depth(number, depth, true);
        }
        if self.plan.order == Order::BreadthFirst && !self.found.forgot {
            self.covered = depth as usize;
        }
        self.go_to(visit)?;
        let actions = self.list_actions(visit, again);
        if let Some(open) = self.frontier.current() {
            open.count = actions.len();
            open.actions = Some(actions);
            open.again = again;
        }
        Ok(())
    }

    /// The current state of the frontier is done.
    fn close(&mut self) {
        if let Some(open) = self.frontier.close() {
            if !open.again {
                self.watcher.finished(open.state, open.count);
            }
            self.release(open.visit, open.number);
        }
    }

    /// Nobody comes back to a visit. The first one of a remembered state stays, so that its test can be made. In a tree
    /// of tests that is not a stack, later visits build on it.
    fn release(&mut self, visit: Visit, number: Option<u32>) {
        let first = match (number, &self.visited) {
            (Some(number), Some(visited)) => visited.visit(number) == visit,
            _ => false,
        };
        let tree = self.visited.is_none() && !self.frontier.newest_first();
        self.walker.release(visit, first || tree);
    }

    /// The actions to take in the state the system is in, last one first. Tells whether it is a deadlock.
    fn list_actions(&mut self, visit: Visit, again: bool) -> Vec<ActionId> {
        let system = &mut *self.walker.explorer.system;
        let mut actions = system.enabled();
        if actions.is_empty() && !again {
            self.found.deadlocked += 1;
            if self.found.deadlocks.len() < self.plan.most_tests {
                self.found
                    .deadlocks
                    .push(self.walker.links.test(visit, &[]));
            }
        }
        actions.retain(|action| {
            // Equal copies lead to the same state.
            system.actions().without_repeat(*action) == *action
                && self.watcher.allows(system, *action)
        });
        actions.reverse();
        actions
    }

    /// Takes an action of an open state, and does whatever has to be done where it leads.
    fn follow(&mut self, from: &Open, action: ActionId, last: bool) -> Result<(), Halt> {
        self.go_to(from.visit)?;
        if !last {
            self.walker.keep(from.visit);
        }
        self.walker.progress.open = self.frontier.len();
        let watcher = &mut *self.watcher;
        let mut outcome = self
            .walker
            .step(action, &mut |progress| watcher.proceed(progress))?;
        if self.plan.check && matches!(outcome, Outcome::Passed | Outcome::Expected) {
            outcome = self.walker.explorer.system.check();
        }
        let mut failure = None;
        let to = match outcome {
            Outcome::Passed | Outcome::Expected => Some(self.arrive(from, action)?),
            Outcome::Interrupted => return Err(Halt::Stop(Reason::Interrupted)),
            Outcome::Failed(reason) => {
                failure = Some(*reason);
                None
            }
        };
        if !from.again {
            self.walker.progress.transitions += 1;
            let transition = Transition {
                from: from.state,
                action,
                to,
            };
            self.watcher.took(self.walker.explorer.system, &transition);
            if let Some(failure) = failure {
                self.fail(from.visit, action, failure)?;
            }
        }
        self.stop_at_goal()
    }

    fn stop_at_goal(&self) -> Result<(), Halt> {
        if self.plan.stop_at_goal && self.found.reached > 0 {
            Err(Halt::Stop(Reason::GoalFound))
        } else {
            Ok(())
        }
    }

    fn fail(&mut self, from: Visit, action: ActionId, failure: Failure) -> Result<(), Halt> {
        let found = &mut self.found;
        found.failing += 1;
        let keep = match self.plan.failures {
            Failures::First | Failures::All => true,
            Failures::Distinct => !found
                .failures
                .iter()
                .any(|(_, other)| other.is_same_as(&failure)),
        };
        if keep && found.failures.len() < self.plan.most_tests {
            let test = self.walker.links.test(from, &[action]);
            let system = &mut *self.walker.explorer.system;
            self.watcher.failed(system, &test, &failure);
            found.failures.push((test, failure));
        }
        match self.plan.failures {
            Failures::First => Err(Halt::Stop(Reason::FailureFound)),
            Failures::Distinct | Failures::All => Ok(()),
        }
    }

    /// The step just taken passed: finds out where it led, and what to do there.
    fn arrive(&mut self, from: &Open, action: ActionId) -> Result<StateId, Halt> {
        let depth = from.depth + 1;
        let arrival = self.recognise(depth)?;
        match arrival {
            Arrival::Known(state) => return Ok(state),
            Arrival::NoRoom => {
                self.found.forgot = true;
                if self.plan.when_full == WhenFull::Stop {
                    return Err(Halt::Stop(Reason::MemoryFull));
                }
            }
            Arrival::Shorter(_) | Arrival::New(_) => {}
        }
        let visit = self.walker.arrive(from.visit, action);
        self.enter(visit, arrival, depth)
    }

    fn fingerprint(&mut self) -> Result<Option<u128>, Halt> {
        let explorer = &mut *self.walker.explorer;
        match (self.plan.matching, explorer.fingerprint) {
            (Some(likeness), Some(fingerprint)) => {
                Ok(Some(fingerprint(explorer.system, likeness)?))
            }
            _ => Ok(None),
        }
    }

    fn recognise(&mut self, depth: u32) -> Result<Arrival, Halt> {
        let fingerprint = self.fingerprint()?;
        let known = match (fingerprint, &self.visited) {
            (Some(fingerprint), Some(visited)) => visited.find(fingerprint),
            _ => None,
        };
        let Some(number) = known else {
            return Ok(if self.is_full() {
                Arrival::NoRoom
            } else {
                Arrival::New(fingerprint)
            });
        };
        let best = self
            .visited
            .as_ref()
            .and_then(|visited| visited.depth(number));
        Ok(match best {
            Some((best, _)) if depth < best => Arrival::Shorter(number),
            _ => Arrival::Known(StateId(u64::from(number))),
        })
    }

    /// Whether no more states can be remembered.
    fn is_full(&self) -> bool {
        let visited = self.visited.as_ref();
        let remembered = visited.map_or(self.walker.links.len(), Visited::len);
        // Once a state was forgotten, none is remembered any more, for numbers are given in order.
        self.found.forgot
            || self.walker.links.len() >= u32::MAX as usize
            || self.plan.most_states.is_some_and(|most| remembered >= most)
            || self
                .plan
                .most_bytes
                .is_some_and(|most| self.bytes() + self.frontier.len() * size_of::<Open>() >= most)
    }

    /// Whether states are followed that cannot be remembered.
    fn follows_all(&self) -> bool {
        self.frontier.newest_first() && self.plan.depth.is_some()
    }

    fn bytes(&self) -> usize {
        let visited = self.visited.as_ref();
        self.walker.links.bytes() + visited.map_or(0, Visited::bytes) + self.watcher.bytes()
    }

    /// Visits a state that is new, or that was reached on a shorter way.
    fn enter(&mut self, visit: Visit, arrival: Arrival, depth: u32) -> Result<StateId, Halt> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let follow = match arrival {
            // Without memory, only a limit ends the search, and only a stack stays small.
            Arrival::NoRoom => self.follows_all(),
            _ => true,
        };
        let number = match (arrival, &mut self.visited) {
            (Arrival::Shorter(number), Some(visited)) => {
                if let Some((best, taken)) = visited.depth(number) {
                    // At the limit nothing waits: what was not taken there was cut off.
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
        self.watcher.entered(system, state, depth as usize);
        if self.watcher.is_goal(system) {
            self.found.reached += 1;
            if self.found.goals.len() < self.plan.most_tests {
                self.found.goals.push(self.walker.links.test(visit, &[]));
            }
        }
        if follow && (depth as usize) < limit {
            self.push(visit, state, number, depth);
            return Ok(state);
        }
        if follow && self.list_actions(visit, false).is_empty() {
            // Nothing was cut off here.
            self.watcher.finished(state, 0);
            if let (Some(number), Some(visited)) = (number, &mut self.visited) {
                visited.set_depth(number, depth, true);
            }
        } else {
            self.unexpanded += 1;
        }
        self.release(visit, number);
        Ok(state)
    }

    fn push(&mut self, visit: Visit, state: StateId, number: Option<u32>, depth: u32) {
        let distance = match self.plan.order {
            Order::BestFirst => self.watcher.distance(self.walker.explorer.system),
            _ => 0,
        };
        if !self.frontier.newest_first() {
            // Others come before it, so this is the time for a copy.
            self.walker.keep(visit);
        }
        let open = Open {
            state,
            visit,
            depth,
            actions: None,
            count: 0,
            again: false,
            number,
        };
        self.frontier.push(open, distance);
    }

    /// How much is covered by a search that came to its end.
    fn reach(&self) -> Reach {
        match self.limit {
            _ if self.unexpanded == 0 => Reach::Everything,
            Some(limit) if !self.found.forgot || self.follows_all() => Reach::Length(limit),
            _ => Reach::Partial {
                because: Reason::MemoryFull,
                length: self.covered,
            },
        }
    }

    fn into_exploration(self, reach: Reach) -> Exploration {
        let bytes = self.bytes();
        let progress = self.walker.progress;
        Exploration {
            states: progress.states,
            transitions: progress.transitions,
            steps: progress.steps,
            depth: progress.depth,
            reach,
            bytes,
            paths: Paths {
                links: Some(self.walker.links),
                visited: self.visited,
            },
            ..self.found
        }
    }
}
