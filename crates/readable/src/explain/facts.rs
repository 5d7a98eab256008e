//! Conditions that are known to be true or false on a path through an action.
//!
//! Terms carry the versions of state variables. So a fact about an old value says nothing about a
//! new one, and facts never have to be withdrawn because of a change.

use crate::term::{CallTarget, CallTerm, Comparison, NameRole, Term, Type};
use crate::value::PythonValue;

/// Maximum number of facts. Every path has its own facts, and a table of a thousand cases has as
/// many paths. A missing fact is never wrong: at worst a condition is written that could be left
/// out.
const MOST: usize = 200;

/// Conditions, each with its truth value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts(Vec<(Term, bool)>);

impl Facts {
    /// Adds a fact and its consequences: all parts of a true `and`, all parts of a false `or`.
    pub(crate) fn add(&mut self, condition: &Term, holds: bool) {
        match condition {
            Term::Not(inner) => return self.add(inner, !holds),
            Term::And(parts) if holds => parts.iter().for_each(|part| self.add(part, true)),
            Term::Or(parts) if !holds => parts.iter().for_each(|part| self.add(part, false)),
            Term::Compare { first, rest } if holds && rest.len() > 1 => {
                for pair in pairs(first, rest) {
                    self.add(&pair, true);
                }
            }
            _ => {}
        }
        let (atom, sign) = atom(condition);
        if self.0.len() < MOST {
            self.0.push((atom, sign == holds));
        }
    }

    /// Removes facts about objects, which an unknown call may have changed.
    pub(crate) fn forget_objects(&mut self) {
        let depends =
            |term: &Term| matches!(term, Term::Attribute { .. }) || term.is_unknown_call();
        self.0.retain(|(term, _)| !term.any(&depends));
    }

    /// Removes facts about a variable that was changed in an unknown way.
    pub(crate) fn forget_variable(&mut self, name: &str) {
        let mentions = |term: &Term| {
            matches!(term, Term::Reference(one)
                if one.name == name && matches!(one.role, NameRole::State { .. } | NameRole::Pool { .. }))
        };
        self.0.retain(|(term, _)| !term.any(&mentions));
    }

    /// Returns the truth value of a condition, if the facts decide it. Such a condition does not
    /// split a path again (Y6).
    pub(crate) fn decide(&self, condition: &Term) -> Option<bool> {
        match condition {
            Term::Value(value) => return value.truth(),
            Term::Not(inner) => return self.decide(inner).map(|holds| !holds),
            Term::And(parts) => return self.decide_all(parts, false),
            Term::Or(parts) => return self.decide_all(parts, true),
            Term::Compare { first, rest } if rest.len() > 1 => {
                return self.decide_all(&pairs(first, rest), false);
            }
            _ => {}
        }
        let (atom, sign) = atom(condition);
        if let Some((_, holds)) = self.0.iter().find(|(known, _)| *known == atom) {
            return Some(*holds == sign);
        }
        let decided = self.by_equality(&atom).or_else(|| self.by_bounds(&atom));
        decided.map(|holds| holds == sign)
    }

    /// Decides a connective whose result is `deciding` as soon as one part is.
    fn decide_all(&self, parts: &[Term], deciding: bool) -> Option<bool> {
        let known: Vec<Option<bool>> = parts.iter().map(|part| self.decide(part)).collect();
        if known.contains(&Some(deciding)) {
            return Some(deciding);
        }
        let all = known.iter().all(|one| *one == Some(!deciding));
        all.then_some(!deciding)
    }

    /// Decides by equality: a value that equals one literal does not equal another.
    fn by_equality(&self, asked: &Term) -> Option<bool> {
        let (subject, literal) = equality(asked)?;
        let differs = |(known, holds): &(Term, bool)| {
            *holds
                && equality(known)
                    .is_some_and(|(other, value)| other == subject && value != literal)
        };
        self.0.iter().any(differs).then_some(false)
    }

