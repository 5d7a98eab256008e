//! Prints a term as Python source, for expressions without a phrase (P42), stubs of idioms and step
//! definitions.

use super::{
    CallTarget, CallTerm, Comparison, ComprehensionKind, ForClause, NameReference, Operator, Term,
    UnaryOperator,
};
use crate::value::PythonValue;

/// The precedence of Python's operators, from loose to tight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precedence {
    Lambda,
    Conditional,
    Or,
    And,
    Not,
    Comparison,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

impl Precedence {
    /// Returns the precedence of an operator.
    pub(crate) fn of(operator: Operator) -> Self {
        match operator {
            Operator::BitOr => Self::BitOr,
            Operator::BitXor => Self::BitXor,
            Operator::BitAnd => Self::BitAnd,
            Operator::ShiftLeft | Operator::ShiftRight => Self::Shift,
            Operator::Add | Operator::Subtract => Self::Sum,
            Operator::Multiply
            | Operator::MatrixMultiply
            | Operator::Divide
            | Operator::FloorDivide
            | Operator::Remainder => Self::Product,
            Operator::Power => Self::Power,
        }
    }

    /// Returns the next tighter precedence, for operands that must bind more tightly than their
    /// parent.
    fn tighter(self) -> Self {
        match self {
            Self::BitOr => Self::BitXor,
            Self::BitXor => Self::BitAnd,
            Self::BitAnd => Self::Shift,
            Self::Shift => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product => Self::Sign,
            Self::Comparison => Self::BitOr,
            _ => Self::Atom,
        }
    }
}

impl Term {
    /// Returns the expression in Python, with names as they are in its source.
    #[must_use]
    pub fn to_python(&self) -> String {
        self.to_python_with(&|reference| reference.name.clone())
    }

    /// Returns the expression in Python, with other expressions for names.
    #[must_use]
    pub fn to_python_with(&self, name: &dyn Fn(&NameReference) -> String) -> String {
        Printer { name }.loose(self)
    }

    /// Returns the precedence of the outermost operator.
    pub(crate) fn precedence(&self) -> Precedence {
        match self {
            Self::Lambda { .. } => Precedence::Lambda,
            Self::Conditional { .. } => Precedence::Conditional,
            Self::Or(_) => Precedence::Or,
            Self::And(_) => Precedence::And,
            Self::Not(_) => Precedence::Not,
            Self::Compare { .. } => Precedence::Comparison,
            Self::Binary { operator, .. } => Precedence::of(*operator),
            Self::Unary { .. } => Precedence::Sign,
            _ => Precedence::Atom,
        }
    }
}

/// Prints terms; `name` gives the expression for each reference.
struct Printer<'a> {
    name: &'a dyn Fn(&NameReference) -> String,
}

