//! Runs that are not too long, and none that is not needed.

use super::ground::{Ground, Ways};
use super::targets::{Tally, Targets};

/// The runs of a tour, cut where they are too long; and whether they still cost the least.
///
/// A piece begins with a shortest way to what is not covered yet, follows the tour as long as there is room for a
/// shortest way to an end, and takes that. So a piece is too long only if this is so for every run that covers what
/// comes first in it.
pub(super) fn runs(
    ground: &Ground<'_>,
    targets: &Targets,
    (tour, is_least): (Vec<Vec<u32>>, bool),
    longest: Option<usize>,
) -> (Vec<Vec<u32>>, bool) {
    let Some(longest) = longest.filter(|most| tour.iter().any(|run| run.len() > *most)) else {
        return (tour, is_least);
    };
    let mut scissors = Scissors {
        ground,
        targets,
        longest,
        starts: ground.ways_from_starts(),
        ends: ground.ways_to_ends(),
        tally: Tally::new(targets),
    };
    let (short, long): (Vec<_>, Vec<_>) = tour.into_iter().partition(|run| run.len() <= longest);
    for run in &short {
        scissors.tally.run(ground, targets, run);
    }
    let mut runs = short;
    for run in long {
        runs.extend(scissors.pieces(&run));
    }
    (needed(ground, targets, runs), false)
}

struct Scissors<'c, 'g> {
    ground: &'c Ground<'g>,
    targets: &'c Targets,
    longest: usize,
    starts: Ways,
    ends: Ways,
    tally: Tally,
}

impl Scissors<'_, '_> {
    fn pieces(&mut self, run: &[u32]) -> Vec<Vec<u32>> {
        let mut pieces = Vec::new();
        let mut next = 0;
        while let Some(first) = (next..run.len()).find(|index| {
            let before = index.checked_sub(1).map(|before| run[before]);
            let target = self.targets.of_step(self.ground, before, run[*index]);
            self.tally.lacks(target)
        }) {
            let (piece, after) = self.piece(run, first);
            pieces.push(piece);
            next = after;
        }
        pieces
    }

    /// A run that covers the step with this index and some of those behind it, and the index that comes next.
    fn piece(&mut self, run: &[u32], first: usize) -> (Vec<u32>, usize) {
        let ground = self.ground;
        // A pair is covered only together with the step before it.
        let from = match self.targets {
            Targets::Pairs(_) => first.saturating_sub(1),
            _ => first,
        };
        let begin = ground.transition(run[from]).from;
        let mut piece = self.starts.way(ground, begin);
        piece.extend(&run[from..=first]);
        self.tally.run(ground, self.targets, &piece);
        let mut kept = piece.len();
        let mut next = first + 1;
        while let Some(step) = run.get(next).copied() {
            let end = self.ends.far(ground.transition(step).to);
            let left = end.map_or(0, |far| ground.steps(far)) as usize;
            if piece.len() + 1 + left > self.longest {
                break;
            }
            let target = self.targets.of_step(ground, piece.last().copied(), step);
            piece.push(step);
            if self.tally.take(target) {
                kept = piece.len();
            }
            next += 1;
        }
        piece.truncate(kept);
        if let Some(last) = ground.state_after(&piece) {
            piece.extend(self.ends.way(ground, last));
        }
        self.tally.run(ground, self.targets, &piece);
        (piece, next)
    }
}

/// The runs without those that cover only what others cover, too. Short ones are left out first.
pub(super) fn needed(
    ground: &Ground<'_>,
    targets: &Targets,
    mut runs: Vec<Vec<u32>>,
) -> Vec<Vec<u32>> {
    let mut times = vec![0u32; targets.all()];
    let covers = |run: &[u32]| {
        let mut covered: Vec<usize> = targets.of_run(ground, run).collect();
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

/// Replaces the runs without steps by one for each start that no other run comes by.
pub(super) fn set_empty_runs(ground: &Ground<'_>, runs: &mut Vec<Vec<u32>>) {
    let mut is_visited = vec![false; ground.states() as usize];
    runs.retain(|run| !run.is_empty());
    for step in runs.iter().flatten() {
        let transition = ground.transition(*step);
        is_visited[transition.from as usize] = true;
        is_visited[transition.to as usize] = true;
    }
    let starts = ground.starts.iter();
    let alone = starts.filter(|start| !is_visited[**start as usize]);
    runs.extend(alone.map(|_| Vec::new()));
}
