//! Confirmation and shrinking of a counterexample on the system.

use super::automaton::{Automaton, Letter};
use super::formula::Formula;
use super::judge::{AtomEvaluator, Counterexample, FormulaAtoms, RunEnding};
use super::lasso::holds_on;
use crate::explore::{ExploreOptions, ExploreProgress, Explorer};
use crate::{ActionId, Equivalence, Error, Outcome, Step, System, Test};

/// The result of running a candidate.
enum Trial {
    /// It violates the formula.
    Violates,
    /// It does not violate the formula, or it is not a possible run.
    Useless,
    /// The run was stopped.
    Stopped,
}

/// Shrinks a counterexample by running shorter candidates on the system.
pub(super) struct CounterexampleShrinker<'a, 's, S: ?Sized, K> {
    pub(super) explorer: &'a mut Explorer<'s, S, K>,
    pub(super) formula: &'a Formula,
    /// The automaton of the formula's negation.
    pub(super) automaton: &'a Automaton,
    pub(super) formula_atoms: FormulaAtoms,
    pub(super) caller: &'a mut dyn AtomEvaluator<S>,
    pub(super) options: &'a ExploreOptions,
    pub(super) progress: ExploreProgress,
}

/// Returns the actions of a test.
fn actions(test: &Test) -> Vec<ActionId> {
    let action = |step: &Step| match step {
        Step::Act(action) => Some(*action),
        Step::Restart => None,
    };
    test.steps.iter().filter_map(action).collect()
}

/// A run that may be a shorter counterexample.
#[derive(Clone)]
struct CandidateRun {
    prefix: Vec<ActionId>,
    lap: Vec<ActionId>,
    ending: RunEnding,
}

impl CandidateRun {
    /// Returns the run with the last step of the prefix moved into the lap, if the lap ends with
    /// the same step.
    fn rotated(&self) -> Option<CandidateRun> {
        let mut candidate = self.clone();
        let last = candidate.prefix.pop()?;
        if candidate.lap.last() != Some(&last) {
            return None;
        }
        candidate.lap.rotate_right(1);
        Some(candidate)
    }

    /// Returns all candidates that are one step shorter.
    fn shorter(&self) -> Vec<CandidateRun> {
        let mut candidates: Vec<CandidateRun> = self.rotated().into_iter().collect();
        for position in 0..self.prefix.len() {
            let mut candidate = self.clone();
            candidate.prefix.remove(position);
            candidates.push(candidate);
        }
        // A lap has at least one step.
        for position in (0..self.lap.len()).filter(|_| self.lap.len() > 1) {
            let mut candidate = self.clone();
            candidate.lap.remove(position);
            candidates.push(candidate);
        }
        candidates
    }
}

impl<S: System + ?Sized, K> CounterexampleShrinker<'_, '_, S, K> {
    /// Confirms a counterexample, then leaves out steps of its prefix and lap as long as it stays
    /// one.
    pub(super) fn shrink(mut self, found: Counterexample) -> Result<Counterexample, Error> {
        let mut best = CandidateRun {
            prefix: actions(&found.prefix),
            lap: actions(&found.lap),
            ending: found.ending,
        };
        match self.run(&best)? {
            Trial::Violates => {}
            Trial::Stopped => return Ok(found),
            Trial::Useless => {
                let message = "a counterexample does not violate the formula when it is run again";
                let help = "a system must do the same after each reset, and states with the same fingerprint must be the same";
                return Err(Error::new(message).with_help(help));
            }
        }
        while let Some(better) = self.find_shorter(&best)? {
            best = better;
        }
        Ok(Counterexample {
            prefix: Test::of(best.prefix),
            lap: Test::of(best.lap),
            ending: best.ending,
            confirmed: true,
        })
    }