impl Printer<'_> {
    /// Prints a term where no parentheses are needed.
    fn loose(&self, term: &Term) -> String {
        self.print(term, Precedence::Lambda)
    }

    /// Prints a term, in parentheses if it binds less tightly than `least`.
    fn print(&self, term: &Term, least: Precedence) -> String {
        let text = self.bare(term);
        let is_negative = matches!(term, Term::Value(value) if value.notation().starts_with('-'));
        let binding = if is_negative {
            Precedence::Sign
        } else {
            term.precedence()
        };
        if binding < least {
            format!("({text})")
        } else {
            text
        }
    }

    /// Prints terms separated by commas.
    fn list<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> String {
        let items: Vec<String> = terms
            .into_iter()
            .map(|term| self.print(term, Precedence::Conditional))
            .collect();
        items.join(", ")
    }

    /// Prints a term without parentheses around it.
    fn bare(&self, term: &Term) -> String {
        match term {
            Term::Value(value) => value.to_python(),
            Term::Reference(reference) => (self.name)(reference),
            Term::List(items) => format!("[{}]", self.list(items)),
            Term::Tuple(items) if items.len() == 1 => format!("({},)", self.list(items)),
            Term::Tuple(items) => format!("({})", self.list(items)),
            Term::Set(items) => format!("{{{}}}", self.list(items)),
            Term::Dictionary(entries) => {
                let entries: Vec<String> = entries.iter().map(|entry| self.entry(entry)).collect();
                format!("{{{}}}", entries.join(", "))
            }
            Term::Attribute { object, name } => format!("{}.{name}", self.object(object)),
            Term::Item { object, index } => {
                format!("{}[{}]", self.object(object), self.loose(index))
            }
            Term::Slice {
                object,
                start,
                stop,
                step,
            } => {
                let bound = |bound: &Option<Box<Term>>| {
                    bound
                        .as_ref()
                        .map_or(String::new(), |bound| self.loose(bound))
                };
                let step = step
                    .as_ref()
                    .map_or(String::new(), |step| format!(":{}", self.loose(step)));
                format!(
                    "{}[{}:{}{step}]",
                    self.object(object),
                    bound(start),
                    bound(stop)
                )
            }
            Term::Call(call) => self.call(call),
            Term::Unary { operator, operand } => {
                format!(
                    "{}{}",
                    unary_symbol(*operator),
                    self.print(operand, Precedence::Sign)
                )
            }
            Term::Not(operand) => format!("not {}", self.print(operand, Precedence::Not)),
            Term::Binary {
                left,
                operator,
                right,
            } => self.binary(left, *operator, right),
            Term::And(operands) => self.chain(operands, " and ", Precedence::Not),
            Term::Or(operands) => self.chain(operands, " or ", Precedence::And),
            Term::Compare { first, rest } => {
                let mut text = self.print(first, Precedence::BitOr);
                for (comparison, operand) in rest {
                    text += &format!(
                        " {} {}",
                        comparison_symbol(*comparison),
                        self.print(operand, Precedence::BitOr)
                    );
                }
                text
            }
            Term::Conditional {
                condition,
                then,
                otherwise,
            } => format!(
                "{} if {} else {}",
                self.print(then, Precedence::Or),
                self.print(condition, Precedence::Or),
                self.print(otherwise, Precedence::Conditional)
            ),
            Term::Lambda { parameters, body } if parameters.is_empty() => {
                format!("lambda: {}", self.loose(body))
            }
            Term::Lambda { parameters, body } => {
                format!("lambda {}: {}", parameters.join(", "), self.loose(body))
            }
            Term::Comprehension {
                form,
                element,
                clauses,
            } => {
                let inside = format!("{}{}", self.loose(element), self.clauses(clauses));
                match form {
                    ComprehensionKind::List => format!("[{inside}]"),
                    ComprehensionKind::Set => format!("{{{inside}}}"),
                    ComprehensionKind::Generator => format!("({inside})"),
                }
            }
            Term::DictionaryComprehension {
                key,
                value,
                clauses,
            } => {
                format!(
                    "{{{}: {}{}}}",
                    self.loose(key),
                    self.loose(value),
                    self.clauses(clauses)
                )
            }
            Term::Formatted(pieces) => self.formatted(pieces),
            Term::Starred(inner) => format!("*{}", self.print(inner, Precedence::BitOr)),
            Term::Earlier(inner) => format!("pre<({})>", self.loose(inner)),
            Term::Source(text) => text.clone(),
        }
    }

    /// Prints the object before a dot or bracket. A number needs parentheses, because its point
    /// would be ambiguous.
    fn object(&self, term: &Term) -> String {
        match term {
            Term::Value(value) if value.is_number() => format!("({})", value.to_python()),
            _ => self.print(term, Precedence::Atom),
        }
    }

    /// Prints an entry of a dictionary display.
    fn entry(&self, (key, value): &(Option<Term>, Term)) -> String {
        match key {
            Some(key) => format!("{}: {}", self.loose(key), self.loose(value)),
            None => format!("**{}", self.print(value, Precedence::BitOr)),
        }
    }

    /// Prints a call with its arguments.
    fn call(&self, call: &CallTerm) -> String {
        let callee = match &call.callee {
            CallTarget::Function { module: None, name } => name.clone(),
            CallTarget::Function {
                module: Some(module),
                name,
            } => format!("{module}.{name}"),
            CallTarget::Method { object, name } => format!("{}.{name}", self.object(object)),
            CallTarget::Other(term) => self.print(term, Precedence::Atom),
        };
        let arguments =
            call.arguments
                .iter()
                .map(|argument| match (argument, call.arguments.len()) {
                    // The brackets of the call are enough for a generator that is the only
                    // argument.
                    (
                        Term::Comprehension {
                            form: ComprehensionKind::Generator,
                            element,
                            clauses,
                        },
                        1,
                    ) if call.keywords.is_empty() => {
                        format!("{}{}", self.loose(element), self.clauses(clauses))
                    }
                    _ => self.print(argument, Precedence::Conditional),
                });
        let keywords = call.keywords.iter().map(|(name, value)| match name {
            Some(name) => format!("{name}={}", self.loose(value)),
            None => format!("**{}", self.loose(value)),
        });
        let all: Vec<String> = arguments.chain(keywords).collect();
        format!("{callee}({})", all.join(", "))
    }

    /// Prints an operation with the parentheses that its operands need.
    fn binary(&self, left: &Term, operator: Operator, right: &Term) -> String {
        let binding = Precedence::of(operator);
        // Only powers associate to the right.
        let (left_least, right_least) = match operator {
            Operator::Power => (Precedence::Atom, Precedence::Sign),
            _ => (binding, binding.tighter()),
        };
        format!(
            "{} {} {}",
            self.print(left, left_least),
            operator_symbol(operator),
            self.print(right, right_least)
        )
    }

    /// Prints operands with an operator between them.
    fn chain(&self, operands: &[Term], between: &str, least: Precedence) -> String {
        let operands: Vec<String> = operands
            .iter()
            .map(|operand| self.print(operand, least))
            .collect();
        operands.join(between)
    }

    /// Prints the clauses of a comprehension.
    fn clauses(&self, clauses: &[ForClause]) -> String {
        let mut text = String::new();
        for clause in clauses {
            let iterable = self.print(&clause.iterable, Precedence::Or);
            text += &format!(" for {} in {iterable}", clause.targets.join(", "));
            for condition in &clause.conditions {
                text += &format!(" if {}", self.print(condition, Precedence::Or));
            }
        }
        text
    }

    /// Prints a formatted text.
    fn formatted(&self, pieces: &[Term]) -> String {
        let mut text = String::from("f\"");
        for piece in pieces {
            match piece {
                Term::Value(PythonValue::Text(literal)) => {
                    let literal = PythonValue::Text(literal.clone())
                        .notation()
                        .replace('{', "{{")
                        .replace('}', "}}");
                    text += literal.trim_matches('"');
                }
                _ => text += &format!("{{{}}}", self.loose(piece)),
            }
        }
        text + "\""
    }
}

