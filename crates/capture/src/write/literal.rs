//! Python literals for numbers, texts and bytes.

use super::code::PythonCode;

/// The maximum length of a piece of a long text.
const MAX_PIECE_LENGTH: usize = 64;

/// Quotes a text, in several pieces if it is long.
pub(crate) fn text_literal(text: &str) -> PythonCode {
    let pieces = split_text(text);
    match pieces.as_slice() {
        [_, _, ..] => PythonCode::Pieces(pieces.iter().map(|piece| quoted(piece)).collect()),
        _ => PythonCode::Text(quoted(text)),
    }
}

/// Splits a text after line ends and, where lines are long, after blanks.
fn split_text(text: &str) -> Vec<&str> {
    if text.chars().count() <= MAX_PIECE_LENGTH {
        return vec![text];
    }
    let mut pieces = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some((end, _)) = rest.char_indices().nth(MAX_PIECE_LENGTH) {
            let (start, _) = rest.split_at(end);
            let cut = start
                .rfind(' ')
                .map(|blank| blank + 1)
                .filter(|cut| *cut > MAX_PIECE_LENGTH / 2)
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

/// Quotes a text as one string literal.
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

/// Adds a character, escaped if necessary.
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

/// Adds an escape sequence for a code point.
fn push_escaped(literal: &mut String, point: u32) {
    let escaped = match point {
        0..=0xff => format!("\\x{point:02x}"),
        0x100..=0xffff => format!("\\u{point:04x}"),
        _ => format!("\\U{point:08x}"),
    };
    literal.push_str(&escaped);
}

/// Quotes a text with lone surrogates.
pub(crate) fn surrogate_text(points: &[u32]) -> String {
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

/// Escapes a text for the inside of a formatted string.
pub(crate) fn escape_for_fstring(text: &str) -> String {
    let mut literal = String::new();
    for letter in text.chars() {
        match letter {
            '{' | '}' => literal.extend([letter, letter]),
            _ => push_letter(&mut literal, letter, '"'),
        }
    }
    literal
}

/// Quotes bytes, in several pieces if they are long.
pub(crate) fn bytes_literal(bytes: &[u8]) -> PythonCode {
    let chunks: Vec<&[u8]> = match bytes.len() {
        0..=MAX_PIECE_LENGTH => vec![bytes],
        _ => bytes
            .split_inclusive(|byte| *byte == b'\n')
            .flat_map(|line| line.chunks(MAX_PIECE_LENGTH / 2))
            .collect(),
    };
    match chunks.as_slice() {
        [_, _, ..] => PythonCode::Pieces(chunks.into_iter().map(quoted_bytes).collect()),
        _ => PythonCode::Text(quoted_bytes(bytes)),
    }
}

/// Quotes bytes as one literal.
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

/// Writes a finite number. The caller handles the others.
pub(crate) fn float_literal(number: f64) -> String {
    format!("{number:?}")
}

/// Converts a hexadecimal integer literal to decimal digits, or to `10**30` if most of them are
/// zeros.
///
/// Python limits the length of decimal literals. Numbers too long to be read stay hexadecimal.
pub(crate) fn integer_literal(hexadecimal: &str) -> String {
    const MAX_DECIMAL_DIGITS: usize = 400;
    const MANY_ZEROS: usize = 12;
    let (sign, digits) = match hexadecimal.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", hexadecimal),
    };
    let Some(decimal) = digits
        .strip_prefix("0x")
        .filter(|digits| digits.len() <= MAX_DECIMAL_DIGITS)
        .and_then(hexadecimal_to_decimal)
    else {
        return hexadecimal.to_owned();
    };
    let head = decimal.trim_end_matches('0');
    let zeros = decimal.len() - head.len();
    match head {
        _ if zeros < MANY_ZEROS => format!("{sign}{decimal}"),
        "1" => format!("{sign}10**{zeros}"),
        _ => format!("{sign}{head} * 10**{zeros}"),
    }
}

/// Converts hexadecimal digits to decimal ones.
fn hexadecimal_to_decimal(hexadecimal: &str) -> Option<String> {
    // The lowest digit comes first, so that a carry goes to the end.
    let mut digits: Vec<u32> = vec![0];
    for letter in hexadecimal.chars() {
        let mut carry = letter.to_digit(16)?;
        for digit in &mut digits {
            let value = *digit * 16 + carry;
            *digit = value % 10;
            carry = value / 10;
        }
        while carry > 0 {
            digits.push(carry % 10);
            carry /= 10;
        }
    }
    let highest_first = digits.iter().rev();
    highest_first
        .map(|digit| char::from_digit(*digit, 10))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_written_as_people_do() {
        assert_eq!(
            integer_literal("0x10000000000000001"),
            "18446744073709551617"
        );
        assert_eq!(integer_literal("-0xc9f2c9cd04674edea40000000"), "-10**30");
        assert_eq!(integer_literal("0x1b1ae4d6e2ef500000"), "5 * 10**20");
        let endless = format!("0x{}", "f".repeat(500));
        assert_eq!(integer_literal(&endless), endless);
    }

    #[test]
    fn texts_are_quoted_as_formatters_do() {
        assert_eq!(quoted("a\"b"), "'a\"b'");
        assert_eq!(quoted("it's \"so\"\n"), "\"it's \\\"so\\\"\\n\"");
        assert_eq!(
            quoted("é\u{200b}\u{1f600}\0"),
            "\"é\\u200b\\U0001f600\\x00\""
        );
        assert_eq!(surrogate_text(&[97, 0xd800]), "\"a\\ud800\"");
        assert_eq!(bytes_literal(b"\xff\n'").one_line(), "b\"\\xff\\n'\"");
        assert_eq!(escape_for_fstring("{a}\"\n"), "{{a}}\\\"\\n");
    }

    #[test]
    fn long_texts_are_cut_where_nothing_is_lost() {
        let long = format!("{}\n{}", "word ".repeat(30), "x".repeat(100));
        let pieces = split_text(&long);
        assert!(pieces.len() > 3);
        assert!(
            pieces
                .iter()
                .all(|piece| piece.chars().count() <= MAX_PIECE_LENGTH)
        );
        assert_eq!(pieces.concat(), long);
    }

    #[test]
    fn numbers_keep_every_bit() {
        for number in [0.1, -0.0, 1e300, 5e-324, 1e16, 123_456_789.0] {
            let parsed: f64 = float_literal(number).parse().expect("a number");
            assert_eq!(parsed.to_bits(), number.to_bits());
        }
    }
}
