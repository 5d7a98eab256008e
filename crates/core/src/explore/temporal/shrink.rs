//! Confirmation and shrinking of a counterexample on the system.

use super::automaton::{Automaton, Letter};
use super::formula::Formula;
use super::judge::{AtomEvaluator, Counterexample, FormulaAtoms, RunEnding};
use super::lasso::holds_on_lasso;
use crate::explore::{ExploreOptions, ExploreProgress, Explorer};
use crate::{ActionId, Equivalence, Error, Outcome, Step, System, Test};

/// The result of running a candidate.
enum CandidateResult {
    /// It violates the formula.
    Violates,
    /// It does not violate the formula, or it is not a possible run.
    NoViolation,
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
    pub(super) evaluator: &'a mut dyn AtomEvaluator<S>,
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
    cycle: Vec<ActionId>,
    ending: RunEnding,
}

impl CandidateRun {
    /// Returns the run with the last step of the prefix moved into the cycle, if the cycle ends with
    /// the same step.
    fn rotate_into_cycle(&self) -> Option<CandidateRun> {
        let mut candidate = self.clone();
        let last = candidate.prefix.pop()?;
        if candidate.cycle.last() != Some(&last) {
            return None;
        }
        candidate.cycle.rotate_right(1);
        Some(candidate)
    }

    /// Returns all candidates that are one step shorter.
    fn shorter_candidates(&self) -> Vec<CandidateRun> {
        let mut candidates: Vec<CandidateRun> = self.rotate_into_cycle().into_iter().collect();
        for position in 0..self.prefix.len() {
            let mut candidate = self.clone();
            candidate.prefix.remove(position);
            candidates.push(candidate);
        }
        // A cycle has at least one step.
        for position in (0..self.cycle.len()).filter(|_| self.cycle.len() > 1) {
            let mut candidate = self.clone();
            candidate.cycle.remove(position);
            candidates.push(candidate);
        }
        candidates
    }
}

impl<S: System + ?Sized, K> CounterexampleShrinker<'_, '_, S, K> {
    /// Confirms a counterexample, then leaves out steps of its prefix and cycle as long as it stays
    /// one.
    pub(super) fn shrink(mut self, found: Counterexample) -> Result<Counterexample, Error> {
        let mut best = CandidateRun {
            prefix: actions(&found.prefix),
            cycle: actions(&found.cycle),
            ending: found.ending,
        };
        match self.run(&best)? {
            CandidateResult::Violates => {}
            CandidateResult::Stopped => return Ok(found),
            CandidateResult::NoViolation => {
                let message = "a counterexample does not violate the formula when it is run again";
                let help = "a system must do the same after each reset, and states with the same fingerprint must be the same";
                return Err(Error::new(message).with_help(help));
            }
        }
        while let Some(better) = self.find_shorter(&best)? {
            best = better;
        }
        Ok(Counterexample {
            prefix: Test::from_actions(best.prefix),
            cycle: Test::from_actions(best.cycle),
            ending: best.ending,
            confirmed: true,
        })
    }

    /// Finds the first shorter candidate that violates the formula too, if there is time.
    fn find_shorter(&mut self, best: &CandidateRun) -> Result<Option<CandidateRun>, Error> {
        for candidate in best.shorter_candidates() {
            match self.run(&candidate)? {
                CandidateResult::Violates => return Ok(Some(candidate)),
                CandidateResult::NoViolation => {}
                CandidateResult::Stopped => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Runs a candidate on the system and judges it.
    fn run(&mut self, candidate: &CandidateRun) -> Result<CandidateResult, Error> {
        self.explorer.system.reset()?;
        let mut letters = vec![self.current_letter()?];
        if let Some(trial) = self.take_actions(&candidate.prefix, &mut letters)? {
            return Ok(trial);
        }
        let start = letters.len();
        let violates = match candidate.ending {
            RunEnding::AnyContinuation => self.is_violated_by_every_continuation(&letters),
            RunEnding::Deadlock => {
                let system = &mut *self.explorer.system;
                let enabled = system.enabled();
                let caller = &mut *self.evaluator;
                if enabled
                    .into_iter()
                    .any(|action| caller.allows(system, action))
                {
                    return Ok(CandidateResult::NoViolation);
                }
                letters.push(self.current_letter()?);
                !self.holds(&letters, start)
            }
            RunEnding::Cycle => {
                let before = self.fingerprint()?;
                if let Some(trial) = self.take_actions(&candidate.cycle, &mut letters)? {
                    return Ok(trial);
                }
                self.fingerprint()? == before && !self.holds(&letters, start)
            }
        };
        Ok(if violates {
            CandidateResult::Violates
        } else {
            CandidateResult::NoViolation
        })
    }

    /// Takes actions and records the atoms that hold after each. Returns the result of the trial if
    /// an action cannot be taken.
    fn take_actions(
        &mut self,
        actions: &[ActionId],
        letters: &mut Vec<Letter>,
    ) -> Result<Option<CandidateResult>, Error> {
        for action in actions {
            if !self.evaluator.proceed(&self.progress) {
                return Ok(Some(CandidateResult::Stopped));
            }
            let system = &mut *self.explorer.system;
            if !system.is_enabled(*action) || !self.evaluator.allows(system, *action) {
                return Ok(Some(CandidateResult::NoViolation));
            }
            self.progress.steps += 1;
            let mut outcome = system.step(*action);
            if self.options.check && matches!(outcome, Outcome::Passed | Outcome::Expected) {
                outcome = system.check();
            }
            match outcome {
                Outcome::Passed | Outcome::Expected => {}
                Outcome::Failed(_) => return Ok(Some(CandidateResult::NoViolation)),
                Outcome::Interrupted => return Ok(Some(CandidateResult::Stopped)),
            }
            let took = self.formula_atoms.step_letter(system.actions(), *action);
            letters.push(self.current_letter()? | took);
        }
        Ok(None)
    }

    /// Returns the atoms that hold in the current state.
    fn current_letter(&mut self) -> Result<Letter, Error> {
        self.formula_atoms
            .state_letter(self.explorer.system, self.evaluator)
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
    fn holds(&self, letters: &[Letter], cycle_start: usize) -> bool {
        let atoms = &self.formula_atoms.atoms;
        holds_on_lasso(
            self.formula,
            letters.len(),
            cycle_start,
            &mut |position, atom| {
                let bit = atoms.iter().position(|other| other == atom);
                bit.is_some_and(|bit| letters[position] >> bit & 1 == 1)
            },
        )
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
                .any(|node| self.automaton.nodes[*node as usize].accepts_everything)
            {
                // Later steps are useless, and leaving them out will show that.
                return true;
            }
        }
        false
    }
}
