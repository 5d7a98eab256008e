//! Runs as chance has it.

use testwright_core::Random;

use super::CoverPlan;
use super::ground::{Ground, Ways};

/// So many runs of so many steps. Each run has chance of its own, so that it does not depend on those before it.
pub(super) fn runs(
    ground: &Ground<'_>,
    plan: &CoverPlan,
    runs: usize,
    steps: usize,
) -> Vec<Vec<u32>> {
    if ground.starts.is_empty() {
        return Vec::new();
    }
    let ends = ground.ways_to_ends();
    let starts = ground.starts.iter().copied().cycle();
    let each = (0..runs).zip(starts);
    each.map(|(number, start)| {
        let mut random = Random::for_part(plan.seed, number as u64);
        run(ground, &ends, plan, &mut random, start, steps)
    })
    .collect()
}

fn run(
    ground: &Ground<'_>,
    ends: &Ways,
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
            let to = ground.transition(**number).to;
            let left = ends.far(to).map_or(0, |far| ground.steps(far));
            plan.longest
                .is_none_or(|longest| taken + left <= longest as u64)
        };
        let possible: Vec<u32> = ground.leaving.of(at).iter().filter(fits).copied().collect();
        let Some(step) = choose(plan, random, &possible) else {
            break;
        };
        run.push(step);
        at = ground.transition(step).to;
    }
    run.extend(ends.way(ground, at));
    run
}

/// One of them, each as likely as its weight says.
fn choose(plan: &CoverPlan, random: &mut Random, among: &[u32]) -> Option<u32> {
    // The sum must be a number that can be drawn, however great the weights are.
    let most = u64::MAX / among.len().max(1) as u64;
    let weight = |step: &u32| plan.weight_of(*step as usize).min(most);
    let all = among.iter().map(weight).sum();
    let mut drawn = random.below(all);
    among.iter().copied().find(|step| {
        let weight = weight(step);
        let is_here = drawn < weight;
        drawn = drawn.saturating_sub(weight);
        is_here
    })
}
