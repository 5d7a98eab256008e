//! Recognition of literals: expressions whose value is the same everywhere.

use crate::check::check_expression;
use crate::tokens::{TokenKind, tokenize};

/// Returns true if `text` is a single literal: a number with or without sign, a complex number such
/// as `1+2j`, a string or bytes (also several in a row, which Python joins), `True`, `False` or
/// `None`.
///
/// A formatted string is not a literal, since it may contain any expression. Surrounding blanks are
/// ignored.
///
/// ```
/// use testwright_source::is_literal;
///
/// assert!(is_literal(" -1.5e3 "));
/// assert!(!is_literal("f'{x}'"));
/// ```
pub fn is_literal(text: &str) -> bool {
    let tokens = tokenize(text);
    let pieces: Vec<(TokenKind, &str)> = tokens
        .iter()
        .map(|token| (token.kind, &text[token.range.clone()]))
        .collect();
    let has_form = is_number(&pieces) || is_constant(&pieces) || is_plain_string(&pieces);
    has_form && check_expression(text).is_empty()
}

/// Returns true if the tokens are a number, possibly signed or complex.
fn is_number(pieces: &[(TokenKind, &str)]) -> bool {
    let unsigned = match pieces {
        [(_, "+" | "-"), rest @ ..] => rest,
        _ => pieces,
    };
    match unsigned {
        [(TokenKind::Number, _)] => true,
        [
            (TokenKind::Number, real),
            (_, "+" | "-"),
            (TokenKind::Number, imaginary),
        ] => !is_imaginary(real) && is_imaginary(imaginary),
        _ => false,
    }
}

/// Returns true if a number is imaginary.
fn is_imaginary(number: &str) -> bool {
    number.ends_with(['j', 'J'])
}

/// Returns true if the tokens are `True`, `False` or `None`.
fn is_constant(pieces: &[(TokenKind, &str)]) -> bool {
    matches!(pieces, [(_, "True" | "False" | "None")])
}

/// Returns true if the tokens are strings or bytes without formatting.
fn is_plain_string(pieces: &[(TokenKind, &str)]) -> bool {
    let is_plain = |(kind, text): &(TokenKind, &str)| {
        let prefix = text.split(['\'', '"']).next().unwrap_or("");
        *kind == TokenKind::String && !prefix.contains(['f', 'F', 't', 'T'])
    };
    !pieces.is_empty() && pieces.iter().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        for text in [
            "1",
            " 1 ",
            "-1",
            "+ 1.5",
            "0xff",
            "1_000",
            "2j",
            "-1+2j",
            "1 - 2.5J",
            "''",
            "'ä'",
            "r'\\d'",
            "b'x'",
            "\"\"\"a\nb\"\"\"",
            "'a' 'b'",
            "'ft'",
            "True",
            "False",
            "None",
            "u'x'",
        ] {
            assert!(is_literal(text), "{text:?}");
        }
    }

    #[test]
    fn others() {
        for text in [
            "",
            " ",
            "x",
            "f'a'",
            "'a' f'b'",
            "t''",
            "--1",
            "1+2",
            "1j+2",
            "1j+2j",
            "-True",
            "-'a'",
            "(1)",
            "[1]",
            "1,",
            "1 2",
            "'a",
            "'a' b'b'",
            "0777",
            "1L",
            "1__0",
            "ur'x'",
            "1 # one",
            "b'ä'",
            "True False",
        ] {
            assert!(!is_literal(text), "{text:?}");
        }
    }
}
