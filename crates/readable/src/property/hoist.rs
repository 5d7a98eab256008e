//! Hoisting: the calls of a check that become steps of their own (F8).

use testwright_source::tree::{Comparison, Expression, ExpressionKind};

use super::code::child_expressions;

/// Returns the calls that an expression evaluates in any case, innermost first. Known and unknown
/// calls are both returned.
///
/// `is_asked` is true if the expression stands as a condition. `define` gives the expression of a
/// local, which stands wherever its name does.
pub(super) fn unconditional_calls<'a>(
    expression: &'a Expression,
    is_asked: bool,
    define: &dyn Fn(&str) -> Option<&'a Expression>,
) -> Vec<&'a Expression> {
    let mut calls = Vec::new();
    collect_calls(expression, is_asked, define, &mut calls);
    calls
}

/// Appends the calls of an expression.
fn collect_calls<'a>(
    expression: &'a Expression,
    is_asked: bool,
    define: &dyn Fn(&str) -> Option<&'a Expression>,
    calls: &mut Vec<&'a Expression>,
) {
    let mut inside =
        |expression: &'a Expression, is_asked| collect_calls(expression, is_asked, define, calls);
    match &expression.kind {
        // Only the first operand is evaluated in any case, and so it is with chains of comparisons
        // and conditions.
        ExpressionKind::And(operands) | ExpressionKind::Or(operands) => {
            if let Some(first) = operands.first() {
                inside(first, is_asked);
            }
        }
        ExpressionKind::Conditional { condition, .. } => inside(condition, true),
        ExpressionKind::Compare { first, rest } => {
            let second = rest.first();
            inside(first, second.is_some_and(is_truth_value));
            if let Some((_, second)) = second {
                inside(second, false);
            }
        }
        ExpressionKind::Unary {
            operator: testwright_source::tree::UnaryOperator::Not,
            operand,
        } => {
            inside(operand, true);
        }
        ExpressionKind::Lambda { .. }
        | ExpressionKind::Comprehension { .. }
        | ExpressionKind::DictionaryComprehension { .. } => {}
        ExpressionKind::Name(name) => {
            if let Some(definition) = define(name) {
                inside(definition, is_asked);
            }
        }
        ExpressionKind::Call { .. } => {
            for child in child_expressions(expression) {
                inside(child, false);
            }
            // A call that stands as a condition is phrased as such (C31) and stays.
            if !is_asked && !calls.contains(&expression) {
                calls.push(expression);
            }
        }
        _ => child_expressions(expression)
            .into_iter()
            .for_each(|child| inside(child, false)),
    }
}

/// Returns true for a comparison with `True` or `False`, which makes its left side a condition
/// (C4).
fn is_truth_value((comparison, operand): &(Comparison, Expression)) -> bool {
    let compares = matches!(
        comparison,
        Comparison::Equal | Comparison::NotEqual | Comparison::Is | Comparison::IsNot
    );
    compares && matches!(operand.kind, ExpressionKind::Boolean(_))
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let check = tree::expression(text).expect("Python");
        let calls = unconditional_calls(&check, true, &|_| None);
        let calls: Vec<&str> = calls.iter().map(|call| &text[call.range.clone()]).collect();
        assert_eq!(calls, expected, "{text}");
    }

    #[test]
    fn f8_innermost_first_and_only_once() {
        check("g(f(x)) == h(y)", &["f(x)", "g(f(x))", "h(y)"]);
        check("f(x) == f(x)", &["f(x)"]);
        check("o.m(f(x)).n() > 1", &["f(x)", "o.m(f(x))", "o.m(f(x)).n()"]);
    }

    #[test]
    fn f8_and_trap_4_only_what_is_evaluated_in_any_case() {
        check("f(x) > 1 or g(x) > 1", &["f(x)"]);
        check("f(x) > 1 and g(x) > 1", &["f(x)"]);
        check("(f(x) if g(x) > 1 else h(x)) == 1", &["g(x)"]);
        check("f(x) < g(x) < h(x)", &["f(x)", "g(x)"]);
        check("all(f(x) > 1 for x in g(xs))", &[]);
        check("(lambda: f(1)) == x", &[]);
    }

    #[test]
    fn f8_a_call_that_is_asked_whether_it_holds_stays() {
        check("f(g(x))", &["g(x)"]);
        check("not f(x)", &[]);
        check("f(x) is True", &[]);
        check("f(x) == 1", &["f(x)"]);
    }
}
