//! The text of a feature, in a layout that every parser reads alike.

use super::{
    DataTable, Feature, GherkinError, Scenario, ScenarioStep, StepArgument, StepKeyword, fits_cell,
    parse,
};

/// Writes a feature (G1), and checks that it parses back to the same tree (G9).
///
/// # Errors
///
/// Returns the line of the unwritten text that would not be read back, and the reason.
pub fn write(feature: &Feature) -> Result<String, GherkinError> {
    let text = FeatureWriter::default().feature(feature);
    let parsed = parse(&text)?;
    if parsed == *feature {
        Ok(text)
    } else {
        Err(GherkinError {
            line: first_difference(&text, &FeatureWriter::default().feature(&parsed)),
            message: "this line is not read back as what it was written for".to_owned(),
        })
    }
}

/// Returns the number of the first line in which two texts differ.
fn first_difference(one: &str, other: &str) -> usize {
    let same = one.lines().zip(other.lines()).take_while(|(a, b)| a == b);
    same.count() + 1
}

/// The text written so far.
#[derive(Default)]
pub(super) struct FeatureWriter {
    text: String,
}

impl FeatureWriter {
    /// Writes scenarios without a feature around them.
    pub(super) fn scenarios(scenarios: &[Scenario]) -> String {
        let mut writer = FeatureWriter::default();
        for scenario in scenarios {
            writer.scenario(0, scenario);
        }
        writer.text.trim_start().to_owned()
    }

    /// Writes a feature.
    fn feature(mut self, feature: &Feature) -> String {
        self.tags(0, &feature.tags);
        self.named(0, "Feature:", &feature.name);
        self.lines(1, feature.description.lines());
        for scenario in &feature.scenarios {
            self.scenario(1, scenario);
        }
        for rule in &feature.rules {
            self.blank();
            self.named(1, "Rule:", &rule.name);
            self.lines(2, rule.description.lines());
            for scenario in &rule.scenarios {
                self.scenario(2, scenario);
            }
        }
        self.text
    }

    /// Writes a scenario at an indentation level.
    fn scenario(&mut self, level: usize, scenario: &Scenario) {
        self.blank();
        if let Some(comment) = &scenario.comment {
            self.line(level, &format!("# {comment}"));
        }
        self.tags(level, &scenario.tags);
        let keyword = match scenario.examples {
            Some(_) => "Scenario Outline:",
            None => "Scenario:",
        };
        self.named(level, keyword, &scenario.name);
        self.lines(level + 1, scenario.description.lines());
        if !scenario.description.lines().is_empty() {
            self.blank();
        }
        let mut before = None;
        for step in &scenario.steps {
            self.step(level + 1, step, before);
            before = Some(step.keyword);
        }
        if let Some(examples) = &scenario.examples {
            self.blank();
            self.line(level + 1, "Examples:");
            self.table(level + 2, examples);
        }
    }

    /// Writes a step and its argument. A repeated keyword is written `And` (F9).
    fn step(&mut self, level: usize, step: &ScenarioStep, before: Option<StepKeyword>) {
        let word = step.keyword.written_after(before);
        self.named(level, word, &step.text);
        match &step.argument {
            Some(StepArgument::Table(table)) => self.table(level + 1, table),
            Some(StepArgument::Text(text)) => {
                self.line(level + 1, "\"\"\"");
                for line in text.lines() {
                    self.line(level + 1, line);
                }
                self.line(level + 1, "\"\"\"");
            }
            None => {}
        }
    }

