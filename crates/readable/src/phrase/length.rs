//! Lengths and counts: `len` as a noun (P18, P19, P32: "the number of …") and in comparisons (C12
//! to C14).

use super::part::units;
use super::{Noun, Phraser, Polarity, Tense, join};
use crate::term::{CallTarget, CallTerm, Comparison, ComprehensionKind, Term};
use crate::value::PythonValue;
use crate::words::Verb;

/// The things that `len` counts, as far as they have words of their own.
pub(super) enum CountTarget<'t> {
    /// The members of something.
    Members(&'t Term),
    /// `set(x)`: the distinct elements of x.
    Distinct(&'t Term),
    /// A comprehension with a condition: the elements that meet it.
    Selected(&'t Term),
}

impl CallTerm {
    /// Returns the only argument of a call of this function.
    pub(super) fn only_argument(&self, function: &str) -> Option<&Term> {
        match (&self.callee, self.arguments.as_slice()) {
            (CallTarget::Function { module: None, name }, [argument])
                if name == function
                    && self.keywords.is_empty()
                    && !matches!(argument, Term::Starred(_)) =>
            {
                Some(argument)
            }
            _ => None,
        }
    }
}

/// Returns the argument of `function(x)`.
pub(super) fn argument_of<'t>(term: &'t Term, function: &str) -> Option<&'t Term> {
    match term {
        Term::Call(call) => call.only_argument(function),
        _ => None,
    }
}

/// Returns what `len` counts in `len(…)`. Copies are not mentioned.
pub(super) fn count_target(term: &Term) -> Option<CountTarget<'_>> {
    let mut inner = argument_of(term, "len")?;
    while let Term::Call(call) = inner
        && let Some(copied) = call.copied_argument()
    {
        inner = copied;
    }
    if let Some(argument) = argument_of(inner, "set").or_else(|| argument_of(inner, "frozenset")) {
        return Some(CountTarget::Distinct(argument));
    }
    Some(match inner {
        Term::Comprehension {
            form: ComprehensionKind::List | ComprehensionKind::Generator,
            clauses,
            ..
        } => match clauses.as_slice() {
            [clause] if !clause.conditions.is_empty() => CountTarget::Selected(inner),
            [clause] => CountTarget::Members(&clause.iterable),
            _ => CountTarget::Members(inner),
        },
        _ => CountTarget::Members(inner),
    })
}

impl Phraser<'_> {
    /// Phrases `len(x)` as "the number of elements in x" (P18), of distinct elements (P19) or of
    /// selected ones (P32).
    pub(super) fn count_noun(&self, counted: &CountTarget<'_>) -> Noun {
        Noun::one(match counted {
            CountTarget::Members(inner) => {
                let unit = units(inner.type_of().unit(), true);
                format!("the number of {unit} in {}", self.noun(inner).text)
            }
            CountTarget::Distinct(inner) => format!(
                "the number of distinct elements in {}",
                self.noun(inner).text
            ),
            CountTarget::Selected(inner) => self.selected_count(inner),
        })
    }

    /// Phrases "the number of elements v of X such that C".
    pub(super) fn selected_count(&self, comprehension: &Term) -> String {
        let Term::Comprehension { clauses, .. } = comprehension else {
            return self.noun(comprehension).text;
        };
        let clauses: Vec<String> = clauses
            .iter()
            .map(|clause| {
                let condition = self
                    .such_that_clause(clause, Tense::Present)
                    .unwrap_or_default();
                let (names, iterable) = (
                    self.names(&clause.targets),
                    self.noun(&clause.iterable).text,
                );
                format!("{names} of {iterable}{condition}")
            })
            .collect();
        format!("the number of elements {}", join::nouns(&clauses, "and"))
    }

    /// Phrases `len(x)` against a literal (C12): "x is empty", "x has more than 3 elements".
    pub(super) fn length_against_literal(
        &self,
        counted: &CountTarget<'_>,
        comparison: Comparison,
        number: &PythonValue,
        tense: Tense,
    ) -> Option<String> {
        let limit = number.as_integer()?;
        let is_empty = match (comparison, limit) {
            (Comparison::Equal | Comparison::LessOrEqual, 0) | (Comparison::Less, 1) => {
                Some(Polarity::Positive)
            }
            (Comparison::NotEqual | Comparison::Greater, 0) | (Comparison::GreaterOrEqual, 1) => {
                Some(Polarity::Negative)
            }
            _ => None,
        };
        match (counted, is_empty) {
            (CountTarget::Members(inner) | CountTarget::Distinct(inner), Some(polarity)) => {
                Some(self.emptiness_clause(&self.noun(inner), polarity, tense))
            }
            (CountTarget::Selected(inner), Some(polarity)) => {
                Some(self.clause_in(inner, polarity.opposite(), tense))
            }
            (CountTarget::Members(inner), None) => {
                let unit = units(inner.type_of().unit(), limit != 1);
                let subject = self.noun(inner);
                let verb = |polarity| Verb::Have.conjugate(subject.plural, polarity, tense);
                let rest = match comparison {
                    Comparison::Equal => format!("{} {limit}", verb(Polarity::Positive)),
                    Comparison::NotEqual => format!("{} exactly {limit}", verb(Polarity::Negative)),
                    _ => format!(
                        "{} {} {limit}",
                        verb(Polarity::Positive),
                        size_words(comparison)?
                    ),
                };
                Some(format!("{} {rest} {unit}", subject.text))
            }
            (CountTarget::Distinct(_) | CountTarget::Selected(_), None) => None,
        }
    }

    /// Phrases "X is empty".
    pub(super) fn emptiness_clause(
        &self,
        subject: &Noun,
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        format!(
            "{} {} empty",
            subject.text,
            Verb::Be.conjugate(subject.plural, polarity, tense)
        )
    }

    /// Phrases two equal lengths (C13: "exactly as many elements as"; C14: "no repeated elements").
    pub(super) fn equal_lengths(
        &self,
        left: &Term,
        right: &Term,
        polarity: Polarity,
        tense: Tense,
    ) -> Option<String> {
        match (count_target(left)?, count_target(right)?) {
            (CountTarget::Members(one), CountTarget::Members(two)) => {
                let subject = self.noun(one);
                let verb = Verb::Have.conjugate(subject.plural, polarity, tense);
                let unit = units(one.type_of().unit(), true);
                Some(format!(
                    "{} {verb} exactly as many {unit} as {}",
                    subject.text,
                    self.noun(two).text
                ))
            }
            (CountTarget::Distinct(distinct), CountTarget::Members(all))
            | (CountTarget::Members(all), CountTarget::Distinct(distinct))
                if distinct == all =>
            {
                let subject = self.noun(all);
                let verb = Verb::Have.conjugate(subject.plural, Polarity::Positive, tense);
                let some = if polarity == Polarity::Positive {
                    "no"
                } else {
                    "some"
                };
                Some(format!("{} {verb} {some} repeated elements", subject.text))
            }
            _ => None,
        }
    }
}

