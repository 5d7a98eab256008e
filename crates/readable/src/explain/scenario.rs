//! Explains finite-state scenario machines and test suites.

use testwright_source::tree::{self, Expression, Statement, StatementKind};

use super::Options;
use super::document::{alone, section};
use super::locate::{FsmScenario, FsmStep, suite};
use super::tell::LineIndex;
use crate::block::{Document, DocumentItem, DocumentSection, DocumentSource, ItemKind};
use crate::gherkin::{self, Feature, StepKeyword};
use crate::phrase::{PhraseRecorder, Phraser, join};
use crate::property::{PropertyModule, RenderedFeature, call_text, python_string};
use crate::quotation;
use crate::steps::constants::LineSource;
use crate::steps::{ExecutableLine, ExecutableScenario};
use crate::term::{EmptyScope, Term};
use crate::value::PythonValue;

/// Writes the document of a scenario machine.
pub(super) fn document(
    name: &str,
    scenario: &FsmScenario,
    source: &DocumentSource,
    options: &Options,
    recorder: &PhraseRecorder,
) -> Document {
    let phraser = Phraser::new(&options.vocabulary).with_recorder(recorder);
    let author = ScenarioWriter {
        phraser,
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

/// Writes the document of the runs of a test suite.
pub(super) fn suite_document(
    name: &str,
    runs: &[Vec<FsmStep>],
    intro: Option<String>,
    source: &DocumentSource,
    options: &Options,
    recorder: &PhraseRecorder,
) -> Document {
    let author = ScenarioWriter {
        phraser: Phraser::new(&options.vocabulary).with_recorder(recorder),
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
            DocumentItem::sentence(told, author.index.lines(&step.whole.range)).with_level(0)
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

/// Executor of a suite's steps when it runs as a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// The functions that the suite itself names. The text is the name of its module in code.
    Suite(String),
    /// Models.
    Models,
    /// An implementation, by its stepper. The expected results stand in the suite.
    Stepper,
    /// An implementation beside models, which know the expected results.
    Compared,
}

impl Actor {
    /// Returns the code that brings everything to the start of a run.
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

impl PropertyModule {
    /// Returns true if it is a test suite whose actions are only names.
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

    /// Converts the runs of a test suite to scenarios with their code. Returns `None` if it is not
    /// a test suite.
    #[must_use]
    pub fn suite(&self, phraser: &Phraser<'_>, actor: &Actor) -> Option<RenderedFeature> {
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
                    phraser,
                    text: &self.text,
                    actor,
                    place: format!("[{number}][{position}]"),
                };
                lines.push(player.call("I call", step));
                lines.extend(player.answer(step));
            }
            let said =
                |line: &ExecutableLine| gherkin::ScenarioStep::new(line.keyword, &line.text());
            let name = format!("Run {} with {steps}", number + 1);
            scenarios.push(gherkin::Scenario {
                name: name.clone(),
                steps: lines.iter().map(said).collect(),
                ..gherkin::Scenario::default()
            });
            let actions: Vec<&str> = run.iter().map(|step| step.dotted.as_str()).collect();
            plays.push(ExecutableScenario {
                scenario: name,
                before: vec![actor.start(&actions)],
                lines,
                last: Vec::new(),
            });
        }
        (!scenarios.is_empty()).then(|| RenderedFeature {
            feature: Feature {
                tags: vec![],
                scenarios,
                ..self.feature_head(phraser)
            },
            scenarios: plays,
            ..RenderedFeature::default()
        })
    }
}

/// Renders a step of a suite in words and in code.
pub(crate) struct Player<'a> {
    pub(crate) phraser: &'a Phraser<'a>,
    /// Text that the step stands in.
    pub(crate) text: &'a str,
    pub(crate) actor: &'a Actor,
    /// Position of the step in the suite.
    pub(crate) place: String,
}

