//! The tree of blocks that every document is before it becomes text.
//!
//! Explanations build this tree; renderers ([`crate::render`]) turn it into text and use nothing
//! else. Each block holds the source lines that it comes from and the lowest verbosity at which it
//! is shown. A brief explanation is therefore a full one with blocks left out, never another text.

use std::ops::RangeInclusive;

/// A range of source lines, counted from 1.
pub type LineRange = RangeInclusive<usize>;

/// The amount of detail: 0 brief, 1 normal, 2 full, 3 with the code of everything.
pub type Verbosity = u8;

/// The verbosity that is used by default.
pub const NORMAL: Verbosity = 1;

/// A whole explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The title, such as `Model: plates`.
    pub title: String,
    /// The author's description of it, in one paragraph.
    pub intro: Option<String>,
    /// The sections, in reading order.
    pub sections: Vec<DocumentSection>,
    /// The text that the document explains.
    pub source: DocumentSource,
}

/// The text that a document explains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentSource {
    /// The name of its file, without folders.
    pub file: String,
    /// The full text.
    pub text: String,
}

impl DocumentSource {
    /// Returns these lines of the text, as far as they exist.
    #[must_use]
    pub fn lines(&self, lines: &LineRange) -> String {
        let wanted = self
            .text
            .lines()
            .skip(lines.start().saturating_sub(1))
            .take((lines.end() + 1).saturating_sub(*lines.start()));
        wanted.collect::<Vec<_>>().join("\n")
    }

    /// Returns the line that contains the byte at `offset`.
    #[must_use]
    pub fn line_at(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().iter().take(offset);
        before.filter(|byte| **byte == b'\n').count() + 1
    }
}

/// A part of a document, with a heading and items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentSection {
    /// The heading above it.
    pub heading: Heading,
    /// The content, in reading order.
    pub items: Vec<DocumentItem>,
    /// The source lines that it comes from.
    pub lines: LineRange,
    /// The lowest verbosity at which it is shown.
    pub level: Verbosity,
}

/// The heading of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heading {
    /// No heading: the section is a line or two that need none.
    None,
    /// A heading that the items complete, such as `What is remembered`. Plain text adds a colon.
    Plain(String),
    /// A title, such as `Action: put`.
    Action(String),
}

/// One entry of a section: a sentence, a label with entries, or a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentItem {
    /// The form of the item.
    pub kind: ItemKind,
    /// The source lines that it comes from.
    pub lines: LineRange,
    /// The lowest verbosity at which it is shown.
    pub level: Verbosity,
    /// The code that the item describes. For a choice, one line per condition.
    pub code: Option<String>,
}

/// The form of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the parts of the item")]
pub enum ItemKind {
    /// Sentences that stand on their own.
    Paragraph(String),
    /// An entry of a list.
    Sentence(String),
    /// `When it can happen: at any time.`; the label has its colon.
    Labelled { label: String, sentence: String },
    /// A label with entries below it; the label has its colon.
    Group {
        label: String,
        items: Vec<DocumentItem>,
    },
    /// `If C:`, `Otherwise, if C:`, `Otherwise:`, each with the items of its branch.
    Choice {
        branches: Vec<(String, Vec<DocumentItem>)>,
        otherwise: Option<Vec<DocumentItem>>,
    },
    /// A loop or an error handler: items below a heading without a colon.
    Block {
        heading: String,
        items: Vec<DocumentItem>,
    },
}

impl DocumentItem {
    /// Creates an item that is shown at normal verbosity.
    #[must_use]
    pub fn new(kind: ItemKind, lines: LineRange) -> DocumentItem {
        DocumentItem {
            kind,
            lines,
            level: NORMAL,
            code: None,
        }
    }

    /// Creates an entry of a list.
    #[must_use]
    pub fn sentence(text: impl Into<String>, lines: LineRange) -> DocumentItem {
        DocumentItem::new(ItemKind::Sentence(text.into()), lines)
    }

    /// Creates a label with a sentence after it. Adds the colon to the label.
    #[must_use]
    pub fn labelled(label: &str, sentence: impl Into<String>, lines: LineRange) -> DocumentItem {
        let (label, sentence) = (format!("{label}:"), sentence.into());
        DocumentItem::new(ItemKind::Labelled { label, sentence }, lines)
    }

    /// Creates a label with entries below it. Adds the colon to the label.
    #[must_use]
    pub fn group(label: &str, items: Vec<DocumentItem>, lines: LineRange) -> DocumentItem {
        let label = format!("{label}:");
        DocumentItem::new(ItemKind::Group { label, items }, lines)
    }

