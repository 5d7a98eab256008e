//! `and` and `or`, alone and with `not` and earlier values (C36 to C40).

use super::noun::MAX_REPEATED_SIZE;
use super::{Phraser, Polarity, Tense, join};
use crate::term::{Comparison, NameReference, NameRole, Term, is_class_name};

impl Phraser<'_> {
    /// Phrases `and` (C38: clauses joined by "and").
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

    /// Phrases `or` by the first rule that fits: an exception (C36), an implication (C37) or
    /// alternatives (C39).
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

    /// Phrases alternatives (C39: "either … or …").
    fn alternatives(&self, operands: &[&Term], polarity: Polarity, tense: Tense) -> String {
        let clauses = self.clauses(operands, polarity, tense);
        match polarity {
            _ if clauses.len() == 1 => clauses.concat(),
            Polarity::Positive => format!("either {}", join::clauses(&clauses, "or")),
            Polarity::Negative => join::clauses(&clauses, "and"),
        }
    }

    /// Phrases an exception (C36): what was so before the step exempts from what is so now.
    fn exception(&self, operands: &[&Term], polarity: Polarity, tense: Tense) -> Option<String> {
        let split = operands
            .iter()
            .position(|operand| is_only_earlier(operand))?;
        let (now, before) = operands.split_at(split);
        let all_before = before.iter().all(|operand| is_only_earlier(operand));
        // An operand that mentions nothing says nothing about the present either.
        if now.is_empty()
            || !all_before
            || !now.iter().all(|operand| mentions_current_value(operand))
        {
            return None;
        }
        let now = self.alternatives(now, polarity, tense);
        let before = self.alternatives(before, polarity, tense);
        Some(match polarity {
            Polarity::Positive => format!("{now}, unless {before}"),
            Polarity::Negative => join::clauses(&[now, before], "and"),
        })
    }

    /// Phrases an implication (C37: `not a or b` is "if a then b").
    fn implication(&self, operands: &[&Term], polarity: Polarity, tense: Tense) -> Option<String> {
        let (first, rest) = operands.split_first()?;
        if !is_negated(first) || rest.is_empty() || self.is_after_if {
            return None;
        }
        let condition = self.after_if().clause_in(first, Polarity::Negative, tense);
        let consequence = self.remaining_operands(rest, polarity, tense);
        Some(match polarity {
            Polarity::Positive => format!("if {condition} then {consequence}"),
            Polarity::Negative => join::clauses(&[condition, consequence], "but"),
        })
    }

    /// Phrases a conditional expression (C40: "if C then A, otherwise B"). With a constant side it
    /// is a plain connective.
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
            return self.clause_in(&connective.fold_constants(), polarity, tense);
        }
        if self.is_after_if && condition.size() <= MAX_REPEATED_SIZE {
            let sides = [(condition.clone(), then), (not(), otherwise)];
            let sides = sides.map(|(condition, side)| {
                let side = match polarity {
                    Polarity::Positive => side.clone(),
                    Polarity::Negative => Term::Not(Box::new(side.clone())),
                };
                Term::And(vec![condition, side])
            });
            return self.clause_in(&Term::Or(sides.to_vec()), Polarity::Positive, tense);
        }
        let condition = self
            .after_if()
            .clause_in(condition, Polarity::Positive, tense);
        let (then, otherwise) = (
            self.clause_in(then, polarity, tense),
            self.clause_in(otherwise, polarity, tense),
        );
        format!("if {condition} then {then}, otherwise {otherwise}")
    }

    /// Phrases the operands after the condition of an implication.
    fn remaining_operands(&self, operands: &[&Term], polarity: Polarity, tense: Tense) -> String {
        self.exception(operands, polarity, tense)
            .or_else(|| self.implication(operands, polarity, tense))
            .unwrap_or_else(|| self.alternatives(operands, polarity, tense))
    }

    /// Phrases several terms with the same polarity and tense.
    fn clauses(&self, terms: &[&Term], polarity: Polarity, tense: Tense) -> Vec<String> {
        terms
            .iter()
            .map(|term| self.clause_in(term, polarity, tense))
            .collect()
    }
}

/// Flattens nested connectives of the same kind.
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

/// Returns true for `not a`, `x not in y`, `x != y` and `x is not y`.
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

/// Returns true if a term mentions variables, all of them as they were before the step.
pub(super) fn is_only_earlier(term: &Term) -> bool {
    term.any(&|term| matches!(term, Term::Earlier(_))) && !mentions_current_value(term)
}

/// Returns true if a term mentions a variable as it is after the step.
fn mentions_current_value(term: &Term) -> bool {
    match term {
        Term::Earlier(_) => false,
        // Classes do not change; any other name may be a variable.
        Term::Reference(NameReference { role, name, .. }) => {
            *role != NameRole::Global || !is_class_name(name)
        }
        _ => term.children().into_iter().any(mentions_current_value),
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
        // With the operands swapped there is no exception.
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
