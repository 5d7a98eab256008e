//! A run of a model that failed (5.3): what was done, what the model says comes of it, and what came of it instead.

mod play;

use testwright_source::tree::{self, ExpressionKind};

use super::Counterexample;
use crate::explain::Actor;
use crate::gherkin::{Description, Feature, Keyword, Scenario, Step};
use crate::mermaid::{Diagram, Message};
use crate::phrase::{Speaker, join};
use crate::property::{Saying, Told, called};
use crate::quotation;
use crate::term::{Call, Callee, Term, Unscoped};
use crate::words::capitalised;

/// A run that failed.
#[derive(Debug, Clone)]
pub struct FailedRun<'a> {
    /// The names of the models.
    pub models: &'a [String],
    /// What they say of themselves.
    pub intro: Option<&'a str>,
    /// What was done, as `Name('argument', 3) / 'result'`.
    pub steps: &'a [Taken],
    /// What was wrong in the end.
    pub failure: RunFailure,
    /// Who does the steps when the scenario runs, if it is to run.
    pub actor: Option<&'a Actor>,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// `Name('argument', 3)`, with ` / 'result'` behind it if the model says what comes of it.
    pub text: String,
    /// Whether the implementation took it by itself.
    pub is_observed: bool,
}

impl Taken {
    /// A step that somebody chose.
    #[must_use]
    pub fn chosen(text: String) -> Taken {
        Taken {
            text,
            is_observed: false,
        }
    }

    /// A step that the implementation took by itself.
    #[must_use]
    pub fn observed(text: String) -> Taken {
        Taken {
            text,
            is_observed: true,
        }
    }
}

/// What was wrong with a run in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunFailure {
    /// The implementation did not do the last step as the model says. This is what the stepper says about it.
    Mismatch(String),
    /// The last step raised an exception of this class.
    Error(String),
    /// The implementation did this by itself, as `Name('argument', 3)`, where the model does not allow it.
    Refused(String),
    /// What must always be true, in sentences, is not.
    Invariant(Vec<String>),
    /// Nothing is possible, although no run may end.
    DeadEnd,
    /// No run may end there.
    NotAccepting,
    /// The last step did not come to an end, or ended the process.
    NoEnd,
}

/// A step as it is told.
struct Parted {
    call: Box<Call>,
    result: Option<Term>,
}

impl Parted {
    /// The parts of `Name('argument', 3) / 'result'`, which Python takes for a division.
    fn of(text: &str) -> Option<Parted> {
        let expression = tree::expression(text).ok()?;
        let (call, result) = match &expression.kind {
            ExpressionKind::Binary { left, right, .. } => (&**left, Some(&**right)),
            _ => (&expression, None),
        };
        match Term::read(call, text, &Unscoped) {
            Term::Call(call) => Some(Parted {
                call,
                result: result.map(|result| Term::read(result, text, &Unscoped)),
            }),
            _ => None,
        }
    }
}

