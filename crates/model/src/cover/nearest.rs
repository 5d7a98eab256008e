//! Going to what is nearest and not covered yet.
//!
//! The least suite that covers some states or actions is hard to find (it would solve the travelling salesman's
//! problem). Going on to the nearest target, or beginning a new run where that costs less, is short enough and fast.

use super::RUN_COST;
use super::cut::{needed, set_empty_runs};
use super::ground::{Ground, Length, Ways, plus};
use super::targets::{Tally, Targets};

/// Runs that cover all targets that can be covered.
pub(super) fn runs(
    ground: &Ground<'_>,
    targets: &Targets,
    longest: Option<usize>,
) -> Vec<Vec<u32>> {
    let walker = Walker {
        ground,
        targets,
        longest: longest.map_or(u64::MAX, |longest| longest as u64),
        starts: ground.ways_from_starts(),
        ends: ground.ways_to_ends(),
        tally: Tally::new(targets),
        waiting: Vec::new(),
    };
    let runs = needed(ground, targets, walker.runs());
    let mut runs = joined(ground, runs, longest);
    if let Targets::States(_) = targets {
        set_empty_runs(ground, &mut runs);
    }
    runs
}

struct Walker<'w, 'g> {
    ground: &'w Ground<'g>,
    targets: &'w Targets,
    longest: u64,
    starts: Ways,
    ends: Ways,
    tally: Tally,
    /// What runs may have to cover, that with the shortest run last.
    waiting: Vec<(Length, First)>,
}

/// What a run is begun for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum First {
    /// A state in which runs begin.
    Start(u32),
    /// A transition.
    Step(u32),
}

impl Walker<'_, '_> {
    fn runs(mut self) -> Vec<Vec<u32>> {
        let ground = self.ground;
        let starts = ground.starts.iter();
        let starts = starts.map(|start| (self.to_end(*start), First::Start(*start)));
        let steps = ground.useful();
        let steps = steps.map(|(number, _)| (self.shortest_run(number), First::Step(number)));
        let mut waiting: Vec<_> = starts.chain(steps).collect();
        waiting.sort_unstable();
        waiting.reverse();
        self.waiting = waiting;
        let mut around = Ways::nowhere(ground);
        let mut runs = Vec::new();
        while let Some((_, first)) = self.next_first() {
            runs.push(self.run(first, &mut around));
        }
        runs
    }

    fn run(&mut self, first: First, around: &mut Ways) -> Vec<u32> {
        let ground = self.ground;
        let (mut run, mut at) = match first {
            First::Start(start) => {
                self.tally.take(self.targets.of_start(start));
                (Vec::new(), start)
            }
            First::Step(number) => {
                let transition = ground.transition(number);
                let mut run = self.starts.way(ground, transition.from);
                run.push(number);
                (run, transition.to)
            }
        };
        self.tally.run(ground, self.targets, &run);
        while let Some(next) = self.go_on(&mut run, at, around) {
            at = next;
        }
        run.extend(self.ends.way(ground, at));
        self.tally.run(ground, self.targets, &run);
        run
    }

    /// How long the shortest run with a transition is.
    fn shortest_run(&self, transition: u32) -> Length {
        let each = self.ground.transition(transition);
        let before = self.starts.far(each.from).unwrap_or_default();
        let behind = plus(before, self.ground.length(transition));
        plus(behind, self.to_end(each.to))
    }

    fn to_end(&self, state: u32) -> Length {
        self.ends.far(state).unwrap_or_default()
    }

    fn is_wanted(&self, first: First) -> bool {
        let target = match first {
            First::Start(start) => self.targets.of_start(start),
            First::Step(number) => self.targets.of_step(self.ground, None, number),
        };
        self.tally.lacks(target)
    }

    /// What is covered by the shortest run of all that is not covered.
    fn next_first(&mut self) -> Option<(Length, First)> {
        while let Some((_, first)) = self.waiting.last() {
            if self.is_wanted(*first) {
                break;
            }
            self.waiting.pop();
        }
        self.waiting.last().copied()
    }

    /// Goes to the nearest target, unless a new run would be shorter or this one would get too long. Where it is then.
    fn go_on(&mut self, run: &mut Vec<u32>, at: u32, around: &mut Ways) -> Option<u32> {
        let ground = self.ground;
        let (new_run, _) = self.next_first()?;
        let end_here = plus(self.to_end(at), (RUN_COST, 0));
        let farthest = plus(end_here, new_run);
        let wanted = |number| self.is_wanted(First::Step(number));
        let (step, far) = around.nearest(ground, at, farthest, wanted)?;
        let to = ground.transition(step).to;
        let whole = plus(far, self.to_end(to));
        let steps = run.len() as u64 + ground.steps(whole);
        if whole > farthest || steps > self.longest {
            return None;
        }
        let known = run.len();
        run.extend(around.way(ground, ground.transition(step).from));
        run.push(step);
        self.tally.run(ground, self.targets, &run[known..]);
        Some(to)
    }
}

/// The same with fewer runs: one that begins where another ends goes on from there.
fn joined(ground: &Ground<'_>, runs: Vec<Vec<u32>>, longest: Option<usize>) -> Vec<Vec<u32>> {
    let mut by_start: Vec<Vec<usize>> = vec![Vec::new(); ground.states() as usize];
    for (number, run) in runs.iter().enumerate().rev() {
        if let Some(first) = run.first() {
            by_start[ground.transition(*first).from as usize].push(number);
        }
    }
    let mut waiting: Vec<Option<Vec<u32>>> = runs.into_iter().map(Some).collect();
    let mut joined = Vec::new();
    for number in 0..waiting.len() {
        let Some(mut run) = waiting[number].take() else {
            continue;
        };
        while let Some(at) = ground.state_after(&run)
            && let Some(next) = by_start[at as usize].pop()
        {
            let Some(other) = waiting[next].take() else {
                continue;
            };
            if longest.is_some_and(|longest| run.len() + other.len() > longest) {
                waiting[next] = Some(other);
                by_start[at as usize].push(next);
                break;
            }
            run.extend(other);
        }
        joined.push(run);
    }
    joined
}
