//! Lengths and counts: `len` as a noun (P18, P19, P32) and in comparisons (C12 to C14).

use super::part::units;
use super::{Noun, Polarity, Speaker, Tense, join};
use crate::term::{Call, Callee, Comparison, Form, Term};
use crate::value::Value;
use crate::words::Verb;

/// What `len` is asked for, as far as it has words of its own.
pub(super) enum Counted<'t> {
    /// The members of something.
    Members(&'t Term),
    /// `set(x)`: those of x that differ.
    Distinct(&'t Term),
    /// A comprehension with a condition: those that meet it.
    Selected(&'t Term),
}

impl Call {
    /// The only argument of a function of this name.
    pub(super) fn only_argument(&self, function: &str) -> Option<&Term> {
        match (&self.callee, self.arguments.as_slice()) {
            (Callee::Function { module: None, name }, [argument])
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

/// The argument of `function(x)`.
pub(super) fn argument_of<'t>(term: &'t Term, function: &str) -> Option<&'t Term> {
    match term {
        Term::Call(call) => call.only_argument(function),
        _ => None,
    }
}

/// What `len` counts in `len(…)`.
pub(super) fn counted(term: &Term) -> Option<Counted<'_>> {
    let mut inner = argument_of(term, "len")?;
    while let Term::Call(call) = inner
        && let Some(copied) = call.copied()
    {
        inner = copied;
    }
    if let Some(argument) = argument_of(inner, "set").or_else(|| argument_of(inner, "frozenset")) {
        return Some(Counted::Distinct(argument));
    }
    Some(match inner {
        Term::Comprehension {
            form: Form::List | Form::Generator,
            clauses,
            ..
        } => match clauses.as_slice() {
            [clause] if !clause.conditions.is_empty() => Counted::Selected(inner),
            [clause] => Counted::Members(&clause.iterable),
            _ => Counted::Members(inner),
        },
        _ => Counted::Members(inner),
    })
}

impl Speaker<'_> {
    /// P18, P19, P32.
    pub(super) fn count(&self, counted: &Counted<'_>) -> Noun {
        Noun::one(match counted {
            Counted::Members(inner) => {
                let unit = units(inner.type_of().unit(), true);
                format!("the number of {unit} in {}", self.noun(inner).text)
            }
            Counted::Distinct(inner) => format!(
                "the number of distinct elements in {}",
                self.noun(inner).text
            ),
            Counted::Selected(inner) => self.selected(inner),
        })
    }

    /// "the number of elements v of X such that C".
    pub(super) fn selected(&self, comprehension: &Term) -> String {
        let Term::Comprehension { clauses, .. } = comprehension else {
            return self.noun(comprehension).text;
        };
        let clauses: Vec<String> = clauses
            .iter()
            .map(|clause| {
                let condition = self.such_that(clause, Tense::Present).unwrap_or_default();
                let (names, iterable) = (
                    self.names(&clause.targets),
                    self.noun(&clause.iterable).text,
                );
                format!("{names} of {iterable}{condition}")
            })
            .collect();
        format!("the number of elements {}", join::nouns(&clauses, "and"))
    }

    /// C12.
    pub(super) fn length_against(
        &self,
        counted: &Counted<'_>,
        comparison: Comparison,
        number: &Value,
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
            (Counted::Members(inner) | Counted::Distinct(inner), Some(polarity)) => {
                Some(self.emptiness(&self.noun(inner), polarity, tense))
            }
            (Counted::Selected(inner), Some(polarity)) => {
                Some(self.say(inner, polarity.opposite(), tense))
            }
            (Counted::Members(inner), None) => {
                let unit = units(inner.type_of().unit(), limit != 1);
                let subject = self.noun(inner);
                let verb = |polarity| Verb::Have.form(subject.plural, polarity, tense);
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
            (Counted::Distinct(_) | Counted::Selected(_), None) => None,
        }
    }

    /// "X is empty".
    pub(super) fn emptiness(&self, subject: &Noun, polarity: Polarity, tense: Tense) -> String {
        format!(
            "{} {} empty",
            subject.text,
            Verb::Be.form(subject.plural, polarity, tense)
        )
    }

    /// C13, C14.
    pub(super) fn lengths(
        &self,
        left: &Term,
        right: &Term,
        polarity: Polarity,
        tense: Tense,
    ) -> Option<String> {
        match (counted(left)?, counted(right)?) {
            (Counted::Members(one), Counted::Members(two)) => {
                let subject = self.noun(one);
                let verb = Verb::Have.form(subject.plural, polarity, tense);
                let unit = units(one.type_of().unit(), true);
                Some(format!(
                    "{} {verb} exactly as many {unit} as {}",
                    subject.text,
                    self.noun(two).text
                ))
            }
            (Counted::Distinct(distinct), Counted::Members(all))
            | (Counted::Members(all), Counted::Distinct(distinct))
                if distinct == all =>
            {
                let subject = self.noun(all);
                let verb = Verb::Have.form(subject.plural, Polarity::Positive, tense);
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
