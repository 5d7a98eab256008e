//! The rules and scenarios of a feature (F2, F3, F5), and the step definition of each line.

use testwright_source::tree::first_paragraph;

use super::find::PropertyFunction;
use super::outline::{self, ExampleLayout};
use super::script::{PropertyScript, ScriptLine, StepCode, StepSentence};
use super::wording::{find_argument, is_readable_back, step_text, text_pieces};
use super::{PropertyModule, script_builder};
use crate::gherkin::{
    Description, Feature, FeatureRule, FileLine, Scenario, ScenarioStep, StepKeyword,
};
use crate::phrase::{Phraser, join};
use crate::sample::SampleCase;
use crate::steps::{self, ExecutableScenario, StepModule};
use crate::words::capitalise;

/// A property with its examples.
#[derive(Debug, Clone)]
pub struct SampledProperty<'a> {
    /// The property.
    pub property: &'a PropertyFunction,
    /// The examples, in order.
    pub cases: Vec<SampleCase>,
    /// True if calls may become steps of their own (F8). Unset if that would change the verdict.
    pub hoists: bool,
    /// For each case, true if its steps were seen to agree with the property. The others are marked
    /// in the feature.
    pub verified: Vec<bool>,
}

impl<'a> SampledProperty<'a> {
    /// Creates a property whose examples count as verified.
    #[must_use]
    pub fn new(property: &'a PropertyFunction, cases: Vec<SampleCase>) -> SampledProperty<'a> {
        SampledProperty {
            property,
            verified: vec![true; cases.len()],
            cases,
            hoists: true,
        }
    }
}

/// The places where the values of a scenario are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ValuePlacement {
    /// In `Given` steps only; other steps use names.
    #[default]
    Named,
    /// In every step.
    Inline,
}

/// A feature with the code of its steps.
#[derive(Debug, Clone, Default)]
pub struct RenderedFeature {
    /// The feature.
    pub feature: Feature,
    /// The step definitions, in order of first occurrence.
    pub definitions: Vec<StepDefinition>,
    /// The scenarios whose code is one function from the first line to the last.
    pub scenarios: Vec<ExecutableScenario>,
}

/// A step text and its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepDefinition {
    /// The keyword.
    pub keyword: StepKeyword,
    /// The text, in pieces.
    pub text: Vec<StepPiece>,
    /// The code.
    pub code: StepCode,
    /// The stored names of the inputs that were given without a name, in order.
    pub inputs: Vec<String>,
    /// The scenarios that contain the step.
    pub scenarios: Vec<String>,
}

/// A piece of a step's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepPiece {
    /// Fixed words.
    Words(String),
    /// The value of an input with its kind, which is stored under this name.
    Phrase(String),
    /// The value of an input, which must be the one stored under this name (S6).
    Value(String),
}

impl StepDefinition {
    /// Returns the text if it contains no values.
    #[must_use]
    pub fn exact_text(&self) -> Option<&str> {
        match self.text.as_slice() {
            [StepPiece::Words(words)] => Some(words),
            _ => None,
        }
    }
}

