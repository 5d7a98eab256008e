//! A counterexample, run again on the system and made shorter there.

use super::automaton::{Automaton, Letter};
use super::formula::Formula;
use super::judge::{Atoms, Counterexample, Ending, Vocabulary};
use super::lasso::holds_on;
use crate::explore::{Explorer, Plan, Progress};
use crate::{ActionId, Error, Likeness, Outcome, Step, System, Test};

/// What a candidate came to.
enum Trial {
    /// It violates the formula.
    Violates,
    /// It does not, or it is no run at all.
    Useless,
    /// There is no more time.
    Stopped,
}

/// All it takes to run a counterexample again.
pub(super) struct Shortener<'a, 's, S: ?Sized, K> {
    pub(super) explorer: &'a mut Explorer<'s, S, K>,
    pub(super) formula: &'a Formula,
    /// Of the formula's negation.
    pub(super) automaton: &'a Automaton,
    pub(super) vocabulary: Vocabulary,
    pub(super) caller: &'a mut dyn Atoms<S>,
    pub(super) plan: &'a Plan,
    pub(super) progress: Progress,
}

fn actions(test: &Test) -> Vec<ActionId> {
    let action = |step: &Step| match step {
        Step::Act(action) => Some(*action),
        Step::Restart => None,
    };
    test.steps.iter().filter_map(action).collect()
}

#[derive(Clone)]
struct Candidate {
    prefix: Vec<ActionId>,
    lap: Vec<ActionId>,
    ending: Ending,
}

impl Candidate {
    /// One step of the prefix less: those of the lap begin one step earlier.
    fn turned_back(&self) -> Option<Candidate> {
        let mut candidate = self.clone();
        let last = candidate.prefix.pop()?;
        if candidate.lap.last() != Some(&last) {
            return None;
        }
        candidate.lap.rotate_right(1);
        Some(candidate)
    }

    /// All that are one step shorter.
    fn shorter(&self) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = self.turned_back().into_iter().collect();
        for place in 0..self.prefix.len() {
            let mut candidate = self.clone();
            candidate.prefix.remove(place);
            candidates.push(candidate);
        }
        // A lap of no steps is none.
        for place in (0..self.lap.len()).filter(|_| self.lap.len() > 1) {
            let mut candidate = self.clone();
            candidate.lap.remove(place);
            candidates.push(candidate);
        }
        candidates
    }
}

impl<S: System + ?Sized, K> Shortener<'_, '_, S, K> {
    /// Runs a counterexample again, then leaves out steps of its prefix and its lap as long as it stays one.
    pub(super) fn shorten(mut self, rough: Counterexample) -> Result<Counterexample, Error> {
        let mut best = Candidate {
            prefix: actions(&rough.prefix),
            lap: actions(&rough.lap),
            ending: rough.ending,
        };
        match self.run(&best)? {
            Trial::Violates => {}
            Trial::Stopped => return Ok(rough),
            Trial::Useless => {
                let message = "a counterexample that was found is none when it is run again";
                let help = "a system must do the same after each reset, and states with the same fingerprint must be the same";
                return Err(Error::new(message).with_help(help));
            }
        }
        while let Some(better) = self.better(&best)? {
            best = better;
        }
        Ok(Counterexample {
            prefix: Test::of(best.prefix),
            lap: Test::of(best.lap),
            ending: best.ending,
            confirmed: true,
        })
    }

    /// The first shorter candidate that violates the formula, too, if there is time to find one.
    fn better(&mut self, best: &Candidate) -> Result<Option<Candidate>, Error> {
        for candidate in best.shorter() {
            match self.run(&candidate)? {
                Trial::Violates => return Ok(Some(candidate)),
                Trial::Useless => {}
                Trial::Stopped => return Ok(None),
            }
        }
        Ok(None)
    }

    fn run(&mut self, candidate: &Candidate) -> Result<Trial, Error> {
        self.explorer.system.reset()?;
        let mut letters = vec![self.letter()?];
        if let Some(trial) = self.take(&candidate.prefix, &mut letters)? {
            return Ok(trial);
        }
        let start = letters.len();
        let violates = match candidate.ending {
            Ending::Anything => self.cannot_be_mended(&letters),
            Ending::Deadlock => {
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
            Ending::Lap => {
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

    /// Takes some actions, and notes what holds after each; says so if that cannot be done.
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
            if self.plan.check && matches!(outcome, Outcome::Passed | Outcome::Expected) {
                outcome = system.check();
            }
            match outcome {
                Outcome::Passed | Outcome::Expected => {}
                Outcome::Failed(_) => return Ok(Some(Trial::Useless)),
                Outcome::Interrupted => return Ok(Some(Trial::Stopped)),
            }
            let took = self.vocabulary.step(system.actions(), *action);
            letters.push(self.letter()? | took);
        }
        Ok(None)
    }

    fn letter(&mut self) -> Result<Letter, Error> {
        self.vocabulary.state(self.explorer.system, self.caller)
    }

    fn fingerprint(&mut self) -> Result<Option<u128>, Error> {
        let explorer = &mut *self.explorer;
        match explorer.fingerprint {
            Some(fingerprint) => fingerprint(explorer.system, Likeness::Equal).map(Some),
            None => Ok(None),
        }
    }

    fn holds(&self, letters: &[Letter], lap: usize) -> bool {
        let atoms = &self.vocabulary.atoms;
        holds_on(self.formula, letters.len(), lap, &mut |place, atom| {
            let bit = atoms.iter().position(|other| other == atom);
            bit.is_some_and(|bit| letters[place] >> bit & 1 == 1)
        })
    }

    /// Whether the formula is violated whatever follows.
    fn cannot_be_mended(&self, letters: &[Letter]) -> bool {
        let mut nodes = self.automaton.initial.clone();
        for (place, letter) in letters.iter().enumerate() {
            if place > 0 {
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
                // Steps after this one are of no use, and leaving them out will show that.
                return true;
            }
        }
        false
    }
}
