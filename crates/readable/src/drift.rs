//! Drift: whether a written explanation still says what its model says.

use crate::render::DocumentFormat;

/// Returns the titles of the blocks that differ between a written text and a fresh one: changed,
/// added, removed, or in another order.
#[must_use]
pub fn drifted_blocks(written: &str, fresh: &str, format: DocumentFormat) -> Vec<String> {
    let (before, after) = (split_blocks(written, format), split_blocks(fresh, format));
    let mut drifted: Vec<String> = Vec::new();
    let mut add = |title: &str| {
        if !drifted.iter().any(|known| known == title) {
            drifted.push(title.to_owned());
        }
    };
    for (title, text) in &after {
        let is_same = before
            .iter()
            .any(|(known, old)| known == title && old.trim_end() == text.trim_end());
        if !is_same {
            add(title);
        }
    }
    for (title, _) in &before {
        if !after.iter().any(|(known, _)| known == title) {
            add(title);
        }
    }
    // The same blocks in another order are another text, too.
    let moved = before.iter().zip(&after).find(|(old, new)| old.0 != new.0);
    if let Some((_, (title, _))) = moved.filter(|_| drifted.is_empty()) {
        drifted.push(title.clone());
    }
    drifted
}

/// Splits a text into blocks, each with its title and its whole text.
fn split_blocks(text: &str, format: DocumentFormat) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_new = true;
    for line in text.lines() {
        let starts = match format {
            DocumentFormat::Text => std::mem::take(&mut is_new) && !line.is_empty(),
            DocumentFormat::Markdown => line.starts_with('#') || found.is_empty(),
            DocumentFormat::Html => line.starts_with("<section") || line.starts_with("<footer"),
        };
        is_new |= line.is_empty();
        if starts || found.is_empty() {
            found.push((block_title(line, format), String::new()));
        }
        if let Some((heading, block)) = found.last_mut() {
            if let Some(words) = line
                .strip_prefix("<h2>")
                .filter(|_| format == DocumentFormat::Html)
            {
                *heading = words.trim_end_matches("</h2>").to_owned();
            }
            block.push_str(line.trim_end());
            block.push('\n');
        }
    }
    found
}

/// Returns the title of the block that starts with this line.
fn block_title(line: &str, format: DocumentFormat) -> String {
    let words = match format {
        DocumentFormat::Text => line.split_once(": only").map_or(line, |(label, _)| label),
        DocumentFormat::Markdown => line,
        DocumentFormat::Html if line.starts_with("<footer") => "the source",
        DocumentFormat::Html => "the beginning",
    };
    let words = words.trim_start_matches('#').trim();
    words.trim_end_matches(':').to_owned()
}

#[cfg(test)]
mod tests {
    use super::drifted_blocks;
    use crate::block::{Document, ItemKind, sample_document};
    use crate::render::{DocumentFormat, render};

    fn changed() -> Document {
        let mut document = sample_document().at_verbosity(1);
        document.sections[1].items[1].kind = ItemKind::Labelled {
            label: "Inputs:".to_owned(),
            sentence: "some.".to_owned(),
        };
        document
    }

    #[test]
    fn nothing_has_drifted_that_is_the_same() {
        for format in [
            DocumentFormat::Text,
            DocumentFormat::Markdown,
            DocumentFormat::Html,
        ] {
            let text = render(&sample_document().at_verbosity(1), format);
            assert_eq!(drifted_blocks(&text, &text, format), [""; 0]);
            // Other line ends make no other text.
            let other = text.replace('\n', "\r\n");
            assert_eq!(drifted_blocks(&other, &text, format), [""; 0]);
        }
    }

    #[test]
    fn the_block_that_has_drifted_is_named() {
        for format in [
            DocumentFormat::Text,
            DocumentFormat::Markdown,
            DocumentFormat::Html,
        ] {
            let old = render(&sample_document().at_verbosity(1), format);
            let new = render(&changed(), format);
            assert_eq!(
                drifted_blocks(&old, &new, format),
                ["Action: start"],
                "{format:?}"
            );
        }
    }

    #[test]
    fn added_and_removed_blocks_are_named() {
        let mut less = sample_document().at_verbosity(1);
        less.sections.remove(0);
        for format in [DocumentFormat::Text, DocumentFormat::Markdown] {
            let (old, new) = (
                render(&sample_document().at_verbosity(1), format),
                render(&less, format),
            );
            assert_eq!(drifted_blocks(&old, &new, format), ["What is remembered"]);
            assert_eq!(drifted_blocks(&new, &old, format), ["What is remembered"]);
        }
        assert_eq!(
            drifted_blocks("", "Model: x\n", DocumentFormat::Text),
            ["Model: x"]
        );
    }
}
