//! Translation of the parser's tree to ours.

use ruff_python_ast as ast;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::{
    Alias, Class, Comparison, ComprehensionClause, ComprehensionKind, Expression, ExpressionKind,
    FStringPiece, Function, Handler, Keyword, MatchCase, Operator, Parameter, ParameterKind,
    Pattern, Statement, StatementKind, UnaryOperator, docstring,
};
use crate::Range;
use crate::parse::{Tree, shift_range};

/// Translates one tree.
pub(super) struct TreeConverter {
    /// The offset of the parsed part in the caller's text.
    pub(super) offset: usize,
}

impl TreeConverter {
    /// Creates a translator for a tree.
    pub(super) fn new(tree: &Tree) -> Self {
        Self {
            offset: tree.offset(),
        }
    }

    /// Returns the range of a node in the caller's text.
    fn range(&self, node: &impl Ranged) -> Range {
        shift_range(node.range(), self.offset)
    }

    /// Translates statements.
    pub(super) fn statements(&self, body: &[Stmt]) -> Vec<Statement> {
        body.iter()
            .filter_map(|statement| self.statement(statement))
            .collect()
    }

    fn statement(&self, statement: &Stmt) -> Option<Statement> {
        Some(Statement {
            range: self.range(statement),
            kind: self.statement_kind(statement)?,
        })
    }

    /// Translates a statement. Returns `None` for notebook escapes, which are not Python and which
    /// the parser only reads when asked to.
    fn statement_kind(&self, statement: &Stmt) -> Option<StatementKind> {
        Some(match statement {
            Stmt::FunctionDef(node) => StatementKind::Function(Box::new(self.function(node))),
            Stmt::ClassDef(node) => StatementKind::Class(Box::new(self.class(node))),
            Stmt::Return(node) => {
                StatementKind::Return(self.optional_expression(node.value.as_deref()))
            }
            Stmt::Delete(node) => StatementKind::Delete(self.expressions(&node.targets)),
            Stmt::TypeAlias(node) => StatementKind::TypeAlias {
                name: self.expression(&node.name),
                value: self.expression(&node.value),
            },
            Stmt::Assign(node) => StatementKind::Assign {
                targets: self.expressions(&node.targets),
                value: self.expression(&node.value),
            },
            Stmt::AugAssign(node) => StatementKind::Augmented {
                target: self.expression(&node.target),
                operator: operator(node.op),
                value: self.expression(&node.value),
            },
            Stmt::AnnAssign(node) => StatementKind::Annotated {
                target: self.expression(&node.target),
                annotation: self.expression(&node.annotation),
                value: self.optional_expression(node.value.as_deref()),
            },
            Stmt::For(node) => StatementKind::For {
                is_async: node.is_async,
                target: self.expression(&node.target),
                iterable: self.expression(&node.iter),
                body: self.statements(&node.body),
                otherwise: self.statements(&node.orelse),
            },
            Stmt::While(node) => StatementKind::While {
                condition: self.expression(&node.test),
                body: self.statements(&node.body),
                otherwise: self.statements(&node.orelse),
            },
            Stmt::If(node) => StatementKind::If {
                condition: self.expression(&node.test),
                body: self.statements(&node.body),
                otherwise: self.otherwise(&node.elif_else_clauses),
            },
            Stmt::With(node) => StatementKind::With {
                is_async: node.is_async,
                items: self.managers(&node.items),
                body: self.statements(&node.body),
            },
            Stmt::Match(node) => StatementKind::Match {
                subject: self.expression(&node.subject),
                cases: node.cases.iter().map(|case| self.case(case)).collect(),
            },
            Stmt::Raise(node) => StatementKind::Raise {
                exception: self.optional_expression(node.exc.as_deref()),
                cause: self.optional_expression(node.cause.as_deref()),
            },
            Stmt::Try(node) => StatementKind::Try {
                body: self.statements(&node.body),
                handlers: self.handlers(&node.handlers),
                otherwise: self.statements(&node.orelse),
                finally: self.statements(&node.finalbody),
            },
            Stmt::Assert(node) => StatementKind::Assert {
                condition: self.expression(&node.test),
                message: self.optional_expression(node.msg.as_deref()),
            },
            Stmt::Import(node) => StatementKind::Import(aliases(&node.names)),
            Stmt::ImportFrom(node) => StatementKind::ImportFrom {
                module: node.module.as_ref().map(ToString::to_string),
                names: aliases(&node.names),
                level: node.level,
            },
            Stmt::Global(node) => StatementKind::Global(identifiers(&node.names)),
            Stmt::Nonlocal(node) => StatementKind::Nonlocal(identifiers(&node.names)),
            Stmt::Expr(node) => StatementKind::Expression(self.expression(&node.value)),
            Stmt::Pass(_) => StatementKind::Pass,
            Stmt::Break(_) => StatementKind::Break,
            Stmt::Continue(_) => StatementKind::Continue,
            Stmt::IpyEscapeCommand(_) => return None,
        })
    }

