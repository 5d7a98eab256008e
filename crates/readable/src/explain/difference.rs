//! Differences between two versions of a model, as a change log of requirements in English.

use super::document::OBSERVED;
use crate::block::{Document, DocumentItem, DocumentSection, Heading, ItemKind, NORMAL};

/// Returns the differences of two explanations, action by action. It is empty if both are equal.
#[must_use]
pub fn difference(old: &Document, new: &Document) -> Document {
    let mut sections = Vec::new();
    for section in &new.sections {
        let title = title(section);
        match old
            .sections
            .iter()
            .find(|known| self::title(known) == title)
        {
            Some(before) => sections.extend(changes(before, section)),
            None => sections.push(whole(section, Change::New)),
        }
    }
    for section in &old.sections {
        let is_left = new.sections.iter().any(|one| title(one) == title(section));
        if !is_left {
            sections.push(whole(section, Change::Removed));
        }
    }
    Document {
        title: new.title.clone(),
        intro: None,
        sections,
        source: new.source.clone(),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Change {
    New,
    Removed,
}

/// Returns the title that identifies a section in both versions.
fn title(section: &DocumentSection) -> String {
    match &section.heading {
        Heading::Plain(words) => words.clone(),
        Heading::Action(words) => words.trim_end_matches(OBSERVED).to_owned(),
        Heading::None => match section.items.first().map(|item| &item.kind) {
            Some(ItemKind::Labelled { label, .. }) => label.clone(),
            Some(ItemKind::Paragraph(words)) => words
                .split_whitespace()
                .take(3)
                .collect::<Vec<_>>()
                .join(" "),
            _ => String::new(),
        },
    }
}

fn whole(section: &DocumentSection, change: Change) -> DocumentSection {
    let told = match (&section.heading, change) {
        (Heading::Action(_), Change::New) => vec!["New action".to_owned()],
        (Heading::Action(_), Change::Removed) => vec!["Removed action".to_owned()],
        (_, change) => {
            let word = match change {
                Change::New => "Now",
                Change::Removed => "No longer",
            };
            let said = statements(section);
            said.into_iter()
                .map(|one| format!("{word}: {}", one.words))
                .collect()
        }
    };
    with_items(section, told)
}

fn with_items(section: &DocumentSection, told: Vec<String>) -> DocumentSection {
    let items = told
        .into_iter()
        .map(|words| DocumentItem::sentence(words, section.lines.clone()).with_level(0));
    let heading = match &section.heading {
        Heading::None => Heading::Plain(title(section).trim_end_matches(':').to_owned()),
        known => known.clone(),
    };
    DocumentSection {
        heading,
        items: items.collect(),
        lines: section.lines.clone(),
        level: 0,
    }
}

/// Returns the sentences that only one of two versions of a section has.
fn changes(old: &DocumentSection, new: &DocumentSection) -> Option<DocumentSection> {
    let (before, after) = (statements(old), statements(new));
    let only_in = |these: &[StatedItem], others: &[StatedItem]| -> Vec<StatedItem> {
        let mut left = others.to_vec();
        let mut only = Vec::new();
        for one in these {
            match left.iter().position(|other| other == one) {
                Some(at) => _ = left.remove(at),
                None => only.push(one.clone()),
            }
        }
        only
    };
    let (gone, come) = (only_in(&before, &after), only_in(&after, &before));
    let mut told = Vec::new();
    for (all, requires, happens) in [
        (come, "Now also requires", "Now"),
        (gone, "No longer requires", "No longer"),
    ] {
        for one in all {
            let opening = if one.is_requirement {
                requires
            } else {
                happens
            };
            told.push(format!("{opening}: {}", one.words));
        }
    }
    (!told.is_empty()).then(|| with_items(new, told))
}

/// A sentence of a version, with the conditions it depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StatedItem {
    words: String,
    is_requirement: bool,
}

fn statements(section: &DocumentSection) -> Vec<StatedItem> {
    let mut found = Vec::new();
    if let Heading::Action(words) = &section.heading
        && words.ends_with(OBSERVED)
    {
        found.push(StatedItem {
            words: "It is observed, not chosen by the tester.".to_owned(),
            is_requirement: false,
        });
    }
    for item in &section.items {
        match (&section.heading, &item.kind) {
            // The label of a section without another heading becomes its heading.
            (Heading::None, ItemKind::Labelled { sentence, .. }) => found.push(StatedItem {
                words: sentence.clone(),
                is_requirement: false,
            }),
            _ => gather(item, "", false, &mut found),
        }
    }
    found
}

const NOTHING: &str = "Nothing changes.";
const WHEN: &str = "When it can happen";

fn gather(item: &DocumentItem, condition: &str, in_guard: bool, found: &mut Vec<StatedItem>) {
    if item.level > NORMAL {
        return;
    }
    let mut say = |words: String, is_requirement: bool| {
        let words = format!("{condition}{words}");
        let words = if words.ends_with(['.', ':']) {
            words
        } else {
            format!("{words}.")
        };
        found.push(StatedItem {
            words,
            is_requirement,
        });
    };
    match &item.kind {
        ItemKind::Sentence(words) if in_guard => say(words.clone(), true),
        // The other sentences say enough. Under a condition, "nothing changes" is an outcome of its
        // own.
        ItemKind::Sentence(words) if words == NOTHING && condition.is_empty() => {}
        ItemKind::Sentence(words) | ItemKind::Paragraph(words) => say(words.clone(), false),
        ItemKind::Labelled { label, sentence } if label.starts_with(WHEN) => {
            match sentence.strip_prefix("only if ") {
                Some(condition) => say(condition.to_owned(), true),
                // "At any time" is not a requirement.
                None if sentence == "at any time." => {}
                None => say(format!("{label} {sentence}"), false),
            }
        }
        ItemKind::Labelled { label, sentence } if label == "Inputs:" && sentence == "none." => {}
        ItemKind::Labelled { label, sentence } => say(format!("{label} {sentence}"), false),
        ItemKind::Group { label, items } => {
            let is_guard = label.starts_with(WHEN);
            // The sentence must be understandable without the text above it.
            let above = match label.as_str() {
                "Inputs:" => "Input ",
                "Here:" => "Here ",
                "What is checked afterwards:" => "Checked afterwards: ",
                _ => "",
            };
            let condition = format!("{condition}{above}");
            for item in items {
                gather(item, &condition, is_guard, found);
            }
        }
        ItemKind::Choice { .. } | ItemKind::Block { .. } => {
            for (heading, items) in item.parts() {
                let condition = format!("{condition}{heading}: ");
                for item in items {
                    gather(item, &condition, in_guard, found);
                }
            }
        }
    }
}
