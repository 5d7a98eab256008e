//! The targets of a goal, numbered from 0.

use rustc_hash::FxHashMap;
use testwright_core::product::NameId;

use super::lists::Lists;
use super::usable_graph::UsableGraph;
use super::{CoverGoal, CoverTarget, UnreachableReason, UnreachableTarget};

/// Targets of a goal.
pub(super) enum Targets {
    /// Action names.
    Actions {
        /// For each label, the number of its name.
        action_of_label: Vec<u32>,
        /// Action names by number.
        names: Vec<NameId>,
    },
    /// Labels, and how many there are.
    Labels(usize),
    /// States, and how many there are.
    States(usize),
    /// Transitions, and how many there are.
    Transitions(usize),
    /// Pairs of adjacent transitions.
    Pairs(Pairs),
}

/// Pairs of adjacent transitions. There are many, so their numbers are computed and not stored.
pub(super) struct Pairs {
    /// For each state, all transitions that leave it.
    leaving: Lists,
    /// For each transition, its position among those that leave the same state.
    position: Vec<u32>,
    /// For each transition, the number of the first pair that begins with it. The last entry is the
    /// number of pairs.
    first: Vec<usize>,
    /// Transitions that runs can take, but with no other one before or after.
    pub(super) isolated: Vec<u32>,
}

impl Pairs {
    /// Numbers the pairs of a graph.
    fn new(usable: &UsableGraph<'_>) -> Pairs {
        let transitions = &usable.graph.transitions;
        let numbers = 0..transitions.len() as u32;
        let from = numbers.map(|number| (usable.transition(number).from, number));
        let leaving = Lists::new(usable.graph.states(), from);
        let mut position = vec![0; transitions.len()];
        for state in 0..usable.states() {
            for (index, number) in (0..).zip(leaving.items(state)) {
                position[*number as usize] = index;
            }
        }
        let mut next = 0;
        let mut first = vec![0];
        for transition in transitions {
            next += leaving.items(transition.to).len();
            first.push(next);
        }
        let is_alone = |number: &u32| {
            let transition = usable.transition(*number);
            usable.entering.items(transition.from).is_empty()
                && usable.leaving.items(transition.to).is_empty()
        };
        let useful = usable.usable_transitions().map(|(number, _)| number);
        Pairs {
            leaving,
            position,
            first,
            isolated: useful.filter(is_alone).collect(),
        }
    }

    /// Returns the number of pairs.
    fn count(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }
}

impl Targets {
    /// Numbers the targets of a goal.
    pub(super) fn new(usable: &UsableGraph<'_>, goal: CoverGoal) -> Targets {
        let graph = usable.graph;
        match goal {
            CoverGoal::Actions => {
                let mut names = Vec::new();
                let mut numbers: FxHashMap<NameId, u32> = FxHashMap::default();
                let number = |label: &testwright_core::product::StepLabel| {
                    *numbers.entry(label.name).or_insert_with(|| {
                        names.push(label.name);
                        names.len() as u32 - 1
                    })
                };
                let of_label = graph.labels.iter().map(number).collect();
                Targets::Actions {
                    action_of_label: of_label,
                    names,
                }
            }
            CoverGoal::Labels => Targets::Labels(graph.labels.len()),
            CoverGoal::States | CoverGoal::Shortest => Targets::States(graph.states()),
            CoverGoal::Transitions | CoverGoal::Random { .. } => {
                Targets::Transitions(graph.transitions.len())
            }
            CoverGoal::Pairs => Targets::Pairs(Pairs::new(usable)),
        }
    }

    /// Returns the number of targets.
    pub(super) fn count(&self) -> usize {
        match self {
            Targets::Actions { names, .. } => names.len(),
            Targets::Labels(all) | Targets::States(all) | Targets::Transitions(all) => *all,
            Targets::Pairs(pairs) => pairs.count() + pairs.isolated.len(),
        }
    }

    /// Returns the target that a step covers after the step `before`, or as the first of a run.
    pub(super) fn covered_by_step(
        &self,
        usable: &UsableGraph<'_>,
        before: Option<u32>,
        step: u32,
    ) -> Option<usize> {
        let transition = usable.transition(step);
        match self {
            Targets::Actions {
                action_of_label: of_label,
                ..
            } => Some(of_label[transition.label as usize] as usize),
            Targets::Labels(_) => Some(transition.label as usize),
            Targets::States(_) => Some(transition.to as usize),
            Targets::Transitions(_) => Some(step as usize),
            Targets::Pairs(pairs) => match before {
                Some(before) => {
                    let position = pairs.position[step as usize] as usize;
                    Some(pairs.first[before as usize] + position)
                }
                None => {
                    let position = pairs.isolated.binary_search(&step).ok()?;
                    Some(pairs.count() + position)
                }
            },
        }
    }

    /// Returns the target that a run covers by beginning in a state.
    pub(super) fn covered_by_start(&self, state: u32) -> Option<usize> {
        matches!(self, Targets::States(_)).then_some(state as usize)
    }

