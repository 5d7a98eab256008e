//! Membership: `in` as a choice (C6), an entry (C7), a part of a text (C7b) or a member (C8).

use super::call::may_be_built_in;
use super::comparison::ComparedPair;
use super::{Phraser, Polarity};
use crate::term::{CallTarget, Comparison, Term, Type};
use crate::value::PythonValue;
use crate::words::Verb;

impl Phraser<'_> {
    /// Phrases `x in y` by the type of y (C6 to C8).
    pub(super) fn membership(&self, pair: ComparedPair<'_>) -> Option<String> {
        if pair.comparison != Comparison::In {
            return None;
        }
        let dictionary = keys_of(pair.right).unwrap_or(pair.right);
        if let Some(members) = literal_members(dictionary) {
            return Some(self.one_of(pair, &members));
        }
        let is_keys = !std::ptr::eq(dictionary, pair.right);
        if is_keys || matches!(pair.right.type_of(), Type::Dictionary(..)) {
            let key = self.noun(pair.left).text;
            let subject = self.noun(dictionary);
            let verb = Verb::Have.conjugate(subject.plural, Polarity::Positive, pair.tense);
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

    /// Phrases membership in listed values (C6: "is either A or B").
    fn one_of(&self, pair: ComparedPair<'_>, members: &[Term]) -> String {
        if members.is_empty() {
            let never = Term::Value(PythonValue::Boolean(false));
            return self.clause_in(&never, pair.polarity, pair.tense);
        }
        let subject = self.noun(pair.left);
        if let [only] = members {
            return self.is(pair, &subject, &self.noun(only).text);
        }
        let (either, or) = match pair.polarity {
            Polarity::Positive => ("either", "or"),
            Polarity::Negative => ("neither", "nor"),
        };
        let verb = Verb::Be.conjugate(subject.plural, Polarity::Positive, pair.tense);
        format!(
            "{} {verb} {either} {}",
            subject.text,
            self.enumeration(members, or)
        )
    }
}

/// Returns the members of a display or constant, in the order in which they are written.
fn literal_members(term: &Term) -> Option<Vec<Term>> {
    match term {
        Term::List(items) | Term::Tuple(items) | Term::Set(items)
            if !items.iter().any(|item| matches!(item, Term::Starred(_))) =>
        {
            Some(items.clone())
        }
        Term::Value(
            PythonValue::List(items)
            | PythonValue::Tuple(items)
            | PythonValue::Set(items)
            | PythonValue::FrozenSet(items),
        ) => Some(items.iter().cloned().map(Term::Value).collect()),
        Term::Value(PythonValue::Dictionary(entries)) => {
            Some(entries.iter().map(|(key, _)| key.clone().into()).collect())
        }
        _ => None,
    }
}

/// Returns the dictionary of `d.keys()`.
fn keys_of(term: &Term) -> Option<&Term> {
    match term {
        Term::Call(call) => match (&call.callee, call.arguments.as_slice()) {
            (CallTarget::Method { object, name }, [])
                if name == "keys" && may_be_built_in(object) =>
            {
                Some(object)
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::{cl, not, was, was_not};

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
        assert_eq!(
            cl("x in {'tea': 2, 'coffee': 3}"),
            "x is either \"tea\" or \"coffee\""
        );
        assert_eq!(cl("x not in {'tea': 2}.keys()"), "x is not \"tea\"");
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
}
