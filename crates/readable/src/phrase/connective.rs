//! `and`, `or` and what they mean together with `not` and earlier values (C36 to C39).

use super::noun::LARGEST_SAID_TWICE;
use super::{Polarity, Speaker, Tense, join};
use crate::term::{Comparison, Reference, Role, Term, is_class_name};

impl Speaker<'_> {
    /// C38.
    pub(super) fn conjunction(
        &self,
        operands: &[Term],
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        let mut flat = Vec::new();
        flatten(operands, &mut flat, &|term| match term {
            Term::And(operands) => Some(operands),
            _ => None,
        });
        let clauses = self.clauses(&flat, polarity, tense);
        match polarity {
            Polarity::Positive => join::clauses(&clauses, "and"),
            Polarity::Negative => format!("either {}", join::clauses(&clauses, "or")),
        }
    }

    /// C36, C37, C39.
    pub(super) fn disjunction(
        &self,
        operands: &[Term],
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        let mut flat = Vec::new();
        flatten(operands, &mut flat, &|term| match term {
            Term::Or(operands) => Some(operands),
            _ => None,
        });
        self.exception(&flat, polarity, tense)
            .or_else(|| self.implication(&flat, polarity, tense))
            .unwrap_or_else(|| self.alternatives(&flat, polarity, tense))
    }

    /// C39.
    fn alternatives(&self, operands: &[&Term], polarity: Polarity, tense: Tense) -> String {
        let clauses = self.clauses(operands, polarity, tense);
        match polarity {
            _ if clauses.len() == 1 => clauses.concat(),
            Polarity::Positive => format!("either {}", join::clauses(&clauses, "or")),
            Polarity::Negative => join::clauses(&clauses, "and"),
        }
    }

    /// C36: what was so before the step is the exception from what is so now.
    fn exception(&self, operands: &[&Term], polarity: Polarity, tense: Tense) -> Option<String> {
        let split = operands.iter().position(|operand| is_earlier(operand))?;
        let (now, before) = operands.split_at(split);
        let all_before = before.iter().all(|operand| is_earlier(operand));
        // What mentions nothing at all is no statement about now either.
        if now.is_empty() || !all_before || !now.iter().all(|operand| speaks_of_now(operand)) {
            return None;
        }
        let now = self.alternatives(now, polarity, tense);
        let before = self.alternatives(before, polarity, tense);
        Some(match polarity {
            Polarity::Positive => format!("{now}, unless {before}"),
            Polarity::Negative => join::clauses(&[now, before], "and"),
        })
    }

    /// C37.
    fn implication(&self, operands: &[&Term], polarity: Polarity, tense: Tense) -> Option<String> {
        let (first, rest) = operands.split_first()?;
        if !is_negated(first) || rest.is_empty() || self.behind_if {
            return None;
        }
        let condition = self.behind_if().say(first, Polarity::Negative, tense);
        let consequence = self.rest(rest, polarity, tense);
        Some(match polarity {
            Polarity::Positive => format!("if {condition} then {consequence}"),
            Polarity::Negative => join::clauses(&[condition, consequence], "but"),
        })
    }

    /// C40. With a constant side it is a plain connective.
    pub(super) fn choice(
        &self,
        [condition, then, otherwise]: [&Term; 3],
        polarity: Polarity,
        tense: Tense,
    ) -> String {
        let not = || Term::Not(Box::new(condition.clone()));
        let connective = match (then.truth(), otherwise.truth()) {
            (_, Some(true)) => Some(Term::Or(vec![not(), then.clone()])),
            (_, Some(false)) => Some(Term::And(vec![condition.clone(), then.clone()])),
            (Some(true), _) => Some(Term::Or(vec![condition.clone(), otherwise.clone()])),
            (Some(false), _) => Some(Term::And(vec![not(), otherwise.clone()])),
            (None, None) => None,
        };
        if let Some(connective) = connective {
            return self.say(&connective.folded(), polarity, tense);
        }
        if self.behind_if && condition.size() <= LARGEST_SAID_TWICE {
            let sides = [(condition.clone(), then), (not(), otherwise)];
            let sides = sides.map(|(condition, side)| {
                let side = match polarity {
                    Polarity::Positive => side.clone(),
                    Polarity::Negative => Term::Not(Box::new(side.clone())),
                };
                Term::And(vec![condition, side])
            });
            return self.say(&Term::Or(sides.to_vec()), Polarity::Positive, tense);
        }
        let condition = self.behind_if().say(condition, Polarity::Positive, tense);
        let (then, otherwise) = (
            self.say(then, polarity, tense),
            self.say(otherwise, polarity, tense),
        );
        format!("if {condition} then {then}, otherwise {otherwise}")
    }

    fn rest(&self, operands: &[&Term], polarity: Polarity, tense: Tense) -> String {
        self.exception(operands, polarity, tense)
            .or_else(|| self.implication(operands, polarity, tense))
            .unwrap_or_else(|| self.alternatives(operands, polarity, tense))
    }

    fn clauses(&self, terms: &[&Term], polarity: Polarity, tense: Tense) -> Vec<String> {
        terms
            .iter()
            .map(|term| self.say(term, polarity, tense))
            .collect()
    }
}