    fn function(&self, node: &ast::StmtFunctionDef) -> Function {
        let body = self.statements(&node.body);
        Function {
            name: node.name.to_string(),
            is_async: node.is_async,
            yields: contains_yield(&node.body),
            decorators: self.decorators(&node.decorator_list),
            parameters: self.parameters(&node.parameters),
            returns: self.optional_expression(node.returns.as_deref()),
            docstring: docstring(&body),
            body,
        }
    }

    fn class(&self, node: &ast::StmtClassDef) -> Class {
        let body = self.statements(&node.body);
        let arguments = node.arguments.as_deref();
        Class {
            name: node.name.to_string(),
            decorators: self.decorators(&node.decorator_list),
            bases: arguments.map_or_else(Vec::new, |all| self.expressions(&all.args)),
            keywords: arguments.map_or_else(Vec::new, |all| self.keywords(&all.keywords)),
            docstring: docstring(&body),
            body,
        }
    }

    fn decorators(&self, decorators: &[ast::Decorator]) -> Vec<Expression> {
        decorators
            .iter()
            .map(|decorator| self.expression(&decorator.expression))
            .collect()
    }

    fn parameters(&self, parameters: &ast::Parameters) -> Vec<Parameter> {
        let with_default = |kind| {
            move |node: &ast::ParameterWithDefault| {
                self.parameter(&node.parameter, kind, node.default.as_deref())
            }
        };
        let bare = |kind| move |node: &ast::Parameter| self.parameter(node, kind, None);
        let mut all = Vec::new();
        all.extend(
            parameters
                .posonlyargs
                .iter()
                .map(with_default(ParameterKind::PositionalOnly)),
        );
        all.extend(
            parameters
                .args
                .iter()
                .map(with_default(ParameterKind::Normal)),
        );
        all.extend(
            parameters
                .vararg
                .as_deref()
                .map(bare(ParameterKind::Variadic)),
        );
        all.extend(
            parameters
                .kwonlyargs
                .iter()
                .map(with_default(ParameterKind::KeywordOnly)),
        );
        all.extend(
            parameters
                .kwarg
                .as_deref()
                .map(bare(ParameterKind::KeywordVariadic)),
        );
        all
    }

    fn parameter(
        &self,
        node: &ast::Parameter,
        kind: ParameterKind,
        default: Option<&Expr>,
    ) -> Parameter {
        Parameter {
            name: node.name.to_string(),
            kind,
            annotation: self.optional_expression(node.annotation.as_deref()),
            default: self.optional_expression(default),
        }
    }

    /// Translates the clauses after an `if` to the statements of its `else`.
    fn otherwise(&self, clauses: &[ast::ElifElseClause]) -> Vec<Statement> {
        // From the last to the first, not by recursion: a text may have thousands of them.
        let mut otherwise = Vec::new();
        for clause in clauses.iter().rev() {
            let body = self.statements(&clause.body);
            otherwise = match &clause.test {
                None => body,
                Some(test) => vec![Statement {
                    range: self.range(clause),
                    kind: StatementKind::If {
                        condition: self.expression(test),
                        body,
                        otherwise,
                    },
                }],
            };
        }
        otherwise
    }

    fn managers(&self, items: &[ast::WithItem]) -> Vec<(Expression, Option<Expression>)> {
        items
            .iter()
            .map(|item| {
                let manager = self.expression(&item.context_expr);
                (
                    manager,
                    self.optional_expression(item.optional_vars.as_deref()),
                )
            })
            .collect()
    }

    fn handlers(&self, handlers: &[ast::ExceptHandler]) -> Vec<Handler> {
        handlers
            .iter()
            .map(|ast::ExceptHandler::ExceptHandler(node)| Handler {
                exception: self.optional_expression(node.type_.as_deref()),
                name: node.name.as_ref().map(ToString::to_string),
                body: self.statements(&node.body),
            })
            .collect()
    }

