//! Runs that were made beforehand, to be played one after the other.

use testwright_core::product::{Joint, Label, Product, Trouble};

use crate::runs::{Choice, Chooser};

/// Picks steps as runs say that were made before. One that is not possible any more ends its run.
#[derive(Clone, Debug, Default)]
pub struct Playlist {
    runs: Vec<Vec<Label>>,
    run: usize,
    place: usize,
}

impl Playlist {
    /// These runs, one after the other.
    pub fn new(runs: Vec<Vec<Label>>) -> Playlist {
        Playlist {
            runs,
            ..Playlist::default()
        }
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

impl Chooser for Playlist {
    fn begins(&mut self, run: usize) {
        (self.run, self.place) = (run, 0);
    }

    fn has_ended(&self) -> bool {
        let run = self.runs.get(self.run);
        run.is_none_or(|run| self.place >= run.len())
    }

    fn choose(
        &mut self,
        _product: &mut Product<'_>,
        possible: &[Joint],
    ) -> Result<Option<Choice>, Trouble> {
        let next = self.runs.get(self.run).and_then(|run| run.get(self.place));
        let is_possible = |next: &&Label| {
            let mut labels = possible.iter().map(|one| one.label);
            labels.any(|label| (label.name, label.arguments) == (next.name, next.arguments))
        };
        let Some(label) = next.filter(is_possible) else {
            return Ok(None);
        };
        self.place += 1;
        Ok(Some(Choice {
            name: label.name,
            arguments: label.arguments,
            result: Some(label.result),
        }))
    }
}
