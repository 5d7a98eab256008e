//! Counterexamples of harnesses: a reduced test, step by step (X5 to X8).

use std::collections::BTreeMap;

use testwright_source::tree::{self, Expression, Statement, StatementKind};

use super::RenderedCounterexample;
use super::slots::SlotTable;
use crate::gherkin::{
    Description, Feature, Scenario, ScenarioStep, StepKeyword, remove_line_breaks,
};
use crate::mermaid::{DiagramMessage, SequenceDiagram};
use crate::phrase::Phraser;
use crate::property::{RenderedFeature, StepSentence, call_text};
use crate::quotation;
use crate::steps::constants::LineSource;
use crate::steps::{self, ExecutableLine, ExecutableScenario};
use crate::term::{CallTarget, CallTerm, Term, Type};
use crate::value::PythonValue;
use crate::words::capitalise;

/// A failing test of a harness.
#[derive(Debug, Clone)]
pub struct FailedTest<'a> {
    /// The name of the harness, without folder and ending.
    pub harness: &'a str,
    /// The leading comment lines of the harness, without their marks.
    pub comment: &'a [String],
    /// The pools of the harness, by name.
    pub pools: &'a [String],
    /// The steps in stored form (`self.p_int[0] = 5`) or in readable form (`int0 = 5`).
    pub steps: &'a [String],
    /// The cause of the failure in the last step.
    pub cause: FailureCause,
    /// The code of the steps, if it is known.
    pub code: Option<&'a TestCode>,
}

/// The Python statements of a test. Slots are variables of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestCode {
    /// Statements before the first step.
    pub before: Vec<String>,
    /// The statements of each step.
    pub steps: Vec<Vec<String>>,
    /// The final check, which does not hold.
    pub check: Vec<String>,
    /// Statements that run at the end, even after a failure.
    pub last: Vec<String>,
}

/// The cause of a test's failure (X7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureCause {
    /// A false check or invariant: a Python expression on the slots, with `pre<(…)>` for earlier
    /// values.
    Check(String),
    /// The answer of the last step differs from that of the reference.
    Reference,
    /// The last step raised an exception of this class, or ended in another unwanted way.
    Error(Option<String>),
}

impl FailedTest<'_> {
    /// Renders the test as a scenario with a diagram.
    #[must_use]
    pub fn render(&self, phraser: &Phraser<'_>) -> RenderedCounterexample {
        self.render_with_names(&BTreeMap::new(), phraser)
    }

    /// Renders the test where more names are known; attributes of a state machine as `self.name`.
    pub(super) fn render_with_names(
        &self,
        known: &BTreeMap<String, Term>,
        phraser: &Phraser<'_>,
    ) -> RenderedCounterexample {
        let mut builder = ScenarioBuilder::new(self, known, phraser);
        for (index, step) in self.steps.iter().enumerate() {
            let is_last = index + 1 == self.steps.len();
            let code = self.code.and_then(|code| code.steps.get(index));
            builder.code = code.cloned().unwrap_or_default();
            builder.tries = is_last && builder.fails;
            builder.add_step(step, is_last);
        }
        builder.finish(self)
    }
}

/// The scenario and the diagram, as far as they are built.
struct ScenarioBuilder<'a> {
    /// The slots and the terms they hold.
    slots: SlotTable<'a>,
    phraser: &'a Phraser<'a>,
    /// True if the last step raises an error.
    fails: bool,
    /// True after the first `When` step.
    has_acted: bool,
    /// The steps so far.
    scenario: Scenario,
    /// The messages so far.
    diagram: SequenceDiagram,
    /// The slot of each participant of the diagram; empty for the system as a whole.
    objects: Vec<String>,
    /// The words of the last call, which a failed comparison names.
    last_call: Option<String>,
    /// The code of the scenario.
    executable: ExecutableScenario,
    /// The code of the current step.
    code: Vec<String>,
    /// True if the error of the current step is kept for the next line.
    tries: bool,
}

