//! Estimates of the width of a text, without a font.
//!
//! The font of the reader is not known. The table has the widths of DejaVu Sans, the widest of the
//! fonts that `sans-serif` usually selects, so that a text takes at most the room that was reserved
//! for it.

use unicode_width::UnicodeWidthChar;

/// Widths in thousandths of the font size, from the space to the tilde.
#[rustfmt::skip]
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775,
    752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390,
    337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// Returns the width of a text in a sans-serif font of this size.
pub(super) fn text_width(text: &str, font_size: f64) -> f64 {
    text.chars().map(char_width).sum::<f64>() * font_size / 1000.0
}

/// Returns the width of a character in thousandths of the font size.
fn char_width(letter: char) -> f64 {
    let index = (letter as usize).wrapping_sub(' ' as usize);
    if let Some(width) = WIDTHS.get(index) {
        return f64::from(*width);
    }
    match (letter, letter.width()) {
        (_, None) | ('\u{2026}' | '\u{fffd}' | '\u{2400}'..='\u{2426}' | '⏎', _) => 1030.0,
        (_, Some(0)) => 0.0,
        (_, Some(1)) => 850.0,
        ('\u{1f000}'.., _) => 1400.0,
        _ => 1050.0,
    }
}

/// Shortens a text to its beginning and end, with an ellipsis between, unless it fits. Two calls of
/// an action may differ in the last argument as well as in the first.
pub(super) fn shorten(text: &str, font_size: f64, max_width: f64) -> String {
    let max_width = max_width * 1000.0 / font_size;
    if text.chars().map(char_width).sum::<f64>() <= max_width {
        return text.to_owned();
    }
    let room = max_width - char_width('…');
    let fitting = |letters: &mut dyn Iterator<Item = char>, room: f64| {
        let mut used = 0.0;
        letters
            .take_while(|letter| {
                used += char_width(*letter);
                used <= room
            })
            .map(char::len_utf8)
            .sum::<usize>()
    };
    let head = fitting(&mut text.chars(), room * 0.6);
    let tail = fitting(&mut text.chars().rev(), room * 0.4);
    format!(
        "{}…{}",
        text[..head].trim_end(),
        // An accent without its letter would be put on the ellipsis.
        text[text.len() - tail..]
            .trim_start_matches(|letter: char| letter == ' ' || char_width(letter) == 0.0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths() {
        assert_eq!(text_width("", 12.0), 0.0);
        assert_eq!(text_width("~", 10.0), 8.38);
        assert!(text_width("WWW", 12.0) > text_width("iii", 12.0));
        assert_eq!(text_width("e\u{301}", 12.0), text_width("e", 12.0));
        assert!(text_width("名", 12.0) > 12.0);
    }

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shorten("short", 10.0, 100.0), "short");
        let text = format!("Login('{}', 7)", "x".repeat(100));
        let short = shorten(&text, 10.0, 100.0);
        assert!(
            short.starts_with("Login('x") && short.ends_with("', 7)"),
            "{short}"
        );
        assert!(text_width(&short, 10.0) <= 100.0);
        let short = shorten(&"名\u{301}😀".repeat(50), 10.0, 100.0);
        assert!(text_width(&short, 10.0) <= 100.0 && short.contains('…'));
        assert_eq!(shorten("abc", 10.0, 0.0), "…");
    }
}
