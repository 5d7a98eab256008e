//! Quantifiers: `all`, `any` and comprehensions as conditions (C25 to C27, C33: "for every", "for
//! some", "there is").

use super::length::argument_of;
use super::{Phraser, Polarity, Tense};
use crate::term::{CallTarget, Comparison, ForClause, Operator, Term, Type};
use crate::value::PythonValue;
use crate::words::Verb;

impl Phraser<'_> {
    /// Phrases `all` (C25: "for every v in X"; C27: over neighbors, an order of the whole).
    pub(super) fn all_clause(&self, argument: &Term, polarity: Polarity, tense: Tense) -> String {
        if let Some((x, order)) = ordered_sequence(argument) {
            let subject = self.noun(x);
            let verb = Verb::Be.conjugate(subject.plural, polarity, tense);
            return format!("{} {verb} in {order} order", subject.text);
        }
        let quantifier = if polarity == Polarity::Positive {
            "every"
        } else {
            "some"
        };
        self.quantified_clause(quantifier, argument, polarity, tense)
    }

    /// Phrases `any` (C26: "for some v in X").
    pub(super) fn any_clause(&self, argument: &Term, polarity: Polarity, tense: Tense) -> String {
        let quantifier = if polarity == Polarity::Positive {
            "some"
        } else {
            "every"
        };
        self.quantified_clause(quantifier, argument, polarity, tense)
    }

    /// Phrases a quantifier over a comprehension, or over the elements of a collection.
    fn quantified_clause(
        &self,
        quantifier: &str,
        argument: &Term,
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        match argument {
            Term::Comprehension {
                element, clauses, ..
            } => {
                let condition = self.clause_in(element, polarity, tense);
                format!(
                    "for {}, {condition}",
                    self.each_phrase(quantifier, clauses, tense)
                )
            }
            _ => {
                let x = self.noun(argument).text;
                let verb = Verb::Be.conjugate(false, Polarity::Positive, tense);
                let truth = polarity == Polarity::Positive;
                format!("{quantifier} element of {x} {verb} {truth}")
            }
        }
    }

    /// Phrases a comprehension as a condition (C33: "there is some v in X such that C").
    pub(super) fn existence_clause(
        &self,
        term: &Term,
        clauses: &[ForClause],
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        if clauses.iter().all(|clause| clause.conditions.is_empty()) {
            if let [clause] = clauses {
                return self.nonempty_clause(&clause.iterable, polarity, tense);
            }
            return self.truthiness_clause(&self.noun(term), &Type::list(), polarity, tense);
        }
        self.record_specific();
        let verb = Verb::Be.conjugate(false, Polarity::Positive, tense);
        let some = if polarity == Polarity::Positive {
            "some"
        } else {
            "no"
        };
        format!("there {verb} {}", self.each_phrase(some, clauses, tense))
    }

    /// Phrases that something that is iterated over has members, even if its type is not known.
    fn nonempty_clause(&self, term: &Term, polarity: Polarity, tense: Tense) -> String {
        let type_ = term.type_of();
        if type_.is_sized() {
            return self.clause_in(term, polarity, tense);
        }
        self.emptiness_clause(&self.noun(term), polarity.opposite(), tense)
    }
}

/// Returns the sequence whose neighbors are compared (C27), and the order that results.
fn ordered_sequence(argument: &Term) -> Option<(&Term, &'static str)> {
    let Term::Comprehension {
        element, clauses, ..
    } = argument
    else {
        return None;
    };
    let ([clause], Term::Compare { first, rest }) = (clauses.as_slice(), &**element) else {
        return None;
    };
    let [(comparison, second)] = rest.as_slice() else {
        return None;
    };
    if !clause.conditions.is_empty() {
        return None;
    }
    let pairs = neighbour_sequence(clause, first, second).map(|found| (found, *comparison));
    let (x, comparison) = pairs.or_else(|| {
        let found = neighbour_sequence(clause, second, first)?;
        Some((found, super::comparison::mirrored(*comparison)?))
    })?;
    let order = match comparison {
        Comparison::LessOrEqual => "ascending",
        Comparison::Less => "strictly ascending",
        Comparison::GreaterOrEqual => "descending",
        Comparison::Greater => "strictly descending",
        _ => return None,
    };
    Some((x, order))
}

/// Returns the sequence in which `one` is any element and `two` the next one.
fn neighbour_sequence<'t>(clause: &'t ForClause, one: &'t Term, two: &Term) -> Option<&'t Term> {
    zip_neighbours(clause, one, two).or_else(|| index_neighbours(clause, one, two))
}

/// Recognizes `for a, b in zip(x, x[1:])`.
fn zip_neighbours<'t>(clause: &'t ForClause, one: &Term, two: &Term) -> Option<&'t Term> {
    let Term::Call(call) = &clause.iterable else {
        return None;
    };
    let (CallTarget::Function { module: None, name }, [left, right]) =
        (&call.callee, call.arguments.as_slice())
    else {
        return None;
    };
    let [a, b] = clause.targets.as_slice() else {
        return None;
    };
    let Term::Slice {
        object,
        start: Some(start),
        stop: None,
        step: None,
    } = right
    else {
        return None;
    };
    let whole = match left {
        Term::Slice {
            object,
            start: None,
            stop: Some(stop),
            step: None,
        } if is_number(stop, -1) => object,
        _ => left,
    };
    let fits = name == "zip"
        && is_number(start, 1)
        && whole == &**object
        && is_variable(one, a)
        && is_variable(two, b);
    fits.then_some(whole)
}

