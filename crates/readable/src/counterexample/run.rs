//! Counterexamples of models: a failed run with its steps, the answers that the model expects, and
//! the failure.

mod executable;

use testwright_source::tree::{self, ExpressionKind};

use super::RenderedCounterexample;
use crate::explain::Actor;
use crate::gherkin::{Description, Feature, Scenario, ScenarioStep, StepKeyword};
use crate::mermaid::{DiagramMessage, SequenceDiagram};
use crate::phrase::{Phraser, join};
use crate::property::{RenderedFeature, StepSentence, call_text};
use crate::quotation;
use crate::term::{CallTarget, CallTerm, EmptyScope, Term};
use crate::words::capitalise;

/// A failed run of one or several models.
#[derive(Debug, Clone)]
pub struct FailedRun<'a> {
    /// The names of the models.
    pub models: &'a [String],
    /// The description of the models.
    pub intro: Option<&'a str>,
    /// The steps, as `Name('argument', 3) / 'result'`.
    pub steps: &'a [RunStep],
    /// The failure at the end of the run.
    pub failure: RunFailure,
    /// The code that performs the steps, if the scenario is to be executable.
    pub actor: Option<&'a Actor>,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStep {
    /// `Name('argument', 3)`, followed by ` / 'result'` if the model gives a result.
    pub text: String,
    /// True if the implementation took the step by itself.
    pub is_observed: bool,
}

impl RunStep {
    /// Creates a step that the tester chose.
    #[must_use]
    pub fn chosen(text: String) -> RunStep {
        RunStep {
            text,
            is_observed: false,
        }
    }

    /// Creates a step that the implementation took by itself.
    #[must_use]
    pub fn observed(text: String) -> RunStep {
        RunStep {
            text,
            is_observed: true,
        }
    }
}

/// The failure at the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunFailure {
    /// The implementation did not do the last step as the model says. Holds the stepper's message.
    Mismatch(String),
    /// The last step raised an exception of this class.
    Error(String),
    /// The implementation did this by itself, as `Name('argument', 3)`, although the model does not
    /// allow it.
    Refused(String),
    /// An invariant is false. Holds the invariants as sentences.
    Invariant(Vec<String>),
    /// No step is possible, although no run may end here.
    DeadEnd,
    /// The run ends in a state in which no run may end.
    NotAccepting,
    /// The last step did not return, or ended the process.
    NoEnd,
}

/// A step as a call and its expected result.
struct ParsedStep {
    /// The action with its arguments.
    call: Box<CallTerm>,
    /// The expected result.
    result: Option<Term>,
}

impl ParsedStep {
    /// Parses `Name('argument', 3) / 'result'`, which is a division in Python's syntax.
    fn parse(text: &str) -> Option<ParsedStep> {
        let expression = tree::expression(text).ok()?;
        let (call, result) = match &expression.kind {
            ExpressionKind::Binary { left, right, .. } => (&**left, Some(&**right)),
            _ => (&expression, None),
        };
        match Term::from_expression(call, text, &EmptyScope) {
            Term::Call(call) => Some(ParsedStep {
                call,
                result: result.map(|result| Term::from_expression(result, text, &EmptyScope)),
            }),
            _ => None,
        }
    }
}

