//! From syntax to terms: every name is looked up, every local written out, every constant part worked out.

use testwright_source::Range;
use testwright_source::tree::{self, Expression, ExpressionKind, Piece};

use super::{Call, Callee, Clause, Reference, Role, Term, Type, UnaryOperator, is_class_name};
use crate::quotation;
use crate::value::{Float, Value};

/// What names stand for where an expression is read.
pub trait Scope {
    /// What the name stands for: a reference, the value of a local or of a constant. Nothing if it is not known here.
    fn name(&self, name: &str) -> Option<Term>;

    /// What the expression at this place stands for, if that is known already.
    fn expression(&self, _range: &Range) -> Option<Term> {
        None
    }

    /// What `object.name` stands for if it is more than an attribute, as `self.x` is in a state machine (R8).
    fn attribute(&self, _object: &str, _name: &str) -> Option<Term> {
        None
    }

    /// What a call stands for if it is more than a call: the body of a helper (Y2), an earlier value.
    fn call(&self, _call: &Call) -> Option<Term> {
        None
    }

    /// Whether the name is that of a module, so that `name.f(…)` calls a function and not a method. Packages are asked
    /// for with their dots.
    fn is_module(&self, _name: &str) -> bool {
        false
    }
}

/// A scope that knows no names: all of them stand for themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unscoped;

impl Scope for Unscoped {
    fn name(&self, _name: &str) -> Option<Term> {
        None
    }
}

/// The modules whose functions neither change anything nor belong to the system under test.
pub(super) const PURE_MODULES: [&str; 5] = ["math", "operator", "itertools", "string", "copy"];

/// What is done at the left end of a row is done at its start: `x.popleft()` is `x.pop(0)`.
fn from_the_left(call: &mut Call) {
    if let Callee::Method { object, name } = &mut call.callee {
        let plain = match (name.as_str(), call.arguments.len()) {
            ("popleft", 0) => "pop",
            ("appendleft", 1) => "insert",
            _ => return,
        };
        if matches!(object.type_of(), Type::List(_)) {
            *name = plain.to_owned();
            call.arguments.insert(0, Value::integer(0).into());
        }
    }
}

impl Term {
    /// The meaning of an expression that stands in `text`.
    #[must_use]
    pub fn read(expression: &Expression, text: &str, scope: &dyn Scope) -> Self {
        Reader {
            text,
            scope,
            bound: Vec::new(),
        }
        .term(expression)
    }
}

struct Reader<'a> {
    text: &'a str,
    scope: &'a dyn Scope,
    /// What comprehensions and lambdas around have bound, innermost last.
    bound: Vec<Bound>,
}

/// A name that is bound, and what it is called.
struct Bound {
    name: String,
    called: String,
    type_: Type,
}