/// The operands of nested connectives of the same kind.
fn flatten<'t>(
    terms: &'t [Term],
    flat: &mut Vec<&'t Term>,
    nested: &dyn Fn(&'t Term) -> Option<&'t Vec<Term>>,
) {
    for term in terms {
        match nested(term) {
            Some(inner) => flatten(inner, flat, nested),
            None => flat.push(term),
        }
    }
}

/// `not a`, `x not in y`, `x != y`, `x is not y`.
fn is_negated(term: &Term) -> bool {
    match term {
        Term::Not(_) => true,
        Term::Compare { rest, .. } => {
            matches!(
                rest.as_slice(),
                [(
                    Comparison::NotIn | Comparison::NotEqual | Comparison::IsNot,
                    _
                )]
            )
        }
        _ => false,
    }
}

/// Whether a term mentions variables, and all of them only as they were before the step.
pub(super) fn is_earlier(term: &Term) -> bool {
    term.any(&|term| matches!(term, Term::Earlier(_))) && !speaks_of_now(term)
}

/// Whether a term mentions a variable as it is after the step.
fn speaks_of_now(term: &Term) -> bool {
    match term {
        Term::Earlier(_) => false,
        // Classes do not change; any other name may be a variable.
        Term::Reference(Reference { role, name, .. }) => {
            *role != Role::Global || !is_class_name(name)
        }
        _ => term.children().into_iter().any(speaks_of_now),
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::{cl, not, was};

    #[test]
    fn c36_unless() {
        assert_eq!(
            cl("x in xs or pre(y in ys)"),
            "x is in xs, unless y was in ys before the step"
        );
        assert_eq!(
            not("x in xs or pre(y in ys)"),
            "x is not in xs and y was not in ys before the step"
        );
        assert_eq!(
            cl("len(xs) == pre(len(xs)) + 1 or not pre(y in ys)"),
            "the number of elements in xs is one more than before, unless y was not in ys before the step"
        );
        assert_eq!(
            cl("x in xs or x in ys or pre(y in ys)"),
            "either x is in xs or x is in ys, unless y was in ys before the step"
        );
        // The other way round there is no exception.
        assert_eq!(
            cl("pre(y in ys) or x in xs"),
            "either y was in ys before the step or x is in xs"
        );
        assert_eq!(
            cl("pre(y in ys) or pre(x in xs)"),
            "either y was in ys before the step or x was in xs before the step"
        );
    }

    #[test]
    fn c37_if_then() {
        assert_eq!(cl("not flag or x in xs"), "if flag is true then x is in xs");
        assert_eq!(cl("x not in xs or flag"), "if x is in xs then flag is true");
        assert_eq!(cl("x != y or flag"), "if x equals y then flag is true");
        assert_eq!(
            cl("x is not None or flag"),
            "if x has no value then flag is true"
        );
        assert_eq!(
            not("not flag or x in xs"),
            "flag is true but x is not in xs"
        );
        assert_eq!(
            not("not (flag and x) or y in ys"),
            "flag is true and x is set, but y is not in ys"
        );
        assert_eq!(
            cl("not flag or x in xs or y in ys"),
            "if flag is true then either x is in xs or y is in ys"
        );
        assert_eq!(
            was("not flag or x in xs"),
            "if flag was true then x was in xs"
        );
        assert_eq!(
            cl("not pre(flag) or x in xs"),
            "if flag was true before the step then x is in xs"
        );
    }

    #[test]
    fn c38_and() {
        assert_eq!(cl("flag and x in xs"), "flag is true and x is in xs");
        assert_eq!(
            cl("flag and x in xs and y in ys"),
            "flag is true, x is in xs and y is in ys"
        );
        assert_eq!(
            not("flag and x in xs"),
            "either flag is false or x is not in xs"
        );
        assert_eq!(
            cl("flag and (x in xs or y in ys)"),
            "flag is true, and either x is in xs or y is in ys"
        );
        assert_eq!(
            cl("flag and (x in xs and y in ys)"),
            "flag is true, x is in xs and y is in ys"
        );
    }

    #[test]
    fn c39_or() {
        assert_eq!(cl("flag or x in xs"), "either flag is true or x is in xs");
        assert_eq!(
            cl("flag or x in xs or y in ys"),
            "either flag is true, x is in xs or y is in ys"
        );
        assert_eq!(not("flag or x in xs"), "flag is false and x is not in xs");
        assert_eq!(
            cl("flag or x in xs and y in ys"),
            "either flag is true, or x is in xs and y is in ys"
        );
    }

    #[test]
    fn c40_conditional() {
        assert_eq!(
            cl("flag if x in xs else y in ys"),
            "if x is in xs then flag is true, otherwise y is in ys"
        );
        assert_eq!(
            not("flag if x in xs else y in ys"),
            "if x is in xs then flag is false, otherwise y is not in ys"
        );
    }

    #[test]
    fn c40_with_a_constant_side_is_a_connective() {
        assert_eq!(
            cl("flag if x in xs else True"),
            "if x is in xs then flag is true"
        );
        assert_eq!(
            not("flag if x in xs else True"),
            "x is in xs but flag is false"
        );
        assert_eq!(
            cl("flag if x in xs else False"),
            "x is in xs and flag is true"
        );
        assert_eq!(
            cl("True if x in xs else flag"),
            "either x is in xs or flag is true"
        );
        assert_eq!(
            cl("False if x in xs else flag"),
            "x is not in xs and flag is true"
        );
        assert_eq!(cl("True if x in xs else False"), "x is in xs");
    }

    #[test]
    fn behind_if_there_is_no_other_if() {
        use crate::phrase::testing::condition;
        assert_eq!(
            condition("x not in xs or flag"),
            "either x is not in xs or flag is true"
        );
        assert_eq!(
            condition("not flag or x in xs"),
            "either flag is false or x is in xs"
        );
        assert_eq!(
            condition("flag if x in xs else y in ys"),
            "either x is in xs and flag is true, or x is not in xs and y is in ys"
        );
        assert_eq!(
            cl("not (not flag or x in xs) or y in ys"),
            "if either flag is false or x is in xs then y is in ys"
        );
        assert_eq!(
            condition("x in xs or pre(flag)"),
            "x is in xs, unless flag was true before the step"
        );
    }

    #[test]
    fn joining_looks_outside_quotation_marks() {
        assert_eq!(cl("s == 'a, b' and flag"), "s is \"a, b\" and flag is true");
        assert_eq!(
            cl("x in ['a', 'b'] and flag"),
            "x is either \"a\" or \"b\", and flag is true"
        );
    }
}