/// Returns the words of an order between sizes.
fn size_words(comparison: Comparison) -> Option<&'static str> {
    match comparison {
        Comparison::Less => Some("fewer than"),
        Comparison::LessOrEqual => Some("at most"),
        Comparison::Greater => Some("more than"),
        Comparison::GreaterOrEqual => Some("at least"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::{cl, not, np, was, was_not};

    #[test]
    fn p18_numbers_of_members() {
        assert_eq!(np("len(xs)"), "the number of elements in xs");
        assert_eq!(np("len(s)"), "the number of characters in s");
        assert_eq!(np("len(d)"), "the number of entries in d");
        assert_eq!(np("len(x)"), "the number of elements in x");
        assert_eq!(np("len(list(xs))"), "the number of elements in xs");
    }

    #[test]
    fn p19_distinct_members() {
        assert_eq!(np("len(set(xs))"), "the number of distinct elements in xs");
    }

    #[test]
    fn p32_selected_members() {
        assert_eq!(
            np("len([i for i in xs if i > 1])"),
            "the number of elements i of xs such that i is greater than 1"
        );
        assert_eq!(np("len([i for i in xs])"), "the number of elements in xs");
    }

    #[test]
    fn c12_length_against_a_literal() {
        for empty in [
            "len(xs) == 0",
            "len(xs) < 1",
            "len(xs) <= 0",
            "0 == len(xs)",
            "not len(xs) > 0",
        ] {
            assert_eq!(cl(empty), "xs is empty", "{empty}");
            assert_eq!(not(empty), "xs is not empty", "{empty}");
        }
        for full in ["len(xs) > 0", "len(xs) >= 1", "len(xs) != 0", "0 < len(xs)"] {
            assert_eq!(cl(full), "xs is not empty", "{full}");
        }
        assert_eq!(cl("len(xs) == 3"), "xs has 3 elements");
        assert_eq!(cl("len(s) == 1"), "s has 1 character");
        assert_eq!(
            cl("len(plates) < 3"),
            "the plates have fewer than 3 elements"
        );
        assert_eq!(cl("len(d) <= 3"), "d has at most 3 entries");
        assert_eq!(cl("len(xs) > 3"), "xs has more than 3 elements");
        assert_eq!(cl("len(xs) >= 3"), "xs has at least 3 elements");
        assert_eq!(not("len(xs) == 3"), "xs does not have exactly 3 elements");
        assert_eq!(
            cl("len(plates) != 3"),
            "the plates do not have exactly 3 elements"
        );
        assert_eq!(not("len(xs) < 3"), "xs has at least 3 elements");
        assert_eq!(was("len(xs) == 3"), "xs had 3 elements");
        assert_eq!(
            was_not("len(xs) == 3"),
            "xs did not have exactly 3 elements"
        );
        assert_eq!(was("len(plates) == 0"), "the plates were empty");
        assert_eq!(
            cl("len(set(xs)) == 3"),
            "the number of distinct elements in xs is 3"
        );
        assert_eq!(
            cl("len([i for i in xs if i > 1]) == 0"),
            "there is no i in xs such that i is greater than 1"
        );
        assert_eq!(
            cl("len([i for i in xs if i > 1]) <= 2"),
            "the number of elements i of xs such that i is greater than 1 is at most 2"
        );
    }

    #[test]
    fn c13_and_trap_8_same_length() {
        assert_eq!(
            cl("len(xs) == len(ys)"),
            "xs has exactly as many elements as ys"
        );
        assert_eq!(
            not("len(s) == len(t)"),
            "s does not have exactly as many characters as t"
        );
        assert_eq!(
            was_not("len(plates) == len(ys)"),
            "the plates did not have exactly as many elements as ys"
        );
        assert_eq!(
            cl("len(xs) < len(ys)"),
            "the number of elements in xs is less than the number of elements in ys"
        );
    }

    #[test]
    fn c14_no_repetition() {
        assert_eq!(cl("len(set(xs)) == len(xs)"), "xs has no repeated elements");
        assert_eq!(
            cl("len(plates) == len(set(plates))"),
            "the plates have no repeated elements"
        );
        assert_eq!(
            cl("len(set(xs)) != len(xs)"),
            "xs has some repeated elements"
        );
        assert_eq!(
            was("len(set(xs)) == len(xs)"),
            "xs had no repeated elements"
        );
        assert_eq!(
            cl("len(set(xs)) == len(ys)"),
            "the number of distinct elements in xs equals the number of elements in ys"
        );
    }
}
