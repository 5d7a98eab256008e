//! Counterexamples of properties: the property with the failing arguments (X1 to X4).

use super::{Contrast, CounterexampleStyle, RenderedCounterexample};
use crate::gherkin::{FileLine, Scenario, ScenarioStep, StepKeyword};
use crate::mermaid::{DiagramMessage, SequenceDiagram};
use crate::phrase::{Phraser, Polarity, join};
use crate::property::{
    PropertyFunction, PropertyModule, PropertyScript, RenderedFeature, ResultName, SampledProperty,
    ScriptLine, StepCode, StepDefinition, StepPiece, StepSentence, ValuePlacement, python_string,
};
use crate::sample::SampleCase;
use crate::term::{CallTarget, CallTerm, NameReference, NameRole, Term};
use crate::value::PythonValue;
use crate::words::to_sentence;

/// The observations made while a property ran on failing arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FailureObservation {
    /// The script line that failed, counted from 0.
    pub failed: usize,
    /// The class of the exception that it raised; nothing if a check did not hold.
    pub error: Option<String>,
    /// The final values of the script's names: "the result", "result 1", names of variables.
    pub values: Vec<(String, PythonValue)>,
    /// The influence of each argument on the failure.
    pub contrast: Vec<Contrast>,
}

impl PropertyModule {
    /// Renders the counterexample of a property.
    #[must_use]
    pub fn counterexample(
        &self,
        property: &PropertyFunction,
        case: &SampleCase,
        observation: &FailureObservation,
        style: CounterexampleStyle,
        values: ValuePlacement,
        phraser: &Phraser<'_>,
    ) -> RenderedCounterexample {
        let sampled = SampledProperty::new(property, vec![case.clone()]);
        let mut script = self.script(property, Some(case), true, phraser);
        script.lines.truncate(observation.failed + 1);
        let remarks = Discrepancy::of(&script, observation, phraser);
        let diagram = build_diagram(&script, case, observation, &remarks, phraser);
        let mut rendered = RenderedFeature {
            feature: self.feature_head(phraser),
            ..RenderedFeature::default()
        };
        let name = format!("{} - counterexample", self.title(property, phraser));
        if style == CounterexampleStyle::Observed {
            invert_check(&mut script, observation, self.store_name());
        }
        let mut scenario = self.scenario(&script, case, values, phraser, &mut rendered, &name);
        if let (CounterexampleStyle::Observed, Some(error)) = (style, &observation.error) {
            push_failure_step(
                &mut scenario,
                &mut rendered,
                error,
                self.store_name(),
                phraser,
            );
        }
        scenario.tags.push("counterexample".to_owned());
        scenario.origin = self.origin(property.start);
        for line in remarks.lines(&script, observation, phraser) {
            scenario.description.push(&line);
        }
        let mut rule = self.rule(&sampled, phraser);
        rule.scenarios.push(scenario);
        rendered.feature.rules.push(rule);
        RenderedCounterexample { rendered, diagram }
    }
}

/// The expectation that failed, and the observation that contradicts it (X2).
struct Discrepancy {
    /// The clause that should hold.
    expected: String,
    /// The clause that holds instead.
    observed: String,
}

impl Discrepancy {
    /// Determines the discrepancy from the last line of the script.
    fn of(
        script: &PropertyScript,
        observation: &FailureObservation,
        phraser: &Phraser<'_>,
    ) -> Discrepancy {
        let last = script.lines.last().map(|line| &line.sentence);
        match (&observation.error, last) {
            (None, Some(StepSentence::Clause { term, polarity })) => Discrepancy {
                expected: phraser.clause_in(term, *polarity, crate::phrase::Tense::Present),
                observed: phraser.clause_in(
                    term,
                    polarity.opposite(),
                    crate::phrase::Tense::Present,
                ),
            },
            (None, Some(sentence @ StepSentence::Fails { .. })) => Discrepancy {
                expected: sentence.text(phraser),
                observed: "it does not fail with that error".to_owned(),
            },
            (error, _) => Discrepancy {
                expected: "no error is raised".to_owned(),
                observed: format!(
                    "the last step fails with the error \"{}\"",
                    phraser.words(error.as_deref().unwrap_or("AssertionError"))
                ),
            },
        }
    }

