//! Escaping of text for HTML pages.

use std::fmt::{self, Display, Write};

use crate::visible::is_invisible;

/// Text for the inside of an element, or of an attribute in quotation marks.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(index) = rest.find(['&', '<', '>', '"', '\'']) {
            out.write_str(&rest[..index])?;
            out.write_str(match rest.as_bytes()[index] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[index + 1..];
        }
        out.write_str(rest)
    }
}

/// A line of source for the inside of an element. Tabs stay, other invisible characters are made
/// visible.
pub(super) struct SourceLine<'a>(pub(super) &'a str);

impl Display for SourceLine<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_to_show = |letter: char| letter != '\t' && is_invisible(letter);
        let mut rest = self.0;
        while let Some(index) = rest.find(is_to_show) {
            Escaped(&rest[..index]).fmt(out)?;
            let Some(letter) = rest[index..].chars().next() else {
                break;
            };
            match u32::from(letter) {
                // Unicode has symbols for these control characters.
                code @ ..0x20 => out.write_char(char::from_u32(0x2400 + code).unwrap_or(letter))?,
                code => write!(out, "<i>U+{code:04X}</i>")?,
            }
            rest = &rest[index + letter.len_utf8()..];
        }
        Escaped(rest).fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        assert_eq!(
            Escaped("a<b> & \"c\" 'ü'").to_string(),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;ü&#39;"
        );
    }

    #[test]
    fn invisible_characters_are_seen() {
        assert_eq!(
            SourceLine("\tx < \u{c}\u{202e}\0y").to_string(),
            "\tx &lt; ␌<i>U+202E</i>␀y"
        );
    }
}