impl FailedRun<'_> {
    /// The run as a scenario, with a diagram.
    #[must_use]
    pub fn tell(&self, speaker: &Speaker<'_>) -> Counterexample {
        let mut scenario = Scenario {
            tags: vec!["counterexample".to_owned()],
            // What the implementation does by itself is no step of the tester's (X5).
            name: match self.steps.iter().filter(|one| !one.is_observed).count() {
                1 => "Counterexample with 1 step".to_owned(),
                steps => format!("Counterexample with {steps} steps"),
            },
            ..Scenario::default()
        };
        let mut diagram = Diagram {
            participants: vec!["System".to_owned()],
            ..Diagram::default()
        };
        let mut last = None;
        for (index, step) in self.steps.iter().enumerate() {
            let is_wrong = index + 1 == self.steps.len();
            last = self.step(step, is_wrong, speaker, &mut scenario, &mut diagram);
        }
        let (expected, observed) = self.ending(last.as_deref(), speaker);
        if self.last_word_is_missing() {
            scenario.steps.push(Step::new(Keyword::Then, &expected));
        }
        diagram.notes = vec![
            format!("Expected: {expected}"),
            format!("Observed: {observed}"),
        ];
        let mut description = Description::default();
        description.push(self.intro.unwrap_or_default());
        description.push(&format!("Expected: {expected}."));
        description.push(&format!("Observed: {observed}."));
        let play = self
            .actor
            .and_then(|actor| self.play(actor, &scenario, speaker));
        let names: Vec<String> = self.models.iter().map(|name| speaker.words(name)).collect();
        let feature = Feature {
            name: capitalised(&together(&names)),
            description,
            scenarios: vec![scenario],
            ..Feature::default()
        };
        Counterexample {
            told: Told {
                feature,
                plays: play.into_iter().collect(),
                ..Told::default()
            },
            diagram,
        }
    }

    /// Tells a step, and gives the answer that it should have, or how it is called.
    fn step(
        &self,
        step: &Taken,
        is_last: bool,
        speaker: &Speaker<'_>,
        scenario: &mut Scenario,
        diagram: &mut Diagram,
    ) -> Option<String> {
        let Some(Parted { call, result }) = Parted::of(&step.text) else {
            let saying = Saying::Statement(quotation::on_one_line(&step.text));
            let words = saying.words(speaker);
            scenario.steps.push(Step::new(Keyword::When, &words));
            return None;
        };
        let words = called(&call, speaker);
        let raises = matches!(self.failure, RunFailure::Error(_) | RunFailure::NoEnd);
        let is_wrong = is_last && matches!(self.failure, RunFailure::Mismatch(_));
        let fails = is_last && raises;
        if step.is_observed {
            let seen = format!("{words} happens");
            scenario.steps.push(Step::new(Keyword::Then, &seen));
            diagram.messages.push(Message::Answer {
                from: 0,
                text: message(&call, speaker),
            });
            return None;
        }
        let verb = if fails { "I try to call" } else { "I call" };
        let said = format!("{verb} {words}");
        scenario.steps.push(Step::new(Keyword::When, &said));
        diagram.messages.push(Message::Call {
            to: 0,
            text: message(&call, speaker),
        });
        if let (true, RunFailure::Error(class)) = (fails, &self.failure) {
            diagram.messages.push(Message::Failure {
                from: 0,
                text: format!("error \"{}\"", speaker.words(class)),
            });
        }
        let answer = speaker.noun(&result.filter(|_| !fails)?).text;
        let clause = format!("the answer is {answer}");
        scenario.steps.push(Step::new(Keyword::Then, &clause));
        if !is_wrong {
            diagram.messages.push(Message::Answer {
                from: 0,
                text: answer,
            });
        }
        is_last.then_some(clause)
    }

    /// Whether the steps do not say yet what should be.
    fn last_word_is_missing(&self) -> bool {
        let has_answer = self.steps.last().is_some_and(|step| {
            !step.is_observed && Parted::of(&step.text).is_some_and(|one| one.result.is_some())
        });
        !(has_answer && matches!(self.failure, RunFailure::Mismatch(_)))
    }

    /// What should be, and what is.
    fn ending(&self, answer: Option<&str>, speaker: &Speaker<'_>) -> (String, String) {
        let told = |expected: &str, observed: &str| (expected.to_owned(), observed.to_owned());
        match &self.failure {
            RunFailure::Mismatch(why) => (
                answer
                    .unwrap_or("the last step goes as the model says")
                    .to_owned(),
                quotation::quoted(&why.split_whitespace().collect::<Vec<_>>().join(" ")),
            ),
            RunFailure::Error(class) => (
                "no error is raised".to_owned(),
                format!(
                    "the last step fails with the error \"{}\"",
                    speaker.words(class)
                ),
            ),
            RunFailure::Refused(step) => {
                let words = match Parted::of(step) {
                    Some(parted) => called(&parted.call, speaker),
                    None => quotation::quoted(step),
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
                    [] => told("what must always be true is true", "it is not"),
                    [only] => (lowered(only), "that is not so".to_owned()),
                    all => (
                        format!("all of this is true: {}", all.join("; ")),
                        "some of it is not".to_owned(),
                    ),
                }
            }
            RunFailure::DeadEnd => told(
                "something is possible, or the run may end here",
                "nothing is possible, and no run may end here",
            ),
            RunFailure::NotAccepting => told("the run may end here", "the run may not end here"),
            RunFailure::NoEnd => told(
                "the last step comes to an end",
                "the last step does not come to an end",
            ),
        }
    }
}

/// `login model with honest and one coin`.
fn together(models: &[String]) -> String {
    match models {
        [first, others @ ..] if !others.is_empty() => {
            format!("{first} with {}", join::nouns(others, "and"))
        }
        _ => models.concat(),
    }
}

/// A sentence as the part of another one.
fn lowered(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// `log in 3`: arrows have little room.
fn message(call: &Call, speaker: &Speaker<'_>) -> String {
    let name = match &call.callee {
        Callee::Function { name, .. } | Callee::Method { name, .. } => speaker.words(name),
        Callee::Other(term) => speaker.noun(term).text,
    };
    match speaker.arguments(call) {
        Some(arguments) => format!("{name} {arguments}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gherkin;
    use crate::idiom::Vocabulary;

    fn told(steps: &[(&str, bool)], failure: RunFailure) -> (String, String) {
        let steps: Vec<Taken> = (steps.iter())
            .map(|(text, is_observed)| Taken {
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
        let found = failed.tell(&Speaker::new(&vocabulary));
        let feature = gherkin::write(&found.told.feature).expect("every parser reads it");
        (feature, found.diagram.write())
    }

    #[test]
    fn a_wrong_answer() {
        let (feature, diagram) = told(
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
            let (feature, _) = told(&steps, failure);
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
        let told = all.map(end).join("\n\n");
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
        .assert_eq(&told);
    }

    #[test]
    fn x5_what_the_implementation_does_by_itself_is_no_step() {
        let (feature, _) = told(
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
            together(&all)
        };
        assert_eq!(names(&["login"]), "login");
        assert_eq!(names(&["login", "honest"]), "login with honest");
        assert_eq!(names(&["a", "b", "c"]), "a with b and c");
    }
}
