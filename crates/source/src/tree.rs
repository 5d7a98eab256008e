//! The syntax tree of a Python text.
//!
//! The parser's own tree changes with every release and has more details than needed (parentheses,
//! quotes, kinds of strings). This one is small: one node for each meaningful element, `elif` as an
//! `if` inside `else`, adjacent strings joined. Every node has its range, so the exact text is
//! always available.
//!
//! ```
//! use testwright_source::tree::{self, ExpressionKind, StatementKind};
//!
//! let module = tree::module("\"\"\"Piles.\"\"\"\nplates = []\n").unwrap_or_default();
//! assert_eq!(module.docstring.as_deref(), Some("Piles."));
//! let StatementKind::Assign { value, .. } = &module.body[1].kind else { panic!() };
//! assert_eq!(value.kind, ExpressionKind::List(vec![]));
//! ```

mod lower;

use crate::{Range, SyntaxProblem, parse};

/// A whole file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Module {
    /// The docstring as written (see [`first_paragraph`]).
    pub docstring: Option<String>,
    /// The statements, including the docstring.
    pub body: Vec<Statement>,
}

/// A statement and its range. Two statements are equal if they say the same, wherever they are.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The range from its first decorator or word to its last.
    pub range: Range,
    /// The kind and its parts.
    pub kind: StatementKind,
}

/// The kind of a statement, with its parts.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    missing_docs,
    reason = "the fields are the parts of the statement, by Python's own names for them"
)]
pub enum StatementKind {
    Function(Box<Function>),
    Class(Box<Class>),
    Return(Option<Expression>),
    Delete(Vec<Expression>),
    /// `a = b = value` has several targets.
    Assign {
        targets: Vec<Expression>,
        value: Expression,
    },
    /// `target += value`.
    Augmented {
        target: Expression,
        operator: Operator,
        value: Expression,
    },
    /// `target: annotation = value`.
    Annotated {
        target: Expression,
        annotation: Expression,
        value: Option<Expression>,
    },
    For {
        is_async: bool,
        target: Expression,
        iterable: Expression,
        body: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    While {
        condition: Expression,
        body: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    /// An `elif` is an `if` alone in `otherwise`.
    If {
        condition: Expression,
        body: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    With {
        is_async: bool,
        /// Each context manager, and the target it is bound to.
        items: Vec<(Expression, Option<Expression>)>,
        body: Vec<Statement>,
    },
    Match {
        subject: Expression,
        cases: Vec<MatchCase>,
    },
    Raise {
        exception: Option<Expression>,
        cause: Option<Expression>,
    },
    Try {
        body: Vec<Statement>,
        handlers: Vec<Handler>,
        otherwise: Vec<Statement>,
        finally: Vec<Statement>,
    },
    Assert {
        condition: Expression,
        message: Option<Expression>,
    },
    Import(Vec<Alias>),
    /// `from ..module import names`; `level` counts the dots, a star is a name.
    ImportFrom {
        module: Option<String>,
        names: Vec<Alias>,
        level: u32,
    },
    Global(Vec<String>),
    Nonlocal(Vec<String>),
    Expression(Expression),
    /// `type Name = value`.
    TypeAlias {
        name: Expression,
        value: Expression,
    },
    Pass,
    Break,
    Continue,
}

/// A `def`.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// True if it is an `async def`.
    pub is_async: bool,
    /// True if it is a generator: it yields itself, not only in an inner function.
    pub yields: bool,
    /// The expressions after each `@`.
    pub decorators: Vec<Expression>,
    /// The parameters, in source order.
    pub parameters: Vec<Parameter>,
    /// The annotation after `->`.
    pub returns: Option<Expression>,
    /// The docstring as written (see [`first_paragraph`]).
    pub docstring: Option<String>,
    /// The statements, including the docstring.
    pub body: Vec<Statement>,
}

/// A `class`.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// The expressions after each `@`.
    pub decorators: Vec<Expression>,
    /// The base classes in the brackets after its name.
    pub bases: Vec<Expression>,
    /// The keywords in the brackets, such as `metaclass`.
    pub keywords: Vec<Keyword>,
    /// The docstring as written (see [`first_paragraph`]).
    pub docstring: Option<String>,
    /// The statements, including the docstring.
    pub body: Vec<Statement>,
}

/// One parameter of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, without stars.
    pub name: String,
    /// The way in which it takes its argument.
    pub kind: ParameterKind,
    /// The annotation after its colon.
    pub annotation: Option<Expression>,
    /// The default value.
    pub default: Option<Expression>,
}

