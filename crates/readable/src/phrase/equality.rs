//! Equalities that have a shorter phrase than "equals" (C10, C11, C15 to C19).

use super::call::sorted_argument;
use super::comparison::ComparedPair;
use super::{Phraser, Polarity};
use crate::term::{CallTarget, CallTerm, Comparison, Operator, Term, Type};
use crate::value::PythonValue;
use crate::words::Verb;

impl Phraser<'_> {
    /// Phrases a remainder (C10: even or odd; C11: divisible).
    pub(super) fn divisibility(&self, pair: ComparedPair<'_>) -> Option<String> {
        let Term::Binary {
            left: x,
            operator: Operator::Remainder,
            right: divisor,
        } = pair.left
        else {
            return None;
        };
        let remainder = pair.right.as_value()?.as_integer()?;
        if pair.comparison != Comparison::Equal || x.type_of() == Type::Text {
            return None;
        }
        let is_two = divisor.as_value().and_then(PythonValue::as_integer) == Some(2);
        match (is_two, remainder) {
            (true, 0 | 1) => {
                let is_even = (remainder == 0) == (pair.polarity == Polarity::Positive);
                let subject = self.noun(x);
                let verb = Verb::Be.conjugate(subject.plural, Polarity::Positive, pair.tense);
                Some(format!(
                    "{} {verb} {}",
                    subject.text,
                    if is_even { "even" } else { "odd" }
                ))
            }
            (_, 0) => {
                let divisor = self.noun(divisor).text;
                Some(self.is(pair, &self.noun(x), &format!("divisible by {divisor}")))
            }
            _ => None,
        }
    }

    /// Phrases equalities with `sorted` (C15: "is in sorted order"; C16: "has the same elements, in
    /// any order").
    pub(super) fn order_of_elements(&self, pair: ComparedPair<'_>) -> Option<String> {
        if pair.comparison != Comparison::Equal {
            return None;
        }
        match (sorted_argument(pair.left), sorted_argument(pair.right)) {
            (Some((one, false)), Some((two, false))) => {
                let (x, y) = (self.noun(one), self.noun(two).text);
                let suffix = if pair.polarity == Polarity::Positive {
                    ", in any order"
                } else {
                    ""
                };
                Some(self.with_verb(
                    pair,
                    &x,
                    Verb::Have,
                    &format!("the same elements as {y}{suffix}"),
                ))
            }
            (Some((sorted, descending)), None) => {
                self.sortedness(pair, sorted, descending, pair.right)
            }
            (None, Some((sorted, descending))) => {
                self.sortedness(pair, sorted, descending, pair.left)
            }
            _ => None,
        }
    }

    /// Phrases `sorted(x) == x`.
    fn sortedness(
        &self,
        pair: ComparedPair<'_>,
        sorted: &Term,
        descending: bool,
        whole: &Term,
    ) -> Option<String> {
        let is_same = without_copies(sorted) == without_copies(whole);
        is_same.then(|| {
            let order = if descending {
                "in descending order"
            } else {
                "in sorted order"
            };
            self.is(pair, &self.noun(whole), order)
        })
    }

    /// Phrases equality with a literal (C17: "is empty"; C18: "is 3").
    pub(super) fn against_literal(&self, pair: ComparedPair<'_>) -> Option<String> {
        let value = pair.right.as_value()?;
        let is_member =
            matches!(value, PythonValue::Member { .. }) && pair.comparison == Comparison::Is;
        if pair.comparison != Comparison::Equal && !is_member {
            return None;
        }
        let subject = self.noun(pair.left);
        if value.length() == Some(0) && !matches!(value, PythonValue::Range { .. }) {
            return Some(self.emptiness_clause(&subject, pair.polarity, pair.tense));
        }
        Some(self.is(pair, &subject, &self.notation(value)))
    }

    /// Phrases `g(f(x)) == x` (C19: "gives x back").
    pub(super) fn round_trip(&self, pair: ComparedPair<'_>) -> Option<String> {
        if pair.comparison != Comparison::Equal {
            return None;
        }
        let (f, g, x) = round_trip_parts(pair.left, pair.right)
            .or_else(|| round_trip_parts(pair.right, pair.left))?;
        let x = self.noun(x).text;
        let verb = Verb::Give.conjugate(false, pair.polarity, pair.tense);
        let (f, g) = (self.words(f), self.words(g));
        Some(format!(
            "applying \"{f}\" and then \"{g}\" to {x} {verb} {x} back"
        ))
    }
}

/// Returns the term that is copied, if it is a copy.
fn without_copies(term: &Term) -> &Term {
    match term {
        Term::Call(call) => call.copied_argument().map_or(term, without_copies),
        _ => term,
    }
}