    /// Returns the lines of the scenario's description: the discrepancy, the results and the
    /// contrast.
    fn lines(
        &self,
        script: &PropertyScript,
        observation: &FailureObservation,
        phraser: &Phraser<'_>,
    ) -> Vec<String> {
        let mut lines = vec![
            format!("Expected: {}.", self.expected),
            format!("Observed: {}.", self.observed),
        ];
        let words = |identifier: &str| phraser.words(identifier);
        for name in result_names(script, phraser) {
            if let Some((_, value)) = observation.values.iter().find(|(other, _)| *other == name) {
                let line = format!("{name} is {}.", value.phrase_with(false, &words));
                // A variable of one letter is not capitalized.
                lines.push(match name.chars().count() {
                    1 => line,
                    _ => to_sentence(&line),
                });
            }
        }
        lines.extend(
            observation
                .contrast
                .iter()
                .map(|contrast| contrast.describe(phraser)),
        );
        lines
    }
}

/// Returns the names of the results of a script's calls.
fn result_names(script: &PropertyScript, phraser: &Phraser<'_>) -> Vec<String> {
    let results = script.lines.iter().flat_map(|line| match &line.sentence {
        StepSentence::Call {
            giving,
            tries: false,
            ..
        } => match giving {
            None => {
                if line
                    .code
                    .body
                    .first()
                    .is_some_and(|body| body.contains("[\"the result\"] = "))
                {
                    vec!["the result".to_owned()]
                } else {
                    Vec::new()
                }
            }
            Some(ResultName::Number(number)) => vec![format!("result {number}")],
            Some(ResultName::Names(names)) => {
                names.iter().map(|name| phraser.words(name)).collect()
            }
        },
        _ => Vec::new(),
    });
    results.collect()
}

/// Inverts the failed check, so that the scenario passes as long as the bug is there (X4).
fn invert_check(script: &mut PropertyScript, observation: &FailureObservation, store: &str) {
    let Some(last) = script.lines.last_mut() else {
        return;
    };
    match (&mut last.sentence, &observation.error) {
        (StepSentence::Clause { polarity, .. }, None) => {
            *polarity = polarity.opposite();
            if let Some(check) = &mut last.code.check {
                *check = match *polarity {
                    Polarity::Negative => format!("not ({check})"),
                    Polarity::Positive => check.strip_prefix("not ").unwrap_or(check).to_owned(),
                };
            } else {
                // A loop or a check of a test class cannot be inverted, so its failure is expected
                // instead.
                last.code = expect_assertion_error(&last.code);
            }
        }
        (StepSentence::Call { tries, .. }, Some(_)) => {
            *tries = true;
            last.code = attempt_code(&last.code, store);
        }
        _ => {}
    }
}

/// Wraps code so that it succeeds if it raises an `AssertionError`.
fn expect_assertion_error(code: &StepCode) -> StepCode {
    let mut body = vec!["try:".to_owned()];
    body.extend(code.body.iter().map(|line| format!("    {line}")));
    body.extend(
        [
            "except AssertionError:",
            "    pass",
            "else:",
            "    raise AssertionError(\"it holds\")",
        ]
        .map(str::to_owned),
    );
    StepCode {
        body,
        ..code.clone()
    }
}

/// Wraps code so that its error is kept for the next step (S4).
fn attempt_code(code: &StepCode, store: &str) -> StepCode {
    let mut body = vec!["def action():".to_owned()];
    body.extend(code.body.iter().map(|line| format!("    {line}")));
    body.push(format!("attempt({store}, action)"));
    StepCode {
        body,
        ..code.clone()
    }
}

