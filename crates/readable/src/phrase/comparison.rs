//! Comparisons (C2 to C8, C10 to C24), in the order in which the rules are tried.

use super::length::count_target;
use super::{Noun, Phraser, Polarity, Tense, join};
use crate::term::{Comparison, Term, Type};
use crate::value::PythonValue;
use crate::words::Verb;

/// One comparison, without a "not" in its operator.
#[derive(Clone, Copy)]
pub(super) struct ComparedPair<'t> {
    /// The left operand.
    pub(super) left: &'t Term,
    /// The operator, without a "not".
    pub(super) comparison: Comparison,
    /// The right operand.
    pub(super) right: &'t Term,
    /// Negative if the operator had a "not" or the clause is negated.
    pub(super) polarity: Polarity,
    /// The tense of the clause.
    pub(super) tense: Tense,
}

impl Phraser<'_> {
    /// Phrases a chain of comparisons.
    pub(super) fn comparison(
        &self,
        first: &Term,
        rest: &[(Comparison, Term)],
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        if let [(comparison, right)] = rest {
            return self.pair_clause(ComparedPair::new(
                first,
                *comparison,
                right,
                polarity,
                tense,
            ));
        }
        if let [(lower, x), (upper, limit)] = rest
            && let Some(clause) =
                self.range_clause(first, *lower, x, *upper, limit, polarity, tense)
        {
            return clause;
        }
        if rest.len() > 1
            && rest
                .iter()
                .all(|(comparison, _)| *comparison == Comparison::Equal)
        {
            return self.all_equal_clause(first, rest, polarity, tense);
        }
        // C24: any other chain is the conjunction of its pairs.
        let mut left = first;
        let mut pairs = Vec::with_capacity(rest.len());
        for (comparison, right) in rest {
            pairs.push(Term::compare(left.clone(), *comparison, right.clone()));
            left = right;
        }
        self.conjunction(&pairs, polarity, tense)
    }

    /// Phrases one comparison by the first rule that fits.
    fn pair_clause(&self, pair: ComparedPair<'_>) -> String {
        let pair = pair.literal_last();
        let rules = [
            Self::none_clause,
            Self::truth_clause,
            Self::identity_clause,
            Self::membership,
            Self::difference,
            Self::divisibility,
            Self::length_clause,
            Self::order_of_elements,
            Self::against_literal,
            Self::round_trip,
            Self::subset_order_clause,
        ];
        rules
            .iter()
            .find_map(|rule| rule(self, pair))
            .unwrap_or_else(|| self.plain_clause(pair))
    }

    /// Puts the verb and the rest after a subject.
    pub(super) fn with_verb(
        &self,
        pair: ComparedPair<'_>,
        subject: &Noun,
        verb: Verb,
        rest: &str,
    ) -> String {
        format!(
            "{} {} {rest}",
            subject.text,
            verb.conjugate(subject.plural, pair.polarity, pair.tense)
        )
    }

    /// Puts a form of "is" and the rest after a subject.
    pub(super) fn is(&self, pair: ComparedPair<'_>, subject: &Noun, rest: &str) -> String {
        self.with_verb(pair, subject, Verb::Be, rest)
    }

    /// Phrases a comparison with `None` (C3: "has no value").
    fn none_clause(&self, pair: ComparedPair<'_>) -> Option<String> {
        let is_equality = matches!(pair.comparison, Comparison::Is | Comparison::Equal);
        if !is_equality || pair.right.as_value() != Some(&PythonValue::Nothing) {
            return None;
        }
        let subject = self.noun(pair.left);
        let verb = Verb::Have.conjugate(subject.plural, Polarity::Positive, pair.tense);
        let article = if pair.polarity == Polarity::Positive {
            "no"
        } else {
            "a"
        };
        Some(format!("{} {verb} {article} value", subject.text))
    }

    /// Phrases a comparison with `True` or `False` (C4).
    fn truth_clause(&self, pair: ComparedPair<'_>) -> Option<String> {
        let (Comparison::Is | Comparison::Equal, Some(PythonValue::Boolean(truth))) =
            (pair.comparison, pair.right.as_value())
        else {
            return None;
        };
        let polarity = if *truth {
            pair.polarity
        } else {
            pair.polarity.opposite()
        };
        let is_condition = matches!(
            pair.left,
            Term::Call(_) | Term::Compare { .. } | Term::Not(_) | Term::And(_) | Term::Or(_)
        );
        if is_condition {
            return Some(self.clause_in(pair.left, polarity, pair.tense));
        }
        Some(self.truthiness_clause(&self.noun(pair.left), &Type::Boolean, polarity, pair.tense))
    }

    /// Phrases `is` (C5: "the very same object").
    fn identity_clause(&self, pair: ComparedPair<'_>) -> Option<String> {
        // Members of enumerations are compared with `is` and `==` alike.
        if matches!(pair.right, Term::Value(PythonValue::Member { .. })) {
            return None;
        }
        (pair.comparison == Comparison::Is).then(|| {
            let other = format!("the very same object as {}", self.noun(pair.right).text);
            self.is(pair, &self.noun(pair.left), &other)
        })
    }

    /// Phrases comparisons of `len` (C12: against a literal; C13: of two lengths; C14: no repeated
    /// elements).
    fn length_clause(&self, pair: ComparedPair<'_>) -> Option<String> {
        let counted = count_target(pair.left)?;
        if let Some(number) = pair.right.as_value() {
            let comparison = pair.effective_comparison()?;
            return self.length_against_literal(&counted, comparison, number, pair.tense);
        }
        if pair.comparison != Comparison::Equal {
            return None;
        }
        self.equal_lengths(pair.left, pair.right, pair.polarity, pair.tense)
    }

    /// Phrases an order of sets. A set that is no subset need not be larger, so an order (C21)
    /// would be false.
    fn subset_order_clause(&self, pair: ComparedPair<'_>) -> Option<String> {
        let is_set = |term: &Term| matches!(term.type_of(), Type::Set(_));
        if !is_set(pair.left) || !is_set(pair.right) {
            return None;
        }
        let (smaller, larger, proper) = match pair.comparison {
            Comparison::LessOrEqual => (pair.left, pair.right, ""),
            Comparison::Less => (pair.left, pair.right, "proper "),
            Comparison::GreaterOrEqual => (pair.right, pair.left, ""),
            Comparison::Greater => (pair.right, pair.left, "proper "),
            _ => return None,
        };
        Some(self.subset_clause(smaller, larger, proper, pair.polarity, pair.tense))
    }

    /// Phrases any other comparison (C20: "equals"; C21: "less than", "at most", …).
    fn plain_clause(&self, pair: ComparedPair<'_>) -> String {
        let subject = self.noun(pair.left);
        let other = self.noun(pair.right).text;
        match pair.effective_comparison().and_then(order_words) {
            Some(relation) => {
                let verb = Verb::Be.conjugate(subject.plural, Polarity::Positive, pair.tense);
                format!("{} {verb} {relation} {other}", subject.text)
            }
            None => self.with_verb(pair, &subject, Verb::Equal, &other),
        }
    }

    /// Phrases `a < x <= b` (C22: the middle is the subject).
    #[allow(
        clippy::too_many_arguments,
        reason = "they are the parts of `a < x <= b`, and how to say it"
    )]
    fn range_clause(
        &self,
        low: &Term,
        lower: Comparison,
        x: &Term,
        upper: Comparison,
        high: &Term,
        polarity: Polarity,
        tense: Tense,
    ) -> Option<String> {
        let rises = |comparison| matches!(comparison, Comparison::Less | Comparison::LessOrEqual);
        let falls =
            |comparison| matches!(comparison, Comparison::Greater | Comparison::GreaterOrEqual);
        if !(rises(lower) && rises(upper) || falls(lower) && falls(upper)) {
            return None;
        }
        let (lower, upper, and) = match polarity {
            Polarity::Positive => (mirrored(lower)?, upper, "and"),
            Polarity::Negative => (opposite(mirrored(lower)?), opposite(upper), "or"),
        };
        let (lower, upper) = (order_words(lower)?, order_words(upper)?);
        let (low, x, high) = (self.noun(low).text, self.noun(x), self.noun(high).text);
        let verb = Verb::Be.conjugate(x.plural, Polarity::Positive, tense);
        Some(format!(
            "{} {verb} {lower} {low} {and} {upper} {high}",
            x.text
        ))
    }

    /// Phrases a chain of equalities (C23: "are all equal").
    fn all_equal_clause(
        &self,
        first: &Term,
        rest: &[(Comparison, Term)],
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        let operands: Vec<String> = std::iter::once(first)
            .chain(rest.iter().map(|(_, operand)| operand))
            .map(|operand| join::parenthesise(&self.noun(operand).text))
            .collect();
        let verb = Verb::Be.conjugate(true, polarity, tense);
        format!("{} {verb} all equal", join::nouns(&operands, "and"))
    }
}

