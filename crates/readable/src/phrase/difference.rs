//! Differences from the value before the step (C9: "is one more than before").

use super::comparison::{ComparedPair, mirrored, order_words};
use super::connective::is_only_earlier;
use super::{Phraser, Polarity, Term};
use crate::term::{Comparison, Operator, Type};
use crate::value::PythonValue;
use crate::words::{Verb, cardinal};

/// An amount that is added to the earlier value or subtracted from it.
struct Offset<'t> {
    /// The amount.
    amount: &'t Term,
    /// True if it is added.
    is_up: bool,
}

impl Phraser<'_> {
    /// Phrases a comparison with an earlier value of the same term (C9).
    pub(super) fn difference(&self, pair: ComparedPair<'_>) -> Option<String> {
        let (subject, comparison, offset) = match offset_from_earlier(pair.left, pair.right) {
            Some(offset) => (pair.left, pair.comparison, offset),
            None => (
                pair.right,
                mirrored(pair.comparison)?,
                offset_from_earlier(pair.right, pair.left)?,
            ),
        };
        let pair = ComparedPair { comparison, ..pair };
        match offset {
            None => self.against_before(subject, pair),
            Some(offset) if comparison == Comparison::Equal => {
                self.by_amount(subject, &offset, pair)
            }
            Some(_) => None,
        }
    }

    /// Phrases a comparison with the earlier value itself: "is unchanged", "is less than before".
    fn against_before(&self, subject: &Term, pair: ComparedPair<'_>) -> Option<String> {
        let comparison = pair.effective_comparison()?;
        let subject = self.noun(subject);
        let x = &subject.text;
        let is = Verb::Be.conjugate(subject.plural, Polarity::Positive, pair.tense);
        Some(match comparison {
            Comparison::Equal => format!("{x} {is} unchanged"),
            Comparison::NotEqual => {
                format!(
                    "{x} {} changed",
                    Verb::Have.conjugate(subject.plural, Polarity::Positive, pair.tense)
                )
            }
            Comparison::Less | Comparison::Greater => {
                format!("{x} {is} {} before", order_words(comparison)?)
            }
            _ => {
                let it_was = if subject.plural {
                    "they were"
                } else {
                    "it was"
                };
                format!("{x} {is} {} what {it_was} before", order_words(comparison)?)
            }
        })
    }

    /// Phrases a difference: "is one more than before", "goes up by n".
    fn by_amount(
        &self,
        subject: &Term,
        offset: &Offset<'_>,
        pair: ComparedPair<'_>,
    ) -> Option<String> {
        let type_ = offset.amount.type_of();
        if !matches!(type_, Type::Number | Type::Unknown) {
            return None;
        }
        let subject = self.noun(subject);
        if let Some((number, is_up)) = offset.number() {
            let more = if is_up { "more" } else { "less" };
            let verb = Verb::Be.conjugate(subject.plural, pair.polarity, pair.tense);
            return Some(format!(
                "{} {verb} {number} {more} than before",
                subject.text
            ));
        }
        let verb = Verb::Go.conjugate(subject.plural, pair.polarity, pair.tense);
        let up = if offset.is_up { "up" } else { "down" };
        Some(format!(
            "{} {verb} {up} by {}",
            subject.text,
            self.noun(offset.amount).text
        ))
    }
}

impl Offset<'_> {
    /// Returns a literal amount in words (W8: words up to ten), and true if it is added. A negative
    /// amount is subtracted.
    fn number(&self) -> Option<(String, bool)> {
        let value = self.amount.as_value()?;
        if let Some(number) = value.as_integer() {
            let amount = u64::try_from(number.unsigned_abs()).ok().map(cardinal);
            return Some((
                amount.unwrap_or_else(|| number.unsigned_abs().to_string()),
                self.is_up == (number >= 0),
            ));
        }
        match value {
            PythonValue::Float(_)
            | PythonValue::Decimal(_)
            | PythonValue::Fraction { .. }
            | PythonValue::Integer(_) => {
                let notation = value.notation();
                match notation.strip_prefix('-') {
                    Some(positive) => Some((positive.to_owned(), !self.is_up)),
                    None => Some((notation, self.is_up)),
                }
            }
            _ => None,
        }
    }
}