    /// Decides by bounds: a number that is at least 3 is not less than 2.
    fn by_bounds(&self, asked: &Term) -> Option<bool> {
        let (subject, asked) = bound(asked)?;
        let mut range = Interval::default();
        for (known, holds) in &self.0 {
            if let Some((other, bound)) = bound(known)
                && other == subject
            {
                range.narrow(if *holds { bound } else { bound.opposite()? });
            }
        }
        range.decides(asked)
    }

    /// Returns true if a dictionary is known to have no entry for a key, so that an assignment adds
    /// one (E10).
    pub(crate) fn says_absent(&self, key: &Term, dictionary: &Term) -> bool {
        let asked = Term::compare(key.clone(), Comparison::In, dictionary.clone());
        if self.decide(&asked) == Some(false) {
            return true;
        }
        // An empty dictionary has no entries.
        self.decide(dictionary) == Some(false)
    }
}

/// Returns the pairs of a chain of comparisons.
fn pairs(first: &Term, rest: &[(Comparison, Term)]) -> Vec<Term> {
    let mut left = first;
    let mut all = Vec::new();
    for (comparison, right) in rest {
        all.push(Term::compare(left.clone(), *comparison, right.clone()));
        left = right;
    }
    all
}

/// Returns a condition without negation, and false if it is the opposite.
fn atom(condition: &Term) -> (Term, bool) {
    match condition {
        Term::Not(inner) => {
            let (atom, sign) = atom(inner);
            (atom, !sign)
        }
        Term::Compare { first, rest } => match rest.as_slice() {
            [(comparison, second)] => comparison_atom(first, *comparison, second),
            _ => (condition.clone(), true),
        },
        // A collection is true if it is not empty.
        _ if condition.type_of().is_sized() => (at_least_one(condition), true),
        Term::Call(call) => match (&call.callee, call.arguments.as_slice()) {
            (CallTarget::Function { module: None, name }, [inner]) if name == "bool" => atom(inner),
            _ => (condition.clone(), true),
        },
        _ => (condition.clone(), true),
    }
}

fn at_least_one(collection: &Term) -> Term {
    let length = Term::call("len", vec![collection.clone()]);
    Term::compare(
        length,
        Comparison::GreaterOrEqual,
        PythonValue::integer(1).into(),
    )
}

fn comparison_atom(first: &Term, comparison: Comparison, second: &Term) -> (Term, bool) {
    let (first, comparison, second) = match (first, second) {
        (Term::Value(_), other) if other.as_value().is_none() => match flipped(comparison) {
            Some(flipped) => (other, flipped, first),
            None => (first, comparison, second),
        },
        _ => (first, comparison, second),
    };
    let is_empty = second
        .as_value()
        .is_some_and(|value| value.length() == Some(0));
    let (positive, sign) = match comparison {
        Comparison::NotEqual => (Comparison::Equal, false),
        Comparison::IsNot => (Comparison::Is, false),
        Comparison::NotIn => (Comparison::In, false),
        other => (other, true),
    };
    match positive {
        // `x == []` and `len(x) == 0` mean that there is not one element.
        Comparison::Equal if is_empty && first.type_of().is_sized() => (at_least_one(first), !sign),
        Comparison::Equal if is_length(first) && is_zero(second) => {
            let one = PythonValue::integer(1).into();
            let atom = Term::compare(first.clone(), Comparison::GreaterOrEqual, one);
            (atom, !sign)
        }
        // Nothing equals `None` but `None` itself.
        Comparison::Is if matches!(second.as_value(), Some(PythonValue::Nothing)) => (
            Term::compare(first.clone(), Comparison::Equal, second.clone()),
            sign,
        ),
        // `k in d.keys()` is `k in d`.
        Comparison::In => (
            Term::compare(first.clone(), positive, without_keys(second).clone()),
            sign,
        ),
        _ => (Term::compare(first.clone(), positive, second.clone()), sign),
    }
}

fn without_keys(collection: &Term) -> &Term {
    if let Term::Call(call) = collection
        && let CallTarget::Method { object, name } = &call.callee
        && name == "keys"
        && call.arguments.is_empty()
    {
        return object;
    }
    collection
}

