//! Renderers: a tree of blocks as plain text, Markdown or HTML.
//!
//! Each format has a file of its own and looks at nothing but the tree.

mod html;
mod markdown;
mod text;

pub use html::html;
pub(crate) use html::{STYLE, source_location};
pub use markdown::markdown;
pub use text::text;

/// A format in which a document can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentFormat {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// One HTML file.
    Html,
}

impl DocumentFormat {
    /// Returns the file extension of the format.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            DocumentFormat::Text => "txt",
            DocumentFormat::Markdown => "md",
            DocumentFormat::Html => "html",
        }
    }
}

/// Renders a document in the given format.
#[must_use]
pub fn render(document: &crate::block::Document, format: DocumentFormat) -> String {
    match format {
        DocumentFormat::Text => text(document),
        DocumentFormat::Markdown => markdown(document),
        DocumentFormat::Html => html(document),
    }
}

#[cfg(test)]
mod tests {
    use crate::block::sample_document;

    #[test]
    fn rulers_boxes_and_banners_are_drawn_nowhere() {
        let document = sample_document();
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
