//! Texts on a terminal: how many columns they take, and how they are made to fit.
//!
//! Terminals do not agree on the width of characters that are joined to one. The wider answer is taken here, so that
//! a line may look a little short, but never breaks.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// The columns of one character.
fn of(letter: char) -> usize {
    match letter {
        // Asks for another form of the character before it, a picture for instance, which may be wider.
        '\u{fe00}'..='\u{fe0f}' => 1,
        _ => letter.width().unwrap_or(0),
    }
}

/// The columns of a text without colours.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(of).sum()
}

/// The columns of a text, of which codes for colours take none.
pub(crate) fn painted_width(text: &str) -> usize {
    let mut pieces = text.split("\x1b[");
    let first = pieces.next().map_or(0, width);
    let rest = pieces.map(|piece| piece.split_once('m').map_or(0, |(_, words)| width(words)));
    first + rest.sum::<usize>()
}

/// A text of which a terminal does nothing but show it: characters that move the cursor, change colours, or turn the
/// direction of writing are spelled out.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_harmful(letter) {
            clean.extend(letter.escape_default());
        } else {
            clean.push(letter);
        }
    }
    Cow::Owned(clean)
}

fn is_harmful(letter: char) -> bool {
    let turns_direction = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let ends_line = matches!(letter, '\u{2028}' | '\u{2029}');
    letter.is_control() || turns_direction || ends_line
}

/// As much of a text as fits, with `…` where something is missing. Accents stay with their letters.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    let mut taken = 0;
    // Up to where it may be kept if it has to be cut, which needs a column for the sign.
    let mut kept = 0;
    for (place, letter) in text.char_indices() {
        taken += of(letter);
        if taken < columns {
            kept = place + letter.len_utf8();
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
        assert_eq!(cut("KeyError: 3", 11), "KeyError: 3");
        assert_eq!(cut("", 0), "");
    }

    #[test]
    fn a_longer_one_says_that_it_was_cut() {
        assert_eq!(cut("KeyError: 3", 10), "KeyError:…");
        assert_eq!(cut("KeyError: 3", 1), "…");
        assert_eq!(cut("KeyError: 3", 0), "");
    }

    #[test]
    fn wide_characters_are_not_halved() {
        assert_eq!(width("日本語"), 6);
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(width("❤\u{fe0f}"), 2);
    }

    #[test]
    fn accents_stay_with_their_letters() {
        let text = "cafe\u{301} noir";
        assert_eq!(width(text), 9);
        assert_eq!(cut(text, 5), "cafe\u{301}…");
        assert_eq!(cut("cafe\u{301}", 4), "cafe\u{301}");
    }

    #[test]
    fn what_would_do_something_to_the_terminal_is_spelled_out() {
        assert_eq!(harmless("a\x1b[2Jb\r\n"), "a\\u{1b}[2Jb\\r\\n");
        assert_eq!(harmless("\u{9b}2J\u{202e}txt"), "\\u{9b}2J\\u{202e}txt");
        assert_eq!(harmless("日本 \\n"), "日本 \\n");
    }

    #[test]
    fn colours_take_no_columns() {
        assert_eq!(painted_width("\x1b[1;31mred\x1b[0m, 日"), 7);
    }
}