impl Player<'_> {
    fn source(&self, expression: &Expression) -> &str {
        self.text.get(expression.range.clone()).unwrap_or_default()
    }

    /// Renders `I call "log in" with "ann"`.
    pub(crate) fn call(&self, verb: &str, step: &FsmStep) -> ExecutableLine {
        let arguments: Vec<&str> = step.arguments.iter().map(|one| self.source(one)).collect();
        // Names have their meaning in the module of the suite.
        let is_constant = step.arguments.iter().all(|one| self.is_constant(one));
        let given = match (is_constant, self.actor) {
            (false, Actor::Suite(module)) => {
                format!("*{module}.{}{}[1]", self.suite_name(), self.place)
            }
            _ => arguments.join(", "),
        };
        let code = match self.actor {
            Actor::Suite(module) => format!("answer = {module}.{}({given})", step.dotted),
            // An implementation is judged right when it acts. So it waits for the line with the
            // expected result.
            Actor::Stepper | Actor::Compared if step.result.is_none() => self.code("step", step),
            _ => self.code("take", step),
        };
        self.call_with(
            StepKeyword::When,
            &|words| format!("{verb} {words}"),
            step,
            &[code],
        )
    }

    /// Renders `run.take("Login", "ann")`.
    pub(crate) fn code(&self, method: &str, step: &FsmStep) -> String {
        let name = python_string(&step.action);
        let arguments = step.arguments.iter().map(|one| self.source(one).to_owned());
        let all: Vec<String> = std::iter::once(name).chain(arguments).collect();
        format!("run.{method}({})", all.join(", "))
    }

    /// Renders a line about a call, with its own code.
    pub(crate) fn call_with(
        &self,
        keyword: StepKeyword,
        saying: &dyn Fn(&str) -> String,
        step: &FsmStep,
        code: &[String],
    ) -> ExecutableLine {
        let arguments: Vec<&str> = step.arguments.iter().map(|one| self.source(one)).collect();
        let call = format!("{}({})", step.action, arguments.join(", "));
        let words = |term: &Term| match term {
            Term::Call(call) => saying(&call_text(call, self.phraser)),
            other => saying(&self.phraser.noun(other).text),
        };
        self.line(keyword, &call, &words, code)
    }

    /// Returns true if a value is a literal.
    pub(crate) fn is_constant(&self, one: &Expression) -> bool {
        PythonValue::from_expression(one, self.text, &EmptyScope).is_some()
    }

    /// Renders `the answer is "welcome"`.
    pub(crate) fn answer(&self, step: &FsmStep) -> Option<ExecutableLine> {
        let result = self.source(step.result.as_ref()?);
        let code = match self.actor {
            Actor::Suite(_) => {
                format!("assert answer == {result}, f\"the answer is {{answer!r}}\"")
            }
            _ => format!("run.check_answer({result})"),
        };
        let words = |term: &Term| format!("the answer is {}", self.phraser.noun(term).text);
        Some(self.line(StepKeyword::Then, result, &words, &[code]))
    }

    fn line(
        &self,
        keyword: StepKeyword,
        source: &str,
        words: &dyn Fn(&Term) -> String,
        code: &[String],
    ) -> ExecutableLine {
        match tree::expression(source) {
            Ok(expression) => LineSource {
                expression: &expression,
                text: source,
                scope: &EmptyScope,
                read: &Term::from_expression,
            }
            .line(keyword, words, code),
            Err(_) => ExecutableLine::fixed(
                keyword,
                &format!(
                    "the Python expression {} is met",
                    quotation::quote_code(source)
                ),
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

struct ScenarioWriter<'a> {
    phraser: Phraser<'a>,
    text: &'a str,
    index: LineIndex,
}

impl ScenarioWriter<'_> {
    fn noun(&self, expression: &Expression) -> String {
        let term = Term::from_expression(expression, self.text, &EmptyScope);
        self.phraser.noun(&term).text
    }

    fn nouns(&self, expressions: &[Expression]) -> Vec<Term> {
        let read = |one: &Expression| Term::from_expression(one, self.text, &EmptyScope);
        expressions.iter().map(read).collect()
    }

    /// Renders `"log in" with "ann"`.
    fn action(&self, step: &FsmStep) -> String {
        let name = self.phraser.words(&step.action);
        if step.arguments.is_empty() {
            format!("\"{name}\"")
        } else {
            let arguments = self.phraser.operands(&self.nouns(&step.arguments));
            format!("\"{name}\" with {arguments}")
        }
    }

    fn start(&self, initial: &Expression) -> DocumentSection {
        let told = format!("It starts in state {}.", self.noun(initial));
        let lines = self.index.lines(&initial.range);
        alone(DocumentItem::new(ItemKind::Paragraph(told), lines).with_level(0))
    }

    /// Writes "From state N:", in the order in which states are first left.
    fn states(&self, scenario: &FsmScenario) -> Vec<DocumentSection> {
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
            let items: Vec<DocumentItem> = edges
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
                    DocumentItem::sentence(told, lines).with_level(0)
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

    fn end(&self, scenario: &FsmScenario) -> Option<DocumentSection> {
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
        Some(alone(DocumentItem::labelled(
            "A run may end",
            told,
            self.index.lines(&range),
        )))
    }
}