/// The way in which a parameter takes its argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// By position only: before `/`.
    PositionalOnly,
    /// By position or by name.
    Normal,
    /// `*name`: the remaining positional arguments.
    Variadic,
    /// By name only: after `*`.
    KeywordOnly,
    /// `**name`: the remaining keyword arguments.
    KeywordVariadic,
}

/// `name` or `name as other` of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// The imported name, including dots; `*` for everything.
    pub name: String,
    /// The name after `as`, if there is one.
    pub alias: Option<String>,
}

/// An `except` clause.
#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    /// The exception it catches; `None` for a bare `except`.
    pub exception: Option<Expression>,
    /// The name of the exception inside.
    pub name: Option<String>,
    /// The statements.
    pub body: Vec<Statement>,
}

/// A `case` of a `match`.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchCase {
    /// The pattern to match.
    pub pattern: Pattern,
    /// The condition after `if`.
    pub guard: Option<Expression>,
    /// The statements.
    pub body: Vec<Statement>,
}

/// A pattern of a `case`.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// A value that the subject must equal (or be identical to, for `None`, `True` and `False`).
    Value(Expression),
    /// `[a, *rest]`.
    Sequence(Vec<Pattern>),
    /// `{"key": pattern, **rest}`.
    #[allow(missing_docs, reason = "the parts of the pattern")]
    Mapping {
        entries: Vec<(Expression, Pattern)>,
        rest: Option<String>,
    },
    /// `Class(positions, name=pattern)`.
    #[allow(missing_docs, reason = "the parts of the pattern")]
    Class {
        class: Expression,
        positions: Vec<Pattern>,
        keywords: Vec<(String, Pattern)>,
    },
    /// `*rest` or `*_` inside a sequence.
    Star(Option<String>),
    /// `pattern as name`; a bare name has no pattern, `_` has neither.
    #[allow(missing_docs, reason = "the parts of the pattern")]
    As {
        pattern: Option<Box<Pattern>>,
        name: Option<String>,
    },
    /// Alternatives.
    Or(Vec<Pattern>),
}

/// An expression and its range. Two expressions are equal if they say the same, wherever they are.
#[derive(Debug, Clone)]
pub struct Expression {
    /// The range from its first character to its last, without surrounding parentheses.
    pub range: Range,
    /// The kind and its parts.
    pub kind: ExpressionKind,
}

