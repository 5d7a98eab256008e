//! Runs of models that failed, as scenarios that people read who do not program (`--explain`).

use std::path::Path;

use testwright_core::{Failure, FailureKind};
use testwright_model::RunEnd;
use testwright_readable::block::{Heading, Item, ItemKind};
use testwright_readable::counterexample::{Counterexample, FailedRun, RunFailure, Taken};
use testwright_readable::explain::{Actor, Options, explain};
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Speaker;

use super::log;
use crate::explaining::{Explained, error_class};
use crate::files::TextFile;

/// What is known of models to people.
pub(crate) struct RunExplaining {
    models: Vec<String>,
    intro: Option<String>,
    /// What must always be true, by model.
    always: Vec<(String, Vec<String>)>,
}

impl RunExplaining {
    /// Reads the files of models. What cannot be read is not spoken of.
    pub(crate) fn new(names: &[String]) -> RunExplaining {
        let mut known = RunExplaining {
            models: Vec::new(),
            intro: None,
            always: Vec::new(),
        };
        for name in names.iter().filter(|name| !log::is_log(name)) {
            let module = name.strip_suffix(".py").unwrap_or(name);
            let path = module.replace('.', "/") + ".py";
            let module = module.rsplit(['/', '.']).next().unwrap_or(module);
            known.models.push(module.to_owned());
            let Ok(file) = TextFile::read(Path::new(&path)) else {
                continue;
            };
            let Ok(told) = explain(&path, &file.text, &Options::default()) else {
                continue;
            };
            known.intro = known.intro.or(told.document.intro);
            let sections = told.document.sections.iter();
            let always = sections.filter(|section| {
                matches!(&section.heading, Heading::Plain(words) if words == "What must always be true")
            });
            let sentences = always
                .flat_map(|section| &section.items)
                .filter_map(sentence);
            known.always.push((module.to_owned(), sentences.collect()));
        }
        known
    }

    /// The scenario of a run; nothing if not every parser would read it.
    pub(crate) fn explain(&self, steps: &[Taken], failure: &Failure) -> Option<Explained> {
        let vocabulary = Vocabulary::default();
        let speaker = Speaker::new(&vocabulary);
        Explained::new(&self.tell(steps, failure, None, &speaker))
    }

    /// A run that failed, and what it does if somebody is to do it.
    pub(crate) fn tell(
        &self,
        steps: &[Taken],
        failure: &Failure,
        actor: Option<&Actor>,
        speaker: &Speaker<'_>,
    ) -> Counterexample {
        let failed = FailedRun {
            models: &self.models,
            intro: self.intro.as_deref(),
            steps,
            failure: self.what_was_wrong(failure),
            actor,
        };
        failed.tell(speaker)
    }

    fn what_was_wrong(&self, failure: &Failure) -> RunFailure {
        let message = failure.message.as_str();
        match failure.kind {
            FailureKind::Hang | FailureKind::Crash => RunFailure::NoEnd,
            FailureKind::Property if message.starts_with("a dead end") => RunFailure::DeadEnd,
            FailureKind::Property => RunFailure::Invariant(self.always(message)),
            FailureKind::ModelMismatch => mismatch(message),
            _ => match error_class(message) {
                Some(class) => RunFailure::Error(class),
                None => RunFailure::NoEnd,
            },
        }
    }

    /// What must always be true in the model that a message names, or in all.
    fn always(&self, message: &str) -> Vec<String> {
        let named = message.split('`').nth(1);
        let of_it = self.always.iter().filter(|(model, _)| match named {
            Some(name) => model == name,
            None => true,
        });
        of_it.flat_map(|(_, sentences)| sentences.clone()).collect()
    }
}

fn sentence(item: &Item) -> Option<String> {
    match &item.kind {
        ItemKind::Sentence(text) | ItemKind::Paragraph(text) => Some(text.clone()),
        _ => None,
    }
}

/// What the message of a run says that the implementation did.
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
            // This is what a stepper is told that takes too long.
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
