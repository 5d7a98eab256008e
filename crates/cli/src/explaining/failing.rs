//! A failing test as a scenario that people read who do not program (`--explain`).

use testwright_core::{Catalog, Failure, FailureKind, Test};
use testwright_lang::Harness;
use testwright_readable::counterexample::{Acts, Counterexample, Failing, Taken, Violation};
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Speaker;

use super::{Explained, error_class};
use crate::files::TextFile;
use crate::models::RunExplaining;
use crate::report;
use crate::source::Read;

/// What is known to people of what is tested.
pub(crate) enum Explaining {
    Harness(HarnessExplaining),
    Models(RunExplaining),
}

impl Explaining {
    /// What is known of a harness or of models.
    pub(crate) fn of(read: &Read) -> Explaining {
        match read {
            Read::Harness(read) => Explaining::Harness(HarnessExplaining::new(&read.0, &read.1)),
            Read::Models(names) => Explaining::Models(RunExplaining::new(names)),
        }
    }

    /// The scenario of a test; nothing if not every parser would read it.
    pub(crate) fn explain(
        &self,
        catalog: &Catalog,
        test: &Test,
        failure: &Failure,
    ) -> Option<Explained> {
        let steps = report::step_texts(catalog, test);
        match self {
            Explaining::Harness(harness) => harness.explain(&steps, failure),
            Explaining::Models(models) => {
                let taken = |text: String| Taken {
                    text,
                    is_observed: false,
                };
                let steps: Vec<Taken> = steps.into_iter().map(taken).collect();
                models.explain(&steps, failure)
            }
        }
    }
}

/// What is known of a harness to people.
pub(crate) struct HarnessExplaining {
    name: String,
    /// The comment that it begins with.
    comment: Vec<String>,
    pools: Vec<String>,
}

impl HarnessExplaining {
    pub(crate) fn new(file: &TextFile, harness: &Harness) -> HarnessExplaining {
        let lines = file.text.lines().take_while(|line| line.starts_with('#'));
        let stem = file.path.file_stem().unwrap_or_default();
        HarnessExplaining {
            name: stem.to_string_lossy().into_owned(),
            comment: lines
                .map(|line| line.trim_start_matches('#').trim().to_owned())
                .collect(),
            pools: harness.pools.iter().map(|pool| pool.name.clone()).collect(),
        }
    }

    fn explain(&self, steps: &[String], failure: &Failure) -> Option<Explained> {
        let vocabulary = Vocabulary::default();
        Explained::new(&self.tell(steps, failure, None, &Speaker::new(&vocabulary)))
    }

    /// A test that fails, and what its steps do if that is known.
    pub(crate) fn tell(
        &self,
        steps: &[String],
        failure: &Failure,
        acts: Option<&Acts>,
        speaker: &Speaker<'_>,
    ) -> Counterexample {
        let failing = Failing {
            harness: &self.name,
            comment: &self.comment,
            pools: &self.pools,
            steps,
            violation: violation(failure),
            acts,
        };
        failing.tell(speaker)
    }
}

/// What the message of a failure says was violated.
fn violation(failure: &Failure) -> Violation {
    let quoted: Vec<&str> = failure.message.split('`').skip(1).step_by(2).collect();
    let is_false = failure.message.contains("` is false");
    match (failure.kind, quoted.as_slice()) {
        (FailureKind::Property, [check, ..]) if is_false => Violation::Check((*check).to_owned()),
        (FailureKind::PostCondition, [_, check, ..]) => Violation::Check((*check).to_owned()),
        (FailureKind::ReferenceMismatch | FailureKind::ExceptionMismatch, _) => {
            Violation::Reference
        }
        (FailureKind::Hang | FailureKind::Crash | FailureKind::PoolType, _) => {
            Violation::Error(None)
        }
        _ => Violation::Error(error_class(&failure.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: FailureKind, message: &str) -> Violation {
        violation(&Failure {
            kind,
            message: message.to_owned(),
            signature: String::new(),
            details: String::new(),
        })
    }

    #[test]
    fn messages_say_what_was_violated() {
        let check = |text: &str| Violation::Check(text.to_owned());
        let error = |name: &str| Violation::Error(Some(name.to_owned()));
        assert_eq!(
            of(FailureKind::Property, "`a == b` is false"),
            check("a == b")
        );
        assert_eq!(
            of(FailureKind::Property, "`a == b` raised KeyError: 3"),
            error("KeyError")
        );
        assert_eq!(
            of(
                FailureKind::PostCondition,
                "after `f(x)`, `x > 1` is false: why"
            ),
            check("x > 1")
        );
        assert_eq!(
            of(FailureKind::UncaughtException, "shop.NoSuchThing: 3"),
            error("NoSuchThing")
        );
        assert_eq!(
            of(FailureKind::UncaughtException, "AssertionError in `f(x)`"),
            error("AssertionError")
        );
        assert_eq!(
            of(FailureKind::ReferenceMismatch, "`f(x)` gave 1"),
            Violation::Reference
        );
        assert_eq!(
            of(FailureKind::Hang, "`f(x)` takes too long"),
            Violation::Error(None)
        );
    }
}
