//! Covers targets greedily: always goes to the nearest one that is not covered yet.
//!
//! A minimal suite that covers some states or actions is hard to find (it would solve the
//! traveling salesman problem). Going on to the nearest target, or beginning a new run if that
//! costs less, gives short suites fast.

use super::RUN_COST;
use super::cut::{drop_redundant, set_empty_runs};
use super::targets::{CoveredTargets, Targets};
use super::usable_graph::{Length, PathTree, UsableGraph, add_lengths};

/// Makes runs that cover all targets that can be covered.
pub(super) fn runs(
    usable: &UsableGraph<'_>,
    targets: &Targets,
    max_steps: Option<usize>,
) -> Vec<Vec<u32>> {
    let walker = NearestSearch {
        usable,
        targets,
        max_steps: max_steps.map_or(u64::MAX, |max_steps| max_steps as u64),
        starts: usable.paths_from_starts(),
        ends: usable.paths_to_ends(),
        coverage: CoveredTargets::new(targets),
        candidates: Vec::new(),
    };
    let runs = drop_redundant(usable, targets, walker.runs());
    let mut runs = join_runs(usable, runs, max_steps);
    if let Targets::States(_) = targets {
        set_empty_runs(usable, &mut runs);
    }
    runs
}

/// Greedy search in progress.
struct NearestSearch<'w, 'g> {
    usable: &'w UsableGraph<'g>,
    targets: &'w Targets,
    /// Maximum number of steps in a run.
    max_steps: u64,
    /// Shortest paths from the start states.
    starts: PathTree,
    /// Shortest paths to states where a run may end.
    ends: PathTree,
    /// Targets that the runs so far cover.
    coverage: CoveredTargets,
    /// Candidates for the first target of a run. The one with the shortest run is last.
    candidates: Vec<(Length, RunOpening)>,
}

/// First target of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RunOpening {
    /// A start state.
    Start(u32),
    /// A transition.
    Step(u32),
}

impl NearestSearch<'_, '_> {
    /// Makes runs until everything is covered.
    fn runs(mut self) -> Vec<Vec<u32>> {
        let usable = self.usable;
        let starts = usable.starts.iter();
        let starts = starts.map(|start| (self.distance_to_end(*start), RunOpening::Start(*start)));
        let steps = usable.usable_transitions();
        let steps = steps.map(|(number, _)| (self.shortest_run(number), RunOpening::Step(number)));
        let mut waiting: Vec<_> = starts.chain(steps).collect();
        waiting.sort_unstable();
        waiting.reverse();
        self.candidates = waiting;
        let mut around = PathTree::empty(usable);
        let mut runs = Vec::new();
        while let Some((_, first)) = self.next_opening() {
            runs.push(self.run(first, &mut around));
        }
        runs
    }

    /// Makes a run that begins with `first` and goes on to other targets.
    fn run(&mut self, first: RunOpening, around: &mut PathTree) -> Vec<u32> {
        let usable = self.usable;
        let (mut run, mut at) = match first {
            RunOpening::Start(start) => {
                self.coverage.mark(self.targets.covered_by_start(start));
                (Vec::new(), start)
            }
            RunOpening::Step(number) => {
                let transition = usable.transition(number);
                let mut run = self.starts.path(usable, transition.from);
                run.push(number);
                (run, transition.to)
            }
        };
        self.coverage.mark_run(usable, self.targets, &run);
        while let Some(next) = self.extend_run(&mut run, at, around) {
            at = next;
        }
        run.extend(self.ends.path(usable, at));
        self.coverage.mark_run(usable, self.targets, &run);
        run
    }

    /// Returns the length of the shortest run with a transition.
    fn shortest_run(&self, transition: u32) -> Length {
        let each = self.usable.transition(transition);
        let before = self.starts.distance(each.from).unwrap_or_default();
        let behind = add_lengths(before, self.usable.length(transition));
        add_lengths(behind, self.distance_to_end(each.to))
    }

    /// Returns the length of the shortest path from a state to an end.
    fn distance_to_end(&self, state: u32) -> Length {
        self.ends.distance(state).unwrap_or_default()
    }

    /// Returns true if `first` would cover something new.
    fn covers_new(&self, first: RunOpening) -> bool {
        let target = match first {
            RunOpening::Start(start) => self.targets.covered_by_start(start),
            RunOpening::Step(number) => self.targets.covered_by_step(self.usable, None, number),
        };
        self.coverage.is_missing(target)
    }

    /// Returns the candidate with the shortest run that would cover something new.
    fn next_opening(&mut self) -> Option<(Length, RunOpening)> {
        while let Some((_, first)) = self.candidates.last() {
            if self.covers_new(*first) {
                break;
            }
            self.candidates.pop();
        }
        self.candidates.last().copied()
    }

    /// Extends a run to the nearest target, unless a new run would be shorter or this one would get
    /// too long. Returns the state after it.
    fn extend_run(&mut self, run: &mut Vec<u32>, at: u32, around: &mut PathTree) -> Option<u32> {
        let usable = self.usable;
        let (new_run, _) = self.next_opening()?;
        let end_here = add_lengths(self.distance_to_end(at), (RUN_COST, 0));
        let farthest = add_lengths(end_here, new_run);
        let wanted = |number| self.covers_new(RunOpening::Step(number));
        let (step, distance) = around.nearest(usable, at, farthest, wanted)?;
        let to = usable.transition(step).to;
        let whole = add_lengths(distance, self.distance_to_end(to));
        let steps = run.len() as u64 + usable.steps(whole);
        if whole > farthest || steps > self.max_steps {
            return None;
        }
        let known = run.len();
        run.extend(around.path(usable, usable.transition(step).from));
        run.push(step);
        self.coverage.mark_run(usable, self.targets, &run[known..]);
        Some(to)
    }
}

/// Joins runs: one that begins in the state where another ends is appended to it, if the result is
/// not too long.
fn join_runs(
    usable: &UsableGraph<'_>,
    runs: Vec<Vec<u32>>,
    max_steps: Option<usize>,
) -> Vec<Vec<u32>> {
    let mut by_start: Vec<Vec<usize>> = vec![Vec::new(); usable.states() as usize];
    for (number, run) in runs.iter().enumerate().rev() {
        if let Some(first) = run.first() {
            by_start[usable.transition(*first).from as usize].push(number);
        }
    }
    let mut waiting: Vec<Option<Vec<u32>>> = runs.into_iter().map(Some).collect();
    let mut join_runs = Vec::new();
    for number in 0..waiting.len() {
        let Some(mut run) = waiting[number].take() else {
            continue;
        };
        while let Some(at) = usable.state_after(&run)
            && let Some(next) = by_start[at as usize].pop()
        {
            let Some(other) = waiting[next].take() else {
                continue;
            };
            if max_steps.is_some_and(|max_steps| run.len() + other.len() > max_steps) {
                waiting[next] = Some(other);
                by_start[at as usize].push(next);
                break;
            }
            run.extend(other);
        }
        join_runs.push(run);
    }
    join_runs
}
