//! A shortest way to every state.

use super::cut::set_empty_runs;
use super::ground::Ground;

/// The ways to those states on whose way no other state's way goes on, and from there to where a run may end.
pub(super) fn runs(ground: &Ground<'_>) -> Vec<Vec<u32>> {
    let ways = ground.ways_from_starts();
    let ends = ground.ways_to_ends();
    let reached = (0..ground.states()).filter(|state| ways.far(*state).is_some());
    let mut goes_on = vec![false; ground.states() as usize];
    for by in reached.clone().filter_map(|state| ways.by(state)) {
        goes_on[ground.transition(by).from as usize] = true;
    }
    let last = reached.filter(|state| !goes_on[*state as usize]);
    let run = |state: u32| {
        let mut run = ways.way(ground, state);
        run.extend(ends.way(ground, state));
        run
    };
    let mut runs: Vec<Vec<u32>> = last.map(run).collect();
    set_empty_runs(ground, &mut runs);
    runs
}