/// Returns f, g and x of `g(f(x)) == x`.
fn round_trip_parts<'t>(call: &'t Term, other: &'t Term) -> Option<(&'t str, &'t str, &'t Term)> {
    let (g, inner) = unknown_function(call)?;
    let (f, x) = unknown_function(inner)?;
    (x == other).then_some((f, g, x))
}

/// Returns the name and the argument of a call of an unknown function.
fn unknown_function(term: &Term) -> Option<(&str, &Term)> {
    let Term::Call(call) = term else {
        return None;
    };
    let call: &CallTerm = call;
    match (&call.callee, call.arguments.as_slice()) {
        (CallTarget::Function { name, .. }, [argument])
            if call.keywords.is_empty()
                && call.is_unknown()
                && !matches!(argument, Term::Starred(_)) =>
        {
            Some((name, argument))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::{cl, not, was, was_not};

    #[test]
    fn c10_even_and_odd() {
        assert_eq!(cl("x % 2 == 0"), "x is even");
        assert_eq!(not("x % 2 == 0"), "x is odd");
        assert_eq!(cl("x % 2 == 1"), "x is odd");
        assert_eq!(cl("x % 2 != 0"), "x is odd");
        assert_eq!(not("x % 2 == 1"), "x is even");
        assert_eq!(was("x % 2 == 1"), "x was odd");
    }

    #[test]
    fn c11_divisible() {
        assert_eq!(cl("x % 3 == 0"), "x is divisible by 3");
        assert_eq!(not("x % k == 0"), "x is not divisible by k");
        assert_eq!(was("x % 3 == 0"), "x was divisible by 3");
        assert_eq!(cl("x % 3 == 1"), "the remainder of x divided by 3 is 1");
    }

    #[test]
    fn c15_sorted() {
        assert_eq!(cl("sorted(xs) == xs"), "xs is in sorted order");
        assert_eq!(
            cl("plates == sorted(plates)"),
            "the plates are in sorted order"
        );
        assert_eq!(not("xs == sorted(xs)"), "xs is not in sorted order");
        assert_eq!(was("list(xs) == sorted(xs)"), "xs was in sorted order");
        assert_eq!(cl("sorted(xs) == ys"), "xs in sorted order equals ys");
    }

    #[test]
    fn c16_same_elements() {
        assert_eq!(
            cl("sorted(xs) == sorted(ys)"),
            "xs has the same elements as ys, in any order"
        );
        assert_eq!(
            not("sorted(plates) == sorted(ys)"),
            "the plates do not have the same elements as ys"
        );
        assert_eq!(
            was("sorted(xs) == sorted(ys)"),
            "xs had the same elements as ys, in any order"
        );
    }

    #[test]
    fn c17_empty() {
        for empty in [
            "xs == []",
            "xs == ''",
            "() == xs",
            "xs == {}",
            "xs == set()",
            "xs == dict()",
        ] {
            assert_eq!(cl(empty), "xs is empty", "{empty}");
        }
        assert_eq!(cl("plates != []"), "the plates are not empty");
        assert_eq!(was("plates == []"), "the plates were empty");
    }

    #[test]
    fn c18_literals() {
        assert_eq!(cl("x == 5"), "x is 5");
        assert_eq!(cl("x != 'ok'"), "x is not \"ok\"");
        assert_eq!(cl("xs == [1, 2]"), "xs is [1, 2]");
        assert_eq!(was_not("x == 5"), "x was not 5");
        assert_eq!(cl("x == Colour.RED"), "x is the colour RED");
        assert_eq!(
            cl("x is not Colour.DARK_RED"),
            "x is not the colour DARK RED"
        );
        assert_eq!(cl("plates == NAMES"), "the plates are [\"a\", \"b\"]");
    }

    #[test]
    fn c19_there_and_back() {
        assert_eq!(
            cl("decode(encode(x)) == x"),
            "applying \"encode\" and then \"decode\" to x gives x back"
        );
        assert_eq!(
            cl("x == lib.decode(lib.encode(x))"),
            "applying \"encode\" and then \"decode\" to x gives x back"
        );
        assert_eq!(
            not("decode(encode(x)) == x"),
            "applying \"encode\" and then \"decode\" to x does not give x back"
        );
        assert_eq!(
            was("decode(encode(x)) == x"),
            "applying \"encode\" and then \"decode\" to x gave x back"
        );
        assert_eq!(
            cl("list(reversed(xs)) == xs"),
            "xs in reverse order equals xs"
        );
        assert_eq!(
            cl("decode(encode(x)) == y"),
            "the result of \"decode\" with (the result of \"encode\" with x) equals y"
        );
    }
}
