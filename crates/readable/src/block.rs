//! The tree of blocks that every document is before it becomes text.
//!
//! Whoever explains something makes this tree; renderers ([`crate::render`]) make text of it and know nothing else. Each block
//! knows which lines of its source it comes from, and from which verbosity on it is shown, so that a brief explanation is a
//! full one with blocks left out and never another text.

use std::ops::RangeInclusive;

/// Lines of the source, counted from 1.
pub type Lines = RangeInclusive<usize>;

/// How much is told: 0 brief, 1 normal, 2 full, 3 with the code of everything.
pub type Verbosity = u8;

/// What is told unless something else is asked for.
pub const NORMAL: Verbosity = 1;

/// A whole explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Such as `Model: plates`.
    pub title: String,
    /// What its author says about it, in one paragraph.
    pub intro: Option<String>,
    /// In the order in which they are read.
    pub sections: Vec<Section>,
    /// What it explains.
    pub source: Source,
}

/// The text that a document explains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// The name of its file, without folders.
    pub file: String,
    /// What it says.
    pub text: String,
}

impl Source {
    /// These lines of the text, as far as there are such lines.
    #[must_use]
    pub fn lines(&self, lines: &Lines) -> String {
        let wanted = self
            .text
            .lines()
            .skip(lines.start().saturating_sub(1))
            .take((lines.end() + 1).saturating_sub(*lines.start()));
        wanted.collect::<Vec<_>>().join("\n")
    }

    /// The line in which a byte of the text stands.
    #[must_use]
    pub fn line_at(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().iter().take(offset);
        before.filter(|byte| **byte == b'\n').count() + 1
    }
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What stands above it.
    pub heading: Heading,
    /// What it says.
    pub items: Vec<Item>,
    /// Where it comes from.
    pub lines: Lines,
    /// From which verbosity on it is shown.
    pub level: Verbosity,
}

/// What stands above a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heading {
    /// Nothing: the section is a line or two that speak for themselves.
    None,
    /// Words that what follows completes, such as `What is remembered`; text has a colon behind them.
    Plain(String),
    /// A title, such as `Action: put`.
    Action(String),
}

/// One thing that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Where it comes from.
    pub lines: Lines,
    /// From which verbosity on it is shown.
    pub level: Verbosity,
    /// The code that it tells of; of a choice, a line for each of its conditions.
    pub code: Option<String>,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the parts of the item")]
pub enum ItemKind {
    /// Sentences that stand alone.
    Paragraph(String),
    /// An entry of a list.
    Sentence(String),
    /// `When it can happen: at any time.`; the label has its colon.
    Labelled { label: String, sentence: String },
    /// A label with entries below it; the label has its colon.
    Group { label: String, items: Vec<Item> },
    /// `If C:`, `Otherwise, if C:`, `Otherwise:`, each with what happens then.
    Choice {
        branches: Vec<(String, Vec<Item>)>,
        otherwise: Option<Vec<Item>>,
    },
    /// Something that happens again and again, or only after a failure; the heading has no colon.
    Block { heading: String, items: Vec<Item> },
}

impl Item {
    /// An item that is shown at normal verbosity.
    #[must_use]
    pub fn new(kind: ItemKind, lines: Lines) -> Item {
        Item {
            kind,
            lines,
            level: NORMAL,
            code: None,
        }
    }

    /// An entry of a list.
    #[must_use]
    pub fn sentence(text: impl Into<String>, lines: Lines) -> Item {
        Item::new(ItemKind::Sentence(text.into()), lines)
    }

    /// `label` with a sentence behind it.
    #[must_use]
    pub fn labelled(label: &str, sentence: impl Into<String>, lines: Lines) -> Item {
        let (label, sentence) = (format!("{label}:"), sentence.into());
        Item::new(ItemKind::Labelled { label, sentence }, lines)
    }

    /// `label` with entries below it.
    #[must_use]
    pub fn group(label: &str, items: Vec<Item>, lines: Lines) -> Item {
        let label = format!("{label}:");
        Item::new(ItemKind::Group { label, items }, lines)
    }

    /// The same from this verbosity on.
    #[must_use]
    pub fn from_level(mut self, level: Verbosity) -> Item {
        self.level = level;
        self
    }

    /// The same with its code.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Item {
        self.code = Some(code.into());
        self
    }

    /// The code behind one of its [`parts`](Item::parts).
    #[must_use]
    pub fn code_of(&self, part: usize) -> Option<&str> {
        let code = self.code.as_deref()?;
        match (&self.kind, part) {
            (ItemKind::Choice { .. }, _) => code.lines().nth(part),
            (_, 0) => Some(code),
            _ => None,
        }
    }

    /// Items below this one, each list with what stands above it (`If C`, no colon); empty for what has none.
    #[must_use]
    pub fn parts(&self) -> Vec<(String, &[Item])> {
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

    fn shown_at(&self, verbosity: Verbosity) -> Option<Item> {
        if self.level > verbosity {
            return None;
        }
        let shown = |items: &[Item]| shown_at(items, verbosity);
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
        // What has lost all that stood below it says nothing.
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
        Some(Item {
            kind,
            lines: self.lines.clone(),
            level: self.level,
            code: self.code.clone().filter(|_| verbosity > 2),
        })
    }
}

