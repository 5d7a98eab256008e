//! Whether a written explanation still says what its model says (8.5).

use crate::render::Format;

/// The blocks of a written text that are not as they would be written now, by what stands above them.
#[must_use]
pub fn drift(written: &str, fresh: &str, format: Format) -> Vec<String> {
    let (before, after) = (blocks(written, format), blocks(fresh, format));
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
    // The same blocks in another order are another text all the same.
    let moved = before.iter().zip(&after).find(|(old, new)| old.0 != new.0);
    if let Some((_, (title, _))) = moved.filter(|_| drifted.is_empty()) {
        drifted.push(title.clone());
    }
    drifted
}

/// The blocks of a text: what stands above each, and the whole of it.
fn blocks(text: &str, format: Format) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_new = true;
    for line in text.lines() {
        let starts = match format {
            Format::Text => std::mem::take(&mut is_new) && !line.is_empty(),
            Format::Markdown => line.starts_with('#') || found.is_empty(),
            Format::Html => line.starts_with("<section") || line.starts_with("<footer"),
        };
        is_new |= line.is_empty();
        if starts || found.is_empty() {
            found.push((title(line, format), String::new()));
        }
        if let Some((heading, block)) = found.last_mut() {
            if let Some(words) = line.strip_prefix("<h2>").filter(|_| format == Format::Html) {
                *heading = words.trim_end_matches("</h2>").to_owned();
            }
            block.push_str(line.trim_end());
            block.push('\n');
        }
    }
    found
}

fn title(line: &str, format: Format) -> String {
    let words = match format {
        Format::Text => line.split_once(": only").map_or(line, |(label, _)| label),
        Format::Markdown => line,
        Format::Html if line.starts_with("<footer") => "the source",
        Format::Html => "the beginning",
    };
    let words = words.trim_start_matches('#').trim();
    words.trim_end_matches(':').to_owned()
}

#[cfg(test)]
mod tests {
    use super::drift;
    use crate::block::{Document, ItemKind, sample};
    use crate::render::{Format, render};

    fn changed() -> Document {
        let mut document = sample().shown_at(1);
        document.sections[1].items[1].kind = ItemKind::Labelled {
            label: "Inputs:".to_owned(),
            sentence: "some.".to_owned(),
        };
        document
    }

    #[test]
    fn nothing_has_drifted_that_is_the_same() {
        for format in [Format::Text, Format::Markdown, Format::Html] {
            let text = render(&sample().shown_at(1), format);
            assert_eq!(drift(&text, &text, format), [""; 0]);
            // Line ends of another system are no other text.
            let other = text.replace('\n', "\r\n");
            assert_eq!(drift(&other, &text, format), [""; 0]);
        }
    }

    #[test]
    fn the_block_that_has_drifted_is_named() {
        for format in [Format::Text, Format::Markdown, Format::Html] {
            let old = render(&sample().shown_at(1), format);
            let new = render(&changed(), format);
            assert_eq!(drift(&old, &new, format), ["Action: start"], "{format:?}");
        }
    }

    #[test]
    fn what_came_and_what_went_is_named() {
        let mut less = sample().shown_at(1);
        less.sections.remove(0);
        for format in [Format::Text, Format::Markdown] {
            let (old, new) = (render(&sample().shown_at(1), format), render(&less, format));
            assert_eq!(drift(&old, &new, format), ["What is remembered"]);
            assert_eq!(drift(&new, &old, format), ["What is remembered"]);
        }
        assert_eq!(drift("", "Model: x\n", Format::Text), ["Model: x"]);
    }
}
