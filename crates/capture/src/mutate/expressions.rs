//! Mutants of expressions.

use testwright_source::tree::{
    Comparison, ComprehensionClause, Expression, ExpressionKind, FStringPiece, Operator, Parameter,
    UnaryOperator,
};

use super::MutantKind;
use super::constants::{self, TEXT_PREFIX};
use super::exclusions;
use super::finder::MutantFinder;
use super::operators;

impl MutantFinder<'_> {
    /// Adds the mutants of a condition.
    pub(super) fn visit_condition(&mut self, condition: &Expression) {
        let has_opposite = match &condition.kind {
            // The operator has an opposite already, and so has a constant.
            ExpressionKind::Compare { rest, .. } => rest.len() == 1,
            ExpressionKind::Unary { operator, .. } => *operator == UnaryOperator::Not,
            ExpressionKind::Boolean(_) => true,
            _ => false,
        };
        if !has_opposite {
            let negated = format!("not ({})", self.source(&condition.range));
            self.add(MutantKind::Condition, condition.range.clone(), &negated);
        }
        // `while 1` means the same with 2.
        if has_opposite || !constants::is_literal(&condition.kind) {
            self.visit_expression(condition);
        }
    }

    /// Adds the mutants of an expression and its parts.
    pub(super) fn visit_expression(&mut self, expression: &Expression) {
        let range = &expression.range;
        match &expression.kind {
            ExpressionKind::None => self.add(MutantKind::Constant, range.clone(), "0"),
            ExpressionKind::Boolean(is_true) => {
                let other = if *is_true { "False" } else { "True" };
                self.add(MutantKind::Constant, range.clone(), other);
            }
            ExpressionKind::Integer(digits) => self.mutate_integer(expression, digits),
            ExpressionKind::Float(number) => {
                for change in [1.0, -1.0] {
                    if let Some(other) = constants::changed_float(*number, change) {
                        self.add(MutantKind::Number, range.clone(), &other);
                    }
                }
            }
            ExpressionKind::Text(_) | ExpressionKind::Bytes(_) => self.add_to_text(expression),
            ExpressionKind::FormattedText(pieces) => {
                self.add_to_text(expression);
                for piece in pieces {
                    if let FStringPiece::Value(value) = piece {
                        self.visit_expression(value);
                    }
                }
            }
            ExpressionKind::List(items)
            | ExpressionKind::Tuple(items)
            | ExpressionKind::Set(items) => {
                items.iter().for_each(|item| self.visit_expression(item))
            }
            ExpressionKind::Dictionary(entries) => {
                for (key, value) in entries {
                    key.iter().for_each(|key| self.visit_expression(key));
                    self.visit_expression(value);
                }
            }
            ExpressionKind::Attribute { object, .. } => self.visit_expression(object),
            ExpressionKind::Subscript { object, index } => {
                self.visit_expression(object);
                if !exclusions::is_literal(object) {
                    self.mutate_index(index);
                }
            }
            ExpressionKind::Slice { .. } => self.mutate_index(expression),
            ExpressionKind::Call {
                function,
                arguments,
                keywords,
            } => {
                self.visit_expression(function);
                let names = usize::from(exclusions::is_naming_function(function));
                let positions = arguments.iter().skip(names);
                let named = keywords.iter().map(|keyword| &keyword.value);
                positions
                    .chain(named)
                    .for_each(|value| self.visit_expression(value));
            }
            ExpressionKind::Unary { operator, operand } => {
                self.mutate_unary(*operator, expression);
                self.visit_expression(operand);
            }
            ExpressionKind::Binary {
                left,
                operator,
                right,
            } => self.mutate_binary(left, *operator, right),
            ExpressionKind::And(operands) => self.mutate_boolean_chain(operands, "or"),
            ExpressionKind::Or(operands) => self.mutate_boolean_chain(operands, "and"),
            ExpressionKind::Compare { first, rest } => self.mutate_comparison(first, rest),
            ExpressionKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.visit_condition(condition);
                self.visit_expression(then);
                self.visit_expression(otherwise);
            }
            ExpressionKind::Lambda { parameters, body } => {
                self.visit_defaults(parameters);
                self.visit_expression(body);
            }
            ExpressionKind::Comprehension {
                element, clauses, ..
            } => {
                self.visit_expression(element);
                self.visit_clauses(clauses);
            }
            ExpressionKind::DictionaryComprehension {
                key,
                value,
                clauses,
            } => {
                key.iter().for_each(|key| self.visit_expression(key));
                self.visit_expression(value);
                self.visit_clauses(clauses);
            }
            ExpressionKind::Starred(value)
            | ExpressionKind::Named { value, .. }
            | ExpressionKind::Await(value)
            | ExpressionKind::Yield(Some(value))
            | ExpressionKind::YieldFrom(value) => self.visit_expression(value),
            ExpressionKind::Name(_)
            | ExpressionKind::Ellipsis
            | ExpressionKind::Imaginary(_)
            | ExpressionKind::Yield(None)
            | ExpressionKind::Other => {}
        }
    }

    /// Adds the mutants of parameters' defaults.
    fn visit_defaults(&mut self, parameters: &[Parameter]) {
        let defaults = parameters.iter().filter_map(|found| found.default.as_ref());
        defaults.for_each(|default| self.visit_expression(default));
    }

    /// Adds the mutants of the clauses of a comprehension.
    fn visit_clauses(&mut self, clauses: &[ComprehensionClause]) {
        for clause in clauses {
            self.visit_expression(&clause.iterable);
            for condition in &clause.conditions {
                self.visit_condition(condition);
            }
        }
    }

    /// Adds the mutants of an integer literal.
    fn mutate_integer(&mut self, expression: &Expression, digits: &str) {
        let range = &expression.range;
        for change in [1, -1] {
            if self.redundant_changes.contains(&(range.start, change)) {
                continue;
            }
            if let Some(other) = constants::changed_integer(self.source(range), digits, change) {
                self.add(MutantKind::Number, range.clone(), &other);
            }
        }
    }

    /// Adds the mutant of a text with a prefix.
    fn add_to_text(&mut self, expression: &Expression) {
        let range = &expression.range;
        if let Some(inside) = constants::content_offset(self.source(range)) {
            let position = range.start + inside;
            self.add(MutantKind::Text, position..position, TEXT_PREFIX);
        }
    }

    /// Adds the mutant of a unary operator.
    fn mutate_unary(&mut self, operator: UnaryOperator, expression: &Expression) {
        let start = expression.range.start;
        match operator {
            UnaryOperator::Not => {
                let behind = self.source(&expression.range).get(3..).unwrap_or_default();
                let blanks = behind.len() - behind.trim_start_matches(' ').len();
                self.add(MutantKind::Boolean, start..start + 3 + blanks, "");
            }
            UnaryOperator::Minus => self.add(MutantKind::Arithmetic, start..start + 1, "+"),
            UnaryOperator::Plus => self.add(MutantKind::Arithmetic, start..start + 1, "-"),
            UnaryOperator::Invert => self.add(MutantKind::Arithmetic, start..start + 1, ""),
        }
    }

    /// Adds the mutants of a binary operation.
    fn mutate_binary(&mut self, left: &Expression, operator: Operator, right: &Expression) {
        // Nothing can be subtracted from a text, so such a mutant fails wherever it is reached.
        let is_hopeless = constants::is_sequence(&left.kind) || constants::is_sequence(&right.kind);
        let gap = left.range.end..right.range.start;
        if !is_hopeless && let Some(position) = operators::find_operator(self.text(), gap) {
            self.add(
                MutantKind::Arithmetic,
                position,
                operators::operator_replacement(operator),
            );
        }
        self.visit_expression(left);
        self.visit_expression(right);
    }

    /// Adds the mutants of `and` and `or`.
    fn mutate_boolean_chain(&mut self, operands: &[Expression], other: &str) {
        for pair in operands.windows(2) {
            let [left, right] = pair else { continue };
            let gap = left.range.end..right.range.start;
            if let Some(position) = operators::find_operator(self.text(), gap) {
                self.add(MutantKind::Boolean, position, other);
            }
        }
        operands
            .iter()
            .for_each(|operand| self.visit_expression(operand));
    }

    /// Adds the mutants of a chain of comparisons.
    fn mutate_comparison(&mut self, first: &Expression, rest: &[(Comparison, Expression)]) {
        let mut left = first;
        let mut pairs = Vec::new();
        for (comparison, right) in rest {
            let gap = left.range.end..right.range.start;
            if let Some(position) = operators::find_operator(self.text(), gap) {
                let (kind, others) = operators::comparison_replacements(*comparison);
                for other in others {
                    self.add(kind, position.clone(), other);
                }
            }
            self.mark_redundant(*comparison, left, right);
            pairs.push((*comparison, right));
            left = right;
        }
        self.visit_expression(first);
        for (comparison, right) in pairs {
            // `is not None` is a mutant already, and `is 0` is no meaningful test.
            let is_identity = matches!(comparison, Comparison::Is | Comparison::IsNot);
            if !(is_identity && constants::is_literal(&right.kind)) {
                self.visit_expression(right);
            }
        }
    }

    /// Marks changes of numbers that equal a change of the comparison: for integers, `x > 2` is `x
    /// >= 3`.
    fn mark_redundant(&mut self, comparison: Comparison, left: &Expression, right: &Expression) {
        let change = match comparison {
            Comparison::Less | Comparison::GreaterOrEqual => 1,
            Comparison::LessOrEqual | Comparison::Greater => -1,
            _ => return,
        };
        for (side, change) in [(left, -change), (right, change)] {
            match &side.kind {
                ExpressionKind::Integer(_) => {
                    self.redundant_changes.push((side.range.start, change))
                }
                ExpressionKind::Unary {
                    operator: UnaryOperator::Minus,
                    operand,
                } => self.redundant_changes.push((operand.range.start, -change)),
                _ => {}
            }
        }
    }

    /// Adds the mutants of the expression in square brackets.
    fn mutate_index(&mut self, index: &Expression) {
        match &index.kind {
            ExpressionKind::Slice { start, stop, step } => {
                for (bound, change) in [(start, "+ 1"), (stop, "- 1")] {
                    let Some(bound) = bound else { continue };
                    // Numbers in the bound are changed by one themselves.
                    if !has_number(bound) {
                        self.add_shifted(bound, change);
                    }
                    self.visit_expression(bound);
                }
                step.iter().for_each(|step| self.visit_expression(step));
            }
            ExpressionKind::Tuple(parts) => parts.iter().for_each(|part| self.mutate_index(part)),
            ExpressionKind::Name(name) if self.is_integer(name) => self.add_shifted(index, "+ 1"),
            _ => self.visit_expression(index),
        }
    }

    /// Adds the mutant of a bound that is one off.
    fn add_shifted(&mut self, bound: &Expression, change: &str) {
        let written = self.source(&bound.range);
        let is_simple = matches!(
            bound.kind,
            ExpressionKind::Name(_)
                | ExpressionKind::Attribute { .. }
                | ExpressionKind::Call { .. }
                | ExpressionKind::Subscript { .. }
        );
        let moved = if is_simple {
            format!("{written} {change}")
        } else {
            format!("({written}) {change}")
        };
        self.add(MutantKind::Index, bound.range.clone(), &moved);
    }
}

/// Returns true if a bound contains a number, as `3`, `-3` and `i + 3` do, so that changing the
/// number changes the bound. `None` is no bound.
fn has_number(bound: &Expression) -> bool {
    match &bound.kind {
        ExpressionKind::Integer(_) | ExpressionKind::None => true,
        ExpressionKind::Unary { operand, .. } => has_number(operand),
        ExpressionKind::Binary {
            operator: Operator::Add | Operator::Subtract,
            left,
            right,
        } => has_number(left) || has_number(right),
        _ => false,
    }
}