    /// Sets the lowest verbosity at which the item is shown.
    #[must_use]
    pub fn with_level(mut self, level: Verbosity) -> DocumentItem {
        self.level = level;
        self
    }

    /// Attaches the code that the item describes.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> DocumentItem {
        self.code = Some(code.into());
        self
    }

    /// Returns the code of one of the item's [`parts`](DocumentItem::parts).
    #[must_use]
    pub fn code_of_part(&self, part: usize) -> Option<&str> {
        let code = self.code.as_deref()?;
        match (&self.kind, part) {
            (ItemKind::Choice { .. }, _) => code.lines().nth(part),
            (_, 0) => Some(code),
            _ => None,
        }
    }

    /// Returns the lists of items below this one, each with its heading (`If C`, without a colon).
    /// The result is empty for items that hold only text.
    #[must_use]
    pub fn parts(&self) -> Vec<(String, &[DocumentItem])> {
        match &self.kind {
            ItemKind::Choice {
                branches,
                otherwise,
            } => choice_parts(branches, otherwise.as_deref()),
            ItemKind::Block { heading, items } => vec![(heading.clone(), items)],
            ItemKind::Group { label, items } => {
                vec![(label.trim_end_matches(':').to_owned(), items)]
            }
            ItemKind::Paragraph(_) | ItemKind::Sentence(_) | ItemKind::Labelled { .. } => vec![],
        }
    }

    /// Returns the item without the parts that this verbosity hides, or nothing if all of it is
    /// hidden. Code is shown from verbosity 3 on.
    fn at_verbosity(&self, verbosity: Verbosity) -> Option<DocumentItem> {
        if self.level > verbosity {
            return None;
        }
        let shown = |items: &[DocumentItem]| items_at_verbosity(items, verbosity);
        let kind = match &self.kind {
            ItemKind::Group { label, items } => ItemKind::Group {
                label: label.clone(),
                items: shown(items),
            },
            ItemKind::Block { heading, items } => ItemKind::Block {
                heading: heading.clone(),
                items: shown(items),
            },
            ItemKind::Choice {
                branches,
                otherwise,
            } => ItemKind::Choice {
                branches: branches
                    .iter()
                    .map(|(condition, items)| (condition.clone(), shown(items)))
                    .collect(),
                otherwise: otherwise.as_deref().map(shown),
            },
            other => other.clone(),
        };
        // An item that has lost everything below it would say nothing.
        let has_lost_all = match &kind {
            ItemKind::Group { items, .. } | ItemKind::Block { items, .. } => items.is_empty(),
            ItemKind::Choice {
                branches,
                otherwise,
            } => {
                let last = otherwise.as_deref().unwrap_or_default();
                last.is_empty() && branches.iter().all(|(_, items)| items.is_empty())
            }
            _ => false,
        };
        if has_lost_all {
            return None;
        }
        let kind = match kind {
            ItemKind::Choice {
                branches,
                otherwise,
            } => ItemKind::Choice {
                branches,
                otherwise: otherwise.filter(|items| !items.is_empty()),
            },
            other => other,
        };
        Some(DocumentItem {
            kind,
            lines: self.lines.clone(),
            level: self.level,
            code: self.code.clone().filter(|_| verbosity > 2),
        })
    }
}

/// Returns the branches of a choice with their headings: `If C`, `Otherwise, if C`, `Otherwise`.
fn choice_parts<'i>(
    branches: &'i [(String, Vec<DocumentItem>)],
    otherwise: Option<&'i [DocumentItem]>,
) -> Vec<(String, &'i [DocumentItem])> {
    let mut parts = Vec::new();
    for (number, (condition, items)) in branches.iter().enumerate() {
        let opening = if number == 0 { "If" } else { "Otherwise, if" };
        parts.push((format!("{opening} {condition}"), items.as_slice()));
    }
    parts.extend(otherwise.map(|items| ("Otherwise".to_owned(), items)));
    parts
}

/// Returns the items that are shown at this verbosity.
fn items_at_verbosity(items: &[DocumentItem], verbosity: Verbosity) -> Vec<DocumentItem> {
    let shown = items.iter().filter_map(|item| item.at_verbosity(verbosity));
    shown.collect()
}

impl Document {
    /// Returns the document with only the parts that are shown at this verbosity.
    #[must_use]
    pub fn at_verbosity(&self, verbosity: Verbosity) -> Document {
        let sections = self.sections.iter().filter(|one| one.level <= verbosity);
        Document {
            title: self.title.clone(),
            intro: self.intro.clone(),
            sections: sections
                .map(|section| DocumentSection {
                    items: items_at_verbosity(&section.items, verbosity),
                    ..section.clone()
                })
                .collect(),
            source: self.source.clone(),
        }
    }

