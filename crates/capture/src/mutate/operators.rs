//! What operators become, and where they stand.

use testwright_source::tree::{Comparison, Operator};
use testwright_source::{Range, TokenKind, tokens};

use super::Kind;

/// What a comparison becomes: on the other side of its limit, then its opposite.
pub(super) fn comparisons(comparison: Comparison) -> (Kind, &'static [&'static str]) {
    match comparison {
        Comparison::Equal => (Kind::Comparison, &["!="]),
        Comparison::NotEqual => (Kind::Comparison, &["=="]),
        Comparison::Less => (Kind::Comparison, &["<=", ">="]),
        Comparison::LessOrEqual => (Kind::Comparison, &["<", ">"]),
        Comparison::Greater => (Kind::Comparison, &[">=", "<="]),
        Comparison::GreaterOrEqual => (Kind::Comparison, &[">", "<"]),
        Comparison::Is => (Kind::Identity, &["is not"]),
        Comparison::IsNot => (Kind::Identity, &["is"]),
        Comparison::In => (Kind::Membership, &["not in"]),
        Comparison::NotIn => (Kind::Membership, &["in"]),
    }
}

/// What an operator between two operands becomes: something that takes the same kinds of operands and mostly gives another
/// result.
pub(super) fn operation(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "-",
        Operator::Subtract => "+",
        Operator::Multiply => "/",
        Operator::Divide => "*",
        Operator::FloorDivide => "/",
        Operator::Remainder => "//",
        Operator::Power | Operator::MatrixMultiply => "*",
        Operator::ShiftLeft => ">>",
        Operator::ShiftRight => "<<",
        Operator::BitOr => "&",
        Operator::BitAnd => "|",
        Operator::BitXor => "|",
    }
}

/// Where the operator stands between two operands. Brackets that belong to these, and comments, may stand there, too.
pub(super) fn between(text: &str, gap: Range) -> Option<Range> {
    let found = tokens(text.get(gap.clone())?);
    let is_word = |kind: TokenKind| matches!(kind, TokenKind::Operator | TokenKind::Keyword);
    let mut words = found.iter().filter(|token| is_word(token.kind));
    let first = words.next()?;
    let last = words.next_back().unwrap_or(first);
    Some(gap.start + first.range.start..gap.start + last.range.end)
}
