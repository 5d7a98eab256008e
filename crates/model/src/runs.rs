//! Testing with a model: runs through a product, one step at a time, with or without an implementation to compare.
//!
//! A run follows the model. Before each step, what the implementation has done by itself is looked at first: the model
//! must allow it. Otherwise a [`Chooser`] picks one of the steps that are possible, the model takes it, and an
//! [`Implementation`] is made to do the same. A run may end where the model says so; it fails if the implementation does
//! something else, or if it comes to its end elsewhere.
//!
//! A model may leave open what happens: then it is in several states at a time, all those that agree with what was seen.

use testwright_core::product::{
    Joint, Label, NameId, Phase, Place, Product, Trouble, ValueId, Words,
};
use testwright_core::{Failure, FailureKind};

use crate::mismatch::mismatch;
use crate::refused::refusal;

/// Picks steps.
pub trait Chooser {
    /// A run begins.
    fn begins(&mut self, _run: usize) {}

    /// One of the steps that are possible, or none to end the run.
    fn choose(
        &mut self,
        product: &mut Product<'_>,
        possible: &[Joint],
    ) -> Result<Option<Choice>, Trouble>;

    /// Whether it has picked all that it wanted to. Otherwise, a run in which no step is picked has none left.
    fn has_ended(&self) -> bool {
        false
    }

    /// None of the steps was picked, and the implementation did nothing by itself either. Saying true is to be asked
    /// once more.
    fn nothing_came(&mut self) -> bool {
        false
    }
}

/// A step that was picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What to do.
    pub name: NameId,
    /// With what.
    pub arguments: ValueId,
    /// What should come of it, if that can be; otherwise it is the first thing that can.
    pub result: Option<ValueId>,
}

/// What is tested.
pub trait Implementation {
    /// Makes it do a step, and says what was wrong about it.
    fn act(&mut self, words: &Words, label: Label) -> Result<Option<String>, Trouble>;

    /// Makes it ready for another run.
    fn reset(&mut self) -> Result<(), Trouble>;

    /// What it has done by itself and nobody has looked at yet, the oldest first.
    fn observed(&mut self, words: &mut Words) -> Result<Option<(NameId, ValueId)>, Trouble>;

    /// Whether it may still do something by itself when nothing else is possible; if so, waits for it as long as it was
    /// told to. False means that nothing has come.
    fn wait(&mut self) -> Result<Option<bool>, Trouble>;

    /// Forgets what it has done by itself, and says how much of it nobody has looked at.
    fn forget(&mut self) -> Result<usize, Trouble>;

    /// Whether it does things by itself in its own time, so that the same steps need not lead to the same twice.
    fn is_asynchronous(&self) -> bool;
}

/// How long to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many runs; without a number, until somebody stops it. A product with a list of runs plays that list.
    pub runs: Option<usize>,
    /// How many steps in a run before it is to come to its end; without a number, until nothing is possible.
    pub steps: Option<usize>,
    /// How many more steps it may take to come to its end.
    pub cleanup: usize,
    /// Whether a state in which an invariant does not hold ends a run as a failure.
    pub check: bool,
    /// Whether a model that does not say how to begin another run is put back to where it was at first.
    pub put_back: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// Its number, from 0.
    pub run: usize,
    /// How many steps were taken.
    pub steps: usize,
    /// It ended because nothing was possible any more.
    pub nothing_left: bool,
    /// It ended where the model says that it may.
    pub accepting: bool,
    /// What was wrong.
    pub failure: Option<Failure>,
    /// How many things the implementation had done that nobody looked at.
    pub leftovers: usize,
}

/// Is told what happens.
pub trait RunWatcher {
    /// A run begins.
    fn begins(&mut self, run: usize);
    /// A step was taken by the model; the implementation is next.
    fn step(&mut self, words: &Words, label: Label, is_observed: bool);
    /// A run has ended. Saying false ends the work.
    fn ended(&mut self, end: &RunEnd) -> bool;
}

/// What it came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many runs came to their end.
    pub runs: usize,
    /// How many of them failed.
    pub failed: usize,
}

/// Runs through a product.
pub struct Runs<'t, 'm> {
    /// The model.
    pub product: &'t mut Product<'m>,
    /// Who picks the steps.
    pub chooser: &'t mut dyn Chooser,
    /// What is tested, if anything.
    pub implementation: Option<&'t mut dyn Implementation>,
    /// How long to go on.
    pub plan: Plan,
}

/// Why a run did not go on.
enum Stop {
    NothingLeft,
    Enough,
    Failed(Failure),
}

impl Runs<'_, '_> {
    /// All runs. What came of those that had ended is told even if there is trouble later.
    pub fn all(&mut self, watcher: &mut dyn RunWatcher) -> (Tally, Result<(), Trouble>) {
        let mut tally = Tally::default();
        let result = self.each(watcher, &mut tally);
        (tally, result)
    }