    fn case(&self, case: &ast::MatchCase) -> MatchCase {
        MatchCase {
            pattern: self.pattern(&case.pattern),
            guard: self.optional_expression(case.guard.as_deref()),
            body: self.statements(&case.body),
        }
    }

    fn patterns(&self, patterns: &[ast::Pattern]) -> Vec<Pattern> {
        patterns
            .iter()
            .map(|pattern| self.pattern(pattern))
            .collect()
    }

    fn pattern(&self, pattern: &ast::Pattern) -> Pattern {
        match pattern {
            ast::Pattern::MatchValue(node) => Pattern::Value(self.expression(&node.value)),
            ast::Pattern::MatchSingleton(node) => Pattern::Value(Expression {
                range: self.range(node),
                kind: match node.value {
                    ast::Singleton::None => ExpressionKind::None,
                    ast::Singleton::True => ExpressionKind::Boolean(true),
                    ast::Singleton::False => ExpressionKind::Boolean(false),
                },
            }),
            ast::Pattern::MatchSequence(node) => Pattern::Sequence(self.patterns(&node.patterns)),
            ast::Pattern::MatchMapping(node) => Pattern::Mapping {
                entries: self
                    .expressions(&node.keys)
                    .into_iter()
                    .zip(self.patterns(&node.patterns))
                    .collect(),
                rest: node.rest.as_ref().map(ToString::to_string),
            },
            ast::Pattern::MatchClass(node) => Pattern::Class {
                class: self.expression(&node.cls),
                positions: self.patterns(&node.arguments.patterns),
                keywords: node
                    .arguments
                    .keywords
                    .iter()
                    .map(|keyword| (keyword.attr.to_string(), self.pattern(&keyword.pattern)))
                    .collect(),
            },
            ast::Pattern::MatchStar(node) => {
                Pattern::Star(node.name.as_ref().map(ToString::to_string))
            }
            ast::Pattern::MatchAs(node) => Pattern::As {
                pattern: node
                    .pattern
                    .as_deref()
                    .map(|inner| Box::new(self.pattern(inner))),
                name: node.name.as_ref().map(ToString::to_string),
            },
            ast::Pattern::MatchOr(node) => Pattern::Or(self.patterns(&node.patterns)),
        }
    }

    fn expressions(&self, expressions: &[Expr]) -> Vec<Expression> {
        expressions
            .iter()
            .map(|expression| self.expression(expression))
            .collect()
    }

    /// Translates an optional expression.
    fn optional_expression(&self, expression: Option<&Expr>) -> Option<Expression> {
        expression.map(|expression| self.expression(expression))
    }

    fn boxed_expression(&self, expression: &Expr) -> Box<Expression> {
        Box::new(self.expression(expression))
    }

    fn optional_boxed(&self, expression: Option<&Expr>) -> Option<Box<Expression>> {
        expression.map(|expression| self.boxed_expression(expression))
    }

    /// Translates an expression.
    pub(super) fn expression(&self, expression: &Expr) -> Expression {
        Expression {
            range: self.range(expression),
            kind: self.expression_kind(expression),
        }
    }

