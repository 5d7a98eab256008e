//! Random runs.

use testwright_core::Random;

use super::CoverPlan;
use super::usable_graph::{PathTree, UsableGraph};

/// Makes `runs` random runs of `steps` steps. Each run has its own random generator, so that it
/// does not depend on the runs before it.
pub(super) fn runs(
    usable: &UsableGraph<'_>,
    plan: &CoverPlan,
    runs: usize,
    steps: usize,
) -> Vec<Vec<u32>> {
    if usable.starts.is_empty() {
        return Vec::new();
    }
    let ends = usable.paths_to_ends();
    let starts = usable.starts.iter().copied().cycle();
    let each = (0..runs).zip(starts);
    each.map(|(number, start)| {
        let mut random = Random::for_part(plan.seed, number as u64);
        run(usable, &ends, plan, &mut random, start, steps)
    })
    .collect()
}

/// Makes one random run from `start`, and extends it to a state where it may end.
fn run(
    usable: &UsableGraph<'_>,
    ends: &PathTree,
    plan: &CoverPlan,
    random: &mut Random,
    start: u32,
    steps: usize,
) -> Vec<u32> {
    let mut run = Vec::new();
    let mut at = start;
    while run.len() < steps {
        let taken = run.len() as u64 + 1;
        let fits = |number: &&u32| {
            let to = usable.transition(**number).to;
            let left = ends
                .distance(to)
                .map_or(0, |distance| usable.steps(distance));
            plan.max_steps
                .is_none_or(|max_steps| taken + left <= max_steps as u64)
        };
        let possible: Vec<u32> = usable
            .leaving
            .items(at)
            .iter()
            .filter(fits)
            .copied()
            .collect();
        let Some(step) = choose(plan, random, &possible) else {
            break;
        };
        run.push(step);
        at = usable.transition(step).to;
    }
    run.extend(ends.path(usable, at));
    run
}

/// Picks a transition at random, with a probability proportional to its weight.
fn choose(plan: &CoverPlan, random: &mut Random, among: &[u32]) -> Option<u32> {
    // The sum must not overflow, however great the weights are.
    let max_weight = u64::MAX / among.len().max(1) as u64;
    let weight = |step: &u32| plan.transition_weight(*step as usize).min(max_weight);
    let all = among.iter().map(weight).sum();
    let mut drawn = random.below(all);
    among.iter().copied().find(|step| {
        let weight = weight(step);
        let is_here = drawn < weight;
        drawn = drawn.saturating_sub(weight);
        is_here
    })
}