/// Adds the step `Then it fails with the error "…"`.
fn push_failure_step(
    scenario: &mut Scenario,
    rendered: &mut RenderedFeature,
    error: &str,
    store: &str,
    phraser: &Phraser<'_>,
) {
    let sentence = StepSentence::Fails {
        errors: vec![error.to_owned()],
    };
    let text = sentence.text(phraser);
    let check = format!(
        "type({store}[\"_error\"]).__name__ == {}",
        python_string(error)
    );
    rendered.add_definition(StepDefinition {
        keyword: StepKeyword::Then,
        text: vec![StepPiece::Words(text.clone())],
        code: StepCode {
            check: Some(check),
            ..StepCode::default()
        },
        inputs: Vec::new(),
        scenarios: vec![scenario.name.clone()],
    });
    scenario.steps.push(ScenarioStep {
        origin: FileLine::default(),
        ..ScenarioStep::new(StepKeyword::Then, &text)
    });
}

/// Builds the diagram: one message per call, with its answer or error.
fn build_diagram(
    script: &PropertyScript,
    case: &SampleCase,
    observation: &FailureObservation,
    remarks: &Discrepancy,
    phraser: &Phraser<'_>,
) -> SequenceDiagram {
    let words = |identifier: &str| phraser.words(identifier);
    let mut messages = Vec::new();
    for (index, line) in script.lines.iter().enumerate() {
        if line.keyword != StepKeyword::When {
            continue;
        }
        messages.push(DiagramMessage::Call {
            to: 0,
            text: message_text(line, case, phraser),
        });
        if index == observation.failed
            && let Some(error) = &observation.error
        {
            let text = format!("error \"{}\"", phraser.words(error));
            messages.push(DiagramMessage::Failure { from: 0, text });
            continue;
        }
        let alone = PropertyScript {
            lines: vec![line.clone()],
            ..PropertyScript::default()
        };
        let answers = result_names(&alone, phraser)
            .into_iter()
            .filter_map(|name| {
                let (_, value) = observation
                    .values
                    .iter()
                    .find(|(other, _)| *other == name)?;
                Some(value.notation_with(false, &words))
            });
        let answers: Vec<String> = answers.collect();
        if !answers.is_empty() {
            let text = join::nouns(&answers, "and");
            messages.push(DiagramMessage::Answer { from: 0, text });
        }
    }
    SequenceDiagram {
        participants: vec!["System".to_owned()],
        messages,
        notes: vec![
            format!("Expected: {}", remarks.expected),
            format!("Observed: {}", remarks.observed),
        ],
    }
}

/// Writes a call with the values of its arguments: `remove first with n = 7 and xs = [7, 7]`.
fn message_text(line: &ScriptLine, case: &SampleCase, phraser: &Phraser<'_>) -> String {
    let StepSentence::Call { call, .. } = &line.sentence else {
        let words = line.sentence.text(phraser);
        return words
            .strip_prefix("I ")
            .map_or(words.clone(), str::to_owned);
    };
    let with_values = |term: &Term| match term {
        Term::Reference(NameReference {
            name,
            role: NameRole::Variable,
            ..
        }) => {
            let argument = case
                .arguments
                .iter()
                .find(|argument| argument.name == *name)?;
            let notation = argument
                .value
                .notation_with(false, &|identifier| phraser.words(identifier));
            Some(
                NameReference::new(
                    format!("{} = {notation}", phraser.words(name)),
                    NameRole::Phrase,
                )
                .into(),
            )
        }
        _ => None,
    };
    let changed = |terms: &[Term]| {
        terms
            .iter()
            .map(|term| with_values(term).unwrap_or_else(|| term.clone()))
            .collect()
    };
    let call = CallTerm {
        callee: call.callee.clone(),
        arguments: changed(&call.arguments),
        keywords: call.keywords.clone(),
    };
    let (name, object) = match &call.callee {
        CallTarget::Function { name, .. } => (phraser.words(name), String::new()),
        CallTarget::Method { object, name } => (
            phraser.words(name),
            format!(" on {}", phraser.noun(object).text),
        ),
        CallTarget::Other(term) => (phraser.noun(term).text, String::new()),
    };
    let arguments = phraser
        .arguments(&call)
        .map(|arguments| format!(" with {arguments}"));
    format!("{name}{object}{}", arguments.unwrap_or_default())
}
