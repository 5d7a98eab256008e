//! Markdown that every reader of it shows alike: headings, paragraphs, lists.

use crate::block::{Document, Heading, Item, ItemKind};

/// A document as Markdown.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut page = Page::default();
    page.block(format!("# {}", literal(&document.title)));
    if let Some(intro) = &document.intro {
        page.block(literal(intro));
    }
    for section in &document.sections {
        match &section.heading {
            Heading::None => {}
            Heading::Plain(words) | Heading::Action(words) => {
                page.block(format!("## {}", literal(words)));
            }
        }
        page.items(&section.items);
    }
    page.finish()
}

#[derive(Default)]
struct Page {
    blocks: Vec<String>,
    /// Entries of the list that is being written.
    list: Vec<String>,
}

impl Page {
    fn block(&mut self, block: String) {
        self.end_of_list();
        self.blocks.push(block);
    }

    fn end_of_list(&mut self) {
        if !self.list.is_empty() {
            self.blocks.push(self.list.join("\n"));
            self.list.clear();
        }
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match &item.kind {
                ItemKind::Paragraph(words) => {
                    self.block(with_code(&literal(words), item.code.as_deref()))
                }
                ItemKind::Labelled { label, sentence } => {
                    let words = format!("**{}** {}", literal(label), literal(sentence));
                    self.block(with_code(&words, item.code.as_deref()));
                }
                ItemKind::Group { label, items } => {
                    let (label, rest) = parted(label);
                    self.block(format!("**{}**{}", literal(label), literal(rest)));
                    self.items(items);
                    self.end_of_list();
                }
                ItemKind::Sentence(_) | ItemKind::Choice { .. } | ItemKind::Block { .. } => {
                    list(item, 0, &mut self.list);
                }
            }
        }
        self.end_of_list();
    }

    fn finish(mut self) -> String {
        self.end_of_list();
        let mut text = self.blocks.join("\n\n");
        text.push('\n');
        text
    }
}

/// A label, and the words behind its first colon: only the label is emphasised.
pub(super) fn parted(label: &str) -> (&str, &str) {
    match label.find(": ") {
        Some(at) => label.split_at(at + 1),
        None => (label, ""),
    }
}

fn list(item: &Item, indent: usize, lines: &mut Vec<String>) {
    let blanks = "  ".repeat(indent);
    match &item.kind {
        ItemKind::Paragraph(words) | ItemKind::Sentence(words) => {
            lines.push(format!(
                "{blanks}- {}",
                with_code(&literal(words), item.code.as_deref())
            ));
        }
        ItemKind::Labelled { label, sentence } => {
            let words = format!("**{}** {}", literal(label), literal(sentence));
            lines.push(format!(
                "{blanks}- {}",
                with_code(&words, item.code.as_deref())
            ));
        }
        ItemKind::Group { .. } | ItemKind::Choice { .. } | ItemKind::Block { .. } => {
            for (number, (heading, below)) in item.parts().into_iter().enumerate() {
                let heading = format!("{}:", literal(&heading));
                let heading = with_code(&heading, item.code_of(number));
                lines.push(format!("{blanks}- {heading}"));
                for one in below {
                    list(one, indent + 1, lines);
                }
            }
        }
    }
}

fn with_code(words: &str, code: Option<&str>) -> String {
    match code {
        Some(code) => {
            let one_line: Vec<&str> = code.lines().map(str::trim).collect();
            format!("{words} ({})", code_span(&one_line.join(" ")))
        }
        None => words.to_owned(),
    }
}

/// Code with fences that are longer than any in it.
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

/// Words as they stand, whatever Markdown would make of them.
///
/// Only where they would mean something: a star, a backtick, a bracket that opens a link, an angle bracket, a backslash;
/// an underscore at the edge of a word, since inside of words it means nothing.
fn literal(words: &str) -> String {
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

    use super::{code_span, literal, markdown};
    use crate::block::sample;

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
        .assert_eq(&markdown(&sample().shown_at(1)));
    }

    #[test]
    fn words_stay_as_they_are() {
        assert_eq!(literal("a_b, _c and 3 * 4"), "a_b, \\_c and 3 \\* 4");
        assert_eq!(literal("[1, 2] is \"[a](b)\""), "[1, 2] is \"[a\\](b)\"");
        assert_eq!(literal("# 1 is &lt; & so on"), "\\# 1 is \\&lt; & so on");
    }

    #[test]
    fn code_keeps_its_backticks() {
        assert_eq!(code_span("a"), "`a`");
        assert_eq!(code_span("'`'"), "`` '`' ``");
    }
}