impl<'a> ScenarioBuilder<'a> {
    /// Creates a builder without steps.
    fn new(
        failed: &'a FailedTest<'a>,
        known: &'a BTreeMap<String, Term>,
        phraser: &'a Phraser<'a>,
    ) -> ScenarioBuilder<'a> {
        ScenarioBuilder {
            slots: SlotTable {
                values: BTreeMap::new(),
                pools: failed.pools,
                names: known,
                phraser,
            },
            phraser,
            fails: matches!(failed.cause, FailureCause::Error(_)),
            has_acted: false,
            scenario: Scenario {
                tags: vec!["counterexample".to_owned()],
                ..Scenario::default()
            },
            diagram: SequenceDiagram::default(),
            objects: Vec::new(),
            last_call: None,
            executable: ExecutableScenario {
                before: failed
                    .code
                    .map(|code| code.before.clone())
                    .unwrap_or_default(),
                last: failed
                    .code
                    .map(|code| code.last.clone())
                    .unwrap_or_default(),
                ..ExecutableScenario::default()
            },
            code: Vec::new(),
            tries: false,
        }
    }

    /// Adds a step of the test: an assignment, a call, or a restart.
    fn add_step(&mut self, text: &str, is_last: bool) {
        if text == RESTART {
            self.slots.values.clear();
            self.has_acted = true;
            return self.add_fixed_line(StepKeyword::When, "I start everything again");
        }
        let parsed = tree::statements(text).unwrap_or_default();
        match parsed.as_slice() {
            [
                Statement {
                    kind: StatementKind::Assign { targets, value },
                    ..
                },
            ] => match targets.as_slice() {
                [target] => match self.slots.slot_of(target) {
                    Some(slot) => self.add_assignment(&slot, value, text, is_last),
                    None => self.add_source_line(text),
                },
                _ => self.add_source_line(text),
            },
            [
                Statement {
                    kind: StatementKind::Expression(expression),
                    ..
                },
            ] => match self.slots.term(expression, text) {
                Term::Call(call) => self.add_call(call, None, is_last, (expression, text)),
                _ => self.add_source_line(text),
            },
            _ => self.add_source_line(text),
        }
    }

    /// Adds an assignment to a slot. Scalars have no step of their own (X6), constructors are
    /// `Given`, calls are `When`.
    fn add_assignment(&mut self, slot: &str, value: &Expression, text: &str, is_last: bool) {
        let term = self.slots.term(value, text);
        match term {
            Term::Value(value) if is_scalar(&value) => {
                self.slots
                    .values
                    .insert(slot.to_owned(), Term::Value(value));
                // A scalar has no line, so its code belongs to the line before.
                let unsaid = std::mem::take(&mut self.code);
                match self.executable.lines.last_mut() {
                    Some(line) => line.code.extend(unsaid),
                    None => self.executable.before.extend(unsaid),
                }
            }
            Term::Call(call) if Term::Call(call.clone()).is_unknown_call() => {
                self.add_call(call, Some(slot), is_last, (value, text));
                self.slots.name_slot(slot, Type::Unknown);
            }
            term => {
                let type_ = term.type_of();
                let name = self.slots.display_name(slot);
                let noun = self.phraser.noun(&term).text;
                let is_tried = is_last && self.fails;
                let (keyword, verb) = match (is_tried, self.has_acted) {
                    (true, _) => (StepKeyword::When, "I try to make"),
                    (false, true) => (StepKeyword::When, "I make"),
                    (false, false) => (StepKeyword::Given, "I have"),
                };
                let phraser = self.phraser;
                self.add_line(keyword, (value, text), &|term| {
                    format!("{verb} {}, called {name}", phraser.noun(term).text)
                });
                if let Type::Object(class) = &type_ {
                    self.objects.push(slot.to_owned());
                    self.diagram
                        .participants
                        .push(format!("{name} ({})", self.phraser.words(class)));
                }
                if keyword == StepKeyword::When
                    && let Some(to) = self.participant(Some(slot))
                {
                    self.diagram.messages.push(DiagramMessage::Call {
                        to,
                        text: format!("make {noun}"),
                    });
                }
                self.slots.name_slot(slot, type_);
            }
        }
    }

    /// Adds a call as a `When` step and as a message.
    fn add_call(
        &mut self,
        call: Box<CallTerm>,
        giving: Option<&str>,
        is_last: bool,
        origin: (&Expression, &str),
    ) {
        let is_tried = is_last && self.fails;
        let verb = if is_tried { "I try to call" } else { "I call" };
        let giving = giving.map(|slot| format!(", giving {}", self.slots.display_name(slot)));
        let giving = giving.unwrap_or_default();
        self.has_acted = true;
        let phraser = self.phraser;
        self.add_line(StepKeyword::When, origin, &|term| {
            let called = match term {
                Term::Call(call) => call_text(call, phraser),
                other => phraser.noun(other).text,
            };
            format!("{verb} {called}{giving}")
        });
        let (name, object) = match &call.callee {
            CallTarget::Function { name, .. } => (name.clone(), None),
            CallTarget::Method { object, name } => (name.clone(), Some(object)),
            CallTarget::Other(_) => ("call".to_owned(), None),
        };
        let slot = object.and_then(|object| {
            let is_it =
                |(slot, term): &(&String, &Term)| (*term == object).then(|| (*slot).clone());
            self.slots.values.iter().find_map(|entry| is_it(&entry))
        });
        if let Some(to) = self.participant(slot.as_deref()) {
            let arguments = self.phraser.arguments(&call);
            let arguments = arguments
                .map(|arguments| format!(" {arguments}"))
                .unwrap_or_default();
            let text = format!("{}{arguments}", self.phraser.words(&name));
            self.diagram
                .messages
                .push(DiagramMessage::Call { to, text });
        }
        self.last_call = Some(self.phraser.words(&name));
    }

    /// Returns the participant that a message goes to. A call on no object of the test goes to the
    /// system as a whole.
    fn participant(&mut self, slot: Option<&str>) -> Option<usize> {
        let wanted = slot
            .filter(|slot| self.objects.iter().any(|object| object == slot))
            .unwrap_or("");
        if wanted.is_empty() && !self.objects.iter().any(String::is_empty) {
            self.objects.push(String::new());
            self.diagram.participants.push("System".to_owned());
        }
        self.objects.iter().position(|object| object == wanted)
    }

    /// Adds a statement that has no phrase, as quoted code.
    fn add_source_line(&mut self, text: &str) {
        self.has_acted = true;
        let sentence = StepSentence::Statement(quotation::on_one_line(text));
        let words = sentence.text(self.phraser);
        self.add_fixed_line(StepKeyword::When, &words);
    }

    /// Adds a line that phrases an expression. Constants in it can be changed in the feature.
    fn add_line(
        &mut self,
        keyword: StepKeyword,
        (expression, text): (&Expression, &str),
        words: &dyn Fn(&Term) -> String,
    ) {
        let slots = &self.slots;
        let origin = LineSource {
            expression,
            text,
            scope: slots,
            read: &|expression, text, scope| slots.term_in(expression, text, scope),
        };
        let line = origin.line(keyword, words, &std::mem::take(&mut self.code));
        self.push_line(line);
    }

    /// Adds a line whose text never changes.
    fn add_fixed_line(&mut self, keyword: StepKeyword, words: &str) {
        let code = std::mem::take(&mut self.code);
        self.push_line(ExecutableLine::fixed(
            keyword,
            &remove_line_breaks(words),
            &code,
        ));
    }

    /// Appends a line to the scenario and to its code.
    fn push_line(&mut self, mut line: ExecutableLine) {
        if std::mem::take(&mut self.tries) {
            line.code = keep_error(&line.code);
        }
        self.scenario
            .steps
            .push(ScenarioStep::new(line.keyword, &line.text()));
        self.executable.lines.push(line);
    }

    /// Adds the final check, names the scenario after its number of steps (X5), and completes the
    /// diagram.
    fn finish(mut self, failed: &FailedTest<'_>) -> RenderedCounterexample {
        let steps = self.scenario.steps.len();
        self.scenario.name = match steps {
            1 => "Counterexample with 1 step".to_owned(),
            _ => format!("Counterexample with {steps} steps"),
        };
        let (expected, observed) = self.expected_and_observed(failed);
        self.add_final_check(failed, &expected);
        if let (FailureCause::Error(error), Some(last)) =
            (&failed.cause, self.diagram.messages.last())
        {
            let from = match last {
                DiagramMessage::Call { to, .. } => *to,
                DiagramMessage::Answer { from, .. } | DiagramMessage::Failure { from, .. } => *from,
            };
            let text = match error {
                Some(error) => format!("error \"{}\"", self.phraser.words(error)),
                None => "no answer".to_owned(),
            };
            self.diagram
                .messages
                .push(DiagramMessage::Failure { from, text });
        }
        self.diagram.notes = vec![
            format!("Expected: {expected}"),
            format!("Observed: {observed}"),
        ];
        let mut description = Description::default();
        description.push(&failed.comment.join(" "));
        let feature = Feature {
            name: capitalise(&self.phraser.words(failed.harness)),
            description,
            scenarios: vec![self.scenario],
            ..Feature::default()
        };
        self.executable.scenario = feature.scenarios[0].name.clone();
        RenderedCounterexample {
            rendered: RenderedFeature {
                feature,
                scenarios: failed.code.map(|_| self.executable).into_iter().collect(),
                ..RenderedFeature::default()
            },
            diagram: self.diagram,
        }
    }

    /// Adds the failed check as the last line (X7).
    fn add_final_check(&mut self, failed: &FailedTest<'_>, expected: &str) {
        self.code = match (&failed.cause, failed.code) {
            (FailureCause::Error(_), Some(_)) => reraise(),
            (_, Some(code)) => code.check.clone(),
            (_, None) => Vec::new(),
        };
        if let FailureCause::Check(text) = &failed.cause {
            let text = rewrite_earlier_values(text);
            if let Ok(expression) = tree::expression(&text) {
                let phraser = self.phraser;
                return self.add_line(StepKeyword::Then, (&expression, &text), &|term| {
                    phraser.clause(term)
                });
            }
        }
        self.add_fixed_line(StepKeyword::Then, expected);
    }

    /// Returns the expectation and the observation, as clauses.
    fn expected_and_observed(&self, failed: &FailedTest<'_>) -> (String, String) {
        match &failed.cause {
            FailureCause::Check(text) => {
                let text = rewrite_earlier_values(text);
                match tree::expression(&text) {
                    Ok(expression) => {
                        let term = self.slots.term(&expression, &text);
                        (self.phraser.clause(&term), self.phraser.negative(&term))
                    }
                    Err(_) => {
                        let text = quotation::quote_code(&quotation::on_one_line(&text));
                        (
                            format!("the Python expression {text} is true"),
                            "it is not".to_owned(),
                        )
                    }
                }
            }
            FailureCause::Reference => {
                let name = self.last_call.as_deref().unwrap_or("the last step");
                let answer = format!("the answer to \"{name}\"");
                (
                    format!("{answer} is the same as that of the reference"),
                    format!("{answer} is not the same as that of the reference"),
                )
            }
            FailureCause::Error(error) => {
                let observed = match error {
                    Some(error) => format!(
                        "the last step fails with the error \"{}\"",
                        self.phraser.words(error)
                    ),
                    None => "the last step does not come to an end".to_owned(),
                };
                ("no error is raised".to_owned(), observed)
            }
        }
    }
}

