//! A walk on which an implementation comes along.
//!
//! What is done to the models is done to the implementation, too, and what it does by itself happens to the models: that
//! is no step of a test, since nobody chooses it.

use testwright_core::product::{Joint, Label, NameId, Place, Trouble, ValueId};
use testwright_core::{ActionId, Error, Outcome};

use super::{Walk, failure_of};
use crate::mismatch::mismatch;
use crate::refused::refusal;
use crate::replay::make_ready;
use crate::runs::Implementation;

/// What is tested.
pub(super) struct Companion<'m> {
    implementation: Box<dyn Implementation + 'm>,
    /// It has done something since it was made ready.
    is_used: bool,
    /// What it has done by itself, until somebody asks.
    observed: Vec<ActionId>,
}

impl<'m> Walk<'_, 'm> {
    /// From now on, an implementation does the same. It has to be ready for a run.
    pub fn take_along(&mut self, implementation: Box<dyn Implementation + 'm>) {
        self.companion = Some(Companion {
            implementation,
            is_used: false,
            observed: Vec::new(),
        });
    }

    /// What the implementation has done by itself and the models allowed, since this was last asked.
    pub fn take_observed(&mut self) -> Vec<ActionId> {
        let companion = self.companion.as_mut();
        companion.map_or_else(Vec::new, |one| std::mem::take(&mut one.observed))
    }

    /// Makes the implementation ready for another run. One that has done nothing yet is.
    pub(super) fn ready_companion(&mut self) -> Result<(), Error> {
        let Some(companion) = self.companion.as_mut().filter(|one| one.is_used) else {
            return Ok(());
        };
        companion.is_used = false;
        companion.observed.clear();
        match make_ready(&mut *companion.implementation) {
            Ok(()) | Err(Trouble::Interrupted) => Ok(()),
            Err(Trouble::Unusable(error)) => Err(error),
            Err(trouble) => {
                let mut message = trouble.to_string();
                for line in failure_of(&trouble).details.lines() {
                    message.push_str("\n  ");
                    message.push_str(line);
                }
                Err(Error::new(message))
            }
        }
    }

    /// Takes a step together with the implementation, and then what that does by itself. Nothing means that all is well.
    pub(super) fn step_together(&mut self, action: ActionId) -> Option<Outcome> {
        self.companion.as_ref()?;
        let chosen = self.chosen(action);
        let fits = |one: &&Joint| Some((one.label.name, one.label.arguments)) == chosen;
        let possible: Vec<Joint> = self.joints().filter(fits).cloned().collect();
        // If the models leave open what comes of it, the first answer is as good as others.
        let label = possible.first()?.label;
        let to = possible.into_iter().filter(|one| one.label == label);
        let mut after: Vec<Vec<Place>> = to.map(|one| one.to).collect();
        after.sort_unstable();
        after.dedup();
        self.taken.note(&self.states, action);
        self.go(after);
        self.act(label)
            .and_then(|wrong| match wrong {
                Some(wrong) => Ok(Some(wrong)),
                None => self.listen(),
            })
            .unwrap_or_else(|trouble| Some(outcome_of(&trouble)))
    }

    fn act(&mut self, label: Label) -> Result<Option<Outcome>, Trouble> {
        let Some(companion) = &mut self.companion else {
            return Ok(None);
        };
        companion.is_used = true;
        let words = self.product.words();
        let wrong = companion.implementation.act(words, label)?;
        let name = words.name_text(label.name);
        Ok(wrong.map(|why| Outcome::Failed(Box::new(mismatch(name, why)))))
    }

    /// Lets happen what the implementation has done by itself, and waits for it if nothing else is possible.
    pub(super) fn listen(&mut self) -> Result<Option<Outcome>, Trouble> {
        while let Some(companion) = &mut self.companion {
            let implementation = &mut companion.implementation;
            if let Some((name, arguments)) = implementation.observed(self.product.words_mut())? {
                if let Some(wrong) = self.observe(name, arguments)? {
                    return Ok(Some(wrong));
                }
                continue;
            }
            if self.joints().next().is_some() || self.trouble.is_some() {
                break;
            }
            let Some(companion) = &mut self.companion else {
                break;
            };
            if companion.implementation.wait()? != Some(true) {
                break;
            }
        }
        Ok(None)
    }

    fn observe(&mut self, name: NameId, arguments: ValueId) -> Result<Option<Outcome>, Trouble> {
        let mut states = self.states.clone();
        if let Some(failure) = refusal(self.product, &mut states, name, arguments)? {
            return Ok(Some(Outcome::Failed(Box::new(failure))));
        }
        let mut after = Vec::new();
        for state in &states {
            let ways = self.product.perform(state, name, arguments)?;
            after.extend(ways.into_iter().map(|one| one.to));
        }
        after.sort_unstable();
        after.dedup();
        let action = self.action(name, arguments)?;
        self.taken.note(&states, action);
        self.go(after);
        if let Some(companion) = &mut self.companion {
            companion.observed.push(action);
        }
        Ok(None)
    }
}

fn outcome_of(trouble: &Trouble) -> Outcome {
    match trouble {
        Trouble::Interrupted => Outcome::Interrupted,
        trouble => Outcome::Failed(Box::new(failure_of(trouble))),
    }
}