fn flipped(comparison: Comparison) -> Option<Comparison> {
    Some(match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        Comparison::In | Comparison::NotIn => return None,
        same => same,
    })
}

fn is_length(term: &Term) -> bool {
    matches!(term, Term::Call(call)
        if matches!(&**call, CallTerm { callee: CallTarget::Function { module: None, name }, .. } if name == "len"))
}

fn is_zero(term: &Term) -> bool {
    term.as_value().and_then(PythonValue::as_integer) == Some(0)
}

/// Splits `subject == literal`.
fn equality(atom: &Term) -> Option<(&Term, &PythonValue)> {
    match atom {
        Term::Compare { first, rest } => match rest.as_slice() {
            [(Comparison::Equal, Term::Value(value))] => Some((first, value)),
            _ => None,
        },
        _ => None,
    }
}

/// A comparison of a subject with a number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    comparison: Comparison,
    number: f64,
}

impl Bound {
    /// Returns the negated bound, or `None` for an equality, whose negation has two ranges.
    fn opposite(self) -> Option<Bound> {
        let comparison = match self.comparison {
            Comparison::Less => Comparison::GreaterOrEqual,
            Comparison::LessOrEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessOrEqual,
            Comparison::GreaterOrEqual => Comparison::Less,
            _ => return None,
        };
        Some(Bound { comparison, ..self })
    }
}

fn bound(atom: &Term) -> Option<(&Term, Bound)> {
    let Term::Compare { first, rest } = atom else {
        return None;
    };
    let [(comparison, second)] = rest.as_slice() else {
        return None;
    };
    let number = match second.as_value()? {
        PythonValue::Integer(digits) => digits.parse().ok()?,
        PythonValue::Float(number) => number.0,
        _ => return None,
    };
    let is_ordered = matches!(
        comparison,
        Comparison::Equal
            | Comparison::Less
            | Comparison::LessOrEqual
            | Comparison::Greater
            | Comparison::GreaterOrEqual
    );
    let whole = is_length(first);
    let bound = match comparison {
        // Lengths are whole numbers.
        Comparison::Greater if whole => Bound {
            comparison: Comparison::GreaterOrEqual,
            number: number.floor() + 1.0,
        },
        Comparison::Less if whole => Bound {
            comparison: Comparison::LessOrEqual,
            number: number.ceil() - 1.0,
        },
        _ => Bound {
            comparison: *comparison,
            number,
        },
    };
    // A value that may not be a number may also be incomparable.
    let comparable = !matches!(first.type_of(), Type::Text | Type::List(_) | Type::Set(_));
    (is_ordered && comparable && !number.is_nan()).then_some((&**first, bound))
}

/// Range that a number may lie in.
#[derive(Debug, Clone, Copy)]
struct Interval {
    low: f64,
    low_is_inside: bool,
    high: f64,
    high_is_inside: bool,
}

impl Default for Interval {
    fn default() -> Self {
        Interval {
            low: f64::NEG_INFINITY,
            low_is_inside: true,
            high: f64::INFINITY,
            high_is_inside: true,
        }
    }
}

impl Interval {
    fn narrow(&mut self, bound: Bound) {
        let Bound { comparison, number } = bound;
        let from_below = matches!(
            comparison,
            Comparison::Greater | Comparison::GreaterOrEqual | Comparison::Equal
        );
        let from_above = matches!(
            comparison,
            Comparison::Less | Comparison::LessOrEqual | Comparison::Equal
        );
        let inside = !matches!(comparison, Comparison::Greater | Comparison::Less);
        if from_below && (number > self.low || (number == self.low && !inside)) {
            (self.low, self.low_is_inside) = (number, inside);
        }
        if from_above && (number < self.high || (number == self.high && !inside)) {
            (self.high, self.high_is_inside) = (number, inside);
        }
    }