/// The line of a saved test that resets everything.
const RESTART: &str = "<<RESTART>>";

/// Wraps code so that its error is kept for the next line.
pub(super) fn keep_error(code: &[String]) -> Vec<String> {
    let code = if code.is_empty() {
        vec!["pass".to_owned()]
    } else {
        code.to_vec()
    };
    let attempt = format!(
        "failure = None\ntry:\n{}",
        steps::indented(&code).trim_end()
    );
    vec![
        attempt,
        "except Exception as error:\n    failure = error".to_owned(),
    ]
}

/// Returns code that raises a kept error again.
pub(super) fn reraise() -> Vec<String> {
    vec!["if failure is not None:\n    raise failure".to_owned()]
}

/// Rewrites `pre<(e)>` and `PRE%(e)%` as calls of `pre`, which Python can parse.
fn rewrite_earlier_values(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((position, opening, closing)) = find_earlier_value(rest) {
        let (before, behind) = rest.split_at(position);
        let inner = behind.get(opening.len()..).unwrap_or_default();
        let Some(end) = closing_position(inner, closing) else {
            break;
        };
        code.push_str(&format!(
            "{before}pre({})",
            rewrite_earlier_values(&inner[..end])
        ));
        rest = &inner[end + closing.len()..];
    }
    code + rest
}

/// Finds the first earlier value: its position and its marks.
fn find_earlier_value(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let marks = [("pre<(", ")>"), ("PRE%(", ")%")];
    let found = marks
        .into_iter()
        .filter_map(|(opening, closing)| Some((text.find(opening)?, opening, closing)));
    found.min()
}

/// Returns the position at which the bracket that is open at the beginning closes.
fn closing_position(text: &str, closing: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(position, letter)| {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => {
                return text
                    .get(position..)?
                    .starts_with(closing)
                    .then_some(position);
            }
            ')' => depth -= 1,
            _ => {}
        }
        None
    })
}

/// Returns true for numbers, texts, truth values and nothing, which are written where they are used
/// (X6).
fn is_scalar(value: &PythonValue) -> bool {
    value.is_number()
        || matches!(
            value,
            PythonValue::Text(_) | PythonValue::Boolean(_) | PythonValue::Nothing
        )
}
