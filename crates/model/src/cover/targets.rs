//! What is to be covered, as numbers.

use rustc_hash::FxHashMap;
use testwright_core::product::NameId;

use super::ground::Ground;
use super::lists::Lists;
use super::{Goal, Reason, Target, Unreachable};

/// The targets of a goal.
pub(super) enum Targets {
    Actions {
        /// By label: the number of its name.
        of_label: Vec<u32>,
        names: Vec<NameId>,
    },
    Labels(usize),
    States(usize),
    Transitions(usize),
    Pairs(Pairs),
}

/// The pairs of adjacent transitions. They are many, so that they are counted rather than listed.
pub(super) struct Pairs {
    /// By state: all transitions that leave it.
    leaving: Lists,
    /// By transition: its place among those that leave the same state.
    place: Vec<u32>,
    /// By transition: the number of the first pair that begins with it; and how many there are.
    first: Vec<usize>,
    /// The transitions that runs can take, but with no other before or after it.
    pub(super) alone: Vec<u32>,
}

impl Pairs {
    fn new(ground: &Ground<'_>) -> Pairs {
        let transitions = &ground.graph.transitions;
        let numbers = 0..transitions.len() as u32;
        let from = numbers.map(|number| (ground.transition(number).from, number));
        let leaving = Lists::new(ground.graph.states(), from);
        let mut place = vec![0; transitions.len()];
        for state in 0..ground.states() {
            for (index, number) in (0..).zip(leaving.of(state)) {
                place[*number as usize] = index;
            }
        }
        let mut next = 0;
        let mut first = vec![0];
        for transition in transitions {
            next += leaving.of(transition.to).len();
            first.push(next);
        }
        let is_alone = |number: &u32| {
            let transition = ground.transition(*number);
            ground.entering.of(transition.from).is_empty()
                && ground.leaving.of(transition.to).is_empty()
        };
        let useful = ground.useful().map(|(number, _)| number);
        Pairs {
            leaving,
            place,
            first,
            alone: useful.filter(is_alone).collect(),
        }
    }

    fn count(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }
}

impl Targets {
    pub(super) fn new(ground: &Ground<'_>, goal: Goal) -> Targets {
        let graph = ground.graph;
        match goal {
            Goal::Actions => {
                let mut names = Vec::new();
                let mut numbers: FxHashMap<NameId, u32> = FxHashMap::default();
                let number = |label: &testwright_core::product::Label| {
                    *numbers.entry(label.name).or_insert_with(|| {
                        names.push(label.name);
                        names.len() as u32 - 1
                    })
                };
                let of_label = graph.labels.iter().map(number).collect();
                Targets::Actions { of_label, names }
            }
            Goal::Labels => Targets::Labels(graph.labels.len()),
            Goal::States | Goal::Shortest => Targets::States(graph.states()),
            Goal::Transitions | Goal::Random { .. } => {
                Targets::Transitions(graph.transitions.len())
            }
            Goal::Pairs => Targets::Pairs(Pairs::new(ground)),
        }
    }

    /// How many there are.
    pub(super) fn all(&self) -> usize {
        match self {
            Targets::Actions { names, .. } => names.len(),
            Targets::Labels(all) | Targets::States(all) | Targets::Transitions(all) => *all,
            Targets::Pairs(pairs) => pairs.count() + pairs.alone.len(),
        }
    }

    /// What a step covers that is taken after another, or as the first of a run.
    pub(super) fn of_step(
        &self,
        ground: &Ground<'_>,
        before: Option<u32>,
        step: u32,
    ) -> Option<usize> {
        let transition = ground.transition(step);
        match self {
            Targets::Actions { of_label, .. } => Some(of_label[transition.label as usize] as usize),
            Targets::Labels(_) => Some(transition.label as usize),
            Targets::States(_) => Some(transition.to as usize),
            Targets::Transitions(_) => Some(step as usize),
            Targets::Pairs(pairs) => match before {
                Some(before) => {
                    let place = pairs.place[step as usize] as usize;
                    Some(pairs.first[before as usize] + place)
                }
                None => {
                    let place = pairs.alone.binary_search(&step).ok()?;
                    Some(pairs.count() + place)
                }
            },
        }
    }

    /// What a run covers by beginning in a state.
    pub(super) fn of_start(&self, state: u32) -> Option<usize> {
        matches!(self, Targets::States(_)).then_some(state as usize)
    }