    fn expression_kind(&self, expression: &Expr) -> ExpressionKind {
        match expression {
            Expr::NoneLiteral(_) => ExpressionKind::None,
            Expr::BooleanLiteral(node) => ExpressionKind::Boolean(node.value),
            Expr::NumberLiteral(node) => number(&node.value),
            Expr::StringLiteral(node) => ExpressionKind::Text(node.value.to_str().to_owned()),
            Expr::BytesLiteral(node) => ExpressionKind::Bytes(node.value.bytes().collect()),
            Expr::EllipsisLiteral(_) => ExpressionKind::Ellipsis,
            Expr::FString(node) => ExpressionKind::FormattedText(self.pieces(&node.value)),
            Expr::Name(node) => ExpressionKind::Name(node.id.to_string()),
            Expr::List(node) => ExpressionKind::List(self.expressions(&node.elts)),
            Expr::Tuple(node) => ExpressionKind::Tuple(self.expressions(&node.elts)),
            Expr::Set(node) => ExpressionKind::Set(self.expressions(&node.elts)),
            Expr::Dict(node) => ExpressionKind::Dictionary(
                node.items
                    .iter()
                    .map(|item| {
                        (
                            self.optional_expression(item.key.as_ref()),
                            self.expression(&item.value),
                        )
                    })
                    .collect(),
            ),
            Expr::Attribute(node) => ExpressionKind::Attribute {
                object: self.boxed_expression(&node.value),
                name: node.attr.to_string(),
            },
            Expr::Subscript(node) => ExpressionKind::Subscript {
                object: self.boxed_expression(&node.value),
                index: self.boxed_expression(&node.slice),
            },
            Expr::Slice(node) => ExpressionKind::Slice {
                start: self.optional_boxed(node.lower.as_deref()),
                stop: self.optional_boxed(node.upper.as_deref()),
                step: self.optional_boxed(node.step.as_deref()),
            },
            Expr::Call(node) => ExpressionKind::Call {
                function: self.boxed_expression(&node.func),
                arguments: self.expressions(&node.arguments.args),
                keywords: self.keywords(&node.arguments.keywords),
            },
            Expr::UnaryOp(node) => ExpressionKind::Unary {
                operator: unary_operator(node.op),
                operand: self.boxed_expression(&node.operand),
            },
            Expr::BinOp(node) => ExpressionKind::Binary {
                left: self.boxed_expression(&node.left),
                operator: operator(node.op),
                right: self.boxed_expression(&node.right),
            },
            Expr::BoolOp(node) => match node.op {
                ast::BoolOp::And => ExpressionKind::And(self.expressions(&node.values)),
                ast::BoolOp::Or => ExpressionKind::Or(self.expressions(&node.values)),
            },
            Expr::Compare(node) => ExpressionKind::Compare {
                first: self.boxed_expression(&node.left),
                rest: node
                    .ops
                    .iter()
                    .zip(&node.comparators)
                    .map(|(operator, operand)| (comparison(*operator), self.expression(operand)))
                    .collect(),
            },
            Expr::If(node) => ExpressionKind::Conditional {
                condition: self.boxed_expression(&node.test),
                then: self.boxed_expression(&node.body),
                otherwise: self.boxed_expression(&node.orelse),
            },
            Expr::Lambda(node) => ExpressionKind::Lambda {
                parameters: node
                    .parameters
                    .as_deref()
                    .map_or_else(Vec::new, |parameters| self.parameters(parameters)),
                body: self.boxed_expression(&node.body),
            },
            Expr::ListComp(node) => {
                self.comprehension(ComprehensionKind::List, &node.elt, &node.generators)
            }
            Expr::SetComp(node) => {
                self.comprehension(ComprehensionKind::Set, &node.elt, &node.generators)
            }
            Expr::Generator(node) => {
                self.comprehension(ComprehensionKind::Generator, &node.elt, &node.generators)
            }
            Expr::DictComp(node) => ExpressionKind::DictionaryComprehension {
                key: self.optional_boxed(node.key.as_deref()),
                value: self.boxed_expression(&node.value),
                clauses: self.clauses(&node.generators),
            },
            Expr::Starred(node) => ExpressionKind::Starred(self.boxed_expression(&node.value)),
            Expr::Named(node) => ExpressionKind::Named {
                target: self.boxed_expression(&node.target),
                value: self.boxed_expression(&node.value),
            },
            Expr::Await(node) => ExpressionKind::Await(self.boxed_expression(&node.value)),
            Expr::Yield(node) => ExpressionKind::Yield(self.optional_boxed(node.value.as_deref())),
            Expr::YieldFrom(node) => ExpressionKind::YieldFrom(self.boxed_expression(&node.value)),
            Expr::TString(_) | Expr::IpyEscapeCommand(_) => ExpressionKind::Other,
        }
    }

    /// Translates a comprehension.
    fn comprehension(
        &self,
        kind: ComprehensionKind,
        element: &Expr,
        clauses: &[ast::Comprehension],
    ) -> ExpressionKind {
        ExpressionKind::Comprehension {
            kind,
            element: self.boxed_expression(element),
            clauses: self.clauses(clauses),
        }
    }

    fn clauses(&self, clauses: &[ast::Comprehension]) -> Vec<ComprehensionClause> {
        clauses
            .iter()
            .map(|clause| ComprehensionClause {
                is_async: clause.is_async,
                target: self.expression(&clause.target),
                iterable: self.expression(&clause.iter),
                conditions: self.expressions(&clause.ifs),
            })
            .collect()
    }

    fn keywords(&self, keywords: &[ast::Keyword]) -> Vec<Keyword> {
        keywords
            .iter()
            .map(|keyword| Keyword {
                name: keyword.arg.as_ref().map(ToString::to_string),
                value: self.expression(&keyword.value),
            })
            .collect()
    }

