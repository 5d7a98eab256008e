//! A harness and a test that fails (5.3).

use std::collections::BTreeMap;

use testwright_source::tree::{self, Expression, Statement, StatementKind};

use super::Counterexample;
use super::slots::Slots;
use crate::gherkin::{Description, Feature, Keyword, Scenario, Step, without_breaks};
use crate::mermaid::{Diagram, Message};
use crate::phrase::Speaker;
use crate::property::{Saying, Told, called};
use crate::quotation;
use crate::steps::constants::Origin;
use crate::steps::{self, Play, PlayLine};
use crate::term::{Call, Callee, Term, Type};
use crate::value::Value;
use crate::words::capitalised;

/// A test that fails, step by step.
#[derive(Debug, Clone)]
pub struct Failing<'a> {
    /// The name of the harness, without folder and ending.
    pub harness: &'a str,
    /// The leading comment lines of the harness, without their marks.
    pub comment: &'a [String],
    /// The pools of the harness, by name.
    pub pools: &'a [String],
    /// Its steps in stored form (`self.p_int[0] = 5`) or as people read them (`int0 = 5`).
    pub steps: &'a [String],
    /// What the last step led to.
    pub violation: Violation,
    /// What the steps do, if that is known.
    pub acts: Option<&'a Acts>,
}

/// What the steps of a test do, in Python statements. Slots are variables of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acts {
    /// Before the first step.
    pub before: Vec<String>,
    /// For each step.
    pub steps: Vec<Vec<String>>,
    /// What is checked in the end, and does not hold.
    pub check: Vec<String>,
    /// What is done in the end, whatever happens.
    pub last: Vec<String>,
}

/// What the last step led to (X7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// A check or invariant is false: a Python expression on the slots, with `pre<(…)>` for earlier values.
    Check(String),
    /// The answer of the last step is not that of the reference.
    Reference,
    /// The last step raised an exception of this class, or ended in another unwanted way.
    Error(Option<String>),
}

impl Failing<'_> {
    /// The test as a scenario, with a diagram.
    #[must_use]
    pub fn tell(&self, speaker: &Speaker<'_>) -> Counterexample {
        self.tell_knowing(&BTreeMap::new(), speaker)
    }

    /// The same where more is known by name; attributes of a state machine as `self.name`.
    pub(super) fn tell_knowing(
        &self,
        known: &BTreeMap<String, Term>,
        speaker: &Speaker<'_>,
    ) -> Counterexample {
        let mut story = Story::new(self, known, speaker);
        for (index, step) in self.steps.iter().enumerate() {
            let is_last = index + 1 == self.steps.len();
            let code = self.acts.and_then(|acts| acts.steps.get(index));
            story.code = code.cloned().unwrap_or_default();
            story.tries = is_last && story.fails;
            story.step(step, is_last);
        }
        story.end(self)
    }
}

/// What has been told so far.
struct Story<'a> {
    slots: Slots<'a>,
    speaker: &'a Speaker<'a>,
    fails: bool,
    has_acted: bool,
    scenario: Scenario,
    diagram: Diagram,
    /// The slot of each participant.
    objects: Vec<String>,
    last_call: Option<String>,
    play: Play,
    /// What the step does that is told now.
    code: Vec<String>,
    /// Whether its error is kept for the next line.
    tries: bool,
}

