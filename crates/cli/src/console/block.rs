//! Lines at the foot of the screen that are redrawn in place.
//!
//! The cursor always rests at the beginning of the line below them. So other output (Ctrl-C as the
//! terminal shows it, the last message of a process that is ended, the prompt of the shell after
//! `kill -9`) stands on a line of its own, and the terminal never needs a reset.

use std::fmt::Write;

use super::screen::Size;
use crate::columns;

/// Begins a synchronized update: the terminal shows everything up to [`END`] at once. Terminals
/// that do not know the code ignore it.
const BEGIN: &str = "\x1b[?2026h";
/// Ends a synchronized update.
const END: &str = "\x1b[?2026l";

/// The lines that are on the screen at the moment; may be none.
#[derive(Default)]
pub(super) struct LiveBlock {
    /// The number of columns that each line takes.
    widths: Vec<usize>,
}

impl LiveBlock {
    /// Returns the part of a screen that a block may take. The last column stays free because
    /// terminals differ in where the cursor is at the edge. The last row belongs to the cursor.
    pub(super) fn usable_size(screen: Size) -> Size {
        Size {
            columns: screen.columns.saturating_sub(1),
            rows: screen.rows.saturating_sub(1),
        }
    }

    /// Returns the text that replaces the current lines by these.
    pub(super) fn redraw(&mut self, lines: &[String], screen: Size) -> String {
        let mut codes = format!("{BEGIN}{}", self.to_first_line(screen));
        for line in lines {
            // The old text is overwritten and its rest cleared, not the other way round, which
            // would flicker.
            codes.push_str(line);
            codes.push_str("\x1b[K\r\n");
        }
        codes.push_str("\x1b[J");
        codes.push_str(END);
        self.widths = lines
            .iter()
            .map(|line| columns::painted_width(line))
            .collect();
        codes
    }

    /// Returns the text that removes the lines, or `None` if there are none.
    pub(super) fn clear(&mut self, screen: Size) -> Option<String> {
        if self.widths.is_empty() {
            return None;
        }
        let codes = format!("{}\x1b[J", self.to_first_line(screen));
        self.widths.clear();
        Some(codes)
    }

    /// Returns the code that moves the cursor to the first line.
    ///
    /// A window that became narrower has broken the longer lines, so that they take more rows than
    /// before. Rows that have scrolled off the top of the screen cannot be reached any more.
    fn to_first_line(&self, screen: Size) -> String {
        let rows: usize = (self.widths.iter())
            .map(|width| width.div_ceil(screen.columns.max(1)).max(1))
            .sum();
        let mut codes = String::new();
        match rows.min(screen.rows.saturating_sub(1)) {
            0 => {}
            up => {
                let _ = write!(codes, "\x1b[{up}A");
            }
        }
        codes.push('\r');
        codes
    }
}