/// Returns the symbol of a unary operator.
fn unary_symbol(operator: UnaryOperator) -> &'static str {
    match operator {
        UnaryOperator::Not => "not ",
        UnaryOperator::Minus => "-",
        UnaryOperator::Plus => "+",
        UnaryOperator::Invert => "~",
    }
}

/// Returns the symbol of a binary operator.
fn operator_symbol(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::MatrixMultiply => "@",
        Operator::Divide => "/",
        Operator::FloorDivide => "//",
        Operator::Remainder => "%",
        Operator::Power => "**",
        Operator::ShiftLeft => "<<",
        Operator::ShiftRight => ">>",
        Operator::BitOr => "|",
        Operator::BitXor => "^",
        Operator::BitAnd => "&",
    }
}

/// Returns the symbol of a comparison.
fn comparison_symbol(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
        Comparison::Is => "is",
        Comparison::IsNot => "is not",
        Comparison::In => "in",
        Comparison::NotIn => "not in",
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::term;

    #[test]
    fn terms_are_written_as_they_were_read() {
        for text in [
            "a + b * c",
            "(a + b) * c",
            "a - (b - c)",
            "a ** b ** c",
            "(a ** b) ** c",
            "-a ** b",
            "(-a) ** b",
            "not (a and b) or c",
            "a < b <= c",
            "(a < b) == c",
            "x.y[1:n].z(a, *xs, k=1, **d)",
            "[i for i in xs if i for k in i]",
            "{k: x for k, x in d.items()}",
            "sum(i * 2 for i in xs)",
            "f((i for i in xs), 1)",
            "lambda p, q: p + q",
            "a if b else c if x else y",
            "(a if b else c) if x else y",
            "f\"{x} and {{}}\"",
            "(1).real",
            "(x,)",
            "lib.f(x)",
            "{**d, 'a': x}",
            "x not in xs",
            "x[-1]",
            "x is not None",
        ] {
            assert_eq!(term(text).to_python(), text);
            assert_eq!(term(&term(text).to_python()), term(text));
        }
    }
}
