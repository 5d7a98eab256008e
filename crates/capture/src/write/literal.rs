//! Numbers and texts as Python writes them.

use super::code::Code;

/// Pieces of a long text are at most this long.
const PIECE: usize = 64;

/// A text in quotes.
pub(crate) fn text(text: &str) -> Code {
    let pieces = pieces(text);
    match pieces.as_slice() {
        [_, _, ..] => Code::Pieces(pieces.iter().map(|piece| quoted(piece)).collect()),
        _ => Code::Text(quoted(text)),
    }
}

/// Cuts behind line ends and, where lines are long, behind blanks.
fn pieces(text: &str) -> Vec<&str> {
    if text.chars().count() <= PIECE {
        return vec![text];
    }
    let mut pieces = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some((end, _)) = rest.char_indices().nth(PIECE) {
            let (start, _) = rest.split_at(end);
            let cut = start
                .rfind(' ')
                .map(|blank| blank + 1)
                .filter(|cut| *cut > PIECE / 2)
                .unwrap_or(end);
            let (piece, behind) = rest.split_at(cut);
            pieces.push(piece);
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(rest);
        }
    }
    pieces
}

/// One string literal.
pub(crate) fn quoted(text: &str) -> String {
    let quote = if text.contains('"') && !text.contains('\'') {
        '\''
    } else {
        '"'
    };
    let mut literal = String::from(quote);
    for letter in text.chars() {
        push_letter(&mut literal, letter, quote);
    }
    literal.push(quote);
    literal
}

fn push_letter(literal: &mut String, letter: char, quote: char) {
    match letter {
        '\\' => literal.push_str("\\\\"),
        '\n' => literal.push_str("\\n"),
        '\r' => literal.push_str("\\r"),
        '\t' => literal.push_str("\\t"),
        _ if letter == quote => {
            literal.push('\\');
            literal.push(letter);
        }
        ' '..='~' => literal.push(letter),
        _ if letter.is_alphanumeric() => literal.push(letter),
        _ => push_escaped(literal, u32::from(letter)),
    }
}

fn push_escaped(literal: &mut String, point: u32) {
    let escaped = match point {
        0..=0xff => format!("\\x{point:02x}"),
        0x100..=0xffff => format!("\\u{point:04x}"),
        _ => format!("\\U{point:08x}"),
    };
    literal.push_str(&escaped);
}

/// A text with lone surrogates.
pub(crate) fn broken_text(points: &[u32]) -> String {
    let mut literal = String::from("\"");
    for point in points {
        match char::from_u32(*point) {
            Some(letter) => push_letter(&mut literal, letter, '"'),
            None => push_escaped(&mut literal, *point),
        }
    }
    literal.push('"');
    literal
}

/// The text between the quotes of a formatted string, without what is to be filled in.
pub(crate) fn in_formatted(text: &str) -> String {
    let mut literal = String::new();
    for letter in text.chars() {
        match letter {
            '{' | '}' => literal.extend([letter, letter]),
            _ => push_letter(&mut literal, letter, '"'),
        }
    }
    literal
}

/// Bytes in quotes.
pub(crate) fn bytes(bytes: &[u8]) -> Code {
    let chunks: Vec<&[u8]> = match bytes.len() {
        0..=PIECE => vec![bytes],
        _ => bytes
            .split_inclusive(|byte| *byte == b'\n')
            .flat_map(|line| line.chunks(PIECE / 2))
            .collect(),
    };
    match chunks.as_slice() {
        [_, _, ..] => Code::Pieces(chunks.into_iter().map(quoted_bytes).collect()),
        _ => Code::Text(quoted_bytes(bytes)),
    }
}

fn quoted_bytes(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'"') && !bytes.contains(&b'\'') {
        '\''
    } else {
        '"'
    };
    let mut literal = format!("b{quote}");
    for byte in bytes {
        match char::from(*byte) {
            letter @ ('\n' | '\r' | '\t' | ' '..='~') => push_letter(&mut literal, letter, quote),
            _ => push_escaped(&mut literal, u32::from(*byte)),
        }
    }
    literal.push(quote);
    literal
}

/// A finite number; the caller has names for the others.
pub(crate) fn float(number: f64) -> String {
    format!("{number:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_formatters_do() {
        assert_eq!(quoted("a\"b"), "'a\"b'");
        assert_eq!(quoted("it's \"so\"\n"), "\"it's \\\"so\\\"\\n\"");
        assert_eq!(
            quoted("é\u{200b}\u{1f600}\0"),
            "\"é\\u200b\\U0001f600\\x00\""
        );
        assert_eq!(broken_text(&[97, 0xd800]), "\"a\\ud800\"");
        assert_eq!(bytes(b"\xff\n'").flat(), "b\"\\xff\\n'\"");
        assert_eq!(in_formatted("{a}\"\n"), "{{a}}\\\"\\n");
    }

    #[test]
    fn long_texts_are_cut_where_nothing_is_lost() {
        let long = format!("{}\n{}", "word ".repeat(30), "x".repeat(100));
        let pieces = pieces(&long);
        assert!(pieces.len() > 3);
        assert!(pieces.iter().all(|piece| piece.chars().count() <= PIECE));
        assert_eq!(pieces.concat(), long);
    }

    #[test]
    fn numbers_keep_every_bit() {
        for number in [0.1, -0.0, 1e300, 5e-324, 1e16, 123_456_789.0] {
            let parsed: f64 = float(number).parse().expect("a number");
            assert_eq!(parsed.to_bits(), number.to_bits());
        }
    }
}