    fn decides(self, asked: Bound) -> Option<bool> {
        let Bound { comparison, number } = asked;
        let all_above = self.low > number || (self.low == number && !self.low_is_inside);
        let all_below = self.high < number || (self.high == number && !self.high_is_inside);
        let none_above = self.high <= number;
        let none_below = self.low >= number;
        let (always, never) = match comparison {
            Comparison::Greater => (all_above, none_above),
            Comparison::GreaterOrEqual => (none_below, all_below),
            Comparison::Less => (all_below, none_below),
            Comparison::LessOrEqual => (none_above, all_above),
            Comparison::Equal => (none_above && none_below, all_above || all_below),
            _ => return None,
        };
        match (always, never) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;
    use crate::term::{NameReference, NameScope};

    struct Names;

    impl NameScope for Names {
        fn resolve_name(&self, name: &str) -> Option<Term> {
            let type_ = match name {
                "items" => Type::list(),
                "d" => Type::dictionary(),
                "len" => return None,
                _ => Type::Unknown,
            };
            let version = u32::from(name.ends_with('2'));
            let role = NameRole::State { version };
            let name = name.trim_end_matches('2');
            Some(NameReference::new(name, role).with_type(type_).into())
        }
    }

    fn term(text: &str) -> Term {
        let expression = tree::expression(text).expect("an expression");
        Term::from_expression(&expression, text, &Names)
    }

    #[track_caller]
    fn check(known: &str, asked: &str, expected: Option<bool>) {
        let mut facts = Facts::default();
        facts.add(&term(known), true);
        assert_eq!(facts.decide(&term(asked)), expected, "{known} / {asked}");
    }

    #[test]
    fn y6_the_same_condition_and_its_negation() {
        check("a == b", "a == b", Some(true));
        check("a == b", "a != b", Some(false));
        check("not a", "a", Some(false));
        check("a and b == 1", "b == 1", Some(true));
        check("not (a or b)", "b", Some(false));
        check("a or b", "b", None);
        check("a", "a or b", Some(true));
        check("a", "not a and b", Some(false));
        check("a", "a and b", None);
    }

    #[test]
    fn y6_membership_and_its_negation() {
        check("a in items", "a not in items", Some(false));
        check("a not in d", "a in d.keys()", Some(false));
        check("a in items", "b in items", None);
    }

    #[test]
    fn y6_equality_with_two_literals() {
        check("a == 1", "a == 2", Some(false));
        check("a == 'x'", "'y' == a", Some(false));
        check("a != 1", "a == 2", None);
        check("a is None", "a == 3", Some(false));
    }

    #[test]
    fn y6_contradictory_bounds() {
        check("a > 3", "a < 2", Some(false));
        check("a > 3", "a > 2", Some(true));
        check("a >= 3", "a == 3", None);
        check("a > 3", "a == 3", Some(false));
        check("0 < a < 3", "a >= 3", Some(false));
        check("not a < 3", "a >= 3", Some(true));
        check("len(items) > 0", "len(items) == 0", Some(false));
        check("items", "items == []", Some(false));
        check("len(items) < 1", "items", Some(false));
        check("len(items) < 3", "items", None);
    }

    #[test]
    fn y6_old_facts_say_nothing_of_new_values() {
        check("a == 1", "a2 == 1", None);
        check("a2 > 3", "a < 2", None);
    }

    #[test]
    fn e10_absence_is_read_through_connectives() {
        let absent = |known: &str, holds| {
            let mut facts = Facts::default();
            facts.add(&term(known), holds);
            facts.says_absent(&term("k"), &term("d"))
        };
        assert!(absent("k in d or a or b", false));
        assert!(absent("a and k not in d", true));
        assert!(absent("d", false));
        assert!(!absent("k in d and a", false));
        assert!(!absent("k in d2", false));
    }

    #[test]
    fn calls_may_change_what_is_known_of_objects() {
        let mut facts = Facts::default();
        facts.add(&term("a.b == 1"), true);
        facts.add(&term("a == 1"), true);
        facts.forget_objects();
        assert_eq!(facts.decide(&term("a.b == 1")), None);
        assert_eq!(facts.decide(&term("a == 1")), Some(true));
    }
}
