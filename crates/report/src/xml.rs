//! What XML asks of a text.

/// The text without the characters that XML has no way to write.
pub(crate) fn allowed(text: &str) -> String {
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
