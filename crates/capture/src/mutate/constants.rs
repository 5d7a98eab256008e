//! Replacements of constants.

use testwright_source::tree::ExpressionKind;

/// The prefix that is added to texts: two letters that hardly any text begins with.
pub(super) const TEXT_PREFIX: &str = "XX";

/// Changes an integer by one, and writes it in its own base. Returns `None` for numbers beyond 128
/// bits.
pub(super) fn changed_integer(written: &str, digits: &str, change: i128) -> Option<String> {
    let number: i128 = digits.parse().ok()?;
    let changed = number.checked_add(change)?;
    let sign = if changed < 0 { "-" } else { "" };
    let size = changed.unsigned_abs();
    Some(
        match written.get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("0x") => format!("{sign}{size:#x}"),
            Some("0o") => format!("{sign}{size:#o}"),
            Some("0b") => format!("{sign}{size:#b}"),
            _ => format!("{changed}"),
        },
    )
}

/// Changes a float by one, or doubles it where one makes no difference.
pub(super) fn changed_float(number: f64, change: f64) -> Option<String> {
    let moved = number + change;
    let changed = if moved == number { number * 2.0 } else { moved };
    (changed.is_finite() && changed != number).then(|| format!("{changed:?}"))
}

/// Returns the offset of a text's content after its prefix and quotes.
pub(super) fn content_offset(written: &str) -> Option<usize> {
    let quote_at = written.find(['\'', '"'])?;
    let quotes = written.get(quote_at..)?;
    let is_long = quotes.starts_with("'''") || quotes.starts_with("\"\"\"");
    Some(quote_at + if is_long { 3 } else { 1 })
}

/// Returns true if an expression is a literal.
pub(super) fn is_literal(kind: &ExpressionKind) -> bool {
    match kind {
        ExpressionKind::Unary { operand, .. } => is_number(&operand.kind),
        ExpressionKind::None
        | ExpressionKind::Boolean(_)
        | ExpressionKind::Text(_)
        | ExpressionKind::Bytes(_) => true,
        _ => is_number(kind),
    }
}

/// Returns true if an expression is a number literal.
pub(super) fn is_number(kind: &ExpressionKind) -> bool {
    matches!(
        kind,
        ExpressionKind::Integer(_) | ExpressionKind::Float(_) | ExpressionKind::Imaginary(_)
    )
}

/// Returns true if an expression is a literal text, list or tuple, which cannot be subtracted from
/// or divided.
pub(super) fn is_sequence(kind: &ExpressionKind) -> bool {
    matches!(
        kind,
        ExpressionKind::Text(_)
            | ExpressionKind::Bytes(_)
            | ExpressionKind::FormattedText(_)
            | ExpressionKind::List(_)
            | ExpressionKind::Tuple(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_form() {
        assert_eq!(changed_integer("0xFF", "255", 1).as_deref(), Some("0x100"));
        assert_eq!(changed_integer("0", "0", -1).as_deref(), Some("-1"));
        assert_eq!(changed_integer("1_000", "1000", 1).as_deref(), Some("1001"));
        assert_eq!(changed_float(0.5, 1.0).as_deref(), Some("1.5"));
        assert_eq!(changed_float(1e300, 1.0).as_deref(), Some("2e300"));
        assert_eq!(changed_float(f64::INFINITY, 1.0), None);
    }

    #[test]
    fn texts_begin_behind_their_quotes() {
        for (written, expected) in [("'a'", 1), ("rb\"\"\"x\"\"\"", 5), ("f''", 2), ("''", 1)] {
            assert_eq!(content_offset(written), Some(expected), "{written}");
        }
    }
}
