//! Builds terms from syntax: looks up every name, writes out locals and works out constant parts.

use testwright_source::Range;
use testwright_source::tree::{self, Expression, ExpressionKind, FStringPiece};

use super::{
    CallTarget, CallTerm, ForClause, NameReference, NameRole, Term, Type, UnaryOperator,
    is_class_name,
};
use crate::quotation;
use crate::value::{PythonFloat, PythonValue};

/// The meaning of names at the place where an expression is read.
///
/// Properties, actions, harness lines and idiom patterns each have a scope of their own. Only
/// [`Self::resolve_name`] is required; the other methods know nothing by default.
pub trait NameScope {
    /// Returns the meaning of a name: a reference, or the value of a local or constant. Returns
    /// nothing if the name is not known here.
    fn resolve_name(&self, name: &str) -> Option<Term>;

    /// Returns the meaning of the expression at this range, if the caller has decided it in
    /// advance.
    fn resolve_expression(&self, _range: &Range) -> Option<Term> {
        None
    }

    /// Returns the meaning of `object.name` if it is more than an attribute (R8: `self.x` is a
    /// state variable of a machine).
    fn resolve_attribute(&self, _object: &str, _name: &str) -> Option<Term> {
        None
    }

    /// Returns the meaning of a call if it is more than a call: the body of a helper (Y2: helpers
    /// are inlined), or an earlier value.
    fn resolve_call(&self, _call: &CallTerm) -> Option<Term> {
        None
    }

    /// Returns true if the name is a module, so that `name.f(…)` calls a function and not a method.
    /// Packages are looked up with their dots.
    fn is_module(&self, _name: &str) -> bool {
        false
    }
}

/// A scope that knows no names: all of them stand for themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyScope;

impl NameScope for EmptyScope {
    fn resolve_name(&self, _name: &str) -> Option<Term> {
        None
    }
}

/// Modules whose functions change nothing and do not belong to the system under test.
pub(super) const PURE_MODULES: [&str; 5] = ["math", "operator", "itertools", "string", "copy"];

/// Rewrites operations at the left end of a deque as those of a list: `x.popleft()` becomes
/// `x.pop(0)`.
fn normalise_deque_call(call: &mut CallTerm) {
    if let CallTarget::Method { object, name } = &mut call.callee {
        let plain = match (name.as_str(), call.arguments.len()) {
            ("popleft", 0) => "pop",
            ("appendleft", 1) => "insert",
            _ => return,
        };
        if matches!(object.type_of(), Type::List(_)) {
            *name = plain.to_owned();
            call.arguments.insert(0, PythonValue::integer(0).into());
        }
    }
}

impl Term {
    /// Builds the term of an expression that stands in `text`.
    #[must_use]
    pub fn from_expression(expression: &Expression, text: &str, scope: &dyn NameScope) -> Self {
        TermBuilder {
            text,
            scope,
            bound: Vec::new(),
        }
        .term(expression)
    }
}

/// The state of building a term: the source text, the scope around it, and the names bound inside
/// it.
struct TermBuilder<'a> {
    text: &'a str,
    /// The meaning of names around the expression.
    scope: &'a dyn NameScope,
    /// The names that enclosing comprehensions and lambdas bind, innermost last.
    bound: Vec<BoundName>,
}

/// A name that a comprehension or lambda binds.
struct BoundName {
    name: String,
    /// The name in the term, which differs if another variable of the same name is mentioned
    /// inside.
    shown_name: String,
    type_: Type,
}