impl<'t> ComparedPair<'t> {
    /// Creates a pair; a "not" in the operator moves to the polarity.
    fn new(
        left: &'t Term,
        comparison: Comparison,
        right: &'t Term,
        polarity: Polarity,
        tense: Tense,
    ) -> Self {
        let positive = match comparison {
            Comparison::NotEqual => Comparison::Equal,
            Comparison::IsNot => Comparison::Is,
            Comparison::NotIn => Comparison::In,
            other => {
                return Self {
                    left,
                    comparison: other,
                    right,
                    polarity,
                    tense,
                };
            }
        };
        Self {
            left,
            comparison: positive,
            right,
            polarity: polarity.opposite(),
            tense,
        }
    }

    /// Moves a literal to the right (C2).
    fn literal_last(self) -> Self {
        let is_swapped = self.left.as_value().is_some() && self.right.as_value().is_none();
        match (is_swapped, mirrored(self.comparison)) {
            (true, Some(comparison)) => Self {
                left: self.right,
                comparison,
                right: self.left,
                ..self
            },
            _ => self,
        }
    }

    /// Returns the comparison with the polarity taken into account; nothing for membership and
    /// identity.
    pub(super) fn effective_comparison(self) -> Option<Comparison> {
        mirrored(self.comparison).filter(|comparison| *comparison != Comparison::Is)?;
        Some(match self.polarity {
            Polarity::Positive => self.comparison,
            Polarity::Negative => opposite(self.comparison),
        })
    }
}

