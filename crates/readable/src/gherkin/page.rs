//! A feature as a document: Markdown, or one self-contained HTML file.

use std::fmt::Write;

use super::{Feature, FeatureRule, Scenario, StepKeyword, write::FeatureWriter};
use crate::mermaid::SequenceDiagram;
use crate::render::STYLE;

/// A feature with the additional content of a document.
#[derive(Debug, Clone, Copy)]
pub struct FeaturePage<'a> {
    /// The feature.
    pub feature: &'a Feature,
    /// One sentence below each rule, in order, which says how much its examples cover. May be
    /// empty.
    pub remarks: &'a [String],
    /// The sequence diagram of a failure.
    pub diagram: Option<&'a SequenceDiagram>,
    /// The source text of the rules.
    pub source: &'a str,
}

impl FeaturePage<'_> {
    /// Renders Markdown, with a fenced block for each rule.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# Feature: {}\n", self.feature.name);
        for line in self.feature.description.lines() {
            push_paragraph(&mut text, line);
        }
        if !self.feature.scenarios.is_empty() {
            push_fence(
                &mut text,
                "gherkin",
                &FeatureWriter::scenarios(&self.feature.scenarios),
            );
        }
        for (index, rule) in self.feature.rules.iter().enumerate() {
            push_paragraph(&mut text, &format!("## Rule: {}", rule.name));
            for line in rule.description.lines() {
                push_paragraph(&mut text, line);
            }
            push_fence(
                &mut text,
                "gherkin",
                &FeatureWriter::scenarios(&rule.scenarios),
            );
            push_paragraph(&mut text, self.remark(index));
        }
        if let Some(diagram) = self.diagram {
            push_fence(&mut text, "mermaid", &diagram.write());
        }
        text
    }

    /// Renders an HTML page, with an article for each scenario.
    #[must_use]
    pub fn html(&self) -> String {
        let title = escape(&format!("Feature: {}", self.feature.name));
        let mut lines = vec![
            "<!DOCTYPE html>".to_owned(),
            "<html lang=\"en\">".to_owned(),
            "<head>".to_owned(),
            "<meta charset=\"utf-8\">".to_owned(),
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">".to_owned(),
            format!("<title>{title}</title>"),
            format!("<style>\n{STYLE}\n</style>"),
            "</head>".to_owned(),
            "<body>".to_owned(),
            "<main>".to_owned(),
            format!("<h1>{title}</h1>"),
        ];
        push_paragraphs(&mut lines, self.feature.description.lines());
        push_articles(&mut lines, &self.feature.scenarios);
        for (index, rule) in self.feature.rules.iter().enumerate() {
            lines.push(format!("<section id=\"rule-{}\">", index + 1));
            lines.push(format!("<h2>Rule: {}</h2>", escape(&rule.name)));
            push_paragraphs(&mut lines, rule.description.lines());
            push_articles(&mut lines, &rule.scenarios);
            push_paragraphs(&mut lines, &[self.remark(index).to_owned()]);
            self.push_rule_source(rule, &mut lines);
            lines.push("</section>".to_owned());
        }
        if let Some(diagram) = self.diagram {
            lines.push(format!("<figure>\n{}</figure>", diagram.svg()));
            lines.push("<details><summary>The same in words, and for Mermaid</summary>".to_owned());
            lines.push("<ol>".to_owned());
            lines.extend(
                diagram
                    .sentences()
                    .iter()
                    .map(|sentence| format!("<li>{}</li>", escape(sentence))),
            );
            lines.push("</ol>".to_owned());
            lines.push(format!(
                "<pre class=\"mermaid\">\n{}</pre>\n</details>",
                escape(&diagram.write())
            ));
        }
        lines.extend(["</main>", "</body>", "</html>", ""].map(str::to_owned));
        lines.join("\n")
    }

    /// Returns the remark below a rule.
    fn remark(&self, index: usize) -> &str {
        self.remarks.get(index).map_or("", String::as_str)
    }

    /// Appends the source lines of a rule, folded away. They end where another line stands as far
    /// left.
    fn push_rule_source(&self, rule: &FeatureRule, lines: &mut Vec<String>) {
        if rule.origin.line == 0 {
            return;
        }
        let mut source = self.source.lines().skip(rule.origin.line - 1);
        let mut code: Vec<&str> = Vec::new();
        let is_inside = |line: &str| line.is_empty() || line.starts_with([' ', '\t', ')']);
        let mut has_begun = false;
        while let Some(line) = source.next().filter(|line| !has_begun || is_inside(line)) {
            has_begun |= line.trim_start().starts_with("def ")
                || line.trim_start().starts_with("async def ");
            code.push(line);
        }
        let location = format!("{}, line {}", rule.origin.file, rule.origin.line);
        lines.push(format!("<details><summary>{}</summary>", escape(&location)));
        lines.push(format!(
            "<pre>\n{}</pre>",
            escape(code.join("\n").trim_end())
        ));
        lines.push("</details>".to_owned());
    }
}

