//! Scenario outlines: several examples as one scenario with a table.

use super::PropertyModule;
use super::rule::{SampledProperty, StepDefinition, StepPiece, ValuePlacement};
use super::script::{PropertyScript, StepSentence};
use super::wording::{input_pieces, is_readable_back, step_text};
use crate::gherkin::{DataTable, FileLine, Scenario, ScenarioStep};
use crate::phrase::Phraser;
use crate::value::PythonValue;

/// The layout of a property's examples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExampleLayout {
    /// One scenario per example.
    #[default]
    Scenarios,
    /// One outline for all examples, if a table can hold them.
    Outline,
    /// An outline for three or more examples.
    Auto,
}

impl ExampleLayout {
    /// Returns true if this number of examples should be an outline.
    pub(super) fn wants_outline(self, examples: usize) -> bool {
        match self {
            ExampleLayout::Scenarios => false,
            ExampleLayout::Outline => examples > 0,
            ExampleLayout::Auto => examples >= 3,
        }
    }
}

/// Builds the outline of a property. Returns nothing if the examples differ in more than their
/// values, if an input has several kinds, or if not every parser would read the table alike (G6).
pub(super) fn build_outline(
    module: &PropertyModule,
    sampled: &SampledProperty<'_>,
    title: &str,
    phraser: &Phraser<'_>,
) -> Option<(Scenario, Vec<StepDefinition>)> {
    let first = sampled.cases.first()?;
    let script = module.script(sampled.property, Some(first), sampled.hoists, phraser);
    let texts = |script: &PropertyScript, case| -> Vec<String> {
        let lines = script
            .lines
            .iter()
            .filter(|line| !matches!(line.sentence, StepSentence::Input { .. }));
        lines
            .map(|line| step_text(&line.sentence, case, ValuePlacement::Named, phraser))
            .collect()
    };
    let is_alike = sampled.cases.iter().all(|case| {
        let other = module.script(sampled.property, Some(case), sampled.hoists, phraser);
        texts(&other, case) == texts(&script, first)
    });
    let table = build_table(sampled, phraser).filter(|table| table.fits())?;
    if !is_alike || sampled.verified.contains(&false) {
        return None;
    }
    let name = format!("{title} - examples");
    let mut scenario = Scenario {
        name: name.clone(),
        origin: module.origin(sampled.property.start),
        ..Scenario::default()
    };
    let mut definitions = Vec::new();
    for line in &script.lines {
        let (text, pieces) = match &line.sentence {
            StepSentence::Input { name } => {
                let kind = common_kind(sampled, name)?;
                let words = phraser.words(name);
                let pieces = input_pieces(&words);
                (
                    format!("I have the {kind} <{words}>, called {words}"),
                    pieces,
                )
            }
            sentence => {
                let text = step_text(sentence, first, ValuePlacement::Named, phraser);
                // Parsers would take it for the name of a column.
                if table
                    .headings
                    .iter()
                    .any(|heading| text.contains(&format!("<{heading}>")))
                {
                    return None;
                }
                (text.clone(), vec![StepPiece::Words(text)])
            }
        };
        definitions.push(StepDefinition {
            keyword: line.keyword,
            text: pieces,
            code: line.code.clone(),
            inputs: Vec::new(),
            scenarios: vec![name.clone()],
        });
        scenario.steps.push(ScenarioStep {
            origin: FileLine {
                file: module.file.clone(),
                line: line.line,
            },
            ..ScenarioStep::new(line.keyword, &text)
        });
    }
    scenario.examples = Some(table);
    Some((scenario, definitions))
}

/// Builds the table of the examples' values.
fn build_table(sampled: &SampledProperty<'_>, phraser: &Phraser<'_>) -> Option<DataTable> {
    let names: Vec<&String> = sampled
        .property
        .inputs
        .iter()
        .map(|input| &input.name)
        .collect();
    let cell = |case: &crate::sample::SampleCase, name: &String| {
        let argument = case
            .arguments
            .iter()
            .find(|argument| argument.name == *name)?;
        is_readable_back(argument).then(|| {
            argument
                .value
                .notation_with(false, &|word| phraser.words(word))
        })
    };
    let row = |case| {
        names
            .iter()
            .map(|name| cell(case, name))
            .collect::<Option<Vec<String>>>()
    };
    let table = DataTable {
        headings: names.iter().map(|name| phraser.words(name)).collect(),
        rows: sampled.cases.iter().map(row).collect::<Option<_>>()?,
    };
    (!table.headings.is_empty()).then_some(table)
}

/// Returns the kind that an input has in all examples.
fn common_kind(sampled: &SampledProperty<'_>, name: &str) -> Option<&'static str> {
    let mut kinds = sampled.cases.iter().map(|case| {
        let argument = case
            .arguments
            .iter()
            .find(|argument| argument.name == name)?;
        plain_kind(&argument.value)
    });
    let first = kinds.next()??;
    kinds.all(|kind| kind == Some(first)).then_some(first)
}

/// Returns the words between "the" and the notation of a value, or nothing if its phrase is made
/// differently.
fn plain_kind(value: &PythonValue) -> Option<&'static str> {
    let noun = value.kind_noun();
    let is_plain = value.phrase() == format!("the {noun} {}", value.notation());
    (is_plain || value.length() == Some(0)).then_some(noun)
}
