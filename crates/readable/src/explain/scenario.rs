//! Finite-state scenario machines and test suites (6.7).

use testwright_source::tree::{self, Expression, Statement, StatementKind};

use super::Options;
use super::document::{alone, section};
use super::locate::{Scenario, Step, suite};
use super::tell::LineIndex;
use crate::block::{Document, Item, ItemKind, Section, Source};
use crate::gherkin::{self, Feature, Keyword};
use crate::phrase::{Recorder, Speaker, join};
use crate::property::{Subject, Told, called, quoted};
use crate::quotation;
use crate::steps::constants::Origin;
use crate::steps::{Play, PlayLine};
use crate::term::{Term, Unscoped};
use crate::value::Value;

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

/// Who does the steps of a suite when it runs as a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// The functions that the suite itself names; this is what its module is called in code.
    Suite(String),
    /// Models.
    Models,
    /// An implementation, by its stepper. What it should answer stands in the suite.
    Stepper,
    /// The same beside models, which know what it should answer.
    Compared,
}

impl Actor {
    /// What lets everything begin where runs begin.
    pub(crate) fn start(&self, actions: &[&str]) -> String {
        match self {
            Actor::Suite(module) => {
                let mut actions: Vec<String> = actions
                    .iter()
                    .map(|one| format!("{module}.{one}"))
                    .collect();
                actions.sort();
                actions.dedup();
                format!("start_anew({})", actions.join(", "))
            }
            Actor::Models | Actor::Stepper | Actor::Compared => "run = Run()".to_owned(),
        }
    }
}

impl Subject {
    /// Whether it is a test suite whose actions are nothing but names.
    #[must_use]
    pub fn has_only_names(&self) -> bool {
        let is_stub = |statement: &Statement| match &statement.kind {
            StatementKind::Function(function) => {
                let does_nothing = |part: &Statement| matches!(part.kind, StatementKind::Pass);
                (function.body.iter().all(does_nothing)).then(|| function.name.clone())
            }
            _ => None,
        };
        let stubs: Vec<String> = self.module().body.iter().filter_map(is_stub).collect();
        let runs = suite(self.module()).unwrap_or_default();
        runs.iter()
            .flatten()
            .any(|step| stubs.contains(&step.dotted))
    }

    /// The runs of a test suite as scenarios, and what they do; nothing if it is none.
    #[must_use]
    pub fn suite(&self, speaker: &Speaker<'_>, actor: &Actor) -> Option<Told> {
        let runs = suite(self.module())?;
        let mut scenarios = Vec::new();
        let mut plays = Vec::new();
        for (number, run) in runs.iter().enumerate() {
            let steps = match run.len() {
                0 => continue,
                1 => "1 step".to_owned(),
                steps => format!("{steps} steps"),
            };
            let mut lines = Vec::new();
            for (position, step) in run.iter().enumerate() {
                let player = Player {
                    speaker,
                    text: &self.text,
                    actor,
                    place: format!("[{number}][{position}]"),
                };
                lines.push(player.call("I call", step));
                lines.extend(player.answer(step));
            }
            let said = |line: &PlayLine| gherkin::Step::new(line.keyword, &line.text());
            let name = format!("Run {} with {steps}", number + 1);
            scenarios.push(gherkin::Scenario {
                name: name.clone(),
                steps: lines.iter().map(said).collect(),
                ..gherkin::Scenario::default()
            });
            let actions: Vec<&str> = run.iter().map(|step| step.dotted.as_str()).collect();
            plays.push(Play {
                scenario: name,
                before: vec![actor.start(&actions)],
                lines,
                last: Vec::new(),
            });
        }
        (!scenarios.is_empty()).then(|| Told {
            feature: Feature {
                tags: vec![],
                scenarios,
                ..self.head(speaker)
            },
            plays,
            ..Told::default()
        })
    }
}

/// Tells a step of a suite in words and in code.
pub(crate) struct Player<'a> {
    pub(crate) speaker: &'a Speaker<'a>,
    /// The text that the step stands in.
    pub(crate) text: &'a str,
    pub(crate) actor: &'a Actor,
    /// Where in the suite it stands.
    pub(crate) place: String,
}