    /// Writes a table with aligned columns.
    fn table(&mut self, level: usize, table: &DataTable) {
        let rows: Vec<Vec<String>> = std::iter::once(&table.headings)
            .chain(&table.rows)
            .map(|row| row.iter().map(|cell| cell.replace('|', "\\|")).collect())
            .collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..table.headings.len()).map(width).collect();
        for row in &rows {
            let cells = row.iter().zip(&widths);
            let cells: Vec<String> = cells
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            self.line(level, &format!("| {} |", cells.join(" | ")));
        }
    }

    /// Writes tags on one line.
    fn tags(&mut self, level: usize, tags: &[String]) {
        if !tags.is_empty() {
            let tags: Vec<String> = tags.iter().map(|tag| format!("@{tag}")).collect();
            self.line(level, &tags.join(" "));
        }
    }

    /// Writes a keyword and a name.
    fn named(&mut self, level: usize, keyword: &str, name: &str) {
        self.line(level, &format!("{keyword} {name}"));
    }

    /// Writes several lines.
    fn lines(&mut self, level: usize, lines: &[String]) {
        for line in lines {
            self.line(level, line);
        }
    }

    /// Writes a line at an indentation level.
    fn line(&mut self, level: usize, line: &str) {
        let indented = format!("{:width$}{line}", "", width = 2 * level);
        self.text.push_str(indented.trim_end());
        self.text.push('\n');
    }

    /// Writes a blank line.
    fn blank(&mut self) {
        self.text.push('\n');
    }
}

