//! Characters that XML does not allow.

/// Replaces the characters that XML cannot represent.
pub(crate) fn replace_invalid_chars(text: &str) -> String {
    let is_allowed = |letter: char| !matches!(letter, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    text.chars()
        .map(|letter| {
            if is_allowed(letter) {
                letter
            } else {
                '\u{fffd}'
            }
        })
        .collect()
}
