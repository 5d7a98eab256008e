//! Normalisation: of all tests that show the same, one that everybody would write.
//!
//! Reduction leaves out steps. What is left still has the values and slots that chance drew: `int3 = 17` where `int0 = 1`
//! would do. Two tests for one bug look different for no reason, and a reader wonders whether the 17 matters. So a test
//! is rewritten, rule by rule, as long as it achieves the goal and becomes *lower*.
//!
//! # The order
//!
//! A test is lower than another if it is shorter; or as long, and its actions, sorted from the highest down, come first
//! in the order of the catalogue (which is the order of the harness); or has the same actions, and the sequence itself
//! comes first. There are finitely many tests that are no longer than a given one, and each step down this order is
//! strict, so normalisation ends. With [`NormalizeOptions::no_reassigns`], the number of steps that fill a slot again
//! counts right after the length.
//!
//! # The rules
//!
//! | rule | a test becomes lower by |
//! |---|---|
//! | NoReassigns | a slot of its own for a value that would overwrite another (only if asked for) |
//! | SimplifyAll | a lower action in place of all equal steps |
//! | ReplacePool | a lower slot for a value, from its definition to its last use, or throughout the test |
//! | ReplaceMovePool | the same after moving steps out of the way |
//! | SimplifySingle | a lower action in place of one step |
//! | SwapPool | two slots of a pool that trade places, from some definition on |
//! | SwapAction | two steps that trade places |
//! | ReduceAction | some other action in place of a step, so that another step can go |
//!
//! They are TSTL's. It tries all actions of lower number at every step, which for a harness with a hundred thousand
//! actions is for ever. We know what an action is made of, so we ask fewer questions, in this order: the same template
//! with its first alternatives; alternatives one by one where there are few, else by bisection, which finds the
//! smallest that works if all above it work; lower slots; then earlier templates, those first that fill and use the same
//! pools, with the slots that the step has now. What the slots of a candidate forbid is never run, and whether guards
//! allow an action is asked once for all of them, after one run of the steps before. How many other actions are tried at a
//! step is limited by the [`Speed`].
//!
//! The result is a fixed point: no rule, and no removal, has anything more to offer. So to normalise twice is to normalise
//! once.

mod lower;
mod slots;

use std::cmp::Ordering;

use super::dataflow;
use super::reduce::{Method, Reducer};
use super::shrinker::{Shrinker, Shrunk};
use super::trials::{ReduceError, Stop};
use crate::{Catalog, Step, System, Test};

/// How much to try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Speed {
    /// At each step up to 16 other actions, one of each template. Steps trade places if they are at most 12 apart.
    #[default]
    Fast,
    /// At each step up to 400 other actions, up to 40 of each template. Any two steps trade places.
    Thorough,
}

impl Speed {
    /// How many actions of other templates are tried in place of a step.
    pub(super) fn others(self) -> usize {
        match self {
            Speed::Fast => 16,
            Speed::Thorough => 400,
        }
    }

    /// How many of one template.
    pub(super) fn members(self) -> u64 {
        match self {
            Speed::Fast => 1,
            Speed::Thorough => 40,
        }
    }

    /// How far apart two steps may be that trade places.
    fn distance(self) -> usize {
        match self {
            Speed::Fast => 12,
            Speed::Thorough => usize::MAX,
        }
    }

    /// How many actions are tried in the hope that another step can go.
    fn replacements(self) -> usize {
        match self {
            Speed::Fast => 3,
            Speed::Thorough => 60,
        }
    }
}

/// How to normalise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NormalizeOptions {
    /// How much to try.
    pub speed: Speed,
    /// Prefer tests that never fill a slot twice.
    pub no_reassigns: bool,
    /// Put no action in the place of another whose text is further away than so many characters.
    pub furthest: Option<usize>,
}

/// One of the [rules](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A slot of its own for a value that would overwrite another.
    NoReassigns,
    /// A lower action in place of all equal steps.
    SimplifyAll,
    /// A lower slot for a value, also after moving steps out of the way.
    ReplacePool,
    /// A lower action in place of one step.
    SimplifySingle,
    /// Two slots of a pool that trade places.
    SwapPool,
    /// Two steps that trade places.
    SwapAction,
    /// Some other action in place of a step, so that another step can go.
    ReduceAction,
}

impl Rule {
    /// In the order in which they are tried.
    pub const ALL: [Rule; 7] = [
        Rule::NoReassigns,
        Rule::SimplifyAll,
        Rule::ReplacePool,
        Rule::SimplifySingle,
        Rule::SwapPool,
        Rule::SwapAction,
        Rule::ReduceAction,
    ];
}

impl<S: System + ?Sized> Shrinker<'_, S> {
    /// Rewrites a test into a simple one that others would come to as well. It is never longer.
    pub fn normalize(
        &mut self,
        test: &Test,
        options: &NormalizeOptions,
    ) -> Result<Shrunk, ReduceError> {
        let method = self.method();
        self.shrink(test, |reducer| {
            reducer.reproduce()?;
            Normalizer { reducer, options }.normalize(method)
        })
    }

    /// Lets a single rule rewrite a test as often as it can. Nothing if it cannot.
    pub fn apply(
        &mut self,
        rule: Rule,
        test: &Test,
        options: &NormalizeOptions,
    ) -> Result<Option<Shrunk>, ReduceError> {
        let mut changed = false;
        let shrunk = self.shrink(test, |reducer| {
            reducer.reproduce()?;
            changed = Normalizer { reducer, options }.apply(rule)?;
            Ok(())
        })?;
        Ok(changed.then_some(shrunk))
    }
}

