//! Runs that are written down.

use testwright_core::product::{
    Label, Model, Move, NameId, Phase, Place, Refusal, Trouble, ValueId, Words,
};

use crate::Filter;

/// A list of runs. In each state one step is possible, or none at the end of a run, which is where it is accepting.
#[derive(Clone, Debug)]
pub struct Suite {
    name: String,
    vocabulary: Vec<NameId>,
    runs: Vec<Vec<Label>>,
    /// By run: the place where it begins. Places are numbered through all runs; a run has one more than steps.
    starts: Vec<u32>,
}

impl Suite {
    /// These runs.
    pub fn new(name: impl Into<String>, runs: Vec<Vec<Label>>) -> Suite {
        let mut vocabulary: Vec<NameId> = Vec::new();
        for step in runs.iter().flatten() {
            if !vocabulary.contains(&step.name) {
                vocabulary.push(step.name);
            }
        }
        let starts = starts(&runs);
        Suite {
            name: name.into(),
            vocabulary,
            runs,
            starts,
        }
    }

    /// The same with these actions instead of those that occur in it. Naming one that does not occur forbids it; each
    /// run is cut before the first that is not named.
    pub fn with_vocabulary(mut self, vocabulary: Vec<NameId>) -> Suite {
        self.vocabulary = vocabulary;
        for run in &mut self.runs {
            let known = run
                .iter()
                .take_while(|step| self.vocabulary.contains(&step.name))
                .count();
            run.truncate(known);
        }
        self.starts = starts(&self.runs);
        self
    }

    /// The same, each run cut before the first action that the filter leaves out.
    pub fn filtered(mut self, words: &Words, filter: &Filter) -> Suite {
        let mut vocabulary = std::mem::take(&mut self.vocabulary);
        vocabulary.retain(|name| filter.keeps_name(words, *name));
        self.with_vocabulary(vocabulary)
    }

    /// The runs.
    pub fn runs(&self) -> &[Vec<Label>] {
        &self.runs
    }

    /// The run and the position in it that a place stands for.
    fn position(&self, place: Place) -> (usize, usize) {
        let after = self.starts.partition_point(|start| *start <= place.0);
        let run = after.saturating_sub(1);
        let start = self.starts.get(run).copied().unwrap_or(0);
        (run, (place.0 - start) as usize)
    }

    fn next(&self, place: Place) -> Option<Move> {
        let (run, position) = self.position(place);
        let label = *self.runs.get(run)?.get(position)?;
        Some(Move {
            label,
            to: Place(place.0 + 1),
        })
    }
}

fn starts(runs: &[Vec<Label>]) -> Vec<u32> {
    let mut next = 0;
    let start = |run: &Vec<Label>| {
        let start = next;
        next += run.len() as u32 + 1;
        start
    };
    runs.iter().map(start).collect()
}

impl Model for Suite {
    fn name(&self) -> &str {
        &self.name
    }

    fn vocabulary(&self) -> &[NameId] {
        &self.vocabulary
    }

    fn is_scenario(&self) -> bool {
        true
    }

    fn runs(&self) -> Option<usize> {
        Some(self.runs.len())
    }

    fn is_suite(&self) -> bool {
        true
    }

    fn start(&mut self, run: usize) -> Result<Option<Place>, Trouble> {
        Ok(self.starts.get(run).map(|start| Place(*start)))
    }

    fn moves(
        &mut self,
        _words: &mut Words,
        from: Place,
        _phase: Phase,
        _offers: &[Label],
    ) -> Result<Vec<Move>, Trouble> {
        Ok(self.next(from).into_iter().collect())
    }

    fn refusal(
        &mut self,
        _words: &mut Words,
        from: Place,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<Refusal>, Trouble> {
        let next = self.next(from).map(|next| next.label);
        if next.is_some_and(|label| (label.name, label.arguments) == (name, arguments)) {
            return Ok(None);
        }
        Ok(Some(Refusal::Scenario {
            state: self.text(from),
            instead: next.into_iter().collect(),
        }))
    }

    fn refusals(
        &mut self,
        _words: &mut Words,
        _from: Place,
        _offers: &[Label],
    ) -> Result<Vec<(NameId, ValueId, Refusal)>, Trouble> {
        // All that it has to say is what it allows.
        Ok(Vec::new())
    }

    fn perform(
        &mut self,
        _words: &mut Words,
        from: Place,
        _name: NameId,
        _arguments: ValueId,
    ) -> Result<Vec<Move>, Trouble> {
        Ok(self.next(from).into_iter().collect())
    }

    fn is_accepting(&self, place: Place) -> bool {
        let (run, position) = self.position(place);
        self.runs.get(run).is_none_or(|run| position >= run.len())
    }

    fn is_safe(&self, _place: Place) -> bool {
        true
    }

    fn text(&self, place: Place) -> String {
        let (run, position) = self.position(place);
        format!("({run}, {position})")
    }
}