    /// What a run covers, in its order.
    pub(super) fn of_run(&self, ground: &Ground<'_>, run: &[u32]) -> impl Iterator<Item = usize> {
        let start = run.first().map(|first| ground.transition(*first).from);
        let start = start.and_then(|start| self.of_start(start));
        let steps = run.iter().enumerate().filter_map(|(index, step)| {
            let before = index.checked_sub(1).map(|before| run[before]);
            self.of_step(ground, before, *step)
        });
        start.into_iter().chain(steps)
    }

    /// The targets that no run can cover.
    pub(super) fn unreachable(&self, ground: &Ground<'_>) -> Vec<Unreachable> {
        match self {
            Targets::Actions { of_label, names } => {
                let target = |place: usize| Target::Action(names[place]);
                let number = |label: u32| of_label[label as usize];
                by_label(ground, names.len(), number, target)
            }
            Targets::Labels(all) => by_label(
                ground,
                *all,
                |label| label,
                |place| Target::Label(place as u32),
            ),
            Targets::States(all) => {
                let states = 0..*all as u32;
                let lost = states
                    .filter_map(|state| lost(Target::State(state), ground.reason(state, state)));
                lost.collect()
            }
            Targets::Transitions(all) => {
                let numbers = 0..*all as u32;
                let lost = numbers.filter_map(|number| {
                    lost(Target::Transition(number), ground.reason_of(number))
                });
                lost.collect()
            }
            Targets::Pairs(pairs) => {
                let numbers = 0..pairs.place.len() as u32;
                let lost = numbers.flat_map(|first| {
                    let transition = ground.transition(first);
                    let next = pairs.leaving.of(transition.to).iter();
                    next.filter_map(move |second| {
                        let to = ground.transition(*second).to;
                        lost(
                            Target::Pair(first, *second),
                            ground.reason(transition.from, to),
                        )
                    })
                });
                lost.collect()
            }
        }
    }
}

fn lost(target: Target, reason: Option<Reason>) -> Option<Unreachable> {
    reason.map(|reason| Unreachable { target, reason })
}

/// Something that occurs at several transitions is lost if it is lost at all of them. The reason that tells most is
/// that of the one that came farthest.
fn by_label(
    ground: &Ground<'_>,
    all: usize,
    number: impl Fn(u32) -> u32,
    target: impl Fn(usize) -> Target,
) -> Vec<Unreachable> {
    let mut reasons = vec![Some(Reason::NoWay); all];
    for (place, transition) in ground.graph.transitions.iter().enumerate() {
        let known = &mut reasons[number(transition.label) as usize];
        match ground.reason_of(place as u32) {
            None => *known = None,
            Some(Reason::NoEnd) => *known = known.map(|_| Reason::NoEnd),
            Some(Reason::NoWay) => {}
        }
    }
    let each = reasons.into_iter().enumerate();
    each.filter_map(|(place, reason)| lost(target(place), reason))
        .collect()
}

/// Which targets are covered.
pub(super) struct Tally {
    is_covered: Vec<bool>,
    covered: usize,
}

impl Tally {
    pub(super) fn new(targets: &Targets) -> Tally {
        Tally {
            is_covered: vec![false; targets.all()],
            covered: 0,
        }
    }

    pub(super) fn covered(&self) -> usize {
        self.covered
    }

    /// Whether it is a target that is not covered.
    pub(super) fn lacks(&self, target: Option<usize>) -> bool {
        target.is_some_and(|target| !self.is_covered[target])
    }

    /// Notes what was covered, and whether that is new.
    pub(super) fn take(&mut self, target: Option<usize>) -> bool {
        let is_new = self.lacks(target);
        if let Some(target) = target
            && is_new
        {
            self.is_covered[target] = true;
            self.covered += 1;
        }
        is_new
    }

    /// Notes what a run covers.
    pub(super) fn run(&mut self, ground: &Ground<'_>, targets: &Targets, run: &[u32]) {
        for target in targets.of_run(ground, run) {
            self.take(Some(target));
        }
    }

    /// Notes what so many runs without steps cover, after all others.
    pub(super) fn empty_runs(&mut self, ground: &Ground<'_>, targets: &Targets, count: usize) {
        let starts = ground.starts.iter().map(|start| targets.of_start(*start));
        let lacking: Vec<_> = starts
            .filter(|start| self.lacks(*start))
            .take(count)
            .collect();
        for start in lacking {
            self.take(start);
        }
    }
}
