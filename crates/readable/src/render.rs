//! A tree of blocks as text: plain, Markdown or HTML. Each way is a file, and looks at nothing but the tree.

mod html;
mod markdown;
mod text;

pub use html::html;
pub(crate) use html::place;
pub use markdown::markdown;
pub use text::text;

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
