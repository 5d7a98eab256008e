//! Finite-state scenario machines and test suites (6.7).

use testwright_source::tree::Expression;

use super::Options;
use super::document::{alone, section};
use super::locate::{Scenario, Step, suite};
use super::tell::LineIndex;
use crate::block::{Document, Item, ItemKind, Section, Source};
use crate::gherkin::{self, Feature, Keyword};
use crate::phrase::{Recorder, Speaker, join};
use crate::property::Subject;
use crate::term::{Term, Unscoped};

/// Tells a scenario machine.
pub(super) fn document(
    name: &str,
    scenario: &Scenario,
    source: &Source,
    options: &Options,
    recorder: &Recorder,
) -> Document {
    let speaker = Speaker::new(&options.vocabulary).with_recorder(recorder);
    let author = Author {
        speaker,
        text: &source.text,
        index: LineIndex::new(source),
    };
    let mut sections = vec![author.start(&scenario.initial)];
    sections.extend(author.states(scenario));
    sections.extend(author.end(scenario));
    Document {
        title: format!("Scenario machine: {}", options.vocabulary.words(name)),
        intro: scenario.intro.clone().filter(|intro| !intro.is_empty()),
        sections,
        source: source.clone(),
    }
}

/// Tells the runs of a test suite.
pub(super) fn suite_document(
    name: &str,
    runs: &[Vec<Step>],
    intro: Option<String>,
    source: &Source,
    options: &Options,
    recorder: &Recorder,
) -> Document {
    let author = Author {
        speaker: Speaker::new(&options.vocabulary).with_recorder(recorder),
        text: &source.text,
        index: LineIndex::new(source),
    };
    let sections = runs.iter().enumerate().map(|(number, run)| {
        let items = run.iter().map(|step| {
            let answer = step.result.as_ref();
            let answer = answer.map(|result| format!(", returning {}", author.noun(result)));
            let told = format!(
                "{} is carried out{}.",
                author.action(step),
                answer.unwrap_or_default()
            );
            Item::sentence(told, author.index.lines(&step.whole.range)).from_level(0)
        });
        let mut told = section(&format!("Run {}", number + 1), items.collect());
        told.level = 0;
        told
    });
    Document {
        title: format!("Test suite: {}", options.vocabulary.words(name)),
        intro: intro.filter(|intro| !intro.is_empty()),
        sections: sections.collect(),
        source: source.clone(),
    }
}

impl Subject {
    /// The runs of a test suite as scenarios; nothing if it is none.
    #[must_use]
    pub fn suite(&self, speaker: &Speaker<'_>) -> Option<Feature> {
        let runs = suite(self.module())?;
        let source = Source {
            file: self.file.clone(),
            text: self.text.clone(),
        };
        let author = Author {
            speaker: *speaker,
            text: &self.text,
            index: LineIndex::new(&source),
        };
        let told = |step: &Step| {
            let call = format!("I call {}", author.action(step));
            let answer = step.result.as_ref();
            let answer = answer.map(|result| format!("the answer is {}", author.noun(result)));
            std::iter::once(gherkin::Step::new(Keyword::When, &call))
                .chain(answer.map(|answer| gherkin::Step::new(Keyword::Then, &answer)))
                .collect::<Vec<_>>()
        };
        let scenarios = runs.iter().enumerate().map(|(number, run)| {
            let steps = match run.len() {
                1 => "1 step".to_owned(),
                steps => format!("{steps} steps"),
            };
            gherkin::Scenario {
                name: format!("Run {} with {steps}", number + 1),
                steps: run.iter().flat_map(told).collect(),
                ..gherkin::Scenario::default()
            }
        });
        let scenarios: Vec<gherkin::Scenario> =
            scenarios.filter(|one| !one.steps.is_empty()).collect();
        (!scenarios.is_empty()).then(|| Feature {
            tags: vec![],
            scenarios,
            ..self.head(speaker)
        })
    }
}

struct Author<'a> {
    speaker: Speaker<'a>,
    text: &'a str,
    index: LineIndex,
}

impl Author<'_> {
    fn noun(&self, expression: &Expression) -> String {
        let term = Term::read(expression, self.text, &Unscoped);
        self.speaker.noun(&term).text
    }

    fn nouns(&self, expressions: &[Expression]) -> Vec<Term> {
        let read = |one: &Expression| Term::read(one, self.text, &Unscoped);
        expressions.iter().map(read).collect()
    }

    /// `"log in" with "ann"`.
    fn action(&self, step: &Step) -> String {
        let name = self.speaker.words(&step.action);
        match step.arguments.is_empty() {
            true => format!("\"{name}\""),
            false => {
                let arguments = self.speaker.operands(&self.nouns(&step.arguments));
                format!("\"{name}\" with {arguments}")
            }
        }
    }

    fn start(&self, initial: &Expression) -> Section {
        let told = format!("It starts in state {}.", self.noun(initial));
        let lines = self.index.lines(&initial.range);
        alone(Item::new(ItemKind::Paragraph(told), lines).from_level(0))
    }

    /// "From state N:", in the order in which states are left first.
    fn states(&self, scenario: &Scenario) -> Vec<Section> {
        let mut states: Vec<&Expression> = Vec::new();
        let appearing = scenario
            .edges
            .iter()
            .flat_map(|edge| [&edge.from, &edge.to]);
        for state in appearing {
            if !states.contains(&state) {
                states.push(state);
            }
        }
        let mut sections = Vec::new();
        for state in states {
            let edges = scenario.edges.iter().filter(|edge| edge.from == *state);
            let items: Vec<Item> = edges
                .map(|edge| {
                    let mut told = self.action(&edge.step);
                    if let Some(result) = &edge.step.result {
                        told.push_str(&format!(", returning {},", self.noun(result)));
                    }
                    told.push_str(&match edge.to == edge.from {
                        true => " leads back to the same state.".to_owned(),
                        false => format!(" leads to state {}.", self.noun(&edge.to)),
                    });
                    let lines = self.index.lines(&edge.whole.range);
                    Item::sentence(told, lines).from_level(0)
                })
                .collect();
            if !items.is_empty() {
                let mut told = section(&format!("From state {}", self.noun(state)), items);
                told.level = 0;
                sections.push(told);
            }
        }
        sections
    }

    fn end(&self, scenario: &Scenario) -> Option<Section> {
        let accepting = scenario.accepting.as_ref()?;
        let states: Vec<String> = accepting.iter().map(|state| self.noun(state)).collect();
        let told = match states.is_empty() {
            true => "never.".to_owned(),
            false => format!("only in state {}.", join::nouns(&states, "or")),
        };
        let range = match accepting.as_slice() {
            [first, ..] => first.range.clone(),
            [] => scenario.initial.range.clone(),
        };
        Some(alone(Item::labelled(
            "A run may end",
            told,
            self.index.lines(&range),
        )))
    }
}
