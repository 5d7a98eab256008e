//! Assertion methods of `unittest` as the conditions that they check.

use testwright_source::tree::{Comparison, Expression, ExpressionKind, UnaryOperator};

/// Returns true if a call is one of `self.assert…`.
pub(super) fn is_check(function: &Expression) -> bool {
    matches!(function.dotted_parts().as_deref(), Some(["self", name]) if name.starts_with("assert"))
}

/// Returns the condition that an assertion method checks, or nothing for rare methods. Its range is
/// that of the call.
pub(super) fn checked_condition(name: &str, call: &Expression) -> Option<Expression> {
    let ExpressionKind::Call { arguments, .. } = &call.kind else {
        return None;
    };
    let compared = |comparison: Comparison| match arguments.as_slice() {
        [first, second, ..] => Some(ExpressionKind::Compare {
            first: Box::new(first.clone()),
            rest: vec![(comparison, second.clone())],
        }),
        _ => None,
    };
    let nothing = |comparison: Comparison| {
        Some(ExpressionKind::Compare {
            first: Box::new(arguments.first()?.clone()),
            rest: vec![(
                comparison,
                Expression {
                    range: call.range.clone(),
                    kind: ExpressionKind::None,
                },
            )],
        })
    };
    let kind = match name {
        "assertFalse" => Some(ExpressionKind::Unary {
            operator: UnaryOperator::Not,
            operand: Box::new(arguments.first()?.clone()),
        }),
        "assertEqual"
        | "assertListEqual"
        | "assertDictEqual"
        | "assertSetEqual"
        | "assertTupleEqual"
        | "assertSequenceEqual"
        | "assertMultiLineEqual" => compared(Comparison::Equal),
        "assertNotEqual" => compared(Comparison::NotEqual),
        "assertIs" => compared(Comparison::Is),
        "assertIsNot" => compared(Comparison::IsNot),
        "assertIn" => compared(Comparison::In),
        "assertNotIn" => compared(Comparison::NotIn),
        "assertLess" => compared(Comparison::Less),
        "assertLessEqual" => compared(Comparison::LessOrEqual),
        "assertGreater" => compared(Comparison::Greater),
        "assertGreaterEqual" => compared(Comparison::GreaterOrEqual),
        "assertIsNone" => nothing(Comparison::Is),
        "assertIsNotNone" => nothing(Comparison::IsNot),
        _ => None,
    };
    Some(Expression {
        range: call.range.clone(),
        kind: kind?,
    })
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;

    #[test]
    fn checks_ask_what_they_are_called() {
        for (call, asked) in [
            ("self.assertEqual(a, f(b))", "a == f(b)"),
            ("self.assertFalse(a)", "not a"),
            ("self.assertNotIn(a, b, 'why')", "a not in b"),
            ("self.assertIsNone(a)", "a is None"),
        ] {
            let call = tree::expression(call).expect("a call");
            let ExpressionKind::Call { function, .. } = &call.kind else {
                panic!("no call");
            };
            assert!(is_check(function));
            let name = function.dotted_parts().expect("a name")[1];
            assert_eq!(checked_condition(name, &call), tree::expression(asked).ok());
        }
        let other = tree::expression("self.assertCountEqual(a, b)").expect("a call");
        assert_eq!(checked_condition("assertCountEqual", &other), None);
    }
}
