//! Python files that are not UTF-8 but say so.

use std::borrow::Cow;

/// Encodings in which every byte is a letter, and the first 128 are those of ASCII.
const SINGLE_BYTE: [&str; 6] = [
    "latin",
    "iso-8859",
    "iso8859",
    "cp125",
    "windows-125",
    "koi8",
];

/// The text of a Python file, in which every byte is where it is in the file. Letters of other encodings than UTF-8 are
/// replaced: what they are matters to nobody who looks for definitions.
///
/// # Errors
/// The number of the line that cannot be read.
pub fn readable(bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error,
    };
    if declares_single_bytes(bytes) {
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

/// Whether one of the first two lines is a comment that names such an encoding.
fn declares_single_bytes(bytes: &[u8]) -> bool {
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
        let text = readable(bytes).expect("a text");
        assert_eq!(text.len(), bytes.len());
        assert!(text.ends_with("name = 'cafx'\n"));
        assert_eq!(readable(b"a = 1\nb = '\xe9'\n"), Err(2));
        assert_eq!(readable("# é\n".as_bytes()).as_deref(), Ok("# é\n"));
        assert_eq!(readable(b"# coding: utf-8\n# \xe9\n"), Err(2));
    }
}