impl PropertyModule {
    /// Renders the feature of properties with their examples, and the steps that it needs.
    #[must_use]
    pub fn render_feature(
        &self,
        sampled: &[SampledProperty<'_>],
        values: ValuePlacement,
        layout: ExampleLayout,
        phraser: &Phraser<'_>,
    ) -> RenderedFeature {
        let mut rendered = RenderedFeature {
            feature: self.feature_head(phraser),
            ..RenderedFeature::default()
        };
        let mut titles = Vec::new();
        for sampled in sampled {
            let title = unique_title(self.title(sampled.property, phraser), &mut titles);
            let mut rule = self.rule(sampled, phraser);
            let wants_outline =
                layout.wants_outline(sampled.cases.len()) && values == ValuePlacement::Named;
            let as_outline = wants_outline
                .then(|| outline::build_outline(self, sampled, &title, phraser))
                .flatten();
            match as_outline {
                Some((scenario, definitions)) => {
                    rule.scenarios.push(scenario);
                    definitions
                        .into_iter()
                        .for_each(|definition| rendered.add_definition(definition));
                }
                None => self.scenarios(sampled, values, &title, phraser, &mut rule, &mut rendered),
            }
            rendered.feature.rules.push(rule);
        }
        rendered
    }

    /// Adds one scenario per example.
    fn scenarios(
        &self,
        sampled: &SampledProperty<'_>,
        values: ValuePlacement,
        title: &str,
        phraser: &Phraser<'_>,
        rule: &mut FeatureRule,
        rendered: &mut RenderedFeature,
    ) {
        for (index, case) in sampled.cases.iter().enumerate() {
            let script = self.script(sampled.property, Some(case), sampled.hoists, phraser);
            let name = format!("{title} - example {}", index + 1);
            let is_verified = sampled.verified.get(index).copied().unwrap_or(true);
            let mut scenario = self.scenario(&script, case, values, phraser, rendered, &name);
            scenario.comment = (!is_verified).then(|| "not verified".to_owned());
            scenario.origin = self.origin(sampled.property.start);
            rule.scenarios.push(scenario);
        }
    }

    /// Builds a scenario from the lines of a script.
    pub(crate) fn scenario(
        &self,
        script: &PropertyScript,
        case: &SampleCase,
        values: ValuePlacement,
        phraser: &Phraser<'_>,
        rendered: &mut RenderedFeature,
        name: &str,
    ) -> Scenario {
        let mut scenario = Scenario {
            name: name.to_owned(),
            ..Scenario::default()
        };
        let readable = case
            .arguments
            .iter()
            .filter(|argument| is_readable_back(argument));
        let inputs: Vec<String> = readable
            .map(|argument| phraser.words(&argument.name))
            .collect();
        for line in &script.lines {
            let text = step_text(&line.sentence, case, values, phraser);
            let pieces = text_pieces(&line.sentence, case, values, phraser, &text);
            let code = match &line.sentence {
                StepSentence::Input { name } => self.input_code(case, name, phraser),
                _ => line.code.clone(),
            };
            rendered.add_definition(StepDefinition {
                keyword: line.keyword,
                text: pieces,
                code,
                inputs: match values {
                    ValuePlacement::Named => Vec::new(),
                    ValuePlacement::Inline => inputs.clone(),
                },
                scenarios: vec![name.to_owned()],
            });
            scenario.steps.push(ScenarioStep {
                origin: FileLine {
                    file: self.file.clone(),
                    line: line.line,
                },
                ..ScenarioStep::new(line.keyword, &text)
            });
        }
        scenario
    }

    /// Returns the code that makes an input whose phrase cannot be parsed back (S2: by a recipe).
    fn input_code(&self, case: &SampleCase, name: &str, phraser: &Phraser<'_>) -> StepCode {
        let argument = case.arguments.iter().find(|argument| argument.name == name);
        let Some(argument) = argument.filter(|argument| !is_readable_back(argument)) else {
            return StepCode::default();
        };
        let entry = format!(
            "{}[{}]",
            self.store_name(),
            super::python_string(&phraser.words(name))
        );
        let body = match &argument.recipe {
            Some(recipe) => format!("{entry} = made({})", super::python_string(recipe)),
            None => format!(
                "raise NotImplementedError({})",
                super::python_string(&format!("write here how to make {}", phraser.words(name)))
            ),
        };
        StepCode {
            body: vec![body],
            ..StepCode::default()
        }
    }

    /// Returns the code of each line of a case, for running the steps without a test runner.
    #[must_use]
    pub fn step_bodies(
        &self,
        property: &PropertyFunction,
        case: &SampleCase,
        hoists: bool,
        phraser: &Phraser<'_>,
        target: &StepModule,
    ) -> Vec<String> {
        let script = self.script(property, Some(case), hoists, phraser);
        let body = |line: &ScriptLine| match &line.sentence {
            StepSentence::Input { name } => match find_argument(case, name) {
                Some(argument) if is_readable_back(argument) => format!(
                    "{}[{}] = read_phrase({})",
                    target.store,
                    super::python_string(&phraser.words(name)),
                    super::python_string(&argument.value.phrase())
                ),
                _ => steps::statements(&self.input_code(case, name, phraser), target).join("\n"),
            },
            _ => steps::statements(&line.code, target).join("\n"),
        };
        script.lines.iter().map(body).collect()
    }

    /// Builds the rule of a property without its scenarios (F2, F3).
    pub(crate) fn rule(&self, sampled: &SampledProperty<'_>, phraser: &Phraser<'_>) -> FeatureRule {
        let property = sampled.property;
        let documented =
            first_paragraph(property.function.docstring.as_deref().unwrap_or_default());
        let (name, rest) = if documented.is_empty() {
            (
                capitalise(&phraser.words(property.short_name())),
                String::new(),
            )
        } else {
            split_title(&documented)
        };
        let mut description = Description::default();
        description.push(&rest);
        let script = self.script(property, sampled.cases.first(), sampled.hoists, phraser);
        description.push(&self.must_hold_sentence(property, &script, phraser));
        FeatureRule {
            name,
            description,
            scenarios: Vec::new(),
            origin: self.origin(property.start),
        }
    }

    /// Returns "This must hold for …, provided that …." (F3).
    fn must_hold_sentence(
        &self,
        property: &PropertyFunction,
        script: &PropertyScript,
        phraser: &Phraser<'_>,
    ) -> String {
        let inputs = property
            .inputs
            .iter()
            .zip(self.input_kinds(property, phraser));
        let inputs: Vec<String> = inputs
            .map(|(input, kind)| kind.any(Some(&phraser.words(&input.name))))
            .collect();
        let assumptions: Vec<String> = script
            .assumptions
            .iter()
            .map(|term| phraser.clause(term))
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

    /// Returns the title of a property's scenarios, before " - example 1" (F5).
    pub(crate) fn title(&self, property: &PropertyFunction, phraser: &Phraser<'_>) -> String {
        let name = phraser.words(property.short_name());
        capitalise(&match &property.class {
            Some(class) => format!("{} {name}", phraser.words(class)),
            None => name,
        })
    }

    /// Returns the line of a position in the source.
    pub(crate) fn origin(&self, start: usize) -> FileLine {
        FileLine {
            file: self.file.clone(),
            line: script_builder::line_and_column(&self.text, start).0,
        }
    }
}

impl RenderedFeature {
    /// Adds a step definition unless there is an equal one. Earlier values that any scenario needs
    /// are kept for all (S5).
    pub(crate) fn add_definition(&mut self, definition: StepDefinition) {
        let same = |known: &&mut StepDefinition| {
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

/// Returns a title that no other scenario has, because pytest-bdd drops all but one of a name (trap
/// 1).
fn unique_title(title: String, titles: &mut Vec<String>) -> String {
    let mut candidate = title.clone();
    let mut number = 1;
    while titles.contains(&candidate) {
        number += 1;
        candidate = format!("{title} ({number})");
    }
    titles.push(candidate.clone());
    candidate
}

/// The longest first paragraph that is a title as a whole (F2).
const MAX_TITLE: usize = 120;

/// Splits a long paragraph after its first sentence (F2).
fn split_title(paragraph: &str) -> (String, String) {
    let end = if paragraph.chars().count() > MAX_TITLE {
        paragraph.find(". ").map(|position| position + 1)
    } else {
        None
    };
    let (title, rest) = paragraph.split_at(end.unwrap_or(paragraph.len()));
    (title.to_owned(), rest.trim_start().to_owned())
}
