//! The document of a finite-state scenario machine (6.7).

use testwright_source::tree::Expression;

use super::Options;
use super::document::{alone, section};
use super::locate::Scenario;
use super::tell::LineIndex;
use crate::block::{Document, Item, ItemKind, Section, Source};
use crate::phrase::{Recorder, Speaker, join};
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
                    let mut told = format!("\"{}\"", self.speaker.words(&edge.action));
                    if !edge.arguments.is_empty() {
                        let arguments = self.speaker.operands(&self.nouns(&edge.arguments));
                        told.push_str(&format!(" with {arguments}"));
                    }
                    if let Some(result) = &edge.result {
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