    /// How many runs there are to be; no number if there is no end to them.
    fn most(&self) -> Option<usize> {
        if self.product.has_suite() {
            self.product.runs()
        } else {
            self.plan.runs
        }
    }

    /// The model because of which there will be no second run, although there is to be one.
    pub fn without_reset(&self) -> Option<&str> {
        let is_asked = !self.plan.put_back && self.most().is_none_or(|most| most > 1);
        self.product.without_reset().filter(|_| is_asked)
    }

    fn each(&mut self, watcher: &mut dyn RunWatcher, tally: &mut Tally) -> Result<(), Trouble> {
        let most = self.most();
        for run in 0.. {
            if most.is_some_and(|most| run >= most) {
                break;
            }
            let start = match self.product.start(run) {
                Err(Trouble::NoReset { .. }) if self.plan.put_back => self.product.begin(run)?,
                start => start?,
            };
            let Some(start) = start else {
                break;
            };
            if run > 0
                && let Some(implementation) = &mut self.implementation
            {
                implementation.reset()?;
            }
            self.chooser.begins(run);
            watcher.begins(run);
            let end = self.run(run, start, watcher)?;
            tally.runs += 1;
            tally.failed += usize::from(end.failure.is_some());
            if !watcher.ended(&end) {
                break;
            }
        }
        Ok(())
    }

    /// One run that was there before; none if there is no such run. The implementation has to be ready for it.
    pub(crate) fn again(
        &mut self,
        run: usize,
        watcher: &mut dyn RunWatcher,
    ) -> Result<Option<RunEnd>, Trouble> {
        let Some(start) = self.product.begin(run)? else {
            return Ok(None);
        };
        self.run(run, start, watcher).map(Some)
    }

    fn run(
        &mut self,
        run: usize,
        start: Vec<Place>,
        watcher: &mut dyn RunWatcher,
    ) -> Result<RunEnd, Trouble> {
        let mut states = vec![start];
        let mut steps = 0;
        let stop = self.follow(&mut states, &mut steps, watcher)?;
        let accepting = self.is_accepting(&states);
        let nothing_left = matches!(stop, Stop::NothingLeft);
        let failure = match stop {
            Stop::Failed(why) => Some(why),
            Stop::NothingLeft if self.implementation.is_some() && !accepting => {
                let why = format!("{}, {}", RunEnd::NOTHING_LEFT, RunEnd::NOT_ACCEPTING);
                Some(mismatch("", why))
            }
            Stop::Enough if self.implementation.is_some() && !accepting => {
                Some(mismatch("", RunEnd::NOT_ACCEPTING.to_owned()))
            }
            _ => None,
        };
        let leftovers = match &mut self.implementation {
            Some(implementation) => implementation.forget()?,
            None => 0,
        };
        Ok(RunEnd {
            run,
            steps,
            nothing_left,
            accepting,
            failure,
            leftovers,
        })
    }

    /// Takes steps until a reason to stop comes up.
    fn follow(
        &mut self,
        states: &mut Vec<Vec<Place>>,
        steps: &mut usize,
        watcher: &mut dyn RunWatcher,
    ) -> Result<Stop, Trouble> {
        let mut phase = Phase::Usual;
        let mut most = self.plan.steps;
        while most.is_none_or(|most| *steps < most) {
            let observed = match &mut self.implementation {
                Some(implementation) => implementation.observed(self.product.words_mut())?,
                None => None,
            };
            let mut possible = Vec::new();
            let choice = match observed {
                Some((name, arguments)) => {
                    if let Some(why) = refusal(self.product, states, name, arguments)? {
                        return Ok(Stop::Failed(why));
                    }
                    Choice {
                        name,
                        arguments,
                        result: None,
                    }
                }
                None => {
                    possible = self.possible(states, phase)?;
                    match self.chooser.choose(self.product, &possible)? {
                        Some(_) if phase == Phase::Cleanup && self.is_accepting(states) => {
                            return Ok(Stop::Enough);
                        }
                        Some(chosen) => chosen,
                        None => {
                            if self.wait()? || self.chooser.nothing_came() {
                                continue;
                            }
                            let is_enough = phase == Phase::Cleanup || self.chooser.has_ended();
                            return Ok(if is_enough {
                                Stop::Enough
                            } else {
                                Stop::NothingLeft
                            });
                        }
                    }
                }
            };
            let Some(label) = self.perform(states, choice, &possible)? else {
                let text = self.text(choice.name, choice.arguments);
                let why = format!("{text}, which the model cannot do");
                return Ok(Stop::Failed(self.mismatch(choice.name, why)));
            };
            *steps += 1;
            watcher.step(self.product.words(), label, observed.is_some());
            if self.plan.check && !states.iter().any(|state| self.product.is_safe(state)) {
                let first = states.first();
                let first = first.map(|state| crate::state_text(self.product, state));
                return Ok(Stop::Failed(Failure {
                    kind: FailureKind::Property,
                    message: "the invariant does not hold".to_owned(),
                    signature: "invariant".to_owned(),
                    details: format!("in the state {}", first.unwrap_or_default()),
                }));
            }
            if observed.is_none()
                && let Some(implementation) = &mut self.implementation
                && let Some(why) = implementation.act(self.product.words(), label)?
            {
                return Ok(Stop::Failed(self.mismatch(label.name, why)));
            }
            if Some(*steps) == self.plan.steps {
                phase = Phase::Cleanup;
                most = most.map(|most| most + self.plan.cleanup);
            }
        }
        Ok(Stop::Enough)
    }