/// Appends a paragraph of Markdown.
fn push_paragraph(text: &mut String, words: &str) {
    if !words.is_empty() {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "\n{words}");
    }
}

/// Appends a fenced block.
fn push_fence(text: &mut String, language: &str, inside: &str) {
    let _ = writeln!(text, "\n```{language}\n{}\n```", inside.trim_end());
}

/// Appends HTML paragraphs.
fn push_paragraphs(lines: &mut Vec<String>, words: &[String]) {
    let nonempty = words.iter().filter(|words| !words.is_empty());
    lines.extend(nonempty.map(|words| format!("<p>{}</p>", escape(words))));
}

/// Appends an article for each scenario.
fn push_articles(lines: &mut Vec<String>, scenarios: &[Scenario]) {
    for scenario in scenarios {
        let anchor: String = scenario
            .name
            .chars()
            .map(|letter| {
                if letter.is_alphanumeric() {
                    letter
                } else {
                    '-'
                }
            })
            .collect();
        lines.push(format!("<article id=\"{}\">", anchor.to_lowercase()));
        lines.push(format!("<h3>{}</h3>", escape(&scenario.name)));
        push_paragraphs(lines, scenario.description.lines());
        lines.push("<ul>".to_owned());
        let mut before = None;
        for step in &scenario.steps {
            let word = StepKeyword::written_after(step.keyword, before);
            lines.push(format!(
                "<li><strong>{word}</strong> {}</li>",
                escape(&step.text)
            ));
            before = Some(step.keyword);
        }
        lines.push("</ul>".to_owned());
        if let Some(table) = &scenario.examples {
            let row = |cells: &[String], cell: &str| {
                let cells: String = cells
                    .iter()
                    .map(|text| format!("<{cell}>{}</{cell}>", escape(text)))
                    .collect();
                format!("<tr>{cells}</tr>")
            };
            lines.push("<table>".to_owned());
            lines.push(row(&table.headings, "th"));
            lines.extend(table.rows.iter().map(|cells| row(cells, "td")));
            lines.push("</table>".to_owned());
        }
        lines.push("</article>".to_owned());
    }
}

