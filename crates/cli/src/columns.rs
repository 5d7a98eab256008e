//! The width of texts on a terminal, and ways to make them fit.
//!
//! Terminals disagree on the width of joined characters. This module takes the wider answer, so
//! that a line may look a little short but never breaks.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// Returns the columns of one character.
fn char_width(letter: char) -> usize {
    match letter {
        // Selects another form of the character before it, an emoji for instance, which may be
        // wider.
        '\u{fe00}'..='\u{fe0f}' => 1,
        _ => letter.width().unwrap_or(0),
    }
}

/// Returns the columns of a text without colors.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Returns the columns of a text, not counting the codes for colors.
pub(crate) fn painted_width(text: &str) -> usize {
    let mut pieces = text.split("\x1b[");
    let first = pieces.next().map_or(0, width);
    let rest = pieces.map(|piece| piece.split_once('m').map_or(0, |(_, words)| width(words)));
    first + rest.sum::<usize>()
}

/// Escapes all characters that do more than show themselves: those that move the cursor, change
/// colors or turn the direction of writing.
pub(crate) fn escape_control(text: &str) -> Cow<'_, str> {
    if !text.contains(needs_escape) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if needs_escape(letter) {
            clean.extend(letter.escape_default());
        } else {
            clean.push(letter);
        }
    }
    Cow::Owned(clean)
}

/// Returns true if a terminal would interpret the character.
fn needs_escape(letter: char) -> bool {
    let turns_direction = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let ends_line = matches!(letter, '\u{2028}' | '\u{2029}');
    letter.is_control() || turns_direction || ends_line
}

/// Truncates a text to a number of columns, with `…` where something is missing. Accents stay with
/// their letters.
pub(crate) fn truncate(text: &str, columns: usize) -> Cow<'_, str> {
    let mut taken = 0;
    // The end of the part that is kept if the text is truncated; the sign takes a column, too.
    let mut kept = 0;
    for (start, letter) in text.char_indices() {
        taken += char_width(letter);
        if taken < columns {
            kept = start + letter.len_utf8();
        }
        if taken > columns {
            let sign = if columns > 0 { "…" } else { "" };
            return Cow::Owned(format!("{}{sign}", text[..kept].trim_end()));
        }
    }
    Cow::Borrowed(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_is_left_alone() {
        assert_eq!(truncate("KeyError: 3", 11), "KeyError: 3");
        assert_eq!(truncate("", 0), "");
    }

    #[test]
    fn a_longer_one_says_that_it_was_cut() {
        assert_eq!(truncate("KeyError: 3", 10), "KeyError:…");
        assert_eq!(truncate("KeyError: 3", 1), "…");
        assert_eq!(truncate("KeyError: 3", 0), "");
    }

    #[test]
    fn wide_characters_are_not_halved() {
        assert_eq!(width("日本語"), 6);
        assert_eq!(truncate("日本語", 6), "日本語");
        assert_eq!(truncate("日本語", 5), "日本…");
        assert_eq!(truncate("日本語", 4), "日…");
        assert_eq!(width("❤\u{fe0f}"), 2);
    }

    #[test]
    fn accents_stay_with_their_letters() {
        let text = "cafe\u{301} noir";
        assert_eq!(width(text), 9);
        assert_eq!(truncate(text, 5), "cafe\u{301}…");
        assert_eq!(truncate("cafe\u{301}", 4), "cafe\u{301}");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape_control("a\x1b[2Jb\r\n"), "a\\u{1b}[2Jb\\r\\n");
        assert_eq!(
            escape_control("\u{9b}2J\u{202e}txt"),
            "\\u{9b}2J\\u{202e}txt"
        );
        assert_eq!(escape_control("日本 \\n"), "日本 \\n");
    }

    #[test]
    fn colours_take_no_columns() {
        assert_eq!(painted_width("\x1b[1;31mred\x1b[0m, 日"), 7);
    }
}