/// Returns the comparison that says the same with its sides swapped.
pub(super) fn mirrored(comparison: Comparison) -> Option<Comparison> {
    match comparison {
        Comparison::Less => Some(Comparison::Greater),
        Comparison::LessOrEqual => Some(Comparison::GreaterOrEqual),
        Comparison::Greater => Some(Comparison::Less),
        Comparison::GreaterOrEqual => Some(Comparison::LessOrEqual),
        Comparison::Equal | Comparison::NotEqual | Comparison::Is | Comparison::IsNot => {
            Some(comparison)
        }
        Comparison::In | Comparison::NotIn => None,
    }
}

/// Returns the comparison that holds when this one does not; orders are taken to be total.
fn opposite(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Equal => Comparison::NotEqual,
        Comparison::NotEqual => Comparison::Equal,
        Comparison::Less => Comparison::GreaterOrEqual,
        Comparison::LessOrEqual => Comparison::Greater,
        Comparison::Greater => Comparison::LessOrEqual,
        Comparison::GreaterOrEqual => Comparison::Less,
        Comparison::Is => Comparison::IsNot,
        Comparison::IsNot => Comparison::Is,
        Comparison::In => Comparison::NotIn,
        Comparison::NotIn => Comparison::In,
    }
}

/// Returns the words of an order (C21).
pub(super) fn order_words(comparison: Comparison) -> Option<&'static str> {
    match comparison {
        Comparison::Less => Some("less than"),
        Comparison::LessOrEqual => Some("at most"),
        Comparison::Greater => Some("greater than"),
        Comparison::GreaterOrEqual => Some("at least"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::{cl, not, was, was_not};

    #[test]
    fn c2_literals_go_to_the_right() {
        assert_eq!(cl("0 < x"), "x is greater than 0");
        assert_eq!(cl("5 == x"), "x is 5");
        assert_eq!(cl("None is x"), "x has no value");
    }

    #[test]
    fn c3_no_value() {
        for none in ["x is None", "x == None"] {
            assert_eq!(cl(none), "x has no value");
            assert_eq!(not(none), "x has a value");
            assert_eq!(was(none), "x had no value");
            assert_eq!(was_not(none), "x had a value");
        }
        assert_eq!(cl("names is not None"), "the given names have a value");
    }

    #[test]
    fn c4_true_and_false() {
        assert_eq!(cl("x == True"), "x is true");
        assert_eq!(cl("x is False"), "x is false");
        assert_eq!(not("x == True"), "x is false");
        assert_eq!(cl("f(x) == True"), "\"f\" holds for x");
        assert_eq!(cl("f(x) is False"), "\"f\" does not hold for x");
        assert_eq!(cl("(x < y) == False"), "x is at least y");
        assert_eq!(was("x is True"), "x was true");
    }

    #[test]
    fn c5_the_very_same() {
        assert_eq!(cl("x is y"), "x is the very same object as y");
        assert_eq!(cl("x is not y"), "x is not the very same object as y");
        assert_eq!(was("x is y"), "x was the very same object as y");
    }

    #[test]
    fn c20_equals() {
        assert_eq!(cl("x == y"), "x equals y");
        assert_eq!(not("x == y"), "x does not equal y");
        assert_eq!(cl("plates == xs"), "the plates equal xs");
        assert_eq!(cl("names != xs"), "the given names do not equal xs");
        assert_eq!(was("x == y"), "x equalled y");
        assert_eq!(was("x != y"), "x did not equal y");
    }

    #[test]
    fn c21_orders() {
        for (sign, positive, negative) in [
            ("<", "less than", "at least"),
            ("<=", "at most", "greater than"),
            (">", "greater than", "at most"),
            (">=", "at least", "less than"),
        ] {
            assert_eq!(cl(&format!("x {sign} y")), format!("x is {positive} y"));
            assert_eq!(not(&format!("x {sign} y")), format!("x is {negative} y"));
            assert_eq!(
                was(&format!("names {sign} y")),
                format!("the given names were {positive} y")
            );
        }
    }

    #[test]
    fn c22_between() {
        assert_eq!(cl("a < x <= b"), "x is greater than a and at most b");
        assert_eq!(not("a < x <= b"), "x is at most a or greater than b");
        assert_eq!(cl("1 <= x < 5"), "x is at least 1 and less than 5");
        assert_eq!(cl("a > x >= b"), "x is less than a and at least b");
        assert_eq!(was("a < x < b"), "x was greater than a and less than b");
    }

    #[test]
    fn c23_all_equal() {
        assert_eq!(cl("a == b == c"), "a, b and c are all equal");
        assert_eq!(not("a == b == c"), "a, b and c are not all equal");
        assert_eq!(was("a == b == c"), "a, b and c were all equal");
    }

    #[test]
    fn c24_other_chains() {
        assert_eq!(cl("a < x == b"), "a is less than x and x equals b");
        assert_eq!(
            cl("a < b < c < x"),
            "a is less than b, b is less than c and c is less than x"
        );
        assert_eq!(
            not("a < x == b"),
            "either a is at least x or x does not equal b"
        );
    }

    #[test]
    fn sets_are_not_in_a_row() {
        assert_eq!(cl("u <= v"), "u is a subset of v");
        assert_eq!(not("u <= v"), "u is not a subset of v");
        assert_eq!(cl("u > v"), "v is a proper subset of u");
        assert_eq!(cl("u.issubset(v)"), "u is a subset of v");
    }
}
