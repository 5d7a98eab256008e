//! Features: what a behaviour-driven test runner reads, as a tree, and the text of it.
//!
//! There are four parsers in use, and they disagree in corners. Here is only what all of them read alike: [`write`]
//! never leaves that common ground, and [`read`] refuses whatever does. So writing is checked by reading back.
//!
//! ```
//! use testwright_readable::gherkin::{self, Feature, Keyword, Scenario, Step};
//!
//! let steps = vec![Step::new(Keyword::Given, "I have nothing, called x"), Step::new(Keyword::Given, "x has no value")];
//! let scenario = Scenario { name: "Nothing".to_owned(), steps, ..Scenario::default() };
//! let feature = Feature { name: "Emptiness".to_owned(), scenarios: vec![scenario], ..Feature::default() };
//! let text = gherkin::write(&feature)?;
//! assert!(text.ends_with("    Given I have nothing, called x\n    And x has no value\n"));
//! assert_eq!(gherkin::read(&text)?, feature);
//! # Ok::<(), gherkin::Problem>(())
//! ```

mod page;
mod read;
mod write;

use std::fmt;

pub use page::Page;
pub use read::read;
pub use write::write;

/// A feature file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feature {
    /// Without the `@`.
    pub tags: Vec<String>,
    /// What it is about.
    pub name: String,
    /// What is said about it.
    pub description: Description,
    /// Those that belong to no rule.
    pub scenarios: Vec<Scenario>,
    /// What must hold, each with its scenarios.
    pub rules: Vec<Rule>,
}

/// Something that must hold, and examples of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rule {
    /// What must hold.
    pub name: String,
    /// For what it must hold.
    pub description: Description,
    /// Examples.
    pub scenarios: Vec<Scenario>,
    /// Where it comes from.
    pub origin: Origin,
}

/// One example, or with `examples` a row of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scenario {
    /// A remark for those who read the file, such as that it could not be checked. No runner sees it.
    pub comment: Option<String>,
    /// Without the `@`.
    pub tags: Vec<String>,
    /// Unique within a file, for pytest-bdd silently drops all but one of those that share a name.
    pub name: String,
    /// What is said about it.
    pub description: Description,
    /// What is done and checked.
    pub steps: Vec<Step>,
    /// What `<name>` in a step stands for, one example a row; makes it an outline.
    pub examples: Option<Table>,
    /// Where it comes from.
    pub origin: Origin,
}

/// One line of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it is for.
    pub keyword: Keyword,
    /// What is had, done or checked.
    pub text: String,
    /// What stands below it.
    pub argument: Option<Argument>,
    /// Where it comes from.
    pub origin: Origin,
}

/// What a step is for. `And` is how a repeated one is written (F9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyword {
    /// What there is.
    Given,
    /// What is done.
    When,
    /// What is checked.
    Then,
}

/// What stands below a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// Lines between `"""`.
    Text(String),
    /// Rows of cells.
    Table(Table),
}

/// Rows of cells, the first of which are headings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// What the columns are called.
    pub headings: Vec<String>,
    /// As many cells each as there are headings.
    pub rows: Vec<Vec<String>>,
}

/// Where in a source text something comes from. It is not part of what is said, so it does not make two trees differ.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The file, as the user named it.
    pub file: String,
    /// From 1; 0 if there is none.
    pub line: usize,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

impl Eq for Origin {}

impl Step {
    /// A step without argument and origin.
    #[must_use]
    pub fn new(keyword: Keyword, text: &str) -> Step {
        Step {
            keyword,
            text: without_breaks(text),
            argument: None,
            origin: Origin::default(),
        }
    }
}

impl Keyword {
    /// As it is written behind another: `And`, if it is the same again (F9). The first is never `And` (G4), for nothing is
    /// before it.
    #[must_use]
    pub(crate) fn written(self, before: Option<Keyword>) -> &'static str {
        if before == Some(self) {
            "And"
        } else {
            self.word()
        }
    }

    /// As it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Keyword::Given => "Given",
            Keyword::When => "When",
            Keyword::Then => "Then",
        }
    }
}

/// Lines below a name, none of which any parser takes for something else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description(Vec<String>);

impl Description {
    /// Adds a line. One that would begin with a keyword gets a dash before it (G3); an empty one is left out.
    pub fn push(&mut self, line: &str) {
        let line = one_line(line);
        if line.is_empty() {
            return;
        }
        self.0.push(if begins_like_syntax(&line) {
            format!("- {line}")
        } else {
            line
        });
    }

    /// The lines.
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

/// Why a text is no feature that every parser reads alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for Problem {}

/// What a description line must not begin with, not even as part of a longer word (G3).
const BEGINNINGS: [&str; 18] = [
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

fn begins_like_syntax(line: &str) -> bool {
    BEGINNINGS.iter().any(|word| line.starts_with(word))
}

/// The same in one line: whatever breaks lines becomes a blank, and nothing else changes (G2). Blanks between quotation
/// marks belong to what is said.
#[must_use]
pub fn without_breaks(text: &str) -> String {
    let mut lines = text
        .split(is_line_break)
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| format!("{text} {line}"))
}

/// Line breaks that some languages know and others do not are among them.
fn is_line_break(letter: char) -> bool {
    matches!(
        letter,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// White space of any kind becomes one blank: for titles and descriptions (G2).
#[must_use]
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a value may stand in a cell: what parsers disagree about must not be in it, nor what they would replace (G6).
#[must_use]
pub fn fits_cell(cell: &str, columns: &[String]) -> bool {
    let is_replaced = |column: &String| cell.contains(&format!("<{column}>"));
    !cell.contains(['\\', '\n', '\r']) && cell.trim() == cell && !columns.iter().any(is_replaced)
}
