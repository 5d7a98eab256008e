//! Test suites: fixed lists of runs.

use testwright_core::product::{
    BlockReason, Interner, Model, ModelError, ModelState, ModelStep, NameId, Phase, StepLabel,
    ValueId,
};

use crate::Filter;

/// A list of runs, as a model.
///
/// In each state exactly one step is possible. At the end of a run none is, and only there is the
/// state accepting.
#[derive(Clone, Debug)]
pub struct RunSuite {
    name: String,
    /// Actions that the suite allows or forbids. It does not constrain others.
    vocabulary: Vec<NameId>,
    /// Steps of each run.
    runs: Vec<Vec<StepLabel>>,
    /// For each run, its first state. States are numbered through all runs; a run has one state
    /// more than steps.
    starts: Vec<u32>,
    /// True if a run may leave out steps.
    has_gaps: bool,
}

impl RunSuite {
    /// Creates a suite from its runs. Its vocabulary is the set of actions that occur in them.
    pub fn new(name: impl Into<String>, runs: Vec<Vec<StepLabel>>) -> RunSuite {
        let mut vocabulary: Vec<NameId> = Vec::new();
        for step in runs.iter().flatten() {
            if !vocabulary.contains(&step.name) {
                vocabulary.push(step.name);
            }
        }
        let starts = starts(&runs);
        RunSuite {
            name: name.into(),
            vocabulary,
            runs,
            starts,
            has_gaps: false,
        }
    }

    /// Replaces the vocabulary, which is otherwise the set of actions that occur in the runs. An
    /// action in the vocabulary that does not occur is forbidden. Each run is cut before its first
    /// action that is not in the vocabulary.
    pub fn with_vocabulary(mut self, vocabulary: Vec<NameId>) -> RunSuite {
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

    /// Cuts each run before the first action that the filter leaves out.
    pub fn filtered(mut self, interner: &Interner, filter: &Filter) -> RunSuite {
        let mut vocabulary = std::mem::take(&mut self.vocabulary);
        vocabulary.retain(|name| filter.includes_name(interner, *name));
        self.with_vocabulary(vocabulary)
    }

    /// Returns the steps of each run.
    pub fn runs(&self) -> &[Vec<StepLabel>] {
        &self.runs
    }

    /// Returns the run that a state belongs to, and the number of steps before it in that run.
    fn position(&self, state: ModelState) -> (usize, usize) {
        let after = self.starts.partition_point(|start| *start <= state.0);
        let run = after.saturating_sub(1);
        let start = self.starts.get(run).copied().unwrap_or(0);
        (run, (state.0 - start) as usize)
    }

    /// Returns the only step that is possible in a state; nothing at the end of a run. If the run may
    /// leave out steps, returns the first of each of its later steps.
    fn next_steps(&self, state: ModelState) -> Vec<ModelStep> {
        let (run, position) = self.position(state);
        let rest = self.runs.get(run).and_then(|run| run.get(position..));
        let rest = rest.unwrap_or_default();
        let count = if self.has_gaps { rest.len() } else { 1 };
        let mut steps: Vec<ModelStep> = Vec::new();
        for (label, to) in rest.iter().zip(state.0 + 1..).take(count) {
            if !steps.iter().any(|step| step.label == *label) {
                let to = ModelState(to);
                steps.push(ModelStep { label: *label, to });
            }
        }
        steps
    }
}

/// Numbers the first state of each run.
fn starts(runs: &[Vec<StepLabel>]) -> Vec<u32> {
    let mut next = 0;
    let start = |run: &Vec<StepLabel>| {
        let start = next;
        next += run.len() as u32 + 1;
        start
    };
    runs.iter().map(start).collect()
}

impl Model for RunSuite {
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

    fn start(&mut self, run: usize) -> Result<Option<ModelState>, ModelError> {
        Ok(self.starts.get(run).map(|start| ModelState(*start)))
    }

    fn possible_steps(
        &mut self,
        _interner: &mut Interner,
        from: ModelState,
        _phase: Phase,
        _offers: &[StepLabel],
    ) -> Result<Vec<ModelStep>, ModelError> {
        Ok(self.next_steps(from))
    }

    fn allow_gaps(&mut self) {
        self.has_gaps = true;
    }

    fn block_reason(
        &mut self,
        _interner: &mut Interner,
        from: ModelState,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<BlockReason>, ModelError> {
        let next: Vec<StepLabel> = self
            .next_steps(from)
            .iter()
            .map(|next| next.label)
            .collect();
        let mut labels = next.iter();
        if labels.any(|label| (label.name, label.arguments) == (name, arguments)) {
            return Ok(None);
        }
        Ok(Some(BlockReason::Scenario {
            state: self.text(from),
            allowed_steps: next,
        }))
    }

    fn block_reasons(
        &mut self,
        _interner: &mut Interner,
        _from: ModelState,
        _offers: &[StepLabel],
    ) -> Result<Vec<(NameId, ValueId, BlockReason)>, ModelError> {
        // A suite forbids nothing beyond what it does not offer, so there is nothing to list.
        Ok(Vec::new())
    }

    fn perform(
        &mut self,
        _interner: &mut Interner,
        from: ModelState,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<ModelStep>, ModelError> {
        let mut steps = self.next_steps(from);
        let is_meant = |label: StepLabel| {
            label.name == name && (label.is_wildcard() || label.arguments == arguments)
        };
        steps.retain(|step| !self.has_gaps || is_meant(step.label));
        Ok(steps)
    }

    fn lists_arguments(&self, name: NameId) -> bool {
        let mut steps = self.runs.iter().flatten();
        !steps.any(|step| step.name == name && step.is_wildcard())
            && self.vocabulary.contains(&name)
    }

    fn is_accepting(&self, state: ModelState) -> bool {
        let (run, position) = self.position(state);
        self.runs.get(run).is_none_or(|run| position >= run.len())
    }

    fn is_safe(&self, _state: ModelState) -> bool {
        true
    }

    fn text(&self, state: ModelState) -> String {
        let (run, position) = self.position(state);
        format!("({run}, {position})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_gaps_goes_on_with_the_first_of_its_later_steps() {
        let label = |name| StepLabel {
            name: NameId(name),
            arguments: ValueId(7),
            result: ValueId(7),
        };
        let run = vec![label(0), label(1), label(0), label(2)];
        let mut suite = RunSuite::new("suite", vec![vec![label(1)], run]);
        let next = |suite: &RunSuite, state| -> Vec<(u32, u32)> {
            let steps = suite.next_steps(ModelState(state)).into_iter();
            steps.map(|step| (step.label.name.0, step.to.0)).collect()
        };
        assert_eq!(next(&suite, 2), [(0, 3)]);
        suite.allow_gaps();
        assert_eq!(next(&suite, 2), [(0, 3), (1, 4), (2, 6)]);
        assert_eq!(next(&suite, 4), [(0, 5), (2, 6)]);
        assert_eq!(next(&suite, 0), [(1, 1)], "another run");
        assert_eq!(next(&suite, 6), []);
    }
}
