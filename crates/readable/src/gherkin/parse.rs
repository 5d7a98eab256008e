//! A strict parser of features. It refuses what any of the parsers in use refuses or reads
//! differently.

use super::{
    DataTable, Description, Feature, FeatureRule, FileLine, GherkinError, Scenario, ScenarioStep,
    StepArgument, StepKeyword, fits_cell, is_line_break, starts_like_syntax,
};

/// Parses the text of a feature.
///
/// # Errors
///
/// Returns the first line that not every parser accepts, or that parsers read differently.
pub fn parse(text: &str) -> Result<Feature, GherkinError> {
    let mut reader = FeatureParser::new(text)?;
    let feature = reader.feature()?;
    match reader.peek() {
        Some(_) => Err(reader.error_here("this does not belong here")),
        None => Ok(feature),
    }
}

/// The lines of a feature and the position in them.
struct FeatureParser<'a> {
    /// The lines that are not blank.
    lines: Vec<NumberedLine<'a>>,
    /// The index of the next line.
    next: usize,
    /// The names of the scenarios so far, which must be unique.
    names: Vec<String>,
}

/// A line with its number, as it stands and without its indentation.
#[derive(Clone, Copy)]
struct NumberedLine<'a> {
    /// The line number, counted from 1.
    number: usize,
    /// The line with its indentation.
    whole: &'a str,
    /// The line without its indentation.
    text: &'a str,
}