/// Escapes text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::{DataTable, Description, FileLine, ScenarioStep};
    use super::*;
    use crate::mermaid::DiagramMessage;

    fn feature() -> Feature {
        let steps = vec![
            ScenarioStep::new(StepKeyword::Given, "I have the number <n>, called n"),
            ScenarioStep::new(StepKeyword::Given, "n < 3 & more"),
        ];
        let scenario = Scenario {
            name: "Few - examples".to_owned(),
            steps,
            examples: Some(DataTable {
                headings: vec!["n".to_owned()],
                rows: vec![vec!["1".to_owned()]],
            }),
            ..Scenario::default()
        };
        Feature {
            name: "Numbers".to_owned(),
            description: Description::from_iter(["About numbers."]),
            rules: vec![FeatureRule {
                name: "They are few.".to_owned(),
                description: Description::from_iter(["This must hold."]),
                scenarios: vec![scenario],
                origin: FileLine {
                    file: "test_n.py".to_owned(),
                    line: 2,
                },
            }],
            ..Feature::default()
        }
    }

    fn diagram() -> SequenceDiagram {
        SequenceDiagram {
            participants: vec!["System".to_owned()],
            messages: vec![DiagramMessage::Call {
                to: 0,
                text: "go".to_owned(),
            }],
            notes: vec!["Expected: nothing".to_owned()],
        }
    }

    const SOURCE: &str = "import x\n@given(\n    n\n)\ndef test_a(n):\n    assert n\n\nother = 1\n";

    #[test]
    fn markdown_has_a_block_for_each_rule() {
        let feature = feature();
        let page = FeaturePage {
            feature: &feature,
            remarks: &["These examples show all.".to_owned()],
            diagram: Some(&diagram()),
            source: SOURCE,
        };
        expect![[r#"
            # Feature: Numbers

            About numbers.

            ## Rule: They are few.

            This must hold.

            ```gherkin
            Scenario Outline: Few - examples
              Given I have the number <n>, called n
              And n < 3 & more

              Examples:
                | n |
                | 1 |
            ```

            These examples show all.

            ```mermaid
            sequenceDiagram
                actor P0 as Tester
                participant P1 as System
                P0->>P1: go
                Note over P0,P1: Expected: nothing
            ```
        "#]]
        .assert_eq(&page.markdown());
    }

    #[test]
    fn html_has_an_article_for_each_scenario_and_loads_nothing() {
        let feature = feature();
        let page = FeaturePage {
            feature: &feature,
            remarks: &[],
            diagram: Some(&diagram()),
            source: SOURCE,
        };
        expect![[r#"
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Feature: Numbers</title>
            <style>
            body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
            h1 { font-size: 1.6rem; }
            h2 { font-size: 1.2rem; margin-top: 2rem; }
            li { margin: 0.2rem 0; }
            details { margin: 0.4rem 0; color: #555; }
            figure { margin: 2rem 0; overflow-x: auto; }
            table { border-collapse: collapse; }
            th, td { padding: 0.2rem 0.8rem 0.2rem 0; text-align: left; border-bottom: 1px solid #ddd; }
            pre { overflow-x: auto; }
            </style>
            </head>
            <body>
            <main>
            <h1>Feature: Numbers</h1>
            <p>About numbers.</p>
            <section id="rule-1">
            <h2>Rule: They are few.</h2>
            <p>This must hold.</p>
            <article id="few---examples">
            <h3>Few - examples</h3>
            <ul>
            <li><strong>Given</strong> I have the number &lt;n&gt;, called n</li>
            <li><strong>And</strong> n &lt; 3 &amp; more</li>
            </ul>
            <table>
            <tr><th>n</th></tr>
            <tr><td>1</td></tr>
            </table>
            </article>
            <details><summary>test_n.py, line 2</summary>
            <pre>
            @given(
                n
            )
            def test_a(n):
                assert n</pre>
            </details>
            </section>
            <figure>
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 218 146" width="218" height="146" role="img">
            <title>Sequence diagram</title>
            <style>text{font:14px system-ui,sans-serif;fill:#222}.box{fill:#eef3fb;stroke:#5b7db1}.life{stroke:#bbb;stroke-dasharray:3 4}.arrow{stroke:#333;fill:none}.back{stroke-dasharray:6 4}.bad{stroke:#c0262d}.bad-text{fill:#c0262d}.tip{fill:#333}.note{fill:#fff8dc;stroke:#c9b458}</style>
            <path class="life" d="M51 46V130"/>
            <rect class="box" x="18" y="16" width="66" height="30" rx="4"/>
            <text x="51" y="36" text-anchor="middle">Tester</text>
            <path class="life" d="M167 46V130"/>
            <rect class="box" x="134" y="16" width="66" height="30" rx="4"/>
            <text x="167" y="36" text-anchor="middle">System</text>
            <text x="109" y="72" text-anchor="middle">go</text>
            <path class="arrow" d="M51 80H159"/>
            <path class="tip" d="M167 80L159 75V85z"/>
            <rect class="note" x="16" y="94" width="186" height="28"/>
            <text x="109" y="112" text-anchor="middle">Expected: nothing</text>
            </svg>
            </figure>
            <details><summary>The same in words, and for Mermaid</summary>
            <ol>
            <li>Tester to System: go</li>
            <li>Expected: nothing</li>
            </ol>
            <pre class="mermaid">
            sequenceDiagram
                actor P0 as Tester
                participant P1 as System
                P0-&gt;&gt;P1: go
                Note over P0,P1: Expected: nothing
            </pre>
            </details>
            </main>
            </body>
            </html>
        "#]]
        .assert_eq(&page.html());
    }
}