impl<'a> Story<'a> {
    fn new(
        failing: &'a Failing<'a>,
        known: &'a BTreeMap<String, Term>,
        speaker: &'a Speaker<'a>,
    ) -> Story<'a> {
        Story {
            slots: Slots {
                values: BTreeMap::new(),
                pools: failing.pools,
                known,
                speaker,
            },
            speaker,
            fails: matches!(failing.violation, Violation::Error(_)),
            has_acted: false,
            scenario: Scenario {
                tags: vec!["counterexample".to_owned()],
                ..Scenario::default()
            },
            diagram: Diagram::default(),
            objects: Vec::new(),
            last_call: None,
            play: Play {
                before: failing
                    .acts
                    .map(|acts| acts.before.clone())
                    .unwrap_or_default(),
                last: failing
                    .acts
                    .map(|acts| acts.last.clone())
                    .unwrap_or_default(),
                ..Play::default()
            },
            code: Vec::new(),
            tries: false,
        }
    }

    fn step(&mut self, text: &str, is_last: bool) {
        if text == RESTART {
            self.slots.values.clear();
            self.has_acted = true;
            return self.say_fixed(Keyword::When, "I start everything anew");
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
                    Some(slot) => self.assign(&slot, value, text, is_last),
                    None => self.leak(text),
                },
                _ => self.leak(text),
            },
            [
                Statement {
                    kind: StatementKind::Expression(expression),
                    ..
                },
            ] => match self.slots.term(expression, text) {
                Term::Call(call) => self.call(call, None, is_last, (expression, text)),
                _ => self.leak(text),
            },
            _ => self.leak(text),
        }
    }

    fn assign(&mut self, slot: &str, value: &Expression, text: &str, is_last: bool) {
        let term = self.slots.term(value, text);
        match term {
            Term::Value(value) if is_scalar(&value) => {
                self.slots
                    .values
                    .insert(slot.to_owned(), Term::Value(value));
                // Nothing is said of it: it belongs to the line before.
                let unsaid = std::mem::take(&mut self.code);
                match self.play.lines.last_mut() {
                    Some(line) => line.code.extend(unsaid),
                    None => self.play.before.extend(unsaid),
                }
            }
            Term::Call(call) if Term::Call(call.clone()).is_unknown_call() => {
                self.call(call, Some(slot), is_last, (value, text));
                self.slots.hold(slot, Type::Unknown);
            }
            term => {
                let type_ = term.type_of();
                let name = self.slots.shown(slot);
                let noun = self.speaker.noun(&term).text;
                let is_tried = is_last && self.fails;
                let (keyword, verb) = match (is_tried, self.has_acted) {
                    (true, _) => (Keyword::When, "I try to make"),
                    (false, true) => (Keyword::When, "I make"),
                    (false, false) => (Keyword::Given, "I have"),
                };
                let speaker = self.speaker;
                self.say(keyword, (value, text), &|term| {
                    format!("{verb} {}, called {name}", speaker.noun(term).text)
                });
                if let Type::Object(class) = &type_ {
                    self.objects.push(slot.to_owned());
                    self.diagram
                        .participants
                        .push(format!("{name} ({})", self.speaker.words(class)));
                }
                if keyword == Keyword::When
                    && let Some(to) = self.participant(Some(slot))
                {
                    self.diagram.messages.push(Message::Call {
                        to,
                        text: format!("make {noun}"),
                    });
                }
                self.slots.hold(slot, type_);
            }
        }
    }

    fn call(
        &mut self,
        call: Box<Call>,
        giving: Option<&str>,
        is_last: bool,
        origin: (&Expression, &str),
    ) {
        let is_tried = is_last && self.fails;
        let verb = if is_tried { "I try to call" } else { "I call" };
        let giving = giving.map(|slot| format!(", giving {}", self.slots.shown(slot)));
        let giving = giving.unwrap_or_default();
        self.has_acted = true;
        let speaker = self.speaker;
        self.say(Keyword::When, origin, &|term| {
            let called = match term {
                Term::Call(call) => called(call, speaker),
                other => speaker.noun(other).text,
            };
            format!("{verb} {called}{giving}")
        });
        let (name, object) = match &call.callee {
            Callee::Function { name, .. } => (name.clone(), None),
            Callee::Method { object, name } => (name.clone(), Some(object)),
            Callee::Other(_) => ("call".to_owned(), None),
        };
        let slot = object.and_then(|object| {
            let is_it =
                |(slot, term): &(&String, &Term)| (*term == object).then(|| (*slot).clone());
            self.slots.values.iter().find_map(|entry| is_it(&entry))
        });
        if let Some(to) = self.participant(slot.as_deref()) {
            let arguments = self.speaker.arguments(&call);
            let arguments = arguments
                .map(|arguments| format!(" {arguments}"))
                .unwrap_or_default();
            let text = format!("{}{arguments}", self.speaker.words(&name));
            self.diagram.messages.push(Message::Call { to, text });
        }
        self.last_call = Some(self.speaker.words(&name));
    }

    /// Whom a message goes to. What belongs to no object of the test is done by the system as a whole.
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

    fn leak(&mut self, text: &str) {
        self.has_acted = true;
        let saying = Saying::Statement(quotation::on_one_line(text));
        let words = saying.words(self.speaker);
        self.say_fixed(Keyword::When, &words);
    }

    /// Says in words what an expression says in code.
    fn say(
        &mut self,
        keyword: Keyword,
        (expression, text): (&Expression, &str),
        words: &dyn Fn(&Term) -> String,
    ) {
        let slots = &self.slots;
        let origin = Origin {
            expression,
            text,
            scope: slots,
            read: &|expression, text, scope| slots.term_in(expression, text, scope),
        };
        let line = origin.line(keyword, words, &std::mem::take(&mut self.code));
        self.put(line);
    }

    fn say_fixed(&mut self, keyword: Keyword, words: &str) {
        let code = std::mem::take(&mut self.code);
        self.put(PlayLine::fixed(keyword, &without_breaks(words), &code));
    }

    fn put(&mut self, mut line: PlayLine) {
        if std::mem::take(&mut self.tries) {
            line.code = tried(&line.code);
        }
        self.scenario
            .steps
            .push(Step::new(line.keyword, &line.text()));
        self.play.lines.push(line);
    }

    fn end(mut self, failing: &Failing<'_>) -> Counterexample {
        let steps = self.scenario.steps.len();
        self.scenario.name = match steps {
            1 => "Counterexample with 1 step".to_owned(),
            _ => format!("Counterexample with {steps} steps"),
        };
        let (expected, observed) = self.ending(failing);
        self.say_ending(failing, &expected);
        if let (Violation::Error(error), Some(last)) =
            (&failing.violation, self.diagram.messages.last())
        {
            let from = match last {
                Message::Call { to, .. } => *to,
                Message::Answer { from, .. } | Message::Failure { from, .. } => *from,
            };
            let text = match error {
                Some(error) => format!("error \"{}\"", self.speaker.words(error)),
                None => "no answer".to_owned(),
            };
            self.diagram.messages.push(Message::Failure { from, text });
        }
        self.diagram.notes = vec![
            format!("Expected: {expected}"),
            format!("Observed: {observed}"),
        ];
        let mut description = Description::default();
        description.push(&failing.comment.join(" "));
        let feature = Feature {
            name: capitalised(&self.speaker.words(failing.harness)),
            description,
            scenarios: vec![self.scenario],
            ..Feature::default()
        };
        self.play.scenario = feature.scenarios[0].name.clone();
        Counterexample {
            told: Told {
                feature,
                plays: failing.acts.map(|_| self.play).into_iter().collect(),
                ..Told::default()
            },
            diagram: self.diagram,
        }
    }

    /// The check that fails, as the last line.
    fn say_ending(&mut self, failing: &Failing<'_>, expected: &str) {
        self.code = match (&failing.violation, failing.acts) {
            (Violation::Error(_), Some(_)) => raised_again(),
            (_, Some(acts)) => acts.check.clone(),
            (_, None) => Vec::new(),
        };
        if let Violation::Check(text) = &failing.violation {
            let text = earlier_as_calls(text);
            if let Ok(expression) = tree::expression(&text) {
                let speaker = self.speaker;
                return self.say(Keyword::Then, (&expression, &text), &|term| {
                    speaker.clause(term)
                });
            }
        }
        self.say_fixed(Keyword::Then, expected);
    }

    /// What should be, and what is.
    fn ending(&self, failing: &Failing<'_>) -> (String, String) {
        match &failing.violation {
            Violation::Check(text) => {
                let text = earlier_as_calls(text);
                match tree::expression(&text) {
                    Ok(expression) => {
                        let term = self.slots.term(&expression, &text);
                        (self.speaker.clause(&term), self.speaker.negative(&term))
                    }
                    Err(_) => {
                        let text = quotation::quoted(&quotation::on_one_line(&text));
                        (
                            format!("the Python expression {text} is true"),
                            "it is not".to_owned(),
                        )
                    }
                }
            }
            Violation::Reference => {
                let name = self.last_call.as_deref().unwrap_or("the last step");
                let answer = format!("the answer to \"{name}\"");
                (
                    format!("{answer} is the same as that of the reference"),
                    format!("{answer} is not the same as that of the reference"),
                )
            }
            Violation::Error(error) => {
                let observed = match error {
                    Some(error) => format!(
                        "the last step fails with the error \"{}\"",
                        self.speaker.words(error)
                    ),
                    None => "the last step does not come to an end".to_owned(),
                };
                ("no error is raised".to_owned(), observed)
            }
        }
    }
}

