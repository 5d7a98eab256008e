//! Which calls of a check are made visible as steps of their own (F8).

use testwright_source::tree::{Comparison, Expression, ExpressionKind};

use super::code::children;

/// The calls that an expression evaluates whatever happens, innermost first. Whether they are unknown is not looked at.
///
/// `is_asked` says whether the expression is a check, or something that a check is about. `define` tells what a local was assigned, for its expression stands wherever its name does.
pub(super) fn unconditional<'a>(
    expression: &'a Expression,
    is_asked: bool,
    define: &dyn Fn(&str) -> Option<&'a Expression>,
) -> Vec<&'a Expression> {
    let mut calls = Vec::new();
    collect(expression, is_asked, define, &mut calls);
    calls
}

fn collect<'a>(
    expression: &'a Expression,
    is_asked: bool,
    define: &dyn Fn(&str) -> Option<&'a Expression>,
    calls: &mut Vec<&'a Expression>,
) {
    let mut inside =
        |expression: &'a Expression, is_asked| collect(expression, is_asked, define, calls);
    match &expression.kind {
        // Only the first operand is evaluated in any case; so it is with chains of comparisons and with conditions.
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
            for child in children(expression) {
                inside(child, false);
            }
            // A call that is itself asked whether it holds is said as such (C31).
            if !is_asked && !calls.contains(&expression) {
                calls.push(expression);
            }
        }
        _ => children(expression)
            .into_iter()
            .for_each(|child| inside(child, false)),
    }
}

/// `== True` and the like ask what is before them whether it holds (C4).
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
        let calls = unconditional(&check, true, &|_| None);
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