    /// Returns every sentence of the document with its source lines. Titles and headings do not
    /// count; the conditions of choices do.
    #[must_use]
    pub fn sentences(&self) -> Vec<(String, LineRange)> {
        let mut found = Vec::new();
        found.extend(self.intro.iter().map(|intro| (intro.clone(), 1..=1)));
        for section in &self.sections {
            collect_sentences(&section.items, &mut found);
        }
        found
    }
}

/// Appends the sentences of items, and of everything below them.
fn collect_sentences(items: &[DocumentItem], found: &mut Vec<(String, LineRange)>) {
    for item in items {
        match &item.kind {
            ItemKind::Paragraph(text) | ItemKind::Sentence(text) => {
                found.push((text.clone(), item.lines.clone()));
            }
            ItemKind::Labelled { label, sentence } => {
                found.push((format!("{label} {sentence}"), item.lines.clone()));
            }
            ItemKind::Group { items, .. } => collect_sentences(items, found),
            ItemKind::Choice { .. } | ItemKind::Block { .. } => {
                for (heading, items) in item.parts() {
                    if heading != "Otherwise" {
                        found.push((heading, item.lines.clone()));
                    }
                    collect_sentences(items, found);
                }
            }
        }
    }
}

/// A small document that uses every kind of item, for tests of this crate.
#[cfg(test)]
pub(crate) fn sample_document() -> Document {
    let choice = ItemKind::Choice {
        branches: vec![
            (
                "a is <b>".to_owned(),
                vec![DocumentItem::sentence("One.", 3..=3)],
            ),
            ("c".to_owned(), vec![DocumentItem::sentence("Two.", 4..=4)]),
        ],
        otherwise: Some(vec![
            DocumentItem::sentence("Three.", 5..=5).with_code("x = 3"),
            DocumentItem::sentence("Full.", 5..=5).with_level(2),
        ]),
    };
    let items = vec![
        DocumentItem::new(ItemKind::Paragraph("Start *it*.".to_owned()), 2..=2).with_level(0),
        DocumentItem::labelled("Inputs", "none.", 2..=2),
        DocumentItem::group(
            "What happens",
            vec![
                DocumentItem::sentence("Zero.", 2..=2),
                DocumentItem::new(choice, 3..=5),
                DocumentItem::new(
                    ItemKind::Block {
                        heading: "For each v in the w".to_owned(),
                        items: vec![DocumentItem::sentence("Four.", 6..=6)],
                    },
                    6..=6,
                ),
            ],
            2..=6,
        ),
    ];
    Document {
        title: "Model: sample".to_owned(),
        intro: Some("All of it.".to_owned()),
        sections: vec![
            DocumentSection {
                heading: Heading::Plain("What is remembered".to_owned()),
                items: vec![DocumentItem::sentence("the w: a list", 1..=1)],
                lines: 1..=1,
                level: NORMAL,
            },
            DocumentSection {
                heading: Heading::Action("Action: start".to_owned()),
                items,
                lines: 2..=6,
                level: 0,
            },
            DocumentSection {
                heading: Heading::None,
                items: vec![DocumentItem::labelled("A run may end", "never.", 6..=6)],
                lines: 6..=6,
                level: NORMAL,
            },
        ],
        source: DocumentSource {
            file: "sample.py".to_owned(),
            text: "w = []\ndef start():\n  a\n  b < 1\n  x = 3\n  d\n".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_is_told_by_leaving_out() {
        let document = sample_document();
        let texts = |verbosity| -> Vec<String> {
            let shown = document.at_verbosity(verbosity).sentences();
            shown.into_iter().map(|(text, _)| text).collect()
        };
        let (brief, normal, full) = (texts(0), texts(1), texts(2));
        assert_eq!(brief, ["All of it.", "Start *it*."]);
        assert!(full.contains(&"Full.".to_owned()));
        assert!(!normal.contains(&"Full.".to_owned()));
        let mut rest = full.iter();
        for text in &normal {
            assert!(rest.any(|other| other == text), "{text} is not in {full:?}");
        }
    }

    #[test]
    fn a_source_knows_its_lines() {
        let source = sample_document().source;
        assert_eq!(source.lines(&(2..=3)), "def start():\n  a");
        assert_eq!(source.lines(&(6..=90)), "  d");
        assert_eq!(source.line_at(8), 2);
        assert_eq!(source.line_at(10_000), 7);
    }
}