    /// Translates a formatted string, with adjacent texts joined.
    fn pieces(&self, value: &ast::FStringValue) -> Vec<FStringPiece> {
        let mut pieces = Vec::new();
        for part in value {
            match part {
                ast::FStringPart::Literal(literal) => add_text(&mut pieces, literal),
                ast::FStringPart::FString(formatted) => {
                    for element in &formatted.elements {
                        match element {
                            ast::InterpolatedStringElement::Literal(text) => {
                                add_text(&mut pieces, &text.value);
                            }
                            ast::InterpolatedStringElement::Interpolation(value) => {
                                pieces
                                    .push(FStringPiece::Value(self.expression(&value.expression)));
                            }
                        }
                    }
                }
            }
        }
        pieces
    }
}

/// Appends text, joined with preceding text: they were only written separately.
fn add_text(pieces: &mut Vec<FStringPiece>, text: &str) {
    if let Some(FStringPiece::Text(before)) = pieces.last_mut() {
        before.push_str(text);
    } else if !text.is_empty() {
        pieces.push(FStringPiece::Text(text.to_owned()));
    }
}

fn aliases(names: &[ast::Alias]) -> Vec<Alias> {
    names
        .iter()
        .map(|alias| Alias {
            name: alias.name.to_string(),
            alias: alias.asname.as_ref().map(ToString::to_string),
        })
        .collect()
}

/// Returns identifiers as strings.
fn identifiers(names: &[ast::Identifier]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Translates a number.
fn number(number: &ast::Number) -> ExpressionKind {
    match number {
        ast::Number::Int(integer) => ExpressionKind::Integer(integer.to_string()),
        ast::Number::Float(float) => ExpressionKind::Float(*float),
        ast::Number::Complex { imag, .. } => ExpressionKind::Imaginary(*imag),
    }
}

fn unary_operator(operator: ast::UnaryOp) -> UnaryOperator {
    match operator {
        ast::UnaryOp::Not => UnaryOperator::Not,
        ast::UnaryOp::USub => UnaryOperator::Minus,
        ast::UnaryOp::UAdd => UnaryOperator::Plus,
        ast::UnaryOp::Invert => UnaryOperator::Invert,
    }
}

fn operator(operator: ast::Operator) -> Operator {
    match operator {
        ast::Operator::Add => Operator::Add,
        ast::Operator::Sub => Operator::Subtract,
        ast::Operator::Mult => Operator::Multiply,
        ast::Operator::MatMult => Operator::MatrixMultiply,
        ast::Operator::Div => Operator::Divide,
        ast::Operator::FloorDiv => Operator::FloorDivide,
        ast::Operator::Mod => Operator::Remainder,
        ast::Operator::Pow => Operator::Power,
        ast::Operator::LShift => Operator::ShiftLeft,
        ast::Operator::RShift => Operator::ShiftRight,
        ast::Operator::BitOr => Operator::BitOr,
        ast::Operator::BitXor => Operator::BitXor,
        ast::Operator::BitAnd => Operator::BitAnd,
    }
}

fn comparison(comparison: ast::CmpOp) -> Comparison {
    match comparison {
        ast::CmpOp::Eq => Comparison::Equal,
        ast::CmpOp::NotEq => Comparison::NotEqual,
        ast::CmpOp::Lt => Comparison::Less,
        ast::CmpOp::LtE => Comparison::LessOrEqual,
        ast::CmpOp::Gt => Comparison::Greater,
        ast::CmpOp::GtE => Comparison::GreaterOrEqual,
        ast::CmpOp::Is => Comparison::Is,
        ast::CmpOp::IsNot => Comparison::IsNot,
        ast::CmpOp::In => Comparison::In,
        ast::CmpOp::NotIn => Comparison::NotIn,
    }
}

/// Returns true if these statements yield, outside of inner functions and classes.
fn contains_yield(body: &[Stmt]) -> bool {
    struct YieldFinder {
        found: bool,
    }
    impl Visitor<'_> for YieldFinder {
        fn visit_stmt(&mut self, statement: &Stmt) {
            if !self.found && !matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
                walk_stmt(self, statement);
            }
        }

        fn visit_expr(&mut self, expression: &Expr) {
            match expression {
                Expr::Yield(_) | Expr::YieldFrom(_) => self.found = true,
                Expr::Lambda(_) => {}
                _ => walk_expr(self, expression),
            }
        }
    }
    let mut finder = YieldFinder { found: false };
    finder.visit_body(body);
    finder.found
}
