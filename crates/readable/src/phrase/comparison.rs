//! Comparisons (C2 to C8, C10 to C24), in the order in which they are tried.

use super::call::{may_be_built_in, sorted_argument};
use super::length::counted;
use super::{Noun, Polarity, Speaker, Tense, join};
use crate::term::{Call, Callee, Comparison, Operator, Term, Type};
use crate::value::Value;
use crate::words::Verb;

/// One comparison, without a "not" in its sign.
#[derive(Clone, Copy)]
pub(super) struct Pair<'t> {
    pub(super) left: &'t Term,
    pub(super) comparison: Comparison,
    pub(super) right: &'t Term,
    pub(super) polarity: Polarity,
    pub(super) tense: Tense,
}

impl Speaker<'_> {
    pub(super) fn comparison(
        &self,
        first: &Term,
        rest: &[(Comparison, Term)],
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        if let [(comparison, right)] = rest {
            return self.pair(Pair::new(first, *comparison, right, polarity, tense));
        }
        if let [(lower, x), (upper, limit)] = rest
            && let Some(clause) = self.between(first, *lower, x, *upper, limit, polarity, tense)
        {
            return clause;
        }
        if rest.len() > 1
            && rest
                .iter()
                .all(|(comparison, _)| *comparison == Comparison::Equal)
        {
            return self.all_equal(first, rest, polarity, tense);
        }
        // C24
        let mut left = first;
        let mut pairs = Vec::with_capacity(rest.len());
        for (comparison, right) in rest {
            pairs.push(Term::compare(left.clone(), *comparison, right.clone()));
            left = right;
        }
        self.conjunction(&pairs, polarity, tense)
    }

    fn pair(&self, pair: Pair<'_>) -> String {
        let pair = pair.literal_last();
        let rules = [
            Self::against_nothing,
            Self::against_truth,
            Self::identity,
            Self::membership,
            Self::difference,
            Self::divisibility,
            Self::length,
            Self::order_of_elements,
            Self::against_literal,
            Self::round_trip,
            Self::subsets,
        ];
        rules
            .iter()
            .find_map(|rule| rule(self, pair))
            .unwrap_or_else(|| self.plain(pair))
    }

    /// A subject, its verb and whatever follows.
    fn with_verb(&self, pair: Pair<'_>, subject: &Noun, verb: Verb, rest: &str) -> String {
        format!(
            "{} {} {rest}",
            subject.text,
            verb.form(subject.plural, pair.polarity, pair.tense)
        )
    }

    fn is(&self, pair: Pair<'_>, subject: &Noun, rest: &str) -> String {
        self.with_verb(pair, subject, Verb::Be, rest)
    }

    /// C3.
    fn against_nothing(&self, pair: Pair<'_>) -> Option<String> {
        let is_equality = matches!(pair.comparison, Comparison::Is | Comparison::Equal);
        if !is_equality || pair.right.as_value() != Some(&Value::Nothing) {
            return None;
        }
        let subject = self.noun(pair.left);
        let verb = Verb::Have.form(subject.plural, Polarity::Positive, pair.tense);
        let article = if pair.polarity == Polarity::Positive {
            "no"
        } else {
            "a"
        };
        Some(format!("{} {verb} {article} value", subject.text))
    }

    /// C4.
    fn against_truth(&self, pair: Pair<'_>) -> Option<String> {
        let (Comparison::Is | Comparison::Equal, Some(Value::Boolean(truth))) =
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
            return Some(self.say(pair.left, polarity, pair.tense));
        }
        Some(self.bare(&self.noun(pair.left), &Type::Boolean, polarity, pair.tense))
    }

    /// C5.
    fn identity(&self, pair: Pair<'_>) -> Option<String> {
        (pair.comparison == Comparison::Is).then(|| {
            let other = format!("the very same object as {}", self.noun(pair.right).text);
            self.is(pair, &self.noun(pair.left), &other)
        })
    }

    /// C6 to C8.
    fn membership(&self, pair: Pair<'_>) -> Option<String> {
        if pair.comparison != Comparison::In {
            return None;
        }
        if let Some(members) = members(pair.right) {
            return Some(self.one_of(pair, &members));
        }
        let dictionary = keys_of(pair.right).unwrap_or(pair.right);
        let is_keys = !std::ptr::eq(dictionary, pair.right);
        if is_keys || matches!(pair.right.type_of(), Type::Dictionary(..)) {
            let key = self.noun(pair.left).text;
            let subject = self.noun(dictionary);
            let verb = Verb::Have.form(subject.plural, Polarity::Positive, pair.tense);
            let article = if pair.polarity == Polarity::Positive {
                "an"
            } else {
                "no"
            };
            return Some(format!("{} {verb} {article} entry for {key}", subject.text));
        }
        if pair.right.type_of() == Type::Text {
            let subject = self.noun(pair.right);
            return Some(self.with_verb(pair, &subject, Verb::Contain, &self.noun(pair.left).text));
        }
        Some(self.is(
            pair,
            &self.noun(pair.left),
            &format!("in {}", self.noun(pair.right).text),
        ))
    }

    /// C6.
    fn one_of(&self, pair: Pair<'_>, members: &[Term]) -> String {
        if members.is_empty() {
            let never = Term::Value(Value::Boolean(false));
            return self.say(&never, pair.polarity, pair.tense);
        }
        let subject = self.noun(pair.left);
        if let [only] = members {
            return self.is(pair, &subject, &self.noun(only).text);
        }
        let (either, or) = match pair.polarity {
            Polarity::Positive => ("either", "or"),
            Polarity::Negative => ("neither", "nor"),
        };
        let verb = Verb::Be.form(subject.plural, Polarity::Positive, pair.tense);
        format!(
            "{} {verb} {either} {}",
            subject.text,
            self.enumeration(members, or)
        )
    }

    /// C10, C11.
    fn divisibility(&self, pair: Pair<'_>) -> Option<String> {
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
        let is_two = divisor.as_value().and_then(Value::as_integer) == Some(2);
        match (is_two, remainder) {
            (true, 0 | 1) => {
                let is_even = (remainder == 0) == (pair.polarity == Polarity::Positive);
                let subject = self.noun(x);
                let verb = Verb::Be.form(subject.plural, Polarity::Positive, pair.tense);
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

    /// C12 to C14.
    fn length(&self, pair: Pair<'_>) -> Option<String> {
        let counted = counted(pair.left)?;
        if let Some(number) = pair.right.as_value() {
            let comparison = pair.effective()?;
            return self.length_against(&counted, comparison, number, pair.tense);
        }
        if pair.comparison != Comparison::Equal {
            return None;
        }
        self.lengths(pair.left, pair.right, pair.polarity, pair.tense)
    }

    /// C15, C16.
    fn order_of_elements(&self, pair: Pair<'_>) -> Option<String> {
        if pair.comparison != Comparison::Equal {
            return None;
        }
        match (sorted_argument(pair.left), sorted_argument(pair.right)) {
            (Some((one, false)), Some((two, false))) => {
                let (x, y) = (self.noun(one), self.noun(two).text);
                let anyhow = if pair.polarity == Polarity::Positive {
                    ", in any order"
                } else {
                    ""
                };
                Some(self.with_verb(
                    pair,
                    &x,
                    Verb::Have,
                    &format!("the same elements as {y}{anyhow}"),
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

    fn sortedness(
        &self,
        pair: Pair<'_>,
        sorted: &Term,
        descending: bool,
        whole: &Term,
    ) -> Option<String> {
        let is_same = uncopied(sorted) == uncopied(whole);
        is_same.then(|| {
            let order = if descending {
                "in descending order"
            } else {
                "in sorted order"
            };
            self.is(pair, &self.noun(whole), order)
        })
    }

    /// C17, C18.
    fn against_literal(&self, pair: Pair<'_>) -> Option<String> {
        let value = pair.right.as_value()?;
        if pair.comparison != Comparison::Equal {
            return None;
        }
        let subject = self.noun(pair.left);
        if value.length() == Some(0) && !matches!(value, Value::Range { .. }) {
            return Some(self.emptiness(&subject, pair.polarity, pair.tense));
        }
        Some(self.is(pair, &subject, &self.notation(value)))
    }

    /// C19.
    fn round_trip(&self, pair: Pair<'_>) -> Option<String> {
        if pair.comparison != Comparison::Equal {
            return None;
        }
        let (f, g, x) = there_and_back(pair.left, pair.right)
            .or_else(|| there_and_back(pair.right, pair.left))?;
        let x = self.noun(x).text;
        let verb = Verb::Give.form(false, pair.polarity, pair.tense);
        let (f, g) = (self.words(f), self.words(g));
        Some(format!(
            "applying \"{f}\" and then \"{g}\" to {x} {verb} {x} back"
        ))
    }

    /// Sets are not in a row: what is not a subset need not be a larger set, so C21 would say something false.
    fn subsets(&self, pair: Pair<'_>) -> Option<String> {
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
        Some(self.subset(smaller, larger, proper, pair.polarity, pair.tense))
    }

    /// C20, C21.
    fn plain(&self, pair: Pair<'_>) -> String {
        let subject = self.noun(pair.left);
        let other = self.noun(pair.right).text;
        match pair.effective().and_then(relation) {
            Some(relation) => {
                let verb = Verb::Be.form(subject.plural, Polarity::Positive, pair.tense);
                format!("{} {verb} {relation} {other}", subject.text)
            }
            None => self.with_verb(pair, &subject, Verb::Equal, &other),
        }
    }

    /// C22.
    #[allow(
        clippy::too_many_arguments,
        reason = "they are the parts of `a < x <= b`, and how to say it"
    )]
    fn between(
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
        let (lower, upper) = (relation(lower)?, relation(upper)?);
        let (low, x, high) = (self.noun(low).text, self.noun(x), self.noun(high).text);
        let verb = Verb::Be.form(x.plural, Polarity::Positive, tense);
        Some(format!(
            "{} {verb} {lower} {low} {and} {upper} {high}",
            x.text
        ))
    }

    /// C23.
    fn all_equal(
        &self,
        first: &Term,
        rest: &[(Comparison, Term)],
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        let operands: Vec<String> = std::iter::once(first)
            .chain(rest.iter().map(|(_, operand)| operand))
            .map(|operand| join::operand(&self.noun(operand).text))
            .collect();
        let verb = Verb::Be.form(true, polarity, tense);
        format!("{} {verb} all equal", join::nouns(&operands, "and"))
    }
}

impl<'t> Pair<'t> {
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

    /// C2: a literal goes to the right.
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

    /// The comparison that holds, the polarity being taken into it; nothing for membership and identity.
    pub(super) fn effective(self) -> Option<Comparison> {
        mirrored(self.comparison).filter(|comparison| *comparison != Comparison::Is)?;
        Some(match self.polarity {
            Polarity::Positive => self.comparison,
            Polarity::Negative => opposite(self.comparison),
        })
    }
}

/// The comparison that says the same with its sides swapped.
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

/// The comparison that holds when this one does not; orders are taken to be total.
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

/// C21.
pub(super) fn relation(comparison: Comparison) -> Option<&'static str> {
    match comparison {
        Comparison::Less => Some("less than"),
        Comparison::LessOrEqual => Some("at most"),
        Comparison::Greater => Some("greater than"),
        Comparison::GreaterOrEqual => Some("at least"),
        _ => None,
    }
}

/// The members of a display or constant, in the order in which they are written.
fn members(term: &Term) -> Option<Vec<Term>> {
    match term {
        Term::List(items) | Term::Tuple(items) | Term::Set(items)
            if !items.iter().any(|item| matches!(item, Term::Starred(_))) =>
        {
            Some(items.clone())
        }
        Term::Value(
            Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items),
        ) => Some(items.iter().cloned().map(Term::Value).collect()),
        _ => None,
    }
}

/// The dictionary of `d.keys()`.
fn keys_of(term: &Term) -> Option<&Term> {
    match term {
        Term::Call(call) => match (&call.callee, call.arguments.as_slice()) {
            (Callee::Method { object, name }, []) if name == "keys" && may_be_built_in(object) => {
                Some(object)
            }
            _ => None,
        },
        _ => None,
    }
}

/// What is left of a term without the copies that are made of it.
fn uncopied(term: &Term) -> &Term {
    match term {
        Term::Call(call) => call.copied().map_or(term, uncopied),
        _ => term,
    }
}

/// f, g and x of `g(f(x)) == x`.
fn there_and_back<'t>(call: &'t Term, other: &'t Term) -> Option<(&'t str, &'t str, &'t Term)> {
    let (g, inner) = unknown_function(call)?;
    let (f, x) = unknown_function(inner)?;
    (x == other).then_some((f, g, x))
}

fn unknown_function(term: &Term) -> Option<(&str, &Term)> {
    let Term::Call(call) = term else {
        return None;
    };
    let call: &Call = call;
    match (&call.callee, call.arguments.as_slice()) {
        (Callee::Function { name, .. }, [argument])
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
    fn c6_one_of() {
        assert_eq!(cl("x in [1, 2]"), "x is either 1 or 2");
        assert_eq!(cl("x in (1, y, 3)"), "x is either 1, y or 3");
        assert_eq!(cl("x in NAMES"), "x is either \"a\" or \"b\"");
        assert_eq!(not("x in [1, 2]"), "x is neither 1 nor 2");
        assert_eq!(cl("x not in {3, 2, 1}"), "x is neither 3, 2 nor 1");
        assert_eq!(cl("x in [1]"), "x is 1");
        assert_eq!(not("x in ['a']"), "x is not \"a\"");
        assert_eq!(was_not("x in [1, 2]"), "x was neither 1 nor 2");
        assert_eq!(cl("x in []"), "this is never so");
    }

    #[test]
    fn c7_entries() {
        assert_eq!(cl("k in d"), "d has an entry for k");
        assert_eq!(not("k in d.keys()"), "d has no entry for k");
        assert_eq!(
            cl("pid in regs"),
            "the regs have an entry for the given pid"
        );
        assert_eq!(was("k in d"), "d had an entry for k");
        assert_eq!(was_not("k in regs"), "the regs had no entry for k");
    }

    #[test]
    fn c7b_contains() {
        assert_eq!(cl("t in s"), "s contains t");
        assert_eq!(not("'a' in s"), "s does not contain \"a\"");
        assert_eq!(was("t in s"), "s contained t");
        assert_eq!(was_not("t in s"), "s did not contain t");
        assert_eq!(cl("x in 'abc'"), "\"abc\" contains x");
    }

    #[test]
    fn c8_in() {
        assert_eq!(cl("x in xs"), "x is in xs");
        assert_eq!(cl("x not in y"), "x is not in y");
        assert_eq!(was("x in xs"), "x was in xs");
        assert_eq!(
            cl("pid in regs.values()"),
            "the given pid is in the values of the regs"
        );
        assert_eq!(cl("x in range(1, 5)"), "x is in the numbers from 1 to 4");
    }

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