fn choice_parts<'i>(
    branches: &'i [(String, Vec<Item>)],
    otherwise: Option<&'i [Item]>,
) -> Vec<(String, &'i [Item])> {
    let mut parts = Vec::new();
    for (number, (condition, items)) in branches.iter().enumerate() {
        let opening = if number == 0 { "If" } else { "Otherwise, if" };
        parts.push((format!("{opening} {condition}"), items.as_slice()));
    }
    parts.extend(otherwise.map(|items| ("Otherwise".to_owned(), items)));
    parts
}

fn shown_at(items: &[Item], verbosity: Verbosity) -> Vec<Item> {
    let shown = items.iter().filter_map(|item| item.shown_at(verbosity));
    shown.collect()
}

impl Document {
    /// The document with what is shown at this verbosity, and no more.
    #[must_use]
    pub fn shown_at(&self, verbosity: Verbosity) -> Document {
        let sections = self.sections.iter().filter(|one| one.level <= verbosity);
        Document {
            title: self.title.clone(),
            intro: self.intro.clone(),
            sections: sections
                .map(|section| Section {
                    items: shown_at(&section.items, verbosity),
                    ..section.clone()
                })
                .collect(),
            source: self.source.clone(),
        }
    }

    /// Every sentence of the document, as a reader counts them: titles and headings are none.
    #[must_use]
    pub fn sentences(&self) -> Vec<(String, Lines)> {
        let mut found = Vec::new();
        found.extend(self.intro.iter().map(|intro| (intro.clone(), 1..=1)));
        for section in &self.sections {
            gather(&section.items, &mut found);
        }
        found
    }
}

fn gather(items: &[Item], found: &mut Vec<(String, Lines)>) {
    for item in items {
        match &item.kind {
            ItemKind::Paragraph(text) | ItemKind::Sentence(text) => {
                found.push((text.clone(), item.lines.clone()));
            }
            ItemKind::Labelled { label, sentence } => {
                found.push((format!("{label} {sentence}"), item.lines.clone()));
            }
            ItemKind::Group { items, .. } => gather(items, found),
            ItemKind::Choice { .. } | ItemKind::Block { .. } => {
                for (heading, items) in item.parts() {
                    if heading != "Otherwise" {
                        found.push((heading, item.lines.clone()));
                    }
                    gather(items, found);
                }
            }
        }
    }
}

/// A small document with everything in it.
#[cfg(test)]
pub(crate) fn sample() -> Document {
    let choice = ItemKind::Choice {
        branches: vec![
            ("a is <b>".to_owned(), vec![Item::sentence("One.", 3..=3)]),
            ("c".to_owned(), vec![Item::sentence("Two.", 4..=4)]),
        ],
        otherwise: Some(vec![
            Item::sentence("Three.", 5..=5).with_code("x = 3"),
            Item::sentence("Full.", 5..=5).from_level(2),
        ]),
    };
    let items = vec![
        Item::new(ItemKind::Paragraph("Start *it*.".to_owned()), 2..=2).from_level(0),
        Item::labelled("Inputs", "none.", 2..=2),
        Item::group(
            "What happens",
            vec![
                Item::sentence("Zero.", 2..=2),
                Item::new(choice, 3..=5),
                Item::new(
                    ItemKind::Block {
                        heading: "For each v in the w".to_owned(),
                        items: vec![Item::sentence("Four.", 6..=6)],
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
            Section {
                heading: Heading::Plain("What is remembered".to_owned()),
                items: vec![Item::sentence("the w: a list", 1..=1)],
                lines: 1..=1,
                level: NORMAL,
            },
            Section {
                heading: Heading::Action("Action: start".to_owned()),
                items,
                lines: 2..=6,
                level: 0,
            },
            Section {
                heading: Heading::None,
                items: vec![Item::labelled("A run may end", "never.", 6..=6)],
                lines: 6..=6,
                level: NORMAL,
            },
        ],
        source: Source {
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
        let document = sample();
        let texts = |verbosity| -> Vec<String> {
            let shown = document.shown_at(verbosity).sentences();
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
        let source = sample().source;
        assert_eq!(source.lines(&(2..=3)), "def start():\n  a");
        assert_eq!(source.lines(&(6..=90)), "  d");
        assert_eq!(source.line_at(8), 2);
        assert_eq!(source.line_at(10_000), 7);
    }
}