impl DataTable {
    /// Returns true if all cells may stand in a table (G6).
    #[must_use]
    pub fn fits(&self) -> bool {
        let mut rows = std::iter::once(&self.headings).chain(&self.rows);
        rows.all(|row| {
            row.len() == self.headings.len()
                && row.iter().all(|cell| fits_cell(cell, &self.headings))
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::{Description, FeatureRule};
    use super::*;

    fn feature_of(scenario: Scenario) -> Feature {
        Feature {
            name: "Things".to_owned(),
            scenarios: vec![scenario],
            ..Feature::default()
        }
    }

    fn scenario(steps: &[(StepKeyword, &str)]) -> Scenario {
        let steps = steps
            .iter()
            .map(|(keyword, text)| ScenarioStep::new(*keyword, text));
        Scenario {
            name: "One".to_owned(),
            steps: steps.collect(),
            ..Scenario::default()
        }
    }

    #[test]
    fn g1_keywords_indentation_and_blank_lines() {
        let mut outline = scenario(&[(StepKeyword::Given, "I have the number <n>, called n")]);
        outline.name = "Two".to_owned();
        outline.examples = Some(DataTable {
            headings: vec!["n".to_owned()],
            rows: vec![vec!["10".to_owned()], vec!["2".to_owned()]],
        });
        let feature = Feature {
            tags: vec!["property".to_owned()],
            name: "Things".to_owned(),
            description: Description::from_iter(["About things."]),
            scenarios: vec![],
            rules: vec![FeatureRule {
                name: "They are.".to_owned(),
                description: Description::from_iter(["This must hold."]),
                scenarios: vec![scenario(&[(StepKeyword::Then, "it is")]), outline],
                ..FeatureRule::default()
            }],
        };
        expect![[r#"
            @property
            Feature: Things
              About things.

              Rule: They are.
                This must hold.

                Scenario: One
                  Then it is

                Scenario Outline: Two
                  Given I have the number <n>, called n

                  Examples:
                    | n  |
                    | 10 |
                    | 2  |
        "#]]
        .assert_eq(&write(&feature).expect("readable"));
    }

    #[test]
    fn g2_a_step_is_one_line() {
        assert_eq!(
            ScenarioStep::new(StepKeyword::Given, "a\n b\u{2028}c\u{85}d \"e  f\"").text,
            "a b c d \"e  f\""
        );
        let mut broken = scenario(&[(StepKeyword::Given, "a")]);
        broken.steps[0].text = "a\nb".to_owned();
        assert_eq!(write(&feature_of(broken)).expect_err("two lines").line, 5);
    }

    #[test]
    fn g3_no_description_begins_like_a_keyword() {
        let lines = [
            "Rules that hold.",
            "Examples follow",
            "Givens",
            "*bold*",
            "@here",
            "# x",
            "Business Needs",
            "But",
            "rules",
            "A Rule",
        ];
        let description = Description::from_iter(lines);
        assert_eq!(
            description.lines(),
            [
                "- Rules that hold.",
                "- Examples follow",
                "- Givens",
                "- *bold*",
                "- @here",
                "- # x",
                "- Business Needs",
                "- But",
                "rules",
                "A Rule"
            ]
        );
        let mut described = scenario(&[(StepKeyword::Given, "a")]);
        described.description = description;
        let text = write(&feature_of(described)).expect("readable");
        assert!(text.contains("    - Rules that hold.\n"));
        assert!(text.contains("    A Rule\n\n    Given a\n"));
    }

    #[test]
    fn g4_and_f9_a_repeated_keyword_is_and_and_never_the_first() {
        use StepKeyword::{Given, Then, When};
        let steps = [
            (Given, "a"),
            (Given, "b"),
            (When, "c"),
            (Then, "d"),
            (Then, "e"),
            (When, "f"),
        ];
        let text = write(&feature_of(scenario(&steps))).expect("readable");
        let words: Vec<&str> = (text.lines().skip(3))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(words, ["Given", "And", "When", "Then", "And", "When"]);
    }

    #[test]
    fn g5_tags_are_plain_words() {
        let mut tagged = scenario(&[(StepKeyword::Given, "a")]);
        tagged.tags = vec!["needs-net_2".to_owned()];
        assert!(write(&feature_of(tagged.clone())).is_ok());
        for tag in ["two words", "a:b", "", "a@b"] {
            tagged.tags = vec![tag.to_owned()];
            assert!(write(&feature_of(tagged.clone())).is_err(), "{tag}");
        }
    }

    #[test]
    fn g6_cells_hold_only_what_all_read_alike() {
        let columns = ["n".to_owned()];
        for (cell, fits) in [
            ("\"a|b\"", true),
            ("\"<m>\"", true),
            ("\"<n>\"", false),
            ("\"a\\n\"", false),
            ("\"a\nb\"", false),
        ] {
            assert_eq!(fits_cell(cell, &columns), fits, "{cell}");
        }
        let mut outline = scenario(&[(StepKeyword::Given, "I have the text <n>, called n")]);
        outline.examples = Some(DataTable {
            headings: columns.to_vec(),
            rows: vec![vec!["\"a|b\"".to_owned()]],
        });
        let text = write(&feature_of(outline)).expect("readable");
        assert!(text.contains("| \"a\\|b\" |"), "{text}");
    }

    #[test]
    fn g7_texts_below_a_step_contain_no_quotes_of_their_own() {
        let mut with_text = scenario(&[(StepKeyword::Given, "a")]);
        with_text.steps[0].argument = Some(StepArgument::Text("one\n  two".to_owned()));
        assert!(write(&feature_of(with_text.clone())).is_ok());
        with_text.steps[0].argument = Some(StepArgument::Text("a \"\"\" b".to_owned()));
        assert!(write(&feature_of(with_text)).is_err());
    }

    #[test]
    fn g8_a_feature_has_a_scenario() {
        let empty = Feature {
            name: "Things".to_owned(),
            ..Feature::default()
        };
        assert!(write(&empty).is_err());
    }

    #[test]
    fn g9_what_does_not_read_back_is_not_written() {
        let mut odd = scenario(&[(StepKeyword::Given, "a")]);
        odd.name = " ".to_owned();
        assert!(write(&feature_of(odd)).is_err());
        let mut odd = scenario(&[(StepKeyword::Given, "a")]);
        odd.comment = Some("two\nlines".to_owned());
        assert!(write(&feature_of(odd)).is_err());
        let commented = Scenario {
            comment: Some("not verified".to_owned()),
            ..scenario(&[(StepKeyword::Given, "a")])
        };
        assert!(
            write(&feature_of(commented))
                .expect("readable")
                .contains("\n  # not verified\n")
        );
    }
}