impl<'a> FeatureParser<'a> {
    /// Splits a text into lines, and checks its line breaks.
    fn new(text: &'a str) -> Result<FeatureParser<'a>, GherkinError> {
        let number = text.lines().count().max(1);
        if !text.ends_with('\n') || text.ends_with("\n\n") {
            let message = "a feature ends in exactly one line break".to_owned();
            return Err(GherkinError {
                line: number,
                message,
            });
        }
        let lines = text
            .split('\n')
            .enumerate()
            .map(|(number, whole)| NumberedLine {
                number: number + 1,
                whole,
                text: whole.trim(),
            });
        let lines: Vec<NumberedLine<'_>> = lines.filter(|line| !line.text.is_empty()).collect();
        if let Some(line) = lines.iter().find(|line| line.whole.contains(is_line_break)) {
            let message = "a line contains another kind of line break".to_owned();
            return Err(GherkinError {
                line: line.number,
                message,
            });
        }
        Ok(FeatureParser {
            lines,
            next: 0,
            names: Vec::new(),
        })
    }

    /// Parses the feature.
    fn feature(&mut self) -> Result<Feature, GherkinError> {
        let tags = self.tags()?;
        let name = self.named_line("Feature:")?;
        let mut feature = Feature {
            tags,
            name,
            description: self.description()?,
            ..Feature::default()
        };
        while self.is_scenario() {
            feature.scenarios.push(self.scenario()?);
        }
        while self
            .peek()
            .is_some_and(|line| line.text.starts_with("Rule:"))
        {
            feature.rules.push(self.rule()?);
        }
        let in_rules = feature.rules.iter().all(|rule| !rule.scenarios.is_empty());
        if !in_rules || (feature.scenarios.is_empty() && feature.rules.is_empty()) {
            return Err(self.error_here("there is no scenario"));
        }
        Ok(feature)
    }

    /// Parses a rule with its scenarios.
    fn rule(&mut self) -> Result<FeatureRule, GherkinError> {
        let mut rule = FeatureRule {
            name: self.named_line("Rule:")?,
            description: self.description()?,
            ..FeatureRule::default()
        };
        while self.is_scenario() {
            rule.scenarios.push(self.scenario()?);
        }
        Ok(rule)
    }

    /// Returns true if a scenario begins here, with its comment, its tags or its keyword.
    fn is_scenario(&self) -> bool {
        self.peek().is_some_and(|line| {
            let beginnings = ["#", "@", "Scenario:", "Scenario Outline:"];
            beginnings.iter().any(|word| line.text.starts_with(word))
        })
    }

    /// Parses a scenario or an outline.
    fn scenario(&mut self) -> Result<Scenario, GherkinError> {
        let comment = self.take_if(|line| line.text.strip_prefix("# "));
        let tags = self.tags()?;
        let is_outline = self
            .peek()
            .is_some_and(|line| line.text.starts_with("Scenario Outline:"));
        let name = self.named_line(if is_outline {
            "Scenario Outline:"
        } else {
            "Scenario:"
        })?;
        if self.names.contains(&name) {
            return Err(self.error_before("another scenario has the same name"));
        }
        self.names.push(name.clone());
        let mut scenario = Scenario {
            comment: comment.map(str::to_owned),
            tags,
            name,
            description: self.description()?,
            ..Scenario::default()
        };
        while let Some(step) = self.step(scenario.steps.last())? {
            scenario.steps.push(step);
        }
        if scenario.steps.is_empty() {
            return Err(self.error_here("a scenario needs a step"));
        }
        if is_outline {
            match self.take_if(|line| (line.text == "Examples:").then_some("")) {
                Some(_) => scenario.examples = Some(self.table()?),
                None => return Err(self.error_here("an outline needs `Examples:`")),
            }
        }
        Ok(scenario)
    }

    /// Parses a step, or returns nothing if the line is none.
    fn step(
        &mut self,
        before: Option<&ScenarioStep>,
    ) -> Result<Option<ScenarioStep>, GherkinError> {
        let Some(line) = self.peek() else {
            return Ok(None);
        };
        let Some((word, text)) = line.text.split_once(' ') else {
            return Ok(None);
        };
        let keyword = match (word, before) {
            ("Given", _) => StepKeyword::Given,
            ("When", _) => StepKeyword::When,
            ("Then", _) => StepKeyword::Then,
            ("And" | "But", Some(before)) => before.keyword,
            ("And" | "But", None) => {
                return Err(self.error_here("the first step cannot continue another"));
            }
            _ => return Ok(None),
        };
        self.next += 1;
        let argument = match self.peek().map(|line| line.text) {
            Some(text) if text.starts_with('|') => Some(StepArgument::Table(self.table()?)),
            Some("\"\"\"") => Some(StepArgument::Text(self.doc_string()?)),
            _ => None,
        };
        Ok(Some(ScenarioStep {
            keyword,
            text: text.trim().to_owned(),
            argument,
            origin: FileLine::default(),
        }))
    }

    /// Parses the text below a step, between `\"\"\"` marks (G7).
    fn doc_string(&mut self) -> Result<String, GherkinError> {
        let Some(opening) = self.peek() else {
            return Ok(String::new());
        };
        let indent = opening.whole.len() - opening.whole.trim_start().len();
        self.next += 1;
        let mut lines = Vec::new();
        while let Some(line) = self.peek() {
            self.next += 1;
            if line.text == "\"\"\"" {
                return Ok(lines.join("\n"));
            }
            if line.text.contains("\"\"\"") {
                return Err(
                    self.error_before("three quotation marks end the text for some parsers only")
                );
            }
            let beginning = line.whole.get(..indent).unwrap_or(line.whole);
            if beginning.trim().is_empty() {
                lines.push(line.whole.get(indent..).unwrap_or_default())
            } else {
                return Err(self.error_before("this line is indented less than its beginning"));
            }
        }
        Err(self.error_here("the text is not closed by three quotation marks"))
    }

    /// Parses a table and checks its cells (G6).
    fn table(&mut self) -> Result<DataTable, GherkinError> {
        let mut rows = Vec::new();
        while let Some(line) = self.peek().filter(|line| line.text.starts_with('|')) {
            rows.push(self.cells(line.text)?);
            self.next += 1;
        }
        let mut rows = rows.into_iter();
        let Some(headings) = rows.next() else {
            return Err(self.error_here("a table is missing here"));
        };
        let table = DataTable {
            headings,
            rows: rows.collect(),
        };
        let width = table.headings.len();
        let columns = &table.headings;
        let is_right = |row: &Vec<String>| {
            row.len() == width && row.iter().all(|cell| fits_cell(cell, columns))
        };
        if table.rows.iter().all(is_right) {
            Ok(table)
        } else {
            Err(self.error_before("the rows above do not fit under their headings, or not every parser reads them alike"))
        }
    }

    /// Splits a row into cells; `\|` is the only escape.
    fn cells(&self, line: &str) -> Result<Vec<String>, GherkinError> {
        let inner = line
            .strip_prefix('|')
            .and_then(|line| line.strip_suffix('|'));
        let inner = inner.ok_or_else(|| self.error_here("a row begins and ends with `|`"))?;
        let mut cells = vec![String::new()];
        let mut letters = inner.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if letters.peek() == Some(&'|') => {
                    letters.next();
                    push(&mut cells, '|');
                }
                '\\' => {
                    return Err(self.error_here(
                        "a backslash in a cell is read differently by different parsers",
                    ));
                }
                '|' => cells.push(String::new()),
                other => push(&mut cells, other),
            }
        }
        Ok(cells.iter().map(|cell| cell.trim().to_owned()).collect())
    }

    /// Parses a line of tags (G5).
    fn tags(&mut self) -> Result<Vec<String>, GherkinError> {
        let Some(line) = self.peek().filter(|line| line.text.starts_with('@')) else {
            return Ok(Vec::new());
        };
        let mut tags = Vec::new();
        for word in line.text.split(' ') {
            let is_plain = |tag: &&str| {
                !tag.is_empty()
                    && tag
                        .chars()
                        .all(|letter| letter.is_alphanumeric() || "_-".contains(letter))
            };
            match word.strip_prefix('@').filter(is_plain) {
                Some(tag) => tags.push(tag.to_owned()),
                None => {
                    return Err(self.error_here("a tag is `@` with letters, digits, `_` and `-`"));
                }
            }
        }
        self.next += 1;
        Ok(tags)
    }

    /// Parses a line with a keyword and a name.
    fn named_line(&mut self, keyword: &str) -> Result<String, GherkinError> {
        let line = self.peek();
        let name = line
            .and_then(|line| line.text.strip_prefix(keyword))
            .map(str::trim);
        match name {
            Some(name) if !name.is_empty() => {
                self.next += 1;
                Ok(name.to_owned())
            }
            Some(_) => Err(self.error_here(&format!("`{keyword}` needs a name"))),
            None => Err(self.error_here(&format!("`{keyword}` is missing here"))),
        }
    }

    /// Parses lines up to the next one that begins like syntax.
    fn description(&mut self) -> Result<Description, GherkinError> {
        let mut lines = Vec::new();
        while let Some(line) = self.peek() {
            if starts_like_syntax(line.text) {
                break;
            }
            lines.push(line.text.to_owned());
            self.next += 1;
        }
        match self.peek() {
            Some(line) if !is_syntax(line.text) => Err(self.error_here(
                "not every parser takes a line for a description that begins like this",
            )),
            _ => Ok(Description(lines)),
        }
    }

    /// Consumes the next line if `wanted` accepts it.
    fn take_if(&mut self, wanted: impl Fn(NumberedLine<'a>) -> Option<&'a str>) -> Option<&'a str> {
        let found = self.peek().and_then(wanted);
        self.next += usize::from(found.is_some());
        found
    }

    /// Returns the next line.
    fn peek(&self) -> Option<NumberedLine<'a>> {
        self.lines.get(self.next).copied()
    }

    /// Creates an error at the next line.
    fn error_here(&self, message: &str) -> GherkinError {
        let last = || self.lines.last().map_or(1, |line| line.number);
        GherkinError {
            line: self.peek().map_or_else(last, |line| line.number),
            message: message.to_owned(),
        }
    }

    /// Creates an error at the line before.
    fn error_before(&self, message: &str) -> GherkinError {
        let line = self.lines.get(self.next.saturating_sub(1));
        GherkinError {
            line: line.map_or(1, |line| line.number),
            message: message.to_owned(),
        }
    }
}

