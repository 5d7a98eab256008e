//! A tree of blocks as text: plain, Markdown or HTML. Each way is a file, and looks at nothing but the tree.

mod html;
mod markdown;
mod text;

pub use html::html;
pub(crate) use html::{STYLE, place};
pub use markdown::markdown;
pub use text::text;

/// In what a document can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// One HTML file.
    Html,
}

impl Format {
    /// What names of such files end in.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Format::Text => "txt",
            Format::Markdown => "md",
            Format::Html => "html",
        }
    }
}

/// A document in any format.
#[must_use]
pub fn render(document: &crate::block::Document, format: Format) -> String {
    match format {
        Format::Text => text(document),
        Format::Markdown => markdown(document),
        Format::Html => html(document),
    }
}

#[cfg(test)]
mod tests {
    use crate::block::sample;

    #[test]
    fn rulers_boxes_and_banners_are_drawn_nowhere() {
        let document = sample();
        let written = [
            super::text(&document),
            super::markdown(&document),
            super::html(&document),
        ];
        for text in written {
            for line in text.lines() {
                let drawn = line.len() > 2 && line.chars().all(|one| "-=*_+|#─═".contains(one));
                assert!(!drawn, "{line}");
            }
        }
    }
}
