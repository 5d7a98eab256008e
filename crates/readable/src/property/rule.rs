//! The rules and scenarios of a feature (4.2, 4.4), and the step that each of their lines is.

use testwright_source::tree::first_paragraph;

use super::find::Property;
use super::outline::{self, Layout};
use super::script::{Code, Line, Saying, Script};
use super::wording::{argument, can_be_read, pieces, step_text};
use super::{Subject, walk};
use crate::gherkin::{Description, Feature, Keyword, Origin, Rule, Scenario, Step};
use crate::phrase::{Speaker, join};
use crate::sample::Case;
use crate::steps::{self, Home, Play};
use crate::words::capitalised;

/// A property with the cases that are its examples.
#[derive(Debug, Clone)]
pub struct Sampled<'a> {
    /// The property.
    pub property: &'a Property,
    /// Its examples, in order.
    pub cases: Vec<Case>,
    /// Whether calls may become steps of their own (F8): not if that would change the verdict (4.7).
    pub hoists: bool,
    /// For each case whether its steps were seen to agree with the property. Those that were not are marked.
    pub verified: Vec<bool>,
}

impl<'a> Sampled<'a> {
    /// Examples that are taken to be in order.
    #[must_use]
    pub fn new(property: &'a Property, cases: Vec<Case>) -> Sampled<'a> {
        Sampled {
            property,
            verified: vec![true; cases.len()],
            cases,
            hoists: true,
        }
    }
}

/// Where the values of a scenario stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Values {
    /// In `Given`; elsewhere there are names.
    #[default]
    Named,
    /// Everywhere.
    Inline,
}

/// A feature and what its steps do.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// What people read.
    pub feature: Feature,
    /// What each distinct text does, in the order in which they first occur.
    pub definitions: Vec<Definition>,
    /// What its scenarios do, if that is one thing from the first line to the last.
    pub plays: Vec<Play>,
}

/// A step and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// What it is for.
    pub keyword: Keyword,
    /// What it says.
    pub text: Vec<Piece>,
    /// What it does.
    pub code: Code,
    /// The inputs that were given without a name, in order, as they are stored.
    pub inputs: Vec<String>,
    /// The scenarios whose step does this.
    pub scenarios: Vec<String>,
}

/// A piece of a step's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Fixed words.
    Words(String),
    /// The value of an input with its kind; stores it. The name is that under which it is kept.
    Phrase(String),
    /// The value of an input, which must be the one that is kept under this name (S6).
    Value(String),
}

impl Definition {
    /// The text, if it is always the same.
    #[must_use]
    pub fn exact_text(&self) -> Option<&str> {
        match self.text.as_slice() {
            [Piece::Words(words)] => Some(words),
            _ => None,
        }
    }
}