impl TermBuilder<'_> {
    /// Builds the terms of several expressions.
    fn terms(&mut self, expressions: &[Expression]) -> Vec<Term> {
        expressions
            .iter()
            .map(|expression| self.term(expression))
            .collect()
    }

    /// Builds a boxed term.
    fn boxed(&mut self, expression: &Expression) -> Box<Term> {
        Box::new(self.term(expression))
    }

    /// Builds the term of an optional expression.
    fn optional(&mut self, expression: Option<&Expression>) -> Option<Box<Term>> {
        expression.map(|expression| self.boxed(expression))
    }

    /// Builds the term of an expression. The recursion is as deep as the syntax tree, whose depth
    /// the parser limits.
    fn term(&mut self, expression: &Expression) -> Term {
        if let Some(known) = self.scope.resolve_expression(&expression.range) {
            return known;
        }
        let term = match &expression.kind {
            ExpressionKind::None => Term::Value(PythonValue::Nothing),
            ExpressionKind::Boolean(value) => Term::Value(PythonValue::Boolean(*value)),
            ExpressionKind::Integer(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Term::Value(PythonValue::Integer(digits.clone()))
            }
            ExpressionKind::Float(number) => Term::Value(PythonValue::Float(PythonFloat(*number))),
            ExpressionKind::Imaginary(number) => {
                Term::Value(PythonValue::Complex(PythonFloat(0.0), PythonFloat(*number)))
            }
            ExpressionKind::Text(text) => Term::Value(PythonValue::Text(text.clone())),
            ExpressionKind::Bytes(bytes) => Term::Value(PythonValue::Bytes(bytes.clone())),
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
            // Awaiting a value or naming it does not change it.
            ExpressionKind::Await(value) | ExpressionKind::Named { value, .. } => self.term(value),
            ExpressionKind::Integer(_)
            | ExpressionKind::Ellipsis
            | ExpressionKind::Slice { .. }
            | ExpressionKind::DictionaryComprehension { key: None, .. }
            | ExpressionKind::Yield(_)
            | ExpressionKind::YieldFrom(_)
            | ExpressionKind::Other => self.source(expression),
        };
        term.fold_constants()
    }

    /// Returns the expression as source text, for what has no term.
    fn source(&self, expression: &Expression) -> Term {
        let text = self.text.get(expression.range.clone()).unwrap_or("...");
        Term::Source(quotation::on_one_line(text))
    }

    /// Builds the term of a formatted text.
    fn formatted(&mut self, pieces: &[FStringPiece]) -> Term {
        let pieces = pieces.iter().map(|piece| match piece {
            FStringPiece::Text(text) => Term::Value(PythonValue::Text(text.clone())),
            FStringPiece::Value(value) => self.term(value),
        });
        Term::Formatted(pieces.collect())
    }

    /// Finds the innermost binding of a name.
    fn find_bound(&self, name: &str) -> Option<&BoundName> {
        self.bound.iter().rev().find(|bound| bound.name == name)
    }

    /// Binds names for the expressions `inside`, and returns their shown names.
    fn bind(&mut self, names: Vec<(String, Type)>, inside: &[&Expression]) -> Vec<String> {
        let mut all = Vec::with_capacity(names.len());
        for (name, type_) in names {
            let called = self.unique_name(&name, inside);
            all.push(called.clone());
            self.bound.push(BoundName {
                name,
                shown_name: called,
                type_,
            });
        }
        all
    }

    /// Chooses a name that no other variable inside has. The expressions may mention an outer
    /// variable of the same name, such as the argument of a helper; the new one then becomes
    /// "other" something.
    fn unique_name(&self, name: &str, inside: &[&Expression]) -> String {
        let mut called = name.to_owned();
        while inside
            .iter()
            .any(|one| self.mentions_variable(one, name, &called))
        {
            called.insert_str(0, "other_");
        }
        called
    }

    /// Returns true if a name in the expression stands for something that mentions `variable`.
    fn mentions_variable(&self, expression: &Expression, bound: &str, variable: &str) -> bool {
        match expression.as_name() {
            Some(name) if name == bound => false,
            Some(name) => self.name(name).mentions(variable),
            None => crate::property::child_expressions(expression)
                .into_iter()
                .any(|child| self.mentions_variable(child, bound, variable)),
        }
    }

    /// Builds the term of a name: a bound variable, what the scope knows, or a global name.
    fn name(&self, name: &str) -> Term {
        if let Some(bound) = self.find_bound(name) {
            return NameReference::new(&bound.shown_name, NameRole::Variable)
                .with_type(bound.type_.clone())
                .into();
        }
        self.scope
            .resolve_name(name)
            .unwrap_or_else(|| NameReference::new(name, NameRole::Global).into())
    }

    /// Builds the term of `object.name`.
    fn attribute(&mut self, object: &Expression, name: &str) -> Term {
        if let Some(object) = object.as_name()
            && self.find_bound(object).is_none()
        {
            if let Some(term) = self.scope.resolve_attribute(object, name) {
                return term;
            }
            // `Colour.RED`: the class is often not known, but members of enumerations are written
            // like this.
            if is_class_name(object)
                && is_constant_name(name)
                && self.scope.resolve_name(object).is_none()
            {
                return Term::Value(PythonValue::Member {
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

    /// Builds the term of `object[index]` or of a slice.
    fn subscript(&mut self, object: &Expression, index: &Expression) -> Term {
        let object = self.boxed(object);
        match &index.kind {
            ExpressionKind::Slice { start, stop, step } => Term::Slice {
                object,
                start: self.optional(start.as_deref()),
                stop: self.optional(stop.as_deref()),
                step: self.optional(step.as_deref()),
            },
            _ => Term::Item {
                object,
                index: self.boxed(index),
            },
        }
    }

    /// Builds the term of a call.
    fn call(
        &mut self,
        function: &Expression,
        arguments: &[Expression],
        keywords: &[tree::Keyword],
    ) -> Term {
        let mut call = CallTerm {
            callee: self.callee(function),
            arguments: self.terms(arguments),
            keywords: keywords
                .iter()
                .map(|keyword| (keyword.name.clone(), self.term(&keyword.value)))
                .collect(),
        };
        normalise_deque_call(&mut call);
        self.scope
            .resolve_call(&call)
            .unwrap_or_else(|| Term::Call(Box::new(call)))
    }

    /// Decides whether a call is one of a function, of a method or of something else.
    fn callee(&mut self, function: &Expression) -> CallTarget {
        match &function.kind {
            ExpressionKind::Name(name) => match self.name(name) {
                Term::Reference(NameReference {
                    role: NameRole::Global,
                    name,
                    ..
                }) => CallTarget::Function { module: None, name },
                other => CallTarget::Other(other),
            },
            ExpressionKind::Attribute { object, name } => {
                let module = object.dotted_parts().map(|words| words.join("."));
                match module {
                    Some(module) if self.is_module(&module) => CallTarget::Function {
                        module: Some(module),
                        name: name.clone(),
                    },
                    _ => match self.attribute(object, name) {
                        Term::Attribute { object, name } => CallTarget::Method {
                            object: *object,
                            name,
                        },
                        other => CallTarget::Other(other),
                    },
                }
            }
            _ => CallTarget::Other(self.term(function)),
        }
    }

    /// Returns true if `module` is a module here and not shadowed by a bound name.
    fn is_module(&self, module: &str) -> bool {
        let first = module.split('.').next().unwrap_or(module);
        if self.find_bound(first).is_some() {
            return false;
        }
        self.scope.is_module(module)
            || (PURE_MODULES.contains(&module) && self.scope.resolve_name(module).is_none())
    }

    /// Builds the term of a lambda, with its parameters bound.
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

    /// Builds the clauses of a comprehension and binds their targets for the elements.
    fn clauses(
        &mut self,
        clauses: &[tree::ComprehensionClause],
        elements: &[&Expression],
    ) -> Vec<ForClause> {
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
                bind_target(&clause.target, &iterable.type_of().element(), &mut targets);
                ForClause {
                    targets: self.bind(targets, &inside),
                    iterable,
                    conditions: self.terms(&clause.conditions),
                }
            })
            .collect()
    }
}

/// Returns true if a name is written like a constant, in capitals.
fn is_constant_name(name: &str) -> bool {
    name.contains(char::is_uppercase)
        && !name.contains(char::is_lowercase)
        && !name.starts_with('_')
}

/// Collects the names that a target binds, with their types.
pub(crate) fn bind_target(target: &Expression, type_: &Type, names: &mut Vec<(String, Type)>) {
    match &target.kind {
        ExpressionKind::Name(name) => names.push((name.clone(), type_.clone())),
        ExpressionKind::Tuple(parts) | ExpressionKind::List(parts) => {
            for (index, part) in parts.iter().enumerate() {
                bind_target(part, &type_.item(index), names);
            }
        }
        ExpressionKind::Starred(rest) => {
            bind_target(rest, &Type::List(Box::new(Type::Unknown)), names)
        }
        _ => {}
    }
}
