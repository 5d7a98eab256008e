//! Lines at the foot of the screen that are redrawn in place.
//!
//! The cursor always rests at the beginning of the line below them. So whatever else comes (Ctrl-C as the terminal
//! shows it, the last words of a process that has to be ended, the prompt of the shell after `kill -9`) stands on a line
//! of its own, and the terminal is never left in a state that somebody would have to repair.

use std::fmt::Write;

use super::screen::Size;
use crate::columns;

/// What is drawn from here to the end of it is shown at once. Terminals that do not know this code ignore it.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";

/// Lines that are on the screen, or none.
#[derive(Default)]
pub(super) struct Block {
    /// How many columns each of the lines takes.
    widths: Vec<usize>,
}

impl Block {
    /// How much of a screen the lines of a block may take. The last column stays free: at the edge, terminals differ in
    /// where the cursor is. The last row is the cursor's.
    pub(super) fn room(screen: Size) -> Size {
        Size {
            columns: screen.columns.saturating_sub(1),
            rows: screen.rows.saturating_sub(1),
        }
    }

    /// What to write to show these lines instead of those that are there.
    pub(super) fn redraw(&mut self, lines: &[String], screen: Size) -> String {
        let mut codes = format!("{BEGIN}{}", self.to_first_line(screen));
        for line in lines {
            // The old text is overwritten and its rest cleared, not the other way round, which would flicker.
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

    /// What to write to take the lines away; nothing if there are none.
    pub(super) fn clear(&mut self, screen: Size) -> Option<String> {
        if self.widths.is_empty() {
            return None;
        }
        let codes = format!("{}\x1b[J", self.to_first_line(screen));
        self.widths.clear();
        Some(codes)
    }

    /// Moves the cursor to where the lines begin.
    ///
    /// A window that has become narrower has broken the longer lines, so that they take more rows than before. What has
    /// left the screen at its top cannot be reached any more.
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
