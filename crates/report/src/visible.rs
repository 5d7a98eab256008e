//! Makes control characters visible, which a terminal or browser would interpret instead of
//! showing.

use std::borrow::Cow;

/// Returns true if a character changes how its neighbors look instead of being seen: control
/// characters, line ends, and characters that change the direction of reading.
pub(crate) fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Renders a text on one line, with invisible characters spelled as in Rust: `\n`, `\u{1b}`.
pub fn make_visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => shown.extend(letter.escape_default()),
            _ if is_invisible(letter) => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(make_visible("plain ä名"), "plain ä名");
        assert_eq!(make_visible("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(make_visible("a\u{202e}b\0"), "a\\u{202e}b\\u{0}");
    }
}