/// A test that is being rewritten.
struct Normalizer<'r, 't, 'a, S: System + ?Sized> {
    reducer: &'r mut Reducer<'t, 'a, S>,
    options: &'r NormalizeOptions,
}

impl<S: System + ?Sized> Normalizer<'_, '_, '_, S> {
    fn normalize(&mut self, method: Method) -> Result<(), Stop> {
        self.reducer.remove_by(method)?;
        loop {
            while self.rewrite()? | self.shorten()? {}
            // The test as a whole may have become such that a larger block can go.
            if !self.reducer.remove_by(method)? {
                return Ok(());
            }
        }
    }

    /// Every rule once through the test. True if there was a success.
    fn rewrite(&mut self) -> Result<bool, Stop> {
        let mut changed = false;
        for rule in Rule::ALL {
            if rule != Rule::NoReassigns || self.options.no_reassigns {
                changed |= self.apply(rule)?;
            }
        }
        Ok(changed)
    }

    /// One rule through the test. True if there was a success.
    fn apply(&mut self, rule: Rule) -> Result<bool, Stop> {
        match rule {
            Rule::NoReassigns => self.fill_no_slot_twice(),
            Rule::SimplifyAll => self.simplify_all(),
            Rule::ReplacePool => self.replace_slots(),
            Rule::SimplifySingle => self.simplify_single(),
            Rule::SwapPool => self.swap_slots(),
            Rule::SwapAction => self.swap_steps(),
            Rule::ReduceAction => self.replace_and_shorten(),
        }
    }

    /// Leaves out what is not needed any more.
    fn shorten(&mut self) -> Result<bool, Stop> {
        let removed = self.reducer.remove_single_steps()?;
        // Using another value may mean to fill its slot again.
        let reused = !self.options.no_reassigns && self.reducer.reuse()?;
        Ok(removed | reused)
    }

    fn catalog(&self) -> &Catalog {
        self.reducer.trials.system.actions()
    }

    fn steps(&self) -> &[Step] {
        &self.reducer.current.steps
    }

    /// How many steps may be replaced or moved: all, or all but the last.
    fn movable(&self) -> usize {
        let kept = usize::from(self.reducer.trials.keep_last);
        self.steps().len().saturating_sub(kept)
    }

    /// Makes a candidate the current test if it is lower and achieves the goal.
    fn attempt(&mut self, steps: Vec<Step>, kept: Vec<usize>) -> Result<bool, Stop> {
        let ends_alike = kept.last() == self.reducer.current.kept.last();
        if self.reducer.trials.keep_last && !ends_alike {
            return Ok(false);
        }
        if !self.is_promising(&steps) || self.compare(&steps) != Ordering::Less {
            return Ok(false);
        }
        self.reducer.attempt(steps, kept)
    }

    /// Makes a candidate of as many steps as the current test the current one.
    fn attempt_in_place(&mut self, steps: Vec<Step>) -> Result<bool, Stop> {
        let kept = self.reducer.current.kept.clone();
        self.attempt(steps, kept)
    }

    /// Whether the slots of a candidate allow all that they allow now.
    fn is_promising(&self, steps: &[Step]) -> bool {
        let reassigns = |steps: &[Step]| dataflow::reassigns(self.catalog(), steps);
        !self.reducer.disables_more(steps)
            && (!self.options.no_reassigns || reassigns(steps) <= reassigns(self.steps()))
    }

    /// Where a candidate stands in the order, compared with the current test.
    fn compare(&self, steps: &[Step]) -> Ordering {
        let rank = |steps: &[Step]| Rank::of(self.catalog(), steps, self.options.no_reassigns);
        rank(steps).cmp(&rank(self.steps()))
    }

    /// Two steps trade places if the later one is lower: neighbours first, then those further apart.
    fn swap_steps(&mut self) -> Result<bool, Stop> {
        let mut changed = false;
        let mut distance = 1;
        while distance < self.movable() && distance <= self.options.speed.distance() {
            let mut succeeded = false;
            for later in distance..self.movable() {
                let mut steps = self.steps().to_vec();
                let mut kept = self.reducer.current.kept.clone();
                if later >= steps.len() || key(steps[later]) >= key(steps[later - distance]) {
                    continue;
                }
                steps.swap(later, later - distance);
                kept.swap(later, later - distance);
                succeeded |= self.attempt(steps, kept)?;
            }
            changed |= succeeded;
            distance = if succeeded { 1 } else { distance + 1 };
        }
        Ok(changed)
    }
}

/// Where a test stands in the order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    length: usize,
    reassigns: usize,
    /// From the highest down.
    sorted: Vec<u64>,
    sequence: Vec<u64>,
}

impl Rank {
    fn of(catalog: &Catalog, steps: &[Step], no_reassigns: bool) -> Rank {
        let sequence: Vec<u64> = steps.iter().copied().map(key).collect();
        let mut sorted = sequence.clone();
        sorted.sort_unstable_by(|one, other| other.cmp(one));
        let reassigns = if no_reassigns {
            dataflow::reassigns(catalog, steps)
        } else {
            0
        };
        Rank {
            length: steps.len(),
            reassigns,
            sorted,
            sequence,
        }
    }
}

/// The place of a step in the order. A restart is worse than any action.
fn key(step: Step) -> u64 {
    match step {
        Step::Act(action) => action.0,
        Step::Restart => u64::MAX,
    }
}

#[cfg(test)]
mod tests;
