//! Several examples as one outline with a table (4.4).

use super::Subject;
use super::rule::{Definition, Piece, Sampled, Values};
use super::script::{Saying, Script};
use super::wording::{can_be_read, step_text, stored};
use crate::gherkin::{Origin, Scenario, Step, Table};
use crate::phrase::Speaker;
use crate::value::Value;

/// How the examples of a property are laid out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// A scenario for each.
    #[default]
    Scenarios,
    /// One outline for all, where a table can hold them.
    Outline,
    /// An outline from three examples on.
    Auto,
}

impl Layout {
    pub(super) fn wants_outline(self, examples: usize) -> bool {
        match self {
            Layout::Scenarios => false,
            Layout::Outline => examples > 0,
            Layout::Auto => examples >= 3,
        }
    }
}

/// The outline of a property; nothing if its examples differ in more than their values, if an input is not of one kind in
/// all of them, or if not every parser would read the table alike (G6).
pub(super) fn scenario(
    subject: &Subject,
    sampled: &Sampled<'_>,
    title: &str,
    speaker: &Speaker<'_>,
) -> Option<(Scenario, Vec<Definition>)> {
    let first = sampled.cases.first()?;
    let script = subject.script(sampled.property, Some(first), sampled.hoists, speaker);
    let texts = |script: &Script, case| -> Vec<String> {
        let said = script
            .lines
            .iter()
            .filter(|line| !matches!(line.saying, Saying::Input { .. }));
        said.map(|line| step_text(&line.saying, case, Values::Named, speaker))
            .collect()
    };
    let is_alike = sampled.cases.iter().all(|case| {
        let other = subject.script(sampled.property, Some(case), sampled.hoists, speaker);
        texts(&other, case) == texts(&script, first)
    });
    let table = table(sampled, speaker).filter(|table| table.fits())?;
    if !is_alike || sampled.verified.contains(&false) {
        return None;
    }
    let name = format!("{title} - examples");
    let mut scenario = Scenario {
        name: name.clone(),
        origin: subject.origin(sampled.property.start),
        ..Scenario::default()
    };
    let mut definitions = Vec::new();
    for line in &script.lines {
        let (text, pieces) = match &line.saying {
            Saying::Input { name } => {
                let kind = kind_of(sampled, name)?;
                let words = speaker.words(name);
                let pieces = stored(&words);
                (
                    format!("I have the {kind} <{words}>, called {words}"),
                    pieces,
                )
            }
            saying => {
                let text = step_text(saying, first, Values::Named, speaker);
                // Parsers would take it for the name of a column.
                if table
                    .headings
                    .iter()
                    .any(|heading| text.contains(&format!("<{heading}>")))
                {
                    return None;
                }
                (text.clone(), vec![Piece::Words(text)])
            }
        };
        definitions.push(Definition {
            keyword: line.keyword,
            text: pieces,
            code: line.code.clone(),
            inputs: Vec::new(),
            scenarios: vec![name.clone()],
        });
        scenario.steps.push(Step {
            origin: Origin {
                file: subject.file.clone(),
                line: line.line,
            },
            ..Step::new(line.keyword, &text)
        });
    }
    scenario.examples = Some(table);
    Some((scenario, definitions))
}

fn table(sampled: &Sampled<'_>, speaker: &Speaker<'_>) -> Option<Table> {
    let names: Vec<&String> = sampled
        .property
        .inputs
        .iter()
        .map(|input| &input.name)
        .collect();
    let cell = |case: &crate::sample::Case, name: &String| {
        let argument = case
            .arguments
            .iter()
            .find(|argument| argument.name == *name)?;
        can_be_read(argument).then(|| {
            argument
                .value
                .notation_in(false, &|word| speaker.words(word))
        })
    };
    let row = |case| {
        names
            .iter()
            .map(|name| cell(case, name))
            .collect::<Option<Vec<String>>>()
    };
    let table = Table {
        headings: names.iter().map(|name| speaker.words(name)).collect(),
        rows: sampled.cases.iter().map(row).collect::<Option<_>>()?,
    };
    (!table.headings.is_empty()).then_some(table)
}

/// The one kind that an input is of in all examples.
fn kind_of(sampled: &Sampled<'_>, name: &str) -> Option<&'static str> {
    let mut kinds = sampled.cases.iter().map(|case| {
        let argument = case
            .arguments
            .iter()
            .find(|argument| argument.name == name)?;
        kind(&argument.value)
    });
    let first = kinds.next()??;
    kinds.all(|kind| kind == Some(first)).then_some(first)
}

/// What stands between "the" and the notation of a value; nothing if its phrase is not made like that.
fn kind(value: &Value) -> Option<&'static str> {
    let noun = value.kind_noun();
    let is_plain = value.phrase() == format!("the {noun} {}", value.notation());
    (is_plain || value.length() == Some(0)).then_some(noun)
}
