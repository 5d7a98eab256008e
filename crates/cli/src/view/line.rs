//! A line that is put together from pieces until it is full.

use crate::columns;
use crate::console::Look;

/// A line of the panel under construction. Pieces that do not fit are cut or left out; the line is never too long.
pub(super) struct Line {
    text: String,
    /// Columns taken so far.
    taken: usize,
    /// Columns that there are.
    room: usize,
    colour: bool,
}

impl Line {
    pub(super) fn new(room: usize, colour: bool) -> Line {
        Line {
            text: String::new(),
            taken: 0,
            room,
            colour,
        }
    }

    /// How many columns are left.
    pub(super) fn left(&self) -> usize {
        self.room - self.taken
    }

    /// Adds words, or as much of them as fits.
    pub(super) fn add(&mut self, words: &str) {
        self.push(None, words);
    }

    /// Adds words that stand out, or as much of them as fits.
    pub(super) fn paint(&mut self, look: Look, words: &str) {
        self.push(Some(look), words);
    }

    /// Adds words that stand out if they fit.
    pub(super) fn paint_if_fits(&mut self, look: Look, words: &str) {
        if columns::width(&columns::harmless(words)) <= self.left() {
            self.push(Some(look), words);
        }
    }

    /// Adds as many of these as fit, the first ones first, with commas between.
    pub(super) fn add_list(&mut self, items: &[String]) {
        for (index, item) in items.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let item = format!("{comma}{item}");
            if index > 0 && columns::width(&item) > self.left() {
                break;
            }
            self.add(&item);
        }
    }

    /// Goes on at a column, if it is not yet beyond it.
    pub(super) fn go_to(&mut self, column: usize) {
        let blanks = column.min(self.room).saturating_sub(self.taken);
        self.text.extend(std::iter::repeat_n(' ', blanks));
        self.taken += blanks;
    }

    /// Adds another line, made for the room that is left.
    pub(super) fn join(&mut self, other: Line) {
        self.taken += other.taken;
        self.text.push_str(&other.text);
    }

    /// The line, ready to be shown.
    pub(super) fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text
    }

    fn push(&mut self, look: Option<Look>, words: &str) {
        let words = columns::harmless(words);
        let words = columns::cut(&words, self.left());
        self.taken += columns::width(&words);
        match look {
            Some(look) if !words.is_empty() => {
                self.text.push_str(&look.paint(&words, self.colour));
            }
            _ => self.text.push_str(&words),
        }
    }
}