impl Subject {
    /// The feature of some of its properties, with the steps that it needs.
    #[must_use]
    pub fn tell(
        &self,
        sampled: &[Sampled<'_>],
        values: Values,
        layout: Layout,
        speaker: &Speaker<'_>,
    ) -> Told {
        let mut told = Told {
            feature: self.head(speaker),
            ..Told::default()
        };
        let mut titles = Vec::new();
        for sampled in sampled {
            let title = unique(self.title(sampled.property, speaker), &mut titles);
            let mut rule = self.rule(sampled, speaker);
            let wants_outline =
                layout.wants_outline(sampled.cases.len()) && values == Values::Named;
            let as_outline = wants_outline
                .then(|| outline::scenario(self, sampled, &title, speaker))
                .flatten();
            match as_outline {
                Some((scenario, definitions)) => {
                    rule.scenarios.push(scenario);
                    definitions
                        .into_iter()
                        .for_each(|definition| told.define(definition));
                }
                None => self.scenarios(sampled, values, &title, speaker, &mut rule, &mut told),
            }
            told.feature.rules.push(rule);
        }
        told
    }

    fn scenarios(
        &self,
        sampled: &Sampled<'_>,
        values: Values,
        title: &str,
        speaker: &Speaker<'_>,
        rule: &mut Rule,
        told: &mut Told,
    ) {
        for (index, case) in sampled.cases.iter().enumerate() {
            let script = self.script(sampled.property, Some(case), sampled.hoists, speaker);
            let name = format!("{title} - example {}", index + 1);
            let is_verified = sampled.verified.get(index).copied().unwrap_or(true);
            let mut scenario = self.scenario(&script, case, values, speaker, told, &name);
            scenario.comment = (!is_verified).then(|| "not verified".to_owned());
            scenario.origin = self.origin(sampled.property.start);
            rule.scenarios.push(scenario);
        }
    }

    /// The lines of a script as a scenario.
    pub(crate) fn scenario(
        &self,
        script: &Script,
        case: &Case,
        values: Values,
        speaker: &Speaker<'_>,
        told: &mut Told,
        name: &str,
    ) -> Scenario {
        let mut scenario = Scenario {
            name: name.to_owned(),
            ..Scenario::default()
        };
        let readable = case
            .arguments
            .iter()
            .filter(|argument| can_be_read(argument));
        let inputs: Vec<String> = readable
            .map(|argument| speaker.words(&argument.name))
            .collect();
        for line in &script.lines {
            let text = step_text(&line.saying, case, values, speaker);
            let pieces = pieces(&line.saying, case, values, speaker, &text);
            let code = match &line.saying {
                Saying::Input { name } => self.input_code(case, name, speaker),
                _ => line.code.clone(),
            };
            told.define(Definition {
                keyword: line.keyword,
                text: pieces,
                code,
                inputs: match values {
                    Values::Named => Vec::new(),
                    Values::Inline => inputs.clone(),
                },
                scenarios: vec![name.to_owned()],
            });
            scenario.steps.push(Step {
                origin: Origin {
                    file: self.file.clone(),
                    line: line.line,
                },
                ..Step::new(line.keyword, &text)
            });
        }
        scenario
    }

    /// How an input is made whose phrase cannot be read back.
    fn input_code(&self, case: &Case, name: &str, speaker: &Speaker<'_>) -> Code {
        let argument = case.arguments.iter().find(|argument| argument.name == name);
        let Some(argument) = argument.filter(|argument| !can_be_read(argument)) else {
            return Code::default();
        };
        let place = format!("{}[{}]", self.store(), super::quoted(&speaker.words(name)));
        let body = match &argument.recipe {
            Some(recipe) => format!("{place} = made({})", super::quoted(recipe)),
            None => format!(
                "raise NotImplementedError({})",
                super::quoted(&format!("write here how to make {}", speaker.words(name)))
            ),
        };
        Code {
            body: vec![body],
            ..Code::default()
        }
    }

    /// What each line of a case does, for who runs steps without a runner (4.7).
    #[must_use]
    pub fn bodies(
        &self,
        property: &Property,
        case: &Case,
        hoists: bool,
        speaker: &Speaker<'_>,
        home: &Home,
    ) -> Vec<String> {
        let script = self.script(property, Some(case), hoists, speaker);
        let body = |line: &Line| match &line.saying {
            Saying::Input { name } => match argument(case, name) {
                Some(argument) if can_be_read(argument) => format!(
                    "{}[{}] = read_phrase({})",
                    home.store,
                    super::quoted(&speaker.words(name)),
                    super::quoted(&argument.value.phrase())
                ),
                _ => steps::statements(&self.input_code(case, name, speaker), home).join("\n"),
            },
            _ => steps::statements(&line.code, home).join("\n"),
        };
        script.lines.iter().map(body).collect()
    }

    /// The rule of a property without its scenarios (F2, F3).
    pub(crate) fn rule(&self, sampled: &Sampled<'_>, speaker: &Speaker<'_>) -> Rule {
        let property = sampled.property;
        let documented =
            first_paragraph(property.function.docstring.as_deref().unwrap_or_default());
        let (name, rest) = if documented.is_empty() {
            (
                capitalised(&speaker.words(property.short_name())),
                String::new(),
            )
        } else {
            title_and_rest(&documented)
        };
        let mut description = Description::default();
        description.push(&rest);
        let script = self.script(property, sampled.cases.first(), sampled.hoists, speaker);
        description.push(&self.must_hold(property, &script, speaker));
        Rule {
            name,
            description,
            scenarios: Vec::new(),
            origin: self.origin(property.start),
        }
    }

    /// "This must hold for …, provided that …." (F3)
    fn must_hold(&self, property: &Property, script: &Script, speaker: &Speaker<'_>) -> String {
        let inputs = property.inputs.iter().zip(self.kinds(property, speaker));
        let inputs: Vec<String> = inputs
            .map(|(input, kind)| kind.any(Some(&speaker.words(&input.name))))
            .collect();
        let assumptions: Vec<String> = script
            .assumptions
            .iter()
            .map(|term| speaker.clause(term))
            .collect();
        let inputs = if inputs.is_empty() {
            String::new()
        } else {
            format!(" for {}", join::nouns(&inputs, "and"))
        };
        let assumptions = if assumptions.is_empty() {
            String::new()
        } else {
            format!(", provided that {}", join::clauses(&assumptions, "and"))
        };
        if inputs.is_empty() && assumptions.is_empty() {
            String::new()
        } else {
            format!("This must hold{inputs}{assumptions}.")
        }
    }

    /// What the scenarios of a property are called, before " - example k" (F5).
    pub(crate) fn title(&self, property: &Property, speaker: &Speaker<'_>) -> String {
        let name = speaker.words(property.short_name());
        capitalised(&match &property.class {
            Some(class) => format!("{} {name}", speaker.words(class)),
            None => name,
        })
    }

    pub(crate) fn origin(&self, start: usize) -> Origin {
        Origin {
            file: self.file.clone(),
            line: walk::place_of(&self.text, start).0,
        }
    }
}

impl Told {
    /// Adds what a step does, unless that is known. Earlier values that any scenario needs are kept for all (S5).
    pub(crate) fn define(&mut self, definition: Definition) {
        let same = |known: &&mut Definition| {
            (known.keyword, &known.text, &known.inputs)
                == (definition.keyword, &definition.text, &definition.inputs)
                && (&known.code.body, &known.code.check)
                    == (&definition.code.body, &definition.code.check)
        };
        match self.definitions.iter_mut().find(same) {
            Some(known) => {
                for earlier in definition.code.earlier {
                    if !known.code.earlier.contains(&earlier) {
                        known.code.earlier.push(earlier);
                    }
                }
                known.scenarios.extend(definition.scenarios);
            }
            None => self.definitions.push(definition),
        }
    }
}

/// A title that no other scenario has, for pytest-bdd drops all but one of a name.
fn unique(title: String, titles: &mut Vec<String>) -> String {
    let mut candidate = title.clone();
    let mut number = 1;
    while titles.contains(&candidate) {
        number += 1;
        candidate = format!("{title} ({number})");
    }
    titles.push(candidate.clone());
    candidate
}

/// Longer first paragraphs are split behind their first sentence (F2).
const LONGEST_TITLE: usize = 120;

fn title_and_rest(paragraph: &str) -> (String, String) {
    let end = if paragraph.chars().count() > LONGEST_TITLE {
        paragraph.find(". ").map(|position| position + 1)
    } else {
        None
    };
    let (title, rest) = paragraph.split_at(end.unwrap_or(paragraph.len()));
    (title.to_owned(), rest.trim_start().to_owned())
}
