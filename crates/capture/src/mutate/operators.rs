//! Replacements of operators, and their positions in the source.

use testwright_source::tree::{Comparison, Operator};
use testwright_source::{Range, TokenKind, tokenize};

use super::MutantKind;

/// Returns the replacements of a comparison: the neighboring one, then the opposite.
pub(super) fn comparison_replacements(
    comparison: Comparison,
) -> (MutantKind, &'static [&'static str]) {
    match comparison {
        Comparison::Equal => (MutantKind::Comparison, &["!="]),
        Comparison::NotEqual => (MutantKind::Comparison, &["=="]),
        Comparison::Less => (MutantKind::Comparison, &["<=", ">="]),
        Comparison::LessOrEqual => (MutantKind::Comparison, &["<", ">"]),
        Comparison::Greater => (MutantKind::Comparison, &[">=", "<="]),
        Comparison::GreaterOrEqual => (MutantKind::Comparison, &[">", "<"]),
        Comparison::Is => (MutantKind::Identity, &["is not"]),
        Comparison::IsNot => (MutantKind::Identity, &["is"]),
        Comparison::In => (MutantKind::Membership, &["not in"]),
        Comparison::NotIn => (MutantKind::Membership, &["in"]),
    }
}

/// Returns the replacement of a binary operator: one that takes the same kinds of operands and
/// mostly gives another result.
pub(super) fn operator_replacement(operator: Operator) -> &'static str {
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

/// Finds the operator between two operands. Brackets of the operands, and comments, may stand
/// there, too.
pub(super) fn find_operator(text: &str, gap: Range) -> Option<Range> {
    let found = tokenize(text.get(gap.clone())?);
    let is_word = |kind: TokenKind| matches!(kind, TokenKind::Operator | TokenKind::Keyword);
    let mut words = found.iter().filter(|token| is_word(token.kind));
    let first = words.next()?;
    let last = words.next_back().unwrap_or(first);
    Some(gap.start + first.range.start..gap.start + last.range.end)
}