/// How a saved test says that everything starts anew.
const RESTART: &str = "<<RESTART>>";

/// Code whose error is kept for the next line.
pub(super) fn tried(code: &[String]) -> Vec<String> {
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

pub(super) fn raised_again() -> Vec<String> {
    vec!["if failure is not None:\n    raise failure".to_owned()]
}

/// `pre<(e)>` and `PRE%(e)%` as calls of `pre`, which are Python.
fn earlier_as_calls(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((position, opening, closing)) = next_earlier(rest) {
        let (before, behind) = rest.split_at(position);
        let inner = behind.get(opening.len()..).unwrap_or_default();
        let Some(end) = closed_at(inner, closing) else {
            break;
        };
        code.push_str(&format!("{before}pre({})", earlier_as_calls(&inner[..end])));
        rest = &inner[end + closing.len()..];
    }
    code + rest
}

fn next_earlier(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let marks = [("pre<(", ")>"), ("PRE%(", ")%")];
    let found = marks
        .into_iter()
        .filter_map(|(opening, closing)| Some((text.find(opening)?, opening, closing)));
    found.min()
}

/// Where the bracket that is open at the beginning is closed.
fn closed_at(text: &str, closing: &str) -> Option<usize> {
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

/// Numbers, texts, truth values and nothing are written where they are used (X6).
fn is_scalar(value: &Value) -> bool {
    value.is_number() || matches!(value, Value::Text(_) | Value::Boolean(_) | Value::Nothing)
}