/// Appends a letter to the last cell.
fn push(cells: &mut [String], letter: char) {
    if let Some(cell) = cells.last_mut() {
        cell.push(letter);
    }
}

/// Returns true if a line that begins like syntax is syntax.
fn is_syntax(line: &str) -> bool {
    let keywords = ["Rule:", "Scenario:", "Scenario Outline:", "Examples:"];
    let steps = ["Given ", "When ", "Then ", "And ", "But "];
    let marks = ["@", "# "];
    let mut beginnings = keywords.iter().chain(&steps).chain(&marks);
    beginnings.any(|word| line.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(text: &str) -> usize {
        parse(text).expect_err("refused").line
    }

    #[test]
    fn a_parsed_feature_has_all_its_parts() {
        let text = "@property\nFeature: A\n  About.\n\n  Rule: R\n\n    # careful\n    @slow @net\n    Scenario: S\n      \
                    One.\n      Two.\n\n      Given a\n        | x | y\\|z |\n        | 1 | 2    |\n      But b\n        \
                    \"\"\"\n        in\n          side\n        \"\"\"\n      Then c\n";
        let feature = parse(text).expect("a feature");
        let scenario = &feature.rules[0].scenarios[0];
        assert_eq!(scenario.comment.as_deref(), Some("careful"));
        assert_eq!(scenario.tags, ["slow", "net"]);
        assert_eq!(scenario.description.lines(), ["One.", "Two."]);
        let Some(StepArgument::Table(table)) = &scenario.steps[0].argument else {
            panic!("no table");
        };
        assert_eq!(table.headings, ["x", "y|z"]);
        assert_eq!(scenario.steps[1].keyword, StepKeyword::Given);
        let text = StepArgument::Text("in\n  side".to_owned());
        assert_eq!(scenario.steps[1].argument, Some(text));
        assert_eq!(scenario.steps[2].keyword, StepKeyword::Then);
    }

    #[test]
    fn ambiguous_syntax_is_refused_with_its_line() {
        let head = "Feature: A\n\n  Scenario: S\n";
        // G4
        assert_eq!(line_of(&format!("{head}    And a\n")), 4);
        // G3, in a feature and in a scenario
        assert_eq!(line_of(&format!("Feature: A\n  Rules\n{head}")), 2);
        assert_eq!(line_of(&format!("{head}    Givens\n    Given a\n")), 4);
        // G6
        assert_eq!(line_of(&format!("{head}    Given a\n      | a\\n |\n")), 5);
        // G1, keywords in capitals, as the first tool of this kind wrote them
        assert_eq!(line_of(&format!("{head}    GIVEN a\n")), 4);
        assert_eq!(line_of("GIVEN a\n"), 1);
        // G7
        assert_eq!(
            line_of(&format!(
                "{head}    Given a\n      ```\n      x\n      ```\n"
            )),
            5
        );
        // G8
        assert_eq!(line_of("Feature: A\n  About.\n"), 2);
        assert_eq!(line_of(""), 1);
    }

    #[test]
    fn trap_1_two_scenarios_of_one_name_are_refused_across_rules() {
        let rule = "  Rule: R\n\n    Scenario: S\n      Given a\n";
        assert_eq!(line_of(&format!("Feature: A\n\n{rule}\n{rule}")), 10);
    }
}
