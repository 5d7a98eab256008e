//! A line of the panel that is put together from pieces until it is full.

use crate::columns;
use crate::console::TextStyle;

/// A line of the panel under construction. Pieces that do not fit are cut or left out; the line is
/// never too long.
pub(super) struct PanelLine {
    /// The text so far, with colors.
    text: String,
    /// The columns taken so far.
    used_columns: usize,
    /// The columns available.
    max_columns: usize,
    /// True if the terminal understands colors.
    colour: bool,
}

impl PanelLine {
    /// Creates an empty line of this width.
    pub(super) fn new(max_columns: usize, colour: bool) -> PanelLine {
        PanelLine {
            text: String::new(),
            used_columns: 0,
            max_columns,
            colour,
        }
    }

    /// Returns the number of columns that are left.
    pub(super) fn columns_left(&self) -> usize {
        self.max_columns - self.used_columns
    }

    /// Adds words, truncated to fit.
    pub(super) fn add(&mut self, words: &str) {
        self.push(None, words);
    }

    /// Adds highlighted words, truncated to fit.
    pub(super) fn paint(&mut self, style: TextStyle, words: &str) {
        self.push(Some(style), words);
    }

    /// Adds highlighted words if they fit completely.
    pub(super) fn paint_if_fits(&mut self, style: TextStyle, words: &str) {
        if columns::width(&columns::escape_control(words)) <= self.columns_left() {
            self.push(Some(style), words);
        }
    }

    /// Adds items with commas between them until the next does not fit.
    pub(super) fn add_list(&mut self, items: &[String]) {
        for (index, item) in items.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let item = format!("{comma}{item}");
            if index > 0 && columns::width(&item) > self.columns_left() {
                break;
            }
            self.add(&item);
        }
    }

    /// Pads with blanks up to a column, unless the line is longer already.
    pub(super) fn pad_to(&mut self, column: usize) {
        let blanks = column
            .min(self.max_columns)
            .saturating_sub(self.used_columns);
        self.text.extend(std::iter::repeat_n(' ', blanks));
        self.used_columns += blanks;
    }

    /// Appends another line, made for the columns that are left.
    pub(super) fn append(&mut self, other: PanelLine) {
        self.used_columns += other.used_columns;
        self.text.push_str(&other.text);
    }

    /// Returns the finished text.
    pub(super) fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text
    }

    /// Adds words, truncated to fit, in a style.
    fn push(&mut self, style: Option<TextStyle>, words: &str) {
        let words = columns::escape_control(words);
        let words = columns::truncate(&words, self.columns_left());
        self.used_columns += columns::width(&words);
        match style {
            Some(style) if !words.is_empty() => {
                self.text.push_str(&style.paint(&words, self.colour));
            }
            _ => self.text.push_str(&words),
        }
    }
}