impl Player<'_> {
    fn source(&self, expression: &Expression) -> &str {
        self.text.get(expression.range.clone()).unwrap_or_default()
    }

    /// `I call "log in" with "ann"`.
    pub(crate) fn call(&self, verb: &str, step: &Step) -> PlayLine {
        let arguments: Vec<&str> = step.arguments.iter().map(|one| self.source(one)).collect();
        // What has a name has it where the suite is.
        let is_constant = step.arguments.iter().all(|one| self.is_constant(one));
        let given = match (is_constant, self.actor) {
            (false, Actor::Suite(module)) => {
                format!("*{module}.{}{}[1]", self.suite_name(), self.place)
            }
            _ => arguments.join(", "),
        };
        let code = match self.actor {
            Actor::Suite(module) => format!("answer = {module}.{}({given})", step.dotted),
            // An implementation does it and is judged at once, so it waits for the line that says what to answer.
            Actor::Stepper | Actor::Compared if step.result.is_none() => self.code("step", step),
            _ => self.code("take", step),
        };
        self.call_with(
            Keyword::When,
            &|words| format!("{verb} {words}"),
            step,
            &[code],
        )
    }

    /// `run.take("Login", "ann")`.
    pub(crate) fn code(&self, method: &str, step: &Step) -> String {
        let name = quoted(&step.action);
        let arguments = step.arguments.iter().map(|one| self.source(one).to_owned());
        let all: Vec<String> = std::iter::once(name).chain(arguments).collect();
        format!("run.{method}({})", all.join(", "))
    }

    /// A line about a call, with code of its own.
    pub(crate) fn call_with(
        &self,
        keyword: Keyword,
        saying: &dyn Fn(&str) -> String,
        step: &Step,
        code: &[String],
    ) -> PlayLine {
        let arguments: Vec<&str> = step.arguments.iter().map(|one| self.source(one)).collect();
        let call = format!("{}({})", step.action, arguments.join(", "));
        let words = |term: &Term| match term {
            Term::Call(call) => saying(&called(call, self.speaker)),
            other => saying(&self.speaker.noun(other).text),
        };
        self.line(keyword, &call, &words, code)
    }

    /// Whether a value stands there as it is.
    pub(crate) fn is_constant(&self, one: &Expression) -> bool {
        Value::of_expression(one, self.text, &Unscoped).is_some()
    }

    /// `the answer is "welcome"`.
    pub(crate) fn answer(&self, step: &Step) -> Option<PlayLine> {
        let result = self.source(step.result.as_ref()?);
        let code = match self.actor {
            Actor::Suite(_) => {
                format!("assert answer == {result}, f\"the answer is {{answer!r}}\"")
            }
            _ => format!("run.check_answer({result})"),
        };
        let words = |term: &Term| format!("the answer is {}", self.speaker.noun(term).text);
        Some(self.line(Keyword::Then, result, &words, &[code]))
    }

    fn line(
        &self,
        keyword: Keyword,
        source: &str,
        words: &dyn Fn(&Term) -> String,
        code: &[String],
    ) -> PlayLine {
        match tree::expression(source) {
            Ok(expression) => Origin {
                expression: &expression,
                text: source,
                scope: &Unscoped,
                read: &Term::read,
            }
            .line(keyword, words, code),
            Err(_) => PlayLine::fixed(
                keyword,
                &format!("the Python expression {} is met", quotation::quoted(source)),
                code,
            ),
        }
    }

    fn suite_name(&self) -> &'static str {
        ["testSuite", "testsuite", "test_suite"]
            .into_iter()
            .find(|name| self.text.contains(name))
            .unwrap_or("testSuite")
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
        if step.arguments.is_empty() {
            format!("\"{name}\"")
        } else {
            let arguments = self.speaker.operands(&self.nouns(&step.arguments));
            format!("\"{name}\" with {arguments}")
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
                    told.push_str(&if edge.to == edge.from {
                        " leads back to the same state.".to_owned()
                    } else {
                        format!(" leads to state {}.", self.noun(&edge.to))
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
        let told = if states.is_empty() {
            "never.".to_owned()
        } else {
            format!("only in state {}.", join::nouns(&states, "or"))
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
