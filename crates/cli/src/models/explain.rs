//! Failed runs of models as scenarios for readers who do not program (`--explain`).

use std::path::Path;

use testwright_core::{Failure, FailureKind};
use testwright_model::RunEnd;
use testwright_readable::block::{DocumentItem, Heading, ItemKind};
use testwright_readable::counterexample::{FailedRun, RenderedCounterexample, RunFailure, RunStep};
use testwright_readable::explain::{Actor, Options, explain};
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Phraser;

use super::log;
use crate::explanation::{ExplainedTest, error_class};
use crate::files::TextFile;

/// The parts of models that explanations of their runs use.
pub(crate) struct RunExplainer {
    /// The names of the models.
    models: Vec<String>,
    /// The introduction, from the first model that has one.
    intro: Option<String>,
    /// The invariants in English, by model.
    invariants: Vec<(String, Vec<String>)>,
}

impl RunExplainer {
    /// Reads the files of models. Files that cannot be read are left out of explanations.
    pub(crate) fn new(names: &[String]) -> RunExplainer {
        let mut explainer = RunExplainer {
            models: Vec::new(),
            intro: None,
            invariants: Vec::new(),
        };
        for name in names.iter().filter(|name| !log::is_log(name)) {
            let module = name.strip_suffix(".py").unwrap_or(name);
            let path = module.replace('.', "/") + ".py";
            let module = module.rsplit(['/', '.']).next().unwrap_or(module);
            explainer.models.push(module.to_owned());
            let Ok(file) = TextFile::read(Path::new(&path)) else {
                continue;
            };
            let Ok(explanation) = explain(&path, &file.text, &Options::default()) else {
                continue;
            };
            explainer.intro = explainer.intro.or(explanation.document.intro);
            let sections = explanation.document.sections.iter();
            let invariants = sections.filter(|section| {
                matches!(&section.heading, Heading::Plain(words) if words == "What must always be true")
            });
            let sentences = invariants
                .flat_map(|section| &section.items)
                .filter_map(sentence);
            explainer
                .invariants
                .push((module.to_owned(), sentences.collect()));
        }
        explainer
    }

    /// Renders the scenario of a run; `None` if not every Gherkin parser would read it.
    pub(crate) fn explain(&self, steps: &[RunStep], failure: &Failure) -> Option<ExplainedTest> {
        let vocabulary = Vocabulary::default();
        let phraser = Phraser::new(&vocabulary);
        ExplainedTest::new(&self.counterexample(steps, failure, None, &phraser))
    }

    /// Describes a failed run, and its steps for an actor if one performs them.
    pub(crate) fn counterexample(
        &self,
        steps: &[RunStep],
        failure: &Failure,
        actor: Option<&Actor>,
        phraser: &Phraser<'_>,
    ) -> RenderedCounterexample {
        let failed = FailedRun {
            models: &self.models,
            intro: self.intro.as_deref(),
            steps,
            failure: self.run_failure(failure),
            actor,
        };
        failed.render(phraser)
    }

    /// Returns the kind of failure in the terms of explanations.
    fn run_failure(&self, failure: &Failure) -> RunFailure {
        let message = failure.message.as_str();
        match failure.kind {
            FailureKind::Hang | FailureKind::Crash => RunFailure::NoEnd,
            FailureKind::Property if message.starts_with("a dead end") => RunFailure::DeadEnd,
            FailureKind::Property => RunFailure::Invariant(self.invariants(message)),
            FailureKind::ModelMismatch => mismatch(message),
            _ => match error_class(message) {
                Some(class) => RunFailure::Error(class),
                None => RunFailure::NoEnd,
            },
        }
    }

    /// Returns the invariants of the model that a message names, or of all models.
    fn invariants(&self, message: &str) -> Vec<String> {
        let named = message.split('`').nth(1);
        let matching = self.invariants.iter().filter(|(model, _)| match named {
            Some(name) => model == name,
            None => true,
        });
        matching
            .flat_map(|(_, sentences)| sentences.clone())
            .collect()
    }
}

/// Returns the text of an item that is a sentence.
fn sentence(item: &DocumentItem) -> Option<String> {
    match &item.kind {
        ItemKind::Sentence(text) | ItemKind::Paragraph(text) => Some(text.clone()),
        _ => None,
    }
}

/// Classifies the message of a run in which the implementation differed from the model.
fn mismatch(message: &str) -> RunFailure {
    const RAISED: &str = "stepper raised exception: ";
    let refused = [
        ", action not enabled",
        ", not in the vocabulary of any model",
    ]
    .iter()
    .find_map(|why| message.strip_suffix(why));
    if let Some(behind) = message.strip_prefix(RAISED) {
        let class = behind.split(',').next().unwrap_or_default();
        return match class {
            // The exception that a stepper gets when it takes too long.
            "TimeoutException" => RunFailure::NoEnd,
            _ => RunFailure::Error(class.to_owned()),
        };
    }
    match refused {
        Some(step) => RunFailure::Refused(step.to_owned()),
        None if message == RunEnd::NOT_ACCEPTING => RunFailure::NotAccepting,
        None if message.starts_with(RunEnd::NOTHING_LEFT) => RunFailure::DeadEnd,
        None => RunFailure::Mismatch(message.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_was_wrong() {
        let refused = |step: &str| RunFailure::Refused(step.to_owned());
        for (message, expected) in [
            ("Receive(2), action not enabled", refused("Receive(2)")),
            ("Go(), not in the vocabulary of any model", refused("Go()")),
            (
                "stepper raised exception: KeyError, 'x'",
                RunFailure::Error("KeyError".to_owned()),
            ),
            (
                "stepper raised exception: TimeoutException, the step took longer than 5 seconds",
                RunFailure::NoEnd,
            ),
            (RunEnd::NOT_ACCEPTING, RunFailure::NotAccepting),
            ("it is 3", RunFailure::Mismatch("it is 3".to_owned())),
        ] {
            assert_eq!(mismatch(message), expected);
        }
    }
}
