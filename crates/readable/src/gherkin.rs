//! Gherkin features as a tree, with a writer and a strict parser.
//!
//! Four parsers of Gherkin are in use, and they disagree in details. This module keeps to what all
//! of them read alike: [`write()`] never leaves that common ground, and [`parse()`] refuses
//! everything else. Everything that is written is parsed back as a check (rules G1 to G9 of
//! `docs/readable-rules.md#gherkin-text`).
//!
//! ```
//! use testwright_readable::gherkin::{self, Feature, Scenario, ScenarioStep, StepKeyword};
//!
//! let steps = vec![
//!     ScenarioStep::new(StepKeyword::Given, "I have nothing, called x"),
//!     ScenarioStep::new(StepKeyword::Given, "x has no value"),
//! ];
//! let scenario = Scenario { name: "Nothing".to_owned(), steps, ..Scenario::default() };
//! let feature = Feature { name: "Emptiness".to_owned(), scenarios: vec![scenario], ..Feature::default() };
//! let text = gherkin::write(&feature)?;
//! assert!(text.ends_with("    Given I have nothing, called x\n    And x has no value\n"));
//! assert_eq!(gherkin::parse(&text)?, feature);
//! # Ok::<(), gherkin::GherkinError>(())
//! ```

mod page;
mod parse;
mod write;

use std::fmt;

pub use page::FeaturePage;
pub use parse::parse;
pub use write::write;

/// A feature file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feature {
    /// The tags, without the `@`.
    pub tags: Vec<String>,
    /// The title.
    pub name: String,
    /// The lines below the title.
    pub description: Description,
    /// The scenarios that belong to no rule.
    pub scenarios: Vec<Scenario>,
    /// The rules, each with its scenarios.
    pub rules: Vec<FeatureRule>,
}

/// A statement that must hold, with examples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeatureRule {
    /// The statement.
    pub name: String,
    /// The inputs and assumptions for which it must hold.
    pub description: Description,
    /// The examples.
    pub scenarios: Vec<Scenario>,
    /// The source line that it comes from.
    pub origin: FileLine,
}

/// One example, or an outline of several if it has `examples`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scenario {
    /// A remark for readers of the file, such as that the scenario could not be verified. Runners
    /// ignore it.
    pub comment: Option<String>,
    /// The tags, without the `@`.
    pub tags: Vec<String>,
    /// The title, unique within a file, because pytest-bdd drops all but one scenario of a name
    /// (trap 1).
    pub name: String,
    /// The lines below the title.
    pub description: Description,
    /// The steps, in order.
    pub steps: Vec<ScenarioStep>,
    /// The values for each `<name>` in a step, one example per row. Makes the scenario an outline.
    pub examples: Option<DataTable>,
    /// The source line that it comes from.
    pub origin: FileLine,
}

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioStep {
    /// The keyword.
    pub keyword: StepKeyword,
    /// The text after the keyword.
    pub text: String,
    /// The text or table below the step.
    pub argument: Option<StepArgument>,
    /// The source line that it comes from.
    pub origin: FileLine,
}

/// The keyword of a step. `And` is how a repeated keyword is written (F9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKeyword {
    /// A precondition or an input.
    Given,
    /// An action.
    When,
    /// A check.
    Then,
}

/// The text or table below a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepArgument {
    /// Lines between `"""`.
    Text(String),
    /// Rows of cells.
    Table(DataTable),
}

/// A table with a row of headings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataTable {
    /// The names of the columns.
    pub headings: Vec<String>,
    /// The rows; each has as many cells as there are headings.
    pub rows: Vec<Vec<String>>,
}

/// A line of a source file. It does not take part in comparisons, because parsing a feature back
/// cannot restore it.
#[derive(Debug, Clone, Default)]
pub struct FileLine {
    /// The file, as the user named it.
    pub file: String,
    /// The line, counted from 1; 0 if there is none.
    pub line: usize,
}

impl PartialEq for FileLine {
    fn eq(&self, _: &FileLine) -> bool {
        true
    }
}

impl Eq for FileLine {}

impl ScenarioStep {
    /// Creates a step without argument and origin. Line breaks in the text become blanks (G2).
    #[must_use]
    pub fn new(keyword: StepKeyword, text: &str) -> ScenarioStep {
        ScenarioStep {
            keyword,
            text: remove_line_breaks(text),
            argument: None,
            origin: FileLine::default(),
        }
    }
}

impl StepKeyword {
    /// Returns the keyword as it is written after another step: `And` if it repeats (F9). The first
    /// step is never `And` (G4).
    #[must_use]
    pub(crate) fn written_after(self, before: Option<StepKeyword>) -> &'static str {
        if before == Some(self) {
            "And"
        } else {
            self.word()
        }
    }

    /// Returns the keyword itself.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            StepKeyword::Given => "Given",
            StepKeyword::When => "When",
            StepKeyword::Then => "Then",
        }
    }
}

/// The lines below a title. Adding a line makes sure that no parser takes it for syntax.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description(Vec<String>);

impl Description {
    /// Adds a line. A line that would begin like syntax gets a dash before it (G3); an empty one is
    /// left out.
    pub fn push(&mut self, line: &str) {
        let line = collapse_whitespace(line);
        if line.is_empty() {
            return;
        }
        self.0.push(if starts_like_syntax(&line) {
            format!("- {line}")
        } else {
            line
        });
    }

    /// Returns the lines.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.0
    }
}

impl<'a> FromIterator<&'a str> for Description {
    fn from_iter<I: IntoIterator<Item = &'a str>>(lines: I) -> Description {
        let mut description = Description::default();
        for line in lines {
            description.push(line);
        }
        description
    }
}

/// The reason why a text is no feature that every parser reads alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GherkinError {
    /// The line, counted from 1.
    pub line: usize,
    /// The problem.
    pub message: String,
}

impl fmt::Display for GherkinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for GherkinError {}

/// Texts that a line of a description must not begin with, not even as part of a longer word (G3).
const RESERVED_STARTS: [&str; 18] = [
    "Feature",
    "Rule",
    "Background",
    "Scenario",
    "Example",
    "Ability",
    "Business Need",
    "Given",
    "When",
    "Then",
    "And",
    "But",
    "*",
    "|",
    "@",
    "#",
    "\"\"\"",
    "```",
];

/// Returns true if a line begins like a keyword or a mark.
fn starts_like_syntax(line: &str) -> bool {
    RESERVED_STARTS.iter().any(|word| line.starts_with(word))
}

/// Puts a text on one line: line breaks become blanks, and nothing else changes (G2). Blanks inside
/// quotation marks are part of the text.
#[must_use]
pub fn remove_line_breaks(text: &str) -> String {
    let mut lines = text
        .split(is_line_break)
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| format!("{text} {line}"))
}

/// Returns true for every character that some language takes for a line break.
fn is_line_break(letter: char) -> bool {
    matches!(
        letter,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Replaces each run of white space by one blank, for titles and descriptions (G2).
#[must_use]
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns true if a value may stand in a table cell (G6): it has no backslash, no line break and
/// no column name in angle brackets.
#[must_use]
pub fn fits_cell(cell: &str, columns: &[String]) -> bool {
    let is_replaced = |column: &String| cell.contains(&format!("<{column}>"));
    !cell.contains(['\\', '\n', '\r']) && cell.trim() == cell && !columns.iter().any(is_replaced)
}