    /// Finds the first shorter candidate that violates the formula too, if there is time.
    fn find_shorter(&mut self, best: &CandidateRun) -> Result<Option<CandidateRun>, Error> {
        for candidate in best.shorter() {
            match self.run(&candidate)? {
                Trial::Violates => return Ok(Some(candidate)),
                Trial::Useless => {}
                Trial::Stopped => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Runs a candidate on the system and judges it.
    fn run(&mut self, candidate: &CandidateRun) -> Result<Trial, Error> {
        self.explorer.system.reset()?;
        let mut letters = vec![self.letter()?];
        if let Some(trial) = self.take(&candidate.prefix, &mut letters)? {
            return Ok(trial);
        }
        let start = letters.len();
        let violates = match candidate.ending {
            RunEnding::Anything => self.is_violated_by_every_continuation(&letters),
            RunEnding::Deadlock => {
                let system = &mut *self.explorer.system;
                let enabled = system.enabled();
                let caller = &mut *self.caller;
                if enabled
                    .into_iter()
                    .any(|action| caller.allows(system, action))
                {
                    return Ok(Trial::Useless);
                }
                letters.push(self.letter()?);
                !self.holds(&letters, start)
            }
            RunEnding::Lap => {
                let before = self.fingerprint()?;
                if let Some(trial) = self.take(&candidate.lap, &mut letters)? {
                    return Ok(trial);
                }
                self.fingerprint()? == before && !self.holds(&letters, start)
            }
        };
        Ok(if violates {
            Trial::Violates
        } else {
            Trial::Useless
        })
    }

    /// Takes actions and records the atoms that hold after each. Returns the result of the trial if
    /// an action cannot be taken.
    fn take(
        &mut self,
        actions: &[ActionId],
        letters: &mut Vec<Letter>,
    ) -> Result<Option<Trial>, Error> {
        for action in actions {
            if !self.caller.proceed(&self.progress) {
                return Ok(Some(Trial::Stopped));
            }
            let system = &mut *self.explorer.system;
            if !system.is_enabled(*action) || !self.caller.allows(system, *action) {
                return Ok(Some(Trial::Useless));
            }
            self.progress.steps += 1;
            let mut outcome = system.step(*action);
            if self.options.check && matches!(outcome, Outcome::Passed | Outcome::Expected) {
                outcome = system.check();
            }
            match outcome {
                Outcome::Passed | Outcome::Expected => {}
                Outcome::Failed(_) => return Ok(Some(Trial::Useless)),
                Outcome::Interrupted => return Ok(Some(Trial::Stopped)),
            }
            let took = self.formula_atoms.step(system.actions(), *action);
            letters.push(self.letter()? | took);
        }
        Ok(None)
    }

    /// Returns the atoms that hold in the current state.
    fn letter(&mut self) -> Result<Letter, Error> {
        self.formula_atoms.state(self.explorer.system, self.caller)
    }

    /// Returns the fingerprint of the current state, if the system has fingerprints.
    fn fingerprint(&mut self) -> Result<Option<u128>, Error> {
        let explorer = &mut *self.explorer;
        match explorer.fingerprint {
            Some(fingerprint) => fingerprint(explorer.system, Equivalence::Equal).map(Some),
            None => Ok(None),
        }
    }

    /// Returns true if the formula holds on the run with these letters.
    fn holds(&self, letters: &[Letter], lap: usize) -> bool {
        let atoms = &self.formula_atoms.atoms;
        holds_on(self.formula, letters.len(), lap, &mut |position, atom| {
            let bit = atoms.iter().position(|other| other == atom);
            bit.is_some_and(|bit| letters[position] >> bit & 1 == 1)
        })
    }

    /// Returns true if every continuation of these letters violates the formula.
    fn is_violated_by_every_continuation(&self, letters: &[Letter]) -> bool {
        let mut nodes = self.automaton.initial.clone();
        for (position, letter) in letters.iter().enumerate() {
            if position > 0 {
                let after = |node: &u32| self.automaton.nodes[*node as usize].next.clone();
                nodes = nodes.iter().flat_map(after).collect();
                nodes.sort_unstable();
                nodes.dedup();
            }
            nodes.retain(|node| self.automaton.nodes[*node as usize].agrees(*letter));
            if nodes
                .iter()
                .any(|node| self.automaton.nodes[*node as usize].done)
            {
                // Later steps are useless, and leaving them out will show that.
                return true;
            }
        }
        false
    }
}