impl Reader<'_> {
    fn terms(&mut self, expressions: &[Expression]) -> Vec<Term> {
        expressions
            .iter()
            .map(|expression| self.term(expression))
            .collect()
    }

    fn boxed(&mut self, expression: &Expression) -> Box<Term> {
        Box::new(self.term(expression))
    }

    fn maybe(&mut self, expression: Option<&Expression>) -> Option<Box<Term>> {
        expression.map(|expression| self.boxed(expression))
    }

    /// Recursion is as deep as the syntax tree, whose depth the parser limits.
    fn term(&mut self, expression: &Expression) -> Term {
        if let Some(known) = self.scope.expression(&expression.range) {
            return known;
        }
        let term = match &expression.kind {
            ExpressionKind::None => Term::Value(Value::Nothing),
            ExpressionKind::Boolean(value) => Term::Value(Value::Boolean(*value)),
            ExpressionKind::Integer(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Term::Value(Value::Integer(digits.clone()))
            }
            ExpressionKind::Float(number) => Term::Value(Value::Float(Float(*number))),
            ExpressionKind::Imaginary(number) => {
                Term::Value(Value::Complex(Float(0.0), Float(*number)))
            }
            ExpressionKind::Text(text) => Term::Value(Value::Text(text.clone())),
            ExpressionKind::Bytes(bytes) => Term::Value(Value::Bytes(bytes.clone())),
            ExpressionKind::FormattedText(pieces) => self.formatted(pieces),
            ExpressionKind::Name(name) => self.name(name),
            ExpressionKind::List(items) => Term::List(self.terms(items)),
            ExpressionKind::Tuple(items) => Term::Tuple(self.terms(items)),
            ExpressionKind::Set(items) => Term::Set(self.terms(items)),
            ExpressionKind::Dictionary(entries) => Term::Dictionary(
                entries
                    .iter()
                    .map(|(key, value)| (key.as_ref().map(|key| self.term(key)), self.term(value)))
                    .collect(),
            ),
            ExpressionKind::Attribute { object, name } => self.attribute(object, name),
            ExpressionKind::Subscript { object, index } => self.subscript(object, index),
            ExpressionKind::Call {
                function,
                arguments,
                keywords,
            } => self.call(function, arguments, keywords),
            ExpressionKind::Unary {
                operator: UnaryOperator::Not,
                operand,
            } => Term::Not(self.boxed(operand)),
            ExpressionKind::Unary { operator, operand } => Term::Unary {
                operator: *operator,
                operand: self.boxed(operand),
            },
            ExpressionKind::Binary {
                left,
                operator,
                right,
            } => Term::Binary {
                left: self.boxed(left),
                operator: *operator,
                right: self.boxed(right),
            },
            ExpressionKind::And(operands) => Term::And(self.terms(operands)),
            ExpressionKind::Or(operands) => Term::Or(self.terms(operands)),
            ExpressionKind::Compare { first, rest } => Term::Compare {
                first: self.boxed(first),
                rest: rest
                    .iter()
                    .map(|(comparison, operand)| (*comparison, self.term(operand)))
                    .collect(),
            },
            ExpressionKind::Conditional {
                condition,
                then,
                otherwise,
            } => Term::Conditional {
                condition: self.boxed(condition),
                then: self.boxed(then),
                otherwise: self.boxed(otherwise),
            },
            ExpressionKind::Lambda { parameters, body } => self.lambda(parameters, body),
            ExpressionKind::Comprehension {
                kind,
                element,
                clauses,
            } => {
                let depth = self.bound.len();
                let clauses = self.clauses(clauses, &[element]);
                let element = self.boxed(element);
                self.bound.truncate(depth);
                Term::Comprehension {
                    form: *kind,
                    element,
                    clauses,
                }
            }
            ExpressionKind::DictionaryComprehension {
                key: Some(key),
                value,
                clauses,
            } => {
                let depth = self.bound.len();
                let clauses = self.clauses(clauses, &[key, value]);
                let (key, value) = (self.boxed(key), self.boxed(value));
                self.bound.truncate(depth);
                Term::DictionaryComprehension {
                    key,
                    value,
                    clauses,
                }
            }
            ExpressionKind::Starred(value) => Term::Starred(self.boxed(value)),
            // Waiting for a value, or keeping it for later, does not change what it is.
            ExpressionKind::Await(value) | ExpressionKind::Named { value, .. } => self.term(value),
            ExpressionKind::Integer(_)
            | ExpressionKind::Ellipsis
            | ExpressionKind::Slice { .. }
            | ExpressionKind::DictionaryComprehension { key: None, .. }
            | ExpressionKind::Yield(_)
            | ExpressionKind::YieldFrom(_)
            | ExpressionKind::Other => self.source(expression),
        };
        term.folded()
    }

    fn source(&self, expression: &Expression) -> Term {
        let text = self.text.get(expression.range.clone()).unwrap_or("...");
        Term::Source(quotation::on_one_line(text))
    }

    fn formatted(&mut self, pieces: &[Piece]) -> Term {
        let pieces = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => Term::Value(Value::Text(text.clone())),
            Piece::Value(value) => self.term(value),
        });
        Term::Formatted(pieces.collect())
    }

    fn bound(&self, name: &str) -> Option<&Bound> {
        self.bound.iter().rev().find(|bound| bound.name == name)
    }

    /// Binds names for what is inside, and gives what they are called there.
    fn bind(&mut self, names: Vec<(String, Type)>, inside: &[&Expression]) -> Vec<String> {
        let mut all = Vec::with_capacity(names.len());
        for (name, type_) in names {
            let called = self.called(&name, inside);
            all.push(called.clone());
            self.bound.push(Bound {
                name,
                called,
                type_,
            });
        }
        all
    }

    /// What is read here may mention a variable of the same name that is bound outside: the argument of a helper, a local
    /// that is written out. Then there is one of that name and an other one.
    fn called(&self, name: &str, inside: &[&Expression]) -> String {
        let mut called = name.to_owned();
        while inside.iter().any(|one| self.is_met(one, name, &called)) {
            called.insert_str(0, "other_");
        }
        called
    }

    /// Whether something that a name stands for mentions a variable that is called so.
    fn is_met(&self, expression: &Expression, bound: &str, variable: &str) -> bool {
        match expression.as_name() {
            Some(name) if name == bound => false,
            Some(name) => self.name(name).mentions(variable),
            None => crate::property::children(expression)
                .into_iter()
                .any(|child| self.is_met(child, bound, variable)),
        }
    }

    fn name(&self, name: &str) -> Term {
        if let Some(bound) = self.bound(name) {
            return Reference::new(&bound.called, Role::Variable)
                .with_type(bound.type_.clone())
                .into();
        }
        self.scope
            .name(name)
            .unwrap_or_else(|| Reference::new(name, Role::Global).into())
    }

    fn attribute(&mut self, object: &Expression, name: &str) -> Term {
        if let Some(object) = object.as_name()
            && self.bound(object).is_none()
        {
            if let Some(term) = self.scope.attribute(object, name) {
                return term;
            }
            // `Colour.RED`: where the class comes from is often not known, but this is how members are written.
            if is_class_name(object) && is_constant_name(name) && self.scope.name(object).is_none()
            {
                return Term::Value(Value::Member {
                    class: object.to_owned(),
                    name: name.to_owned(),
                });
            }
        }
        Term::Attribute {
            object: self.boxed(object),
            name: name.to_owned(),
        }
    }

    fn subscript(&mut self, object: &Expression, index: &Expression) -> Term {
        let object = self.boxed(object);
        match &index.kind {
            ExpressionKind::Slice { start, stop, step } => Term::Slice {
                object,
                start: self.maybe(start.as_deref()),
                stop: self.maybe(stop.as_deref()),
                step: self.maybe(step.as_deref()),
            },
            _ => Term::Item {
                object,
                index: self.boxed(index),
            },
        }
    }

    fn call(
        &mut self,
        function: &Expression,
        arguments: &[Expression],
        keywords: &[tree::Keyword],
    ) -> Term {
        let mut call = Call {
            callee: self.callee(function),
            arguments: self.terms(arguments),
            keywords: keywords
                .iter()
                .map(|keyword| (keyword.name.clone(), self.term(&keyword.value)))
                .collect(),
        };
        from_the_left(&mut call);
        self.scope
            .call(&call)
            .unwrap_or_else(|| Term::Call(Box::new(call)))
    }

    fn callee(&mut self, function: &Expression) -> Callee {
        match &function.kind {
            ExpressionKind::Name(name) => match self.name(name) {
                Term::Reference(Reference {
                    role: Role::Global,
                    name,
                    ..
                }) => Callee::Function { module: None, name },
                other => Callee::Other(other),
            },
            ExpressionKind::Attribute { object, name } => {
                let module = object.dotted().map(|words| words.join("."));
                match module {
                    Some(module) if self.is_module(&module) => Callee::Function {
                        module: Some(module),
                        name: name.clone(),
                    },
                    _ => match self.attribute(object, name) {
                        Term::Attribute { object, name } => Callee::Method {
                            object: *object,
                            name,
                        },
                        other => Callee::Other(other),
                    },
                }
            }
            _ => Callee::Other(self.term(function)),
        }
    }

    fn is_module(&self, module: &str) -> bool {
        let first = module.split('.').next().unwrap_or(module);
        if self.bound(first).is_some() {
            return false;
        }
        self.scope.is_module(module)
            || (PURE_MODULES.contains(&module) && self.scope.name(module).is_none())
    }

    fn lambda(&mut self, parameters: &[tree::Parameter], body: &Expression) -> Term {
        let depth = self.bound.len();
        let parameters: Vec<String> = parameters
            .iter()
            .map(|parameter| parameter.name.clone())
            .collect();
        let names = parameters.into_iter().map(|name| (name, Type::Unknown));
        let parameters = self.bind(names.collect(), &[body]);
        let body = self.boxed(body);
        self.bound.truncate(depth);
        Term::Lambda { parameters, body }
    }

    fn clauses(&mut self, clauses: &[tree::Clause], elements: &[&Expression]) -> Vec<Clause> {
        let inside: Vec<&Expression> = clauses
            .iter()
            .flat_map(|clause| std::iter::once(&clause.iterable).chain(&clause.conditions))
            .skip(1)
            .chain(elements.iter().copied())
            .collect();
        clauses
            .iter()
            .map(|clause| {
                let iterable = self.term(&clause.iterable);
                let mut targets = Vec::new();
                bind(&clause.target, &iterable.type_of().element(), &mut targets);
                Clause {
                    targets: self.bind(targets, &inside),
                    iterable,
                    conditions: self.terms(&clause.conditions),
                }
            })
            .collect()
    }
}

/// Whether a name is written like that of a constant: in capitals.
fn is_constant_name(name: &str) -> bool {
    name.contains(char::is_uppercase)
        && !name.contains(char::is_lowercase)
        && !name.starts_with('_')
}

/// The names that a target binds, and what is known of their types.
pub(crate) fn bind(target: &Expression, type_: &Type, names: &mut Vec<(String, Type)>) {
    match &target.kind {
        ExpressionKind::Name(name) => names.push((name.clone(), type_.clone())),
        ExpressionKind::Tuple(parts) | ExpressionKind::List(parts) => {
            for (index, part) in parts.iter().enumerate() {
                bind(part, &type_.item(index), names);
            }
        }
        ExpressionKind::Starred(rest) => bind(rest, &Type::List(Box::new(Type::Unknown)), names),
        _ => {}
    }
}