    /// Iterates over the targets that a run covers, in its order.
    pub(super) fn covered_by_run(
        &self,
        usable: &UsableGraph<'_>,
        run: &[u32],
    ) -> impl Iterator<Item = usize> {
        let start = run.first().map(|first| usable.transition(*first).from);
        let start = start.and_then(|start| self.covered_by_start(start));
        let steps = run.iter().enumerate().filter_map(|(index, step)| {
            let before = index.checked_sub(1).map(|before| run[before]);
            self.covered_by_step(usable, before, *step)
        });
        start.into_iter().chain(steps)
    }

    /// Returns the targets that no run can cover.
    pub(super) fn find_unreachable(&self, usable: &UsableGraph<'_>) -> Vec<UnreachableTarget> {
        match self {
            Targets::Actions {
                action_of_label: of_label,
                names,
            } => {
                let target = |position: usize| CoverTarget::Action(names[position]);
                let number = |label: u32| of_label[label as usize];
                unreachable_by_label(usable, names.len(), number, target)
            }
            Targets::Labels(all) => unreachable_by_label(
                usable,
                *all,
                |label| label,
                |position| CoverTarget::Label(position as u32),
            ),
            Targets::States(all) => {
                let states = 0..*all as u32;
                let unreachable_target = states.filter_map(|state| {
                    unreachable_target(
                        CoverTarget::State(state),
                        usable.unreachable_reason(state, state),
                    )
                });
                unreachable_target.collect()
            }
            Targets::Transitions(all) => {
                let numbers = 0..*all as u32;
                let unreachable_target = numbers.filter_map(|number| {
                    unreachable_target(
                        CoverTarget::Transition(number),
                        usable.transition_reason(number),
                    )
                });
                unreachable_target.collect()
            }
            Targets::Pairs(pairs) => {
                let numbers = 0..pairs.position.len() as u32;
                let unreachable_target = numbers.flat_map(|first| {
                    let transition = usable.transition(first);
                    let next = pairs.leaving.items(transition.to).iter();
                    next.filter_map(move |second| {
                        let to = usable.transition(*second).to;
                        unreachable_target(
                            CoverTarget::Pair(first, *second),
                            usable.unreachable_reason(transition.from, to),
                        )
                    })
                });
                unreachable_target.collect()
            }
        }
    }
}

/// Builds the entry for an unreachable target, if there is a reason.
fn unreachable_target(
    target: CoverTarget,
    reason: Option<UnreachableReason>,
) -> Option<UnreachableTarget> {
    reason.map(|reason| UnreachableTarget { target, reason })
}

/// Finds the unreachable labels or names. A target that occurs at several transitions is
/// unreachable if it is so at all of them. The reason is that of the transition that comes nearest
/// to being covered.
fn unreachable_by_label(
    usable: &UsableGraph<'_>,
    all: usize,
    number: impl Fn(u32) -> u32,
    target: impl Fn(usize) -> CoverTarget,
) -> Vec<UnreachableTarget> {
    let mut reasons = vec![Some(UnreachableReason::NoPath); all];
    for (position, transition) in usable.graph.transitions.iter().enumerate() {
        let known = &mut reasons[number(transition.label) as usize];
        match usable.transition_reason(position as u32) {
            None => *known = None,
            Some(UnreachableReason::NoEnd) => *known = known.map(|_| UnreachableReason::NoEnd),
            Some(UnreachableReason::NoPath) => {}
        }
    }
    let each = reasons.into_iter().enumerate();
    each.filter_map(|(position, reason)| unreachable_target(target(position), reason))
        .collect()
}

/// Set of covered targets.
pub(super) struct CoveredTargets {
    /// For each target, whether it is covered.
    is_covered: Vec<bool>,
    /// Number of covered targets.
    covered: usize,
}

impl CoveredTargets {
    /// Creates an empty set.
    pub(super) fn new(targets: &Targets) -> CoveredTargets {
        CoveredTargets {
            is_covered: vec![false; targets.count()],
            covered: 0,
        }
    }

    /// Returns the number of covered targets.
    pub(super) fn covered(&self) -> usize {
        self.covered
    }

    /// Returns true if `target` is a target that is not covered.
    pub(super) fn is_missing(&self, target: Option<usize>) -> bool {
        target.is_some_and(|target| !self.is_covered[target])
    }

    /// Marks a target as covered. Returns true if it was not before.
    pub(super) fn mark(&mut self, target: Option<usize>) -> bool {
        let is_new = self.is_missing(target);
        if let Some(target) = target
            && is_new
        {
            self.is_covered[target] = true;
            self.covered += 1;
        }
        is_new
    }

    /// Marks the targets that a run covers.
    pub(super) fn mark_run(&mut self, usable: &UsableGraph<'_>, targets: &Targets, run: &[u32]) {
        for target in targets.covered_by_run(usable, run) {
            self.mark(Some(target));
        }
    }

    /// Marks the start states that `count` runs without steps cover. Call it after all other runs
    /// are marked.
    pub(super) fn mark_empty_runs(
        &mut self,
        usable: &UsableGraph<'_>,
        targets: &Targets,
        count: usize,
    ) {
        let starts = usable
            .starts
            .iter()
            .map(|start| targets.covered_by_start(*start));
        let lacking: Vec<_> = starts
            .filter(|start| self.is_missing(*start))
            .take(count)
            .collect();
        for start in lacking {
            self.mark(start);
        }
    }
}