/// Returns the offset of `other` from the earlier value of `subject`, with nothing inside if they
/// are equal. Returns nothing if `other` is no such value.
fn offset_from_earlier<'t>(subject: &Term, other: &'t Term) -> Option<Option<Offset<'t>>> {
    if subject.any(&|term| matches!(term, Term::Earlier(_))) {
        return None;
    }
    if is_earlier_value(subject, other) {
        return Some(None);
    }
    // `pre<(e + 1)>` is one more than `pre<(e)>`.
    let (sum, inside) = match other {
        Term::Earlier(inner) => (&**inner, true),
        _ => (other, false),
    };
    let Term::Binary {
        left,
        operator,
        right,
    } = sum
    else {
        return None;
    };
    let is_base = |term: &Term| {
        if inside {
            term == subject
        } else {
            is_earlier_value(subject, term)
        }
    };
    let is_amount = |term: &Term| !inside || term.as_value().is_some();
    match operator {
        Operator::Add if is_base(left) && is_amount(right) => Some(Some(Offset {
            amount: right,
            is_up: true,
        })),
        Operator::Add if is_base(right) && is_amount(left) => Some(Some(Offset {
            amount: left,
            is_up: true,
        })),
        Operator::Subtract if is_base(left) && is_amount(right) => Some(Some(Offset {
            amount: right,
            is_up: false,
        })),
        _ => None,
    }
}

/// Returns true if `earlier` is `subject` before the step, as a whole or in all its variables.
fn is_earlier_value(subject: &Term, earlier: &Term) -> bool {
    match earlier {
        Term::Earlier(inner) => **inner == *subject,
        _ => {
            is_only_earlier(earlier)
                && *subject
                    == earlier.map_parts(&mut |term| match term {
                        Term::Earlier(inner) => Some((**inner).clone()),
                        _ => None,
                    })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::{cl, not};

    #[test]
    fn c9_unchanged() {
        assert_eq!(cl("x == pre(x)"), "x is unchanged");
        assert_eq!(
            cl("pre(len(xs)) == len(xs)"),
            "the number of elements in xs is unchanged"
        );
        assert_eq!(not("x == pre(x)"), "x has changed");
        assert_eq!(cl("plates != pre(plates)"), "the plates have changed");
        assert_eq!(
            cl("len(xs) == len(pre(xs))"),
            "the number of elements in xs is unchanged"
        );
    }

    #[test]
    fn c9_more_and_less() {
        assert_eq!(cl("n == pre(n) + 1"), "n is one more than before");
        assert_eq!(cl("n == pre(n) - 2"), "n is two less than before");
        assert_eq!(cl("n == 10 + pre(n)"), "n is ten more than before");
        assert_eq!(cl("pre(n) + 11 == n"), "n is 11 more than before");
        assert_eq!(cl("n == pre(n) + 0.5"), "n is 0.5 more than before");
        assert_eq!(cl("n == pre(n + 1)"), "n is one more than before");
        assert_eq!(not("n == pre(n) + 1"), "n is not one more than before");
        assert_eq!(
            cl("plates.count(x) == pre(plates.count(x)) + 1"),
            "the number of times x occurs in the plates is one more than before"
        );
    }

    #[test]
    fn c9_up_and_down() {
        assert_eq!(cl("n == pre(n) + k"), "n goes up by k");
        assert_eq!(cl("n == pre(n) - k"), "n goes down by k");
        assert_eq!(not("n == pre(n) + k"), "n does not go up by k");
    }

    #[test]
    fn c9_orders() {
        assert_eq!(cl("n < pre(n)"), "n is less than before");
        assert_eq!(cl("n <= pre(n)"), "n is at most what it was before");
        assert_eq!(cl("pre(n) < n"), "n is greater than before");
        assert_eq!(
            cl("names >= pre(names)"),
            "the given names are at least what they were before"
        );
        assert_eq!(not("n < pre(n)"), "n is at least what it was before");
    }

    #[test]
    fn c9_does_not_speak_of_other_things() {
        assert_eq!(
            cl("n == pre(k) + 1"),
            "n equals one more than k before the step"
        );
        assert_eq!(
            cl("xs == pre(xs) + [x]"),
            "xs equals xs before the step followed by a list with just x"
        );
        assert_eq!(
            cl("n < pre(n) + 1"),
            "n is less than one more than n before the step"
        );
        assert_eq!(
            cl("u == pre(u) - {x}"),
            "u equals u before the step without the elements of the set of x"
        );
    }
}
