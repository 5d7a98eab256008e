//! Texts of strangers, made safe for markup and for scripts.

use std::fmt::{self, Display, Write};

use crate::visible::is_invisible;

/// A text as it can be shown: in one line, without characters that would be obeyed instead of being seen.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(picture).collect()
}

/// A text as it can be shown, with its lines.
pub(super) fn lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars()
        .map(|letter| match letter {
            '\n' | '\t' => letter,
            _ => picture(letter),
        })
        .collect()
}

/// Unicode has pictures of control characters; what XML cannot write or what turns the text around becomes a symbol.
fn picture(letter: char) -> char {
    match letter {
        '\n' => '⏎',
        '\0'..' ' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ if is_invisible(letter) => '\u{fffd}',
        _ => letter,
    }
}

/// A text for the inside of an element or of an attribute in quotation marks. What it shows has to be shown already,
/// by [`one_line`] or [`lines`].
pub(super) struct Xml<'a>(pub(super) &'a str);

impl Display for Xml<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                // Otherwise a reader of XML makes spaces of them.
                '\n' => out.write_str("&#10;")?,
                '\t' => out.write_str("&#9;")?,
                _ => out.write_char(letter)?,
            }
        }
        Ok(())
    }
}

/// A text as a string of JSON that can stand in a script element.
pub(super) struct Json<'a>(pub(super) &'a str);

impl Display for Json<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(out, "\\{letter}")?,
                // No end of the element, no beginning of a comment, no end of a line can come from a text.
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
            Xml("a<b> & \"c\" 'ü'\n]]>").to_string(),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;ü&#39;&#10;]]&gt;"
        );
    }

    #[test]
    fn nothing_is_obeyed() {
        assert_eq!(
            one_line("a\nb\u{1b}[0m\u{202e}\0\u{7f}"),
            "a⏎b␛[0m\u{fffd}␀␡"
        );
        assert_eq!(lines("a\r\nb\tc\u{b}\u{ffff}"), "a\nb\tc␋\u{fffd}");
    }

    #[test]
    fn json_ends_no_element() {
        assert_eq!(
            Json("</script><!--\"\\\n\u{2028}&ü😀").to_string(),
            r#""\u003c/script\u003e\u003c!--\"\\\u000a\u2028\u0026ü😀""#
        );
    }
}