impl FailedRun<'_> {
    /// Renders the run as a scenario with a diagram.
    #[must_use]
    pub fn render(&self, phraser: &Phraser<'_>) -> RenderedCounterexample {
        let mut scenario = Scenario {
            tags: vec!["counterexample".to_owned()],
            // Steps that the implementation took by itself do not count (X5).
            name: match self.steps.iter().filter(|one| !one.is_observed).count() {
                1 => "Counterexample with 1 step".to_owned(),
                steps => format!("Counterexample with {steps} steps"),
            },
            ..Scenario::default()
        };
        let mut diagram = SequenceDiagram {
            participants: vec!["System".to_owned()],
            ..SequenceDiagram::default()
        };
        let mut last = None;
        for (index, step) in self.steps.iter().enumerate() {
            let is_wrong = index + 1 == self.steps.len();
            last = self.add_step(step, is_wrong, phraser, &mut scenario, &mut diagram);
        }
        let (expected, observed) = self.expected_and_observed(last.as_deref(), phraser);
        if self.needs_final_check() {
            scenario
                .steps
                .push(ScenarioStep::new(StepKeyword::Then, &expected));
        }
        diagram.notes = vec![
            format!("Expected: {expected}"),
            format!("Observed: {observed}"),
        ];
        let mut description = Description::default();
        description.push(self.intro.unwrap_or_default());
        description.push(&format!("Expected: {expected}."));
        description.push(&format!("Observed: {observed}."));
        let executable = self
            .actor
            .and_then(|actor| self.executable_scenario(actor, &scenario, phraser));
        let names: Vec<String> = self.models.iter().map(|name| phraser.words(name)).collect();
        let feature = Feature {
            name: capitalise(&join_model_names(&names)),
            description,
            scenarios: vec![scenario],
            ..Feature::default()
        };
        RenderedCounterexample {
            rendered: RenderedFeature {
                feature,
                scenarios: executable.into_iter().collect(),
                ..RenderedFeature::default()
            },
            diagram,
        }
    }

    /// Adds a step, and returns the answer it should have if it is the last one.
    fn add_step(
        &self,
        step: &RunStep,
        is_last: bool,
        phraser: &Phraser<'_>,
        scenario: &mut Scenario,
        diagram: &mut SequenceDiagram,
    ) -> Option<String> {
        let Some(ParsedStep { call, result }) = ParsedStep::parse(&step.text) else {
            let sentence = StepSentence::Statement(quotation::on_one_line(&step.text));
            let words = sentence.text(phraser);
            scenario
                .steps
                .push(ScenarioStep::new(StepKeyword::When, &words));
            return None;
        };
        let words = call_text(&call, phraser);
        let raises = matches!(self.failure, RunFailure::Error(_) | RunFailure::NoEnd);
        let is_wrong = is_last && matches!(self.failure, RunFailure::Mismatch(_));
        let fails = is_last && raises;
        if step.is_observed {
            let seen = format!("{words} happens");
            scenario
                .steps
                .push(ScenarioStep::new(StepKeyword::Then, &seen));
            diagram.messages.push(DiagramMessage::Answer {
                from: 0,
                text: message_text(&call, phraser),
            });
            return None;
        }
        let verb = if fails { "I try to call" } else { "I call" };
        let text = format!("{verb} {words}");
        scenario
            .steps
            .push(ScenarioStep::new(StepKeyword::When, &text));
        diagram.messages.push(DiagramMessage::Call {
            to: 0,
            text: message_text(&call, phraser),
        });
        if let (true, RunFailure::Error(class)) = (fails, &self.failure) {
            diagram.messages.push(DiagramMessage::Failure {
                from: 0,
                text: format!("error \"{}\"", phraser.words(class)),
            });
        }
        let answer = phraser.noun(&result.filter(|_| !fails)?).text;
        let clause = format!("the answer is {answer}");
        scenario
            .steps
            .push(ScenarioStep::new(StepKeyword::Then, &clause));
        if !is_wrong {
            diagram.messages.push(DiagramMessage::Answer {
                from: 0,
                text: answer,
            });
        }
        is_last.then_some(clause)
    }

    /// Returns true if the steps do not state the expectation yet.
    fn needs_final_check(&self) -> bool {
        let has_answer = self.steps.last().is_some_and(|step| {
            !step.is_observed
                && ParsedStep::parse(&step.text).is_some_and(|one| one.result.is_some())
        });
        !(has_answer && matches!(self.failure, RunFailure::Mismatch(_)))
    }

    /// Returns the expectation and the observation, as clauses.
    fn expected_and_observed(
        &self,
        answer: Option<&str>,
        phraser: &Phraser<'_>,
    ) -> (String, String) {
        let rendered = |expected: &str, observed: &str| (expected.to_owned(), observed.to_owned());
        match &self.failure {
            RunFailure::Mismatch(why) => (
                answer
                    .unwrap_or("the last step goes as the model says")
                    .to_owned(),
                quotation::quote_code(&why.split_whitespace().collect::<Vec<_>>().join(" ")),
            ),
            RunFailure::Error(class) => (
                "no error is raised".to_owned(),
                format!(
                    "the last step fails with the error \"{}\"",
                    phraser.words(class)
                ),
            ),
            RunFailure::Refused(step) => {
                let words = match ParsedStep::parse(step) {
                    Some(parted) => call_text(&parted.call, phraser),
                    None => quotation::quote_code(step),
                };
                (
                    format!("{words} does not happen"),
                    format!("{words} happens"),
                )
            }
            RunFailure::Invariant(always) => {
                let always: Vec<&str> = (always.iter())
                    .map(|one| one.trim_end_matches('.'))
                    .collect();
                match always.as_slice() {
                    [] => rendered("what must always be true is true", "it is not"),
                    [only] => (lowercase_first(only), "that is not so".to_owned()),
                    all => (
                        format!("all of this is true: {}", all.join("; ")),
                        "some of it is not".to_owned(),
                    ),
                }
            }
            RunFailure::DeadEnd => rendered(
                "something is possible, or the run may end here",
                "nothing is possible, and no run may end here",
            ),
            RunFailure::NotAccepting => {
                rendered("the run may end here", "the run may not end here")
            }
            RunFailure::NoEnd => rendered(
                "the last step comes to an end",
                "the last step does not come to an end",
            ),
        }
    }
}

/// Joins the names of models: `login model with honest and one coin`.
fn join_model_names(models: &[String]) -> String {
    match models {
        [first, others @ ..] if !others.is_empty() => {
            format!("{first} with {}", join::nouns(others, "and"))
        }
        _ => models.concat(),
    }
}