/// The kind of an expression, with its parts.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    missing_docs,
    reason = "the fields are the parts of the expression, by Python's own names for them"
)]
pub enum ExpressionKind {
    None,
    Boolean(bool),
    /// Decimal digits, or the number as written if it is too large and not decimal. Never negative:
    /// that is a `Unary`.
    Integer(String),
    Float(f64),
    Imaginary(f64),
    Text(String),
    Bytes(Vec<u8>),
    Ellipsis,
    FormattedText(Vec<FStringPiece>),
    Name(String),
    List(Vec<Expression>),
    Tuple(Vec<Expression>),
    Set(Vec<Expression>),
    /// Keys and values; a `**mapping` has no key.
    Dictionary(Vec<(Option<Expression>, Expression)>),
    Attribute {
        object: Box<Expression>,
        name: String,
    },
    Subscript {
        object: Box<Expression>,
        index: Box<Expression>,
    },
    /// `start:stop:step` inside a subscript.
    Slice {
        start: Option<Box<Expression>>,
        stop: Option<Box<Expression>>,
        step: Option<Box<Expression>>,
    },
    Call {
        function: Box<Expression>,
        arguments: Vec<Expression>,
        keywords: Vec<Keyword>,
    },
    Unary {
        operator: UnaryOperator,
        operand: Box<Expression>,
    },
    Binary {
        left: Box<Expression>,
        operator: Operator,
        right: Box<Expression>,
    },
    And(Vec<Expression>),
    Or(Vec<Expression>),
    /// `first < second <= third`.
    Compare {
        first: Box<Expression>,
        rest: Vec<(Comparison, Expression)>,
    },
    Conditional {
        condition: Box<Expression>,
        then: Box<Expression>,
        otherwise: Box<Expression>,
    },
    Lambda {
        parameters: Vec<Parameter>,
        body: Box<Expression>,
    },
    Comprehension {
        kind: ComprehensionKind,
        element: Box<Expression>,
        clauses: Vec<ComprehensionClause>,
    },
    /// Without a key it unpacks mappings: `{**value for …}`.
    DictionaryComprehension {
        key: Option<Box<Expression>>,
        value: Box<Expression>,
        clauses: Vec<ComprehensionClause>,
    },
    /// `*value` in a display, a call or a target.
    Starred(Box<Expression>),
    /// `(name := value)`.
    Named {
        target: Box<Expression>,
        value: Box<Expression>,
    },
    Await(Box<Expression>),
    Yield(Option<Box<Expression>>),
    YieldFrom(Box<Expression>),
    /// A template string, or anything newer than this tree: only its range is known.
    Other,
}

/// A piece of a formatted string.
#[derive(Debug, Clone, PartialEq)]
pub enum FStringPiece {
    /// Literal text.
    Text(String),
    /// The expression inside braces. Its format is not kept.
    Value(Expression),
}

/// `name=value` in a call; `**value` has no name.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the parts of it")]
pub struct Keyword {
    pub name: Option<String>,
    pub value: Expression,
}

/// `for target in iterable if condition …` in a comprehension.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the parts of it")]
pub struct ComprehensionClause {
    pub is_async: bool,
    pub target: Expression,
    pub iterable: Expression,
    pub conditions: Vec<Expression>,
}

/// The result type of a comprehension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are what they are called")]
pub enum ComprehensionKind {
    List,
    Set,
    Generator,
}

/// An operator before its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are what they are called")]
pub enum UnaryOperator {
    Not,
    Minus,
    Plus,
    Invert,
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are what they are called")]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    MatrixMultiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
    ShiftLeft,
    ShiftRight,
    BitOr,
    BitXor,
    BitAnd,
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are what they are called")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Is,
    IsNot,
    In,
    NotIn,
}

