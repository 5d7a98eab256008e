//! Python files that are not UTF-8 and declare another encoding.

use std::borrow::Cow;

/// Encodings with one byte per character that extend ASCII.
const SINGLE_BYTE: [&str; 6] = [
    "latin",
    "iso-8859",
    "iso8859",
    "cp125",
    "windows-125",
    "koi8",
];

/// Decodes a Python file so that every character keeps its byte offset. Letters outside of ASCII in
/// other encodings than UTF-8 are replaced, because they do not matter for definitions.
///
/// # Errors
/// The number of the line that cannot be read.
pub fn decode_source(bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error,
    };
    if declares_single_byte_encoding(bytes) {
        let letters = bytes.iter().map(|byte| {
            if byte.is_ascii() {
                char::from(*byte)
            } else {
                'x'
            }
        });
        return Ok(Cow::Owned(letters.collect()));
    }
    let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
    Err(good.iter().filter(|byte| **byte == b'\n').count() + 1)
}

/// Returns true if one of the first two lines is a comment that declares an encoding with one byte
/// per character.
fn declares_single_byte_encoding(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').take(2).any(|line| {
        let line = String::from_utf8_lossy(line)
            .to_lowercase()
            .replace('_', "-");
        let named = line.trim_start().strip_prefix('#').and_then(|comment| {
            let (_, name) = comment.split_once("coding")?;
            let name = name.strip_prefix([':', '='])?;
            Some(name.trim_start().to_owned())
        });
        named.is_some_and(|name| SINGLE_BYTE.iter().any(|known| name.starts_with(known)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_other_encodings_stand_where_they_stood() {
        let bytes = b"# -*- coding: latin-1 -*-\nname = 'caf\xe9'\n";
        let text = decode_source(bytes).expect("a text");
        assert_eq!(text.len(), bytes.len());
        assert!(text.ends_with("name = 'cafx'\n"));
        assert_eq!(decode_source(b"a = 1\nb = '\xe9'\n"), Err(2));
        assert_eq!(decode_source("# é\n".as_bytes()).as_deref(), Ok("# é\n"));
        assert_eq!(decode_source(b"# coding: utf-8\n# \xe9\n"), Err(2));
    }
}
