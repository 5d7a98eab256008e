//! A chooser that plays runs made beforehand.

use testwright_core::product::{JointStep, ModelError, Product, StepLabel};

use crate::runs::{Chooser, ChosenStep};

/// Chooser that plays given runs, one after the other. A step that is not possible ends its run.
#[derive(Clone, Debug, Default)]
pub struct Playlist {
    /// Steps of each run.
    runs: Vec<Vec<StepLabel>>,
    /// Index of the current run.
    run: usize,
    /// Index of the next step in the current run.
    next: usize,
}

impl Playlist {
    /// Creates a playlist of these runs.
    pub fn new(runs: Vec<Vec<StepLabel>>) -> Playlist {
        Playlist {
            runs,
            ..Playlist::default()
        }
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns true if there are no runs.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

impl Chooser for Playlist {
    fn begin_run(&mut self, run: usize) {
        (self.run, self.next) = (run, 0);
    }

    fn is_finished(&self) -> bool {
        let run = self.runs.get(self.run);
        run.is_none_or(|run| self.next >= run.len())
    }

    fn choose(
        &mut self,
        _product: &mut Product<'_>,
        possible: &[JointStep],
    ) -> Result<Option<ChosenStep>, ModelError> {
        let next = self.runs.get(self.run).and_then(|run| run.get(self.next));
        let is_possible = |next: &&StepLabel| {
            let mut labels = possible.iter().map(|one| one.label);
            labels.any(|label| (label.name, label.arguments) == (next.name, next.arguments))
        };
        let Some(label) = next.filter(is_possible) else {
            return Ok(None);
        };
        self.next += 1;
        Ok(Some(ChosenStep {
            name: label.name,
            arguments: label.arguments,
            result: Some(label.result),
        }))
    }
}