impl PartialEq for Statement {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Expression {
    /// Returns the name, if the expression is a plain name.
    #[must_use]
    pub fn as_name(&self) -> Option<&str> {
        match &self.kind {
            ExpressionKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the parts of a dotted name such as `a.b.c`, if the expression is one.
    #[must_use]
    pub fn dotted_parts(&self) -> Option<Vec<&str>> {
        match &self.kind {
            ExpressionKind::Name(name) => Some(vec![name]),
            ExpressionKind::Attribute { object, name } => {
                let mut parts = object.dotted_parts()?;
                parts.push(name);
                Some(parts)
            }
            _ => None,
        }
    }
}

/// Parses a whole file.
///
/// # Errors
/// Returns the problems that keep it from being Python.
pub fn module(text: &str) -> Result<Module, Vec<SyntaxProblem>> {
    let tree = parse::parse_module(text)?;
    let body = lower::TreeConverter::new(&tree).statements(tree.body());
    Ok(Module {
        docstring: docstring(&body),
        body,
    })
}

/// Parses statements that may be indented as a whole.
///
/// # Errors
/// Returns the problems that keep them from being Python.
pub fn statements(text: &str) -> Result<Vec<Statement>, Vec<SyntaxProblem>> {
    let tree = parse::parse_fragment(text)?;
    Ok(lower::TreeConverter::new(&tree).statements(tree.body()))
}

/// Parses one expression.
///
/// # Errors
/// Returns the problems that keep it from being one.
pub fn expression(text: &str) -> Result<Expression, Vec<SyntaxProblem>> {
    let (expression, offset) = parse::parse_expression(text)?;
    Ok(lower::TreeConverter { offset }.expression(&expression))
}

/// Returns the first paragraph of a docstring, in one line.
#[must_use]
pub fn first_paragraph(docstring: &str) -> String {
    let lines = docstring
        .trim()
        .lines()
        .take_while(|line| !line.trim().is_empty());
    let parts: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    parts.join(" ")
}

/// Returns the docstring of a body, if there is one.
fn docstring(body: &[Statement]) -> Option<String> {
    match &body.first()?.kind {
        StatementKind::Expression(Expression {
            kind: ExpressionKind::Text(text),
            ..
        }) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> ExpressionKind {
        expression(text).expect("an expression").kind
    }

    #[test]
    fn an_expression_knows_where_it_stands() {
        let found = expression("  a + bé[0]").expect("an expression");
        let ExpressionKind::Binary { right, .. } = found.kind else {
            panic!("not a sum");
        };
        assert_eq!(&"  a + bé[0]"[right.range], "bé[0]");
    }

    #[test]
    fn equality_ignores_positions() {
        assert_eq!(kind("f( x,1 )"), kind("f(x, 0x1)"));
        assert_ne!(kind("f(x, 1)"), kind("f(1, x)"));
    }

    #[test]
    fn pieces_of_strings_are_joined() {
        assert_eq!(kind("'a' \"b\""), ExpressionKind::Text("ab".to_owned()));
        let ExpressionKind::FormattedText(pieces) = kind("'a' f'b{x}c'") else {
            panic!("not formatted");
        };
        let [
            FStringPiece::Text(before),
            FStringPiece::Value(value),
            FStringPiece::Text(after),
        ] = pieces.as_slice()
        else {
            panic!("other pieces");
        };
        assert_eq!(
            (before.as_str(), value.as_name(), after.as_str()),
            ("ab", Some("x"), "c")
        );
    }

    #[test]
    fn elif_is_an_if_inside_else() {
        let text = "if a: f()\nelif b: g()\nelse: h()\n";
        let body = statements(text).expect("statements");
        let StatementKind::If { otherwise, .. } = &body[0].kind else {
            panic!("not an if");
        };
        let [
            Statement {
                range,
                kind: StatementKind::If { otherwise, .. },
            },
        ] = otherwise.as_slice()
        else {
            panic!("not one if");
        };
        assert_eq!(&text[range.clone()], "elif b: g()");
        assert_eq!(otherwise.len(), 1);
    }

    #[test]
    fn parameters_keep_their_order_and_kind() {
        let body = statements("def f(a, /, b=1, *c, d: int, **e): pass").expect("statements");
        let StatementKind::Function(function) = &body[0].kind else {
            panic!("not a function");
        };
        let kinds: Vec<_> = function
            .parameters
            .iter()
            .map(|parameter| (parameter.name.as_str(), parameter.kind))
            .collect();
        use ParameterKind::{KeywordOnly, KeywordVariadic, Normal, PositionalOnly, Variadic};
        assert_eq!(
            kinds,
            [
                ("a", PositionalOnly),
                ("b", Normal),
                ("c", Variadic),
                ("d", KeywordOnly),
                ("e", KeywordVariadic)
            ]
        );
    }

    #[test]
    fn only_its_own_yield_makes_a_generator() {
        let yields = |text: &str| {
            let body = statements(text).expect("statements");
            let StatementKind::Function(function) = &body[0].kind else {
                panic!("not a function");
            };
            function.yields
        };
        assert!(yields("def f():\n    if x:\n        y = (yield)"));
        assert!(yields("def f():\n    yield from g()"));
        assert!(!yields("def f():\n    def g(): yield 1\n    return g"));
        assert!(!yields("def f():\n    return lambda: (yield)"));
    }

    #[test]
    fn paragraphs_become_one_line() {
        assert_eq!(first_paragraph("\n  One\n  two.\n\n  Three."), "One two.");
    }
}