    /// Waits for what the implementation may do by itself; whether something has come.
    fn wait(&mut self) -> Result<bool, Trouble> {
        match &mut self.implementation {
            Some(implementation) => Ok(implementation.wait()?.unwrap_or(false)),
            None => Ok(false),
        }
    }

    fn is_accepting(&self, states: &[Vec<Place>]) -> bool {
        states.iter().any(|state| self.product.is_accepting(state))
    }

    /// What is possible in some of the states.
    fn possible(&mut self, states: &[Vec<Place>], phase: Phase) -> Result<Vec<Joint>, Trouble> {
        let mut all: Vec<Joint> = Vec::new();
        for state in states {
            let moves = self.product.moves(state, phase)?;
            if all.is_empty() {
                all = moves
            } else {
                all.extend(moves)
            }
        }
        if states.len() > 1 {
            let mut seen = rustc_hash::FxHashSet::default();
            all.retain(|one| seen.insert((one.label, one.to.clone())));
        }
        Ok(all)
    }

    /// Takes a step in all states that the model may be in, and says what came of it.
    ///
    /// What came of an observation is not known, so every result stays possible. What was chosen among the steps that
    /// are `possible` has the result that is told, and leads where these lead.
    fn perform(
        &mut self,
        states: &mut Vec<Vec<Place>>,
        choice: Choice,
        possible: &[Joint],
    ) -> Result<Option<Label>, Trouble> {
        let mut done: Vec<Joint> = Vec::new();
        for state in states.iter() {
            let ways = self.product.perform(state, choice.name, choice.arguments)?;
            done.extend(ways);
        }
        let fits = |one: &Joint| Some(one.label.result) == choice.result;
        if done.iter().any(fits) {
            done.retain(fits);
        }
        // A machine alone does just what is written; observed, it also does what it leaves open.
        let is_possible = |one: &Joint| possible.contains(one);
        if done.iter().any(is_possible) {
            done.retain(is_possible);
        }
        let Some(label) = done.first().map(|one| one.label) else {
            return Ok(None);
        };
        let mut after: Vec<Vec<Place>> = Vec::new();
        for one in done {
            if (possible.is_empty() || one.label == label) && !after.contains(&one.to) {
                after.push(one.to);
            }
        }
        *states = after;
        Ok(Some(label))
    }

    fn mismatch(&self, name: NameId, why: String) -> Failure {
        mismatch(self.product.words().name_text(name), why)
    }

    fn text(&self, name: NameId, arguments: ValueId) -> String {
        let words = self.product.words();
        format!(
            "{}{}",
            words.name_text(name),
            words.value_text(arguments).plain()
        )
    }
}

impl RunEnd {
    /// What is said of a run that ended since nothing was possible.
    pub const NOTHING_LEFT: &'static str = "no more actions enabled";
    /// What is said of a run that ended where it may.
    pub const ACCEPTING: &'static str = "reached accepting state";
    /// What is said of a run that ended where it may not.
    pub const NOT_ACCEPTING: &'static str = "ended in non-accepting state";

    /// How and where the run ended.
    pub fn info(&self) -> String {
        let place = if self.accepting {
            RunEnd::ACCEPTING
        } else {
            RunEnd::NOT_ACCEPTING
        };
        if self.nothing_left {
            format!("{}, {place}", RunEnd::NOTHING_LEFT)
        } else {
            place.to_owned()
        }
    }
}

/// A step as people read it: `Push(1,)`, `Pop() / 2`.
pub fn step_text(words: &Words, label: Label) -> String {
    let name = words.name_text(label.name);
    let arguments = words.value_text(label.arguments).plain();
    match label.result {
        ValueId::NONE => format!("{name}{arguments}"),
        result => format!("{name}{arguments} / {}", words.value_text(result).plain()),
    }
}
