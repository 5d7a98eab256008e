//! A property and arguments that it does not hold for (5.2).

use super::{Contrast, Counterexample, Style};
use crate::gherkin::{Keyword, Origin, Scenario, Step};
use crate::mermaid::{Diagram, Message};
use crate::phrase::{Polarity, Speaker, join};
use crate::property::{
    Code, Definition, Given, Line, Piece, Property, Sampled, Saying, Script, Subject, Told, Values,
    quoted,
};
use crate::sample::Case;
use crate::term::{Call, Callee, Reference, Role, Term};
use crate::value::Value;
use crate::words::sentence;

/// What was seen when the steps of a property were run on failing arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// Which line of the script failed, counted from 0.
    pub failed: usize,
    /// The class of the exception that it raised; nothing if a check did not hold.
    pub error: Option<String>,
    /// What the names of the script stood for in the end: "the result", "result 1", names of variables.
    pub values: Vec<(String, Value)>,
    /// What makes a difference and what does not.
    pub contrast: Vec<Contrast>,
}

impl Subject {
    /// The counterexample of a property.
    #[must_use]
    pub fn counterexample(
        &self,
        property: &Property,
        case: &Case,
        observation: &Observation,
        style: Style,
        values: Values,
        speaker: &Speaker<'_>,
    ) -> Counterexample {
        let sampled = Sampled::new(property, vec![case.clone()]);
        let mut script = self.script(property, Some(case), true, speaker);
        script.lines.truncate(observation.failed + 1);
        let remarks = Remarks::of(&script, observation, speaker);
        let diagram = diagram(&script, case, observation, &remarks, speaker);
        let mut told = Told {
            feature: self.head(speaker),
            ..Told::default()
        };
        let name = format!("{} - counterexample", self.title(property, speaker));
        if style == Style::Observed {
            observe(&mut script, observation, self.store());
        }
        let mut scenario = self.scenario(&script, case, values, speaker, &mut told, &name);
        if let (Style::Observed, Some(error)) = (style, &observation.error) {
            fail(&mut scenario, &mut told, error, self.store(), speaker);
        }
        scenario.tags.push("counterexample".to_owned());
        scenario.origin = self.origin(property.start);
        for line in remarks.lines(&script, observation, speaker) {
            scenario.description.push(&line);
        }
        let mut rule = self.rule(&sampled, speaker);
        rule.scenarios.push(scenario);
        told.feature.rules.push(rule);
        Counterexample { told, diagram }
    }
}

/// What should be, and what is (X2).
struct Remarks {
    expected: String,
    observed: String,
}

impl Remarks {
    fn of(script: &Script, observation: &Observation, speaker: &Speaker<'_>) -> Remarks {
        let last = script.lines.last().map(|line| &line.saying);
        match (&observation.error, last) {
            (None, Some(Saying::Clause { term, polarity })) => Remarks {
                expected: speaker.say(term, *polarity, crate::phrase::Tense::Present),
                observed: speaker.say(term, polarity.opposite(), crate::phrase::Tense::Present),
            },
            (None, Some(saying @ Saying::Fails { .. })) => Remarks {
                expected: saying.words(speaker),
                observed: "it does not fail with that error".to_owned(),
            },
            (error, _) => Remarks {
                expected: "no error is raised".to_owned(),
                observed: format!(
                    "the last step fails with the error \"{}\"",
                    speaker.words(error.as_deref().unwrap_or("AssertionError"))
                ),
            },
        }
    }

    fn lines(
        &self,
        script: &Script,
        observation: &Observation,
        speaker: &Speaker<'_>,
    ) -> Vec<String> {
        let mut lines = vec![
            format!("Expected: {}.", self.expected),
            format!("Observed: {}.", self.observed),
        ];
        let words = |identifier: &str| speaker.words(identifier);
        for name in results(script, speaker) {
            if let Some((_, value)) = observation.values.iter().find(|(other, _)| *other == name) {
                let said = format!("{name} is {}.", value.phrase_in(false, &words));
                // A variable of one letter is no word, and stays as it is.
                lines.push(match name.chars().count() {
                    1 => said,
                    _ => sentence(&said),
                });
            }
        }
        lines.extend(
            observation
                .contrast
                .iter()
                .map(|contrast| contrast.words(speaker)),
        );
        lines
    }
}

/// What the answers of the steps are called.
fn results(script: &Script, speaker: &Speaker<'_>) -> Vec<String> {
    let results = script.lines.iter().flat_map(|line| match &line.saying {
        Saying::Call {
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
            Some(Given::Number(number)) => vec![format!("result {number}")],
            Some(Given::Names(names)) => names.iter().map(|name| speaker.words(name)).collect(),
        },
        _ => Vec::new(),
    });
    results.collect()
}

