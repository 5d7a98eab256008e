//! Plain text: two spaces per level, one line per sentence, never wrapped.

use crate::block::{Document, DocumentItem, Heading, ItemKind};

/// Renders a document as plain text.
#[must_use]
pub fn text(document: &Document) -> String {
    let mut lines = vec![document.title.clone()];
    lines.extend(document.intro.iter().map(|intro| format!("  {intro}")));
    for section in &document.sections {
        lines.push(String::new());
        let indent = match &section.heading {
            Heading::None => 0,
            Heading::Plain(words) => {
                lines.push(format!("{words}:"));
                1
            }
            Heading::Action(title) => {
                lines.push(title.clone());
                1
            }
        };
        push_items(&section.items, indent, &mut lines);
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Appends the lines of items at an indentation level.
fn push_items(all: &[DocumentItem], indent: usize, lines: &mut Vec<String>) {
    let blanks = "  ".repeat(indent);
    for item in all {
        match &item.kind {
            ItemKind::Paragraph(words) => lines.push(format!("{blanks}{words}")),
            ItemKind::Sentence(words) => lines.push(format!("{blanks}- {words}")),
            ItemKind::Labelled { label, sentence } => {
                lines.push(format!("{blanks}{label} {sentence}"));
            }
            ItemKind::Group { .. } | ItemKind::Choice { .. } | ItemKind::Block { .. } => {
                for (number, (heading, below)) in item.parts().into_iter().enumerate() {
                    lines.push(format!("{blanks}{heading}:"));
                    push_code(item.code_of_part(number), &blanks, lines);
                    push_items(below, indent + 1, lines);
                }
                continue;
            }
        }
        push_code(item.code.as_deref(), &blanks, lines);
    }
}

/// Appends code below the line that it belongs to, indented deeper than any other text there.
fn push_code(code: Option<&str>, blanks: &str, lines: &mut Vec<String>) {
    for line in code.into_iter().flat_map(str::lines) {
        lines.push(format!("{blanks}    `{line}`"));
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::text;
    use crate::block::sample_document;

    #[test]
    fn text_is_indented_by_two() {
        expect![[r#"
            Model: sample
              All of it.

            What is remembered:
              - the w: a list

            Action: start
              Start *it*.
              Inputs: none.
              What happens:
                - Zero.
                If a is <b>:
                  - One.
                Otherwise, if c:
                  - Two.
                Otherwise:
                  - Three.
                For each v in the w:
                  - Four.

            A run may end: never.
        "#]]
        .assert_eq(&text(&sample_document().at_verbosity(1)));
    }

    #[test]
    fn code_is_shown_when_everything_is() {
        let rendered = text(&sample_document().at_verbosity(3));
        assert!(
            rendered.contains("      - Three.\n          `x = 3`\n"),
            "{rendered}"
        );
        assert!(!text(&sample_document().at_verbosity(2)).contains('`'));
    }
}
