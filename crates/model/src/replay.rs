//! Playing a run again, step by step as it was written down.

use testwright_core::Failure;
use testwright_core::product::{Joint, Label, NameId, Product, Trouble, ValueId, Words};

use crate::runs::{Choice, Chooser, Implementation, Plan, RunEnd, RunWatcher, Runs};

/// A run to play again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Which run of a suite it is, if there is a suite among the models.
    pub run: usize,
    /// The steps that somebody chose. What the implementation did by itself it has to do again.
    pub steps: Vec<(NameId, ValueId)>,
    /// Whether a state in which an invariant does not hold is a failure.
    pub check: bool,
}

/// What happened when a run was played again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The steps that were taken, and whether the implementation took them by itself.
    pub steps: Vec<(Label, bool)>,
    /// The first step that was not possible when its turn came. It was left out.
    pub left_out: Option<(NameId, ValueId)>,
    /// What was wrong.
    pub failure: Option<Failure>,
}

impl Script {
    /// Plays the run. The implementation has to be ready for it.
    ///
    /// A step that is not possible is left out, but not before the implementation had time to do something by itself that
    /// makes it possible. The run may end early, so it is no failure if the models could go on from its end; it is one if
    /// they cannot and do not accept that.
    pub fn play(
        &self,
        product: &mut Product<'_>,
        implementation: &mut dyn Implementation,
    ) -> Result<Replayed, Trouble> {
        let mut reader = Reader {
            steps: &self.steps,
            place: 0,
            left_out: None,
            could_go_on: false,
        };
        let mut recorder = Recorder::default();
        let mut runs = Runs {
            product,
            chooser: &mut reader,
            implementation: Some(implementation),
            plan: Plan {
                runs: None,
                steps: None,
                cleanup: 0,
                check: self.check,
                put_back: true,
            },
        };
        let Some(end) = runs.again(self.run, &mut recorder)? else {
            return Ok(Replayed::default());
        };
        let is_open = |failure: &Failure| failure.message == RunEnd::NOT_ACCEPTING;
        Ok(Replayed {
            steps: recorder.0,
            left_out: reader.left_out,
            failure: end.failure.filter(|failure| !is_open(failure)),
        })
    }
}

/// Makes an implementation ready for another run. What it did until now does not count any more.
pub fn make_ready(implementation: &mut dyn Implementation) -> Result<(), Trouble> {
    implementation.reset()?;
    implementation.forget()?;
    Ok(())
}

/// Picks the steps of a script.
struct Reader<'s> {
    steps: &'s [(NameId, ValueId)],
    place: usize,
    left_out: Option<(NameId, ValueId)>,
    /// Something was possible where the script was at its end.
    could_go_on: bool,
}

impl Chooser for Reader<'_> {
    fn choose(
        &mut self,
        _product: &mut Product<'_>,
        possible: &[Joint],
    ) -> Result<Option<Choice>, Trouble> {
        self.could_go_on = !possible.is_empty();
        let Some((name, arguments)) = self.steps.get(self.place).copied() else {
            return Ok(None);
        };
        let fits = |one: &Joint| (one.label.name, one.label.arguments) == (name, arguments);
        if !possible.iter().any(fits) {
            return Ok(None);
        }
        self.place += 1;
        Ok(Some(Choice {
            name,
            arguments,
            result: None,
        }))
    }

    fn has_ended(&self) -> bool {
        self.could_go_on
    }

    fn nothing_came(&mut self) -> bool {
        let Some(step) = self.steps.get(self.place) else {
            return false;
        };
        self.left_out.get_or_insert(*step);
        self.place += 1;
        true
    }
}

/// Keeps the steps that are taken.
#[derive(Default)]
struct Recorder(Vec<(Label, bool)>);

impl RunWatcher for Recorder {
    fn begins(&mut self, _run: usize) {}

    fn step(&mut self, _words: &Words, label: Label, is_observed: bool) {
        self.0.push((label, is_observed));
    }

    fn ended(&mut self, _end: &RunEnd) -> bool {
        true
    }
}
