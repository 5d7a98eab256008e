//! Markdown that all renderers show alike: headings, paragraphs and lists.

use crate::block::{Document, DocumentItem, Heading, ItemKind};

/// Renders a document as Markdown.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut page = MarkdownPage::default();
    page.push_block(format!("# {}", escape_literal(&document.title)));
    if let Some(intro) = &document.intro {
        page.push_block(escape_literal(intro));
    }
    for section in &document.sections {
        match &section.heading {
            Heading::None => {}
            Heading::Plain(words) | Heading::Action(words) => {
                page.push_block(format!("## {}", escape_literal(words)));
            }
        }
        page.push_items(&section.items);
    }
    page.finish()
}

/// The blocks written so far. Blocks are separated by a blank line.
#[derive(Default)]
struct MarkdownPage {
    blocks: Vec<String>,
    /// The lines of the list that is being written.
    list: Vec<String>,
}

impl MarkdownPage {
    /// Ends the current list and appends a block.
    fn push_block(&mut self, block: String) {
        self.end_list();
        self.blocks.push(block);
    }

    /// Turns the current list into a block.
    fn end_list(&mut self) {
        if !self.list.is_empty() {
            self.blocks.push(self.list.join("\n"));
            self.list.clear();
        }
    }

    /// Appends items: entries go to the current list, everything else becomes a block.
    fn push_items(&mut self, items: &[DocumentItem]) {
        for item in items {
            match &item.kind {
                ItemKind::Paragraph(words) => {
                    self.push_block(with_code(&escape_literal(words), item.code.as_deref()))
                }
                ItemKind::Labelled { label, sentence } => {
                    let words =
                        format!("**{}** {}", escape_literal(label), escape_literal(sentence));
                    self.push_block(with_code(&words, item.code.as_deref()));
                }
                ItemKind::Group { label, items } => {
                    let (label, rest) = split_label(label);
                    self.push_block(format!(
                        "**{}**{}",
                        escape_literal(label),
                        escape_literal(rest)
                    ));
                    self.push_items(items);
                    self.end_list();
                }
                ItemKind::Sentence(_) | ItemKind::Choice { .. } | ItemKind::Block { .. } => {
                    push_list(item, 0, &mut self.list);
                }
            }
        }
        self.end_list();
    }

    /// Returns the text of the page.
    fn finish(mut self) -> String {
        self.end_list();
        let mut text = self.blocks.join("\n\n");
        text.push('\n');
        text
    }
}

/// Splits a label after its first colon. Only the first part is emphasised.
pub(super) fn split_label(label: &str) -> (&str, &str) {
    match label.find(": ") {
        Some(at) => label.split_at(at + 1),
        None => (label, ""),
    }
}

/// Appends an item as an entry of a list, with everything below it indented.
fn push_list(item: &DocumentItem, indent: usize, lines: &mut Vec<String>) {
    let blanks = "  ".repeat(indent);
    match &item.kind {
        ItemKind::Paragraph(words) | ItemKind::Sentence(words) => {
            lines.push(format!(
                "{blanks}- {}",
                with_code(&escape_literal(words), item.code.as_deref())
            ));
        }
        ItemKind::Labelled { label, sentence } => {
            let words = format!("**{}** {}", escape_literal(label), escape_literal(sentence));
            lines.push(format!(
                "{blanks}- {}",
                with_code(&words, item.code.as_deref())
            ));
        }
        ItemKind::Group { .. } | ItemKind::Choice { .. } | ItemKind::Block { .. } => {
            for (number, (heading, below)) in item.parts().into_iter().enumerate() {
                let heading = format!("{}:", escape_literal(&heading));
                let heading = with_code(&heading, item.code_of_part(number));
                lines.push(format!("{blanks}- {heading}"));
                for one in below {
                    push_list(one, indent + 1, lines);
                }
            }
        }
    }
}

/// Appends the code that the words describe, as a code span in parentheses.
fn with_code(words: &str, code: Option<&str>) -> String {
    match code {
        Some(code) => {
            let one_line: Vec<&str> = code.lines().map(str::trim).collect();
            format!("{words} ({})", code_span(&one_line.join(" ")))
        }
        None => words.to_owned(),
    }
}

/// Wraps code in backticks, with a fence longer than any run of backticks in it.
fn code_span(code: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for one in code.chars() {
        run = if one == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    match longest {
        0 => format!("{fence}{code}{fence}"),
        _ => format!("{fence} {code} {fence}"),
    }
}

/// Escapes words so that Markdown shows them as they are.
///
/// Only characters that would mean something are escaped: a star, a backtick, a bracket that opens
/// a link, an angle bracket, a backslash, and an underscore at the edge of a word. Inside a word an
/// underscore means nothing.
fn escape_literal(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    let letters: Vec<char> = words.chars().collect();
    for (at, one) in letters.iter().enumerate() {
        let is_word = |at: Option<usize>| {
            at.and_then(|at| letters.get(at))
                .is_some_and(|letter| letter.is_alphanumeric())
        };
        let special = match one {
            '*' | '`' | '<' | '\\' => true,
            '_' => !(is_word(at.checked_sub(1)) && is_word(Some(at + 1))),
            ']' => matches!(letters.get(at + 1), Some('(' | '[' | ':')),
            '#' | '+' | '-' | '>' => {
                at == 0 && matches!(letters.get(1), None | Some(' ' | '#' | '>'))
            }
            '&' => letters[at..]
                .iter()
                .take_while(|letter| **letter != ' ')
                .any(|letter| *letter == ';'),
            _ => false,
        };
        if special {
            text.push('\\');
        }
        text.push(*one);
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{code_span, escape_literal, markdown};
    use crate::block::sample_document;

    #[test]
    fn choices_are_nested_lists() {
        expect![[r"
            # Model: sample

            All of it.

            ## What is remembered

            - the w: a list

            ## Action: start

            Start \*it\*.

            **Inputs:** none.

            **What happens:**

            - Zero.
            - If a is \<b>:
              - One.
            - Otherwise, if c:
              - Two.
            - Otherwise:
              - Three.
            - For each v in the w:
              - Four.

            **A run may end:** never.
        "]]
        .assert_eq(&markdown(&sample_document().at_verbosity(1)));
    }

    #[test]
    fn words_stay_as_they_are() {
        assert_eq!(escape_literal("a_b, _c and 3 * 4"), "a_b, \\_c and 3 \\* 4");
        assert_eq!(
            escape_literal("[1, 2] is \"[a](b)\""),
            "[1, 2] is \"[a\\](b)\""
        );
        assert_eq!(
            escape_literal("# 1 is &lt; & so on"),
            "\\# 1 is \\&lt; & so on"
        );
    }

    #[test]
    fn code_keeps_its_backticks() {
        assert_eq!(code_span("a"), "`a`");
        assert_eq!(code_span("'`'"), "`` '`' ``");
    }
}