/// The failed check as it is: the scenario passes as long as the bug is there.
fn observe(script: &mut Script, observation: &Observation, store: &str) {
    let Some(last) = script.lines.last_mut() else {
        return;
    };
    match (&mut last.saying, &observation.error) {
        (Saying::Clause { polarity, .. }, None) => {
            *polarity = polarity.opposite();
            if let Some(check) = &mut last.code.check {
                *check = match *polarity {
                    Polarity::Negative => format!("not ({check})"),
                    Polarity::Positive => check.strip_prefix("not ").unwrap_or(check).to_owned(),
                };
            } else {
                // A loop, or a check of a test class: that it fails is what is to be seen.
                last.code = failing(&last.code);
            }
        }
        (Saying::Call { tries, .. }, Some(_)) => {
            *tries = true;
            last.code = attempted(&last.code, store);
        }
        _ => {}
    }
}

fn failing(code: &Code) -> Code {
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
    Code {
        body,
        ..code.clone()
    }
}

fn attempted(code: &Code, store: &str) -> Code {
    let mut body = vec!["def action():".to_owned()];
    body.extend(code.body.iter().map(|line| format!("    {line}")));
    body.push(format!("attempt({store}, action)"));
    Code {
        body,
        ..code.clone()
    }
}

/// `Then it fails with the error "H(E)"`.
fn fail(scenario: &mut Scenario, told: &mut Told, error: &str, store: &str, speaker: &Speaker<'_>) {
    let saying = Saying::Fails {
        errors: vec![error.to_owned()],
    };
    let text = saying.words(speaker);
    let check = format!("type({store}[\"_error\"]).__name__ == {}", quoted(error));
    told.define(Definition {
        keyword: Keyword::Then,
        text: vec![Piece::Words(text.clone())],
        code: Code {
            check: Some(check),
            ..Code::default()
        },
        inputs: Vec::new(),
        scenarios: vec![scenario.name.clone()],
    });
    scenario.steps.push(Step {
        origin: Origin::default(),
        ..Step::new(Keyword::Then, &text)
    });
}

fn diagram(
    script: &Script,
    case: &Case,
    observation: &Observation,
    remarks: &Remarks,
    speaker: &Speaker<'_>,
) -> Diagram {
    let words = |identifier: &str| speaker.words(identifier);
    let mut messages = Vec::new();
    for (index, line) in script.lines.iter().enumerate() {
        if line.keyword != Keyword::When {
            continue;
        }
        messages.push(Message::Call {
            to: 0,
            text: message(line, case, speaker),
        });
        if index == observation.failed
            && let Some(error) = &observation.error
        {
            let text = format!("error \"{}\"", speaker.words(error));
            messages.push(Message::Failure { from: 0, text });
            continue;
        }
        let alone = Script {
            lines: vec![line.clone()],
            ..Script::default()
        };
        let answers = results(&alone, speaker).into_iter().filter_map(|name| {
            let (_, value) = observation
                .values
                .iter()
                .find(|(other, _)| *other == name)?;
            Some(value.notation_in(false, &words))
        });
        let answers: Vec<String> = answers.collect();
        if !answers.is_empty() {
            let text = join::nouns(&answers, "and");
            messages.push(Message::Answer { from: 0, text });
        }
    }
    Diagram {
        participants: vec!["System".to_owned()],
        messages,
        notes: vec![
            format!("Expected: {}", remarks.expected),
            format!("Observed: {}", remarks.observed),
        ],
    }
}

/// `remove first with n = 7 and xs = [7, 7]`.
fn message(line: &Line, case: &Case, speaker: &Speaker<'_>) -> String {
    let Saying::Call { call, .. } = &line.saying else {
        let words = line.saying.words(speaker);
        return words
            .strip_prefix("I ")
            .map_or(words.clone(), str::to_owned);
    };
    let with_values = |term: &Term| match term {
        Term::Reference(Reference {
            name,
            role: Role::Variable,
            ..
        }) => {
            let argument = case
                .arguments
                .iter()
                .find(|argument| argument.name == *name)?;
            let notation = argument
                .value
                .notation_in(false, &|identifier| speaker.words(identifier));
            Some(
                Reference::new(
                    format!("{} = {notation}", speaker.words(name)),
                    Role::Phrase,
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
    let call = Call {
        callee: call.callee.clone(),
        arguments: changed(&call.arguments),
        keywords: call.keywords.clone(),
    };
    let (name, object) = match &call.callee {
        Callee::Function { name, .. } => (speaker.words(name), String::new()),
        Callee::Method { object, name } => (
            speaker.words(name),
            format!(" on {}", speaker.noun(object).text),
        ),
        Callee::Other(term) => (speaker.noun(term).text, String::new()),
    };
    let arguments = speaker
        .arguments(&call)
        .map(|arguments| format!(" with {arguments}"));
    format!("{name}{object}{}", arguments.unwrap_or_default())
}
