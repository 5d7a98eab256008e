//! A shortest path to every state.

use super::cut::set_empty_runs;
use super::usable_graph::UsableGraph;

/// Makes a run for each state whose shortest path is not part of another state's. Each run is
/// extended to a state where it may end.
pub(super) fn runs(usable: &UsableGraph<'_>) -> Vec<Vec<u32>> {
    let paths = usable.paths_from_starts();
    let ends = usable.paths_to_ends();
    let reached = (0..usable.states()).filter(|state| paths.distance(*state).is_some());
    let mut proceed = vec![false; usable.states() as usize];
    for via in reached
        .clone()
        .filter_map(|state| paths.adjacent_transition(state))
    {
        proceed[usable.transition(via).from as usize] = true;
    }
    let last = reached.filter(|state| !proceed[*state as usize]);
    let run = |state: u32| {
        let mut run = paths.path(usable, state);
        run.extend(ends.path(usable, state));
        run
    };
    let mut runs: Vec<Vec<u32>> = last.map(run).collect();
    set_empty_runs(usable, &mut runs);
    runs
}
