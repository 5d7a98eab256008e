//! Failing tests as scenarios for readers who do not program (`--explain`).

use testwright_core::{Catalog, Failure, FailureKind, Test};
use testwright_lang::Harness;
use testwright_readable::counterexample::{
    FailedTest, FailureCause, RenderedCounterexample, RunStep, TestCode,
};
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Phraser;

use super::{ExplainedTest, error_class};
use crate::files::TextFile;
use crate::models::RunExplainer;
use crate::report;
use crate::source::LoadedSource;

/// The parts of a harness or of models that explanations of their tests use.
pub(crate) enum TestExplainer {
    Harness(HarnessExplainer),
    Models(RunExplainer),
}

impl TestExplainer {
    /// Collects these parts.
    pub(crate) fn new(read: &LoadedSource) -> TestExplainer {
        match read {
            LoadedSource::Harness(read) => {
                TestExplainer::Harness(HarnessExplainer::new(&read.0, &read.1))
            }
            LoadedSource::Models(names) => TestExplainer::Models(RunExplainer::new(names)),
        }
    }

    /// Explains a failing test; `None` if not every Gherkin parser would read it.
    pub(crate) fn explain(
        &self,
        catalog: &Catalog,
        test: &Test,
        failure: &Failure,
    ) -> Option<ExplainedTest> {
        let steps = report::step_texts(catalog, test);
        match self {
            TestExplainer::Harness(harness) => harness.explain(&steps, failure),
            TestExplainer::Models(models) => {
                let taken = |text: String| RunStep {
                    text,
                    is_observed: false,
                };
                let steps: Vec<RunStep> = steps.into_iter().map(taken).collect();
                models.explain(&steps, failure)
            }
        }
    }
}

/// The parts of a harness that explanations of its tests use.
pub(crate) struct HarnessExplainer {
    /// The name of the harness file, without its ending.
    name: String,
    /// The comment at the beginning of the file.
    comment: Vec<String>,
    /// The names of the pools.
    pools: Vec<String>,
}

impl HarnessExplainer {
    /// Collects these parts.
    pub(crate) fn new(file: &TextFile, harness: &Harness) -> HarnessExplainer {
        let lines = file.text.lines().take_while(|line| line.starts_with('#'));
        let stem = file.path.file_stem().unwrap_or_default();
        HarnessExplainer {
            name: stem.to_string_lossy().into_owned(),
            comment: lines
                .map(|line| line.trim_start_matches('#').trim().to_owned())
                .collect(),
            pools: harness.pools.iter().map(|pool| pool.name.clone()).collect(),
        }
    }

    /// Explains a failing test.
    fn explain(&self, steps: &[String], failure: &Failure) -> Option<ExplainedTest> {
        let vocabulary = Vocabulary::default();
        ExplainedTest::new(&self.counterexample(steps, failure, None, &Phraser::new(&vocabulary)))
    }

    /// Describes a failing test, and its steps in English if their meaning is known.
    pub(crate) fn counterexample(
        &self,
        steps: &[String],
        failure: &Failure,
        acts: Option<&TestCode>,
        phraser: &Phraser<'_>,
    ) -> RenderedCounterexample {
        let failing = FailedTest {
            harness: &self.name,
            comment: &self.comment,
            pools: &self.pools,
            steps,
            cause: violation(failure),
            code: acts,
        };
        failing.render(phraser)
    }
}

/// Finds the violated condition in the message of a failure.
fn violation(failure: &Failure) -> FailureCause {
    let quoted: Vec<&str> = failure.message.split('`').skip(1).step_by(2).collect();
    let is_false = failure.message.contains("` is false");
    match (failure.kind, quoted.as_slice()) {
        (FailureKind::Property, [check, ..]) if is_false => {
            FailureCause::Check((*check).to_owned())
        }
        (FailureKind::PostCondition, [_, check, ..]) => FailureCause::Check((*check).to_owned()),
        (FailureKind::ReferenceMismatch | FailureKind::ExceptionMismatch, _) => {
            FailureCause::Reference
        }
        (FailureKind::Hang | FailureKind::Crash | FailureKind::PoolType, _) => {
            FailureCause::Error(None)
        }
        _ => FailureCause::Error(error_class(&failure.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_failure(kind: FailureKind, message: &str) -> FailureCause {
        violation(&Failure {
            kind,
            message: message.to_owned(),
            signature: String::new(),
            details: String::new(),
        })
    }

    #[test]
    fn messages_say_what_was_violated() {
        let check = |text: &str| FailureCause::Check(text.to_owned());
        let error = |name: &str| FailureCause::Error(Some(name.to_owned()));
        assert_eq!(
            from_failure(FailureKind::Property, "`a == b` is false"),
            check("a == b")
        );
        assert_eq!(
            from_failure(FailureKind::Property, "`a == b` raised KeyError: 3"),
            error("KeyError")
        );
        assert_eq!(
            from_failure(
                FailureKind::PostCondition,
                "after `f(x)`, `x > 1` is false: why"
            ),
            check("x > 1")
        );
        assert_eq!(
            from_failure(FailureKind::UncaughtException, "shop.NoSuchThing: 3"),
            error("NoSuchThing")
        );
        assert_eq!(
            from_failure(FailureKind::UncaughtException, "AssertionError in `f(x)`"),
            error("AssertionError")
        );
        assert_eq!(
            from_failure(FailureKind::ReferenceMismatch, "`f(x)` gave 1"),
            FailureCause::Reference
        );
        assert_eq!(
            from_failure(FailureKind::Hang, "`f(x)` takes too long"),
            FailureCause::Error(None)
        );
    }
}
