//! The checks of `unittest`, as what they ask.

use testwright_source::tree::{Comparison, Expression, ExpressionKind, UnaryOperator};

/// Whether a call is one of `self.assert…`.
pub(super) fn is_check(function: &Expression) -> bool {
    matches!(function.dotted().as_deref(), Some(["self", name]) if name.starts_with("assert"))
}

/// What a check asks, as an expression; nothing if it is one of the rare ones. Its text is still that of the call.
pub(super) fn check(name: &str, call: &Expression) -> Option<Expression> {
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
            let name = function.dotted().expect("a name")[1];
            assert_eq!(check(name, &call), tree::expression(asked).ok());
        }
        let other = tree::expression("self.assertCountEqual(a, b)").expect("a call");
        assert_eq!(check("assertCountEqual", &other), None);
    }
}
