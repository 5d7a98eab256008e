//! A term as Python source again: for what has no phrase (P42), for stubs of idioms, and for step definitions.

use super::{Call, Callee, Clause, Comparison, Form, Operator, Reference, Term, UnaryOperator};
use crate::value::Value;

/// How tightly an expression holds together, from loose to tight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Binding {
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

impl Binding {
    /// How tightly an operator binds its operands.
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

    /// The next tighter one, for operands that must bind more tightly than what is around them.
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
    /// The expression in Python, with names as they are in its source.
    #[must_use]
    pub fn to_python(&self) -> String {
        self.to_python_with(&|reference| reference.name.clone())
    }

    /// The expression in Python, with other expressions for names.
    #[must_use]
    pub fn to_python_with(&self, name: &dyn Fn(&Reference) -> String) -> String {
        Printer { name }.loose(self)
    }

    pub(crate) fn binding(&self) -> Binding {
        match self {
            Self::Lambda { .. } => Binding::Lambda,
            Self::Conditional { .. } => Binding::Conditional,
            Self::Or(_) => Binding::Or,
            Self::And(_) => Binding::And,
            Self::Not(_) => Binding::Not,
            Self::Compare { .. } => Binding::Comparison,
            Self::Binary { operator, .. } => Binding::of(*operator),
            Self::Unary { .. } => Binding::Sign,
            _ => Binding::Atom,
        }
    }
}

struct Printer<'a> {
    name: &'a dyn Fn(&Reference) -> String,
}

impl Printer<'_> {
    fn loose(&self, term: &Term) -> String {
        self.print(term, Binding::Lambda)
    }

    fn print(&self, term: &Term, least: Binding) -> String {
        let text = self.bare(term);
        let is_negative = matches!(term, Term::Value(value) if value.notation().starts_with('-'));
        let binding = if is_negative {
            Binding::Sign
        } else {
            term.binding()
        };
        if binding < least {
            format!("({text})")
        } else {
            text
        }
    }

    fn list<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> String {
        let items: Vec<String> = terms
            .into_iter()
            .map(|term| self.print(term, Binding::Conditional))
            .collect();
        items.join(", ")
    }

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
                format!("{}{}", sign(*operator), self.print(operand, Binding::Sign))
            }
            Term::Not(operand) => format!("not {}", self.print(operand, Binding::Not)),
            Term::Binary {
                left,
                operator,
                right,
            } => self.binary(left, *operator, right),
            Term::And(operands) => self.chain(operands, " and ", Binding::Not),
            Term::Or(operands) => self.chain(operands, " or ", Binding::And),
            Term::Compare { first, rest } => {
                let mut text = self.print(first, Binding::BitOr);
                for (comparison, operand) in rest {
                    text += &format!(
                        " {} {}",
                        comparison_sign(*comparison),
                        self.print(operand, Binding::BitOr)
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
                self.print(then, Binding::Or),
                self.print(condition, Binding::Or),
                self.print(otherwise, Binding::Conditional)
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
                    Form::List => format!("[{inside}]"),
                    Form::Set => format!("{{{inside}}}"),
                    Form::Generator => format!("({inside})"),
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
            Term::Starred(inner) => format!("*{}", self.print(inner, Binding::BitOr)),
            Term::Earlier(inner) => format!("pre<({})>", self.loose(inner)),
            Term::Source(text) => text.clone(),
        }
    }

    /// Before a dot or bracket; the dot of a number would be taken for its point.
    fn object(&self, term: &Term) -> String {
        match term {
            Term::Value(value) if value.is_number() => format!("({})", value.to_python()),
            _ => self.print(term, Binding::Atom),
        }
    }

    fn entry(&self, (key, value): &(Option<Term>, Term)) -> String {
        match key {
            Some(key) => format!("{}: {}", self.loose(key), self.loose(value)),
            None => format!("**{}", self.print(value, Binding::BitOr)),
        }
    }

    fn call(&self, call: &Call) -> String {
        let callee = match &call.callee {
            Callee::Function { module: None, name } => name.clone(),
            Callee::Function {
                module: Some(module),
                name,
            } => format!("{module}.{name}"),
            Callee::Method { object, name } => format!("{}.{name}", self.object(object)),
            Callee::Other(term) => self.print(term, Binding::Atom),
        };
        let arguments =
            call.arguments
                .iter()
                .map(|argument| match (argument, call.arguments.len()) {
                    // The brackets of the call are enough for a generator that is alone.
                    (
                        Term::Comprehension {
                            form: Form::Generator,
                            element,
                            clauses,
                        },
                        1,
                    ) if call.keywords.is_empty() => {
                        format!("{}{}", self.loose(element), self.clauses(clauses))
                    }
                    _ => self.print(argument, Binding::Conditional),
                });
        let keywords = call.keywords.iter().map(|(name, value)| match name {
            Some(name) => format!("{name}={}", self.loose(value)),
            None => format!("**{}", self.loose(value)),
        });
        let all: Vec<String> = arguments.chain(keywords).collect();
        format!("{callee}({})", all.join(", "))
    }

    fn binary(&self, left: &Term, operator: Operator, right: &Term) -> String {
        let binding = Binding::of(operator);
        // Only powers are grouped from the right.
        let (left_least, right_least) = match operator {
            Operator::Power => (Binding::Atom, Binding::Sign),
            _ => (binding, binding.tighter()),
        };
        format!(
            "{} {} {}",
            self.print(left, left_least),
            operator_sign(operator),
            self.print(right, right_least)
        )
    }

    fn chain(&self, operands: &[Term], between: &str, least: Binding) -> String {
        let operands: Vec<String> = operands
            .iter()
            .map(|operand| self.print(operand, least))
            .collect();
        operands.join(between)
    }

    fn clauses(&self, clauses: &[Clause]) -> String {
        let mut text = String::new();
        for clause in clauses {
            let iterable = self.print(&clause.iterable, Binding::Or);
            text += &format!(" for {} in {iterable}", clause.targets.join(", "));
            for condition in &clause.conditions {
                text += &format!(" if {}", self.print(condition, Binding::Or));
            }
        }
        text
    }

    fn formatted(&self, pieces: &[Term]) -> String {
        let mut text = String::from("f\"");
        for piece in pieces {
            match piece {
                Term::Value(Value::Text(literal)) => {
                    let literal = Value::Text(literal.clone())
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

fn sign(operator: UnaryOperator) -> &'static str {
    match operator {
        UnaryOperator::Not => "not ",
        UnaryOperator::Minus => "-",
        UnaryOperator::Plus => "+",
        UnaryOperator::Invert => "~",
    }
}

fn operator_sign(operator: Operator) -> &'static str {
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

fn comparison_sign(comparison: Comparison) -> &'static str {
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
