//! Cuts runs that are too long, and removes redundant ones.

use super::targets::{CoveredTargets, Targets};
use super::usable_graph::{PathTree, UsableGraph};

/// Cuts the runs of a tour that have more than `max_steps` steps. Also returns whether the result
/// is still optimal.
///
/// A piece begins with a shortest path to a target that is not covered yet, follows the tour while
/// there is room for a shortest path to an end, and takes that path. So a piece is too long only if
/// every run that covers its first target is.
pub(super) fn cut_runs(
    usable: &UsableGraph<'_>,
    targets: &Targets,
    (tour, is_optimal): (Vec<Vec<u32>>, bool),
    max_steps: Option<usize>,
) -> (Vec<Vec<u32>>, bool) {
    let Some(max_steps) = max_steps.filter(|most| tour.iter().any(|run| run.len() > *most)) else {
        return (tour, is_optimal);
    };
    let mut cutter = TourCutter {
        usable,
        targets,
        max_steps,
        starts: usable.paths_from_starts(),
        ends: usable.paths_to_ends(),
        coverage: CoveredTargets::new(targets),
    };
    let (short, long): (Vec<_>, Vec<_>) = tour.into_iter().partition(|run| run.len() <= max_steps);
    for run in &short {
        cutter.coverage.mark_run(usable, targets, run);
    }
    let mut runs = short;
    for run in long {
        runs.extend(cutter.cut_run(&run));
    }
    (drop_redundant(usable, targets, runs), false)
}

/// Cuts long runs into pieces.
struct TourCutter<'c, 'g> {
    usable: &'c UsableGraph<'g>,
    targets: &'c Targets,
    /// Maximum number of steps in a piece.
    max_steps: usize,
    /// Shortest paths from the start states.
    starts: PathTree,
    /// Shortest paths to states where a run may end.
    ends: PathTree,
    /// Targets that the runs so far cover.
    coverage: CoveredTargets,
}

impl TourCutter<'_, '_> {
    /// Cuts a run into pieces that cover its targets.
    fn cut_run(&mut self, run: &[u32]) -> Vec<Vec<u32>> {
        let mut pieces = Vec::new();
        let mut next = 0;
        while let Some(first) = (next..run.len()).find(|index| {
            let before = index.checked_sub(1).map(|before| run[before]);
            let target = self
                .targets
                .covered_by_step(self.usable, before, run[*index]);
            self.coverage.is_missing(target)
        }) {
            let (piece, after) = self.next_piece(run, first);
            pieces.push(piece);
            next = after;
        }
        pieces
    }

    /// Builds a run that covers the step with this index and some of the following ones. Also
    /// returns the index of the next step to cover.
    fn next_piece(&mut self, run: &[u32], first: usize) -> (Vec<u32>, usize) {
        let usable = self.usable;
        // A pair is covered only together with the step before it.
        let from = match self.targets {
            Targets::Pairs(_) => first.saturating_sub(1),
            _ => first,
        };
        let begin = usable.transition(run[from]).from;
        let mut piece = self.starts.path(usable, begin);
        piece.extend(&run[from..=first]);
        self.coverage.mark_run(usable, self.targets, &piece);
        let mut kept = piece.len();
        let mut next = first + 1;
        while let Some(step) = run.get(next).copied() {
            let end = self.ends.distance(usable.transition(step).to);
            let left = end.map_or(0, |distance| usable.steps(distance)) as usize;
            if piece.len() + 1 + left > self.max_steps {
                break;
            }
            let target = self
                .targets
                .covered_by_step(usable, piece.last().copied(), step);
            piece.push(step);
            if self.coverage.mark(target) {
                kept = piece.len();
            }
            next += 1;
        }
        piece.truncate(kept);
        if let Some(last) = usable.state_after(&piece) {
            piece.extend(self.ends.path(usable, last));
        }
        self.coverage.mark_run(usable, self.targets, &piece);
        (piece, next)
    }
}

/// Removes the runs that cover nothing that other runs do not cover too, short ones first.
pub(super) fn drop_redundant(
    usable: &UsableGraph<'_>,
    targets: &Targets,
    mut runs: Vec<Vec<u32>>,
) -> Vec<Vec<u32>> {
    let mut times = vec![0u32; targets.count()];
    let covers = |run: &[u32]| {
        let mut covered: Vec<usize> = targets.covered_by_run(usable, run).collect();
        covered.sort_unstable();
        covered.dedup();
        covered
    };
    for target in runs.iter().flat_map(|run| covers(run)) {
        times[target] += 1;
    }
    let mut order: Vec<usize> = (0..runs.len())
        .filter(|run| !runs[*run].is_empty())
        .collect();
    order.sort_by_key(|run| runs[*run].len());
    let mut is_needed = vec![true; runs.len()];
    for run in order {
        let covered = covers(&runs[run]);
        if covered.iter().all(|target| times[*target] > 1) {
            covered.iter().for_each(|target| times[*target] -= 1);
            is_needed[run] = false;
        }
    }
    let mut is_needed = is_needed.into_iter();
    runs.retain(|_| is_needed.next().unwrap_or(true));
    runs
}

/// Replaces the runs without steps by one for each start state that no other run visits.
pub(super) fn set_empty_runs(usable: &UsableGraph<'_>, runs: &mut Vec<Vec<u32>>) {
    let mut is_visited = vec![false; usable.states() as usize];
    runs.retain(|run| !run.is_empty());
    for step in runs.iter().flatten() {
        let transition = usable.transition(*step);
        is_visited[transition.from as usize] = true;
        is_visited[transition.to as usize] = true;
    }
    let starts = usable.starts.iter();
    let single = starts.filter(|start| !is_visited[**start as usize]);
    runs.extend(single.map(|_| Vec::new()));
}