/// Recognizes `x[i]` and `x[i + 1]`, or `x[i - 1]` and `x[i]`, over all positions.
fn index_neighbours<'t>(clause: &ForClause, one: &'t Term, two: &Term) -> Option<&'t Term> {
    let (
        Term::Item { object, index },
        Term::Item {
            object: other,
            index: next,
        },
    ) = (one, two)
    else {
        return None;
    };
    let [variable] = clause.targets.as_slice() else {
        return None;
    };
    if object != other {
        return None;
    }
    let (start, stop) = range_bounds(&clause.iterable)?;
    let length = |term: &Term| argument_of(term, "len").is_some_and(|counted| counted == &**object);
    // x[i] and x[i + 1] up to the last but one, or x[i - 1] and x[i] from the second on.
    let forward = is_variable(index, variable)
        && is_offset(next, variable, Operator::Add)
        && start == 0
        && matches!(stop, Term::Binary { left, operator: Operator::Subtract, right }
            if length(left) && is_number(right, 1));
    let backward = is_offset(index, variable, Operator::Subtract)
        && is_variable(next, variable)
        && start == 1
        && length(stop);
    (forward || backward).then_some(&**object)
}

/// Returns the bounds of a `range` that counts by one.
fn range_bounds(iterable: &Term) -> Option<(i128, &Term)> {
    let Term::Call(call) = iterable else {
        return None;
    };
    match (&call.callee, call.arguments.as_slice()) {
        (CallTarget::Function { module: None, name }, [stop]) if name == "range" => Some((0, stop)),
        (CallTarget::Function { module: None, name }, [start, stop]) if name == "range" => {
            Some((start.as_value()?.as_integer()?, stop))
        }
        _ => None,
    }
}

/// Returns true if a term is this number.
fn is_number(term: &Term, number: i64) -> bool {
    term.as_value()
        .is_some_and(|value| *value == PythonValue::integer(number))
}

/// Returns true if a term is the variable of this name.
fn is_variable(term: &Term, name: &str) -> bool {
    matches!(term, Term::Reference(reference) if reference.name == name)
}

/// Returns true for `name + 1` or `name - 1`.
fn is_offset(term: &Term, name: &str, sign: Operator) -> bool {
    matches!(term, Term::Binary { left, operator, right }
        if *operator == sign && is_variable(left, name) && is_number(right, 1))
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::{cl, not, was};

    #[test]
    fn c25_all() {
        assert_eq!(
            cl("all(i > 0 for i in xs)"),
            "for every i in xs, i is greater than 0"
        );
        assert_eq!(
            cl("all(i > 0 for i in xs if i != y)"),
            "for every i in xs such that i does not equal y, i is greater than 0"
        );
        assert_eq!(
            not("all(i > 0 for i in xs if i != y)"),
            "for some i in xs such that i does not equal y, i is at most 0"
        );
        assert_eq!(
            was("all([i > 0 for i in xs])"),
            "for every i in xs, i was greater than 0"
        );
        assert_eq!(
            cl("all(regs[k] not in xs for k in regs)"),
            "for every k in the regs, the entry for k in the regs is not in xs"
        );
        assert_eq!(
            cl("all(x for k, x in d.items())"),
            "for every k and x in the entries of d, x is set"
        );
        assert_eq!(cl("all(xs)"), "every element of xs is true");
    }

    #[test]
    fn c26_any() {
        assert_eq!(
            cl("any(i > 0 for i in xs)"),
            "for some i in xs, i is greater than 0"
        );
        assert_eq!(
            not("any(i > 0 for i in xs if i)"),
            "for every i in xs such that i is set, i is at most 0"
        );
    }

    #[test]
    fn c27_orders() {
        let in_pairs = |sign: &str| format!("all(a {sign} b for a, b in zip(xs, xs[1:]))");
        assert_eq!(cl(&in_pairs("<=")), "xs is in ascending order");
        assert_eq!(cl(&in_pairs("<")), "xs is in strictly ascending order");
        assert_eq!(cl(&in_pairs(">=")), "xs is in descending order");
        assert_eq!(
            not(&in_pairs(">")),
            "xs is not in strictly descending order"
        );
        assert_eq!(
            cl("all(b >= a for a, b in zip(xs, xs[1:]))"),
            "xs is in ascending order"
        );
        assert_eq!(
            cl("all(xs[i] <= xs[i + 1] for i in range(len(xs) - 1))"),
            "xs is in ascending order"
        );
        assert_eq!(
            cl("all(xs[i - 1] < xs[i] for i in range(1, len(xs)))"),
            "xs is in strictly ascending order"
        );
        assert_eq!(
            was("all(plates[i] <= plates[i + 1] for i in range(0, len(plates) - 1))"),
            "the plates were in ascending order"
        );
        // Not all neighbors.
        assert_eq!(
            cl("all(a <= b for a, b in zip(xs, ys[1:]))"),
            "for every a and b in the pairs of elements of xs and ys without its first element, a is at most b"
        );
    }

    #[test]
    fn c33_existence() {
        assert_eq!(
            cl("[i for i in xs if i > 1]"),
            "there is some i in xs such that i is greater than 1"
        );
        assert_eq!(
            not("[i for i in xs if i > 1]"),
            "there is no i in xs such that i is greater than 1"
        );
        assert_eq!(
            was("[i for i in xs if i > 1]"),
            "there was some i in xs such that i was greater than 1"
        );
        assert_eq!(cl("[i for i in xs]"), "xs is not empty");
    }
}