/// Turns a sentence into a part of another one.
fn lowercase_first(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Writes a call for an arrow, which has little room: `log in 3`.
fn message_text(call: &CallTerm, phraser: &Phraser<'_>) -> String {
    let name = match &call.callee {
        CallTarget::Function { name, .. } | CallTarget::Method { name, .. } => phraser.words(name),
        CallTarget::Other(term) => phraser.noun(term).text,
    };
    match phraser.arguments(call) {
        Some(arguments) => format!("{name} {arguments}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gherkin;
    use crate::idiom::Vocabulary;

    fn rendered(steps: &[(&str, bool)], failure: RunFailure) -> (String, String) {
        let steps: Vec<RunStep> = (steps.iter())
            .map(|(text, is_observed)| RunStep {
                text: (*text).to_owned(),
                is_observed: *is_observed,
            })
            .collect();
        let vocabulary = Vocabulary::default();
        let failed = FailedRun {
            models: &["login_model".to_owned()],
            intro: Some("Two users."),
            steps: &steps,
            failure,
            actor: None,
        };
        let found = failed.render(&Phraser::new(&vocabulary));
        let feature = gherkin::write(&found.rendered.feature).expect("every parser reads it");
        (feature, found.diagram.write())
    }

    #[test]
    fn a_wrong_answer() {
        let (feature, diagram) = rendered(
            &[
                ("Login('ann', 'right') / 'welcome'", false),
                ("Read('ann',) / 'please log in'", false),
            ],
            RunFailure::Mismatch("ann sees 'mail of bob'".to_owned()),
        );
        expect_test::expect![[r#"
            Feature: Login model
              Two users.
              Expected: the answer is "please log in".
              Observed: "ann sees 'mail of bob'".

              @counterexample
              Scenario: Counterexample with 2 steps
                When I call "login" with "ann" and "right"
                Then the answer is "welcome"
                When I call "read" with "ann"
                Then the answer is "please log in"
        "#]]
        .assert_eq(&feature);
        expect_test::expect![[r#"
            sequenceDiagram
                actor P0 as Tester
                participant P1 as System
                P0->>P1: login "ann" and "right"
                P1-->>P0: "welcome"
                P0->>P1: read "ann"
                Note over P0,P1: Expected: the answer is "please log in"
                Note over P0,P1: Observed: "ann sees 'mail of bob'"
        "#]]
        .assert_eq(&diagram);
    }

    #[test]
    fn other_ends() {
        let steps = [("Send(1) / None", false), ("Receive(1)", true)];
        let end = |failure| {
            let (feature, _) = rendered(&steps, failure);
            let lines = feature.lines().map(str::trim);
            let kept = lines.filter(|line| {
                ["Expected", "Observed", "Then", "And"]
                    .iter()
                    .any(|word| line.starts_with(word))
            });
            kept.collect::<Vec<_>>().join("\n")
        };
        let all = [
            RunFailure::Error("KeyError".to_owned()),
            RunFailure::Refused("Receive(2)".to_owned()),
            RunFailure::Invariant(vec!["The sum is at least 0.".to_owned()]),
            RunFailure::DeadEnd,
            RunFailure::NotAccepting,
            RunFailure::NoEnd,
        ];
        let rendered = all.map(end).join("\n\n");
        expect_test::expect![[r#"
            Expected: no error is raised.
            Observed: the last step fails with the error "key error".
            Then the answer is nothing
            And "receive" with 1 happens
            And no error is raised

            Expected: "receive" with 2 does not happen.
            Observed: "receive" with 2 happens.
            Then the answer is nothing
            And "receive" with 1 happens
            And "receive" with 2 does not happen

            Expected: the sum is at least 0.
            Observed: that is not so.
            Then the answer is nothing
            And "receive" with 1 happens
            And the sum is at least 0

            Expected: something is possible, or the run may end here.
            Observed: nothing is possible, and no run may end here.
            Then the answer is nothing
            And "receive" with 1 happens
            And something is possible, or the run may end here

            Expected: the run may end here.
            Observed: the run may not end here.
            Then the answer is nothing
            And "receive" with 1 happens
            And the run may end here

            Expected: the last step comes to an end.
            Observed: the last step does not come to an end.
            Then the answer is nothing
            And "receive" with 1 happens
            And the last step comes to an end"#]]
        .assert_eq(&rendered);
    }

    #[test]
    fn x5_what_the_implementation_does_by_itself_is_no_step() {
        let (feature, _) = rendered(
            &[("Send('a')", false), ("Receive('a')", true)],
            RunFailure::Refused("Receive('a')".to_owned()),
        );
        assert!(
            feature.contains("Scenario: Counterexample with 1 step\n"),
            "{feature}"
        );
        assert!(
            feature.ends_with("And \"receive\" with \"a\" does not happen\n"),
            "{feature}"
        );
    }

    #[test]
    fn models_that_move_together() {
        let names = |all: &[&str]| {
            let all: Vec<String> = all.iter().map(|name| (*name).to_owned()).collect();
            join_model_names(&all)
        };
        assert_eq!(names(&["login"]), "login");
        assert_eq!(names(&["login", "honest"]), "login with honest");
        assert_eq!(names(&["a", "b", "c"]), "a with b and c");
    }
}
