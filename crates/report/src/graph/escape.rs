//! Escaping of untrusted texts for markup and for scripts.

use std::fmt::{self, Display, Write};

use crate::visible::is_invisible;

/// Renders a text on one line, without characters that would be interpreted instead of shown.
pub(super) fn escape_line(text: &str) -> String {
    text.chars().map(visible_symbol).collect()
}

/// Renders a text on several lines, without characters that would be interpreted instead of shown.
pub(super) fn escape_lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars()
        .map(|letter| match letter {
            '\n' | '\t' => letter,
            _ => visible_symbol(letter),
        })
        .collect()
}

/// Returns a visible symbol for a control character. Characters that XML cannot represent, or that
/// change the direction of reading, become a replacement character.
fn visible_symbol(letter: char) -> char {
    match letter {
        '\n' => '⏎',
        '\0'..' ' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ if is_invisible(letter) => '\u{fffd}',
        _ => letter,
    }
}

/// Text for the inside of an element, or of an attribute in quotation marks. It must have gone
/// through [`escape_line`] or [`escape_lines`].
pub(super) struct XmlText<'a>(pub(super) &'a str);

impl Display for XmlText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                // Otherwise an XML reader turns them into spaces.
                '\n' => out.write_str("&#10;")?,
                '\t' => out.write_str("&#9;")?,
                _ => out.write_char(letter)?,
            }
        }
        Ok(())
    }
}

/// Text as a JSON string that can stand in a script element.
pub(super) struct JsonText<'a>(pub(super) &'a str);

impl Display for JsonText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(out, "\\{letter}")?,
                // A text can neither end the element nor begin a comment nor end a line.
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..' ' | '\u{7f}' => {
                    write!(out, "\\u{:04x}", u32::from(letter))?;
                }
                _ => out.write_char(letter)?,
            }
        }
        out.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        assert_eq!(
            XmlText("a<b> & \"c\" 'ü'\n]]>").to_string(),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;ü&#39;&#10;]]&gt;"
        );
    }

    #[test]
    fn nothing_is_obeyed() {
        assert_eq!(
            escape_line("a\nb\u{1b}[0m\u{202e}\0\u{7f}"),
            "a⏎b␛[0m\u{fffd}␀␡"
        );
        assert_eq!(escape_lines("a\r\nb\tc\u{b}\u{ffff}"), "a\nb\tc␋\u{fffd}");
    }

    #[test]
    fn json_ends_no_element() {
        assert_eq!(
            JsonText("</script><!--\"\\\n\u{2028}&ü😀").to_string(),
            r#""\u003c/script\u003e\u003c!--\"\\\u000a\u2028\u0026ü😀""#
        );
    }
}
